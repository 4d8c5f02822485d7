#!/usr/bin/env python3
"""The zone of a Router at other name servers: real BIND and Knot by dynamic update, a real NSD by zone files, and a second
Fairlead by external-dns's webhook. Instances that come and go are followed at each. (Route 53: shard_zone_test.)"""

from dns_tools import endpoint, record, short, tsig_secret, zone
from harness import Fairlead, ServerTest, main, until
from rfc2136_test import KnotPrimary, bind_primary
from shard_zone_test import SYSTEM, Instance, ShardWorld, router
from webhook_test import webhook_of
from zonefile_test import serve_with_nsd

FILES = "files.example"


class ShardProviderTest(ShardWorld, ServerTest):
    @classmethod
    def setUpClass(cls):
        serve_with_nsd(cls, FILES)

    def follows(self, name, at, domain, made):
        """The Router's zone at the server `at`, as its instances come and go."""
        made["metadata"]["namespace"] = SYSTEM
        made["spec"]["deletionGuard"] = {"maxPercent": 100}
        # Of somebody else: that nothing at all is wanted in a zone would be held for an approval.
        stays = record(f"{name}-stays", name, endpoint(f"stays.{domain}", "A", "192.0.2.1"))
        stays["metadata"]["namespace"] = SYSTEM
        one, two = Instance("127.0.0.1"), Instance("127.0.0.2")
        self.apply(made, stays, router(name, f"edge.{domain}"))
        self.register(f"{name}-1", name, one)
        self.register(f"{name}-2", name, two)
        last = {}

        def answers(*wanted):
            for each in (f"edge.{domain}", f"default-cart.edge.{domain}"):
                last[each] = short(at, each, "A")
            return all(got == sorted(wanted) for got in last.values())

        def served(*wanted):
            try:
                until(lambda: answers(*wanted), f"{wanted} at {at}", 60)
            except AssertionError as problem:
                zones = self.kubectl("get", "managedzone", "-n", SYSTEM, "-o", "yaml").stdout
                raise AssertionError(f"{problem}, not {last}: {zones}") from None
        served(one.address, two.address)
        self.kubectl("wait", f"router/{name}", "--for=condition=ZoneReady", "--timeout=30s")
        one.die()
        served(two.address)
        one.start()
        served(one.address, two.address)
        self.kubectl("delete", "router", name)
        served()

    def test_bind(self):
        named = bind_primary("bind.example").start()
        self.addCleanup(named.remove)
        self.by_update("bind", named, "bind.example")

    def test_knot(self):
        knot = KnotPrimary("knot.example").start()
        self.addCleanup(knot.remove)
        self.by_update("knot", knot, "knot.example")

    def by_update(self, name, program, domain):
        secret = tsig_secret("tsig")
        secret["metadata"]["namespace"] = SYSTEM
        self.apply(secret)
        self.follows(name, program.at, domain, zone(
            name, domain, provider="rfc2136", rfc2136={"servers": [f"127.0.0.1:{program.port}"]},
            dnsProviderSecretRef={"name": "tsig"}))

    def test_zone_files(self):
        self.follows("files", self.nsd.at, FILES, zone(
            "files", FILES, provider="zonefile", zonefile={"reload": "nsd"},
            nameServers=[{"name": f"ns1.{FILES}", "addresses": ["192.0.2.53"]}]))

    def test_webhook(self):
        far = Fairlead("--webhook-listen", "127.0.0.1:0").start()
        self.addCleanup(far.remove)
        far.kubectl("apply", "-f", "-", stdin=self.manifest(zone("hooked", "hook.example", provider="builtin")))
        self.follows("hooked", ("127.0.0.1", int(far.dns_port)), "hook.example", zone(
            "hooked", "hook.example", provider="webhook", webhook={"url": "http://" + webhook_of(far)}))


if __name__ == "__main__":
    main()
