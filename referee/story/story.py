"""A game file read up to an entry: who plays, what happened, the position. Checks what replay checks, no checkpoint."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any, BinaryIO

from referee.games.game import Decision, Ending, Forced, ForcedPass, UnknownRules, Violation
from referee.games.results import Contest, Result
from referee.log import file
from referee.log.entry import decode_entry
from referee.log.errors import Code, LogError
from referee.log.frames import FrameType
from referee.log.header import check_header, decode_header
from referee.log.intent import author_of, decode_intent
from referee.log.remarks import Remarks
from referee.log.replay import Record, signed_part
from referee.log.sitting import ACTS_OF_THE_TABLE
from referee.log.steps import Phase
from referee.log.v1 import log_pb2
from referee.notation.game_text import GameText
from referee.notation.headers import Setup
from referee.notation.registry import Notation, notation
from referee.report.sheet import Scorings, Told
from referee.story.words import act_words, ending_words, event_words, quoted, result_words, ruling_words


class Story:
    """What a file tells. ``moves`` has a line for every entry."""

    def __init__(self) -> None:
        self.record: Record | None = None
        self.moves: list[str] = []
        self.times: list[int] = []
        """Of every entry, by the referee's clock; milliseconds since 1970."""
        self.broken: dict[int, tuple[Violation, ...]] = {}
        """What refused attempts break, and moves that an arbiter lets stand, by their entries."""
        self.rulings: list[int] = []
        """Entries with an arbiter's ruling."""
        self.events: list[Any] = []
        """What happened in the game: moves, outcomes and forced passes, as the rules have them."""
        self.texts: dict[int, str] = {}
        """What goes with acts of the table, by their entries, as far as it is in the file."""
        self.ended = False
        """END was read: the file cannot go on."""
        self.torn: LogError | None = None
        self.last_ms = 0
        self.scorings: Scorings | None = None
        """The positions right after each scoring."""
        self._header = b""
        self._remarks = Remarks()
        self._changed: list[int] = []
        """Of every event, its entry."""
        self._all_changed: set[int] = set()
        """Of events that were taken back, too."""
        self._notation: Notation | None = None
        self._before: Any = None
        """The position before the last entry."""
        self._rounds: list[tuple[int, str]] = []
        """After which entry, and the line."""

    @classmethod
    def read(cls, stream: BinaryIO, at: int | None = None) -> Story:
        """The whole file, or its beginning with entry ``at`` as the last. Raises ``LogError``.

        A torn tail is kept as ``torn``: what is before it is whole.
        """
        story = cls()
        try:
            for frame in file.read(stream):
                if frame.type == FrameType.HEADER:
                    story._header = frame.payload
                elif frame.type == FrameType.ENTRY:
                    try:
                        story._take(frame.payload)
                    except LogError as error:
                        raise error.at(entry=len(story.moves), offset=frame.offset)  # noqa: B904 - the same error
                    if len(story.moves) - 1 == at:
                        return story
                elif frame.type == FrameType.REMARK:
                    if (remark := story._remarks.seen(frame)) is not None:
                        story.texts[remark.seq] = remark.text
                elif frame.type == FrameType.END:
                    story.ended = True
        except LogError as error:
            if error.code is not Code.TORN or story.record is None:
                raise
            story.torn = error
        if story.record is None:
            raise LogError(Code.INCOMPLETE, "no entries", "GameOpen in entry 0")
        return story

    def _take(self, data: bytes) -> None:
        if self.record is None:
            opened = decode_entry(data).open
            record = Record(opened)
            check_header(self._header, decode_header(self._header), record.opened)
            try:
                self._notation = notation(record.opened.rules_id)
            except UnknownRules as error:
                raise LogError(Code.UNSUPPORTED, str(error)) from None
            self.record = record
            self.scorings = Scorings(record.opened.rules_id)
        turn = self._seat_on_turn(self.record)
        self._before = self.record.course.state.copy()
        entry = self.record.read(data)
        self.last_ms = entry.referee_ms
        self.times.append(entry.referee_ms)
        self.moves.append(self._line(self.record, entry, turn))
        self._follow(entry.seq)
        if self.scorings is not None:
            self.scorings.see(self.record.course.state)
        if self._notation is not None:
            lines = self._notation.rounds(self.record.course.state, len(self._rounds))
            self._rounds += [(len(self.moves) - 1, line) for line in lines]

    def _follow(self, seq: int) -> None:
        """Notes what the entry brought, and forgets what it took back."""
        if len(self.events) > len(self._changed):
            self._changed.append(seq)
            self._all_changed.add(seq)
        while self._changed and self.is_taken_back(self._changed[-1]):
            self._changed.pop()
            self.events.pop()
        while self._rounds and self.is_taken_back(self._rounds[-1][0]):
            self._rounds.pop()

    def events_after(self, seq: int) -> list[int]:
        """Later entries with a move, a draw or a pass that counts."""
        return [entry for entry in self._changed if entry > seq]

    def is_taken_back(self, seq: int) -> bool:
        """Whether the game went back to before this entry's move, draw or pass."""
        past = self._whole().course.past
        return seq in self._all_changed and past is not None and past.is_gone(seq)

    @staticmethod
    def _seat_on_turn(record: Record) -> int | None:
        if record.phase is not Phase.PLAYING:
            return None
        awaited = record.course.pending()[0]
        return awaited.seat if isinstance(awaited, Decision | Forced) else None

    # --- words -------------------------------------------------------------------------------------------

    def header(self) -> list[str]:
        """Who and under which rules, a line each."""
        record = self._whole()
        opened, course = record.opened, record.course
        lines = [
            f"game {record.game_id.hex()}: {opened.rules_id}, version {opened.rules_version}",
            f"options: {_options(course.options)}",
            *course.about_opening(),
            f"chance: {'dealt from a committed deck' if course.dealt else f'declared by {_scribe(opened)}'}",
        ]
        for seat, terms in enumerate(opened.seats):
            if terms.scribed:
                lines.append(f"seat {seat}: a scribe enters its moves")
            elif seat in course.joins:
                lines.append(f"seat {seat}: key {course.joins[seat].key.hex()}")
            else:
                lines.append(f"seat {seat}: not joined")
        when = datetime.fromtimestamp(self.last_ms / 1000, UTC) if self.last_ms < _YEAR_9999_MS else None
        time = f", {when:%Y-%m-%d %H:%M:%S} UTC" if when else ""
        lines.append(f"shown: entries 0 to {len(self.moves) - 1}{time}; {record.phase.value}")
        if course.end is not None:
            lines.append(told_end(course.end))
        told = told_by(self)
        if told.result is not None or not told.contest.is_plain:
            lines.append(f"result: {told.outcome}")
        return lines

    def numbered_moves(self) -> list[str]:
        """A line for every entry, with its number; after the entries that bring scoring rounds, one for each."""
        width = len(str(len(self.moves)))
        lines = []
        for number, line in enumerate(self.moves):
            gone = " (taken back)" if self.is_taken_back(number) else ""
            words = f": {quoted(self.texts[number])}" if number in self.texts else ""
            lines.append(f"{number:>{width}}  {line}{words}{gone}")
            lines += [f"{'':>{width}}  {held}" for entry, held in self._rounds if entry == number]
        return lines

    def _whole(self) -> Record:
        if self.record is None:
            raise ValueError("nothing was read")
        return self.record

    def _line(self, record: Record, entry: log_pb2.Entry, turn: int | None) -> str:
        kind = entry.WhichOneof("event")
        if (signed := signed_part(entry)) is not None:
            happened = len(self.events)
            intent = decode_intent(signed.intent)
            words = self._act(record, intent, turn)
            if kind == "signed":
                self._remarks.entered(entry.seq, intent)
                return words
            for attempt in self.events[happened:]:
                self.broken[entry.seq] = self._before.check(attempt)
            del self.events[happened:]
            return f"refused ({', '.join(entry.refused.rule_ids)}): {words}"
        if kind == "chance":
            return f"chance: {self._outcome(record, entry.chance.outcome)}"
        if kind == "forced_pass":
            self.events.append(ForcedPass(entry.forced_pass.seat))
            return f"seat {entry.forced_pass.seat}: has no legal action and passes"
        if kind == "stand_in":
            self.events.append(record.course.codec.decode_move(entry.stand_in.move, record.course.tables))
            return f"seat {entry.stand_in.seat}, by the stand-in: {self._words(self.events[-1])}"
        if kind == "end":
            return told_end(entry.end)
        if (told := event_words(entry)) is not None:
            return told
        if kind == "recovered":
            lost = entry.recovered.lost_size - entry.seq
            return f"the referee lost {lost} {'entry' if lost == 1 else 'entries'} that it had signed for and goes on"
        return {"open": "the game is opened", "disclose": "the referee's seed is disclosed"}.get(str(kind), str(kind))

    def _act(self, record: Record, intent: log_pb2.Intent, turn: int | None) -> str:
        author = str(author_of(intent))
        act = intent.WhichOneof("act")
        if act == "move":
            move = record.course.codec.decode_move(intent.move, record.course.tables)
            self.events.append(move)
            by = f"seat {turn}" if turn is not None else author
            return f"{by}: {self._words(move)}" + ("" if by == author else f" (by {author})")
        if act == "declare":
            return f"chance: {self._outcome(record, intent.declare)} (by {author})"
        if act == "rule":
            return f"{author} rules: {self._ruling(record, intent)}"
        if act in ACTS_OF_THE_TABLE:
            return f"{author}: {act_words(act, getattr(intent, act))}"
        return f"{author}: " + {"join": "joins", "reveal": "opens its seed"}.get(str(act), str(act))

    def _ruling(self, record: Record, intent: log_pb2.Intent) -> str:
        self.rulings.append(intent.seq)
        rule = intent.rule
        if not rule.HasField("accept"):
            return ruling_words(rule)
        self.events.append(record.course.codec.decode_move(rule.accept.move, record.course.tables))
        self.broken[intent.seq] = self._before.check(self.events[-1])
        return ruling_words(rule, self._words(self.events[-1]))

    def _outcome(self, record: Record, data: bytes) -> str:
        self.events.append(record.course.codec.decode_outcome(data, record.course.tables))
        return self._words(self.events[-1])

    def _words(self, event: Any) -> str:
        return self._notation.describe(event, self._before) if self._notation else str(event)


_YEAR_9999_MS = 253_402_300_800_000


def _options(options: Any) -> str:
    """Those that are not as they are by default."""
    default = type(options)()
    chosen = [
        f"{field.name} {getattr(options, field.name)}"
        for field in dataclasses.fields(options)
        if getattr(options, field.name) != getattr(default, field.name)
    ]
    return ", ".join(chosen) or "none chosen"


def _scribe(opened: log_pb2.GameOpen) -> str:
    return f"scribe {opened.declared.scribe}, key {opened.scribe_keys[opened.declared.scribe].hex()}"


def told_end(end: log_pb2.GameEnd) -> str:
    """How the game ended."""
    return f"end ({ending_words(end.ending)}): {result_words(end)}"


def as_text(story: Story, record: Record) -> GameText:
    """What a log's entries say of the game: all but who signed what, and what was refused."""
    opened, course = record.opened, record.course
    setup = Setup(
        rules_id=opened.rules_id,
        version=opened.rules_version,
        seats=len(opened.seats),
        options=course.options,
        tables=None if course.own_tables else course.tables,
        event=opened.event_id if opened.HasField("event_id") else None,
        round=opened.round if opened.HasField("round") else None,
        table=opened.table if opened.HasField("table") else None,
    )
    return GameText(setup, tuple(story.events), contest_of(record))


def contest_of(record: Record) -> Contest:
    """Return what happened in a game beside its moves, as its log tells it so far."""
    course = record.course
    conduct, end = course.conduct, course.end
    # An end without places is none of the rules' or of forfeits, and nothing but itself says that it came.
    given = end if end is not None and not end.places else conduct.result
    ruled = None
    if given is not None:
        ruled = Result(Ending(given.ending), tuple(given.scores), tuple(given.places))
    out = {seat: Ending(how) for seat, how in conduct.out.items()}
    return Contest(out, tuple(conduct.points_off) if any(conduct.points_off) else (), ruled)


def waits(record: Record) -> bool:
    """Return whether a result of the game is not entered yet, as somebody may protest or an arbiter has to rule."""
    conduct = record.course.conduct
    return record.course.end is None and (conduct.terms.protest_ms > 0 or conduct.is_disputed)


def told_by(story: Story) -> Told:
    """Return what a game file says of the end of its game, as far as it goes."""
    record = story.record
    assert record is not None  # noqa: S101 - or read would have raised
    scored = story.scorings.states if story.scorings is not None else []
    told = Told(as_text(story, record).setup, record.course.state, contest_of(record), scored)
    return dataclasses.replace(told, waits=told.result is not None and waits(record))
