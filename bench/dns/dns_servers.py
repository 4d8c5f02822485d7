"""Starts the servers of the DNS benchmarks one at a time, pinned to one core, with one thread that answers UDP: the echo
that is the ceiling, gdnsd and Knot with their own ways to weight and geography, and Fairlead as the real binary that was
given its zones through the API."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import dns_world
from harness import Fairlead, until

SERVER_CORE, CLIENT_CORE = 0, 1


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(port, name, timeout=0.5):
    """The addresses of an answer; None if none came."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("127.0.0.1", port))
        client.settimeout(timeout)
        query = dns_world.message(name)
        try:
            client.send(query)
            reply = client.recv(65535)
        except OSError:
            return None
    return [socket.inet_ntoa(reply[-4:])] if reply[6:8] == b"\0\1" and len(reply) > len(query) else []


def cpu_seconds(pid):
    """Of all threads, exact to the nanosecond; work that the kernel does in their name is part of it."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0])
    return total / 1e9


class Peer:
    """A server process on a port of its own, in a folder of its own."""

    def __init__(self, name, folder, port, command, answers=None, pinned=True):
        self.name, self.folder, self.port = name, Path(folder), port
        with open(self.folder / "log", "ab") as log:
            pin = ["taskset", "-c", str(SERVER_CORE)] if pinned else []
            self.process = subprocess.Popen([*pin, *map(str, command)], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)
        self.pid = self.process.pid
        if answers:
            until(lambda: self._answers(answers), f"{name} answers", 120)
        else:
            time.sleep(0.3)

    def _answers(self, name):
        if self.process.poll() is not None:
            raise SystemExit(f"{self.name} ended with {self.process.returncode}: {(self.folder / 'log').read_text()[-2000:]}")
        return ask(self.port, name) == [dns_world.PROBE]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def echo(tools, folder):
    port = free_port()
    return Peer("echo", folder, port, [tools / "udp_echo", port])


KNOT = """server:
    rundir: "{folder}"
    listen: 127.0.0.1@{port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
    edns-client-subnet: {subnet}
control:
    listen: "{folder}/knot.sock"
log:
  - target: stderr
    any: warning
database:
    storage: "{folder}/db"
{modules}
zone:
  - domain: {zone}
    file: "{file}"
    zonefile-sync: -1
    journal-content: none
    semantic-checks: off
{use}"""
KNOT_MODULES = """mod-geoip:
  - id: weighted
    config-file: "{data}/knot-weighted.conf"
    ttl: 60
    mode: weighted
  - id: geo
    config-file: "{data}/knot-geo.conf"
    ttl: 60
    mode: geodb
    geodb-file: "{data}/country.mmdb"
    geodb-key: country/iso_code
"""


def knot(world, folder, load):
    port = free_port()
    (folder / "db").mkdir()
    smart = load != "plain"
    use = {"plain": "", "weighted": "    module: [mod-geoip/weighted]\n", "geo": "    module: [mod-geoip/geo]\n",
           "smart": "    module: [mod-geoip/geo, mod-geoip/weighted]\n"}[load]
    zone = dns_world.SMART if smart else dns_world.PLAIN
    (folder / "knot.conf").write_text(KNOT.format(
        folder=folder, port=port, subnet="on" if smart else "off", zone=zone, use=use,
        modules=KNOT_MODULES.format(data=world.folder) if smart else "",
        file=world.folder / ("knot-smart" if smart else dns_world.PLAIN)))
    return Peer("Knot", folder, port, ["knotd", "-c", folder / "knot.conf"], f"probe.{zone}")


GDNSD = """options => {{
    listen => {{ 127.0.0.1:{port} => {{ udp_threads = 1, tcp_threads = 1 }} }}
    run_dir = {folder}/run
    state_dir = {folder}/state
    zones_rfc1035_threads = 1
    experimental_no_chain = false
}}
{plugins}
"""


def gdnsd(world, folder, load):
    port = free_port()
    smart = load != "plain"
    zone = dns_world.SMART if smart else dns_world.PLAIN
    for name in ("run", "state", "zones", "geoip"):
        (folder / name).mkdir()
    shutil.copy(world.folder / ("gdnsd-smart" if smart else zone), folder / "zones" / zone)
    shutil.copy(world.mmdb, folder / "geoip" / "country.mmdb")
    shutil.copy(world.folder / "gdnsd-plugins.cfg", folder / "plugins.cfg")
    (folder / "config").write_text(GDNSD.format(port=port, folder=folder, plugins="$include{plugins.cfg}" if smart else ""))
    return Peer("gdnsd", folder, port, ["gdnsd", "-c", folder, "start"], f"probe.{zone}")


def send_all(server, objects):
    """Creates them over one connection; the zones are served when it returns."""
    connection = server.connect()
    for one in objects:
        plural = {"ManagedZone": "managedzones", "DNSRecord": "dnsrecords"}[one["kind"]]
        connection.request("POST", f"/apis/kuadrant.io/v1alpha1/namespaces/default/{plural}", json.dumps(one),
                           {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 201:
            raise SystemExit(f"{one['metadata']['name']}: {answer.status} {text[:500]}")
    connection.close()


class Ours:
    """One server for all loads: stopped and started again between measurements, as the others are."""

    name = "Fairlead"

    def __init__(self, world):
        self.server = Fairlead("--log-level", "warn", "--dns-threads", "1", "--geoip", str(world.mmdb))
        self.server.start()
        send_all(self.server, world.objects)
        self.server.stop()

    def start(self, zone):
        self.server.wrapper = ("taskset", "-c", str(SERVER_CORE))
        self.server.start()
        self.pid, self.port = self.server.process.pid, int(self.server.dns_port)
        until(lambda: ask(self.port, f"probe.{zone}") == [dns_world.PROBE], "Fairlead answers")
        return self

    def stop(self):
        self.server.stop()

    def remove(self):
        self.server.remove()
