#!/usr/bin/env python3
"""Provider skydns end to end: kubectl writes LRPs, dig sees SRV, A and AAAA by SkyDNS's rules, and a real etcd holds the
keys that a reader with CoreDNS's rules understands."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.request

from dns_tools import free_port
from harness import Fairlead, main, until

ADMIN = "admin-api.service.skydns.local"
ZONE = {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone", "metadata": {"name": "sky"},
        "spec": {"domainName": "skydns.local"}}


def desired(name, routes):
    """As in the proposal of routing 2.0: the routes of a provider are a text."""
    return {"apiVersion": "fairlead.dev/v1", "kind": "DesiredLRP", "metadata": {"name": name},
            "spec": {"process_guid": name, "domain": "cf-apps", "instances": 3, "ports": [4000, 5000],
                     "routes": {"skydns": json.dumps(routes)}}}


def actual(name, index, address, port=59002):
    return {"apiVersion": "fairlead.dev/v1", "kind": "ActualLRP", "metadata": {"name": f"{name}.{index}"},
            "spec": {"process_guid": name, "instance_guid": f"i-{name}-{index}", "cell_id": "cell-1", "domain": "cf-apps",
                     "index": index, "address": address, "state": "RUNNING",
                     "ports": [{"container_port": 4000, "host_port": port - 1}, {"container_port": 5000, "host_port": port}]}}


class Etcd:
    """A real one, on loopback, with its data in a folder that outlives a stop."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="skydns-etcd-")
        self.client, self.peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.process = None

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log)
        until(lambda: self.keys("/") is not None, "etcd answers")

    def command(self):
        return ["etcd", "--data-dir", os.path.join(self.folder, "data"), "--listen-client-urls", self.client,
                "--advertise-client-urls", self.client, "--listen-peer-urls", self.peer,
                "--initial-advertise-peer-urls", self.peer, "--initial-cluster", f"default={self.peer}"]

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, path, body):
        request = urllib.request.Request(self.client + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def keys(self, prefix):
        """Key -> (value, lease); nothing while it does not answer."""
        text = lambda value: base64.b64encode(value.encode()).decode()
        try:
            answer = self.call("/v3/kv/range", {"key": text(prefix), "range_end": text(prefix[:-1] + chr(ord(prefix[-1]) + 1))})
        except OSError:
            return None
        return {base64.b64decode(each["key"]).decode(): (base64.b64decode(each["value"]).decode(), int(each.get("lease", 0)))
                for each in answer.get("kvs", [])}

    def put(self, key, value):
        encode = lambda text: base64.b64encode(text.encode()).decode()
        self.call("/v3/kv/put", {"key": encode(key), "value": encode(value)})


def core_dns(etcd, name):
    """What CoreDNS's etcd plugin would answer: everything below the key, then the key itself; strict about the fields."""
    path = "/skydns/" + "/".join(reversed(name.split(".")))
    services = []
    for key, (value, lease) in sorted((etcd.keys(path + "/") or {}).items()):
        service = json.loads(value)
        unknown = set(service) - {"host", "port", "priority", "weight", "text", "mail", "ttl", "targetstrip", "group"}
        assert not unknown, unknown
        assert isinstance(service["host"], str) and all(isinstance(service[each], int) for each in service if each != "host")
        target = ".".join(reversed(key[len("/skydns/"):].split("/")))
        services.append((service, target, lease))
    sums = {}
    for service, _, _ in services:
        sums[service["priority"]] = sums.get(service["priority"], 0) + (service["weight"] or 100)
    return [(service["priority"], max(1, 100 * (service["weight"] or 100) // sums[service["priority"]]), service["port"],
             service["host"]) for service, _, _ in services]


class SkydnsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.etcd = Etcd()
        cls.etcd.start()
        cls.server = Fairlead("--skydns-etcd", cls.etcd.client, "--skydns-lease", "5s")
        cls.server.start()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.server.remove()
        cls.etcd.remove()

    def apply(self, *objects):
        self.server.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def dig(self, section, name, kind):
        return sorted(line for line in
                      self.server.dig("+norec", "+noall", "+tcp", f"+{section}", name, kind).splitlines() if line)

    def short(self, name, kind):
        return sorted(self.server.dig("+norec", "+tcp", "+short", name, kind).splitlines())

    def status(self, name, kind):
        text = self.server.dig("+norec", "+noall", "+comments", name, kind)
        return text.split("status: ")[1].split(",")[0]

    def condition(self, name):
        item = json.loads(self.server.kubectl("get", "desiredlrp", name, "-o", "json").stdout)
        for each in item.get("status", {}).get("conditions", []):
            if each["type"] == "SkyDNS":
                return each
        return {"status": None, "reason": None, "message": None}

    def test_1_the_example_of_the_proposal(self):
        self.apply(ZONE, desired("app", [{"port": 5000, "host": ADMIN, "priority": 20}]), actual("app", 0, "10.10.1.2"))
        until(lambda: self.short(ADMIN, "A") == ["10.10.1.2"], "the instance answers")
        priority, weight, port, target = self.short(ADMIN, "SRV")[0].split()
        self.assertEqual(("20", "100", "59002"), (priority, weight, port))
        self.assertTrue(target.endswith(f".0.{ADMIN}."), target)
        additional = self.dig("additional", ADMIN, "SRV")
        self.assertEqual(1, len(additional), additional)
        self.assertEqual([target, "30", "IN", "A", "10.10.1.2"], additional[0].split())
        for name in (f"0.{ADMIN}", "service.skydns.local", target):
            until(lambda: self.short(name, "A") == ["10.10.1.2"], f"{name} answers")
            self.assertEqual([f"20 100 59002 {target}"], self.short(name, "SRV"))
        self.assertEqual("NOERROR", self.status(ADMIN, "AAAA"))
        self.assertEqual([], self.short(ADMIN, "AAAA"))
        self.assertIn("SOA", self.dig("authority", ADMIN, "AAAA")[0])
        self.assertEqual("NXDOMAIN", self.status("none.service.skydns.local", "SRV"))
        self.assertIn("SOA", self.dig("authority", "none.service.skydns.local", "SRV")[0])
        until(lambda: self.condition("app")["reason"] == "Accepted", "the LRP is told")

    def test_2_a_second_process_joins(self):
        self.apply(desired("other", [{"port": 5000, "host": ADMIN, "priority": 20, "weight": 300, "ttl": 7}]),
                   actual("other", 0, "2001:db8::7", 61000))
        until(lambda: len(self.short(ADMIN, "SRV")) == 2, "both answer")
        self.assertEqual([("20", "25", "59002"), ("20", "75", "61000")],
                         sorted(tuple(line.split()[:3]) for line in self.short(ADMIN, "SRV")))
        self.assertEqual(["2001:db8::7"], self.short(ADMIN, "AAAA"))
        self.assertEqual(2, len(self.dig("additional", ADMIN, "SRV")))
        self.assertEqual("7", self.dig("answer", ADMIN, "AAAA")[0].split()[1], "the smallest TTL")

    def test_3_etcd_says_the_same_to_core_dns(self):
        until(lambda: len(core_dns(self.etcd, ADMIN)) == 2, "both are there")
        want = [(20, 25, 59002, "10.10.1.2"), (20, 75, 61000, "2001:db8::7")]
        for name in (ADMIN, "service.skydns.local", f"0.{ADMIN}"):
            self.assertEqual(want, sorted(core_dns(self.etcd, name)))
        keys = self.etcd.keys("/skydns/")
        for key, (_, lease) in keys.items():
            self.assertRegex(key, r"^/skydns/local/skydns/service/admin-api/0/[0-9a-f]{10}-[0-9a-f]{8}$")
            self.assertNotEqual(0, lease)

    def test_4_what_goes_is_gone(self):
        self.server.kubectl("delete", "actuallrp", "other.0")
        until(lambda: len(self.short(ADMIN, "SRV")) == 1, "one is left")
        until(lambda: len(core_dns(self.etcd, ADMIN)) == 1, "in etcd too")
        self.server.kubectl("delete", "actuallrp", "app.0")
        until(lambda: self.status(ADMIN, "SRV") == "NXDOMAIN", "the name is gone")
        until(lambda: self.status("service.skydns.local", "SRV") == "NXDOMAIN", "and the one above")
        until(lambda: self.etcd.keys("/skydns/") == {}, "etcd is empty")

    def test_5_etcd_is_away_for_a_while(self):
        self.etcd.stop()
        self.apply(actual("app", 0, "10.10.1.2"))
        until(lambda: self.short(ADMIN, "A") == ["10.10.1.2"], "our own server does not wait for it")
        until(lambda: self.condition("app")["reason"] == "EtcdUnavailable", "the LRP is told", 60)
        self.etcd.start()
        until(lambda: len(core_dns(self.etcd, ADMIN)) == 1, "it is caught up", 60)
        until(lambda: self.condition("app")["reason"] == "Accepted", "the LRP is told", 60)

    def test_6_a_crash_leaves_nothing_behind_or_is_taken_over(self):
        foreign = "/skydns/local/skydns/service/admin-api/x1"
        self.etcd.put(foreign, '{"host":"10.9.9.9"}')
        self.apply(actual("app", 1, "10.10.1.3"))
        until(lambda: len(self.etcd.keys("/skydns/") or {}) == 3, "two and the one of somebody else")
        self.server.kill()
        until(lambda: set(self.etcd.keys("/skydns/") or {"?"}) == {foreign}, "the keys go with their lease", 60)
        self.server.start()
        until(lambda: len(self.etcd.keys("/skydns/") or {}) == 3, "they are back", 60)
        self.server.kill()
        self.server.start()
        self.server.kubectl("delete", "actuallrp", "app.1")
        until(lambda: len(self.etcd.keys("/skydns/") or {}) == 2, "taken over, and what is not wanted goes", 60)
        self.assertIn(foreign, self.etcd.keys("/skydns/"))
        deadline = time.monotonic() + 8  # longer than the lease of the one before
        while time.monotonic() < deadline:
            self.assertEqual(2, len(self.etcd.keys("/skydns/")), "what was taken over stays")
            time.sleep(0.5)

    def test_7_without_a_zone_etcd_is_enough(self):
        self.apply(desired("lone", [{"port": 5000, "host": "api.elsewhere.test"}, {"port": 1, "host": "bad.elsewhere.test"}]),
                   actual("lone", 0, "10.10.1.4"))
        until(lambda: len(core_dns(self.etcd, "api.elsewhere.test")) == 1, "it is in etcd")
        until(lambda: self.condition("lone")["reason"] == "Invalid", "what is wrong is told")
        self.assertIn("port", self.condition("lone")["message"])


if __name__ == "__main__":
    main()
