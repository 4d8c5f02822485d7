#!/usr/bin/env python3
"""The example of docs/guides/routers.md, as it is: three shards, five instances, default and custom names, two deaths and a
move."""

import os
import re
import subprocess
import unittest

from dns_tools import free_port as dns_port
from harness import BINARY, ROOT, TOOLS, main
from router_tools import free_port

EXAMPLE = ROOT / "examples" / "sharded-routers"
ROUTERS = [f"127.0.2.{number}" for number in range(1, 6)]
BACKENDS = ["127.0.3.1", "127.0.3.2"]


class ExampleTest(unittest.TestCase):
    def test_run(self):
        env = {**os.environ, "FAIRLEAD": str(BINARY), "KUBECTL": str(TOOLS / "kubectl"),
               "API": f"127.0.0.1:{free_port('127.0.0.1')}", "DNS": f"127.0.0.1:{dns_port()}",
               "BACKEND_PORT": str(free_port(*BACKENDS)),
               **{name: str(free_port(*ROUTERS)) for name in ("HTTP_PORT", "HTTPS_PORT", "STATUS_PORT")}}
        done = subprocess.run(["sh", EXAMPLE / "run.sh"], env=env, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        parts = re.split(r"^== (.*)$", done.stdout, flags=re.M)
        said = dict(zip(parts[1::2], parts[2::2]))
        find = lambda begin: next(text for head, text in said.items() if head.startswith(begin))
        shards = find("Three shards")
        for line in (r"blue +blue\.apps\.test +shard=blue +ActiveActive +2/2", r"green .*ActivePassive +2/2", r"rest .*1/1"):
            self.assertRegex(shards, line)
        routes = find("A team makes routes")
        for line in (r"cart +shop-cart\.rest\.apps\.test .* rest +True", r"www +www\.example\.com .* blue +True",
                     r"search +shop-search\.green\.apps\.test .* green +True"):
            self.assertRegex(routes, line)
        self.assertRegex(find("Is it up"), r"Up: +yes")
        named = find("By the names")
        for line in (r"shop-cart\.rest\.apps\.test +127\.0\.2\.1 +hello from 127\.0\.3\.[12]",
                     r"www\.example\.com +127\.0\.2\.2 +hello", r"shop-search\.green\.apps\.test +127\.0\.2\.4 +hello"):
            self.assertRegex(named, line)
        zones = find("The zones")
        self.assertRegex(zones, r"\*\.blue\.apps\.test\.\s+\d+\s+IN\s+A\s+127\.0\.2\.3")
        self.assertRegex(zones, r"www\.example\.com\.\s+\d+\s+IN\s+CNAME\s+blue\.apps\.test\.")
        self.assertRegex(find("An instance of blue dies"), r"www\.example\.com +127\.0\.2\.3 +hello")
        self.assertRegex(find("The working instance of green"), r"search\.green\.apps\.test +127\.0\.2\.5 +hello")
        moved = find("The route loses its label")
        self.assertRegex(moved, r"www\.example\.com +127\.0\.2\.1 +hello")
        self.assertRegex(moved, r"www +www\.example\.com .* rest +True")


if __name__ == "__main__":
    main()
