#!/usr/bin/env python3
"""Zones at Route 53, through kubectl and the real binary, against the strict emulator: what is wanted arrives there and
nothing else is touched."""

import json
import os
from unittest import mock

from harness import ServerTest, main, until
from route53_emulator import Emulator

NAMESPACE = "dns"
LOAD_BALANCER = "my-lb-1.us-east-1.elb.amazonaws.com"


def record(name, *endpoints, zone="example"):
    return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord", "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"managedZone": {"name": zone}, "endpoints": list(endpoints)}}


def endpoint(name, kind, *targets, identifier=None, **properties):
    made = {"dnsName": name, "recordType": kind, "recordTTL": 60, "targets": list(targets)}
    if identifier:
        made["setIdentifier"] = identifier
    if properties:
        made["providerSpecific"] = [{"name": key.replace("_", "-"), "value": value} for key, value in properties.items()]
    return made


def secret(name, key="AKIDEXAMPLE", value="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": NAMESPACE},
            "stringData": {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": value}}


class Route53Test(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.emulator = Emulator((("example.com", "ZEXAMPLE", False), ("example.com", "ZINNER", True),
                                 ("twice.example", "ZONE1", False), ("twice.example", "ZONE2", False))).start()
        cls.addClassCleanup(cls.emulator.stop)
        super().setUpClass()
        cls.server.kubectl("create", "namespace", NAMESPACE)

    def apply(self, *objects):
        return self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def get(self, kind, name):
        return json.loads(self.kubectl("get", kind, name, "-n", NAMESPACE, "-o", "json").stdout)

    def zone(self, name="example", domain="example.com", keys="aws", **spec):
        settings = {"endpoint": self.emulator.url, "requestsPerSecond": 100, **spec.pop("route53", {})}
        return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone",
                "metadata": {"name": name, "namespace": NAMESPACE},
                "spec": {"domainName": domain, "provider": "route53", "dnsProviderSecretRef": {"name": keys},
                         "deletionGuard": {"maxPercent": 100}, "route53": settings, **spec}}

    def condition(self, kind, name, which, reason=None, status=None):
        """The condition once it speaks of the newest generation, with this reason or status."""
        last = []

        def look():
            item = self.get(kind, name)
            last[:] = [item.get("status", {}).get("conditions", [])]
            for each in last[0]:
                if each["type"] == which and each["observedGeneration"] == item["metadata"]["generation"] and \
                        (reason is None or each["reason"] == reason) and (status is None or each["status"] == status):
                    return each
            return None
        try:
            return until(look, f"{which} of {kind} {name} is {reason or status}")
        except AssertionError as problem:
            raise AssertionError(f"{problem}: {json.dumps(last, indent=1)}") from None

    def sets(self, zone_id="ZEXAMPLE"):
        """(name, type, identifier) of what is there, without SOA, NS and ownership."""
        found = self.emulator.state()["zones"][zone_id]
        return {(s["Name"], s["Type"], s.get("SetIdentifier", "")): s for s in found
                if s["Type"] not in ("SOA", "NS") and not s["Name"].startswith("_owner.")}

    def owners(self):
        return {s["Name"]: s["ResourceRecords"] for s in self.emulator.state()["zones"]["ZEXAMPLE"]
                if s["Name"].startswith("_owner.")}

    def test_1_records_arrive(self):
        self.emulator.foreign([("CREATE", {"Name": "foreign.example.com", "Type": "A", "TTL": "5",
                                           "ResourceRecords": ["192.0.2.99"]})])
        self.apply(secret("aws"), self.zone(),
                   record("web", endpoint("www.example.com", "A", "192.0.2.1", "192.0.2.2"),
                          endpoint("*.example.com", "TXT", "any name")),
                   record("shop", endpoint("shop.example.com", "CNAME", "blue.example.net", identifier="cluster/blue", weight="120"),
                          endpoint("shop.example.com", "CNAME", "green.example.net", identifier="cluster/green", weight="80")),
                   record("geo", endpoint("geo.example.com", "A", "192.0.2.1", identifier="de", geo_code="DE"),
                          endpoint("geo.example.com", "A", "192.0.2.2", identifier="rest", geo_code="*")),
                   record("lb", endpoint("example.com", "CNAME", LOAD_BALANCER)))
        for name in ("web", "shop", "geo", "lb"):
            applied = self.condition("dnsrecord", name, "Applied", status="True")
            self.assertIn("route53", applied["message"])
        self.condition("managedzone", "example", "Ready", reason="InStep")
        there = self.sets()
        self.assertEqual({("foreign.example.com.", "A", ""), ("www.example.com.", "A", ""), ("*.example.com.", "TXT", ""),
                          ("shop.example.com.", "CNAME", "cluster/blue"), ("shop.example.com.", "CNAME", "cluster/green"),
                          ("geo.example.com.", "A", "de"), ("geo.example.com.", "A", "rest"), ("example.com.", "A", ""),
                          ("example.com.", "AAAA", "")}, set(there))
        self.assertEqual("120", there["shop.example.com.", "CNAME", "cluster/blue"]["Weight"])
        self.assertEqual({"CountryCode": "DE"}, there["geo.example.com.", "A", "de"]["GeoLocation"])
        self.assertEqual("Z35SXDOTRQ7X7K", there["example.com.", "AAAA", ""]["AliasTarget"]["HostedZoneId"])
        self.assertIn("_owner.shop.example.com.", self.owners())
        status = self.get("managedzone", "example")["status"]
        self.assertEqual("ZEXAMPLE", status["id"])
        self.assertEqual(4, len(status["nameServers"]))
        # Record and ownership of one name are in one batch.
        where = {}
        for index, batch in enumerate(self.emulator.state()["batches"]):
            for _, name, _, _ in batch:
                where.setdefault(name.removeprefix("_owner."), set()).add(index)
        self.assertEqual({1}, {len(batches) for batches in where.values()}, where)

    def test_2_weights_share_an_owner(self):
        self.apply(record("shop", endpoint("shop.example.com", "CNAME", "blue.example.net", identifier="cluster/blue", weight="10")))
        until(lambda: [key for key in self.sets() if key[0] == "shop.example.com."] ==
              [("shop.example.com.", "CNAME", "cluster/blue")], "green is gone")
        self.assertEqual("10", self.sets()["shop.example.com.", "CNAME", "cluster/blue"]["Weight"])
        self.assertIn("_owner.shop.example.com.", self.owners())
        self.kubectl("delete", "dnsrecord", "shop", "-n", NAMESPACE)
        until(lambda: not [key for key in self.sets() if key[0] == "shop.example.com."], "shop is gone")
        self.assertNotIn("_owner.shop.example.com.", self.owners())
        self.assertIn(("foreign.example.com.", "A", ""), self.sets())

    def test_3_policy_change_is_one_batch(self):
        self.emulator.configure({"forget": True})
        self.apply(record("geo", endpoint("geo.example.com", "A", "192.0.2.1", identifier="de", weight="1"),
                          endpoint("geo.example.com", "A", "192.0.2.2", identifier="rest", weight="2")))
        until(lambda: self.sets()["geo.example.com.", "A", "de"].get("Weight") == "1", "weighted now")
        batches = [b for b in self.emulator.state()["batches"] if any(change[1] == "geo.example.com." for change in b)]
        self.assertEqual(1, len(batches))
        self.assertEqual(["DELETE", "DELETE", "CREATE", "CREATE"], [c[0] for c in batches[0] if c[1] == "geo.example.com."])

    def test_4_refused_ones_are_told_and_neighbours_land(self):
        self.apply(record("lost", endpoint("lost.example.com", "CNAME", "none.example.com", alias="A")),
                   record("wrong", endpoint("wrong.example.com", "A", "192.0.2.1", identifier="x", weight="256")),
                   record("taken", endpoint("foreign.example.com", "A", "192.0.2.1")),
                   record("fine", endpoint("fine.example.com", "A", "192.0.2.1")))
        self.condition("dnsrecord", "fine", "Applied", status="True")
        lost = self.condition("dnsrecord", "lost", "Applied", status="False", reason="Refused")
        self.assertIn("that target was not found", lost["message"])
        wrong = self.condition("dnsrecord", "wrong", "Skipped", status="True")
        self.assertIn("256", wrong["message"])
        self.condition("dnsrecord", "taken", "Skipped", status="True")
        self.assertEqual(["192.0.2.99"], self.sets()["foreign.example.com.", "A", ""]["ResourceRecords"])
        self.kubectl("delete", "dnsrecord", "lost", "wrong", "taken", "-n", NAMESPACE)

    def test_5_foreign_change_is_noticed(self):
        self.condition("dnsrecord", "web", "Applied", status="True")
        self.emulator.foreign([("UPSERT", {"Name": "www.example.com", "Type": "A", "TTL": "5", "ResourceRecords": ["192.0.2.66"]})])
        # Our next change finds the name otherwise than believed, reads it again and puts it right.
        self.apply(record("web", endpoint("www.example.com", "A", "192.0.2.3"), endpoint("*.example.com", "TXT", "any name")))
        until(lambda: self.sets()["www.example.com.", "A", ""]["ResourceRecords"] == ["192.0.2.3"], "put right")

    def test_6_which_zone_and_whose_keys(self):
        self.apply(self.zone("twice", "twice.example"))
        ready = self.condition("managedzone", "twice", "Ready", status="False")
        until(lambda: "ZONE1, ZONE2" in self.condition("managedzone", "twice", "Ready", status="False")["message"], ready["message"])
        self.apply(self.zone("twice", "twice.example", id="ZONE2"))
        self.condition("managedzone", "twice", "Ready", reason="InStep")
        self.assertEqual("ZONE2", self.get("managedzone", "twice")["status"]["id"])

        self.apply(secret("bad", value="not-the-key"), self.zone("inner", keys="bad", route53={"privateZone": True}))
        until(lambda: "SignatureDoesNotMatch" in self.condition("managedzone", "inner", "Ready", status="False")["message"],
              "the signature is wrong")
        self.apply(secret("bad"))
        self.condition("managedzone", "inner", "Ready", reason="InStep")
        self.assertEqual("ZINNER", self.get("managedzone", "inner")["status"]["id"])
        self.assertNotIn("not-the-key", self.server.log_text())

    def test_7_no_server_credentials_without_the_flag(self):
        zone = self.zone("ambient", "twice.example", id="ZONE1")
        del zone["spec"]["dnsProviderSecretRef"]
        self.apply(zone)
        ready = self.condition("managedzone", "ambient", "Ready", status="False")
        until(lambda: "--ambient-credentials" in self.condition("managedzone", "ambient", "Ready", status="False")["message"],
              ready["message"])

    def test_8_throttled_and_quiet_at_the_end(self):
        self.emulator.configure({"rate": 10, "forget": True})
        self.apply(*(record(f"many{n}", endpoint(f"many{n}.example.com", "A", "192.0.2.1")) for n in range(30)))
        until(lambda: len([key for key in self.sets() if key[0].startswith("many")]) == 30, "all are there", 60)
        applied = lambda item: any(c["type"] == "Applied" and c["status"] == "True" for c in item.get("status", {}).get("conditions", []))
        items = lambda: json.loads(self.kubectl("get", "dnsrecords", "-n", NAMESPACE, "-o", "json").stdout)["items"]
        until(lambda: sum(applied(i) for i in items() if i["metadata"]["name"].startswith("many")) == 30, "all are told so", 60)
        self.condition("managedzone", "example", "Ready", reason="InStep")
        self.emulator.configure({"rate": None, "forget": True})
        plan = self.server.request("GET", f"/dns/plans?zone={NAMESPACE}/example&refresh=true")[2]
        self.assertEqual(([], [], []), tuple(plan["zones"][0][what] for what in ("create", "update", "delete")), plan)
        self.assertEqual(0, self.emulator.state()["requests"].get("ChangeResourceRecordSets", 0))
        metrics = self.server.request("GET", "/metrics")[2]
        text = metrics if isinstance(metrics, str) else metrics.decode()
        self.assertIn('fairlead_provider_requests_total{operation="apply",provider="route53",result="ok"}', text)
        self.assertIn("fairlead_route53_throttled_total", text)


    def test_9_taken_over_from_external_dns(self):
        """What external-dns 0.22 has written (weighted sets, each with a TXT under the same policy; an alias of a load
        balancer) is ours without a single write, and changes like our own from then on."""
        text = '"heritage=external-dns,external-dns/owner=old-cluster,external-dns/resource=service/default/shop"'
        policy = {"SetIdentifier": "blue", "Weight": "5"}
        target = {"HostedZoneId": "Z35SXDOTRQ7X7K", "DNSName": LOAD_BALANCER + ".", "EvaluateTargetHealth": "true"}
        plain = lambda name, kind, value, **more: {"Name": name, "Type": kind, "TTL": "300", "ResourceRecords": [value], **more}
        self.emulator.foreign([
            ("CREATE", plain("shop.twice.example", "A", "192.0.2.1", **policy)),
            ("CREATE", plain("a-shop.twice.example", "TXT", text, **policy)),
            ("CREATE", {"Name": "lb.twice.example", "Type": "A", "AliasTarget": target}),
            ("CREATE", plain("a-lb.twice.example", "TXT", text)),
            ("CREATE", {"Name": "lb.twice.example", "Type": "AAAA", "AliasTarget": target}),
            ("CREATE", plain("aaaa-lb.twice.example", "TXT", text)),
            ("CREATE", plain("other.twice.example", "A", "192.0.2.9"))], "ZONE1")
        before = self.emulator.state()["zones"]["ZONE1"]
        shop = lambda weight: {**endpoint("shop.twice.example", "A", "192.0.2.1", identifier="blue", weight=weight), "recordTTL": 300}
        self.apply(record("old-shop", shop("5"), zone="old"),
                   record("old-lb", endpoint("lb.twice.example", "CNAME", LOAD_BALANCER, **{"aws/evaluate-target-health": "true"}), zone="old"),
                   self.zone("old", "twice.example", id="ZONE1", ownership={"owner": "old-cluster", "form": "external-dns"}))
        self.condition("dnsrecord", "old-shop", "Applied", status="True")
        self.condition("dnsrecord", "old-lb", "Applied", status="True")
        self.condition("managedzone", "old", "Ready", reason="InStep")
        self.assertEqual(before, self.emulator.state()["zones"]["ZONE1"])
        self.apply(record("old-shop", shop("9"), zone="old"))
        until(lambda: self.emulator.find("shop.twice.example", "A", "blue", "ZONE1")["Weight"] == "9", "the new weight")
        # external-dns keeps its TXT under the policy of the record.
        until(lambda: self.emulator.find("a-shop.twice.example", "TXT", "blue", "ZONE1")["Weight"] == "9", "of the TXT too")
        self.kubectl("delete", "dnsrecord", "old-lb", "-n", NAMESPACE)
        names = lambda: {s["Name"] for s in self.emulator.state()["zones"]["ZONE1"] if s["Type"] not in ("NS", "SOA")}
        until(lambda: names() == {"shop.twice.example.", "a-shop.twice.example.", "other.twice.example."}, "the alias and its texts go")

    def test_a_what_is_unhealthy_is_left_out(self):
        self.apply(record("health", endpoint("h.example.com", "CNAME", "h1.example.com", identifier="one", weight="10"),
                          endpoint("h.example.com", "CNAME", "h2.example.com", identifier="two", weight="10"),
                          endpoint("h1.example.com", "A", "192.0.2.41"), endpoint("h2.example.com", "A", "192.0.2.42")))
        self.condition("dnsrecord", "health", "Applied", status="True")

        def answering():
            return {key[2] for key in self.sets() if key[0] == "h.example.com."}
        self.assertEqual({"one", "two"}, answering())
        path = f"/apis/kuadrant.io/v1alpha1/namespaces/{NAMESPACE}/dnsrecords/health/status"
        for down, left in ((["192.0.2.41"], {"two"}), (["192.0.2.41", "192.0.2.42"], {"one", "two"}), ([], {"one", "two"}),
                           (["192.0.2.42"], {"one"})):
            body = json.dumps({"status": {"unhealthyTargets": down}})
            answer = self.server.request("PATCH", path, body, {"Content-Type": "application/merge-patch+json"})
            self.assertEqual(200, answer[0], answer)
            until(lambda: answering() == left, f"{left} answer while {down} are down")
        until(lambda: "without 1 unhealthy target" in
              self.condition("dnsrecord", "health", "Applied", status="True")["message"], "it is told")


class AmbientTest(ServerTest):
    """The server's own credentials, as a container gets them, for zones without a Secret."""

    SERVE_ARGS = ("--ambient-credentials",)

    @classmethod
    def setUpClass(cls):
        cls.emulator = Emulator(insync_after=1000).start()
        cls.addClassCleanup(cls.emulator.stop)
        environment = {"AWS_ENDPOINT_URL_ROUTE_53": cls.emulator.url,
                       "AWS_CONTAINER_CREDENTIALS_FULL_URI": cls.emulator.url + "/container-credentials",
                       "AWS_CONTAINER_AUTHORIZATION_TOKEN": cls.emulator.container_token, "HOME": "/nonexistent"}
        with mock.patch.dict(os.environ, environment):
            for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE"):
                os.environ.pop(name, None)
            super().setUpClass()

    def applied(self):
        item = json.loads(self.kubectl("get", "dnsrecord", "www", "-o", "json").stdout)
        return next((c["message"] for c in item.get("status", {}).get("conditions", [])
                     if c["type"] == "Applied" and c["status"] == "True"), "")

    def test_a_zone_without_a_secret(self):
        zone = {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone", "metadata": {"name": "example"},
                "spec": {"domainName": "example.com", "provider": "route53", "route53": {"requestsPerSecond": 100}}}
        www = {**record("www", endpoint("www.example.com", "A", "192.0.2.1")), "metadata": {"name": "www"}}
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [zone, www]}))
        until(lambda: self.emulator.find("www.example.com", "A"), "it is there")
        self.assertEqual(1, self.emulator.requests["/container-credentials"])
        # The change is followed until it has reached all servers.
        spreading = "not on all of its servers yet"
        until(lambda: spreading in self.applied(), "it is told that it spreads")
        until(lambda: self.emulator.requests["GetChange"] >= 1, "it is asked for", 60)
        self.emulator.configure({"insync_after": 0})
        until(lambda: self.applied() and spreading not in self.applied(), "it is told that it has", 60)


if __name__ == "__main__":
    main()
