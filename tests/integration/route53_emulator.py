#!/usr/bin/env python3
"""A strict stand-in for Amazon Route 53 (REST/XML API 2013-04-01) on loopback, for tests: as a program (prints
"ready URL", ends when its standard input does) or in a test's own process (Emulator().start()).

It enforces what the real service does: Signature V4 (written here anew, after the published rules), the rules of routing
policies, CNAMEs, aliases, apexes and values, limits of batches, batches that land whole or not at all, DELETE of exactly
what is there, pages in the order of reversed labels, throttling, changes that are PENDING for a while; and it hands out
credentials as containers (ECS, EKS) and instances (IMDSv2) get them.

Not covered: creating and deleting hosted zones, VPCs, tags, DNSSEC, traffic policies, CIDR collections and health checks
as objects (any health check id is taken), quotas per account, IAM policies (a key may do all or nothing), which AWS
resources really exist (targets of aliases outside of these zones are only checked against a few zone ids), and DNS
itself. Texts of messages are those of the service where they are known; where a rule's text is not, it names the set in
the same form.

Behind /_emulator/ (unsigned) tests look into it and make trouble: GET state; POST config {"rate", "window", "insync_after",
"fail": [{"operation", "status", "code", "message", "times"}], "refuse": TYPE (sets of this type are refused with a message
that does not name them, as those about values are), "old_errors", "expire_keys",
"forget", "reset": {...}}; POST foreign, a change batch by
somebody else."""

import argparse
import collections
import copy
import datetime
import hashlib
import hmac
import ipaddress
import json
import re
import secrets
import sys
import threading
import time
import urllib.parse
import xml.etree.ElementTree as ET
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

NAMESPACE = "https://route53.amazonaws.com/doc/2013-04-01/"
TYPES = {"SOA", "A", "TXT", "NS", "CNAME", "MX", "NAPTR", "PTR", "SRV", "SPF", "AAAA", "CAA", "DS", "TLSA", "SSHFP", "SVCB",
         "HTTPS"}
REGIONS = {"us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "eu-west-1", "eu-west-2", "eu-west-3",
           "eu-central-1", "ap-southeast-1", "ap-southeast-2", "ap-northeast-1", "eu-north-1", "sa-east-1", "ap-south-1"}
CONTINENTS = {"AF", "AN", "AS", "EU", "OC", "NA", "SA"}
# Zones of AWS that aliases may point into, as far as tests need them.
AWS_ZONES = {"Z35SXDOTRQ7X7K": "us-east-1.elb.amazonaws.com", "Z26RNL4JYFTOTI": "elb.us-east-1.amazonaws.com",
             "Z2FDTNDATAQYW2": "cloudfront.net", "Z3AQBSTGFYJSTF": "s3-website-us-east-1.amazonaws.com"}
MAX_CHANGES, MAX_VALUES, MAX_BYTES = 1000, 1000, 32000
MAX_VALUES_OF_SET, MAX_VALUE_BYTES, MAX_SETS_OF_NAME = 400, 4000, 100
# The members of a ResourceRecordSet in the order in which the service lists them, and who has members of its own.
MEMBERS = ["Name", "Type", "SetIdentifier", "Weight", "Region", "GeoLocation", "Failover", "MultiValueAnswer", "TTL",
           "ResourceRecords", "AliasTarget", "HealthCheckId", "TrafficPolicyInstanceId", "CidrRoutingConfig",
           "GeoProximityLocation"]
NESTED = {"GeoLocation": ["ContinentCode", "CountryCode", "SubdivisionCode"],
          "AliasTarget": ["HostedZoneId", "DNSName", "EvaluateTargetHealth"],
          "GeoProximityLocation": ["AWSRegion", "LocalZoneGroup", "Coordinates", "Bias"],
          "Coordinates": ["Latitude", "Longitude"]}
POLICIES = ["Weight", "Region", "GeoLocation", "Failover", "MultiValueAnswer", "GeoProximityLocation"]


class Refusal(Exception):
    def __init__(self, status, code, *messages):
        super().__init__(code, messages)
        self.status, self.code, self.messages = status, code, messages


def invalid(message):
    return Refusal(400, "InvalidInput", message)


# --- names ---------------------------------------------------------------------------------------------------------


def plain_name(text):
    """Decoded, lower case, with a dot at its end."""
    text = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m.group(1), 8)), text).lower()
    return text if text.endswith(".") else text + "."


def spelt_name(name):
    return "".join(c if re.fullmatch(r"[a-z0-9._-]", c) else "\\%03o" % ord(c) for c in name)


def sort_name(name):
    return ".".join(reversed(name.rstrip(".").split("."))) + "."


def inside(name, zone):
    return name == zone or name.endswith("." + zone)


# --- record sets ---------------------------------------------------------------------------------------------------


def children(node, allowed, where):
    """The children by name, in any order, each once; anything else is refused, as the real service's parser does."""
    found = {}
    for child in node:
        if not child.tag.startswith("{%s}" % NAMESPACE):
            raise invalid(f"Invalid XML ; {where}: element '{child.tag}' is not in the namespace {NAMESPACE}")
        name = child.tag[len(NAMESPACE) + 2:]
        if name not in allowed or name in found:
            raise invalid(f"Invalid XML ; {where}: Invalid content was found starting with element '{name}'")
        found[name] = child
    return found


def read_nested(node, name):
    parts = children(node, NESTED[name], name)
    return {key: read_nested(child, key) if key in NESTED else (child.text or "") for key, child in parts.items()}


def read_set(node):
    parts = children(node, MEMBERS, "ResourceRecordSet")
    made = {}
    for name, child in parts.items():
        if name == "ResourceRecords":
            made[name] = []
            for record in child:
                value = children(record, ["Value"], "ResourceRecord").get("Value")
                if value is None:
                    raise invalid("Invalid XML ; ResourceRecord: Value is missing")
                made[name].append(value.text or "")
        elif name in NESTED:
            made[name] = read_nested(child, name)
        else:
            made[name] = child.text or ""
    for name in ("Name", "Type"):
        if not made.get(name):
            raise invalid(f"Invalid XML ; ResourceRecordSet: {name} is missing")
    made["Name"] = plain_name(made["Name"])
    if "AliasTarget" in made:
        made["AliasTarget"]["DNSName"] = plain_name(made["AliasTarget"].get("DNSName", ""))
    return made


def write_set(made):
    out = []

    def put(name, value):
        if isinstance(value, dict):
            out.append(f"<{name}>")
            for key in NESTED[name]:
                if key in value:
                    put(key, spelt_name(value[key]) if key == "DNSName" else value[key])
            out.append(f"</{name}>")
        elif isinstance(value, list):
            values = "".join(f"<ResourceRecord><Value>{escape(v)}</Value></ResourceRecord>" for v in value)
            out.append(f"<{name}>{values}</{name}>")
        else:
            out.append(f"<{name}>{escape(value)}</{name}>")

    for name in MEMBERS:
        if name in made:
            put(name, spelt_name(made[name]) if name == "Name" else made[name])
    return f"<ResourceRecordSet>{''.join(out)}</ResourceRecordSet>"


def key_of(made):
    return made["Name"], made["Type"], made.get("SetIdentifier", "")


def shown(made):
    text = f"name='{spelt_name(made['Name'])}', type='{made['Type']}'"
    return text + (f", set identifier='{made['SetIdentifier']}'" if made.get("SetIdentifier") else "")


def policy_of(made):
    return next((name for name in POLICIES if name in made), None)


def rrset(made):
    return f"RRSet with DNS name {spelt_name(made['Name'])}, type {made['Type']}, SetIdentifier {made.get('SetIdentifier')}"


def comparable(made):
    made = {key: value for key, value in made.items()}
    made["ResourceRecords"] = sorted(made.get("ResourceRecords", []))
    return made


# --- values --------------------------------------------------------------------------------------------------------


def fatal(what, why, value):
    return Refusal(400, "InvalidChangeBatch", f"Invalid Resource Record: 'FATAL problem: {what} ({why}) encountered with '{value}''")


def strings_of(value):
    strings, rest = [], value.strip()
    while rest:
        match = re.match(r'"((?:[^"\\]|\\[0-7]{3}|\\[^0-9])*)"\s*', rest)
        if not match:
            raise fatal("InvalidCharacterString", "Value should be enclosed in quotation marks", value)
        strings.append(re.sub(r"\\([0-7]{3}|.)", "x", match.group(1)))
        rest = rest[match.end():]
    return strings


def check_host(value, why="DomainLabelEmpty"):
    name = value.rstrip(".")
    labels = name.split(".")
    if not name or len(name) > 253 or any(not l or len(l) > 63 or " " in l for l in labels):
        raise fatal(why, "Value is not a valid domain name", value)


def check_value(kind, value):
    if len(value) > MAX_VALUE_BYTES:
        raise fatal("ValueTooLong", f"Value is longer than {MAX_VALUE_BYTES}", value[:40])
    if not value or not all(" " <= c < "\x7f" for c in value):
        raise fatal("InvalidCharacters", "Value has characters that must be escaped", value)
    try:
        if kind == "A":
            ipaddress.IPv4Address(value)
        elif kind == "AAAA":
            ipaddress.IPv6Address(value)
    except ValueError:
        raise fatal(f"{kind}RRDATAIllegalIPv{4 if kind == 'A' else 6}Address",
                    f"Value is not a valid IPv{4 if kind == 'A' else 6} address", value) from None
    if kind in ("CNAME", "NS", "PTR"):
        check_host(value, f"{kind}RRDATAIllegalDomain")
    if kind == "TXT" and any(len(s) > 255 for s in strings_of(value)):
        raise fatal("CharacterStringTooLong", "Value is too long", value[:40])
    if kind == "MX":
        parts = value.split()
        if len(parts) != 2 or not parts[0].isdigit() or int(parts[0]) > 65535:
            raise fatal("MXRRDATAWrongNumberOfFields", "Value should have a priority and a name", value)
        check_host(parts[1])
    if kind == "SRV" and (len(value.split()) != 4 or not all(p.isdigit() for p in value.split()[:3])):
        raise fatal("SRVRRDATANotFourFields", "Value should have four fields", value)
    if kind == "CAA" and not re.fullmatch(r'\d+ [a-z0-9]+ "[^"]*"', value):
        raise fatal("CAARRDATANotThreeFields", "Value should have flags, tag and a quoted value", value)


# --- the rules of one set, whatever stands beside it ----------------------------------------------------------------


def whole(text, low, high, what):
    if not re.fullmatch(r"-?\d+", text) or not low <= int(text) <= high:
        raise invalid(f"Invalid XML ; {what} '{text}' is not in {low}..{high}")


def check_policy(made):
    given = [name for name in POLICIES if name in made]
    identifier = made.get("SetIdentifier")
    if len(given) > 1:
        raise invalid(f"Invalid request: Expected at most one of {given} in Change with [{shown(made)}]")
    if given and not identifier:
        raise invalid(f"Invalid request: Missing field 'SetIdentifier' in Change with [{shown(made)}]")
    if identifier is not None and not given:
        raise invalid(f"Invalid request: Expected exactly one of {POLICIES}, but found none in Change with [{shown(made)}]")
    if identifier is not None and not 1 <= len(identifier) <= 128:
        raise invalid("Invalid XML ; SetIdentifier has 1 to 128 characters")
    if "Weight" in made:
        whole(made["Weight"], 0, 255, "Weight")
    if "Region" in made and made["Region"] not in REGIONS:
        raise invalid(f"Invalid XML ; Region '{made['Region']}' is not one of the enumeration")
    if "Failover" in made:
        if made["Failover"] not in ("PRIMARY", "SECONDARY"):
            raise invalid(f"Invalid XML ; Failover '{made['Failover']}'")
        if made["Failover"] == "PRIMARY" and "AliasTarget" not in made and "HealthCheckId" not in made:
            raise invalid(f"Invalid request: Missing field 'HealthCheckId' in Change with [{shown(made)}]")
    if "MultiValueAnswer" in made and (made["MultiValueAnswer"] != "true" or "AliasTarget" in made or
                                       made["Type"] in ("CNAME", "NS")):
        raise invalid(f"Invalid request: multivalue answer is not possible in Change with [{shown(made)}]")
    if given and made["Type"] in ("NS", "SOA"):
        raise invalid(f"Invalid request: no routing policy for {made['Type']} in Change with [{shown(made)}]")
    check_geo(made)


def check_geo(made):
    geo = made.get("GeoLocation")
    if geo is not None:
        continent, country, part = (geo.get(k) for k in NESTED["GeoLocation"])
        if (continent is None) == (country is None) or (continent is not None and continent not in CONTINENTS):
            raise invalid(f"Invalid XML ; GeoLocation of [{shown(made)}]")
        if country is not None and not re.fullmatch(r"[A-Z]{2}|\*", country):
            raise invalid(f"Invalid XML ; CountryCode '{country}'")
        if part is not None and (country not in ("US", "UA") or not re.fullmatch(r"[A-Z0-9]{1,3}", part)):
            raise invalid(f"Invalid XML ; SubdivisionCode '{part}' of '{country}'")
    near = made.get("GeoProximityLocation")
    if near is not None:
        if sum(key in near for key in ("AWSRegion", "LocalZoneGroup", "Coordinates")) != 1:
            raise invalid(f"Invalid request: one location is needed in [{shown(made)}]")
        whole(near.get("Bias", "0"), -99, 99, "Bias")
        if "Coordinates" in near:
            for key, most in (("Latitude", 90), ("Longitude", 180)):
                text = near["Coordinates"].get(key, "")
                if not re.fullmatch(r"[-+]?\d{1,3}(\.\d{0,2})?", text) or abs(float(text)) > most:
                    raise invalid(f"Invalid XML ; {key} '{text}'")


def check_set(made):
    if made["Type"] not in TYPES:
        raise invalid(f"Invalid XML ; Type '{made['Type']}' is not one of the enumeration")
    check_policy(made)
    alias, records, ttl = made.get("AliasTarget"), made.get("ResourceRecords"), made.get("TTL")
    if alias is not None:
        if records is not None or ttl is not None:
            raise invalid(f"Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords]], but "
                          f"found more than one in Change with [{shown(made)}]")
        if set(alias) != set(NESTED["AliasTarget"]) or alias["EvaluateTargetHealth"] not in ("true", "false"):
            raise invalid("Invalid XML ; AliasTarget")
        if made["Type"] in ("NS", "SOA"):
            raise invalid(f"Invalid request: no alias of type {made['Type']}")
        return
    if not records or ttl is None:
        raise invalid(f"Invalid request: Missing field 'ResourceRecords' or 'TTL' in Change with [{shown(made)}]")
    whole(ttl, 0, 2147483647, "TTL")
    if len(records) > MAX_VALUES_OF_SET or (made["Type"] == "CNAME" and len(records) > 1):
        raise Refusal(400, "InvalidChangeBatch", f"{rrset(made)} has too many values")
    if len(set(records)) != len(records):
        twice = next(v for v in records if records.count(v) > 1)
        raise invalid(f"Duplicate Resource Record: '{twice}'")
    for value in records:
        check_value(made["Type"], value)


# --- a hosted zone -------------------------------------------------------------------------------------------------


class Zone:
    def __init__(self, name, zone_id, private=False):
        self.name, self.id, self.private = plain_name(name), zone_id, private
        self.servers = [] if private else [f"ns-{n}.awsdns-{n:02}.{end}" for n, end in
                                           enumerate(("com", "net", "org", "co.uk"), 1)]
        soa = "ns-1.awsdns-01.com. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400"
        first = [{"Name": self.name, "Type": "SOA", "TTL": "900", "ResourceRecords": [soa]},
                 {"Name": self.name, "Type": "NS", "TTL": "172800",
                  "ResourceRecords": [s + "." for s in self.servers] or ["ns-0.awsdns-00.com."]}]
        self.sets = {key_of(made): made for made in first}
        self.order = None  # of self.sets, while they stay

    def sorted(self):
        if self.order is None:
            self.order = sorted(self.sets.values(), key=lambda made: (sort_name(made["Name"]), *key_of(made)[1:]))
        return self.order

    def find_alias(self, made, sets, zones):
        alias = made["AliasTarget"]
        target, zone_id = alias["DNSName"], alias["HostedZoneId"]
        said = f"Tried to create an alias that targets {spelt_name(target)}, type {made['Type']} in zone {zone_id}, but "
        if zone_id in AWS_ZONES:
            if not inside(target, AWS_ZONES[zone_id] + "."):
                return said + "the alias target name does not lie within the target zone"
            if AWS_ZONES[zone_id] == "cloudfront.net" and alias["EvaluateTargetHealth"] == "true":
                return f"EvaluateTargetHealth cannot be set to true for CloudFront, {shown(made)}"
            return None
        other = zones.get(zone_id)
        if other is None or not inside(target, other.name):
            return said + "the alias target name does not lie within the target zone"
        there = sets if other is self else other.sets
        if not any(key[0] == target and key[1] == made["Type"] for key in there):
            return said + "that target was not found"
        return None

    def clash(self, made, sets):
        """Why this set may not stand beside the others, its own place being free."""
        name, kind, _ = key_of(made)
        if not inside(name, self.name):
            return f"RRSet with DNS name {spelt_name(name)} is not permitted in zone {self.name}"
        if kind == "CNAME" and name == self.name:
            return f"RRSet of type CNAME with DNS name {name} is not permitted at apex in zone {self.name}"
        beside = [other for key, other in sets.items() if key[0] == name and key != key_of(made)]
        if any((other["Type"] == "CNAME") != (kind == "CNAME") for other in beside):
            return (f"RRSet of type {kind} with DNS name {spelt_name(name)} is not permitted as it conflicts with other "
                    f"records with the same DNS name in zone {self.name}")
        same = [other for other in beside if other["Type"] == kind]
        if len(same) >= MAX_SETS_OF_NAME:
            return f"{rrset(made)} cannot be created as there are {MAX_SETS_OF_NAME} others"
        for other in same:
            mine, theirs = policy_of(made), policy_of(other)
            if mine != theirs:
                return (f"{rrset(made)} cannot be created as it is {mine or 'simple'} and another RRSet with the same name "
                        f"and type is {theirs or 'simple'}")
            for policy in ("GeoLocation", "Region", "Failover"):
                if policy in made and made[policy] == other[policy]:
                    return (f"{rrset(made)} cannot be created because RRSet {other.get('SetIdentifier')} has the same "
                            f"{policy}")
        return None

    def apply(self, changes, zones):
        """All or nothing. Raises Refusal with one message per change that is wrong."""
        if len(changes) > MAX_CHANGES:
            raise Refusal(400, "InvalidChangeBatch", f"Number of records limit of {MAX_CHANGES} exceeded.")
        weight = lambda action: 2 if action == "UPSERT" else 1
        if sum(weight(action) for action, _ in changes) > MAX_CHANGES:
            raise Refusal(400, "InvalidChangeBatch", f"Number of changes limit of {MAX_CHANGES} exceeded, UPSERT counting twice.")
        values = [(action, value) for action, made in changes for value in made.get("ResourceRecords", [])]
        if sum(weight(action) for action, _ in values) > MAX_VALUES:
            raise Refusal(400, "InvalidChangeBatch", f"Number of records limit of {MAX_VALUES} exceeded.")
        if sum(weight(action) * len(value) for action, value in values) > MAX_BYTES:
            raise Refusal(400, "InvalidChangeBatch", f"Maximum number of value characters {MAX_BYTES} exceeded.")
        sets, messages = dict(self.sets), []
        for action, made in changes:
            if action != "DELETE":
                check_set(made)
            message = self.one(action, made, sets, zones)
            if message:
                messages.append(message)
        if messages:
            raise Refusal(400, "InvalidChangeBatch", *messages)
        self.sets, self.order = sets, None

    def one(self, action, made, sets, zones):
        key = key_of(made)
        if action == "DELETE":
            if made["Type"] == "SOA":
                return "A HostedZone must contain exactly one SOA record."
            if key[:2] == (self.name, "NS"):
                return "A HostedZone must contain at least one NS record for the zone itself."
            if key not in sets:
                return f"Tried to delete resource record set [{shown(made)}] but it was not found"
            if comparable(sets[key]) != comparable(made):
                return f"Tried to delete resource record set [{shown(made)}] but the values provided do not match the current values"
            del sets[key]
            return None
        if action == "CREATE" and key in sets:
            return f"Tried to create resource record set [{shown(made)}] but it already exists"
        message = self.clash(made, sets)
        if message is None and "AliasTarget" in made:
            message = self.find_alias(made, sets, zones)
        if message is None:
            sets[key] = made
        return message


# --- signatures ----------------------------------------------------------------------------------------------------


def quoted(text):
    return urllib.parse.quote(text, safe="-_.~")


def check_signature(keys, method, target, headers, body, now, wanted=("us-east-1", "route53")):
    """The access key that signed the request."""
    match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, ?"
                         r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})", headers.get("Authorization", ""))
    if not match:
        raise Refusal(403, "MissingAuthenticationToken", "Missing Authentication Token")
    key, day, region, service, names, signature = match.groups()
    if key not in keys:
        raise Refusal(403, "InvalidClientTokenId", "The security token included in the request is invalid.")
    secret, token, expires = keys[key]
    names = names.split(";")
    stamp = headers.get("X-Amz-Date", "")
    if (region, service) != wanted or not {"host", "x-amz-date"} <= set(names) or names != sorted(names):
        raise Refusal(403, "SignatureDoesNotMatch", "Credential should be scoped to a valid region.")
    if token is not None and (headers.get("X-Amz-Security-Token") != token or "x-amz-security-token" not in names):
        raise Refusal(403, "InvalidClientTokenId", "The security token included in the request is invalid.")
    if any(name.lower().startswith("x-amz-") and name.lower() not in names for name in headers.keys()):
        raise Refusal(403, "SignatureDoesNotMatch", "There were headers present in the request which were not signed")
    if expires is not None and now >= expires:
        raise Refusal(403, "ExpiredToken", "The security token included in the request is expired")
    sent = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc).timestamp()
    if stamp[:8] != day or abs(sent - now) > 300:
        raise Refusal(403, "SignatureDoesNotMatch", f"Signature expired: {stamp}")
    path, _, query = target.partition("?")
    pairs = sorted((quoted(k), quoted(v)) for k, v in urllib.parse.parse_qsl(query, keep_blank_values=True))
    lines = "".join(f"{name}:{' '.join(','.join(headers.get_all(name, [])).split())}\n" for name in names)
    canonical = "\n".join([method, "/".join(quoted(part) for part in urllib.parse.unquote(path).split("/")),
                           "&".join(f"{k}={v}" for k, v in pairs), lines, ";".join(names), hashlib.sha256(body).hexdigest()])
    scope = f"{day}/{region}/{service}/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    signing = ("AWS4" + secret).encode()
    for part in (day, region, service, "aws4_request"):
        signing = hmac.new(signing, part.encode(), hashlib.sha256).digest()
    if not hmac.compare_digest(hmac.new(signing, to_sign.encode(), hashlib.sha256).hexdigest(), signature):
        # The service shows what it has signed, tokens included: clients had better not repeat that.
        raise Refusal(403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you "
                      "provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for "
                      f"details.\n\nThe Canonical String for this request should have been\n'{canonical}'\n\n"
                      f"The String-to-Sign should have been\n'{to_sign}'\n")
    return key


# --- the service ---------------------------------------------------------------------------------------------------


class Emulator:
    def __init__(self, zones=(("example.com", "ZEXAMPLE", False),), keys=None, rate=None, insync_after=0.0,
                 credentials_last=3600):
        self.lock = threading.RLock()
        self.first_keys = keys or {"AKIDEXAMPLE": ("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", None)}
        self.container_token = "container-token"
        self.reset(zones, rate, insync_after, credentials_last)
        emulator = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet: two would wait for each other's acknowledgement

            def log_message(self, *_):
                pass

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, kind, text = emulator.answer(self.command, self.path, self.headers, body)
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = handle_one

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def reset(self, zones=(("example.com", "ZEXAMPLE", False),), rate=None, insync_after=0.0, credentials_last=3600):
        """As if it had just been started."""
        with self.lock:
            self.zones = {zone_id: Zone(name, zone_id, private) for name, zone_id, private in zones}
            self.keys = {key: (secret, token, None) for key, (secret, token) in self.first_keys.items()}
            self.rate, self.insync_after, self.credentials_last = rate, insync_after, credentials_last
            self.window = 1.0  # seconds in which there may be `rate` requests; longer where a slow machine must be throttled too
            self.times = collections.defaultdict(collections.deque)  # requests of the last window, by key
            self.changes, self.seen = {}, set()  # id -> when it was accepted; ids that were answered once
            self.requests = collections.Counter()
            self.throttled, self.fail, self.old_errors, self.refuse = 0, [], False, None
            self.batches = []  # what was accepted: [(action, name, type, identifier)]
            self.metadata_tokens = set()

    def start(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    # --- what a test asks for ---

    def zone(self, zone_id="ZEXAMPLE"):
        return self.zones[zone_id]

    def find(self, name, kind, identifier="", zone_id="ZEXAMPLE"):
        with self.lock:
            return copy.deepcopy(self.zones[zone_id].sets.get((plain_name(name), kind, identifier)))

    def foreign(self, changes, zone_id="ZEXAMPLE"):
        """A batch by somebody else: [(action, set)] with the members of the XML."""
        with self.lock:
            self.zones[zone_id].apply([(a, {**s, "Name": plain_name(s["Name"])}) for a, s in changes], self.zones)

    def state(self):
        with self.lock:
            return {"requests": dict(self.requests), "throttled": self.throttled, "batches": self.batches,
                    "zones": {z.id: [dict(s) for s in z.sorted()] for z in self.zones.values()}}

    def configure(self, wanted):
        with self.lock:
            if "reset" in wanted:
                self.reset(**wanted["reset"])
            for name in ("rate", "window", "insync_after", "old_errors", "credentials_last", "refuse"):
                if name in wanted:
                    setattr(self, name, wanted[name])
            self.fail += wanted.get("fail", [])
            if wanted.get("expire_keys"):
                self.keys = {k: (s, t, 0 if e is not None else None) for k, (s, t, e) in self.keys.items()}
            if wanted.get("forget"):
                self.requests.clear()
                self.batches.clear()
                self.times.clear()
                self.throttled = 0

    # --- requests ---

    def answer(self, method, target, headers, body):
        path = target.partition("?")[0]
        try:
            if path.startswith("/_emulator/"):
                return self.control(method, path, body)
            if path.startswith("/latest/") or path == "/container-credentials":
                with self.lock:
                    return self.credentials(method, path, headers)
            with self.lock:
                return 200, "text/xml", '<?xml version="1.0"?>\n' + self.api(method, target, headers, body)
        except Refusal as refusal:
            return refusal.status, "text/xml", self.error(refusal)

    def control(self, method, path, body):
        if path.endswith("/state"):
            return 200, "application/json", json.dumps(self.state())
        wanted = json.loads(body or b"{}")
        if path.endswith("/foreign"):
            self.foreign([(c["action"], c["set"]) for c in wanted["changes"]], wanted.get("zone", "ZEXAMPLE"))
        else:
            self.configure(wanted)
        return 200, "application/json", "{}"

    def error(self, refusal):
        request = secrets.token_hex(16)
        if self.old_errors and refusal.code == "InvalidChangeBatch":
            messages = "".join(f"<Message>{escape(m)}</Message>" for m in refusal.messages)
            return (f'<?xml version="1.0"?>\n<InvalidChangeBatch xmlns="{NAMESPACE}"><Messages>{messages}</Messages>'
                    f"<RequestId>{request}</RequestId></InvalidChangeBatch>")
        text = ", ".join(refusal.messages)
        if refusal.code == "InvalidChangeBatch":
            text = f"[{text}]"
        kind = "Sender" if refusal.status < 500 else "Receiver"
        return (f'<?xml version="1.0"?>\n<ErrorResponse xmlns="{NAMESPACE}"><Error><Type>{kind}</Type><Code>{refusal.code}</Code>'
                f"<Message>{escape(text)}</Message></Error><RequestId>{request}</RequestId></ErrorResponse>")

    def api(self, method, target, headers, body):
        key = check_signature(self.keys, method, target, headers, body, time.time())
        path, _, query = target.partition("?")
        asked = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        routes = [("GET", r"/2013-04-01/hostedzonesbyname", "ListHostedZonesByName", self.list_zones),
                  ("GET", r"/2013-04-01/hostedzone/([A-Z0-9]+)", "GetHostedZone", self.get_zone),
                  ("GET", r"/2013-04-01/hostedzone/([A-Z0-9]+)/rrset", "ListResourceRecordSets", self.list_sets),
                  ("POST", r"/2013-04-01/hostedzone/([A-Z0-9]+)/rrset/?", "ChangeResourceRecordSets", self.change),
                  ("GET", r"/2013-04-01/change/([A-Z0-9]+)", "GetChange", self.get_change)]
        for verb, pattern, operation, call in routes:
            match = re.fullmatch(pattern, path)
            if verb == method and match:
                self.requests[operation] += 1
                self.throttle(key)
                self.trouble(operation)
                return call(*match.groups(), asked, body)
        raise Refusal(404, "UnknownOperationException", f"{method} {path}")

    def throttle(self, key):
        if not self.rate:
            return
        now, times = time.monotonic(), self.times[key]
        while times and times[0] <= now - self.window:
            times.popleft()
        if len(times) >= self.rate:
            self.throttled += 1
            raise Refusal(400, "Throttling", "Rate exceeded")
        times.append(now)

    def trouble(self, operation):
        for wanted in self.fail:
            if wanted.get("operation", operation) == operation and wanted.get("times", 1) > 0:
                wanted["times"] = wanted.get("times", 1) - 1
                raise Refusal(wanted.get("status", 400), wanted["code"], wanted.get("message", wanted["code"]))

    def zone_of(self, zone_id):
        if zone_id not in self.zones:
            raise Refusal(404, "NoSuchHostedZone", f"No hosted zone found with ID: {zone_id}")
        return self.zones[zone_id]

    def zone_xml(self, zone):
        return (f"<HostedZone><Id>/hostedzone/{zone.id}</Id><Name>{spelt_name(zone.name)}</Name><CallerReference>x"
                f"</CallerReference><Config><PrivateZone>{str(zone.private).lower()}</PrivateZone></Config>"
                f"<ResourceRecordSetCount>{len(zone.sets)}</ResourceRecordSetCount></HostedZone>")

    def items(self, asked, most):
        text = asked.get("maxitems", str(most))
        if not text.isdigit() or int(text) < 1:
            raise invalid(f"Invalid maxitems '{text}'")
        return min(int(text), most)

    def list_zones(self, asked, _):
        most = self.items(asked, 100)
        if "hostedzoneid" in asked and "dnsname" not in asked:
            raise invalid("hostedzoneid needs dnsname")
        start = (sort_name(plain_name(asked["dnsname"])) if "dnsname" in asked else "", asked.get("hostedzoneid", ""))
        order = lambda zone: (sort_name(zone.name), zone.id)
        found = sorted((zone for zone in self.zones.values() if order(zone) >= start), key=order)
        rest = found[most:]
        after = (f"<NextDNSName>{spelt_name(rest[0].name)}</NextDNSName><NextHostedZoneId>{rest[0].id}</NextHostedZoneId>"
                 if rest else "")
        return (f'<ListHostedZonesByNameResponse xmlns="{NAMESPACE}"><HostedZones>'
                f"{''.join(self.zone_xml(zone) for zone in found[:most])}</HostedZones>"
                f"<IsTruncated>{str(bool(rest)).lower()}</IsTruncated>{after}<MaxItems>{most}</MaxItems>"
                f"</ListHostedZonesByNameResponse>")

    def get_zone(self, zone_id, asked, _):
        zone = self.zone_of(zone_id)
        servers = "".join(f"<NameServer>{server}</NameServer>" for server in zone.servers)
        servers = f"<DelegationSet><NameServers>{servers}</NameServers></DelegationSet>" if servers else ""
        return f'<GetHostedZoneResponse xmlns="{NAMESPACE}">{self.zone_xml(zone)}{servers}</GetHostedZoneResponse>'

    def list_sets(self, zone_id, asked, _):
        zone, most = self.zone_of(zone_id), self.items(asked, 300)
        if ("type" in asked and "name" not in asked) or ("identifier" in asked and "type" not in asked):
            raise invalid("The input is not valid: a type needs a name, an identifier needs a type")
        start = (sort_name(plain_name(asked["name"])) if "name" in asked else "", asked.get("type", ""),
                 asked.get("identifier", ""))
        found = [made for made in zone.sorted() if (sort_name(made["Name"]), *key_of(made)[1:]) >= start]
        after = ""
        if len(found) > most:
            name, kind, identifier = key_of(found[most])
            after = f"<NextRecordName>{spelt_name(name)}</NextRecordName><NextRecordType>{kind}</NextRecordType>"
            if identifier:
                after += f"<NextRecordIdentifier>{escape(identifier)}</NextRecordIdentifier>"
        return (f'<ListResourceRecordSetsResponse xmlns="{NAMESPACE}"><ResourceRecordSets>'
                f"{''.join(write_set(made) for made in found[:most])}</ResourceRecordSets>"
                f"<IsTruncated>{str(bool(after)).lower()}</IsTruncated>{after}<MaxItems>{most}</MaxItems>"
                f"</ListResourceRecordSetsResponse>")

    def change(self, zone_id, asked, body):
        zone = self.zone_of(zone_id)
        try:
            root = ET.fromstring(body)
        except ET.ParseError as problem:
            raise invalid(f"Invalid XML ; {problem}") from None
        if root.tag != "{%s}ChangeResourceRecordSetsRequest" % NAMESPACE:
            raise invalid(f"Invalid XML ; document is '{root.tag}'")
        batch = children(root, ["ChangeBatch"], "request").get("ChangeBatch")
        listed = None if batch is None else children(batch, ["Comment", "Changes"], "ChangeBatch").get("Changes")
        if listed is None or len(listed) == 0:
            raise invalid("Invalid XML ; no Changes")
        changes = []
        for node in listed:
            parts = children(node, ["Action", "ResourceRecordSet"], "Change")
            if len(parts) != 2 or parts["Action"].text not in ("CREATE", "DELETE", "UPSERT"):
                raise invalid("Invalid XML ; Change")
            changes.append((parts["Action"].text, read_set(parts["ResourceRecordSet"])))
        if any(made["Type"] == self.refuse for _, made in changes):
            raise fatal("IllegalData", "Value is not valid", "")
        zone.apply(changes, self.zones)
        self.batches.append([[action, *key_of(made)] for action, made in changes])
        change_id = "C" + secrets.token_hex(8).upper()
        self.changes[change_id] = time.monotonic()
        return f'<ChangeResourceRecordSetsResponse xmlns="{NAMESPACE}">{self.info(change_id)}</ChangeResourceRecordSetsResponse>'

    def info(self, change_id):
        done = time.monotonic() - self.changes[change_id] >= self.insync_after
        # Not even an instant change is INSYNC in the answer that accepts it.
        status = "INSYNC" if done and change_id in self.seen else "PENDING"
        self.seen.add(change_id)
        return (f"<ChangeInfo><Id>/change/{change_id}</Id><Status>{status}</Status>"
                f"<SubmittedAt>2026-01-01T00:00:00Z</SubmittedAt></ChangeInfo>")

    def get_change(self, change_id, asked, _):
        if change_id not in self.changes:
            raise Refusal(404, "NoSuchChange", f"A change with the specified ID {change_id} was not found")
        return f'<GetChangeResponse xmlns="{NAMESPACE}">{self.info(change_id)}</GetChangeResponse>'

    # --- servers of credentials ---

    def credentials(self, method, path, headers):
        self.requests[path] += 1
        if path == "/container-credentials":
            if headers.get("Authorization") != self.container_token:
                return 401, "text/plain", "no token"
            return 200, "application/json", json.dumps(self.issue())
        if path == "/latest/api/token":
            if method != "PUT" or not (headers.get("X-aws-ec2-metadata-token-ttl-seconds") or "").isdigit():
                return 400, "text/plain", "no TTL"
            token = secrets.token_hex(16)
            self.metadata_tokens.add(token)
            return 200, "text/plain", token
        if headers.get("X-aws-ec2-metadata-token") not in self.metadata_tokens:
            return 401, "text/plain", "no token"
        base = "/latest/meta-data/iam/security-credentials/"
        if path == base:
            return 200, "text/plain", "fairlead-role"
        if path == base + "fairlead-role":
            return 200, "application/json", json.dumps({"Code": "Success", "Type": "AWS-HMAC", **self.issue()})
        return 404, "text/plain", "not found"

    def issue(self):
        key, secret, token = "ASIA" + secrets.token_hex(8).upper(), secrets.token_hex(20), secrets.token_hex(32)
        expires = time.time() + self.credentials_last
        self.keys[key] = (secret, token, expires)
        stamp = datetime.datetime.fromtimestamp(expires, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"AccessKeyId": key, "SecretAccessKey": secret, "Token": token, "Expiration": stamp}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zone", action="append", default=[], help="NAME:ID[:private]")
    parser.add_argument("--rate", type=float, help="requests per second of an account")
    parser.add_argument("--insync-after", type=float, default=0.0)
    parser.add_argument("--credentials-last", type=float, default=3600)
    options = parser.parse_args()
    zones = [(part[0], part[1], len(part) > 2) for part in (text.split(":") for text in options.zone)]
    emulator = Emulator(zones or (("example.com", "ZEXAMPLE", False),), rate=options.rate, insync_after=options.insync_after,
                        credentials_last=options.credentials_last).start()
    print("ready", emulator.url, flush=True)
    sys.stdin.read()  # until whoever started us is gone
    emulator.stop()


if __name__ == "__main__":
    main()
