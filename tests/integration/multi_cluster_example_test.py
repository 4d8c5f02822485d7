#!/usr/bin/env python3
"""The example of docs/guides/multi-cluster.md, as it is: a hub, two clusters that it follows, one that is reported by
hand, a policy, a preview and a failover. And what its pages say about previews: nothing is written, who may ask."""

import json
import os
import re
import socket
import subprocess
import unittest

from harness import BINARY, ROOT, TOOLS, Fairlead, main, until

EXAMPLE = ROOT / "examples" / "multi-cluster"
PREVIEW = "/dns/preview?namespace=gateways"
MERGE = {"Content-Type": "application/merge-patch+json"}


def free_port(*hosts):
    """A port that is free on all of them, for TCP and UDP."""
    for _ in range(100):
        with socket.socket() as first:
            first.bind((hosts[0], 0))
            port = first.getsockname()[1]
        held = []
        try:
            for host in hosts:
                for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                    held.append(socket.socket(socket.AF_INET, kind))
                    held[-1].bind((host, port))
            return port
        except OSError:
            continue
        finally:
            for each in held:
                each.close()
    raise AssertionError("no port is free on all of " + ", ".join(hosts))


def sections(text):
    """Headline -> what stands below it."""
    parts = re.split(r"^== (.*)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


class ExampleTest(unittest.TestCase):
    def test_run(self):
        env = {**os.environ, "FAIRLEAD": str(BINARY), "KUBECTL": str(TOOLS / "kubectl"),
               "HUB_API": f"127.0.0.1:{free_port('127.0.0.1')}", "HUB_DNS": f"127.0.0.1:{free_port('127.0.0.1')}",
               "SPOKE_PORT": str(free_port("127.0.1.1", "127.0.1.2", "127.0.1.3"))}
        done = subprocess.run(["sh", EXAMPLE / "run.sh"], env=env, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = sections(done.stdout)
        find = lambda begin: next(text for head, text in said.items() if head.startswith(begin))

        places = dict(line.split()[::2] for line in find("Who gets what").strip().splitlines())
        self.assertEqual(places, {"Ireland": "127.0.1.1", "America": "127.0.1.2", "Australia": "127.0.1.3",
                                  "elsewhere": "127.0.1.1"})
        before = find("What a policy would do")
        self.assertIn("+ CNAME shop.example.com", before)
        self.assertRegex(before, r"IE +100% +\(no answer\) +100% -> 0%")
        table = find("The policy")
        self.assertRegex(table, r"dnspolicy\S+/web +web +shop.example.com +dublin,sydney,virginia +AU,IE\*,US +3/3")
        self.assertRegex(table, r"dnsrecord\S+/web-shop +shop.example.com +main +dublin,sydney,virginia +AU,IE,US")
        self.assertRegex(table, r"gateway\S+/web +multi-cluster +shop.example.com +dublin,sydney,virginia")
        walk = find("Why")
        for level in ("host shop.example.com", "load balancer lb-", "place IE ie.lb-", "cluster dublin"):
            self.assertIn(level, walk)
        self.assertRegex(walk, r"127\.0\.1\.1  healthy since \S+ \(\S+ ago\), HTTP 200")
        preview = find("What if America")
        self.assertRegex(preview, r"IE +0% +127\.0\.1\.1 +100%\n")
        self.assertRegex(preview, r"everywhere else +100% +127\.0\.1\.1 +100% -> 0%\n +127\.0\.1\.2 +0% -> 100%\n")
        death = find("Dublin dies")
        self.assertIn("dublin(down)", death)
        self.assertRegex(death, r"Ireland +192\.0\.2\.1 +127\.0\.1\.[23]\n")
        self.assertIn("DefaultGeoUnhealthy", death)
        seconds = int(re.search(r"after about (\d+) s", death).group(1))
        self.assertLess(seconds, 30, "2 s x 2 + 2 s, with room for a machine that is busy")


class PreviewTest(unittest.TestCase):
    """Over the API: a Gateway that is reported by hand, without checks."""

    @classmethod
    def setUpClass(cls):
        cls.server = Fairlead().start()
        cls.server.cli("apply", "-f", str(EXAMPLE / "hub.yaml"))
        cls.report("127.0.1.1", "127.0.1.2")
        for name, geo in (("dublin", "IE"), ("virginia", "US")):
            cls.server.request("POST", "/apis/fairlead.dev/v1/clusters", {
                "apiVersion": "fairlead.dev/v1", "kind": "Cluster",
                "metadata": {"name": name, "labels": {"kuadrant.io/lb-attribute-geo-code": geo}}})

    @classmethod
    def tearDownClass(cls):
        cls.server.remove()

    @classmethod
    def report(cls, *addresses):
        status = {"addresses": [{"type": "kuadrant.io/MultiClusterIPAddress", "value": f"{name}/{address}"}
                                for name, address in zip(("dublin", "virginia"), addresses)],
                  "listeners": [{"name": f"{name}.shop", "attachedRoutes": 1} for name in ("dublin", "virginia")]}
        code, _, body = cls.server.request(
            "PATCH", "/apis/gateway.networking.k8s.io/v1/namespaces/gateways/gateways/web/status", {"status": status}, MERGE)
        assert code == 200, body

    @staticmethod
    def policy(geo="IE", **spec):
        return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSPolicy", "metadata": {"name": "web"},
                "spec": {"targetRef": {"name": "web"}, "loadBalancing": {"geo": {"defaultGeo": geo}}, **spec}}

    def preview(self, *objects):
        code, _, body = self.server.request("POST", PREVIEW, {"objects": list(objects)})
        self.assertEqual(code, 200, body)
        return body

    def test_what_is_previewed_is_what_comes(self):
        promised = self.preview(self.policy())["hosts"][0]
        wanted = sorted((each["endpoint"]["dnsName"], each["endpoint"].get("setIdentifier", ""),
                         tuple(each["endpoint"]["targets"])) for each in promised["create"])
        _, _, records = self.server.request("GET", "/apis/kuadrant.io/v1alpha1/namespaces/gateways/dnsrecords")
        self.assertEqual(records["items"], [], "a preview writes nothing")
        self.server.cli("apply", "-n", "gateways", "-f", "-", stdin=json.dumps(self.policy()))

        def endpoints():
            _, _, found = self.server.request("GET", "/apis/kuadrant.io/v1alpha1/namespaces/gateways/dnsrecords")
            return [each for item in found["items"] for each in item["spec"]["endpoints"]]
        made = until(endpoints, "the record")
        self.assertEqual(sorted((each["dnsName"], each.get("setIdentifier", ""), tuple(each["targets"])) for each in made),
                         wanted)
        again = self.server.cli("plan", "-n", "gateways", "-f", "-", stdin=json.dumps(self.policy()))
        self.assertEqual((again.returncode, again.stdout), (0, "Nothing would change, 1 host answers as before.\n"))
        change = self.server.cli("plan", "-n", "gateways", "-f", "-", "-o", "json", check=False,
                                 stdin=json.dumps(self.policy("US")))
        self.assertEqual(change.returncode, 2, change.stderr)
        moves = {move["place"]: move["moved"] for move in json.loads(change.stdout)["previews"][0]["hosts"][0]["moves"]}
        self.assertEqual(moves, {"IE": 0, "US": 0, "*": 1})

    def test_a_wrong_manifest_is_an_error(self):
        wrong = self.server.cli("plan", "-n", "gateways", "-f", "-", check=False,
                                stdin=json.dumps(self.policy(routingStrategy="other")))
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("standard input", wrong.stderr)
        self.assertIn("spec.routingStrategy", wrong.stderr)

    def test_who_may_ask(self):
        body = {"objects": [self.policy()]}
        path = "/apis/rbac.authorization.k8s.io/v1"
        for user, rules, expected in (
                ("nobody", [], 403),
                ("path-only", [{"nonResourceURLs": ["/dns/preview"], "verbs": ["post"]}], 403),
                ("reader", [{"nonResourceURLs": ["/dns/preview"], "verbs": ["post"]},
                            {"apiGroups": ["kuadrant.io"], "resources": ["dnspolicies", "dnsrecords"], "verbs": ["list"]}],
                 200)):
            self.server.request("POST", f"{path}/clusterroles", {
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": user},
                "rules": rules})
            self.server.request("POST", f"{path}/clusterrolebindings", {
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": user},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]})
            code, _, said = self.server.request("POST", PREVIEW, body, {"Impersonate-User": user})
            self.assertEqual(code, expected, (user, said))
        code, _, _ = self.server.request("GET", PREVIEW)
        self.assertEqual(code, 405)


if __name__ == "__main__":
    main()
