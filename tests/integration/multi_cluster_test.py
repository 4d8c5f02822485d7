#!/usr/bin/env python3
"""A hub and three clusters, each a Fairlead of its own, with back ends that can be killed. Policies, weights, hosts and
listeners change, addresses, clusters and connections die, and all the while clients of several places ask: each query has an
answer, shares are right, and what died is gone from the answers within the time that is promised."""

import base64
import json
import signal
import socket
import subprocess
import sys
import time
import unittest

from dns_client import DnsClient, QueryLoop, links
from harness import Fairlead, main, until

GATEWAYS = "/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways"
ROUTES = "/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes"
RECORDS = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords"
POLICY = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnspolicies"
CLUSTERS = "/apis/fairlead.dev/v1/clusters"
MERGE = {"Content-Type": "application/merge-patch+json"}

# Two clusters in Ireland, one in Australia.
ADDRESSES = {"east": ["127.1.0.1", "127.1.0.2"], "west": ["127.2.0.1", "127.2.0.2"], "south": ["127.3.0.1", "127.3.0.2"]}
PLACES = {"east": "IE", "west": "IE", "south": "AU"}
IRELAND, AUSTRALIA, ELSEWHERE = "10.1.7.0/24", "10.2.7.0/24", "10.9.7.0/24"
SUBNETS = (IRELAND, AUSTRALIA, ELSEWHERE)

INTERVAL, THRESHOLD = 1, 2
PROMISE = INTERVAL * THRESHOLD + 2  # seconds from the death of an address to answers without it
MARGIN = 3  # for machines that do other things too
QUERIES = 60_000  # one percent is five standard deviations then
GRACE = 5
TTL, LOWERED_TTL = 15, 6  # short, so that caches and what is kept for them come to their end while tests run

BACKEND = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
"""


def cluster_of(addresses):
    """By the second number of the first address."""
    return ("", "east", "west", "south")[int(addresses[0].split(".")[1])]


class Backend:
    """An HTTP server at one address of a cluster."""

    def __init__(self, address, port):
        self.address, self.port, self.process = address, port, None

    def start(self):
        self.process = subprocess.Popen([sys.executable, "-c", BACKEND, self.address, str(self.port)])
        until(self.answers, f"the back end at {self.address}")

    def answers(self):
        with socket.socket() as probe:
            return probe.connect_ex((self.address, self.port)) == 0

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def port_free_at(addresses):
    """One port for all back ends."""
    while True:
        sockets = [socket.socket() for _ in addresses]
        try:
            sockets[0].bind((addresses[0], 0))
            port = sockets[0].getsockname()[1]
            for each, address in zip(sockets[1:], addresses[1:]):
                each.bind((address, port))
            return port
        except OSError:
            continue
        finally:
            for each in sockets:
                each.close()


def listener(name, host):
    return {"name": name, "port": 80, "protocol": "HTTP", "hostname": host}


def gateway(*listeners):
    return {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "shop"},
            "spec": {"gatewayClassName": "x", "listeners": list(listeners)}}


def geo(default):
    return {"geo": {"defaultGeo": default}}


def weighted(default=100, **custom):
    """Weights by cluster."""
    return {"weighted": {"defaultWeight": default, "custom": [
        {"selector": {"matchLabels": {"name": name}}, "weight": weight} for name, weight in custom.items()]}}


class MultiClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        every = [address for each in ADDRESSES.values() for address in each]
        cls.port = port_free_at(every)
        cls.backends = {address: Backend(address, cls.port) for address in every}
        cls.addClassCleanup(lambda: [each.kill() for each in cls.backends.values()])
        for each in cls.backends.values():
            each.start()
        cls.hub = Fairlead("--geo-override", "10.1.0.0/16=IE", "--geo-override", "10.2.0.0/16=AU").start()
        cls.addClassCleanup(cls.hub.remove)
        cls.apply(cls.hub, {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone", "metadata": {"name": "zone"},
                            "spec": {"domainName": "example.com"}}, gateway(listener("web", "shop.example.com")))
        cls.spokes = {}
        for name, addresses in ADDRESSES.items():
            spoke = cls.spokes[name] = Fairlead("--roles", "api").start()
            cls.addClassCleanup(spoke.remove)
            cls.apply(spoke, gateway(listener("web", "shop.example.com")), {
                "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "everything"},
                "spec": {"parentRefs": [{"name": "shop"}], "hostnames": ["*.example.com"]}})
            cls.report(name, addresses)
            cls.apply(cls.hub, {
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
                "data": {"kubeconfig": base64.b64encode(spoke.kubeconfig.read_bytes()).decode()},
            }, {
                "apiVersion": "fairlead.dev/v1", "kind": "Cluster",
                "metadata": {"name": name, "labels": {"kuadrant.io/lb-attribute-geo-code": PLACES[name], "name": name}},
                "spec": {"server": spoke.url, "gracePeriod": f"{GRACE}s",
                         "credentials": {"name": name, "namespace": "default"}},
            })
        cls.dns = DnsClient("127.0.0.1", cls.hub.dns_port)
        cls.addClassCleanup(cls.dns.close)

    @staticmethod
    def apply(server, *objects):
        server.cli("apply", "-f", "-", stdin="\n---\n".join(json.dumps(each) for each in objects))

    @classmethod
    def report(cls, name, addresses, listeners=("web",)):
        """As the controller of the cluster's Gateways would."""
        now = "2026-01-01T00:00:00Z"
        programmed = {"type": "Programmed", "status": "True", "reason": "Programmed", "message": "", "lastTransitionTime": now}
        status, _, answer = cls.spokes[name].request("PATCH", GATEWAYS + "/shop/status", {"status": {
            "addresses": [{"type": "IPAddress", "value": each} for each in addresses],
            "listeners": [{"name": each, "attachedRoutes": 0, "conditions": [programmed]} for each in listeners],
        }}, MERGE)
        assert status == 200, answer

    def listeners(self, *listeners):
        """In every cluster and in the hub."""
        for name, spoke in self.spokes.items():
            spoke.request("PATCH", GATEWAYS + "/shop", {"spec": {"listeners": list(listeners)}}, MERGE)
            self.report(name, ADDRESSES[name], [each["name"] for each in listeners])
        status, _, answer = self.hub.request("PATCH", GATEWAYS + "/shop", {"spec": {"listeners": list(listeners)}}, MERGE)
        self.assertEqual(status, 200, answer)

    def policy(self, strategy="loadbalanced", balancing=None, check=True, ttl=TTL):
        spec = {"targetRef": {"name": "shop"}, "routingStrategy": strategy, "loadBalancing": balancing,
                "ttl": {"cname": ttl, "address": ttl}, "healthCheck": None}
        if check:
            spec["healthCheck"] = {"protocol": "HTTP", "port": self.port, "path": "/", "interval": f"{INTERVAL}s",
                                   "timeout": f"{INTERVAL}s", "failureThreshold": THRESHOLD}
        status, _, answer = self.hub.request("PATCH", POLICY + "/shop", {"spec": spec}, MERGE)
        if status == 404:
            body = {"apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSPolicy", "metadata": {"name": "shop"},
                    "spec": {key: value for key, value in spec.items() if value is not None}}
            status, _, answer = self.hub.request("POST", POLICY, body)
        self.assertIn(status, (200, 201), answer)

    def healthy(self):
        """All addresses of all clusters have been found to work."""
        def all_good():
            _, _, policy = self.hub.request("GET", POLICY + "/shop")
            states = [each["state"] for each in policy.get("status", {}).get("addresses", [])]
            return len(states) >= 6 and set(states) == {"Healthy"}
        until(all_good, "every address works", 60)

    def seen(self, subnet, host="shop.example.com", queries=80):
        return set(self.dns.count(host, subnet, queries, cluster_of))

    def wait_for_clusters(self, expected, host="shop.example.com", seconds=60):
        """`expected`: subnet -> the clusters that answer it."""
        def right():
            try:
                return all(self.seen(subnet, host) == set(clusters) for subnet, clusters in expected.items())
            except AssertionError:  # no answer yet
                return False
        until(right, f"{host}: {expected}", seconds)

    def assert_shares(self, subnet, expected, host="shop.example.com"):
        """Within one percent; first waits until they are near, which tells when a change of weights is in force."""
        def near(queries, by):
            counts = self.dns.count(host, subnet, queries, cluster_of)
            shares = {name: counts[name] / queries for name in set(counts) | set(expected)}
            return shares, all(abs(share - expected.get(name, 0)) <= by for name, share in shares.items())
        until(lambda: near(2_000, 0.05)[1], f"shares of {subnet} near {expected}")
        began = time.monotonic()
        shares, right = near(QUERIES, 0.01)
        rate = QUERIES / (time.monotonic() - began)
        print(f"  {subnet}: {({name: round(share, 4) for name, share in sorted(shares.items())})} ({rate:,.0f} queries/s)")
        self.assertTrue(right, f"{subnet}: {shares}, not {expected}")

    def loop(self, *hosts):
        loop = QueryLoop("127.0.0.1", self.hub.dns_port, hosts, SUBNETS)
        loop.start()
        self.addCleanup(lambda: loop.is_alive() and loop.stop())
        return loop

    def assert_all_answered(self, loop):
        asked = loop.asked
        until(lambda: loop.asked > asked + 300, "the loop goes on for a moment")
        loop.stop()
        print(f"  {loop.asked:,} queries in the loop, the slowest took {loop.longest * 1000:.0f} ms, "
              f"{len(loop.failures)} without an answer")
        self.assertEqual(loop.failures[:10], [])

    def time_until_gone(self, gone, subnet, began, host="shop.example.com", limit=60):
        """Seconds from `began` to the last answer for which `gone(addresses)` is not true."""
        last = began
        while time.monotonic() - last < 1.5:
            for _ in range(20):
                sent = time.monotonic()
                rcode, addresses, _ = self.dns.ask(host, subnet)
                self.assertTrue(rcode == 0 and addresses, f"{host} from {subnet} has no answer: rcode {rcode}")
                if not gone(addresses):
                    last = sent
            self.assertLess(time.monotonic() - began, limit, f"{host} from {subnet} is still answered with {addresses}")
        return last - began

    def start_from(self, balancing=None):
        for each in self.backends.values():
            if each.process.poll() is not None:
                each.start()
        for name in self.spokes:
            until(lambda: self.condition(name, "Connected") == "True", f"{name} is followed", 90)
            until(lambda: self.condition(name, "Stale") == "False", f"{name} is heard of", 90)
        self.policy(balancing=balancing or {**geo("IE"), **weighted()})
        self.healthy()

    def condition(self, name, kind):
        _, _, cluster = self.hub.request("GET", f"{CLUSTERS}/{name}")
        found = [each["status"] for each in cluster.get("status", {}).get("conditions", []) if each["type"] == kind]
        return found[0] if found else ""

    # --- the tests ---

    def test_1_policies_are_switched_under_queries(self):
        every = {subnet: {"east", "west", "south"} for subnet in SUBNETS}
        self.policy(balancing=weighted())
        self.wait_for_clusters(every)
        self.healthy()
        loop = self.loop("shop.example.com")
        print("\nno places, equal weights")
        third = {name: 1 / 3 for name in ADDRESSES}
        self.assert_shares(ELSEWHERE, third)
        print("no places, other weights")
        self.policy(balancing=weighted(50, east=200))
        self.assert_shares(IRELAND, {"east": 200 / 300, "west": 50 / 300, "south": 50 / 300})
        print("weight 0 drains")
        self.policy(balancing=weighted(100, south=0))
        self.assert_shares(AUSTRALIA, {"east": 0.5, "west": 0.5})
        print("places, Ireland answers everybody else")
        self.policy(balancing={**geo("IE"), **weighted(100, west=50)})
        irish = {"east": 2 / 3, "west": 1 / 3}
        self.wait_for_clusters({IRELAND: irish, AUSTRALIA: {"south"}, ELSEWHERE: irish})
        self.assert_shares(IRELAND, irish)
        self.assert_shares(ELSEWHERE, irish)
        print("places, Australia answers everybody else")
        self.policy(balancing={**geo("AU"), **weighted(100, west=50)})
        self.wait_for_clusters({IRELAND: irish, AUSTRALIA: {"south"}, ELSEWHERE: {"south"}})
        self.assert_shares(IRELAND, irish)
        print("simple")
        self.policy("simple")
        addresses = {address for each in ADDRESSES.values() for address in each}
        until(lambda: set(self.dns.ask("shop.example.com", IRELAND)[1]) == addresses, "all addresses at once")
        self.assertEqual(self.dns.ask("shop.example.com", AUSTRALIA)[2], 0, "no CNAME")
        print("and back")
        self.policy(balancing=weighted())
        self.wait_for_clusters(every)
        self.assert_shares(AUSTRALIA, third)
        self.assert_all_answered(loop)

    def test_2_hosts_and_listeners_come_and_go_under_queries(self):
        self.start_from()
        loop = self.loop("shop.example.com")
        time.sleep(1)
        lowered = time.monotonic()
        self.policy(balancing={**geo("IE"), **weighted()}, ttl=LOWERED_TTL)
        until(lambda: {each[1] for each in links(self.dns.packet("shop.example.com"))} == {LOWERED_TTL}, "the other TTL")
        web, api = listener("web", "shop.example.com"), listener("api", "api.example.com")
        print("\na listener more")
        self.listeners(web, api)
        self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}}, "api.example.com")
        loop.hosts = ("shop.example.com", "api.example.com")
        print("another host")
        self.listeners(listener("web", "store.example.com"), api)
        changed = time.monotonic()
        self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}}, "store.example.com")
        print(f"  the new host answers after {time.monotonic() - changed:.2f} s")
        loop.hosts = ("shop.example.com", "api.example.com", "store.example.com")
        # Whoever has the old name in a cache asks for what it leads to until its TTL is over: that of before it was lowered.
        time.sleep(max(0, lowered + TTL - time.monotonic()))
        loop.hosts = ("api.example.com", "store.example.com")
        until(lambda: self.dns.ask("shop.example.com", IRELAND)[0] == 3, "the old host goes", 400)
        print(f"  the old host is gone after {time.monotonic() - changed:.1f} s")
        print("a listener less")
        loop.hosts = ("store.example.com",)
        time.sleep(0.2)
        self.listeners(listener("web", "store.example.com"))
        until(lambda: self.dns.ask("api.example.com", IRELAND)[0] == 3, "its host goes", 400)
        print("and the first host again")
        self.listeners(web)
        self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}})
        loop.hosts = ("shop.example.com",)
        self.assert_all_answered(loop)

    def test_3_what_dies_is_gone_in_time_and_comes_back(self):
        self.start_from()
        loop = self.loop("shop.example.com")
        self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}, ELSEWHERE: {"east", "west"}})
        print()

        def dies(what, addresses, subnet, gone):
            began = time.monotonic()
            for address in addresses:
                self.backends[address].kill()
            took = self.time_until_gone(gone, subnet, began)
            print(f"  {what}: gone after {took:.2f} s (promised {PROMISE} s)")
            self.assertLess(took, PROMISE + MARGIN, what)

        dies("one address of two", ["127.1.0.1"], IRELAND, lambda found: "127.1.0.1" not in found)
        self.assertEqual(self.seen(IRELAND), {"east", "west"}, "the other address of the cluster serves")
        dies("every address of one cluster", ["127.1.0.2"], IRELAND, lambda found: cluster_of(found) == "west")
        dies("the only cluster of a place", ADDRESSES["south"], AUSTRALIA, lambda found: cluster_of(found) == "west")
        for address in ["127.1.0.1", "127.1.0.2", *ADDRESSES["south"]]:
            self.backends[address].start()
        began = time.monotonic()
        self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}, ELSEWHERE: {"east", "west"}})
        print(f"  back after {time.monotonic() - began:.2f} s")
        self.healthy()
        dies("the place that answers everybody else", ADDRESSES["east"] + ADDRESSES["west"], ELSEWHERE,
             lambda found: cluster_of(found) == "south")
        self.assertEqual(self.seen(IRELAND), {"south"})
        print("  and now everything")
        for address in ADDRESSES["south"]:
            self.backends[address].kill()
        time.sleep(PROMISE)
        for subnet in SUBNETS:
            self.assertTrue(self.seen(subnet), "an answer that may work is better than none")
        for each in self.backends.values():
            if each.process.poll() is not None:
                each.start()
        self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}, ELSEWHERE: {"east", "west"}})
        self.assert_all_answered(loop)

    def test_4_a_cluster_that_is_lost_is_out_after_its_grace_period(self):
        self.start_from()
        self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}})
        loop = self.loop("shop.example.com")
        began = time.monotonic()
        self.spokes["south"].kill()
        until(lambda: self.condition("south", "Connected") == "False", "south is lost")
        self.assertEqual(self.seen(AUSTRALIA), {"south"}, "what is known counts on")
        took = self.time_until_gone(lambda found: cluster_of(found) != "south", AUSTRALIA, began)
        print(f"\n  a cluster whose API died is out after {took:.2f} s (grace period {GRACE} s)")
        self.assertGreater(took, GRACE - 1)
        self.assertLess(took, GRACE + 2 + MARGIN)
        _, _, found = self.hub.request("GET", GATEWAYS + "/shop")
        self.assertIn("south/127.3.0.1", [each["value"] for each in found["status"]["addresses"]], "and is kept")

        self.spokes["south"].start()
        self.report("south", ["127.3.0.2"])
        began = time.monotonic()
        self.wait_for_clusters({AUSTRALIA: {"south"}}, seconds=90)
        print(f"  it is followed again and back in {time.monotonic() - began:.2f} s")
        until(lambda: self.dns.ask("shop.example.com", AUSTRALIA)[1] == ["127.3.0.2"], "and with what it says now")
        self.report("south", ADDRESSES["south"])
        until(lambda: set(self.dns.ask("shop.example.com", AUSTRALIA)[1]) == set(ADDRESSES["south"]), "both addresses")
        self.assert_all_answered(loop)

    def test_5_a_partition_between_hub_and_cluster(self):
        self.start_from()
        self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}})
        loop = self.loop("shop.example.com")
        east = self.spokes["east"].process
        east.send_signal(signal.SIGSTOP)
        try:
            took = self.time_until_gone(lambda found: cluster_of(found) == "west", IRELAND, time.monotonic(), limit=120)
            print(f"\n  a cluster whose API hangs is out after {took:.1f} s")
            self.assertLess(took, 25 + GRACE + MARGIN)
            self.assertEqual(self.condition("east", "Stale"), "True")
        finally:
            east.send_signal(signal.SIGCONT)
        began = time.monotonic()
        self.wait_for_clusters({IRELAND: {"east", "west"}}, seconds=90)
        print(f"  and back after {time.monotonic() - began:.1f} s")
        self.assert_all_answered(loop)

    def test_6_a_zone_inside_the_zone_takes_no_host_away(self):
        self.start_from()
        self.listeners(listener("web", "shop.example.com"), listener("cart", "cart.shop.example.com"))
        self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}}, "cart.shop.example.com")
        loop = self.loop("shop.example.com", "cart.shop.example.com")
        for _ in range(5):
            self.apply(self.hub, {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone",
                                  "metadata": {"name": "inner"}, "spec": {"domainName": "shop.example.com"}})
            def moved():
                _, _, records = self.hub.request("GET", RECORDS)
                zones = {each["spec"]["managedZone"]["name"] for each in records["items"]}
                return zones == {"inner"}
            until(moved, "the records are the inner zone's")
            asked = loop.asked
            until(lambda: loop.asked > asked + 300, "the loop goes on for a moment")
            self.assertEqual(loop.failures[:10], [])
            # A zone that is deleted takes its names along: nobody asks then.
            loop.hosts = ()
            time.sleep(0.1)
            self.hub.cli("delete", "managedzone", "inner")
            self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}}, "cart.shop.example.com")
            self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}})
            loop.hosts = ("shop.example.com", "cart.shop.example.com")
        self.assert_all_answered(loop)
        self.listeners(listener("web", "shop.example.com"))
        self.hub.cli("wait", "--for=condition=Programmed", "gateway/shop")

    def test_7_a_cluster_that_is_removed_leaves(self):
        self.start_from()
        self.wait_for_clusters({IRELAND: {"east", "west"}, AUSTRALIA: {"south"}})
        loop = self.loop("shop.example.com")
        self.assertEqual(self.hub.request("DELETE", CLUSTERS + "/west")[0], 200)
        self.wait_for_clusters({IRELAND: {"east"}, AUSTRALIA: {"south"}, ELSEWHERE: {"east"}})
        until(lambda: self.hub.request("GET", CLUSTERS + "/west")[0] == 404, "the Cluster is gone")
        time.sleep(TTL)  # in which resolvers follow what they have in their caches to where it was
        self.assert_all_answered(loop)


if __name__ == "__main__":
    main()
