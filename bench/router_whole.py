"""A new Route through everything: POST to the API, scheduled, admitted, read by the agent of a `fairlead router`, in
HAProxy's maps, until the first 200 with it. Server, router, HAProxy, back end and this client share the machine."""

import concurrent.futures
import http.client
import json
import time

from harness import ROUTES, Fairlead, route, until
from router_world import Backend, RouterProcess, apply, router_object, service_objects

PATIENCE_SECONDS = 30


class Api:
    """One kept connection."""

    def __init__(self, server):
        self.connection = server.connect(timeout=60)

    def create(self, name):
        self.connection.request("POST", ROUTES, json.dumps(route(name, host=f"{name}.example.com")), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != 201:
            raise SystemExit(f"POST of {name}: {answer.status}")


def create_all(server, first, last):
    api = Api(server)
    for number in range(first, last):
        api.create(f"there-{number}")


def answers(connection, host):
    connection.request("GET", "/", headers={"Host": host})
    answer = connection.getresponse()
    answer.read()
    return answer.status == 200


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] * 1000


def measure(count, changes, pause):
    """With `count` routes there, `changes` new ones, one after the other."""
    server = Fairlead("--roles", "api,controllers,dns").start()
    backend = Backend("web")
    router = RouterProcess(server)
    try:
        apply(server, router_object(), *service_objects("web", backend))
        router.start()
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            share = -(-count // 4)
            for done in [threads.submit(create_all, server, at, min(at + share, count)) for at in range(0, count, share)]:
                done.result()
        proxy = http.client.HTTPConnection("127.0.0.1", router.http, timeout=60)
        for number in range(0, count, max(count // 50, 1)):
            until(lambda host=f"there-{number}.example.com": answers(proxy, host), f"route {number} is served", 300)
        filled = time.monotonic() - began
        time.sleep(pause)  # what follows the last of them: conditions, files
        api, written, served = Api(server), [], []
        for number in range(changes):
            began = time.monotonic()
            api.create(f"new-{number}")
            written.append(time.monotonic() - began)
            while not answers(proxy, f"new-{number}.example.com"):
                if time.monotonic() - began > PATIENCE_SECONDS:
                    raise SystemExit(f"new-{number} is not served after {PATIENCE_SECONDS} s")
            served.append(time.monotonic() - began)
        return {"filled": filled, "written": percentile(written, 0.5), "p50": percentile(served, 0.5),
                "p99": percentile(served, 0.99), "max": max(served) * 1000}
    finally:
        router.remove()
        backend.stop()
        server.remove()


def run():
    print("\nA new Route, from its POST to the first 200 through HAProxy: API, store on disk, scheduler, admission, agent")
    for count in (100, 10_000):
        got = measure(count, 300, 2 if count < 1_000 else 20)
        print(f"{count:>7,} routes there: p50 {got['p50']:.1f} ms, p99 {got['p99']:.1f} ms, max {got['max']:.1f} ms "
              f"(of which the POST {got['written']:.1f} ms); all of them created and served in {got['filled']:.1f} s", flush=True)
