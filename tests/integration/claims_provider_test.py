#!/usr/bin/env python3
"""Claims that find nothing, and providers that make it: Google's at its strict stand-in, and this machine's own addresses with a
real HAProxy and a real nginx. With the claim goes all that was made."""

import json
import os
import socket
import subprocess

import harness
from balancer_world import ingress_object
from claims_world import Claims, by_claim, claim_object, cloud_balancer_object, serve_with_provider
from gce_emulator import PROJECT, Emulator
from harness import ServerTest, until
from router_world import Backend, apply, free_ports, service_objects


class AtGoogle(Claims, ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.emulator = Emulator().start()
        cls.addClassCleanup(cls.emulator.stop)
        cls.server = serve_with_provider(
            cls, {"key.json": json.dumps(cls.emulator.account.json())}, name="belgium", type="gce", endpoint=cls.emulator.url,
            requestsPerSecond=1000, capacity={"network-bandwidth": "1Gi"},
            parameters={"project": PROJECT, "zones": "europe-west1-b", "tokenEndpoint": cls.emulator.url + "/token",
                        "endpointType": "NON_GCP_PRIVATE_IP_PORT"})
        service, endpoints = service_objects("web")
        endpoints["subsets"] = [{"addresses": [{"ip": "10.0.0.5"}], "ports": [{"name": "http", "port": 8080}]}]
        apply(cls.server, service, endpoints)

    def things(self):
        with self.emulator.lock:
            return {"/".join(key): dict(body) for key, body in self.emulator.things.items()}

    def leads_to(self, host, path="/"):
        with self.emulator.lock:
            found = self.emulator.route(80, host, path)
        return found.get("status") or [each["endpoints"] for each in found.get("services", [])]

    def test_a_claim_is_served_by_what_is_made_for_it_and_nothing_is_left_when_it_goes(self):
        apply(self.server, claim_object("made", {"network-bandwidth": "100Mi"}),
              ingress_object("made", {"made.claims.test": [("/", "Prefix", "web")]}, **by_claim("made")))
        claim = self.claim_is("made", "Bound")
        balancer = self.get("lb", claim["status"]["loadBalancerName"])
        self.assertEqual(balancer["metadata"]["name"], "lb-" + claim["metadata"]["uid"])
        name = balancer["spec"]["gceLoadBalancer"]["lbName"]
        rule = self.things()[f"global/forwardingRules/{name}"]
        self.assertEqual(balancer["status"]["ingress"], [{"ip": rule["IPAddress"]}])
        with self.subTest("the rules of its Ingress arrive there, and change with it"):
            ingress = self.ingress_is("made", "Programmed", "True")
            self.assertEqual(ingress["status"]["loadBalancer"]["ingress"], [{"ip": rule["IPAddress"]}])
            self.assertEqual(self.leads_to("made.claims.test"), [["10.0.0.5:8080"]])
            self.assertEqual(self.leads_to("other.claims.test"), 404)
            apply(self.server, ingress_object("made", {"made.claims.test": [("/", "Prefix", "web")],
                                                       "more.claims.test": [("/a", "Prefix", "web")]}, **by_claim("made")))
            until(lambda: self.leads_to("more.claims.test", "/a/b") == [["10.0.0.5:8080"]], "the new host leads there")
            self.assertEqual(self.leads_to("more.claims.test", "/b"), 404)
        with self.subTest("a second claim shares it"):
            apply(self.server, claim_object("second", {"network-bandwidth": "100Mi"}))
            self.assertEqual(self.claim_is("second", "Bound")["status"]["loadBalancerName"], balancer["metadata"]["name"])
        with self.subTest("it stays as long as somebody has a share"):
            self.kubectl("delete", "ingress,lbc", "made", "--timeout=60s")
            until(lambda: len(self.get("lb", balancer["metadata"]["name"])["spec"]["claimRefs"]) == 1, "the share is free")
            self.assertEqual(self.leads_to("made.claims.test"), 404, "and no rule of the first is left")
        self.kubectl("delete", "lbc", "second", "--timeout=60s")
        until(lambda: not self.things(), "nothing is left at the cloud", 60)
        self.no_balancer_is_left()

    def test_a_strangers_balancer_of_that_name_is_refused_and_left_alone(self):
        there = f"projects/{PROJECT}/global/"
        for collection, body in (
                ("healthChecks", {"type": "TCP", "tcpHealthCheck": {"portSpecification": "USE_SERVING_PORT"}}),
                ("backendServices", {"loadBalancingScheme": "EXTERNAL_MANAGED", "protocol": "HTTP", "healthChecks": [there + "healthChecks/theirs"]}),
                ("urlMaps", {"defaultService": there + "backendServices/theirs"}),
                ("targetHttpProxies", {"urlMap": there + "urlMaps/theirs"}),
                ("addresses", {"addressType": "EXTERNAL"}),
                ("forwardingRules", {"target": there + "targetHttpProxies/theirs", "IPAddress": there + "addresses/theirs",
                                     "IPProtocol": "TCP", "portRange": "80-80", "loadBalancingScheme": "EXTERNAL_MANAGED"})):
            with self.emulator.lock:
                self.emulator.insert("global", collection, {"name": "theirs", **body}, foreign=True)
        self.addCleanup(self.emulator.reset)
        before = self.things()
        self.assertEqual(len(before), 6)
        apply(self.server, cloud_balancer_object("mine", "gce", "theirs", reclaimPolicy="Delete"))
        failed = until(lambda: (lambda lb: lb["status"].get("phase") == "Failed" and lb)(self.get("lb", "mine")), "it is refused")
        self.assertRegex(failed["status"]["message"], "theirs.* is somebody else's")
        self.assertEqual(self.condition(failed, "Available").get("status"), "False")
        apply(self.server, claim_object("hopes", {"network-bandwidth": "1Mi"}, loadbalancerName="mine"))
        until(lambda: "somebody else" in self.condition(self.get("lbc", "hopes"), "Bound").get("message", ""), "who wants it is told")
        self.kubectl("delete", "lbc", "hopes", "--timeout=60s")
        self.kubectl("delete", "lb", "mine", "--timeout=60s")
        self.assertEqual(self.things(), before, "untouched, whatever the reclaim policy says")


class OnThisMachine(Claims):
    """What the two proxies do alike; `proxy` and `network` say which, and at which addresses."""

    proxy = network = None

    @classmethod
    def setUpClass(cls):
        cls.backend = Backend("one")
        cls.addClassCleanup(cls.backend.stop)
        cls.http, cls.https = free_ports(2)
        cls.addresses = [f"{cls.network}.1", f"{cls.network}.2"]
        cls.server = serve_with_provider(cls, name="metal", type="bareMetal", proxy=cls.proxy, addresses=cls.addresses,
                                         http=cls.http, https=cls.https, capacity={"network-bandwidth": "100Mi"})
        apply(cls.server, *service_objects("web", cls.backend))

    def answer(self, address, host):
        said = subprocess.run(["curl", "-s", "--max-time", "5", "-o", "-", "-w", "\n%{http_code}", "-H", f"Host: {host}",
                               f"http://{address}:{self.http}/"], capture_output=True, text=True, timeout=30).stdout
        body, _, code = said.rpartition("\n")
        return int(code or 0), json.loads(body)["backend"] if body.startswith("{") else None

    def folders(self):
        """One for each balancer that the server runs; a long name is shortened there."""
        home = self.server.data / "balancers"
        return set(home.iterdir()) if home.exists() else set()

    def processes(self, folder):
        """Those that were told to work in there, or run from what lies there."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    command = file.read().decode(errors="replace")
            except OSError:
                continue
            if str(folder) in command:
                found.append(int(pid))
        return found

    def refuses(self, address):
        try:
            socket.create_connection((address, self.http), 2).close()
            return False
        except OSError:
            return True

    def test_a_claim_is_served_by_a_proxy_that_is_started_for_it_and_ends_with_it(self):
        folders = {}  # by claim
        for address, name in zip(self.addresses, ("first", "second")):
            apply(self.server, claim_object(name, {"network-bandwidth": "80Mi"}),
                  ingress_object(name, {f"{name}.claims.test": [("/", "Prefix", "web")]}, **by_claim(name)))
            balancer = self.claim_is(name, "Bound")["status"]["loadBalancerName"]
            made = self.get("lb", balancer)
            self.assertEqual(made["spec"]["listen"]["address"], address)
            self.assertEqual(made["spec"]["bareMetalLoadBalancer"]["type"], self.proxy)
            until(lambda: self.answer(address, f"{name}.claims.test") == (200, "one"), f"{name} is served")
            self.ingress_is(name, "Programmed", "True")
            folders[name], = self.folders() - set(folders.values())
            self.assertTrue(self.processes(folders[name]), "a process runs for it")
        with self.subTest("each has its own rules"):
            self.assertEqual(self.answer(self.addresses[0], "second.claims.test"), (404, None))
        with self.subTest("who comes when all addresses are taken is told so"):
            apply(self.server, claim_object("third", {"network-bandwidth": "80Mi"}))
            said = until(lambda: (lambda text: "all of them are taken" in text and text)(
                self.condition(self.get("lbc", "third"), "Bound").get("message", "")), "it is told why it waits")
            self.assertIn("provider metal has 2 addresses", said)
        self.kubectl("delete", "ingress,lbc", "first", "--timeout=60s")
        with self.subTest("its process and its folder are gone, and the address goes to who waits"):
            until(lambda: not folders["first"].exists(), "nothing of it is left on disk")
            until(lambda: not self.processes(folders["first"]), "nor does anything run for it")
            third = self.claim_is("third", "Bound")["status"]["loadBalancerName"]
            self.assertEqual(self.get("lb", third)["spec"]["listen"]["address"], self.addresses[0])
            until(lambda: self.answer(self.addresses[0], "first.claims.test") == (404, None), "it serves, and not what the first did")
        self.assertEqual(self.answer(self.addresses[1], "second.claims.test"), (200, "one"), "all the while")
        folders["third"], = self.folders() - {folders["second"]}
        self.kubectl("delete", "ingress", "second")
        self.kubectl("delete", "lbc", "second", "third", "--timeout=60s")
        self.no_balancer_is_left()
        until(lambda: not self.folders(), "nothing is left on disk")
        until(lambda: not any(map(self.processes, folders.values())), "nor does anything run")
        for address in self.addresses:
            until(lambda: self.refuses(address), "nobody listens there any more")


class OnThisMachineByHaproxy(OnThisMachine, ServerTest):
    proxy, network = "Haproxy", "127.0.46"


class OnThisMachineByNginx(OnThisMachine, ServerTest):
    proxy, network = "Nginx", "127.0.47"


if __name__ == "__main__":
    harness.main()
