"""Answers per second and CPU per answer of Fairlead beside gdnsd, Knot and a UDP echo, on four loads. The server has one
core, the generator the other. Repetitions go round all servers, because machines drift; the figures are medians."""

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import dns_servers
import dns_world

# load -> (least ratio of answers/s to the best peer, most ratio of CPU per answer to the echo)
GOALS = {"plain": (1.1, 1.35), "weighted": (1.15, None), "geo": (1.15, None), "smart": (1.5, None)}
SHAPES = {"plain": "10,000 addresses, 5 % wildcard, 5 % NXDOMAIN", "weighted": "three weighted addresses",
          "geo": "16 countries, client subnet", "smart": "host, lb, geography, weight, address in one answer"}


# Who asks: a forwarder or a load balancer with few ports, whose packets travel together; or many resolvers, a packet each.
TOGETHER = []
APART = ["--sockets", "64", "--together", "1"]


def blast(tools, world, load, server, seconds, askers):
    before = dns_servers.cpu_seconds(server.pid)
    done = subprocess.run(["taskset", "-c", str(dns_servers.CLIENT_CORE), tools / "dns_blast", "--port", str(server.port), "--queries",
                           world.queries[load], "--seconds", str(seconds), *askers], capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout)
    used = dns_servers.cpu_seconds(server.pid) - before
    figures["cpu_us"] = used / max(1, figures["total_received"]) * 1e6
    return figures


def start(name, tools, world, load, ours):
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=world.folder))
    if name == "echo":
        return dns_servers.echo(tools, folder)
    if name == "Fairlead":
        return ours.start(dns_world.PLAIN if load == "plain" else dns_world.SMART)
    return {"gdnsd": dns_servers.gdnsd, "Knot": dns_servers.knot}[name](world, folder, load)


def measure(tools, world, load, ours, options):
    """name -> medians"""
    runs = {name: [] for name in ("echo", "gdnsd", "Knot", "Fairlead")}
    for _ in range(options.rounds):
        for name, done in runs.items():
            server = start(name, tools, world, load, ours)
            try:
                one = blast(tools, world, load, server, options.seconds, TOGETHER)
                apart = blast(tools, world, load, server, options.seconds, APART)
                done.append(one | {"apart_" + key: apart[key] for key in ("qps", "cpu_us")})
            finally:
                server.stop()
    return {name: {key: statistics.median(run[key] for run in done) for key in done[0]} for name, done in runs.items()}


def print_load(load, figures):
    print(f"\n{load}: {SHAPES[load]}\n{'':10} {'answers/s':>10} {'CPU us':>8} {'records':>8} {'bytes':>7} {'p99 us':>8} {'lost':>6} {'wrong':>6}")
    for name, one in figures.items():
        print(f"{name:10} {one['qps']:10,.0f} {one['cpu_us']:8.2f} {one['answers_per_reply']:8.2f} {one['bytes_per_reply']:7.0f}"
              f" {one['p99_us']:8.0f} {one['lost']:6,.0f} {one['wrong']:6,.0f}")
    best = max(("gdnsd", "Knot"), key=lambda name: figures[name]["qps"])
    rate = figures["Fairlead"]["qps"] / figures[best]["qps"]
    cpu = figures["Fairlead"]["cpu_us"] / figures["echo"]["cpu_us"]
    wanted_rate, wanted_cpu = GOALS[load]
    verdict = "reached" if rate >= wanted_rate else "MISSED"
    print(f"  {rate:.2f} x the best peer ({best}); goal {wanted_rate:.2f}: {verdict}")
    goal = "" if wanted_cpu is None else f"; goal {wanted_cpu:.2f}: {'reached' if cpu <= wanted_cpu else 'MISSED'}"
    print(f"  {cpu:.2f} x the echo's CPU per answer{goal}")
    # The generator pays as much for each packet as the servers, so answers/s say little here; CPU per answer does.
    print("  64 askers, a packet each, CPU us per answer: " +
          ", ".join(f"{name} {one['apart_cpu_us']:.2f}" for name, one in figures.items()), flush=True)


def run(options, tools):
    with tempfile.TemporaryDirectory(prefix="fairlead-dns-") as folder:
        world = dns_world.World(folder)
        ours = dns_servers.Ours(world)
        try:
            print(f"\nDNS over UDP, one core for the server: medians of {options.rounds} rounds of {options.seconds} s")
            for load in GOALS:
                print_load(load, measure(tools, world, load, ours, options))
        finally:
            ours.remove()
