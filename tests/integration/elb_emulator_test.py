#!/usr/bin/env python3
"""The emulator of Elastic Load Balancing itself: that it refuses what the service refuses. A test against it is worth as much
as it is strict."""

import time
import unittest
from email.message import Message

from elb_emulator import CERTIFICATES, Emulator, fits, read_form
from route53_emulator import Refusal

CERTIFICATE = sorted(CERTIFICATES)[0]
FIXED = [{"Type": "fixed-response", "FixedResponseConfig": {"StatusCode": "404"}}]
NOBODY = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/none/1"


def host(*values):
    return {"Field": "host-header", "HostHeaderConfig": {"Values": list(values)}}


def path(*values):
    return {"Field": "path-pattern", "PathPatternConfig": {"Values": list(values)}}


def to(*groups):
    return [{"Type": "forward", "ForwardConfig": {"TargetGroups": [{"TargetGroupArn": arn, "Weight": w} for arn, w in groups]}}]


class EmulatorTest(unittest.TestCase):
    def setUp(self):
        self.emulator = Emulator()
        self.addCleanup(self.emulator.server.server_close)

    def call(self, operation, **fields):
        return self.emulator.perform(operation, fields)

    def refused(self, code, operation, **fields):
        before = self.emulator.state()
        with self.assertRaises(Refusal, msg=f"{operation} {fields}") as caught:
            self.call(operation, **fields)
        self.assertEqual(caught.exception.code, code, f"{operation} {fields}: {caught.exception.messages}")
        self.assertEqual(before, self.emulator.state(), "what is refused changes nothing")

    def balancer(self, name="one", **fields):
        fields = {"Subnets": ["subnet-a", "subnet-b"], **fields}
        return self.call("CreateLoadBalancer", Name=name, **fields)["LoadBalancers"][0]["LoadBalancerArn"]

    def group(self, name="g", **fields):
        fields = {"Protocol": "HTTP", "Port": "80", "VpcId": "vpc-1", "TargetType": "ip", **fields}
        return self.call("CreateTargetGroup", Name=name, **fields)["TargetGroups"][0]["TargetGroupArn"]

    def listener(self, balancer, port="80", protocol="HTTP", actions=FIXED, **fields):
        return self.call("CreateListener", LoadBalancerArn=balancer, Port=port, Protocol=protocol, DefaultActions=actions,
                         **fields)["Listeners"][0]["ListenerArn"]

    def rule(self, listener, priority="1", conditions=None, actions=FIXED):
        return self.call("CreateRule", ListenerArn=listener, Priority=priority, Conditions=conditions or [host("a.test")],
                         Actions=actions)["Rules"][0]["RuleArn"]

    def test_names_and_fields(self):
        for name in ("", "a.b", "-a", "a-", "a" * 33, "internal-a"):
            self.refused("ValidationError", "CreateLoadBalancer", Name=name, Subnets=["subnet-a", "subnet-b"])
        self.refused("ValidationError", "CreateLoadBalancer", Name="a")
        self.refused("ValidationError", "CreateLoadBalancer", Name="a", Subnets=["subnet-a", "subnet-b"], Colour="red")
        self.refused("ValidationError", "CreateLoadBalancer", Name="a", Subnets="subnet-a")
        self.refused("ValidationError", "CreateLoadBalancer", Name="a", Subnets=["subnet-a", "subnet-b"], Type="classic")
        self.refused("ValidationError", "CreateTargetGroup", Name="a_b", Protocol="HTTP", Port="80", VpcId="vpc-1", TargetType="ip")

    def test_forms(self):
        self.assertEqual(read_form(b"A.member.1.B=x&A.member.2.B=y&C=z"), {"A": [{"B": "x"}, {"B": "y"}], "C": "z"})
        for body in (b"A.member.2=x", b"A=1&A=2", b"A=1&A.B=2", b"A.member.1=x&A.member.3=y"):
            with self.assertRaises(Refusal):
                read_form(body)

    def test_subnets_and_security_groups(self):
        rows = [("SubnetNotFound", {"Subnets": ["subnet-a", "subnet-none"]}), ("ValidationError", {"Subnets": ["subnet-a"]}),
                ("InvalidConfigurationRequest", {"Subnets": ["subnet-a", "subnet-c"]}),
                ("InvalidConfigurationRequest", {"Subnets": ["subnet-a", "subnet-x"]}),
                ("InvalidSecurityGroup", {"Subnets": ["subnet-a", "subnet-b"], "SecurityGroups": ["sg-x"]})]
        for code, fields in rows:
            self.refused(code, "CreateLoadBalancer", Name="a", **fields)

    def test_creation_is_idempotent_with_the_same_settings_alone(self):
        arn = self.balancer()
        self.assertEqual(self.balancer(Tags=[{"Key": "k", "Value": "v"}]), arn)
        self.refused("DuplicateLoadBalancerName", "CreateLoadBalancer", Name="one", Subnets=["subnet-a", "subnet-b"], Scheme="internal")
        group = self.group()
        self.assertEqual(self.group(), group)
        self.refused("DuplicateTargetGroupName", "CreateTargetGroup", Name="g", Protocol="HTTPS", Port="80", VpcId="vpc-1",
                     TargetType="ip")
        listener = self.listener(arn)
        self.assertEqual(self.listener(arn), listener)
        self.refused("DuplicateListener", "CreateListener", LoadBalancerArn=arn, Port="80", Protocol="HTTP",
                     DefaultActions=to((group, "1")))

    def test_references(self):
        arn, group = self.balancer(), self.group()
        listener = self.listener(arn, actions=to((group, "1")))
        self.refused("ResourceInUse", "DeleteTargetGroup", TargetGroupArn=group)
        self.refused("LoadBalancerNotFound", "CreateListener", LoadBalancerArn="arn:none", Port="81", Protocol="HTTP",
                     DefaultActions=FIXED)
        self.refused("TargetGroupNotFound", "CreateListener", LoadBalancerArn=arn, Port="81", Protocol="HTTP",
                     DefaultActions=to((NOBODY, "1")))
        self.refused("ListenerNotFound", "CreateRule", ListenerArn="arn:none", Priority="1", Conditions=[host("a.test")], Actions=FIXED)
        self.refused("TargetGroupAssociationLimit", "CreateListener", LoadBalancerArn=self.balancer("two"), Port="80",
                     Protocol="HTTP", DefaultActions=to((group, "1")))
        self.refused("RuleNotFound", "DeleteRule", RuleArn="arn:none")
        self.refused("CertificateNotFound", "CreateListener", LoadBalancerArn=arn, Port="443", Protocol="HTTPS",
                     DefaultActions=FIXED, Certificates=[{"CertificateArn": "arn:none"}])
        self.call("DeleteListener", ListenerArn=listener)
        self.call("DeleteTargetGroup", TargetGroupArn=group)
        self.call("DeleteLoadBalancer", LoadBalancerArn=arn)
        self.call("DeleteLoadBalancer", LoadBalancerArn=arn)

    def test_protocols(self):
        arn, net = self.balancer(), self.balancer("net", Type="network")
        group, tcp = self.group(), self.group("t", Protocol="TCP")
        self.refused("UnsupportedProtocol", "CreateListener", LoadBalancerArn=arn, Port="80", Protocol="TCP", DefaultActions=FIXED)
        self.refused("ValidationError", "CreateListener", LoadBalancerArn=arn, Port="443", Protocol="HTTPS", DefaultActions=FIXED)
        self.refused("ValidationError", "CreateListener", LoadBalancerArn=arn, Port="80", Protocol="HTTP", DefaultActions=FIXED,
                     Certificates=[{"CertificateArn": CERTIFICATE}])
        self.refused("IncompatibleProtocols", "CreateListener", LoadBalancerArn=arn, Port="80", Protocol="HTTP",
                     DefaultActions=to((tcp, "1")))
        self.refused("IncompatibleProtocols", "CreateListener", LoadBalancerArn=net, Port="80", Protocol="TCP",
                     DefaultActions=to((group, "1")))
        self.refused("InvalidLoadBalancerAction", "CreateListener", LoadBalancerArn=net, Port="80", Protocol="TCP", DefaultActions=FIXED)
        listener = self.listener(net, "25", "TCP", to((tcp, "1")))
        self.refused("UnsupportedProtocol", "CreateRule", ListenerArn=listener, Priority="1", Conditions=[host("a.test")],
                     Actions=to((tcp, "1")))
        self.refused("InvalidConfigurationRequest", "CreateTargetGroup", Name="x", Protocol="TCP", Port="80", VpcId="vpc-1",
                     TargetType="ip", HealthCheckPath="/")

    def test_conditions(self):
        listener = self.listener(self.balancer())
        rows = [[host("localhost")], [host("a.1")], [host("a" * 127 + ".test")], [path("/a b")], [path("/" + "a" * 128)],
                [host("a.test"), host("b.test")], [path("/1", "/2", "/3", "/4", "/5", "/6")], [{"Field": "weather", "Values": ["x"]}],
                [{"Field": "host-header"}], []]
        for conditions in rows:
            self.refused("ValidationError", "CreateRule", ListenerArn=listener, Priority="1", Conditions=conditions, Actions=FIXED)
        self.rule(listener, conditions=[host("*.a.test"), path("/a", "/a/*")])

    def test_priorities(self):
        one = self.balancer()
        listener, other = self.listener(one), self.listener(one, "81")
        first, second, foreign = self.rule(listener, "1"), self.rule(listener, "2"), self.rule(other, "1")
        self.refused("PriorityInUse", "CreateRule", ListenerArn=listener, Priority="1", Conditions=[host("b.test")], Actions=FIXED)
        self.refused("ValidationError", "CreateRule", ListenerArn=listener, Priority="0", Conditions=[host("b.test")], Actions=FIXED)
        self.refused("PriorityInUse", "SetRulePriorities", RulePriorities=[{"RuleArn": first, "Priority": "2"}])
        self.refused("ValidationError", "SetRulePriorities",
                     RulePriorities=[{"RuleArn": first, "Priority": "5"}, {"RuleArn": foreign, "Priority": "6"}])
        self.call("SetRulePriorities", RulePriorities=[{"RuleArn": first, "Priority": "2"}, {"RuleArn": second, "Priority": "1"}])
        self.assertEqual([rule["RuleArn"] for rule in self.call("DescribeRules", ListenerArn=listener)["Rules"]][:2], [second, first])

    def test_quotas(self):
        self.emulator.configure({"quotas": {"balancers": 1, "rules": 1, "listeners": 2, "groups": 6, "targets": 2, "groups_of_balancer": 1}})
        arn = self.balancer()
        self.refused("TooManyLoadBalancers", "CreateLoadBalancer", Name="two", Subnets=["subnet-a", "subnet-b"])
        listener = self.listener(arn)
        self.rule(listener)
        self.refused("TooManyRules", "CreateRule", ListenerArn=listener, Priority="2", Conditions=[host("b.test")], Actions=FIXED)
        self.listener(arn, "81")
        self.refused("TooManyListeners", "CreateListener", LoadBalancerArn=arn, Port="82", Protocol="HTTP", DefaultActions=FIXED)
        groups = [self.group(f"g{n}") for n in range(6)]
        self.refused("TooManyTargetGroups", "CreateTargetGroup", Name="g9", Protocol="HTTP", Port="80", VpcId="vpc-1", TargetType="ip")
        self.refused("TooManyTargetGroups", "ModifyListener", ListenerArn=listener, DefaultActions=to(*((g, "1") for g in groups)))
        self.refused("TooManyUniqueTargetGroupsPerLoadBalancer", "ModifyListener", ListenerArn=listener,
                     DefaultActions=to((groups[0], "1"), (groups[1], "1")))
        self.refused("TooManyTargets", "RegisterTargets", TargetGroupArn=groups[0],
                     Targets=[{"Id": f"10.0.0.{n}"} for n in range(1, 4)])

    def test_targets_and_attributes(self):
        group, six = self.group(), self.group("six", IpAddressType="ipv6")
        self.refused("InvalidTarget", "RegisterTargets", TargetGroupArn=group, Targets=[{"Id": "8.8.8.8"}])
        self.refused("ValidationError", "RegisterTargets", TargetGroupArn=group, Targets=[{"Id": "web-1"}])
        self.refused("ValidationError", "RegisterTargets", TargetGroupArn=group, Targets=[{"Id": "2001:db8::1"}])
        self.refused("ValidationError", "RegisterTargets", TargetGroupArn=six, Targets=[{"Id": "10.0.0.1"}])
        self.refused("ValidationError", "ModifyTargetGroupAttributes", TargetGroupArn=group,
                     Attributes=[{"Key": "proxy_protocol_v2.enabled", "Value": "true"}])
        self.refused("ValidationError", "ModifyTargetGroup", TargetGroupArn=group, HealthCheckTimeoutSeconds="30")
        self.call("DeregisterTargets", TargetGroupArn=group, Targets=[{"Id": "10.0.0.1"}])

    def test_pages_and_tags(self):
        self.emulator.configure({"quotas": {"balancers": 100}})
        arns = [self.balancer(f"b{n:02}") for n in range(25)]
        page = self.call("DescribeLoadBalancers", PageSize="10")
        self.assertEqual((len(page["LoadBalancers"]), page["NextMarker"]), (10, "m10"))
        last = self.call("DescribeLoadBalancers", PageSize="10", Marker="m20")
        self.assertEqual((len(last["LoadBalancers"]), last["NextMarker"]), (5, None))
        self.refused("ValidationError", "DescribeLoadBalancers", PageSize="401")
        self.refused("ValidationError", "DescribeTags", ResourceArns=arns[:21])
        self.refused("LoadBalancerNotFound", "DescribeTags", ResourceArns=[arns[0], arns[0] + "x"])
        self.refused("LoadBalancerNotFound", "DescribeLoadBalancers", Names=["b00", "none"])
        self.refused("ValidationError", "CreateLoadBalancer", Name="t", Subnets=["subnet-a", "subnet-b"],
                     Tags=[{"Key": "aws:x", "Value": "1"}])
        self.refused("DuplicateTagKeys", "AddTags", ResourceArns=arns[:1], Tags=[{"Key": "a"}, {"Key": "a"}])

    def test_time(self):
        self.emulator.configure({"provisioning": 2, "hidden": 2, "releasing": 2})
        arn = self.balancer()
        self.refused("LoadBalancerNotFound", "DescribeLoadBalancers", Names=["one"])
        self.emulator.calls += 2
        states = [self.call("DescribeLoadBalancers", Names=["one"])["LoadBalancers"][0]["State"]["Code"] for _ in range(3)]
        self.assertEqual(states, ["provisioning", "provisioning", "active"])
        group = self.group()
        self.listener(arn, actions=to((group, "1")))
        self.call("DeleteLoadBalancer", LoadBalancerArn=arn)
        self.refused("ResourceInUse", "DeleteTargetGroup", TargetGroupArn=group)
        self.emulator.calls += 2
        self.call("DeleteTargetGroup", TargetGroupArn=group)

    def test_requests(self):
        def answer(headers, body=b"Action=DescribeLoadBalancers&Version=2015-12-01"):
            message = Message()
            for name, value in headers.items():
                message[name] = value
            return self.emulator.answer("POST", "/", message, body)

        self.assertEqual(answer({})[0], 403)
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        for service in ("route53", "elasticloadbalancing"):
            signed = (f"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{stamp[:8]}/eu-west-1/{service}/aws4_request, "
                      f"SignedHeaders=host;x-amz-date, Signature={'0' * 64}")
            status, _, text = answer({"Authorization": signed, "X-Amz-Date": stamp, "Host": "x"})
            self.assertEqual(status, 403)
            self.assertIn("SignatureDoesNotMatch", text)

    def test_throttle(self):
        self.emulator.configure({"rate": 2, "window": 60})
        self.emulator.throttle("k")
        self.emulator.throttle("k")
        with self.assertRaises(Refusal):
            self.emulator.throttle("k")
        self.assertEqual(self.emulator.throttled, 1)

    def test_ask(self):
        arn, group = self.balancer(), self.group()
        self.call("RegisterTargets", TargetGroupArn=group, Targets=[{"Id": "10.0.0.1", "Port": "8080"}])
        listener = self.listener(arn)
        self.rule(listener, "5", [host("*.a.test"), path("/x", "/x/*")], to((group, "3")))
        ask = lambda name, where: self.emulator.ask({"port": 80, "host": name, "path": where})
        self.assertEqual(ask("w.a.test", "/x/1"), {"groups": [{"weight": 3, "targets": ["10.0.0.1:8080"]}]})
        self.assertEqual(ask("w.a.test", "/xy"), {"status": 404})
        self.assertEqual(ask("a.test", "/x"), {"status": 404})
        self.assertEqual(self.emulator.ask({"port": 81, "host": "a", "path": "/"}), {})
        self.assertTrue(fits("*.a.test", "b.c.a.test"))


if __name__ == "__main__":
    unittest.main()
