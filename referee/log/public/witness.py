"""A witness signs a log's checkpoint if it grew out of the one before: never two that contradict (C2SP tlog-witness).

``Witness.add`` answers a request, and its answer is durable. ``application`` has the pages that a log asks.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import time
from typing import Final

import structlog
from starlette import requests
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from referee.log.errors import Code, LogError
from referee.log.keys import PrivateKey
from referee.log.merkle import EMPTY_ROOT, HASH_BYTES, check_consistency
from referee.log.note import MAX_COSIGNED_BYTES, Note, NoteSignature, TreeHead, VerifierKey, canonical_base64
from referee.log.public.checkpoint import (
    NONE,
    LogPolicy,
    cosign,
    open_log_checkpoint,
    origin_hash,
    parse_log_note,
    witness_key,
)

MAX_PROOF_LINES = 63
MAX_BODY_BYTES = MAX_COSIGNED_BYTES + 50 * MAX_PROOF_LINES
TEXT: Final = "text/plain; charset=utf-8"
SIZE: Final = "text/x.tlog.size"
_OLD = re.compile(r"old (0|[1-9][0-9]{0,18})\Z", re.ASCII)
_SCHEMA = """
CREATE TABLE witness (one INTEGER PRIMARY KEY CHECK (one = 1), verifier TEXT NOT NULL);
CREATE TABLE logs (
    origin_hash TEXT PRIMARY KEY, origin TEXT NOT NULL, size INTEGER NOT NULL, root BLOB NOT NULL,
    time_s INTEGER NOT NULL, note BLOB NOT NULL
);
PRAGMA user_version = 1;
"""
_VERSION = 1
_CLOCK_S = 60
"""The most seconds that the clock may be behind the last cosignature before a warning to its operator."""
_log = structlog.get_logger("referee.witness")


class WitnessFailed(Exception):
    """The file of a witness cannot be used; the message has the reason and the expected file."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer in HTTP."""

    status: int
    body: bytes
    media_type: str = TEXT

    @classmethod
    def refusal(cls, status: int, why: str) -> Reply:
        return cls(status, f"{why}\n".encode())


@dataclass(frozen=True, slots=True)
class Request:
    """A request to add-checkpoint: the bytes are right, and nothing else is known."""

    old: int
    proof: tuple[bytes, ...]
    note: bytes

    @classmethod
    def parse(cls, body: bytes) -> Request:
        """Read a body. Raise ``LogError`` (``NOTE``)."""
        head, blank, note = body.partition(b"\n\n")
        try:
            first, *lines = head.decode("ascii").split("\n")
        except UnicodeDecodeError:
            raise LogError(Code.NOTE, "the lines above the checkpoint are not ASCII") from None
        match = _OLD.match(first)
        if match is None or not blank:
            raise LogError(Code.NOTE, "the request", "old and a size, proof lines, an empty line, a checkpoint")
        if len(lines) > MAX_PROOF_LINES:
            raise LogError(Code.NOTE, f"{len(lines)} proof lines", f"at most {MAX_PROOF_LINES}")
        proof = tuple(map(canonical_base64, lines))
        if any(len(each) != HASH_BYTES for each in proof):
            raise LogError(Code.NOTE, "a proof line", f"a hash of {HASH_BYTES} bytes in base64")
        parse_log_note(note)
        return cls(int(match[1]), proof, note)

    def encode(self) -> bytes:
        lines = [f"old {self.old}\n", *(f"{b64encode(each).decode()}\n" for each in self.proof), "\n"]
        return "".join(lines).encode() + self.note


class Witness:
    """Cosigns for the logs of a policy. Methods may be called from several threads."""

    def __init__(self, file: WitnessFile, key: PrivateKey, logs: LogPolicy) -> None:
        """``logs``: the logs whose checkpoints are cosigned; its witnesses do not matter here."""
        self._file = file
        self._key = key
        # Other witnesses' signatures are not for this one to judge.
        self._logs = LogPolicy(logs.logs, {}, NONE)

    @property
    def verifier(self) -> VerifierKey:
        return self._file.verifier

    def add(self, body: bytes, now_s: int) -> Reply:
        """Answer a request of add-checkpoint. ``now_s``: seconds since the Epoch. Raise ``WitnessFailed``."""
        try:
            request = Request.parse(body)
            note = parse_log_note(request.note)
            head = TreeHead.parse(note.text)
        except LogError as error:
            return Reply.refusal(400, str(error))
        if not self._logs.log(head.origin):
            return Reply.refusal(404, "this witness does not know the log of this origin")
        try:
            open_log_checkpoint(request.note, self._logs)
        except LogError as error:
            return Reply.refusal(403, str(error))
        if request.old > head.size:
            return Reply.refusal(400, f"old {request.old} of a checkpoint of {head.size} leaves")
        with self._file.changing(head.origin) as log:
            if request.old != log.size:
                return Reply(409, b"%d\n" % log.size, SIZE)
            try:
                _check_grown(log, head, request.proof)
            except LogError as error:
                return Reply.refusal(422, str(error))
            # A clock may be set back; a later head must not appear to be seen earlier.
            time_s = max(now_s, log.time_s)
            if time_s > now_s + _CLOCK_S:
                _log.error("clock was ahead", origin=head.origin, ahead_s=time_s - now_s)
            line = cosign(self.verifier.name, self._key, note.text, time_s)
            log.become(head, time_s, self._kept(note, head.origin, line))
        return Reply(200, f"{line}\n".encode())

    def latest(self, origin_hash: str) -> bytes | None:
        """Return the newest checkpoint that was cosigned, by the SHA-256 of its origin in hexadecimal digits."""
        return self._file.note(origin_hash)

    def _kept(self, note: Note, origin: str, line: NoteSignature) -> bytes:
        """Return the checkpoint with the log's own signatures and this witness's."""
        known = {(key.name, key.id) for key in self._logs.log(origin)}
        own = (signature for signature in note.signatures if (signature.name, signature.key_id) in known)
        return Note(note.text, (*own, line)).encode()


def _check_grown(log: _Log, head: TreeHead, proof: tuple[bytes, ...]) -> None:
    """Raise ``LogError`` (``CHECKPOINT``) unless the tree of the head begins with that of the log."""
    if head.size == 0 and head.root != EMPTY_ROOT:
        raise LogError(Code.CHECKPOINT, "another root than that of an empty tree")
    if log.size == 0:
        # Every tree extends the empty one, and there is nothing to prove.
        if proof:
            raise LogError(Code.CHECKPOINT, "a proof from size 0", "no proof lines")
        return
    check_consistency(log.size, log.root, head.size, head.root, proof)


class _Log:
    """The file's data on one log, in a transaction."""

    def __init__(self, connection: sqlite3.Connection, origin: str) -> None:
        self._connection = connection
        self._origin = origin
        row: tuple[int, bytes, int] | None = connection.execute(
            "SELECT size, root, time_s FROM logs WHERE origin_hash = ?", (origin_hash(origin),)
        ).fetchone()
        self.size, self.root, self.time_s = row if row is not None else (0, EMPTY_ROOT, 0)

    def become(self, head: TreeHead, time_s: int, note: bytes) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO logs VALUES (?, ?, ?, ?, ?, ?)",
            (origin_hash(self._origin), self._origin, head.size, head.root, time_s, note),
        )


class WitnessFile:
    """The heads that a witness has signed, in one SQLite file. A witness that loses it may sign a contradiction."""

    def __init__(self, path: Path, verifier: VerifierKey, connection: sqlite3.Connection) -> None:
        """``make`` and ``open`` are for everybody."""
        self.path = path
        self.verifier = verifier
        self._connection = connection
        self._lock = Lock()

    @classmethod
    def make(cls, path: Path, name: str, key: PrivateKey) -> WitnessFile:
        """Make the file of a witness that has signed nothing. Raise ``WitnessFailed`` if there is one, ``LogError``
        (``NOTE``) for a name that cannot be one.
        """
        verifier = witness_key(name, key.public)
        beside = path.with_name(f".{path.name}.new")
        try:
            if path.exists():
                raise WitnessFailed(f"{path}: the file exists; expected a start without --new, or another name")
            beside.unlink(missing_ok=True)
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW, 0o600))
            with closing(sqlite3.connect(beside, isolation_level=None)) as connection:
                connection.executescript(_SCHEMA)
                connection.execute("INSERT INTO witness VALUES (1, ?)", (str(verifier),))
            # Whole or not at all, and never over another: a link fails where a renaming would replace.
            os.link(beside, path)
            beside.unlink()
        except FileExistsError:
            raise WitnessFailed(f"{path}: the file exists; expected a start without --new, or another name") from None
        except (OSError, sqlite3.Error) as error:
            raise WitnessFailed(f"{path}: {_reason(error)}") from None
        return cls.open(path, key)

    @classmethod
    def open(cls, path: Path, key: PrivateKey, busy_s: float = 5.0) -> WitnessFile:
        """Open the file of the witness with this key. Raise ``WitnessFailed``. ``busy_s``: to wait for a lock."""
        if not path.exists():
            what = "no such file, and a witness that forgets what it signed can be shown another history"
            raise WitnessFailed(f"{path}: {what}; expected the file, or --new for a witness that never signed anything")
        try:
            connection = sqlite3.connect(path, timeout=busy_s, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise WitnessFailed(f"{path}: {error}") from None
        try:
            return cls(path, _verifier(connection, key), connection)
        except (LogError, sqlite3.Error) as error:
            connection.close()
            raise WitnessFailed(f"{path}: {error}") from None
        except WitnessFailed as error:
            connection.close()
            raise WitnessFailed(f"{path}: {error}") from None

    @contextmanager
    def changing(self, origin: str) -> Iterator[_Log]:
        """Look at a log and change it, all in one transaction that is durable at the end. Raise ``WitnessFailed``."""
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield _Log(self._connection, origin)
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise WitnessFailed(f"{self.path}: {error}") from None
            finally:
                if self._connection.in_transaction:
                    with suppress(sqlite3.Error):
                        self._connection.execute("ROLLBACK")

    def note(self, hashed: str) -> bytes | None:
        with self._lock:
            row = self._connection.execute("SELECT note FROM logs WHERE origin_hash = ?", (hashed,)).fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        self._connection.close()


def _verifier(connection: sqlite3.Connection, key: PrivateKey) -> VerifierKey:
    """Return whose file it is. Raise ``WitnessFailed`` for another file or key, ``LogError``, ``sqlite3.Error``."""
    # EXTRA: with FULL a power cut may bring back the journal of a transaction that was answered, and undo it.
    connection.execute("PRAGMA synchronous = EXTRA")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != _VERSION:
        raise WitnessFailed("not the file of a witness of this version; expected one that --new made")
    # Two keys in one file, or one key with two files, could sign a contradiction.
    (text,) = connection.execute("SELECT verifier FROM witness").fetchone()
    verifier = VerifierKey.parse(text)
    if verifier.key != key.public.raw:
        raise WitnessFailed(f"the file of the witness {verifier}; expected its key")
    return verifier


def _reason(error: OSError | sqlite3.Error) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


BODY_S = 10.0
"""The most seconds for the body of a request."""


def application(witness: Witness, now: Callable[[], float] = time) -> Starlette:
    """Return the pages: add-checkpoint, and the newest checkpoint of each log. ``now``: seconds since the Epoch."""

    async def add_checkpoint(request: requests.Request) -> Response:
        body = await _body(request)
        if body is None:
            return _response(Reply.refusal(413, f"more than {MAX_BODY_BYTES} bytes, or not sent within {BODY_S:g} s"))
        try:
            # In a thread, as it ends on the disk.
            reply = await asyncio.to_thread(witness.add, body, int(now()))
        except WitnessFailed as error:
            _log.error("nothing was signed", error=str(error))
            return _response(Reply.refusal(503, "nothing was signed: the witness cannot write its file"))
        if reply.status not in (200, 409):
            _log.warning("checkpoint refused", status=reply.status, why=reply.body.decode().strip())
        return _response(reply)

    def checkpoint(request: requests.Request) -> Response:
        note = witness.latest(request.path_params["origin_hash"])
        if note is None:
            return _response(Reply.refusal(404, "nothing was cosigned for this origin"))
        return _response(Reply(200, note))

    return Starlette(
        routes=[
            Route("/add-checkpoint", add_checkpoint, methods=["POST"]),
            Route("/{origin_hash}/checkpoint", checkpoint, methods=["GET"]),
        ]
    )


async def _body(request: requests.Request) -> bytes | None:
    """Return the body, None if it is too long or takes too long."""
    found = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for part in request.stream():
                found += part
                if len(found) > MAX_BODY_BYTES:
                    return None
    except (TimeoutError, requests.ClientDisconnect):
        return None
    return bytes(found)


def _response(reply: Reply) -> Response:
    response = Response(reply.body, reply.status, media_type=None)
    response.headers["content-type"] = reply.media_type
    response.headers["cache-control"] = "no-store"
    return response
