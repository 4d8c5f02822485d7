#!/usr/bin/env python3
"""Prints what emitters tell routers on NATS, one line per message: listen.py PORT. It answers greetings as a gorouter does."""

import json
import socket
import sys

HELLO = json.dumps({"id": "0-listener", "hosts": ["127.0.0.1"], "minimumRegisterIntervalInSeconds": 5,
                    "pruneThresholdInSeconds": 30}).encode()

with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as nats:
    words = nats.makefile("rb")
    nats.sendall(b'CONNECT {"verbose":false}\r\nSUB router.register 1\r\nSUB router.unregister 2\r\nSUB router.greet 3\r\n')
    nats.sendall(b"PUB router.start %d\r\n%s\r\n" % (len(HELLO), HELLO))
    for line in words:
        kind, *rest = line.split()
        if kind == b"PING":
            nats.sendall(b"PONG\r\n")
        if kind != b"MSG":
            continue
        subject, reply, size = rest[0].decode(), rest[2:-1], int(rest[-1])
        body = words.read(size + 2)[:size]
        if subject == "router.greet" and reply:
            nats.sendall(b"PUB %s %d\r\n%s\r\n" % (reply[0], len(HELLO), HELLO))
        elif subject != "router.greet":
            said = json.loads(body)
            print(subject.split(".")[1], f'{said["host"]}:{said["port"]}', *said["uris"], flush=True)
