"""Acts beside the moves: their lines, effects, forms, and which are possible now.

Numbers are those of entries of the log. Knows no terminal and no game.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from referee.games.game import Decision, Ending
from referee.games.results import Contest
from referee.log import events
from referee.log.codec import read_rule
from referee.log.errors import Code, LogError
from referee.log.events import Author, Role
from referee.log.judge import judge_act
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.telling import table_text
from referee.text.notation import game_text, table
from referee.text.notation.grammar import grammar_of
from referee.text.notation.outcomes import counted, outcome
from referee.text.notation.table import OF_SEATS, RULINGS, ActKind, TableAct, arbiter_name, plain_words
from referee.text.notation.times import in_words
from referee.text.notation.violations import NotationError
from referee.text.render.drawing import player_words
from referee_clients.terminal.desk.line import first_words

_ACT: Final = re.compile(
    r"\s*(?:(?:arbiter|scribe|organiser|referee)\b|\d+\s*:\s*(?:resign|back|agree|protest|appeal)\b)", re.ASCII
)
NO_KEY: Final = (
    "This needs the arbiter's key, and the desk has none for this game. Leave with Ctrl+Q and start it with "
    "--arbiter-key FILE; a game that was opened without an arbiter cannot get one"
)
"""The advice for a desk without that key."""


@dataclass(frozen=True, slots=True)
class Meant:
    """A line about the table."""

    act: TableAct
    move: Any = None
    """The move that stands against rules; None in other acts."""
    broken: tuple[str, ...] = ()
    line: str = ""
    """The line of a move that stands."""

    def __str__(self) -> str:
        return self.line or str(self.act)


def read(rules_id: str, state: Any, text: str, arbiter: int = 0) -> Meant | None:
    """Return the act of a line; None for a move, a draw, or a line that is not in the notation.

    ``arbiter``: the one who lets a move stand, as its line does not say so.
    """
    try:
        tree: Any = grammar_of(rules_id).parse(text, "act")
        if tree.data == "by_table":
            return Meant(table.act_of_tree(tree))
        if game_text.mark_of(tree) is None:
            return None
        move = game_text.meant(rules_id, state, tree)
    except NotationError:
        return None
    broken = tuple(map(str, game_text.mark_of(tree).children))
    seat = game_text.seat_of(tree)
    act = TableAct(ActKind.STANDS, seat=-1 if seat is None else seat, rule_id=RULINGS[ActKind.STANDS], arbiter=arbiter)
    return Meant(act, move, broken, f"{game_text.line(rules_id, state, move)} against {' '.join(broken)}")


def fault(rules_id: str, text: str) -> NotationError | None:
    """Return what is wrong with a line that is to be about the table."""
    try:
        table.read_line(rules_id, text)
    except NotationError as error:
        return error
    return None


def wrong(error: NotationError | None) -> str:
    """Return in words what is wrong with a line about the table."""
    if error is None:
        return "this is no act of the table"
    return f"{'' if error.is_unfinished else f'{error.what}; '}expected {error.expected}"


def fault_words(rules_id: str, text: str) -> str:
    """Return what to say while such a line is typed."""
    error = fault(rules_id, text)
    return f"Not {'yet' if error is not None and error.is_unfinished else 'possible'}: {wrong(error)}"


def begins_act(text: str) -> bool:
    """Return whether a line can only be about the table, as neither a move nor a draw begins so."""
    return _ACT.match(text) is not None


def message(record: Record, meant: Meant, author: Author) -> Any:
    """Return the act that a scribe or a seat signs. Raise ``LogError`` for an act that its author cannot enter."""
    act, seqs = meant.act, range(record.size + 1)
    _check_author(act, author)
    if act.kind is ActKind.STANDS:
        if meant.move is None:
            raise _refused("this line is no act that can be entered", "the move, which ends with against and the rules")
        data = record.game.position.encoded_move(meant.move)
        rule = log_pb2.Rule(accept=log_pb2.Accept(seat=act.seat, move=data, rule_ids=meant.broken))
        return table_text.fill(rule, act, seqs)
    if act.kind is ActKind.FELL:
        raise _refused("the referee enters this itself, by its clock", f"arbiter: {str(act).partition(': ')[2]}")
    if act.is_ruling:
        return table_text.ruling(act, seqs)
    proposal = record.game.arbitration.proposal
    made = table_text.of_scribe(act, seqs, proposal.seq if proposal is not None else record.size)
    if author.role is Role.SEAT and not isinstance(made, log_pb2.Correct):
        made.ClearField("seat")  # its signature says who
    return made


def _check_author(act: TableAct, author: Author) -> None:
    """Raise ``LogError`` if a seat would act for another author."""
    if author.role is Role.SEAT and (act.kind not in OF_SEATS or act.seat != author.index):
        raise _refused(f"you act for {author.phrase} alone", f"a line that begins with {author.index}:")


def check(record: Record, meant: Meant, author: Author) -> str:
    """Return why the act is not possible now; empty if it is. The owners of keys are not checked."""
    act = meant.act
    try:
        _check_author(act, author)
        if act.kind is ActKind.ABORT:
            return "the game is over" if record.game.is_over else ""
        made = message(record, meant, author)
        judge_act(record.game, _event(record, meant, made, author), record.size)
    except LogError as error:
        return f"{error.what}; expected {error.expected}" if error.expected else error.what
    return ""


def _event(record: Record, meant: Meant, made: Any, author: Author) -> events.TableAct:
    act = meant.act
    seat = act.seat if author.role is Role.SCRIBE else events.UNNAMED
    if act.is_ruling:
        arbiter = Author(Role.ARBITER, act.arbiter)
        return read_rule(made, arbiter, record.game.position.decoded_move)
    match act.kind:
        case ActKind.RESIGN:
            return events.Resigned(author, seat)
        case ActKind.TAKE_BACK:
            return events.TakeBackProposed(author, act.line, seat)
        case ActKind.AGREE:
            return events.Consented(author, made.to_seq, seat)
        case ActKind.PROTEST:
            return events.Protested(author, act.line, act.rule_id, seat)
        case ActKind.APPEAL:
            return events.Appealed(author, act.line, act.rule_id, seat)
        case _:
            return events.Corrected(author, act.line)


def _refused(what: str, expected: str) -> LogError:
    return LogError(Code.NOT_AWAITED, what, expected)


# --- what it will do -------------------------------------------------------------------------------------------------


def consequence(record: Record, meant: Meant, taken_back: int) -> str:
    """Return in plain words what the act does. ``taken_back``: how many entries it would take back."""
    act, game = meant.act, record.game
    who = player_words(act.seat)
    contest = game.arbitration.contest
    stay = "which stays" if taken_back == 1 else "which stay"
    back = f"takes back {counted(taken_back, 'entry', 'entries')}, {stay} in the log"
    match act.kind:
        case ActKind.RESIGN:
            return f"{who} gives up; {_after(record, _out(contest, act.seat, Ending.RESIGNED))}"
        case ActKind.FORFEIT:
            ending = act.ending or Ending.ADJUDICATED
            return f"{who} is out ({ending.words}); {_after(record, _out(contest, act.seat, ending))}"
        case ActKind.TAKE_BACK:
            return f"{who} asks to go back to entry {act.line}; when all have agreed, that {back}"
        case ActKind.AGREE:
            return f"{who} agrees to go back"
        case ActKind.PROTEST | ActKind.APPEAL:
            return f"{who} {act.kind.value}s; no result is entered until an arbiter has ruled on it"
        case ActKind.CORRECT | ActKind.RESTORE:
            return f"the game goes back to entry {act.line}: that {back}"
        case ActKind.PENALTY:
            return f"{who}: {_penalty(record, act)}"
        case ActKind.WARN:
            return f"{who}: a warning"
        case ActKind.CLOCK:
            return f"the clock of {who} is set to {in_words(act.time_ms)}"
        case ActKind.REINSTATE:
            return f"{who} plays again"
        case ActKind.SKIP:
            return f"{who} loses this move; the smallest legal one is entered for it"
        case ActKind.STANDS:
            return f"the move stands although it breaks {', '.join(meant.broken)}"
        case ActKind.RESULT:
            return "the game ends with this result, which is final"
        case ActKind.VOID:
            return "the game ends and does not count"
        case ActKind.ABORT:
            return "the game ends without a result, which cannot be undone"
        case ActKind.PAUSE | ActKind.ADJOURN:
            return "no player can move until an arbiter resumes the game"
        case ActKind.RESUME:
            return "play resumes"
        case ActKind.DISMISS:
            return "the protest is turned down"
        case ActKind.FELL:
            return ""


def _penalty(record: Record, act: TableAct) -> str:
    most = record.opened.terms.strikes
    falls = most and act.strikes and record.game.arbitration.strikes[act.seat] + act.strikes >= most
    parts = [f"{counted(act.number, 'point')} fewer at the end"] if act.number else []
    parts += [counted(act.strikes, "strike")] if act.strikes else []
    parts += [f"{in_words(act.time_ms)} off the clock"] if act.time_ms else []
    if falls and act.seat not in record.game.arbitration.out:
        out = _out(record.game.arbitration.contest, act.seat, Ending.ILLEGAL_MOVES)
        parts.append(f"with which it is out ({Ending.ILLEGAL_MOVES.words}); {_after(record, out)}")
    return ", ".join(parts)


def _out(contest: Contest, seat: int, ending: Ending) -> Contest:
    return replace(contest, out={**contest.out, seat: ending})


def _after(record: Record, contest: Contest) -> str:
    result = contest.result(len(record.opened.seats), record.game.position.pending())
    if result is None:
        return "the other seats play on, and the smallest legal moves are entered for this one"
    return f"the game ends: {outcome(result, contest)}"


# --- the fields of a form --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """One of the fields."""

    name: str
    """Empty: nothing is filled in."""
    form: str
    """Its part of the line, with ``{}`` for the value."""
    value: str = ""
    """The value at first."""
    empty: str = ""
    """The meaning of an empty field; empty: the field has to be filled in."""

    def part(self, value: str) -> str:
        """Return its part of the line; empty if it is left out."""
        given = plain_words(value)
        return self.form.format(given) if given or not self.name else ""


def fields_of(act: TableAct, *, has_clock: bool = True) -> list[Field]:
    """Return the fields of a line like this one, in the order of the line; of time only if the game has a clock."""
    seat, entry = str(act.seat), str(act.line)
    words = Field("words", '"{}"', act.words, "none")
    match act.kind:
        case ActKind.RESIGN | ActKind.AGREE:
            return [Field("seat", f"{{}}: {act.kind.value}", seat)]
        case ActKind.TAKE_BACK:
            return [Field("seat", "{}:", seat), Field("entry", "back to {}", entry)]
        case ActKind.PROTEST | ActKind.APPEAL:
            about = [Field("entry", "{}", entry), Field("rule", "{}", act.rule_id)]
            return [Field("seat", f"{{}}: {act.kind.value} against", seat), *about, words]
        case ActKind.CORRECT:
            return [Field("entry", "scribe: back to {}", entry)]
        case ActKind.FELL | ActKind.ABORT:
            return [Field("", str(act))]
        case _:
            decides = Field("decides", "decides {}", _number(act.decides), "the entry of a protest that this decides")
            other = "" if act.rule_id == RULINGS[act.kind] else act.rule_id
            rule = Field("rule", "under {}", other, RULINGS[act.kind] or "none")
            return [*_ruling(act, has_clock=has_clock), decides, rule, words]


def _ruling(act: TableAct, *, has_clock: bool) -> list[Field]:
    said = Field("", f"{arbiter_name(act.arbiter)}: {act.kind.value}")
    seat, time = Field("seat", "seat {}", str(act.seat)), in_words(act.time_ms)
    match act.kind:
        case ActKind.WARN | ActKind.REINSTATE | ActKind.SKIP:
            return [said, seat]
        case ActKind.PENALTY:
            points = Field("points", "points {}", _number(act.number or None), "no points off")
            strikes = Field("strikes", "strikes {}", _number(act.strikes or None), "no strikes")
            off = Field("time", "time {}", time if act.time_ms else "", "no time off the clock; such as 30s")
            return [said, seat, points, strikes, *([off] if has_clock else [])]
        case ActKind.CLOCK:
            return [said, seat, Field("time", "{}", time)]
        case ActKind.FORFEIT:
            return [said, seat, Field("how", "{}", act.ending.words if act.ending is not None else "")]
        case ActKind.RESTORE:
            return [said, Field("entry", "to {}", str(act.line))]
        case ActKind.RESULT:
            places = Field("places", "places {}", " ".join(map(str, act.places)))
            return [said, places, Field("points", "points {}", " ".join(map(str, act.points)), "only places")]
        case _:
            return [said]


def line_of(fields: Sequence[Field], values: Sequence[str]) -> str:
    """Return the line; ``values`` are those of the fields that have a name."""
    given = iter(values)
    return " ".join(filter(None, (field.part(next(given) if field.name else "") for field in fields)))


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


# --- possible acts ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Offer:
    """An act that is possible now."""

    words: str
    line: str
    """An example, to be changed before it is entered."""
    is_ruling: bool = False


class _Offers:
    """A list of possible acts that grows one by one."""

    def __init__(self, record: Record, author: Author) -> None:
        self.found: list[Offer] = []
        self._record = record
        self._author = author

    def can(self, line: str) -> bool:
        return not check(self._record, _line(line), self._author)

    def add(self, words: str, line: str, *, is_ruling: bool = False) -> None:
        """Add it, if it is possible."""
        if self.can(line):
            self.found.append(Offer(words, line, is_ruling))

    def latest(self, line: str) -> int:
        """Return the last entry that the line can name, ``{}``; 0 if there is none."""
        return max((seq for seq in range(self._record.size) if self.can(line.format(seq))), default=0)

    def of_seat(self, who: str, seat: int, back: int) -> None:
        """Add what a seat can do. ``back``: the entry to go back to that is proposed."""
        last = max(self._record.size - 1, 0)
        self.add(f"{who} resigns", f"{seat}: resign")
        self.add(f"{who} asks to take moves back", f"{seat}: back to {back}")
        self.add(f"{who} agrees to go back", f"{seat}: agree")
        self.add(f"{who} protests (entry, rule, words)", f"{seat}: protest against {last} TBL-30")

    def appeals(self, seats: Sequence[int]) -> None:
        """Add appeals of these seats against each ruling."""
        for seq, ruling in self._record.game.arbitration.rulings.items():
            if ruling.ruled.rule_id:
                for seat in seats:
                    line = f"{seat}: appeal against {seq} {ruling.ruled.rule_id}"
                    self.add(f"{first_words(seat)} appeals against the ruling of entry {seq}", line)


def of_seat(record: Record, author: Author) -> list[Offer]:
    """Return what the seat can enter for itself."""
    offers = _Offers(record, author)
    seat = author.index
    offers.of_seat(first_words(seat), seat, offers.latest(f"{seat}: back to {{}}"))
    offers.appeals([seat])
    return offers.found


def of_scribe(record: Record, author: Author, names: Sequence[str], arbiter: int = 0) -> list[Offer]:
    """Return the acts that can be entered at a desk, with players as they can act. ``arbiter``: the one who rules
    here."""
    offers = _Offers(record, author)
    seats = range(len(record.opened.seats))
    back = offers.latest("scribe: back to {}")
    for seat in seats:
        offers.of_seat(first_words(seat, names), seat, back)
    offers.appeals(seats)
    offers.add("The scribe mistyped: back to an entry", f"scribe: back to {back}")
    offers.found += of_arbiter(record, arbiter)
    offers.add("The organiser breaks the game off", "organiser: abort")
    return offers.found


def of_arbiter(record: Record, arbiter: int = 0) -> list[Offer]:
    """Return the rulings that this arbiter can make."""
    offers = _Offers(record, Author(Role.ARBITER, arbiter))
    ruler = arbiter_name(arbiter)
    for seq, dispute in record.game.arbitration.disputes.items():
        if dispute.ruled is None:
            words = f"{ruler.capitalize()}: the protest of entry {seq} is turned down"
            offers.add(words, f"{ruler}: dismiss decides {seq}", is_ruling=True)
    for words, line in _rulings(record):
        offers.add(f"{ruler.capitalize()}: {words}", f"{ruler}: {line}", is_ruling=True)
    return offers.found


def _rulings(record: Record) -> Sequence[tuple[str, str]]:
    """Return rulings in words, each with the end of its line."""
    awaited = record.game.position.pending()[0]
    turn = awaited.seat if isinstance(awaited, Decision) else 0
    out = next(iter(record.game.arbitration.out), 0)
    places = " ".join(str(seat + 1) for seat in range(len(record.opened.seats)))
    return (
        ("a warning", f"warn seat {turn}"),
        ("points off", f"penalty seat {turn} points 1"),
        ("strikes, as for refused moves", f"penalty seat {turn} strikes 1"),
        ("time off a clock", f"penalty seat {turn} time 30s"),
        ("a clock is set", f"clock seat {turn} 5m"),
        ("a player did not come, or left", f"forfeit seat {turn} disconnected"),
        ("a player's time is up", f"forfeit seat {turn} flag"),
        ("a player loses the game", f"forfeit seat {turn} adjudicated"),
        ("a player who is out plays again", f"reinstate seat {out}"),
        ("the player on turn loses this move", f"skip seat {turn}"),
        ("back to an earlier position", f"restore to {max(record.size - 2, 0)}"),
        ("the result", f"result places {places}"),
        ("the game does not count", "void"),
        ("pause", "pause"),
        ("adjourn, to continue another day", "adjourn"),
        ("play resumes", "resume"),
    )


def _line(text: str) -> Meant:
    """Return the meaning of a line that is the same in every game."""
    found = table.read_line("kingdomino", text)
    assert found is not None  # noqa: S101 - only lines about the table are made here
    return Meant(found)


@dataclass(frozen=True, slots=True)
class Intended:
    """An act that was typed, or filled in, with its consequence."""

    line: str
    """The line with all that may be left out."""
    does: str
    """Its consequence."""
    why_not: str
    """The reason that forbids it; empty if it is possible."""
    enter: Callable[[], Awaitable[int | str]]
    """Enter it; return its entry, or what is to be said. Raise ``NotEntered`` and ``ClientError``."""

    def __str__(self) -> str:
        return f"Not possible: {self.why_not}" if self.why_not else f"{self.line}: {self.does}."
