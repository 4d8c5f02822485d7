#!/usr/bin/env python3
"""`fairlead plan`, `plan approve` and `ownership` against a server that keeps a zone of a real BIND in step, and what an
annotated Service hears of it."""

import json

from dns_tools import KEY_NAME, KEY_SECRET, Named, endpoint, record, run, short, tsig_secret, zone
from harness import ServerTest, main, until

ZONE = "plan.example"
PREFIX = "external-dns.alpha.kubernetes.io/"
TEXT = f"""$TTL 300
@ SOA ns1.{ZONE}. hostmaster.{ZONE}. 1 3600 600 86400 60
@ NS ns1.{ZONE}.
ns1 A 127.0.0.1
theirs 300 A 192.0.2.99
"""


class PlanTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.named = Named(f'zone "{ZONE}" {{ type primary; file "{ZONE}.db"; allow-update {{ key "{KEY_NAME}"; }}; '
                          f'allow-transfer {{ key "{KEY_NAME}"; }}; }};')
        (cls.named.dir / f"{ZONE}.db").write_text(TEXT)
        cls.named.start()

    @classmethod
    def tearDownClass(cls):
        cls.named.remove()
        super().tearDownClass()

    def apply(self, *objects):
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def zone(self, **spec):
        return zone("plan", ZONE, provider="rfc2136", rfc2136={"servers": [f"127.0.0.1:{self.named.port}"]},
                    dnsProviderSecretRef={"name": "plan-tsig"}, ownership={"owner": "blue"}, **spec)

    def plan(self, *args):
        return self.server.cli("plan", *args, check=False)

    def planned(self):
        """The plan of the zone, once the server has it."""
        def look():
            done = self.plan("--zone", "default/plan", "-o", "json")
            self.last = done.stdout + done.stderr
            zones = json.loads(done.stdout)["zones"] if done.returncode in (0, 2) else []
            return zones[0] if zones and not zones[0]["error"] else None
        return until(look, "a plan")

    def at_bind(self, name, *answers, kind="A"):
        until(lambda: short(self.named.at, f"{name}.{ZONE}", kind) == sorted(answers),
              f"BIND answers {answers} for {name}, not {short(self.named.at, f'{name}.{ZONE}', kind)}")

    def condition(self, kind, name, which):
        item = json.loads(self.kubectl("get", kind, name, "-o", "json").stdout)
        return next((each for each in item.get("status", {}).get("conditions", []) if each["type"] == which), {})

    def test_1_a_dry_run_shows_and_writes_nothing(self):
        self.apply(tsig_secret("plan-tsig"), self.zone(dryRun=True),
                   {"apiVersion": "v1", "kind": "Service",
                    "metadata": {"name": "web", "annotations": {PREFIX + "hostname": f"web.{ZONE}"}},
                    "spec": {"type": "LoadBalancer", "externalIPs": ["192.0.2.1"], "ports": [{"port": 80}]}})
        until(lambda: self.planned()["create"], "the Service's name is planned")
        self.assertEqual(f"web.{ZONE}", self.planned()["create"][0]["endpoint"]["dnsName"])
        done = self.plan("--zone", ZONE)
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertRegex(done.stdout, rf"(?m)^\+ A +web\.{ZONE} +192\.0\.2\.1")
        self.assertIn("dry run: nothing is written", done.stdout)
        self.assertIn("1 to create, 0 to update, 0 to delete", done.stdout)
        self.assertEqual([], short(self.named.at, f"web.{ZONE}"))

    def test_2_what_was_shown_is_applied(self):
        self.apply(self.zone(dryRun=False))
        self.at_bind("web", "192.0.2.1")
        until(lambda: self.plan().returncode == 0, "nothing to change any more")
        until(lambda: self.condition("service", "web", "Applied").get("status") == "True", "the Service is told")
        self.assertIn("provider rfc2136", self.condition("service", "web", "Applied")["message"])

    def test_3_adopt_what_somebody_left_there(self):
        self.apply(record("theirs", "plan", endpoint(f"theirs.{ZONE}", "A", "192.0.2.3")))
        until(lambda: self.condition("dnsrecord", "theirs", "Skipped").get("status") == "True", "not ours: left alone")
        self.at_bind("theirs", "192.0.2.99")
        dry = self.server.cli("ownership", "adopt", "--zone", ZONE, f"theirs.{ZONE}", "--dry-run", check=False)
        self.assertEqual(2, dry.returncode, dry.stdout + dry.stderr)
        self.assertRegex(dry.stdout, rf"(?m)^~ A +theirs\.{ZONE}")
        self.at_bind("theirs", "192.0.2.99")
        self.server.cli("ownership", "adopt", "--zone", ZONE, f"theirs.{ZONE}")
        self.at_bind("theirs", "192.0.2.3")
        until(lambda: self.plan().returncode == 0, "nothing to change any more")

    def test_4_held_back_until_approved(self):
        self.apply(*(record(f"many-{i}", "plan", endpoint(f"many-{i}.{ZONE}", "A", "192.0.2.4")) for i in range(8)))
        for i in range(8):
            self.at_bind(f"many-{i}", "192.0.2.4")
        self.kubectl("delete", "dnsrecords", *(f"many-{i}" for i in range(8)))
        held = until(lambda: self.planned().get("held"), "it is held back")
        done = self.plan("--zone", "plan")
        self.assertEqual(2, done.returncode)
        self.assertIn("Held back:\nTooManyDeletions: ", done.stdout)
        wrong = self.server.cli("plan", "approve", "0123456789abcdef", check=False)
        self.assertEqual(1, wrong.returncode)
        self.assertIn("no zone holds back a plan with the digest 0123456789abcdef", wrong.stderr)
        self.at_bind("many-3", "192.0.2.4")

        def approve():
            digest = (self.planned().get("held") or held)["digest"]
            return self.server.cli("plan", "approve", digest, check=False).returncode == 0
        until(approve, "approved")
        for i in range(8):
            self.at_bind(f"many-{i}")
        self.at_bind("web", "192.0.2.1")

    def test_5_release_leaves_the_record(self):
        self.server.cli("ownership", "release", "--zone", "default/plan", f"theirs.{ZONE}")
        self.kubectl("delete", "dnsrecord", "theirs")
        until(lambda: self.plan("--zone", "plan").returncode == 0, "nothing to change any more")
        self.at_bind("theirs", "192.0.2.3")
        listed = run("dig", "@127.0.0.1", "-p", self.named.port, "-y", f"hmac-sha256:{KEY_NAME}:{KEY_SECRET}",
                     ZONE, "AXFR").stdout
        self.assertNotRegex(listed, rf"(?m)theirs\.{ZONE}\.\s+\d+\s+IN\s+TXT", "nobody's")
        self.assertRegex(listed, rf"(?m)web\.{ZONE}\.\s+\d+\s+IN\s+TXT.*owner=blue", "still ours")


if __name__ == "__main__":
    main()
