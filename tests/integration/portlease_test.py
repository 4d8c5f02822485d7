#!/usr/bin/env python3
"""Ports of Routers for LRPs, with kubectl against the real server: a clash is told to the loser alone, an assigned port is
told in status, a port is kept for its owner for the grace and freed after it."""

import json
import unittest

from harness import ServerTest, main, until


def router(name, tcp, grace=300, **spec):
    return {"apiVersion": "fairlead.dev/v1", "kind": "Router", "metadata": {"name": name},
            "spec": {"dns": f"{name}.routers.example.net",
                     "reservablePorts": {"tcp": tcp, "udp": "43218", "graceSeconds": grace}, **spec}}


def lrp(name, entry, namespace="default", labels=None):
    return {"apiVersion": "fairlead.dev/v1", "kind": "DesiredLRP",
            "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
            "spec": {"process_guid": name, "domain": "apps", "ports": [4000, 5000],
                     "routes": {"cf-router": json.dumps([entry])}}}


def tcp(port, incoming=None):
    return {"port": port, "protocol": "tcp", **({"incoming_port": incoming} if incoming else {})}


class PortLeases(ServerTest):
    def apply(self, *objects):
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def lrp(self, name, namespace="default"):
        return json.loads(self.kubectl("get", "desiredlrp", name, "-n", namespace, "-o", "json").stdout)

    def condition(self, name, namespace="default"):
        found = self.lrp(name, namespace).get("status", {}).get("conditions", [])
        return next(((c["status"], c["reason"], c["message"]) for c in found if c["type"] == "CfRouter"), (None,) * 3)

    def is_told(self, name, status, reason, namespace="default"):
        until(lambda: self.condition(name, namespace)[:2] == (status, reason), f"{name} is told {status} {reason}")
        return self.condition(name, namespace)[2]

    def leases(self, of_router):
        found = json.loads(self.kubectl("get", "portleases", "--field-selector", f"spec.router={of_router}",
                                        "-o", "json").stdout)["items"]
        return {each["metadata"]["name"]: (each["spec"]["owner"]["name"], each["status"]["phase"]) for each in found}

    def test_a_clash_is_told_to_the_loser_alone(self):
        self.kubectl("create", "namespace", "mars")
        self.apply(router("clash", "62000-62009", label="on=clash"))
        labels = {"on": "clash"}
        self.apply(lrp("first", tcp(4000, 62001), labels=labels))
        self.is_told("first", "True", "Accepted")
        told = self.lrp("first")["metadata"]["resourceVersion"]
        self.apply(lrp("second", tcp(4000, 62001), labels=labels),
                   lrp("stranger", tcp(4000, 62001), "mars", labels),
                   lrp("free", tcp(5000, 62002), labels=labels))
        self.assertIn("port 62001 (tcp, to 4000): DesiredLRP first has it on router clash",
                      self.is_told("second", "False", "PortTaken"))
        message = self.is_told("stranger", "False", "PortTaken", "mars")
        self.assertNotIn("first", message)
        self.is_told("free", "True", "Accepted")
        self.assertEqual(told, self.lrp("first")["metadata"]["resourceVersion"])
        self.assertEqual({"clash.tcp.62001": ("first", "Leased"), "clash.tcp.62002": ("free", "Leased")},
                         self.leases("clash"))
        until(lambda: "PortTaken" in self.kubectl("get", "events", "-A").stdout, "an event tells of the clash")

    def test_an_assigned_port_is_told(self):
        self.apply(router("assign", "61000-61009", label="on=assign"))
        self.apply(lrp("any", {"port": 5000, "protocol": "tcp"}, labels={"on": "assign"}),
                   lrp("packets", {"port": 5000, "protocol": "udp"}, labels={"on": "assign"}))
        self.is_told("any", "True", "Accepted")
        self.assertEqual([{"provider": "cf-router", "protocol": "tcp", "containerPort": 5000, "incomingPort": 61000,
                           "router": "assign"}], self.lrp("any")["status"]["ports"])
        self.assertIn("udp port 43218 of router assign to port 5000", self.is_told("packets", "True", "Accepted"))
        table = self.kubectl("get", "portleases").stdout
        self.assertRegex(table, r"NAME\s+ROUTER\s+PROTOCOL\s+PORT\s+OWNER\s+CONTAINER PORT\s+PHASE\s+AGE")
        self.assertRegex(table, r"assign\.tcp\.61000\s+assign\s+tcp\s+61000\s+default/any\s+5000\s+Leased")
        ours = self.server.cli("get", "portleases").stdout
        self.assertRegex(ours, r"assign\.udp\.43218\s+assign\s+udp\s+43218\s+default/packets\s+5000\s+Leased")
        described = self.server.cli("describe", "desiredlrp", "any").stdout
        self.assertIn("61000", described)
        self.assertIn("tcp port 61000 of router assign to port 5000", described)
        self.assertIn('fairlead_port_leases{phase="Leased",protocol="udp",router="assign"} 1',
                      self.kubectl("get", "--raw", "/metrics").stdout)

    def test_a_port_is_kept_for_a_while_and_then_freed(self):
        self.apply(router("grace", "60000", grace=4, label="on=grace"))
        labels = {"on": "grace"}
        self.apply(lrp("had", tcp(4000, 60000), labels=labels))
        self.is_told("had", "True", "Accepted")
        self.apply(lrp("waits", tcp(4000, 60000), labels=labels))
        self.is_told("waits", "False", "PortTaken")
        self.kubectl("delete", "desiredlrp", "had")
        until(lambda: self.leases("grace") == {"grace.tcp.60000": ("waits", "Leased")}, "the port is freed and taken")
        self.is_told("waits", "True", "Accepted")

    def test_deleted_and_made_again_it_is_the_same_port(self):
        self.apply(router("again", "59000-59009", label="on=again"))
        labels = {"on": "again"}
        self.apply(lrp("one", tcp(4000), labels=labels))
        self.is_told("one", "True", "Accepted")
        self.apply(lrp("two", tcp(4000), labels=labels))
        self.is_told("two", "True", "Accepted")
        self.assertEqual(59001, self.lrp("two")["status"]["ports"][0]["incomingPort"])
        self.kubectl("delete", "desiredlrp", "one", "two")
        until(lambda: [phase for _, phase in self.leases("again").values()] == ["Released"] * 2, "both are released")
        self.apply(lrp("two", tcp(4000), labels=labels))
        self.is_told("two", "True", "Accepted")
        self.assertEqual(59001, self.lrp("two")["status"]["ports"][0]["incomingPort"])
        self.server.kill()
        self.server.start()
        until(lambda: self.leases("again").get("again.tcp.59001") == ("two", "Leased"), "a restart changes nothing")

    def test_bad_ranges_are_refused(self):
        for ranges, why in (("80", "port 80 is outside 1024..65535"), ("2000-1999", "from the lower port to the higher"),
                            ("8443", "must not contain 8443")):
            bad = router("bad", ranges, ports={"http": 8080, "https": 8443})
            refused = self.server.kubectl("apply", "-f", "-", stdin=json.dumps(bad), check=False)
            self.assertNotEqual(0, refused.returncode)
            self.assertIn("spec.reservablePorts.tcp", refused.stderr)
            self.assertIn(why, refused.stderr)


if __name__ == "__main__":
    main()
