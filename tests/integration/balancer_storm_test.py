#!/usr/bin/env python3
"""A storm of Ingress updates over balancers that serve requests meanwhile. Counts decide, never timings: no request fails, HAProxy
is not reloaded, nginx at most once a second, and a balancer whose Ingresses do not change is not touched at all.

nginx closes idle connections at a reload, and may do so while a request is on its way. As HTTP clients do (RFC 9110 9.2.2), a
GET that got no answer on a connection that had answered before is sent once more on a new one; a request has failed when that
fails, when a new connection fails, or when the answer is not the right one. HAProxy keeps its connections: none is sent again."""

import http.client
import json
import threading
import time

import harness
from balancer_world import BalancerProcess, balancer_object, ingress_object, own_source
from harness import ServerTest, until
from router_world import Backend, apply, service_objects

UPDATES = 400  # in all, over the Ingresses of two balancers
INGRESSES = 10  # of each balancer
WRITERS = 2
UPDATES_A_SECOND = 60  # so that nginx has several seconds to reload in
KINDS = {"h1": "Haproxy", "h2": "Haproxy", "n1": "Nginx", "n2": "Nginx"}
STORMED, QUIET = ("h1", "n1"), ("h2", "n2")


def host(balancer, number):
    return f"{balancer}-{number}.test"


def service(version):
    """An Ingress has its turn again after all others: by then it is the other one."""
    return ("web", "next")[version // (len(STORMED) * INGRESSES) % 2]


def storm_ingress(balancer, number, version):
    """Its first path stays, its second one comes anew with each version, and leads to two Services by turns."""
    rules = {host(balancer, number): [("/", "Prefix", "web"), (f"/v{version}", "Prefix", service(version))]}
    return ingress_object(f"{balancer}-{number}", rules, loadBalancer=own_source(balancer, KINDS[balancer]))


class Asker(threading.Thread):
    """Asks for the paths that stay, of all hosts in turn, over one kept connection and now and then a new one."""

    def __init__(self, process, balancer):
        super().__init__(daemon=True)
        self.port, self.balancer = process.http, balancer
        self.asked, self.again, self.failed = 0, 0, []
        self.ending = threading.Event()

    def run(self):
        connection, used = None, False
        while not self.ending.is_set():
            name = host(self.balancer, self.asked % INGRESSES)
            if self.asked % 50 == 49 and connection:
                connection.close()
                connection = None
            while True:
                if connection is None:
                    connection, used = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20), False
                try:
                    connection.request("GET", "/", headers={"Host": name})
                    answer = connection.getresponse()
                    body = answer.read()
                    if answer.status != 200 or json.loads(body)["backend"] != "one":
                        self.failed.append((name, answer.status, body[:80]))
                    used = True
                    if answer.will_close:
                        connection.close()
                        connection = None
                    break
                except (OSError, http.client.HTTPException) as error:
                    connection.close()
                    connection = None
                    if not used:
                        self.failed.append((name, repr(error)))
                        break
                    self.again += 1
            self.asked += 1
            self.ending.wait(0.005)
        if connection:
            connection.close()


class Writer(threading.Thread):
    """Updates its share of the Ingresses of the stormed balancers."""

    def __init__(self, server, number):
        super().__init__(daemon=True)
        self.server, self.number = server, number
        self.last, self.refused = {}, []

    def run(self):
        connection = self.server.connect()
        began = time.monotonic()
        for turn in range(self.number, UPDATES, WRITERS):
            time.sleep(max(0.0, began + turn / UPDATES_A_SECOND - time.monotonic()))
            balancer, number = STORMED[turn // WRITERS % 2], turn // WRITERS // 2 % INGRESSES
            # Two writers have different Ingresses.
            number = (number * WRITERS + self.number) % INGRESSES
            spec = storm_ingress(balancer, number, turn)["spec"]
            connection.request("PATCH", f"/apis/networking.k8s.io/v1/namespaces/default/ingresses/{balancer}-{number}",
                               json.dumps({"spec": {"rules": spec["rules"]}}), {"Content-Type": "application/merge-patch+json"})
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                self.refused.append((answer.status, body[:200]))
            self.last[balancer, number] = turn
        connection.close()


class StormTest(ServerTest):
    def test_requests_notice_nothing_and_others_are_not_touched(self):
        one, two = Backend("one"), Backend("two")
        for each in (one, two):
            self.addCleanup(each.stop)
        apply(self.server, *[balancer_object(name, kind) for name, kind in KINDS.items()], *service_objects("web", one),
              *service_objects("next", two))
        processes = {}
        for name in KINDS:
            processes[name] = BalancerProcess(self.server, name, f"{name}-1")
            self.addCleanup(processes[name].remove)
            processes[name].start()
        apply(self.server, *[storm_ingress(name, number, 0) for name in KINDS for number in range(INGRESSES)])
        for name, process in processes.items():
            for number in range(INGRESSES):
                process.answers(host(name, number), backend="one")
        # The conditions of the Ingresses follow: nothing is left to do before the storm.
        until(lambda: all(self.programmed(name) for name in KINDS), "all Ingresses say that they are in force")

        askers = {name: Asker(process, name) for name, process in processes.items()}
        writers = [Writer(self.server, number) for number in range(WRITERS)]
        before = {name: process.counted() for name, process in processes.items()}
        began = time.monotonic()
        for each in (*askers.values(), *writers):
            each.start()
        for each in writers:
            each.join()
        last = {key: turn for writer in writers for key, turn in writer.last.items()}
        for (name, number), turn in last.items():
            processes[name].answers(host(name, number), backend={"web": "one", "next": "two"}[service(turn)], path=f"/v{turn}")
        seconds = time.monotonic() - began
        done = {name: {key: count - before[name][key] for key, count in process.counted().items()}
                for name, process in processes.items()}
        for each in askers.values():
            each.ending.set()
        for each in askers.values():
            each.join()

        print(f"{UPDATES} updates, all in force after {seconds:.1f} s; " + "; ".join(
            f"{name}: {askers[name].asked} requests, {askers[name].again} sent again, {done[name]}" for name in KINDS), flush=True)
        self.assertEqual([each.refused for each in writers], [[]] * WRITERS)
        for name, asker in askers.items():
            with self.subTest(balancer=name):
                self.assertGreater(asker.asked, 50)
                self.assertEqual(asker.failed, [])
                if KINDS[name] == "Haproxy":
                    self.assertEqual(done[name]["reloads"], 0)
                    self.assertEqual(asker.again, 0, "it keeps its connections")
                else:
                    # One may come at the very beginning, and one ends what had begun.
                    self.assertLessEqual(done[name]["reloads"], seconds + 2)
                if name in QUIET:
                    self.assertEqual(done[name], {"ingresses": 0, "changes": 0, "reloads": 0})
                else:
                    self.assertGreater(done[name]["changes"], 0)
                    self.assertLessEqual(done[name]["ingresses"], UPDATES // 2, "its own, and none twice")
        self.assertGreater(done["n1"]["reloads"], 0)

    def programmed(self, balancer):
        listed = json.loads(self.kubectl("get", "ingresses", "-o", "json").stdout)["items"]
        own = [each for each in listed if each["metadata"]["name"].startswith(f"{balancer}-")]
        return len(own) == INGRESSES and all(
            any(c["type"] == "Programmed" and c["status"] == "True" for c in each["status"].get("conditions", [])) for each in own)


if __name__ == "__main__":
    harness.main()
