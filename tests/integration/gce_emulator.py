#!/usr/bin/env python3
"""A strict stand-in for Google Compute Engine (compute/v1, JSON) on loopback, for tests: as a program (prints "ready URL",
ends when its standard input does) or in a test's own process (Emulator().start()).

It enforces what the real service does, as far as application load balancers need it: access tokens that end, for which a
service account's RS256 assertion is verified with the public key, or which the metadata server hands out; names, fields and
their types, references that must exist, be ready and live in the same place, deletions of what is in use, fingerprints of
backend services, URL maps and labels, request ids, quotas; all changes are operations (global, regional, zonal) that are
PENDING and RUNNING for a while and may fail at their end; lists come in pages and may be behind. The rules of each collection
are in gce_rules.py.

Not covered: IAM (a token may do all or nothing), filters (but for unfinished operations) and orders of lists, instance groups, buckets, backend services of
other schemes, classic and regional external balancers, IPv6, Certificate Manager, SSL policies, health of members, firewalls,
beta fields (any field that Fairlead does not send is unknown here), creating networks, subnetworks and instances (tests put
them there), `wait` of operations, and the traffic itself: /_emulator/route tells where a request would go.
Where the real service fills in or says something that is not known, this one does the stricter thing.

Behind /_emulator/ (without a token) tests look into it and make trouble: GET state; GET key (of the service account); GET
route?port=&host=&path=; POST config {"polls": requests until an operation is done, "late": references are looked at when it
ends, "lag": requests that lists are behind, "page": most items of a page, "quotas": {"BACKEND_SERVICES": 3}, "fail":
[{"operation", "collection", "status", "reason", "message", "times", "skip"}], "cut": requests after which no answer is given any
more (null: answers again), "lose": number of the change whose answer alone gets lost, "settle": all operations end now, "revoke", "clock" (seconds that it is
ahead), "token_life", "delay": seconds before each answer, "reset"}; POST foreign {"place", "collection", "body"}, POST instance {"zone", "name", "ip", "aliases"}."""

import base64
import collections
import copy
import hashlib
import json
import re
import secrets
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import gce_rules
from gce_rules import FILLED, LABEL, SCHEMAS, Refusal, check, check_certificates, check_endpoint, check_schema, invalid

PROJECT = "acme-prod"
ZONES = ["europe-west1-b", "europe-west1-c", "us-central1-a"]
REGIONS = ["europe-west1", "us-central1"]
BASE = "https://www.googleapis.com/compute/v1/"
SINGULAR = {"addresses": "address", "networkEndpointGroups": "networkEndpointGroup", "targetHttpProxies": "targetHttpProxy",
            "targetHttpsProxies": "targetHttpsProxy"}
QUOTAS = {"addresses": "STATIC_ADDRESSES", "healthChecks": "HEALTH_CHECKS", "networkEndpointGroups": "NETWORK_ENDPOINT_GROUPS",
          "sslCertificates": "SSL_CERTIFICATES", "backendServices": "BACKEND_SERVICES", "urlMaps": "URL_MAPS",
          "targetHttpProxies": "TARGET_HTTP_PROXIES", "targetHttpsProxies": "TARGET_HTTPS_PROXIES",
          "forwardingRules": "FORWARDING_RULES"}
SCOPE = "https://www.googleapis.com/auth/compute"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def plain(reference):
    at = reference.find("projects/")
    return reference[at:] if reference.startswith("http") and at >= 0 else reference


def walk(value):
    if isinstance(value, dict):
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner)
    elif isinstance(value, str):
        yield value


def unpadded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class ServiceAccount:
    """A key that is made anew for each run: there is no secret in the sources."""

    def __init__(self):
        self.pem = subprocess.run(["openssl", "genrsa", "2048"], capture_output=True, text=True, check=True).stdout
        shown = subprocess.run(["openssl", "rsa", "-modulus", "-noout"], input=self.pem, capture_output=True, text=True, check=True)
        self.modulus = int(shown.stdout.strip().split("=")[1], 16)
        self.key_id, self.email = secrets.token_hex(20), f"fairlead@{PROJECT}.iam.gserviceaccount.com"

    def json(self):
        return {"type": "service_account", "project_id": PROJECT, "private_key_id": self.key_id, "private_key": self.pem,
                "client_email": self.email, "token_uri": "https://oauth2.googleapis.com/token"}

    def verify(self, assertion, audience, now):
        """Raises ValueError with what is wrong (RFC 7523, RFC 8017 8.2.2)."""
        parts = assertion.split(".")
        if len(parts) != 3:
            raise ValueError("not a JWT")
        header, claims = json.loads(unpadded(parts[0])), json.loads(unpadded(parts[1]))
        if header.get("alg") != "RS256" or header.get("kid") != self.key_id:
            raise ValueError("alg or kid")
        size = (self.modulus.bit_length() + 7) // 8
        opened = pow(int.from_bytes(unpadded(parts[2]), "big"), 65537, self.modulus).to_bytes(size, "big")
        digest = hashlib.sha256(f"{parts[0]}.{parts[1]}".encode()).digest()
        info = bytes.fromhex("3031300d060960864801650304020105000420") + digest
        if opened != b"\x00\x01" + b"\xff" * (size - len(info) - 3) + b"\x00" + info:
            raise ValueError("Invalid JWT Signature.")
        if claims.get("iss") != self.email or claims.get("aud") != audience:
            raise ValueError("iss or aud")
        if SCOPE not in claims.get("scope", "").split(" "):
            raise ValueError("scope")
        if not now - 3600 <= claims.get("iat", 0) <= now + 60 or claims["exp"] <= now or claims["exp"] - claims["iat"] > 3600:
            raise ValueError("Token must be a short-lived token (60 minutes) and in a reasonable timeframe.")


class Operation:
    def __init__(self, name, place, verb, target, began, due, effect):
        self.name, self.place, self.verb, self.target = name, place, verb, target
        self.began, self.due, self.effect, self.refusal = began, due, effect, None

    def json(self, now):
        done = self.effect is None
        status = "DONE" if done else "PENDING" if now < (self.began + self.due) / 2 else "RUNNING"
        made = {"kind": "compute#operation", "name": self.name, "operationType": self.verb, "status": status,
                "targetLink": BASE + self.target, "progress": 100 if done else 0,
                "selfLink": f"{BASE}projects/{PROJECT}/{self.place}/operations/{self.name}"}
        if done and self.refusal:
            code = re.sub(r"([A-Z])", r"_\1", self.refusal.reason).upper()
            code = {"NOT_FOUND": "RESOURCE_NOT_FOUND", "ALREADY_EXISTS": "RESOURCE_ALREADY_EXISTS",
                    "INVALID": "INVALID_FIELD_VALUE"}.get(code, code)
            made["error"] = {"errors": [{"code": code, "message": self.refusal.message}]}
            made["httpErrorStatusCode"] = self.refusal.status
            made["httpErrorMessage"] = "BAD REQUEST"
        return made


class Emulator:
    def __init__(self):
        self.lock = threading.RLock()
        self.account = ServiceAccount()
        self.url = ""
        self.reset()

    def reset(self):
        self.things = {}  # (place, collection, name) -> body
        self.members = collections.defaultdict(dict)  # (place, name) -> {(instance, address, port): endpoint}
        self.claimed = {}  # what is being made or is going -> operation
        self.operations, self.by_request_id, self.tokens, self.page_tokens = {}, {}, {}, {}
        self.listed = {}  # what lists show instead, and until when
        self.instances = {}
        self.networks = {f"projects/{PROJECT}/global/networks/default"}
        self.subnetworks = {}
        for region in REGIONS:
            for name, purpose in (("default", "PRIVATE"), ("proxies", "REGIONAL_MANAGED_PROXY")):
                self.subnetworks[f"projects/{PROJECT}/regions/{region}/subnetworks/{name}"] = {
                    "purpose": purpose, "place": f"regions/{region}"}
        self.count, self.changes, self.next_id, self.next_address = 0, 0, 1000, 1
        self.requests = collections.Counter()
        self.polls, self.late, self.lag, self.page, self.quotas, self.fail = 2, False, 0, 500, {}, []
        self.cut, self.lose, self.clock, self.token_life, self.delay = None, None, 0, 3599, 0

    # --- what the rules ask ---

    def split(self, reference):
        found = re.fullmatch(rf"projects/{PROJECT}/(global|(?:regions|zones)/[a-z0-9-]+)/([A-Za-z]+)/([^/]+)", plain(reference))
        return found.groups() if found else None

    def find(self, reference, collection, field):
        key = self.split(reference)
        if key is None or key[1] != collection:
            raise invalid(field, reference, "The URL is malformed.")
        if key in self.claimed:
            raise Refusal(400, "resourceNotReady", f"The resource '{plain(reference)}' is not ready")
        if key not in self.things:
            raise Refusal(404, "notFound", f"The resource '{plain(reference)}' was not found")
        return self.things[key]

    def network(self, reference):
        if plain(reference) not in self.networks:
            raise Refusal(404, "notFound", f"The resource '{plain(reference)}' was not found")

    def subnetwork(self, reference, place):
        found = self.subnetworks.get(plain(reference))
        if found is None:
            raise Refusal(404, "notFound", f"The resource '{plain(reference)}' was not found")
        if found["place"] != place or found["purpose"] != "PRIVATE":
            raise invalid("resource.subnetwork", reference, f"It must be a private one in {place}.")

    def address_of(self, text, place):
        """By reference or as an address."""
        for key, body in self.things.items():
            if key[1] == "addresses" and (body["address"] == text or self.split(text) == key):
                if key[0] != place:
                    raise invalid("resource.IPAddress", text, f"It must be in {place}.")
                return body
        if self.split(text) in self.claimed:
            raise Refusal(400, "resourceNotReady", f"The resource '{text}' is not ready")
        raise Refusal(404, "notFound", f"The resource '{text}' was not found")

    def of_collection(self, collection):
        return [body for key, body in self.things.items() if key[1] == collection]

    # --- things ---

    def path(self, key):
        return f"projects/{PROJECT}/{key[0]}/{key[1]}/{key[2]}"

    def store(self, key, body):
        if self.lag:
            self.listed.setdefault(key, (copy.deepcopy(self.things.get(key)), self.count + self.lag))
        if body is None:
            self.things.pop(key, None)
            self.members.pop((key[0], key[2]), None)
            return
        if key[1] in ("backendServices", "urlMaps"):
            body["fingerprint"] = base64.b64encode(secrets.token_bytes(8)).decode()
        self.things[key] = body

    def finished(self, key, body):
        """As the service stores it: references as addresses of its own, and what it fills in."""
        def full(value):
            if isinstance(value, dict):
                return {name: full(inner) for name, inner in value.items()}
            if isinstance(value, list):
                return [full(inner) for inner in value]
            return BASE + value if isinstance(value, str) and value.startswith("projects/") else value

        made = full(copy.deepcopy(body))
        for name, value in FILLED.get(key[1], {}).items():
            made.setdefault(name, value)
        self.next_id += 1
        made.update({"kind": "compute#" + SINGULAR.get(key[1], key[1][:-1]), "id": str(self.next_id),
                     "creationTimestamp": "2026-01-01T00:00:00.000-08:00", "selfLink": BASE + self.path(key)})
        if key[0] != "global":
            made["zone" if key[0].startswith("zones") else "region"] = f"{BASE}projects/{PROJECT}/{key[0]}"
        if key[1] == "addresses":
            made["address"] = ("203.0.113." if key[0] == "global" else "10.128.0.") + str(self.next_address)
            made["status"] = "RESERVED"
            self.next_address += 1
        if key[1] == "forwardingRules":
            made["IPAddress"] = self.address_of(body["IPAddress"], key[0])["address"]
            made["labelFingerprint"] = "42WmSpB8rSM="
        if key[1] == "sslCertificates":
            made["certificate"] = made["selfManaged"]["certificate"]
            del made["selfManaged"]["privateKey"]
        return made

    def users_of(self, key):
        mine = self.path(key)
        for other, body in self.things.items():
            if other == key:
                continue
            if any(plain(text) == mine for name, inner in body.items() if name not in ("selfLink", "description")
                   for text in walk(inner)):
                yield self.path(other)
            if key[1] == "addresses" and other[1] == "forwardingRules" and body["IPAddress"] == self.things[key]["address"]:
                yield self.path(other)

    def check_unused(self, key):
        for user in self.users_of(key):
            raise Refusal(400, "resourceInUseByAnotherResource",
                          f"The {key[1]} resource '{self.path(key)}' is already being used by '{user}'")

    def existing(self, key):
        if key in self.claimed:
            raise Refusal(400, "resourceNotReady", f"The resource '{self.path(key)}' is not ready")
        if key not in self.things:
            raise Refusal(404, "notFound", f"The resource '{self.path(key)}' was not found")
        return self.things[key]

    # --- changes ---

    def begin(self, verb, key, effect, claims=False):
        """The operation. What it does is done at its end; what it needs is looked at now, unless `late` says otherwise."""
        name = f"operation-{len(self.operations) + 1}-{secrets.token_hex(4)}"
        operation = Operation(name, key[0], verb, self.path(key), self.count, self.count + self.polls, effect)
        self.operations[(key[0], name)] = operation
        if claims:
            self.claimed[key] = operation
        return operation

    def progress(self):
        for operation in list(self.operations.values()):
            if operation.effect is None or operation.due > self.count:
                continue
            effect, operation.effect = operation.effect, None
            for key in [key for key, other in self.claimed.items() if other is operation]:
                del self.claimed[key]
            try:
                effect()
            except Refusal as refusal:
                operation.refusal = refusal
        for key in [key for key, (_, until) in self.listed.items() if until <= self.count]:
            del self.listed[key]

    def insert(self, place, collection, body, foreign=False):
        check_schema(body, SCHEMAS[collection], "resource")
        key = (place, collection, body.get("name", ""))
        if key in self.things or key in self.claimed:
            raise Refusal(409, "alreadyExists", f"The resource '{self.path(key)}' already exists")
        if not self.late or foreign:
            check(self, collection, place, body)
        quota = QUOTAS[collection]
        same = sum(1 for other in [*self.things, *self.claimed] if other[1] == collection)
        if not foreign and same >= self.quotas.get(quota, 1_000_000):
            where = "globally" if place == "global" else f"in region {place.split('/')[1]}"
            raise Refusal(403, "quotaExceeded", f"Quota '{quota}' exceeded.  Limit: {self.quotas[quota]}.0 {where}.")

        def effect():
            check(self, collection, place, body)
            self.store(key, self.finished(key, body))

        if foreign:
            effect()
            return None
        return self.begin("insert", key, effect, claims=True)

    def delete(self, key):
        self.existing(key)
        if not self.late:
            self.check_unused(key)

        def effect():
            self.check_unused(key)
            self.store(key, None)

        return self.begin("delete", key, effect, claims=True)

    def modify(self, verb, key, body):
        """PATCH keeps what is not said, PUT does not; both need the fingerprint of what they change."""
        there = self.existing(key)
        if key[1] not in ("backendServices", "urlMaps"):
            raise Refusal(404, "notFound", "There is no such method")
        if body.get("name", key[2]) != key[2]:
            raise invalid("resource.name", body["name"], "A name cannot be changed.")

        def fresh():
            if "fingerprint" not in body:
                raise required_fingerprint()
            if self.things.get(key, {}).get("fingerprint") != body["fingerprint"]:
                raise Refusal(412, "conditionNotMet", "Invalid fingerprint.")

        def merged():
            sendable = SCHEMAS[key[1]]
            old = {name: value for name, value in there.items() if name in sendable} if verb == "patch" else {}
            new = {**old, **body}
            new.setdefault("name", key[2])
            new.pop("fingerprint", None)
            return new

        fresh()
        check_schema(body, SCHEMAS[key[1]], "resource")
        if not self.late:
            check(self, key[1], key[0], merged())

        def effect():
            fresh()
            new = merged()
            check(self, key[1], key[0], new)
            self.store(key, {**self.finished(key, new), "id": there["id"]})

        return self.begin(verb, key, effect)

    def set_certificates(self, key, body):
        self.existing(key)
        check_schema(body, {"sslCertificates": [str]}, "resource")
        check_certificates(self, key[0], body.get("sslCertificates", []))

        def effect():
            check_certificates(self, key[0], body["sslCertificates"])
            full = [BASE + plain(each) for each in body["sslCertificates"]]
            self.store(key, {**self.existing(key), "sslCertificates": full})

        return self.begin("setSslCertificates", key, effect)

    def set_labels(self, key, body):
        there = self.existing(key)
        if set(body) - {"labels", "labelFingerprint"}:
            raise invalid("resource", list(body), "Unknown names.")
        if body.get("labelFingerprint") != there.get("labelFingerprint"):
            raise Refusal(412, "conditionNotMet", "Labels fingerprint either invalid or resource labels have changed")
        for name, value in body.get("labels", {}).items():
            if not LABEL.fullmatch(value) or not re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", name):
                raise invalid("labels", f"{name}={value}")
        new = {**there, "labels": body.get("labels", {}), "labelFingerprint": base64.b64encode(secrets.token_bytes(8)).decode()}
        return self.begin("setLabels", key, lambda: self.store(key, new))

    def move_endpoints(self, verb, key, body):
        group = self.existing(key)
        if set(body) != {"networkEndpoints"}:
            raise invalid("resource", list(body), "networkEndpoints and nothing else.")
        endpoints = body.get("networkEndpoints", [])
        if not 1 <= len(endpoints) <= 500:
            raise invalid("networkEndpoints", len(endpoints), "1 to 500 in one call.")
        members = self.members[(key[0], key[2])]

        def identity(endpoint):
            return endpoint.get("instance", "").rsplit("/", 1)[-1], endpoint["ipAddress"], endpoint["port"]

        for endpoint in endpoints:
            if verb == "attach" and not self.late:
                check_endpoint(self, group, key[0], endpoint)
            if verb == "detach" and identity(endpoint) not in members:
                raise Refusal(400, "invalid", f"The endpoint {endpoint} is not in the group.")

        def effect():
            self.existing(key)
            for endpoint in endpoints:
                if verb == "attach":
                    check_endpoint(self, group, key[0], endpoint)
                    members[identity(endpoint)] = endpoint
                else:
                    members.pop(identity(endpoint), None)

        return self.begin(verb + "NetworkEndpoints", key, effect)

    # --- reading ---

    def pages(self, what, items, query):
        size = int(query.get("maxResults", "500"))
        if not 0 < size <= 500:
            raise invalid("maxResults", size, "Values must be within 1..500.")
        start = 0
        if "pageToken" in query:
            if self.page_tokens.get(query["pageToken"], (None,))[0] != what:
                raise invalid("pageToken", query["pageToken"])
            start = self.page_tokens[query["pageToken"]][1]
        end = start + min(size, self.page)
        token = None
        if end < len(items):
            token = secrets.token_urlsafe(12)
            self.page_tokens[token] = (what, end)
        return items[start:end], {"nextPageToken": token} if token else {}

    def shown(self, collection):
        """What a list has: the truth, or what was true a while ago."""
        seen = {key: body for key, body in self.things.items() if key[1] == collection}
        for key, (body, _) in self.listed.items():
            if key[1] == collection:
                seen.pop(key, None)
                if body is not None:
                    seen[key] = body
        return sorted(seen.items())

    def aggregated(self, collection, query):
        if collection not in SCHEMAS:
            raise Refusal(404, "notFound", f"There is no collection {collection}")
        part, more = self.pages(("aggregated", collection), self.shown(collection), query)
        items = {place: {"warning": {"code": "NO_RESULTS_ON_PAGE"}}
                 for place in ["global", *("regions/" + each for each in REGIONS)]}
        for key, body in part:
            scope = items.setdefault(key[0], {})
            scope.pop("warning", None)
            scope.setdefault(collection, []).append(body)
        return {"kind": "compute#aggregatedList", "items": items, **more}

    def list_operations(self, query):
        if query.get("filter", 'status != "DONE"') != 'status != "DONE"':
            raise invalid("filter", query["filter"], "Not covered here.")
        found = [each for each in self.operations.values() if each.effect or "filter" not in query]
        part, more = self.pages(("operations",), found, query)
        items = {}
        for each in part:
            items.setdefault(each.place, {}).setdefault("operations", []).append(each.json(self.count))
        return {"kind": "compute#operationAggregatedList", "items": items, **more}

    def list_instances(self, zone, query):
        if zone not in ZONES:
            raise Refusal(404, "notFound", f"The zone {zone} was not found")
        found = [{"name": name, "networkInterfaces": [{"networkIP": each["ip"], "aliasIpRanges": [
            {"ipCidrRange": alias} for alias in each.get("aliases", [])]}]}
            for (place, name), each in sorted(self.instances.items()) if place == zone]
        part, more = self.pages(("instances", zone), found, query)
        return {"kind": "compute#instanceList", **({"items": part} if part else {}), **more}

    def list_endpoints(self, key, query):
        self.existing(key)
        found = [{"networkEndpoint": {**each, **({"instance": f"{BASE}projects/{PROJECT}/{key[0]}/instances/{each['instance']}"}
                                                 if "instance" in each else {})}}
                 for _, each in sorted(self.members[(key[0], key[2])].items())]
        part, more = self.pages(("endpoints", key), found, query)
        return {"kind": "compute#networkEndpointGroupsListNetworkEndpoints", **({"items": part} if part else {}), **more}

    # --- requests ---

    def failure(self, operation, collection):
        for rule in self.fail:
            if rule.get("operation", operation) != operation or rule.get("collection", collection) != collection:
                continue
            if rule.get("skip", 0) > 0:
                rule["skip"] -= 1
                continue
            if rule.get("times", 1) <= 0:
                continue
            rule["times"] = rule.get("times", 1) - 1
            raise Refusal(rule.get("status", 503), rule.get("reason", "backendError"), rule.get("message", "injected"))

    def authorise(self, headers):
        token = (headers.get("Authorization") or "").removeprefix("Bearer ")
        if self.tokens.get(token, 0) <= time.time() + self.clock:
            raise Refusal(401, "authError", "Invalid Credentials")

    def compute(self, method, path, query, headers, body):
        self.authorise(headers)
        found = re.fullmatch(rf"/compute/v1/projects/{PROJECT}/(.*)", path)
        if not found:
            raise Refusal(404, "notFound", "The project was not found")
        rest = found.group(1)
        if rest == "aggregated/operations" and method == "GET":
            self.tally("list", "operations")
            return self.list_operations(query)
        if unknown := set(query) - {"requestId", "maxResults", "pageToken"}:
            raise invalid("query", unknown, "Not covered here.")
        if method == "GET" and (found := re.fullmatch(r"aggregated/([A-Za-z]+)", rest)):
            self.tally("list", found.group(1))
            return self.aggregated(found.group(1), query)
        # The one path of global things without "global".
        if re.fullmatch(r"global/targetHttpsProxies/[^/]+/setSslCertificates", rest):
            raise Refusal(404, "notFound", "The path of this method has no global")
        if re.fullmatch(r"targetHttpsProxies/[^/]+/setSslCertificates", rest):
            rest = "global/" + rest
        found = re.fullmatch(r"(global|(?:regions|zones)/[a-z0-9-]+)/([A-Za-z]+)(?:/([^/]+)(?:/([A-Za-z]+))?)?", rest)
        if not found:
            raise Refusal(404, "notFound", f"There is nothing at {rest}")
        place, collection, name, action = found.groups()
        if collection == "operations":
            self.tally("follow", collection)
            if method != "GET" or (place, name) not in self.operations:
                raise Refusal(404, "notFound", f"The operation {name} was not found in {place}")
            return self.operations[(place, name)].json(self.count)
        if collection == "instances":
            self.tally("list", collection)
            return self.list_instances(place.removeprefix("zones/"), query)
        if collection not in SCHEMAS or (collection == "networkEndpointGroups") != place.startswith("zones/"):
            raise Refusal(404, "notFound", f"There is no collection {collection} in {place}")
        if place.split("/")[-1] not in ["global", *ZONES, *REGIONS]:
            raise Refusal(404, "notFound", f"The place {place} was not found")
        key = (place, collection, name)
        if method == "GET" and name and not action:
            self.tally("get", collection)
            if key not in self.things:
                raise Refusal(404, "notFound", f"The resource '{self.path(key)}' was not found")
            return self.things[key]
        if method == "POST" and action == "listNetworkEndpoints":
            self.tally("listNetworkEndpoints", collection)
            return self.list_endpoints(key, query)
        return self.change(method, key, action, query, body)

    def tally(self, operation, collection):
        self.requests[operation] += 1
        self.failure(operation, collection)

    def change(self, method, key, action, query, body):
        place, collection, name = key
        verb = action or {"POST": "insert", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}.get(method, method)
        self.changes += 1
        request_id = query.get("requestId")
        if request_id:
            if str(uuid.UUID(request_id)) != request_id:
                raise invalid("requestId", request_id)
            if verb == "setLabels" and place == "global":
                raise invalid("requestId", request_id, "This method takes none.")
            if request_id in self.by_request_id:
                self.requests["repeated"] += 1
                return self.by_request_id[request_id].json(self.count)
        self.tally(verb, collection)
        body = body if body is not None else {}
        if verb == "insert" and not name:
            operation = self.insert(place, collection, body)
        elif verb == "delete" and name and not action:
            operation = self.delete(key)
        elif verb in ("patch", "update") and name and not action:
            operation = self.modify(verb, key, body)
        elif verb == "setSslCertificates" and collection == "targetHttpsProxies":
            operation = self.set_certificates(key, body)
        elif verb == "setLabels" and collection == "forwardingRules":
            operation = self.set_labels(key, body)
        elif verb in ("attachNetworkEndpoints", "detachNetworkEndpoints") and collection == "networkEndpointGroups":
            operation = self.move_endpoints(verb[:6], key, body)
        else:
            raise Refusal(404, "notFound", f"There is no method {verb} of {collection}")
        if request_id:
            self.by_request_id[request_id] = operation
        return operation.json(self.count)

    # --- tokens ---

    def issue(self):
        token = "ya29." + secrets.token_urlsafe(24)
        self.tokens[token] = time.time() + self.clock + self.token_life
        return {"access_token": token, "expires_in": self.token_life, "token_type": "Bearer"}

    def token(self, headers, text):
        self.requests["token"] += 1
        form = dict(urllib.parse.parse_qsl(text))
        try:
            if headers.get("Content-Type") != "application/x-www-form-urlencoded" or form.get("grant_type") != GRANT:
                raise ValueError("grant_type")
            self.account.verify(form.get("assertion", ""), self.url + "/token", time.time() + self.clock)
        except (ValueError, KeyError) as error:
            return 400, {"error": "invalid_grant", "error_description": str(error)}
        return 200, self.issue()

    # --- what a request would come to ---

    def route(self, port, host, path):
        """Which endpoints with which weight get it, as Google's URL maps choose."""
        rule = next((each for each in self.of_collection("forwardingRules") if each["portRange"] == f"{port}-{port}"), None)
        if rule is None:
            return {"refused": True}
        collection = "targetHttpsProxies" if "/targetHttpsProxies/" in rule["target"] else "targetHttpProxies"
        url_map = self.find(self.find(rule["target"], collection, "")["urlMap"], "urlMaps", "")
        matchers = {each["name"]: each for each in url_map.get("pathMatchers", [])}
        hosts = {pattern: matchers[each["pathMatcher"]] for each in url_map.get("hostRules", []) for pattern in each["hosts"]}
        matching = [pattern for pattern in hosts if pattern == host or (pattern.startswith("*") and host.endswith(pattern[1:]))]
        if not matching:
            return self.choice(url_map, "defaultService", "defaultRouteAction", "defaultUrlRedirect")
        matcher = hosts[max(matching, key=lambda pattern: (pattern == host, len(pattern)))]
        best = None
        for each in matcher.get("pathRules", []):
            for pattern in each["paths"]:
                exact = pattern == path
                below = pattern.endswith("/*") and path.startswith(pattern[:-1])
                if (exact or below) and (best is None or (exact, len(pattern)) > best[0]):
                    best = ((exact, len(pattern)), each)
        if best is None:
            return self.choice(matcher, "defaultService", "defaultRouteAction", "defaultUrlRedirect")
        return self.choice(best[1], "service", "routeAction", "urlRedirect")

    def choice(self, body, service, action, redirect):
        if redirect in body:
            return {"redirect": body[redirect]["redirectResponseCode"]}
        abort = body.get(action, {}).get("faultInjectionPolicy", {}).get("abort")
        if abort:
            return {"status": abort["httpStatus"]}
        weighted = body.get(action, {}).get("weightedBackendServices") or [{"backendService": body[service], "weight": 1}]
        made = []
        for each in weighted:
            found = self.find(each["backendService"], "backendServices", "")
            endpoints = []
            for backend in found.get("backends", []):
                place, _, name = self.split(backend["group"])
                endpoints += [f"{address}:{port}" for _, address, port in self.members[(place, name)]]
            made.append({"weight": each["weight"], "endpoints": sorted(endpoints), "protocol": found["protocol"]})
        return {"services": made}

    # --- what tests ask ---

    def state(self):
        things = {self.path(key).removeprefix(f"projects/{PROJECT}/"): body for key, body in sorted(self.things.items())}
        members = {f"{place}/{name}": sorted(map(list, group)) for (place, name), group in sorted(self.members.items()) if group}
        return {"things": things, "members": members, "requests": dict(self.requests), "changes": self.changes,
                "count": self.count, "busy": sum(1 for each in self.operations.values() if each.effect)}

    def configure(self, given):
        for name, value in given.items():
            if name == "reset":
                self.reset()
            elif name == "revoke":
                self.tokens.clear()
            elif name == "lose":
                self.lose = None if value is None else self.changes + value
            elif name == "cut":
                self.cut = None if value is None else self.count + value
            elif name == "settle":
                self.count += 1_000_000
                self.progress()
            elif name in ("polls", "late", "lag", "page", "quotas", "fail", "clock", "token_life", "delay"):
                setattr(self, name, value)
            else:
                raise invalid("config", name)
        return {}

    def control(self, method, path, query, body):
        if path == "state":
            return self.state()
        if path == "key":
            return self.account.json()
        if path == "route":
            return self.route(query["port"], query["host"], query["path"])
        if path == "config":
            return self.configure(body)
        if path == "foreign":
            self.insert(body["place"], body["collection"], body["body"], foreign=True)
            return {}
        if path == "instance":
            self.instances[(body["zone"], body["name"])] = body
            return {}
        raise Refusal(404, "notFound", path)

    def answer(self, method, target, headers, text):
        """Status, headers and body; None: the connection breaks."""
        parts = urllib.parse.urlsplit(target)
        query = dict(urllib.parse.parse_qsl(parts.query))
        with self.lock:
            try:
                body = json.loads(text) if text and parts.path != "/token" else None
                if parts.path.startswith("/_emulator/"):
                    return 200, {}, self.control(method, parts.path[11:], query, body)
                self.count += 1
                if self.cut is not None and self.count > self.cut:
                    return None
                self.progress()
                if parts.path == "/token" and method == "POST":
                    status, reply = self.token(headers, text)
                    return status, {}, reply
                if parts.path == "/computeMetadata/v1/instance/service-accounts/default/token":
                    if headers.get("Metadata-Flavor") != "Google":
                        return 403, {}, {}
                    self.requests["metadata"] += 1
                    return 200, {"Metadata-Flavor": "Google"}, self.issue()
                changes = self.changes
                answer = self.compute(method, parts.path, query, headers, body)
                if self.lose is not None and changes < self.lose <= self.changes:
                    self.lose = None
                    return None
                return 200, {}, answer
            except Refusal as refusal:
                return refusal.status, {}, {"error": {"code": refusal.status, "message": refusal.message, "errors": [
                    {"domain": "global", "reason": refusal.reason, "message": refusal.message}]}}
            except (ValueError, KeyError, TypeError) as error:
                return 400, {}, {"error": {"code": 400, "message": f"{type(error).__name__}: {error}",
                                           "errors": [{"reason": "parseError", "message": str(error)}]}}

    def start(self):
        emulator = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def respond(self):
                text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                answer = emulator.answer(self.command, self.path, self.headers, text)
                if not self.path.startswith("/_emulator/"):
                    time.sleep(emulator.delay)
                if answer is None:
                    self.close_connection = True
                    return
                status, headers, body = answer
                out = json.dumps(body).encode()
                head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(out)}\r\n"
                head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
                self.wfile.write(head.encode() + b"\r\n" + out)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def required_fingerprint():
    return gce_rules.required("resource.fingerprint")


def main():
    emulator = Emulator().start()
    print("ready", emulator.url, flush=True)
    sys.stdin.read()  # until whoever started us is gone
    emulator.stop()


if __name__ == "__main__":
    main()
