#!/usr/bin/env python3
"""DNSRecords and ManagedZones as kubectl sees them: what is served, what is not and why, and who inherits."""

import json
import time

from harness import ROOT, ServerTest, main, until

NAMESPACE = "multi-cluster-gateways"
API = f"/apis/kuadrant.io/v1alpha1/namespaces/{NAMESPACE}"


def record(name, *endpoints, zone="mgc-dev-mz"):
    return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord", "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"managedZone": {"name": zone}, "endpoints": list(endpoints)}}


def endpoint(name, kind, *targets):
    return {"dnsName": name, "recordType": kind, "recordTTL": 60, "targets": list(targets)}


def ready_of(item):
    for condition in item.get("status", {}).get("conditions", []):
        if condition["type"] == "Ready" and condition["observedGeneration"] == item["metadata"]["generation"]:
            return condition
    return None


class DnsRecordsTest(ServerTest):
    def apply(self, *objects):
        return self.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(each) for each in objects))

    def get(self, kind, name):
        return json.loads(self.kubectl("get", kind, name, "-n", NAMESPACE, "-o", "json").stdout)

    def ready(self, kind, name, reason):
        """The condition Ready, once it speaks of the newest generation and gives this reason."""
        def look():
            condition = ready_of(self.get(kind, name))
            return condition if condition and condition["reason"] == reason else None
        condition = until(look, f"{kind} {name} is {reason}")
        self.assertEqual("True" if reason == "Served" else "False", condition["status"])
        return condition["message"]

    def events(self, name):
        items = json.loads(self.kubectl("get", "events", "-n", NAMESPACE, "-o", "json").stdout)["items"]
        return {item["reason"]: item for item in items if item["involvedObject"]["name"] == name}

    def short(self, name, kind="A"):
        return self.server.dig("+norec", "+short", name, kind).split()

    def test_1_examples(self):
        self.kubectl("apply", "-f", str(ROOT / "examples" / "dns"))
        self.assertRegex(self.ready("managedzone", "mgc-dev-mz", "Served"), r"^served since serial \d+$")
        self.assertRegex(self.ready("dnsrecord", "mygateway-web", "Served"), r"^served since serial \d+$")
        self.ready("dnsrecord", "shop", "Served")
        self.assertEqual(["lb-1ab1.www.example.com.", "default.lb-1ab1.www.example.com.", "1bc1.lb-1ab1.www.example.com.",
                          "192.22.2.1"], self.short("www.example.com"))
        self.assertEqual(["aws.lb.com."], self.short("default.lb-a1b2.shop.example.com"), "outside: the resolver's")
        self.assertEqual(["lb-a1b2.shop.example.com.", "au.lb-a1b2.shop.example.com.", "198.51.100.10"],
                         self.short("shop.example.com"), "a place that is not known")
        zone = self.get("managedzone", "mgc-dev-mz")
        self.assertEqual(["ns1.example.com"], zone["status"]["nameServers"])
        self.assertEqual(["127.0.0.1"], self.short("ns1.example.com"), "the address that it listens at")

    def test_2_a_secret_that_is_missing(self):
        message = self.ready("managedzone", "copied", "Invalid")
        self.assertIn("spec.transferPeers[0].tsigSecretRef.name: there is no Secret secondary-tsig", message)
        self.assertEqual(["192.0.2.53"], self.short("ns1.copied.example.net"), "served all the same")
        self.kubectl("create", "secret", "generic", "secondary-tsig", "-n", NAMESPACE,
                     "--from-literal=secret=bm90IGEgc2VjcmV0")
        self.ready("managedzone", "copied", "Served")

    def test_3_conflict_and_inheritance(self):
        self.apply(record("first", endpoint("claimed.example.com", "A", "192.0.2.1")))
        self.ready("dnsrecord", "first", "Served")
        time.sleep(1.1)  # ages have seconds
        self.apply(record("a-second", endpoint("claimed.example.com", "A", "192.0.2.2"),
                          endpoint("own.example.com", "A", "192.0.2.3")))
        self.assertEqual(f"spec.endpoints[0]: A of claimed.example.com is claimed by DNSRecord {NAMESPACE}/first, which is older",
                         self.ready("dnsrecord", "a-second", "Conflict"))
        self.assertEqual(["192.0.2.1"], self.short("claimed.example.com"))
        self.assertEqual(["192.0.2.3"], self.short("own.example.com"), "the rest of it is served")
        until(lambda: "Conflict" in self.events("a-second"), "an event")
        self.assertEqual("Warning", self.events("a-second")["Conflict"]["type"])
        self.kubectl("delete", "dnsrecord", "first", "-n", NAMESPACE)
        self.ready("dnsrecord", "a-second", "Served")
        self.assertEqual(["192.0.2.2"], self.short("claimed.example.com"))

    def test_4_invalid(self):
        self.apply(record("bad", endpoint("good.example.com", "A", "192.0.2.4"), endpoint("bad.example.com", "A", "192.0.2.400"),
                          endpoint("elsewhere.example.org", "A", "192.0.2.4")))
        message = self.ready("dnsrecord", "bad", "Invalid")
        self.assertIn("spec.endpoints[1].targets[0]: ", message)
        self.assertIn("spec.endpoints[2].dnsName: elsewhere.example.org is not in the zone example.com", message)
        self.assertEqual(["192.0.2.4"], self.short("good.example.com"))
        until(lambda: "Invalid" in self.events("bad"), "an event")
        self.apply(record("bad", endpoint("good.example.com", "A", "192.0.2.5")))
        self.ready("dnsrecord", "bad", "Served")
        self.assertEqual(["192.0.2.5"], self.short("good.example.com"))

    def test_5_the_zone_comes_later_and_goes(self):
        self.apply(record("early", endpoint("www.late.example", "A", "192.0.2.6"), zone="late"))
        self.assertIn("there is no ManagedZone late", self.ready("dnsrecord", "early", "NoZone"))
        self.assertIn("REFUSED", self.server.dig("+norec", "www.late.example"))
        self.apply({"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone", "metadata": {"name": "late", "namespace": NAMESPACE},
                    "spec": {"domainName": "late.example"}})
        self.ready("dnsrecord", "early", "Served")
        self.assertEqual(["192.0.2.6"], self.short("www.late.example"))
        self.kubectl("delete", "managedzone", "late", "-n", NAMESPACE)
        self.ready("dnsrecord", "early", "NoZone")

    def test_6_a_loop_is_an_event(self):
        self.apply(record("loop", endpoint("loop.example.com", "CNAME", "pool.example.com"),
                          endpoint("pool.example.com", "CNAME", "loop.example.com")))
        self.ready("dnsrecord", "loop", "Served")
        self.assertIn("SERVFAIL", self.server.dig("+norec", "loop.example.com"))
        event = until(lambda: self.events("loop").get("ChainTooLong"), "an event")
        self.assertEqual("Warning", event["type"])
        self.assertIn("loop.example.com", event["message"])

    def test_7_health_is_served_at_once(self):
        self.apply(record("pair", endpoint("pair.example.com", "A", "192.0.2.7", "192.0.2.8")))
        self.ready("dnsrecord", "pair", "Served")
        self.assertEqual(["192.0.2.7", "192.0.2.8"], sorted(self.short("pair.example.com")))
        status, _, answer = self.server.request(
            "PATCH", f"{API}/dnsrecords/pair/status", {"status": {"unhealthyTargets": ["192.0.2.7"]}},
            {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(200, status, answer)
        until(lambda: self.short("pair.example.com") == ["192.0.2.8"], "only what works", seconds=5)

    def test_8_a_restart_writes_nothing_and_answers_the_same(self):
        names = [item["metadata"]["name"] for item in self.server.request("GET", f"{API}/dnsrecords")[2]["items"]]
        for name in names:
            until(lambda: ready_of(self.get("dnsrecord", name)), f"a condition of {name}")
        # Not the zones: their figures may have been due.
        def versions():
            return {item["metadata"]["name"]: item["metadata"]["resourceVersion"]
                    for item in self.server.request("GET", f"{API}/dnsrecords")[2]["items"]}
        before = versions()
        serial = int(self.server.dig("+norec", "+short", "example.com", "SOA").split()[2])
        self.assertEqual(0, self.server.stop())
        self.server.start()
        self.assertEqual(["192.0.2.5"], self.short("good.example.com"))
        self.assertGreaterEqual(int(self.server.dig("+norec", "+short", "example.com", "SOA").split()[2]), serial)
        metrics = lambda: self.server.request("GET", "/metrics")[2].decode()
        until(lambda: 'workqueue_depth{name="dns-status"} 0' in metrics() and 'fairlead_dns_feed_failing 0' in metrics(), "quiet")
        time.sleep(1)
        self.assertEqual(before, versions())


if __name__ == "__main__":
    main()
