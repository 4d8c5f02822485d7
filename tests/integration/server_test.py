#!/usr/bin/env python3
"""The server as a process: TLS, who may do what, health, metrics, limits, compression, start and stop."""

import gzip
import http.client
import json
import os
import re
import socket
import ssl
import stat
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from harness import BINARY, ROUTES, Fairlead, ServerTest, main, route, until


class Access(ServerTest):
    def test_ready_line_and_run_file(self):
        self.assertIn(self.server.url, self.server.ready_line)
        self.assertEqual(self.server.process.pid, self.server.run["pid"])

    def test_keys_and_kubeconfig_are_private(self):
        for name in ("admin.kubeconfig", "pki/ca.key", "pki/server.key", "pki/admin.key"):
            self.assertEqual(0o600, stat.S_IMODE((self.server.data / name).stat().st_mode), name)

    def test_without_a_certificate_only_health_and_version(self):
        for path, expected in (("/livez", 200), ("/readyz", 200), ("/healthz", 200), ("/version", 200), ("/api", 401),
                               ("/metrics", 401), ("/openapi/v2", 401), (ROUTES, 401), ("/apis", 401)):
            status, _, body = self.server.request("GET", path, client_certificate=False)
            self.assertEqual(expected, status, path)
            if expected == 401:
                self.assertEqual(("Status", "Unauthorized"), (body["kind"], body["reason"]))

    def test_a_certificate_of_another_authority_names_nobody(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-subj", "/O=system:masters/CN=mallory", "-keyout", f"{folder}/key", "-out", f"{folder}/crt"],
                           check=True, capture_output=True)
            context = ssl.create_default_context(cafile=str(self.server.data / "pki/ca.crt"))
            context.load_cert_chain(f"{folder}/crt", f"{folder}/key")
            for path, expected in (("/version", 200), (ROUTES, 401), ("/api", 401)):
                connection = http.client.HTTPSConnection(self.server.host, context=context, timeout=10)
                connection.request("GET", path)
                self.assertEqual(expected, connection.getresponse().status, path)
                connection.close()

    def test_plain_http_is_not_answered(self):
        connection = http.client.HTTPConnection(self.server.host, timeout=10)
        with self.assertRaises((OSError, http.client.HTTPException)):
            connection.request("GET", "/livez")
            connection.getresponse()


class Observability(ServerTest):
    def test_ready_and_its_named_checks(self):
        status, _, text = self.server.request("GET", "/readyz?verbose")
        self.assertEqual(200, status)
        self.assertRegex(text.decode(), r"\[\+\]store ok")

    def test_metrics(self):
        self.server.request("GET", ROUTES)
        status, _, text = self.server.request("GET", "/metrics")
        self.assertEqual(200, status)
        for name in ("apiserver_request_duration_seconds_bucket", "apiserver_request_total", "fairlead_store_"):
            self.assertIn(name, text.decode())

    def test_request_ids(self):
        _, headers, _ = self.server.request("GET", ROUTES)
        self.assertTrue(headers["X-Request-Id"])

    def test_openapi_etag(self):
        _, headers, body = self.server.request("GET", "/openapi/v2")
        self.assertEqual("2.0", body["swagger"])
        status, _, body = self.server.request("GET", "/openapi/v2", headers={"If-None-Match": headers["ETag"]})
        self.assertEqual((304, b""), (status, body))
        index = self.server.request("GET", "/openapi/v3")[2]
        self.assertIn("apis/route.openshift.io/v1", index["paths"])
        document = self.server.request("GET", index["paths"]["apis/fairlead.dev/v1"]["serverRelativeURL"])[2]
        self.assertTrue(document["openapi"].startswith("3."))


class Limits(ServerTest):
    def test_large_bodies_get_413(self):
        huge = route("huge")
        huge["metadata"]["annotations"] = {"a": "x" * (4 * 1024 * 1024)}
        status, _, body = self.server.request("POST", ROUTES, huge)
        self.assertEqual((413, "RequestEntityTooLarge"), (status, body["reason"]))
        self.assertIn("3145728", body["message"])

    def test_gzip_when_asked_and_large(self):
        connection = self.server.connect()
        total = 0
        # The first list is packed as a whole; the second is above 1 MiB, so it is packed while it is sent.
        for count, pad in ((120, 2_000), (40, 40_000)):
            for i in range(count):
                body = route(f"zip-{pad}-{i:03}")
                body["metadata"]["annotations"] = {"pad": "y" * pad}
                self.assertEqual(201, self.server.request("POST", ROUTES, body)[0])
            total += count
            connection.request("GET", ROUTES, headers={"Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            data = answer.read()
            self.assertEqual("gzip", answer.headers["Content-Encoding"])
            self.assertEqual(total, len(json.loads(gzip.decompress(data))["items"]))
            connection.request("GET", ROUTES)
            plain = connection.getresponse()
            self.assertEqual(total, len(json.loads(plain.read())["items"]))
            self.assertIsNone(plain.headers["Content-Encoding"])
        connection.close()

    def test_yaml_bodies(self):
        text = "apiVersion: route.openshift.io/v1\nkind: Route\nmetadata: {name: yaml}\nspec: {host: y.example.com, to: {name: web}}\n"
        status, _, body = self.server.request("POST", ROUTES, text, {"Content-Type": "application/yaml"})
        self.assertEqual(201, status, body)

    def test_strange_paths_are_not_found(self):
        for path in ("/apis/../api/v1", "/api/v1/namespaces/default%2Fx", "//api/v1", "/api/v1/%2e%2e/version", "/%00", "/nothing"):
            status, _, _ = self.server.request("GET", path)
            self.assertIn(status, (400, 404), path)
        self.assertEqual(200, self.server.request("GET", "/livez")[0])


class Watches(ServerTest):
    def test_watch_list_ends_its_initial_events_with_a_bookmark(self):
        self.server.request("POST", ROUTES, route("first"))
        connection = self.server.connect()
        connection.request("GET", ROUTES + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                           "&allowWatchBookmarks=true&timeoutSeconds=1")
        events = [json.loads(line) for line in connection.getresponse().read().splitlines()]
        connection.close()
        self.assertEqual(["ADDED", "BOOKMARK"], [event["type"] for event in events][:2])
        self.assertEqual("true", events[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"])

    def test_too_old_is_410(self):
        connection = self.server.connect()
        connection.request("GET", ROUTES + "?watch=true&resourceVersion=0&timeoutSeconds=1")
        connection.getresponse().read()
        status, _, body = self.server.request("GET", ROUTES + "?resourceVersion=99999999")
        self.assertEqual((504, "Timeout"), (status, body["reason"]))
        connection.close()


class Lifecycle(unittest.TestCase):
    def test_graceful_stop_ends_watches_cleanly(self):
        server = Fairlead().start()
        self.addCleanup(server.remove)
        connection = server.connect()
        connection.request("GET", ROUTES + "?watch=true")
        answer = connection.getresponse()
        self.assertEqual(0, server.stop())
        self.assertEqual(b"", answer.read(), "a clean end of the chunked body, not a broken connection")
        connection.close()

    def test_a_second_server_on_the_same_data_is_refused(self):
        server = Fairlead().start()
        self.addCleanup(server.remove)
        second = subprocess.run([BINARY, "serve", "--data-dir", server.data, "--api-listen", "127.0.0.1:0", "--dns-listen", "none"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(1, second.returncode)
        self.assertIn(str(server.process.pid), second.stderr)

    def test_a_memory_server_does_not_take_over_the_data_dir_of_another(self):
        server = Fairlead().start()
        self.addCleanup(server.remove)
        second = subprocess.run([BINARY, "serve", "--data-dir", server.data, "--api-listen", "127.0.0.1:0", "--dns-listen", "none",
                                 "--store", "memory:"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(1, second.returncode)
        self.assertIn(str(server.process.pid), second.stderr)
        self.assertIn(server.url, server.kubeconfig.read_text())

    def test_a_clean_stop_removes_the_run_file(self):
        server = Fairlead().start()
        self.addCleanup(server.remove)
        server.stop()
        self.assertFalse((server.data / "run.json").exists())

    def test_an_address_in_use_is_said(self):
        server = Fairlead().start()
        self.addCleanup(server.remove)
        with tempfile.TemporaryDirectory() as folder:
            second = subprocess.run([BINARY, "serve", "--data-dir", folder, "--api-listen", server.host, "--dns-listen", "none"],
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual(1, second.returncode)
            self.assertIn(server.host, second.stderr)

    def test_a_dns_address_in_use_is_said_with_what_to_do(self):
        server = Fairlead().start()
        self.addCleanup(server.remove)
        with tempfile.TemporaryDirectory() as folder:
            second = subprocess.run([BINARY, "serve", "--data-dir", folder, "--api-listen", "127.0.0.1:0", "--dns-listen",
                                     server.dns_listen], capture_output=True, text=True, timeout=60)
            self.assertEqual(1, second.returncode)
            self.assertIn(f"cannot serve DNS", second.stderr)
            self.assertIn(f"ss -lnp 'sport = :{server.dns_port}'", second.stderr)

    def test_the_ready_line_and_the_run_file_name_all_addresses(self):
        server = Fairlead("--dns-listen", "127.0.0.1:0", "--dns-listen", "[::1]:0").start()
        self.addCleanup(server.remove)
        self.assertEqual(2, len(server.run["dns"].split(",")))
        self.assertIn(" dns=" + server.run["dns"] + " ", server.ready_line)
        server.stop()
        server.args = ("--dns-listen", "none")
        server.start()
        self.assertEqual("", server.run["dns"])
        self.assertNotIn("dns=", server.ready_line)

    def test_restart_keeps_objects_revisions_and_certificates(self):
        server = Fairlead("--roles", "api").start()  # nobody else writes
        self.addCleanup(server.remove)
        _, _, created = server.request("POST", ROUTES, route("kept"))
        certificate = (server.data / "pki/ca.crt").read_text()
        server.stop()
        server.start()
        status, _, kept = server.request("GET", f"{ROUTES}/kept")
        self.assertEqual((200, created), (status, kept))
        self.assertEqual(certificate, (server.data / "pki/ca.crt").read_text())

    def test_memory_store_and_apply_at_start(self):
        world = Path(__file__).resolve().parents[2] / "examples" / "world"
        server = Fairlead("--store", "memory:", "--apply", str(world)).start()
        self.addCleanup(server.remove)
        routes = server.request("GET", "/apis/route.openshift.io/v1/routes")[2]["items"]
        self.assertGreater(len(routes), 0)

    def test_service_manager_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "notify")
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
                notify.bind(path)
                notify.settimeout(60)
                os.environ["NOTIFY_SOCKET"] = path
                try:
                    server = Fairlead().start()
                finally:
                    del os.environ["NOTIFY_SOCKET"]
                self.addCleanup(server.remove)
                self.assertIn(b"READY=1", notify.recv(4096))
                server.stop()
                self.assertIn(b"STOPPING=1", notify.recv(4096))

    def test_json_logs(self):
        server = Fairlead("--log-format", "json", "--log-level", "debug").start()
        self.addCleanup(server.remove)
        server.request("GET", ROUTES)
        server.stop()
        lines = [json.loads(line) for line in server.log_text().splitlines()]
        self.assertTrue(any("request" in line.get("event", "") for line in lines), lines[-3:])


if __name__ == "__main__":
    main()
