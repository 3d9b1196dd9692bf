"""A whole game as text: its headers, then a line an event. Knows no game.

``read`` plays what it reads, so a text that it accepts is a game that can be played; ``write`` prints the one form
that every other way to write the same game is brought to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from referee.games import registry
from referee.games.game import Chance, Decision, Forced, ForcedPass, Game, Pending, State
from referee.games.results import Contest, Result, Wait
from referee.notation import accepted, contest_text, headers, table_acts
from referee.notation.errors import Kind, NotationError, either, illegal
from referee.notation.grammar import grammar, place_of, syntax_error
from referee.notation.headers import Headers, Setup
from referee.notation.outcomes import outcome
from referee.notation.registry import notation
from referee.notation.table import Table, TableError
from referee.notation.table_acts import TableAct


@dataclass(frozen=True, slots=True)
class GameText:
    """A game, or its beginning."""

    setup: Setup
    events: tuple[Any, ...]
    """Of these, moves that break rules stand because an arbiter let them (TBL-7)."""
    contest: Contest = field(default_factory=Contest)
    """What happened beside the moves."""
    happened: tuple[Any, ...] = ()
    """All lines in their order, of a game of which acts of the table are told: events, those that were taken back too,
    and each ``TableAct``. What they lead to are ``events`` and ``contest``."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, and where it led."""

    game: GameText
    state: State
    """After the last event."""
    accepted: tuple[int, ...] = ()
    """Numbers of the lines, from 1, with moves that an arbiter let stand."""

    @property
    def result(self) -> Result | None:
        """What the game has come to; None: it goes on."""
        return self.game.contest.result(self.game.setup.seats, self.state.pending())


# Printing


def write(game: GameText, *, waits: Wait | None = None) -> str:
    """Return the canonical form; with ``waits`` a comment that the result is not entered yet, and for what it waits.

    Raise ``ValueError`` for an event that no arbiter could let stand.
    """
    head, lines, state = written(game)
    result = game.contest.result(game.setup.seats, state.pending())
    if result is not None and (waits or not game.contest.is_plain):
        head.append(f"; {outcome(result, game.contest, waits=waits)}")
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
        if fixed := {*accepted.rule_ids(violations)} - game.setup.game.waivable:
            raise ValueError(f"{line(rules_id, table.state, event)} breaks {', '.join(sorted(fixed))}")
        lines.append(line(rules_id, table.state, event) + accepted.write(violations))
        table.play(event)
        scored = notation(rules_id).rounds(table.state, told)
        told += len(scored)
        lines += [f"; {each}" for each in scored]
    head = [*headers.write(game.setup), *contest_text.write(game.contest, game.setup.seats, table.state.pending())]
    return head, lines, table.state


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
    setup = found.setup()
    table = Table(setup)
    happened = [take(table, act) for act in acts]
    told = table.contest() if any(isinstance(each, TableAct) for each in happened) else None
    contest = contest_text.read(found, setup.seats, table.state.pending(), told)
    marks = tuple(place_of(act)[0] for act in acts if mark_of(act) is not None)
    game = GameText(setup, table.events(), contest, () if told is None else tuple(happened))
    return Reading(game, table.state, marks)


def take(table: Table, act: Any) -> Any:
    """Take the next line, of this tree; return its event or ``TableAct``. Raise ``NotationError``."""
    if act.data == "by_table":
        done = table_acts.of_tree(act)
        try:
            table.take(done)
        except TableError as error:
            raise NotationError(Kind.ILLEGAL, place_of(act), f"{done}: {error.what}", error.expected) from None
        return done
    event = _event(table.setup.game, table.state, act, table.setup.game.waivable)
    check_stand_in(table, act, event)
    table.play(event)
    return event


def check_stand_in(table: Table, act: Any, event: Any) -> None:
    """Check that a line has the stand-in's move where one is due (TBL-2). Raise ``NotationError``."""
    if (move := table.stand_in()) is not None and event != move:
        rules_id = table.setup.rules_id
        found, expected = line(rules_id, table.state, event), line(rules_id, table.state, move)
        raise NotationError(Kind.ILLEGAL, place_of(act), f"{found}: this seat makes no move itself (TBL-2)", expected)


def parse(text: str, *, boards: bool = False) -> tuple[Headers, list[Any]]:
    """Return the headers, and the trees of the lines below. Raise ``NotationError``.

    ``boards``: whether the text may have boards alone, which nobody but a score sheet can do anything with.
    """
    rules_id = headers.named_game(text)
    tree: Any = grammar(rules_id).parse(text if text.endswith("\n") else f"{text}\n")
    acts = [child for child in tree.children if child.data != "header"]
    found = Headers(rules_id, tree.children[: len(tree.children) - len(acts)])
    if headers.BOARDS in found.values and not boards:
        what = "these are boards alone, without a game or a position: `referee score` reads them"
        raise syntax_error(found.values[headers.BOARDS], what, "a game or a position")
    return found, acts


def read_line(rules_id: str, state: State, text: str, version: int = 0) -> Any:
    """Return the legal event of one line in this position, which stays as it is. Raise ``NotationError``.

    ``version``: of the rules, 0 for the newest; refusals have its texts.
    """
    act: Any = grammar(rules_id).parse(text, "act")
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
        accepted.check(mark, line(rules_id, state, event), violations, waivable)
    elif violations:
        rules = {rule.id: rule for rule in game.catalogue}
        raise illegal(place_of(act), line(rules_id, state, event), violations, rules)
    return event


def meant(rules_id: str, state: State, act: Any) -> Any:
    """Return the event of a line's tree in this position, by who or what is awaited; not yet judged.

    Raise ``NotationError``.
    """
    if act.data == "by_table":
        raise syntax_error(act, "an act of the table", "a move, or what was drawn or rolled")
    (awaited, *_) = state.pending()
    tree = act.children[-1] if act.data == "by_chance" else act.children[1]
    seat = seat_of(act)
    if _whose(awaited) != seat:
        found = "chance" if seat is None else f"seat {seat} acts"
        raise NotationError(Kind.ILLEGAL, place_of(act), found, _expected(awaited))
    if tree.data == "pass" and seat is not None:
        return ForcedPass(seat)
    return registry.part(__package__, rules_id, "text").event(tree, state)


def seat_of(act: Any) -> int | None:
    """Return whose act the line's tree is; None for what is drawn or rolled."""
    return int(act.children[0]) if act.data == "by_seat" else None


def mark_of(act: Any) -> Any:
    """Return the mark of a move that an arbiter let stand; None where the line has none."""
    return act.children[2] if act.data == "by_seat" else None


def _whose(awaited: Pending) -> int | None:
    """Return the seat that acts; None for chance, -1 for nobody."""
    match awaited:
        case Decision(seat) | Forced(seat):
            return seat
        case Chance():
            return None
        case _:
            return -1


def _expected(awaited: Pending) -> str:
    """Return what the game waits for."""
    match awaited:
        case Decision(seat, kinds):
            return f"seat {seat}: {either(kind.replace('_', ' ') for kind in kinds)}"
        case Forced(seat):
            return f"{seat}: pass, as seat {seat} has no legal action"
        case Chance(kind):
            return f"what was drawn or rolled: {kind.replace('_', ' ')}"
        case _:
            return "nothing after the end of the game"
