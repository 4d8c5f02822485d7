#!/usr/bin/env python3
"""The emulator of Route 53 itself: that it refuses what the service refuses. A test against it is worth as much as it is
strict."""

import unittest
from email.message import Message

from route53_emulator import Refusal, Zone, check_signature, plain_name, sort_name, spelt_name


def simple(name="www", kind="A", *values, **more):
    name = plain_name(f"{name}.example.com" if name else "example.com")
    made = {"Name": name, "Type": kind, **{k: v for k, v in more.items() if v is not None}}
    if "AliasTarget" not in more:
        made.setdefault("TTL", "60")
        made["ResourceRecords"] = list(values) or ["192.0.2.1"]
    return made


def alias(target, zone="ZEXAMPLE", health="false"):
    return {"HostedZoneId": zone, "DNSName": plain_name(target), "EvaluateTargetHealth": health}


def weighted(identifier, weight="1", name="www", *values):
    return simple(name, "A", *values, SetIdentifier=identifier, Weight=weight)


class EmulatorTest(unittest.TestCase):
    def setUp(self):
        self.zone = Zone("example.com", "ZEXAMPLE")
        self.zones = {"ZEXAMPLE": self.zone}

    def create(self, *sets):
        self.zone.apply([("CREATE", each) for each in sets], self.zones)

    def refused(self, said, *changes):
        before = dict(self.zone.sets)
        with self.assertRaises(Refusal) as caught:
            self.zone.apply(list(changes), self.zones)
        self.assertIn(said, " ".join(caught.exception.messages))
        self.assertEqual(before, self.zone.sets, "a batch lands whole or not at all")

    def test_rules_of_one_set(self):
        rows = [
            ("weight", "Weight", weighted("a", "256")),
            ("no identifier", "SetIdentifier", simple(Weight="1")),
            ("no policy", "Expected exactly one", simple(SetIdentifier="a")),
            ("two policies", "at most one", simple(SetIdentifier="a", Weight="1", Region="eu-west-1")),
            ("long identifier", "128", weighted("x" * 129)),
            ("primary", "HealthCheckId", simple(SetIdentifier="a", Failover="PRIMARY")),
            ("region", "Region", simple(SetIdentifier="a", Region="mars-1")),
            ("geo", "SubdivisionCode", simple(SetIdentifier="a", GeoLocation={"CountryCode": "DE", "SubdivisionCode": "BY"})),
            ("two places", "GeoLocation", simple(SetIdentifier="a", GeoLocation={"CountryCode": "DE", "ContinentCode": "EU"})),
            ("bias", "Bias", simple(SetIdentifier="a", GeoProximityLocation={"AWSRegion": "us-east-1", "Bias": "100"})),
            ("multivalue alias", "multivalue", simple(SetIdentifier="a", MultiValueAnswer="true", AliasTarget=alias("x.example.com"))),
            ("alias with TTL", "exactly one of", simple(TTL="5", AliasTarget=alias("x.example.com"))),
            ("address", "ARRDATAIllegalIPv4Address", simple("www", "A", "192.0.2.300")),
            ("twice", "Duplicate", simple("www", "A", "192.0.2.1", "192.0.2.1")),
            ("unquoted", "quotation marks", simple("www", "TXT", "text")),
            ("long string", "too long", simple("www", "TXT", '"%s"' % ("x" * 256))),
            ("many values", "too many values", simple("www", "TXT", *('"%d"' % n for n in range(401)))),
            ("two CNAMEs", "too many values", simple("www", "CNAME", "a.example.org", "b.example.org")),
            ("TTL", "TTL", simple(TTL="2147483648")),
            ("outside", "is not permitted in zone", {**simple(), "Name": "www.example.org."}),
            ("apex", "not permitted at apex", simple("", "CNAME", "x.example.org")),
            ("alias to nothing", "that target was not found", simple(AliasTarget=alias("none.example.com"))),
            ("alias elsewhere", "does not lie within", simple(AliasTarget=alias("x.example.org"))),
            ("CloudFront", "CloudFront", simple(AliasTarget=alias("d.cloudfront.net", "Z2FDTNDATAQYW2", "true"))),
        ]
        for name, said, made in rows:
            with self.subTest(name):
                self.refused(said, ("CREATE", made))

    def test_rules_of_neighbours(self):
        self.create(simple("plain"), simple("name", "CNAME", "x.example.org"), weighted("a"),
                    simple("geo", SetIdentifier="de", GeoLocation={"CountryCode": "DE"}),
                    simple("fail", SetIdentifier="s", Failover="SECONDARY"))
        rows = [
            ("exists", "but it already exists", simple("plain")),
            ("policy beside simple", "cannot be created", weighted("a", "1", "plain")),
            ("simple beside policy", "cannot be created", simple()),
            ("other policy", "cannot be created", simple(SetIdentifier="b", Region="eu-west-1")),
            ("same place", "same GeoLocation", simple("geo", SetIdentifier="b", GeoLocation={"CountryCode": "DE"})),
            ("same role", "same Failover", simple("fail", SetIdentifier="b", Failover="SECONDARY")),
            ("beside CNAME", "conflicts with other records", simple("name")),
            ("CNAME beside", "conflicts with other records", simple("plain", "CNAME", "x.example.org")),
        ]
        for name, said, made in rows:
            with self.subTest(name):
                self.refused(said, ("CREATE", made))
        self.create(weighted("b"), simple("geo", SetIdentifier="eu", GeoLocation={"ContinentCode": "EU"}))

    def test_delete_is_exact(self):
        self.create(simple("plain"), weighted("a"))
        self.refused("but it was not found", ("DELETE", simple("other")))
        self.refused("do not match the current values", ("DELETE", simple("plain", TTL="61")))
        self.refused("do not match the current values", ("DELETE", simple("plain", "A", "192.0.2.2")))
        self.refused("do not match the current values", ("DELETE", weighted("a", "2")))
        self.refused("at least one NS", ("DELETE", self.zone.sets["example.com.", "NS", ""]))
        self.refused("exactly one SOA", ("DELETE", self.zone.sets["example.com.", "SOA", ""]))
        self.refused("it was not found", ("CREATE", simple("new")), ("DELETE", simple("other")))
        self.zone.apply([("DELETE", simple("plain")), ("CREATE", simple("plain", "CNAME", "x.example.org"))], self.zones)

    def test_limits_of_a_batch(self):
        many = [simple(f"n{n}") for n in range(1001)]
        self.refused("limit of 1000", *(("CREATE", each) for each in many))
        self.refused("UPSERT counting twice", *(("UPSERT", each) for each in many[:501]))
        self.zone.apply([("UPSERT", each) for each in many[:500]], self.zones)
        texts = [simple(f"t{n}", "TXT", *('"%s%d"' % ("x" * 240, k) for k in range(10))) for n in range(14)]
        self.refused("characters", *(("CREATE", each) for each in texts))
        values = [simple(f"v{n}", "TXT", *('"%d"' % k for k in range(300))) for n in range(4)]
        self.refused("limit of 1000", *(("CREATE", each) for each in values))

    def test_names(self):
        self.assertEqual("\\052.example.com.", spelt_name(plain_name("*.Example.com")))
        self.assertEqual("*.example.com.", plain_name("\\052.example.com."))
        names = ["b.example.com.", "example.com.", "a.b.example.com.", "a.example.com."]
        self.assertEqual(["example.com.", "a.example.com.", "b.example.com.", "a.b.example.com."], sorted(names, key=sort_name))

    def test_signature(self):
        """A request that botocore 1.43.11 signed."""
        keys = {"AKIDEXAMPLE": ("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", None, None)}
        headers = Message()
        headers["Host"] = "route53.amazonaws.com"
        headers["X-Amz-Date"] = "20260102T030405Z"
        headers["Authorization"] = ("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/route53/aws4_request, "
                                    "SignedHeaders=host;x-amz-date, Signature=f0ed0792a3745672b500c74a223efb3955005d35ebfa18e7c5b5ade050b95f80")
        now = 1767323045
        target = "/2013-04-01/hostedzone/ZEXAMPLE/rrset?name=a%20b.example.com.&maxitems=300"
        self.assertEqual("AKIDEXAMPLE", check_signature(keys, "GET", target, headers, b"", now))
        for what, change in {"method": ("POST", target, b"", now), "query": ("GET", target + "1", b"", now),
                             "body": ("GET", target, b"x", now), "late": ("GET", target, b"", now + 301)}.items():
            with self.subTest(what), self.assertRaises(Refusal) as caught:
                check_signature(keys, change[0], change[1], headers, change[2], change[3])
            self.assertEqual("SignatureDoesNotMatch", caught.exception.code)
        with self.assertRaises(Refusal) as caught:
            check_signature({}, "GET", target, headers, b"", now)
        self.assertEqual("InvalidClientTokenId", caught.exception.code)


if __name__ == "__main__":
    unittest.main(verbosity=2)
