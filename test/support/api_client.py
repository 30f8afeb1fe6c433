"""A plain HTTP client for tests that speak to an API server as a stranger would: one connection per request, nothing hidden."""

import http.client
import json
import socket
import ssl
import time
from dataclasses import dataclass, field

JSON = "application/json"


@dataclass(frozen=True)
class Reply:
    """What a server answered. `body` is the parsed JSON, or the text where it is not JSON."""

    status: int
    headers: dict
    body: object


@dataclass(frozen=True)
class ApiClient:
    """Where an API server listens and how to be trusted there. Safe to share: it holds no connection."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    headers: dict = field(default_factory=dict)

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    def connect(self, timeout=30.0):
        if self.tls:
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=self.tls)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def _send(self, connection, method, path, body, content_type, accept):
        headers = {"Accept": accept, **self.headers}
        if body is not None:
            headers["Content-Type"] = content_type
            body = body if isinstance(body, (str, bytes)) else json.dumps(body)
            body = body.encode() if isinstance(body, str) else body
        connection.request(method, path, body, headers)
        return connection.getresponse()

    def request(self, method, path, body=None, content_type=JSON, accept=JSON):
        connection = self.connect()
        try:
            response = self._send(connection, method, path, body, content_type, accept)
            raw = response.read().decode("utf-8", "replace")
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, headers, parse(raw))
        finally:
            connection.close()

    def must(self, method, path, body=None, content_type=JSON):
        """The body of a request that has to succeed."""
        reply = self.request(method, path, body, content_type)
        if reply.status >= 300:
            raise RuntimeError(f"{method} {path}: {reply.status}: {reply.body}")
        return reply.body

    def must_all(self, requests):
        """Sends each (method, path, body, content type) on one connection, in order; all have to succeed."""
        connection = self.connect()
        try:
            for method, path, body, content_type in requests:
                response = self._send(connection, method, path, body, content_type, JSON)
                raw = response.read()
                if response.status >= 300:
                    raise RuntimeError(f"{method} {path}: {response.status}: {raw[:500]!r}")
        finally:
            connection.close()

    def watch(self, path, count, seconds, accept=JSON):
        """(reply, events): up to `count` events of a watch, or those that came within `seconds`."""
        connection = self.connect(timeout=seconds)
        events = []
        try:
            response = self._send(connection, "GET", path, None, JSON, accept)
            headers = {name.lower(): value for name, value in response.getheaders()}
            if response.status != 200:
                return Reply(response.status, headers, parse(response.read().decode("utf-8", "replace"))), events
            until = time.monotonic() + seconds
            while len(events) < count and time.monotonic() < until:
                try:
                    line = response.readline()
                except (socket.timeout, TimeoutError):
                    break
                if not line:
                    break
                if line.strip():
                    events.append(parse(line.decode("utf-8", "replace")))
            return Reply(200, headers, None), events
        finally:
            connection.close()


def parse(raw):
    """JSON if it is JSON, nothing for nothing, else the text itself."""
    if not raw:
        return None
    try:
        return json.loads(raw)
    except ValueError:
        return raw
