#!/usr/bin/env python3
"""Ports that a Router may lease, as `fairlead router` opens them: the TCP range in HAProxy, nginx for UDP, both following the
Router as it is edited, both gone with it."""

import json
import random
import socket

import harness
from harness import ServerTest, until
from router_world import Backend, RouterProcess, apply, router_object, service_objects
from router_test import route_object


def free_ports(count):
    """Below those that the system gives to outgoing connections: one of them would be somebody else's for a while."""
    found = set()
    while len(found) < count:
        port = random.randrange(12000, 32000)
        try:
            with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
                tcp.bind(("127.0.0.1", port))
                udp.bind(("127.0.0.1", port))
            found.add(port)
        except OSError:
            continue
    return found


def resets(port):
    """Somebody listens there, and takes nobody: the port has no lease."""
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except OSError:
        return False


def refused(port):
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
        return False
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        return False


class RouterPortsTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.one = Backend("one")
        cls.addClassCleanup(cls.one.stop)
        cls.ports = sorted(free_ports(3))
        cls.reserve(cls.ports[:2], [])
        apply(cls.server, *service_objects("web", cls.one), route_object("web", "web.test"))
        cls.router = RouterProcess(cls.server).start()
        cls.addClassCleanup(cls.router.remove)
        cls.router.answers("web.test", backend="one")

    @classmethod
    def reserve(cls, tcp, udp):
        ports = {name: ",".join(str(port) for port in each) for name, each in (("tcp", tcp), ("udp", udp)) if each}
        apply(cls.server, router_object(**({"reservablePorts": ports} if ports else {})))

    def message(self):
        return json.loads(self.kubectl("get", "routerinstance", "edge-1", "-o", "json").stdout)["status"].get("message", "")

    def test_ports_follow_the_router(self):
        first, second, third = self.ports
        until(lambda: resets(first) and resets(second), "the range is open, and no port of it is leased")
        self.assertTrue(refused(third))
        self.assertIsNone(self.router.nginx_pid(), "there are no UDP ports")
        haproxy = self.router.haproxy_pid()

        self.reserve([first, third], [second])
        until(lambda: resets(third), "the new port is open")
        until(lambda: refused(second), "the old one is not")
        until(self.router.nginx_pid, "nginx runs for the UDP port")
        self.assertEqual(self.router.haproxy_pid(), haproxy, "a reload, and no restart")
        self.router.answers("web.test", backend="one")

        # One of its own ports cannot be leased: what was goes on, and it says why.
        self.reserve([first, third, self.router.status], [second])
        until(lambda: "where this instance serves its status" in self.message(), "the instance says why")
        self.assertTrue(resets(third))
        self.router.answers("web.test", backend="one")

        # A router that is killed leaves both proxies, and the next one takes them over.
        self.reserve([first, third], [second])
        until(lambda: "status" not in self.message(), "it is mended")
        nginx = self.router.nginx_pid()
        self.router.kill()
        self.assertTrue(resets(first))
        self.router.start()
        self.assertEqual((self.router.haproxy_pid(), self.router.nginx_pid()), (haproxy, nginx))

        self.reserve([], [])
        until(lambda: refused(first) and refused(third), "no port is open")
        until(lambda: self.router.nginx_pid() is None, "nginx has nothing to do any more")
        self.router.answers("web.test", backend="one")

        self.reserve([], [second])
        until(self.router.nginx_pid, "nginx is back")
        self.router.stop()
        until(lambda: self.router.nginx_pid() is None, "nginx ends with its router")


if __name__ == "__main__":
    harness.main()
