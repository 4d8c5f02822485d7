#!/usr/bin/env python3
"""TCP and UDP routes of LRPs, from kubectl to the client: a port is leased, HAProxy or nginx leads it to the instances, and it
is closed to everybody when the lease is over, and not before, though the Router reserves it no more."""

import json
import re
import socket
import threading
import urllib.request

import harness
from harness import ServerTest, until
from lrp_router_test import actual, desired
from router_ports_test import free_ports, refused, resets
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


class EchoBackend:
    """Says again what it is told, for as long as it is connected."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    @staticmethod
    def serve(client):
        with client:
            while text := client.recv(4096):
                client.sendall(text)

    def stop(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def echoed(connection, text):
    connection.sendall(text)
    return connection.recv(4096) == text


def echoes(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as client:
            return echoed(client, b"hello")
    except OSError:
        return False


class LrpPortsTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tcp, cls.udp = sorted(free_ports(2))
        cls.reserve(tcp=str(cls.tcp), udp=str(cls.udp))
        cls.router = RouterProcess(cls.server).start()
        cls.addClassCleanup(cls.router.remove)

    @classmethod
    def reserve(cls, **ports):
        apply(cls.server, router_object(reservablePorts={**ports, "graceSeconds": 1}))

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

    def test_a_range_that_shrinks_leaves_owners_their_ports(self):
        held, free, udp = sorted(free_ports(3))
        self.reserve(tcp=f"{self.tcp},{held},{free}", udp=f"{self.udp},{udp}")
        echo = EchoBackend()
        self.make("held", {"port": 4000, "protocol": "tcp", "incoming_port": held}, [echo])
        self.make("held-udp", {"port": 4000, "protocol": "udp", "incoming_port": udp}, [UdpBackend("held-udp")])
        until(lambda: echoes(held), "the port is served")
        until(lambda: ask_udp(udp) == "held-udp hello", "the UDP port is served")
        until(lambda: resets(free), "the other one is open")
        with socket.create_connection(("127.0.0.1", held), 5) as kept:
            self.assertTrue(echoed(kept, b"before"))
            self.reserve(tcp=str(self.tcp), udp=str(self.udp))
            until(lambda: refused(free), "what nobody has is closed")
            for _ in range(20):
                self.assertTrue(echoes(held), "the owner keeps its port")
            self.assertTrue(echoed(kept, b"after"), "who was connected still is")
        self.assertEqual("held-udp hello", ask_udp(udp))
        lease = json.loads(self.kubectl("get", "portlease", f"edge.tcp.{held}", "-o", "json").stdout)
        self.assertEqual([("InRange", "False")], [(c["type"], c["status"]) for c in lease["status"]["conditions"]])
        # The next agent does not know of the leases at once.
        self.router.kill()
        self.router.start()
        for _ in range(20):
            self.assertTrue(echoes(held), "a restart changes nothing")
        self.kubectl("delete", "desiredlrp", "held", "held-udp")
        until(lambda: refused(held), "with the lease the port goes")

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
