#!/usr/bin/env python3
"""Several namespaces on one balancer: the oldest that names a host has it with all its paths, a default backend is for its own
hosts and for those of nobody, and a host has TLS on all its paths or on none. The server's own HAProxy and nginx; kubectl, curl."""

import json
import subprocess

import harness
from balancer_world import backend, balancer_object, ingress_object, own_source
from claims_world import Claims
from harness import ServerTest, until
from router_world import Backend, apply, service_objects

HTTP, HTTPS = 18080, 18443


class Tenants(Claims):
    kind = address = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        apply(cls.server, balancer_object("shared", cls.kind, address=cls.address, http=HTTP, https=HTTPS))
        for name in ("shop", "blog"):
            member = Backend(name)
            cls.addClassCleanup(member.stop)
            apply(cls.server, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            apply(cls.server, *service_objects("web", member, namespace=name))
        until(lambda: json.loads(cls.server.kubectl("get", "lb", "shared", "-o", "json").stdout)["status"].get("phase") == "Running",
              "the balancer runs")

    def make(self, namespace, name, rules, **more):
        """Younger than all others: times of creation have seconds."""
        newest = max([i["metadata"]["creationTimestamp"]
                      for i in json.loads(self.kubectl("get", "ingress", "-A", "-o", "json").stdout)["items"]], default="")

        def younger():
            self.kubectl("delete", "ingress", name, "-n", namespace, "--ignore-not-found")
            apply(self.server, ingress_object(name, rules, namespace=namespace, loadBalancer=own_source("shared", self.kind), **more))
            return self.get("ingress", name, namespace)["metadata"]["creationTimestamp"] > newest
        until(younger, f"{namespace}/{name} is the youngest")
        self.addCleanup(self.kubectl, "delete", "ingress", name, "-n", namespace, "--ignore-not-found")

    def says(self, namespace, name, text):
        def said():
            condition = self.condition(self.get("ingress", name, namespace), "Programmed")
            whole = f"{condition.get('status')} {condition.get('reason')}: {condition.get('message')}"
            return text in whole and whole
        return until(said, f"ingress {namespace}/{name} says {text}")

    def curl(self, host, path="/", scheme="http"):
        port = HTTP if scheme == "http" else HTTPS
        result = subprocess.run(
            ["curl", "-sSk", "-o", "-", "-w", "\n%{http_code}", "--max-time", "10", "--resolve", f"{host}:{port}:{self.address}",
             f"{scheme}://{host}:{port}{path}"], capture_output=True, text=True, timeout=60)
        body, _, code = result.stdout.rpartition("\n")
        return json.loads(body)["backend"] if code == "200" else int(code or 0)

    def answers(self, who, host, path="/", scheme="http"):
        until(lambda: self.curl(host, path, scheme) == who, f"{scheme}://{host}{path} is answered by {who}, not {self.curl(host, path, scheme)}")

    def test_the_oldest_namespace_has_a_host_with_all_its_paths(self):
        self.make("shop", "web", {"shop.test": [("/a", "Prefix", "web")]})
        self.make("blog", "take", {"shop.test": [("/b", "Prefix", "web")], "blog.test": [("/", "Prefix", "web")]})
        self.answers("blog", "blog.test")
        self.answers("shop", "shop.test", "/a")
        self.says("blog", "take", "False HostAlreadyClaimed: shop.test on this balancer is of namespace shop: its older Ingress shop/web has it")
        self.says("shop", "web", "True InForce")
        self.assertEqual(self.curl("shop.test", "/b"), 404)
        self.kubectl("delete", "ingress", "web", "-n", "shop")
        self.answers("blog", "shop.test", "/b")
        self.says("blog", "take", "True InForce")

    def test_a_default_backend_does_not_answer_for_hosts_of_others(self):
        self.make("shop", "named", {"named.test": [("/a", "Prefix", "web")]})
        self.make("blog", "catch", {}, defaultBackend=backend("web"))
        self.answers("blog", "nobody.test")
        self.answers("shop", "named.test", "/a")
        self.assertEqual(self.curl("named.test", "/unknown"), 404)
        self.make("shop", "rest", {"named.test": [("/c", "Prefix", "web")]}, defaultBackend=backend("web"))
        self.answers("shop", "named.test", "/unknown")
        self.says("shop", "rest", "True InForce")
        self.assertEqual(self.curl("nobody.test"), "blog", "hosts of nobody stay with whoever has them")

    def test_a_host_has_tls_on_all_its_paths(self):
        self.make("shop", "plain", {"safe.test": [("/plain", "Prefix", "web")], "open.test": [("/", "Prefix", "web")]})
        self.answers("shop", "safe.test", "/plain")
        self.make("shop", "safe", {"safe.test": [("/safe", "Prefix", "web")]}, tls=[{"hosts": ["safe.test"]}])
        for path in ("/plain", "/safe"):
            self.answers(302, "safe.test", path)
            self.answers("shop", "safe.test", path, "https")
        self.assertEqual(self.curl("open.test"), "shop", "other hosts are as they were")
        self.kubectl("delete", "ingress", "safe", "-n", "shop")
        self.answers("shop", "safe.test", "/plain")


class OnHaproxy(Tenants, ServerTest):
    kind, address = "Haproxy", "127.0.52.1"


class OnNginx(Tenants, ServerTest):
    kind, address = "Nginx", "127.0.52.2"


if __name__ == "__main__":
    harness.main()
