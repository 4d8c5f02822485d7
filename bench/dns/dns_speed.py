"""Answers per second and CPU per answer of Fairlead beside gdnsd, Knot and a UDP echo, on four loads. The server has one
core, the generator the other. Repetitions go round all servers, because machines drift; the figures are medians.

Each load is sent in two ways. `runs`: from four ports, many queries in one send, which the kernel may hand over and take
back in one piece. `apart`: from 64 ports, a packet for each query, as resolvers send them; there the generator costs as
much as the server, so that CPU per answer tells more than answers per second."""

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
WAYS = {"runs": [], "apart": ["--sockets", "64", "--together", "1"]}


def blast(tools, world, load, way, server, seconds):
    before = dns_servers.cpu_seconds(server.pid)
    done = subprocess.run(["taskset", "-c", str(dns_servers.CLIENT_CORE), tools / "dns_blast", "--port", str(server.port), "--queries",
                           world.queries[load], "--seconds", str(seconds), *WAYS[way]], capture_output=True, text=True, check=True)
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
    """way -> name -> medians"""
    names = ("echo", "gdnsd", "Knot", "Fairlead")
    runs = {way: {name: [] for name in names} for way in WAYS}
    for _ in range(options.rounds):
        for name in names:
            server = start(name, tools, world, load, ours)
            try:
                for way in WAYS:
                    runs[way][name].append(blast(tools, world, load, way, server, options.seconds))
            finally:
                server.stop()
    return {way: {name: {key: statistics.median(run[key] for run in done) for key in done[0]} for name, done in each.items()}
            for way, each in runs.items()}


def print_load(load, ways):
    print(f"\n{load}: {SHAPES[load]}\n{'':16} {'answers/s':>10} {'CPU us':>8} {'records':>8} {'bytes':>7} {'p99 us':>8} {'lost':>6} {'wrong':>6}")
    wanted_rate, wanted_cpu = GOALS[load]
    for way, figures in ways.items():
        for name, one in figures.items():
            print(f"{way:5} {name:10} {one['qps']:10,.0f} {one['cpu_us']:8.2f} {one['answers_per_reply']:8.2f} {one['bytes_per_reply']:7.0f}"
                  f" {one['p99_us']:8.0f} {one['lost']:6,.0f} {one['wrong']:6,.0f}")
        peers = ("gdnsd", "Knot")
        best, leanest = max(peers, key=lambda name: figures[name]["qps"]), min(peers, key=lambda name: figures[name]["cpu_us"])
        ours = figures["Fairlead"]
        rate, cpu = ours["qps"] / figures[best]["qps"], ours["cpu_us"] / figures["echo"]["cpu_us"]
        goal = f" (goal {wanted_rate:.2f}: {'reached' if rate >= wanted_rate else 'MISSED'})"
        cpu_goal = "" if wanted_cpu is None else f" (goal {wanted_cpu:.2f}: {'reached' if cpu <= wanted_cpu else 'MISSED'})"
        print(f"{way:5} Fairlead: {rate:.2f} x the answers of the best peer, {best}{goal}; CPU per answer"
              f" {ours['cpu_us'] / figures[leanest]['cpu_us']:.2f} x that of {leanest}, {cpu:.2f} x that of the echo{cpu_goal}", flush=True)


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
