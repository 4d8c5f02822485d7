#!/usr/bin/env python3
"""The seven use cases of sharded routers, end to end through kubectl, dig and curl, with real HAProxies on loopback."""

import json
import re
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from harness import Fairlead, main, until
from router_tools import Backend, Instance, Load, free_port, resolve

ADDRESSES = [f"127.0.4.{number}" for number in range(1, 8)]
BACKENDS = ["127.0.5.1", "127.0.5.2"]
IN_TIME = 2.0  # in which an instance that does not answer leaves DNS
CLIENTS = 4


def router(name, dns, ports, **spec):
    return {"apiVersion": "fairlead.dev/v1", "kind": "Router", "metadata": {"name": name},
            "spec": {"dns": dns, "ports": {"http": ports[0], "https": ports[1]}, **spec}}


def route(name, host, space="shop", labels=None, **spec):
    return {"apiVersion": "route.openshift.io/v1", "kind": "Route",
            "metadata": {"name": name, "namespace": space, "labels": labels or {}},
            "spec": {"host": host, "to": {"kind": "Service", "name": "web"}, **spec}}


class UseCases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ports = [free_port(*ADDRESSES) for _ in range(3)]
        cls.backend_port = free_port(*BACKENDS)
        cls.backends = [Backend(address, cls.backend_port) for address in BACKENDS]
        for each in cls.backends:
            cls.addClassCleanup(each.stop)
        cls.server = Fairlead().start()
        cls.addClassCleanup(cls.server.remove)
        cls.dns = ("127.0.0.1", int(cls.server.dns_port))
        cls.folder = Path(tempfile.mkdtemp(prefix="fairlead-use-cases-"))
        cls.addClassCleanup(lambda: subprocess.run(["rm", "-rf", cls.folder], check=False))
        cls.kubeconfig = cls.folder / "edge.kubeconfig"
        cls.kubeconfig.write_text(
            cls.server.cli("token", "create", "--user", "edge", "--group", "fairlead:routers", "-o", "kubeconfig").stdout)
        group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "fairlead:routers"}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "fairlead-router"}
        cls.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                   "metadata": {"name": "routers"}, "roleRef": role, "subjects": [group]},
                  {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
                  {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"},
                   "spec": {"ports": [{"port": 80, "targetPort": cls.backend_port}]}},
                  {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "web", "namespace": "shop"},
                   "subsets": [{"addresses": [{"ip": each} for each in BACKENDS],
                                "ports": [{"port": cls.backend_port}]}]},
                  {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone",
                   "metadata": {"name": "own", "namespace": "shop"}, "spec": {"domainName": "example.com"}})

    def setUp(self):
        self.instances = []
        self.addCleanup(self.clear)

    def clear(self):
        self.server.kubectl("delete", "routes", "--all", "-n", "shop")
        self.server.kubectl("delete", "routers", "--all")
        for each in self.instances:
            each.remove()
        self.server.kubectl("delete", "routerinstances", "--all")

    # --- what the tests are written in ---

    @classmethod
    def apply(cls, *objects):
        cls.server.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def run_router(self, name, number, address):
        made = Instance(self.kubeconfig, name, f"{name}-{number}", address, *self.ports).start()
        self.instances.append(made)
        return made

    def wait_for(self, what, condition, *more):
        done = self.server.kubectl("wait", what, f"--for=condition={condition}", "--timeout=60s", *more, check=False)
        if done.returncode != 0:
            logs = "\n".join(f"{each.name}: {each.log_text()[-1500:]}" for each in self.instances)
            told = self.server.kubectl("get", what, "-o", "yaml", *more, check=False).stdout
            self.fail(f"{what} is not {condition}: {done.stderr}\n{told}\n{logs}")

    def serving(self, *names):
        for name in names:
            self.wait_for(f"route/{name}", "Serving", "-n", "shop")

    def curl(self, name, *more, address=None):
        """What the body says; the address comes from DNS, as for everybody."""
        address = address or until(lambda: self.addresses(name), f"{name} is in DNS")[0]
        done = subprocess.run(["curl", "-sS", "--max-time", "10", "-w", "%{http_code}", "--resolve",
                               f"{name}:{self.ports[0]}:{address}", *more, f"http://{name}:{self.ports[0]}/"],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_answers(self, name, address=None):
        said = self.curl(name, address=address)
        self.assertRegex(said, rf"^127\.0\.5\.[12] {re.escape(name)}(:\d+)? .*\n200$")

    def addresses(self, name):
        return sorted(line for line in self.server.dig("+short", name, "A").split() if re.match(r"[\d.]+$", line))

    def until_addresses(self, name, expected, seconds=10):
        until(lambda: self.addresses(name) == expected, f"{name} is {expected}, not {self.addresses(name)}", seconds)

    def field(self, what, path, *more):
        return self.server.kubectl("get", what, "-o", f"jsonpath={{{path}}}", *more).stdout

    def load(self, name):
        clients = [Load(self.dns, name, self.ports[0]) for _ in range(CLIENTS)]
        for each in clients:
            each.start()
            self.addCleanup(lambda each=each: each.is_alive() and each.stop())
        until(lambda: all(each.asked > 20 for each in clients), "the clients are at work")
        return clients

    # --- the use cases ---

    def test_1_routers_are_resources_and_are_kept_running(self):
        self.apply(router("one", "one.apps.test", self.ports), route("cart", "cart"))
        instance = self.run_router("one", 1, ADDRESSES[0])
        self.wait_for("router/one", "Ready")
        self.serving("cart")
        table = self.server.kubectl("get", "routers").stdout
        self.assertRegex(table, r"one +one\.apps\.test")
        self.assert_answers("shop-cart.one.apps.test")
        # HAProxy dies: it is back with what it had. Then the agent: its successor takes the same HAProxy over.
        before = instance.haproxy
        instance.kill_haproxy()
        until(lambda: instance.haproxy != before, "another HAProxy runs")
        self.until_answers("shop-cart.one.apps.test", ADDRESSES[0])
        running = instance.haproxy
        instance.process.kill()
        instance.process.wait()
        self.assert_answers("shop-cart.one.apps.test", ADDRESSES[0])
        instance.start()
        self.apply(route("late", "late"))
        self.serving("late")
        self.assert_answers("shop-late.one.apps.test")
        self.assertEqual(instance.haproxy, running)

    def until_answers(self, name, address):
        def answers():
            done = subprocess.run(["curl", "-s", "--max-time", "2", "-o", "/dev/null", "-w", "%{http_code}", "--resolve",
                                   f"{name}:{self.ports[0]}:{address}", f"http://{name}:{self.ports[0]}/"],
                                  capture_output=True, text=True, timeout=30)
            return done.stdout == "200"
        until(answers, f"{name} answers at {address}")

    def test_2_a_single_unsharded_router(self):
        self.apply(router("only", "only.apps.test", self.ports))
        self.apply(route("a", "a"), route("b", "b", labels={"shard": "blue"}), route("c", "c.example.com"))
        self.run_router("only", 1, ADDRESSES[0])
        self.serving("a", "b", "c")
        for name in ("a", "b", "c"):
            self.assertEqual(self.field(f"route/{name}", ".status.router", "-n", "shop"), "only")
        for name in ("shop-a.only.apps.test", "shop-b.only.apps.test", "c.example.com"):
            self.assertEqual(self.addresses(name), [ADDRESSES[0]], name)
            self.assert_answers(name)

    def test_3_shards_by_label(self):
        self.apply(route("early", "early", labels={"shard": "blue"}))
        self.apply(router("rest", "rest.apps.test", self.ports))
        for number, name in enumerate(("rest", "blue", "green")):
            self.run_router(name, 1, ADDRESSES[number])
        self.serving("early")
        self.assertEqual(self.field("route/early", ".status.router", "-n", "shop"), "rest", "nobody else claims it")
        self.apply(router("blue", "blue.apps.test", self.ports, label="shard=blue"),
                   router("green", "green.apps.test", self.ports, label="shard=green"))
        self.apply(route("plain", "plain"), route("sky", "sky", labels={"shard": "blue"}),
                   route("grass", "grass", labels={"shard": "green"}))
        self.serving("plain", "sky", "grass")
        for number, (name, shard) in enumerate((("plain", "rest"), ("sky", "blue"), ("grass", "green"))):
            host = f"shop-{name}.{shard}.apps.test"
            self.assertEqual(self.field(f"route/{name}", ".status.host", "-n", "shop"), host)
            self.assertEqual(self.addresses(host), [ADDRESSES[number]])
            self.assert_answers(host)
            others = [each for each in ADDRESSES[:3] if each != ADDRESSES[number]]
            for other in others:
                self.assertTrue(self.curl(host, address=other).endswith("404"), f"{host} at {other}")
        self.assertEqual(self.field("route/early", ".status.router", "-n", "shop"), "rest", "scheduled routes stay")

    def kill_under_load(self, mode):
        self.apply(router("ha", "ha.apps.test", self.ports, haMode=mode), route("www", "www.example.com"))
        first = self.run_router("ha", 1, ADDRESSES[0])
        self.wait_for("router/ha", "Ready")
        self.run_router("ha", 2, ADDRESSES[1])
        self.serving("www")
        both = [ADDRESSES[0], ADDRESSES[1]] if mode == "ActiveActive" else [ADDRESSES[0]]
        self.until_addresses("www.example.com", both)
        until(lambda: self.field("router/ha", ".status.instances[*].ready") == "true true", "both are ready")
        clients = self.load("www.example.com")
        self.assertEqual(sorted({each for client in clients for each in client.servers}), both)
        began = time.monotonic()
        first.crash()
        until(lambda: resolve(self.dns, "www.example.com") == [ADDRESSES[1]], "the dead one leaves DNS", 20)
        gone = time.monotonic() - began
        time.sleep(1)
        for each in clients:
            each.stop()
        asked = sum(each.asked for each in clients)
        failures = sorted((when - began, what) for each in clients for when, what in each.failures)
        print(f"\n  {mode}: out of DNS after {gone:.2f} s, {asked:,} requests, {len(failures)} failed, the last "
              f"{failures[-1][0] if failures else 0:.2f} s after the death")
        self.assertLess(gone, IN_TIME + 1, "with room for a machine that is busy")
        # Before it died nothing fails, and nothing that began after it has left DNS.
        self.assertEqual([each for each in failures if each[0] < -0.5 or each[0] > gone + 0.1], [])
        return failures

    def test_4_active_active_with_an_instance_killed_under_load(self):
        failures = self.kill_under_load("ActiveActive")
        # Who was in the middle of a request is cut off and tries the other; nobody is left without an answer.
        self.assertEqual(failures, [])

    def test_4_active_passive_with_an_instance_killed_under_load(self):
        self.kill_under_load("ActivePassive")
        self.assert_answers("www.example.com")

    def test_5_the_default_name(self):
        self.apply(router("one", "one.apps.test", self.ports), route("cart", "cart"))
        self.run_router("one", 1, ADDRESSES[0])
        self.serving("cart")
        name = "shop-cart.one.apps.test"
        self.assertEqual(self.field("route/cart", ".spec.host", "-n", "shop"), "cart", "what was asked for stays")
        self.assertEqual(self.field("route/cart", ".status.host", "-n", "shop"), name)
        self.assertEqual(self.field("route/cart", ".status.dns", "-n", "shop"), "one.apps.test")
        self.assertEqual(self.field("route/cart", ".status.ingress[0].host", "-n", "shop"), name)
        self.wait_for("route/cart", "NameReady", "-n", "shop")
        self.assert_answers(name)
        until(lambda: name in self.server.kubectl("get", "events", "-n", "shop").stdout, "an event tells the name")
        self.assertIn(name, self.server.cli("describe", "route", "cart", "-n", "shop").stdout)
        # Too long for DNS: refused or told, never cut.
        done = self.server.kubectl("apply", "-f", "-", stdin=json.dumps(route("long", "l" * 60)), check=False)
        if done.returncode == 0:
            until(lambda: "False" in self.field("route/long", '.status.conditions[?(@.type=="Scheduled")].status',
                                                "-n", "shop"), "it is told")

    def test_6_a_custom_name(self):
        self.apply(router("one", "one.apps.test", self.ports), route("www", "www.example.com"),
                   route("apex", "example.com"), route("away", "shop.elsewhere.test"))
        self.run_router("one", 1, ADDRESSES[0])
        self.serving("www", "apex", "away")
        self.until_addresses("www.example.com", [ADDRESSES[0]])
        self.assertEqual(self.server.dig("+short", "www.example.com", "CNAME").strip(), "one.apps.test.")
        self.until_addresses("example.com", [ADDRESSES[0]])
        self.assertEqual(self.server.dig("+short", "example.com", "CNAME").strip(), "", "an apex has addresses")
        self.assert_answers("www.example.com")
        self.assert_answers("example.com")
        self.assert_answers("shop.elsewhere.test", ADDRESSES[0])
        told = self.server.cli("describe", "route", "away", "-n", "shop").stdout
        self.assertIn("one.apps.test", told, "where to point the name at the registrar")
        points = '.status.conditions[?(@.type=="DomainPointsHere")].status'
        until(lambda: self.field("route/away", points, "-n", "shop") in ("False", "Unknown"), "nobody has done it")

    def test_7_entries_in_dns(self):
        self.apply(router("one", "one.apps.test", self.ports), route("www", "www.example.com"))
        for number in (1, 2):
            self.run_router("one", number, ADDRESSES[number - 1])
        self.serving("www")
        self.until_addresses("one.apps.test", ADDRESSES[:2])
        self.until_addresses("anything.one.apps.test", ADDRESSES[:2])
        self.assertRegex(self.server.dig("+short", "one.apps.test", "SOA"), r"^\S+\. \S+\. \d+ ")
        servers = self.server.dig("+short", "one.apps.test", "NS").split()
        self.assertTrue(servers)
        for zone, needle in (("one.apps.test", r"\*\.?\S*\s+\d+\s+(IN\s+)?A\s+127\.0\.4\.1"),
                             ("example.com", r"www\S*\s+\d+\s+(IN\s+)?CNAME\s+one\.apps\.test\.")):
            text = self.server.cli("zone", "export", zone).stdout
            self.assertRegex(text, needle)
            (self.folder / zone).write_text(text)
            done = subprocess.run(["named-checkzone", zone, self.folder / zone], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + text)
        # One goes in order: it says so, and DNS follows.
        self.instances[0].process.send_signal(signal.SIGTERM)
        self.until_addresses("one.apps.test", [ADDRESSES[1]], IN_TIME + 1)
        self.assert_answers("www.example.com")


if __name__ == "__main__":
    main()
