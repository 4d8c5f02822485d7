#!/usr/bin/env python3
"""What balancers on machines of one's own, their Ingresses and DNS say when nobody serves, when the address moves or is somebody
else's, when rules are refused, and when the balancer is deleted. kubectl, curl and dig against the server's own proxies, and
against `fairlead router --loadbalancer`."""

import json
import time

import harness
from balancer_world import BalancerProcess, balancer_object, ingress_object, own_source
from claims_world import Claims
from dns_tools import zone
from harness import ServerTest, until
from router_world import Backend, apply, service_objects

HTTP, HTTPS = 18080, 18443
LEASE = 15  # seconds, of an instance
LATE = 10  # that a loaded machine may take for what follows


class TruthTest(Claims, ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        backend = Backend("one")
        cls.addClassCleanup(backend.stop)
        apply(cls.server, zone("truth", "truth.test"), *service_objects("web", backend))

    def balancer(self, name, address, kind="Haproxy"):
        apply(self.server, balancer_object(name, kind, address=address, http=HTTP, https=HTTPS))

    def ingress(self, name, balancer, rules=None, kind="Haproxy", **more):
        apply(self.server, ingress_object(name, rules or {f"{name}.truth.test": [("/", "Prefix", "web")]},
                                          loadBalancer=own_source(balancer, kind), **more))

    def leads_to(self, name):
        return sorted(self.server.dig(f"{name}.truth.test", "+short", "+tries=1").split())

    def says(self, kind, name, text, seconds=60):
        """Until the condition Programmed is like this; "STATUS REASON: MESSAGE"."""
        def said():
            condition = self.condition(self.get(kind, name), "Programmed")
            whole = f"{condition.get('status')} {condition.get('reason')}: {condition.get('message')}"
            return text in whole and whole
        return until(said, f"{kind} {name} says {text}", seconds)

    def message_is(self, balancer, text, seconds=60):
        return until(lambda: (lambda m: text in m and m)(self.get("lb", balancer).get("status", {}).get("message", "")),
                     f"balancer {balancer} says {text}", seconds)

    def ready_column(self, instance):
        return self.kubectl("get", "routerinstance", instance, "--no-headers").stdout.split()[3]

    def test_when_nobody_serves_the_ingress_says_so_and_its_name_leads_on(self):
        apply(self.server, balancer_object("stopped"))
        self.ingress("stopped", "stopped")
        process = BalancerProcess(self.server, "stopped", "stopped-1")
        process.address = "127.0.51.1"
        self.addCleanup(process.remove)
        process.start()
        self.says("ingress", "stopped", "True InForce")
        until(lambda: self.leads_to("stopped") == ["127.0.51.1"], "it is in DNS")
        process.stop()
        self.says("ingress", "stopped", "False BalancerNotReady: balancer stopped is Pending: instance stopped-1 (127.0.51.1)", LATE)
        self.says("lb", "stopped", "False NotRunning: nobody serves its Ingresses: instance stopped-1 (127.0.51.1)")
        self.assertEqual(self.leads_to("stopped"), ["127.0.51.1"], "a name without an answer would be remembered")
        until(lambda: self.ready_column("stopped-1") == "stopped", "the instance is not called lost", LEASE + LATE)
        self.says("ingress", "stopped", "instance stopped-1 (127.0.51.1) was stopped; names lead on to 127.0.51.1")
        process.start()
        self.says("ingress", "stopped", "True InForce")

    def test_an_address_that_changes_is_followed_at_once(self):
        self.balancer("moves", "127.0.51.11")
        self.ingress("moves", "moves")
        until(lambda: self.leads_to("moves") == ["127.0.51.11"], "it is in DNS")
        self.balancer("moves", "127.0.51.12")
        began = time.monotonic()
        until(lambda: self.leads_to("moves") == ["127.0.51.12"], "DNS follows", LEASE)
        self.assertLess(time.monotonic() - began, LATE, "and does not wait for a lease")
        self.says("ingress", "moves", "True InForce")
        self.assertEqual(self.get("ingress", "moves")["status"]["loadBalancer"]["ingress"], [{"ip": "127.0.51.12"}])
        with self.subTest("one that nobody has is named, and where names lead on to"):
            self.balancer("moves", "203.0.113.51")
            self.says("ingress", "moves", "no server has the address 203.0.113.51; instance moves-", LEASE + LATE)
            self.assertIn("(127.0.51.12) was stopped; names lead on to 127.0.51.12", self.says("ingress", "moves", "was stopped"))

    def test_an_address_in_use_is_not_called_nobodys(self):
        self.balancer("first", "127.0.51.21")
        until(lambda: self.get("lb", "first")["status"].get("phase") == "Running", "the first one runs")
        for kind in ("Haproxy", "Nginx"):
            name = f"second-{kind.lower()}"
            self.balancer(name, "127.0.51.21", kind)
            said = self.message_is(name, "in use")
            self.assertIn("; balancer first listens there", said)
            self.assertNotIn("no server has", said)
            self.assertIn("(127.0.51.21)", said)
            self.kubectl("delete", "lb", name)

    def test_a_balancer_says_whom_it_refuses(self):
        self.balancer("picky", "127.0.51.31")
        self.ingress("picky-a", "picky")
        self.says("lb", "picky", "True InForce")
        self.ingress("picky-b", "picky", {"picky-a.truth.test": [("/", "Prefix", "web")]})
        said = self.says("lb", "picky", "True PartlyRefused: 1 of 2 Ingresses are served as they say")
        self.assertIn("default/picky-b (RuleTaken: picky-a.truth.test/ on this balancer is served for the older Ingress default/picky-a", said)
        self.says("ingress", "picky-b", "False RuleTaken: picky-a.truth.test/ on this balancer")
        self.kubectl("delete", "ingress", "picky-b")
        self.says("lb", "picky", "True InForce")
        with self.subTest("every path that the proxy does not take is named"):
            paths = [("/", "Prefix", "web")] + [(f"/b\u00e4d{n}", "Prefix", "web") for n in range(1, 6)]
            self.ingress("picky-c", "picky", {"picky-c.truth.test": paths})
            said = self.says("ingress", "picky-c", "False ProxyRefuses")
            for part in ("/b\u00e4d1", "/b\u00e4d2", "/b\u00e4d3", "and 2 more"):
                self.assertIn(part, said)

    def test_the_agent_of_a_balancer_that_is_deleted_says_so_and_serves_no_more(self):
        apply(self.server, balancer_object("gone"))
        self.ingress("gone", "gone")
        process = BalancerProcess(self.server, "gone", "gone-1")
        self.addCleanup(process.remove)
        process.start()
        process.answers("gone.truth.test", backend="one")
        self.kubectl("delete", "ingress", "gone")
        self.kubectl("delete", "lb", "gone")
        until(lambda: "load balancer was deleted, its proxy is stopped" in process.log_text(), "its agent says so")
        until(lambda: process.haproxy_pid() is None, "its proxy ends")
        until(lambda: 'there is no LoadBalancer \\"gone\\": create it' in process.log_text(), "it waits")
        with self.subTest("and serves again when there is one"):
            apply(self.server, balancer_object("gone"))
            self.ingress("gone", "gone")
            process.answers("gone.truth.test", backend="one")


if __name__ == "__main__":
    harness.main()
