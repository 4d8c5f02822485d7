#!/usr/bin/env python3
"""Hostile clients. In every case others are served while the attack goes on, and afterwards the server holds no more
memory, descriptors and threads than its limits allow. Timings decide nothing: only a hang fails."""

import contextlib
import json
import os
import random
import socket
import threading
import time
import unittest

from harness import ROUTES, Fairlead, main, route, until
from hostile import (PATIENCE, GoodClient, Raw, address_of, allow_many_files, descriptors, peak, request, reset_peak,
                     status_of)

MIB = 1024 * 1024
BODY_LIMIT = 3 * MIB
# Far below what the attacks would take without limits (gigabytes), far above an honest server with its buffers. A build
# with sanitizers needs some times as much: FAIRLEAD_TEST_MEMORY=4.
MEMORY_SCALE = float(os.environ.get("FAIRLEAD_TEST_MEMORY", "1"))
MEMORY_LIMIT = int(900 * MIB * MEMORY_SCALE)
JSON = "Content-Type: application/json"
ONE = ROUTES + "/good"


class HostileTest(unittest.TestCase):
    SERVE_ARGS = ("--log-level", "error")
    FILES = 0

    @classmethod
    def setUpClass(cls):
        allow_many_files()
        cls.server = Fairlead(*cls.SERVE_ARGS, wrapper=("prlimit", f"--nofile={cls.FILES}") if cls.FILES else ()).start()
        cls.addClassCleanup(cls.server.remove)
        cls.admin, cls.stranger = cls.server.tls(), cls.server.tls(client_certificate=False)
        assert cls.server.request("POST", ROUTES, route("good"))[0] == 201
        cls.pid = cls.server.process.pid

    @contextlib.contextmanager
    def attack(self, answers=6, memory=MEMORY_LIMIT):
        """The attack stands where the `with` body ends: then others are served, and at the end all is given back."""
        before, threads = descriptors(self.pid), status_of(self.pid, "Threads")
        reset_peak(self.pid)
        good = GoodClient(self.server.host, self.admin, ONE)
        mine = []
        try:
            good.served(1)
            yield mine
            good.served(answers)
        finally:
            for connection in mine:
                connection.close()
            good.finish()
        until(lambda: descriptors(self.pid) <= before + 4, f"descriptors are given back: {before} before", PATIENCE)
        # One may be on its way: calls that the server makes to itself look an address up.
        until(lambda: status_of(self.pid, "Threads") <= threads + 1, f"threads end: {threads} before", PATIENCE)
        self.assertLess(peak(self.pid), memory, "peak memory of the server")

    def now_and(self, mib):
        return status_of(self.pid, "VmRSS") * 1024 + int(mib * MIB * MEMORY_SCALE)

    def raw(self, context=None, **options):
        return Raw(self.server.host, context, **options)

    def ask(self, data, context=None):
        with self.raw(context or self.admin) as connection:
            connection.send(data)
            return connection.answer()

    def metric(self, name):
        text = self.server.request("GET", "/metrics")[2].decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))


class Connections(HostileTest):
    def test_slow_headers_and_slow_handshakes_end_after_their_time(self):
        with self.attack() as mine:
            # The first bytes of a ClientHello; a request line without an end; both go on byte by byte.
            handshakes = [self.raw() for _ in range(150)]
            headers = [self.raw(self.stranger) for _ in range(100)]
            mine += handshakes + headers
            for connection in handshakes:
                connection.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
            for connection in headers:
                connection.send(b"GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            ended = threading.Event()

            def drip():
                while not ended.wait(0.5):
                    for connection in mine:
                        with contextlib.suppress(OSError):
                            connection.socket.send(b"a")

            dripping = threading.Thread(target=drip)
            dripping.start()
            try:
                for connection in headers:
                    self.assertIn(connection.answer()[0], (0, 408), "ended although bytes kept coming")
                for connection in handshakes:
                    connection.read_to_end()
            finally:
                ended.set()
                dripping.join()
        self.assertGreater(self.metric('fairlead_http_connections_closed_total{cause="header_timeout"}'), 0)
        self.assertGreater(self.metric('fairlead_http_connections_closed_total{cause="handshake_timeout"}'), 0)

    def test_garbage_on_the_tls_port(self):
        chance = random.Random(1)
        garbage = [chance.randbytes(300), b"\0" * 300, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x15\x03\x03\x00\x02\x02\x28",
                   b"\x16\x03\x01\xff\xff" + chance.randbytes(70_000), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x80\x2e\x01\x00\x02"]
        with self.attack():
            for i in range(210):
                with self.raw() as connection:
                    connection.send(garbage[i % len(garbage)])
                    connection.socket.shutdown(socket.SHUT_WR)
                    self.assertNotIn(b"HTTP/1.1 200", connection.read_to_end())

    def test_half_closed_connections_end(self):
        sent = (b"", b"GET /livez HTT", request("GET", "/livez"), request("POST", ROUTES, "Content-Length: 100", body=b"{"),
                request("GET", ROUTES + "?watch=true"))
        with self.attack():
            for data in sent * 10:
                with self.raw(self.admin) as connection:
                    connection.send(data)
                    socket.socket.shutdown(connection.socket, socket.SHUT_WR)
                    connection.read_to_end()

    def test_10_000_idle_connections(self):
        before = status_of(self.pid, "VmRSS")
        with self.attack(answers=20) as mine:
            for _ in range(10_000):
                idle = socket.socket()
                idle.connect(address_of(self.server.host))
                mine.append(idle)
            until(lambda: descriptors(self.pid) > 10_000, "all are let in")
        each = (status_of(self.pid, "VmHWM") - before) * 1024 / 10_000
        self.assertLess(each, 16 * 1024 * MEMORY_SCALE, "bytes per connection that says nothing")

    def test_idle_connections_after_a_handshake_cost_little(self):
        before = status_of(self.pid, "VmRSS")
        with self.attack() as mine:
            mine += [self.raw(self.stranger) for _ in range(500)]
        each = (status_of(self.pid, "VmHWM") - before) * 1024 / 500
        self.assertLess(each, 128 * 1024 * MEMORY_SCALE, "bytes per idle TLS connection")

    def test_pipelined_flood_is_answered_in_order_and_without_a_queue(self):
        count = 3_000
        with self.attack() as mine:
            flood = self.raw(self.admin)
            mine.append(flood)
            data = b"".join(request("GET", f"/livez?verbose&n={i}") for i in range(count))
            flood.send_and_receive(data)
            for i in range(count):
                self.assertEqual(200, flood.answer()[0], i)


class Crowd(HostileTest):
    """A server that may open few files: its limits are near."""

    SERVE_ARGS = ("--roles", "api,controllers")
    FILES = 1024  # 768 connections, 576 watches, 288 of one user

    def test_a_full_house_lets_newcomers_in(self):
        with self.raw(self.admin) as watch:
            watch.send(request("GET", ROUTES + "?watch=true&resourceVersion=" + self.version()))
            while b"\r\n\r\n" not in watch.received:
                self.assertTrue(watch.more())
            with self.attack(answers=30) as mine:
                for _ in range(900):
                    idle = socket.socket()
                    idle.connect(address_of(self.server.host))
                    mine.append(idle)
            self.assertEqual(201, self.server.request("POST", ROUTES, route("crowd"))[0])
            while b"crowd" not in watch.received:
                self.assertTrue(watch.more(), "a stream that keeps up is never ended for others")
        self.assertGreater(self.metric('fairlead_http_connections_closed_total{cause="place"}'), 0)

    def version(self):
        return self.server.request("GET", ROUTES)[2]["metadata"]["resourceVersion"]

    def test_a_flood_of_watches_is_refused_and_others_are_served(self):
        with self.attack() as mine:
            answers = []
            for _ in range(330):
                connection = self.raw(self.admin)
                mine.append(connection)
                connection.send(request("GET", ROUTES + "?watch=true&resourceVersion=" + "1"))
            for connection in mine:
                while b"\r\n\r\n" not in connection.received and connection.more():
                    pass
                answers.append(connection.received.split(b"\r\n\r\n")[0])
            refused = [head for head in answers if head.startswith(b"HTTP/1.1 429")]
            self.assertTrue(refused, "above 180 watches of one user")
            self.assertIn(b"Retry-After: 1", refused[0])
            self.assertGreaterEqual(sum(head.startswith(b"HTTP/1.1 200") for head in answers), 172)
        until(lambda: self.server.request("GET", ROUTES + "?watch=true&timeoutSeconds=1")[0] == 200, "places are given back")
        self.assertGreater(self.metric('fairlead_watches_refused_total{limit="user"}'), 0)


class Streams(HostileTest):
    def test_watches_opened_and_dropped_at_once(self):
        with self.attack():
            for i in range(200):
                with self.raw(self.admin) as connection:
                    connection.send(request("GET", ROUTES + "?watch=true"))
                    if i % 2:
                        connection.more()
        # One may be the server's own, which looks for balancers to run.
        until(lambda: self.metric("fairlead_http_streams") <= 1, "all streams are gone")

    def fill(self, name, count, size=200_000):
        for i in range(count):
            body = route(f"{name}-{i:03}")
            body["metadata"]["annotations"] = {"pad": "x" * size}
            self.assertEqual(201, self.server.request("POST", ROUTES, body)[0])

    def test_watchers_that_never_read_while_writes_go_on(self):
        with self.raw(self.admin) as reader, self.attack(memory=self.now_and(128)) as mine:
            for _ in range(40):
                mine.append(self.raw(self.admin, receive_buffer=4096))
                mine[-1].send(request("GET", ROUTES + "?watch=true"))
            reader.send(request("GET", ROUTES + "?watch=true"))
            seen = threading.Event()

            def read():
                tail = b""
                while b"unread-029" not in tail:
                    reader.received = b""
                    data = reader.more()
                    if not data:
                        return
                    tail = (tail + data)[-300_000:]
                seen.set()

            reading = threading.Thread(target=read)
            reading.start()
            self.fill("unread", 30)
            self.assertTrue(seen.wait(PATIENCE), "a watcher that reads gets every event")
            reading.join()

    def test_slow_readers_of_a_huge_list(self):
        self.fill("huge", 60)
        with self.attack(memory=self.now_and(256)) as mine:  # whole answers would be 700
            for accept in ("application/json", "application/json;as=Table;v=v1;g=meta.k8s.io") * 30:
                mine.append(self.raw(self.admin, receive_buffer=4096))
                mine[-1].send(request("GET", ROUTES, "Accept: " + accept))
                mine[-1].more()
            whole = self.server.request("GET", ROUTES)[2]
            self.assertLessEqual(60, len(whole["items"]))
            names = [item["metadata"]["name"] for item in whole["items"]]
            self.assertEqual(sorted(set(names)), names, "each object once, in order")
            page = self.server.request("GET", ROUTES + "?limit=30")[2]
            self.assertEqual(30, len(page["items"]))
            rest = self.server.request("GET", f"{ROUTES}?limit=1000&continue={page['metadata']['continue']}")[2]
            self.assertEqual(names, [item["metadata"]["name"] for item in page["items"] + rest["items"]])


def nested(opening, middle, closing, size):
    count = size // (len(opening) + len(closing))
    return (opening * count + middle + closing * count).encode()


class Bodies(HostileTest):
    def test_bodies_that_only_cost_memory(self):
        wrap = '{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":"bomb"},"spec":{"host":"a.b","to":{"name":"w"},"x":%s}}'
        most = BODY_LIMIT - 300
        rows = {
            "open arrays": b"[" * most,
            "nested arrays": nested("[", "", "]", most),
            "nested objects": nested('{"a":', "1", "}", most),
            "small numbers": (wrap % ("[" + "1," * (most // 2 - 2) + "1]")).encode(),
            "empty objects": (wrap % ("[" + "{}," * (most // 3 - 2) + "{}]")).encode(),
            "small objects": (wrap % ("[" + '{"a":1},' * (most // 8 - 2) + "{}]")).encode(),
            "many keys": (wrap % ("{" + ",".join(f'"{i:x}":0' for i in range(most // 10)) + "}")).encode(),
            "one key again and again": (wrap % ("{" + '"a":0,' * (most // 6 - 2) + '"a":1}')).encode(),
            "one long string": (wrap % ('"' + "\\u0041" * (most // 6 - 2) + '"')).encode(),
            "many backends": (wrap.replace('"x"', '"alternateBackends"') % ("[" + "1," * 200_000 + "1]")).encode(),
        }
        with self.attack():
            for name, body in rows.items():
                with self.subTest(name):
                    self.assertLessEqual(len(body), BODY_LIMIT)
                    status, answer = self.ask(request("POST", ROUTES + "?dryRun=All", JSON, body=body))
                    self.assertIn(status, (201, 400, 413, 422), answer[:300])
                    if status != 201:
                        self.assertLess(len(answer), 1 * MIB, "what is wrong is not told a million times")

    def test_many_large_bodies_at_once(self):
        body = b'{"apiVersion":"route.openshift.io/v1","kind":"Route","x":[' + b'{"a":1},' * 240_000 + b"{}]}"
        statuses = []
        with self.attack():
            def send():
                statuses.append(self.ask(request("POST", ROUTES, JSON, body=body))[0])

            threads = [threading.Thread(target=send) for _ in range(12)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(12, len(statuses))
        self.assertLessEqual(set(statuses), {400, 413, 422, 429, 503})

    def test_unfinished_bodies_of_strangers_share_one_limit(self):
        part = request("POST", ROUTES, JSON, f"Content-Length: {BODY_LIMIT}") + b"x" * (BODY_LIMIT - 1)
        with self.attack() as mine:
            for _ in range(110):
                connection = self.raw(self.stranger)
                mine.append(connection)
                connection.send(part)
            self.assertEqual(200, self.server.request("GET", ONE)[0])
            self.assertEqual(201, self.server.request("POST", ROUTES, route("meanwhile"))[0])
        self.assertGreater(self.metric('fairlead_http_connections_closed_total{cause="memory"}'), 0)

    def test_bodies_that_are_too_large_are_refused_unread(self):
        with self.attack():
            status, _ = self.ask(request("POST", ROUTES, JSON, "Content-Length: 99999999999"))
            self.assertEqual(413, status, "before one byte of it came")
            self.assertEqual(413, self.ask(request("POST", ROUTES, JSON, "Expect: 100-continue", f"Content-Length: {BODY_LIMIT + 1}"))[0])
            with self.raw(self.admin) as endless:
                endless.send(request("POST", ROUTES, JSON, "Transfer-Encoding: chunked"))
                chunk, until_when = b"10000\r\n" + b"x" * 0x10000 + b"\r\n", time.monotonic() + PATIENCE
                while endless.send(chunk):
                    self.assertLess(time.monotonic(), until_when, "an endless body is read for ever")
            with self.raw(self.admin) as endless:
                endless.send(request("POST", ROUTES, JSON, "Transfer-Encoding: chunked") + b"1;" + b"e" * 100_000)
                self.assertEqual(431, endless.answer()[0], "an endless chunk extension")

    def test_yaml_bombs(self):
        laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12))
        text = "s: &s " + "y" * 100_000 + "\nl: [" + ",".join(["*s"] * 1000) + "]\n"
        with self.attack():
            for name, body in {"laughs": laughs, "text": text, "deep": "[" * 100_000, "flow": "{a: " * 50_000,
                               "indented": "".join(" " * i + "a:\n" for i in range(1500)), "self": "a: &a [*a]\n"}.items():
                with self.subTest(name):
                    status, answer = self.ask(request("POST", ROUTES, "Content-Type: application/yaml", body=body.encode()))
                    self.assertIn(status, (400, 413, 422), answer[:300])

    def test_patches_that_grow(self):
        copy = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "x" * 1000}}]
        copy += [{"op": "copy", "from": "/metadata", "path": f"/metadata/{i}"} for i in range(60)]
        leaf = {"a": {}}
        for _ in range(55):
            leaf = {"a": leaf}
        deep = []
        for _ in range(3_000):  # each round puts what there is 56 levels deeper
            deep += [{"op": "add", "path": "/t", "value": leaf}, {"op": "move", "from": "/spec", "path": "/t" + "/a" * 56},
                     {"op": "move", "from": "/t", "path": "/spec"}]
        shift = [{"op": "add", "path": "/spec/l", "value": [1] * 400_000}] + [{"op": "add", "path": "/spec/l/0", "value": 1}] * 9_000
        merge = nested('{"a":', "1", "}", 1 * MIB)
        rows = {"copies": (copy, "json-patch"), "levels": (deep, "json-patch"), "shifts": (shift, "json-patch"),
                "operations": ([{"op": "test", "path": "", "value": {}}] * 10_001, "json-patch"), "merge": (merge, "merge-patch")}
        with self.attack():
            for name, (patch, kind) in rows.items():
                with self.subTest(name):
                    body = patch if isinstance(patch, bytes) else json.dumps(patch, separators=(",", ":")).encode()
                    self.assertLessEqual(len(body), BODY_LIMIT)
                    status, answer = self.ask(request("PATCH", ONE, f"Content-Type: application/{kind}+json", body=body))
                    self.assertIn(status, (400, 413, 422), answer[:300])


class Requests(HostileTest):
    def test_framing(self):
        get = request("GET", "/livez")
        rows = {
            "headers without end": (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: " + b"b" * 200_000, {431}),
            "many headers": (request("GET", "/livez", *[f"A{i}: b" for i in range(2_000)]), {431}),
            "long request line": (request("GET", "/" + "a" * 100_000), {414}),
            "two lengths": (request("POST", ROUTES, "Content-Length: 3", "Content-Length: 4") + b"abcd", {400}),
            "length and chunks": (request("POST", ROUTES, "Content-Length: 3", "Transfer-Encoding: chunked") + b"0\r\n\r\n" + get, {400}),
            "chunks and length": (request("POST", ROUTES, "Transfer-Encoding: chunked", "Content-Length: 3") + b"0\r\n\r\n" + get, {400}),
            "chunked twice": (request("POST", ROUTES, "Transfer-Encoding: chunked, chunked") + b"0\r\n\r\n" + get, {400, 501}),
            "hidden encoding": (request("POST", ROUTES, "Transfer-Encoding: xchunked") + b"0\r\n\r\n" + get, {501}),
            "space before colon": (request("POST", ROUTES, "Content-Length : 3") + b"abc", {400}),
            "negative length": (request("POST", ROUTES, "Content-Length: -1"), {400}),
            "signed length": (request("POST", ROUTES, "Content-Length: +3") + b"abc", {400}),
            "folded header": (request("GET", "/livez", "A: b", " c: d"), {200, 400}),
            "bare line feeds": (b"GET /livez HTTP/1.1\nHost: x\n\n\r\n\r\n", {400}),
            "no host": (b"GET /livez HTTP/1.1\r\n\r\n", {400}),
            "NUL in a header": (request("GET", "/livez", "A: b\0c"), {400}),
            "version 2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400}),
            "version 9": (b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", {400}),
            "version 1.0": (b"GET /livez HTTP/1.0\r\n\r\n", {200}),
            "CONNECT": (b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n", {400, 404, 405}),
            "OPTIONS *": (request("OPTIONS", "*"), {400, 404, 405}),
            "TRACE": (request("TRACE", "/livez"), {400, 404, 405}),
            "unknown method": (request("BREW", ROUTES), {404, 405}),
            "websocket": (request("GET", "/livez", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"), {200}),
            "h2c": (request("GET", "/livez", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"), {200}),
            "another host's target": (request("GET", "http://example.com/metrics"), {400, 404}),
            "unknown expectation": (request("POST", ROUTES, "Expect: the-unexpected", "Content-Length: 2") + b"{}", {417}),
            "gzip body": (request("POST", ROUTES, JSON, "Content-Encoding: gzip", body=b"\x1f\x8b\x08\x00"), {400, 415}),
            "strange Accept": (request("GET", ONE, "Accept: " + ",".join(["text/x;q=0.1"] * 3_000)), {406}),
            "strange Accept-Encoding": (request("GET", ROUTES, "Accept-Encoding: " + ",".join(["gzip;q=0"] * 5_000)), {200}),
        }
        with self.attack():
            for name, (data, expected) in rows.items():
                with self.subTest(name):
                    self.assertIn(self.ask(data)[0], expected)

    def test_no_request_is_hidden_in_another(self):
        """Whatever follows a refused request on its connection is never answered."""
        hidden = request("GET", "/version")
        for head in ("Content-Length: 3\r\nTransfer-Encoding: chunked", "Content-Length: 3\r\nContent-Length: 30",
                     "Transfer-Encoding: gzip, chunked, identity", "Transfer-Encoding:\x0bchunked"):
            with self.subTest(head), self.raw(self.admin) as connection:
                connection.send(f"POST {ROUTES} HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n0\r\n\r\n".encode() + hidden)
                everything = connection.read_to_end()
                self.assertEqual(1, everything.count(b"X-Request-Id:"), everything[:500])
                self.assertNotIn(b"gitVersion", everything)

    def test_a_short_body_is_not_taken_for_a_whole_one(self):
        with self.attack(), self.raw(self.admin) as connection:
            body = json.dumps(route("short")).encode()
            connection.send(request("POST", ROUTES, JSON, f"Content-Length: {len(body) + 1}") + body)
            socket.socket.shutdown(connection.socket, socket.SHUT_WR)
            self.assertNotIn(b"HTTP/1.1 201", connection.read_to_end())
        self.assertEqual(404, self.server.request("GET", ROUTES + "/short")[0])

    def test_selectors_and_tokens(self):
        rows = {
            "many terms": "?labelSelector=" + ",".join(f"a{i}" for i in range(8_000)),
            "many values": "?labelSelector=a%20in%20(" + ",".join(f"{i}" for i in range(10_000)) + ")",
            "one long term": "?labelSelector=" + "a" * 60_000,
            "brackets": "?labelSelector=" + "(" * 60_000,
            "field terms": "?fieldSelector=" + ",".join(["metadata.name=a"] * 3_500),
            "escapes": "?fieldSelector=metadata.name=" + "%5C" * 20_000,
            "long token": "?continue=" + "A" * 60_000,
            "token of nonsense": "?limit=1&continue=eyJ2IjoiMSIsInJ2IjotOTl9",
            "many parameters": "?" + "&".join(f"x{i}=1" for i in range(7_000)),
            "huge limit": "?limit=9223372036854775807",
            "negative limit": "?limit=-9223372036854775808",
            "limit too large": "?limit=99999999999999999999",
            "future": "?resourceVersion=9223372036854775807&resourceVersionMatch=NotOlderThan",
        }
        with self.attack():
            for name, query in rows.items():
                with self.subTest(name):
                    self.assertIn(self.ask(request("GET", ROUTES + query))[0], (200, 400, 413, 504))

    def test_reads_of_the_future_do_not_hold_all_workers(self):
        with self.attack(answers=3) as mine:
            for _ in range(100):
                mine.append(self.raw(self.admin))
                mine[-1].send(request("GET", ROUTES + "?resourceVersion=99999999"))
            started = time.monotonic()
            self.assertEqual(200, self.server.request("GET", ROUTES)[0])
            self.assertLess(time.monotonic() - started, PATIENCE / 2, "workers wait for the future, and nobody serves the present")
            for connection in mine:
                self.assertEqual(504, connection.answer()[0])


class Paths(HostileTest):
    SECRET = b"fairlead_http_connections"  # in /metrics only
    HIDDEN = ("metrics", "apis/route.openshift.io/v1/routes")

    def spellings(self, path):
        for public in ("livez", "healthz", "version", "readyz"):
            for up in ("..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "..;", "..%3b", "..%00", "%c0%ae%c0%ae", "%u002e%u002e", "...", ".."+"%20"):
                for slash in ("/", "%2f", "%2F", "%252f", "\\", "%5c", "//", "/./", ";/"):
                    yield f"/{public}{slash}{up}{slash}{path}"
        for start in ("//", "/./", "/.//", "/;/", "/%2f", "/%5c", "\\", "/\\", "/%00/", "/%09/", "/%ef%bc%8f", "/livez?/../", "/livez#/../", "/livez%3f/../", "/livez%23/../"):
            yield start + path
        for end in ("%00", "%00.html", ";x=1", ";/", "%20", "%2f", "%2f..", "/.", "/..", "/../livez", "/%2e%2e/livez", "%3f", "%23", "%0d%0aX:%20y", "\\"):
            yield "/" + path + end
        yield "/" + "".join(f"%{ord(c):02x}" for c in path)
        yield "/" + "".join(f"%25{ord(c):02x}" for c in path)
        yield "/" + path.upper()

    def test_a_stranger_reaches_nothing_by_a_strange_spelling(self):
        with self.attack(), contextlib.ExitStack() as stack:
            connection = None
            for path in self.HIDDEN:
                for target in self.spellings(path):
                    connection = connection or stack.enter_context(self.raw(self.stranger))
                    connection.send(request("GET", target))
                    status, body = connection.answer()
                    self.assertNotIn(self.SECRET, body, target)
                    self.assertNotIn(b"RouteList", body, target)
                    plain = target.startswith(("/livez?", "/livez#"))  # a query of /livez, nothing else
                    self.assertIn(status, (200, 400, 401, 403, 404) if plain else (400, 401, 403, 404), target)
                    if status in (0, 400):
                        connection = None  # a refusal of the HTTP layer ends the connection

    def test_a_strange_spelling_means_nothing_else_to_those_who_may(self):
        uid = json.loads(self.ask(request("GET", ONE))[1])["metadata"]["uid"]  # its status may change meanwhile
        with self.attack():
            for name in ("good%00", "good%2f", "good/", "./good", "x/../good", "%2e/good", "good%20", "good;a=b", "GOOD", "good%252f", "g%6Fod"):
                status, body = self.ask(request("GET", f"{ROUTES}/{name}"))
                if name in ("good/", "g%6Fod"):
                    self.assertEqual((200, uid), (status, json.loads(body)["metadata"]["uid"]), name)
                else:
                    self.assertIn(status, (400, 404), name)
            for name in ("..", "%2e%2e", "a/../good", "good%2fstatus", "good%00"):
                self.assertIn(self.ask(request("DELETE", f"{ROUTES}/{name}"))[0], (400, 404, 405), name)
        self.assertEqual(200, self.ask(request("GET", ONE))[0])


if __name__ == "__main__":
    main()
