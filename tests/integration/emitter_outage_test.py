#!/usr/bin/env python3
"""NATS is away for a minute, with the intervals that gorouters have: whatever a router made of that by itself, what lives is there
within one interval after NATS is back, and what has gone is gone. Then it is away again, and the active emitter dies meanwhile."""

import threading
import time

from emitter_tools import EXAMPLE, SECOND, EmitterScene, Gorouter
from harness import main, until

AWAY = 60  # seconds
LATE = {("late.com", "10.10.1.4:59021")}


class Diary(threading.Thread):
    """When a router's table changed, and to what."""

    def __init__(self, router):
        super().__init__(daemon=True)
        self.router, self.entries, self.done = router, [], False
        self.start()

    def run(self):
        while not self.done:
            pairs = self.router.pairs()
            if not self.entries or self.entries[-1][1] != pairs:
                self.entries.append((time.monotonic(), pairs))
            time.sleep(0.02)

    def end(self):
        self.done = True
        self.join()

    def within(self, begin, end):
        """The tables that it had then."""
        before = [pairs for at, pairs in self.entries if at <= begin][-1:]
        return before + [pairs for at, pairs in self.entries if begin < at <= end]

    def settled(self, pairs):
        """Since when it has all of them and keeps them."""
        since = None
        for at, there in self.entries:
            since = (since or at) if pairs <= there else None
        return since


class EmitterOutageTest(EmitterScene):
    INTERVAL = 20  # as gorouters of the release ask for
    STALE = 30  # shorter than the outage; theirs is 120 s
    LEASE = 8

    def setUp(self):
        super().setUp()  # its router drops nothing while NATS is away, as later releases
        self.strict = self.keep(Gorouter(self.folder, self.nats, self.INTERVAL, self.STALE, "--suspend-pruning", "false", "--prune-every",
                                         5, name="strict").start())
        self.patient = self.keep(Gorouter(self.folder, self.nats, self.INTERVAL, 120, "--suspend-pruning", "false", "--prune-every", 30,
                                          name="patient").start())
        self.routers = {"suspending": self.router, "strict": self.strict, "patient": self.patient}

    def back(self, diaries, lives, gone):
        """NATS comes back: what each router lacks of `lives` after an interval, or holds of `gone`, is a failure."""
        began = time.monotonic()  # before it is: no second is given away
        self.nats.start()
        time.sleep(max(0.0, began + self.INTERVAL + 1 - time.monotonic()))
        for name, diary in diaries.items():
            since = diary.settled(lives)
            self.assertIsNotNone(since, f"{name} lacks {sorted(lives - self.routers[name].pairs())}")
            self.assertLess(since, began + self.INTERVAL, f"{name} had everything {since - began:.2f} s after NATS was back")
            self.assertFalse(gone & self.routers[name].pairs(), f"{name} still leads there")
            print(f"{name}: everything was there {max(0.0, since - began):.2f} s after NATS was back, of {self.INTERVAL} s")

    def test_a_minute_without_nats(self):
        leader, standby = self.two()
        self.run_instance("web", 1, "10.10.1.3", 59011, 59012)
        for router in self.routers.values():
            router.until(EXAMPLE | SECOND, "two instances")
        diaries = {name: Diary(router) for name, router in self.routers.items()}
        time.sleep(0.5)  # each has an entry

        left = time.monotonic()
        self.nats.end()
        time.sleep(10)
        self.desire("late", {"cf-router": [{"port": 4000, "hostnames": ["late.com"]}]})
        self.run_instance("late", 0, "10.10.1.4", 59021)
        self.receptor("DELETE", "actual_lrps/web/index/1", None, 204)
        time.sleep(max(0.0, left + AWAY - time.monotonic()))
        # What routers do by themselves: without a word from NATS nothing can change but by pruning.
        for name in ("suspending", "patient"):
            self.assertEqual([EXAMPLE | SECOND], diaries[name].within(left, time.monotonic()), name)
        self.assertEqual(set(), self.strict.pairs(), "it drops what is stale, NATS or not")
        self.assertEqual(len(EXAMPLE | SECOND), self.strict.get("/figures")["pruned"])
        self.back(diaries, EXAMPLE | LATE, SECOND)
        self.assertTrue(all(EXAMPLE <= there for there in diaries["suspending"].within(left, time.monotonic())), "not lost for a moment")
        self.assertEqual(0, self.router.get("/figures")["pruned"], "what was known before counts as new when NATS is back")

        self.nats.end()
        leader.end()
        time.sleep(3)
        self.back(diaries, EXAMPLE | LATE, SECOND)
        until(standby.leads, "the other leads")
        for diary in diaries.values():
            diary.end()
        for name, router in self.routers.items():
            self.assertEqual(EXAMPLE | LATE, router.pairs(), name)
            figures = router.get("/figures")
            self.assertEqual((0, 0), (figures["refused"], figures["dropped"]), figures)


if __name__ == "__main__":
    main()
