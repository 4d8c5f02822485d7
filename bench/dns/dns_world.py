"""The data of the DNS benchmarks: the same zones and queries for every server, from fixed seeds. Zones as master files
for the peers and as DNSRecords for Fairlead, queries as messages behind their lengths, networks with their countries."""

import random
import socket
import struct
import subprocess
from pathlib import Path

PLAIN_NAMES = 10_000
SMART_NAMES = 1_000  # weighted names, as many geo names, and as many chains
QUERIES = 200_000
NETWORKS = 20_000
TARGETS = (("192.0.2.1", 100), ("192.0.2.2", 200), ("192.0.2.3", 100))
COUNTRIES = {"US": "NA", "CA": "NA", "MX": "NA", "BR": "SA", "AR": "SA", "DE": "EU", "FR": "EU", "GB": "EU",
             "PL": "EU", "RU": "EU", "CN": "AS", "JP": "AS", "IN": "AS", "ZA": "AF", "EG": "AF", "AU": "OC"}
CODES = list(COUNTRIES)
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
PLAIN, SMART = "bench.test", "smart.test"
PROBE = "192.0.2.251"  # what probe.ZONE says, so that we know when a server answers


def country_address(code):
    return f"198.51.100.{CODES.index(code) + 1}"


def country_targets(code):
    """The three weighted targets behind one country."""
    first = (CODES.index(code) + 1) * 4
    return tuple((f"203.0.113.{first + i}", weight) for i, weight in enumerate((100, 200, 100)))


def label(rng, first):
    return first + "".join(rng.choice(LETTERS) for _ in range(9))


def encode_name(name):
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


def message(name, edns=False, subnet=None):
    option = b""
    if subnet:
        address, length = subnet
        body = struct.pack("!HBB", 1, length, 0) + socket.inet_aton(address)[:(length + 7) // 8]
        option = struct.pack("!HH", 8, len(body)) + body
    opt = b"\0" + struct.pack("!HHIH", 41, 1232, 0, len(option)) + option if edns or subnet else b""
    return struct.pack("!HHHHHH", 0, 0, 1, 0, 0, 1 if opt else 0) + encode_name(name) + struct.pack("!HH", 1, 1) + opt


def write_queries(path, messages):
    path.write_bytes(b"".join(struct.pack("!H", len(one)) + one for one in messages))


def soa(zone):
    return (f"$ORIGIN {zone}.\n$TTL 300\n@ 3600 IN SOA ns1.{zone}. hostmaster.{zone}. 1 3600 600 604800 300\n"
            "@ 3600 IN NS ns1\n@ 3600 IN NS ns2\nns1 3600 IN A 127.0.0.1\nns2 3600 IN A 127.0.0.2\n"
            f"probe 300 IN A {PROBE}\n")


def managed_zone(name, domain):
    return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone", "metadata": {"name": name},
            "spec": {"domainName": domain,
                     "nameServers": [{"name": f"ns{i}.{domain}", "addresses": [f"127.0.0.{i}"]} for i in (1, 2)]}}


def endpoint(name, kind, targets, ttl=60, identifier=None, **policy):
    made = {"dnsName": name, "recordTTL": ttl, "recordType": kind, "targets": targets}
    if identifier:
        made["setIdentifier"] = identifier
        made["providerSpecific"] = [{"name": key, "value": str(value)} for key, value in policy.items()]
    return made


def record(name, zone, endpoints):
    return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord", "metadata": {"name": name},
            "spec": {"managedZone": {"name": zone}, "endpoints": endpoints}}


class World:
    """Made once per run in a folder of its own."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.objects = []  # what Fairlead is given, in order
        self.queries = {}  # load -> file
        self._plain()
        self._smart()

    def _save(self, load, messages):
        self.queries[load] = self.folder / f"{load}.queries"
        write_queries(self.queries[load], messages)

    def _plain(self):
        """10,000 addresses, asked for in 90 % of the queries; a wildcard in 5 %, names that do not exist in 5 %."""
        rng = random.Random(1)
        names = sorted({label(rng, "h") for _ in range(PLAIN_NAMES)})
        rng.shuffle(names)
        lines = [soa(PLAIN), "*.w 300 IN A 192.0.2.250\n"]
        endpoints = [endpoint(f"probe.{PLAIN}", "A", [PROBE], 300), endpoint(f"*.w.{PLAIN}", "A", ["192.0.2.250"], 300)]
        for i, name in enumerate(names):
            address = f"10.0.{i >> 8 & 255}.{i & 255}"
            lines.append(f"{name} 300 IN A {address}\n")
            endpoints.append(endpoint(f"{name}.{PLAIN}", "A", [address], 300))
        (self.folder / PLAIN).write_text("".join(lines))
        self.objects.append(managed_zone("plain", PLAIN))
        self.objects += [record(f"plain-{i:04}", "plain", endpoints[i:i + 100]) for i in range(0, len(endpoints), 100)]

        def name():
            drawn = rng.random()
            if drawn < 0.90:
                return rng.choice(names)
            return label(rng, "w")[:8] + ".w" if drawn < 0.95 else label(rng, "x")  # all equally long on the wire

        self._save("plain", [message(f"{name()}.{PLAIN}") for _ in range(QUERIES)])

    def _smart(self):
        rng = random.Random(4)
        networks = self._networks()
        for load, name in (("weighted", "w"), ("geo", "g"), ("smart", "host")):
            def subnet():
                first, second, third = rng.choice(networks)[0]
                return f"{first}.{second}.{third + rng.randrange(16)}.0", 24
            self._save(load, [message(f"{name}{rng.randrange(SMART_NAMES):04}.{SMART}", True,
                                      None if load == "weighted" else subnet()) for _ in range(QUERIES)])
        self.objects.append(managed_zone("smart", SMART))
        self.objects.append(record("smart-probe", "smart", [endpoint(f"probe.{SMART}", "A", [PROBE], 300)]))
        for i in range(SMART_NAMES):
            self.objects.append(record(f"smart-{i:04}", "smart", self._smart_endpoints(i)))
        self._knot()
        self._gdnsd()

    def _networks(self):
        """20,000 /20 networks of public space, each in a country; also as an MMDB."""
        rng = random.Random(3)
        found = {}
        while len(found) < NETWORKS:
            first = rng.randrange(1, 224)
            if first not in (10, 100, 127, 169, 172, 192, 198, 203):
                found[(first, rng.randrange(256), rng.randrange(16) * 16)] = rng.choice(CODES)
        networks = sorted(found.items())
        rows = ["127.0.0.0/8,US,NA"] + [f"{a}.{b}.{c}.0/20,{code},{COUNTRIES[code]}" for (a, b, c), code in networks]
        (self.folder / "networks.csv").write_text("\n".join(rows) + "\n")
        self.mmdb = self.folder / "country.mmdb"
        subprocess.run(["perl", Path(__file__).parent / "make_mmdb.pl", self.folder / "networks.csv", self.mmdb], check=True)
        return networks

    @staticmethod
    def _smart_endpoints(i):
        host, lb, geo = f"host{i:04}.{SMART}", f"lb{i:04}.{SMART}", f"geo{i:04}.{SMART}"
        made = [endpoint(f"w{i:04}.{SMART}", "A", [address], identifier=f"t{k}", weight=weight)
                for k, (address, weight) in enumerate(TARGETS)]
        made += [endpoint(host, "CNAME", [lb]), endpoint(lb, "CNAME", [geo])]
        for code in CODES:
            leaf = f"wrr-{code.lower()}-{i:04}.{SMART}"
            place = {"geolocation-country-code": code}
            made.append(endpoint(f"g{i:04}.{SMART}", "A", [country_address(code)], identifier=code, **place))
            made.append(endpoint(geo, "CNAME", [leaf], identifier=code, **place))
            made += [endpoint(leaf, "A", [address], identifier=f"t{k}", weight=weight)
                     for k, (address, weight) in enumerate(country_targets(code))]
        return made

    def _knot(self):
        """A zone with records under the names that the geoip module answers, and the module's files."""
        zone, weighted, geo = [soa(SMART)], [], []

        def by_weight(name, targets):
            weighted.append(f"{name}.{SMART}:\n" + "".join(f"  - weight: {w}\n    A: {a}\n" for a, w in targets))

        for i in range(SMART_NAMES):
            zone.append(f"w{i:04} 60 IN A 192.0.2.254\ng{i:04} 60 IN A 192.0.2.254\nhost{i:04} 60 IN CNAME lb{i:04}\n"
                        f"lb{i:04} 60 IN CNAME geo{i:04}\ngeo{i:04} 60 IN CNAME wrr-us-{i:04}\n")
            by_weight(f"w{i:04}", TARGETS)
            geo.append(f"g{i:04}.{SMART}:\n" + "".join(f'  - geo: "{c}"\n    A: {country_address(c)}\n' for c in CODES))
            geo.append(f"geo{i:04}.{SMART}:\n" + "".join(
                f'  - geo: "{c}"\n    CNAME: wrr-{c.lower()}-{i:04}.{SMART}.\n' for c in CODES))
            for code in CODES:
                zone.append(f"wrr-{code.lower()}-{i:04} 60 IN A 192.0.2.254\n")
                by_weight(f"wrr-{code.lower()}-{i:04}", country_targets(code))
        for name, text in (("knot-smart", zone), ("knot-weighted.conf", weighted), ("knot-geo.conf", geo)):
            (self.folder / name).write_text("".join(text))

    def _gdnsd(self):
        """gdnsd forbids a dynamic CNAME into the same zone: its chain goes from geography to weight between plugins."""
        zone, weighted, resources = [soa(SMART)], [], []

        def by_weight(name, targets):
            weighted.append(f"  {name} => {{ " + ", ".join(f"t{k} = [ {a}, {w} ]" for k, (a, w) in enumerate(targets)) + " }\n")

        for i in range(SMART_NAMES):
            zone.append(f"w{i:04} 60/60 DYNA weighted!w{i:04}\ng{i:04} 60/60 DYNA geoip!g{i:04}\n"
                        f"host{i:04} 60 CNAME lb{i:04}\nlb{i:04} 60 CNAME geo{i:04}\n"
                        f"geo{i:04} 60 CNAME gw{i:04}\ngw{i:04} 60/60 DYNA geoip!gw{i:04}\n")
            by_weight(f"w{i:04}", TARGETS)
            for code in CODES:
                by_weight(f"wrr{code.lower()}{i:04}", country_targets(code))
            direct = ", ".join(f"{c.lower()} => {country_address(c)}" for c in CODES)
            chained = ", ".join(f"{c.lower()} => %weighted!wrr{c.lower()}{i:04}" for c in CODES)
            resources.append(f"   g{i:04} => {{ map => m, dcmap => {{ {direct} }} }}\n"
                             f"   gw{i:04} => {{ map => m, dcmap => {{ {chained} }} }}\n")
        continents = "".join(
            f"    {continent} => {{ " + ", ".join(f"{c} => [ {c.lower()} ]" for c in CODES if COUNTRIES[c] == continent) + " }\n"
            for continent in sorted(set(COUNTRIES.values())))
        plugins = ("plugins => {\n weighted => {\n" + "".join(weighted) +
                   " }\n geoip => {\n  maps => { m => {\n   geoip2_db => country.mmdb\n"
                   f"   datacenters => [ {', '.join(c.lower() for c in CODES)} ]\n   map => {{\n{continents}   }}\n  }} }}\n"
                   "  resources => {\n" + "".join(resources) + "  }\n }\n}\n")
        (self.folder / "gdnsd-smart").write_text("".join(zone))
        (self.folder / "gdnsd-plugins.cfg").write_text(plugins)
