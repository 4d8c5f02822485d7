"""What tests of routers share: back ends that say who they are, a `fairlead router` process, free ports, and the objects
that lead to a served Route. Nothing here waits by sleeping for a fixed time."""

import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
from pathlib import Path

from harness import BINARY, START_SECONDS, until


def free_ports(count):
    """Ports that were free a moment ago; all are held until the last one is found, so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Backend:
    """An HTTP (or HTTPS) server on 127.0.0.1 that answers with its name."""

    def __init__(self, name, certificate=None):
        backend = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = json.dumps({"backend": backend.name, "path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_):  # probes connect and say nothing
                pass

        self.name = name
        self.server = Server(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class RouterProcess:
    """One `fairlead router`; start() after kill() takes over the HAProxy that is still there."""

    address = "127.0.0.1"  # that it listens on, and is reached by

    def __init__(self, server, router="edge", name="edge-1", args=(), kubeconfig=None):
        self.server, self.router, self.name, self.args = server, router, name, args
        self.kubeconfig = kubeconfig or server.kubeconfig
        self.state = Path(tempfile.mkdtemp(prefix="fl-router-", dir="/tmp"))  # short: UNIX sockets live below it
        self.http, self.https, self.status, self.metrics = free_ports(4)
        self.access_log = self.state / "access.log"
        self.process = None

    def whose(self):
        return ("--router", self.router)

    def start(self, wait=True):
        self.log = open(self.state / "router.log", "ab")
        self.process = subprocess.Popen(
            [BINARY, "router", *self.whose(), "--name", self.name, "--kubeconfig", self.kubeconfig,
             "--address", self.address, "--http-listen", f"{self.address}:{self.http}",
             "--https-listen", f"{self.address}:{self.https}", "--status-listen", f"{self.address}:{self.status}",
             "--metrics-listen", f"127.0.0.1:{self.metrics}", "--state-dir", self.state / "s", "--drain", "1s",
             *(("--access-log", self.access_log) if self.access_log else ()), *self.args],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        if wait:
            line = self.process.stdout.readline()
            if not line.startswith("ready"):
                raise AssertionError(f"router said {line!r}: {self.log_text()[-3000:]}")
        return self

    def log_text(self):
        return (self.state / "router.log").read_text(errors="replace")

    def haproxy_pid(self):
        """Of the master; nothing if there is none."""
        return self.pid_of("s/haproxy/haproxy.pid")

    def nginx_pid(self):
        """Likewise; it runs if the Router has UDP ports."""
        return self.pid_of("s/nginx/master.pid")

    def pid_of(self, file):
        try:
            pid = int((self.state / file).read_text().split()[0])
            os.kill(pid, 0)
            return pid
        except (OSError, ValueError, IndexError):
            return None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(START_SECONDS)
        if self.process and not self.process.stdout.closed:
            self.process.stdout.close()
            self.log.close()
        return self.process.returncode if self.process else None

    def remove(self):
        self.stop()
        for pid in (self.haproxy_pid(), self.nginx_pid()):
            if pid:
                os.kill(pid, signal.SIGTERM)
        shutil.rmtree(self.state, ignore_errors=True)

    def curl(self, host, path="/", *args, scheme="http", check=True):
        """(status, body as JSON or text)"""
        port = self.http if scheme == "http" else self.https
        result = subprocess.run(
            ["curl", "-sS", "-o", "-", "-w", "\n%{http_code}", "--max-time", "10", "--resolve",
             f"{host}:{port}:{self.address}", *args, f"{scheme}://{host}:{port}{path}"],
            capture_output=True, text=True, timeout=60)
        if check and result.returncode != 0:
            raise AssertionError(f"curl {host}{path}: {result.stderr}")
        body, _, code = result.stdout.rpartition("\n")
        try:
            return int(code), json.loads(body)
        except ValueError:
            return int(code or 0), body

    def answers(self, host, status=200, backend=None, path="/", scheme="http", args=(), seconds=30):
        """Waits until the host is answered so."""
        last = None

        def right():
            nonlocal last
            last = self.curl(host, path, *args, scheme=scheme, check=False)
            return last[0] == status and (backend is None or last[1]["backend"] == backend) and last
        try:
            return until(right, "", seconds)
        except AssertionError:
            raise AssertionError(f"{scheme}://{host}{path}: {last}, not {status} {backend or ''}: {self.log_text()[-2000:]}")


def router_object(name="edge", dns="edge.test", **spec):
    return {"apiVersion": "fairlead.dev/v1", "kind": "Router", "metadata": {"name": name}, "spec": {"dns": dns, **spec}}


def service_objects(name, *backends, namespace="default"):
    """A Service and its Endpoints: one subset per back end, as all are on one address."""
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace},
         "spec": {"ports": [{"name": "http", "port": 80}]}},
        {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": name, "namespace": namespace},
         "subsets": [{"addresses": [{"ip": "127.0.0.1"}], "ports": [{"name": "http", "port": backend.port}]}
                     for backend in backends]},
    ]


def apply(server, *objects):
    server.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))


def make_certificate(folder, name, ca=None):
    """(certificate, key) files for the name, signed by `ca` (such a pair) or by itself."""
    crt, key = Path(folder) / f"{name}.crt", Path(folder) / f"{name}.key"
    signed = ["-CA", ca[0], "-CAkey", ca[1]] if ca else []
    extension = "basicConstraints=critical,CA:TRUE" if ca is None and name == "ca" else f"subjectAltName=DNS:{name}"
    if ca is None:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                        "-out", crt, "-subj", f"/CN={name}", "-days", "30", "-addext", extension],
                       check=True, capture_output=True)
        return crt, key
    request = Path(folder) / f"{name}.csr"
    subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request,
                    "-subj", f"/CN={name}"], check=True, capture_output=True)
    (Path(folder) / "ext").write_text(extension)
    subprocess.run(["openssl", "x509", "-req", "-in", request, *signed, "-CAcreateserial", "-days", "30", "-extfile",
                    Path(folder) / "ext", "-out", crt], check=True, capture_output=True)
    return crt, key
