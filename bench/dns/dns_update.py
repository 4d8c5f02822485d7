"""What a change costs elsewhere: dynamic updates (RFC 2136) of BIND and Knot, in a zone as large as Fairlead's. One update is
a message over a kept TCP connection; it counts as acknowledged when its answer is there."""

import socket
import statistics
import struct
import tempfile
import threading
import time
from pathlib import Path

import dns_servers
import dns_world

ZONE = "big.test"
NAMED = """options {{
    directory "{folder}"; pid-file "{folder}/named.pid"; session-keyfile "{folder}/session.key"; managed-keys-directory "{folder}";
    listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
    recursion no; dnssec-validation no; minimal-responses yes; notify no; querylog no; empty-zones-enable no;
}};
controls {{ }};
logging {{ category default {{ null; }}; category general {{ null; }}; }};
zone "{zone}" {{ type master; file "{file}"; allow-update {{ 127.0.0.1; }}; }};
"""
KNOT = """server:
    rundir: "{folder}"
    listen: 127.0.0.1@{port}
    automatic-acl: off
control:
    listen: "{folder}/knot.sock"
log:
  - target: stderr
    any: warning
database:
    storage: "{folder}/db"
acl:
  - id: local
    address: 127.0.0.0/8
    action: update
zone:
  - domain: {zone}
    file: "{file}"
    acl: local
    zonefile-sync: -1
    zonefile-load: difference
    journal-content: changes
    journal-max-usage: 4G
    semantic-checks: off
"""


def zone_file(path, names):
    with open(path, "w") as file:
        file.write(dns_world.soa(ZONE))
        for n in range(names):
            file.write(f"h{n // 100}x{n % 100:02} 300 IN A 10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}\n")


def start(name, folder, names):
    port = dns_servers.free_port()
    (folder / "db").mkdir()
    zone_file(folder / "zone", names)
    template, conf = {"BIND": (NAMED, "named.conf"), "Knot": (KNOT, "knot.conf")}[name]
    (folder / conf).write_text(template.format(folder=folder, port=port, zone=ZONE, file=folder / "zone"))
    command = {"BIND": ["named", "-f", "-c", folder / conf], "Knot": ["knotd", "-c", folder / conf]}[name]
    return dns_servers.Peer(name, folder, port, command, f"probe.{ZONE}", pinned=False)


def update(changes):
    """For each (label, address): away with the addresses of the name, then the new one."""
    body = dns_world.encode_name(ZONE) + struct.pack("!HH", 6, 1)
    for label, address in changes:
        name = bytes([len(label)]) + label.encode() + b"\xc0\x0c"
        body += name + struct.pack("!HHIH", 1, 255, 0, 0) + name + struct.pack("!HHIH", 1, 1, 60, 4) + socket.inet_aton(address)
    message = struct.pack("!HHHHHH", 7, 5 << 11, 1, 0, 2 * len(changes), 0) + body
    return struct.pack("!H", len(message)) + message


class Writer:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, changes):
        self.socket.sendall(update(changes))
        reply = b""
        while len(reply) < 2 or len(reply) < 2 + struct.unpack("!H", reply[:2])[0]:
            more = self.socket.recv(65535)
            if not more:
                raise SystemExit("the server closed the connection of an update")
            reply += more
        if reply[5] & 15:
            raise SystemExit(f"an update was refused: rcode {reply[5] & 15}")


def address(n):
    return f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}"


def one_by_one(port, count):
    """Milliseconds from the answer to an update to the first answer that shows it."""
    writer, took = Writer(port), []
    for n in range(count):
        writer.send([("one", address(n))])
        began = time.monotonic()
        while dns_servers.ask(port, f"one.{ZONE}") != [address(n)]:
            if time.monotonic() - began > 10:
                raise SystemExit("an update is not served after 10 s")
        took.append((time.monotonic() - began) * 1e3)
    return took


def sustained(port, per_update, writers, seconds):
    """Records per second that all writers together get acknowledged."""
    done, end = [0] * writers, time.monotonic() + seconds

    def write(number):
        writer, n = Writer(port), 0
        while time.monotonic() < end:
            n += 1
            writer.send([(f"s{number}x{i:02}", address(n)) for i in range(per_update)])
            done[number] += per_update

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / seconds


def run(names, seconds):
    print(f"\nthe same of BIND and Knot: dynamic updates over TCP, {names:,} names")
    for name in ("BIND", "Knot"):
        with tempfile.TemporaryDirectory(prefix=f"fairlead-{name}-") as folder:
            began = time.monotonic()
            server = start(name, Path(folder), names)
            loaded = time.monotonic() - began
            try:
                took = sorted(one_by_one(server.port, 200))
                singles, hundreds = sustained(server.port, 1, 8, seconds), sustained(server.port, 100, 8, seconds)
                print(f"{name}: loaded in {loaded:.1f} s; one record acknowledged -> served p50 {statistics.median(took):.2f} ms, p99"
                      f" {took[int(len(took) * 0.99)]:.2f} ms; {singles:,.0f} changes/s one by one, {hundreds:,.0f} records/s by 100", flush=True)
            finally:
                server.stop()
