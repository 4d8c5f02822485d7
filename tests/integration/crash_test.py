#!/usr/bin/env python3
"""kill -9 at random moments under 32 concurrent writers: what was acknowledged is there, nothing is half there, and a
watch resumes over the crash without a gap. CRASH_ROUNDS sets the rounds, CRASH_SEED the random moments."""

import http.client
import json
import os
import random
import threading
import time
import unittest

from harness import ROUTES, Fairlead, main, route

WRITERS = 32
ROUNDS = int(os.environ.get("CRASH_ROUNDS", "50"))
SEED = int(os.environ.get("CRASH_SEED", "1"))


class Writer(threading.Thread):
    """Creates objects and rewrites them, one at a time, and remembers what the server has acknowledged."""

    def __init__(self, server, number, round_number, rng):
        super().__init__(daemon=True)
        self.server, self.prefix, self.rng = server, f"w{number}-{round_number}", rng
        self.acknowledged = {}  # name -> (path, resourceVersion)
        self.pending = None  # (name, path) sent, answer unknown

    def run(self):
        connection = self.server.connect(timeout=10)
        try:
            for i in range(100_000):
                name = f"{self.prefix}-{self.rng.randrange(20)}"
                known = self.acknowledged.get(name)
                body = route(name, path=f"/{i}", host="crash.example.com")
                body["metadata"]["annotations"] = {"payload": "x" * self.rng.randrange(2000), "counter": str(i)}
                self.pending = (name, f"/{i}")
                if known:
                    body["metadata"]["resourceVersion"] = known[1]
                    connection.request("PUT", f"{ROUTES}/{name}", json.dumps(body))
                else:
                    connection.request("POST", ROUTES, json.dumps(body))
                answer = connection.getresponse()
                data = json.loads(answer.read())
                if answer.status not in (200, 201):
                    raise AssertionError(f"{answer.status} {data}")
                self.acknowledged[name] = (f"/{i}", data["metadata"]["resourceVersion"])
                self.pending = None
        except (OSError, http.client.HTTPException, ValueError):
            pass  # the server is gone: what `pending` holds may or may not have happened
        finally:
            connection.close()


class Crash(unittest.TestCase):
    def test_kill_under_concurrent_writers(self):
        rng = random.Random(SEED)
        server = Fairlead("--roles", "api")  # nobody else writes
        self.addCleanup(server.remove)
        expected = {}  # name -> path
        last_seen = None
        for round_number in range(ROUNDS):
            server.start()
            self.verify(server, expected)
            if last_seen is not None:
                self.watch_resumes(server, last_seen)
            writers = [Writer(server, n, round_number, random.Random(rng.random())) for n in range(WRITERS)]
            for writer in writers:
                writer.start()
            time.sleep(rng.uniform(0.02, 0.35))
            server.kill()
            for writer in writers:
                writer.join(30)
                self.assertFalse(writer.is_alive())
            before = dict(expected)
            for writer in writers:
                for name, (path, _) in writer.acknowledged.items():
                    expected[name] = {path}
                if writer.pending:  # either state is right
                    name, path = writer.pending
                    expected.setdefault(name, {None}).add(path)
            last_seen = max((int(rv) for w in writers for _, rv in w.acknowledged.values()), default=last_seen)
            self.assertGreaterEqual(len(expected), len(before))
        server.start()
        self.verify(server, expected)
        print(f"{ROUNDS} rounds, {len(expected)} objects, seed {SEED}", flush=True)

    def verify(self, server, expected):
        status, _, body = server.request("GET", ROUTES)
        self.assertEqual(200, status)
        stored = {}
        for item in body["items"]:
            self.assertEqual({"Service", "web"}, {item["spec"]["to"]["kind"], item["spec"]["to"]["name"]})
            # An object is whole: its path and its annotation come from the same write.
            self.assertEqual(item["spec"]["path"], "/" + item["metadata"]["annotations"]["counter"])
            stored[item["metadata"]["name"]] = item["spec"]["path"]
        for name, paths in expected.items():
            self.assertIn(stored.get(name), paths, f"{name} (seed {SEED})")
            expected[name] = {stored.get(name)}  # from now on this is what must stay
        for name in [n for n, paths in expected.items() if paths == {None}]:
            del expected[name]
        self.assertEqual(set(expected), set(stored))

    def watch_resumes(self, server, revision):
        connection = server.connect(timeout=10)
        connection.request("GET", f"{ROUTES}?watch=true&resourceVersion={max(revision - 50, 1)}&timeoutSeconds=1")
        answer = connection.getresponse()
        events = [json.loads(line) for line in answer.read().splitlines()]
        connection.close()
        self.assertNotIn("ERROR", {event["type"] for event in events})
        revisions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
        self.assertEqual(sorted(set(revisions)), revisions, "in order, each once")


if __name__ == "__main__":
    main()
