#!/usr/bin/env python3
"""Services and Ingresses with external-dns annotations: kubectl writes them, dig sees them, kubectl says what is wrong."""

import json

from harness import ROOT, ServerTest, main, until

PREFIX = "external-dns.alpha.kubernetes.io/"
ZONE = {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone", "metadata": {"name": "shop"},
        "spec": {"domainName": "shop.example"}}


def service(name, address, **annotations):
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "annotations": {PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}},
            "spec": {"type": "LoadBalancer", "externalIPs": [address], "ports": [{"port": 80}]}}


class SourcesTest(ServerTest):
    def apply(self, *objects):
        return self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def short(self, name, kind="A"):
        return sorted(self.server.dig("+norec", "+short", name, kind).split())

    def wait_for(self, name, *answers):
        until(lambda: self.short(name) == sorted(answers), f"{name} is {answers}, not {self.short(name)}")

    def condition(self, kind, name, which):
        item = json.loads(self.kubectl("get", kind, name, "-o", "json").stdout)
        for condition in item.get("status", {}).get("conditions", []):
            if condition["type"] == which:
                return condition
        return {"status": None, "reason": None, "message": None}

    def records(self):
        return json.loads(self.kubectl("get", "dnsrecords", "-l", "fairlead.dev/source", "-o", "json").stdout)["items"]

    def test_1_a_service_is_published_and_goes(self):
        self.apply(ZONE, service("web", "192.0.2.1", hostname="www.shop.example,api.shop.example", ttl="1m"))
        self.wait_for("www.shop.example", "192.0.2.1")
        self.assertIn("\t60\tIN", self.server.dig("+norec", "+noall", "+answer", "api.shop.example"))
        applied = until(lambda: (lambda c: c if c["status"] == "True" else None)(self.condition("service", "web", "Applied")),
                        "the Service is told")
        self.assertRegex(applied["message"], r"www\.shop\.example: provider builtin, change \d+")
        self.kubectl("annotate", "service", "web", f"{PREFIX}hostname=www.shop.example", "--overwrite")
        self.wait_for("api.shop.example")
        self.assertEqual(["192.0.2.1"], self.short("www.shop.example"))
        self.kubectl("delete", "service", "web")
        self.wait_for("www.shop.example")
        until(lambda: not self.records(), "its DNSRecords are gone")

    def test_2_weights_of_two_services(self):
        for name, address, weight in (("blue", "192.0.2.11", "30"), ("green", "192.0.2.12", "10")):
            self.apply(service(name, address, hostname="split.shop.example", weight=weight, weight_scope="cluster",
                               weight_suffix=name))
        seen = set()
        until(lambda: seen.update(self.short("split.shop.example")) or seen == {"192.0.2.11", "192.0.2.12"}, "both answer")
        explained = json.loads(self.server.cli("explain", "split.shop.example", "-o", "json").stdout)
        shares = {variant["setIdentifier"]: round(variant["share"], 2)
                  for variant in until(lambda: explained["way"]["variants"], "its variants")}
        self.assertEqual({"cluster/blue": 0.75, "cluster/green": 0.25}, shares)
        self.kubectl("delete", "service", "blue")
        self.wait_for("split.shop.example", "192.0.2.12")

    def test_3_a_wrong_weight_is_visible(self):
        self.kubectl("annotate", "service", "green", f"{PREFIX}weight=heavy", "--overwrite")
        until(lambda: self.condition("service", "green", "Planned")["reason"] == "InvalidAnnotation", "said in conditions")
        until(lambda: "InvalidAnnotation" in self.kubectl("describe", "service", "green").stdout, "kubectl describe shows it")
        described = self.kubectl("describe", "service", "green").stdout
        self.assertIn('"heavy" is no number from 0 to 255', described)
        self.assertEqual(["192.0.2.12"], self.short("split.shop.example"), "what was there stays")
        self.kubectl("annotate", "service", "green", f"{PREFIX}weight=20", "--overwrite")
        until(lambda: self.condition("service", "green", "Planned")["status"] == "True", "mended")

    def test_4_an_ingress(self):
        self.apply({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
                    "metadata": {"name": "front", "annotations": {"external-dns.kubernetes.io/target": "192.0.2.21"}},
                    "spec": {"rules": [{"host": "front.shop.example"}]}})
        self.wait_for("front.shop.example", "192.0.2.21")
        self.kubectl("annotate", "ingress", "front", "external-dns.kubernetes.io/controller=somebody-else")
        self.wait_for("front.shop.example")

    def test_5_the_example(self):
        self.kubectl("apply", "-f", str(ROOT / "examples" / "dns" / "40-weighted-services.yaml"))
        seen = set()
        until(lambda: seen.update(self.short("store.example.org")) or len(seen) == 2, "both Services answer")
        self.assertEqual({"203.0.113.10", "203.0.113.20"}, seen)


if __name__ == "__main__":
    main()
