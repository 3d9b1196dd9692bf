"""A witness as small as can be, and what one might be instead: over real HTTP, in a thread."""

from __future__ import annotations

import socket
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from referee.log.errors import LogError
from referee.log.keys import PrivateKey
from referee.log.merkle import EMPTY_ROOT, check_consistency
from referee.log.note import Note, TreeHead, VerifierKey
from referee.log.public.checkpoint import cosign, witness_key

Answer = tuple[int, bytes]


class SmallWitness:
    """Signs what grew from what it signed before."""

    def __init__(self, name: str = "w1.example", key: PrivateKey | None = None) -> None:
        self.key = key or PrivateKey.generate()
        self.verifier: VerifierKey = witness_key(name, self.key.public)
        self.size, self.root = 0, EMPTY_ROOT
        self.shown = b""
        """The newest checkpoint, as the log signed it; empty: it shows none."""
        self.requests: list[bytes] = []
        self.answer: Callable[[bytes], Answer] = self.honest
        """The witness's behaviour; tests put something else here."""
        self.url = ""

    def honest(self, body: bytes) -> Answer:
        head, _, data = body.partition(b"\n\n")
        old, *proof = head.decode().split("\n")
        note = Note.parse(data)
        tree = TreeHead.parse(note.text)
        if int(old.removeprefix("old ")) != self.size:
            return 409, b"%d\n" % self.size
        try:
            if self.size:
                check_consistency(self.size, self.root, tree.size, tree.root, tuple(map(b64decode, proof)))
        except LogError:
            return 422, b""
        self.size, self.root, self.shown = tree.size, tree.root, data
        return 200, self.line(note.text)

    def line(self, text: str, key: PrivateKey | None = None) -> bytes:
        return f"{cosign(self.verifier.name, key or self.key, text, int(time.time()))}\n".encode()


@contextmanager
def serving(witness: SmallWitness) -> Iterator[SmallWitness]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/add-checkpoint"
            witness.requests.append(body)
            self._answer(*witness.answer(body))

        def do_GET(self) -> None:
            assert self.path.endswith("/checkpoint")
            self._answer(200 if witness.shown else 404, witness.shown)

        def _answer(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

        def handle(self) -> None:
            with suppress(OSError):  # the client has had enough
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    witness.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield witness
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def dripping() -> Iterator[str]:
    """Give the address of one that takes every request and answers a byte at a time, for ever."""
    ending = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip(connection: socket.socket) -> None:
            with connection:
                try:
                    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                    while not ending.wait(0.05):
                        connection.sendall(b"x")
                except OSError:
                    pass

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=drip, args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        ending.set()
        listening.shutdown(socket.SHUT_RDWR)
