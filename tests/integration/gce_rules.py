"""What Compute Engine takes and what it does not: the rules of gce_emulator.py, one function per collection. Each looks at
a body that is to be stored and raises Refusal. `world` is the emulator: it finds things by their references."""

import ipaddress
import re
import subprocess
import tempfile

NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
HOST = re.compile(r"\*|(\*[-.])?[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
LABEL = re.compile(r"[a-z0-9_-]{0,63}")
MAX_URL_MAP = 1_000_000
SCHEMES = {"global": "EXTERNAL_MANAGED", "regions": "INTERNAL_MANAGED"}

ABORT = {"httpStatus": int, "percentage": (int, float)}
ACTION = {"weightedBackendServices": [{"backendService": str, "weight": int}], "faultInjectionPolicy": {"abort": ABORT}}
REDIRECT = {"httpsRedirect": bool, "redirectResponseCode": str, "stripQuery": bool, "hostRedirect": str, "pathRedirect": str}
DEFAULTS = {"defaultService": str, "defaultRouteAction": ACTION, "defaultUrlRedirect": REDIRECT}
CHECK = {"port": int, "portSpecification": str, "requestPath": str, "host": str, "proxyHeader": str}
COMMON = {"name": str, "description": str}
# What may be sent: anything else is an unknown name.
SCHEMAS = {
    "addresses": {**COMMON, "addressType": str, "ipVersion": str, "purpose": str, "subnetwork": str, "networkTier": str},
    "healthChecks": {**COMMON, "type": str, "checkIntervalSec": int, "timeoutSec": int, "healthyThreshold": int,
                     "unhealthyThreshold": int, "tcpHealthCheck": CHECK, "httpHealthCheck": CHECK, "httpsHealthCheck": CHECK},
    "networkEndpointGroups": {**COMMON, "networkEndpointType": str, "network": str, "subnetwork": str, "defaultPort": int},
    "sslCertificates": {**COMMON, "type": str, "selfManaged": {"certificate": str, "privateKey": str}},
    "backendServices": {**COMMON, "loadBalancingScheme": str, "protocol": str, "healthChecks": [str], "timeoutSec": int,
                        "backends": [{"group": str, "balancingMode": str, "maxRatePerEndpoint": (int, float),
                                      "capacityScaler": (int, float)}],
                        "connectionDraining": {"drainingTimeoutSec": int}, "sessionAffinity": str, "localityLbPolicy": str,
                        "affinityCookieTtlSec": int, "fingerprint": str},
    "urlMaps": {**COMMON, **DEFAULTS, "fingerprint": str, "hostRules": [{"hosts": [str], "pathMatcher": str}],
                "pathMatchers": [{"name": str, **DEFAULTS, "pathRules": [
                    {"paths": [str], "service": str, "routeAction": ACTION, "urlRedirect": REDIRECT}]}]},
    "targetHttpProxies": {**COMMON, "urlMap": str},
    "targetHttpsProxies": {**COMMON, "urlMap": str, "sslCertificates": [str]},
    "forwardingRules": {**COMMON, "target": str, "IPAddress": str, "IPProtocol": str, "portRange": str,
                        "loadBalancingScheme": str, "network": str, "subnetwork": str, "allowGlobalAccess": bool,
                        "networkTier": str},
}
# What the service fills in where nothing was said.
FILLED = {
    "backendServices": {"timeoutSec": 30, "port": 80, "portName": "http", "sessionAffinity": "NONE",
                        "localityLbPolicy": "ROUND_ROBIN", "affinityCookieTtlSec": 0, "enableCDN": False,
                        "connectionDraining": {"drainingTimeoutSec": 0}},
    "forwardingRules": {"networkTier": "PREMIUM"},
    "targetHttpsProxies": {"quicOverride": "NONE"},
}


class Refusal(Exception):
    def __init__(self, status, reason, message):
        super().__init__(reason, message)
        self.status, self.reason, self.message = status, reason, message


def invalid(field, value, why=""):
    return Refusal(400, "invalid", f"Invalid value for field '{field}': '{str(value)[:200]}'. {why}")


def required(field):
    return Refusal(400, "required", f"Required field '{field}' not specified")


def check_schema(value, schema, where):
    """Unknown names and wrong types are refused, as the service's parser does."""
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            raise invalid(where, value, "An object is expected.")
        for name, inner in value.items():
            if name not in schema:
                raise Refusal(400, "invalid", f"Invalid JSON payload received. Unknown name \"{name}\" at '{where}'")
            check_schema(inner, schema[name], f"{where}.{name}")
    elif isinstance(schema, list):
        if not isinstance(value, list):
            raise invalid(where, value, "A list is expected.")
        for number, inner in enumerate(value):
            check_schema(inner, schema[0], f"{where}[{number}]")
    elif not isinstance(value, schema) or (isinstance(value, bool) and schema is not bool):
        raise invalid(where, value, "Another type is expected.")


def need(body, field, where="resource"):
    if body.get(field) in (None, "", []):
        raise required(f"{where}.{field}")
    return body[field]


def among(body, field, values):
    if field in body and body[field] not in values:
        raise invalid(f"resource.{field}", body[field], f"Must be one of {sorted(values)}.")


def between(body, field, low, high):
    if field in body and not low <= body[field] <= high:
        raise invalid(f"resource.{field}", body[field], f"Must be within {low}..{high}.")


def same_place(reference, place, field):
    if f"/{place}/" not in "/" + reference:
        raise invalid(field, reference, f"It must be in {place}.")


def addresses(world, place, body):
    if place == "global":
        among(body, "addressType", {"EXTERNAL"})
        among(body, "ipVersion", {"IPV4", "IPV6"})
        if "subnetwork" in body or "purpose" in body:
            raise invalid("resource.subnetwork", body.get("subnetwork"), "Global addresses have none.")
        return
    if body.get("addressType") != "INTERNAL":
        raise invalid("resource.addressType", body.get("addressType"), "Not covered here.")
    if "ipVersion" in body:
        raise invalid("resource.ipVersion", body["ipVersion"], "Only for global addresses.")
    among(body, "purpose", {"GCE_ENDPOINT", "SHARED_LOADBALANCER_VIP"})
    world.subnetwork(need(body, "subnetwork"), place)


def healthChecks(world, place, body):
    kind = need(body, "type")
    among(body, "type", {"TCP", "HTTP", "HTTPS"})
    block = kind.lower() + "HealthCheck"
    if any(name.endswith("HealthCheck") and name != block for name in body):
        raise invalid("resource.type", kind, "The block of another type is there.")
    details = need(body, block)
    if details.get("portSpecification") != "USE_SERVING_PORT" and "port" not in details:
        raise required(f"resource.{block}.port")
    if "requestPath" in details and (kind == "TCP" or not details["requestPath"].startswith("/")):
        raise invalid(f"resource.{block}.requestPath", details["requestPath"])
    if body.get("timeoutSec", 5) > body.get("checkIntervalSec", 5):
        raise invalid("resource.timeoutSec", body["timeoutSec"], "It must not be above checkIntervalSec.")


def networkEndpointGroups(world, place, body):
    kind = need(body, "networkEndpointType")
    among(body, "networkEndpointType", {"GCE_VM_IP_PORT", "NON_GCP_PRIVATE_IP_PORT"})
    if "network" in body:
        world.network(body["network"])
    if "subnetwork" in body:
        if kind != "GCE_VM_IP_PORT":
            raise invalid("resource.subnetwork", body["subnetwork"], f"Not for {kind}.")
        world.subnetwork(body["subnetwork"], "regions/" + place.split("/")[1].rsplit("-", 1)[0])


def openssl(arguments, text):
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(text)
        file.flush()
        return subprocess.run(["openssl", *arguments, "-in", file.name], capture_output=True, text=True, check=False)


def sslCertificates(world, place, body):
    if body.get("type") != "SELF_MANAGED":
        raise invalid("resource.type", body.get("type"), "Not covered here.")
    pair = need(body, "selfManaged")
    certificate, key = need(pair, "certificate", "resource.selfManaged"), need(pair, "privateKey", "resource.selfManaged")
    if "PRIVATE KEY" in certificate or not certificate.startswith("-----BEGIN CERTIFICATE-----"):
        raise Refusal(400, "sslCertificateCouldNotParseCert", "The SSL certificate could not be parsed.")
    first, second = openssl(["x509", "-pubkey", "-noout"], certificate), openssl(["pkey", "-pubout"], key)
    if first.returncode:
        raise Refusal(400, "sslCertificateCouldNotParseCert", "The SSL certificate could not be parsed.")
    if second.returncode:
        raise Refusal(400, "sslCertificateCouldNotParsePrivateKey", "The SSL key could not be parsed.")
    if first.stdout.strip() != second.stdout.strip():
        raise Refusal(400, "sslCertificateKeyMismatch", "The SSL key does not match the certificate.")


def backendServices(world, place, body):
    among(body, "loadBalancingScheme", {SCHEMES[place.split("/")[0]]})
    need(body, "loadBalancingScheme")
    among(body, "protocol", {"HTTP", "HTTPS", "HTTP2"})
    among(body, "sessionAffinity", {"NONE", "CLIENT_IP", "GENERATED_COOKIE", "HEADER_FIELD", "HTTP_COOKIE"})
    among(body, "localityLbPolicy", {"ROUND_ROBIN", "LEAST_REQUEST", "RING_HASH", "RANDOM", "MAGLEV"})
    between(body, "timeoutSec", 1, 2_147_483_647)
    between(body, "affinityCookieTtlSec", 0, 1_209_600)
    if body.get("sessionAffinity", "NONE") != "NONE" and body.get("localityLbPolicy") not in ("RING_HASH", "MAGLEV"):
        raise invalid("resource.localityLbPolicy", body.get("localityLbPolicy"), "Session affinity needs a hashing policy.")
    if len(need(body, "healthChecks")) != 1:
        raise invalid("resource.healthChecks", body["healthChecks"], "Exactly one is needed.")
    world.find(body["healthChecks"][0], "healthChecks", "resource.healthChecks[0]")
    same_place(body["healthChecks"][0], place, "resource.healthChecks[0]")
    groups = [backend.get("group") for backend in body.get("backends", [])]
    if len(groups) > 50:
        raise Refusal(400, "invalid", "Exceeded limit of backends: 50.")
    if len(set(groups)) != len(groups):
        raise invalid("resource.backends", groups, "A group is there twice.")
    for number, backend in enumerate(body.get("backends", [])):
        where = f"resource.backends[{number}]"
        world.find(need(backend, "group", where), "networkEndpointGroups", where + ".group")
        if place != "global":
            same_place(re.sub(r"/zones/([a-z0-9-]+)-[a-z]/", r"/regions/\1/", backend["group"]), place, where + ".group")
        if backend.get("balancingMode") != "RATE":
            raise invalid(where + ".balancingMode", backend.get("balancingMode"), "Groups of endpoints need RATE.")
        if not backend.get("maxRatePerEndpoint", 0) > 0:
            raise required(where + ".maxRatePerEndpoint")


def check_action(world, place, action, where):
    services = action.get("weightedBackendServices", [])
    for each in services:
        world.find(need(each, "backendService", where), "backendServices", where)
        same_place(each["backendService"], place, where)
        if not 0 <= need_number(each, "weight", where) <= 1000:
            raise invalid(where + ".weight", each["weight"], "Must be within 0..1000.")
    if services and not any(each["weight"] for each in services):
        raise invalid(where + ".weight", 0, "One of the weights must be above 0.")
    abort = action.get("faultInjectionPolicy", {}).get("abort", {})
    if abort and not (200 <= abort.get("httpStatus", 0) <= 599 and 0 <= abort.get("percentage", -1) <= 100):
        raise invalid(where + ".faultInjectionPolicy.abort", abort)


def need_number(body, field, where):
    if field not in body:
        raise required(f"{where}.{field}")
    return body[field]


def check_choice(world, place, body, where, names=("defaultService", "defaultRouteAction", "defaultUrlRedirect")):
    service, action, redirect = (body.get(name) for name in names)
    weighted = (action or {}).get("weightedBackendServices")
    if sum(map(bool, (service, weighted, redirect))) != 1:
        raise invalid(where, list(body), f"Exactly one of {names[0]}, {names[1]}.weightedBackendServices, {names[2]}.")
    if redirect and action:
        raise invalid(f"{where}.{names[1]}", action, f"Not together with {names[2]}.")
    if service:
        world.find(service, "backendServices", f"{where}.{names[0]}")
        same_place(service, place, f"{where}.{names[0]}")
    if redirect:
        if not any(redirect.get(name) for name in ("httpsRedirect", "hostRedirect", "pathRedirect")):
            raise invalid(f"{where}.{names[2]}", redirect, "It redirects to nowhere else.")
        among(redirect, "redirectResponseCode",
              {"MOVED_PERMANENTLY_DEFAULT", "FOUND", "SEE_OTHER", "TEMPORARY_REDIRECT", "PERMANENT_REDIRECT"})
    if action:
        check_action(world, place, action, f"{where}.{names[1]}")


def urlMaps(world, place, body):
    if len(str(body)) > MAX_URL_MAP:
        raise Refusal(400, "invalid", "The URL map exceeds the maximum size.")
    check_choice(world, place, body, "resource")
    matchers = [need(each, "name", "resource.pathMatchers") for each in body.get("pathMatchers", [])]
    if len(set(matchers)) != len(matchers):
        raise invalid("resource.pathMatchers", matchers, "A name is there twice.")
    hosts = []
    for number, rule in enumerate(body.get("hostRules", [])):
        if need(rule, "pathMatcher", f"resource.hostRules[{number}]") not in matchers:
            raise invalid(f"resource.hostRules[{number}].pathMatcher", rule["pathMatcher"], "There is no such path matcher.")
        hosts += need(rule, "hosts", f"resource.hostRules[{number}]")
    if len(set(hosts)) != len(hosts):
        raise invalid("resource.hostRules", hosts, "A host is there twice.")
    for host in hosts:
        if not HOST.fullmatch(host):
            raise invalid("resource.hostRules.hosts", host)
    unused = set(matchers) - {rule["pathMatcher"] for rule in body.get("hostRules", [])}
    if unused:
        raise invalid("resource.pathMatchers", unused, "No host rule leads there.")
    for number, matcher in enumerate(body.get("pathMatchers", [])):
        where = f"resource.pathMatchers[{number}]"
        if not NAME.fullmatch(matcher["name"]):
            raise invalid(where + ".name", matcher["name"])
        check_choice(world, place, matcher, where)
        paths = []
        for rule in matcher.get("pathRules", []):
            paths += need(rule, "paths", where + ".pathRules")
            check_choice(world, place, rule, where + ".pathRules", ("service", "routeAction", "urlRedirect"))
        if len(set(paths)) != len(paths):
            raise invalid(where + ".pathRules", paths, "A path is there twice.")
        for path in paths:
            plain = path[:-1] if path.endswith("/*") else path
            if not path.startswith("/") or re.search(r"[*?#\s]", plain) or len(path) > 1024:
                raise invalid(where + ".pathRules.paths", path)


def targetHttpProxies(world, place, body):
    world.find(need(body, "urlMap"), "urlMaps", "resource.urlMap")
    same_place(body["urlMap"], place, "resource.urlMap")


def check_certificates(world, place, references):
    if not 1 <= len(references) <= 15:
        raise invalid("resource.sslCertificates", len(references), "A target HTTPS proxy has 1 to 15 SSL certificates.")
    for reference in references:
        world.find(reference, "sslCertificates", "resource.sslCertificates")
        same_place(reference, place, "resource.sslCertificates")


def targetHttpsProxies(world, place, body):
    targetHttpProxies(world, place, body)
    check_certificates(world, place, body.get("sslCertificates", []))


def forwardingRules(world, place, body):
    scheme = need(body, "loadBalancingScheme")
    among(body, "loadBalancingScheme", {SCHEMES[place.split("/")[0]]})
    among(body, "IPProtocol", {"TCP"})
    if not re.fullmatch(r"(\d+)-\1", need(body, "portRange")):
        raise invalid("resource.portRange", body["portRange"], "One port is expected.")
    target = need(body, "target")
    collection = "targetHttpsProxies" if "/targetHttpsProxies/" in target else "targetHttpProxies"
    proxy = world.find(target, collection, "resource.target")
    same_place(target, place, "resource.target")
    url_map = world.find(proxy["urlMap"], "urlMaps", "resource.target")
    service = url_map.get("defaultService")
    if service and world.find(service, "backendServices", "resource.target")["loadBalancingScheme"] != scheme:
        raise invalid("resource.loadBalancingScheme", scheme, "The backend services have another.")
    address = world.address_of(need(body, "IPAddress"), place)
    for other in world.of_collection("forwardingRules"):
        if world.address_of(other["IPAddress"], place) is not address or other["name"] == body["name"]:
            continue
        if other["portRange"] == body["portRange"]:
            raise Refusal(400, "ipAddressInUse", f"Specified IP address is in-use with port {body['portRange']}.")
        if place != "global" and address.get("purpose") != "SHARED_LOADBALANCER_VIP":
            raise Refusal(400, "ipAddressInUse", "IP is in use, and its purpose is not SHARED_LOADBALANCER_VIP.")
    if place != "global":
        world.network(need(body, "network"))
        world.subnetwork(need(body, "subnetwork"), place)
        if not any(each["purpose"] == "REGIONAL_MANAGED_PROXY" and each["place"] == place for each in world.subnetworks.values()):
            raise invalid("resource.subnetwork", body["subnetwork"], "An active proxy-only subnetwork is needed in the region.")
    elif "subnetwork" in body or "network" in body:
        raise invalid("resource.network", body.get("network"), "Not for global external forwarding rules.")


def check_endpoint(world, group, place, endpoint):
    where = "networkEndpoints"
    check_schema(endpoint, {"instance": str, "ipAddress": str, "port": int}, where)
    if not 1 <= need(endpoint, "port", where) <= 65535:
        raise invalid(where + ".port", endpoint["port"])
    try:
        address = ipaddress.IPv4Address(need(endpoint, "ipAddress", where))
    except ValueError:
        raise invalid(where + ".ipAddress", endpoint["ipAddress"]) from None
    if group["networkEndpointType"] == "NON_GCP_PRIVATE_IP_PORT":
        if "instance" in endpoint:
            raise invalid(where + ".instance", endpoint["instance"], "Not for NON_GCP_PRIVATE_IP_PORT.")
        if not address.is_private:
            raise invalid(where + ".ipAddress", address, "It is no private address.")
        return
    name = need(endpoint, "instance", where).rsplit("/", 1)[-1]
    instance = world.instances.get((place.split("/")[1], name))
    if instance is None:
        raise Refusal(404, "notFound", f"The resource '{place}/instances/{name}' was not found")
    ranges = [ipaddress.ip_network(each) for each in [instance["ip"] + "/32", *instance.get("aliases", [])]]
    if not any(address in each for each in ranges):
        raise invalid(where + ".ipAddress", address, f"It does not belong to instance {name}.")


def check(world, collection, place, body):
    check_schema(body, SCHEMAS[collection], "resource")
    if not NAME.fullmatch(need(body, "name")):
        raise invalid("resource.name", body["name"], "Must be a match of regex '[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?'")
    if len(body.get("description", "")) > 2048:
        raise invalid("resource.description", "...", "At most 2048 characters.")
    globals()[collection](world, place, body)
