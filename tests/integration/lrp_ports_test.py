#!/usr/bin/env python3
"""TCP and UDP routes of LRPs, from kubectl to the client: a port is leased, HAProxy or nginx leads it to the instances, and it
is closed to everybody when the lease is over."""

import json
import re
import socket
import threading
import urllib.request

import harness
from harness import ServerTest, until
from lrp_router_test import actual, desired
from router_ports_test import free_ports, resets
from router_world import Backend, RouterProcess, apply, router_object


class UdpBackend:
    """Answers every datagram with its name and what was said."""

    def __init__(self, name):
        self.name = name
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.2)
        self.port = self.socket.getsockname()[1]
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ending.is_set():
            try:
                text, client = self.socket.recvfrom(2048)
                self.socket.sendto(self.name.encode() + b" " + text, client)
            except TimeoutError:
                continue

    def stop(self):
        self.ending.set()
        self.thread.join()
        self.socket.close()


def ask_udp(port):
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.settimeout(1)
        client.connect(("127.0.0.1", port))
        try:
            client.send(b"hello")
            return client.recv(2048).decode()
        except OSError:
            return None


def ask_tcp(port):
    """The back end that answers an HTTP request there; nothing if none does."""
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as client:
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            text = b""
            while part := client.recv(4096):
                text += part
        return json.loads(text.partition(b"\r\n\r\n")[2])["backend"]
    except (OSError, ValueError):
        return None


class LrpPortsTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tcp, cls.udp = sorted(free_ports(2))
        apply(cls.server, router_object(reservablePorts={"tcp": str(cls.tcp), "udp": str(cls.udp), "graceSeconds": 1}))
        cls.router = RouterProcess(cls.server).start()
        cls.addClassCleanup(cls.router.remove)

    def make(self, name, entry, backends):
        for backend in backends:
            self.addCleanup(backend.stop)
        self.server.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": [
                desired(name, [entry], instances=len(backends)),
                *(actual(name, index, {4000: backend.port}) for index, backend in enumerate(backends))]}))

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.router.metrics}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def crash(self, name, index):
        self.server.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-",
                            stdin=json.dumps(actual(name, index, {}, "CRASHED")))

    def test_tcp(self):
        self.make("tcp", {"port": 4000, "protocol": "tcp", "incoming_port": self.tcp}, [Backend("tcp-0"), Backend("tcp-1")])
        until(lambda: {ask_tcp(self.tcp) for _ in range(6)} == {"tcp-0", "tcp-1"}, "both instances answer")
        self.crash("tcp", 0)
        until(lambda: {ask_tcp(self.tcp) for _ in range(6)} == {"tcp-1"}, "one is left")
        self.kubectl("delete", "desiredlrp", "tcp")
        until(lambda: resets(self.tcp), "the lease is over")

    def test_udp(self):
        self.make("udp", {"port": 4000, "protocol": "udp", "incoming_port": self.udp}, [UdpBackend("udp-0"), UdpBackend("udp-1")])
        until(lambda: {ask_udp(self.udp) for _ in range(6)} == {"udp-0 hello", "udp-1 hello"}, "both instances answer")
        self.crash("udp", 1)
        until(lambda: {ask_udp(self.udp) for _ in range(6)} == {"udp-0 hello"}, "one is left")
        # Clients of the worker that the change has ended are over.
        figure = rf'^fairlead_route_requests_total{{code="none",namespace="",route="lrp-port/udp/{self.udp}"}} [1-9]'
        until(lambda: re.search(figure, self.metrics(), re.M), "clients are counted")
        self.kubectl("delete", "desiredlrp", "udp")
        until(lambda: ask_udp(self.udp) is None, "the lease is over")


if __name__ == "__main__":
    harness.main()
