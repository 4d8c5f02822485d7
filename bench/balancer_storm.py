"""A reload storm: Ingress updates through the API over ten HAProxy and ten nginx balancers, each a `fairlead router --loadbalancer`
with a proxy of its own, while clients ask all of them; beside one controller that writes everything to one nginx and reloads it
once a second, as often as ours does. Server, agents, proxies, members, writers and clients share the machine."""

import collections
import concurrent.futures
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from balancer_world import BalancerProcess, balancer_object, ingress_object, own_source
from harness import Fairlead, until
from router_world import apply, free_ports

BALANCERS = "/apis/fairlead.dev/v1/loadbalancers"
INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
KINDS = {"h": "Haproxy", "n": "Nginx"}
BALANCERS_OF_A_KIND = 10
REQUESTS_A_SECOND = 50  # of each balancer
GROWTH_SECONDS = 61
WRITERS = 4  # connections to the API for each balancer
NGINX = "/usr/sbin/nginx"
TICKS = os.sysconf("SC_CLK_TCK")

Load = collections.namedtuple("Load", "requests errors again p50 p99 slowest")


def balancers():
    return [(f"{letter}{number}", kind) for number in range(BALANCERS_OF_A_KIND) for letter, kind in KINDS.items()]


def quiet_ports():
    """Free ones below those that the kernel gives to connections: hundreds are opened before the last balancer has its own."""
    for port in range(21_000, 32_000):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        yield port


def own_seconds(pid):
    """CPU of a process, and of its children that have ended, in seconds."""
    try:
        fields = [int(each) for each in Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[11:15]]
        return (fields[0] + fields[1]) / TICKS, (fields[2] + fields[3]) / TICKS
    except OSError:
        return 0.0, 0.0


def children_of(pid):
    with contextlib.suppress(OSError):
        return [child for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    return []


def tree_seconds(pid):
    """CPU of a process and of all its children, those that have ended and those that live."""
    return sum(own_seconds(pid)) + sum(tree_seconds(child) for child in children_of(pid))


def wait_all(processes):
    """The line of JSON that each says at its end."""
    said = [each.communicate()[0] for each in processes]
    return [json.loads(text.splitlines()[-1]) for text in said]


def load(tools, port, host, seconds, rate=REQUESTS_A_SECOND, clients=4):
    return subprocess.Popen([tools / "http_load", "--url", f"http://127.0.0.1:{port}", "--header", f"Host: {host}", "--clients", str(clients),
                             "--rate", str(rate), "--seconds", str(seconds)], stdout=subprocess.PIPE, text=True)


def summed(said):
    return Load(sum(each["requests"] for each in said), sum(each["errors"] for each in said), sum(each["again"] for each in said),
                sorted(each["p50_ms"] for each in said)[len(said) // 2], max(each["p99_ms"] for each in said), max(each["max_ms"] for each in said))


@contextlib.contextmanager
def member():
    """A back end that costs little: an nginx that answers by itself."""
    folder, (port,) = tempfile.mkdtemp(prefix="fl-storm-"), free_ports(1)
    process = start_nginx(folder, "daemon off;\nworker_processes 1;\n" + head(folder) +
                          f"  keepalive_requests 1000000;\n  server {{ listen 127.0.0.1:{port}; return 200 fine; }}\n}}\n")
    try:
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def head(folder):
    temporary = "".join(f"  {kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return (f"pid {folder}/nginx.pid;\nerror_log {folder}/error.log crit;\nevents {{ worker_connections 4096; }}\nhttp {{\n  access_log off;\n"
            f"{temporary}  server_names_hash_bucket_size 128;\n  server_names_hash_max_size 65536;\n")


def start_nginx(folder, text):
    (Path(folder) / "nginx.conf").write_text(text)
    return subprocess.Popen([NGINX, "-e", f"{folder}/error.log", "-p", folder, "-c", f"{folder}/nginx.conf"], stderr=subprocess.DEVNULL)


SERVICES = ("web", "s0", "s1", "t0", "t1")


def template(name, kind, phase):
    """An Ingress with placeholders of http_load: {key} is which of them; each update has a second path that was not there before, and
    leads it to another Service than the one before."""
    service = "s0" if phase == 0 else ("s", "t")[phase % 2] + "{n%2}"
    body = ingress_object(f"{name}-{{key}}", {f"{name}-{{key}}.test": [("/", "Prefix", "web"), (f"/v{phase}-{{n}}", "Prefix", service)]},
                          loadBalancer=own_source(name, kind))
    del body["metadata"]["annotations"]
    return body


def in_force(thing):
    """Whether it says so of what it is now."""
    return any(c["type"] == "Programmed" and c["status"] == "True" and c.get("observedGeneration") == thing["metadata"]["generation"]
               for c in thing.get("status", {}).get("conditions", []))


class Storm:
    def __init__(self, tools, server, count):
        self.tools, self.server, self.count = tools, server, count
        self.processes = {}
        self.phase = 0

    def api(self, *args):
        pki = self.server.data / "pki"
        return [self.tools / "http_load", "--url", self.server.url, "--ca", pki / "ca.crt", "--cert", pki / "admin.crt", "--key",
                pki / "admin.key", *map(str, args)]

    def file(self, name, value, key):
        path = self.server.data / f"body-{name}.json"
        path.write_text(json.dumps(value).replace("{key}", key))
        return path

    def fill(self, port):
        objects = [balancer_object(name, kind) for name, kind in balancers()]
        for service in SERVICES:
            objects += [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": service, "namespace": "default"},
                         "spec": {"ports": [{"name": "http", "port": 80}]}},
                        {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": service, "namespace": "default"},
                         "subsets": [{"addresses": [{"ip": "127.0.0.1"}], "ports": [{"name": "http", "port": port}]}]}]
        apply(self.server, *objects)
        ports = quiet_ports()
        for name, _ in balancers():
            process = self.processes[name] = BalancerProcess(self.server, name, f"{name}-1")
            process.access_log = None
            process.http, process.https, process.status, process.metrics = (next(ports) for _ in range(4))
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda each: each.start(), self.processes.values()))
        creating = [self.create(name, kind) for name, kind in balancers()]
        if refused := sum(each["errors"] for each in wait_all(creating)):
            raise SystemExit(f"{refused} Ingresses were refused")
        for name, process in self.processes.items():
            for number in (0, self.count - 1):
                process.answers(f"{name}-{number}.test", seconds=300)
        until(self.settled, "every Ingress says that it is in force", 300)

    def settled(self):
        """Of all balancers first, which are few: a list of all Ingresses costs the server as much as hundreds of updates."""
        time.sleep(1)
        if not all(in_force(each) for each in self.server.request("GET", BALANCERS)[2]["items"]):
            return False
        return all(in_force(each) for each in self.server.request("GET", INGRESSES)[2]["items"])

    def create(self, name, kind):
        body = self.file(f"create-{name}", template(name, kind, 0), "{n}")
        return subprocess.Popen(self.api("--method", "POST", "--path", INGRESSES, "--body-file", body, "--requests", self.count, "--clients", 2),
                                stdout=subprocess.PIPE, text=True)

    def update(self, name, kind, rate, seconds):
        spec = template(name, kind, self.phase)["spec"]
        body = self.file(f"update-{name}", {"spec": {"rules": spec["rules"]}}, f"{{n%{self.count}}}")
        return subprocess.Popen(self.api("--method", "PATCH", "--path", f"{INGRESSES}/{name}-{{n%{self.count}}}", "--body-file", body, "--header",
                                         "Content-Type: application/merge-patch+json", "--rate", rate, "--seconds", seconds, "--clients", WRITERS),
                                stdout=subprocess.PIPE, text=True)

    def cpu(self):
        """Seconds of each part; what ends as a child of an agent is `nginx -t`."""
        spent = collections.Counter({"server": own_seconds(self.server.process.pid)[0]})
        for name, process in self.processes.items():
            own, tests = own_seconds(process.process.pid)
            pid = process.haproxy_pid() or process.nginx_pid()
            spent.update({"agents": own, "nginx -t": tests, "HAProxy" if name[0] == "h" else "nginx": tree_seconds(pid)})
        ours = os.times()  # children that have ended: writers and clients
        return {**spent, "load": ours.children_user + ours.children_system}

    def measure(self, rate, seconds, stormed):
        """Updates for the balancers in `stormed` and requests for all."""
        self.phase += 1
        before, counted = self.cpu(), {name: each.counted() for name, each in self.processes.items()}
        began = time.monotonic()
        asking = [load(self.tools, process.http, f"{name}-{{n%{self.count}}}.test", seconds) for name, process in self.processes.items()]
        writing = [self.update(name, kind, rate // len(stormed), seconds) for name, kind in balancers() if name in stormed]
        written, asked = wait_all(writing), wait_all(asking)
        ended, meanwhile = time.monotonic(), self.cpu()
        took = ended - began
        until(self.settled, "every Ingress says that it is in force", 300)
        settled = time.monotonic() - ended
        after = self.cpu()
        done = {name: {key: value - counted[name][key] for key, value in each.counted().items()} for name, each in self.processes.items()}
        return {"updates": sum(each["rps"] for each in written), "refused": sum(each["errors"] for each in written),
                "asked": summed(asked), "took": took, "settled": settled, "done": done,
                "by_balancer": {name: each["requests"] for name, each in zip([n for n, _ in balancers() if n in stormed], written)},
                "write_ms": [each["p50_ms"] for each in written], "cpu": {key: (meanwhile[key] - before[key]) / took for key in after},
                "spent": {key: after[key] - before[key] for key in after}}

    def remove(self):
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda each: each.remove(), self.processes.values()))


def parts(seconds, times, unit):
    return ", ".join(f"{key} {value * times:.2f} {unit}" for key, value in seconds.items())


def show(name, got, stormed):
    asked, done = got["asked"], got["done"]
    reloads = {letter: [each["reloads"] for name_, each in done.items() if name_[0] == letter] for letter in KINDS}
    whole = got["took"] + got["settled"]
    print(f"\n{name}: {got['updates']:,.0f} updates/s for {got['took']:.0f} s ({got['refused']} refused, p50 "
          f"{max(got['write_ms'], default=0):.1f} ms), the last in force and said {got['settled']:.1f} s later")
    print(f"  {asked.requests:,} requests, {asked.errors} failed, {asked.again} sent again on a new connection; p50 {asked.p50:.2f} ms, "
          f"p99 {asked.p99:.1f} ms, slowest {asked.slowest:.0f} ms")
    print(f"  reloads: HAProxy {sum(reloads['h'])}; nginx {sum(reloads['n'])}, at most {max(reloads['n'])} of one balancer in {whole:.0f} s")
    if got["by_balancer"]:
        # Of the last ones of the writers nobody waited for the answer.
        more = [n for n, each in done.items() if n in stormed and each["ingresses"] > got["by_balancer"][n] + WRITERS]
        print(f"  {sum(each['ingresses'] for each in done.values()):,} Ingresses made anew, in {sum(each['changes'] for each in done.values()):,} changes; "
              f"balancers that made more of them anew than were changed of theirs: {len(more)}")
    quiet = [n for n in done if n not in stormed]
    if quiet and stormed:
        print(f"  {len(quiet)} balancers without updates: {sum(sum(done[n].values()) for n in quiet)} Ingresses made anew, changes and reloads")
    print(f"  CPU per second: {parts(got['cpu'], 1, 's')} = {sum(got['cpu'].values()):.2f} s", flush=True)
    if done_updates := sum(got["by_balancer"].values()):
        each = {key: value / done_updates for key, value in got["spent"].items()}
        print(f"  CPU per update until all was said, requests meanwhile included: {parts(each, 1000, 'ms')}", flush=True)


def one_nginx(tools, blocks, port, seconds):
    """All in one: a server block and an upstream for each Ingress, tested and reloaded by whoever changed something, at most once a second."""
    folder, (listen,) = tempfile.mkdtemp(prefix="fl-storm-"), free_ports(1)

    def text(version):
        out = ["daemon off;\nworker_processes auto;\n", head(folder), "  proxy_http_version 1.1;\n  proxy_set_header Connection \"\";\n"]
        for n in range(blocks):
            out.append(f"  upstream u{n} {{ server 127.0.0.1:{port}; keepalive 32; }}\n  server {{ listen 127.0.0.1:{listen}; server_name i{n}.test;\n"
                       f"    location / {{ proxy_pass http://u{n}; }}\n    location /v{version} {{ proxy_pass http://u{n}; }}\n  }}\n")
        return "".join(out) + "}\n"
    process = start_nginx(folder, text(0))
    try:
        until(lambda: subprocess.run(["curl", "-sf", "-H", "Host: i0.test", f"http://127.0.0.1:{listen}/"], capture_output=True).returncode == 0,
              "nginx answers", 120)
        before, began, reloads = tree_seconds(process.pid), time.monotonic(), 0
        asking = load(tools, listen, f"i{{n%{blocks}}}.test", seconds, rate=REQUESTS_A_SECOND * 2 * BALANCERS_OF_A_KIND, clients=80)
        tests = 0.0
        while time.monotonic() - began < seconds:
            turn = time.monotonic()
            (Path(folder) / "nginx.conf").write_text(text(reloads + 1))
            workers = set(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
            spent = os.times()
            subprocess.run([NGINX, "-t", "-q", "-e", f"{folder}/error.log", "-p", folder, "-c", f"{folder}/nginx.conf"], check=True, stderr=subprocess.DEVNULL)
            tests += os.times().children_user + os.times().children_system - spent.children_user - spent.children_system
            process.send_signal(signal.SIGHUP)
            # A reload that has not begun swallows the next.
            until(lambda: set(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()) - workers, "new workers", 60)
            reloads += 1
            time.sleep(max(0.0, turn + 1 - time.monotonic()))
        said = summed(wait_all([asking]))
        took = time.monotonic() - began
        spent = tree_seconds(process.pid) - before
        return {"reloads": reloads, "took": took, "asked": said, "cpu": (spent + tests) / took, "each": (spent + tests) / reloads, "test": tests / reloads}
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def run(tools, seconds, ingresses, rate):
    count = max(ingresses // (2 * BALANCERS_OF_A_KIND) | 1, 3)  # odd, so that Services come by turns
    versions = [subprocess.run(["haproxy", "-v"], capture_output=True, text=True).stdout.split(" ")[2],
                subprocess.run([NGINX, "-v"], capture_output=True, text=True).stderr.strip().rpartition("/")[2]]
    print(f"\nReload storm: {rate:,} Ingress updates/s over {2 * BALANCERS_OF_A_KIND} balancers with {count} Ingresses each, "
          f"{REQUESTS_A_SECOND} requests/s through each; HAProxy {versions[0]}, nginx {versions[1]}")
    everyone = [name for name, _ in balancers()]
    with member() as port:
        server = Fairlead("--roles", "api,controllers", "--log-level", "warn").start()
        storm = Storm(tools, server, count)
        try:
            began = time.monotonic()
            storm.fill(port)
            print(f"{count * len(everyone):,} Ingresses created, bound and in force after {time.monotonic() - began:.1f} s")
            # HAProxy grows with the Ingresses, at most once a minute, and the last time when something changes after that.
            time.sleep(GROWTH_SECONDS)
            grown = storm.measure(2 * len(everyone), 5, everyone)
            print(f"reloads of HAProxy for growth after that: {sum(each['reloads'] for name, each in grown['done'].items() if name[0] == 'h')}", flush=True)
            show("no updates", storm.measure(0, seconds, []), [])
            show("half of the balancers", storm.measure(rate // 2, seconds, everyone[:len(everyone) // 2]), everyone[:len(everyone) // 2])
            ours = storm.measure(rate, seconds, everyone)
            show("all balancers", ours, everyone)
        finally:
            storm.remove()
            server.remove()
        theirs = one_nginx(tools, count * len(everyone), port, seconds)
    asked = theirs["asked"]
    print(f"\none nginx with {count * len(everyone):,} server blocks, written, tested and reloaded as often as it can, at most once a second: "
          f"{theirs['reloads']} reloads in {theirs['took']:.0f} s, {theirs['each']:.2f} s of CPU each (of which the test {theirs['test']:.2f} s)")
    print(f"  {asked.requests:,} requests, {asked.errors} failed, {asked.again} sent again on a new connection; p50 {asked.p50:.2f} ms, "
          f"p99 {asked.p99:.1f} ms, slowest {asked.slowest:.0f} ms; CPU per second {theirs['cpu']:.2f} s")
    spent = ours["cpu"]
    half = spent["HAProxy"] + spent["nginx"] + spent["nginx -t"]
    print(f"CPU of all proxies and tests per second, ours to theirs: {half:.2f} to {theirs['cpu']:.2f} s = {half / theirs['cpu']:.2f} x; of the ten HAProxy "
          f"{spent['HAProxy']:.2f} s = {spent['HAProxy'] / theirs['cpu']:.2f} x")
    reloads = sum(each["reloads"] for name, each in ours["done"].items() if name[0] == "n")
    each = (ours["spent"]["nginx"] + ours["spent"]["nginx -t"]) / max(reloads, 1)
    print(f"CPU of one reload of nginx, requests meanwhile included: {each:.2f} s for {count} Ingresses to {theirs['each']:.2f} s for "
          f"{count * len(everyone):,} = {each / theirs['each']:.3f} x", flush=True)
