"""A zone of 1,000,000 names in DNSRecords of 100 endpoints each: memory, the time of a start, and changes that are served
while 100,000 queries a second are answered."""

import json
import subprocess
import time
from pathlib import Path

import dns_servers
import dns_update
import dns_world
from harness import BINARY, Fairlead, until

ZONE = "big.test"
RECORDS = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords"
PER_RECORD = 100
QUERY_RATE = 100_000
WRITERS = 64


def resident(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024


def endpoints(prefix, target):
    return [dns_world.endpoint(f"{prefix}x{i:02}.{ZONE}", "A", [target], 300) for i in range(PER_RECORD)]


def credentials(server):
    pki = server.data / "pki"
    return ["--ca", pki / "ca.crt", "--cert", pki / "admin.crt", "--key", pki / "admin.key"]


def load(tools, server, *args):
    done = subprocess.run([tools / "http_load", "--url", server.url, *credentials(server), *map(str, args)], capture_output=True, text=True)
    if not done.stdout.strip():
        raise SystemExit(f"http_load failed: {done.stderr}")
    return json.loads(done.stdout)


class Queries:
    """The paced stream of queries that must not lose one."""

    def __init__(self, tools, server, file, seconds):
        self.process = subprocess.Popen(
            [tools / "dns_blast", "--port", server.dns_port, "--queries", file, "--rate", str(QUERY_RATE), "--window", "16384",
             "--sockets", "8", "--seconds", str(seconds), "--warmup", "0.2"], stdout=subprocess.PIPE, text=True)

    def figures(self):
        return json.loads(self.process.communicate()[0])


def fill(tools, server, names, folder):
    """The zone, as many names as asked for, and one record of one address to be changed."""
    dns_servers.send_all(server, [dns_world.managed_zone("big", ZONE),
                                  dns_world.record("probe", "big", [dns_world.endpoint(f"probe.{ZONE}", "A", [dns_world.PROBE], 300)]),
                                  dns_world.record("one", "big", [dns_world.endpoint(f"one.{ZONE}", "A", ["10.255.255.255"])])])
    body = folder / "body.json"
    body.write_text(json.dumps(dns_world.record("big-{n}", "big", endpoints("h{n}", "{a}"))))
    return load(tools, server, "--clients", 16, "--requests", names // PER_RECORD, "--method", "POST", "--path", RECORDS, "--body-file", body)


def last_name(names):
    return f"h{names // PER_RECORD - 1}x99.{ZONE}"


def memory_and_start(server, names, empty, pid_rss):
    """What the process holds above its empty state, less the stored objects and the raw record data; and a new start."""
    sample = server.request("GET", f"{RECORDS}/big-0")[2]
    stored = len(json.dumps(sample, separators=(",", ":"))) / PER_RECORD
    # Name in wire form, type, class, TTL, length and address: what a zone transfer would carry without compression.
    raw = len(dns_world.encode_name(last_name(names))) + 10 + 4
    used = (pid_rss - empty) / names
    print(f"memory per name: {used:,.0f} B of the whole process = {stored:,.0f} B stored object (the API's copy, JSON)"
          f" + {raw} B raw record data + {used - stored - raw:,.0f} B (goal 250)")
    server.stop()
    began = time.monotonic()
    process = subprocess.Popen([*server.wrapper, *server_command(server)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: dns_servers.ask(int(server.dns_port), last_name(names), 0.05), "DNS answers after a restart", 300)
    took = time.monotonic() - began
    process.terminate()
    process.wait(120)
    print(f"start with {names:,} names until DNS answers: {took:.2f} s (goal 10)", flush=True)


def server_command(server):
    return [BINARY, "serve", "--data-dir", server.data, "--api-listen", server.listen, "--dns-listen", server.dns_listen, *server.args]


def single_changes(tools, server, queries, seconds):
    stream = Queries(tools, server, queries, seconds)
    done = subprocess.run([tools / "dns_change", "--api-port", server.host.rpartition(":")[2], "--path", f"{RECORDS}/one", "--name",
                           f"one.{ZONE}", "--dns-port", server.dns_port, "--changes", str(seconds * 100), "--pause-ms", "5",
                           *credentials(server)], capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"dns_change failed: {done.stderr}")
    figures, answered = json.loads(done.stdout), stream.figures()
    print(f"one changed record, acknowledged -> served: p50 {figures['served_p50_ms']:.2f} ms, p99 {figures['served_p99_ms']:.2f} ms"
          f" (goal 2), max {figures['served_max_ms']:.2f} ms; acknowledged in p50 {figures['written_p50_ms']:.2f} ms; beside"
          f" {answered['qps']:,.0f} queries/s, {answered['lost']} lost", flush=True)


def sustained(tools, server, queries, seconds, folder, per_record, goal):
    """64 writers, each with a record of its own: at the rate of the goal, then as fast as they are acknowledged."""
    names = [f"s{per_record}-{i}" for i in range(WRITERS)]
    each = [[dns_world.endpoint(f"{name}x{i:02}.{ZONE}", "A", ["10.255.255.255"]) for i in range(per_record)] for name in names]
    dns_servers.send_all(server, [dns_world.record(name, "big", made) for name, made in zip(names, each)])
    body = folder / f"patch-{per_record}.json"
    body.write_text(json.dumps({"spec": {"endpoints": [
        dns_world.endpoint(f"s{per_record}-{{c}}x{i:02}.{ZONE}", "A", ["{a}"]) for i in range(per_record)]}}))
    print(f"record changes in DNSRecords of {per_record}, goal {goal:,}/s:")
    for way, pace in (("at the goal", ["--rate", goal // per_record]), ("at most", [])):
        stream = Queries(tools, server, queries, seconds)
        changed = load(tools, server, "--clients", WRITERS, "--seconds", seconds, "--method", "PATCH", "--path",
                       f"{RECORDS}/s{per_record}-{{c}}", "--body-file", body, "--header", "Content-Type: application/merge-patch+json", *pace)
        ended = time.monotonic()
        wait_until_served(server, names)
        answered = stream.figures()
        print(f"  {way:11} {changed['rps'] * per_record:9,.0f}/s ({changed['rps']:,.0f} writes/s, p99 {changed['p99_ms']:.1f} ms,"
              f" {changed['errors']} errors), all served {time.monotonic() - ended:.2f} s after the last; beside"
              f" {answered['qps']:,.0f} queries/s, {answered['lost']} lost", flush=True)


def wait_until_served(server, names):
    """The last change of each record, as the API has it."""
    connection = server.connect()
    for name in names:
        connection.request("GET", f"{RECORDS}/{name}")
        targets = json.loads(connection.getresponse().read())["spec"]["endpoints"][0]["targets"]
        until(lambda: dns_servers.ask(int(server.dns_port), f"{name}x00.{ZONE}") == targets, f"{name} is served", 60)
    connection.close()


def run(options, tools):
    server = Fairlead("--log-level", "warn").start()
    try:
        folder, names = server.data, options.names
        print(f"\na zone of {names:,} names in DNSRecords of {PER_RECORD} endpoints")
        empty = resident(server.process.pid)
        made = fill(tools, server, names, folder)
        until(lambda: dns_servers.ask(int(server.dns_port), last_name(names)), "the last name is served", 300)
        print(f"created at {made['rps'] * PER_RECORD:,.0f} names/s, {made['errors']} errors")
        queries = folder / "big.queries"
        step = max(1, names // PER_RECORD // 100_000)
        dns_world.write_queries(queries, [dns_world.message(f"h{n % (names // PER_RECORD)}x{n % PER_RECORD:02}.{ZONE}")
                                          for n in range(0, 100_000 * step, step)])
        server.stop()
        server.start()
        time.sleep(2)
        memory_and_start(server, names, empty, resident(server.process.pid))
        server.start()
        single_changes(tools, server, queries, max(5, options.seconds))
        sustained(tools, server, queries, options.seconds, folder, 1, 5_000)
        sustained(tools, server, queries, options.seconds, folder, PER_RECORD, 50_000)
    finally:
        server.remove()
    dns_update.run(names, options.seconds)
