"""Routers on loopback: `fairlead router` processes with a HAProxy each, backends that say who they are, and clients that go
the way of real ones: name, DNS, address, HTTP."""

import http.client
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from harness import BINARY, until

HAPROXY = os.environ.get("HAPROXY", "/usr/sbin/haproxy")

BACKEND = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = f"{sys.argv[1]} {self.headers['Host']} {self.headers.get('X-Forwarded-For', '')}\\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    def handle_error(self, request, client_address):
        pass  # who checks that it lives hangs up at once
Server((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
"""


def free_port(*hosts):
    """A port that is free on all of them, for TCP."""
    for _ in range(100):
        with socket.socket() as first:
            first.bind((hosts[0], 0))
            port = first.getsockname()[1]
        held = []
        try:
            for host in hosts:
                held.append(socket.socket())
                held[-1].bind((host, port))
            return port
        except OSError:
            continue
        finally:
            for each in held:
                each.close()
    raise AssertionError("no port is free on all of " + ", ".join(hosts))


class Backend:
    def __init__(self, address, port):
        self.process = subprocess.Popen([sys.executable, "-c", BACKEND, address, str(port)])
        until(lambda: reachable(address, port), f"the backend {address}:{port} answers")

    def stop(self):
        self.process.kill()
        self.process.wait()


def reachable(address, port):
    try:
        socket.create_connection((address, port), 1).close()
        return True
    except OSError:
        return False


class Instance:
    """One `fairlead router` on an address of its own."""

    def __init__(self, kubeconfig, router, name, address, http, https, status, *more):
        self.name, self.address = name, address
        self.state = Path(tempfile.mkdtemp(prefix="fairlead-router-"))
        self.command = [BINARY, "router", "--router", router, "--name", name, "--kubeconfig", kubeconfig, "--address", address,
                        "--http-listen", f"{address}:{http}", "--https-listen", f"{address}:{https}",
                        "--status-listen", f"{address}:{status}", "--state-dir", self.state / "router", "--haproxy", HAPROXY,
                        "--drain", "1s", *more]
        self.process = None

    def start(self):
        self.log = open(self.state / "router.log", "ab")
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)
        return self

    def log_text(self):
        return (self.state / "router.log").read_text(errors="replace")

    @property
    def haproxy(self):
        """The pid of HAProxy's master, which leads the group of its workers."""
        return int((self.state / "router" / "haproxy" / "haproxy.pid").read_text())

    def crash(self):
        """As if its machine had died: nobody says goodbye."""
        self.process.kill()
        self.process.wait()
        self.kill_haproxy()
        self.log.close()

    def kill_haproxy(self):
        try:
            os.killpg(self.haproxy, signal.SIGKILL)
        except (ProcessLookupError, FileNotFoundError):
            pass

    def remove(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.kill_haproxy()
        if self.process and not self.log.closed:
            self.log.close()
        shutil.rmtree(self.state, ignore_errors=True)


def resolve(dns, name, timeout=2):
    """The A records that (address, port) answers with, in its order, chains followed."""
    question = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
    number = random.randrange(65536)
    packet = struct.pack(">HHHHHH", number, 0, 1, 0, 0, 0) + question + struct.pack(">HH", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(timeout)
        client.connect(dns)
        client.send(packet)
        answer = client.recv(4096)
    count, at, found = struct.unpack(">H", answer[6:8])[0], 12 + len(question) + 4, []
    for _ in range(count):
        while answer[at] and answer[at] < 192:
            at += answer[at] + 1
        at += 2 if answer[at] >= 192 else 1
        kind, _, _, length = struct.unpack(">HHIH", answer[at:at + 10])
        at += 10
        if kind == 1:
            found.append(socket.inet_ntoa(answer[at:at + 4]))
        at += length
    return found


class Load(threading.Thread):
    """A client that asks for a name over and over: each time it asks DNS, and tries the addresses in turn as browsers do. A
    request that no address answers with 200 is a failure."""

    def __init__(self, dns, name, port, pause=0.005):
        super().__init__(daemon=True)
        self.dns, self.host, self.port, self.pause = dns, name, port, pause
        self.stopping = threading.Event()
        self.asked, self.failures, self.servers = 0, [], {}

    def run(self):
        while not self.stopping.is_set():
            began = time.monotonic()
            problem = self.ask()
            self.asked += 1
            if problem:
                self.failures.append((began, problem))
            time.sleep(self.pause)

    def ask(self):
        problem = "no address"
        try:
            addresses = resolve(self.dns, self.host)
        except OSError as wrong:
            return f"DNS: {wrong!r}"
        for address in addresses:
            connection = http.client.HTTPConnection(address, self.port, timeout=5)
            try:
                connection.request("GET", "/", headers={"Host": self.host})
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    self.servers[address] = time.monotonic()
                    return None
                problem = f"{address}: {answer.status}"
            except (OSError, http.client.HTTPException) as wrong:
                problem = f"{address}: {wrong!r}"
            finally:
                connection.close()
        return problem

    def stop(self):
        self.stopping.set()
        self.join()
