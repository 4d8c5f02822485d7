#!/usr/bin/env python3
"""A real unbound in front of us: it follows our chains, also to names of others, keeps each link as long as its TTL says,
and gets another draw of the weights when it asks again."""

import json
import re
import time
import unittest

from dns_tools import Unbound, bind_primary, endpoint, free_port, record, records, short, status, zone
from harness import Fairlead, main, until

OUTSIDE = """$TTL 300
@ IN SOA ns.outside.example. host.outside.example. 1 3600 600 86400 60
@ IN NS ns.outside.example.
ns IN A 127.0.0.1
cdn IN A 198.51.100.7
"""


class ResolverTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        port = free_port()
        cls.ours = ("127.0.0.1", port)
        cls.server = Fairlead("--dns-listen", f"127.0.0.1:{port}").start()
        cls.addClassCleanup(cls.server.remove)
        cls.outside = bind_primary("outside.example", OUTSIDE)
        cls.addClassCleanup(cls.outside.remove)
        cls.outside.start()
        cls.resolver = Unbound({"example.com": cls.ours, "example.net": cls.ours, "outside.example": cls.outside.at})
        cls.addClassCleanup(cls.resolver.remove)
        objects = [
            zone("com", "example.com"), zone("net", "example.net"),
            record("chain", "com",
                   endpoint("www.example.com", "CNAME", "lb.example.com", ttl=300),
                   endpoint("lb.example.com", "CNAME", "default.example.net", ttl=3),
                   endpoint("away.example.com", "CNAME", "cdn.outside.example", ttl=120),
                   endpoint("pair.example.com", "A", "192.0.2.1", ttl=60, identifier="a", weight="50"),
                   endpoint("pair.example.com", "A", "192.0.2.2", ttl=60, identifier="b", weight="50"),
                   endpoint("loop.example.com", "CNAME", "loop2.example.com"),
                   endpoint("loop2.example.com", "CNAME", "loop.example.com")),
            record("end", "net", endpoint("default.example.net", "A", "192.0.2.9", ttl=200)),
        ]
        cls.server.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        until(lambda: short(cls.ours, "www.example.com", "A"), "the zones are served")
        until(lambda: short(cls.ours, "default.example.net", "A"), "the zones are served")
        cls.resolver.start()

    def queries(self):
        """How many queries we have answered."""
        text = self.server.request("GET", "/metrics")[2].decode()
        return sum(float(value) for value in re.findall(r"^fairlead_dns_queries_total\{.*\} (\S+)$", text, re.M))

    def ttls(self, *question):
        return {row[0]: row[1] for row in records(self.resolver.at, *question)}

    def test_follows_a_chain_and_keeps_each_link_as_long_as_it_says(self):
        first = self.ttls("www.example.com", "A")
        self.assertEqual(set(first), {"www.example.com.", "lb.example.com.", "default.example.net."})
        self.assertEqual(short(self.resolver.at, "www.example.com", "A"),
                         ["192.0.2.9", "default.example.net.", "lb.example.com."])
        self.assertLessEqual(first["lb.example.com."], 3)
        self.assertGreater(first["www.example.com."], 290)
        asked = self.queries()
        short(self.resolver.at, "default.example.net", "A")
        self.assertEqual(self.queries(), asked, "the answer comes from the cache")
        # The shortest link ends; the others are still counting down when it is asked for again.
        until(lambda: self.queries() > asked or not self.ttls("www.example.com", "A"),
              "a link of 3 seconds is asked for again", 20)
        again = self.ttls("www.example.com", "A")
        self.assertLessEqual(again["www.example.com."], first["www.example.com."] - 2, "counts down, is not asked again")
        self.assertLessEqual(again["lb.example.com."], 3)

    def test_follows_a_chain_to_a_name_of_others(self):
        self.assertEqual(short(self.ours, "away.example.com", "A"), ["cdn.outside.example."])
        self.assertEqual(short(self.resolver.at, "away.example.com", "A"), ["198.51.100.7", "cdn.outside.example."])
        self.assertGreater(self.ttls("away.example.com", "A")["cdn.outside.example."], 120, "its own TTL")

    def test_negative_answers_are_kept_too(self):
        self.assertEqual(status(self.resolver.at, "nothing.example.com", "A"), "NXDOMAIN")
        asked = self.queries()
        self.assertEqual(status(self.resolver.at, "nothing.example.com", "A"), "NXDOMAIN")
        self.assertEqual(self.queries(), asked)
        self.assertEqual(status(self.resolver.at, "www.example.com", "MX"), "NOERROR")

    def test_a_loop_is_an_error_not_a_hang(self):
        started = time.monotonic()
        self.assertEqual(status(self.ours, "loop.example.com", "A"), "SERVFAIL")
        self.assertEqual(status(self.resolver.at, "loop.example.com", "A"), "SERVFAIL")
        self.assertLess(time.monotonic() - started, 20)

    def test_draws_again_after_the_cache_has_forgotten(self):
        seen = {"192.0.2.1": 0, "192.0.2.2": 0}
        for _ in range(60):
            answer = short(self.resolver.at, "pair.example.com", "A")
            self.assertEqual(len(answer), 1)
            self.assertEqual(short(self.resolver.at, "pair.example.com", "A"), answer, "the same, from the cache")
            seen[answer[0]] += 1
            self.resolver.flush("example.com")
        # 30 of each on average; below 10 of one: less than one run in ten million.
        self.assertGreater(min(seen.values()), 9, seen)


if __name__ == "__main__":
    main()
