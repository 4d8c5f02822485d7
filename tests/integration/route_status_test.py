#!/usr/bin/env python3
"""What the users of Routes are told, through kubectl and the CLI: is it up, under which name, and what is left to do. A thread
stands for the router's agent; bindings are made by hand where no scheduler does."""

import json
import re
import threading
import time

from dns_tools import free_port, zone
from harness import Fairlead, ServerTest, main, route, until
from shard_zone_test import INSTANCES, MERGE, Instance

JSON = {"Content-Type": "application/json"}


def service(name, namespace="default"):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace},
            "spec": {"ports": [{"port": 80}]}}


def endpoints(name, *addresses, namespace="default"):
    subsets = [{"addresses": [{"ip": each} for each in addresses], "ports": [{"port": 8080}]}] if addresses else []
    return {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": name, "namespace": namespace}, "subsets": subsets}


class Agent:
    """Says of every change of a Route that it is in force, as soon as it sees it."""

    def __init__(self, server, name, router, instance):
        self.server, self.name, self.going = server, name, True
        server.request("POST", INSTANCES, {
            "apiVersion": "fairlead.dev/v1", "kind": "RouterInstance", "metadata": {"name": name},
            "spec": {"router": router, "address": instance.address, "probe": f"{instance.address}:{instance.port}"}}, JSON)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        told = None
        while self.going:
            _, _, routes = self.server.request("GET", "/apis/route.openshift.io/v1/routes?limit=1")
            revision = int(routes["metadata"]["resourceVersion"])
            if revision != told:
                self.report({"ready": True, "programmed": revision})
                told = revision
            time.sleep(0.02)

    def report(self, status):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.server.request("PATCH", f"{INSTANCES}/{self.name}/status",
                            {"status": {"renewTime": now, "leaseDurationSeconds": 3600, **status}}, MERGE)

    def stop(self):
        self.going = False
        self.thread.join()


class RouteStatusTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        # It asks itself where names lead.
        port = free_port()
        cls.server = Fairlead("--dns-listen", f"127.0.0.1:{port}", "--resolver", f"127.0.0.1:{port}").start()
        cls.addClassCleanup(cls.server.remove)
        cls.server.kubectl("create", "namespace", "rival")
        cls.apply({"apiVersion": "fairlead.dev/v1", "kind": "Router", "metadata": {"name": "one"}, "spec": {"dns": "one.example"}},
                  service("web"), endpoints("web", "10.1.0.1", "10.1.0.2"))
        instance = Instance("127.0.0.21")
        cls.addClassCleanup(instance.die)
        cls.agent = Agent(cls.server, "edge-1", "one", instance)
        cls.addClassCleanup(cls.agent.stop)

    @classmethod
    def apply(cls, *objects):
        cls.server.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def bind(self, name, namespace="default"):
        """As the scheduler would; it may have done so already."""
        status, _, answer = self.server.request(
            "POST", f"/apis/fairlead.dev/v1/namespaces/{namespace}/routebindings",
            {"apiVersion": "fairlead.dev/v1", "kind": "RouteBinding", "metadata": {"generateName": "by-hand-"},
             "routeName": name, "router": "one", "dns": "one.example"}, JSON)
        self.assertIn(status, (200, 201), answer)

    def make(self, *routes):
        for each in routes:
            self.apply(each)
            self.bind(each["metadata"]["name"], each["metadata"]["namespace"])

    def conditions(self, name, namespace="default"):
        got = json.loads(self.kubectl("get", "route", name, "-n", namespace, "-o", "json").stdout)
        return {each["type"]: each for each in got["status"].get("conditions", [])}

    def says(self, name, type, pattern, namespace="default"):
        def look():
            found = self.conditions(name, namespace).get(type, {})
            return re.search(pattern, f"{found.get('status')} {found.get('reason')}: {found.get('message')}")
        until(look, f"{type} of {name} says {pattern}; it has {self.conditions(name, namespace).get(type)}")

    def test_1_a_route_comes_up(self):
        self.make(route("shop", host="shop", path="/cart"))
        # Both tools wait for it.
        self.kubectl("wait", "--for=condition=Serving", "route/shop", "--timeout=30s")
        self.kubectl("wait", "--for=condition=NameReady", "route/shop", "--timeout=30s")
        waited = self.server.cli("wait", "--for=condition=Serving", "route/shop", "--timeout=30s").stdout
        self.assertIn("route.route.openshift.io/shop condition met", waited)
        self.assertEqual(self.server.dig("+short", "default-shop.one.example").strip(), "127.0.0.21")
        got = json.loads(self.kubectl("get", "route", "shop", "-o", "json").stdout)
        self.assertEqual(got["status"]["host"], "default-shop.one.example")
        ingress = got["status"]["ingress"]
        self.assertEqual([(each["host"], each["routerName"], each["routerCanonicalHostname"]) for each in ingress],
                         [("default-shop.one.example", "one", "one.example")])
        self.assertEqual(ingress[0]["conditions"][0]["status"], "True")
        events = until(lambda: re.findall(r"Reachable.*", self.kubectl("get", "events").stdout), "an event tells the name")
        self.assertIn("Route is reachable as http://default-shop.one.example/cart", events[0])
        row = self.kubectl("get", "routes", "shop").stdout.splitlines()
        self.assertRegex(row[0], r"NAME +HOST/PORT +PATH +SERVICES +PORT +TERMINATION +WILDCARD +PHASE +ROUTER +SERVING +AGE")
        self.assertRegex(row[1], r"shop +default-shop.one.example +/cart +web +<all> .*scheduled +one +True ")

    def test_2_describe_answers(self):
        text = self.server.cli("describe", "route", "shop").stdout
        self.assertRegex(text, r"\AUp: +yes\nUse: +http://default-shop.one.example/cart\n")
        self.assertRegex(text, r"\nRouter: +one \(one.example\), 1 of 1 instance ready\n +edge-1 127.0.0.21 ready\n")
        self.assertRegex(text, r"\n  web +100 +100% +10.1.0.1:8080,10.1.0.2:8080\n")
        self.assertIn("default-shop.one.example is ours for ", text)
        self.assertRegex(text, r"\n  Serving +True +\d+s +Programmed ")
        self.assertRegex(text, r"\n  Normal +Reachable ")

    def test_3_no_endpoints(self):
        before = self.conditions("shop")["Serving"]["lastTransitionTime"]
        time.sleep(1.1)  # times have seconds
        self.apply(endpoints("web"))
        self.says("shop", "Serving", "False NoEndpoints: service web has no endpoints")
        self.assertGreater(self.conditions("shop")["Serving"]["lastTransitionTime"], before)
        self.assertRegex(self.server.cli("describe", "route", "shop").stdout, r"\AUp: +no, service web has no endpoints")
        self.assertRegex(self.kubectl("get", "routes", "shop").stdout, r" NoEndpoints ")
        failed = self.kubectl("wait", "--for=condition=Serving", "route/shop", "--timeout=1s", check=False)
        self.assertNotEqual(failed.returncode, 0)
        self.apply(endpoints("web", "10.1.0.1"))
        self.kubectl("wait", "--for=condition=Serving", "route/shop", "--timeout=30s")

    def test_4_churn_writes_nothing(self):
        def revision():
            return json.loads(self.kubectl("get", "route", "shop", "-o", "json").stdout)["metadata"]["resourceVersion"]
        before = revision()
        for last in range(2, 12):
            self.apply(endpoints("web", "10.1.0.1", f"10.1.0.{last}"))
        self.make(route("witness", host="witness"))
        self.kubectl("wait", "--for=condition=Serving", "route/witness", "--timeout=30s")
        self.assertEqual(revision(), before)

    def test_5_the_oldest_has_the_host(self):
        self.apply(service("web", "rival"), endpoints("web", "10.2.0.1", namespace="rival"))
        self.make(route("first", host="www.acme.example"))
        time.sleep(1.1)  # creation times have seconds
        self.make(route("second", namespace="rival", host="www.acme.example", path="/mine"))
        self.kubectl("wait", "--for=condition=Serving", "route/first", "--timeout=30s")
        self.says("second", "Serving", "False NotAdmitted: .*older route of another namespace", "rival")
        self.assertNotIn("default", self.conditions("second", "rival")["Serving"]["message"])
        self.assertRegex(self.kubectl("get", "routes", "-n", "rival").stdout, " HostAlreadyClaimed ")
        self.assertRegex(self.kubectl("get", "events", "-n", "rival").stdout, "Warning +HostAlreadyClaimed")
        self.kubectl("delete", "route", "first")
        self.kubectl("wait", "-n", "rival", "--for=condition=Serving", "route/second", "--timeout=30s")

    def test_6_what_to_do_at_the_registrar(self):
        self.make(route("mine", host="www.mine.example"))
        self.says("mine", "DomainPointsHere", "False .*make www.mine.example a CNAME of one.example")
        self.assertRegex(self.server.cli("describe", "route", "mine").stdout, r"\AUp: +yes, but its name ")
        # He lets us serve the zone: the record is made, and the name leads here.
        self.apply(zone("mine", "mine.example"))
        self.kubectl("wait", "--for=condition=NameReady", "route/mine", "--timeout=30s")
        self.says("mine", "NameReady", "True Published")
        self.kubectl("wait", "--for=condition=DomainPointsHere", "route/mine", "--timeout=90s")
        self.assertRegex(self.server.cli("describe", "route", "mine").stdout, r"\AUp: +yes\n")

    def test_7_a_restart_changes_nothing(self):
        self.agent.stop()
        before = self.kubectl("get", "routes", "-A", "-o", "jsonpath={.items[*].metadata.resourceVersion}").stdout
        self.server.stop()
        self.server.start()
        until(lambda: "fairlead_routes{" in self.server.request("GET", "/metrics")[2].decode(), "the controllers are at work")
        time.sleep(3)  # longer than anything waits before it is written
        after = self.kubectl("get", "routes", "-A", "-o", "jsonpath={.items[*].metadata.resourceVersion}").stdout
        self.assertEqual(after, before)
        self.assertRegex(self.server.request("GET", "/metrics")[2].decode(),
                         r'fairlead_routes{condition="Serving",status="True"} [1-9]')


if __name__ == "__main__":
    main()
