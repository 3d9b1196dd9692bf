"""A whole game as text: its headers, then a line an event. Knows no game.

``read`` plays what it reads, so a text that it accepts is a game that can be played; ``write`` prints the one form
that every other way to write the same game is brought to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from referee.games import registry
from referee.games.game import Chance, Decision, Forced, ForcedPass, Game, Pending, State
from referee.games.results import Contest, Result, Wait
from referee.text.notation import grammar, headers
from referee.text.notation.grammar import grammar_of, place_of, syntax_error
from referee.text.notation.headers import Headers, Setup
from referee.text.notation.outcomes import needs_words, outcome
from referee.text.notation.registry import notation
from referee.text.notation.table import ActKind, Due, Table, TableAct, TableError, act_of_tree
from referee.text.notation.violations import Kind, NotationError, illegal
from referee.text.words.catalogue import Said


@dataclass(frozen=True, slots=True)
class GameText:
    """A game, or its beginning."""

    setup: Setup
    events: tuple[Any, ...]
    """The events. Among them, moves that break rules stand because an arbiter let them (TBL-7)."""
    contest: Contest = field(default_factory=Contest)
    """The acts beside the moves."""
    happened: tuple[Any, ...] = ()
    """All lines in their order, if acts of the table are recorded: events, those that were taken back too, and each
    ``TableAct``. They result in ``events`` and ``contest``."""
    waits: Wait | None = None
    """The reason why the game's result waits; None: it is not stated. The rules of the table say whether a ruling is
    due (``transcript.rehearsal``)."""
    lines: tuple[int, ...] = field(default=(), compare=False)
    """The line of each of ``happened`` in the text that it was read from, from 1; 0: the text leaves it out."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The text that was read, and its result."""

    game: GameText
    state: State
    """The state after the last event."""
    accepted: tuple[int, ...] = ()
    """Numbers of the lines, from 1, with moves that an arbiter let stand."""

    @property
    def result(self) -> Result | None:
        """The game's result; None: the game is not over."""
        return self.game.contest.result(self.game.setup.seats, self.state.pending())


# Printing


def write(game: GameText) -> str:
    """Return the canonical form. Raise ``ValueError`` for an event that no arbiter could let stand."""
    head, lines, state = written(game)
    result = game.contest.result(game.setup.seats, state.pending())
    if result is not None and needs_words(result, game.contest, game.waits):
        head.append(f"; {outcome(result, game.contest, waits=game.waits)}")
    return "".join(f"{each}\n" for each in (*head, "", *lines))


def written(game: GameText) -> tuple[list[str], list[str], State]:
    """Return the headers, the lines below them, and the position after the last. Raise ``ValueError`` as ``write``."""
    rules_id = game.setup.rules_id
    table = Table(game.setup)
    lines = []
    told = 0
    for event in game.happened or game.events:
        if isinstance(event, TableAct):
            lines.append(str(event))
            table.take(event)
            told = len(notation(rules_id).rounds(table.state, 0))
            continue
        violations = table.state.check(event)
        if fixed := {*grammar.rule_ids(violations)} - game.setup.game.waivable:
            raise ValueError(f"{line(rules_id, table.state, event)} breaks {', '.join(sorted(fixed))}")
        lines.append(line(rules_id, table.state, event) + grammar.against(violations))
        table.play(event)
        scored = notation(rules_id).rounds(table.state, told)
        told += len(scored)
        lines += [f"; {each}" for each in scored]
    contested = headers.write_contest(game.contest, game.setup.seats, table.state.pending(), game.waits)
    return [*headers.write(game.setup), *contested], lines, table.state


def line(rules_id: str, state: State, event: Any) -> str:
    """Return ``0: choose 48 wheat/mine:3``, ``line: 3 17 22``: the event in this position, and whose it is."""
    (awaited, *_) = state.pending()
    words = notation(rules_id).describe(event, state)
    return f"{awaited.seat}: {words}" if isinstance(awaited, Decision | Forced) else words


# Reading


def read(text: str) -> Reading:
    """Raise ``NotationError`` for the first thing that is wrong."""
    found, acts = parse(text)
    if headers.POSITION in found.values:
        raise found.wrong(headers.POSITION, "a game, from its first event on")
    reader = _Reader(found.setup())
    for number, act in enumerate(acts):
        check_words(act, acts[number + 1 :])
        reader.take(act)
    setup, table = reader.table.setup, reader.table
    if found.text(headers.RESULT) != headers.RUNNING:
        reader.end()
    told = table.contest() if any(isinstance(each, TableAct) for each in reader.happened) else None
    contest = headers.read_contest(found, setup.seats, table.state.pending(), told)
    marks = tuple(place_of(act)[0] for act in acts if mark_of(act) is not None)
    happened, lines = ((), ()) if told is None else (tuple(reader.happened), tuple(reader.lines))
    waits = headers.read_waits(found)
    if waits is not None and contest.result(setup.seats, table.state.pending()) is None:
        raise found.wrong(headers.WAITS, "no such header, as the game is not over")
    return Reading(GameText(setup, table.events(), contest, happened, waits, lines), table.state, marks)


def allowed_by(setup: Setup, events: Iterable[Any], event: Any) -> str:
    """Return the header of the newest rules if they allow the event after these, and the text has older ones."""
    newest = registry.get(setup.rules_id)
    if newest.version == setup.game.version:
        return ""
    state = replace(setup, version=newest.version).start()
    for each in (*events, event):
        if state.check(each):
            return ""
        state.apply(each)
    return headers.line("Version", str(newest.version))


class _Reader:
    """Takes one line after the other, and has those that the text leaves out (TBL-2) as if it had them."""

    def __init__(self, setup: Setup) -> None:
        self.table = Table(setup)
        self.happened: list[Any] = []
        self.lines: list[int] = []
        """The field of the same name of ``GameText``."""
        self._numbers = [0]
        """The number of each line of the text among the lines that happened."""

    def take(self, act: Any) -> None:
        """Take the next line, of this tree. Raise ``NotationError``."""
        for event in left_out(self.table, act):
            self._stand_in(event)
        if act.data == "by_table":
            done = table_act(self.table, act)
            self.table.take(done)
            self._happened(self._renumbered(done), act)
        else:
            event = self._event(act)
            if (due := self.table.due()) is not None and event != due.event:
                raise no_stand_in(self.table, act, event, due)
            self.table.play(event)
            self._happened(event, act)
        self._numbers.append(len(self.happened))

    def _event(self, act: Any) -> Any:
        table = self.table
        try:
            return _event(table.setup.game, table.state, act, table.setup.game.waivable)
        except NotationError as error:
            if error.violations and not error.expected and mark_of(act) is None:
                refused = meant(table.setup.rules_id, table.state, act)
                if header := allowed_by(table.setup, table.events(), refused):
                    error.expected = f"the header {header}: by its rules this line is legal"
            raise

    def end(self) -> None:
        """End as the rules do, if all that is missing are moves of seats that make none."""
        for event in self.table.to_the_end():
            self._stand_in(event)

    def _stand_in(self, event: Any) -> None:
        self.table.play(event, is_line=False)
        self.happened.append(event)
        self.lines.append(0)

    def _happened(self, line: Any, act: Any) -> None:
        self.happened.append(line)
        self.lines.append(place_of(act)[0])

    def _renumbered(self, act: TableAct) -> TableAct:
        """Return it with the numbers that lines have when none is left out."""
        line, decides = act.line, act.decides
        if line >= 0:
            line = self._numbers[line]
        if decides is not None:
            decides = self._numbers[decides] if decides < len(self._numbers) else len(self.happened) + 1
        return replace(act, line=line, decides=decides)


def left_out(table: Table, act: Any) -> Iterator[Any]:
    """Yield what comes before the line of this tree and has no line: moves of seats that make none (TBL-2).

    Each has to be played before the next is asked for.
    """
    while act.data != "by_table" and (due := table.due()) is not None and due.seat != seat_of(act):
        yield due.event


def table_act(table: Table, act: Any) -> TableAct:
    """Return the act of a line's tree that can be taken next. Raise ``NotationError``."""
    done = act_of_tree(act)
    try:
        table.check(done)
    except TableError as error:
        what = Said("line.act", {"act": done, "what": error.what})
        raise NotationError(Kind.ILLEGAL, place_of(act), what, error.expected) from None
    return done


def check_words(act: Any, rest: Sequence[Any]) -> None:
    """Check that what an arbiter says of a move that stands is followed by one. Raise ``NotationError``."""
    if act.data != "by_table" or act_of_tree(act).kind is not ActKind.STANDS:
        return
    if not rest or mark_of(rest[0]) is None:
        what = Said("line.nothing_stands", {"act": act_of_tree(act)})
        raise NotationError(Kind.ILLEGAL, place_of(act), what, Said("line.nothing_stands.expected"))


def no_stand_in(table: Table, act: Any, event: Any, due: Due) -> NotationError:
    """Return the error about a line that has another move than the stand-in's (TBL-2)."""
    rules_id = table.setup.rules_id
    found, expected = line(rules_id, table.state, event), line(rules_id, table.state, due.event)
    return NotationError(Kind.ILLEGAL, place_of(act), Said("line.stand_in", {"move": found}), expected)


def parse(text: str, *, boards: bool = False) -> tuple[Headers, list[Any]]:
    """Return the headers, and the trees of the lines below. Raise ``NotationError``.

    ``boards``: whether the text may have boards alone, which can be drawn and scored, and nothing else.
    """
    rules_id = headers.named_game(text)
    tree: Any = grammar_of(rules_id).parse(text if text.endswith("\n") else f"{text}\n")
    acts = [child for child in tree.children if child.data != "header"]
    found = Headers(rules_id, tree.children[: len(tree.children) - len(acts)])
    if headers.BOARDS in found.values and not boards:
        what = "these are boards alone, without a game or a position: only `referee score` and `referee show` read them"
        raise syntax_error(found.values[headers.BOARDS], what, "a game or a position")
    return found, acts


def read_line(rules_id: str, state: State, text: str, version: int = 0) -> Any:
    """Return the legal event of one line in this position, which stays as it is. Raise ``NotationError``.

    ``version``: of the rules, 0 for the newest; refusals have its texts.
    """
    act: Any = grammar_of(rules_id).parse(text, "act")
    if act.data == "by_table":
        raise syntax_error(act, "an act of the table", "a move, or what was drawn or rolled")
    if (mark := mark_of(act)) is not None:
        raise syntax_error(mark, "a move that is marked as accepted", "a legal move, as no arbiter has ruled on it")
    return _event(registry.get(rules_id, version), state, act, frozenset())


def _event(game: Game, state: State, act: Any, waivable: frozenset[str]) -> Any:
    """Return what a line means here: it is legal, or marked with the rules that it breaks. Raise ``NotationError``."""
    rules_id = game.rules_id
    event = meant(rules_id, state, act)
    violations = state.check(event)
    if (mark := mark_of(act)) is not None:
        grammar.check_against(mark, line(rules_id, state, event), violations, waivable)
    elif violations:
        rules = {rule.id: rule for rule in game.catalogue}
        raise illegal(place_of(act), line(rules_id, state, event), violations, rules)
    return event


def meant(rules_id: str, state: State, act: Any) -> Any:
    """Return the event of a line's tree in this position, by the awaited seat or chance; not yet judged.

    Raise ``NotationError``.
    """
    if act.data == "by_table":
        raise syntax_error(act, "an act of the table", "a move, or what was drawn or rolled")
    (awaited, *_) = state.pending()
    tree = act.children[-1] if act.data == "by_chance" else act.children[1]
    seat = seat_of(act)
    if _whose(awaited) != seat:
        found = Said("line.chance") if seat is None else Said("line.acts", {"player": seat})
        raise NotationError(Kind.ILLEGAL, place_of(act), found, _expected(awaited))
    if tree.data == "pass" and seat is not None:
        return ForcedPass(seat)
    return registry.part(__package__, rules_id, "text").event(tree, state)


def seat_of(act: Any) -> int | None:
    """Return the seat whose act the line's tree is; None for draws and rolls."""
    return int(act.children[0]) if act.data == "by_seat" else None


def mark_of(act: Any) -> Any:
    """Return the mark of a move that an arbiter let stand; None where the line has none."""
    return act.children[2] if act.data == "by_seat" else None


def _whose(awaited: Pending) -> int | None:
    """Return the seat that acts; None for chance, -1 if the game is over."""
    match awaited:
        case Decision(seat) | Forced(seat):
            return seat
        case Chance():
            return None
        case _:
            return -1


def _kind(name: str) -> Said:
    return Said(f"kind.{name}")


def _kinds(names: Sequence[str]) -> Said:
    """Return kinds of moves: ``a, b or c``."""
    *some, last = map(_kind, names)
    if not some:
        return last
    first, *others = some
    for other in others:
        first = Said("kinds.more", {"some": first, "next": other})
    return Said("kinds.or", {"some": first, "last": last})


def _expected(awaited: Pending) -> Said:
    """Return what the game waits for."""
    match awaited:
        case Decision(seat, kinds):
            return Said("line.awaited.seat", {"player": seat, "kinds": _kinds(kinds)})
        case Forced(seat):
            return Said("line.awaited.pass", {"seat": seat, "player": seat})
        case Chance(kind):
            return Said("line.awaited.chance", {"kind": _kind(kind)})
        case _:
            return Said("line.awaited.nothing")
