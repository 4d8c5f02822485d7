#!/usr/bin/env python3
"""Zones at real BIND and Knot servers by dynamic update, through kubectl and the real binary."""

import json

from dns_tools import KEY_NAME, KEY_SECRET, Named, Program, endpoint, record, run, short, tsig_secret, zone
from harness import ServerTest, main, until

BIND_ZONE, KNOT_ZONE = "bind.example", "knot.example"


def text(name):
    return f"$ORIGIN {name}.\n$TTL 300\n@ SOA ns1 hostmaster 1 3600 600 86400 60\n@ NS ns1\nns1 A 127.0.0.1\n"


class KnotPrimary(Program):
    """Knot with one zone that takes updates signed with the key."""

    def __init__(self, zone_name):
        super().__init__("knot")
        (self.dir / "zone.db").write_text(text(zone_name))
        (self.dir / "knot.conf").write_text(f"""
server:
    rundir: {self.dir}
    listen: {self.address}@{self.port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: {self.dir}
control:
    listen: {self.dir}/control
log:
  - target: stderr
    any: info
key:
  - id: {KEY_NAME}
    algorithm: hmac-sha256
    secret: {KEY_SECRET}
acl:
  - id: ours
    key: {KEY_NAME}
    action: [update, transfer]
zone:
  - domain: {zone_name}
    storage: {self.dir}
    file: zone.db
    zonefile-sync: -1
    acl: ours
""")

    def start(self):
        return self.launch("knotd", "-c", self.dir / "knot.conf").wait_until_it_answers()


def bind_primary(zone_name):
    named = Named(f'zone "{zone_name}" {{ type primary; file "zone.db"; allow-update {{ key "{KEY_NAME}"; }}; '
                  f'allow-transfer {{ key "{KEY_NAME}"; }}; }};')
    (named.dir / "zone.db").write_text(text(zone_name))
    return named


class Rfc2136Test(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.servers = {"bind": (bind_primary(BIND_ZONE).start(), BIND_ZONE), "knot": (KnotPrimary(KNOT_ZONE).start(), KNOT_ZONE)}
        for program, _ in cls.servers.values():
            cls.addClassCleanup(program.remove)
        super().setUpClass()

    def apply(self, *objects):
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def zone(self, name, secret="tsig", **spec):
        program, domain = self.servers[name]
        return zone(name, domain, provider="rfc2136", rfc2136={"servers": [f"127.0.0.1:{program.port}"]},
                    dnsProviderSecretRef={"name": secret}, ownership={"owner": "blue"}, deletionGuard={"maxPercent": 100}, **spec)

    def condition(self, kind, name, which):
        item = json.loads(self.kubectl("get", kind, name, "-o", "json").stdout)
        return next((each for each in item.get("status", {}).get("conditions", []) if each["type"] == which), {})

    def nsupdate(self, name, *lines):
        program, domain = self.servers[name]
        script = program.dir / "edit"
        script.write_text("\n".join((f"server 127.0.0.1 {program.port}", f"zone {domain}.", *lines, "send", "")))
        done = run("nsupdate", "-v", "-y", f"hmac-sha256:{KEY_NAME}:{KEY_SECRET}", script)
        self.assertEqual(0, done.returncode, done.stderr)

    def served(self, name, label, *answers, kind="A"):
        program, domain = self.servers[name]
        until(lambda: short(program.at, f"{label}.{domain}", kind) == sorted(answers),
              f"{name} answers {answers} for {label}, not {short(program.at, f'{label}.{domain}', kind)}")

    def test_1_records_arrive(self):
        self.apply(tsig_secret("tsig"), self.zone("bind"), self.zone("knot"))
        for name, (_, domain) in self.servers.items():
            self.apply(record(f"{name}-web", name, endpoint(f"www.{domain}", "A", "192.0.2.1"),
                              endpoint(f"mail.{domain}", "MX", "10 mx.example.net"), endpoint(f"*.{domain}", "TXT", "any")))
            self.served(name, "www", "192.0.2.1")
            self.served(name, "mail", "10 mx.example.net.", kind="MX")
            until(lambda: self.condition("dnsrecord", f"{name}-web", "Applied").get("status") == "True", "the record is told")
            self.assertIn("provider rfc2136", self.condition("dnsrecord", f"{name}-web", "Applied")["message"])
            self.served(name, "_owner.www", *short(self.servers[name][0].at, f"_owner.www.{domain}", "TXT"), kind="TXT")
            self.assertIn("external-dns/owner=blue", short(self.servers[name][0].at, f"_owner.www.{domain}", "TXT")[0])

    def test_2_a_foreign_edit_is_seen_before_it_is_overwritten(self):
        for name, (_, domain) in self.servers.items():
            # Somebody adds an address of their own to our set, and makes a name that we want next.
            self.nsupdate(name, f"update add www.{domain}. 60 A 198.51.100.7", f"update add next.{domain}. 60 A 198.51.100.8")
            self.apply(record(f"{name}-web", name, endpoint(f"www.{domain}", "A", "192.0.2.2")),
                       record(f"{name}-next", name, endpoint(f"next.{domain}", "A", "192.0.2.3")))
            self.served(name, "www", "192.0.2.2")  # it is our name: the conflict is read again, and then decided
            until(lambda: self.condition("dnsrecord", f"{name}-next", "Skipped").get("status") == "True", "theirs is left alone")
            self.served(name, "next", "198.51.100.8")

    def test_3_weights_are_refused_or_flattened(self):
        domain = BIND_ZONE
        self.apply(record("shop", "bind", endpoint(f"shop.{domain}", "A", "192.0.2.10", identifier="cluster/a", weight="3"),
                          endpoint(f"shop.{domain}", "A", "192.0.2.20", identifier="cluster/b", weight="0")))
        until(lambda: "cannot be expressed by provider rfc2136" in self.condition("dnsrecord", "shop", "Skipped").get("message", ""),
              "the record is told")
        self.apply(self.zone("bind", routingPolicies="Flatten"))
        self.served("bind", "shop", "192.0.2.10")

    def test_4_a_wrong_key_is_named(self):
        self.apply(tsig_secret("wrong", "b3RoZXIgc2VjcmV0IG9mIGEgdGVzdCwgMzIgYnl0ZXM="), self.zone("knot", secret="wrong"))
        until(lambda: "BADSIG" in self.condition("managedzone", "knot", "Ready").get("message", ""), "the zone says why")
        self.apply(self.zone("knot"))
        until(lambda: self.condition("managedzone", "knot", "Ready").get("status") == "True", "in step again")

    def test_5_a_server_goes_and_comes_back(self):
        program, domain = self.servers["bind"]
        program.process.terminate()
        program.process.wait(20)
        program.log.close()
        self.apply(record("late", "bind", endpoint(f"late.{domain}", "A", "192.0.2.4")))
        until(lambda: "cannot connect" in json.dumps(json.loads(
            self.kubectl("get", "managedzone", "bind", "-o", "json").stdout).get("status", {})), "the zone says why")
        program.start()
        self.served("bind", "late", "192.0.2.4")

    def test_6_records_go(self):
        # One record of each zone stays: a zone in which nobody wants anything any more would wait for an approval.
        self.apply(*(record(f"{name}-next", name, endpoint(f"stays.{domain}", "A", "192.0.2.5"))
                     for name, (_, domain) in self.servers.items()))
        for name in self.servers:
            self.served(name, "stays", "192.0.2.5")
        self.kubectl("delete", "dnsrecords", "bind-web", "knot-web", "shop", "late")
        for name, (program, domain) in self.servers.items():
            self.served(name, "www")
            self.served(name, "_owner.www", kind="TXT")
            self.served(name, "next", "198.51.100.8")


if __name__ == "__main__":
    main()
