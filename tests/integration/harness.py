"""Starts the real binary on loopback with a data dir of its own, and drives real clients against it. Nothing is shared
between tests: free ports, temporary folders, processes stopped by pid."""

import http.client
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("FAIRLEAD_BINARY", ROOT / "build" / "fairlead"))
TOOLS = ROOT / "build" / "tools"
START_SECONDS = 60  # far above any honest start, so that only a hang fails


def until(condition, what, seconds=30):
    """Waits until `condition` gives something true; a clear failure instead of a hang."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        result = condition()
        if result:
            return result
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")


class Fairlead:
    """One server process; start() after kill() continues with the same data and the same port."""

    def __init__(self, *args, data=None, wrapper=()):
        self.data = Path(data or tempfile.mkdtemp(prefix="fairlead-test-"))
        self.args = args
        self.wrapper = wrapper  # a command that execs the binary: ("prlimit", "--nofile=1024")
        self.process = None
        self.listen = "127.0.0.1:0"
        self.dns_listen = "127.0.0.1:0"  # a test that passes --dns-listen or --roles decides for itself

    def start(self):
        (self.data / "run.json").unlink(missing_ok=True)
        self.log = open(self.data / "serve.log", "ab")
        dns = () if "--dns-listen" in self.args else ("--dns-listen", self.dns_listen)
        self.process = subprocess.Popen(
            [*self.wrapper, BINARY, "serve", "--data-dir", self.data, "--api-listen", self.listen, *dns, *self.args],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.ready_line = ""
        for line in self.process.stdout:
            if line.startswith("ready"):
                self.ready_line = line
                break
        if not self.ready_line:
            self.process.wait(START_SECONDS)
            raise AssertionError(f"serve ended with {self.process.returncode}: {self.log_text()[-2000:]}")
        self.run = json.loads((self.data / "run.json").read_text())
        self.url = self.run["api"]
        self.host = self.url.removeprefix("https://")
        self.listen = self.host  # a restart keeps the ports, as an operator's would
        if self.run["dns"]:
            self.dns_listen = self.run["dns"].split(",")[0]
        return self

    def log_text(self):
        return (self.data / "serve.log").read_text(errors="replace")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(START_SECONDS)
        if self.process:
            self.process.stdout.close()
            self.log.close()
        return self.process.returncode if self.process else None

    def remove(self):
        self.stop()
        shutil.rmtree(self.data, ignore_errors=True)

    @property
    def kubeconfig(self):
        return self.data / "admin.kubeconfig"

    def tls(self, client_certificate=True):
        context = ssl.create_default_context(cafile=str(self.data / "pki/ca.crt"))
        if client_certificate:
            context.load_cert_chain(self.data / "pki/admin.crt", self.data / "pki/admin.key")
        return context

    def connect(self, client_certificate=True, timeout=30):
        return http.client.HTTPSConnection(self.host, context=self.tls(client_certificate), timeout=timeout)

    def request(self, method, path, body=None, headers=None, client_certificate=True):
        """(status, headers, body as JSON or text)"""
        connection = self.connect(client_certificate)
        data = json.dumps(body) if isinstance(body, (dict, list)) else body
        connection.request(method, path, data, headers or {})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        kind = answer.headers.get("Content-Type", "")
        return answer.status, answer.headers, json.loads(text) if "json" in kind and text else text

    def kubectl(self, *args, stdin=None, check=True, env=None):
        """Runs kubectl 1.20 with the generated kubeconfig and a cache of its own."""
        result = subprocess.run(
            [TOOLS / "kubectl", "--kubeconfig", self.kubeconfig, "--cache-dir", self.data / "kubectl-cache", *args],
            input=stdin, capture_output=True, text=True, timeout=120, env={**os.environ, **(env or {})})
        if check and result.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(map(str, args))}: {result.stderr}{result.stdout}")
        return result

    def cli(self, *args, stdin=None, check=True, env=None):
        result = subprocess.run([BINARY, *args, "--kubeconfig", self.kubeconfig], input=stdin, capture_output=True,
                                text=True, timeout=120, env={**os.environ, **(env or {})})
        if check and result.returncode != 0:
            raise AssertionError(f"fairlead {' '.join(map(str, args))}: {result.stderr}{result.stdout}")
        return result


    @property
    def dns_port(self):
        return self.dns_listen.rpartition(":")[2]

    def dig(self, *args, tool="dig", check=True):
        """What dig (or kdig) prints about an answer of this server."""
        result = subprocess.run([tool, "@127.0.0.1", "-p", self.dns_port, *args], capture_output=True, text=True, timeout=60)
        if check and result.returncode != 0:
            raise AssertionError(f"{tool} {' '.join(args)}: {result.stdout}{result.stderr}")
        return result.stdout


class ServerTest(unittest.TestCase):
    """A test class whose tests share one server."""

    SERVE_ARGS = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Fairlead(*cls.SERVE_ARGS).start()
        cls.addClassCleanup(cls.server.remove)

    def kubectl(self, *args, **options):
        return self.server.kubectl(*args, **options)


def route(name, namespace="default", host="shop.example.com", **spec):
    return {
        "apiVersion": "route.openshift.io/v1", "kind": "Route", "metadata": {"name": name, "namespace": namespace},
        "spec": {"host": host, "to": {"kind": "Service", "name": "web", "weight": 100}, **spec},
    }


ROUTES = "/apis/route.openshift.io/v1/namespaces/default/routes"


def main():
    unittest.main(module=sys.modules["__main__"], verbosity=2)
