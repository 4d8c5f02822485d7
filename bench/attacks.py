"""How a good client is served while others attack, and what the attack costs in memory, beside nginx (static file over
TLS, limits as near to its defaults as 10,000 connections allow) where an attack makes sense there. Called by run.py."""

import contextlib
import json
import multiprocessing
import random
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from harness import ROUTES, Fairlead, route, until
from hostile import GoodClient, Raw, address_of, allow_many_files, peak, request, reset_peak, resident

MIB = 1024 * 1024
SECONDS = 1.5  # of measuring, per row and server


class Target:
    """A server under attack: where it is, how to speak to it, what a good client asks for."""

    def __init__(self, name, pid, host, tls, path):
        self.name, self.pid, self.host, self.tls, self.path = name, pid, host, tls, path

    def measure(self):
        good = GoodClient(self.host, self.tls, self.path)
        time.sleep(SECONDS)
        good.served(1)
        times = sorted(good.finish())
        return statistics.median(times) * 1000, times[min(len(times) - 1, len(times) * 99 // 100)] * 1000


# --- attacks: each runs in a process of its own, calls ready() when it stands, and is ended by a signal ---------------


def slow_headers(target, ready):
    slow = [Raw(target.host, target.tls) for _ in range(500)]
    for connection in slow:
        connection.send(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
    ready()
    while True:
        for connection in slow:
            connection.send(b"a")
        time.sleep(0.2)


def idle_connections(target, ready):
    idle = []
    for _ in range(10_000):
        one = socket.socket()
        one.connect(address_of(target.host))
        idle.append(one)
    ready()
    time.sleep(600)


def idle_tls_connections(target, ready):
    idle = [Raw(target.host, target.tls) for _ in range(1_000)]
    ready()
    time.sleep(600)
    del idle


def tls_garbage(target, ready):
    chance = random.Random(1)
    ready()
    while True:
        with contextlib.suppress(OSError), Raw(target.host) as connection:
            connection.send(chance.randbytes(500))
            connection.read_to_end()


def large_bodies(target, ready):
    body = b"x" * (4 * MIB)
    ready()
    while True:
        with contextlib.suppress(OSError), Raw(target.host, target.tls) as connection:
            connection.send(request("POST", target.path, "Content-Type: application/json", body=body))
            connection.read_to_end()


def wide_json(target, ready):
    body = b'{"apiVersion":"route.openshift.io/v1","kind":"Route","x":[' + b'{"a":1},' * 240_000 + b"{}]}"
    ready()
    while True:
        with contextlib.suppress(OSError), Raw(target.host, target.tls) as connection:
            connection.send(request("POST", ROUTES, "Content-Type: application/json", body=body))
            connection.answer()


def unfinished_bodies(target, ready):
    part = request("POST", ROUTES, "Content-Type: application/json", "Content-Length: 3145728") + b"x" * 3_000_000
    kept = []
    while len(kept) < 200:
        kept.append(Raw(target.host, target.tls))
        kept[-1].send(part)
    ready()
    time.sleep(600)


def watch_flood(target, ready):
    watches = []
    for _ in range(1_000):
        watches.append(Raw(target.host, target.tls))
        watches[-1].send(request("GET", ROUTES + "?watch=true"))
    ready()
    while True:  # and others that come and go
        with contextlib.suppress(OSError), Raw(target.host, target.tls) as connection:
            connection.send(request("GET", ROUTES + "?watch=true"))
            connection.more()


def slow_readers(target, ready):
    readers = []
    for _ in range(200):
        readers.append(Raw(target.host, target.tls, receive_buffer=4096))
        readers[-1].send(request("GET", ROUTES))
        readers[-1].more()
    ready()
    time.sleep(600)


def pipelining(target, ready):
    data = request("GET", "/livez?verbose") * 2_000
    ready()
    while True:
        with contextlib.suppress(OSError), Raw(target.host, target.tls) as connection:
            sending = threading.Thread(target=connection.send, args=(data,), daemon=True)
            sending.start()
            for _ in range(2_000):
                connection.answer()


BESIDE_NGINX = {"slow headers, 500 connections": slow_headers, "10,000 idle connections": idle_connections,
                "1,000 idle TLS connections": idle_tls_connections, "garbage instead of TLS": tls_garbage,
                "bodies of 4 MiB": large_bodies}
OURS_ALONE = {"JSON of 480,000 values": wide_json, "200 unfinished bodies of 3 MB": unfinished_bodies,
              "1,000 watches of one client": watch_flood, "200 slow readers of a 20 MB list": slow_readers,
              "pipelined requests": pipelining}


def under_attack(target, attack):
    """(p50, p99, memory before, peak, after)"""
    before = resident(target.pid)
    reset_peak(target.pid)
    ready = multiprocessing.Event()
    attacker = multiprocessing.Process(target=attack, args=(target, ready.set), daemon=True)
    attacker.start()
    try:
        if not ready.wait(60):
            raise SystemExit(f"{target.name}: the attack does not come up")
        p50, p99 = target.measure()
    finally:
        attacker.kill()
        attacker.join()
    highest = peak(target.pid)
    time.sleep(0.5)  # the ends of thousands of connections are seen
    return p50, p99, before, highest, resident(target.pid)


@contextlib.contextmanager
def fairlead_target():
    server = Fairlead("--log-level", "error").start()
    try:
        body = route("good")
        server.request("POST", ROUTES, body)
        for i in range(100):
            body = route(f"pad-{i:03}")
            body["metadata"]["annotations"] = {"pad": "x" * 200_000}
            server.request("POST", ROUTES, body)
        yield server, Target("fairlead", server.process.pid, server.host, server.tls(), f"{ROUTES}/good")
    finally:
        server.remove()


@contextlib.contextmanager
def nginx_target(server, answer):
    """nginx with the same certificate; it serves the very bytes that Fairlead's good client gets."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not program:
        print("nginx is not installed (apt install nginx-light): figures without it")
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="fairlead-nginx-"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "good").write_bytes(answer)
    (folder / "nginx.conf").write_text(f"""
daemon off; pid {folder}/pid; error_log /dev/null crit; worker_processes auto; worker_rlimit_nofile 20000;
events {{ worker_connections 10000; }}
http {{
  access_log off; client_max_body_size 3m; default_type application/json;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl backlog=4096;
    ssl_certificate {server.data}/pki/server.crt; ssl_certificate_key {server.data}/pki/server.key;
    ssl_client_certificate {server.data}/pki/ca.crt; ssl_verify_client optional;
    root {folder};
  }}
}}
""")
    folder.chmod(0o755)
    process = subprocess.Popen([program, "-c", folder / "nginx.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def listens():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        until(listens, "nginx listens")
        yield Target("nginx", process.pid, f"127.0.0.1:{port}", server.tls(), "/good")
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def cells(result):
    p50, p99, before, highest, after = result
    return f"{p50:7.1f} {p99:7.1f} ms {before / MIB:5.0f} {highest / MIB:5.0f} {after / MIB:5.0f} MiB"


def run(_options):
    allow_many_files()
    print("\nhostile clients: a good client's p50 and p99 (every other request on a fresh TLS connection), and the server's "
          "memory before, peak, after\n"
          f"{'':34} {'fairlead':^37}   {'nginx':^37}   p99 ratio", flush=True)
    with fairlead_target() as (server, ours):
        answer = json.dumps(server.request("GET", ours.path)[2], separators=(",", ":")).encode()
        with nginx_target(server, answer) as theirs:
            calm = [(*one.measure(), *[resident(one.pid)] * 3) if one else None for one in (ours, theirs)]
            report("without an attack", *calm)
            for name, attack in {**BESIDE_NGINX, **OURS_ALONE}.items():
                beside = theirs and name in BESIDE_NGINX
                report(name, under_attack(ours, attack), under_attack(theirs, attack) if beside else None)


def report(name, ours, theirs):
    if theirs:
        print(f"{name:34} {cells(ours)}   {cells(theirs)}   {ours[1] / theirs[1]:5.2f} x", flush=True)
    else:
        print(f"{name:34} {cells(ours)}", flush=True)
