"""The emitter with everything around it: a real nats-server, a subscriber that keeps gorouter's rules and limits, and
`fairlead emitter` over a Receptor and over our own API. All on loopback, on free ports, in temporary folders."""

import json
import os
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from emitter_tools import Child, Nats
from harness import BINARY, Fairlead, until

INSTANCES = 250_000
BURST = 400_000
EVENTS, EVENTS_PER_SECOND = 10_000, 500
PATIENCE_SECONDS = 600


def json_of(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.loads(answer.read())


def peak_mb(pid):
    """The most that the process ever had resident."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0


def cpu_seconds(pid):
    """Of all its threads so far: what else runs on the machine does not count."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class StrictRouter(Child):
    """Drops what waits beyond 131,072 messages, as gorouter does."""

    def __init__(self, folder, nats, program, interval=600):
        super().__init__(folder, "router", program, "--nats", nats.url, "--interval", interval, "--stale", 3600)

    def start(self):
        super().start()
        self.address = self.line(r"^ready (\S+)")
        return self

    def settled(self, names):
        """Its figures when it has so many names, or gets no more."""
        figures, quiet, end = self.figures(), 0, time.monotonic() + PATIENCE_SECONDS
        while figures["names"] < names and quiet < 10 and time.monotonic() < end:
            time.sleep(0.5)
            before, figures = figures, self.figures()
            quiet = quiet + 1 if figures == before else 0
        return figures

    def figures(self):
        return json_of(f"http://{self.address}/figures")


class World:
    """nats-server, and whoever else is started in it; all of them end with it."""

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="fairlead-emitter-")
        self.folder, self.children = Path(self.temporary.name), []
        self.nats = self.start(Nats(self.folder))
        return self

    def start(self, child):
        self.children.append(child)
        return child.start()

    def __exit__(self, *_):
        for child in reversed(self.children):
            child.end()
        self.temporary.cleanup()


def bursts(tools):
    print(f"\n{BURST:,} names at once through the driver, nats-server and a subscriber that lets 131,072 messages wait")
    for what, names_per_endpoint, pace in (("ten names an endpoint", 10, 10_000), ("one name an endpoint", 1, 10_000),
                                           ("ten names an endpoint, no pace", 10, 0), ("one name an endpoint, no pace", 1, 0)):
        with World() as world:
            router = world.start(StrictRouter(world.folder, world.nats, tools.parent / "tests/gorouter/strict_router"))
            done = subprocess.run([tools / "gorouter_burst", world.nats.url, str(BURST), str(names_per_endpoint), str(pace)],
                                  capture_output=True, text=True, check=True)
            got, held = json.loads(done.stdout), router.settled(BURST)
            lost = BURST - held["names"]
            print(f"{what:34} sent in {got['seconds']:6.2f} s: {got['messages'] / got['seconds']:9,.0f} messages/s, "
                  f"{got['names'] / got['seconds']:9,.0f} names/s; arrived {held['names']:,}, lost {lost:,} ({lost / BURST:.0%})", flush=True)
    print("peer: one message a name, as Diego's emitter sends them, lost 31% of 200,000 and 65% of 400,000 in a gorouter (elsewhere)")


def emitter_of(world, *source):
    """A child that says `ready` when it has read everything and reaches NATS."""
    return Child(world.folder, "emitter", BINARY, "emitter", "--name", "bench", "--nats", world.nats.url, "--log-level", "warn", *source)


def over_receptor(tools, processes, instances, interval, sync="1h"):
    """With one pass, unless the next one is sooner than in an hour."""
    with World() as world:
        load = subprocess.Popen([tools / "receptor_load", world.nats.url, str(processes), str(instances), str(EVENTS),
                                 str(EVENTS_PER_SECOND), str(interval)], stdout=subprocess.PIPE, text=True)
        try:
            port = json.loads(load.stdout.readline())["port"]
            emitter = world.start(emitter_of(world, "--receptor", f"http://127.0.0.1:{port}", "--sync-interval", sync))
            until(lambda: "ready name=" in emitter.text(), "the emitter has read everything", PATIENCE_SECONDS)
            cpu = cpu_seconds(emitter.process.pid)
            got = json.loads(load.stdout.readline())
            peak, load_average = peak_mb(emitter.process.pid), os.getloadavg()[0]
        finally:
            load.kill()
            load.wait()
    passes = "" if sync == "1h" else f", read every {sync}"
    print(f"{f'{processes:,} x {instances}, all anew every {interval} s{passes}':40} first message after {got['first_message_s']:.2f} s ({cpu:.1f} s CPU until ready), all after "
          f"{got['all_arrived_s']:.1f} s ({got['names']:,} names, {got['dropped']} dropped); peak {peak:,.0f} MB; event to message p50 "
          f"{got['p50_ms']:.2f} ms, p99 {got['p99_ms']:.2f} ms, max {got['max_ms']:.2f} ms, {got['events_lost']} of {got['events']:,} lost; load {load_average:.1f}", flush=True)


def make_lrps(server, tools, processes, instances):
    """Through the Receptor API: processes one by one, instances in bulk."""
    body = server.data / "desired.json"
    body.write_text(json.dumps({
        "process_guid": "p{c}-{n}", "domain": "cf-apps", "rootfs": "preloaded:cflinuxfs4", "instances": instances, "ports": [8080],
        "action": {"run": {"path": "/bin/web", "user": "vcap"}},
        "routes": {"cf-router": [{"port": 8080, "hostnames": ["app-{c}-{n}.apps.example.com"]}]}}))
    pki = server.data / "pki"
    subprocess.run([tools / "http_load", "--url", server.url, "--ca", pki / "ca.crt", "--cert", pki / "admin.crt", "--key", pki / "admin.key",
                    "--clients", "64", "--requests", str(processes), "--seconds", "3600", "--method", "POST", "--path", "/v1/desired_lrps",
                    "--body-file", body], check=True, capture_output=True)
    guids = [each["process_guid"] for each in server.request("GET", "/v1/desired_lrps?view=routing")[2]]
    numbered = [(guid, index) for guid in guids for index in range(instances)]
    for first in range(0, len(numbered), 5_000):
        upsert = [{"process_guid": guid, "index": index, "state": "RUNNING", "instance_guid": f"{guid}-{index}", "cell_id": "cell-1",
                   "address": f"10.0.{number % 1000 // 250}.{number % 250 + 1}",
                   "ports": [{"container_port": 8080, "host_port": 20_000 + number // 1000}]}
                  for number, (guid, index) in enumerate(numbered[first:first + 5_000], first)]
        status, _, answer = server.request("POST", "/v1/actual_lrps/bulk", {"upsert": upsert})
        if status != 200 or any("error" in result for result in answer["results"]):
            raise SystemExit(f"bulk: {status} {str(answer)[:500]}")
    return len(guids)


def over_api(tools, processes, instances):
    server = Fairlead("--log-level", "warn", "--roles", "api").start()
    try:
        made = make_lrps(server, tools, processes, instances)
        with World() as world:
            router = world.start(StrictRouter(world.folder, world.nats, tools.parent / "tests/gorouter/strict_router"))
            began = time.monotonic()
            emitter = world.start(emitter_of(world, "--kubeconfig", server.kubeconfig))
            until(lambda: "ready name=" in emitter.text(), "the emitter has read everything", PATIENCE_SECONDS)
            ready, cpu = time.monotonic() - began, cpu_seconds(emitter.process.pid)
            held = router.settled(made)
            arrived = time.monotonic() - began
            print(f"{f'{made:,} x {instances}':40} ready after {ready:.2f} s ({cpu:.1f} s CPU), all after {arrived:.1f} s ({held['names']:,} names, "
                  f"{held['dropped']} dropped); peak {peak_mb(emitter.process.pid):,.0f} MB; load {os.getloadavg()[0]:.1f}", flush=True)
    finally:
        server.remove()


def run(tools):
    bursts(tools)
    print(f"\n`fairlead emitter` over a Receptor, {INSTANCES:,} instances, {EVENTS_PER_SECOND} events a second")
    for processes, interval, sync in ((INSTANCES // 5, 600, "1h"), (INSTANCES, 600, "1h"), (INSTANCES, 600, "10s"), (INSTANCES, 20, "1h")):
        over_receptor(tools, processes, INSTANCES // processes, interval, sync)
    print(f"\n`fairlead emitter` over `fairlead serve`, {INSTANCES:,} instances, from its start")
    over_api(tools, INSTANCES // 5, 5)
