"""A game that was written down by hand, written into a log by its scribe, its referee and, for rulings, its arbiter."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from referee import __version__
from referee.cli import texts
from referee.cli.failure import EXIT_USAGE, Failure
from referee.games.game import Chance, Decision, Ending, ForcedPass, Pending
from referee.games.results import Contest, Wait
from referee.games.table_rules import VERSION as TABLE_RULES
from referee.live.opening import prepare
from referee.log import file, intent
from referee.log.endings import end_message
from referee.log.engines import installed
from referee.log.entry import Clock, Written
from referee.log.errors import Code, LogError, RulesError
from referee.log.intent import Author, Role
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.remarks import SALT_BYTES, commitment, encode_remark
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.log.verdict import Verdict
from referee.notation import accepted, contest_text, game_text
from referee.notation.game_text import GameText
from referee.notation.headers import Setup
from referee.notation.table_acts import RULINGS, Kind, TableAct
from referee.report.rulings import MOST_POINTS
from referee.transcript import table_messages
from referee.v1 import game_service_pb2 as pb
from referee.wire.registry import codec

_SCRIBE = 0
NO_CLOCK = "this needs a clock, which a game that is recorded from a text does not have"
_MOST_PENALTIES = 100
"""How many penalties a seat gets from a text at the most."""


class Recorder:
    """Writes a declared game down: every seat is scribed. Every method raises ``LogError``."""

    def __init__(
        self,
        setup: Setup,
        scribe: PrivateKey,
        arbiters: Sequence[PrivateKey] = (),
        players: Sequence[bytes] = (),
        *,
        has_table_acts: bool = False,
    ) -> None:
        """``arbiters``: who rule, in a game with rulings. ``players``: how the log calls them, by their seats."""
        self._scribe = scribe
        self._arbiters = arbiters
        self._seqs = [0]
        """Of each line of a text the entry that it became."""
        self._proposal = 0
        """The entry of the newest proposal to take moves back."""
        self._stands: TableAct | None = None
        """What the arbiter says of the next move, which stands."""
        self._remarks: list[log_pb2.Remark] = []
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
        request.arbiter_keys.extend(arbiter.public.raw for arbiter in arbiters)
        if arbiters:
            request.terms.illegal_moves = log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
        if arbiters or has_table_acts:
            request.terms.table_rules = TABLE_RULES
            request.terms.take_backs = has_table_acts
        prepared = prepare(request, installed(), f"tile-referee {__version__}")
        self.header = prepared.opening.header
        self.record, written = Record.start(prepared.open_data, _now())
        self._entries = [written.data]
        self._position_seq = 0
        """The newest entry that is no attempt."""

    def take(self, event: Any) -> None:
        """Record what happened: a move, a forced pass, what was drawn."""
        components = self.record.game.position.components
        if isinstance(event, ForcedPass):
            self._write(log_pb2.ForcedPass(seat=event.seat))
        elif isinstance(self.record.game.position.pending()[0], Chance):
            data = self._codec.encode_outcome(event, components)
            self._admit(intent.declare(self.record.place, _SCRIBE, self._scribe, data))
        else:
            self._admit(self._move(event))

    def refuse(self, event: Any) -> None:
        """Record a move that the rules forbid, as an attempt."""
        signed = self._move(event)
        try:
            self.record.check(signed)
        except RulesError as error:
            before = self._position_seq
            self._keep(self.record.refuse(signed, error, self._now()))
            self._position_seq = before
        except LogError as error:
            # Such as a domino with a number that none has: no log has it, and the ruling about it says enough.
            if error.code is not Code.MALFORMED:
                raise

    def skip(self, seat: int, event: Any, rule_id: str, words: str = "") -> None:
        """Rule that the seat is passed over; the stand-in's move, ``event``, is entered for it.

        ``words``: the arbiter's reason.
        """
        self._rule_with(log_pb2.Rule(skip=log_pb2.Skip(seat=seat), rule_id=rule_id), words)
        self._write(log_pb2.StandIn(seat=seat, move=self._encoded(event)))

    def accept(self, seat: int, event: Any, broken: Sequence[str], rule_id: str) -> None:
        """Rule that the seat's move stands, which breaks these rules."""
        accept = log_pb2.Accept(seat=seat, move=self._encoded(event), rule_ids=broken)
        self.rule(log_pb2.Rule(accept=accept, rule_id=rule_id))

    def restore(self, rule_id: str, words: str) -> None:
        """Rule that the position is the one before the newest attempts."""
        self._rule_with(log_pb2.Rule(restore=log_pb2.Restore(to_seq=self._position_seq), rule_id=rule_id), words)

    def take_off(self, seat: int, points: int, words: str = "") -> None:
        """Rule that a seat loses points, at most as many as a ruling may take."""
        penalty = log_pb2.Penalty(seat=seat, points=points)
        self._rule_with(log_pb2.Rule(penalty=penalty, rule_id=RULINGS[Kind.PENALTY]), words)

    def lines(self, game: GameText) -> None:
        """Enter all lines of a text, one after the other, what else its headers tell, and the end."""
        for line in game.happened or game.events:
            with about(self._words(line)):
                self.enter(line)
            # What is said of a move that stands is one entry with it, which comes next.
            self._seqs.append(self.record.size - (self._stands is None))
        self.end(game.contest)

    def _words(self, line: Any) -> str:
        """Return a line as the notation has it."""
        if isinstance(line, TableAct):
            return str(line)
        return game_text.line(self.record.opened.rules_id, self.record.game.position.state, line)

    def name_lines(self, seqs: Sequence[int]) -> None:
        """Say which entry each line has become so far that an act of the table can name."""
        self._seqs = list(seqs)

    def enter(self, line: Any) -> None:
        """Enter a line: an event of the game, or an act of the table."""
        if isinstance(line, TableAct):
            self._act(line)
        else:
            self._event(line)

    def end(self, contest: Contest) -> None:
        """Enter what happened beside the moves and is not there yet, as rulings, and the end that the game then has.

        If there is none, or an open protest holds it, the game goes on. ``obstacle`` has said that this can be, and
        ``has_rulings`` whether it takes an arbiter.
        """
        entered = self.record.game.arbitration
        for seat, (points, off) in enumerate(zip(contest.points_off, list(entered.points_off), strict=False)):
            missing = max(0, points - off)
            for taken in (*([MOST_POINTS] * (missing // MOST_POINTS)), missing % MOST_POINTS):
                if taken:
                    self.take_off(seat, taken)
        for seat, ending in contest.out.items():
            if seat not in entered.out:
                forfeit = log_pb2.Forfeit(seat=seat, ending=_number(ending))
                self.rule(log_pb2.Rule(forfeit=forfeit, rule_id="TBL-34"))
        ruled = contest.ruled
        if ruled is not None and ruled.ending is Ending.ADJUDICATED and entered.ruled != ruled:
            given = log_pb2.Adjudicate(scores=ruled.scores, places=ruled.places)
            self.rule(log_pb2.Rule(adjudicate=given, rule_id="TBL-36"))
        elif ruled is not None and ruled.ending is Ending.VOIDED and entered.ruled != ruled:
            self.rule(log_pb2.Rule(void=log_pb2.Void(), rule_id="TBL-36"))
        end = self.record.game.reached()
        if end is not None and not entered.is_disputed:
            self._write(end_message(end))
        elif ruled is not None and ruled.ending in (Ending.ABORTED, Ending.REFEREE_FAULT):
            self._write(log_pb2.GameEnd(ending=_number(ruled.ending)))

    def _event(self, event: Any) -> None:
        """A move, a draw or a pass of a text; a stand-in's move where one is due, or one that stands."""
        game = self.record.game
        if (seat := game.due_stand_in()) is not None:
            self._write(log_pb2.StandIn(seat=seat, move=self._encoded(event)))
            return
        awaited = game.position.pending()[0]
        broken = accepted.rule_ids(game.position.violations(event)) if isinstance(awaited, Decision) else ()
        if not broken or not isinstance(awaited, Decision):
            self.take(event)
            return
        said = self._stands or TableAct(Kind.STANDS, rule_id=RULINGS[Kind.STANDS])
        self._stands = None
        accept = log_pb2.Accept(seat=awaited.seat, move=self._encoded(event), rule_ids=broken)
        self._rule_by(said, log_pb2.Rule(accept=accept))

    def _act(self, act: TableAct) -> None:
        if act.kind in (Kind.STANDS, Kind.ABORT):
            self._stands = act if act.kind is Kind.STANDS else None
            return
        if act.needs_clock:
            raise LogError(Code.NOT_AWAITED, f"{act}: {NO_CLOCK}", "a text without this line")
        if act.is_ruling or act.kind is Kind.FELL:
            self._rule_by(act, table_messages.ruling(act, self._seqs))
            return
        message = table_messages.of_scribe(act, self._seqs, self._proposal)
        words = self._committed(act.words, message)
        self._admit(intent.act(self.record.place, Author(Role.SCRIBE, _SCRIBE), self._scribe, message))
        self._keep_words(words)
        if act.kind is Kind.TAKE_BACK:
            self._proposal = self.record.size - 1

    def _rule_with(self, message: log_pb2.Rule, text: str) -> None:
        words = self._committed(text, message)
        self.rule(message)
        self._keep_words(words)

    def _rule_by(self, act: TableAct, message: log_pb2.Rule) -> None:
        table_messages.fill(message, act, self._seqs)
        words = self._committed(act.words, message)
        self.rule(message, act.arbiter)
        self._keep_words(words)

    def _committed(self, text: str, message: Any) -> log_pb2.Remark | None:
        if not text:
            return None
        salt = secrets.token_bytes(SALT_BYTES)
        message.remark = commitment(salt, text)
        return log_pb2.Remark(salt=salt, text=text)

    def _keep_words(self, words: log_pb2.Remark | None) -> None:
        if words is not None:
            words.seq = self.record.size - 1
            self._remarks.append(words)

    def file(self, signer: CheckpointSigner) -> bytes:
        """Return the game file."""
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

    def rule(self, ruling: log_pb2.Rule, arbiter: int = 0) -> None:
        """Record an act of an arbiter."""
        if arbiter >= len(self._arbiters):
            raise LogError(Code.NOT_AWAITED, f"a ruling of arbiter {arbiter}", "a key of this arbiter")
        self._admit(intent.act(self.record.place, Author(Role.ARBITER, arbiter), self._arbiters[arbiter], ruling))

    def _admit(self, signed: intent.SignedIntent) -> None:
        self._keep(self.record.admit(signed, self._now()))

    def _write(self, event: log_pb2.ForcedPass | log_pb2.StandIn | log_pb2.GameEnd) -> None:
        self._keep(self.record.write(event, self._now()))

    def _keep(self, written: Written) -> None:
        self._entries.append(written.data)
        self._position_seq = self.record.size - 1

    def _now(self) -> Clock:
        return _now(self.record.last_ms)


def keys_for(acts: Sequence[TableAct]) -> list[PrivateKey]:
    """Make keys for a log that is not kept: the scribe's, the referee's, and those of the arbiters of these acts."""
    return [PrivateKey.generate() for _ in range(4 + max(act.arbiter for act in acts))]


def rehearsed(path: Path, game: GameText) -> Wait | None:
    """Judge what a text has beside its moves by the rules of the log; return what its result waits for, if it does.

    The log is of keys made for it, and is not kept. Acts that need a clock are not judged, nor are texts without acts:
    reading them has judged them. Raise ``Failure`` for a line that no log has.
    """
    acts = [each for each in game.happened if isinstance(each, TableAct)]
    if not acts or any(act.needs_clock for act in acts):
        return None
    scribe, _, *arbiters = keys_for(acts)
    try:
        recorder = Recorder(game.setup, scribe, arbiters, has_table_acts=True)
        recorder.lines(game)
    except LogError as error:
        raise not_recordable(path, error) from None
    return recorder.record.game.result_waits


@contextmanager
def about(line: str) -> Iterator[None]:
    """Have an error begin with the line that it is about."""
    try:
        yield
    except LogError as error:
        raise LogError(error.code, f"{line}: {error.what}", error.expected) from error


def not_recordable(path: Path, error: LogError) -> Failure:
    """Return what a person reads of a line that no log has."""
    expected = f"; expected {error.expected}" if error.expected else ""
    return Failure(f"{path}: {error.what}{expected}", int(Verdict.RULES))


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
    """Raise ``Failure``."""
    try:
        return CheckpointSigner(origin, key)
    except LogError as error:
        raise Failure(f"--origin: {error.what}; expected {error.expected}", EXIT_USAGE) from None


def different_keys(paths: dict[str, Path]) -> list[PrivateKey]:
    """Return the private keys that these options name, which have to differ. Raise ``Failure``."""
    keys = [texts.private_key(option, path) for option, path in paths.items()]
    taken: dict[bytes, str] = {}
    for option, key in zip(paths, keys, strict=True):
        if (other := taken.setdefault(key.public.raw, option)) != option:
            raise Failure(f"{other} and {option}: the same key twice; expected two different keys", EXIT_USAGE)
    return keys


def write_new(option: str, path: Path, data: bytes) -> None:
    """Write a file that is not there yet. Raise ``Failure``."""
    try:
        with path.open("xb") as stream:
            stream.write(data)
    except OSError as error:
        raise Failure(f"{option} {path}: {error.strerror}") from None
