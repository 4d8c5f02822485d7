#!/usr/bin/env python3
"""Server-side apply with real clients: kubectl 1.20 apply --server-side, and what other ways of writing see of it."""

import json

from harness import ROUTES, ServerTest, main, route

APPLY = {"Content-Type": "application/apply-patch+yaml"}


def manifest(name="a", host="shop.example.com", more=""):
    return (f"apiVersion: route.openshift.io/v1\nkind: Route\nmetadata: {{name: {name}, namespace: default}}\n"
            f"spec:\n  host: {host}\n  to: {{kind: Service, name: web}}\n{more}")


class Kubectl(ServerTest):
    SERVE_ARGS = ("--roles", "api")  # controllers own fields too

    def setUp(self):
        self.kubectl("delete", "routes", "--all")

    def apply(self, text, *args, check=True):
        return self.kubectl("apply", "--server-side", "-f", "-", *args, stdin=text, check=check)

    def stored(self, name="a"):
        return json.loads(self.kubectl("get", "route", name, "-o", "json").stdout)

    def managers(self, name="a"):
        return [(e["manager"], e["operation"], e.get("subresource", ""))
                for e in self.stored(name)["metadata"]["managedFields"]]

    def test_create_change_and_nothing(self):
        self.assertIn("serverside-applied", self.apply(manifest()).stdout)
        before = self.stored()
        self.assertEqual([("kubectl", "Apply", "")], self.managers())
        self.apply(manifest())
        self.assertEqual(before, self.stored(), "the second time nothing changes, the revision included")
        self.apply(manifest(more="  path: /x\n"))
        self.assertEqual("/x", self.stored()["spec"]["path"])
        self.apply(manifest())
        self.assertNotIn("path", self.stored()["spec"])

    def test_conflict_and_force(self):
        self.apply(manifest(), "--field-manager=one")
        refused = self.apply(manifest(host="other.example.com"), "--field-manager=two", check=False)
        self.assertEqual(1, refused.returncode)
        self.assertIn('Apply failed with 1 conflict: conflict with "one": .spec.host', refused.stderr)
        self.assertIn("--force-conflicts", refused.stderr)
        self.apply(manifest(host="other.example.com"), "--field-manager=two", "--force-conflicts")
        self.assertEqual("other.example.com", self.stored()["spec"]["host"])
        self.assertEqual([("one", "Apply", ""), ("two", "Apply", "")], self.managers())

    def test_dry_run_and_diff_change_nothing(self):
        self.apply(manifest())
        before = self.stored()
        self.assertIn("server dry run", self.apply(manifest(host="dry.example.com"), "--dry-run=server").stdout)
        difference = self.kubectl("diff", "--server-side", "-f", "-", stdin=manifest(host="diff.example.com"), check=False)
        self.assertEqual(1, difference.returncode, difference.stderr)
        self.assertIn("+  host: diff.example.com", difference.stdout)
        self.assertEqual(0, self.kubectl("diff", "--server-side", "-f", "-", stdin=manifest()).returncode)
        self.assertEqual(before, self.stored())

    def test_other_ways_of_writing_are_tracked(self):
        self.kubectl("create", "-f", "-", stdin=manifest())
        self.kubectl("label", "route", "a", "tier=gold")
        managers = self.managers()
        self.assertEqual(["Update"] * len(managers), [operation for _, operation, _ in managers])
        self.assertIn(("kubectl-create", "Update", ""), managers)
        self.assertIn(("kubectl-label", "Update", ""), managers)
        refused = self.apply(manifest(host="other.example.com"), check=False)
        self.assertIn('conflict with "kubectl-create" using route.openshift.io/v1: .spec.host', refused.stderr)

    def test_goes_on_where_client_side_apply_left_off(self):
        self.kubectl("apply", "-f", "-", stdin=manifest())
        self.apply(manifest(host="new.example.com", more="  path: /x\n"))
        self.assertEqual(("new.example.com", "/x"), (self.stored()["spec"]["host"], self.stored()["spec"]["path"]))
        # And back: client-side apply knows from its annotation what it may remove.
        self.kubectl("apply", "-f", "-", stdin=manifest(host="new.example.com"))
        self.assertNotIn("path", self.stored()["spec"])

    def test_our_own_apply_and_get_are_not_confused(self):
        self.apply(manifest())
        self.server.cli("apply", "-f", "-", stdin=manifest(host="cli.example.com"))
        self.assertIn("unchanged", self.server.cli("apply", "-f", "-", stdin=manifest(host="cli.example.com")).stdout)
        self.assertIn(("fairlead", "Update", ""), self.managers())
        self.assertNotIn("managedFields", self.server.cli("get", "route", "a", "-o", "yaml").stdout)
        self.assertNotIn("managedFields", self.server.cli("describe", "route", "a").stdout.replace("Managed Fields", "managedFields"))
        self.assertIn("managedFields", self.server.cli("get", "route", "a", "-o", "yaml", "--show-managed-fields").stdout)
        self.assertIn("managedFields", self.kubectl("get", "route", "a", "-o", "yaml").stdout)

    def test_lists_of_a_service_merge_by_key(self):
        service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: default}\nspec:\n  ports:\n"
        self.apply(service + "  - {name: http, port: 80}\n", "--field-manager=one")
        self.apply(service + "  - {name: admin, port: 81}\n", "--field-manager=two")
        ports = lambda: sorted(p["port"] for p in json.loads(
            self.kubectl("get", "service", "web", "-o", "json").stdout)["spec"]["ports"])
        self.assertEqual([80, 81], ports())
        self.apply(service.replace("  ports:\n", "  type: ClusterIP\n"), "--field-manager=two")
        self.assertEqual([80], ports())
        self.kubectl("delete", "service", "web")

    def test_a_route_binding_is_created_by_applying_it(self):
        self.kubectl("create", "-f", "-", stdin=manifest())
        self.kubectl("create", "-f", "-", stdin="apiVersion: fairlead.dev/v1\nkind: Router\nmetadata: {name: shard1}\n"
                                                "spec: {dns: shard1.example.com, label: by=hand}\n")
        self.apply("apiVersion: fairlead.dev/v1\nkind: RouteBinding\nmetadata: {name: a, namespace: default}\n"
                   "routeNamespace: default\nrouteName: a\ndns: shard1.example.com\nrouter: shard1\n")
        self.assertEqual("shard1.example.com", self.stored()["status"]["dns"])
        self.assertIn(("kubectl", "Update", "status"), self.managers())
        self.kubectl("delete", "router", "shard1")


class OverHttp(ServerTest):
    SERVE_ARGS = ("--roles", "api")  # controllers own fields too

    def test_the_user_agent_is_the_manager(self):
        self.server.request("POST", ROUTES, route("agent"), {"User-Agent": "someone/v1 (linux)"})
        _, _, made = self.server.request("GET", f"{ROUTES}/agent")
        self.assertEqual(["someone"], [e["manager"] for e in made["metadata"]["managedFields"]])

    def test_duplicate_members(self):
        body = json.dumps(route("twice")).replace('"host": ', '"host": "first.example.com", "host": ')
        status, _, answer = self.server.request("POST", ROUTES + "?fieldValidation=Strict", body)
        self.assertEqual((400, 'strict decoding error: duplicate field "spec.host"'), (status, answer["message"]))
        status, headers, _ = self.server.request("POST", ROUTES, body)
        self.assertEqual((201, '299 - "duplicate field \\"spec.host\\""'), (status, headers["Warning"]))

    def test_creating_by_apply_needs_the_right_to_create(self):
        rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
        made = [self.server.request("POST", rbac + "roles", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "patcher"},
            "rules": [{"apiGroups": ["*"], "resources": ["routes", "routebindings"], "verbs": ["get", "patch"]}]}),
            self.server.request("POST", rbac + "rolebindings", {
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "patcher"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "patcher"},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "pat"}]})]
        self.assertEqual([201, 201], [status for status, _, _ in made], made)
        pat = {**APPLY, "Impersonate-User": "pat"}
        path = f"{ROUTES}/rights?fieldManager=pat"
        status, _, answer = self.server.request("PATCH", path, route("rights"), pat)
        self.assertEqual(403, status, answer)
        self.assertIn('User "pat" cannot create resource "routes" in API group "route.openshift.io"', answer["message"])
        self.server.request("POST", ROUTES + "?fieldManager=pat", route("rights"))
        self.assertEqual(200, self.server.request("PATCH", path + "&force=true", route("rights", path="/x"), pat)[0])
        status, _, answer = self.server.request(
            "PATCH", "/apis/fairlead.dev/v1/namespaces/default/routebindings/rights?fieldManager=pat",
            {"apiVersion": "fairlead.dev/v1", "kind": "RouteBinding", "metadata": {"name": "rights"},
             "routeNamespace": "default", "routeName": "rights", "dns": "d.example.com", "router": "r"}, pat)
        self.assertEqual(403, status, answer)

    def test_conflict_is_told_with_its_causes(self):
        path = f"{ROUTES}/causes?fieldManager="
        status, _, _ = self.server.request("PATCH", path + "one", route("causes"), APPLY)
        self.assertEqual(201, status)
        status, _, answer = self.server.request("PATCH", path + "two", route("causes", host="x.example.com"), APPLY)
        self.assertEqual(409, status)
        metrics = self.server.request("GET", "/metrics")[2].decode()
        self.assertRegex(metrics, r'apiserver_request_total\{[^}]*code="409"[^}]*verb="APPLY"[^}]*\} 1')
        self.assertEqual([{"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".spec.host"}],
                         answer["details"]["causes"])


if __name__ == "__main__":
    main()
