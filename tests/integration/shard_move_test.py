#!/usr/bin/env python3
"""A Route that is moved from one shard to another while clients ask for it by its names: two real routers, names by dig,
requests through HAProxy. Nobody notices, neither those who ask DNS each time nor those who keep the old address."""

import json
import threading
import urllib.request

from dns_tools import free_port, zone
from harness import ServerTest, main, route, until
from router_world import Backend, RouterProcess, apply, router_object, service_objects

BINDINGS = "/apis/fairlead.dev/v1/namespaces/default/routebindings"


class Client(threading.Thread):
    """Asks for a host again and again: at the address that DNS says each time, or at the first one for ever."""

    def __init__(self, test, host, keeps):
        super().__init__(daemon=True)
        self.test, self.host, self.keeps = test, host, keeps
        self.asked, self.failed, self.ending = 0, [], threading.Event()

    def run(self):
        address = self.test.address_of(self.host)
        while not self.ending.is_set():
            try:
                if not self.keeps:
                    address = self.test.address_of(self.host)
                request = urllib.request.Request(f"http://{address}:{self.test.port}/", headers={"Host": self.host})
                with urllib.request.urlopen(request, timeout=20) as answer:
                    answer.read()
            except (OSError, IndexError) as error:
                self.failed.append(f"{self.host} at {address}: {error!r}")
            self.asked += 1

    def end(self):
        self.ending.set()
        self.join()
        return self.failed


class ShardMoveTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.backend = Backend("one")
        cls.addClassCleanup(cls.backend.stop)
        cls.port = free_port("127.0.0.61")
        apply(cls.server, *(router_object(name, f"{name}.shards.example") for name in ("blue", "green")),
              *service_objects("web", cls.backend), zone("acme", "acme.example"))
        cls.routers = []
        for name, address in (("blue", "127.0.0.61"), ("green", "127.0.0.62")):
            router = RouterProcess(cls.server, name, f"{name}-1")
            router.address, router.http = address, cls.port
            router.start()
            cls.addClassCleanup(router.remove)
            cls.routers.append(router)

    def answers(self, name):
        return self.server.dig("+short", name).split()

    def address_of(self, name):
        return self.answers(name)[-1]

    def leads(self, name, *wanted):
        try:
            until(lambda: self.answers(name) == list(wanted), "")
        except AssertionError:
            raise AssertionError(f"{name} is {self.answers(name)}, not {wanted}") from None

    def serving(self, name):
        done = self.kubectl("wait", f"route/{name}", "--for=condition=Serving", "--timeout=60s", check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr + self.kubectl("get", "route", name, "-o", "yaml").stdout)

    def bind(self, name, **more):
        body = {"apiVersion": "fairlead.dev/v1", "kind": "RouteBinding", "metadata": {"name": name}, "routeName": name, **more}
        status, _, answer = self.server.request("POST", BINDINGS, body, {"Content-Type": "application/json"})
        self.assertIn(status, (200, 201), answer)

    def move(self, name, to):
        item = json.loads(self.kubectl("get", "route", name, "-o", "json").stdout)
        if item["status"]["router"] != to:
            self.bind(name, routeUID=item["metadata"]["uid"], **{"from": item["status"]["router"]}, router=to,
                      dns=f"{to}.shards.example")

    def test_a_move_is_not_noticed(self):
        apply(self.server, route("own", host="www.acme.example"), route("apex", host="acme.example"), route("sys", host="sys"))
        names = ("own", "apex", "sys")
        for name in names:  # the scheduler spreads them; here all begin in one place
            until(lambda name=name: "status" in json.loads(self.kubectl("get", "route", name, "-o", "json").stdout) and
                  json.loads(self.kubectl("get", "route", name, "-o", "json").stdout)["status"]["phase"] == "scheduled",
                  f"{name} is scheduled")
            self.move(name, "blue")
        for name in names:
            self.serving(name)
        self.leads("www.acme.example", "blue.shards.example.", "127.0.0.61")
        self.leads("acme.example", "127.0.0.61")
        self.leads("default-sys.blue.shards.example", "127.0.0.61")

        clients = [Client(self, host, keeps) for host in ("www.acme.example", "acme.example", "default-sys.blue.shards.example")
                   for keeps in (False, True)]
        for client in clients:
            client.start()
        until(lambda: all(client.asked > 5 for client in clients), "everybody is served")
        for name in names:
            self.move(name, "green")
        self.leads("www.acme.example", "green.shards.example.", "127.0.0.62")
        self.leads("acme.example", "127.0.0.62")
        self.leads("default-sys.blue.shards.example", "green.shards.example.", "127.0.0.62")
        for name in names:
            self.serving(name)
        marks = [client.asked for client in clients]
        until(lambda: all(client.asked > mark + 20 for client, mark in zip(clients, marks)), "everybody is served after the move")
        failed = [failure for client in clients for failure in client.end()]
        print(f"{sum(client.asked for client in clients)} requests, {len(failed)} failed")
        self.assertEqual([], failed)
        self.leads("default-sys.green.shards.example", "127.0.0.62")

        # An instance that is told to go leaves the answers before it goes; the last of its shard stays.
        extra = RouterProcess(self.server, "green", "green-2")
        extra.address, extra.http = "127.0.0.63", self.port
        extra.start()
        self.addCleanup(extra.remove)
        until(lambda: sorted(self.answers("green.shards.example")) == ["127.0.0.62", "127.0.0.63"], "both are in DNS")
        extra.stop()
        self.leads("green.shards.example", "127.0.0.62")
        self.routers[1].stop()
        until(lambda: "0/2" in self.kubectl("get", "router", "green").stdout, "none is ready")
        self.assertTrue(self.answers("green.shards.example"), "names lead on")


if __name__ == "__main__":
    main()
