#!/usr/bin/env python3
"""The CLI against the real server: what a person types in the first five minutes, and what goes wrong there."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import BINARY, Fairlead, ServerTest, main, until

ROUTE = """
apiVersion: route.openshift.io/v1
kind: Route
metadata:
  name: {name}
  namespace: {namespace}
spec:
  host: {host}
  to:
    name: web
"""


def manifest(name="shop", namespace="default", host="shop.example.com"):
    return ROUTE.format(name=name, namespace=namespace, host=host)


def fairlead(*args, env=None):
    return subprocess.run([BINARY, *args], capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})})


class Help(unittest.TestCase):
    def test_the_version_is_told_without_a_server(self):
        with tempfile.TemporaryDirectory() as empty:
            done = fairlead("version", env={"HOME": empty, "XDG_STATE_HOME": empty, "KUBECONFIG": ""})
        self.assertRegex(done.stdout, r"Client Version: \d+\.\d+\.\d+")
        self.assertIn("there is no kubeconfig at", done.stderr)
        self.assertEqual(1, done.returncode)

    def test_every_help_teaches_by_example(self):
        for command in ((), ("serve",), ("apply",), ("get",), ("describe",), ("delete",), ("watch",), ("wait",), ("version",),
                        ("completion",)):
            done = fairlead(*command, "--help")
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn("fairlead " + " ".join(command), done.stdout)
            self.assertIn("xample", done.stdout, command)

    def test_wrong_usage_is_2(self):
        for args in (("nonsense",), ("get",), ("serve", "--no-such-flag"), ("wait", "route/a"),
                     ("serve", "--store", "floppy:"), ("serve", "--log-level", "loud")):
            self.assertEqual(2, fairlead(*args).returncode, args)

    def test_a_missing_server_is_explained(self):
        with tempfile.TemporaryDirectory() as folder:
            done = fairlead("get", "routes", "--data-dir", folder, env={"KUBECONFIG": ""})
            self.assertEqual(1, done.returncode)
            self.assertIn("fairlead serve", done.stderr)

    def test_completion(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertIn("fairlead", fairlead("completion", shell).stdout)


class Commands(ServerTest):
    def setUp(self):
        self.cli("delete", "routes", "--all")

    def cli(self, *args, **options):
        return self.server.cli(*args, **options)

    def test_apply_says_what_it_did(self):
        line = lambda **options: self.cli("apply", "-f", "-", stdin=manifest(**options)).stdout
        self.assertEqual("route.route.openshift.io/shop created\n", line())
        self.assertEqual("route.route.openshift.io/shop unchanged\n", line())
        self.assertEqual("route.route.openshift.io/shop configured\n", line(host="other.example.com"))

    def test_apply_and_kubectl_apply_share_an_object(self):
        self.cli("apply", "-f", "-", stdin=manifest())
        self.assertIn("unchanged", self.server.kubectl("apply", "-f", "-", stdin=manifest()).stdout)
        self.server.kubectl("apply", "-f", "-", stdin=manifest(host="k.example.com"))
        self.assertIn("unchanged", self.cli("apply", "-f", "-", stdin=manifest(host="k.example.com")).stdout)

    def test_apply_puts_namespaces_first_and_reads_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "1-route.yaml").write_text(manifest(namespace="later"))
            Path(folder, "2-namespace.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: later}\n")
            lines = self.cli("apply", "-f", folder).stdout.splitlines()
        self.assertEqual(["namespace/later created", "route.route.openshift.io/shop created"], lines)
        self.cli("delete", "namespace", "later")

    def test_apply_errors_name_file_document_and_field(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "bad.yaml")
            file.write_text(manifest() + "---" + manifest("bad").replace("name: web", "name: web\n    weight: 9999"))
            done = self.cli("apply", "-f", file, check=False)
        self.assertEqual(1, done.returncode)
        self.assertIn("shop created", done.stdout, "a bad document does not stop the good one")
        for part in ("bad.yaml", "document 2", "spec.to.weight", "9999"):
            self.assertIn(part, done.stderr)

    def test_get_forms(self):
        self.cli("apply", "-f", "-", stdin=manifest())
        table = self.cli("get", "routes").stdout
        self.assertTrue(table.startswith("NAME"))
        self.assertNotIn("\x1b", table)
        self.assertEqual("route.route.openshift.io/shop\n", self.cli("get", "route", "shop", "-o", "name").stdout)
        self.assertEqual("shop.example.com", json.loads(self.cli("get", "route", "shop", "-o", "json").stdout)["spec"]["host"])
        self.assertIn("host: shop.example.com", self.cli("get", "route/shop", "-o", "yaml").stdout)
        self.assertIn("default", self.cli("get", "routes", "-A").stdout)
        self.assertIn("No resources found", self.cli("get", "routers").stderr)
        missing = self.cli("get", "route", "nothing", check=False)
        self.assertEqual(1, missing.returncode)
        self.assertIn("(NotFound)", missing.stderr)
        mixed = self.cli("get", "route/shop", "router", check=False)
        self.assertEqual(2, mixed.returncode)
        self.assertIn("cannot be mixed", mixed.stderr)

    def test_apply_of_a_route_binding(self):
        self.cli("apply", "-f", "-", stdin=manifest())
        binding = ("apiVersion: fairlead.dev/v1\nkind: RouteBinding\nmetadata: {name: shop, namespace: default}\n"
                   "routeName: shop\ndns: blue.example.net\nrouter: blue\n")
        refused = self.cli("apply", "-f", "-", stdin=binding, check=False)
        self.assertIn('router: Not found: "blue"', refused.stderr)
        self.cli("apply", "-f", "-", stdin="apiVersion: fairlead.dev/v1\nkind: Router\nmetadata: {name: blue}\n"
                 "spec: {dns: blue.example.net, label: by=hand}\n")
        for _ in range(2):  # the same binding again changes nothing
            self.assertIn("created", self.cli("apply", "-f", "-", stdin=binding).stdout)
        self.assertEqual("scheduled", json.loads(self.cli("get", "route", "shop", "-o", "json").stdout)["status"]["phase"])
        self.cli("delete", "router", "blue")

    def test_describe(self):
        self.cli("apply", "-f", "-", stdin=manifest())
        self.assertIn("shop.example.com", self.cli("describe", "route", "shop").stdout)

    def test_get_watch_and_wait(self):
        watching = subprocess.Popen([BINARY, "get", "routes", "-w", "--kubeconfig", self.server.kubeconfig],
                                    stdout=subprocess.PIPE, text=True)
        waiting = subprocess.Popen([BINARY, "wait", "route/shop", "--for=jsonpath={.spec.path}=/ready", "--timeout=60s",
                                    "--kubeconfig", self.server.kubeconfig], stdout=subprocess.PIPE, text=True)
        try:
            self.cli("apply", "-f", "-", stdin=manifest())
            self.cli("apply", "-f", "-", stdin=manifest() + "  path: /ready\n")
            seen = [watching.stdout.readline() for _ in range(2)]
            self.assertTrue(any("shop" in line for line in seen), seen)
            if waiting.wait(60) != 0:  # it may have asked before the route existed, which is an error as with kubectl
                self.cli("wait", "route/shop", "--for=jsonpath={.spec.path}=/ready", "--timeout=60s")
            self.cli("delete", "route", "shop")
            self.cli("wait", "route/shop", "--for=delete", "--timeout=10s")
        finally:
            for process in (watching, waiting):
                process.kill()
                process.wait()
                process.stdout.close()

    def test_wait_gives_up_with_a_message(self):
        self.cli("apply", "-f", "-", stdin=manifest())
        done = self.cli("wait", "route/shop", "--for=condition=Never", "--timeout=1s", check=False)
        self.assertEqual(1, done.returncode)
        self.assertIn("timed out", done.stderr)

    def test_delete(self):
        self.cli("apply", "-f", "-", stdin=manifest())
        self.assertIn('deleted', self.cli("delete", "route", "shop").stdout)
        self.assertEqual(1, self.cli("delete", "route", "shop", check=False).returncode)
        self.assertEqual(0, self.cli("delete", "route", "shop", "--ignore-not-found").returncode)

    def test_version(self):
        self.assertRegex(self.cli("version").stdout, r"\d+\.\d+\.\d+")


if __name__ == "__main__":
    main()
