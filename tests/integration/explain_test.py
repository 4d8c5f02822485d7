"""Places, `fairlead explain` and `fairlead zone export` with the real binary: what they say is what dig gets."""

import json
import signal
import subprocess
import unittest

from harness import ROOT, Fairlead, until

GEO = ROOT / "tests" / "data" / "geo"


def make_mmdb(csv, to, kind="city"):
    subprocess.run(["perl", GEO / "make_mmdb.pl", csv, to, kind], check=True)


def endpoint(name, kind, targets, ttl=60, identifier=None, **policy):
    one = {"dnsName": name, "recordTTL": ttl, "recordType": kind, "targets": targets}
    if identifier:
        one["setIdentifier"] = identifier
        one["providerSpecific"] = [{"name": key.replace("_", "-"), "value": str(value)} for key, value in policy.items()]
    return one


def record(name, zone, endpoints, host):
    return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord", "metadata": {"name": name, "namespace": "default"},
            "spec": {"dnsName": host, "managedZone": {"name": zone}, "endpoints": endpoints}}


ZONE = {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone", "metadata": {"name": "main", "namespace": "default"},
        "spec": {"domainName": "example.com",
                 "nameServers": [{"name": "ns1.example.com", "addresses": ["127.0.0.1"]}]}}
SHOP = record("shop", "main", [
    endpoint("shop.example.com", "CNAME", ["lb.example.com"], 300),
    endpoint("lb.example.com", "CNAME", ["de.example.com"], 300, "germany", geo_code="DE"),
    endpoint("lb.example.com", "CNAME", ["eu.example.com"], 300, "europe", geo_code="GEO-EU"),
    endpoint("lb.example.com", "CNAME", ["us.example.com"], 300, "rest", geo_code="*"),
    endpoint("de.example.com", "A", ["192.0.2.10"]),
    endpoint("eu.example.com", "A", ["192.0.2.11"], 60, "c1", weight=120),
    endpoint("eu.example.com", "A", ["192.0.2.12"], 50, "c2", weight=40),
    endpoint("us.example.com", "A", ["198.51.100.10", "198.51.100.11"]),
], "shop.example.com")
OTHERS = record("others", "main", [
    endpoint("text.example.com", "TXT", ["v=spf1 -all; \"quoted\""]),
    endpoint("mail.example.com", "MX", ["10 mx.example.com"]),
    endpoint("mx.example.com", "AAAA", ["2001:db8::25"]),
    endpoint("*.wild.example.com", "A", ["192.0.2.99"]),
    endpoint("svc.example.com", "HTTPS", ["1 . alpn=h2,h3"]),
    endpoint("away.example.com", "CNAME", ["www.example.net"]),
], "others.example.com")


class ExplainTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Fairlead("--geo-override", "127.0.0.0/8=DE", "--geo-override", "203.0.113.7=*")
        cls.mmdb = cls.server.data / "places.mmdb"
        make_mmdb(GEO / "places.csv", cls.mmdb)
        cls.server.args += ("--geoip", str(cls.mmdb))
        cls.server.start()
        cls.addClassCleanup(cls.server.remove)
        items = {"apiVersion": "v1", "kind": "List", "items": [ZONE, SHOP, OTHERS]}
        cls.server.kubectl("apply", "-f", "-", stdin=json.dumps(items))
        until(lambda: "NOERROR" in cls.server.dig("svc.example.com", "HTTPS") and
              "192.0.2.10" in cls.server.dig("shop.example.com"), "the zone is served")

    def explain(self, *args):
        return json.loads(self.server.cli("explain", *args, "-o", "json").stdout)

    def addresses(self, *args):
        return sorted(line for line in self.server.dig("+short", *args).splitlines() if line[0].isdigit())

    def test_explains_what_dig_gets(self):
        for subnet, expected in (("192.0.2.5", {"192.0.2.10": 1}), ("198.18.3.4", {"192.0.2.11": 0.75, "192.0.2.12": 0.25}),
                                 ("198.51.100.5", {"198.51.100.10": 1, "198.51.100.11": 1}),
                                 ("203.0.113.7", {"198.51.100.10": 1, "198.51.100.11": 1}),
                                 ("2001:db8::1", {"192.0.2.10": 1})):
            with self.subTest(subnet):
                said = self.explain("shop.example.com", "--from", subnet)
                shares = {}
                for outcome in said["outcomes"]:
                    for one in outcome["answer"]:
                        if one["type"] == "A":
                            shares[one["data"]] = shares.get(one["data"], 0) + outcome["probability"]
                self.assertEqual(expected, shares)
                length = 128 if ":" in subnet else 32
                text = self.server.dig("shop.example.com", f"+subnet={subnet}/{length}")
                self.assertIn(f"CLIENT-SUBNET: {subnet}/{length}/{said['scope']}", text)
                got = self.addresses("shop.example.com", f"+subnet={subnet}/{length}")
                self.assertTrue(set(got) <= set(expected), got)

    def test_shows_a_tree(self):
        text = self.server.cli("explain", "shop.example.com", "--from", "FR").stdout
        for line in ("Zone:    example.com, serial ", "Client:  somebody at EU, FR",
                     "europe", "not chosen: DE does not cover the place", "not chosen: GEO-EU is smaller and comes first",
                     "75%  c1  weight 120  TTL 60  A 192.0.2.11", "25%  c2  weight 40   TTL 50  A 192.0.2.12",
                     "  75%  NOERROR  kept 60 s  A 192.0.2.11"):
            self.assertIn(line, text)

    def test_explains_over_kubectl(self):
        said = json.loads(self.server.kubectl("get", "--raw", "/dns/explain?name=shop.example.com&from=US-CA").stdout)
        self.assertEqual({"continent": "NA", "country": "US", "subdivision": "US-CA"}, said["client"]["place"])
        self.assertEqual("shop.example.com", said["way"]["name"])

    def test_says_why_not(self):
        for args, words in ((("www.example.net",), "REFUSED; zones: example.com"),
                            (("shop.example.com", "--from", "Germany"), "neither an IP address nor a place"),
                            (("shop.example.com", "--type", "NAPTR"), "is none of A, AAAA")):
            result = self.server.cli("explain", *args, check=False)
            self.assertEqual(1, result.returncode)
            self.assertIn(words, result.stderr)
        self.assertEqual(404, self.server.request("GET", "/dns/zones/example.net/export")[0])
        self.assertEqual(401, self.server.request("GET", "/dns/explain?name=a", client_certificate=False)[0])

    def test_nothing_known_of_the_client(self):
        text = self.server.cli("explain", "shop.example.com").stdout
        self.assertIn("somebody at an unknown place", text)
        self.assertIn("A 198.51.100.10, A 198.51.100.11", text)

    def test_exports_what_named_checkzone_accepts(self):
        text = self.server.cli("zone", "export", "example.com").stdout
        file = self.server.data / "example.com.zone"
        file.write_text(text)
        checked = subprocess.run(["named-checkzone", "-i", "local", "example.com", file], capture_output=True, text=True)
        self.assertEqual(0, checked.returncode, checked.stdout + text)
        self.assertIn("; set c1: weight 120, TTL 60: 192.0.2.11\n; set c2: weight 40, TTL 50: 192.0.2.12\n"
                      "eu.example.com.\t50\tIN\tA\t192.0.2.11\neu.example.com.\t50\tIN\tA\t192.0.2.12\n", text)
        self.assertIn("lb.example.com.\t300\tIN\tCNAME\tus.example.com.\n", text)
        self.assertIn("; set germany: geo DE, TTL 300: de.example.com.\n", text)
        self.assertEqual(text, self.server.cli("zone", "export", "main").stdout, "by the name of its ManagedZone")
        self.assertEqual(text, self.server.cli("zone", "export", "default/main").stdout)
        self.assertEqual(text, self.server.kubectl("get", "--raw", "/dns/zones/example.com/export").stdout)

    def test_exports_every_name(self):
        names = [f"n{i:04}.example.org" for i in range(2000)]
        zone = {**ZONE, "metadata": {"name": "many", "namespace": "default"},
                "spec": {"domainName": "example.org", "nameServers": [{"name": "ns.example.net"}]}}
        records = [record(f"many-{i}", "many", [endpoint(name, "A", ["192.0.2.1"]) for name in names[i:i + 100]],
                          "many.example.org") for i in range(0, len(names), 100)]
        self.server.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List",
                                                                  "items": [zone, *records]}))
        until(lambda: all(self.addresses(f"n{i:04}.example.org") for i in (0, 1999)), "all are served")
        lines = self.server.cli("zone", "export", "example.org").stdout.splitlines()
        self.assertEqual(names, [line.split(".\t")[0] for line in lines if "\tA\t" in line])

    def test_viewers_may_ask_and_others_may_not(self):
        for user, code in (("vera", 200), ("eve", 403)):
            binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "v"},
                       "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "fairlead-viewer"},
                       "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "vera"}]}
            self.server.kubectl("apply", "-f", "-", stdin=json.dumps(binding))
            token = self.server.cli("token", "create", "--user", user).stdout.strip()
            for path in ("/dns/explain?name=shop.example.com", "/dns/zones/example.com/export"):
                status, _, _ = self.server.request("GET", path, headers={"Authorization": f"Bearer {token}"},
                                                   client_certificate=False)
                self.assertEqual(code, status, f"{user} {path}")

    def test_reads_the_places_again(self):
        server = Fairlead("--store", "memory:", "--geo-override", "127.0.0.0/8=DE")
        self.addCleanup(server.remove)
        mmdb, csv = server.data / "places.mmdb", server.data / "places.csv"
        make_mmdb(GEO / "places.csv", mmdb)
        server.args += ("--geoip", str(mmdb))
        server.start()
        items = {"apiVersion": "v1", "kind": "List", "items": [ZONE, SHOP]}
        server.kubectl("apply", "-f", "-", stdin=json.dumps(items))
        german = lambda: "192.0.2.10" in server.dig("+short", "shop.example.com", "+subnet=198.51.100.0/24")
        until(lambda: "198.51.100.10" in server.dig("+short", "shop.example.com", "+subnet=198.51.100.0/24"), "served")
        csv.write_text("198.51.100.0/24,EU,DE,\n")
        make_mmdb(csv, mmdb)  # replaced by a rename
        until(german, "the new file counts")
        mmdb.write_bytes(mmdb.read_bytes()[:200])
        until(lambda: "cannot load the places, the old ones count" in server.log_text(), "the warning")
        self.assertTrue(german())
        self.assertIn("fairlead_geoip_last_load_success 0", server.kubectl("get", "--raw", "/metrics").stdout)
        make_mmdb(GEO / "places.csv", mmdb)
        server.process.send_signal(signal.SIGHUP)
        until(lambda: not german(), "the old places again")
        self.assertEqual(1, server.log_text().count("cannot load the places"))

    def test_a_server_without_dns_says_so(self):
        server = Fairlead("--store", "memory:", "--roles", "api").start()
        self.addCleanup(server.remove)
        for command in (("explain", "a.example"), ("zone", "export", "a.example")):
            result = server.cli(*command, check=False)
            self.assertEqual(1, result.returncode)
            self.assertIn("this server does not serve DNS", result.stderr)

    def test_refuses_to_start_without_its_places(self):
        for flags, words in ((("--geoip", "/nonexistent.mmdb"), "/nonexistent.mmdb: No such file"),
                             (("--geo-override", "10.0.0.0/8"), "--geo-override")):
            server = Fairlead("--store", "memory:", *flags)
            self.addCleanup(server.remove)
            with self.assertRaisesRegex(AssertionError, words):
                server.start()


if __name__ == "__main__":
    unittest.main(verbosity=2)
