#!/usr/bin/env python3
"""The emulator of Compute Engine itself: that it refuses what the service refuses. A test against it is worth as much as it
is strict."""

import base64
import json
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import uuid
from pathlib import Path

from gce_emulator import GRANT, PROJECT, SCOPE, Emulator

P = f"projects/{PROJECT}/"
BASE = f"/compute/v1/{P}"
EMULATOR = Emulator()
EMULATOR.url = "http://emulator.test"


def segment(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def check(name="hc", **more):
    return {"name": name, "type": "TCP", "tcpHealthCheck": {"portSpecification": "USE_SERVING_PORT"}, **more}


def service(name="be", **more):
    return {"name": name, "loadBalancingScheme": "EXTERNAL_MANAGED", "protocol": "HTTP",
            "healthChecks": [P + "global/healthChecks/hc"], **more}


def url_map(name="map", **more):
    return {"name": name, "defaultService": P + "global/backendServices/be", **more}


def rule(name="fr", **more):
    return {"name": name, "target": P + "global/targetHttpProxies/proxy", "IPAddress": P + "global/addresses/ip",
            "IPProtocol": "TCP", "portRange": "80-80", "loadBalancingScheme": "EXTERNAL_MANAGED", **more}


def matcher(*rules, **more):
    return {"hostRules": [{"hosts": ["a.test"], "pathMatcher": "m"}],
            "pathMatchers": [{"name": "m", "defaultService": P + "global/backendServices/be", "pathRules": list(rules), **more}]}


class EmulatorTest(unittest.TestCase):
    def setUp(self):
        EMULATOR.reset()
        EMULATOR.polls = 0
        self.headers = {"Authorization": "Bearer " + EMULATOR.issue()["access_token"]}

    def ask(self, method, path, body=None, headers=None):
        status, _, answer = EMULATOR.answer(method, BASE + path, headers or self.headers, json.dumps(body) if body is not None else "")
        return status, answer

    def good(self, method, path, body=None):
        status, answer = self.ask(method, path, body)
        self.assertEqual(status, 200, answer)
        EMULATOR.configure({"settle": True})
        if answer.get("kind") == "compute#operation":
            answer = EMULATOR.operations[(answer["selfLink"].split(P)[1].split("/operations")[0], answer["name"])].json(0)
            self.assertNotIn("error", answer)
        return answer

    def refused(self, status, said, method, path, body=None):
        before = json.dumps(EMULATOR.state()["things"])
        got, answer = self.ask(method, path, body)
        text = json.dumps(answer)
        self.assertEqual(got, status, text)
        self.assertIn(said, text)
        EMULATOR.configure({"settle": True})
        self.assertEqual(before, json.dumps(EMULATOR.state()["things"]), "what is refused changes nothing")

    def balancer(self):
        self.good("POST", "global/healthChecks", check())
        self.good("POST", "global/backendServices", service())
        self.good("POST", "global/urlMaps", url_map())
        self.good("POST", "global/targetHttpProxies", {"name": "proxy", "urlMap": P + "global/urlMaps/map"})
        self.good("POST", "global/addresses", {"name": "ip", "addressType": "EXTERNAL"})
        self.good("POST", "global/forwardingRules", rule())

    def test_bodies(self):
        self.balancer()
        self.good("POST", "zones/europe-west1-b/networkEndpointGroups", {"name": "neg", "networkEndpointType": "GCE_VM_IP_PORT"})
        backend = {"group": P + "zones/europe-west1-b/networkEndpointGroups/neg", "balancingMode": "RATE", "maxRatePerEndpoint": 1}
        be = P + "global/backendServices/be"
        abort = {"faultInjectionPolicy": {"abort": {"httpStatus": 404, "percentage": 100}}}
        rows = [
            ("global/healthChecks", check("Bad"), "resource.name"),
            ("global/healthChecks", check("a" * 64), "resource.name"),
            ("global/healthChecks", check("x", colour="red"), "Unknown name"),
            ("global/healthChecks", check("x", timeoutSec="5"), "Another type"),
            ("global/healthChecks", check("x", timeoutSec=9, checkIntervalSec=5), "checkIntervalSec"),
            ("global/healthChecks", {"name": "x", "type": "HTTP"}, "httpHealthCheck"),
            ("global/backendServices", service("x", healthChecks=[]), "healthChecks"),
            ("global/backendServices", service("x", loadBalancingScheme="INTERNAL_MANAGED"), "loadBalancingScheme"),
            ("global/backendServices", service("x", backends=[{**backend, "balancingMode": "UTILIZATION"}]), "RATE"),
            ("global/backendServices", service("x", backends=[{k: v for k, v in backend.items() if k != "maxRatePerEndpoint"}]), "maxRate"),
            ("global/backendServices", service("x", backends=[backend, backend]), "twice"),
            ("global/backendServices", service("x", sessionAffinity="CLIENT_IP", localityLbPolicy="RANDOM"), "hashing"),
            ("global/urlMaps", {"name": "x"}, "Exactly one"),
            ("global/urlMaps", {"name": "x", "defaultRouteAction": abort}, "Exactly one"),
            ("global/urlMaps", url_map("x", defaultUrlRedirect={"httpsRedirect": True}), "Exactly one"),
            ("global/urlMaps", url_map("x", hostRules=[{"hosts": ["a"], "pathMatcher": "m"}]), "no such path matcher"),
            ("global/urlMaps", url_map("x", **{**matcher(), "hostRules": []}), "No host rule"),
            ("global/urlMaps", url_map("x", **{**matcher(), "hostRules": [{"hosts": ["a", "a"], "pathMatcher": "m"}]}), "twice"),
            ("global/urlMaps", url_map("x", **{**matcher(), "hostRules": [{"hosts": ["a.*"], "pathMatcher": "m"}]}), "hosts"),
            ("global/urlMaps", url_map("x", **matcher({"paths": ["/a*"], "service": be})), "paths"),
            ("global/urlMaps", url_map("x", **matcher({"paths": ["a"], "service": be})), "paths"),
            ("global/urlMaps", url_map("x", **matcher({"paths": ["/a"], "service": be}, {"paths": ["/a"], "service": be})), "twice"),
            ("global/urlMaps", url_map("x", **matcher({"paths": ["/a"], "routeAction": {"weightedBackendServices": [
                {"backendService": be, "weight": 1001}]}})), "0..1000"),
            ("global/urlMaps", url_map("x", **matcher({"paths": ["/a"], "routeAction": {"weightedBackendServices": [
                {"backendService": be, "weight": 0}]}})), "above 0"),
            ("global/targetHttpsProxies", {"name": "x", "urlMap": P + "global/urlMaps/map"}, "1 to 15"),
            ("global/forwardingRules", rule("x"), "in-use"),
            ("global/forwardingRules", rule("x", portRange="80-90"), "One port"),
            ("global/forwardingRules", rule("x", portRange="81-81", labels={"a": "b"}), "Unknown name"),
            ("global/forwardingRules", rule("x", portRange="81-81", subnetwork="y"), "Not for global"),
            ("global/addresses", {"name": "x", "addressType": "INTERNAL"}, "addressType"),
            ("zones/europe-west1-b/networkEndpointGroups", {"name": "x", "networkEndpointType": "NON_GCP_PRIVATE_IP_PORT",
             "subnetwork": P + "regions/europe-west1/subnetworks/default"}, "subnetwork"),
        ]
        for path, body, said in rows:
            with self.subTest(said=said, body=str(body)[:80]):
                self.refused(400, said, "POST", path, body)

    def test_references_must_exist_and_be_ready(self):
        self.refused(404, "healthChecks/hc", "POST", "global/backendServices", service())
        self.refused(404, "networks/none", "POST", "zones/europe-west1-b/networkEndpointGroups",
                     {"name": "x", "networkEndpointType": "GCE_VM_IP_PORT", "network": P + "global/networks/none"})
        EMULATOR.polls = 5
        self.assertEqual(self.ask("POST", "global/healthChecks", check())[0], 200)
        status, answer = self.ask("POST", "global/backendServices", service())
        self.assertEqual((status, answer["error"]["errors"][0]["reason"]), (400, "resourceNotReady"))
        self.assertEqual(self.ask("POST", "global/healthChecks", check())[0], 409)
        self.assertEqual(self.ask("GET", "global/healthChecks/hc")[0], 404)

    def test_things_of_another_region_do_not_fit(self):
        self.balancer()
        self.refused(400, "loadBalancingScheme", "POST", "regions/europe-west1/backendServices", service("x"))
        self.refused(400, "regions/europe-west1", "POST", "regions/europe-west1/targetHttpProxies",
                     {"name": "x", "urlMap": P + "global/urlMaps/map"})
        self.refused(404, "mars", "POST", "regions/mars/healthChecks", check("x"))
        self.refused(404, "networkEndpointGroups", "POST", "global/networkEndpointGroups", {"name": "x"})

    def test_what_is_in_use_stays(self):
        self.balancer()
        order = ["forwardingRules/fr", "targetHttpProxies/proxy", "urlMaps/map", "backendServices/be", "healthChecks/hc"]
        for path in [*order[1:], "addresses/ip"]:
            self.refused(400, "resourceInUseByAnotherResource", "DELETE", "global/" + path)
        for path in [*order, "addresses/ip"]:
            self.good("DELETE", "global/" + path)
        self.assertEqual(EMULATOR.things, {})
        self.refused(404, "notFound", "DELETE", "global/healthChecks/hc")

    def test_fingerprints(self):
        self.balancer()
        mark = self.good("GET", "global/urlMaps/map")["fingerprint"]
        self.refused(400, "fingerprint", "PUT", "global/urlMaps/map", url_map())
        self.refused(412, "conditionNotMet", "PUT", "global/urlMaps/map", url_map(fingerprint="old"))
        self.good("PUT", "global/urlMaps/map", url_map(fingerprint=mark, description="new"))
        self.refused(412, "conditionNotMet", "PUT", "global/urlMaps/map", url_map(fingerprint=mark))
        mark = self.good("GET", "global/backendServices/be")["fingerprint"]
        self.good("PATCH", "global/backendServices/be", {"fingerprint": mark, "timeoutSec": 9})
        there = self.good("GET", "global/backendServices/be")
        self.assertEqual((there["timeoutSec"], there["protocol"]), (9, "HTTP"))
        self.refused(412, "conditionNotMet", "POST", "global/forwardingRules/fr/setLabels", {"labels": {}, "labelFingerprint": "old"})
        mark = self.good("GET", "global/forwardingRules/fr")["labelFingerprint"]
        self.refused(400, "labels", "POST", "global/forwardingRules/fr/setLabels", {"labels": {"a": "B"}, "labelFingerprint": mark})
        self.good("POST", "global/forwardingRules/fr/setLabels", {"labels": {"a": "b"}, "labelFingerprint": mark})

    def test_operations_take_their_time_and_have_a_place(self):
        EMULATOR.polls = 4
        operation = self.ask("POST", "global/healthChecks", check())[1]
        seen = [operation["status"]]
        while seen[-1] != "DONE":
            seen.append(self.ask("GET", f"global/operations/{operation['name']}")[1]["status"])
        self.assertEqual(seen, ["PENDING", "PENDING", "RUNNING", "RUNNING", "DONE"])
        self.assertEqual(self.ask("GET", f"regions/europe-west1/operations/{operation['name']}")[0], 404)
        self.assertEqual(self.ask("GET", "global/healthChecks/hc")[0], 200)

    def test_late_refusals_are_in_the_operation(self):
        EMULATOR.late = True
        status, operation = self.ask("POST", "global/backendServices", service())
        self.assertEqual(status, 200)
        done = self.ask("GET", f"global/operations/{operation['name']}")[1]
        self.assertEqual(done["error"]["errors"][0]["code"], "RESOURCE_NOT_FOUND")
        self.assertEqual(EMULATOR.things, {})

    def test_request_ids(self):
        path = "global/healthChecks?requestId=" + str(uuid.uuid4())
        first, second = self.ask("POST", path, check())[1], self.ask("POST", path, check())[1]
        self.assertEqual(first["name"], second["name"])
        self.refused(400, "badly formed", "POST", "global/healthChecks?requestId=1", check("x"))

    def test_quotas(self):
        EMULATOR.quotas = {"HEALTH_CHECKS": 1}
        self.good("POST", "global/healthChecks", check())
        self.refused(403, "Quota 'HEALTH_CHECKS' exceeded", "POST", "global/healthChecks", check("x"))

    def test_endpoints(self):
        EMULATOR.instances[("europe-west1-b", "vm")] = {"ip": "10.0.0.1", "aliases": ["10.1.0.0/24"]}
        self.good("POST", "zones/europe-west1-b/networkEndpointGroups", {"name": "vms", "networkEndpointType": "GCE_VM_IP_PORT"})
        self.good("POST", "zones/europe-west1-b/networkEndpointGroups", {"name": "out", "networkEndpointType": "NON_GCP_PRIVATE_IP_PORT"})
        one = {"instance": "vm", "ipAddress": "10.0.0.1", "port": 80}
        rows = [
            ("vms", [{**one, "ipAddress": "10.0.0.2"}], 400, "does not belong"),
            ("vms", [{**one, "instance": "other"}], 404, "other"),
            ("vms", [{"ipAddress": "10.0.0.1", "port": 80}], 400, "instance"),
            ("vms", [{**one, "port": 70000}], 400, "port"),
            ("vms", [one] * 501, 400, "1 to 500"),
            ("vms", [], 400, "1 to 500"),
            ("out", [one], 400, "instance"),
            ("out", [{"ipAddress": "8.8.8.8", "port": 80}], 400, "private"),
        ]
        for group, endpoints, status, said in rows:
            with self.subTest(said=said):
                self.refused(status, said, "POST", f"zones/europe-west1-b/networkEndpointGroups/{group}/attachNetworkEndpoints",
                             {"networkEndpoints": endpoints})
        path = "zones/europe-west1-b/networkEndpointGroups/vms/"
        self.good("POST", path + "attachNetworkEndpoints", {"networkEndpoints": [one, {**one, "ipAddress": "10.1.0.7"}]})
        self.assertEqual(len(self.good("POST", path + "listNetworkEndpoints", {})["items"]), 2)
        self.good("POST", path + "detachNetworkEndpoints", {"networkEndpoints": [one]})
        self.refused(400, "not in the group", "POST", path + "detachNetworkEndpoints", {"networkEndpoints": [one]})

    def test_certificates_must_fit_their_keys(self):
        def pair(folder, name):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
                            "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.crt"], check=True, capture_output=True)
            return Path(folder, name + ".crt").read_text(), Path(folder, name + ".key").read_text()

        with tempfile.TemporaryDirectory() as folder:
            (certificate, key), (_, other) = pair(folder, "a"), pair(folder, "b")
        rows = [(certificate, other, "does not match"), ("nonsense", key, "certificate could not be parsed"),
                (certificate, "nonsense", "key could not be parsed"), (certificate + key, key, "certificate could not be parsed")]
        for first, second, said in rows:
            self.refused(400, said, "POST", "global/sslCertificates", {
                "name": "c", "type": "SELF_MANAGED", "selfManaged": {"certificate": first, "privateKey": second}})
        self.good("POST", "global/sslCertificates", {
            "name": "c", "type": "SELF_MANAGED", "selfManaged": {"certificate": certificate, "privateKey": key}})
        self.assertNotIn("PRIVATE KEY", json.dumps(EMULATOR.state()))
        self.balancer()
        proxy = {"name": "s", "urlMap": P + "global/urlMaps/map", "sslCertificates": [P + "global/sslCertificates/c"]}
        self.good("POST", "global/targetHttpsProxies", proxy)
        self.refused(404, "no global", "POST", "global/targetHttpsProxies/s/setSslCertificates", {"sslCertificates": []})
        self.refused(400, "1 to 15", "POST", "targetHttpsProxies/s/setSslCertificates", {"sslCertificates": []})
        self.refused(400, "resourceInUse", "DELETE", "global/sslCertificates/c")

    def test_lists_come_in_pages_and_may_be_behind(self):
        for name in "abc":
            self.good("POST", "global/healthChecks", check(name))
        EMULATOR.page = 2
        first = self.good("GET", "aggregated/healthChecks?maxResults=500")
        self.assertEqual(len(first["items"]["global"]["healthChecks"]), 2)
        second = self.good("GET", "aggregated/healthChecks?pageToken=" + first["nextPageToken"])
        self.assertEqual([each["name"] for each in second["items"]["global"]["healthChecks"]], ["c"])
        self.assertNotIn("nextPageToken", second)
        self.refused(400, "pageToken", "GET", "aggregated/healthChecks?pageToken=x")
        self.refused(400, "pageToken", "GET", "aggregated/urlMaps?pageToken=" + first["nextPageToken"])
        self.refused(400, "maxResults", "GET", "aggregated/healthChecks?maxResults=501")
        EMULATOR.page, EMULATOR.lag = 500, 3
        self.ask("DELETE", "global/healthChecks/a")
        shown = [len(self.ask("GET", "aggregated/healthChecks")[1]["items"]["global"]["healthChecks"]) for _ in range(5)]
        self.assertEqual(shown, [3, 3, 3, 2, 2])

    def test_tokens(self):
        self.assertEqual(EMULATOR.answer("GET", "/compute/v1/projects/other/aggregated/urlMaps", self.headers, "")[0], 404)
        for headers in ({}, {"Authorization": "Bearer x"}):
            self.assertEqual(EMULATOR.answer("GET", BASE + "aggregated/urlMaps", headers, "")[0], 401)
        EMULATOR.clock = 3600
        self.assertEqual(self.ask("GET", "aggregated/urlMaps")[0], 401)
        EMULATOR.clock = 0
        self.assertEqual(self.ask("GET", "aggregated/urlMaps")[0], 200)
        path = "/computeMetadata/v1/instance/service-accounts/default/token"
        self.assertEqual(EMULATOR.answer("GET", path, {}, "")[0], 403)
        self.assertEqual(EMULATOR.answer("GET", path, {"Metadata-Flavor": "Google"}, "")[1], {"Metadata-Flavor": "Google"})

    def test_assertions(self):
        account, now = EMULATOR.account, int(time.time())
        stranger = subprocess.run(["openssl", "genrsa", "2048"], capture_output=True, text=True, check=True).stdout
        header = {"alg": "RS256", "typ": "JWT", "kid": account.key_id}
        claims = {"iss": account.email, "scope": SCOPE, "aud": EMULATOR.url + "/token", "iat": now, "exp": now + 3600}

        def status(header, claims, pem=account.pem, form=None):
            text = f"{segment(header)}.{segment(claims)}"
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(pem)
                file.flush()
                done = subprocess.run(["openssl", "dgst", "-sha256", "-sign", file.name], input=text.encode(), capture_output=True, check=True)
            assertion = text + "." + base64.urlsafe_b64encode(done.stdout).decode().rstrip("=")
            body = urllib.parse.urlencode({"grant_type": GRANT, "assertion": assertion, **(form or {})})
            return EMULATOR.answer("POST", "/token", {"Content-Type": "application/x-www-form-urlencoded"}, body)[0]

        self.assertEqual(status(header, claims), 200)
        rows = [
            ("another key", header, claims, {"pem": stranger}),
            ("no algorithm", {**header, "alg": "none"}, claims, {}),
            ("another key id", {**header, "kid": "x"}, claims, {}),
            ("somebody else", header, {**claims, "iss": "x"}, {}),
            ("for somebody else", header, {**claims, "aud": "x"}, {}),
            ("for something else", header, {**claims, "scope": "x"}, {}),
            ("too long", header, {**claims, "exp": now + 7200}, {}),
            ("too old", header, {**claims, "iat": now - 7200, "exp": now - 3600}, {}),
            ("from the future", header, {**claims, "iat": now + 600, "exp": now + 900}, {}),
            ("another grant", header, claims, {"form": {"grant_type": "password"}}),
        ]
        for name, head, said, more in rows:
            with self.subTest(name):
                self.assertEqual(status(head, said, **more), 400)


if __name__ == "__main__":
    unittest.main()
