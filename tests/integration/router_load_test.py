#!/usr/bin/env python3
"""Under load through two routers: Routes and Endpoints change all the time, a HAProxy worker is killed, an agent is
killed and comes back, the API server is killed and comes back. No request on a route that was not itself changed fails,
and nothing is reloaded but for growth.

A request whose connection breaks before any answer came is sent once more, as every HTTP client does with a GET: what was
on the wire when a worker is killed is lost with it. Those are counted apart, and there must be none without a kill.

    router_load_test.py                       a short run for the tests
    router_load_test.py --seconds 60 --rate 1000
"""

import argparse
import http.client
import json
import multiprocessing
import os
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
import unittest
import urllib.request

import harness
from harness import Fairlead, until
from router_world import Backend, RouterProcess, apply, router_object, service_objects

OPTIONS = argparse.Namespace(seconds=12.0, rate=200.0, steady=10, churned=60, clients=2, writers=2)
ROUTES = "/apis/route.openshift.io/v1/namespaces/default/routes"
MERGE = {"Content-Type": "application/merge-patch+json"}


def route_object(name, service):
    return {"apiVersion": "route.openshift.io/v1", "kind": "Route", "metadata": {"name": name, "namespace": "default"},
            "spec": {"host": f"{name}.example.com", "to": {"kind": "Service", "name": service}}}


def binding(name):
    return {"apiVersion": "fairlead.dev/v1", "kind": "RouteBinding", "metadata": {"name": name}, "routeName": name,
            "router": "edge", "dns": "edge.test"}


class Client(threading.Thread):
    """Asks for steady hosts in turn, over kept connections and now and then a new one."""

    def __init__(self, port, hosts, number):
        super().__init__(daemon=True)
        self.port, self.hosts, self.number = port, hosts, number
        self.asked, self.failed, self.broken, self.slowest = 0, [], [], 0.0
        self.ending = threading.Event()
        self.connection = None

    def ask(self, host):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        self.connection.request("GET", "/", headers={"Host": host})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.will_close:
            self.drop()
        return answer.status, body

    def drop(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def run(self):
        while not self.ending.is_set():
            host = self.hosts[(self.asked + self.number) % len(self.hosts)]
            if self.asked % 50 == 49:
                self.drop()
            began = time.monotonic()
            for attempt in (1, 2):
                try:
                    status, body = self.ask(host)
                    if status != 200 or json.loads(body)["backend"] != "steady":
                        self.failed.append((time.monotonic(), host, status, body[:80]))
                    break
                except (OSError, http.client.HTTPException) as error:
                    self.drop()
                    (self.broken if attempt == 1 else self.failed).append((time.monotonic(), host, repr(error)))
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.asked += 1


def write_all_the_time(url, tls_files, mine, services, rate, ending, counts, final):
    """One process that changes Routes and Endpoints; `final` hears of its end."""
    context = ssl.create_default_context(cafile=tls_files[0])
    context.load_cert_chain(tls_files[1], tls_files[2])
    host = url.removeprefix("https://")
    connection = None
    made = {name: True for name in mine}
    began, turn = time.monotonic(), 0
    while not ending.is_set():
        behind = turn / rate - (time.monotonic() - began)
        if behind > 0:
            ending.wait(min(behind, 0.05))
            continue
        name = mine[turn % len(mine)]
        service = services[(turn // len(mine)) % len(services)][0]
        kind = turn % 5
        calls = []
        if kind == 4:  # endpoints: the same addresses in another order, or one of two
            which, ports = services[turn // 5 % len(services)]
            some = ports if turn % 2 else ports[:1]
            calls.append(("PATCH", f"/api/v1/namespaces/default/endpoints/{which}", {"subsets": [
                {"addresses": [{"ip": "127.0.0.1"}], "ports": [{"name": "http", "port": port}]} for port in some]}, MERGE))
        elif kind == 3 and made[name]:
            calls.append(("DELETE", f"{ROUTES}/{name}", None, {}))
        elif not made[name]:
            calls.append(("POST", ROUTES, route_object(name, service), {}))
            calls.append(("POST", "/apis/fairlead.dev/v1/namespaces/default/routebindings", binding(name), {}))
        else:
            calls.append(("PATCH", f"{ROUTES}/{name}", {"spec": {"to": {"name": service}}}, MERGE))
        try:
            for method, path, body, headers in calls:
                if connection is None:
                    connection = http.client.HTTPSConnection(host, context=context, timeout=10)
                connection.request(method, path, json.dumps(body) if body else None, headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status >= 500:
                    raise OSError(f"{answer.status}")
                if answer.status in (200, 201):
                    counts[0] += 1
                if method == "DELETE":
                    made[name] = False
                elif path == ROUTES:
                    made[name] = answer.status in (201, 409)
        except (OSError, http.client.HTTPException):
            counts[1] += 1  # the API is away: what became of it is asked for at the end
            if connection:
                connection.close()
            connection = None
            ending.wait(0.05)
        turn += 1
    final.put(True)


class LoadTest(unittest.TestCase):
    def worker_of(self, router):
        children = subprocess.run(["ps", "--ppid", str(router.haproxy_pid()), "-o", "pid="], capture_output=True, text=True)
        return [int(pid) for pid in children.stdout.split()]

    def reloads(self, router):
        with urllib.request.urlopen(f"http://127.0.0.1:{router.metrics}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        return {reason: int(float(count)) for reason, count in
                re.findall(r'^fairlead_proxy_reloads_total\{reason="(\w+)"\} (\S+)', text, re.M)}

    def test_nothing_that_stays_is_disturbed(self):
        server = Fairlead().start()
        self.addCleanup(server.remove)
        steady = Backend("steady")
        moving = [Backend(f"moving{i}") for i in range(4)]
        for each in (steady, *moving):
            self.addCleanup(each.stop)
        services = [("left", [moving[0].port, moving[1].port]), ("right", [moving[2].port, moving[3].port])]
        apply(server, router_object(), *service_objects("steady", steady), *service_objects("left", *moving[:2]),
              *service_objects("right", *moving[2:]))
        names = [f"steady{i}" for i in range(OPTIONS.steady)]
        churned = [f"churned{i}" for i in range(OPTIONS.churned)]
        apply(server, *[route_object(name, "steady") for name in names], *[route_object(name, "left") for name in churned])
        connection = server.connect()
        for name in names + churned:
            connection.request("POST", "/apis/fairlead.dev/v1/namespaces/default/routebindings", json.dumps(binding(name)))
            answer = connection.getresponse()
            answer.read()
            self.assertIn(answer.status, (200, 201))
        routers = [RouterProcess(server, name=f"edge-{i}") for i in (1, 2)]
        for router in routers:
            self.addCleanup(router.remove)
            router.start()
        for router in routers:
            for name in (names[-1], churned[-1]):
                router.answers(f"{name}.example.com")
        before = [self.reloads(router) for router in routers]

        clients = [Client(router.http, [f"{name}.example.com" for name in names], number)
                   for router in routers for number in range(OPTIONS.clients)]
        ending, counts, final = multiprocessing.Event(), multiprocessing.Array("q", 2), multiprocessing.Queue()
        tls = [str(server.data / "pki" / name) for name in ("ca.crt", "admin.crt", "admin.key")]
        writers = [multiprocessing.Process(target=write_all_the_time, daemon=True, args=(
            server.url, tls, churned[i::OPTIONS.writers], services, OPTIONS.rate / OPTIONS.writers, ending, counts, final))
            for i in range(OPTIONS.writers)]
        began = time.monotonic()
        for each in clients + writers:
            each.start()

        def at(share):
            time.sleep(max(0.0, began + share * OPTIONS.seconds - time.monotonic()))

        at(0.2)
        killed = time.monotonic()
        for pid in self.worker_of(routers[0]):
            os.kill(pid, signal.SIGKILL)
        at(0.4)
        routers[1].kill()
        routers[1].start()
        at(0.65)
        server.kill()
        server.start()
        at(1.0)
        ending.set()
        for _ in writers:
            final.get(timeout=60)
        for each in writers:
            each.join(60)
        took = time.monotonic() - began
        # What everything was left as is served by both.
        listed = json.loads(server.kubectl("get", "routes", "-o", "json").stdout)["items"]
        wanted = {route["metadata"]["name"]: route["spec"]["to"]["name"] for route in listed if route["status"].get("router")}
        of_service = {"left": {"moving0", "moving1"}, "right": {"moving2", "moving3"}, "steady": {"steady"}}
        for router in routers:
            for name in churned:
                host = f"{name}.example.com"
                if name in wanted:
                    until(lambda: (lambda got: got[0] == 200 and got[1]["backend"] in of_service[wanted[name]])(
                        router.curl(host, check=False)), f"{host} at {router.name} leads to {wanted[name]}")
                else:
                    router.answers(host, status=404)
        for each in clients:
            each.ending.set()
        for each in clients:
            each.join()

        asked = sum(each.asked for each in clients)
        failed = [failure for each in clients for failure in each.failed]
        broken = [failure for each in clients for failure in each.broken]
        reloads = [self.reloads(router) for router in routers]
        print(f"{counts[0]} changes in {took:.0f} s ({counts[0] / took:.0f}/s, {counts[1]} while the API was away), "
              f"{asked} requests ({asked / took:.0f}/s), {len(failed)} failed, {len(broken)} sent again, slowest "
              f"{max(each.slowest for each in clients):.2f} s, reloads {reloads} (at start {before})", file=sys.stderr)
        self.assertEqual(failed, [])
        self.assertGreater(counts[0], OPTIONS.seconds * 5)
        self.assertGreater(asked, OPTIONS.seconds * 20)
        self.assertLessEqual(len(broken), 2 * OPTIONS.clients, "no more than were under way when the worker was killed")
        self.assertEqual([b for b in broken if not killed <= b[0] <= killed + 10], [], "and only then")
        for each in reloads:
            self.assertEqual({reason for reason, count in each.items() if count} - {"growth", "slots"}, set())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in vars(OPTIONS).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    arguments, rest = parser.parse_known_args()
    OPTIONS.__dict__.update(vars(arguments))
    sys.argv[1:] = rest
    harness.main()
