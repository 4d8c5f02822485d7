#!/usr/bin/env python3
"""A hub follows another Fairlead over HTTPS: each way to log in, changes, loss, silence, return, and the end."""

import base64
import signal
import time
import unittest

from harness import Fairlead, main, until

GATEWAYS = "/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways"
ROUTES = "/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes"
CLUSTERS = "/apis/fairlead.dev/v1/clusters"
SECRETS = "/api/v1/namespaces/default/secrets"
MERGE = {"Content-Type": "application/merge-patch+json"}


HUB_ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: fairlead-hub}
rules:
- {apiGroups: [gateway.networking.k8s.io], resources: [gateways, httproutes], verbs: [list, watch]}
- {apiGroups: [""], resources: [namespaces], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: fairlead-hub}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: fairlead-hub}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: hub}]
"""


def encoded(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def gateway(addresses=()):
    return {
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "shop"},
        "spec": {"gatewayClassName": "x", "listeners": [
            {"name": "web", "port": 80, "protocol": "HTTP", "hostname": "*.example.com"}]},
        "status": {"addresses": [{"type": "IPAddress", "value": each} for each in addresses]},
    }


def route(name, host):
    return {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": name},
            "spec": {"parentRefs": [{"name": "shop"}], "hostnames": [host]}}


class ClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.hub = Fairlead().start()
        cls.spoke = Fairlead("--roles", "api").start()
        cls.make(cls.hub, GATEWAYS, gateway())
        cls.make(cls.spoke, GATEWAYS, gateway())
        cls.report("192.0.2.1")

    @classmethod
    def tearDownClass(cls):
        cls.hub.remove()
        cls.spoke.remove()

    @staticmethod
    def make(server, path, body):
        status, _, answer = server.request("POST", path, body)
        assert status == 201, answer
        return answer

    @classmethod
    def report(cls, *addresses):
        """As the controller of the spoke's Gateways would."""
        status, _, answer = cls.spoke.request("PATCH", GATEWAYS + "/shop/status", {
            "status": gateway(addresses)["status"]}, MERGE)
        assert status == 200, answer

    def credentials(self, **data):
        self.hub.request("DELETE", SECRETS + "/spoke")
        self.make(self.hub, SECRETS, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "spoke"},
                                      "data": {key: encoded(value) for key, value in data.items()}})

    def connect(self, grace="3s"):
        self.make(self.hub, CLUSTERS, {
            "apiVersion": "fairlead.dev/v1", "kind": "Cluster", "metadata": {"name": "spoke"},
            "spec": {"server": self.spoke.url, "gracePeriod": grace,
                     "credentials": {"name": "spoke", "namespace": "default"}}})
        self.addCleanup(self.disconnect)

    def disconnect(self):
        self.hub.request("DELETE", CLUSTERS + "/spoke")
        until(lambda: self.hub.request("GET", CLUSTERS + "/spoke")[0] == 404, "the Cluster goes")

    def pki(self, name):
        return (self.spoke.data / "pki" / name).read_bytes()

    def condition(self, kind):
        _, _, cluster = self.hub.request("GET", CLUSTERS + "/spoke")
        found = [each for each in cluster.get("status", {}).get("conditions", []) if each["type"] == kind]
        return f"{found[0]['status']} {found[0]['reason']}: {found[0]['message']}" if found else ""

    def addresses(self):
        _, _, found = self.hub.request("GET", GATEWAYS + "/shop")
        return [each["value"] for each in found.get("status", {}).get("addresses", [])]

    def routes(self):
        _, _, found = self.hub.request("GET", GATEWAYS + "/shop")
        return {each["name"]: each["attachedRoutes"] for each in found.get("status", {}).get("listeners", [])}

    def wait_for(self, kind, text, seconds=30):
        until(lambda: self.condition(kind).startswith(text), f"{kind} {text}, it is {self.condition(kind)}", seconds)

    def test_every_way_to_log_in(self):
        token = self.spoke.cli("token", "create", "--user", "hub", "--ttl", "1h").stdout.strip()
        ways = {
            "kubeconfig": {"kubeconfig": self.spoke.kubeconfig.read_text()},
            "certificate": {"ca.crt": self.pki("ca.crt"), "tls.crt": self.pki("admin.crt"), "tls.key": self.pki("admin.key")},
            "token": {"ca.crt": self.pki("ca.crt"), "token": token},
            "not verified": {"insecure-skip-tls-verify": "true", "token": token},
        }
        self.credentials(**ways["kubeconfig"])
        self.connect()
        self.wait_for("Connected", "True")
        self.credentials(**ways["token"])
        self.wait_for("Connected", "False Unreachable: cannot list gateways.gateway.networking.k8s.io: HTTP 403")
        self.spoke.kubectl("apply", "-f", "-", stdin=HUB_ROLE)  # no more rights than it needs
        for name, data in ways.items():
            with self.subTest(name):
                self.credentials(**{"ca.crt": self.pki("ca.crt"), "token": "wrong"})
                self.wait_for("Connected", "False Unreachable: cannot list gateways.gateway.networking.k8s.io: HTTP 401")
                self.credentials(**data)
                self.wait_for("Connected", "True")
        self.credentials(token=token)  # no public authority has signed the spoke's certificate
        self.wait_for("Connected", "False Unreachable")
        self.hub.request("DELETE", SECRETS + "/spoke")
        self.wait_for("Connected", "False SecretNotFound: there is no Secret default/spoke")

    def test_a_spoke_comes_changes_goes_and_returns(self):
        self.credentials(kubeconfig=self.spoke.kubeconfig.read_text())
        self.connect()
        until(lambda: self.addresses() == ["spoke/192.0.2.1"], "the address of the spoke")
        self.assertEqual(self.routes(), {"spoke.web": 0})
        self.make(self.spoke, ROUTES, route("a", "a.example.com"))
        self.make(self.spoke, ROUTES, route("b", "b.example.org"))
        began = time.monotonic()
        until(lambda: self.routes() == {"spoke.web": 1}, "the route that fits")
        print(f"a route of the spoke is counted within {time.monotonic() - began:.3f} s")
        self.report("192.0.2.2", "192.0.2.3")
        until(lambda: self.addresses() == ["spoke/192.0.2.2", "spoke/192.0.2.3"], "other addresses")
        self.assertIn("spoke", self.hub.kubectl("get", "clusters").stdout)

        self.spoke.kill()
        self.wait_for("Connected", "False Unreachable: cannot list")
        self.wait_for("Stale", "True NotHeard")
        self.assertEqual(self.addresses(), ["spoke/192.0.2.2", "spoke/192.0.2.3"], "what is known stays")
        metrics = self.hub.request("GET", "/metrics")[2].decode()
        self.assertIn('fairlead_cluster_stale{cluster="spoke"} 1', metrics)

        # The hub itself starts anew meanwhile: it knows no more, and forgets nothing.
        self.hub.kill()
        self.hub.start()
        time.sleep(1)
        self.assertEqual(self.addresses(), ["spoke/192.0.2.2", "spoke/192.0.2.3"])
        self.assertTrue(self.condition("Stale").startswith("True"))

        self.spoke.start()
        self.report("192.0.2.4")
        until(lambda: self.addresses() == ["spoke/192.0.2.4"], "the spoke is followed again", 60)
        self.wait_for("Connected", "True")
        self.wait_for("Stale", "False")
        names = {each["reason"] for each in self.hub.request("GET", "/api/v1/namespaces/default/events")[2]["items"]
                 if each["involvedObject"]["name"] == "spoke"}
        self.assertLessEqual({"Connected", "Lost", "Stale"}, names)
        self.disconnect()
        until(lambda: self.addresses() == [] and self.routes() == {}, "its entries go with it")

    def test_a_spoke_that_hangs_is_noticed(self):
        self.credentials(kubeconfig=self.spoke.kubeconfig.read_text())
        self.connect()
        self.wait_for("Connected", "True")
        known = until(self.addresses, "the addresses of the spoke")
        self.spoke.process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        try:
            self.wait_for("Connected", "False Unreachable", 60)
            noticed = time.monotonic() - began
            print(f"a spoke that hangs is noticed within {noticed:.1f} s")
            self.assertLess(noticed, 35)
            self.wait_for("Stale", "True")
            self.assertEqual(self.addresses(), known)
            status, _, _ = self.hub.request("GET", "/readyz")
            self.assertEqual(status, 200, "the hub does not wait for it")
        finally:
            self.spoke.process.send_signal(signal.SIGCONT)
        self.wait_for("Connected", "True", 60)
        self.wait_for("Stale", "False")


if __name__ == "__main__":
    main()
