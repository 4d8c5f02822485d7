"""Scheduling through the real server: a strategy of the user's own over HTTP and HTTPS, draining, deletion, and
`fairlead rebalance`."""
import http.server
import json
import ssl
import subprocess
import threading
from pathlib import Path

from harness import ServerTest, main, route, until

ROUTERS = "/apis/fairlead.dev/v1/routers"
ROUTES = "/apis/route.openshift.io/v1/namespaces/default/routes"


class Chooser(http.server.BaseHTTPRequestHandler):
    """Takes the router that the route's annotation asks for."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        wish = body["route"]["metadata"].get("annotations", {}).get("wish", "")
        if wish == "slow":
            self.server.slow.wait(20)
        answer = json.dumps({"router": wish}).encode()
        self.send_response(500 if wish == "broken" else 200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        try:
            self.wfile.write(answer)
        except OSError:
            pass  # the scheduler has stopped waiting

    def log_message(self, *_):
        pass


class Webhook:
    def __init__(self, certificate=None, key=None):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Chooser)
        self.server.daemon_threads = True
        self.server.asked = []
        self.server.slow = threading.Event()
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.slow.set()
        self.server.shutdown()
        self.server.server_close()


class ScheduleTest(ServerTest):
    def make_router(self, name, **spec):
        status, _, answer = self.server.request("POST", ROUTERS, {
            "apiVersion": "fairlead.dev/v1", "kind": "Router", "metadata": {"name": name},
            "spec": {"dns": f"{name}.example.net", **spec}})
        self.assertEqual(201, status, answer)

    def make_route(self, name, labels=None, wish=None):
        body = route(name, host=name)
        body["metadata"].update(labels=labels or {}, annotations={"wish": wish} if wish else {})
        status, _, answer = self.server.request("POST", ROUTES, body)
        self.assertEqual(201, status, answer)

    def status(self, name):
        return self.server.request("GET", f"{ROUTES}/{name}")[2].get("status", {})

    def scheduled(self, name):
        return next((c for c in self.status(name).get("conditions", []) if c["type"] == "Scheduled"), {})

    def is_on(self, name, router):
        until(lambda: self.status(name).get("router") == router, f"route {name} is on router {router}")

    def tearDown(self):
        for path in (ROUTES, ROUTERS):
            self.server.request("DELETE", path)
        until(lambda: not self.server.request("GET", ROUTES)[2]["items"], "the routes are gone")


class Scheduling(ScheduleTest):
    def test_kubectl_waits_for_the_condition(self):
        self.make_route("early")
        until(lambda: self.scheduled("early").get("reason") == "NoRouter", "the route says what it waits for")
        self.make_router("east")
        self.kubectl("wait", "route/early", "--for=condition=Scheduled", "--timeout=30s")
        self.assertEqual("default-early.east.example.net", self.status("early")["host"])

    def test_a_deleted_router_gives_its_routes_back(self):
        self.make_router("east")
        for i in range(20):
            self.make_route(f"r{i}")
        for i in range(20):
            self.is_on(f"r{i}", "east")
        self.make_router("west")
        self.kubectl("delete", "router", "east")
        for i in range(20):
            self.is_on(f"r{i}", "west")

    def test_draining_moves_routes_away(self):
        self.make_router("east")
        self.make_route("r")
        self.is_on("r", "east")
        self.make_router("west")
        self.kubectl("patch", "router", "east", "--type=merge", "-p", '{"spec":{"drain":true}}')
        self.is_on("r", "west")
        self.assertEqual(["default-r.east.example.net"], [f["host"] for f in self.status("r")["former"]])


class Rebalance(ScheduleTest):
    def test_shows_and_moves(self):
        nothing = self.server.cli("rebalance", "--dry-run")
        self.assertIn("nothing to move", nothing.stdout)
        self.make_router("a")
        for i in range(6):
            self.make_route(f"r{i}")
        for i in range(6):
            self.is_on(f"r{i}", "a")
        self.make_router("b")
        shown = json.loads(self.server.cli("rebalance", "--dry-run", "-o", "json").stdout)
        self.assertEqual([("default/r3", "a", "b"), ("default/r4", "a", "b"), ("default/r5", "a", "b")],
                         [(m["route"], m["from"], m["to"]) for m in shown["moves"]])
        self.assertEqual(("default-r3.a.example.net", "default-r3.b.example.net"),
                         (shown["moves"][0]["host"], shown["moves"][0]["hostAfter"]))
        self.assertEqual([("a", 6, 3), ("b", 0, 3)],
                         [(r["name"], r["routes"], r["routesAfter"]) for r in shown["routers"]])
        self.assertEqual("a", self.status("r5")["router"])
        table = self.server.cli("rebalance", "--dry-run").stdout
        self.assertRegex(table, r"ROUTE +FROM +TO +NAME +NAME AFTER\ndefault/r3 +a +b +default-r3.a.example.net +default-r3.b")
        moved = self.server.cli("rebalance", "--per-minute", "6000").stdout
        self.assertIn("moved default/r5 from a to b (3 of 3)", moved)
        self.assertEqual(["a"] * 3 + ["b"] * 3, [self.status(f"r{i}")["router"] for i in range(6)])
        self.assertEqual("a", self.status("r5")["former"][0]["router"])
        self.assertIn("nothing to move", self.server.cli("rebalance").stdout)

    def test_one_set_only_and_wrong_usage(self):
        self.make_router("a", label="shard=a")
        self.make_route("r0", labels={"shard": "a"})
        self.make_route("r1", labels={"shard": "a"})
        self.is_on("r0", "a")
        self.is_on("r1", "a")
        self.make_router("b", label="shard=a")
        self.make_router("rest")
        shown = json.loads(self.server.cli("rebalance", "--dry-run", "-l", "shard=a", "-o", "json").stdout)
        self.assertEqual((1, ["a", "b"]), (len(shown["moves"]), [r["name"] for r in shown["routers"]]))
        shown = json.loads(self.server.cli("rebalance", "--dry-run", "-l", "", "-o", "json").stdout)
        self.assertEqual(([], ["rest"]), (shown["moves"], [r["name"] for r in shown["routers"]]))
        for wrong in (("-l", "shard=none"), ("--per-minute", "0"), ("--strategy", "random"), ("-o", "yaml")):
            self.assertEqual(2, self.server.cli("rebalance", *wrong, check=False).returncode, wrong)


class RebalanceOfServedRoutes(ScheduleTest):
    """Without controllers: the test says who serves."""
    SERVE_ARGS = ("--roles", "api")

    def serve(self, name):
        condition = {"type": "Serving", "status": "True", "reason": "Test", "message": "served",
                     "lastTransitionTime": "2026-01-01T00:00:00Z"}
        current = self.server.request("GET", f"{ROUTES}/{name}")[2]
        others = [c for c in current["status"]["conditions"] if c["type"] != "Serving"]
        status, _, answer = self.server.request(
            "PATCH", f"{ROUTES}/{name}/status", {"status": {"conditions": [*others, condition]}},
            {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(200, status, answer)

    def setUp(self):
        self.make_router("a")
        self.make_router("b")
        for i in range(4):
            self.make_route(f"r{i}")
            status, _, answer = self.server.request("POST", "/apis/fairlead.dev/v1/namespaces/default/routebindings", {
                "apiVersion": "fairlead.dev/v1", "kind": "RouteBinding", "metadata": {"name": "b"}, "routeName": f"r{i}",
                "router": "a", "dns": "a.example.net"})
            self.assertEqual(201, status, answer)
            self.serve(f"r{i}")

    def test_stops_at_the_first_that_is_not_served(self):
        stopped = self.server.cli("rebalance", "--serving-timeout", "300ms", check=False)
        self.assertEqual(1, stopped.returncode, stopped.stdout)
        self.assertIn("default/r2 from a to b (1 of 2) was moved and is not served there within 0.3s", stopped.stderr)
        self.assertEqual(["a", "a", "b", "a"], [self.status(f"r{i}")["router"] for i in range(4)])
        # Run again, it goes on with what is left.
        again = self.server.cli("rebalance", "--serving-timeout", "0s")
        self.assertIn("moved default/r3 from a to b (1 of 1)\n", again.stdout)

    def test_goes_on_when_the_route_is_served(self):
        def answer():
            for name in ("r2", "r3"):
                until(lambda n=name: self.status(n)["router"] == "b", f"{name} is moved")
                self.serve(name)

        serving = threading.Thread(target=answer)
        serving.start()
        moved = self.server.cli("rebalance")
        serving.join()
        self.assertIn("moved default/r3 from a to b (2 of 2), served\n", moved.stdout)


class OwnStrategy(ScheduleTest):
    def test_over_http(self):
        webhook = Webhook()
        self.addCleanup(webhook.close)
        self.make_router("a", strategy={"name": "webhook", "parameters": {
            "url": f"http://127.0.0.1:{webhook.port}/choose", "timeout": "500ms", "fallback": "fail"}})
        self.make_router("b", capacity=7)
        self.make_route("one", wish="b")
        self.make_route("two", wish="a")
        self.is_on("one", "b")
        self.is_on("two", "a")
        asked = next(body for body in webhook.server.asked if body["route"]["metadata"]["name"] == "one")
        self.assertEqual(["a", "b"], [router["name"] for router in asked["routers"]])
        self.assertEqual(7, asked["routers"][1]["capacity"])
        for wish, why in (("broken", "HTTP 500"), ("nobody", "it chose router 'nobody'"), ("slow", "no answer within")):
            self.make_route(wish, wish=wish)
            until(lambda name=wish, text=why: text in self.scheduled(name).get("message", ""), f"{wish}: {why}")
        self.make_route("three", wish="b")
        self.is_on("three", "b")  # while the others wait

    def test_over_https_with_an_authority(self):
        files = Path(self.server.data)
        certificate, key = files / "hook.crt", files / "hook.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        webhook = Webhook(certificate, key)
        self.addCleanup(webhook.close)
        parameters = {"url": f"https://127.0.0.1:{webhook.port}/", "fallback": "fail"}
        self.make_router("a", strategy={"name": "webhook", "parameters": parameters})
        self.make_route("one", wish="a")
        until(lambda: "certificate" in self.scheduled("one").get("message", ""), "an unknown authority is not trusted")
        patch = {"spec": {"strategy": {"parameters": {"ca": certificate.read_text()}}}}
        self.kubectl("patch", "router", "a", "--type=merge", "-p", json.dumps(patch))
        self.is_on("one", "a")


if __name__ == "__main__":
    main()
