#!/usr/bin/env python3
"""LoadBalancers and claims, end to end: kubectl makes them, the server runs a real HAProxy and a real nginx for them, curl and
dig get the answers; balancers that are made at AWS are made at its strict stand-in."""

import json
import subprocess
import urllib.request

import harness
from balancer_world import balancer_object, ingress_object
from claims_world import Claims, by_claim, claim_object, cloud_balancer_object, serve_with_provider
from elb_emulator import Emulator
from harness import ServerTest, until
from router_world import Backend, apply, free_ports, service_objects


def namespace_object(name):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


class OnThisMachine(Claims, ServerTest):
    """Balancers whose proxies the server runs: an address of the loopback network each."""

    ADDRESSES = {"edge-h": "127.0.44.1", "edge-n": "127.0.44.2"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.one, cls.two = Backend("one"), Backend("two")
        cls.addClassCleanup(cls.one.stop)
        cls.addClassCleanup(cls.two.stop)
        cls.http, cls.https = free_ports(2)
        apply(cls.server, *service_objects("web", cls.one))
        for name, kind in (("edge-h", "Haproxy"), ("edge-n", "Nginx")):
            balancer = balancer_object(name, kind, address=cls.ADDRESSES[name], http=cls.http, https=cls.https)
            balancer["metadata"]["labels"] = {"proxy": kind.lower()}
            balancer["spec"]["reclaimPolicy"] = "Recycle"
            apply(cls.server, balancer)
        cls.server.kubectl("wait", "lb", "edge-h", "edge-n", "--for=condition=Available", "--timeout=60s")

    def curl(self, balancer, host):
        result = subprocess.run(["curl", "-sS", "--max-time", "10", "-o", "-", "-w", "\n%{http_code}", "-H", f"Host: {host}",
                                 f"http://{self.ADDRESSES[balancer]}:{self.http}/"], capture_output=True, text=True, timeout=60)
        body, _, code = result.stdout.rpartition("\n")
        return int(code or 0), body

    def served(self, balancer, host, backend="one"):
        until(lambda: (lambda got: got[0] == 200 and json.loads(got[1])["backend"] == backend)(self.curl(balancer, host)),
              f"{host} is served by {balancer}")

    def remove(self, *what, namespace="default"):
        self.kubectl("delete", *what, "-n", namespace, "--ignore-not-found", "--timeout=60s")

    def test_a_claim_is_bound_and_its_ingress_served_by_haproxy_and_by_nginx(self):
        for kind, balancer in (("haproxy", "edge-h"), ("nginx", "edge-n")):
            with self.subTest(kind):
                name, host = f"on-{kind}", f"{kind}.claims.test"
                self.addCleanup(self.remove, "ingress,lbc", name)
                apply(self.server, claim_object(name, {"network-bandwidth": "100Mi"}, selector={"matchLabels": {"proxy": kind}}),
                      ingress_object(name, {host: [("/", "Prefix", "web")]}, **by_claim(name)))
                self.claim_is(name, "Bound")
                self.served(balancer, host)
                ingress = self.ingress_is(name, "Programmed", "True")
                self.assertEqual(ingress["status"]["loadBalancerName"], balancer)
                self.assertEqual(ingress["status"]["loadBalancer"]["ingress"], [{"ip": self.ADDRESSES[balancer]}])
                table = self.server.cli("get", "loadbalancers").stdout
                row = next(line for line in table.splitlines() if line.startswith(balancer))
                self.assertIn("100Mi", row)
                self.assertIn("924Mi", row, "what is left of a GiB")

    def test_claims_share_a_balancer_within_its_capacity_and_who_waits_is_told_why(self):
        for name, amount in (("share-a", "600Mi"), ("share-b", "400Mi")):
            self.addCleanup(self.remove, "lbc", name)
            apply(self.server, claim_object(name, {"network-bandwidth": amount}, selector={"matchLabels": {"proxy": "haproxy"}}))
            self.assertEqual(self.claim_is(name, "Bound")["status"]["loadBalancerName"], "edge-h")
        self.addCleanup(self.remove, "lbc", "share-c")
        apply(self.server, claim_object("share-c", {"network-bandwidth": "600Mi"}, selector={"matchLabels": {"proxy": "haproxy"}}))
        until(lambda: self.condition(self.get("lbc", "share-c"), "Bound").get("reason") == "NoFit", "it is told that nothing fits")
        text = self.server.cli("describe", "loadbalancerclaim", "share-c").stdout
        self.assertRegex(text, r"edge-h\s.*network-bandwidth: 600Mi wanted, 24Mi of 1Gi free")
        self.assertRegex(text, r"edge-n\s.*labels")
        refused = self.kubectl("patch", "lb", "edge-h", "--type=merge", "-p", '{"spec":{"capacity":{"network-bandwidth":"900Mi"}}}',
                               check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("2 claims hold 1000Mi: it cannot be less", refused.stderr)
        # Room is made, and it is bound without any change to it.
        self.remove("lbc", "share-a")
        self.assertEqual(self.claim_is("share-c", "Bound")["status"]["loadBalancerName"], "edge-h")
        with self.subTest("a manifest that is sent again says nothing of who has a share"):
            shared = self.get("lbc", "share-c")["status"]["loadBalancerName"]
            manifest = self.get("lb", shared)
            manifest = {"apiVersion": manifest["apiVersion"], "kind": "LoadBalancer",
                        "metadata": {"name": shared, "labels": manifest["metadata"]["labels"]},
                        "spec": {key: value for key, value in manifest["spec"].items() if key != "claimRefs"}}
            held = self.get("lb", shared)["spec"]["claimRefs"]
            self.kubectl("replace", "-f", "-", stdin=json.dumps(manifest))
            self.assertEqual(self.get("lb", shared)["spec"]["claimRefs"], held)

    def test_another_tenant_gets_a_recycled_balancer_without_a_rule_of_the_first(self):
        self.addCleanup(self.remove, "lb", "alone")  # last: it is in use until the tenants have gone
        for tenant in ("first", "second"):
            self.addCleanup(self.remove, "namespace", tenant)
            apply(self.server, namespace_object(tenant), *service_objects("web", self.one, namespace=tenant))
        balancer = balancer_object("alone", address="127.0.44.3", http=self.http, https=self.https)
        balancer["spec"].update(reclaimPolicy="Recycle", capacity={"network-bandwidth": "10Mi"})
        balancer["metadata"]["labels"] = {"proxy": "alone"}
        self.ADDRESSES["alone"] = "127.0.44.3"
        apply(self.server, balancer)
        alone = {"selector": {"matchLabels": {"proxy": "alone"}}}
        apply(self.server, claim_object("c", {"network-bandwidth": "10Mi"}, "first", **alone),
              ingress_object("web", {"first.claims.test": [("/", "Prefix", "web")]}, namespace="first", **by_claim("c")))
        self.claim_is("c", "Bound", "first")
        self.served("alone", "first.claims.test")
        apply(self.server, claim_object("c", {"network-bandwidth": "10Mi"}, "second", **alone),
              ingress_object("web", {"second.claims.test": [("/", "Prefix", "web")]}, namespace="second", **by_claim("c")))
        # The claim is in use: it goes when its Ingress has.
        self.kubectl("delete", "lbc", "c", "-n", "first", "--wait=false")
        self.assertIn("fairlead.dev/claim-in-use", self.get("lbc", "c", "first")["metadata"]["finalizers"])
        self.assertEqual(self.get("lbc", "c", "second")["status"]["phase"], "Pending")
        self.kubectl("delete", "ingress", "web", "-n", "first")
        self.claim_is("c", "Bound", "second")
        self.assertEqual(self.curl("alone", "first.claims.test")[0], 404, "no rule of the first is left when the second is bound")
        self.served("alone", "second.claims.test")

    def test_a_balancer_that_is_taken_away_leaves_its_claim_lost(self):
        apply(self.server, balancer_object("doomed", address="127.0.44.4", http=self.http, https=self.https),
              claim_object("loser", {"network-bandwidth": "1Mi"}, loadbalancerName="doomed"))
        self.addCleanup(self.remove, "lbc", "loser")
        self.claim_is("loser", "Bound")
        folder = self.server.data / "balancers" / "doomed"
        self.assertTrue(folder.exists(), "the server runs its proxy")
        self.kubectl("delete", "lb", "doomed", "--wait=false")
        self.assertIn("fairlead.dev/balancer-in-use", self.get("lb", "doomed")["metadata"]["finalizers"], "it is in use")
        self.kubectl("patch", "lb", "doomed", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        lost = self.claim_is("loser", "Lost")
        self.assertIn("Lost is final", self.condition(lost, "Bound").get("message", ""), lost["status"])
        until(lambda: not folder.exists(), "nothing of it is left on disk")

    def test_an_ingress_asks_for_resources_itself_and_scopes_do_not_mix(self):
        self.addCleanup(self.remove, "ingress", "asks", "inside")
        apply(self.server, ingress_object("asks", {"asks.claims.test": [("/", "Prefix", "web")]},
                                          resources={"requests": {"network-bandwidth": "1Mi"}}),
              ingress_object("inside", {"inside.claims.test": [("/", "Prefix", "web")]}, networkScope="intranet",
                             resources={"requests": {"network-bandwidth": "1Mi"}}))
        name = self.ingress_is("asks", "Bound", "True")["status"]["loadBalancerName"]
        self.served(name, "asks.claims.test")
        inside = self.ingress_is("inside", "Bound", "False")
        self.assertNotIn("loadBalancerName", inside["status"])
        for balancer in ("edge-h", "edge-n"):
            self.assertEqual(self.curl(balancer, "inside.claims.test")[0], 404)

    def test_hosts_are_in_dns_with_the_addresses_of_the_balancer(self):
        self.addCleanup(self.remove, "ingress,lbc,managedzone", "named")
        apply(self.server, {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone", "metadata": {"name": "named", "namespace": "default"},
                            "spec": {"domainName": "dns.claims.test"}},
              claim_object("named", {"network-bandwidth": "1Mi"}, selector={"matchLabels": {"proxy": "haproxy"}}),
              ingress_object("named", {"www.dns.claims.test": [("/", "Prefix", "web")]}, **by_claim("named")))
        server, port = self.server.dns_listen.rsplit(":", 1)

        def answer():
            return subprocess.run(["dig", f"@{server}", "-p", port, "www.dns.claims.test", "+short", "+tries=1"],
                                  capture_output=True, text=True, timeout=30).stdout.strip()
        until(lambda: answer() == self.ADDRESSES["edge-h"], "the host is in DNS")


class AtAws(Claims, ServerTest):
    """Balancers that are made when nothing fits, at a stand-in for AWS that makes trouble."""

    @classmethod
    def setUpClass(cls):
        cls.emulator = Emulator()
        cls.emulator.start()
        cls.addClassCleanup(cls.emulator.stop)
        key, (secret, *_) = next(iter(cls.emulator.keys.items()))
        cls.server = serve_with_provider(
            cls, {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}, name="dublin", type="aws", endpoint=cls.emulator.url,
            requestsPerSecond=500, parameters={"region": "eu-west-1", "subnets": "subnet-a,subnet-b"}, capacity={"network-bandwidth": "1Gi"})
        service, endpoints = service_objects("web")
        endpoints["subsets"] = [{"addresses": [{"ip": "10.0.0.5"}], "ports": [{"name": "http", "port": 8080}]}]
        apply(cls.server, service, endpoints)  # AWS takes private addresses only; nobody is there

    def control(self, what, **wanted):
        body = json.dumps(wanted).encode() if wanted else None
        with urllib.request.urlopen(f"{self.emulator.url}/_emulator/{what}", body, timeout=30) as answer:
            return json.load(answer)

    def balancers(self):
        return self.control("state")["balancers"]

    def gone(self, name):
        self.kubectl("delete", "ingress", name, "--ignore-not-found")
        self.kubectl("delete", "lbc", name, "--ignore-not-found", "--timeout=60s")
        until(lambda: not self.balancers(), "nothing is left at the cloud", 90)
        self.no_balancer_is_left()

    def test_made_by_a_provider_that_fails_four_times(self):
        self.control("config", fail=[{"operation": "CreateLoadBalancer", "status": 503, "code": "ServiceUnavailable", "times": 4}],
                     provisioning=2)
        apply(self.server, claim_object("made", {"network-bandwidth": "100Mi"}),
              ingress_object("made", {"made.claims.test": [("/", "Prefix", "web")]}, **by_claim("made")))
        self.claim_is("made", "Bound", seconds=120)
        self.assertEqual(len(self.balancers()), 1)
        ingress = self.ingress_is("made", "Programmed", "True", seconds=120)
        self.assertTrue(ingress["status"]["loadBalancer"]["ingress"][0]["hostname"])
        self.gone("made")

    def test_what_was_kept_is_taken_over_by_who_declares_it_again(self):
        self.control("config", provisioning=0)
        declared = cloud_balancer_object("kept", "aws", "kept")
        apply(self.server, declared)
        self.kubectl("wait", "lb", "kept", "--for=condition=Available", "--timeout=60s")
        first = self.get("lb", "kept")["metadata"]["uid"]
        before = self.balancers()
        with self.subTest("while its LoadBalancer is there, nobody else gets it"):
            apply(self.server, {**declared, "metadata": {"name": "other"}})
            until(lambda: self.get("lb", "other")["status"].get("phase") == "Failed", "the name is taken")
            self.assertIn(first, self.get("lb", "other")["status"]["message"])
            self.kubectl("delete", "lb", "other", "--timeout=60s")
        self.kubectl("delete", "lb", "kept", "--timeout=60s")
        self.assertEqual(self.balancers(), before, "Retain: it stays at the cloud")
        apply(self.server, declared)
        self.kubectl("wait", "lb", "kept", "--for=condition=Available", "--timeout=60s")
        again = self.get("lb", "kept")
        self.assertNotEqual(again["metadata"]["uid"], first)
        self.assertEqual(again["metadata"]["annotations"]["fairlead.dev/adopted-uid"], first)
        self.assertEqual(self.balancers(), before, "no second one")
        apply(self.server, {**declared, "spec": {**declared["spec"], "reclaimPolicy": "Delete"}})
        self.kubectl("delete", "lb", "kept", "--timeout=60s")
        until(lambda: not self.balancers(), "it goes with whoever took it over", 60)

    def test_a_strangers_balancer_of_that_name_is_refused_and_left_alone(self):
        self.control("config", provisioning=0)
        self.control("foreign", operation="CreateLoadBalancer", Name="theirs", Subnets=["subnet-a", "subnet-b"])
        self.addCleanup(self.control, "config", reset={})
        before = self.balancers()
        self.assertEqual([each["tags"] for each in before], [{}], "it does not bear our mark")
        apply(self.server, cloud_balancer_object("mine", "aws", "theirs", reclaimPolicy="Delete"))
        failed = until(lambda: (lambda lb: lb["status"].get("phase") == "Failed" and lb)(self.get("lb", "mine")), "it is refused")
        self.assertIn('"theirs" is a balancer that somebody else made', failed["status"]["message"])
        self.assertEqual(self.condition(failed, "Available").get("status"), "False")
        apply(self.server, claim_object("hopes", {"network-bandwidth": "1Mi"}, loadbalancerName="mine"))
        until(lambda: "somebody else" in self.condition(self.get("lbc", "hopes"), "Bound").get("message", ""), "who wants it is told")
        self.kubectl("delete", "lbc", "hopes", "--timeout=60s")
        self.kubectl("delete", "lb", "mine", "--timeout=60s")
        self.assertEqual(self.balancers(), before, "untouched, whatever the reclaim policy says")
        self.assertEqual(self.control("state")["listeners"], [])

    def test_a_network_balancer_leads_a_port_to_a_default_backend(self):
        self.control("config", provisioning=0)
        self.addCleanup(self.control, "config", reset={})
        apply(self.server, cloud_balancer_object("ports", "aws", "ports", reclaimPolicy="Delete", parameters={"type": "network"}))
        self.kubectl("wait", "lb", "ports", "--for=condition=Available", "--timeout=60s")
        backend = {"service": {"name": "web", "port": {"number": 80}}}
        named = {"loadBalancer": {"awsLoadBalancer": {"lbName": "ports"}}}
        apply(self.server,
              {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
               "metadata": {"name": "raw", "annotations": {"fairlead.dev/tcp-port": "5432"}}, "spec": {"defaultBackend": backend, **named}},
              ingress_object("hosts", {"hosts.claims.test": [("/", "Prefix", "web")]}, **named))
        self.ingress_is("raw", "Programmed", "True")
        state = self.control("state")
        self.assertEqual([(each["port"], each["protocol"]) for each in state["listeners"]], [(5432, "TCP")])
        self.assertEqual([(each["protocol"], each["targets"]) for each in state["groups"]], [("TCP", ["10.0.0.5:8080"])])
        refused = self.ingress_is("hosts", "Programmed", "False")
        self.assertIn("fairlead.dev/tcp-port", self.condition(refused, "Programmed")["message"])
        self.kubectl("delete", "ingress", "raw", "hosts")
        self.kubectl("delete", "lb", "ports", "--timeout=60s")

    def test_killed_after_it_was_made_and_before_it_was_known(self):
        self.control("config", provisioning=1, hidden=3)  # and the cloud shows it late
        self.addCleanup(self.control, "config", reset={})
        apply(self.server, claim_object("killed", {"network-bandwidth": "100Mi"}))
        until(lambda: self.balancers(), "the cloud has made it", 60)
        self.server.kill()
        self.server.start()
        self.claim_is("killed", "Bound", seconds=120)
        self.assertEqual(len(self.balancers()), 1, "no second one")
        self.gone("killed")

    def test_a_claim_that_goes_while_the_cloud_does_not_show_what_it_made(self):
        self.control("config", provisioning=1, hidden=6)
        self.addCleanup(self.control, "config", reset={})
        apply(self.server, claim_object("brief", {"network-bandwidth": "100Mi"}))
        until(lambda: self.balancers(), "the cloud has made it", 60)
        self.gone("brief")


if __name__ == "__main__":
    harness.main()
