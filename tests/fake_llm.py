"""A small server on localhost that speaks the streaming forms of Ollama and OpenAI and does what a script says."""

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "fake"


@dataclass(frozen=True)
class Act:
    """What one generation does. ``text`` is streamed in pieces; ``hang`` leaves the rest of the answer unsent."""

    text: str = ""
    status: int = 200
    error: str = "the runner has terminated"
    reason: str = "stop"
    pause: float = 0.0
    delay: float = 0.0
    hang: bool = False
    drip: bool = False
    raw: bytes = b""
    prompt_tokens: int | None = None
    completion_tokens: int | None = 20
    drop: bool = False


@dataclass
class FakeServer:
    """A running server. ``script`` gives the act for the n-th generation (from 1) and its request body."""

    url: str
    script: Callable[[int, dict[str, Any]], Act]
    models: tuple[str, ...] = (MODEL,)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    list_delay: float = 0.0

    @property
    def prompt(self) -> str:
        """All that the last generation was told."""
        return "\n".join(message["content"] for message in self.bodies[-1]["messages"])


@contextmanager
def fake_server(script: Callable[[int, dict[str, Any]], Act] | Act) -> Iterator[FakeServer]:
    """Serve on a free port until the block ends."""
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    httpd.daemon_threads = True
    state = FakeServer(f"http://127.0.0.1:{httpd.server_port}", script if callable(script) else lambda n, body: script)
    httpd.state = state  # type: ignore[attr-defined]
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        httpd.shutdown()
        httpd.server_close()
        thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def state(self) -> FakeServer:
        return self.server.state  # type: ignore[attr-defined, no-any-return]

    def log_message(self, *_: object) -> None:
        """Silent."""

    def do_GET(self) -> None:
        time.sleep(self.state.list_delay)
        if self.path == "/api/tags":
            self.reply(200, {"models": [{"name": name, "model": name} for name in self.state.models]})
        elif self.path == "/v1/models":
            self.reply(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in self.state.models]})
        else:
            self.reply(404, {"error": "no"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.state.bodies.append(body)
        self.state.headers.append(dict(self.headers))
        if body["model"] not in self.state.models:
            return self.reply(404, {"error": f"model '{body['model']}' not found"})
        act = self.state.script(len(self.state.bodies), body)
        time.sleep(act.delay)
        if act.drop:
            return self.connection.shutdown(socket.SHUT_RDWR)
        if act.status != 200:
            return self.reply(act.status, {"error": act.error})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if self.openai else "application/x-ndjson")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self.stream(act)
        except OSError:
            self.state.left.set()
        return None

    @property
    def openai(self) -> bool:
        return self.path.startswith("/v1/")

    def stream(self, act: Act) -> None:
        if act.raw:
            return self.send(act.raw)
        for at in range(0, len(act.text), 12):
            self.piece(act.text[at : at + 12])
            if act.pause and self.gone(act.pause):
                return None
        while act.drip:  # never a whole line
            self.send(b" " if not self.openai else b": x")
            if self.gone(0.05):
                return None
        if act.hang:
            while not self.gone(0.05):
                pass
            return None
        return self.last(act)

    def gone(self, seconds: float) -> bool:
        """Wait; whether the client has hung up, or the test is over."""
        readable, _, _ = select.select([self.connection], [], [], seconds)
        if readable and not self.connection.recv(1, 2):
            self.state.left.set()
            return True
        return self.state.released.is_set()

    def piece(self, text: str) -> None:
        if self.openai:
            self.event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]})
        else:
            self.line({"done": False, "message": {"role": "assistant", "content": text}})

    def last(self, act: Act) -> None:
        if not self.openai:
            counts = {"prompt_eval_count": act.prompt_tokens, "eval_count": act.completion_tokens}
            self.line(
                {"done": True, "done_reason": act.reason, "message": {"role": "assistant", "content": ""}, **counts}
            )
            return
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": act.reason}]})
        if act.prompt_tokens is not None:
            usage = {"prompt_tokens": act.prompt_tokens, "completion_tokens": act.completion_tokens, "total_tokens": 0}
            self.event({"choices": [], "usage": usage})
        self.send(b"data: [DONE]\n\n")

    def line(self, payload: dict[str, Any]) -> None:
        self.send(json.dumps({"model": MODEL, "created_at": "2026-01-01T00:00:00Z", **payload}).encode() + b"\n")

    def event(self, payload: dict[str, Any]) -> None:
        head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
        self.send(b"data: " + json.dumps({**head, **payload}).encode() + b"\n\n")

    def send(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()

    def reply(self, status: int, payload: dict[str, Any]) -> None:
        data = json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
