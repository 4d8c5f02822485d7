#!/usr/bin/env python3
"""What a dead emitter has left in a gorouter, with a real nats-server: endpoints with TLS, which routers never drop by themselves and
of which nobody knows any more. The next emitter finds them in the router's table and withdraws what has its mark, and nothing else."""

import json
import re
import socket
import time

from emitter_tools import EmitterScene
from harness import main, until

LIVES, LEFT = ("foo.com", "10.10.1.2:59443"), ("foo.com", "10.10.1.3:59444")
UNKNOWN = ("gone.com", "10.10.1.4:59445")  # of a process that is gone
STALE = ("kept.com", "10.10.1.5:59446")  # of a process that is gone, whose domain is not fresh
OTHERS = {("foo.com", "10.9.9.8:443"), ("foo.com", "10.9.9.9:443"), ("gone.com", "10.9.9.9:443")}


class EmitterAuditTest(EmitterScene):
    def audited(self, name, *words):
        return self.emitter(name, "--router-status", f"http://{self.router.address}", "--audit-interval", "3s", *words)

    def tls(self, guid, index, address, port):
        self.receptor("PUT", f"actual_lrps/{guid}/index/{index}",
                      {"state": "RUNNING", "instance_guid": f"{guid}-{index}", "cell_id": "cell-1", "address": address,
                       "ports": [{"container_port": 4000, "host_port": port - 1000, "host_tls_proxy_port": port}]}, 201)

    def register(self, address, names, tags):
        """As another emitter on the same NATS does."""
        body = json.dumps({"host": address, "port": 80, "tls_port": 443, "uris": names, "tags": tags}).encode()
        with socket.create_connection(("127.0.0.1", self.nats.port), timeout=10) as nats:
            nats.sendall(b"CONNECT {\"verbose\":false}\r\nPUB router.register %d\r\n%s\r\nPING\r\n" % (len(body), body))
            said = b""
            while b"PONG" not in said:
                said += nats.recv(4096)

    def sample(self, emitter, name, label):
        """Nothing before the first audit."""
        labels = ",".join(sorted((label, f'router="http://{self.router.address}"')))
        found = re.search(re.escape(f"{name}{{{labels}}} ") + r"(\S+)", emitter.get("/metrics"))
        return float(found.group(1)) if found else None

    def differences(self, emitter, kind):
        return self.sample(emitter, "fairlead_gorouter_audit_differences", f'kind="{kind}"')

    def tag(self, pair):
        return next(each["tags"].get("fairlead") for each in self.router.get("/routes")[pair[0]] if each["address"] == pair[1])

    def web(self):
        self.desire("web", {"cf-router": [{"port": 4000, "hostnames": ["foo.com"]}]}, instances=2)
        self.tls("web", 0, "10.10.1.2", 59443)
        self.tls("web", 1, "10.10.1.3", 59444)

    def test_what_a_dead_emitter_left_is_withdrawn(self):
        first = self.audited("first")
        self.web()
        self.desire("gone", {"cf-router": [{"port": 4000, "hostnames": ["gone.com"]}]})
        self.tls("gone", 0, "10.10.1.4", 59445)
        self.router.until({LIVES, LEFT, UNKNOWN}, "endpoints with TLS")
        mark = self.tag(LIVES)
        self.assertRegex(mark, r"^[0-9a-f]{12}/cf-apps$")
        first.end()  # with what it will owe
        self.receptor("DELETE", "actual_lrps/web/index/1", None, 204)
        self.receptor("DELETE", "desired_lrps/gone", None, 204)
        self.receptor("DELETE", "actual_lrps/gone/index/0", None, 204)
        self.register("10.9.9.8", ["foo.com"], {"component": "route-emitter"})
        self.register("10.9.9.9", ["foo.com", "gone.com"], {"component": "route-emitter", "fairlead": "0123456789ab/cf-apps"})
        self.router.until({LIVES, LEFT, UNKNOWN} | OTHERS, "what was left, and what is of others")
        second = self.audited("second")
        until(second.leads, "the next one leads", 30)
        until(lambda: self.differences(second, "leftover") == 2, "the audit shows what was left", 30)
        self.assertEqual({LIVES, LEFT, UNKNOWN} | OTHERS, self.router.pairs(), "once is not enough")
        self.assertEqual(mark, self.tag(LIVES), "both have the mark of their lease")
        self.router.until({LIVES} | OTHERS, "what was left is gone")
        until(lambda: self.differences(second, "leftover") == 0, "and the audit says so", 30)
        self.assertEqual(2, self.differences(second, "foreign"), "at foo.com; gone.com is no name of ours")
        self.assertIn('"a gorouter differs from the table"', second.text())
        withdrawn = second.metric("fairlead_gorouter_names_withdrawn_total")
        time.sleep(10)
        self.assertEqual(withdrawn, second.metric("fairlead_gorouter_names_withdrawn_total"), "it is said once")
        self.assertEqual({LIVES} | OTHERS, self.router.pairs())

    def test_a_domain_that_is_not_fresh_keeps_its_names_and_another_mark_is_anothers(self):
        self.server.request("PUT", "/v1/domains/cf-apps", headers={"Cache-Control": "max-age=5"})
        first = self.audited("first")
        self.desire("kept", {"cf-router": [{"port": 4000, "hostnames": ["kept.com"]}]})
        self.tls("kept", 0, "10.10.1.5", 59446)
        self.router.until({STALE}, "an endpoint with TLS")
        first.end()
        self.receptor("DELETE", "desired_lrps/kept", None, 204)
        self.receptor("DELETE", "actual_lrps/kept/index/0", None, 204)
        time.sleep(5)  # until the domain is not fresh
        other = self.audited("other", "--no-lease", "--mark", "another")
        until(lambda: (self.sample(other, "fairlead_gorouter_audits_total", 'result="good"') or 0) > 2,
              "an emitter with another mark has audited", 60)
        self.assertEqual(0, self.differences(other, "leftover"))
        other.end()
        second = self.audited("second")
        until(lambda: self.differences(second, "leftover") == 1, "it is shown", 60)
        time.sleep(40)  # longer than it takes where the domain is fresh
        self.assertEqual({STALE}, self.router.pairs())
        self.server.request("PUT", "/v1/domains/cf-apps")  # fresh for ever
        self.router.until(set(), "its domain is fresh, and does not have it")


if __name__ == "__main__":
    main()
