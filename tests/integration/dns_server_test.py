#!/usr/bin/env python3
"""dig and kdig against the DNS server of the real binary: what they print is what the tests compare."""

import re
import signal
import socket
import struct
import threading
import time
import unittest

from harness import Fairlead, ServerTest, main, until

API = "/apis/kuadrant.io/v1alpha1/namespaces/default"
SOA = "example.com. 120 IN SOA ns1.example.com. hostmaster.example.com. SERIAL 3600 600 1209600 120"


def endpoint(name, kind, *targets, ttl=60, identifier="", **policy):
    made = {"dnsName": name, "recordTTL": ttl, "recordType": kind, "targets": list(targets)}
    if identifier:
        made["setIdentifier"] = identifier
        made["providerSpecific"] = [{"name": key.replace("_", "-"), "value": value} for key, value in policy.items()]
    return made


def record(name, *endpoints, zone="example"):
    return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord", "metadata": {"name": name},
            "spec": {"managedZone": {"name": zone}, "endpoints": list(endpoints)}}


def zone(name, domain, **spec):
    return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone", "metadata": {"name": name},
            "spec": {"domainName": domain, **spec}}


EXAMPLE = zone("example", "example.com", nameServers=[{"name": "ns1.example.com", "addresses": ["192.0.2.53"]}],
               soa={"negativeTTL": 120, "mailbox": "hostmaster@example.com"})
RECORDS = [
    record("www", endpoint("www.example.com", "A", "192.0.2.1", "192.0.2.2", ttl=300),
           endpoint("www.example.com", "AAAA", "2001:db8::1", ttl=300),
           endpoint("www.example.com", "TXT", "one text")),
    record("mail", endpoint("example.com", "MX", "10 mail.example.com"), endpoint("mail.example.com", "A", "192.0.2.25")),
    record("chain", endpoint("a.example.com", "CNAME", "b.example.com", ttl=10), endpoint("b.example.com", "CNAME", "c.example.com", ttl=20),
           endpoint("c.example.com", "A", "192.0.2.30", ttl=30), endpoint("out.example.com", "CNAME", "elsewhere.example.net"),
           endpoint("gap.example.com", "CNAME", "none.example.com")),
    record("wild", endpoint("*.wild.example.com", "A", "192.0.2.40"), endpoint("x.y.ent.example.com", "A", "192.0.2.41"),
           endpoint("there.wild.example.com", "TXT", "no address")),
    record("cut", endpoint("sub.example.com", "NS", "ns.sub.example.com", "ns.example.net"),
           endpoint("ns.sub.example.com", "A", "192.0.2.99")),
    record("big", endpoint("big.example.com", "TXT", *[f"{i:02} " + "x" * 200 for i in range(20)])),
    record("loop", endpoint("loop1.example.com", "CNAME", "loop2.example.com"), endpoint("loop2.example.com", "CNAME", "loop1.example.com")),
    record("geo", endpoint("geo.example.com", "A", "192.0.2.71", identifier="de", geolocation_country_code="DE"),
           endpoint("geo.example.com", "A", "192.0.2.72", identifier="us", geolocation_country_code="US"),
           endpoint("geo.example.com", "A", "192.0.2.79", identifier="other", geolocation_country_code="*")),
]


class Answer:
    """What dig or kdig printed: status, flags and sections, each line with single blanks and the serial taken out."""

    def __init__(self, text):
        self.text = text
        self.status = re.search(r"status: (\w+)", text).group(1) if "status:" in text else None
        flags = re.search(r";; [Ff]lags: ([a-z ]*);", text)
        self.flags = flags.group(1).split() if flags else []
        self.sections = {}
        section = None
        for line in text.splitlines():
            if heading := re.match(r";; (\w+) (?:PSEUDO)?SECTION:", line):
                section = self.sections.setdefault(heading.group(1), [])
            elif line and not line.startswith(";;") and section is not None:
                section.append(re.sub(r"(SOA \S+ \S+) \d+", r"\1 SERIAL", " ".join(line.split())))
        self.answer, self.authority = self.sections.get("ANSWER", []), self.sections.get("AUTHORITY", [])
        self.additional = self.sections.get("ADDITIONAL", [])


class DnsTest(ServerTest):
    SERVE_ARGS = ("--dns-version", "fairlead test", "--dns-id", "test-1", "--dns-threads", "2", "--geo-override", "198.51.100.0/24=DE",
                  "--geo-override", "203.0.113.0/24=US")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for one in [EXAMPLE, *RECORDS]:
            plural = "managedzones" if one["kind"] == "ManagedZone" else "dnsrecords"
            status, _, body = cls.server.request("POST", f"{API}/{plural}", one)
            assert status == 201, body
        until(lambda: Answer(cls.server.dig("geo.example.com")).answer, "the last record is served")

    def dig(self, *args, tool="dig"):
        return Answer(self.server.dig(*args, tool=tool))

    def check(self, asked, status="NOERROR", answer=(), authority=(), additional=None, flags=("qr", "aa", "rd")):
        """The same over UDP and TCP."""
        for transport in ("+notcp", "+tcp"):
            with self.subTest(asked=asked, transport=transport):
                got = self.dig(*asked.split(), transport)
                self.assertEqual((status, sorted(answer), sorted(authority)), (got.status, sorted(got.answer), sorted(got.authority)), got.text)
                self.assertEqual(sorted(flags), sorted(got.flags), got.text)
                if additional is not None:
                    self.assertEqual(sorted(additional), sorted(got.additional), got.text)


class Lookups(DnsTest):
    def test_records_of_a_name(self):
        self.check("www.example.com A", answer=["www.example.com. 300 IN A 192.0.2.1", "www.example.com. 300 IN A 192.0.2.2"])
        self.check("www.example.com AAAA", answer=["www.example.com. 300 IN AAAA 2001:db8::1"])
        self.check("www.example.com TXT", answer=['www.example.com. 60 IN TXT "one text"'])
        self.check("example.com MX", answer=["example.com. 60 IN MX 10 mail.example.com."])

    def test_the_apex(self):
        got = self.dig("example.com", "SOA")
        self.assertEqual(["example.com. 3600 IN SOA ns1.example.com. hostmaster.example.com. SERIAL 3600 600 1209600 120"],
                         [re.sub(r"^(\S+) \d+", r"\1 3600", line) for line in got.answer], got.text)
        got = self.dig("example.com", "NS")
        self.assertEqual(["ns1.example.com."], [line.split()[-1] for line in got.answer], got.text)

    def test_a_chain_comes_whole_with_the_ttl_of_each_link(self):
        self.check("a.example.com A", answer=["a.example.com. 10 IN CNAME b.example.com.", "b.example.com. 20 IN CNAME c.example.com.",
                                              "c.example.com. 30 IN A 192.0.2.30"])
        self.check("a.example.com CNAME", answer=["a.example.com. 10 IN CNAME b.example.com."])

    def test_a_chain_that_leaves_our_zones_is_left_to_the_resolver(self):
        self.check("out.example.com A", answer=["out.example.com. 60 IN CNAME elsewhere.example.net."])

    def test_a_chain_to_a_name_that_does_not_exist(self):
        self.check("gap.example.com A", "NXDOMAIN", ["gap.example.com. 60 IN CNAME none.example.com."], [SOA])

    def test_a_chain_without_end_is_a_failure(self):
        got = self.dig("loop1.example.com")
        self.assertEqual(("SERVFAIL", []), (got.status, got.answer), got.text)

    def test_wildcards(self):
        self.check("any.wild.example.com A", answer=["any.wild.example.com. 60 IN A 192.0.2.40"])
        self.check("deep.er.wild.example.com A", answer=["deep.er.wild.example.com. 60 IN A 192.0.2.40"])
        self.check("any.wild.example.com TXT", authority=[SOA])
        self.check("there.wild.example.com A", authority=[SOA])  # a name that exists is not covered

    def test_empty_non_terminals_exist(self):
        for name in ("ent.example.com", "y.ent.example.com", "wild.example.com"):
            self.check(f"{name} A", authority=[SOA])

    def test_what_is_not_there(self):
        self.check("none.example.com A", "NXDOMAIN", authority=[SOA])
        self.check("www.example.com SRV", authority=[SOA])

    def test_a_delegation_with_its_glue(self):
        referral = ["sub.example.com. 60 IN NS ns.example.net.", "sub.example.com. 60 IN NS ns.sub.example.com."]
        for asked in ("sub.example.com A", "www.sub.example.com A", "sub.example.com NS"):
            self.check(asked, authority=referral, additional=["ns.sub.example.com. 60 IN A 192.0.2.99"], flags=("qr", "rd"))


class Protocol(DnsTest):
    def test_any_is_answered_with_one_set(self):
        got = self.dig("www.example.com", "ANY", "+notcp")
        self.assertEqual("NOERROR", got.status, got.text)
        self.assertEqual(1, len({line.split()[3] for line in got.answer}), got.text)

    def test_other_zones_are_refused(self):
        for name in ("example.org", "com", "."):
            self.assertEqual("REFUSED", self.dig(name).status)

    def test_other_opcodes_are_not_implemented(self):
        self.assertEqual("NOTIMP", self.dig("+opcode=UPDATE", "example.com", "SOA").status)
        self.assertEqual("NOTIMP", self.dig("+opcode=STATUS", "example.com").status)

    def test_the_malformed_is_told_so(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(10)
            client.connect(("127.0.0.1", int(self.server.dns_port)))
            client.send(struct.pack("!HHHHHH", 77, 0, 2, 0, 0, 0))  # two questions, none there
            reply = client.recv(512)
        self.assertEqual((77, 1), (struct.unpack("!H", reply[:2])[0], reply[3] & 15))

    def test_edns(self):
        got = self.dig("www.example.com")
        self.assertIn("EDNS: version: 0, flags:; udp: 1232", got.text)
        self.assertNotIn("EDNS:", self.dig("+noedns", "www.example.com").text)
        self.assertEqual("BADVERS", self.dig("+edns=1", "+noednsneg", "www.example.com").status)

    def test_what_does_not_fit_is_cut_and_asked_again_over_tcp(self):
        cut = self.dig("big.example.com", "TXT", "+ignore")
        self.assertIn("tc", cut.flags)
        self.assertEqual([], cut.answer, "no part of a set")
        whole = self.dig("big.example.com", "TXT")
        self.assertIn("Truncated, retrying in TCP mode", whole.text)
        self.assertEqual(20, len(whole.answer))
        self.assertNotIn("tc", whole.flags)

    def test_the_case_of_the_question_is_kept(self):
        text = self.server.dig("wWw.ExAmPlE.cOm", "+qr")
        self.assertIn("wWw.ExAmPlE.cOm.\t", text)
        self.assertEqual(2, len(re.findall(r"^wWw\.ExAmPlE\.cOm\.\s+300\s+IN\s+A", text, re.M)), text)

    def test_who_the_server_is(self):
        for name in ("version.bind", "version.server"):
            self.assertEqual('"fairlead test"', self.server.dig("+short", "CH", "TXT", name).strip())
        for name in ("id.server", "hostname.bind"):
            self.assertEqual('"test-1"', self.server.dig("+short", "CH", "TXT", name).strip())
        self.assertEqual("REFUSED", self.dig("CH", "TXT", "authors.bind").status)
        self.assertIn('("test-1")', self.server.dig("+nsid", "www.example.com"))

    def test_the_place_of_the_client_and_the_scope_of_the_answer(self):
        for subnet, address, scope in (("198.51.100.0/25", "192.0.2.71", 24), ("203.0.113.7/32", "192.0.2.72", 24)):
            got = self.dig("+subnet=" + subnet, "geo.example.com", "A", tool="kdig")
            self.assertEqual([f"geo.example.com. 60 IN A {address}"], got.answer, got.text)
            self.assertIn(f"/{subnet.split('/')[1]}/{scope}", got.text.replace(" ", ""))
        got = self.dig("+subnet=192.0.2.0/24", "geo.example.com", "A", tool="kdig")
        self.assertEqual(["geo.example.com. 60 IN A 192.0.2.79"], got.answer, got.text)
        # What does not depend on the place is for everybody.
        self.assertIn("/24/0", self.dig("+subnet=198.51.100.0/24", "www.example.com", "A", tool="kdig").text.replace(" ", ""))

    def test_many_questions_over_one_connection(self):
        before = self.accepted()
        got = self.server.dig("+tcp", "+keepopen", "www.example.com", "A", "c.example.com", "A", "none.example.com", "A", tool="kdig")
        self.assertEqual(["NOERROR", "NOERROR", "NXDOMAIN"], re.findall(r"status: (\w+)", got))
        self.assertEqual(before + 1, self.accepted())

    def accepted(self):
        return self.metric("fairlead_dns_tcp_connections_accepted_total")

    def metric(self, series):
        text = self.server.request("GET", "/metrics")[2].decode()
        found = re.search("^" + re.escape(series) + r" (\S+)$", text, re.M)
        return float(found.group(1)) if found else 0

    def test_figures(self):
        series = 'fairlead_dns_queries_total{rcode="NOERROR",transport="udp",type="AAAA"}'
        before = self.metric(series)
        self.dig("www.example.com", "AAAA")
        self.assertEqual(before + 1, self.metric(series))
        self.assertGreater(self.metric('fairlead_dns_zone_serial{zone="example.com"}'), 0)
        self.assertGreater(self.metric('fairlead_dns_zone_names{zone="example.com"}'), 10)
        answers = 'fairlead_dns_set_answers_total{name="geo.example.com",set_identifier="de",type="A",zone="example.com"}'
        before = self.metric(answers)
        self.dig("+subnet=198.51.100.0/24", "geo.example.com", tool="kdig")
        self.assertEqual(before + 1, self.metric(answers))
        self.assertGreater(self.metric("fairlead_dns_snapshot_age_seconds"), 0)


class Life(unittest.TestCase):
    def start(self):
        server = Fairlead().start()
        self.addCleanup(server.remove)
        for path, one in (("managedzones", EXAMPLE), ("dnsrecords", RECORDS[0])):
            self.assertEqual(201, server.request("POST", f"{API}/{path}", one)[0])
        until(lambda: "192.0.2.1" in server.dig("+short", "www.example.com"), "the record is served")
        return server

    @staticmethod
    def serial(server):
        return int(server.dig("+short", "example.com", "SOA").split()[2])

    def test_readiness_asks_for_the_zones(self):
        status, _, text = self.start().request("GET", "/readyz?verbose")
        self.assertEqual(200, status)
        self.assertIn(b"[+]dns ok", text)

    def test_changes_are_served_and_move_the_serial(self):
        server = self.start()
        before = self.serial(server)
        patch = {"spec": {"endpoints": [endpoint("www.example.com", "A", "192.0.2.200")]}}
        status, _, body = server.request("PATCH", f"{API}/dnsrecords/www", patch, {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(200, status, body)
        until(lambda: server.dig("+short", "www.example.com").split() == ["192.0.2.200"], "the change is served", 5)
        self.assertGreater(self.serial(server), before)
        self.assertEqual(200, server.request("DELETE", f"{API}/dnsrecords/www")[0])
        until(lambda: Answer(server.dig("www.example.com")).status == "NXDOMAIN", "it is gone", 5)
        self.assertEqual(200, server.request("DELETE", f"{API}/managedzones/example")[0])
        until(lambda: Answer(server.dig("www.example.com")).status == "REFUSED", "the zone is gone", 5)

    def test_a_start_answers_from_the_data_dir_and_its_serial_does_not_go_back(self):
        server = self.start()
        before = self.serial(server)
        server.kill()
        server.start()
        self.assertEqual(["192.0.2.1", "192.0.2.2"], sorted(server.dig("+short", "www.example.com").split()), "at once")
        self.assertGreaterEqual(self.serial(server), before)

    def test_queries_are_answered_until_the_end_of_a_stop(self):
        server = self.start()
        watching = server.connect()
        watching.request("GET", f"{API}/dnsrecords?watch=true")
        watching.getresponse()
        last, lost, done = [0.0], [], threading.Event()

        def ask():
            query = struct.pack("!HHHHHH", 7, 0, 1, 0, 0, 0) + b"\3www\7example\3com\0" + struct.pack("!HH", 1, 1)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
                client.settimeout(1)
                client.connect(("127.0.0.1", int(server.dns_port)))
                while not done.is_set():
                    asked = time.monotonic()
                    try:
                        client.send(query)
                        client.recv(512)
                        last[0] = time.monotonic()
                    except OSError:
                        lost.append(asked)
                        return

        asking = threading.Thread(target=ask)
        asking.start()
        until(lambda: last[0] > 0, "queries are answered")
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(60)
        ended = time.monotonic()
        done.set()
        asking.join()
        watching.close()
        self.assertEqual(0, server.process.returncode)
        self.assertLess(ended - last[0], 1.5, "the last answer came at the end")


if __name__ == "__main__":
    main()
