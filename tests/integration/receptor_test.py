#!/usr/bin/env python3
"""The Receptor API over HTTPS as its clients use it: curl with Basic credentials, kubectl beside it, event streams that
resume over a restart, a reader that does not read."""

import base64
import json
import re
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from harness import Fairlead, main, until

PROCESS = {"process_guid": "web", "domain": "cf-apps", "rootfs": "preloaded:cflinuxfs4", "instances": 2,
           "action": {"run": {"path": "/bin/web", "user": "vcap"}}, "ports": [4000, 5000], "log_guid": "log-1"}
INSTANCE = {"state": "RUNNING", "instance_guid": "i-1", "cell_id": "cell-1", "address": "10.0.0.1",
            "ports": [{"container_port": 4000, "host_port": 59001, "host_tls_proxy_port": 59443}]}


def process(guid, **more):
    return {**PROCESS, "process_guid": guid, **more}


class Events(threading.Thread):
    """Reads /v1/events as a client does; `heard` is a list of (id, event, data)."""

    def __init__(self, server, last=None, path="/v1/events"):
        super().__init__(daemon=True)
        self.heard, self.comments, self.last, self.ended = [], 0, last, False
        self.connection = server.connect(timeout=60)
        self.connection.request("GET", path, headers={"Last-Event-ID": last} if last else {})
        self.answer = self.connection.getresponse()
        self.start()

    def run(self):
        event = data = None
        try:
            for raw in self.answer:
                line = raw.decode().rstrip("\n")
                name, _, value = line.partition(": ")
                if name == "id":
                    self.last = value
                elif name == "event":
                    event = value
                elif name == "data":
                    data = value
                elif not line and event:
                    self.heard.append((self.last, event, json.loads(data)))
                    event = data = None
                elif line.startswith(":"):
                    self.comments += 1
        except (OSError, ValueError, AttributeError):
            pass
        self.ended = True

    def names(self):
        return [event for _, event, _ in self.heard]

    def close(self):
        if self.connection.sock:
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.join(30)
        self.answer.close()
        self.connection.close()


class ReceptorTest(unittest.TestCase):
    def start(self, *args):
        server = Fairlead("--roles", "api", *args).start()
        self.addCleanup(server.remove)
        return server

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Path(folder.name)

    def curl(self, server, *args):
        """(status, headers, body) of a call with curl."""
        done = subprocess.run(["curl", "-sS", "-i", "--cacert", server.data / "pki/ca.crt", *args], capture_output=True,
                              text=True, timeout=60, check=True)
        head, _, body = done.stdout.partition("\n\n") if "\r\n\r\n" not in done.stdout else done.stdout.partition("\r\n\r\n")
        status = int(re.match(r"HTTP/1.1 (\d+)", head).group(1))
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head.splitlines()[1:])}
        return status, headers, body

    def test_curl_and_kubectl_see_the_same(self):
        tokens = self.folder() / "tokens.csv"
        tokens.write_text('s3cret,diego,1,"system:masters"\n')
        server = self.start("--token-auth-file", tokens)
        url = server.url + "/v1/desired_lrps"
        login = ["-u", "diego:s3cret"]
        routes = '{"cf-router":[{"hostnames":["foo.com"],"port":4e3,"n":12345678901234567890123}],"skydns":"[{\\"port\\": 5000}]"}'
        body = json.dumps(process("Web_1"))[:-1] + ', "routes": ' + routes + "}"
        self.assertEqual(201, self.curl(server, *login, "-d", body, url)[0])
        status, headers, text = self.curl(server, *login, "-d", body, url)
        self.assertEqual(409, status)
        self.assertEqual({"name": "DesiredLRPAlreadyExists", "message": "Desired LRP with guid 'Web_1' already exists"},
                         json.loads(text))
        self.assertEqual("application/json", headers["content-type"])
        self.assertEqual(len(text), int(headers["content-length"]))
        text = self.curl(server, *login, url + "/Web_1")[2]
        self.assertIn('"routes":' + routes, text, "byte for byte")

        shown = server.kubectl("get", "dlrp", "-n", "diego").stdout
        self.assertRegex(shown, r"web-1\.[0-9a-f]{16} +Web_1 +cf-apps +2 +4000,5000 +cf-router,skydns")
        name = re.search(r"web-1\.[0-9a-f]{16}", shown).group(0)
        server.kubectl("patch", "dlrp", name, "-n", "diego", "--type=merge", "-p", '{"spec":{"instances":7}}')
        lrp = json.loads(self.curl(server, *login, url + "/Web_1")[2])
        self.assertEqual(7, lrp["instances"])
        self.assertEqual(1, lrp["modification_tag"]["index"])
        self.assertIn('"routes":' + routes, self.curl(server, *login, url + "/Web_1")[2], "after kubectl's write")
        refused = server.kubectl("patch", "dlrp", name, "-n", "diego", "--type=merge", "-p", '{"spec":{"ports":[1]}}', check=False)
        self.assertIn("immutable", refused.stderr)
        bare = {"apiVersion": "fairlead.dev/v1", "kind": "DesiredLRP", "metadata": {"name": "bare", "namespace": "diego"},
                "spec": {"process_guid": "bare", "domain": "d"}}
        server.kubectl("apply", "-f", "-", stdin=json.dumps(bare))
        for late in ({"ports": [4000]}, {"privileged": True}, {"memory_mb": 64}):
            refused = server.kubectl("patch", "dlrp", "bare", "-n", "diego", "--type=merge", "-p", json.dumps({"spec": late}),
                                     check=False)
            self.assertIn("immutable", refused.stderr, late)
        second = {"apiVersion": "fairlead.dev/v1", "kind": "DesiredLRP", "metadata": {"name": "other", "namespace": "diego"},
                  "spec": {"process_guid": "Web_1", "domain": "d"}}
        refused = server.kubectl("apply", "-f", "-", stdin=json.dumps(second), check=False)
        self.assertIn(f"must be '{name}'", refused.stderr)

        self.assertEqual(204, self.curl(server, *login, "-X", "PUT", "-d", '{"routes":{"a":[1]},"ports":[9]}', url + "/Web_1")[0])
        spec = json.loads(server.kubectl("get", "dlrp", name, "-n", "diego", "-o", "json").stdout)["spec"]
        self.assertEqual({"a": [1]}, spec["routes"])
        self.assertEqual([4000, 5000], spec["ports"])
        server.kubectl("delete", "dlrp", name, "-n", "diego")
        self.assertEqual(404, self.curl(server, *login, url + "/Web_1")[0])

    def test_old_lists_of_names(self):
        server = self.start()
        self.assertEqual(201, server.request("POST", "/v1/desired_lrps", process("web", routes=["foo.com", "bar.com"]))[0])
        self.assertEqual({"cf-router": ["foo.com", "bar.com"]}, server.request("GET", "/v1/desired_lrps/web")[2]["routes"])
        self.assertEqual(204, server.request("PUT", "/v1/desired_lrps/web", {"routes": ["new.com"]})[0])
        spec = json.loads(server.kubectl("get", "dlrp", "web", "-n", "diego", "-o", "json").stdout)["spec"]
        self.assertEqual({"cf-router": ["new.com"]}, spec["routes"])

    def test_who_may(self):
        tokens = self.folder() / "tokens.csv"
        tokens.write_text('tok-a,alice,1\ntok-b,bob,2\n')
        audit = self.folder() / "audit.log"
        server = self.start("--token-auth-file", tokens, "--audit-log", audit, "--receptor-cors-origin", "https://console.example.net")
        server.request("PUT", "/v1/domains/d")  # makes the namespace
        server.kubectl("create", "role", "lrps", "-n", "diego", "--verb=get,list,create", "--resource=desiredlrps.fairlead.dev")
        server.kubectl("create", "rolebinding", "lrps", "-n", "diego", "--role=lrps", "--user=alice")
        url = server.url + "/v1/desired_lrps"
        refused = '{"name":"Unauthorized","message":"Unauthorized"}'
        for bad in ([], ["-u", "alice:nope"], ["-u", "bob:tok-a"], ["-H", "Authorization: Basic !!"],
                    ["-H", "Authorization: Bearer nope"]):
            status, headers, body = self.curl(server, *bad, url)
            self.assertEqual((401, refused), (status, body), bad)
            self.assertEqual('Basic realm="API Authentication"', headers["www-authenticate"])
        self.assertEqual(200, self.curl(server, "-u", "alice:tok-a", url)[0])
        self.assertEqual(200, self.curl(server, "-u", ":tok-a", url)[0], "the token says who")
        self.assertEqual(200, self.curl(server, "-H", "Authorization: Bearer tok-a", url)[0])
        self.assertEqual(201, self.curl(server, "-u", "alice:tok-a", "-d", json.dumps(PROCESS), url)[0])
        status, _, body = self.curl(server, "-u", "alice:tok-a", "-X", "DELETE", url + "/web")
        self.assertEqual(403, status)
        self.assertIn("cannot delete resource", json.loads(body)["message"])
        self.assertEqual(403, self.curl(server, "-u", "alice:tok-a", server.url + "/v1/events")[0], "no right to watch")
        self.assertEqual(403, self.curl(server, "-u", "bob:tok-b", url)[0])
        # Elsewhere Basic is nothing.
        self.assertEqual(401, self.curl(server, "-u", "alice:tok-a", server.url + "/apis/fairlead.dev/v1/namespaces/diego/desiredlrps")[0])

        status, headers, body = self.curl(server, "-u", "alice:tok-a", "-X", "POST", server.url + "/v1/auth_cookie")
        self.assertEqual((204, ""), (status, body))
        cookie = headers["set-cookie"]
        value = base64.b64encode(b"alice:tok-a").decode()
        self.assertTrue(cookie.startswith(f'receptor_authorization="Basic {value}"; '), cookie)
        self.assertIn("HttpOnly; Secure", cookie)
        cookie = ["-H", f"Cookie: other=1; receptor_authorization=\"Basic {value}\""]
        self.assertEqual(200, self.curl(server, *cookie, url)[0])
        self.assertEqual(401, self.curl(server, *cookie, "-H", "Origin: https://evil.example", url)[0], "another site's page")
        self.assertEqual(401, self.curl(server, *cookie, "-H", "Sec-Fetch-Site: cross-site", url)[0])
        status, headers, _ = self.curl(server, *cookie, "-H", "Origin: https://console.example.net", url)
        self.assertEqual((200, "https://console.example.net", "true"),
                         (status, headers["access-control-allow-origin"], headers["access-control-allow-credentials"]))
        status, headers, _ = self.curl(server, "-X", "OPTIONS", "-H", "Origin: https://console.example.net", "-H",
                                       "Access-Control-Request-Method: PUT", "-H", "Access-Control-Request-Headers: x-a", url)
        self.assertEqual((200, "PUT", "x-a"), (status, headers["access-control-allow-methods"], headers["access-control-allow-headers"]))
        status, headers, _ = self.curl(server, "-u", "alice:tok-a", "-H", "Origin: https://evil.example", url)
        self.assertNotIn("access-control-allow-origin", headers)

        def denied():
            lines = [json.loads(line) for line in audit.read_text().splitlines()]
            return [line for line in lines if line["verb"] == "delete" and line["user"]["username"] == "alice"]
        line = until(denied, "the refusal in the audit log")[0]
        self.assertEqual((403, "desiredlrps", "diego", "web"), (line["code"], line["object"]["resource"],
                                                               line["object"]["namespace"], line["object"]["name"]))
        self.assertNotIn("tok-a", audit.read_text())
        metrics = server.request("GET", "/metrics")[2].decode()
        self.assertRegex(metrics, r'apiserver_request_total\{[^}]*resource="desiredlrps"[^}]*subresource="receptor"[^}]*verb="LIST"')

    def test_events_resume_over_a_restart(self):
        server = self.start()
        events = Events(server)
        self.assertEqual(200, events.answer.status)
        self.assertEqual("text/event-stream; charset=utf-8", events.answer.headers["Content-Type"])
        self.assertEqual("no-cache, no-store, must-revalidate", events.answer.headers["Cache-Control"])
        self.assertEqual("keep-alive", events.answer.headers["Connection"])
        until(lambda: events.last, "an id before the first event")
        self.assertEqual(201, server.request("POST", "/v1/desired_lrps", PROCESS)[0])
        self.assertEqual(201, server.request("PUT", "/v1/actual_lrps/web/index/0", INSTANCE)[0])
        until(lambda: len(events.heard) == 2, "two events")
        self.assertEqual(["desired_lrp_created", "actual_lrp_created"], events.names())
        self.assertEqual(59443, events.heard[1][2]["actual_lrp"]["ports"][0]["host_tls_proxy_port"])
        last = events.last
        events.close()
        # What happens while nobody listens, before and after a crash of the server.
        server.request("PUT", "/v1/desired_lrps/web", {"instances": 3})
        server.kill()
        server.start()
        server.request("PUT", "/v1/desired_lrps/web", {"routes": {"cf-router": []}})
        server.request("DELETE", "/v1/actual_lrps/web/index/0")
        events = Events(server, last)
        until(lambda: len(events.heard) >= 3, "what was missed")
        self.assertEqual(["desired_lrp_changed", "desired_lrp_changed", "actual_lrp_removed"], events.names())
        changed = events.heard[0][2]
        self.assertEqual((2, 3), (changed["desired_lrp_before"]["instances"], changed["desired_lrp_after"]["instances"]))
        slim = Events(server, events.last, "/v1/events?view=routing")
        server.request("PUT", "/v1/desired_lrps/web", {"annotation": "not for routing"})
        server.request("PUT", "/v1/desired_lrps/web", {"instances": 1})
        until(lambda: len(slim.heard) == 1, "the one that matters")
        self.assertEqual({"process_guid", "domain", "instances", "ports", "routes", "log_guid", "modification_tag"},
                         set(slim.heard[0][2]["desired_lrp_after"]))
        until(lambda: slim.comments >= 2, "a heartbeat", 60)
        lost = Events(server, "999999999")
        until(lambda: lost.heard, "told that it is lost")
        self.assertEqual("resync", lost.heard[0][1])
        self.assertEqual(400, Events(server, "x").answer.status)
        # A server that stops ends streams, and does not wait for them.
        self.assertEqual(0, server.stop())
        until(lambda: slim.ended, "the end of the stream")

    def test_a_reader_that_does_not_read(self):
        server = self.start("--store", "memory:")
        self.assertEqual(201, server.request("POST", "/v1/desired_lrps", PROCESS)[0])
        stalled = server.connect(timeout=120)
        stalled.connect()
        stalled.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stalled.request("GET", "/v1/events")
        quick = Events(server)
        until(lambda: quick.last, "a reader that reads")
        writes, began = 200, time.monotonic()
        connection = server.connect()
        for number in range(writes):
            connection.request("PUT", "/v1/desired_lrps/web", json.dumps({"annotation": f"{number:05}" + "x" * 10_000}))
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(204, answer.status)
        until(lambda: len(quick.heard) == writes, "all events for the other")
        took = time.monotonic() - began
        self.assertEqual([f"{n:05}" for n in range(writes)], [data["desired_lrp_after"]["annotation"][:5] for _, _, data in quick.heard])
        # It is cut off after the server's write timeout (30 s), and its place is free again.
        def open_streams():
            metrics = server.request("GET", "/metrics")[2].decode()
            found = re.search(r'apiserver_longrunning_requests\{[^}]*subresource="receptor"[^}]*\} (\d+)', metrics)
            return int(found.group(1)) if found else 0
        until(lambda: open_streams() == 1, "the stalled reader is cut off", 120)
        stalled.close()
        print(f"{writes} writes of 10 KiB beside a stalled reader: {took:.1f} s")

    def test_instances_in_bulk_and_domains(self):
        server = self.start()
        items = [{"process_guid": "web", "domain": "d", "index": n, **INSTANCE} for n in range(2_000)]
        began = time.monotonic()
        status, _, answer = server.request("POST", "/v1/actual_lrps/bulk", {"upsert": items, "remove": [{"process_guid": "x", "index": 0}]})
        took = time.monotonic() - began
        self.assertEqual(200, status)
        self.assertEqual([201] * 2_000 + [404], [result["code"] for result in answer["results"]])
        print(f"2,000 instances in bulk: {took:.2f} s")
        self.assertEqual(2_000, len(server.request("GET", "/v1/actual_lrps")[2]))
        self.assertEqual(2_000, len(server.request("GET", "/v1/actual_lrps/web?view=routing")[2]))
        self.assertRegex(server.kubectl("get", "alrp", "web.7", "-n", "diego").stdout, r"web\.7 +web +7 +RUNNING +10.0.0.1 +4000->59001")
        self.assertEqual((404, None), (server.request("GET", "/v1/actual_lrps/web/index/5000")[0], server.request("GET", "/v1/actual_lrps/web/index/5000")[2]))
        self.assertEqual(204, server.request("PUT", "/v1/domains/Apps%20%2F1", headers={"Cache-Control": "max-age=3"})[0])
        self.assertEqual(204, server.request("PUT", "/v1/domains/stay")[0])
        self.assertEqual(["Apps /1", "stay"], server.request("GET", "/v1/domains")[2])
        until(lambda: server.request("GET", "/v1/domains")[2] == ["stay"], "the first has run out")
        self.assertIn("domain-stay", server.kubectl("get", "leases", "-n", "diego").stdout)

    def test_hostile_bodies(self):
        server = self.start()
        status, _, body = server.request("POST", "/v1/desired_lrps", "[" * 100_000)
        self.assertEqual((400, "InvalidJSON"), (status, body["name"]))
        status, _, body = server.request("POST", "/v1/desired_lrps", '{"routes":' + '{"a":' * 60 + "1e999" + "}" * 61)
        self.assertEqual((400, "InvalidJSON"), (status, body["name"]))
        self.assertEqual(413, server.request("POST", "/v1/desired_lrps", "x" * (3 * 1024 * 1024 + 1))[0])
        self.assertEqual(405, server.request("PATCH", "/v1/desired_lrps/web", "{}")[0])
        self.assertEqual(404, server.request("GET", "/v1/cells")[0])
        self.assertEqual(405, server.request("OPTIONS", "/v1/desired_lrps")[0], "no origin is allowed")
        self.assertEqual([], server.request("GET", "/v1/desired_lrps")[2])


if __name__ == "__main__":
    main()
