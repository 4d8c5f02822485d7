"""What tests of claims share: claims, who uses them, what they say, and a server whose balancers are made by a provider."""

import json
import tempfile
from pathlib import Path

from harness import Fairlead, until


def claim_object(name, requests, namespace="default", **spec):
    return {"apiVersion": "fairlead.dev/v1", "kind": "LoadBalancerClaim", "metadata": {"name": name, "namespace": namespace},
            "spec": {"resources": {"requests": requests}, **spec}}


def cloud_balancer_object(name, cloud, lb_name, **spec):
    return {"apiVersion": "fairlead.dev/v1", "kind": "LoadBalancer", "metadata": {"name": name},
            "spec": {"capacity": {"network-bandwidth": "1Gi"}, f"{cloud}LoadBalancer": {"lbName": lb_name}, **spec}}


def by_claim(name):
    return {"loadBalancer": {"loadBalancerClaim": {"claimName": name}}}


class Claims:
    """What tests of all kinds of balancers ask."""

    def get(self, kind, name, namespace="default"):
        return json.loads(self.kubectl("get", kind, name, "-n", namespace, "-o", "json").stdout)

    def claim_is(self, name, phase, namespace="default", seconds=60):
        return until(lambda: (lambda c: c["status"].get("phase") == phase and c)(self.get("lbc", name, namespace)),
                     f"claim {namespace}/{name} is {phase}", seconds)

    def condition(self, object_, type_):
        return next((c for c in object_["status"].get("conditions", []) if c["type"] == type_), {})

    def ingress_is(self, name, type_, status, namespace="default", seconds=60):
        return until(lambda: (lambda i: self.condition(i, type_).get("status") == status and i)(self.get("ingress", name, namespace)),
                     f"ingress {namespace}/{name} is {type_}={status}", seconds)

    def no_balancer_is_left(self):
        until(lambda: not json.loads(self.kubectl("get", "lb", "-o", "json").stdout)["items"], "no LoadBalancer is left", 60)


def serve_with_provider(test, secret=None, **provider):
    """A server for the class whose only provider, the default one, is this."""
    folder = tempfile.TemporaryDirectory()
    test.addClassCleanup(folder.cleanup)
    if secret:
        (Path(folder.name) / "secret.yaml").write_text(json.dumps(secret))
        provider["secretFile"] = f"{folder.name}/secret.yaml"
    settings = Path(folder.name) / "balancers.yaml"
    settings.write_text(json.dumps({"installation": "test", "defaultProvider": provider["name"], "providers": [provider]}))
    server = Fairlead("--balancers", settings).start()
    test.addClassCleanup(server.remove)
    return server
