"""Tools to be hostile with, for hostile_test.py and bench/attacks.py: raw TLS connections that send anything, what a
process holds (memory, descriptors, threads), and a good client that notes how it is served meanwhile."""

import contextlib
import http.client
import os
import select
import resource
import socket
import ssl
import threading
import time
from pathlib import Path

PATIENCE = 60  # seconds; far above any honest answer, so that only a hang fails


def allow_many_files():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def status_of(pid, field):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return 0


def family(pid):
    """The process and its children (nginx serves from those)."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def resident(pid):
    return sum(status_of(one, "VmRSS") for one in family(pid)) * 1024


def peak(pid):
    return sum(status_of(one, "VmHWM") for one in family(pid)) * 1024


def reset_peak(pid):
    for one in family(pid):
        Path(f"/proc/{one}/clear_refs").write_text("5")


def descriptors(pid):
    return sum(len(os.listdir(f"/proc/{one}/fd")) for one in family(pid))


def address_of(host):
    name, port = host.rsplit(":", 1)
    return name, int(port)


class Raw:
    """One connection that sends any bytes. With a context: TLS."""

    def __init__(self, host, context=None, receive_buffer=0):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(address_of(host))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname=address_of(host)[0])
        self.received = b""

    def send(self, data):
        """False when the server has closed."""
        try:
            self.socket.sendall(data)
            return True
        except (OSError, ssl.SSLError) as error:
            if isinstance(error, TimeoutError):
                raise
            return False

    def send_and_receive(self, data):
        """All of `data`, taking in meanwhile what comes. From one thread: two must not use one TLS connection."""
        waiting = (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError)
        rest = memoryview(data)
        self.socket.setblocking(False)
        while rest:
            left = len(rest)
            with contextlib.suppress(*waiting):
                rest = rest[self.socket.send(rest[:16_384]):]
            with contextlib.suppress(*waiting):
                while self.more():
                    pass
                return
            if len(rest) == left:
                select.select([self.socket], [self.socket], [], PATIENCE)
        self.socket.settimeout(PATIENCE)

    def more(self):
        """The next bytes; b"" at the end, whatever kind of end."""
        try:
            data = self.socket.recv(65536)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except (ConnectionError, ssl.SSLError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise AssertionError(f"the server says nothing for {PATIENCE} s") from error
            data = b""
        self.received += data
        return data

    def read_to_end(self):
        while self.more():
            pass
        return self.received

    def answer(self):
        """(status, body) of the next answer; (0, b"") if the connection ends without one."""
        while b"\r\n\r\n" not in self.received:
            if not self.more():
                return 0, b""
        head, _, rest = self.received.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        status = int(lines[0].split()[1])
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])}
        self.received = rest
        if status == 100:
            return status, b""
        if b"transfer-encoding" in fields:
            return status, self.read_to_end()
        length = int(fields.get(b"content-length", b"0"))
        while len(self.received) < length and self.more():
            pass
        body, self.received = self.received[:length], self.received[length:]
        return status, body

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def request(method, target, *headers, body=b""):
    lines = [f"{method} {target} HTTP/1.1".encode("latin-1"), b"Host: test", *[h.encode() for h in headers]]
    if body and not any(h.lower().startswith(("content-length", "transfer-encoding")) for h in headers):
        lines.append(f"Content-Length: {len(body)}".encode())
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


# On a busy machine a handshake can take as long as hundreds of connections that come and say nothing.
ATTEMPTS = 4


class GoodClient(threading.Thread):
    """Asks for `path` again and again, by turns on a connection that it keeps and on fresh ones, and notes how long each
    answer took. It reconnects as every HTTP client does, but an answer that is missing or wrong is a failure."""

    def __init__(self, host, context, path):
        super().__init__(daemon=True)
        self.host, self.context, self.path = host, context, path
        self.times, self.failure = [], None
        self.stopping = threading.Event()
        self.start()

    def once(self, connection):
        for attempt in range(ATTEMPTS):
            try:
                connection.request("GET", self.path)
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    raise AssertionError(f"{self.path}: {answer.status}")
                return
            except (ConnectionError, http.client.HTTPException, ssl.SSLError):
                connection.close()  # it was idle, or slower than a flood, and gave way
                if attempt == ATTEMPTS - 1:
                    raise

    def run(self):
        kept = http.client.HTTPSConnection(self.host, context=self.context, timeout=PATIENCE)
        try:
            while not self.stopping.is_set():
                started = time.monotonic()
                if len(self.times) % 2:
                    fresh = http.client.HTTPSConnection(self.host, context=self.context, timeout=PATIENCE)
                    self.once(fresh)
                    fresh.close()
                else:
                    self.once(kept)
                self.times.append(time.monotonic() - started)
                self.stopping.wait(0.002)
        except Exception as error:  # told by finish(), on the test's thread
            self.failure = error
        kept.close()

    def served(self, count):
        """Waits until that many more answers have come."""
        wanted = len(self.times) + count
        deadline = time.monotonic() + PATIENCE
        while len(self.times) < wanted:
            if self.failure:
                raise AssertionError(f"the good client is not served: {self.failure!r}")
            if time.monotonic() > deadline:
                raise AssertionError(f"the good client got {len(self.times)} of {wanted} answers within {PATIENCE} s")
            time.sleep(0.005)

    def finish(self):
        self.stopping.set()
        self.join(PATIENCE * 2)
        if self.failure:
            raise AssertionError(f"the good client is not served: {self.failure!r}") from self.failure
        return self.times
