#!/usr/bin/env python3
"""A real BIND and a real Knot as secondaries, of a zone with TSIG and of one without: they copy the zones, follow changes
by NOTIFY, answer as we do, and stay in step when we are killed."""

import json
import unittest

from dns_tools import (KEY_NAME, KEY_SECRET, OTHER_SECRET, Knot, bind_secondary, dig, endpoint, free_port, kdig, record,
                       records, serial, short, status, tsig_secret, zone)
from harness import Fairlead, main, until

SIGNED, PLAIN = "signed.example", "plain.example"
ZONES = {SIGNED: "signed", PLAIN: "plain"}  # and the names of their resources
SIGN = f"hmac-sha256:{KEY_NAME}:{KEY_SECRET}"
KNOT, STRANGER = "127.0.0.12", "127.0.0.77"


def records_of(domain):
    def at(name, kind, *targets, **more):
        return endpoint(f"{name}.{domain}" if name else domain, kind, *targets, **more)

    name = ZONES[domain]
    return [
        record(f"{name}-web", name,
               at("www", "A", "192.0.2.1", "192.0.2.2", ttl=300),
               at("www", "AAAA", "2001:db8::1"),
               at("*.apps", "CNAME", f"www.{domain}"),
               at("mail", "MX", "10 mx1.example.net", f"20 mx2.{domain}"),
               at("text", "TXT", "hello world"),
               at("_sip._tcp", "SRV", f"10 5 5060 sip.{domain}"),
               at("", "CAA", '0 issue "ca.example"'),
               at("svc", "HTTPS", "1 . alpn=h2,h3"),
               at("_443._tcp", "TLSA", "3 1 1 " + "ab" * 32),
               at("part", "NS", f"ns.part.{domain}"),
               at("ns.part", "A", "192.0.2.99")),
        record(f"{name}-policy", name,
               at("shop", "A", "192.0.2.21", identifier="a", weight="10"),
               at("shop", "A", "192.0.2.22", identifier="b", weight="90"),
               at("shop", "A", "192.0.2.23", identifier="c", weight="0"),
               at("blue", "CNAME", f"light.{domain}", identifier="a", weight="10"),
               at("blue", "CNAME", f"heavy.{domain}", identifier="b", weight="90"),
               at("geo", "A", "192.0.2.31", identifier="de", geo_code="DE"),
               at("geo", "A", "192.0.2.32", identifier="rest", geo_code="*")),
    ]


# Names that have one answer, whoever asks: all servers must agree on them.
SAME = [("www", "A"), ("www", "AAAA"), ("x.apps", "A"), ("mail", "MX"), ("text", "TXT"), ("_sip._tcp", "SRV"),
        ("", "CAA"), ("svc", "HTTPS"), ("_443._tcp", "TLSA"), ("", "NS"), ("", "SOA")]


class SecondaryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        port = free_port()
        cls.primary = ("127.0.0.1", port)
        cls.server = Fairlead("--dns-listen", f"127.0.0.1:{port}").start()
        cls.addClassCleanup(cls.server.remove)
        kinds = {SIGNED: True, PLAIN: False}
        cls.secondaries = {"BIND": bind_secondary(kinds, cls.primary), "Knot": Knot(kinds, cls.primary, KNOT)}
        for each in cls.secondaries.values():
            cls.addClassCleanup(each.remove)
        cls.apply(tsig_secret("transfer-key"))
        for domain, name in ZONES.items():
            key = {"tsigSecretRef": {"name": "transfer-key"}} if kinds[domain] else {}
            peers = [{"address": each.address, "port": each.port, **key} for each in cls.secondaries.values()]
            cls.apply(zone(name, domain, transferPeers=peers), *records_of(domain))
            until(lambda: len(short(cls.primary, f"www.{domain}", "A")) == 2, f"{domain} is served")
        for each in cls.secondaries.values():
            each.start()

    @classmethod
    def apply(cls, *objects):
        documents = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        cls.server.kubectl("apply", "-f", "-", stdin=json.dumps(documents))

    def each(self):
        """(zone, name of the secondary, its address)"""
        return [(domain, name, each.at) for domain in ZONES for name, each in self.secondaries.items()]

    def in_step(self, what):
        def ours():
            return {domain: serial(self.primary, domain) for domain in ZONES}

        def theirs():
            return {(domain, name): serial(at, domain) for domain, name, at in self.each()}

        def same():
            expected = ours()
            return all(expected.values()) and all(got == expected[domain] for (domain, _), got in theirs().items())
        try:
            until(same, f"{what}: all have our serial", 60)
        except AssertionError as error:
            logs = "\n".join(f"== {name}\n{each.log_text()[-1500:]}" for name, each in self.secondaries.items())
            raise AssertionError(f"{error}\nours {ours()}\ntheirs {theirs()}\n{logs}\n"
                                 f"== fairlead\n{self.server.log_text()[-3000:]}") from error

    def everywhere(self, expected, name, kind):
        for domain in ZONES:
            until(lambda: short(self.primary, f"{name}.{domain}", kind) == expected, f"we answer {name} with {expected}")
        for domain, who, at in self.each():
            until(lambda: short(at, f"{name}.{domain}", kind) == expected,
                  f"{who} answers {name}.{domain} with {expected}, has {short(at, f'{name}.{domain}', kind)}", 60)

    def test_1_they_answer_as_we_do(self):
        self.in_step("after the start")
        for domain, who, at in self.each():
            for name, kind in SAME:
                question = (f"{name}.{domain}" if name else domain, kind)
                ours = records(self.primary, *question)
                self.assertTrue(ours, question)
                self.assertEqual(records(at, *question), ours, f"{who} {question}")
        for domain in ZONES:
            for at in [self.primary, *[each.at for each in self.secondaries.values()]]:
                self.assertEqual(status(at, f"nothing.{domain}", "A"), "NXDOMAIN")
                self.assertIn(f"ns.part.{domain}.", dig(at, "+norecurse", f"x.part.{domain}", "A"))

    def test_2_policies_are_flattened(self):
        self.in_step("after the start")
        for domain, who, at in self.each():
            self.assertEqual(short(at, f"shop.{domain}", "A"), ["192.0.2.21", "192.0.2.22"], who)
            self.assertEqual(short(at, f"blue.{domain}", "CNAME"), [f"heavy.{domain}."], who)
            self.assertEqual(short(at, f"geo.{domain}", "A"), ["192.0.2.32"], who)

    def change(self, name, *targets):
        self.apply(*[record(f"{zone_name}-{name}", zone_name, endpoint(f"{name}.{domain}", "A", *targets))
                     for domain, zone_name in ZONES.items()])

    def test_3_they_follow_changes(self):
        before = serial(self.primary, SIGNED)
        self.change("new", "192.0.2.50")
        self.everywhere(["192.0.2.50"], "new", "A")
        self.in_step("after a new record")
        added = serial(self.primary, SIGNED)
        self.assertGreater(added, before)
        self.change("new", "192.0.2.51", "192.0.2.52")
        self.everywhere(["192.0.2.51", "192.0.2.52"], "new", "A")
        self.in_step("after a change")
        self.assertGreater(serial(self.primary, SIGNED), added)
        self.server.kubectl("delete", "dnsrecord", "signed-new", "plain-new")
        self.everywhere([], "new", "A")
        self.in_step("after the end of a record")
        for domain, who, at in self.each():
            self.assertEqual(status(at, f"new.{domain}", "A"), "NXDOMAIN", who)
        metrics = self.server.request("GET", "/metrics")[2].decode()
        for domain in ZONES:
            self.assertIn(f'fairlead_dns_notify_acknowledged_total{{zone="{domain}"}}', metrics)
        self.assertIn('fairlead_dns_transfers_total{result="completed"}', metrics)

    def test_3_they_catch_up_with_many_changes(self):
        self.change("busy", "192.0.2.1")
        path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords/{}-busy"
        for i in range(100):
            for domain, name in ZONES.items():
                spec = {"endpoints": [endpoint(f"busy.{domain}", "A", f"198.51.100.{i}")]}
                code, _, answer = self.server.request("PATCH", path.format(name), {"spec": spec},
                                                      {"Content-Type": "application/merge-patch+json"})
                self.assertEqual(code, 200, answer)
        self.everywhere(["198.51.100.99"], "busy", "A")
        self.in_step("after 100 changes")

    def test_4_only_peers_may_copy_and_only_with_the_key(self):
        copied = dig(self.primary, "-y", SIGN, "axfr", SIGNED)
        self.assertIn(f"www.{SIGNED}.", copied)
        self.assertEqual(copied.count("\tSOA\t"), 2)
        self.assertNotIn("verify", copied)
        self.assertIn(f"mail.{SIGNED}.", kdig(self.primary, "-y", SIGN, SIGNED, "axfr"))
        self.assertIn(f"mail.{SIGNED}.", kdig(self.primary, "-y", SIGN, SIGNED, "ixfr=1"))
        self.assertIn(f"mail.{PLAIN}.", dig(self.primary, "axfr", PLAIN))
        refused = {
            "without the key": (SIGNED,),
            "with another secret": (SIGNED, "-y", f"hmac-sha256:{KEY_NAME}:{OTHER_SECRET}"),
            "with another key": (SIGNED, "-y", f"hmac-sha256:unknown.example:{KEY_SECRET}"),
            "from elsewhere": (SIGNED, "-y", SIGN, "-b", STRANGER),
            "from elsewhere, no key needed": (PLAIN, "-b", STRANGER),
            "no zone of ours": ("elsewhere.example",),
            "no apex": (f"www.{PLAIN}",),
        }
        for why, question in refused.items():
            for tool in (dig, kdig):
                got = tool(self.primary, *question[1:], question[0], "axfr")
                self.assertNotIn("\tA\t", got, f"{why}: {got}")
                self.assertNotIn("\tSOA\t", got, f"{why}: {got}")
            self.assertIn("Transfer failed", dig(self.primary, *question[1:], question[0], "axfr"), why)

    def test_5_signed_queries_get_signed_answers(self):
        answer = kdig(self.primary, "-y", SIGN, f"www.{PLAIN}", "A")
        self.assertIn("192.0.2.1", answer)
        self.assertNotIn("WARNING", answer)
        answer = dig(self.primary, "-y", SIGN, "+tcp", f"www.{PLAIN}", "A")
        self.assertIn("192.0.2.1", answer)
        self.assertIn("TSIG", answer)
        self.assertNotIn("verify", answer)
        for error, key in {"BADSIG": f"hmac-sha256:{KEY_NAME}:{OTHER_SECRET}",
                           "BADKEY": f"hmac-sha256:unknown.example:{KEY_SECRET}"}.items():
            answer = dig(self.primary, "-y", key, SIGNED, "SOA")
            self.assertIn("NOTAUTH", answer)
            self.assertIn(error, answer)
        self.assertIn("BADKEY", dig(self.primary, "-y", f"hmac-sha512:{KEY_NAME}:{KEY_SECRET}", SIGNED, "SOA"))

    def test_6_a_large_zone_is_copied_in_many_messages(self):
        for part in range(4):
            self.apply(record(f"bulk-{part}", "signed",
                              *[endpoint(f"h{part * 500 + i}.{SIGNED}", "A", "192.0.2.7") for i in range(500)]))
        until(lambda: short(self.primary, f"h1999.{SIGNED}", "A"), "we serve it")
        self.in_step("after 2,000 names more")
        for name, each in self.secondaries.items():
            self.assertEqual(short(each.at, f"h1999.{SIGNED}", "A"), ["192.0.2.7"], name)
        copied = dig(self.primary, "-y", SIGN, "axfr", SIGNED)
        self.assertNotIn("verify", copied)
        self.assertGreater(int(copied.split("(messages ")[1].split(",")[0]), 1)
        self.assertEqual(len([line for line in copied.splitlines() if line.startswith("h")]), 2000)

    def test_7_they_follow_health(self):
        path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords/{}-policy/status"

        def report(unhealthy):
            for name in ZONES.values():
                code, _, answer = self.server.request(
                    "PATCH", path.format(name), {"status": {"unhealthyTargets": unhealthy}},
                    {"Content-Type": "application/merge-patch+json"})
                self.assertEqual(code, 200, answer)
        report(["192.0.2.22"])
        for domain, who, at in self.each():
            until(lambda: short(at, f"shop.{domain}", "A") == ["192.0.2.21"], f"{who} leaves out what is unhealthy", 60)
        report([])
        for domain, who, at in self.each():
            until(lambda: len(short(at, f"shop.{domain}", "A")) == 2, f"{who} has it back", 60)

    def test_8_keys_and_peers_count_from_their_change(self):
        self.in_step("before")
        self.apply(tsig_secret("transfer-key", OTHER_SECRET))
        new = f"hmac-sha256:{KEY_NAME}:{OTHER_SECRET}"
        until(lambda: f"www.{SIGNED}." in dig(self.primary, "-y", new, "axfr", SIGNED), "the new secret counts")
        self.assertIn("Transfer failed", dig(self.primary, "-y", SIGN, "axfr", SIGNED))
        self.apply(tsig_secret("transfer-key"))
        until(lambda: f"www.{SIGNED}." in dig(self.primary, "-y", SIGN, "axfr", SIGNED), "the old one is back")
        added = zone("plain", PLAIN, transferPeers=[
            *[{"address": each.address, "port": each.port} for each in self.secondaries.values()],
            {"address": STRANGER, "notify": False}])
        self.apply(added)
        until(lambda: f"www.{PLAIN}." in dig(self.primary, "-b", STRANGER, "axfr", PLAIN), "a new peer may copy")
        added["spec"]["transferPeers"].pop()
        self.apply(added)
        until(lambda: "Transfer failed" in dig(self.primary, "-b", STRANGER, "axfr", PLAIN), "and may not any more")

    def test_9_in_step_after_a_crash(self):
        self.in_step("before")
        before = serial(self.primary, SIGNED)
        self.server.kill()
        for domain, who, at in self.each():
            self.assertEqual(short(at, f"text.{domain}", "TXT"), ['"hello world"'], f"{who} serves without us")
        self.server.start()
        until(lambda: serial(self.primary, SIGNED) is not None, "we serve the zone again")
        self.assertGreaterEqual(serial(self.primary, SIGNED), before, "a serial that goes back stops secondaries")
        self.change("after", "192.0.2.60")
        self.everywhere(["192.0.2.60"], "after", "A")
        self.in_step("after the crash")


if __name__ == "__main__":
    main()
