#!/usr/bin/env python3
"""Balancers on machines of one's own: `fairlead router --loadbalancer` with a real HAProxy and a real nginx, and the ones that
the server runs by itself. kubectl makes Ingresses, curl gets their answers. Who carries an Ingress is written by the test."""

import json
import os
import signal
import socket
import subprocess
import tempfile

import harness
from balancer_world import BalancerProcess, backend, balancer_object, carry, ingress_object, own_source
from harness import ServerTest, until
from router_world import Backend, apply, free_ports, make_certificate, service_objects


def refuses(port):
    try:
        socket.create_connection(("127.0.0.1", port), 2).close()
        return False
    except OSError:
        return True


class BalancerTests:
    """What both proxies do alike; `kind` says which."""

    kind = None
    # Without controllers: who carries an Ingress is for the test to say.
    SERVE_ARGS = ("--roles", "api,dns,balancers")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.one, cls.two = Backend("one"), Backend("two")
        cls.addClassCleanup(cls.one.stop)
        cls.addClassCleanup(cls.two.stop)
        apply(cls.server, balancer_object("front", cls.kind), balancer_object("back", cls.kind),
              *service_objects("web", cls.one), *service_objects("next", cls.two))
        cls.front = BalancerProcess(cls.server, "front", "front-1").start()
        cls.addClassCleanup(cls.front.remove)

    def make(self, name, rules, balancer="front", **more):
        apply(self.server, ingress_object(name, rules, **more))
        if balancer:
            carry(self.server, name, balancer)

    def instance(self, name="front-1"):
        return json.loads(self.kubectl("get", "routerinstance", name, "-o", "json").stdout)

    def problem(self, ingress, reason):
        """Waits until the instance tells it; its text."""
        def told():
            return [p["message"] for p in self.instance()["status"].get("problems", [])
                    if p["route"] == f"default/{ingress}" and p["reason"] == reason]
        return until(told, f"the instance tells {reason} of {ingress}")[0]

    def test_hosts_paths_and_types(self):
        self.make("kinds", {"kinds.test": [("/", "Prefix", "web"), ("/cart", "Prefix", "next"), ("/cart", "Exact", "web"),
                                           ("/impl", "ImplementationSpecific", "next")],
                            "*.wild.test": [("/", "Prefix", "next")]})
        for path, who in (("/", "one"), ("/x", "one"), ("/cart", "one"), ("/cart/", "two"), ("/cart/1", "two"),
                          ("/carts", "one"), ("/impl/x", "two")):
            self.front.answers("kinds.test", backend=who, path=path)
        self.front.answers("a.wild.test", backend="two")
        self.front.answers("a.b.wild.test", status=404)
        self.front.answers("wild.test", status=404)
        _, body = self.front.answers("kinds.test", backend="one")
        self.assertEqual(body["headers"]["x-forwarded-for"], "127.0.0.1")
        self.assertEqual(body["headers"]["x-forwarded-proto"], "http")
        self.assertTrue(body["headers"]["x-forwarded-host"].startswith("kinds.test"))

    def test_default_backend_and_rules_for_any_host(self):
        self.addCleanup(self.kubectl, "delete", "ingress", "any", "--ignore-not-found")
        self.make("any", {"": [("/any", "Prefix", "next")], "named.test": [("/", "Exact", "next")]},
                  defaultBackend=backend("web", "http"))
        self.front.answers("whoever.test", backend="two", path="/any/x")
        self.front.answers("whoever.test", backend="one", path="/else")
        self.front.answers("named.test", backend="two")
        self.front.answers("named.test", backend="one", path="/x")
        self.kubectl("delete", "ingress", "any")
        self.front.answers("whoever.test", status=404)

    def test_endpoints_come_and_go(self):
        apply(self.server, *service_objects("moving", self.one))
        self.make("moving", {"moving.test": [("/", "Prefix", "moving")]})
        self.front.answers("moving.test", backend="one")
        apply(self.server, *service_objects("moving", self.two))
        self.front.answers("moving.test", backend="two")
        apply(self.server, *service_objects("moving"))
        self.front.answers("moving.test", status=503)
        self.assertIn("default/moving has no endpoints", self.problem("moving", "NoEndpoints"))

    def test_tls_and_a_certificate_that_is_bad_concerns_its_own_host(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        ca = make_certificate(folder.name, "ca")
        trust = ("--cacert", str(ca[0]))
        good = make_certificate(folder.name, "tls.test", ca)
        self.kubectl("create", "secret", "tls", "tls-good", f"--cert={good[0]}", f"--key={good[1]}")
        apply(self.server, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "tls-bad", "namespace": "default"},
                            "type": "kubernetes.io/tls", "data": {"tls.crt": "aGVsbG8=", "tls.key": "aGVsbG8="}})
        self.make("tls", {"tls.test": [("/", "Prefix", "web")], "bad.test": [("/", "Prefix", "web")]},
                  tls=[{"hosts": ["tls.test"], "secretName": "tls-good"}, {"hosts": ["bad.test"], "secretName": "tls-bad"}])
        _, body = self.front.answers("tls.test", backend="one", scheme="https", args=trust)
        self.assertEqual(body["headers"]["x-forwarded-proto"], "https")
        self.front.answers("tls.test", status=302)
        self.assertIn("bad.test", self.problem("tls", "InvalidCertificate"))
        self.front.answers("bad.test", status=404)
        # It is served as soon as its Secret is right.
        mended = make_certificate(folder.name, "bad.test", ca)
        secret = self.kubectl("create", "secret", "tls", "tls-bad", f"--cert={mended[0]}", f"--key={mended[1]}",
                              "--dry-run=client", "-o", "json").stdout
        self.kubectl("apply", "-f", "-", stdin=secret)
        self.front.answers("bad.test", backend="one", scheme="https", args=trust)

    def test_a_balancer_has_its_own_rules_only(self):
        self.make("ours", {"ours.test": [("/", "Prefix", "web")]})
        self.make("theirs", {"theirs.test": [("/", "Prefix", "web")]}, balancer="back")
        self.make("nobodys", {"nobodys.test": [("/", "Prefix", "web")]}, balancer=None)
        self.front.answers("ours.test", backend="one")
        with self.subTest("it does not even see what another one carries"):
            for host in ("theirs.test", "nobodys.test"):
                self.front.answers(host, status=404)
            for file in (self.front.state / "s").rglob("*"):
                if file.is_file() and file.suffix in (".map", ".conf", ".cfg"):
                    self.assertNotIn("theirs", file.read_text(errors="replace"), file)
        with self.subTest("what is taken away goes at once, and the instance says that it has gone"):
            carry(self.server, "ours", "back")
            taken = int(json.loads(self.kubectl("get", "ingress", "ours", "-o", "json").stdout)["metadata"]["resourceVersion"])
            until(lambda: self.instance()["status"].get("programmed", 0) >= taken, "the removal is in force")
            self.assertEqual(self.front.curl("ours.test")[0], 404, "nothing of it is served once that is said")
        with self.subTest("and the other one serves it"):
            back = BalancerProcess(self.server, "back", "back-1").start()
            self.addCleanup(back.remove)
            back.answers("ours.test", backend="one")
            back.answers("theirs.test", backend="one")
            self.assertEqual(self.instance("back-1")["spec"]["loadBalancer"], "back")

    def test_of_two_with_the_same_rule_the_older_has_it(self):
        self.make("first", {"same.test": [("/", "Prefix", "web")]})
        # Times of creation have seconds; uids decide within one.
        created = json.loads(self.kubectl("get", "ingress", "first", "-o", "json").stdout)["metadata"]["creationTimestamp"]

        def later():
            self.kubectl("delete", "ingress", "second", "--ignore-not-found")
            self.make("second", {"same.test": [("/", "Prefix", "next"), ("/own", "Prefix", "next")]}, balancer=None)
            made = json.loads(self.kubectl("get", "ingress", "second", "-o", "json").stdout)
            return made["metadata"]["creationTimestamp"] != created
        until(later, "a second Ingress is younger")
        carry(self.server, "second", "front")
        self.front.answers("same.test", backend="two", path="/own")
        self.front.answers("same.test", backend="one")
        self.assertIn("older Ingress default/first", self.problem("second", "RuleTaken"))
        self.kubectl("delete", "ingress", "first")
        self.front.answers("same.test", backend="two")

    def test_what_the_instance_says(self):
        self.make("told", {"told.test": [("/", "Prefix", "web")]})
        self.front.answers("told.test", backend="one")
        instance = self.instance()
        self.assertEqual(instance["spec"]["loadBalancer"], "front")
        self.assertNotIn("router", instance["spec"])
        self.assertTrue(instance["status"]["ready"])
        self.assertGreaterEqual(instance["status"]["routes"], 1)
        self.assertEqual(instance["status"]["proxy"].lower(), self.kind.lower())
        until(lambda: "route=ingress/default/told/web%3A80 host=told.test" in self.front.access_log.read_text(),
              "the access log names it")

    def test_the_agent_dies_and_nobody_notices(self):
        self.make("steady", {"steady.test": [("/", "Prefix", "web")]})
        self.front.answers("steady.test", backend="one")
        self.front.kill()
        self.assertEqual(self.front.curl("steady.test")[1]["backend"], "one")
        self.make("meanwhile", {"meanwhile.test": [("/", "Prefix", "next")]})
        self.front.start()
        self.front.answers("meanwhile.test", backend="two")
        self.front.answers("steady.test", backend="one")

    def test_several_instances_serve_the_same(self):
        second = BalancerProcess(self.server, "front", "front-2").start()
        self.addCleanup(second.remove)
        self.make("shared", {"shared.test": [("/", "Prefix", "web")]})
        for each in (self.front, second):
            each.answers("shared.test", backend="one")
        until(lambda: self.instance("front-2")["status"].get("ready"), "it says so")
        second.stop()
        self.assertFalse(self.instance("front-2")["status"]["ready"], "one that goes says so before")
        self.front.answers("shared.test", backend="one")

    def test_proxy_protocol_of_clients(self):
        http, https = free_ports(2)
        apply(self.server, balancer_object("told", self.kind, http=http, https=https, proxyProtocol=True))
        told = BalancerProcess(self.server, "told", "told-1").start()
        self.addCleanup(told.remove)
        self.make("behind", {"behind.test": [("/", "Prefix", "web")]}, balancer="told")

        def ask():
            with socket.create_connection(("127.0.0.1", told.http), 5) as client:
                client.sendall(b"PROXY TCP4 198.51.100.9 203.0.113.1 5555 80\r\n"
                               b"GET / HTTP/1.1\r\nHost: behind.test\r\nConnection: close\r\n\r\n")
                said = b""
                while more := client.recv(65536):
                    said += more
            return said.decode(errors="replace") if said.startswith(b"HTTP/1.1 200") else None
        self.assertIn('"x-forwarded-for": "198.51.100.9"', until(ask, "it answers"))

    def own(self, name):
        """A balancer that the server runs by itself, with an Ingress; its port, and how to ask it for who answers."""
        http, https = free_ports(2)
        self.make(name, {f"{name}.test": [("/", "Prefix", "web")]}, balancer=name)
        apply(self.server, balancer_object(name, self.kind, address="127.0.0.1", http=http, https=https))

        def who():
            said = subprocess.run(["curl", "-s", "--max-time", "5", "-H", f"Host: {name}.test", f"http://127.0.0.1:{http}/"],
                                  capture_output=True, text=True, timeout=30).stdout
            return json.loads(said)["backend"] if said.startswith("{") else None
        until(lambda: who() == "one", "the server's own proxy answers")
        return http, who

    def test_the_server_runs_a_balancer_by_itself(self):
        http, _ = self.own("own")
        instances = json.loads(self.kubectl("get", "routerinstances", "-o", "json",
                                            "--field-selector", "spec.loadBalancer=own").stdout)["items"]
        self.assertEqual(len(instances), 1)
        self.assertTrue(instances[0]["metadata"]["name"].startswith("own-"))
        self.assertEqual(instances[0]["spec"]["address"], "127.0.0.1")
        with self.subTest("and shows what it counts among its own figures, with the balancer's name"):
            def shown(start):
                return [line for line in self.server.request("GET", "/metrics")[2].decode().splitlines()
                        if line.startswith(start) and 'loadbalancer="own"' in line]
            until(lambda: any(line.endswith(" 1") for line in shown("fairlead_loadbalancer_ingresses")), "its Ingress is counted")
            if self.kind == "Haproxy":
                until(lambda: [line for line in shown("fairlead_ingress_requests_total") if 'code="2xx"' in line], "its requests are counted")
                self.assertIn('ingress="own"', shown("fairlead_ingress_sent_bytes_total")[0])
        self.kubectl("delete", "loadbalancer", "own")
        until(lambda: refuses(http), "its proxy ends with it")
        self.assertEqual(shown("fairlead_loadbalancer_ingresses"), [], "so do its figures")

    def test_a_server_that_is_killed_leaves_its_proxies_serving(self):
        http, who = self.own("left")
        self.server.kill()
        self.assertEqual(who(), "one")
        self.server.start()
        self.make("left", {"left.test": [("/", "Prefix", "next")]}, balancer="left")
        until(lambda: who() == "two", "the next one goes on with it")
        with self.subTest("one whose balancer is gone by then is ended"):
            self.server.kill()
            self.server.args = ("--roles", "api,dns")
            self.server.start()
            self.kubectl("delete", "loadbalancer", "left")
            self.assertEqual(who(), "two", "nobody has ended it yet")
            self.server.kill()
            self.server.args = self.SERVE_ARGS
            self.server.start()
            until(lambda: refuses(http), "its proxy is ended")


class HaproxyTest(BalancerTests, ServerTest):
    kind = "Haproxy"

    def test_changes_are_no_reloads(self):
        before = self.instance()["status"]["reloads"]
        for number in range(5):
            self.make("many", {f"many{number}.test": [("/", "Prefix", "web"), ("/exact", "Exact", "next")]})
            self.front.answers(f"many{number}.test", backend="two", path="/exact")
        self.assertEqual(self.instance()["status"]["reloads"], before)

    def test_proxy_protocol_to_members_is_asked_for_by_the_ingress(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        listener.settimeout(60)
        service = service_objects("speaks", self.one)
        service[1]["subsets"][0]["ports"][0]["port"] = listener.getsockname()[1]
        apply(self.server, *service)
        self.make("speaks", {"speaks.test": [("/", "Prefix", "speaks")]}, annotations={"fairlead.dev/proxy-protocol": "v2"})
        client = subprocess.Popen(["curl", "-s", "--retry", "30", "--retry-all-errors", "--retry-delay", "1", "-f",
                                   "-H", "Host: speaks.test", f"http://127.0.0.1:{self.front.http}/"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(client.stdout.close)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        member, _ = listener.accept()
        with member:
            member.settimeout(30)
            said = b""
            while b"\nhost:" not in said.lower():
                said += member.recv(65536)
            self.assertTrue(said.startswith(b"\r\n\r\n\x00\r\nQUIT\n"), said[:40])
            self.assertIn(socket.inet_aton("127.0.0.1"), said[:32])
            member.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfine")
        self.assertEqual(client.communicate(timeout=60)[0], "fine")


class NginxTest(BalancerTests, ServerTest):
    kind = "Nginx"

    def test_a_rule_that_nginx_refuses_concerns_itself(self):
        self.make("before", {"before.test": [("/", "Prefix", "web")]})
        # A word of nginx's file has at most 4 kB, and quotes are written as two characters.
        self.make("refused", {"refused.test": [("/" + '"' * 2047, "Exact", "web")]})
        self.assertIn("nginx refuses", self.problem("refused", "ProxyRefuses"))
        self.make("after", {"after.test": [("/", "Prefix", "next")]})
        self.front.answers("before.test", backend="one")
        self.front.answers("after.test", backend="two")
        self.make("refused", {"refused.test": [("/fine", "Exact", "web")]})
        self.front.answers("refused.test", backend="one", path="/fine")

    def test_what_nginx_cannot_do_is_said_and_served_without(self):
        self.make("sticky", {"sticky.test": [("/", "Prefix", "web")]}, annotations={"fairlead.dev/sticky-cookie": "shop"})
        self.front.answers("sticky.test", backend="one")
        self.assertIn("fairlead.dev/sticky-cookie", self.problem("sticky", "Unsupported"))

    def test_nginx_dies_and_comes_back(self):
        self.make("dies", {"dies.test": [("/", "Prefix", "web")]})
        self.front.answers("dies.test", backend="one")
        before = self.front.nginx_pid()
        os.kill(before, signal.SIGKILL)
        until(lambda: self.front.nginx_pid() not in (None, before), "another one runs")
        self.front.answers("dies.test", backend="one")


class NginxConditionTest(ServerTest):
    """With controllers: what nginx cannot do is in the Ingress's own condition."""

    def test_an_ingress_says_which_of_its_annotations_nginx_cannot_follow(self):
        one = Backend("one")
        self.addCleanup(one.stop)
        apply(self.server, balancer_object("front", "Nginx"), *service_objects("web", one))
        front = BalancerProcess(self.server, "front", "front-1").start()
        self.addCleanup(front.remove)

        def programmed(status):
            known = json.loads(self.kubectl("get", "ingress", "asks", "-o", "json").stdout)
            return [each for each in known.get("status", {}).get("conditions", [])
                    if each["type"] == "Programmed" and each["status"] == status and each["reason"] in ("Unsupported", "InForce")]

        def make(annotations):
            apply(self.server, ingress_object("asks", {"asks.test": [("/", "Prefix", "web")]}, annotations=annotations,
                                              loadBalancer=own_source("front", "Nginx")))
        make({"fairlead.dev/sticky-cookie": "shop", "fairlead.dev/proxy-protocol": "v2"})
        front.answers("asks.test", backend="one")
        condition = until(lambda: programmed("False"), "the Ingress says so")[0]
        for annotation in ("fairlead.dev/sticky-cookie", "fairlead.dev/proxy-protocol"):
            self.assertIn(annotation, condition["message"])
        make({})
        until(lambda: programmed("True"), "all is well without them")


if __name__ == "__main__":
    harness.main()
