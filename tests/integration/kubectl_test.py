#!/usr/bin/env python3
"""kubectl 1.20 over TLS with the generated kubeconfig: every command that platform engineers type."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import TOOLS, Fairlead, ServerTest, main, route, until

ROUTE_YAML = """
apiVersion: route.openshift.io/v1
kind: Route
metadata:
  name: {name}
  namespace: default
  labels:
    app: {app}
spec:
  host: {host}
  to:
    kind: Service
    name: web
"""


def manifest(name, host="shop.example.com", app="shop"):
    return ROUTE_YAML.format(name=name, host=host, app=app)


class Kubectl(ServerTest):
    def setUp(self):
        self.kubectl("delete", "routes", "--all", "--wait=true")

    def test_version_and_discovery(self):
        version = json.loads(self.kubectl("version", "-o", "json").stdout)
        self.assertIn("serverVersion", version)
        names = self.kubectl("api-resources", "-o", "name").stdout.split()
        for expected in ("namespaces", "routes.route.openshift.io", "routers.fairlead.dev", "dnsrecords.kuadrant.io",
                         "gateways.gateway.networking.k8s.io", "ingresses.networking.k8s.io", "leases.coordination.k8s.io",
                         "clusterroles.rbac.authorization.k8s.io", "loadbalancerclaims.fairlead.dev"):
            self.assertIn(expected, names)
        self.assertIn("route.openshift.io/v1", self.kubectl("api-versions").stdout)

    def test_create_and_get_in_every_form(self):
        self.assertEqual("route.route.openshift.io/a created\n", self.kubectl("create", "-f", "-", stdin=manifest("a")).stdout)
        table = self.kubectl("get", "routes").stdout.splitlines()
        self.assertTrue(table[0].startswith("NAME"), table)
        self.assertIn("shop.example.com", table[1])
        self.assertIn("NAMESPACE", self.kubectl("get", "routes", "-A").stdout)
        self.assertEqual("route.route.openshift.io/a\n", self.kubectl("get", "routes", "-o", "name").stdout)
        self.assertEqual("shop.example.com", self.kubectl("get", "route", "a", "-o", "jsonpath={.spec.host}").stdout)
        self.assertIn("host: shop.example.com", self.kubectl("get", "route", "a", "-o", "yaml").stdout)
        self.assertGreaterEqual(len(self.kubectl("get", "routes", "-o", "wide").stdout.splitlines()[0]), len(table[0]))
        self.assertIn("shop.example.com", self.kubectl("get", "--raw", "/apis/route.openshift.io/v1/routes").stdout)
        self.assertIn("a", self.kubectl("get", "routes", "--sort-by=.metadata.name").stdout)
        missing = self.kubectl("get", "route", "nothing", check=False)
        self.assertEqual('Error from server (NotFound): routes.route.openshift.io "nothing" not found\n', missing.stderr)
        again = self.kubectl("create", "-f", "-", stdin=manifest("a"), check=False)
        self.assertIn('(AlreadyExists): error when creating "STDIN": routes.route.openshift.io "a" already exists', again.stderr)

    def test_selectors(self):
        self.kubectl("create", "-f", "-", stdin=manifest("a", app="one") + "---" + manifest("b", app="two"))
        names = lambda *args: self.kubectl("get", "routes", "-o", "name", *args).stdout.split()
        self.assertEqual(["route.route.openshift.io/a"], names("-l", "app=one"))
        self.assertEqual(["route.route.openshift.io/b"], names("-l", "app notin (one),app"))
        self.assertEqual(["route.route.openshift.io/b"], names("--field-selector", "metadata.name=b"))
        bad = self.kubectl("get", "routes", "--field-selector", "spec.tls=x", check=False)
        self.assertIn("field label not supported", bad.stderr)

    def test_paging_gives_every_object_once(self):
        documents = "---".join(manifest(f"page-{i:03}") for i in range(25))
        self.kubectl("create", "-f", "-", stdin=documents)
        names = self.kubectl("get", "routes", "--chunk-size=4", "-o", "name").stdout.split()
        self.assertEqual(sorted(f"route.route.openshift.io/page-{i:03}" for i in range(25)), names)

    def test_apply_create_configure_unchanged(self):
        self.assertIn("created", self.kubectl("apply", "-f", "-", stdin=manifest("a")).stdout)
        self.assertIn("unchanged", self.kubectl("apply", "-f", "-", stdin=manifest("a")).stdout)
        self.assertIn("configured", self.kubectl("apply", "-f", "-", stdin=manifest("a", host="new.example.com")).stdout)
        self.assertEqual("new.example.com", self.kubectl("get", "route", "a", "-o", "jsonpath={.spec.host}").stdout)
        self.assertIn("server dry run", self.kubectl("apply", "--dry-run=server", "-f", "-",
                                                     stdin=manifest("a", host="dry.example.com")).stdout)
        self.assertEqual("new.example.com", self.kubectl("get", "route", "a", "-o", "jsonpath={.spec.host}").stdout)
        difference = self.kubectl("diff", "-f", "-", stdin=manifest("a", host="other.example.com"), check=False)
        self.assertEqual(1, difference.returncode, difference.stderr)
        self.assertIn("+  host: other.example.com", difference.stdout)

    def test_client_side_validation_comes_from_our_schema(self):
        router = "apiVersion: fairlead.dev/v1\nkind: Router\nmetadata: {name: a}\nspec: {dsn: a.example.com}\n"
        wrong = self.kubectl("apply", "-f", "-", stdin=router, check=False)
        self.assertIn('unknown field "dsn"', wrong.stderr)
        self.assertIn('missing required field "dns"', wrong.stderr)

    def test_server_side_validation_names_field_value_and_rule(self):
        wrong = self.kubectl("create", "--validate=false", "-f", "-", stdin=manifest("a") + "    weight: 1000\n", check=False)
        self.assertIn("spec.to.weight", wrong.stderr)
        self.assertIn("1000", wrong.stderr)
        phase = self.kubectl("create", "-f", "-", stdin=manifest("a") + "status:\n  phase: scheduled\n", check=False)
        self.assertIn("status.phase", phase.stderr)

    def test_apply_into_a_namespace_that_does_not_exist(self):
        wrong = self.kubectl("apply", "-f", "-", stdin=manifest("a").replace("namespace: default", "namespace: nowhere"),
                             check=False)
        self.assertIn('namespaces "nowhere" not found', wrong.stderr)

    def test_replace_and_edit(self):
        self.kubectl("create", "-f", "-", stdin=manifest("a"))
        self.assertIn("replaced", self.kubectl("replace", "-f", "-", stdin=manifest("a", host="two.example.com")).stdout)
        self.assertIn("replaced", self.kubectl("replace", "--force", "-f", "-", stdin=manifest("a", host="three.example.com")).stdout)
        with tempfile.TemporaryDirectory() as folder:
            editor = Path(folder) / "editor"
            editor.write_text("#!/bin/sh\nsed -i s/three.example.com/four.example.com/ \"$1\"\n")
            editor.chmod(0o755)
            self.assertIn("edited", self.kubectl("edit", "route", "a", env={"KUBE_EDITOR": str(editor)}).stdout)
        self.assertEqual("four.example.com", self.kubectl("get", "route", "a", "-o", "jsonpath={.spec.host}").stdout)

    def test_patch_types(self):
        self.kubectl("create", "-f", "-", stdin=manifest("a"))
        self.kubectl("patch", "route", "a", "--type=merge", "-p", '{"spec":{"path":"/m"}}')
        self.assertEqual("/m", self.kubectl("get", "route", "a", "-o", "jsonpath={.spec.path}").stdout)
        self.kubectl("patch", "route", "a", "--type=json", "-p", '[{"op":"replace","path":"/spec/path","value":"/j"}]')
        self.assertEqual("/j", self.kubectl("get", "route", "a", "-o", "jsonpath={.spec.path}").stdout)
        failed = self.kubectl("patch", "route", "a", "--type=json", "-p", '[{"op":"test","path":"/spec/path","value":"/no"}]',
                              check=False)
        self.assertRegex(failed.stderr, "^The request is invalid: .*testing path /spec/path failed")
        strategic = self.kubectl("patch", "route", "a", "-p", '{"spec":{"path":"/s"}}', check=False)
        self.assertIn("UnsupportedMediaType", strategic.stderr)

    def test_strategic_merge_of_a_built_in_kind(self):
        self.kubectl("apply", "-f", "-", stdin="""
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec:
  selector: {app: web}
  ports:
  - {name: http, port: 80}
  - {name: admin, port: 81}
""")
        self.kubectl("patch", "service", "web", "-p", '{"spec":{"ports":[{"port":80,"targetPort":8080}]}}')
        ports = json.loads(self.kubectl("get", "service", "web", "-o", "json").stdout)["spec"]["ports"]
        self.assertEqual({80: 8080, 81: 81}, {p["port"]: p.get("targetPort", p["port"]) for p in ports})
        self.kubectl("delete", "service", "web")

    def test_label_and_annotate(self):
        self.kubectl("create", "-f", "-", stdin=manifest("a"))
        before = json.loads(self.kubectl("get", "route", "a", "-o", "json").stdout)
        self.kubectl("label", "route", "a", "tier=gold")
        self.kubectl("annotate", "route", "a", "note=hello")
        self.kubectl("label", "route", "a", "app-")
        after = json.loads(self.kubectl("get", "route", "a", "-o", "json").stdout)
        self.assertEqual({"tier": "gold"}, after["metadata"]["labels"])
        self.assertEqual("hello", after["metadata"]["annotations"]["note"])
        self.assertEqual(before["metadata"]["generation"], after["metadata"]["generation"])

    def test_delete_waits_for_finalizers(self):
        self.kubectl("create", "-f", "-", stdin=manifest("a"))
        self.kubectl("patch", "route", "a", "--type=merge", "-p", '{"metadata":{"finalizers":["example.com/hold"]}}')
        waiting = subprocess.Popen(
            [TOOLS / "kubectl", "--kubeconfig", self.server.kubeconfig, "delete", "route", "a", "--timeout=60s"],
            stdout=subprocess.PIPE, text=True)
        until(lambda: "deletionTimestamp" in self.kubectl("get", "route", "a", "-o", "yaml").stdout, "deletionTimestamp")
        self.assertIsNone(waiting.poll())
        refused = self.kubectl("patch", "route", "a", "--type=merge", "-p",
                               '{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}', check=False)
        self.assertIn("Forbidden", refused.stderr)
        self.kubectl("patch", "route", "a", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        self.assertEqual(0, waiting.wait(60))
        waiting.stdout.close()

    def test_delete_by_label_and_dry_run(self):
        self.kubectl("create", "-f", "-", stdin=manifest("a", app="one") + "---" + manifest("b", app="two"))
        self.kubectl("delete", "route", "a", "--dry-run=server")
        self.kubectl("delete", "routes", "-l", "app=one")
        self.assertEqual(["route.route.openshift.io/b"], self.kubectl("get", "routes", "-o", "name").stdout.split())

    def test_watch_streams_changes(self):
        self.kubectl("create", "-f", "-", stdin=manifest("a"))
        watching = subprocess.Popen(
            [TOOLS / "kubectl", "--kubeconfig", self.server.kubeconfig, "get", "routes", "-w", "--output-watch-events"],
            stdout=subprocess.PIPE, text=True)
        try:
            self.assertIn("EVENT", watching.stdout.readline())
            self.assertRegex(watching.stdout.readline(), r"ADDED\s+a\s")
            self.kubectl("patch", "route", "a", "--type=merge", "-p", '{"spec":{"host":"w.example.com"}}')
            self.assertRegex(watching.stdout.readline(), r"MODIFIED\s+a\s+w\.example\.com")
            self.kubectl("delete", "route", "a")
            self.assertRegex(watching.stdout.readline(), r"DELETED\s+a\s")
        finally:
            watching.kill()
            watching.wait()
            watching.stdout.close()

    def test_wait_for_condition_and_delete(self):
        self.kubectl("create", "-f", "-", stdin=manifest("a"))
        waiting = subprocess.Popen(
            [TOOLS / "kubectl", "--kubeconfig", self.server.kubeconfig, "wait", "--for=condition=Admitted", "route/a",
             "--timeout=60s"], stdout=subprocess.PIPE, text=True)
        status, _, body = self.server.request(
            "PATCH", "/apis/route.openshift.io/v1/namespaces/default/routes/a/status",
            {"status": {"conditions": [{"type": "Admitted", "status": "True", "reason": "Test", "message": "",
                                        "lastTransitionTime": "2026-01-01T00:00:00Z"}]}},
            {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(200, status, body)
        self.assertEqual(0, waiting.wait(60))
        waiting.stdout.close()
        self.kubectl("delete", "route", "a", "--wait=false")
        self.kubectl("wait", "--for=delete", "route/a", "--timeout=60s", check=False)

    def test_describe_shows_the_events_of_the_object(self):
        self.kubectl("create", "-f", "-", stdin=manifest("a"))
        uid = self.kubectl("get", "route", "a", "-o", "jsonpath={.metadata.uid}").stdout
        self.kubectl("create", "-f", "-", stdin=f"""
apiVersion: v1
kind: Event
metadata: {{name: a.1, namespace: default}}
involvedObject: {{apiVersion: route.openshift.io/v1, kind: Route, name: a, namespace: default, uid: {uid}}}
reason: Scheduled
message: the route found its router
type: Normal
count: 1
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
source: {{component: test}}
""")
        described = self.kubectl("describe", "route", "a").stdout
        self.assertIn("the route found its router", described)
        self.assertIn("Scheduled", self.kubectl("get", "events").stdout)
        self.kubectl("delete", "event", "a.1")

    def test_explain_from_our_documentation(self):
        text = self.kubectl("explain", "router.spec").stdout
        self.assertIn("KIND:     Router", text)
        self.assertIn("haMode", text)
        self.assertIn("recordTTL", self.kubectl("explain", "dnsrecord.spec.endpoints").stdout)

    def test_auth_can_i(self):
        self.assertEqual("yes", self.kubectl("auth", "can-i", "create", "routes").stdout.strip())
        self.assertIn("*.*", self.kubectl("auth", "can-i", "--list").stdout)

    def test_namespaces(self):
        self.assertIn("default", self.kubectl("get", "namespaces").stdout)
        self.kubectl("create", "ns", "shop")
        self.kubectl("create", "-f", "-", stdin=manifest("a").replace("namespace: default", "namespace: shop"))
        self.kubectl("delete", "ns", "shop", "--timeout=60s")
        self.assertIn("NotFound", self.kubectl("get", "ns", "shop", check=False).stderr)
        self.assertEqual("", self.kubectl("get", "routes", "-n", "shop", "-o", "name").stdout)

    def test_get_all_uses_categories(self):
        self.kubectl("create", "-f", "-", stdin=manifest("a"))
        self.assertIn("route.route.openshift.io/a", self.kubectl("get", "all", "-o", "name").stdout)

    def test_foreign_fields_survive(self):
        ingress = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: keep, namespace: default}
spec:
  rules:
  - host: a.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
  somethingNew: {kept: true}
"""
        self.kubectl("create", "--validate=false", "-f", "-", stdin=ingress)
        self.kubectl("label", "ingress", "keep", "touched=yes")
        kept = json.loads(self.kubectl("get", "ingress", "keep", "-o", "json").stdout)
        self.assertEqual({"kept": True}, kept["spec"]["somethingNew"])
        self.kubectl("delete", "ingress", "keep")

    def test_route_binding_is_the_only_way_to_schedule(self):
        self.kubectl("create", "-f", "-", stdin=manifest("a"))
        self.kubectl("create", "-f", "-", stdin="""
apiVersion: fairlead.dev/v1
kind: Router
metadata: {name: shard1}
spec: {dns: shard1.example.com, label: by=hand}
""")
        binding = """
apiVersion: fairlead.dev/v1
kind: RouteBinding
metadata: {name: a, namespace: default}
routeNamespace: default
routeName: a
dns: %s
router: %s
"""
        self.kubectl("create", "-f", "-", stdin=binding % ("shard1.example.com", "shard1"))
        status = json.loads(self.kubectl("get", "route", "a", "-o", "json").stdout)["status"]
        self.assertEqual(("scheduled", "shard1.example.com"), (status["phase"], status["dns"]))
        elsewhere = self.kubectl("create", "-f", "-", stdin=binding % ("shard2.example.com", "shard2"), check=False)
        self.assertIn("Conflict", elsewhere.stderr)
        self.kubectl("delete", "router", "shard1")


class SeedManifests(ServerTest):
    def test_the_dnsrecord_of_the_proposal_applies_unchanged(self):
        record = (Path(__file__).resolve().parents[1] / "data" / "dnsrecord-proposal.yaml").read_text()
        self.kubectl("create", "ns", "multi-cluster-gateways")
        self.kubectl("apply", "-f", "-", stdin=record)
        stored = json.loads(self.kubectl("get", "dnsrecords", "-n", "multi-cluster-gateways", "-o", "json").stdout)["items"]
        self.assertEqual(5, len(stored[0]["spec"]["endpoints"]))
        self.assertEqual("*", stored[0]["spec"]["endpoints"][1]["providerSpecific"][0]["value"])

    def test_the_example_world_applies_and_the_second_time_writes_nothing(self):
        # kubectl says "configured" where a list item has defaults that the manifest leaves out; the server knows better.
        world = str(Path(__file__).resolve().parents[2] / "examples" / "world")
        everything = lambda: self.kubectl("get", "-f", world, "-o", "jsonpath={range .items[*]}{.kind}/{.metadata.name} "
                                          "{.metadata.resourceVersion}{'\\n'}{end}").stdout
        self.kubectl("apply", "-f", world)
        self.assertGreater(len(everything().splitlines()), 20)

        def changes_nothing():
            before = everything()
            self.kubectl("apply", "-f", world)
            return before == everything()

        until(changes_nothing, "kubectl apply writes nothing")  # controllers write status for a while after the first
        again = self.server.cli("apply", "-f", world).stdout.splitlines()
        self.assertEqual([], [line for line in again if not line.endswith(" unchanged")])


if __name__ == "__main__":
    main()
