#!/usr/bin/env python3
"""`fairlead router` with a real HAProxy: kubectl makes Routes, curl gets their answers, and nothing that dies in between
is noticed by clients."""

import json
import os
import re
import subprocess
import tempfile
import threading
import unittest
import urllib.request
from pathlib import Path

import harness
from harness import BINARY, Fairlead, ServerTest, until
from router_world import Backend, RouterProcess, apply, free_ports, make_certificate, router_object, service_objects


def route_object(name, host, service="web", annotations=None, **spec):
    return {"apiVersion": "route.openshift.io/v1", "kind": "Route",
            "metadata": {"name": name, "namespace": "default", "annotations": annotations or {}},
            "spec": {"host": host, "to": {"kind": "Service", "name": service}, **spec}}


class Load(threading.Thread):
    """Asks for one host over new connections until it is told to end; remembers what was not 200."""

    def __init__(self, router, host):
        super().__init__(daemon=True)
        self.router, self.host = router, host
        self.asked, self.failed, self.ending = 0, [], threading.Event()

    def run(self):
        while not self.ending.is_set():
            try:
                request = urllib.request.Request(f"http://127.0.0.1:{self.router.http}/", headers={"Host": self.host})
                with urllib.request.urlopen(request, timeout=20) as answer:
                    answer.read()
            except OSError as error:
                self.failed.append(repr(error))
            self.asked += 1

    def end(self):
        self.ending.set()
        self.join()
        return self.failed


class RouterTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.one, cls.two = Backend("one"), Backend("two")
        cls.addClassCleanup(cls.one.stop)
        cls.addClassCleanup(cls.two.stop)
        apply(cls.server, router_object(), *service_objects("web", cls.one), *service_objects("next", cls.two))
        cls.router = RouterProcess(cls.server).start()
        cls.addClassCleanup(cls.router.remove)

    def bind(self, name):
        """As the scheduler does; it may have been faster."""
        status, _, body = self.server.request(
            "POST", "/apis/fairlead.dev/v1/namespaces/default/routebindings",
            {"apiVersion": "fairlead.dev/v1", "kind": "RouteBinding", "metadata": {"name": name},
             "routeName": name, "router": "edge", "dns": "edge.test"})
        self.assertIn(status, (200, 201), body)

    def make(self, name, *args, **spec):
        apply(self.server, route_object(name, f"{name}.example.com", *args, **spec))
        self.bind(name)
        return f"{name}.example.com"

    def instance(self):
        return json.loads(self.kubectl("get", "routerinstance", self.router.name, "-o", "json").stdout)

    def test_a_route_answers_and_follows_its_endpoints(self):
        host = self.make("plain")
        _, body = self.router.answers(host, backend="one")
        self.assertEqual(body["headers"]["x-forwarded-proto"], "http")
        self.assertEqual(body["headers"]["x-forwarded-for"], "127.0.0.1")
        self.kubectl("patch", "route", "plain", "--type=merge", "-p", '{"spec":{"to":{"name":"next"}}}')
        self.router.answers(host, backend="two")
        self.kubectl("delete", "route", "plain")
        self.router.answers(host, status=404)

    def test_endpoints_come_and_go(self):
        apply(self.server, *service_objects("moving", self.one))
        host = self.make("moving", "moving")
        self.router.answers(host, backend="one")
        apply(self.server, *service_objects("moving", self.two))
        self.router.answers(host, backend="two")
        apply(self.server, *service_objects("moving"))
        self.router.answers(host, status=503)
        until(lambda: any(p["route"] == "default/moving" and p["reason"] == "NoEndpoints"
                          for p in self.instance()["status"].get("problems", [])), "the instance tells")
        apply(self.server, *service_objects("moving", self.one, self.two))
        until(lambda: {self.router.answers(host)[1]["backend"] for _ in range(8)} == {"one", "two"}, "both have their share")

    def test_paths_and_weights(self):
        host = self.make("paths")
        apply(self.server, route_object("paths-b", host, "next", path="/b"))
        self.bind("paths-b")
        self.router.answers(host, backend="two", path="/b/c")
        self.router.answers(host, backend="one", path="/bc")
        host = self.make("weights", alternateBackends=[{"kind": "Service", "name": "next", "weight": 0}])
        self.router.answers(host, backend="one")
        self.assertEqual({self.router.curl(host)[1]["backend"] for _ in range(6)}, {"one"})
        self.kubectl("patch", "route", "weights", "--type=merge", "-p",
                     '{"spec":{"to":{"weight":0},"alternateBackends":[{"kind":"Service","name":"next","weight":9}]}}')
        self.router.answers(host, backend="two")

    def test_sticky_sessions(self):
        apply(self.server, *service_objects("both", self.one, self.two))
        host = self.make("sticky", "both", {"router.openshift.io/cookie_name": "shop_id"})
        self.router.answers(host)
        with tempfile.NamedTemporaryFile() as jar:
            first = self.router.curl(host, "/", "-c", jar.name, "-b", jar.name)[1]["backend"]
            self.assertIn("shop_id", Path(jar.name).read_text())
            for _ in range(10):
                self.assertEqual(self.router.curl(host, "/", "-b", jar.name)[1]["backend"], first)

    def test_tls(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        ca = make_certificate(folder.name, "ca")
        trust = ("--cacert", str(ca[0]))
        pem = lambda pair: {"certificate": Path(pair[0]).read_text(), "key": Path(pair[1]).read_text()}

        with self.subTest("edge, with a certificate of its own, and redirects"):
            own = make_certificate(folder.name, "edge.example.com", ca)
            host = self.make("edge", tls={"termination": "edge", "insecureEdgeTerminationPolicy": "Redirect", **pem(own)})
            _, body = self.router.answers(host, backend="one", scheme="https", args=trust)
            self.assertEqual(body["headers"]["x-forwarded-proto"], "https")
            self.router.answers(host, status=302)
        with self.subTest("edge, with a secret"):
            own = make_certificate(folder.name, "secret.example.com", ca)
            self.kubectl("create", "secret", "tls", "secret-tls", f"--cert={own[0]}", f"--key={own[1]}")
            host = self.make("secret", tls={"termination": "edge", "externalCertificate": {"name": "secret-tls"}})
            self.router.answers(host, backend="one", scheme="https", args=trust)
            self.assertNotEqual(self.router.curl(host)[0], 200, "nothing is served without TLS unless it is allowed")
        with self.subTest("a key that does not fit concerns its own route"):
            bad = {**pem(make_certificate(folder.name, "bad.example.com", ca)), "key": pem(ca)["key"]}
            self.make("bad", tls={"termination": "edge", **bad})
            until(lambda: any(p["route"] == "default/bad" and "does not fit" in p["message"]
                              for p in self.instance()["status"].get("problems", [])), "the instance tells")
            self.router.answers("edge.example.com", backend="one", scheme="https", args=trust)
        with self.subTest("passthrough"):
            own = make_certificate(folder.name, "through.example.com", ca)
            inner = Backend("inner", own)
            self.addCleanup(inner.stop)
            apply(self.server, *service_objects("inner", inner))
            host = self.make("through", "inner", tls={"termination": "passthrough"})
            self.router.answers(host, backend="inner", scheme="https", args=trust)
        with self.subTest("re-encryption, with whom to trust"):
            outer = make_certificate(folder.name, "again.example.com", ca)
            host = self.make("again", "inner", tls={"termination": "reencrypt", **pem(outer),
                                                    "destinationCACertificate": Path(ca[0]).read_text()})
            self.router.answers(host, backend="inner", scheme="https", args=trust)
            stranger = tempfile.TemporaryDirectory()
            self.addCleanup(stranger.cleanup)
            other = make_certificate(stranger.name, "ca")
            host = self.make("wary", "inner", tls={"termination": "reencrypt",
                                                   "destinationCACertificate": Path(other[0]).read_text()})
            self.router.answers(host, status=503, scheme="https", args=("-k",))

    def test_the_agent_dies_and_comes_back(self):
        host = self.make("steady")
        self.router.answers(host)
        load = Load(self.router, host)
        load.start()
        proxy = self.router.haproxy_pid()
        self.assertTrue(proxy)
        self.router.kill()
        self.assertEqual(self.router.answers(host)[0], 200, "HAProxy goes on")
        late = self.make("late")
        self.router.start()
        self.router.answers(late, backend="one")
        self.assertEqual(self.router.haproxy_pid(), proxy, "it was taken over")
        until(lambda: load.asked > 50, "load")
        self.assertEqual(load.end(), [])

    def test_the_api_goes_and_comes_back(self):
        host = self.make("firm")
        self.router.answers(host)
        load = Load(self.router, host)
        load.start()
        self.server.kill()
        asked = load.asked
        until(lambda: load.asked > asked + 20, "answers without the API")
        self.server.start()
        self.router.answers(self.make("after"), backend="one")
        self.assertEqual(load.end(), [])

    def test_both_die(self):
        host = self.make("both-die")
        self.router.answers(host)
        load = Load(self.router, host)
        load.start()
        self.server.kill()
        self.router.kill()
        self.router.start(wait=False)
        until(lambda: "starts with what it remembers" in self.router.log_text(), "a start without the API")
        until(lambda: load.asked > 20, "load")
        self.server.start()
        self.router.answers(self.make("both-back"), backend="one")
        self.assertEqual(load.end(), [])

    def test_members_are_checked(self):
        dying = Backend("dying")
        apply(self.server, *service_objects("checked", self.one, dying))
        host = self.make("checked", "checked", {"router.openshift.io/haproxy.health.check.interval": "500ms"})
        until(lambda: {self.router.answers(host)[1]["backend"] for _ in range(6)} == {"one", "dying"}, "both answer")
        dying.stop()
        until(lambda: re.search(r"^fairlead_router_members_down 1", self.metrics(), re.M), "it is found out")
        self.assertEqual({self.router.curl(host)[1]["backend"] for _ in range(6)}, {"one"})

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.router.metrics}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def test_access_log_and_metrics_name_the_route(self):
        host = self.make("told")
        for _ in range(5):
            self.router.answers(host, backend="one")
        until(lambda: self.router.access_log.exists() and "default/told" in self.router.access_log.read_text(),
              "the access log has the route")
        until(lambda: re.search(r'^fairlead_route_requests_total\{code="2xx",namespace="default",route="told"\} [1-9]',
                                self.metrics(), re.M), "requests are counted")
        with urllib.request.urlopen(f"http://127.0.0.1:{self.router.metrics}/readyz", timeout=10) as answer:
            self.assertEqual(answer.read(), b"ok\n")

    def test_it_is_registered(self):
        until(lambda: self.instance()["status"]["ready"], "ready")
        instance = self.instance()
        self.assertEqual(instance["spec"], {"router": "edge", "address": "127.0.0.1",
                                            "probe": f"127.0.0.1:{self.router.status}"})
        self.assertEqual(instance["status"]["leaseDurationSeconds"], 15)
        with urllib.request.urlopen(f"http://127.0.0.1:{self.router.status}/healthz", timeout=10) as answer:
            self.assertEqual(answer.status, 200)

    def test_error_pages_change_without_a_restart(self):
        proxy = self.router.haproxy_pid()
        self.kubectl("patch", "router", "edge", "--type=merge", "-p", '{"spec":{"errorPages":{"404":"<p>nobody here</p>"}}}')
        until(lambda: "nobody here" in str(self.router.curl("nobody.example.com")[1]), "the page")
        self.assertEqual(self.router.haproxy_pid(), proxy)


class RoleTest(unittest.TestCase):
    def test_serve_runs_a_router_itself(self):
        http, https, status = free_ports(3)
        config = tempfile.NamedTemporaryFile("w", suffix=".yaml")
        self.addCleanup(config.close)
        config.write(f"router-https-listen: 127.0.0.1:{https}\nrouter-status-listen: 127.0.0.1:{status}\n")
        config.flush()
        server = Fairlead("--router", "edge", "--router-http-listen", f"127.0.0.1:{http}", "--config", config.name)
        self.addCleanup(server.remove)
        server.start()
        until(lambda: "there is no Router" in server.log_text(), "it says what it waits for")
        backend = Backend("one")
        self.addCleanup(backend.stop)
        apply(server, router_object(), *service_objects("web", backend), route_object("inside", "inside.example.com"))
        server.request("POST", "/apis/fairlead.dev/v1/namespaces/default/routebindings",
                       {"apiVersion": "fairlead.dev/v1", "kind": "RouteBinding", "metadata": {"name": "inside"},
                        "routeName": "inside", "router": "edge", "dns": "edge.test"})

        def answered():
            request = urllib.request.Request(f"http://127.0.0.1:{http}/", headers={"Host": "inside.example.com"})
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    return json.loads(answer.read())["backend"] == "one"
            except OSError:
                return False
        until(answered, "an answer through HAProxy")
        until(lambda: "fairlead_route_requests_total{" in server.request("GET", "/metrics")[2].decode(), "metrics at the API")
        pid = int((server.data / "router/haproxy/haproxy.pid").read_text().split()[0])
        self.assertEqual(server.stop(), 0)
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)


class LifeTest(ServerTest):
    def test_it_waits_for_its_router_and_leaves_in_order(self):
        backend = Backend("one")
        self.addCleanup(backend.stop)
        router = RouterProcess(self.server, name="life-1")
        self.addCleanup(router.remove)
        router.start(wait=False)
        until(lambda: 'there is no Router "edge": create it' in router.log_text().replace("\\", ""), "it says what it waits for")
        apply(self.server, router_object())
        self.assertTrue(router.process.stdout.readline().startswith("ready router=edge instance=life-1"))
        self.assertTrue(router.haproxy_pid())
        self.assertEqual(router.stop(), 0)
        self.assertIsNone(router.haproxy_pid(), "SIGTERM ends the proxy too")
        status = json.loads(self.kubectl("get", "routerinstance", "life-1", "-o", "json").stdout)["status"]
        self.assertFalse(status.get("ready"))
        self.assertEqual(status["message"], "leaving")

    def test_its_role_is_all_it_needs(self):
        self.server.cli("token", "list")
        apply(self.server, router_object("narrow", "narrow.test"), {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "narrow"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "fairlead-router"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "narrow-1"}]})
        login = self.server.data / "narrow.kubeconfig"
        login.write_text(self.server.cli("token", "create", "--user", "narrow-1", "-o", "kubeconfig").stdout)
        router = RouterProcess(self.server, router="narrow", name="narrow-1", kubeconfig=login)
        self.addCleanup(router.remove)
        router.start()
        until(lambda: json.loads(self.kubectl("get", "routerinstance", "narrow-1", "-o", "json").stdout)["status"]["ready"],
              "ready with that role alone")

    def test_without_haproxy_it_says_how_to_get_it(self):
        apply(self.server, router_object())
        router = RouterProcess(self.server, args=("--haproxy", "/nonexistent/haproxy"))
        self.addCleanup(router.remove)
        router.start(wait=False)
        self.assertEqual(router.process.wait(60), 1)
        self.assertIn("apt-get install haproxy", router.log_text())

    def test_wrong_flags(self):
        for args, words in ((("--router", "edge", "--http-listen", "x"), "--http-listen"),
                            (("--router", "edge", "--drain", "9h"), "--drain"),
                            (("--router", "Edge!"), "--router"), ((), "--router")):
            with self.subTest(args):
                result = subprocess.run([BINARY, "router", "--kubeconfig", self.server.kubeconfig, *args],
                                        capture_output=True, text=True, timeout=60)
                self.assertEqual(result.returncode, 2)
                self.assertIn(words, result.stderr)


if __name__ == "__main__":
    harness.main()
