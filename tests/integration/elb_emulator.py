#!/usr/bin/env python3
"""A strict stand-in for Elastic Load Balancing v2 (Query API 2015-12-01) on loopback, for tests: as a program (prints
"ready URL", ends when its standard input does) or in a test's own process (Emulator().start()).

It enforces what the real service does: Signature V4, which fields an operation takes and which it needs, names of balancers
and groups, subnets in two zones of one VPC, which protocols go together, what conditions may say, priorities that are unique,
references (a group in use, a group of two balancers, a listener or certificate that is not there), quotas, idempotent creation
(the same settings again: the same thing; others: Duplicate...), pages, tags in batches of 20; balancers that are provisioned
for a while, things that are not listed right after they were made, targets that are drained, groups that stay in use for a
while after their balancer has gone, throttling, server errors, and answers that are lost after the work was done.

Not covered: instance, lambda and alb targets, UDP, TLS listeners of network balancers, authentication, query-string, header,
method and source-ip conditions, mutual TLS, trust stores, WAF, capacity, attributes of balancers and listeners, ACM (a
certificate is an ARN that is known or not), EC2 (subnets and security groups likewise), IAM policies (a key may do all or
nothing), RemoveTags, SetSubnets and the like. Texts of messages are our own; codes are the service's. No traffic flows, but
"ask" says what a request would get.

Behind /_emulator/ (unsigned) tests look into it and make trouble: GET state; POST config {"provisioning", "hidden",
"releasing", "draining", "rate", "fail": [{"operation", "status", "code", "times"}], "lose": N, "quotas": {...}, "watch": [{"port",
"host", "path"}], "forget", "reset": {...}}; POST ask {"balancer", "port", "host", "path"}; POST foreign {"operation", fields...},
a call by somebody else."""

import collections
import copy
import ipaddress
import json
import re
import secrets
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

from route53_emulator import Refusal, check_signature

NAMESPACE = "http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"
REGION, ACCOUNT = "eu-west-1", "123456789012"
ARN = f"arn:aws:elasticloadbalancing:{REGION}:{ACCOUNT}:"
SUBNETS = {"subnet-a": ("vpc-1", "eu-west-1a"), "subnet-b": ("vpc-1", "eu-west-1b"), "subnet-c": ("vpc-1", "eu-west-1a"),
           "subnet-x": ("vpc-2", "eu-west-1b")}
SECURITY_GROUPS = {"sg-1": "vpc-1", "sg-2": "vpc-1", "sg-x": "vpc-2"}
VPCS = {"vpc-1", "vpc-2"}
CERTIFICATES = {f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/{name}" for name in ("one", "two", "three")}
QUOTAS = {"balancers": 50, "groups": 3000, "groups_of_balancer": 100, "groups_of_action": 5, "listeners": 50, "rules": 100,
          "values": 5, "targets": 1000, "certificates": 25}
HTTP_ATTRIBUTES = {"deregistration_delay.timeout_seconds": r"\d{1,4}", "stickiness.enabled": "true|false",
                   "stickiness.type": "lb_cookie|app_cookie",
                   "load_balancing.algorithm.type": "round_robin|least_outstanding_requests|weighted_random"}
TCP_ATTRIBUTES = {"deregistration_delay.timeout_seconds": r"\d{1,4}", "proxy_protocol_v2.enabled": "true|false",
                  "stickiness.enabled": "true|false", "stickiness.type": "source_ip"}


def refusal(code, message, status=400):
    return Refusal(status, code, message)


def invalid(message):
    return refusal("ValidationError", message)


# --- fields --------------------------------------------------------------------------------------------------------


def read_form(body):
    """Fields as a tree: "A.member.1.B=x" is {"A": [{"B": "x"}]}. Each once, lists from 1 without gaps."""
    tree = {}
    for name, value in urllib.parse.parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=True):
        at, parts = tree, name.split(".")
        for part in parts[:-1]:
            at = at.setdefault(part, {})
            if not isinstance(at, dict):
                raise refusal("MalformedQueryString", f"{name} is below a value")
        if parts[-1] in at:
            raise refusal("MalformedQueryString", f"{name} is there twice")
        at[parts[-1]] = value
    return as_lists(tree, "")


def as_lists(tree, where):
    if isinstance(tree, str):
        return tree
    if set(tree) == {"member"}:
        items = tree["member"]
        if not isinstance(items, dict) or sorted(items) != sorted(str(n + 1) for n in range(len(items))):
            raise refusal("MalformedQueryString", f"{where} is no list from 1 on")
        return [as_lists(items[str(n + 1)], where) for n in range(len(items))]
    return {key: as_lists(value, f"{where}.{key}") for key, value in tree.items()}


def check_fields(given, allowed, where):
    """allowed: name -> "text", "list" (of texts), or a shape: {...} for a structure, [{...}] for a list of them; a name that
    ends in "!" is required."""
    names = {name.rstrip("!"): shape for name, shape in allowed.items()}
    for name in given:
        if name not in names:
            raise invalid(f"{where}: {name} is not known")
    for name in allowed:
        if name.endswith("!") and not given.get(name[:-1]):
            raise invalid(f"{where}: {name[:-1]} is required")
    for name, value in given.items():
        shape = names[name]
        if shape == "text" and not isinstance(value, str):
            raise invalid(f"{where}.{name} is no text")
        if shape == "list" and not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            raise invalid(f"{where}.{name} is no list of texts")
        if isinstance(shape, dict):
            if not isinstance(value, dict):
                raise invalid(f"{where}.{name} is no structure")
            check_fields(value, shape, f"{where}.{name}")
        if isinstance(shape, list):
            if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
                raise invalid(f"{where}.{name} is no list of structures")
            for each in value:
                check_fields(each, shape[0], f"{where}.{name}")


TAGS = [{"Key!": "text", "Value": "text"}]
ACTIONS = [{"Type!": "text", "TargetGroupArn": "text", "Order": "text",
            "ForwardConfig": {"TargetGroups!": [{"TargetGroupArn!": "text", "Weight": "text"}],
                              "TargetGroupStickinessConfig": {"Enabled": "text", "DurationSeconds": "text"}},
            "RedirectConfig": {"Protocol": "text", "Port": "text", "Host": "text", "Path": "text", "Query": "text",
                               "StatusCode!": "text"},
            "FixedResponseConfig": {"StatusCode!": "text", "ContentType": "text", "MessageBody": "text"}}]
CONDITIONS = [{"Field!": "text", "Values": "list", "HostHeaderConfig": {"Values!": "list"},
               "PathPatternConfig": {"Values!": "list"}}]
CHECK = {"HealthCheckProtocol": "text", "HealthCheckPort": "text", "HealthCheckPath": "text",
         "HealthCheckIntervalSeconds": "text", "HealthCheckTimeoutSeconds": "text", "HealthyThresholdCount": "text",
         "UnhealthyThresholdCount": "text", "Matcher": {"HttpCode": "text"}}
TARGETS = [{"Id!": "text", "Port": "text"}]
CERTIFICATE_LIST = [{"CertificateArn!": "text"}]
PAGES = {"Marker": "text", "PageSize": "text"}
OPERATIONS = {
    "CreateLoadBalancer": {"Name!": "text", "Subnets!": "list", "SecurityGroups": "list", "Scheme": "text", "Tags": TAGS,
                           "Type": "text", "IpAddressType": "text"},
    "DescribeLoadBalancers": {"LoadBalancerArns": "list", "Names": "list", **PAGES},
    "DeleteLoadBalancer": {"LoadBalancerArn!": "text"},
    "DescribeTags": {"ResourceArns!": "list"},
    "AddTags": {"ResourceArns!": "list", "Tags!": TAGS},
    "CreateTargetGroup": {"Name!": "text", "Protocol!": "text", "Port!": "text", "VpcId!": "text", "TargetType": "text",
                          "IpAddressType": "text", "Tags": TAGS, **CHECK},
    "ModifyTargetGroup": {"TargetGroupArn!": "text", **CHECK},
    "ModifyTargetGroupAttributes": {"TargetGroupArn!": "text", "Attributes!": [{"Key!": "text", "Value!": "text"}]},
    "DescribeTargetGroups": {"LoadBalancerArn": "text", "TargetGroupArns": "list", "Names": "list", **PAGES},
    "DeleteTargetGroup": {"TargetGroupArn!": "text"},
    "RegisterTargets": {"TargetGroupArn!": "text", "Targets!": TARGETS},
    "DeregisterTargets": {"TargetGroupArn!": "text", "Targets!": TARGETS},
    "DescribeTargetHealth": {"TargetGroupArn!": "text", "Targets": TARGETS},
    "CreateListener": {"LoadBalancerArn!": "text", "Port!": "text", "Protocol!": "text", "SslPolicy": "text",
                       "Certificates": CERTIFICATE_LIST, "DefaultActions!": ACTIONS, "Tags": TAGS},
    "ModifyListener": {"ListenerArn!": "text", "Port": "text", "Protocol": "text", "SslPolicy": "text",
                       "Certificates": CERTIFICATE_LIST, "DefaultActions": ACTIONS},
    "DescribeListeners": {"LoadBalancerArn": "text", "ListenerArns": "list", **PAGES},
    "DeleteListener": {"ListenerArn!": "text"},
    "AddListenerCertificates": {"ListenerArn!": "text", "Certificates!": CERTIFICATE_LIST},
    "RemoveListenerCertificates": {"ListenerArn!": "text", "Certificates!": CERTIFICATE_LIST},
    "DescribeListenerCertificates": {"ListenerArn!": "text", **PAGES},
    "CreateRule": {"ListenerArn!": "text", "Priority!": "text", "Conditions!": CONDITIONS, "Actions!": ACTIONS, "Tags": TAGS},
    "ModifyRule": {"RuleArn!": "text", "Conditions": CONDITIONS, "Actions": ACTIONS},
    "DescribeRules": {"ListenerArn": "text", "RuleArns": "list", **PAGES},
    "DeleteRule": {"RuleArn!": "text"},
    "SetRulePriorities": {"RulePriorities!": [{"RuleArn!": "text", "Priority!": "text"}]},
}


# --- rules of values -------------------------------------------------------------------------------------------------


def number(text, low, high, what):
    if not re.fullmatch(r"\d{1,9}", text or "") or not low <= int(text) <= high:
        raise invalid(f"{what} '{text}' is not in {low}..{high}")
    return int(text)


def one_of(text, allowed, what):
    if text not in allowed:
        raise invalid(f"{what} '{text}' is not one of {sorted(allowed)}")
    return text


def check_name(name):
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?", name):
        raise invalid(f"The name '{name}' must have 1 to 32 letters, digits and hyphens, none of these at an end")


def read_tags(tags):
    made = {}
    for tag in tags:
        key, value = tag["Key"], tag.get("Value", "")
        if key in made:
            raise refusal("DuplicateTagKeys", f"{key} is there twice")
        if key.startswith("aws:") or not re.fullmatch(r"[\w+\-=.:/@ ]{1,128}", key) or not re.fullmatch(r"[\w+\-=.:/@ ]{0,256}", value):
            raise invalid(f"the tag '{key}={value}' is none")
        made[key] = value
    if len(made) > 50:
        raise refusal("TooManyTags", "more than 50 tags")
    return made


def read_check(given, protocol, before=None):
    check = dict(before or {"protocol": "TCP" if protocol == "TCP" else "HTTP", "interval": 30, "timeout": 5, "healthy": 5,
                            "unhealthy": 2, "path": None if protocol == "TCP" else "/", "codes": None if protocol == "TCP" else "200"})
    if "HealthCheckProtocol" in given:
        check["protocol"] = one_of(given["HealthCheckProtocol"], {"HTTP", "HTTPS", "TCP"}, "HealthCheckProtocol")
    if protocol != "TCP" and check["protocol"] == "TCP":
        raise refusal("InvalidConfigurationRequest", "a group of HTTP has no health check by TCP")
    for name, field, low, high in (("HealthCheckIntervalSeconds", "interval", 5, 300), ("HealthCheckTimeoutSeconds", "timeout", 2, 120),
                                   ("HealthyThresholdCount", "healthy", 2, 10), ("UnhealthyThresholdCount", "unhealthy", 2, 10)):
        if name in given:
            check[field] = number(given[name], low, high, name)
    if check["timeout"] >= check["interval"]:
        raise invalid("Health check timeout must be smaller than the interval")
    if check["protocol"] == "TCP" and ("HealthCheckPath" in given or "Matcher" in given):
        raise refusal("InvalidConfigurationRequest", "a health check by TCP has neither path nor codes")
    if "HealthCheckPath" in given:
        check["path"] = given["HealthCheckPath"]
        if not re.fullmatch(r"/[!-~]{0,1023}", check["path"]):
            raise invalid("HealthCheckPath")
    if "Matcher" in given:
        check["codes"] = given["Matcher"].get("HttpCode", "")
        if not re.fullmatch(r"\d{3}(-\d{3})?(,\d{3}(-\d{3})?)*", check["codes"]):
            raise invalid(f"Matcher '{check['codes']}'")
    return check


def read_conditions(conditions, quotas):
    made, values = {}, 0
    for condition in conditions:
        field = condition["Field"]
        configs = {"host-header": "HostHeaderConfig", "path-pattern": "PathPatternConfig"}
        if field not in configs:
            raise invalid(f"Field '{field}' is none")
        if field in made:
            raise invalid(f"{field} is there twice")
        if set(condition) - {"Field", "Values", configs[field]} or ("Values" in condition) == (configs[field] in condition):
            raise invalid(f"{field} takes either Values or {configs[field]}")
        made[field] = condition.get("Values") or condition[configs[field]]["Values"]
        for value in made[field]:
            values += 1
            if len(value) > 128:
                raise invalid(f"Condition value '{value}' is longer than 128 characters")
            if field == "host-header":
                if not re.fullmatch(r"[A-Za-z0-9.*?-]+\.[A-Za-z]+", value):
                    raise invalid(f"The host '{value}' is no pattern")
            elif not re.fullmatch(r"[A-Za-z0-9_\-.$/~\"'@:+&*?]+", value):
                raise invalid(f"The path '{value}' is no pattern")
    if not made:
        raise invalid("A rule needs a condition")
    if values > quotas["values"]:
        raise invalid(f"Rules can have at most {quotas['values']} condition values")
    return made


def fits(pattern, text):
    return re.fullmatch("".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern), text) is not None


# --- the service -------------------------------------------------------------------------------------------------------


def xml(value):
    """Structures as elements, lists as members; None is left out."""
    if isinstance(value, dict):
        return "".join(f"<{k}>{xml(v)}</{k}>" for k, v in value.items() if v is not None)
    if isinstance(value, list):
        return "".join(f"<member>{xml(v)}</member>" for v in value)
    if isinstance(value, bool):
        return str(value).lower()
    return escape(str(value))


class Emulator:
    def __init__(self, keys=None):
        self.lock = threading.RLock()
        self.first_keys = keys or {"AKIDEXAMPLE": ("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", None)}
        self.reset()
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

    def reset(self, **wanted):
        """As if it had just been started."""
        with self.lock:
            self.keys = {key: (secret, token, None) for key, (secret, token) in self.first_keys.items()}
            self.balancers, self.groups, self.listeners, self.rules = {}, {}, {}, {}  # by ARN
            self.calls = 0  # of this life: the clock of what is not there at once
            self.provisioning = self.hidden = self.releasing = self.draining = 0
            self.rate, self.window = None, 1.0
            self.times = collections.defaultdict(collections.deque)
            self.quotas = dict(QUOTAS)
            self.fail, self.lose, self.watch = [], None, []
            self.watched, self.log = [], []
            self.requests, self.throttled, self.lost = collections.Counter(), 0, 0
            self.configure(wanted)

    def start(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    # --- what a test asks for ---

    def configure(self, wanted):
        with self.lock:
            if "reset" in wanted:
                self.reset(**wanted["reset"])
            for name in ("provisioning", "hidden", "releasing", "draining", "rate", "window", "lose", "watch"):
                if name in wanted:
                    setattr(self, name, wanted[name])
            self.quotas.update(wanted.get("quotas", {}))
            self.fail += wanted.get("fail", [])
            if wanted.get("forget"):
                self.requests.clear()
                self.times.clear()
                self.log.clear()
                self.watched.clear()
                self.throttled = self.lost = 0

    def state(self):
        """All there is, without ARNs: the same state is the same text."""
        with self.lock:
            shown = lambda made, *names: {name: made[name] for name in names}
            return {"requests": dict(self.requests), "throttled": self.throttled, "lost": self.lost, "log": self.log,
                    "watched": self.watched,
                    "balancers": sorted([shown(b, "name", "type", "scheme", "tags", "subnets", "security_groups", "ip") for b in
                                         self.balancers.values()], key=lambda b: b["name"]),
                    "groups": sorted([{**shown(g, "name", "protocol", "ip", "vpc", "check", "attributes", "tags"),
                                       "targets": sorted(t for t, s in g["targets"].items() if s != "draining")}
                                      for g in self.groups.values()], key=lambda g: g["name"]),
                    "listeners": sorted([{**shown(l, "port", "protocol", "tags", "policy"),
                                          "balancer": self.balancers[l["balancer"]]["name"],
                                          "certificates": [l["certificate"]] + sorted(l["certificates"]),
                                          "actions": self.plain_actions(l["actions"]),
                                          "rules": sorted([{**shown(r, "priority", "conditions", "tags"),
                                                            "actions": self.plain_actions(r["actions"])}
                                                           for r in self.rules.values() if r["listener"] == l["arn"]],
                                                          key=lambda r: r["priority"])}
                                         for l in self.listeners.values()], key=lambda l: (l["balancer"], l["port"]))}

    def plain_actions(self, actions):
        made = copy.deepcopy(actions)
        for action in made:
            for share in action.get("forward", []):
                share["group"] = self.groups[share.pop("arn")]["name"]
            action.get("forward", []).sort(key=lambda share: share["group"])
        return made

    def ask(self, wanted):
        """What a request would get: {"status"}, or {"groups": [{"weight", "targets"}]}; {} if nobody listens."""
        with self.lock:
            for listener in self.listeners.values():
                name = self.balancers[listener["balancer"]]["name"]
                if listener["port"] != wanted["port"] or wanted.get("balancer", name) != name:
                    continue
                actions = listener["actions"]
                for rule in sorted((r for r in self.rules.values() if r["listener"] == listener["arn"]), key=lambda r: r["priority"]):
                    hosts, paths = (rule["conditions"].get(f) for f in ("host-header", "path-pattern"))
                    if (not hosts or any(fits(h.lower(), wanted["host"].lower()) for h in hosts)) and \
                            (not paths or any(fits(p, wanted["path"]) for p in paths)):
                        actions = rule["actions"]
                        break
                action = actions[0]
                if action["type"] != "forward":
                    return {"status": action.get("status", action["type"])}
                groups = [{"weight": share["weight"],
                           "targets": sorted(t for t, s in self.groups[share["arn"]]["targets"].items() if s != "draining")}
                          for share in action["forward"]]
                return {"groups": sorted(groups, key=lambda group: group["targets"])}
            return {}

    # --- requests ---

    def answer(self, method, target, headers, body):
        try:
            if target.startswith("/_emulator/"):
                return self.control(target, body)
            with self.lock:
                return 200, "text/xml", self.api(method, target, headers, body)
        except Refusal as problem:
            kind = "Sender" if problem.status < 500 else "Receiver"
            return (problem.status, "text/xml",
                    f'<ErrorResponse xmlns="{NAMESPACE}"><Error><Type>{kind}</Type><Code>{problem.code}</Code>'
                    f"<Message>{escape(', '.join(problem.messages))}</Message></Error><RequestId>{secrets.token_hex(16)}"
                    f"</RequestId></ErrorResponse>")

    def control(self, target, body):
        wanted = json.loads(body or b"{}")
        answer = {}
        if target.endswith("/state"):
            answer = self.state()
        elif target.endswith("/ask"):
            answer = self.ask(wanted)
        elif target.endswith("/foreign"):
            with self.lock:
                answer = self.perform(wanted.pop("operation"), wanted)
        else:
            self.configure(wanted)
        return 200, "application/json", json.dumps(answer)

    def api(self, method, target, headers, body):
        key = check_signature(self.keys, method, target, headers, body, time.time(), (REGION, "elasticloadbalancing"))
        if method != "POST" or target != "/":
            raise refusal("InvalidAction", f"{method} {target}", 404)
        if not (headers.get("Content-Type") or "").startswith("application/x-www-form-urlencoded"):
            raise refusal("MalformedQueryString", "the body is no form")
        try:
            given = read_form(body)
        except ValueError:
            raise refusal("MalformedQueryString", "the body is no form") from None
        operation, version = given.pop("Action", ""), given.pop("Version", "")
        if version != "2015-12-01" or operation not in OPERATIONS:
            raise refusal("InvalidAction", f"{operation} of {version}")
        self.requests[operation] += 1
        self.throttle(key)
        for wanted in self.fail:
            if wanted.get("operation", operation) == operation and wanted.get("times", 1) > 0:
                wanted["times"] = wanted.get("times", 1) - 1
                raise Refusal(wanted.get("status", 400), wanted["code"], wanted["code"])
        self.calls += 1
        lost = False
        if self.lose is not None:
            self.lose -= 1
            lost = self.lose == 0
        try:
            result = self.perform(operation, given)
        finally:
            self.log.append(operation)
            if self.watch:
                self.watched.append([self.ask(wanted) for wanted in self.watch])
            if lost:
                self.lose = None
                self.lost += 1
                raise refusal("InternalFailure", "the answer is lost", 500)
        return (f'<{operation}Response xmlns="{NAMESPACE}"><{operation}Result>{xml(result)}</{operation}Result>'
                f"<ResponseMetadata><RequestId>{secrets.token_hex(16)}</RequestId></ResponseMetadata></{operation}Response>")

    def throttle(self, key):
        if not self.rate:
            return
        now, times = time.monotonic(), self.times[key]
        while times and times[0] <= now - self.window:
            times.popleft()
        if len(times) >= self.rate:
            self.throttled += 1
            raise refusal("Throttling", "Rate exceeded")
        times.append(now)

    def perform(self, operation, given):
        check_fields(given, OPERATIONS[operation], operation)
        return getattr(self, re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower())(given)

    # --- finding ---

    def find(self, shelf, arn, code):
        if arn not in shelf:
            raise refusal(code, f"'{arn}' not found")
        return shelf[arn]

    def balancer(self, arn):
        return self.find(self.balancers, arn, "LoadBalancerNotFound")

    def group(self, arn):
        return self.find(self.groups, arn, "TargetGroupNotFound")

    def listener(self, arn):
        return self.find(self.listeners, arn, "ListenerNotFound")

    def rule(self, arn):
        return self.find(self.rules, arn, "RuleNotFound")

    def visible(self, made):
        return made["seen_from"] <= self.calls

    def page(self, given, all_of_them, key):
        size = number(given.get("PageSize", "400"), 1, 400, "PageSize")
        start = 0
        if "Marker" in given:
            if not re.fullmatch(r"m\d+", given["Marker"]):
                raise invalid("Marker")
            start = int(given["Marker"][1:])
        more = start + size < len(all_of_them)
        return {key: all_of_them[start:start + size], "NextMarker": f"m{start + size}" if more else None}

    # --- tags ---

    def tagged(self, arn):
        shelf = {"loadbalancer": (self.balancers, "LoadBalancerNotFound"), "targetgroup": (self.groups, "TargetGroupNotFound"),
                 "listener": (self.listeners, "ListenerNotFound"), "listener-rule": (self.rules, "RuleNotFound")}
        kind = arn[len(ARN):].split("/")[0] if arn.startswith(ARN) else ""
        if kind not in shelf:
            raise invalid(f"'{arn}' is no ARN")
        made = self.find(shelf[kind][0], arn, shelf[kind][1])
        if not self.visible(made):
            raise refusal(shelf[kind][1], f"'{arn}' not found")
        return made

    def describe_tags(self, given):
        if not 1 <= len(given["ResourceArns"]) <= 20:
            raise invalid("ResourceArns has 1 to 20 members")
        return {"TagDescriptions": [{"ResourceArn": arn, "Tags": [{"Key": k, "Value": v} for k, v in self.tagged(arn)["tags"].items()]}
                                    for arn in given["ResourceArns"]]}

    def add_tags(self, given):
        tags = read_tags(given["Tags"])
        for arn in given["ResourceArns"]:
            kind = arn[len(ARN):].split("/")[0]
            made = self.group(arn) if kind == "targetgroup" else self.tagged(arn)
            made["tags"].update(tags)
        return {}

    # --- balancers ---

    def create_load_balancer(self, given):
        name = given["Name"]
        check_name(name)
        if name.startswith("internal-"):
            raise invalid("Names must not begin with internal-")
        kind = one_of(given.get("Type", "application"), {"application", "network"}, "Type")
        scheme = one_of(given.get("Scheme", "internet-facing"), {"internet-facing", "internal"}, "Scheme")
        ip = one_of(given.get("IpAddressType", "ipv4"), {"ipv4", "dualstack"}, "IpAddressType")
        subnets, security = given["Subnets"], given.get("SecurityGroups", [])
        for subnet in subnets:
            if subnet not in SUBNETS:
                raise refusal("SubnetNotFound", f"The subnet ID '{subnet}' does not exist")
        vpcs, zones = {SUBNETS[s][0] for s in subnets}, [SUBNETS[s][1] for s in subnets]
        if len(vpcs) != 1 or len(set(zones)) != len(zones):
            raise refusal("InvalidConfigurationRequest", "subnets must be of one VPC, and one of each zone")
        if kind == "application" and len(zones) < 2:
            raise invalid("At least two subnets in two different Availability Zones must be specified")
        vpc = vpcs.pop()
        for group in security:
            if SECURITY_GROUPS.get(group) != vpc:
                raise refusal("InvalidSecurityGroup", f"'{group}' is not of {vpc}")
        made = {"name": name, "type": kind, "scheme": scheme, "ip": ip, "subnets": sorted(subnets),
                "security_groups": sorted(security), "vpc": vpc}
        for there in self.balancers.values():
            if there["name"] == name:
                if any(there[field] != made[field] for field in made):
                    raise refusal("DuplicateLoadBalancerName", f"A load balancer '{name}' has other settings")
                return {"LoadBalancers": [self.show_balancer(there)]}
        if len(self.balancers) >= self.quotas["balancers"]:
            raise refusal("TooManyLoadBalancers", "the quota of load balancers has been reached")
        short = {"application": "app", "network": "net"}[kind]
        arn = f"{ARN}loadbalancer/{short}/{name}/{secrets.token_hex(8)}"
        made.update(arn=arn, tags=read_tags(given.get("Tags", [])), polls=self.provisioning, seen_from=self.calls + self.hidden)
        self.balancers[arn] = made
        return {"LoadBalancers": [self.show_balancer(made)]}

    def show_balancer(self, made):
        code = made.get("state") or ("provisioning" if made["polls"] > 0 else "active")
        inner = "internal-" if made["scheme"] == "internal" else ""
        return {"LoadBalancerArn": made["arn"], "DNSName": f"{inner}{made['name']}-1.{REGION}.elb.amazonaws.com",
                "LoadBalancerName": made["name"], "Scheme": made["scheme"], "VpcId": made["vpc"], "State": {"Code": code},
                "Type": made["type"], "SecurityGroups": made["security_groups"], "IpAddressType": made["ip"]}

    def describe_load_balancers(self, given):
        names, arns = given.get("Names"), given.get("LoadBalancerArns")
        if (names and arns) or len(names or arns or []) > 20:
            raise invalid("Names or LoadBalancerArns, at most 20")
        found = [b for b in sorted(self.balancers.values(), key=lambda b: b["name"]) if self.visible(b)]
        if names or arns:
            for wanted in names or arns:
                if not any(wanted in (b["name"] if names else b["arn"],) for b in found):
                    raise refusal("LoadBalancerNotFound", f"Load balancers '[{wanted}]' not found")
            found = [b for b in found if (b["name"] in names if names else b["arn"] in arns)]
        result = self.page(given, [self.show_balancer(b) for b in found], "LoadBalancers")
        for balancer in found:
            balancer["polls"] -= 1
        return result

    def delete_load_balancer(self, given):
        arn = given["LoadBalancerArn"]
        if arn not in self.balancers:
            return {}  # as the service documents it
        for listener in [l for l in self.listeners.values() if l["balancer"] == arn]:
            self.drop_listener(listener)
        del self.balancers[arn]
        return {}

    # --- groups ---

    def used_by(self, arn):
        """ARNs of the balancers whose listeners or rules lead to the group."""
        found = set()
        for made in list(self.listeners.values()) + list(self.rules.values()):
            if any(share["arn"] == arn for action in made["actions"] for share in action.get("forward", [])):
                found.add(made["balancer"] if "balancer" in made else self.listeners[made["listener"]]["balancer"])
        return found

    def create_target_group(self, given):
        name = given["Name"]
        check_name(name)
        protocol = one_of(given["Protocol"], {"HTTP", "HTTPS", "TCP"}, "Protocol")
        port = number(given["Port"], 1, 65535, "Port")
        if one_of(given.get("TargetType", "instance"), {"instance", "ip"}, "TargetType") != "ip":
            raise invalid("this emulator has no instances")
        if given["VpcId"] not in VPCS:
            raise invalid(f"The VPC ID '{given['VpcId']}' is not found")
        made = {"name": name, "protocol": protocol, "port": port, "vpc": given["VpcId"],
                "ip": one_of(given.get("IpAddressType", "ipv4"), {"ipv4", "ipv6"}, "IpAddressType"), "check": read_check(given, protocol)}
        for there in self.groups.values():
            if there["name"] == name:
                if any(there[field] != made[field] for field in made):
                    raise refusal("DuplicateTargetGroupName", f"A target group '{name}' has other settings")
                return {"TargetGroups": [self.show_group(there)]}
        if len(self.groups) >= self.quotas["groups"]:
            raise refusal("TooManyTargetGroups", "the quota of target groups has been reached")
        arn = f"{ARN}targetgroup/{name}/{secrets.token_hex(8)}"
        made.update(arn=arn, tags=read_tags(given.get("Tags", [])), attributes={}, targets={}, in_use_until=0, drained={},
                    seen_from=self.calls + self.hidden)
        self.groups[arn] = made
        return {"TargetGroups": [self.show_group(made)]}

    def show_group(self, made):
        check = made["check"]
        return {"TargetGroupArn": made["arn"], "TargetGroupName": made["name"], "Protocol": made["protocol"], "Port": made["port"],
                "VpcId": made["vpc"], "TargetType": "ip", "IpAddressType": made["ip"], "HealthCheckProtocol": check["protocol"],
                "HealthCheckPath": check["path"], "LoadBalancerArns": sorted(self.used_by(made["arn"]))}

    def modify_target_group(self, given):
        group = self.group(given["TargetGroupArn"])
        group["check"] = read_check(given, group["protocol"], group["check"])
        return {"TargetGroups": [self.show_group(group)]}

    def modify_target_group_attributes(self, given):
        group = self.group(given["TargetGroupArn"])
        known = TCP_ATTRIBUTES if group["protocol"] == "TCP" else HTTP_ATTRIBUTES
        for attribute in given["Attributes"]:
            if attribute["Key"] not in known:
                raise invalid(f"Target group attribute key '{attribute['Key']}' is not recognized")
            if not re.fullmatch(known[attribute["Key"]], attribute["Value"]):
                raise invalid(f"'{attribute['Value']}' is no value of {attribute['Key']}")
        group["attributes"].update({a["Key"]: a["Value"] for a in given["Attributes"]})
        return {"Attributes": given["Attributes"]}

    def describe_target_groups(self, given):
        found = [g for g in sorted(self.groups.values(), key=lambda g: g["name"]) if self.visible(g)]
        for field, own in (("Names", "name"), ("TargetGroupArns", "arn")):
            for wanted in given.get(field, []):
                if not any(g[own] == wanted for g in found):
                    raise refusal("TargetGroupNotFound", f"'{wanted}' not found")
            if field in given:
                found = [g for g in found if g[own] in given[field]]
        if "LoadBalancerArn" in given:
            self.balancer(given["LoadBalancerArn"])
            found = [g for g in found if given["LoadBalancerArn"] in self.used_by(g["arn"])]
        return self.page(given, [self.show_group(g) for g in found], "TargetGroups")

    def delete_target_group(self, given):
        group = self.group(given["TargetGroupArn"])
        if self.used_by(group["arn"]) or group["in_use_until"] > self.calls:
            raise refusal("ResourceInUse", f"Target group '{group['arn']}' is currently in use by a listener or a rule")
        del self.groups[group["arn"]]
        return {}

    def read_targets(self, group, targets, checked):
        made = []
        for target in targets:
            port = number(target.get("Port", str(group["port"])), 1, 65535, "Port")
            try:
                address = ipaddress.ip_address(target["Id"])
            except ValueError:
                raise invalid(f"The IP address '{target['Id']}' is not a valid IP address") from None
            if checked and (address.version == 6) != (group["ip"] == "ipv6"):
                raise invalid(f"'{target['Id']}' is no {group['ip']} address")
            if checked and address.version == 4 and not any(address in ipaddress.ip_network(net) for net in
                                                           ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")):
                raise refusal("InvalidTarget", f"The IP address '{address}' is not in the VPC nor private")
            made.append(f"{address}:{port}" if address.version == 4 else f"[{address}]:{port}")
        return made

    def register_targets(self, given):
        group = self.group(given["TargetGroupArn"])
        targets = self.read_targets(group, given["Targets"], True)
        if len(set(group["targets"]) | set(targets)) > self.quotas["targets"]:
            raise refusal("TooManyTargets", "the quota of targets has been reached")
        for target in targets:
            group["targets"][target] = "healthy"
            group["drained"].pop(target, None)
        return {}

    def deregister_targets(self, given):
        group = self.group(given["TargetGroupArn"])
        for target in self.read_targets(group, given["Targets"], False):
            if target not in group["targets"]:
                continue  # as the service documents it
            if self.draining and self.used_by(group["arn"]):
                group["targets"][target] = "draining"
                group["drained"][target] = self.calls + self.draining
            else:
                del group["targets"][target]
        return {}

    def describe_target_health(self, given):
        group = self.group(given["TargetGroupArn"])
        for target, until in list(group["drained"].items()):
            if until <= self.calls:
                del group["targets"][target], group["drained"][target]
        used = bool(self.used_by(group["arn"]))
        return {"TargetHealthDescriptions": [
            {"Target": {"Id": t.rpartition(":")[0].strip("[]"), "Port": t.rpartition(":")[2]},
             "TargetHealth": {"State": s if used or s == "draining" else "unused"}} for t, s in sorted(group["targets"].items())]}

    # --- listeners ---

    def read_actions(self, actions, balancer):
        made = []
        if len(actions) != 1:
            raise invalid("this emulator takes one action")
        for action in actions:
            kind = one_of(action["Type"], {"forward", "redirect", "fixed-response"}, "Type")
            configs = {"forward": "ForwardConfig", "redirect": "RedirectConfig", "fixed-response": "FixedResponseConfig"}
            if any(config in action for name, config in configs.items() if name != kind):
                raise invalid(f"the action {kind} has the settings of another")
            if balancer["type"] == "network" and kind != "forward":
                raise refusal("InvalidLoadBalancerAction", f"network balancers do not {kind}")
            if kind == "fixed-response":
                status = action.get("FixedResponseConfig", {}).get("StatusCode", "")
                if not re.fullmatch(r"[245]\d\d", status):
                    raise invalid(f"StatusCode '{status}'")
                made.append({"type": kind, "status": int(status)})
            elif kind == "redirect":
                config = action.get("RedirectConfig", {})
                one_of(config.get("StatusCode"), {"HTTP_301", "HTTP_302"}, "StatusCode")
                one_of(config.get("Protocol", "#{protocol}"), {"HTTP", "HTTPS", "#{protocol}"}, "Protocol")
                if not {"Protocol", "Port", "Host", "Path"} & set(config):
                    raise refusal("InvalidLoadBalancerAction", "the redirect leads to where it came from")
                made.append({"type": kind, "config": config})
            else:
                made.append(self.read_forward(action, balancer))
        return made

    def read_forward(self, action, balancer):
        config = action.get("ForwardConfig") or {"TargetGroups": [{"TargetGroupArn": action.get("TargetGroupArn", "")}]}
        groups = config["TargetGroups"]
        if len(groups) > self.quotas["groups_of_action"]:
            raise refusal("TooManyTargetGroups", f"an action leads to at most {self.quotas['groups_of_action']} groups")
        if balancer["type"] == "network" and len(groups) > 1:
            raise refusal("InvalidLoadBalancerAction", "network balancers lead to one group")
        shares = []
        for each in groups:
            group = self.group(each["TargetGroupArn"])
            if (group["protocol"] == "TCP") != (balancer["type"] == "network"):
                raise refusal("IncompatibleProtocols", f"a group of {group['protocol']} for a balancer of type {balancer['type']}")
            if group["vpc"] != balancer["vpc"] or (group["ip"] == "ipv6" and balancer["ip"] != "dualstack"):
                raise refusal("InvalidConfigurationRequest", f"{group['name']} is of another VPC or address type")
            if self.used_by(group["arn"]) - {balancer["arn"]}:
                raise refusal("TargetGroupAssociationLimit", f"{group['name']} is of another balancer")
            if any(share["arn"] == group["arn"] for share in shares):
                raise invalid("a group is there twice")
            shares.append({"arn": group["arn"], "weight": number(each.get("Weight", "1"), 0, 999, "Weight")})
        used = {g["arn"] for g in self.groups.values() if balancer["arn"] in self.used_by(g["arn"])} | {s["arn"] for s in shares}
        if len(used) > self.quotas["groups_of_balancer"]:
            raise refusal("TooManyUniqueTargetGroupsPerLoadBalancer", f"{len(used)} groups")
        sticky = config.get("TargetGroupStickinessConfig", {})
        if sticky.get("Enabled") == "true":
            number(sticky.get("DurationSeconds"), 1, 604800, "DurationSeconds")
        return {"type": "forward", "forward": shares, "sticky": sticky.get("Enabled") == "true"}

    def show_actions(self, actions):
        shown = []
        for action in actions:
            each = {"Type": action["type"]}
            if action["type"] == "forward":
                if len(action["forward"]) == 1:
                    each["TargetGroupArn"] = action["forward"][0]["arn"]
                each["ForwardConfig"] = {
                    "TargetGroups": [{"TargetGroupArn": s["arn"], "Weight": s["weight"]} for s in action["forward"]],
                    "TargetGroupStickinessConfig": {"Enabled": action["sticky"]}}
            elif action["type"] == "redirect":
                each["RedirectConfig"] = {"Host": "#{host}", "Path": "/#{path}", "Query": "#{query}", **action["config"]}
            else:
                each["FixedResponseConfig"] = {"StatusCode": action["status"]}
            shown.append(each)
        return shown

    def read_certificates(self, given):
        for each in given:
            if each["CertificateArn"] not in CERTIFICATES:
                raise refusal("CertificateNotFound", f"Certificate ARN '{each['CertificateArn']}' is not valid")
        return [each["CertificateArn"] for each in given]

    def check_listener(self, balancer, protocol, certificates, policy):
        if protocol not in ({"TCP"} if balancer["type"] == "network" else {"HTTP", "HTTPS"}):
            raise refusal("UnsupportedProtocol", f"{protocol} on a balancer of type {balancer['type']}")
        if protocol == "HTTPS" and len(certificates) != 1:
            raise invalid("A certificate must be specified for HTTPS listeners")
        if protocol != "HTTPS" and (certificates or policy):
            raise invalid(f"{protocol} listeners have neither certificates nor policies")

    def create_listener(self, given):
        balancer = self.balancer(given["LoadBalancerArn"])
        port, protocol = number(given["Port"], 1, 65535, "Port"), given["Protocol"]
        certificates = self.read_certificates(given.get("Certificates", []))
        self.check_listener(balancer, protocol, certificates, given.get("SslPolicy"))
        made = {"balancer": balancer["arn"], "port": port, "protocol": protocol,
                "certificate": certificates[0] if certificates else None,
                "policy": given.get("SslPolicy", "ELBSecurityPolicy-2016-08") if protocol == "HTTPS" else None,
                "actions": self.read_actions(given["DefaultActions"], balancer)}
        for there in self.listeners.values():
            if there["balancer"] == balancer["arn"] and there["port"] == port:
                if any(there[field] != made[field] for field in made):
                    raise refusal("DuplicateListener", f"A listener already exists on port {port}")
                return {"Listeners": [self.show_listener(there)]}
        if sum(l["balancer"] == balancer["arn"] for l in self.listeners.values()) >= self.quotas["listeners"]:
            raise refusal("TooManyListeners", "the quota of listeners has been reached")
        arn = balancer["arn"].replace("loadbalancer/", "listener/") + "/" + secrets.token_hex(8)
        made.update(arn=arn, tags=read_tags(given.get("Tags", [])), certificates=set(), seen_from=self.calls + self.hidden)
        self.listeners[arn] = made
        return {"Listeners": [self.show_listener(made)]}

    def show_listener(self, made):
        return {"ListenerArn": made["arn"], "LoadBalancerArn": made["balancer"], "Port": made["port"], "Protocol": made["protocol"],
                "SslPolicy": made["policy"], "DefaultActions": self.show_actions(made["actions"]),
                "Certificates": [{"CertificateArn": made["certificate"]}] if made["certificate"] else None}

    def modify_listener(self, given):
        made = dict(self.listener(given["ListenerArn"]))
        balancer = self.balancers[made["balancer"]]
        if "Port" in given:
            made["port"] = number(given["Port"], 1, 65535, "Port")
        made["protocol"] = given.get("Protocol", made["protocol"])
        if "Certificates" in given:
            certificates = self.read_certificates(given["Certificates"])
            made["certificate"] = certificates[0]
        certificates = [made["certificate"]] if made["protocol"] == "HTTPS" and made["certificate"] else []
        self.check_listener(balancer, made["protocol"], certificates, given.get("SslPolicy"))
        made["policy"] = given.get("SslPolicy", made["policy"])
        if "DefaultActions" in given:
            made["actions"] = self.read_actions(given["DefaultActions"], balancer)
        if any(l["arn"] != made["arn"] and (l["balancer"], l["port"]) == (made["balancer"], made["port"]) for l in self.listeners.values()):
            raise refusal("DuplicateListener", f"A listener already exists on port {made['port']}")
        self.release(self.listeners[made["arn"]]["actions"], made["actions"])
        self.listeners[made["arn"]] = made
        return {"Listeners": [self.show_listener(made)]}

    def describe_listeners(self, given):
        if ("LoadBalancerArn" in given) == ("ListenerArns" in given):
            raise invalid("LoadBalancerArn or ListenerArns")
        if "LoadBalancerArn" in given:
            self.balancer(given["LoadBalancerArn"])
        found = [l for l in sorted(self.listeners.values(), key=lambda l: l["port"]) if self.visible(l) and
                 (l["balancer"] == given.get("LoadBalancerArn") or l["arn"] in given.get("ListenerArns", []))]
        return self.page(given, [self.show_listener(l) for l in found], "Listeners")

    def release(self, before, after=()):
        """Groups that something has led to stay in use for a moment."""
        kept = {share["arn"] for action in after for share in action.get("forward", [])}
        for action in before:
            for share in action.get("forward", []):
                if share["arn"] in self.groups and share["arn"] not in kept:
                    self.groups[share["arn"]]["in_use_until"] = self.calls + self.releasing

    def drop_listener(self, listener):
        for rule in [r for r in self.rules.values() if r["listener"] == listener["arn"]]:
            del self.rules[rule["arn"]]
            self.release(rule["actions"])
        del self.listeners[listener["arn"]]
        self.release(listener["actions"])

    def delete_listener(self, given):
        self.drop_listener(self.listener(given["ListenerArn"]))
        return {}

    def add_listener_certificates(self, given):
        listener = self.listener(given["ListenerArn"])
        if listener["protocol"] != "HTTPS":
            raise refusal("UnsupportedProtocol", "certificates are of HTTPS listeners")
        more = set(self.read_certificates(given["Certificates"]))
        if len(listener["certificates"] | more) > self.quotas["certificates"]:
            raise refusal("TooManyCertificates", "the quota of certificates has been reached")
        listener["certificates"] |= more
        return {"Certificates": given["Certificates"]}

    def remove_listener_certificates(self, given):
        listener = self.listener(given["ListenerArn"])
        listener["certificates"] -= {each["CertificateArn"] for each in given["Certificates"]}
        return {}

    def describe_listener_certificates(self, given):
        listener = self.listener(given["ListenerArn"])
        first = [{"CertificateArn": listener["certificate"], "IsDefault": True}] if listener["certificate"] else []
        return self.page(given, first + [{"CertificateArn": arn, "IsDefault": False} for arn in sorted(listener["certificates"])],
                         "Certificates")

    # --- rules ---

    def rules_of(self, listener):
        return [r for r in self.rules.values() if r["listener"] == listener["arn"]]

    def create_rule(self, given):
        listener = self.listener(given["ListenerArn"])
        if listener["protocol"] == "TCP":
            raise refusal("UnsupportedProtocol", "listeners of network balancers have no rules")
        priority = number(given["Priority"], 1, 50000, "Priority")
        conditions = read_conditions(given["Conditions"], self.quotas)
        actions = self.read_actions(given["Actions"], self.balancers[listener["balancer"]])
        if any(r["priority"] == priority for r in self.rules_of(listener)):
            raise refusal("PriorityInUse", f"Priority '{priority}' is currently in use")
        if len(self.rules_of(listener)) >= self.quotas["rules"]:
            raise refusal("TooManyRules", "the quota of rules has been reached")
        arn = listener["arn"].replace("listener/", "listener-rule/") + "/" + secrets.token_hex(8)
        made = {"arn": arn, "listener": listener["arn"], "priority": priority, "conditions": conditions, "actions": actions,
                "tags": read_tags(given.get("Tags", [])), "seen_from": self.calls + self.hidden}
        self.rules[arn] = made
        return {"Rules": [self.show_rule(made)]}

    def show_rule(self, made):
        configs = {"host-header": "HostHeaderConfig", "path-pattern": "PathPatternConfig"}
        return {"RuleArn": made["arn"], "Priority": made["priority"], "IsDefault": False,
                "Conditions": [{"Field": field, "Values": values, configs[field]: {"Values": values}}
                               for field, values in made["conditions"].items()], "Actions": self.show_actions(made["actions"])}

    def modify_rule(self, given):
        rule = self.rule(given["RuleArn"])
        balancer = self.balancers[self.listeners[rule["listener"]]["balancer"]]
        conditions = read_conditions(given["Conditions"], self.quotas) if "Conditions" in given else rule["conditions"]
        actions = self.read_actions(given["Actions"], balancer) if "Actions" in given else rule["actions"]
        self.release(rule["actions"], actions)
        rule.update(conditions=conditions, actions=actions)
        return {"Rules": [self.show_rule(rule)]}

    def describe_rules(self, given):
        if ("ListenerArn" in given) == ("RuleArns" in given):
            raise invalid("ListenerArn or RuleArns")
        if "RuleArns" in given:
            return {"Rules": [self.show_rule(self.rule(arn)) for arn in given["RuleArns"]]}
        listener = self.listener(given["ListenerArn"])
        shown = [self.show_rule(r) for r in sorted(self.rules_of(listener), key=lambda r: r["priority"]) if self.visible(r)]
        rest = {"RuleArn": listener["arn"].replace("listener/", "listener-rule/") + "/default", "Priority": "default",
                "IsDefault": True, "Conditions": [], "Actions": self.show_actions(listener["actions"])}
        return self.page(given, shown + [rest], "Rules")

    def delete_rule(self, given):
        rule = self.rule(given["RuleArn"])
        del self.rules[rule["arn"]]
        self.release(rule["actions"])
        return {}

    def set_rule_priorities(self, given):
        after = {}
        for each in given["RulePriorities"]:
            rule = self.rule(each["RuleArn"])
            if rule["arn"] in after:
                raise invalid("a rule is there twice")
            after[rule["arn"]] = number(each["Priority"], 1, 50000, "Priority")
        listeners = {self.rules[arn]["listener"] for arn in after}
        if len(listeners) != 1:
            raise invalid("All rules must belong to the same listener")
        of_all = [after.get(r["arn"], r["priority"]) for r in self.rules_of(self.listeners[listeners.pop()])]
        if len(set(of_all)) != len(of_all):
            raise refusal("PriorityInUse", "a priority is currently in use")
        for arn, priority in after.items():
            self.rules[arn]["priority"] = priority
        return {"Rules": [self.show_rule(self.rules[arn]) for arn in after]}


def main():
    emulator = Emulator().start()
    print("ready", emulator.url, flush=True)
    sys.stdin.read()  # until whoever started us is gone
    emulator.stop()


if __name__ == "__main__":
    main()
