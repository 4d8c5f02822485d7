"""Real DNS programs around the server: BIND and Knot as secondaries or as somebody else's primary, unbound as the
resolver in front, dig and kdig as clients. All on loopback, free ports, folders of their own, stopped by pid."""

import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from harness import START_SECONDS, until

KEY_NAME = "transfer.example"
KEY_SECRET = "c2VjcmV0IG9mIGEgdGVzdCwgMzIgYnl0ZXMgbG9uZyE="
OTHER_SECRET = "b3RoZXIgc2VjcmV0IG9mIGEgdGVzdCwgMzIgYnl0ZXM="


def free_port(address="127.0.0.1"):
    """A port that is free for UDP and TCP at the same address."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp, \
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            tcp.bind((address, 0))
            port = tcp.getsockname()[1]
            try:
                udp.bind((address, port))
            except OSError:
                continue
            return port


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)


def dig(at, *question):
    """dig against (address, port); its whole output."""
    return run("dig", "+tries=2", "+time=5", f"@{at[0]}", "-p", at[1], *question).stdout


def kdig(at, *question):
    return run("kdig", "+retry=1", "+time=5", f"@{at[0]}", "-p", at[1], *question).stdout


def records(at, *question):
    """The answer section: a sorted list of [name, ttl, type, data]."""
    lines = dig(at, "+noall", "+answer", *question).splitlines()
    fields = [line.split(None, 4) for line in lines if line and not line.startswith(";")]
    return sorted([f[0], int(f[1]), f[3], f[4]] for f in fields)


def short(at, *question):
    return sorted(dig(at, "+short", *question).split("\n")[:-1])


def status(at, *question):
    """NOERROR, NXDOMAIN, REFUSED, ..."""
    for line in dig(at, *question).splitlines():
        if "status: " in line:
            return line.split("status: ")[1].split(",")[0]
    return ""


def serial(at, zone):
    answer = short(at, zone, "SOA")
    return int(answer[0].split()[2]) if answer else None


class Program:
    """A process with a folder of its own."""

    def __init__(self, name, address="127.0.0.1"):
        self.name = name
        self.dir = Path(tempfile.mkdtemp(prefix=f"fairlead-{name}-"))
        self.address = address
        self.port = free_port(address)
        self.process = None

    @property
    def at(self):
        return self.address, self.port

    def launch(self, *command):
        self.log = open(self.dir / "log", "ab")
        self.process = subprocess.Popen([str(word) for word in command], cwd=self.dir, stdout=self.log,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        return self

    def log_text(self):
        return (self.dir / "log").read_text(errors="replace")

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"{self.name} ended with {self.process.returncode}: {self.log_text()[-3000:]}")
        return bool(status(self.at, "version.bind", "CH", "TXT"))

    def wait_until_it_answers(self):
        until(self.answers, f"{self.name} answers: {self.log_text()[-2000:]}", START_SECONDS)
        return self

    def remove(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process:
            self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)


class Named(Program):
    """BIND. `zones` is the text of its zone statements. It listens at addresses of interfaces only, which on loopback is
    127.0.0.1."""

    def __init__(self, zones):
        super().__init__("named")
        (self.dir / "named.conf").write_text(f"""
            options {{
                directory "{self.dir}"; pid-file "named.pid"; session-keyfile "session.key";
                managed-keys-directory "{self.dir}"; lock-file none;
                listen-on port {self.port} {{ {self.address}; }}; listen-on-v6 {{ none; }};
                transfer-source {self.address}; recursion no; dnssec-validation no; notify no; minimal-responses yes;
            }};
            controls {{ }};
            key "{KEY_NAME}" {{ algorithm hmac-sha256; secret "{KEY_SECRET}"; }};
            {zones}
        """)

    def start(self):
        # -g: in the foreground, logging to standard error.
        return self.launch("named", "-g", "-n", "1", "-c", self.dir / "named.conf").wait_until_it_answers()


def bind_secondary(zones, primary):
    """`zones`: {name: whether requests are signed}."""
    return Named("".join(f"""
        zone "{name}" {{ type secondary; file "{name}.db"; masterfile-format text;
            primaries {{ {primary[0]} port {primary[1]} {f'key "{KEY_NAME}"' if signed else ""}; }}; }};
    """ for name, signed in zones.items()))


def bind_primary(zone_name, text):
    named = Named(f'zone "{zone_name}" {{ type primary; file "{zone_name}.db"; }};')
    (named.dir / f"{zone_name}.db").write_text(text)
    return named


class Knot(Program):
    """Knot as a secondary. `zones`: {name: whether requests are signed}."""

    def __init__(self, zones, primary, address):
        super().__init__("knot", address)
        sections = "\n".join(f"  - domain: {name}\n    storage: {self.dir}\n    master: {kind}\n    acl: {kind}"
                             for name, kind in ((name, "signed" if signed else "plain")
                                                for name, signed in zones.items()))
        (self.dir / "knot.conf").write_text(f"""
server:
    rundir: {self.dir}
    listen: {address}@{self.port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: {self.dir}
control:
    listen: {self.dir}/control
log:
  - target: stderr
    any: info
key:
  - id: {KEY_NAME}
    algorithm: hmac-sha256
    secret: {KEY_SECRET}
remote:
  - id: signed
    address: {primary[0]}@{primary[1]}
    via: {address}
    key: {KEY_NAME}
  - id: plain
    address: {primary[0]}@{primary[1]}
    via: {address}
acl:
  - id: signed
    address: {primary[0]}
    action: notify
    key: {KEY_NAME}
  - id: plain
    address: {primary[0]}
    action: notify
zone:
{sections}
""")

    def start(self):
        return self.launch("knotd", "-c", self.dir / "knot.conf").wait_until_it_answers()


class Unbound(Program):
    """A resolver that knows where the zones of `stubs` ({zone: (address, port)}) are served."""

    def __init__(self, stubs):
        super().__init__("unbound")
        text = "".join(f'stub-zone:\n    name: "{zone}"\n    stub-addr: {at[0]}@{at[1]}\n' for zone, at in stubs.items())
        (self.dir / "unbound.conf").write_text(f"""
server:
    interface: {self.address}@{self.port}
    directory: "{self.dir}"
    pidfile: "{self.dir}/unbound.pid"
    chroot: ""
    username: ""
    use-syslog: no
    logfile: ""
    do-daemonize: no
    do-ip6: no
    num-threads: 1
    access-control: 127.0.0.0/8 allow
    do-not-query-localhost: no
    module-config: "iterator"
    target-fetch-policy: "0 0 0 0 0"
remote-control:
    control-enable: yes
    control-interface: "{self.dir}/control"
    control-use-cert: no
{text}""")

    def start(self):
        return self.launch("unbound", "-d", "-p", "-c", self.dir / "unbound.conf").wait_until_it_answers()

    def flush(self, zone):
        done = run("unbound-control", "-c", self.dir / "unbound.conf", "flush_zone", zone)
        assert done.returncode == 0, done.stderr + done.stdout


def zone(name, domain, **spec):
    return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone",
            "metadata": {"name": name, "namespace": "default"}, "spec": {"domainName": domain, **spec}}


def record(name, zone_name, *endpoints):
    return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"managedZone": {"name": zone_name}, "endpoints": list(endpoints)}}


def endpoint(name, kind, *targets, ttl=60, identifier=None, **policy):
    """policy: weight="10", geo_code="DE"."""
    result = {"dnsName": name, "recordType": kind, "recordTTL": ttl, "targets": list(targets)}
    if identifier:
        result["setIdentifier"] = identifier
        result["providerSpecific"] = [{"name": key.replace("_", "-"), "value": value} for key, value in policy.items()]
    return result


def tsig_secret(name, secret=KEY_SECRET):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "default"},
            "stringData": {"name": KEY_NAME, "algorithm": "hmac-sha256", "secret": secret}}
