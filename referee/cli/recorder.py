"""A game that was written down by hand, written into a log by its scribe, its referee and, for rulings, its arbiter."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from referee import __version__
from referee.cli import texts
from referee.cli.failure import EXIT_USAGE, Failure
from referee.games.game import Chance, Ending, ForcedPass, Pending
from referee.games.results import Contest
from referee.games.table_rules import VERSION as TABLE_RULES
from referee.live.opening import prepare
from referee.log import file, intent
from referee.log.endings import end_message
from referee.log.engines import installed
from referee.log.entry import Clock, Written
from referee.log.errors import LogError, RulesError
from referee.log.intent import Author, Role
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.remarks import SALT_BYTES, commitment, encode_remark
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.notation import contest_text
from referee.notation.headers import Setup
from referee.report.rulings import MOST_POINTS
from referee.v1 import game_service_pb2 as pb
from referee.wire.registry import codec

_SCRIBE = _ARBITER = 0
_MOST_PENALTIES = 100
"""How many penalties a seat gets from a text at the most."""


class Recorder:
    """Writes a declared game down: every seat is scribed. Every method raises ``LogError``."""

    def __init__(
        self, setup: Setup, scribe: PrivateKey, arbiter: PrivateKey | None = None, players: Sequence[bytes] = ()
    ) -> None:
        """``arbiter``: who rules, in a game with rulings. ``players``: how the log calls them, by their seats."""
        self._scribe = scribe
        self._arbiter = arbiter
        self._codec = codec(setup.rules_id, setup.version)
        hashes = players or [b""] * setup.seats
        request = pb.CreateGameRequest(
            rules_id=setup.rules_id,
            rules_version=setup.version,
            options=self._codec.encode_options(setup.options),
            components=self._codec.encode_components(setup.components),
            seats=[log_pb2.Seat(scribed=True, player=player) for player in hashes],
            declaring_scribe_key=scribe.public.raw,
            event_id=setup.event,
            round=setup.round,
            table=setup.table,
        )
        if arbiter is not None:
            request.arbiter_keys.append(arbiter.public.raw)
            recorded = log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
            request.terms.CopyFrom(log_pb2.Terms(illegal_moves=recorded, table_rules=TABLE_RULES))
        prepared = prepare(request, installed(), f"tile-referee {__version__}")
        self.header = prepared.opening.header
        self.record, written = Record.start(prepared.open_data, _now())
        self._entries = [written.data]
        self._remarks: list[log_pb2.Remark] = []
        self._position_seq = 0
        """The newest entry that is no attempt."""

    def take(self, event: Any) -> None:
        """What happened: a move, a forced pass, what was drawn."""
        components = self.record.game.position.components
        if isinstance(event, ForcedPass):
            self._write(log_pb2.ForcedPass(seat=event.seat))
        elif isinstance(self.record.game.position.pending()[0], Chance):
            data = self._codec.encode_outcome(event, components)
            self._admit(intent.declare(self.record.place, _SCRIBE, self._scribe, data))
        else:
            self._admit(self._move(event))

    def refuse(self, event: Any) -> None:
        """A move that the rules forbid, as an attempt."""
        signed = self._move(event)
        try:
            self.record.check(signed)
        except RulesError as error:
            before = self._position_seq
            self._keep(self.record.refuse(signed, error, self._now()))
            self._position_seq = before

    def skip(self, seat: int, event: Any, rule_id: str, words: str = "") -> None:
        """The arbiter passes the seat over, and the stand-in's move, which is ``event``, is entered for it.

        ``words``: the arbiter's reason.
        """
        self.rule(log_pb2.Rule(skip=log_pb2.Skip(seat=seat), rule_id=rule_id), words)
        self._write(log_pb2.StandIn(seat=seat, move=self._encoded(event)))

    def accept(self, seat: int, event: Any, broken: Sequence[str], rule_id: str, words: str = "") -> None:
        """The arbiter lets the seat's move stand, which breaks these rules."""
        accept = log_pb2.Accept(seat=seat, move=self._encoded(event), rule_ids=broken)
        self.rule(log_pb2.Rule(accept=accept, rule_id=rule_id), words)

    def restore(self, rule_id: str, words: str) -> None:
        """The arbiter rules that the position is the one before the newest attempts."""
        self.rule(log_pb2.Rule(restore=log_pb2.Restore(to_seq=self._position_seq), rule_id=rule_id), words)

    def take_off(self, seat: int, points: int, words: str = "") -> None:
        """The arbiter takes points off a seat, at most as many as a ruling may."""
        self.rule(log_pb2.Rule(penalty=log_pb2.Penalty(seat=seat, points=points), rule_id="TBL-33"), words)

    def end(self, contest: Contest) -> None:
        """Enters what happened beside the moves, as rulings, and the end that the game then has; if none, it goes on.

        ``obstacle`` has said that this can be, and ``has_rulings`` whether it takes an arbiter.
        """
        for seat, points in enumerate(contest.points_off):
            for taken in (*([MOST_POINTS] * (points // MOST_POINTS)), points % MOST_POINTS):
                if taken:
                    self.take_off(seat, taken)
        for seat, ending in contest.out.items():
            forfeit = log_pb2.Forfeit(seat=seat, ending=_number(ending))
            self.rule(log_pb2.Rule(forfeit=forfeit, rule_id="TBL-34"))
        ruled = contest.ruled
        if ruled is not None and ruled.ending is Ending.ADJUDICATED:
            given = log_pb2.Adjudicate(scores=ruled.scores, places=ruled.places)
            self.rule(log_pb2.Rule(adjudicate=given, rule_id="TBL-36"))
        elif ruled is not None and ruled.ending is Ending.VOIDED:
            self.rule(log_pb2.Rule(void=log_pb2.Void(), rule_id="TBL-36"))
        end = self.record.game.reached()
        if end is not None:
            self._write(end_message(end))
        elif ruled is not None:
            self._write(log_pb2.GameEnd(ending=_number(ruled.ending)))

    def file(self, signer: CheckpointSigner) -> bytes:
        """The game file."""
        stream = BytesIO()
        writer = file.Writer(stream)
        writer.header(self.header)
        for entry in self._entries:
            writer.entry(entry)
        for remark in self._remarks:
            writer.remark(encode_remark(remark))
        writer.end(signer.sign(self.record.game_id, self.record.size, self.record.root()))
        return stream.getvalue()

    def _encoded(self, event: Any) -> bytes:
        return self._codec.encode_move(event, self.record.game.position.components)

    def _move(self, event: Any) -> intent.SignedIntent:
        return intent.move(self.record.place, Author(Role.SCRIBE, _SCRIBE), self._scribe, self._encoded(event))

    def rule(self, ruling: log_pb2.Rule, words: str = "") -> None:
        """An act of the arbiter's. ``words``: its reason, which the file has and the entry commits to."""
        if self._arbiter is None:
            raise ValueError("a ruling without an arbiter")
        if words:
            salt = secrets.token_bytes(SALT_BYTES)
            ruling.remark = commitment(salt, words)
            self._remarks.append(log_pb2.Remark(seq=self.record.size, salt=salt, text=words))
        self._admit(intent.act(self.record.place, Author(Role.ARBITER, _ARBITER), self._arbiter, ruling))

    def _admit(self, signed: intent.SignedIntent) -> None:
        self._keep(self.record.admit(signed, self._now()))

    def _write(self, event: log_pb2.ForcedPass | log_pb2.StandIn | log_pb2.GameEnd) -> None:
        self._keep(self.record.write(event, self._now()))

    def _keep(self, written: Written) -> None:
        self._entries.append(written.data)
        self._position_seq = self.record.size - 1

    def _now(self) -> Clock:
        return _now(self.record.last_ms)


def has_rulings(contest: Contest) -> bool:
    """Return whether it takes an arbiter to enter this into a log."""
    ruled = contest.ruled
    return bool(contest.out or contest.points_off or (ruled and ruled.ending in (Ending.ADJUDICATED, Ending.VOIDED)))


def obstacle(contest: Contest, seats: int, pending: Sequence[Pending]) -> str:
    """Return why no log can be written of this contest where ``pending`` is awaited; empty if one can."""
    if max(contest.points_off, default=0) > MOST_POINTS * _MOST_PENALTIES:
        return f"[Penalties]: more than {MOST_POINTS * _MOST_PENALTIES} points off a seat"
    ruled = contest.ruled
    if ruled is None or ruled.ending is Ending.VOIDED or ruled.places:
        return ""
    told = f'[Result "{contest_text.value(ruled)}"]'
    if ruled.ending not in (Ending.ABORTED, Ending.REFEREE_FAULT):
        return f"{told}: the text does not show what led to it"
    if replace(contest, ruled=None).result(seats, pending) is not None:
        return f"{told}: the game had come to its end; only an open protest can lead to this ending"
    return ""


def _number(ending: Ending) -> log_pb2.Ending.ValueType:
    return log_pb2.Ending.ValueType(ending.value)


def _now(earliest: int = 0) -> Clock:
    """Not before the entry before, whatever becomes of this machine's clock."""
    return Clock(max(time.time_ns() // 1_000_000, earliest))


def checkpoint_signer(origin: str, key: PrivateKey) -> CheckpointSigner:
    """Raises ``Failure``."""
    try:
        return CheckpointSigner(origin, key)
    except LogError as error:
        raise Failure(f"--origin: {error.what}; expected {error.expected}", EXIT_USAGE) from None


def different_keys(paths: dict[str, Path]) -> list[PrivateKey]:
    """The private keys that these options name, which have to differ. Raises ``Failure``."""
    keys = [texts.private_key(option, path) for option, path in paths.items()]
    taken: dict[bytes, str] = {}
    for option, key in zip(paths, keys, strict=True):
        if (other := taken.setdefault(key.public.raw, option)) != option:
            raise Failure(f"{other} and {option}: the same key twice; expected two different keys", EXIT_USAGE)
    return keys


def write_new(option: str, path: Path, data: bytes) -> None:
    """A file that is not there yet. Raises ``Failure``."""
    try:
        with path.open("xb") as stream:
            stream.write(data)
    except OSError as error:
        raise Failure(f"{option} {path}: {error.strerror}") from None
