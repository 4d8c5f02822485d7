"""A DNS client that is quick enough to measure shares: queries with an EDNS client subnet over UDP, many at a time, and a
loop that asks all the while something else happens and remembers what went wrong."""

import collections
import ipaddress
import random
import socket
import struct
import threading
import time

NOERROR = 0
TYPE_A, TYPE_CNAME, TYPE_OPT = 1, 5, 41


def encoded_name(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split(".")) + b"\0"


def query(identity, name, subnet=None):
    """For A records of `name`, as a resolver sends it on behalf of a client in `subnet`."""
    option = b""
    if subnet:
        network = ipaddress.ip_network(subnet)
        packed = network.network_address.packed[: (network.prefixlen + 7) // 8]
        option = struct.pack(">HHHBB", 8, 4 + len(packed), 1, network.prefixlen, 0) + packed
    return (struct.pack(">HHHHHH", identity, 0, 1, 0, 0, 1) + encoded_name(name) + struct.pack(">HH", TYPE_A, 1)
            + b"\0" + struct.pack(">HHIH", TYPE_OPT, 1232, 0, len(option)) + option)


def skip_name(packet, at):
    while packet[at]:
        if packet[at] >= 0xC0:
            return at + 2
        at += packet[at] + 1
    return at + 1


def answer(packet):
    """(rcode, addresses in their order, number of CNAMEs)"""
    _, flags, questions, answers, _, _ = struct.unpack_from(">HHHHHH", packet)
    at = 12
    for _ in range(questions):
        at = skip_name(packet, at) + 4
    addresses, links = [], 0
    for _ in range(answers):
        at = skip_name(packet, at)
        kind, _, _, length = struct.unpack_from(">HHIH", packet, at)
        at += 10
        if kind == TYPE_A:
            addresses.append(socket.inet_ntoa(packet[at:at + 4]))
        links += kind == TYPE_CNAME
        at += length
    return flags & 15, addresses, links


def name_at(packet, at):
    labels = []
    while packet[at]:
        if packet[at] >= 0xC0:
            at = (packet[at] & 0x3F) << 8 | packet[at + 1]
            continue
        labels.append(packet[at + 1:at + 1 + packet[at]].decode())
        at += packet[at] + 1
    return ".".join(labels)


def links(packet):
    """The CNAMEs of an answer: [(name, TTL, target)]."""
    _, _, questions, answers, _, _ = struct.unpack_from(">HHHHHH", packet)
    at = 12
    for _ in range(questions):
        at = skip_name(packet, at) + 4
    found = []
    for _ in range(answers):
        owner, at = name_at(packet, at), skip_name(packet, at)
        kind, _, ttl, length = struct.unpack_from(">HHIH", packet, at)
        at += 10
        if kind == TYPE_CNAME:
            found.append((owner, ttl, name_at(packet, at)))
        at += length
    return found


class DnsClient:
    def __init__(self, address, port, patience=10):
        self.server, self.patience = (address, int(port)), patience
        self.socket = self.connect()
        self.identity = 0

    def connect(self):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.connect(self.server)
        made.settimeout(self.patience)
        return made

    def close(self):
        self.socket.close()

    def ask(self, name, subnet=None):
        return answer(self.packet(name, subnet))

    def packet(self, name, subnet=None):
        self.identity = (self.identity + 1) & 0xFFFF
        self.socket.send(query(self.identity, name, subnet))
        while True:
            packet = self.socket.recv(4096)
            if struct.unpack_from(">H", packet)[0] == self.identity:
                return packet

    def count(self, name, subnet, queries, key, window=32):
        """How often each `key(addresses)` came among so many queries. A socket of its own: what is still under way when one
        query has no answer must not be taken for the answer to another."""
        packet = bytearray(query(0, name, subnet))
        seen = collections.Counter()
        sent = received = 0
        with self.connect() as link:
            while received < queries:
                while sent < queries and sent - received < window:
                    struct.pack_into(">H", packet, 0, sent & 0xFFFF)
                    link.send(packet)
                    sent += 1
                rcode, addresses, _ = answer(link.recv(4096))
                if rcode != NOERROR or not addresses:
                    raise AssertionError(f"{name} from {subnet}: rcode {rcode}, {addresses}")
                seen[key(addresses)] += 1
                received += 1
        return seen


class Resolver:
    """Keeps CNAMEs as long as their TTL allows, and asks for where they lead."""

    def __init__(self, client, subnet):
        self.client, self.subnet = client, subnet
        self.cache = {}  # name -> (target, until when)

    def ask(self, name):
        """The name that had to be asked for, rcode and addresses."""
        now = time.monotonic()
        while name in self.cache and self.cache[name][1] > now:
            name = self.cache[name][0]
        packet = self.client.packet(name, self.subnet)
        for owner, ttl, target in links(packet):
            self.cache[owner] = (target, now + ttl)
        return name, *answer(packet)[:2]


class QueryLoop(threading.Thread):
    """Asks for every host from every subnet, over and over, until it is stopped: through resolvers with caches, of which each
    has its own view of how things were when it last looked."""

    def __init__(self, address, port, hosts, subnets, pause=0.001, resolvers=20, seed=1):
        super().__init__(daemon=True)
        self.client = DnsClient(address, port)
        self.hosts, self.pause = tuple(hosts), pause
        self.resolvers = {subnet: [Resolver(self.client, subnet) for _ in range(resolvers)] for subnet in subnets}
        self.random = random.Random(seed)
        self.stopping = threading.Event()
        self.asked = 0
        self.longest = 0.0  # seconds that an answer took
        self.failures = []

    def run(self):
        while not self.stopping.is_set():
            for host in self.hosts:
                for subnet, resolvers in self.resolvers.items():
                    self.ask(host, subnet, Resolver(self.client, subnet))  # nothing in its cache
                    self.ask(host, subnet, self.random.choice(resolvers))
                    time.sleep(self.pause)

    def ask(self, host, subnet, resolver):
        began = time.monotonic()
        try:
            name, rcode, addresses = resolver.ask(host)
            if rcode != NOERROR or not addresses:
                self.failures.append((began, host, subnet, f"{name}: rcode {rcode}, {addresses}"))
        except OSError as problem:
            self.failures.append((began, host, subnet, repr(problem)))
        self.asked += 1
        self.longest = max(self.longest, time.monotonic() - began)

    def stop(self):
        self.stopping.set()
        self.join()
        self.client.close()
