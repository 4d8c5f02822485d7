#!/usr/bin/env python3
"""Zones as files, through kubectl and the real binary: a real NSD serves what the server writes, reloaded by its command."""

import json
import shutil
import tempfile
from pathlib import Path

from dns_tools import Program, endpoint, record, run, short, zone
from harness import Fairlead, ServerTest, main, until

ZONE = "file.example"


class Nsd(Program):
    """NSD with zones in files of `folder`, told by nsd-control over a socket."""

    def __init__(self, folder, *zones):
        super().__init__("nsd")
        self.config = self.dir / "nsd.conf"
        sections = "".join(f'zone:\n    name: "{name}"\n    zonefile: "{name}.zone"\n' for name in zones)
        self.config.write_text(f"""server:
    ip-address: {self.address}@{self.port}
    username: ""
    chroot: ""
    zonesdir: "{folder}"
    database: ""
    pidfile: "{self.dir}/nsd.pid"
    zonelistfile: "{self.dir}/zone.list"
    xfrdfile: "{self.dir}/xfrd.state"
    xfrdir: "{self.dir}"
    server-count: 1
remote-control:
    control-enable: yes
    control-interface: "{self.dir}/control"
{sections}""")

    def start(self):
        return self.launch("nsd", "-d", "-c", self.config).wait_until_it_answers()


def serve_with_nsd(cls, domain):
    """For a ServerTest's class: a server that writes the zone where an NSD reads it."""
    cls.folder = Path(tempfile.mkdtemp(prefix="fairlead-zones-"))
    cls.addClassCleanup(shutil.rmtree, cls.folder, True)
    cls.nsd = Nsd(cls.folder, domain).start()
    cls.addClassCleanup(cls.nsd.remove)
    cls.server = Fairlead("--zonefile-dir", str(cls.folder),
                          "--zonefile-reload", f"nsd=nsd-control -c {cls.nsd.config} reload {{zone}}").start()
    cls.addClassCleanup(cls.server.remove)


class ZonefileTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        serve_with_nsd(cls, ZONE)

    def apply(self, *objects):
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def condition(self, kind, name, which):
        item = json.loads(self.kubectl("get", kind, name, "-o", "json").stdout)
        return next((each for each in item.get("status", {}).get("conditions", []) if each["type"] == which), {})

    def served(self, name, *answers, kind="A"):
        last = []

        def look():
            last[:] = short(self.nsd.at, f"{name}.{ZONE}", kind)
            return last == sorted(answers)
        until(look, f"NSD answers {answers} for {name}")

    def file(self):
        return (self.folder / f"{ZONE}.zone").read_text()

    def test_1_records_are_served(self):
        self.apply(zone("file", ZONE, provider="zonefile", zonefile={"reload": "nsd"},
                        nameServers=[{"name": f"ns1.{ZONE}", "addresses": ["192.0.2.53"]}],
                        ownership={"owner": "blue"}, deletionGuard={"maxPercent": 100}),
                   record("web", "file", endpoint(f"www.{ZONE}", "A", "192.0.2.1", "192.0.2.2"),
                          endpoint(f"*.{ZONE}", "CNAME", f"www.{ZONE}")))
        self.served("www", "192.0.2.1", "192.0.2.2")
        until(lambda: self.condition("dnsrecord", "web", "Applied").get("status") == "True", "the record is told")
        self.assertIn("serial ", self.condition("dnsrecord", "web", "Applied")["message"])
        checked = run("named-checkzone", ZONE, self.folder / f"{ZONE}.zone")
        self.assertEqual(0, checked.returncode, checked.stdout + self.file())
        self.assertTrue(self.file().split("\n")[1] == f"$ORIGIN {ZONE}.", self.file())

    def test_2_changes_follow(self):
        self.apply(record("web", "file", endpoint(f"www.{ZONE}", "A", "192.0.2.3")))
        self.served("www", "192.0.2.3")
        self.served("other")

    def test_3_what_others_write_stays(self):
        path = self.folder / f"{ZONE}.zone"
        path.write_text(self.file() + "theirs IN A 198.51.100.1\n       IN HINFO \"PDP-11\" \"UNIX\"\n")
        self.apply(record("more", "file", endpoint(f"more.{ZONE}", "TXT", "hello")),
                   record("taken", "file", endpoint(f"theirs.{ZONE}", "A", "192.0.2.9")))
        self.served("more", '"hello"', kind="TXT")
        self.served("theirs", "198.51.100.1")
        self.assertIn('"PDP-11" "UNIX"', self.file())
        until(lambda: self.condition("dnsrecord", "taken", "Skipped").get("status") == "True", "not ours")

    def test_4_weights_are_refused_or_flattened(self):
        weighted = record("shop", "file", endpoint(f"shop.{ZONE}", "A", "192.0.2.10", identifier="cluster/a", weight="3"),
                          endpoint(f"shop.{ZONE}", "A", "192.0.2.20", identifier="cluster/b", weight="1"))
        self.apply(weighted)
        until(lambda: "cannot be expressed by provider zonefile" in self.condition("dnsrecord", "shop", "Skipped").get("message", ""),
              "the record is told")
        self.kubectl("patch", "managedzone", "file", "--type=merge", "-p", '{"spec":{"routingPolicies":"Flatten"}}')
        self.served("shop", "192.0.2.10", "192.0.2.20")

    def test_5_a_broken_file_is_left_alone(self):
        path = self.folder / f"{ZONE}.zone"
        good = self.file()
        broken = good + "$INCLUDE other\n"
        path.write_text(broken)
        self.apply(record("late", "file", endpoint(f"late.{ZONE}", "A", "192.0.2.4")))
        until(lambda: "$INCLUDE" in self.condition("managedzone", "file", "Ready").get("message", ""), "the zone says why")
        self.assertEqual(broken, self.file())
        path.write_text(good)
        self.served("late", "192.0.2.4")

    def test_6_records_go(self):
        # "taken" stays: a zone in which nobody wants anything any more would wait for an approval.
        self.kubectl("delete", "dnsrecord", "web", "more", "shop", "late")
        until(lambda: "_owner." not in self.file(), "nothing of ours is left")
        self.served("theirs", "198.51.100.1")


if __name__ == "__main__":
    main()
