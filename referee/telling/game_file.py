"""A game file entry by entry, up to any of them: the players, what each entry did and broke, the position.

It checks what replay checks, and no checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from referee.games.game import UnknownRules, Violation
from referee.log import events, file
from referee.log.entry import decode_entry
from referee.log.errors import Code, LogError
from referee.log.file import FrameType
from referee.log.game import LoggedGame
from referee.log.header import check_header, decode_header
from referee.log.judge import Happened
from referee.log.remarks import Remarks
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.telling.table_text import Teller, happened, with_words
from referee.telling.words import entry_words, told_end
from referee.text.notation import game_text, grammar
from referee.text.notation.game_text import GameText
from referee.text.notation.headers import Setup
from referee.text.notation.options import chosen, words
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.registry import Scorings, notation
from referee.text.notation.table import TableAct
from referee.text.notation.times import moment
from referee.text.report.sheet import Told
from referee.text.words.catalogue import Words, player


@dataclass(slots=True)
class Line:
    """One entry."""

    seq: int
    time_ms: int
    """The time of the entry by the referee's clock, in milliseconds since 1970."""
    event: events.Event
    words: str
    told: tuple[Any, ...]
    """Its lines in a text: the event by which the position became another, and acts of the table with numbers of
    entries."""
    move: str
    """The move, draw or pass as a line of notation, also of an attempt that was refused; empty of other entries."""
    marks: tuple[str, ...]
    """The side to move, which the notation leaves out."""
    broken: tuple[Violation, ...]
    """The rules that a refused move breaks, or a move that an arbiter lets stand."""
    scored: tuple[str, ...]
    """A line for each scoring round that it brought."""
    taken_back_by: int | None = None
    """The entry that took its move, draw or pass back."""

    @property
    def change(self) -> Any:
        """The engine's event by which the position became another; None of other entries."""
        return events.change_of(self.event)

    def __str__(self) -> str:
        """Return all that it says on one line."""
        return "; ".join(self.lines())

    def lines(self, words: str = "") -> list[str]:
        """Return it in notation, with numbers of entries and with marks; facts that the notation lacks are in words.

        ``words``: those that belong to an act of the table.
        """
        acts = [str(each) if isinstance(each, TableAct) else self.move for each in with_words(self.told, words)]
        if self.refusal:
            acts = [f"{self.refusal}: {self.move}", *acts]
        acts = acts or [self.words]
        taken_back = () if self.taken_back_by is None else (f"taken back by entry {self.taken_back_by}",)
        return [*acts[:-1], "  ".join((acts[-1], *(f"[{mark}]" for mark in (*self.marks, *taken_back))))]

    @property
    def refusal(self) -> str:
        """The refusal of an attempt, with its rules; empty for other entries."""
        return f"refused ({', '.join(self.event.rule_ids)})" if isinstance(self.event, events.Refused) else ""

    @property
    def is_ruling(self) -> bool:
        """True if an arbiter made the entry."""
        return isinstance(self.event, events.Ruled)

    @property
    def counts(self) -> bool:
        """True if its move, draw or pass led to the position now."""
        return self.change is not None and self.taken_back_by is None


class Transcript:
    """One game's entries, as far as they were seen."""

    def __init__(self, opened: log_pb2.GameOpen, say: Words = IN_ENGLISH) -> None:
        """``say``: the language of the entries' words.

        Raise ``LogError`` (``UNSUPPORTED``) for a game that has no words here.
        """
        try:
            self._notation = notation(opened.rules_id)
        except UnknownRules as error:
            raise LogError(Code.UNSUPPORTED, str(error)) from None
        self._say = say
        self._rules_id = opened.rules_id
        self._names_scribes = len(opened.scribe_keys) > 1
        self._teller = Teller(opened.terms.strikes)
        self.entries: list[Line] = []
        self._rounds = 0
        """Lines of scoring rounds that count."""
        self.scorings = Scorings(opened.rules_id)
        """The positions right after each scoring that counts."""

    def see(self, happened: Happened) -> Line:
        """Take the next entry."""
        for seq in happened.taken_back:
            self.entries[seq].taken_back_by = happened.seq
            self._rounds -= len(self.entries[seq].scored)
        change = events.change_of(happened.event)
        told = Line(
            seq=happened.seq,
            time_ms=happened.clock.referee_ms,
            event=happened.event,
            words=entry_words(happened, self._notation, self._say),
            told=self._teller.tell(happened.event),
            move=self._move(happened),
            marks=self._marks(happened.event),
            broken=happened.broken,
            scored=() if change is None else tuple(self._notation.rounds(happened.after, self._rounds)),
        )
        self._rounds += len(told.scored)
        self.entries.append(told)
        self.scorings.see(happened.after)
        return told

    def _move(self, happened: Happened) -> str:
        if isinstance(happened.event, events.Refused):
            return f"{happened.seat}: {self._notation.describe(happened.event.move, happened.before)}"
        if (change := events.change_of(happened.event)) is None:
            return ""
        return game_text.line(self._rules_id, happened.before, change) + grammar.against(happened.broken)

    def _marks(self, event: events.Event) -> tuple[str, ...]:
        match event:
            case events.StoodIn():
                return ("by the stand-in",)
            case events.Moved(events.Author(events.Role.SCRIBE) as scribe) | events.Declared(scribe) if (
                self._names_scribes
            ):
                return (f"by {scribe}",)
            case _:
                return ()

    def events(self) -> Iterator[Any]:
        """Return the engine's events that led to the position now."""
        return (told.change for told in self.entries if told.counts)

    def counting_after(self, seq: int) -> list[int]:
        """Return later entries whose move, draw or pass counts."""
        return [told.seq for told in self.entries[seq + 1 :] if told.counts]


def numbered(told: Line, width: int, words: str = "") -> list[str]:
    """Return an entry as lines of a list. The first has the entry's number, ``width`` columns wide; the others are
    indented."""
    first, *more = told.lines(words)
    return [f"{told.seq:>{width}}  {first}", *(f"{'':>{width}}  {each}" for each in more)]


def scored(told: Line, width: int) -> list[str]:
    """Return what the entry scored, a line for each scoring round that stands, to be listed below it."""
    return [f"{'':>{width}}  {each}" for each in told.scored if told.taken_back_by is None]


class GameFile:
    """The contents of a game file."""

    def __init__(self, record: Record, say: Words = IN_ENGLISH) -> None:
        self._say = say
        self.record = record
        self.transcript = Transcript(record.opened, say)
        self.texts: dict[int, str] = {}
        """Words with acts of the table, by entry, as far as the file has them."""
        self.ended = False
        """True once END was read: nothing can follow it."""
        self.torn: LogError | None = None
        """The error at which the file breaks off; all before it is whole."""

    @classmethod
    def read(cls, stream: BinaryIO, at: int | None = None, say: Words = IN_ENGLISH) -> GameFile:
        """Return the whole file, or its beginning with entry ``at`` as the last. Raise ``LogError``.

        ``say``: the language of the entries' words.
        """
        game_file: GameFile | None = None
        header, remarks = b"", Remarks()
        try:
            for frame in file.read(stream):
                if frame.type == FrameType.HEADER:
                    header = frame.payload
                elif frame.type == FrameType.ENTRY:
                    size = 0 if game_file is None else game_file.record.size
                    try:
                        game_file = game_file or _begun(header, frame.payload, say)
                        entered = game_file.record.read(frame.payload)
                    except LogError as error:
                        raise error.at(entry=size, offset=frame.offset)  # noqa: B904 - the same error
                    told = game_file.transcript.see(entered)
                    if isinstance(told.event, events.Protested | events.Appealed | events.Ruled):
                        remarks.entered(told.seq, told.event.remark)
                    if told.seq == at:
                        return game_file
                elif frame.type == FrameType.REMARK and game_file is not None:
                    if (remark := remarks.seen(frame)) is not None:
                        game_file.texts[remark.seq] = remark.text
                elif frame.type == FrameType.END and game_file is not None:
                    game_file.ended = True
        except LogError as error:
            if error.code is not Code.TORN or game_file is None:
                raise
            game_file.torn = error
        if game_file is None:
            raise LogError(Code.INCOMPLETE, "no entries", "GameOpen in entry 0")
        return game_file

    # --- words -------------------------------------------------------------------------------------------

    def header(self) -> list[str]:
        """Return who plays and under which rules, a line each."""
        record = self.record
        opened, game = record.opened, record.game
        dealt = game.deal.is_dealt
        lines = [
            f"game {record.game_id.hex()}: {opened.rules_id}, version {opened.rules_version}",
            f"options: {words(chosen(game.position.options))}",
            *map(str, game.position.about_opening()),
            f"chance: {'dealt from a committed deck' if dealt else f'declared by {_scribe(opened)}'}",
        ]
        for seat, terms in enumerate(opened.seats):
            who = player(self._say, seat)
            if terms.scribed:
                lines.append(f"{who}: a scribe enters its moves")
            elif keys := record.keyring.keys_of(events.Author(events.Role.SEAT, seat)):
                named = "".join(f", and {key.raw.hex()} as soon as it signs" for key in keys[1:])
                since = f", since entry {used[-1][0]}" if len(used := record.keyring.used[seat]) > 1 else ""
                lines.append(f"{who}: key {keys[0].raw.hex()}{since}{named}")
            else:
                lines.append(f"{who}: not joined")
        time = f", {when} UTC" if (when := moment(record.last_ms)) else ""
        lines.append(f"shown: entries 0 to {record.size - 1}{time}; {_standing(game)}")
        if game.end is not None:
            lines.append(told_end(game.end))
        told = told_by(self)
        if told.result is not None or not told.contest.is_plain:
            lines.append(f"result: {told.outcome()}")
        return lines

    def numbered_moves(self) -> list[str]:
        """Return the lines of every entry, with its number, and below it one for each scoring round that it brought."""
        width = len(str(self.record.size))
        return [
            line
            for told in self.transcript.entries
            for line in (*numbered(told, width, self.texts.get(told.seq, "")), *scored(told, width))
        ]


def _begun(header: bytes, entry: bytes, say: Words) -> GameFile:
    """Raise ``LogError``."""
    record = Record(decode_entry(entry).open)
    if record.game.position.state.course():
        raise LogError(Code.UNSUPPORTED, "the file is an event's, not a game's", "`referee event show FILE`")
    check_header(header, decode_header(header), record.opened)
    return GameFile(record, say)


def _standing(game: LoggedGame) -> str:
    """Return how far the game is, such as ``playing``, ``paused`` or ``its result waits``."""
    if game.is_over:
        return game.phase.value
    if game.reached() is not None:
        return "the result is not final yet" if game.result_waits else "come to its end"
    suspended = game.arbitration.suspended
    return game.phase.value if suspended is None else suspended.value


def _scribe(opened: log_pb2.GameOpen) -> str:
    return f"scribe {opened.declared.scribe}, key {opened.scribe_keys[opened.declared.scribe].hex()}"


def as_text(game_file: GameFile) -> GameText:
    """Return what a log's entries say of the game: all but who signed what, and what was refused."""
    opened, game = game_file.record.opened, game_file.record.game
    setup = Setup(
        rules_id=opened.rules_id,
        version=opened.rules_version,
        seats=len(opened.seats),
        options=game.position.options,
        components=None if game.position.own_components else game.position.components,
        event=opened.event_id if opened.HasField("event_id") else None,
        round=opened.round if opened.HasField("round") else None,
        table=opened.table if opened.HasField("table") else None,
        # More than one arbiter shows nowhere else: an appeal waits for one who has not ruled yet.
        arbiters=len(opened.arbiter_keys) if len(opened.arbiter_keys) > 1 else None,
    )
    texts = game_file.texts
    lines = happened(with_words(told.told, texts.get(told.seq, "")) for told in game_file.transcript.entries)
    return GameText(setup, tuple(game_file.transcript.events()), game.contest(), lines, game.result_waits)


def told_by(game_file: GameFile) -> Told:
    """Return what a game file says of the end of its game, as far as it goes."""
    game = game_file.record.game
    held = game_file.transcript.scorings.states
    return Told(as_text(game_file).setup, game.position.state, game.contest(), held, waits=game.result_waits)
