"""What tests of balancers on machines of one's own share: a `fairlead router --loadbalancer` process, LoadBalancers,
Ingresses, who carries them, and what the process has counted."""

import json
import re
import urllib.request

from router_world import RouterProcess


class BalancerProcess(RouterProcess):
    """One `fairlead router --loadbalancer`."""

    def whose(self):
        return ("--loadbalancer", self.router)

    def nginx_pid(self):
        return self.pid_of("s/nginx-http/master.pid")

    def counted(self):
        """What it did to its proxy: Ingresses made anew, changes handed over, reloads for whatever reason."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=30) as answer:
            text = answer.read().decode()

        def total(name):
            return int(sum(float(value) for value in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)", text, re.M)))
        return {"ingresses": total("fairlead_router_changes_total"), "changes": total("fairlead_router_batches_total"),
                "reloads": total("fairlead_proxy_reloads_total") + total("fairlead_proxy_nginx_reloads_total")}


def balancer_object(name, kind="Haproxy", **listen):
    spec = {"capacity": {"network-bandwidth": "1Gi"}, "bareMetalLoadBalancer": {"type": kind, "serviceName": name}}
    if listen:
        spec["listen"] = listen
    return {"apiVersion": "fairlead.dev/v1", "kind": "LoadBalancer", "metadata": {"name": name}, "spec": spec}


def own_source(name, kind):
    """The part of an Ingress that says which balancer on a machine of one's own carries it."""
    return {"bareMetalLoadBalancer": {"type": kind, "serviceName": name}}


def backend(service, port=80):
    return {"service": {"name": service, "port": {"name": port} if isinstance(port, str) else {"number": port}}}


def ingress_object(name, rules, annotations=None, namespace="default", **spec):
    """`rules`: {host: [(path, type, service)]}"""
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
            "metadata": {"name": name, "namespace": namespace, "annotations": annotations or {}},
            "spec": {"rules": [{**({"host": host} if host else {}),
                                "http": {"paths": [{"path": path, "pathType": kind, "backend": backend(service)}
                                                   for path, kind, service in paths]}}
                               for host, paths in rules.items()], **spec}}


def carry(server, ingress, balancer, namespace="default"):
    """As the controller does that binds Ingresses: through the status subresource."""
    path = f"/apis/networking.k8s.io/v1/namespaces/{namespace}/ingresses/{ingress}"
    known = json.loads(server.kubectl("get", "--raw", path).stdout)
    known.setdefault("status", {})["loadBalancerName"] = balancer
    server.kubectl("replace", "--raw", path + "/status", "-f", "-", stdin=json.dumps(known))
