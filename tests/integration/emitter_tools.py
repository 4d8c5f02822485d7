"""`fairlead emitter` between real processes, for tests of it: nats-server, a gorouter that keeps gorouter's rules, and somebody who
looks at its table all the time."""

import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request
from pathlib import Path

from harness import BINARY, Fairlead, START_SECONDS, until
from router_tools import free_port

STRICT_ROUTER = Path(os.environ.get("STRICT_ROUTER", BINARY.resolve().parents[1] / "tests" / "gorouter" / "strict_router"))

# The example of Diego's proposal for routing 2.0.
ROUTES = [{"port": 4000, "routes": ["foo.com", "bar.com"]},
          {"port": 5000, "routes": ["admin.foo.com"], "route_to_instances": True}]
EXAMPLE = {("foo.com", "10.10.1.2:59001"), ("bar.com", "10.10.1.2:59001"), ("admin.foo.com", "10.10.1.2:59002"),
           ("0.admin.foo.com", "10.10.1.2:59002")}
SECOND = {("foo.com", "10.10.1.3:59011"), ("bar.com", "10.10.1.3:59011"), ("admin.foo.com", "10.10.1.3:59012"),
          ("1.admin.foo.com", "10.10.1.3:59012")}


class Child:
    """A process with its output in a file, that can be started again with the same words."""

    def __init__(self, folder, name, *words):
        self.words = [str(word) for word in words]
        self.log = Path(folder) / (name + ".log")
        self.process = None

    def start(self):
        self.log.unlink(missing_ok=True)  # what it said in another life is not looked for
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def text(self):
        return self.log.read_text(errors="replace")

    def end(self, how=signal.SIGKILL):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(START_SECONDS)
        return self.process.returncode if self.process else None

    def line(self, pattern):
        """What a line of this form says, of a process that lives."""
        def look():
            if self.process.poll() is not None:
                raise AssertionError(f"{self.words[0]} ended with {self.process.returncode}: {self.text()[-2000:]}")
            found = re.search(pattern, self.text(), re.MULTILINE)
            return found.group(1) if found else None
        return until(look, f"{pattern} of {self.words}", START_SECONDS)


class Nats(Child):
    def __init__(self, folder):
        self.port = free_port("127.0.0.1")
        self.url = f"nats://127.0.0.1:{self.port}"
        super().__init__(folder, "nats", "nats-server", "-a", "127.0.0.1", "-p", self.port)

    def start(self):
        super().start()

        def listening():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0
        until(listening, "nats-server listens", START_SECONDS)
        return self


class Gorouter(Child):
    """Its table, and who looks at it."""

    def __init__(self, folder, nats, interval, stale, *words, name="router"):
        self.address = f"127.0.0.1:{free_port('127.0.0.1')}"
        super().__init__(folder, name, STRICT_ROUTER, "--nats", nats.url, "--interval", interval, "--stale", stale,
                         "--listen", self.address, *words)

    def start(self):
        super().start()
        self.line(r"^ready (\S+)")
        return self

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=30) as answer:
            return json.loads(answer.read())

    def pairs(self):
        return {(name, endpoint["address"]) for name, endpoints in self.get("/routes").items() for endpoint in endpoints}

    def until(self, pairs, what):
        try:
            until(lambda: self.pairs() == pairs, what, 60)
        except AssertionError as error:
            raise AssertionError(f"{error}; the table is {sorted(self.pairs())}") from None


class Watch(threading.Thread):
    """Looks at a router that answers, and notes for how long each pair that lives was not in its table."""

    def __init__(self, router, pairs):
        super().__init__(daemon=True)
        self.router, self.pairs, self.longest, self.looks, self.done = router, set(pairs), 0.0, 0, False
        self.since = {}
        self.start()

    def run(self):
        while not self.done:
            try:
                there = self.router.pairs()
            except (OSError, ValueError):
                self.since = {}  # no router, no table: the time counts from when there is one
                time.sleep(0.02)
                continue
            now = time.monotonic()
            self.looks += 1
            for pair in self.pairs:
                if pair in there:
                    self.since.pop(pair, None)
                else:
                    self.longest = max(self.longest, now - self.since.setdefault(pair, now))
            time.sleep(0.05)

    def end(self):
        self.done = True
        self.join()
        return self.longest


class Emitter(Child):
    def __init__(self, folder, name, nats, *words):
        self.name = name
        super().__init__(folder, name, BINARY, "emitter", "--name", name, "--nats", nats.url, "--listen", "127.0.0.1:0",
                         "--log-format", "json", *words)

    def start(self):
        super().start()
        self.address = self.line(rf"^ready name={self.name} duty=\S+ listen=(\S+)$")
        return self

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=30) as answer:
            return answer.read().decode()

    def metric(self, name):
        found = re.search(rf"^{name} (\S+)$", self.get("/metrics"), re.MULTILINE)
        return float(found.group(1))

    def leads(self):
        return self.metric("fairlead_emitter_leader") == 1


class EmitterScene(unittest.TestCase):
    """A server, NATS and a router; nothing is shared between tests."""

    INTERVAL = 8  # seconds, which the router asks for
    STALE = 20  # seconds after which it drops what was not registered anew
    LEASE = 3  # seconds

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.server = Fairlead().start()
        self.addCleanup(self.server.remove)
        self.nats = self.keep(Nats(self.folder).start())
        self.router = self.keep(Gorouter(self.folder, self.nats, self.INTERVAL, self.STALE).start())

    def keep(self, child):
        self.addCleanup(child.end)
        return child

    def token(self, user, *more):
        return self.server.cli("token", "create", "--user", user, "--group", "fairlead:emitters", *more).stdout

    def emitter(self, name, *words):
        """One with the rights of its group, and no others."""
        kubeconfig = self.folder / f"{name}.kubeconfig"
        kubeconfig.write_text(self.token(name, "-o", "kubeconfig"))
        return self.keep(Emitter(self.folder, name, self.nats, "--kubeconfig", kubeconfig, "--lease-duration", f"{self.LEASE}s",
                                 *words).start())

    def receptor(self, method, path, body, wanted):
        status, _, answer = self.server.request(method, "/v1/" + path, body)
        self.assertEqual(wanted, status, answer)

    def desire(self, guid, routes, instances=1):
        self.receptor("POST", "desired_lrps",
                      {"process_guid": guid, "domain": "cf-apps", "rootfs": "preloaded:cflinuxfs4", "instances": instances,
                       "action": {"run": {"path": "/bin/web", "user": "vcap"}}, "ports": [4000, 5000], "routes": routes}, 201)

    def run_instance(self, guid, index, address, *ports):
        self.receptor("PUT", f"actual_lrps/{guid}/index/{index}",
                      {"state": "RUNNING", "instance_guid": f"{guid}-{index}", "cell_id": "cell-1", "address": address,
                       "ports": [{"container_port": inside, "host_port": outside} for inside, outside in zip((4000, 5000), ports)]}, 201)

    def example(self):
        self.desire("web", {"cf-router": json.dumps(ROUTES)}, instances=2)  # a string, as the proposal has it
        self.run_instance("web", 0, "10.10.1.2", 59001, 59002)

    def two(self):
        """Two emitters, the one that leads first, and the example in the router's table."""
        first, second = self.emitter("first"), self.emitter("second")
        self.example()
        self.router.until(EXAMPLE, "the example")
        until(lambda: first.leads() or second.leads(), "a leader")
        return (first, second) if first.leads() else (second, first)
