#!/usr/bin/env python3
"""external-dns's webhook protocol, both roles: its exact calls against our server, and our client against our server."""

import gzip
import http.client
import json
import time
import unittest

from harness import Fairlead, ServerTest, main, until

MEDIA_TYPE = "application/external.dns.webhook+json;version=1"
# What Go's client sends by itself.
GO = {"User-Agent": "Go-http-client/1.1", "Accept-Encoding": "gzip"}
ZONE = {"apiVersion": "kuadrant.io/v1alpha1", "kind": "ManagedZone", "metadata": {"name": "hooked", "namespace": "default"},
        "spec": {"domainName": "hook.example", "provider": "builtin", "defaultTTL": 60}}


def go_json(value):
    """As encoding/json writes it: compact, members in their order, a line end."""
    return json.dumps(value, separators=(",", ":")) + "\n"


def endpoint(name, kind, targets, identifier=None, ttl=None, labels=None, properties=None):
    """Members in the order of Go's struct; empty ones are left out."""
    made = {"dnsName": name, "targets": targets, "recordType": kind}
    if identifier:
        made["setIdentifier"] = identifier
    if ttl:
        made["recordTTL"] = ttl
    if labels:
        made["labels"] = labels
    if properties:
        made["providerSpecific"] = [{"name": key, "value": value} for key, value in properties]
    return made


def heritage(owner, resource):
    return f'"heritage=external-dns,external-dns/owner={owner},external-dns/resource={resource}"'


class ExternalDns:
    """Its calls, header by header, as the client of v0.22 makes them: one connection, 15 seconds for all of a call."""

    def __init__(self, address):
        self.address = address

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.address, timeout=15)
        headers = {**GO, "Accept": MEDIA_TYPE}
        if body is not None:
            headers["Content-Type"] = MEDIA_TYPE
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        if response.headers.get("Content-Encoding") == "gzip":
            text = gzip.decompress(text)  # as Go's client does
        return response, text

    def negotiate(self):
        return self.call("GET", "/")

    def records(self):
        response, text = self.call("GET", "/records")
        assert response.status == 200, (response.status, text)
        assert response.headers["Content-Type"] == MEDIA_TYPE, response.headers
        return text.decode()

    def adjust(self, endpoints):
        response, text = self.call("POST", "/adjustendpoints", go_json(endpoints))
        assert response.status == 200, (response.status, text)
        return text.decode()

    def apply(self, **changes):
        order = ["create", "updateOld", "updateNew", "delete"]
        response, text = self.call("POST", "/records", go_json({key: changes[key] for key in order if key in changes}))
        return response.status, text.decode()


def manifest(*objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def webhook_of(server):
    return next(word for word in server.ready_line.split() if word.startswith("webhook=")).partition("=")[2]


class ServerRoleTest(ServerTest):
    SERVE_ARGS = ("--webhook-listen", "127.0.0.1:0")

    def setUp(self):
        self.hook = ExternalDns(webhook_of(self.server))

    def short(self, name, kind="A"):
        return self.server.dig("+norec", "+short", name, kind).split("\n")[:-1]

    def objects(self):
        items = json.loads(self.kubectl("get", "dnsrecords", "-l", "fairlead.dev/driven-by=webhook", "-o", "json").stdout)
        return {item["spec"]["dnsName"]: item for item in items["items"]}

    def test_1_negotiation(self):
        response, text = self.hook.negotiate()
        self.assertEqual(500, response.status, "no zone, and an empty filter would be all names: soft, tried again")
        self.kubectl("apply", "-f", "-", stdin=json.dumps(ZONE))
        response, text = self.hook.negotiate()
        self.assertEqual(200, response.status, text)
        self.assertEqual(MEDIA_TYPE, response.headers["Content-Type"])
        self.assertEqual("Content-Type", response.headers["Vary"])
        self.assertEqual(go_json({"include": ["hook.example"]}).encode(), text)
        self.assertEqual(200, self.hook.call("GET", "/healthz")[0].status)
        self.assertEqual(404, self.hook.call("GET", "/applychanges")[0].status)
        self.assertEqual("[]\n", self.hook.records())

    BLUE = endpoint("web.hook.example", "A", ["192.0.2.2", "192.0.2.1"], "cluster/blue", 30,
                    {"owner": "ext", "resource": "service/default/web"}, [("webhook/weight", "100")])
    GREEN = endpoint("web.hook.example", "A", ["192.0.2.9"], "cluster/green", 30,
                     {"owner": "ext", "resource": "service/default/web2"}, [("webhook/weight", "0")])
    OWNER_BLUE = endpoint("a-web.hook.example", "TXT", [heritage("ext", "service/default/web")], "cluster/blue", None,
                          {"ownedRecord": "web.hook.example"}, [("webhook/weight", "100")])
    OWNER_GREEN = endpoint("a-web.hook.example", "TXT", [heritage("ext", "service/default/web2")], "cluster/green", None,
                           {"ownedRecord": "web.hook.example"}, [("webhook/weight", "0")])
    WILD = endpoint("*.hook.example", "CNAME", ["web.hook.example"], None, None, {"owner": "ext"})
    APEX = endpoint("hook.example", "MX", ["10 mx.hook.example"], None, 300, {"owner": "ext"})

    def test_2_create_and_read_back_to_the_byte(self):
        wanted = [self.BLUE, self.GREEN, self.OWNER_BLUE, self.OWNER_GREEN, self.WILD, self.APEX]
        self.assertEqual(go_json(wanted), self.hook.adjust(wanted))
        self.assertEqual((204, ""), self.hook.apply(create=wanted))
        by_name = [self.WILD, self.OWNER_BLUE, self.OWNER_GREEN, self.APEX, self.BLUE, self.GREEN]
        self.assertEqual(go_json(by_name), self.hook.records())
        self.assertEqual({"web.hook.example", "a-web.hook.example", "*.hook.example", "hook.example"}, set(self.objects()))
        until(lambda: sorted(self.short("web.hook.example")) == ["192.0.2.1", "192.0.2.2"], "the set with weight is served")
        self.assertEqual([heritage("ext", "service/default/web")], self.short("a-web.hook.example", "TXT"))
        self.assertEqual(["web.hook.example."], self.short("x.hook.example", "CNAME"))
        self.assertEqual(["10 mx.hook.example."], self.short("hook.example", "MX"))

    def test_3_the_same_again_changes_nothing(self):
        before = {name: item["metadata"]["resourceVersion"] for name, item in self.objects().items()}
        self.assertEqual((204, ""), self.hook.apply(create=[self.BLUE, self.GREEN, self.OWNER_BLUE, self.APEX]))
        self.assertEqual((204, ""), self.hook.apply(delete=[endpoint("gone.hook.example", "A", ["192.0.2.1"])]))
        self.assertEqual((204, ""), self.hook.apply(delete=[endpoint("not.ours.example", "A", ["192.0.2.1"])]))
        self.assertEqual((204, ""), self.hook.apply())
        specs = {name: item["spec"] for name, item in self.objects().items()}
        self.assertEqual(4, len(specs))
        for name, item in self.objects().items():
            self.assertEqual(1, item["metadata"]["generation"], f"{name} was written once ({before[name]})")

    def test_4_updates_go_in_pairs(self):
        blue, green = dict(self.BLUE), dict(self.GREEN)
        blue["providerSpecific"] = [{"name": "webhook/weight", "value": "0"}]
        green["providerSpecific"] = [{"name": "webhook/weight", "value": "7"}]
        for _ in range(2):
            self.assertEqual((204, ""), self.hook.apply(updateOld=[self.BLUE, self.GREEN], updateNew=[blue, green]))
        self.assertIn(go_json([blue, green])[1:-2], self.hook.records(), "in their places")
        until(lambda: self.short("web.hook.example") == ["192.0.2.9"], "the weights have moved")
        self.assertEqual(2, self.objects()["web.hook.example"]["metadata"]["generation"])
        renamed = {**green, "setIdentifier": "cluster/red"}
        self.assertEqual((204, ""), self.hook.apply(updateOld=[green], updateNew=[renamed]))
        self.assertIn(go_json([blue, renamed])[1:-2], self.hook.records())
        status, text = self.hook.apply(updateOld=[green])
        self.assertEqual(400, status)
        self.assertIn("updateNew: has 0 endpoints and updateOld 1: they go in pairs", text)

    def test_5_what_is_wrong_is_said_and_the_rest_is_done(self):
        fine = endpoint("fine.hook.example", "A", ["192.0.2.5"])
        status, text = self.hook.apply(create=[endpoint("x.other.example", "A", ["192.0.2.1"]), fine])
        self.assertEqual(500, status, "soft: external-dns ends itself on others")
        self.assertEqual("x.other.example: is in no zone that this server offers\n", text)
        self.assertIn(go_json([fine])[1:-2], self.hook.records())
        response, text = self.hook.call("POST", "/records", "{")
        self.assertEqual(400, response.status)
        response, text = self.hook.call("POST", "/records", go_json({"create": [{"recordType": "A"}]}))
        self.assertEqual((400, b"create[0].dnsName: is missing\n"), (response.status, text))
        response, text = self.hook.call("DELETE", "/records")
        self.assertEqual(404, response.status)

    def test_6_delete(self):
        every = json.loads(self.hook.records())
        self.assertEqual((204, ""), self.hook.apply(delete=every))
        self.assertEqual("[]\n", self.hook.records())
        self.assertEqual({}, self.objects())
        until(lambda: self.short("web.hook.example") == [], "nothing is served any more")

    def test_7_many(self):
        count = 1000
        wanted = []
        for i in range(count):
            name = f"host-{i:05}.hook.example"
            wanted.append(endpoint(name, "A", [f"10.0.{i // 256}.{i % 256}"], None, 300, {"owner": "ext"}))
            wanted.append(endpoint("a-" + name, "TXT", [heritage("ext", "service/default/web")]))
        begin = time.monotonic()
        self.assertEqual((204, ""), self.hook.apply(create=wanted))
        self.assertLess(time.monotonic() - begin, 15, "external-dns waits no longer")
        given = json.loads(self.hook.records())
        self.assertEqual(sorted(map(go_json, wanted)), sorted(map(go_json, given)))
        until(lambda: self.short("host-00999.hook.example") == ["10.0.3.231"], "they are served")
        self.assertEqual((204, ""), self.hook.apply(delete=wanted))
        self.assertEqual("[]\n", self.hook.records())

    def test_8_with_a_token_through_the_api(self):
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "webhook"},
                "rules": [{"nonResourceURLs": ["/webhook", "/webhook/*"], "verbs": ["get", "post"]}]}
        binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "webhook"},
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "webhook"},
                   "subjects": [{"kind": "User", "name": "external-dns"}]}
        token = self.server.cli("token", "create", "--user", "external-dns").stdout.strip().split()[-1]

        def call(method, path, body=None, bearer=token):
            headers = {**GO, "Accept": MEDIA_TYPE, "Accept-Encoding": "identity"}
            if bearer:
                headers["Authorization"] = "Bearer " + bearer
            return self.server.request(method, path, body, headers, client_certificate=False)

        self.assertEqual(403, call("GET", "/webhook/")[0])
        self.assertEqual(403, call("POST", "/webhook/records", "{}")[0])
        self.kubectl("apply", "-f", "-", stdin=manifest(role, binding))
        until(lambda: call("GET", "/webhook/")[0] == 200, "the role counts")
        self.assertEqual(401, call("GET", "/webhook/records", bearer=None)[0], "nobody without a token")
        body = go_json({"create": [endpoint("api.hook.example", "A", ["192.0.2.77"])]})
        self.assertEqual(204, call("POST", "/webhook/records", body)[0])
        until(lambda: self.short("api.hook.example") == ["192.0.2.77"], "served")
        self.assertEqual(200, call("GET", "/webhook/records")[0])


class OnlyLoopbackTest(unittest.TestCase):
    def test_other_addresses_are_refused(self):
        server = Fairlead("--webhook-listen", "0.0.0.0:0")
        self.addCleanup(server.remove)
        with self.assertRaisesRegex(AssertionError, "is no loopback address"):
            server.start()


class ClientRoleTest(unittest.TestCase):
    """Fairlead drives Fairlead: a zone of one server, kept at another by the provider webhook."""

    @classmethod
    def setUpClass(cls):
        cls.far = Fairlead("--webhook-listen", "127.0.0.1:0").start()
        cls.addClassCleanup(cls.far.remove)
        cls.near = Fairlead().start()
        cls.addClassCleanup(cls.near.remove)

    def short(self, name, kind="A"):
        return self.far.dig("+norec", "+short", name, kind).split("\n")[:-1]

    def apply(self, *objects):
        self.near.kubectl("apply", "-f", "-", stdin=manifest(*objects))

    def test_1_zone_and_records(self):
        self.far.kubectl("apply", "-f", "-", stdin=json.dumps(ZONE))
        self.apply({**ZONE, "metadata": {"name": "far", "namespace": "default"},
                    "spec": {"domainName": "hook.example", "provider": "webhook", "ownership": {"owner": "near"},
                             "deletionGuard": {"maxPercent": 100},
                             "webhook": {"url": "http://" + webhook_of(self.far)}}})

        def record(name, *endpoints):
            return {"apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord", "metadata": {"name": name, "namespace": "default"},
                    "spec": {"managedZone": {"name": "far"}, "endpoints": list(endpoints)}}

        self.apply(record("web", endpoint("web.hook.example", "A", ["192.0.2.1"], "cluster/blue", 30, None, [("weight", "10")]),
                          endpoint("web.hook.example", "A", ["192.0.2.2"], "cluster/green", 30, None, [("weight", "0")])),
                   record("apex", endpoint("hook.example", "MX", ["10 mx.hook.example"], None, 60)))
        until(lambda: self.short("web.hook.example") == ["192.0.2.1"], "the records have arrived", 60)
        until(lambda: self.short("hook.example", "MX") == ["10 mx.hook.example."], "the apex too")
        owners = "".join(self.short("_owner.web.hook.example", "TXT")).replace('" "', "")
        self.assertIn("external-dns/owner=near,external-dns/records=A/cluster/blue A/cluster/green", owners)
        self.assertEqual(1, len(self.short("_owner.hook.example", "TXT")), "at the apex")

        self.apply(record("web", endpoint("web.hook.example", "A", ["192.0.2.3"], "cluster/blue", 30, None, [("weight", "10")])))
        until(lambda: self.short("web.hook.example") == ["192.0.2.3"], "the change has arrived", 60)
        until(lambda: "records=A/cluster/blue" in "".join(self.short("_owner.web.hook.example", "TXT"))
              and "green" not in "".join(self.short("_owner.web.hook.example", "TXT")), "counted down")

        def applied():
            item = json.loads(self.near.kubectl("get", "dnsrecord", "web", "-o", "json").stdout)
            return {each["type"]: each["status"] for each in item.get("status", {}).get("conditions", [])}.get("Ready") == "True"
        until(applied, "the record says so")
        foreign = ExternalDns(webhook_of(self.far))
        theirs = endpoint("theirs.hook.example", "A", ["192.0.2.99"], None, 60)
        self.assertEqual((204, ""), foreign.apply(create=[theirs]))
        self.near.kubectl("delete", "dnsrecord", "web")
        until(lambda: self.short("web.hook.example") == [], "gone with its record", 60)
        until(lambda: self.short("_owner.web.hook.example", "TXT") == [], "and its ownership with the last of them")
        self.assertEqual(["192.0.2.99"], self.short("theirs.hook.example"), "what others have stays")


if __name__ == "__main__":
    main()
