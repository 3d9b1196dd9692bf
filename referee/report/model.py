"""What a report of a game has, whatever it was made from: plain values to be rendered. Knows no game or file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from referee.games.game import Rule, State, Violation
from referee.games.results import Result
from referee.notation import contest_text
from referee.notation.headers import Setup
from referee.notation.options import chosen, words
from referee.notation.outcomes import counted, named
from referee.notation.sentences import sentence
from referee.render.registry import renderer
from referee.report.record import Adjudication, Entered, Illegal, Step
from referee.report.rulings import Policy
from referee.report.sheet import Player, Sheet, Told, is_over, rules_of, upper

Facts = tuple[tuple[str, str], ...]
"""Names and values, in order."""

_POLICIES = {
    Policy.STOP: "stop: the adjudication ends before the first of them",
    Policy.SKIP: "skip: they do not count; the stand-in moves for a seat that does not move again (TBL-2)",
    Policy.ACCEPT: "accept as played: they stand if every rule that they break allows that (TBL-7)",
}
_REFERENCE = re.compile(r'(\bid="|\bhref="#|\burl\(#)')
"""To or of a part of a picture; in a page every picture has names of its own for them."""


class Tone(StrEnum):
    """How grave a headline is."""

    GOOD = "good"
    OPEN = "open"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits there, as far as it is known."""

    number: int
    name: str = ""
    facts: Facts = ()
    """Its key, how the log calls the player, the salt that makes this a proof."""

    def __str__(self) -> str:
        return f"seat {self.number}" + (f", {self.name}" if self.name else "")


@dataclass(frozen=True, slots=True)
class Heading:
    """What the organiser says about the game; empty: nothing."""

    date: str = ""
    """When it was played, as in ``2026-11-22``."""
    event: str = ""
    arbiter: str = ""

    def __bool__(self) -> bool:
        return bool(self.date or self.event or self.arbiter)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of what happened."""

    number: int | None
    """Of the entry, or of the record's line, which what was entered beside it does not have."""
    time: str
    """By the referee's clock, UTC; empty if there is none."""
    words: str
    mark: str = ""
    """Such as ``refused`` or ``stand-in``; empty for what is as usual."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something that the rules forbid."""

    where: str
    """``line 12`` or ``entry 40``."""
    words: str
    broken: tuple[str, ...]
    """A sentence for each rule that it breaks, or for what was awaited instead."""
    outcome: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of the result."""

    place: int
    player: str
    points: int | None
    """None: the game ended without points."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report of one game."""

    title: str
    headline: str
    tone: Tone
    verdict: tuple[str, ...]
    """Under the headline, a line each."""
    result: tuple[Standing, ...]
    """By places; empty for a game that has none."""
    about: Facts
    seats: tuple[Seat, ...]
    sheet: Sheet | None
    no_sheet: str
    """Why there is none."""
    rules: tuple[Rule, ...]
    """Those that the sheet names."""
    wrong: tuple[Wrong, ...]
    rows: tuple[Row, ...]
    numbered: str
    """What the numbers of the rows are: ``line`` or ``entry``."""
    pictures: tuple[tuple[str, str], ...]
    """Titles and SVG."""
    hashes: Facts
    signatures: tuple[str, ...] = ()
    """Who signs the printed page; nobody where there are none."""

    @property
    def has_times(self) -> bool:
        """Whether any row has one."""
        return any(row.time for row in self.rows)

    def name_of(self, player: str) -> str:
        """Return a player of the sheet with the name, if it has one."""
        return next((str(seat) for seat in self.seats if player == f"seat {seat.number}"), player)


# Parts that reports have in common


def score_value(told: Told, found: Sheet) -> dict[str, Any]:
    """Return a score sheet for programs, as JSON has it."""
    setup, result = told.setup, told.result
    rules = rules_named(setup.rules_id, setup.version, found)
    return {
        "game": setup.rules_id,
        "version": setup.version,
        "over": is_over(told.state),
        "result": contest_text.value(result),
        "places": list(result.places) if result else [],
        "outcome": told.outcome,
        **asdict(found),
        "rules": {rule.id: rule.text for rule in rules},
    }


def title(setup: Setup) -> str:
    """Return ``Kingdomino, 2 seats``."""
    return f"{setup.rules_id.capitalize()}, {counted(setup.seats, 'seat')}"


def about(setup: Setup, more: Iterable[tuple[str, str]] = (), heading: Heading | None = None) -> Facts:
    """Return date, event, arbiter, rules, options, numbers of the tournament."""
    heading = heading or Heading()
    said = [("date", heading.date), ("name of the event", heading.event), ("arbiter", heading.arbiter)]
    facts = [
        *(fact for fact in said if fact[1]),
        ("game", setup.rules_id),
        ("rules", f"version {setup.version}"),
        ("options", words(chosen(setup.options))),
        ("seats", str(setup.seats)),
    ]
    tournament = {"event": setup.event, "round": setup.round, "table": setup.table}
    facts += [(name, str(number)) for name, number in tournament.items() if number is not None]
    if provenance := getattr(setup.components or setup.game.default_components(), "provenance", ""):
        facts.append(("components", provenance))
    return (*facts, *more)


def with_names(report: Report, seats: Sequence[Seat]) -> Report:
    """Return the report with these seats, of the same numbers."""
    drawn = tuple((str(seat), svg) for seat, (_, svg) in zip(seats, report.pictures, strict=True))
    return replace(report, seats=tuple(seats), pictures=drawn)


def signatures(seats: Sequence[Seat], heading: Heading) -> tuple[str, ...]:
    """Return who signs the printed report."""
    arbiter = "arbiter" + (f", {heading.arbiter}" if heading.arbiter else "")
    return ("scribe", arbiter, *map(str, seats))


def pictures(rules_id: str, state: State, seats: Sequence[Seat]) -> tuple[tuple[str, str], ...]:
    """Return every seat's board. The name is not in the picture, which is the same whoever played."""
    draw = renderer(rules_id)
    drawn = []
    for seat in seats:
        svg = draw.seat_svg(state, seat.number, f"Seat {seat.number}")
        drawn.append((str(seat), _REFERENCE.sub(rf"\1s{seat.number}-", svg)))
    return tuple(drawn)


def rules_named(rules_id: str, version: int, found: Sheet | None) -> tuple[Rule, ...]:
    """Return the rules that a sheet names, in the order of its mention."""
    rules = rules_of(rules_id, version)
    return tuple(rules[rule_id] for rule_id in found.rule_ids()) if found else ()


def broken(rules_id: str, version: int, violations: Sequence[Violation]) -> tuple[str, ...]:
    """Return a sentence for each."""
    rules = rules_of(rules_id, version)
    return tuple(sentence(violation, rules) for violation in violations)


def standings(result: Result | None, players: Sequence[Player] = ()) -> tuple[Standing, ...]:
    """Return the seats by places; with those of ``players`` who have points and no seat. None without a result."""
    if result is None:
        return ()
    points = result.scores or (None,) * len(result.places)
    by_seat = enumerate(zip(result.places, points, strict=True))
    found = [Standing(place, f"seat {seat}", own) for seat, (place, own) in by_seat]
    if result.scores:
        found += [Standing(player.place, player.name, player.total) for player in players[len(found) :]]
    return tuple(sorted(found, key=lambda standing: standing.place))


# The report of an adjudication


def of_adjudication(
    found: Adjudication, seats: Sequence[Seat], hashes: Facts = (), heading: Heading | None = None
) -> Report:
    """``seats``: with what the log says of them, if there is one; ``hashes``: of that log."""
    setup = found.setup
    heading = heading or Heading()
    scores = found.told.sheet(final=False)
    wrong = [wrong_line(setup, each) for each in found.illegal]
    if found.claimed is not None:
        wrong.append(wrong_result(found))
    headline, tone = _headline(found)
    return Report(
        title=f"{title(setup)}: adjudication",
        headline=headline,
        tone=tone,
        verdict=_verdict(found),
        result=standings(found.told.result, scores.players),
        about=about(setup, [("illegal moves", _policy(found)), ("result", _result(found))], heading),
        seats=tuple(seats),
        sheet=scores,
        no_sheet="",
        rules=rules_named(setup.rules_id, setup.version, scores),
        wrong=tuple(wrong),
        rows=tuple(map(_row, found.entered)),
        numbered="line",
        pictures=pictures(setup.rules_id, found.state, seats),
        hashes=hashes,
        signatures=signatures(seats, heading),
    )


def wrong_line(setup: Setup, found: Illegal) -> Wrong:
    """Return an illegal line of a record."""
    reasons = broken(setup.rules_id, setup.version, found.violations) or (found.reason,)
    ruled = "ruled" + (f" {found.ruling}" if found.stopped else "") + ": " if found.ruling else ""
    outcome = f"{ruled}{found.outcome}"
    advice = f"; {found.advice}" if found.advice else ""
    return Wrong(f"line {found.line}", found.words, reasons, f"{outcome}{advice}")


def wrong_result(found: Adjudication) -> Wrong:
    """Return the result that the record states, which is another one."""
    reason = f"By the rules it is {found.result}{_places(found)}."
    return Wrong("the result", found.claimed or "", (reason,), "the points of the rules count")


def _policy(found: Adjudication) -> str:
    by_line = any(illegal.ruling for illegal in found.illegal) or found.unreached
    return f"{'rulings by line; others ' if by_line else ''}{_POLICIES[found.policy]}"


def _places(found: Adjudication) -> str:
    """Return those of the result, where the points alone do not give them."""
    result = found.told.result
    if found.told.contest.is_plain or result is None or not result.places:
        return ""
    return f", places {' '.join(map(str, result.places))}"


def _headline(found: Adjudication) -> tuple[str, Tone]:
    if stopped := found.stopped:
        given = ", with the result that the arbiter gives" if found.ended else ""
        return f"Stopped at line {stopped.line}{given}", Tone.OPEN if found.ended else Tone.BAD
    if found.is_clean:
        return ("Nothing illegal" + (", apart from rulings in the record" if found.illegal else "")), Tone.GOOD
    count = sum(not illegal.ruled and illegal.follows is None for illegal in found.illegal)
    if not count:
        return "A wrong result", Tone.OPEN
    return counted(count, "illegal move"), Tone.OPEN


def _verdict(found: Adjudication) -> tuple[str, ...]:
    beside = (Step.REFUSED, Step.TABLE)
    played = sum(entered.event is not None and entered.step not in beside for entered in found.entered)
    lines = [f"{played} events were entered."]
    steps = Counter(entered.step for entered in found.entered)
    rest = {
        Step.ACCEPTED: "against the rules",
        Step.REPLACED: "in the place of a line",
        Step.STOOD_IN: "by the stand-in",
    }
    if ruled := sum(steps[step] for step in rest):
        told = named([f"{steps[step]} {how}" for step, how in rest.items() if steps[step]])
        lines.append(f"{ruled} of them {'rests' if ruled == 1 else 'rest'} on a ruling of the arbiter: {told}.")
    if due := steps[Step.DUE]:
        what = "is the stand-in's move" if due == 1 else "are the stand-in's moves"
        lines.append(f"{due} of them {what}, which the record does not have (TBL-2).")
    wrong = [illegal for illegal in found.illegal if not illegal.ruled]
    fallen = sum(illegal.follows is not None for illegal in wrong)
    if wrong and (found.stopped or fallen):
        more = f"; {fallen} of them only because of a line that does not count" if fallen else ""
        lines.append(f"{counted(len(wrong), 'line is', 'lines are')} illegal{more}.")
    if found.stopped:
        lines.append("The rest of the record was not checked.")
    if found.unreached:
        lines.append(f"Not reached, and so not ruled: {', '.join(f'line {each.line}' for each in found.unreached)}.")
    lines += found.changes
    if not found.told.contest.is_plain:
        lines.append(f"{upper(found.told.outcome)}.")
    return tuple(lines)


def _result(found: Adjudication) -> str:
    if not found.told.contest.is_plain:
        return found.told.outcome
    return "none: the game is not over" if found.told.result is None else contest_text.value(found.told.result)


def _row(entered: Entered) -> Row:
    mark = "" if entered.step in (Step.PLAYED, Step.TABLE) else str(entered.step)
    if entered.violations:
        mark += f" ({', '.join(entered.rule_ids)})"
    return Row(entered.line, "", entered.words, mark)
