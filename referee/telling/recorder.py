"""A game that was written down by hand, made into a log by its scribe, its referee and, for rulings, its arbiter.

A rehearsal judges the acts beside the moves in the same way, by the rules of the log, and does not keep the log.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from itertools import zip_longest
from typing import Any

import referee as program
from referee import dealer
from referee.games.game import Chance, Decision, Ending, ForcedPass, Pending
from referee.games.results import Contest, Wait
from referee.games.table_rules import VERSION as TABLE_RULES
from referee.log import file, intent
from referee.log.codec import end_message
from referee.log.engines import installed
from referee.log.entry import FORMAT_VERSION, NONCE_BYTES, Clock, Written
from referee.log.errors import Code, LogError, RulesError, not_awaited
from referee.log.events import Author, Role
from referee.log.header import build_header, header_hash
from referee.log.judge import check_goes_on
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.remarks import SALT_BYTES, commitment, encode_remark
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.telling import table_text
from referee.text.notation import game_text, grammar, headers, violations
from referee.text.notation.game_text import GameText
from referee.text.notation.headers import Setup
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.table import RULINGS, ActKind, TableAct
from referee.text.notation.violations import NotationError
from referee.text.report.adjudication import adjudicate, list_illegal
from referee.text.report.rulings import (
    MOST_POINTS,
    PASSED_OVER,
    REINSTATED,
    STANDS,
    Adjudication,
    Entered,
    LineRuling,
    Policy,
    Step,
)
from referee.text.words.catalogue import Phrase, Said, Words, phrase
from referee.wire import strict

_SCRIBE = 0
NO_CLOCK = "this needs a clock, which a game that is recorded from a text does not have"
_MOST_PENALTIES = 100
"""The most penalties that a text can give a seat."""


class Recorder:
    """Writes a declared game down: every seat is scribed. Every method raises ``LogError``.

    ``lines`` raises ``NotationError`` instead where it is known in which line of a text something is wrong.
    """

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
        """The entry that each line of the text became."""
        self._proposal = 0
        """The entry of the newest proposal to take moves back."""
        self._stands: TableAct | None = None
        """The arbiter's words on the next move, which stands."""
        self._remarks: list[log_pb2.Remark] = []
        game, self._codec = installed().get(setup.rules_id, setup.version)
        hashes = players or [b""] * setup.seats
        self.header = build_header(
            game.rules_id,
            game.version,
            game.catalogue,
            self._codec.signed_file(),
            f"tile-referee {program.__version__}",
        )
        opened = log_pb2.GameOpen(
            format_version=FORMAT_VERSION,
            rules_id=setup.rules_id,
            rules_version=setup.version,
            options=self._codec.encode_options(setup.options),
            tables=self._codec.encode_components(setup.components),
            seats=[log_pb2.Seat(scribed=True, player=player) for player in hashes],
            scribe_keys=[scribe.public.raw],
            arbiter_keys=[arbiter.public.raw for arbiter in arbiters],
            nonce=secrets.token_bytes(NONCE_BYTES),
            header_hash=header_hash(self.header),
            event_id=setup.event,
            round=setup.round,
            table=setup.table,
        )
        opened.terms.table_rules = TABLE_RULES
        opened.terms.take_backs = has_table_acts
        if arbiters:
            opened.terms.illegal_moves = log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
        dealer.declare(opened, _SCRIBE)
        self.record, written = Record.start(strict.encode(opened), _now())
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
        self._rule_with(log_pb2.Rule(penalty=penalty, rule_id=RULINGS[ActKind.PENALTY]), words)

    def lines(self, game: GameText) -> None:
        """Enter all lines of a text, one after the other, what else its headers tell, and the end."""
        for line, place in zip_longest(game.happened or game.events, game.lines, fillvalue=0):
            with about(self._words(line), place):
                self.enter(line)
            self.end_line()
        self.end(game.contest)

    def _words(self, line: Any) -> str:
        """Return a line as the notation has it."""
        if isinstance(line, TableAct):
            return str(line)
        return game_text.line(self.record.opened.rules_id, self.record.game.position.state, line)

    def end_line(self) -> None:
        """Note that a line has ended, of which acts of the table can name the newest entry from now on."""
        # An act about a move that stands is one entry with that move, which comes next.
        self._seqs.append(self.record.size - (self._stands is None))

    def enter(self, line: Any) -> None:
        """Enter a line: an event of the game, or an act of the table."""
        if isinstance(line, TableAct):
            self._act(line)
        else:
            self._event(line)

    def end(self, contest: Contest) -> None:
        """Enter as rulings what happened beside the moves and is not there yet, and then the end of the game.

        The game continues if there is no end, or an open protest holds it. ``obstacle`` has said that this can be, and
        ``has_rulings`` whether it takes an arbiter.
        """
        if self.record.game.is_over:
            return
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
        said = self._stands or TableAct(ActKind.STANDS, rule_id=RULINGS[ActKind.STANDS])
        awaited = game.position.pending()[0]
        broken = grammar.rule_ids(game.position.violations(event)) if isinstance(awaited, Decision) else ()
        if not broken or not isinstance(awaited, Decision):
            self.take(event)
            return
        accept = log_pb2.Accept(seat=awaited.seat, move=self._encoded(event), rule_ids=broken)
        self._rule_by(said, log_pb2.Rule(accept=accept))

    def _act(self, act: TableAct) -> None:
        if act.kind is ActKind.STANDS:
            self._stands = act
            return
        if act.kind is ActKind.ABORT:
            self._abort()
            return
        if act.needs_clock:
            what = phrase("{act}: {what}", act=act, what=phrase(NO_CLOCK))
            raise LogError(Code.NOT_AWAITED, what, phrase("a text without this line"))
        if act.is_ruling or act.kind is ActKind.FELL:
            self._rule_by(act, table_text.ruling(act, self._seqs))
            return
        message = table_text.of_scribe(act, self._seqs, self._proposal)
        words = self._committed(act.words, message)
        self._admit(intent.act(self.record.place, Author(Role.SCRIBE, _SCRIBE), self._scribe, message))
        self._keep_words(words)
        if act.kind is ActKind.TAKE_BACK:
            self._proposal = self.record.size - 1

    def _abort(self) -> None:
        game = self.record.game
        if game.reached() is not None and not game.arbitration.is_disputed:
            raise not_awaited("the game has come to its end", "an abort before that, or while a protest is open")
        self._write(log_pb2.GameEnd(ending=_number(Ending.ABORTED)))

    def check_goes_on(self) -> None:
        """Raise ``LogError`` if no move, draw or pass counts now, whichever it is."""
        check_goes_on(self.record.game)

    def _rule_with(self, message: log_pb2.Rule, text: str) -> None:
        words = self._committed(text, message)
        self.rule(message)
        self._keep_words(words)

    def _rule_by(self, act: TableAct, message: log_pb2.Rule) -> None:
        table_text.fill(message, act, self._seqs)
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
            raise not_awaited("a ruling of arbiter {n}", "a key of this arbiter", n=arbiter)
        self._admit(intent.act(self.record.place, Author(Role.ARBITER, arbiter), self._arbiters[arbiter], ruling))

    def _admit(self, signed: intent.SignedIntent) -> None:
        self._keep(self.record.admit(signed, self._now()))

    def _write(self, event: log_pb2.ForcedPass | log_pb2.StandIn | log_pb2.GameEnd) -> None:
        self._keep(self.record.write(event, self._now()))

    def _keep(self, written: Written) -> None:
        self._entries.append(written.data)
        self._stands = None
        self._position_seq = self.record.size - 1

    def _now(self) -> Clock:
        return _now(self.record.last_ms)


@contextmanager
def about(words: str, line: int = 0) -> Iterator[None]:
    """Begin an error with the words that it is about: a ``NotationError``, if they are in a line of a text."""
    try:
        yield
    except LogError as error:
        what, expected = error.said
        if line:
            said = Said(f"finding.{error.code}")
            raise NotationError(violations.Kind.ILLEGAL, (line, 1), what, expected, words=words, said=said) from error
        told = phrase("{act}: {what}", act=words, what=what) if isinstance(what, Phrase) else f"{words}: {what}"
        raise LogError(error.code, told, expected) from error


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
    told = f'[Result "{headers.result_words(ruled)}"]'
    if ruled.ending not in (Ending.ABORTED, Ending.REFEREE_FAULT):
        return f"{told}: the text does not show its cause"
    if replace(contest, ruled=None).result(seats, pending) is not None:
        return f"{told}: the game had come to its end; only an open protest can lead to this ending"
    return ""


def _number(ending: Ending) -> log_pb2.Ending.ValueType:
    return log_pb2.Ending.ValueType(ending.value)


def _now(earliest: int = 0) -> Clock:
    """Return a time not before the previous entry, whatever this machine's clock shows."""
    return Clock(max(time.time_ns() // 1_000_000, earliest))


def rehearse(game: GameText) -> Wait | None:
    """Judge what a text has beside its moves; return what its result waits for, if it does.

    Texts without acts of the table are not judged: reading them has judged them. Raise ``NotationError`` for a line
    that no log has, ``LogError`` for other things, such as a ruling that is awaited where no dispute is open.
    """
    acts = [each for each in game.happened if isinstance(each, TableAct)]
    return _waiting(game.waits, _judged(game, acts) if acts else None)


def _waiting(told: Wait | None, judged: Wait | None) -> Wait | None:
    """Return the wait of a result. ``told``: the text's, which alone knows of time that is left to protest."""
    if told not in (None, judged, Wait.PROTESTS) or (told and judged not in (None, told)):
        what = "the header Waits contradicts the lines below it"
        raise LogError(Code.NOT_AWAITED, what, "the value that follows from its protests, appeals and rulings")
    return judged or told


def _judged(game: GameText, acts: Sequence[TableAct]) -> Wait | None:
    recorder = _begun(game.setup, acts)
    recorder.lines(replace(game, happened=tuple(map(_without_time, game.happened))))
    return recorder.record.game.result_waits


def adjudicated(
    text: str,
    policy: Policy = Policy.STOP,
    rulings: Sequence[LineRuling] = (),
    *,
    most_illegal: int | None = None,
    say: Words = IN_ENGLISH,
) -> Adjudication:
    """Return the record, judged by the rules of the game and of the table.

    Raise what ``referee.text.report.adjudication.adjudicate`` raises, and ``LogError`` for an end that no log has.
    """
    return adjudicate(text, policy, rulings, _Rehearsal, most_illegal=most_illegal, say=say)


def listed(text: str, say: Words = IN_ENGLISH) -> Adjudication:
    """Return the record with every illegal line judged on its own. Raise ``NotationError``."""
    return list_illegal(text, _Rehearsal, say)


class _Rehearsal:
    """The log of a record as it grows, which is not kept."""

    def __init__(self, setup: Setup, acts: Sequence[TableAct]) -> None:
        self._recorder = _begun(setup, acts)

    def check_goes_on(self, words: str, line: int) -> None:
        with about(words, line):
            self._recorder.check_goes_on()

    def enter(self, entered: Entered) -> None:
        with about(entered.words, entered.line or 0):
            _record(self._recorder, replace(entered, event=_without_time(entered.event)))

    def end_line(self) -> None:
        self._recorder.end_line()

    def end(self, found: Adjudication) -> Wait | None:
        self._recorder.end(found.contest)
        return self._recorder.record.game.result_waits


def recorded(
    found: Adjudication, scribe: PrivateKey, arbiters: Sequence[PrivateKey], players: Sequence[bytes] = ()
) -> Recorder:
    """Return the log of all that was entered. Raise ``LogError``, ``NotationError``."""
    recorder = Recorder(found.setup, scribe, arbiters, players, has_table_acts=bool(found.acts))
    ends = Counter(found.entered_after[1:])
    for number in range(len(found.entered) + 1):
        for _ in range(ends[number]):
            recorder.end_line()
        for entered in found.entered[number : number + 1]:
            with about(entered.words, entered.line or 0):
                _record(recorder, entered)
    if found.ended:
        recorder.end(found.contest)
    return recorder


def _record(recorder: Recorder, entered: Entered) -> None:
    words, seat = entered.ruling, entered.seat
    match entered.step:
        case Step.RESTORED:
            recorder.restore(REINSTATED, words)
        case Step.REFUSED:
            recorder.refuse(entered.event)
        case Step.STOOD_IN if seat is not None:
            recorder.skip(seat, entered.event, PASSED_OVER, words)
        case Step.PENALTY if seat is not None:
            recorder.take_off(seat, entered.points, words)
        case _:
            if words:
                recorder.enter(TableAct(ActKind.STANDS, rule_id=STANDS, words=words))
            recorder.enter(entered.event)


def _without_time(line: Any) -> Any:
    """Return an act of the table without what needs a clock, which the log that is not kept does not have."""
    if not isinstance(line, TableAct) or not line.needs_clock:
        return line
    return replace(line, kind=ActKind.PENALTY if line.number or line.strikes else ActKind.WARN, time_ms=0)


def _begun(setup: Setup, acts: Sequence[TableAct]) -> Recorder:
    """Begin a log with keys for the arbiters of the game, of these acts, and of rulings on illegal moves."""
    count = max(setup.arbiters or 0, 1 + max(act.arbiter for act in acts))
    scribe, *arbiters = (PrivateKey.generate() for _ in range(1 + count))
    return Recorder(setup, scribe, arbiters, has_table_acts=True)
