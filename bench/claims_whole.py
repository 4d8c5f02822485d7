"""Claims from their POST to Bound, through the whole server: API over TLS, the store on disk, and all controllers. Balancers are
said to run by instances that nobody runs."""

import http.client
import json
import re
import subprocess
import time

from harness import Fairlead, until

BALANCERS = "/apis/fairlead.dev/v1/loadbalancers"
CLAIMS = "/apis/fairlead.dev/v1/namespaces/default/loadbalancerclaims"
INSTANCES = "/apis/fairlead.dev/v1/routerinstances"
CLIENTS = 16


def prepare(server, count):
    """`count` balancers that run: each has room for eleven claims."""
    connection = server.connect()

    def send(method, path, body):
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        connection.request(method, path, json.dumps(body), {"Content-Type": kind})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {text[:300]}")
    for i in range(count):
        name = f"lb-{i:05}"
        send("POST", BALANCERS, {"apiVersion": "fairlead.dev/v1", "kind": "LoadBalancer", "metadata": {"name": name}, "spec": {
            "capacity": {"bandwidth": "1100"}, "reclaimPolicy": "Recycle", "bareMetalLoadBalancer": {"type": "Haproxy", "serviceName": name}}})
        send("POST", INSTANCES, {"apiVersion": "fairlead.dev/v1", "kind": "RouterInstance", "metadata": {"name": f"{name}-1"},
                                 "spec": {"loadBalancer": name, "address": "192.0.2.1"}})
        send("PATCH", f"{INSTANCES}/{name}-1/status", {"status": {"renewTime": "2026-11-17T00:00:00.000001Z", "leaseDurationSeconds": 3600,
                                                                  "ready": True, "programmed": 4_000_000_000_000}})
    connection.close()


def bound(server):
    text = server.request("GET", "/metrics")[2]
    text = text.decode() if isinstance(text, bytes) else text
    found = re.search(r'^fairlead_claims\{[^}]*phase="Bound"[^}]*\} (\S+)', text, re.M)
    return int(float(found.group(1))) if found else 0


def cpu(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def run(tools, credentials):
    for claims in (10_000,):
        server = Fairlead("--log-level", "warn", "--roles", "api,controllers").start()
        try:
            prepare(server, claims // 10)
            until(lambda: server.request("GET", "/metrics")[2].decode().count('fairlead_loadbalancers{phase="Running"} ' + str(claims // 10)) == 1,
                  "all balancers run", 120)
            body = server.data / "claim.json"
            body.write_text(json.dumps({"apiVersion": "fairlead.dev/v1", "kind": "LoadBalancerClaim", "metadata": {"name": "c{c}-{n}"},
                                        "spec": {"resources": {"requests": {"bandwidth": "100"}}}}))
            before, began = cpu(server.process.pid), time.monotonic()
            done = subprocess.run([tools / "http_load", "--url", server.url, *credentials(server), "--clients", str(CLIENTS), "--requests",
                                   str(claims), "--method", "POST", "--path", CLAIMS, "--body-file", body], capture_output=True, text=True)
            made = json.loads(done.stdout.splitlines()[-1])
            created = time.monotonic() - began
            until(lambda: bound(server) >= claims, "all claims are bound", 300)
            took = time.monotonic() - began
            print(f"the whole server, store on disk: {claims:,} claims over {claims // 10:,} balancers by {CLIENTS} clients: created in "
                  f"{created:.2f} s ({made['errors']} errors), all bound after {took:.2f} s: {claims / took:,.0f} claims/s, "
                  f"{(cpu(server.process.pid) - before) / claims * 1e6:,.0f} us CPU per claim", flush=True)
        except http.client.HTTPException as error:
            raise SystemExit(f"the server does not answer: {error}")
        finally:
            server.remove()
