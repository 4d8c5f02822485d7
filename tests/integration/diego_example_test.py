#!/usr/bin/env python3
"""The example of docs/guides/diego.md, as it is: one process by names, a leased port, SkyDNS and gorouters."""

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
               "NATS_PORT": str(free_port("127.0.0.1")),
               **{name: str(free_port("127.0.2.1")) for name in ("HTTP_PORT", "HTTPS_PORT", "STATUS_PORT")}}
        done = subprocess.run(["sh", ROOT / "examples" / "diego" / "run.sh"], env=env, capture_output=True, text=True,
                              timeout=400)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        parts = re.split(r"^== (.*)$", done.stdout, flags=re.M)
        said = dict(zip(parts[1::2], parts[2::2]))
        find = lambda begin: next(text for head, text in said.items() if head.startswith(begin))
        names = find("By its names")
        for line in (r"foo\.com +instance [01], port 4000", r"bar\.com +instance [01], port 4000",
                     r"\nadmin\.foo\.com +instance [01], port 5000", r"\n0\.admin\.foo\.com +instance 0, port 5000",
                     r"\n1\.admin\.foo\.com +instance 1, port 5000"):
            self.assertRegex(names, line)
        port = find("By the port")
        self.assertRegex(port, r"edge\.tcp\.62302 +edge +tcp +62302 +diego/web +5000 +Leased")
        self.assertRegex(port, r"instance [01], port 5000")
        self.assertEqual(2, len(re.findall(r"\sIN\s+SRV\s+20 50 59002 ", find("By SkyDNS"))))
        told = find("What became of each")
        for condition in ("CfRouter True", "SkyDNS True"):
            self.assertIn(condition, told)
        heard = find("What gorouters are told")
        for index in (0, 1):
            self.assertRegex(heard, rf"(?m)^register 127\.0\.3\.1{index}:59001 .*foo\.com")
            line = re.search(rf"(?m)^register 127\.0\.3\.1{index}:59002 (.*)$", heard).group(1).split()
            self.assertEqual(sorted([f"{index}.admin.foo.com", "admin.foo.com"]), sorted(line))
        self.assertRegex(find("Instance 1 is retired"), r"unregister 127\.0\.3\.11:59002 ")


if __name__ == "__main__":
    main()
