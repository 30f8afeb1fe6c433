#!/usr/bin/env python3
"""A proxy that breaks things: it stands between clients and an API server, seeded, and is transparent otherwise.

    test/support/fault_proxy.py --upstream https://127.0.0.1:6443 --ca ca.crt --cert admin.crt --key admin.key \\
        --front-cert server.crt --front-key server.key --port-file port --seed 7 --percent 10 --percent conflict=5

Each request is hit by at most one fault, each kind with its own share of the requests:

    refuse     the connection is reset before the request goes on          conflict   409, the object has been modified (writes)
    lose       the request goes on, its reply is dropped                   throttle   429 with Retry-After
    delay      the reply comes up to --longest-delay later                 error      500
    hang       never answered, the connection stays open                   overload   503
    cut        a watch breaks off inside a line                            hold       a watch falls silent for a while, then goes on

`cut` and `hold` are drawn once a second of a watch in which something is said. What happens to the n-th request with one method
and path depends on the seed alone, not on the order in which others arrive.

`GET /-/faults` answers with counts; `PUT /-/faults` with {"percent": {…}} changes the shares (0 for all: transparent).
HTTP/1.1 with keep-alive and chunks on both sides; TLS on either side.
"""

import argparse
import asyncio
import json
import random
import signal
import socket
import ssl
import struct
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

REQUEST_FAULTS = ("refuse", "lose", "delay", "hang", "conflict", "throttle", "error", "overload")
STREAM_FAULTS = ("cut", "hold")
ANSWERS = {
    "conflict": (409, "Conflict", "Operation cannot be fulfilled on the object: the object has been modified; please apply your "
                                  "changes to the latest version and try again"),
    "throttle": (429, "TooManyRequests", "Too many requests, please try again later."),
    "error": (500, "InternalError", "Internal error occurred: injected by the fault proxy"),
    "overload": (503, "ServiceUnavailable", "the server is currently unable to handle the request"),
}
HOP_BY_HOP = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "upgrade", "expect", "host"}
BUFFER = 1 << 20


class Broken(Exception):
    """A peer closed, or spoke no HTTP: the exchange is over."""


@dataclass
class Head:
    """The first line and the headers of a request or reply, in order."""

    first: list
    headers: list

    def get(self, name):
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def chunked(self):
        return "chunked" in self.get("transfer-encoding").lower()


async def read_head(reader):
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError) as error:
        raise Broken(str(error)) from error
    lines = raw.decode("latin-1").split("\r\n")
    first = lines[0].split(" ", 2)
    if len(first) < 2:
        raise Broken(f"no HTTP: {lines[0][:80]!r}")
    headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:] if ":" in line]
    return Head(first, headers)


async def read_parts(reader, head, bodiless=False):
    """The body, piece by piece, as its framing says."""
    try:
        if bodiless:
            return
        if head.chunked:
            while True:
                size = int((await reader.readline()).split(b";")[0] or b"x", 16)
                if size == 0:
                    while (await reader.readline()).strip():
                        pass
                    return
                yield await reader.readexactly(size)
                await reader.readexactly(2)
        elif head.get("content-length"):
            left = int(head.get("content-length"))
            while left:
                part = await reader.read(min(left, 1 << 16))
                if not part:
                    raise Broken("closed inside a body")
                left -= len(part)
                yield part
        elif head.first[0].startswith("HTTP/"):
            while part := await reader.read(1 << 16):
                yield part
    except (asyncio.IncompleteReadError, ValueError, OSError) as error:
        raise Broken(str(error)) from error


def slam(writer):
    """Ends a connection with a reset."""
    raw = writer.get_extra_info("socket")
    if raw is not None:
        try:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
    writer.transport.abort()


@dataclass
class Shares:
    """Per cent of each kind of fault, and the dice: the same seed and request, the same fate."""

    seed: int
    longest_delay: float
    percent: dict
    counts: Counter = field(default_factory=Counter)
    seen: Counter = field(default_factory=Counter)

    def dice(self, *what):
        key = " ".join(map(str, what))
        self.seen[key] += 1
        return random.Random(f"{self.seed} {key} {self.seen[key]}")

    def draw(self, dice, kinds):
        at = dice.random() * 100
        for kind in kinds:
            at -= self.percent.get(kind, 0)
            if at < 0:
                self.counts[kind] += 1
                return kind
        return None


class FaultProxy:
    def __init__(self, options):
        upstream = urlsplit(options.upstream)
        self.host, self.port, self.tls = upstream.hostname, upstream.port, None
        if upstream.scheme == "https":
            self.tls = ssl.create_default_context(cafile=options.ca)
            if options.cert:
                self.tls.load_cert_chain(options.cert, options.key)
        self.front = None
        if options.front_cert:
            self.front = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.front.load_cert_chain(options.front_cert, options.front_key)
        self.shares = Shares(options.seed, options.longest_delay, shares_of(options.percent))
        self.idle = []  # connections to the server, ready for a request

    # -- towards the server

    async def connect(self):
        while self.idle:
            reader, writer = self.idle.pop()
            if not reader.at_eof() and not writer.is_closing():
                return reader, writer, True
            writer.close()
        try:
            return *await asyncio.open_connection(self.host, self.port, ssl=self.tls, limit=BUFFER), False
        except OSError as error:
            raise Broken(str(error)) from error

    async def send(self, head, body):
        """(reply head, reader, writer). A read whose kept-alive connection had died meanwhile is sent once more."""
        lines = [f"{head.first[0]} {head.first[1]} HTTP/1.1", f"Host: {self.host}:{self.port}"]
        lines += [f"{key}: {value}" for key, value in head.headers if key.lower() not in HOP_BY_HOP | {"content-length"}]
        if body or head.first[0] in ("POST", "PUT", "PATCH"):
            lines.append(f"Content-Length: {len(body)}")
        while True:
            reader, writer, reused = await self.connect()
            try:
                writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
                await writer.drain()
                return await read_head(reader), reader, writer
            except (Broken, OSError) as error:
                writer.close()
                if not reused or head.first[0] != "GET":
                    raise Broken(str(error)) from error

    def give_back(self, reply, reader, writer):
        if reply.get("connection").lower() == "close" or reply.first[0] != "HTTP/1.1":
            writer.close()
        else:
            self.idle.append((reader, writer))

    # -- towards the client

    async def serve(self, reader, writer):
        try:
            while await self.exchange(reader, writer):
                pass
            writer.close()
        except (Broken, OSError, asyncio.IncompleteReadError):
            slam(writer)
        except asyncio.CancelledError:
            slam(writer)

    async def exchange(self, reader, writer):
        """One request; True when another may follow on this connection."""
        head = await read_head(reader)
        if head.get("expect").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = b"".join([part async for part in read_parts(reader, head)])
        method, target = head.first[:2]
        path = target.split("?")[0]
        if path == "/-/faults":
            return self.answer_about_itself(writer, method, body)
        self.shares.counts["requests"] += 1
        dice = self.shares.dice(method, path)
        kinds = [kind for kind in REQUEST_FAULTS if kind != "conflict" or method != "GET"]
        fault = self.shares.draw(dice, kinds)
        if fault == "refuse":
            raise Broken("refused on purpose")
        if fault == "hang":
            await reader.read()  # until the client gives up
            raise Broken("never answered, on purpose")
        if fault in ANSWERS:
            return self.answer(writer, *ANSWERS[fault])
        reply, upstream_reader, upstream = await self.send(head, body)
        watch = method == "GET" and ("watch=true" in target or "watch=1" in target) and reply.first[1] == "200"
        try:
            if fault == "lose":
                if not watch:  # the server has done its part when its reply is complete
                    _ = [part async for part in read_parts(upstream_reader, reply, reply.first[1] in ("204", "304"))]
                raise Broken("reply lost on purpose")
            if fault == "delay":
                await asyncio.sleep(dice.uniform(0.05, self.shares.longest_delay))
            if watch:
                return await self.relay_watch(reply, upstream_reader, upstream, (reader, writer), path)
            return await self.relay(reply, upstream_reader, upstream, writer, method)
        except BaseException:
            upstream.close()
            raise

    def answer(self, writer, code, reason, message):
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": reason,
                  "code": code}
        return self.write(writer, code, status, ["Retry-After: 1"] if code == 429 else [])

    def write(self, writer, code, body, headers=()):
        raw = json.dumps(body).encode()
        lines = [f"HTTP/1.1 {code} Fault", "Content-Type: application/json", f"Content-Length: {len(raw)}", *headers, "", ""]
        writer.write("\r\n".join(lines).encode() + raw)
        return True

    def answer_about_itself(self, writer, method, body):
        if method == "PUT":
            self.shares.percent = {**dict.fromkeys(REQUEST_FAULTS + STREAM_FAULTS, 0), **json.loads(body)["percent"]}
        return self.write(writer, 200, {"percent": self.shares.percent, "counts": self.shares.counts})

    def write_head(self, writer, reply, chunked):
        lines = [" ".join(reply.first)]
        lines += [f"{key}: {value}" for key, value in reply.headers if key.lower() not in HOP_BY_HOP]
        lines += ["Transfer-Encoding: chunked"] if chunked else []
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def relay(self, reply, reader, upstream, writer, method):
        bodiless = method == "HEAD" or reply.first[1] in ("204", "304")
        chunked = not bodiless and not reply.get("content-length")
        self.write_head(writer, reply, chunked)
        async for part in read_parts(reader, reply, bodiless):
            writer.write(b"%x\r\n%s\r\n" % (len(part), part) if chunked else part)
            await writer.drain()
        if chunked:
            writer.write(b"0\r\n\r\n")
        self.give_back(reply, reader, upstream)
        return True

    async def relay_watch(self, reply, reader, upstream, client, path):
        """Until either side ends it. The client says nothing more: a read that returns means that it is gone."""
        client_reader, writer = client
        self.write_head(writer, reply, chunked=True)
        await writer.drain()
        gone = asyncio.ensure_future(client_reader.read(1))
        stream = asyncio.ensure_future(self.stream(reply, reader, writer, path))
        try:
            await asyncio.wait({gone, stream}, return_when=asyncio.FIRST_COMPLETED)
            if not stream.done():
                raise Broken("the client left its watch")
            await stream
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return False
        finally:
            gone.cancel()
            stream.cancel()
            upstream.close()

    async def stream(self, reply, reader, writer, path):
        next_draw = 0.0
        async for part in read_parts(reader, reply):
            if time.monotonic() >= next_draw:
                next_draw = time.monotonic() + 1
                dice = self.shares.dice("stream", path)
                fault = self.shares.draw(dice, STREAM_FAULTS)
                if fault == "cut":
                    half = part[: 1 + dice.randrange(max(1, len(part) - 2))].rstrip(b"\n")
                    writer.write(b"%x\r\n%s\r\n" % (len(half), half) if half else b"")
                    await writer.drain()
                    await asyncio.sleep(0.01)  # so that the half line arrives before the reset
                    raise Broken("cut on purpose")
                if fault == "hold":
                    await asyncio.sleep(dice.uniform(0.2, 2 * self.shares.longest_delay))
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()


def shares_of(words):
    """["10", "hang=2"] → 10 % of each kind, but 2 % for hang."""
    percent = dict.fromkeys(REQUEST_FAULTS + STREAM_FAULTS, 0.0)
    for word in words:
        kind, _, number = word.rpartition("=")
        if kind and kind not in percent:
            raise ValueError(f"no fault is called {kind!r}; there are {', '.join(percent)}")
        for name in [kind] if kind else list(percent):
            percent[name] = float(number)
    if sum(percent[kind] for kind in REQUEST_FAULTS) > 100 or min(percent.values()) < 0:
        raise ValueError("the shares of the faults of a request add up to more than 100 %, or one is negative")
    return percent


async def run(options):
    proxy = FaultProxy(options)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", options.port, ssl=proxy.front, limit=BUFFER, backlog=256)
    port = server.sockets[0].getsockname()[1]
    if options.port_file:
        Path(options.port_file).write_text(str(port))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: sys.exit(0))
    async with server:
        await server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", required=True, help="URL of the API server")
    parser.add_argument("--ca", help="certificate authority of the server")
    parser.add_argument("--cert", help="client certificate towards the server")
    parser.add_argument("--key")
    parser.add_argument("--front-cert", help="speak TLS with clients, with this certificate")
    parser.add_argument("--front-key")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest-delay", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--percent", action="append", default=[], metavar="[KIND=]NUMBER")
    options = parser.parse_args()
    try:
        asyncio.run(run(options))
    except ValueError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
