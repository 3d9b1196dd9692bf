"""The places where the files of a log are kept: a folder, which any web server can serve, or a web server.

A tile or bundle that is in a folder is never replaced by other bytes, unless it was damaged. A web server, a log's or a
witness's, is asked over one connection, bounded in bytes and in time. Redirections are not followed: a log is where its
address says. Knows paths, bytes and HTTP, not what they mean.
"""

from __future__ import annotations

import errno
import os
import socket
import ssl
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread
from typing import Final
from urllib.parse import urlsplit

from referee.log.errors import Code, LogError
from referee.log.note import MAX_COSIGNED_BYTES
from referee.log.public.tiles import Source, is_path

_CHUNK_BYTES = 64 * 1024
_KEEP_ALIVE_S = 4.0
"""The seconds for which a connection is used again after an answer: servers close theirs after 5 s and more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer."""

    status: int
    body: bytes


class _Https(HTTPSConnection):
    """A connection with its socket before the handshake, so that a slow handshake can be cut as well."""

    def __init__(self, host: str, port: int | None) -> None:
        self._tls = ssl.create_default_context()
        super().__init__(host, port, context=self._tls)

    def connect(self) -> None:
        HTTPConnection.connect(self)
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
        self.sock.do_handshake()


class Web:
    """A server below an address. Not for several threads at once."""

    def __init__(self, url: str, timeout_s: float = 10.0) -> None:
        """``timeout_s``: for one whole question. Raise ``ValueError`` for any other address."""
        self.url = url.rstrip("/")
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("expected http:// or https://, a host and perhaps a path")
        if parts.username is not None:
            raise ValueError("expected an address without a user or a password")
        if any(c <= " " or c > "~" for c in self.url):
            raise ValueError("expected an address of printable ASCII")
        self._prefix = parts.path
        self._timeout_s = timeout_s
        self._used = 0.0
        self._is_closed = False
        self._connection = (
            _Https(parts.hostname, parts.port)
            if parts.scheme == "https"
            else HTTPConnection(parts.hostname, parts.port)
        )

    def ask(self, method: str, path: str, body: bytes | None = None, *, most: int = MAX_COSIGNED_BYTES) -> Answer:
        """Return the answer. Raise ``OSError`` if none comes in time, ``LogError`` (``LIMIT``) for a longer one."""
        deadline = time.monotonic() + self._timeout_s
        if time.monotonic() - self._used > _KEEP_ALIVE_S:
            self._drop()
        try:
            with self._cutting(deadline):
                self._timeout(deadline)
                self._connection.request(method, f"{self._prefix}/{path}", body=body)
                self._timeout(deadline)
                # Closed, it gives the connection back, or lets go of one that the server meant for it alone.
                with self._connection.getresponse() as response:
                    data = self._body(response, deadline, most)
        except HTTPException as error:
            self._drop()
            raise OSError(f"{self.url}: no answer in HTTP ({type(error).__name__})") from None
        except OSError as error:
            self._drop()
            raise OSError(f"{self.url}: {error.strerror or error}") from None
        except LogError:
            self._drop()
            raise
        finally:
            if self._is_closed:  # meanwhile, by another thread
                self._drop()
        self._used = time.monotonic()
        return Answer(response.status, data)

    def read(self, path: str, most: int = MAX_COSIGNED_BYTES) -> bytes | None:
        """Return the file there, None if there is none. Raise as ``ask``, and ``OSError`` for any other answer."""
        answer = self.ask("GET", path, most=most)
        if answer.status in (404, 410):
            return None
        if answer.status != 200:
            raise OSError(f"{self.url}/{path}: the server answers with status {answer.status}")
        return answer.body

    def close(self) -> None:
        """Close the connection; one that a question in another thread has is closed when that ends."""
        self._is_closed = True
        self._drop()

    def _drop(self) -> None:
        self._connection.close()

    def _body(self, response: HTTPResponse, deadline: float, most: int) -> bytes:
        data = b""
        while chunk := response.read1(_CHUNK_BYTES):
            data = bounded(data + chunk, most, self.url)
            self._timeout(deadline)
        if response.length:
            raise OSError("the answer was cut")
        return data

    @contextmanager
    def _cutting(self, deadline: float) -> Iterator[None]:
        """Cut the connection at the deadline: a byte now and then is in time for a socket. Raise ``TimeoutError``."""
        is_done, was_cut = Event(), Event()

        def watch() -> None:
            wait_s = deadline - time.monotonic()
            while not is_done.wait(max(wait_s, 0.0)):
                was_cut.set()
                wait_s = 0.1  # there may be no connection yet
                if (connection := self._connection.sock) is not None:
                    with suppress(OSError):
                        socket.socket.shutdown(connection, socket.SHUT_RDWR)

        watchdog = Thread(target=watch, name="deadline", daemon=True)
        watchdog.start()
        try:
            yield
        finally:
            is_done.set()
            watchdog.join()
            if was_cut.is_set():
                raise self._late()

    def _late(self) -> TimeoutError:
        return TimeoutError(f"no whole answer within {self._timeout_s:g} s")

    def _timeout(self, deadline: float) -> None:
        """Let the next step take what is left. Raise ``OSError``."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise self._late()
        self._connection.timeout = left
        if self._connection.sock is not None:
            self._connection.sock.settimeout(left)


def bounded(data: bytes, most: int, what: str) -> bytes:
    """Return the data. Raise ``LogError`` (``LIMIT``) if there is more than ``most``."""
    if len(data) > most:
        raise LogError(Code.LIMIT, f"{what}: more than {most} bytes", f"at most {most}")
    return data


CHECKPOINT: Final = "checkpoint"
"""The path of the newest checkpoint (C2SP tlog-tiles)."""
NEW: Final = ".new"
"""Ends the name of a file that is not finished."""


class Folder:
    """The files of a log below a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, path: str, most: int = MAX_COSIGNED_BYTES) -> bytes | None:
        """Read as ``Source`` does. Raise ``LogError`` for a pipe or a device, which could block without end."""
        try:
            # Opening a pipe would wait for its writer.
            descriptor = os.open(self.path / path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise LogError(Code.NOTE, f"{self.path / path} is no file", "a file of the log")
        with os.fdopen(descriptor, "rb") as file:
            return bounded(file.read(most + 1), most, path)

    def write(self, path: str, data: bytes) -> None:
        """Write a tile or a bundle, durably before this returns, or find it there.

        Raise ``LogError`` (``CHECKPOINT``) if other bytes are there; ``OSError``.
        """
        if not is_path(path):
            raise ValueError(f"{path}: not the path of a tile or a bundle")
        there = self.read(path, max(len(data), 1))
        if there is not None and there != data:
            raise LogError(Code.CHECKPOINT, f"{self.path / path}: other bytes are there", "the same, or none")
        self._replace(path, data)

    def mend(self, path: str, data: bytes) -> None:
        """Replace a tile or a bundle that was damaged, durably before this returns. Raise ``OSError``."""
        if (there := self.path / path).is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder is there; expected a file, or nothing", str(there))
        self._replace(path, data)

    def publish(self, note: bytes) -> None:
        """Replace the checkpoint, durably before this returns. Raise ``OSError``."""
        self._replace(CHECKPOINT, note)

    def _replace(self, path: str, data: bytes) -> None:
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # By a name of its own: several referees may write into one folder.
        beside = target.with_name(f".{target.name}.{token_hex(8)}{NEW}")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fdatasync(file.fileno())
            beside.replace(target)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
        # The folders may be new: each has to be found in the one above it.
        for folder in (target.parent, *target.parent.parents):
            _sync(folder)
            if folder == self.path:
                break


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_source(where: str) -> Source:
    """Return the reader of a folder or of an address. Raise ``ValueError`` for an address that cannot be one."""
    if where.startswith(("http://", "https://")):
        return Web(where)
    return Folder(Path(where))
