"""What tests of balancers on machines of one's own share: a `fairlead router --loadbalancer` process, LoadBalancers,
Ingresses, and who carries them."""

import json

from router_world import RouterProcess


class BalancerProcess(RouterProcess):
    """One `fairlead router --loadbalancer`."""

    def whose(self):
        return ("--loadbalancer", self.router)

    def nginx_pid(self):
        return self.pid_of("s/nginx-http/master.pid")


def balancer_object(name, kind="Haproxy", **listen):
    spec = {"capacity": {"network-bandwidth": "1Gi"}, "bareMetalLoadBalancer": {"type": kind, "serviceName": name}}
    if listen:
        spec["listen"] = listen
    return {"apiVersion": "fairlead.dev/v1", "kind": "LoadBalancer", "metadata": {"name": name}, "spec": spec}


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
