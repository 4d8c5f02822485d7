#!/usr/bin/env python3
"""Two instances that share one address by keepalived, each in a network namespace of its own, and a client in a third:
when the active one dies the address moves. Needs root, for namespaces and addresses; as root it fails, and says why,
where namespaces are not permitted."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from harness import BINARY, main, until

SHARED = "10.99.0.100"
SERVICE = 8080
STATUS = 1936
MOVES_SECONDS = 6.0  # 2 failed checks of a second each, the takeover, and room for a busy machine

# What stands for the proxy: /healthz on the status port, its name on the service's.
PROXY = f"""
import http.server, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(sys.argv[1].encode())
    def log_message(self, *_):
        pass
servers = [http.server.ThreadingHTTPServer(at, Handler) for at in (("127.0.0.1", {STATUS}), ("0.0.0.0", {SERVICE}))]
threading.Thread(target=servers[0].serve_forever, daemon=True).start()
servers[1].serve_forever()
"""


def run(*command, check=True):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=30)
    if check and result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: {result.stderr or result.stdout}")
    return result.stdout


class Host:
    """A namespace with one interface, at the client's bridge."""

    def __init__(self, test, name, address):
        self.name = name
        self.namespace = f"fl{os.getpid()}{name}"
        self.address = address
        self.dir = test.dir
        self.processes = {}
        made = subprocess.run(["ip", "netns", "add", self.namespace], capture_output=True, text=True, timeout=30)
        if made.returncode != 0:
            raise AssertionError("this test needs network namespaces, and root is not permitted to make them here "
                                 f"(CAP_SYS_ADMIN is missing?): {made.stderr}")
        test.addCleanup(run, "ip", "netns", "delete", self.namespace, check=False)
        test.addCleanup(self.end)
        self.ip("link", "set", "lo", "up")

    def ip(self, *arguments):
        return run("ip", "-n", self.namespace, *arguments)

    def start(self, what, *command):
        log = open(self.dir / f"{self.name}-{what}.log", "ab")
        self.processes[what] = subprocess.Popen(["ip", "netns", "exec", self.namespace, *map(str, command)], stdout=log,
                                                stderr=subprocess.STDOUT)
        log.close()

    def stop(self, what, how=signal.SIGTERM):
        process = self.processes.pop(what)
        process.send_signal(how)
        process.wait(30)

    def end(self):
        for what in list(self.processes):
            self.stop(what)

    def start_proxy(self):
        self.start("proxy", sys.executable, "-c", PROXY, self.name)

    def start_keepalived(self, priority):
        config = self.dir / f"{self.name}.conf"
        made = subprocess.run([BINARY, "keepalived", "--router", "blue", "--interface", "eth0", "--address", f"{SHARED}/24",
                               "--priority", str(priority)], capture_output=True, text=True, timeout=30)
        assert made.returncode == 0, made.stderr
        config.write_text(made.stdout)
        config.chmod(0o600)
        # What it says counts: Debian's 2.2.7 ends a check that went well by a SIGTERM to itself.
        said = self.dir / f"{self.name}-check.log"
        subprocess.run(["ip", "netns", "exec", self.namespace, "keepalived", f"--config-test={said}", "-f", config],
                       capture_output=True, timeout=30, start_new_session=True)
        assert said.exists() and not said.read_text(), f"keepalived does not take it: {said.read_text()}{made.stdout}"
        self.start("keepalived", "keepalived", "--dont-fork", "--log-console", "--vrrp", "-f", config,
                   "-p", self.dir / f"{self.name}.pid", "-r", self.dir / f"{self.name}-vrrp.pid")

    def is_healthy(self):
        return subprocess.run(["ip", "netns", "exec", self.namespace, "curl", "--silent", "--fail", "--max-time", "1",
                               f"http://127.0.0.1:{STATUS}/healthz"], capture_output=True, timeout=30).returncode == 0

    def has_address(self):
        return f"{SHARED}/" in self.ip("-4", "addr", "show", "dev", "eth0")

    def log(self, what):
        return (self.dir / f"{self.name}-{what}.log").read_text(errors="replace")


@unittest.skipUnless(os.geteuid() == 0, "network namespaces and addresses need root")
class KeepalivedTest(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="fairlead-keepalived-"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.client = Host(self, "c", "10.99.0.3")
        self.client.ip("link", "add", "br0", "type", "bridge")
        self.client.ip("addr", "add", "10.99.0.3/24", "dev", "br0")
        self.client.ip("link", "set", "br0", "up")
        self.hosts = [self.attach("a", "10.99.0.1"), self.attach("b", "10.99.0.2")]

    def attach(self, name, address):
        host = Host(self, name, address)
        port = f"to{name}"
        run("ip", "-n", self.client.namespace, "link", "add", port, "type", "veth", "peer", "name", "eth0",
            "netns", host.namespace)
        self.client.ip("link", "set", port, "master", "br0")
        self.client.ip("link", "set", port, "up")
        host.ip("addr", "add", f"{address}/24", "dev", "eth0")
        host.ip("link", "set", "eth0", "up")
        return host

    def who(self):
        """Who answers on the shared address; empty: nobody."""
        return subprocess.run(["ip", "netns", "exec", self.client.namespace, "curl", "--silent", "--max-time", "0.5",
                               f"http://{SHARED}:{SERVICE}/"], capture_output=True, text=True, timeout=30).stdout

    def moves_to(self, name, seconds=MOVES_SECONDS):
        begin = time.monotonic()
        try:
            until(lambda: self.who() == name, f"{name} has {SHARED}", seconds)
        except AssertionError as problem:
            logs = "".join(f"\n--- {host.name}\n{host.log('keepalived')[-2000:]}" for host in self.hosts)
            raise AssertionError(f"{problem}{logs}") from None
        return time.monotonic() - begin

    def test_the_address_moves_when_the_active_one_dies(self):
        a, b = self.hosts
        # One after the other: who comes first keeps the address, whatever the priorities (nopreempt).
        for host, priority in ((a, 150), (b, 100)):
            host.start_proxy()
            until(host.is_healthy, f"the proxy of {host.name} answers", 30)
            host.start_keepalived(priority)
            self.moves_to("a", 30)
        until(lambda: "Entering BACKUP STATE" in b.log("keepalived"), "b waits")
        self.assertFalse(b.has_address(), "only one has it")

        a.stop("proxy", signal.SIGKILL)
        taken = [self.moves_to("b")]
        until(lambda: not a.has_address(), "a has given it up")

        # It works again: the address stays where it is.
        a.start_proxy()
        until(lambda: a.log("keepalived").count("Entering BACKUP STATE") >= 2, "a waits")
        self.assertTrue(b.has_address())
        self.assertEqual("b", self.who())

        # The whole machine, or keepalived alone.
        b.stop("keepalived")
        taken.append(self.moves_to("a"))
        print(f"moved within {', '.join(f'{each:.2f}' for each in taken)} s")


if __name__ == "__main__":
    main()
