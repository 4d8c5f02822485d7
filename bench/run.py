#!/usr/bin/env python3
"""Runs the benchmarks beside their peers and prints a ratio for each: ./dev bench [names] (all without a name).

  creates   durable creates of 1 KiB objects with 1, 16 and 64 clients over keep-alive TLS, beside etcd's durable puts
  reads     GET of one object, LIST of 10,000 and 100,000, beside etcd's ranges
  watch     time from sending a write to reading its event with 1, 100 and 1,000 watchers, beside etcd's
  hostile   a good client's answers and the server's memory under ten attacks, beside nginx
  control   objects per second through an informer to a reconciler, and a relist after a lost watch (100,000 objects)
  memory    memory per object at 100,000 and 1,000,000 objects beside etcd's, and the time to start with 1,000,000
  dns       answers per second and CPU per answer: plain, weighted, geo and chains, beside gdnsd, Knot and a UDP echo
  plan      a plan without a change, with 1% changed, and a whole round of list, ownership and plan, at 10,000, 100,000 and
            1,000,000 records, beside what was measured of external-dns 0.22 elsewhere (it cannot be built here)
  tree      the record trees of 1,000 Gateways with 10 listeners over 20 clusters, and how long a change of one cluster takes
            until the compiled zone answers with it (no peer can be run here)
  schedule  100,000 Routes over 100 Routers from create to bound, and the strategies alone (no peer can be run here)
  claims    10,000 claims over 1,000 LoadBalancers and 100,000 over 10,000: CPU to bind one, to bind one more and to let one go, and
            how it grows; then the same from the POST through the whole server (no peer can be run here)
  router    HAProxy through its driver: a new route until it answers with 100 and 10,000 there, and changes per second under
            load, beside what was measured of OpenShift's template and reload, and of the pool design by hand; then the
            same from the POST of a Route through API, scheduler, admission and agent
  emitter   250,000 LRPs to the routing table and to routers on NATS: time, memory, messages per second, an event until its message,
            and a burst of 400,000 names, beside what was measured of Diego's emitter and gorouter elsewhere
  storm     1,000 Ingress updates per second over 10 HAProxy and 10 nginx balancers under load: failed requests, reloads, CPU, beside one
            nginx that has all server blocks
  dns-scale 1,000,000 names: memory, start, and changes served while 100,000 queries/s are answered

--seconds N sets the length of one measurement (default 5), --objects N the size of the large store, --names N of the large
zone, --rounds N how often the servers of `dns` take turns. Everything runs on loopback in temporary folders; nothing here
decides a test.
"""

import argparse
import collections
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "bench" / "dns")]
import attacks  # noqa: E402
import balancer_storm  # noqa: E402
import claims_whole  # noqa: E402
import dns_scale  # noqa: E402
import dns_speed  # noqa: E402
import emitter_whole  # noqa: E402
import router_whole  # noqa: E402
from harness import ROUTES, Fairlead, until  # noqa: E402

TOOLS = ROOT / "build" / "release" / "bench"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tool(name, *args):
    done = subprocess.run([TOOLS / name, *map(str, args)], capture_output=True, text=True)
    if not done.stdout.strip():
        raise SystemExit(f"{name} failed: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def credentials(server):
    pki = server.data / "pki"
    return ["--ca", pki / "ca.crt", "--cert", pki / "admin.crt", "--key", pki / "admin.key"]


@contextlib.contextmanager
def fairlead(**options):
    server = Fairlead("--log-level", "warn", **options).start()
    try:
        yield server
    finally:
        server.remove()


Peer = collections.namedtuple("Peer", "address pid")


@contextlib.contextmanager
def etcd(pki):
    """etcd with its own defaults (it syncs each batch), over TLS with the certificate that our server uses."""
    folder = tempfile.mkdtemp(prefix="fairlead-etcd-")
    client, peer = f"127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        ["etcd", "--data-dir", f"{folder}/data", "--listen-client-urls", f"https://{client}", "--advertise-client-urls",
         f"https://{client}", "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster",
         f"default={peer}", "--cert-file", pki / "server.crt", "--key-file", pki / "server.key", "--log-level", "error"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: subprocess.run(["etcdctl", "--endpoints", f"https://{client}", "--cacert", pki / "ca.crt", "endpoint",
                                      "health"], capture_output=True, env={**os.environ, "ETCDCTL_API": "3"}).returncode == 0,
              "etcd answers")
        yield Peer(client, process.pid)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def body_file(server, kind="{c}-{n}"):
    """A Route of 1 KiB: the padding fills up what its other fields leave."""
    body = {"apiVersion": "route.openshift.io/v1", "kind": "Route", "metadata": {"name": "b" + kind, "annotations": {"pad": ""}},
            "spec": {"host": "bench.example.com", "to": {"kind": "Service", "name": "web"}}}
    body["metadata"]["annotations"]["pad"] = "x" * (1024 - len(json.dumps(body)))
    path = server.data / "body.json"
    path.write_text(json.dumps(body))
    return path


def create(server, clients, **limit):
    (flag, value), = limit.items()
    return tool("http_load", "--url", server.url, *credentials(server), "--clients", clients, f"--{flag}", value,
                "--method", "POST", "--path", ROUTES, "--body-file", body_file(server))


def row(name, ours, peers, unit="/s", more=""):
    ratio = f"{ours / peers:5.2f} x" if peers else ""
    print(f"{name:34} {ours:12,.1f}{unit:4} {peers:12,.1f}{unit:4} {ratio:>9}  {more}", flush=True)


def header(title, peer="etcd"):
    print(f"\n{title}\n{'':34} {'fairlead':>16} {peer:>16} {'ratio':>9}", flush=True)


def creates(options):
    header("durable creates of 1 KiB over TLS, requests per second")
    for clients in (1, 16, 64):
        with fairlead() as server:
            with etcd(server.data / "pki") as peer:
                theirs = tool("etcd_load", "--address", peer.address, "--ca", server.data / "pki/ca.crt", "--clients", clients,
                              "--seconds", options.seconds)
            ours = create(server, clients, seconds=options.seconds)
            row(f"{clients} clients", ours["rps"], theirs["rps"],
                more=f"p50 {ours['p50_ms']:.2f}/{theirs['p50_ms']:.2f} ms, p99 {ours['p99_ms']:.2f}/{theirs['p99_ms']:.2f} ms, "
                     f"errors {ours['errors']}")


def reads(options):
    header("reads over TLS, milliseconds (a ratio below 1 means faster)")
    with fairlead() as server, etcd(server.data / "pki") as peer:
        put = ["--address", peer.address, "--ca", server.data / "pki/ca.crt"]
        stored = 0
        for count in (10_000, 100_000):
            create(server, 64, requests=count - stored)
            tool("etcd_load", *put, "--clients", 50, "--requests", count - stored, "--first", stored // 50,
                 "--seconds", 600)
            if stored == 0:
                name = json.loads(subprocess.run(
                    ["curl", "-s", "--cacert", server.data / "pki/ca.crt", "--cert", server.data / "pki/admin.crt", "--key",
                     server.data / "pki/admin.key", f"{server.url}{ROUTES}?limit=1"],
                    capture_output=True, check=True).stdout)["items"][0]["metadata"]["name"]
                for clients in (1, 16):
                    ours = tool("http_load", "--url", server.url, *credentials(server), "--clients", clients, "--seconds",
                                options.seconds, "--path", f"{ROUTES}/{name}")
                    theirs = tool("etcd_load", *put, "--mode", "get", "--clients", clients, "--seconds", options.seconds)
                    row(f"GET one, {clients} clients, p50", ours["p50_ms"], theirs["p50_ms"], " ms",
                        f"{ours['rps']:,.0f}/s beside {theirs['rps']:,.0f}/s")
            stored = count
            ours = tool("http_load", "--url", server.url, *credentials(server), "--clients", 1, "--requests", 10, "--path", ROUTES)
            theirs = tool("etcd_load", *put, "--mode", "range", "--requests", 10, "--seconds", 600)
            row(f"LIST of {count:,}, p50", ours["p50_ms"], theirs["p50_ms"], " ms")


def watch(options):
    print("\nwatch: from sending a write to reading its event, milliseconds (a ratio below 1 means faster)\n"
          f"{'':32} {'fairlead p50':>12} {'p99':>8} {'max':>8} {'writes/s':>9}   {'etcd p50':>9} {'p99':>8} {'max':>8} {'writes/s':>9}"
          f" {'p50':>8} {'p99':>8}")
    cases = [(1, 1, 1000), (100, 1, 1000), (1000, 1000, 1000), (1000, 10, 1000), (1000, 1, 100), (1000, 1, 1000)]
    for watchers, groups, rate in cases:
        pace = ["--watchers", watchers, "--rate", rate, "--seconds", options.seconds]
        with fairlead() as server:
            ours = tool("watch_load", "--address", server.host, *credentials(server), "--namespaces", groups, *pace)
            with etcd(server.data / "pki") as peer:
                theirs = tool("etcd_watch", "--address", peer.address, "--ca", server.data / "pki/ca.crt", "--prefixes", groups, *pace)
        share = "all see all" if groups == 1 else f"each sees 1/{groups:,}"
        print(f"{watchers:5,} watchers, {share:16} {ours['p50_ms']:12.2f} {ours['p99_ms']:8.2f} {ours['max_ms']:8.2f}"
              f" {ours['writes_per_second']:9,.0f}   {theirs['p50_ms']:9.2f} {theirs['p99_ms']:8.2f} {theirs['max_ms']:8.2f}"
              f" {theirs['writes_per_second']:9,.0f} {ours['p50_ms'] / theirs['p50_ms']:6.2f} x {ours['p99_ms'] / theirs['p99_ms']:6.2f} x"
              + "".join(f"   {name} LOST {got['wanted'] - got['delivered']:,}"
                        for name, got in (("fairlead", ours), ("etcd", theirs)) if got["delivered"] != got["wanted"]),
              flush=True)


def resident(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024


def memory(options):
    """etcd keeps keys in memory and values in a mapped file, so its row shows what its process holds resident."""
    header("memory of the whole process above its empty state, bytes per object of 1 KiB (a ratio below 1 means less)")
    with fairlead() as server, etcd(server.data / "pki") as peer:
        empty, theirs_empty = resident(server.process.pid), resident(peer.pid)
        stored = 0
        for count in (options.objects // 10, options.objects):
            made = create(server, 64, requests=count - stored)
            tool("etcd_load", "--address", peer.address, "--ca", server.data / "pki/ca.crt", "--clients", 50, "--requests",
                 count - stored, "--first", stored // 50, "--seconds", 3600)
            stored = count
            sample = server.request("GET", f"{ROUTES}?limit=1")[2]["items"][0]
            raw = len(json.dumps(sample, separators=(",", ":")))
            used, theirs = resident(server.process.pid) - empty, resident(peer.pid) - theirs_empty
            row(f"{count:,} objects", used / count, theirs / count, " B",
                f"{used / count / raw:.2f} x our JSON of {raw} bytes, created at {made['rps']:,.0f}/s")
        server.stop()
        started = time.monotonic()
        server.start()
        took = time.monotonic() - started
        used = resident(server.process.pid) - empty
        print(f"start with {stored:,} objects: {took:.2f} s, then {used / stored / raw:.2f} x their JSON in memory")


def control(options):
    figures = tool("control_bench", min(options.objects, 100_000), options.seconds)
    print(f"\ncontrollers over {figures['objects']:,} Routes, one thread (no peer)")
    for name, key, unit in (
            ("no-op, listed", "noop_list_per_second", "objects/s"),
            ("no-op, followed", "noop_follow_per_second", "objects/s"),
            ("no-op, listed as structs", "noop_typed_list_per_second", "objects/s"),
            ("no-op, followed as structs", "noop_typed_follow_per_second", "objects/s"),
            ("status written, memory store", "status_memory_per_second", "objects/s"),
            ("status written, durable", "status_durable_per_second", "objects/s"),
            ("relist after a lost watch", "relist_ms", "ms"),
            ("relist, as structs", "relist_typed_ms", "ms"),
            ("start of the server's controllers", "start_ms", "ms"),
            ("foreground deletion of a tenth", "collect_per_second", "objects/s")):
        print(f"{name:34} {figures[key]:12,.1f} {unit}", flush=True)


# Milliseconds of external-dns 0.22 on a shared machine of two cores, loaded as this one is when it builds.
EXTERNAL_DNS_PLAN = {10_000: 26, 100_000: 550}
EXTERNAL_DNS_ROUND = {10_000: 500, 100_000: 2500}


def plan(options):
    """CPU time of one thread, the median of some runs."""
    header("plan, milliseconds of CPU (a ratio above 1 means that external-dns takes longer)", "external-dns")

    def line(name, ours, theirs, more):
        ratio = f"{theirs / ours:5.1f} x" if theirs else ""
        print(f"{name:44} {ours:12,.1f} ms {theirs or 0:12,.0f} ms   {ratio:>9}  {more}", flush=True)

    for count in (10_000, 100_000, 1_000_000):
        got = tool("plan_bench", count)
        line(f"{count:,}, no change", got["same_ms"], EXTERNAL_DNS_PLAN.get(count), f"{got['plan_mb']:.0f} MB above its lists")
        line(f"{count:,}, the same, lists in random order", got["shuffled_ms"], EXTERNAL_DNS_PLAN.get(count), "")
        line(f"{count:,}, 1% changed", got["hundredth_ms"], EXTERNAL_DNS_PLAN.get(count), "")
        line(f"{count:,}, all to be created", got["creates_ms"], {100_000: 230, 10_000: 12}.get(count), "")
        got = tool("plan_bench", count, "round")
        line(f"{count:,}, round: ownership and plan", got["read_ms"] + got["plan_ms"], EXTERNAL_DNS_ROUND.get(count),
             f"list {got['list_ms']:.0f}, ownership {got['read_ms']:.0f}, plan {got['plan_ms']:.0f} ms; peak {got['peak_mb']:.0f} MB")
    print("The figures of external-dns are of another day: it cannot be built here.")


def tree(_options):
    """CPU time of one thread for trees alone; time on the clock for the whole way."""
    built = tool("tree_bench", "build", 1_000)
    print(f"\ntrees of {built['gateways']:,} Gateways, 10 listeners, 20 clusters in 5 places (no peer)")
    print(f"{'all from scratch':44} {built['all_ms']:12,.1f} ms CPU   {built['all_endpoints']:,} record sets")
    for name, key in (("one Gateway", "all"), ("one of a tenth of the Gateways", "tenth"), ("one over 10 clusters", "half_clusters"),
                      ("one over 40 clusters", "double_clusters"), ("one with 20 listeners", "double_listeners")):
        print(f"{name:44} {built[key + '_gateway_ms']:12,.3f} ms CPU")
    for store in ("memory", "disk"):
        got = tool("tree_bench", "path", store, 1_000, 50)
        print(f"store: {store}; all records written and served after {got['start_ms'] / 1000:.1f} s; {got['changes']} changes each")
        for name, key in (("address changed, one host answers", "address_first"), ("address changed, all ten hosts", "address_all"),
                          ("routes left, one host", "drain_first"), ("routes left, all ten hosts", "drain_all")):
            figures = got[key]
            print(f"{name:44} p50 {figures['p50_ms']:8,.1f} ms   p99 {figures['p99_ms']:8,.1f} ms   max {figures['max_ms']:8,.1f} ms", flush=True)


def router(options):
    print("\nA new route, from the change to its first 200 through HAProxy")
    for count in (100, 10_000):
        got = tool("router_bench", "create", count, 500)
        print(f"{count:>7,} routes there: p50 {got['p50_ms']:.2f} ms, p99 {got['p99_ms']:.2f} ms, {got['failed']} failed, "
              f"{got['reloads']} reloads; all of them at once: {got['fill_seconds']:.2f} s")
    print("peer: OpenShift's router coalesces for 5 s and reloads (0.5 s CPU at 10,000 routes, elsewhere)")
    print("\nChanges per second at 10,000 routes, others asked meanwhile")
    for rate in (1_000, 5_000, 20_000):
        got = tool("router_bench", "churn", 10_000, rate, max(options.seconds, 5))
        print(f"{rate:>7,}/s asked: {got['changes_per_second']:,.0f}/s done, {got['asked']:,} requests, {got['failed']} failed, "
              f"{got['wrong']} routes wrong at the end, {got['reloads']} reloads, settled {got['settled_ms']:.0f} ms after the last")
    print("peer: the pool design by hand, 20,000 endpoint changes/s with none failed (elsewhere)")
    router_whole.run()


def schedule(options):
    """Time on the clock, without sockets: creates by 16 threads and the scheduler share the cores."""
    routes = min(options.objects, 100_000)
    print("\nroutes over 100 routers, from create to bound (no peer)")
    for store in ("memory", "disk"):
        got = tool("schedule_bench", "place", store, routes, 100)
        print(f"{f'{routes:,} routes, store {store}':44} {got['per_second']:12,.0f} routes/s   {got['mb']:,.0f} MB", flush=True)
    got = tool("schedule_bench", "strategies", options.objects, 1_000)
    print(f"strategies alone, {options.objects:,} routes over 1,000 routers")
    for name in ("round-robin", "least-routes", "weighted", "rendezvous"):
        print(f"{name:44} {got[name + '_per_second']:12,.0f} routes/s", flush=True)


CLAIM_SHAPES = {"plain": "one resource", "pair": "two resources, the second is short", "labels": "a selector, racks of 40",
                "waiting": "a tenth more than there is room for"}


def claims(options):
    """CPU of the controllers and of what they write through, one thread; a tenth of a balancer per claim."""
    print("\nclaims over a tenth as many balancers, CPU per claim (no peer)")
    print(f"{'':36} {'claims':>8} {'bound/s':>9} {'to bind':>10} {'one more':>10} {'writes':>7} {'one gone':>10} {'writes':>7} {'growth':>8}")
    for shape, title in CLAIM_SHAPES.items():
        first = None
        for count in (10_000, 100_000):
            got = tool("claims_bench", shape, count, count // (11 if shape == "waiting" else 10), 100)
            growth = f"{got['bind_us'] / first:.2f} x" if first else ""
            first = first or got["bind_us"]
            more, less = got["one_more"], got["one_less"]
            print(f"{title:36} {count:8,} {got['per_second']:9,.0f} {got['bind_us']:7,.0f} us {more['us']:7,} us {more['writes']:7.1f}"
                  f" {less['us']:7,} us {less['writes']:7.1f} {growth:>8}", flush=True)
    claims_whole.run(TOOLS, credentials)


def emitter(_options):
    """First CPU time of one thread, without network; then time on the clock with everything."""
    print("\nLRPs to the routing table, 250,000 instances, one name per process")
    for processes, instances in ((50_000, 5), (250_000, 1)):
        got = tool("emitter_core", processes, instances, 20_000)
        print(f"{f'{processes:,} processes x {instances}':44} {got['build_ms']:12,.0f} ms CPU   {got['with_table_mb']:,.0f} MB; one event "
              f"p50 {got['event_p50_us']:.0f} us, p99 {got['event_p99_us']:.0f} us, until its message is made p50 {got['message_p50_us']:.0f} us, "
              f"p99 {got['message_p99_us']:.0f} us; all told {got['told_ms']:,.0f} ms, peak {got['peak_mb']:,.0f} MB; a pass that finds nothing new {got['pass_ms']:.0f} ms", flush=True)
    print("peer: Diego's emitter fetched 200,000 instances in 37 s (elsewhere)")
    emitter_whole.run(TOOLS)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = {"creates": creates, "reads": reads, "watch": watch, "hostile": attacks.run, "control": control, "memory": memory, "plan": plan, "tree": tree, "schedule": schedule, "claims": claims, "router": router, "emitter": emitter,
             "storm": lambda options: balancer_storm.run(TOOLS, max(options.seconds, 5), min(options.objects, 10_000), 1_000),
             "dns": lambda options: dns_speed.run(options, TOOLS), "dns-scale": lambda options: dns_scale.run(options, TOOLS)}
    parser.add_argument("benchmarks", nargs="*", metavar="name")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--names", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for name in options.benchmarks or every:
        if name not in every:
            parser.error(f"no benchmark '{name}'; there are: {', '.join(every)}")
    version = subprocess.run(["etcd", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    print(f"{version}, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    for name in options.benchmarks or every:
        every[name](options)


if __name__ == "__main__":
    main()
