#!/usr/bin/env python3
"""Health checks of a DNSPolicy: real backends that die, hang and return, and what dig is told meanwhile. And the apex of a
zone, whose addresses come from a resolver."""

import signal
import subprocess
import sys
import time
import unittest

from dns_tools import free_port, short
from harness import Fairlead, main, until

GATEWAYS = "/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways"
POLICIES = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnspolicies"
MERGE = {"Content-Type": "application/merge-patch+json"}
INTERVAL, TIMEOUT, THRESHOLD = 2, 1.5, 2
IN_TIME = INTERVAL * THRESHOLD + 2

BACKEND = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        good = self.headers["Host"].startswith("www.shop.example.com") and self.headers["X-Check"] == "yes"
        self.send_response(204 if good and self.path == "/healthz" else 404)
        self.end_headers()
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
"""


class Backend:
    def __init__(self, address, port):
        self.address, self.port = address, port
        self.start()

    def start(self):
        self.process = subprocess.Popen([sys.executable, "-c", BACKEND, self.address, str(self.port)])

    def kill(self):
        self.process.kill()
        self.process.wait()


def listener(name, host):
    return {"name": name, "port": 80, "protocol": "HTTP", "hostname": host}


def gateway(name, listeners, addresses):
    """A Gateway with its status; `addresses` is cluster -> (type, value)."""
    return {
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": name},
        "spec": {"gatewayClassName": "x", "listeners": listeners},
        "status": {
            "addresses": [{"type": f"kuadrant.io/MultiCluster{kind}Address", "value": f"{cluster}/{value}"}
                          for cluster, (kind, value) in addresses.items()],
            "listeners": [{"name": f"{cluster}.{each['name']}", "attachedRoutes": 1, "supportedKinds": [],
                           "conditions": [{"type": "Programmed", "status": "True", "reason": "Programmed", "message": "",
                                           "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
                          for cluster in addresses for each in listeners],
        },
    }


WORLD = """
apiVersion: kuadrant.io/v1alpha1
kind: ManagedZone
metadata: {name: shop, namespace: default}
spec: {domainName: shop.example.com}
---
apiVersion: kuadrant.io/v1alpha1
kind: ManagedZone
metadata: {name: other, namespace: default}
spec: {domainName: other.example.com}
---
apiVersion: fairlead.dev/v1
kind: Cluster
metadata: {name: one, labels: {kuadrant.io/lb-attribute-geo-code: IE}}
---
apiVersion: fairlead.dev/v1
kind: Cluster
metadata: {name: two, labels: {kuadrant.io/lb-attribute-geo-code: IE}}
"""


class HealthCheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        port = free_port()
        cls.at = ("127.0.0.1", port)
        cls.server = Fairlead("--dns-listen", f"127.0.0.1:{port}", "--resolver", f"127.0.0.1:{port}").start()
        backend_port = free_port("127.0.0.2")
        cls.backends = {each: Backend(each, backend_port) for each in ("127.0.0.2", "127.0.0.3")}
        cls.server.kubectl("apply", "-f", "-", stdin=WORLD)
        cls.make_gateway(gateway("web", [listener("www", "www.shop.example.com")],
                                 {"one": ("IP", "127.0.0.2"), "two": ("IP", "127.0.0.3")}))
        cls.policy("web", backend_port)

    @classmethod
    def tearDownClass(cls):
        for backend in cls.backends.values():
            backend.kill()
        cls.server.remove()

    @classmethod
    def make_gateway(cls, made):
        status, _, answer = cls.server.request("POST", GATEWAYS, made)
        assert status == 201, answer
        status, _, answer = cls.server.request("PATCH", f"{GATEWAYS}/{made['metadata']['name']}/status",
                                               {"status": made["status"]}, MERGE)
        assert status == 200, answer

    @classmethod
    def policy(cls, name, port):
        check = {"protocol": "HTTP", "port": port, "path": "/healthz", "interval": f"{INTERVAL}s",
                 "timeout": f"{int(TIMEOUT * 1000)}ms", "failureThreshold": THRESHOLD,
                 "additionalHeaders": [{"name": "X-Check", "value": "yes"}]}
        spec = {"targetRef": {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": name},
                "routingStrategy": "loadbalanced", "loadBalancing": {"geo": {"defaultGeo": "IE"}, "weighted": {"defaultWeight": 100}}}
        if port:
            spec["healthCheck"] = check
        status, _, answer = cls.server.request("POST", POLICIES, {
            "apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSPolicy", "metadata": {"name": name}, "spec": spec})
        assert status == 201, answer

    def answers(self):
        """Which addresses the host is answered with, over some questions."""
        return {short(self.at, "www.shop.example.com", "A")[0] for _ in range(6)}

    def metric(self, line):
        return line in self.server.request("GET", "/metrics")[2].decode()

    def dies(self, how, address):
        """How long after its death an address was answered for the last time."""
        began = last = time.monotonic()
        how()
        since = 0
        while since < 40:  # half of the answers, if it were not found out
            self.assertLess(time.monotonic() - began, 60, "it never leaves the answers")
            asked = time.monotonic()
            if short(self.at, "www.shop.example.com", "A")[0] == address:
                last, since = asked, 0
            else:
                since += 1
        self.assertTrue(self.metric('fairlead_health_targets{state="unhealthy"} 1'))
        print(f"left the answers after {last - began:.1f} s, {IN_TIME} s are allowed")
        return last - began

    def test_a_backend_that_is_killed_or_hangs_leaves_in_time_and_returns(self):
        until(lambda: self.metric('fairlead_health_targets{state="healthy"} 2'), "both are healthy")
        until(lambda: len({short(self.at, "www.shop.example.com", "A")[0] for _ in range(20)}) == 2, "both are answered")
        first = self.backends["127.0.0.2"]
        self.assertLess(self.dies(first.kill, "127.0.0.2"), IN_TIME)
        status = self.server.request("GET", f"{POLICIES}/web")[2]["status"]
        self.assertIn("connection refused", str(status))
        first.start()
        until(lambda: self.metric('fairlead_health_targets{state="healthy"} 2'), "it is back")

        second = self.backends["127.0.0.3"].process
        try:
            self.assertLess(self.dies(lambda: second.send_signal(signal.SIGSTOP), "127.0.0.3"), IN_TIME)
            self.assertIn("no answer within 1500ms", str(self.server.request("GET", f"{POLICIES}/web")[2]["status"]))
            # What was found out outlives the server.
            self.server.kill()
            self.server.start()
            until(lambda: short(self.at, "www.shop.example.com", "A"), "DNS answers again")
            self.assertEqual(self.answers(), {"127.0.0.2"}, "what was dead is not tried on clients first")
        finally:
            second.send_signal(signal.SIGCONT)
        until(lambda: self.metric('fairlead_health_targets{state="healthy"} 2'), "it goes on", 60)

    def test_the_apex_has_the_addresses_behind_a_host_name(self):
        record = {"apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord", "metadata": {"name": "lb"},
                  "spec": {"managedZone": {"name": "shop"}, "endpoints": [
                      {"dnsName": "lb.shop.example.com", "recordType": "A", "recordTTL": 5, "targets": ["192.0.2.7"]}]}}
        path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords"
        status, _, answer = self.server.request("POST", path, record)
        self.assertEqual(status, 201, answer)
        until(lambda: short(self.at, "lb.shop.example.com", "A") == ["192.0.2.7"], "the load balancer has an address")
        self.make_gateway(gateway("top", [listener("top", "other.example.com")], {"one": ("Hostname", "lb.shop.example.com")}))
        self.policy("top", None)
        until(lambda: short(self.at, "other.example.com", "A") == ["192.0.2.7"], "the apex has it")
        record["spec"]["endpoints"][0]["targets"] = ["192.0.2.8", "192.0.2.9"]
        status, _, answer = self.server.request("PATCH", f"{path}/lb", {"spec": record["spec"]}, MERGE)
        self.assertEqual(status, 200, answer)
        until(lambda: short(self.at, "other.example.com", "A") == ["192.0.2.8", "192.0.2.9"], "and follows")
        self.assertTrue(self.metric('fairlead_lookup_hosts{state="known"} 1'))
        # Gone behind the name: the last addresses stay.
        self.server.request("DELETE", f"{path}/lb")
        until(lambda: self.metric('fairlead_lookup_hosts{state="failing"} 1'), "the name has no address any more")
        self.assertEqual(short(self.at, "other.example.com", "A"), ["192.0.2.8", "192.0.2.9"])


if __name__ == "__main__":
    main()
