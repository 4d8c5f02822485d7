#!/usr/bin/env python3
"""Several instances of one balancer: all of them are in DNS (ActiveActive), or one of them (ActivePassive), and one that dies
is there no more when its lease has ended. `fairlead router --loadbalancer` with a real HAProxy, asked for with dig and curl."""

import os
import signal
import time

import harness
from balancer_world import BalancerProcess, balancer_object, ingress_object, own_source
from dns_tools import zone
from harness import ServerTest, until
from router_world import Backend, apply, service_objects

LEASE = 15  # seconds, of an instance
LATE = 10  # that a loaded machine may take for what follows


class FailoverTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        backend = Backend("one")
        cls.addClassCleanup(backend.stop)
        apply(cls.server, zone("failover", "failover.test"), *service_objects("web", backend))

    def pair(self, name, network, mode):
        """A balancer with two instances, each with an address of its own, and an Ingress for NAME.failover.test."""
        balancer = balancer_object(name)
        balancer["spec"]["haMode"] = mode
        apply(self.server, balancer, ingress_object(name, {f"{name}.failover.test": [("/", "Prefix", "web")]},
                                                    loadBalancer=own_source(name, "Haproxy")))
        made = {}
        for number in (1, 2):
            process = BalancerProcess(self.server, name, f"{name}-{number}")
            process.address = f"{network}.{number}"
            made[process.address] = process.start()
            self.addCleanup(process.remove)
        return made

    def leads_to(self, name):
        return sorted(self.server.dig(f"{name}.failover.test", "+short", "+tries=1").split())

    def dies(self, process):
        """As its machine does: without a word."""
        proxy = process.haproxy_pid()
        process.kill()
        os.kill(proxy, signal.SIGKILL)

    def test_active_active_leads_to_all_that_live(self):
        pair = self.pair("both", "127.0.48", "ActiveActive")
        first, second = sorted(pair)
        until(lambda: self.leads_to("both") == [first, second], "both are in DNS")
        for process in pair.values():
            process.answers("both.failover.test", backend="one")
        self.dies(pair[first])
        began = time.monotonic()
        until(lambda: self.leads_to("both") == [second], "only the one that lives is", LEASE + LATE)
        self.assertGreater(time.monotonic() - began, 1, "its lease counts, not what one moment shows")
        pair[second].answers("both.failover.test", backend="one")
        pair[first].start()
        until(lambda: self.leads_to("both") == [first, second], "both are again")
        pair[first].answers("both.failover.test", backend="one")
        with self.subTest("one that stops says so before, and nobody waits for its lease"):
            pair[second].stop()
            until(lambda: self.leads_to("both") == [first], "it is not in DNS any more", LATE)

    def test_active_passive_leads_to_one_and_stays_there(self):
        pair = self.pair("single", "127.0.49", "ActivePassive")
        for process in pair.values():
            process.answers("single.failover.test", backend="one")  # the passive one serves whoever still comes to it
        active, = until(lambda: (lambda all_: len(all_) == 1 and all_)(self.leads_to("single")), "one is in DNS")
        passive, = set(pair) - {active}
        self.dies(pair[active])
        until(lambda: self.leads_to("single") == [passive], "the other one is", LEASE + LATE)
        pair[passive].answers("single.failover.test", backend="one")
        pair[active].start()
        pair[active].answers("single.failover.test", backend="one")
        until(lambda: self.instance_is_ready(pair[active].name), "the first one is back")
        for _ in range(10):
            self.assertEqual(self.leads_to("single"), [passive], "and nobody is moved for that")
            time.sleep(0.2)

    def instance_is_ready(self, name):
        return self.kubectl("get", "routerinstance", name, "-o", "jsonpath={.status.ready}").stdout == "true"


if __name__ == "__main__":
    harness.main()
