"""Certificates for games whose terms ask for them: made after the verdicts, one at a time, in spare time.

The entries to prove are read from the store: so a restarted referee continues where it stopped.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import structlog

from referee.log.certificates import contradicts, encode_proof, is_wanted, verdict_of
from referee.log.engines import Engines
from referee.log.entry import MAX_ENTRIES, decode_entry
from referee.log.replay import Record
from referee.server.live.context import Context
from referee.server.live.watch import Commit, Ending, Watcher
from referee.server.store.store import Certificate, Change, NewCertificates, Row, StoreDamaged, StoreFailed
from referee.v1 import game_service_pb2 as pb
from referee.v1.solver_service_pb2 import ProveMoveRequest
from referee.wire.certificates.registry import BadCertificate

Prove = Callable[[ProveMoveRequest], Awaitable[bytes]]
"""Returns the certificate for a question; empty if the budget ran out. Raises ``ProofFailed``."""

TRIES = 2
"""Attempts at a question at which a worker dies."""
ENTRIES_AT_ONCE = 64
KEPT_AT_ONCE = 16
"""Certificates that share a commit."""
RETRY_S, MAX_RETRY_S = 1.0, 60.0
"""The first and the longest pause before the store is asked again after a failure."""

_log = structlog.get_logger("referee.proofs")


class ProofFailed(Exception):
    """There is no answer; the message gives the reason, in a word or a line."""


class Prover:
    """One for all games of a referee; what waits is a set of games."""

    def __init__(self, context: Context, prove: Prove) -> None:
        self._context = context
        self._prove = prove
        self._grown: dict[bytes, None] = {}
        """Games that may have entries to be looked at, in their turn."""
        self._first: dict[bytes, int] = {}
        """The first entry to be proved, by game from an earlier start."""
        self._followed: dict[bytes, Follower] = {}
        """The games that are not over, as far as they were followed."""
        self._given_up: set[bytes] = set()
        """Games at which something went wrong that would do so again; until the next start."""
        self._pause_s = RETRY_S
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.watcher: Watcher = _Growth(self._tell)
        """The watcher that learns what becomes of the games."""
        self.settled: Counter[str] = Counter()
        """The number of claims by outcome, once it is kept: ``made``, ``given_up``, and ``contradicts`` of those
        made."""

    async def load(self) -> None:
        """Take up what earlier runs left. Raise ``StoreFailed``."""
        for game_id, first in await self._context.store.awaiting_certificates():
            self._first[game_id] = first
            self._tell(game_id)

    def start(self) -> None:
        """Go on until it is closed."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop. The other certificates are made after the next start. Call before the store is closed."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def waiting(self) -> int:
        """Games that wait for their turn."""
        return len(self._grown)

    def _tell(self, game_id: bytes) -> None:
        if game_id not in self._given_up:
            self._grown[game_id] = None
            self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            while self._grown:
                game_id = next(iter(self._grown))
                del self._grown[game_id]
                await self._look(game_id)
            self._wake.clear()

    async def _look(self, game_id: bytes) -> None:
        """Look at some entries of the game. Trouble with one game does not touch the others."""
        try:
            if await self._go_on(game_id):
                self._tell(game_id)
        except StoreDamaged as error:
            self._give_up(game_id, error)
        except StoreFailed as error:
            self._followed.pop(game_id, None)
            _log.warning("proofs not kept", game=game_id.hex(), error=str(error), again_s=self._pause_s)
            await asyncio.sleep(self._pause_s)
            self._pause_s = min(2 * self._pause_s, MAX_RETRY_S)
            self._tell(game_id)
        except Exception as error:  # noqa: BLE001 - it is reported
            self._give_up(game_id, error)

    def _give_up(self, game_id: bytes, error: Exception) -> None:
        self._followed.pop(game_id, None)
        self._given_up.add(game_id)
        _log.error("proofs given up", game=game_id.hex(), error=str(error), exc_info=error)

    async def _go_on(self, game_id: bytes) -> bool:
        """Return whether there is more to do at once. Raise ``StoreFailed``, and what a game's engine raises."""
        stored = await self._context.store.game(game_id)
        follower = self._followed.get(game_id)
        rows = await self._context.store.entries(game_id, follower.size if follower is not None else 0, ENTRIES_AT_ONCE)
        if stored is None or (follower is None and not rows):
            return False
        if follower is None:
            opened = decode_entry(rows[0].data).open
            first, limit = self._first.get(game_id, 0), self._context.max_entries
            follower = Follower(self._context.engines, opened, first, max_entries=limit)
            self._followed[game_id] = follower
        made: list[Certificate] = []
        settled: Counter[str] = Counter()
        failure: Exception | None = None
        for row in rows:
            try:
                claims = follower.read(row)
            except Exception as error:  # noqa: BLE001 - raised when those before it are kept
                failure = error
                break
            for part, claim in enumerate(claims):
                if (data := await self._certificate(follower, claim, settled)) is not None:
                    made.append(Certificate(row.seq, part, data))
            await asyncio.sleep(0)
            if len(made) >= KEPT_AT_ONCE:
                break
        # It was asked for before the rows: if it was over then, these are the last.
        is_read = not rows or (len(rows) < ENTRIES_AT_ONCE and follower.size > rows[-1].seq)
        is_over = is_read and stored.closed is not None and failure is None
        if settled or is_over:
            await self._keep(game_id, NewCertificates(made, None if is_over else follower.size))
            self._first[game_id] = follower.size
            self.settled.update(settled)
        if failure is not None:
            raise failure
        if is_over:
            del self._followed[game_id], self._first[game_id]
        return not is_read

    async def _certificate(self, follower: Follower, claim: Any, settled: Counter[str]) -> bytes | None:
        """Return the certificate for a claim of the entry that was read last; None if it is given up.

        Counted in ``settled``.
        """
        where = {"game": follower.game_id.hex(), "entry": follower.size - 1}
        why = ""
        for _ in range(TRIES):
            try:
                certificate = await self._prove(follower.provable.request(claim))
                if not certificate:
                    why = "the budget ran out"
                    break
                checked = follower.provable.check(certificate)
            except (ProofFailed, BadCertificate) as error:
                why = str(error)
                continue
            settled["made"] += 1
            if contradiction := contradicts(checked, follower.against):
                # It is evidence, and stays.
                settled["contradicts"] += 1
                _log.error("proof contradicts the referee", **where, what=contradiction)
            return encode_proof(follower.size - 1, follower.leaf, certificate)
        settled["given_up"] += 1
        _log.warning("proof given up", **where, why=why)
        return None

    async def _keep(self, game_id: bytes, new: NewCertificates) -> None:
        """Durable when this returns. Raise ``StoreFailed``."""
        done: asyncio.Future[StoreFailed | None] = asyncio.get_running_loop().create_future()
        self._context.store.commit(Change(game_id, (), certificates=new), partial(_settle, done))
        if (failure := await done) is not None:
            raise failure
        self._pause_s = RETRY_S


class Follower:
    """One game as its entries describe it, but for signatures: these were checked when they were entered."""

    def __init__(self, engines: Engines, open_data: bytes, first: int, *, max_entries: int = MAX_ENTRIES) -> None:
        """``first``: from which entry on its claims are wanted. Raise ``LogError``, ``LookupError``."""
        self._record = Record(open_data, engines=engines, max_entries=max_entries)
        opened = self._record.opened
        provable = engines.provable(opened.rules_id, opened.rules_version)
        if provable is None:
            raise LookupError(f"nothing can be proved of {opened.rules_id} version {opened.rules_version}")
        self.provable = provable
        self._first = first
        self.game_id = self._record.game_id
        self.against: tuple[str, ...] | None = None
        """The rules that the move of the last entry breaks, as the referee says; None: nothing."""

    @property
    def size(self) -> int:
        """Entries that were read."""
        return self._record.size

    @property
    def leaf(self) -> bytes:
        """Leaf hash of the last entry."""
        return self._record.head

    @property
    def digest(self) -> bytes:
        """Digest of the position after the last entry."""
        return self._record.game.position.digest()

    def read(self, row: Row) -> tuple[Any, ...]:
        """Return what the next entry claims of which there is to be a certificate. Raise ``LogError``."""
        verdict = verdict_of(self._record.reread(row.data))
        self.against = verdict.against if verdict is not None else None
        if verdict is None or row.seq < self._first or not is_wanted(self._record.opened.terms.proofs, verdict):
            return ()
        return self.provable.claims(verdict.before, verdict.event)


class _Growth(Watcher):
    """Notes which games have something new, and keeps nothing."""

    __slots__ = ("_tell",)

    def __init__(self, tell: Callable[[bytes], None]) -> None:
        super().__init__()
        self._tell = tell

    def push(self, commit: Commit | None, answer: pb.PlayGameResponse | None = None) -> None:  # noqa: ARG002 - no acts
        if commit is not None:
            self._tell(commit.game_id)

    def over(self, game_id: bytes, ending: Ending = Ending.GAME_OVER) -> None:  # noqa: ARG002 - whatever it is
        self._tell(game_id)

    def end(self, ending: Ending) -> None:
        """End the stream; existing entries can be proved all the same."""


def _settle(done: asyncio.Future[StoreFailed | None], failure: StoreFailed | None) -> None:
    if not done.done():  # the prover may be closed by now
        done.set_result(failure)
