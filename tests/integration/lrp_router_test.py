#!/usr/bin/env python3
"""Routes of LRPs through our own router: kubectl applies the example of Routing 2.0, HAProxy answers by it, and instances
crash, move and are evacuated while clients ask."""

import json
import re
import socket
import subprocess
import tempfile
import urllib.request

import harness
from harness import ServerTest, until
from router_test import Load, route_object
from router_world import Backend, RouterProcess, apply, free_ports, make_certificate, router_object, service_objects

EXAMPLE = [{"port": 4000, "routes": ["foo.com", "bar.com"]},
           {"port": 5000, "routes": ["admin.foo.com"], "route_to_instances": True}]


def desired(name, routes, annotations=None, labels=None, instances=2, ports=(4000, 5000)):
    return {"apiVersion": "fairlead.dev/v1", "kind": "DesiredLRP",
            "metadata": {"name": name, "namespace": "default", "annotations": annotations or {}, "labels": labels or {}},
            "spec": {"process_guid": name, "domain": "apps", "rootfs": "preloaded:cflinuxfs4", "instances": instances,
                     "ports": list(ports), "routes": {"cf-router": routes}}}


def actual(name, index, ports, state="RUNNING", evacuating=False, guid=None, since=1):
    """`ports`: of the container -> of the host (127.0.0.1)."""
    spec = {"process_guid": name, "domain": "apps", "index": index, "state": state, "evacuating": evacuating,
            "since": since}
    if state == "RUNNING":
        spec |= {"instance_guid": guid or f"{name}-{index}-{since}", "cell_id": "cell-1", "address": "127.0.0.1",
                 "ports": [{"container_port": c, "host_port": h} for c, h in ports.items()]}
    return {"apiVersion": "fairlead.dev/v1", "kind": "ActualLRP",
            "metadata": {"name": f"{name}.{index}{'.evacuating' if evacuating else ''}", "namespace": "default"}, "spec": spec}


class LrpRouterTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        apply(cls.server, router_object(), router_object("blue", "blue.test", label="shard=blue"))
        cls.router = RouterProcess(cls.server).start()
        cls.addClassCleanup(cls.router.remove)

    def backend(self, name):
        backend = Backend(name)
        self.addCleanup(backend.stop)
        return backend

    def make(self, name, routes, count=1, **more):
        """An LRP with that many instances, each with a back end "NAME-INDEX-PORT" per port."""
        backends = [{port: self.backend(f"{name}-{index}-{port}") for port in (4000, 5000)} for index in range(count)]
        self.put(desired(name, routes, instances=count, **more),
                 *(actual(name, index, {port: b.port for port, b in each.items()}) for index, each in enumerate(backends)))
        return backends

    def put(self, *objects):
        """Replaces what is there: an apply would keep the fields of a state that is over."""
        self.server.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-",
                            stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def all_of(self, host, wanted, **args):
        until(lambda: {self.router.answers(host, **args)[1]["backend"] for _ in range(10)} == wanted, f"{host} leads to {wanted}")

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.router.metrics}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def message(self):
        return json.loads(self.kubectl("get", "routerinstance", self.router.name, "-o", "json").stdout)["status"].get("message", "")

    def told(self, name):
        """Status, reason and message of the condition CfRouter."""
        status = json.loads(self.kubectl("get", "desiredlrp", name, "-o", "json").stdout).get("status", {})
        found = [(each["status"], each["reason"], each["message"]) for each in status.get("conditions", []) if each["type"] == "CfRouter"]
        return found[0] if found else (None, None, None)

    def test_an_instance_that_takes_tls_alone_is_reached_by_it(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        backend = Backend("sealed", certificate=make_certificate(folder.name, "instance"))
        self.addCleanup(backend.stop)
        lrp = actual("sealed", 0, {})
        lrp["spec"]["ports"] = [{"container_port": 4000, "host_port": 0, "host_tls_proxy_port": backend.port}]
        self.put(desired("sealed", [{"port": 4000, "routes": ["sealed.com"]}], instances=1), lrp)
        self.all_of("sealed.com", {"sealed"})

    def test_an_instance_that_kubectl_makes_without_since_takes_an_address_over(self):
        backend = self.backend("shared")
        self.put(desired("older", [{"port": 4000, "routes": ["older.com"]}], instances=1), actual("older", 0, {4000: backend.port}))
        self.all_of("older.com", {"shared"})
        newer = actual("newer", 0, {4000: backend.port})
        del newer["spec"]["since"]
        self.put(desired("newer", [{"port": 4000, "routes": ["newer.com"]}], instances=1), newer)
        self.all_of("newer.com", {"shared"})
        self.router.answers("older.com", 503)  # leads to somebody else's instance no more
        made = json.loads(self.kubectl("get", "actuallrp", "newer.0", "-o", "json").stdout)
        self.assertGreater(made["spec"]["since"], 1_700_000_000 * 10**9)

    def test_the_example_of_routing_2(self):
        self.make("example", EXAMPLE, 2)
        self.all_of("foo.com", {"example-0-4000", "example-1-4000"})
        self.all_of("bar.com", {"example-0-4000", "example-1-4000"})
        self.all_of("admin.foo.com", {"example-0-5000", "example-1-5000"})
        self.all_of("0.admin.foo.com", {"example-0-5000"})
        self.all_of("1.admin.foo.com", {"example-1-5000"})
        self.router.answers("2.admin.foo.com", status=404)
        self.router.answers("0.foo.com", status=404)
        self.router.answers("foo.com", scheme="https", args=("-k",))
        until(lambda: re.search(r'^fairlead_route_requests_total\{code="2xx",namespace="",route="lrp/foo.com"\} [1-9]',
                                self.metrics(), re.M), "requests are counted by name")
        self.assertIn("route=lrp/foo.com ", self.router.access_log.read_text())

    def test_names_come_and_go_without_reloads(self):
        proxy = self.router.haproxy_pid()
        self.make("coming", [{"port": 4000, "hostnames": ["coming.com", "coming.com/deep"]}])
        self.router.answers("coming.com", backend="coming-0-4000", path="/deep/er")
        self.put(desired("coming", [{"port": 5000, "hostnames": ["gone.com", "coming.com"]}], instances=1))
        self.router.answers("gone.com", backend="coming-0-5000")
        self.router.answers("coming.com", backend="coming-0-5000")
        self.kubectl("delete", "desiredlrp", "coming")
        self.router.answers("gone.com", status=404)
        self.assertEqual(self.router.haproxy_pid(), proxy)

    def test_a_crashed_instance_gets_nothing(self):
        self.make("crash", [{"port": 4000, "routes": ["crash.com"]}], 2)
        self.all_of("crash.com", {"crash-0-4000", "crash-1-4000"})
        self.put(actual("crash", 0, {}, "CRASHED"))
        self.all_of("crash.com", {"crash-1-4000"})
        self.put(actual("crash", 1, {}, "CRASHED"))
        self.router.answers("crash.com", status=503)

    def test_instances_move_without_a_failed_request(self):
        old, = self.make("moving", [{"port": 4000, "routes": ["moving.com"]}])
        self.router.answers("moving.com", backend="moving-0-4000")
        load = Load(self.router, "moving.com")
        load.start()
        for round_ in range(2, 6):
            # As Diego does: the evacuating twin serves until it goes, beside the new one as soon as that runs.
            new = self.backend(f"moved-{round_}")
            self.put(actual("moving", 0, {4000: old[4000].port}, evacuating=True, since=round_ - 1))
            self.put(actual("moving", 0, {}, "UNCLAIMED", since=round_))
            self.put(actual("moving", 0, {4000: new.port}, since=round_))
            before = "moving-0-4000" if round_ == 2 else f"moved-{round_ - 1}"
            self.all_of("moving.com", {before, f"moved-{round_}"})
            self.kubectl("delete", "actuallrp", "moving.0.evacuating")
            self.all_of("moving.com", {f"moved-{round_}"})
            old = {4000: new}
        asked = load.asked
        until(lambda: load.asked > asked + 20, "load")
        self.assertEqual(load.end(), [])

    def test_the_api_goes_and_comes_back(self):
        self.make("firm", [{"port": 4000, "routes": ["firm.com"]}])
        self.router.answers("firm.com")
        load = Load(self.router, "firm.com")
        load.start()
        self.server.kill()
        asked = load.asked
        until(lambda: load.asked > asked + 20, "answers without the API")
        self.router.kill()
        self.router.start(wait=False)
        asked = load.asked
        until(lambda: load.asked > asked + 20, "answers without API and agent")
        self.server.start()
        self.make("after", [{"port": 4000, "routes": ["after.com"]}])
        self.router.answers("after.com")
        self.assertEqual(load.end(), [])

    def test_labels_choose_the_router(self):
        self.make("shard", [{"port": 4000, "routes": ["shard.com"]}])
        self.router.answers("shard.com")
        self.kubectl("label", "desiredlrp", "shard", "shard=blue")
        self.router.answers("shard.com", status=404)
        blue = RouterProcess(self.server, router="blue", name="blue-1").start()
        self.addCleanup(blue.remove)
        blue.answers("shard.com", backend="shard-0-4000")
        self.kubectl("label", "desiredlrp", "shard", "shard-")
        self.router.answers("shard.com")
        blue.answers("shard.com", status=404)

    def test_a_route_has_its_host_first(self):
        self.make("second", [{"port": 4000, "routes": ["claimed.example.com"]}])
        self.router.answers("claimed.example.com", backend="second-0-4000")
        first = self.backend("first")
        apply(self.server, *service_objects("first", first), route_object("first", "claimed.example.com", "first"))
        self.router.answers("claimed.example.com", backend="first")
        until(lambda: re.search(r"^fairlead_router_lrp_names_lost 1$", self.metrics(), re.M), "it is told")
        until(lambda: "a Route has claimed.example.com (router edge) and goes first there" in self.condition("second"), "and to the LRP")
        load = Load(self.router, "claimed.example.com")
        load.start()
        self.kubectl("delete", "route", "first")
        self.router.answers("claimed.example.com", backend="second-0-4000")
        self.assertEqual(load.end(), [])
        until(lambda: "a Route has" not in self.condition("second"), "that it is over")

    def condition(self, name):
        status = json.loads(self.kubectl("get", "desiredlrp", name, "-o", "json").stdout).get("status", {})
        return next((each["message"] for each in status.get("conditions", []) if each["type"] == "CfRouter"), "")

    def test_http2(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        port, = free_ports(1)
        where = folder.name
        with open(f"{where}/nginx.conf", "w") as file:  # speaks nothing but HTTP/2, without TLS
            file.write(f"daemon off; master_process off; pid {where}/pid; error_log {where}/log;\nevents {{}}\nhttp {{ access_log off;\n"
                       + "".join(f"{each}_temp_path {where}/{each};\n" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
                       + f"server {{ listen 127.0.0.1:{port} http2; location / {{ return 200 \"by $server_protocol\"; }} }} }}\n")
        nginx = subprocess.Popen(["nginx", "-p", where, "-e", f"{where}/log", "-c", f"{where}/nginx.conf"])
        self.addCleanup(nginx.wait)
        self.addCleanup(nginx.terminate)
        self.put(desired("fast", [{"port": 4000, "routes": ["fast.com"], "protocol": "http2"}], instances=1),
                 actual("fast", 0, {4000: port}))
        ask = lambda *more: subprocess.run(
            ["curl", "-sS", "--max-time", "5", "-w", " to %{http_version}", "--resolve", f"fast.com:{self.router.http}:127.0.0.1", *more,
             f"http://fast.com:{self.router.http}/"], capture_output=True, text=True).stdout
        until(lambda: ask("--http1.1") == "by HTTP/2.0 to 1.1", "asked by HTTP/2 for a client of HTTP/1.1")
        self.assertEqual("by HTTP/2.0 to 2", ask("--http2-prior-knowledge"))

    def test_ssl(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        ca = make_certificate(folder.name, "ca")
        own = make_certificate(folder.name, "safe.com", ca)
        trust = ("--cacert", str(ca[0]))
        self.make("safe", [{"port": 4000, "routes": ["safe.com"], "ssl": True}], annotations={"fairlead.dev/tls-secret": "safe"})
        until(lambda: "there is no secret default/safe" in self.message(), "the instance tells what is missing")
        until(lambda: self.told("safe")[:2] == ("False", "InvalidCertificate") and "no secret default/safe" in self.told("safe")[2],
              "the LRP is told")
        self.kubectl("create", "secret", "tls", "safe", f"--cert={own[0]}", f"--key={own[1]}")
        self.router.answers("safe.com", backend="safe-0-4000", scheme="https", args=trust)
        self.router.answers("safe.com", status=302)
        self.kubectl("annotate", "desiredlrp", "safe", "fairlead.dev/insecure-policy=None")
        self.router.answers("safe.com", status=404)
        self.router.answers("safe.com", backend="safe-0-4000", scheme="https", args=trust)
        self.assertNotIn("safe", self.message())
        until(lambda: self.told("safe") == ("True", "Accepted", "1 name to port 4000"), "the LRP is told again")

    def test_its_role_is_all_it_needs(self):
        apply(self.server, router_object("narrow", "narrow.test", label="shard=narrow"), {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "narrow"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "fairlead-router"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "narrow-1"}]})
        login = self.server.data / "narrow.kubeconfig"
        login.write_text(self.server.cli("token", "create", "--user", "narrow-1", "-o", "kubeconfig").stdout)
        router = RouterProcess(self.server, router="narrow", name="narrow-1", kubeconfig=login).start()
        self.addCleanup(router.remove)
        self.make("narrow", [{"port": 4000, "routes": ["narrow.com"]}], labels={"shard": "narrow"})
        router.answers("narrow.com", backend="narrow-0-4000")


if __name__ == "__main__":
    harness.main()
