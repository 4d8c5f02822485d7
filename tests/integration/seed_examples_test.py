#!/usr/bin/env python3
"""The examples of Diego's proposal for routing 2.0, from HTTP to everything that comes out: each tests/data/lrp/seed-*.json is
posted to the Receptor API as it stands, and its table must be what a gorouter holds that hears of it over a real nats-server,
what HAProxy answers, what leased ports lead to and what DNS says."""

import http.server
import json
import os
import re
import socket
import threading

from dns_tools import records, short
from emitter_tools import EmitterScene
from harness import ROOT, main, until
from router_world import RouterProcess, apply, router_object

EXAMPLES = {file.stem: json.loads(file.read_text()) for file in sorted((ROOT / "tests" / "data" / "lrp").glob("seed-*.json"))}
NAMES = {name for example in EXAMPLES.values() for name in example["table"]}
LEASED = {tuple(row.split()[:2]) for example in EXAMPLES.values() for row in example.get("ports", [])}
# The addresses of the examples are nobody's here. These are of this machine, and of this run alone.
HERE = f"127.{100 + os.getpid() % 100}.{os.getpid() // 100 % 250}."
ROUTER = HERE + "250"


def here(text):
    return re.sub(r"\b10\.10\.1\.(\d+)", HERE + r"\1", text)


class Instance:
    """What listens on a port of an example: HTTP and datagrams, both answered with "address:port"."""

    def __init__(self, address, port):
        name = f"{address}:{port}".encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(name)))
                self.end_headers()
                self.wfile.write(name)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((address, port), Handler)
        self.udp = socket.socket(type=socket.SOCK_DGRAM)
        self.udp.bind((address, port))

        self.udp.settimeout(0.2)
        self.ending = threading.Event()

        def answer():
            while not self.ending.is_set():
                try:
                    _, client = self.udp.recvfrom(2048)
                    self.udp.sendto(name, client)
                except TimeoutError:
                    continue
        self.threads = [threading.Thread(target=each, daemon=True) for each in (self.server.serve_forever, answer)]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.ending.set()
        self.server.shutdown()
        for thread in self.threads:
            thread.join()
        self.server.server_close()
        self.udp.close()


def ask_port(protocol, port):
    """Who answers at a port of the router; nothing if nobody does."""
    try:
        with socket.socket(type=socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM) as client:
            client.settimeout(2)
            client.connect((ROUTER, port))
            client.send(b"GET / HTTP/1.0\r\n\r\n")
            text = b""
            while part := client.recv(4096):
                text += part
                if protocol == "udp":
                    break
            return text.rpartition(b"\n")[2].decode()
    except OSError:
        return None


class SeedExamplesTest(EmitterScene):
    def setUp(self):
        super().setUp()
        self.receptor("PUT", "domains/cf", None, 204)  # makes the namespace
        ranges = {protocol: ",".join(port for each, port in LEASED if each == protocol) for protocol in ("tcp", "udp")}
        apply(self.server, router_object(reservablePorts=ranges),
              {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone", "metadata": {"name": "sky", "namespace": "diego"},
               "spec": {"domainName": "skydns.local"}})
        self.emitter("emitter")
        self.proxy = RouterProcess(self.server)
        self.proxy.address = ROUTER
        self.proxy.start()
        self.addCleanup(self.proxy.remove)
        host, _, port = self.server.dns_listen.rpartition(":")
        self.dns = host, int(port)

    def post(self, example):
        """Everything that the Receptor asks for beyond what an example says is the same for all."""
        for lrp in example["desired"]:
            self.receptor("POST", "desired_lrps", {"rootfs": "preloaded:cflinuxfs4", "action": {"run": {"path": "/bin/web", "user": "vcap"}},
                                                   **lrp}, 201)
        actual = [{"cell_id": "cell-1", **lrp, "address": here(lrp["address"])} for lrp in example["actual"]]
        for lrp in actual:
            for port in lrp["ports"]:
                self.addCleanup(Instance(lrp["address"], port["host_port"]).stop)
        first, *others = actual
        self.receptor("PUT", f"actual_lrps/{first['process_guid']}/index/{first['index']}", first, 201)
        status, _, answer = self.server.request("POST", "/v1/actual_lrps/bulk", {"upsert": others})
        self.assertEqual((200, [201] * len(others)), (status, [each["code"] for each in answer["results"]]), answer)
        return actual

    def behind(self, actual, container_port):
        """"address:port" of all instances."""
        return {f"{lrp['address']}:{port['host_port']}" for lrp in actual for port in lrp["ports"]
                if port["container_port"] == container_port}

    def answered(self, name, wanted, redirect):
        scheme = "https" if redirect else "http"
        ask = lambda: self.proxy.curl(name, "/", "-k", scheme=scheme, check=False)
        seen = []

        def right():
            seen[:] = [ask() for _ in range(4 * len(wanted))]
            return {status for status, _ in seen} == {200} and {body for _, body in seen} == wanted
        try:
            until(right, "")
        except AssertionError:
            raise AssertionError(f"{scheme}://{name} leads to {seen}, not to {wanted}: {self.proxy.log_text()[-2000:]}") from None
        if redirect:
            self.proxy.answers(name, status=302)

    def dns_says(self, row, actual):
        host, container_port, priority = re.fullmatch(r"(\S+) (\d+) priority (\d+)", row).groups()
        wanted = self.behind(actual, int(container_port))

        def right():
            answers = [data.split() for _, _, kind, data in records(self.dns, host, "SRV") if kind == "SRV"]
            return len(answers) == len(wanted) and {each[0] for each in answers} == {priority} and \
                {f"{address}:{each[2]}" for each in answers for address in short(self.dns, each[3], "A")} == wanted
        until(right, f"SRV of {host}: {wanted}")
        self.assertEqual(sorted(each.split(":")[0] for each in wanted), short(self.dns, host, "A"))

    def told(self, example):
        messages = []
        for lrp in json.loads(self.server.kubectl("get", "desiredlrps", "-n", "diego", "-o", "json").stdout)["items"]:
            messages += [each["message"] for each in lrp.get("status", {}).get("conditions", []) if each["status"] == "False"]
        return len(messages) == len(example.get("problems", [])) and \
            all(any(problem in message for message in messages) for problem in example.get("problems", []))

    def check(self, example):
        actual = self.post(example)
        table = {name: here(line).split() for name, line in example["table"].items()}
        members = {name: {word for word in words if ":" in word} for name, words in table.items()}
        for row in example.get("sky", []):
            self.dns_says(row, actual)
        until(lambda: self.told(example), f"conditions tell {example.get('problems', [])} and no more")
        self.router.until({(name, member) for name, each in members.items() for member in each}, "the table")
        for name, words in table.items():
            self.answered(name, members[name], "redirect" in words)
        for name in NAMES - set(table):
            self.proxy.answers(name, status=404)
        for row in example.get("ports", []):
            protocol, port, container_port = re.fullmatch(r"(tcp|udp) (\d+) to (\d+)", row).groups()
            until(lambda: ask_port(protocol, int(port)) in self.behind(actual, int(container_port)), row)
        for lrp in example["desired"]:
            routes = lrp["routes"] if isinstance(lrp["routes"], dict) else {"cf-router": lrp["routes"]}
            self.assertEqual(routes, self.server.request("GET", f"/v1/desired_lrps/{lrp['process_guid']}")[2]["routes"])
            self.receptor("DELETE", f"desired_lrps/{lrp['process_guid']}", None, 204)
        self.router.until(set(), "nothing is left")
        for name in table:
            self.proxy.answers(name, status=404)


for stem, example in EXAMPLES.items():
    setattr(SeedExamplesTest, "test_" + stem.replace("-", "_"), lambda self, example=example: self.check(example))

if __name__ == "__main__":
    main()
