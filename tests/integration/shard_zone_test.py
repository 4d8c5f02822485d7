#!/usr/bin/env python3
"""Names of routers and of routes on them, through kubectl and dig: zones of shards, instances that come and go, hosts of
users' own, other providers, and the layout of the proposal that this began with, exported as zone files."""

import http.server
import json
import re
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from dns_tools import free_port, zone
from harness import ROOT, ServerTest, main, route, until
from route53_emulator import Emulator

SYSTEM = "fairlead-system"
ROUTERS = "/apis/fairlead.dev/v1/routers"
INSTANCES = "/apis/fairlead.dev/v1/routerinstances"
BINDINGS = "/apis/fairlead.dev/v1/namespaces/default/routebindings"
MERGE = {"Content-Type": "application/merge-patch+json"}
OUT_OF_DNS_SECONDS = 2.0
EXPECTED = ROOT / "tests" / "data" / "zones"


class Instance:
    """Stands for a router's process: /healthz on an address of its own."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/healthz" else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    def __init__(self, address, port=0):
        self.address = address
        self.port = port
        self.server = None
        self.start()

    def start(self):
        self.server = http.server.ThreadingHTTPServer((self.address, self.port), self.Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def die(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None


def router(name, dns, label=None, **spec):
    return {"apiVersion": "fairlead.dev/v1", "kind": "Router", "metadata": {"name": name},
            "spec": {"dns": dns, "label": label or f"shard={name}", **spec}}


class ShardWorld:
    """Of a ServerTest: objects, and instances that register."""

    def manifest(self, *objects):
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})

    def apply(self, *objects):
        self.kubectl("apply", "-f", "-", stdin=self.manifest(*objects))

    def send(self, method, path, body, *good):
        status, _, answer = self.server.request(method, path, body, MERGE if method == "PATCH" else {"Content-Type": "application/json"})
        self.assertIn(status, good or (200, 201), answer)
        return answer

    def register(self, name, of, instance):
        self.send("POST", INSTANCES, {"apiVersion": "fairlead.dev/v1", "kind": "RouterInstance", "metadata": {"name": name},
                                      "spec": {"router": of, "address": instance.address,
                                               "probe": f"{instance.address}:{instance.port}"}})
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.send("PATCH", f"{INSTANCES}/{name}/status",
                  {"status": {"renewTime": now, "leaseDurationSeconds": 3600, "ready": True}})
        self.addCleanup(instance.die)


class ShardZoneTest(ShardWorld, ServerTest):
    maxDiff = None

    def answers(self, name, kind="A"):
        return sorted(self.server.dig("+short", name, kind).split())

    def served(self, name, *wanted, kind="A", seconds=30):
        """How long it took until the answer is this one."""
        last, begin = [], time.monotonic()

        def look():
            last[:] = self.answers(name, kind)
            return last == sorted(wanted)
        try:
            until(look, f"{name} {kind} is {wanted}", seconds)
        except AssertionError as problem:
            raise AssertionError(f"{problem}; it is {last}") from None
        return time.monotonic() - begin

    def place(self, name, of, dns):
        """Binds as the scheduler would; it may have done so already."""
        self.send("POST", BINDINGS, {"apiVersion": "fairlead.dev/v1", "kind": "RouteBinding", "metadata": {"name": name},
                                     "routeName": name, "router": of, "dns": dns})

    def test_1_instances_come_and_go(self):
        self.apply(router("blue", "blue.routers.example"))
        one, two = Instance("127.0.0.11"), Instance("127.0.0.12")
        self.register("edge-1", "blue", one)
        self.register("edge-2", "blue", two)
        self.served("blue.routers.example", one.address, two.address)
        self.served("default-shop.blue.routers.example", one.address, two.address)
        self.kubectl("wait", "router/blue", "--for=condition=Ready", "--for=condition=ZoneReady", "--timeout=30s")
        self.assertRegex(self.server.dig("blue.routers.example"), r"blue.routers.example.\s+30\s+IN\s+A\s")
        self.assertIn("ns1.blue.routers.example.", self.answers("blue.routers.example", "NS"))
        self.assertTrue(self.answers("ns1.blue.routers.example"), "glue")
        self.assertRegex(self.kubectl("get", "router", "blue").stdout, r"blue .* 2/2 ")

        taken = []
        for _ in range(3):
            one.die()
            taken.append(self.served("x.blue.routers.example", two.address))
            one.start()
            self.served("x.blue.routers.example", one.address, two.address)
        print(f"out of DNS after {', '.join(f'{each:.2f}' for each in taken)} s")
        self.assertLess(max(taken), OUT_OF_DNS_SECONDS)
        # An instance that hangs is no better than one that is gone.
        one.die()
        with socket.socket() as silent:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            silent.bind((one.address, one.port))
            silent.listen(1)
            hung = self.served("x.blue.routers.example", two.address)
        print(f"out of DNS {hung:.2f} s after it hung")
        self.assertLess(hung, OUT_OF_DNS_SECONDS)

        two.die()
        self.served("x.blue.routers.example", one.address, two.address)
        self.kubectl("wait", "router/blue", "--for=condition=Ready=False", "--timeout=30s")
        one.start()
        self.served("x.blue.routers.example", one.address)
        events = self.kubectl("get", "events", "-A").stdout
        self.assertIn("InstanceNotReady", events)
        metrics = self.server.request("GET", "/metrics")[2].decode()
        self.assertIn('fairlead_router_instances{router="blue",state="ready"} 1', metrics)

    def test_2_the_passive_one_takes_over(self):
        port = free_port("127.0.0.21")
        one, two = Instance("127.0.0.21", port), Instance("127.0.0.22", port)
        self.addCleanup(one.die)
        self.addCleanup(two.die)
        self.apply(router("green", "green.routers.example", haMode="ActivePassive", addresses=[one.address, two.address],
                          ports={"http": port, "https": port + 1 if port < 65535 else port - 1}))
        self.served("green.routers.example", one.address)
        self.kubectl("wait", "router/green", "--for=condition=Ready", "--timeout=30s")
        self.served("green.routers.example", one.address)
        one.die()
        self.assertLess(self.served("any.green.routers.example", two.address), OUT_OF_DNS_SECONDS)
        # The first comes back: nobody is sent to and fro.
        one.start()
        until(lambda: "2/2" in self.kubectl("get", "router", "green").stdout, "both are ready")
        self.assertEqual([two.address], self.answers("green.routers.example"))

    def test_3_hosts_of_users(self):
        one = Instance("127.0.0.31")
        self.apply(router("red", "red.routers.example", wildcardPolicy="WildcardsAllowed"),
                   {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}},
                   zone("acme", "acme.example", nameServers=[{"name": "ns1.acme.example", "addresses": ["127.0.0.1"]}]))
        self.register("red-1", "red", one)
        labels = {"shard": "red"}
        for made in (route("www", host="www.acme.example"), route("apex", host="acme.example"),
                     route("any", host="one.any.acme.example", wildcardPolicy="Subdomain")):
            made["metadata"]["labels"] = labels
            self.apply(made)
            self.place(made["metadata"]["name"], "red", "red.routers.example")
        self.served("www.acme.example", "red.routers.example.", one.address)
        self.served("acme.example", one.address)
        self.served("two.any.acme.example", "red.routers.example.", one.address)
        text = self.export("acme.example")
        self.assertRegex(text, r"(?m)^www\.acme\.example\.\t30\tIN\tCNAME\tred\.routers\.example\.$")
        # The apex follows the instances.
        two = Instance("127.0.0.32")
        self.register("red-2", "red", two)
        self.served("acme.example", one.address, two.address)
        one.die()
        self.assertLess(self.served("acme.example", two.address), OUT_OF_DNS_SECONDS)
        self.kubectl("delete", "route", "www")
        self.served("www.acme.example")

    def test_4_drained(self):
        self.apply(router("grey", "grey.routers.example", addresses=["127.0.0.1"]))
        self.kubectl("patch", "router", "grey", "--type=merge", "-p", '{"spec":{"drain":true}}')
        self.kubectl("wait", "router/grey", "--for=condition=Drained", "--timeout=30s")

    def test_5_a_router_that_is_deleted_leaves_no_name(self):
        self.apply(router("brief", "brief.routers.example", addresses=["127.0.0.1"]))
        self.served("brief.routers.example", "127.0.0.1")
        self.kubectl("delete", "router", "brief")
        self.served("brief.routers.example")
        until(lambda: "router-brief" not in self.kubectl("get", "managedzone,dnsrecord", "-n", SYSTEM).stdout, "all is gone")

    def test_5_a_zone_around_it_delegates(self):
        self.apply(zone("around", "around.example", nameServers=[{"name": "ns1.around.example", "addresses": ["127.0.0.1"]}]),
                   router("inner", "inner.around.example", addresses=["127.0.0.1"],
                          nameServers=[{"name": "ns1.inner.around.example", "addresses": ["127.0.0.1"]}]))
        self.served("any.inner.around.example", "127.0.0.1")
        text = self.export("around.example")
        self.assertRegex(text, r"(?m)^inner\.around\.example\.\t\d+\tIN\tNS\tns1\.inner\.around\.example\.$")
        self.assertRegex(text, r"(?m)^ns1\.inner\.around\.example\.\t\d+\tIN\tA\t127\.0\.0\.1$")

    def test_6_another_provider(self):
        emulator = Emulator((("cloud.example", "ZCLOUD", False),)).start()
        self.addCleanup(emulator.stop)
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "aws", "namespace": SYSTEM},
                  "stringData": {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}}
        cloud = zone("cloud", "cloud.example", provider="route53", dnsProviderSecretRef={"name": "aws"},
                     deletionGuard={"maxPercent": 100}, route53={"endpoint": emulator.url, "requestsPerSecond": 100})
        cloud["metadata"]["namespace"] = SYSTEM
        one, two = Instance("127.0.0.41"), Instance("127.0.0.42")
        self.apply(secret, cloud, router("cloud", "edge.cloud.example"))
        self.register("cloud-1", "cloud", one)
        self.register("cloud-2", "cloud", two)

        def sets():
            found = emulator.state()["zones"]["ZCLOUD"]
            return {s["Name"]: sorted(s["ResourceRecords"]) for s in found if s["Type"] == "A"}
        names = ("edge.cloud.example.", "*.edge.cloud.example.")
        until(lambda: sets() == dict.fromkeys(names, [one.address, two.address]), "Route 53 has both")
        self.kubectl("wait", "router/cloud", "--for=condition=ZoneReady", "--timeout=30s")
        self.assertNotIn("router-cloud", self.kubectl("get", "managedzone", "-n", SYSTEM).stdout)
        one.die()
        until(lambda: sets() == dict.fromkeys(names, [two.address]), "Route 53 has the other")

    def export(self, domain):
        text = self.server.cli("zone", "export", domain).stdout
        with tempfile.NamedTemporaryFile("w", suffix=".zone") as file:
            file.write(text)
            file.flush()
            checked = subprocess.run(["named-checkzone", "-i", "local", domain, file.name], capture_output=True, text=True,
                                     timeout=60)
        self.assertEqual(0, checked.returncode, checked.stdout + text)
        return text

    def test_7_the_layout_of_the_proposal(self):
        """Its two shards and the user's zone. The addresses are nobody's: none is ready, so that all stay."""
        def server_of(domain):
            return [{"name": f"ns1.{domain}", "addresses": ["127.0.0.1"]}]
        shards = {"shard1": ["10.245.2.2", "10.245.2.3"], "shard2": ["10.245.2.4", "10.245.2.5"]}
        for name, addresses in shards.items():
            domain = f"{name}.v3.rhcloud.com"
            self.apply(router(name, domain, addresses=addresses, nameServers=server_of(domain)))
            self.served(domain, *addresses)
        self.apply(zone("user", "example.com", nameServers=server_of("example.com")))
        www = route("seed", host="www.example.com")
        www["metadata"]["labels"] = {"shard": "shard1"}
        self.apply(www)
        self.place("seed", "shard1", "shard1.v3.rhcloud.com")
        self.served("www.example.com", "shard1.v3.rhcloud.com.", *shards["shard1"])
        for file, domain in (("shard1", "shard1.v3.rhcloud.com"), ("shard2", "shard2.v3.rhcloud.com"),
                             ("user_supplied", "example.com")):
            with self.subTest(file):
                # The serial grows with every change.
                text = re.sub(r"(?m)^(\S+\t\d+\tIN\tSOA\t\S+ \S+) \d+ ", r"\1 SERIAL ", self.export(domain))
                text = re.sub(r"(?m)^; end of zone.*\n", "", text)
                lines = [line for line in text.splitlines() if not line.startswith(";")]
                self.assertEqual((EXPECTED / f"{file}.zone").read_text().splitlines(), lines)


if __name__ == "__main__":
    main()
