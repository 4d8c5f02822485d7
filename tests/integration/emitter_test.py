#!/usr/bin/env python3
"""`fairlead emitter` between real processes: the Receptor API on one side, nats-server and a gorouter that keeps gorouter's
rules on the other. Everything in the middle is killed, stopped and started again, while somebody looks at the router's table
all the time: what lives is never missing for an interval."""

import signal
import time

from emitter_tools import EXAMPLE, ROUTES, SECOND, Child, Emitter, EmitterScene, Watch
from harness import BINARY, main, until


class EmitterTest(EmitterScene):
    def fine(self, watch):
        gap = watch.end()
        self.assertGreater(watch.looks, 10)
        self.assertLess(gap, self.INTERVAL, "something that lives was missing")
        figures = self.router.get("/figures")
        self.assertEqual((0, 0, 0), (figures["refused"], figures["pruned"], figures["dropped"]), figures)
        print(f"longest time that a live pair was missing: {gap:.2f} s of {self.INTERVAL} s, {watch.looks} looks")

    def test_the_example_of_routing_2(self):
        leader, standby = self.two()
        self.assertFalse(standby.leads())
        self.assertEqual("ok", standby.get("/readyz").strip())
        self.run_instance("web", 1, "10.10.1.3", 59011, 59012)
        self.router.until(EXAMPLE | SECOND, "a second instance: all names but 0.admin.foo.com lead to it")
        # Other routes, and back: only what changes is touched.
        watch = Watch(self.router, {pair for pair in EXAMPLE | SECOND if pair[0] != "bar.com"})
        fewer = [{**ROUTES[0], "routes": ["foo.com", "new.foo.com"]}, ROUTES[1]]
        self.receptor("PUT", "desired_lrps/web", {"routes": {"cf-router": fewer}}, 204)
        self.router.until({("new.foo.com", a) if n == "bar.com" else (n, a) for n, a in EXAMPLE | SECOND}, "another name")
        self.receptor("PUT", "desired_lrps/web", {"routes": {"cf-router": ROUTES}}, 204)
        self.router.until(EXAMPLE | SECOND, "the old name")
        self.assertEqual(0, watch.end(), "what did not change was withdrawn")
        self.receptor("DELETE", "actual_lrps/web/index/1", None, 204)
        self.router.until(EXAMPLE, "the second instance is gone")
        self.assertEqual(0, standby.metric('fairlead_gorouter_messages_total{kind="register"}'), "a standby says nothing")
        self.assertGreater(leader.metric('fairlead_gorouter_messages_total{kind="register"}'), 0)
        self.assertEqual(0, leader.end(signal.SIGTERM))
        until(standby.leads, "the lease was given back, and is taken")
        self.assertEqual(EXAMPLE, self.router.pairs(), "an emitter that ends withdraws nothing")
        self.receptor("DELETE", "desired_lrps/web", None, 204)
        self.router.until(set(), "the process is gone")

    def test_the_leader_dies_and_the_router_restarts(self):
        leader, standby = self.two()
        watch = Watch(self.router, EXAMPLE)
        leader.end()
        self.run_instance("web", 1, "10.10.1.3", 59011, 59012)  # while nobody leads
        self.router.until(EXAMPLE | SECOND, "what came while nobody led")
        until(standby.leads, "the other leads")
        watch.pairs |= SECOND
        time.sleep(self.STALE + 2)  # nothing of the dead one's counts any more
        self.assertEqual(EXAMPLE | SECOND, self.router.pairs())
        self.router.end()
        self.router.start()
        self.router.until(EXAMPLE | SECOND, "a router that started anew has everything")
        leader.start()
        self.assertFalse(leader.leads(), "who comes back stands by")
        self.assertTrue(standby.leads())
        self.fine(watch)

    def test_nats_goes_and_comes_back(self):
        self.two()
        self.run_instance("web", 1, "10.10.1.3", 59011, 59012)
        self.router.until(EXAMPLE | SECOND, "two instances")
        watch = Watch(self.router, EXAMPLE)
        self.nats.end()
        self.desire("late", {"cf-router": [{"port": 4000, "hostnames": ["late.com"]}]})
        self.run_instance("late", 0, "10.10.1.4", 59021)
        self.receptor("DELETE", "actual_lrps/web/index/1", None, 204)
        time.sleep(5)
        self.nats.start()
        self.router.until(EXAMPLE | {("late.com", "10.10.1.4:59021")}, "what happened while NATS was away")
        self.fine(watch)

    def test_the_api_goes_and_comes_back(self):
        leader, standby = self.two()
        watch = Watch(self.router, EXAMPLE)
        self.server.kill()
        until(lambda: leader.metric("fairlead_emitter_source_current") == 0, "the emitter knows that it hears nothing")
        time.sleep(self.STALE + 2)  # only who goes on registering keeps the routes
        self.assertEqual(EXAMPLE, self.router.pairs())
        self.server.start()
        self.run_instance("web", 1, "10.10.1.3", 59011, 59012)
        self.router.until(EXAMPLE | SECOND, "changes are followed again")
        until(lambda: leader.leads() != standby.leads(), "one of them leads")
        self.receptor("DELETE", "actual_lrps/web/index/1", None, 204)
        self.router.until(EXAMPLE, "what is gone is withdrawn again")
        self.fine(watch)

    def test_a_receptor_as_the_source(self):
        self.example()
        token = self.folder / "token"
        token.write_text(self.token("reader"))
        emitter = self.keep(Emitter(self.folder, "reader", self.nats, "--receptor", self.server.url, "--receptor-token-file", token,
                                    "--receptor-ca", self.server.data / "pki/ca.crt").start())
        self.router.until(EXAMPLE, "the example, read")
        until(lambda: emitter.metric("fairlead_emitter_source_current") == 1, "the stream is followed")
        watch = Watch(self.router, EXAMPLE)
        self.run_instance("web", 1, "10.10.1.3", 59011, 59012)
        self.router.until(EXAMPLE | SECOND, "by an event")
        self.assertEqual(1, emitter.metric("fairlead_emitter_leader"), "without a lease it is the only one")
        self.server.kill()
        until(lambda: emitter.metric("fairlead_emitter_source_current") == 0, "the stream broke")
        time.sleep(3)
        self.server.start()
        self.receptor("DELETE", "actual_lrps/web/index/1", None, 204)
        self.router.until(EXAMPLE, "what happened while the stream was being opened")
        until(lambda: emitter.metric("fairlead_emitter_source_current") == 1, "the stream is followed again", 60)
        self.fine(watch)

    def test_a_receptor_that_refuses(self):
        token = self.folder / "token"
        token.write_text("wrong\n")
        child = self.keep(Child(self.folder, "refused", BINARY, "emitter", "--nats", self.nats.url, "--receptor", self.server.url,
                                "--receptor-token-file", token, "--receptor-ca", self.server.data / "pki/ca.crt").start())
        until(lambda: "401" in child.text(), "it says why")
        self.assertNotIn("ready", child.text())
        self.assertEqual(0, child.end(signal.SIGTERM))


if __name__ == "__main__":
    main()
