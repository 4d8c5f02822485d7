#!/usr/bin/env python3
"""The example of docs/guides/load-balancers.md, as it is: two balancers, HAProxy and nginx, that tenants share by claims."""

import os
import re
import subprocess
import unittest

from dns_tools import free_port as dns_port
from harness import BINARY, ROOT, TOOLS, main
from router_tools import free_port


class ExampleTest(unittest.TestCase):
    def test_run(self):
        env = {**os.environ, "FAIRLEAD": str(BINARY), "KUBECTL": str(TOOLS / "kubectl"),
               "API": f"127.0.0.1:{free_port('127.0.0.1')}", "DNS": f"127.0.0.1:{dns_port()}",
               "BACKEND_PORT": str(free_port("127.0.7.1")),
               **{name: str(free_port("127.0.6.1")) for name in ("HTTP_PORT", "HTTPS_PORT")}}
        done = subprocess.run(["sh", ROOT / "examples" / "claims" / "run.sh"], env=env, capture_output=True, text=True, timeout=400)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        parts = re.split(r"^== (.*)$", done.stdout, flags=re.M)
        said = dict(zip(parts[1::2], parts[2::2]))
        find = lambda begin: next(text for head, text in said.items() if head.startswith(begin))
        served = find("Claim, bind")
        self.assertRegex(served, r"front +Bound +edge-h")
        self.assertIn("hello from the shop", served)
        self.assertIn("+short\n127.0.6.1\n", served)
        shared = find("Share")
        self.assertEqual(2, shared.count("hello from the blog"))
        for line in (r"LoadBalancerClaim +blog +pages", r"Ingress +blog +feed"):
            self.assertRegex(shared, line)
        waits = find("Wait")
        self.assertRegex(waits, r"edge-h .*network-bandwidth: 800Mi wanted, 424Mi of 1Gi free")
        self.assertRegex(waits, r"edge-n .*network-bandwidth: 800Mi wanted, 0 of 500Mi free")
        recycled = find("Recycle")
        self.assertRegex(recycled, r"video +Bound +edge-h")
        self.assertIn("\n404\n", recycled, "a rule of the first tenant is left")
        self.assertIn("hello from the blog", recycled)
        self.assertRegex(recycled, r"ClaimantGone .*shop/front is gone")
        lost = find("Lost")
        self.assertRegex(lost, r"trial +Lost")
        self.assertIn("balancer lab does not exist any more", lost)
        made = find("Provision")
        self.assertRegex(made, r"sale +Bound +lb-")
        self.assertIn("hello from the shop", made)


if __name__ == "__main__":
    main()
