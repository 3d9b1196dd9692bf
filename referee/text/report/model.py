"""The content of a report of a game, from any source: plain values to be rendered. Knows no game or file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from referee.games.game import Rule, State, Violation
from referee.games.results import Result
from referee.text.notation import headers
from referee.text.notation.headers import Setup
from referee.text.notation.options import chosen, words
from referee.text.notation.outcomes import IN_ENGLISH, named
from referee.text.notation.violations import sentence
from referee.text.render.drawing import renderer
from referee.text.report.rulings import Adjudication, Entered, Illegal, Step
from referee.text.report.sheet import Player, Sheet, Told, is_over, rules_of, upper
from referee.text.words.catalogue import Words, player

Facts = tuple[tuple[str, str], ...]
"""Names and values, in order."""

_REFERENCE = re.compile(r'(\bid="|\bhref="#|\burl\(#)')
"""The references to or of a part of a picture; in a page every picture has names of its own for them."""


class Tone(StrEnum):
    """The gravity of a headline."""

    GOOD = "good"
    OPEN = "open"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Seat:
    """The player at a seat, as far as known."""

    number: int
    name: str = ""
    facts: Facts = ()
    """The key of the seat, the log's name for the player, the salt that makes this a proof."""
    key: str = ""
    """Its public key in hexadecimal, where a log tells it."""

    def called(self, say: Words = IN_ENGLISH) -> str:
        """Return the name; without one that is known ``player 1``."""
        return player(say, self.number, self.name or None)

    def titled(self, say: Words = IN_ENGLISH) -> str:
        """Return ``Player 1: Anna``, for a heading; without a name ``Player 1``."""
        number, called = player(say, self.number, ""), self.called(say)
        return upper(number) if called == number else f"{upper(number)}: {called}"


@dataclass(frozen=True, slots=True)
class Heading:
    """The organiser's statements on the game; empty: none."""

    date: str = ""
    """The date of play, as in ``2026-11-22``."""
    event: str = ""
    arbiter: str = ""

    def __bool__(self) -> bool:
        return bool(self.date or self.event or self.arbiter)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the course of the game."""

    number: int | None
    """The number of the entry, or of the record's line; an act that was entered beside the record has none."""
    time: str
    """The time by the referee's clock, UTC; empty if there is none."""
    words: str
    mark: str = ""
    """The kind of an unusual line, such as ``refused`` or ``stand-in``; empty for any other."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something that the rules forbid."""

    where: str
    """``line 12`` or ``entry 40``."""
    words: str
    broken: tuple[str, ...]
    """A sentence for each rule that it breaks, or for the act that was awaited instead."""
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
    """The standings by places; empty for a game that has none."""
    about: Facts
    seats: tuple[Seat, ...]
    sheet: Sheet | None
    no_sheet: str
    """Why there is none."""
    rules: tuple[Rule, ...]
    """The rules that the sheet names."""
    wrong: tuple[Wrong, ...]
    rows: tuple[Row, ...]
    numbered: str
    """The kind of the rows' numbers: ``line`` or ``entry``."""
    pictures: tuple[tuple[str, str], ...]
    """Titles and SVG."""
    hashes: Facts
    signatures: tuple[str, ...] = ()
    """The signatories of the printed page; empty: none."""
    say: Words = IN_ENGLISH
    """The language of all of it."""

    @property
    def has_times(self) -> bool:
        """True if any row has one."""
        return any(row.time for row in self.rows)


# Parts that reports have in common


def score_value(told: Told, found: Sheet) -> dict[str, Any]:
    """Return a score sheet for programs, as JSON has it."""
    setup, result = told.setup, told.result
    rules = rules_named(setup.rules_id, setup.version, found)
    return {
        "game": setup.rules_id,
        "version": setup.version,
        "seats": setup.seats,
        "over": is_over(told.state),
        "result": headers.result_words(result),
        "places": list(result.places) if result else [],
        "outcome": told.outcome(),
        **asdict(found),
        "rules": {rule.id: rule.text for rule in rules},
    }


def title(setup: Setup, say: Words = IN_ENGLISH) -> str:
    """Return ``Kingdomino, 2 players``."""
    return say("title", game=say(f"game.{setup.rules_id}"), n=setup.seats)


def about(
    setup: Setup,
    more: Iterable[tuple[str, str]] = (),
    heading: Heading | None = None,
    say: Words = IN_ENGLISH,
) -> Facts:
    """Return date, event, arbiter, rules, options, numbers of the tournament."""
    heading = heading or Heading()
    options = chosen(setup.options)
    facts = {
        "date": heading.date,
        "event_name": heading.event,
        "arbiter": heading.arbiter,
        "game": setup.rules_id,
        "rules": say("about.version", n=setup.version),
        "options": words(options) if options else say("about.options.none"),
        "seats": str(setup.seats),
    }
    tournament = {"event": setup.event, "round": setup.round, "table": setup.table}
    facts |= {name: str(number) for name, number in tournament.items() if number is not None}
    facts["components"] = getattr(setup.components or setup.game.default_components(), "provenance", "")
    return (*((say(f"about.{name}"), fact) for name, fact in facts.items() if fact), *more)


def signatures(seats: Sequence[Seat], heading: Heading, say: Words = IN_ENGLISH) -> tuple[str, ...]:
    """Return who signs the printed report."""
    arbiter = say("arbiter") + (f", {heading.arbiter}" if heading.arbiter else "")
    return (say("scribe"), arbiter, *(seat.called(say) for seat in seats))


def pictures(
    rules_id: str, state: State, seats: Sequence[Seat], say: Words = IN_ENGLISH
) -> tuple[tuple[str, str], ...]:
    """Return every seat's board. The picture is the same for all players: it has no name."""
    draw = renderer(rules_id)
    drawn = []
    for seat in seats:
        svg = draw.seat_svg(state, seat.number, upper(player(say, seat.number, "")))
        drawn.append((seat.called(say), _REFERENCE.sub(rf"\1s{seat.number}-", svg)))
    return tuple(drawn)


def rules_named(rules_id: str, version: int, found: Sheet | None) -> tuple[Rule, ...]:
    """Return the rules that a sheet names, in the order of its mention."""
    rules = rules_of(rules_id, version)
    return tuple(rules[rule_id] for rule_id in found.rule_ids()) if found else ()


def broken(rules_id: str, version: int, violations: Sequence[Violation], say: Words = IN_ENGLISH) -> tuple[str, ...]:
    """Return a sentence for each."""
    rules = rules_of(rules_id, version)
    return tuple(sentence(violation, rules, say) for violation in violations)


def standings(result: Result | None, players: Sequence[Player] = (), say: Words = IN_ENGLISH) -> tuple[Standing, ...]:
    """Return the seats by places; with those of ``players`` who have points and no seat. None without a result."""
    if result is None:
        return ()
    points = result.scores or (None,) * len(result.places)
    by_seat = enumerate(zip(result.places, points, strict=True))
    found = [Standing(place, player(say, seat), own) for seat, (place, own) in by_seat]
    if result.scores:
        found += [Standing(other.place, other.name, other.total) for other in players[len(found) :]]
    return tuple(sorted(found, key=lambda standing: standing.place))


# The report of an adjudication


def of_adjudication(
    found: Adjudication, seats: Sequence[Seat], hashes: Facts = (), heading: Heading | None = None
) -> Report:
    """``seats``: with the log's data on them, if there is a log; ``hashes``: of that log. In its language."""
    setup, say = found.setup, found.say
    heading = heading or Heading()
    scores = found.told.sheet(final=False, say=say)
    wrong = [wrong_line(found, each) for each in found.illegal]
    if found.claimed is not None:
        wrong.append(wrong_result(found))
    headline, tone = _headline(found)
    more = [(say("about.illegal"), _policy(found)), (say("about.result"), _result(found))]
    return Report(
        title=say("adjudication.title", title=title(setup, say)),
        headline=headline,
        tone=tone,
        verdict=_verdict(found),
        result=standings(found.told.result, scores.players, say),
        about=about(setup, more, heading, say),
        seats=tuple(seats),
        sheet=scores,
        no_sheet="",
        rules=rules_named(setup.rules_id, setup.version, scores),
        wrong=tuple(wrong),
        rows=tuple(_row(entered, say) for entered in found.entered),
        numbered=say("line"),
        pictures=pictures(setup.rules_id, found.state, seats, say),
        hashes=hashes,
        signatures=signatures(seats, heading, say),
        say=say,
    )


def wrong_line(found: Adjudication, illegal: Illegal) -> Wrong:
    """Return an illegal line of a record."""
    setup, say = found.setup, found.say
    reasons = broken(setup.rules_id, setup.version, illegal.violations, say) or (illegal.reason,)
    outcome = illegal.outcome
    if illegal.ruling:
        named_ = ".as" if illegal.stopped else ""
        outcome = say(f"wrong.ruled{named_}", ruling=illegal.ruling, outcome=outcome)
    advice = f"; {illegal.advice}" if illegal.advice else ""
    return Wrong(say("wrong.line", n=illegal.line), illegal.words, reasons, f"{outcome}{advice}")


def wrong_result(found: Adjudication) -> Wrong:
    """Return the result that the record states, which is another one."""
    say = found.say
    reason = say("wrong.result.why", result=f"{found.result}{_places(found)}")
    return Wrong(say("wrong.result"), found.claimed or "", (reason,), say("wrong.result.outcome"))


def _policy(found: Adjudication) -> str:
    policy = found.say(f"policy.{found.policy.name.lower()}")
    by_line = any(illegal.ruling for illegal in found.illegal) or found.unreached
    return found.say("policy.by_line", policy=policy) if by_line else policy


def _places(found: Adjudication) -> str:
    """Return those of the result, where the points alone do not give them."""
    result = found.told.result
    if found.told.contest.is_plain or result is None or not result.places:
        return ""
    return found.say("wrong.result.places", places=" ".join(map(str, result.places)))


def _headline(found: Adjudication) -> tuple[str, Tone]:
    say = found.say
    if stopped := found.stopped:
        given = ".given" if found.ended else ""
        return say(f"headline.stopped{given}", n=stopped.line), Tone.OPEN if found.ended else Tone.BAD
    if found.is_clean:
        return say("headline.clean.rulings" if found.illegal else "headline.clean"), Tone.GOOD
    count = sum(not illegal.ruled and illegal.follows is None for illegal in found.illegal)
    if not count:
        return say("headline.result"), Tone.OPEN
    return say("headline.illegal", n=count), Tone.OPEN


def _verdict(found: Adjudication) -> tuple[str, ...]:
    say = found.say
    beside = (Step.REFUSED, Step.TABLE)
    played = sum(entered.event is not None and entered.step not in beside for entered in found.entered)
    lines = [say("verdict.entered", n=played)]
    steps = Counter(entered.step for entered in found.entered)
    rest = (Step.ACCEPTED, Step.REPLACED, Step.STOOD_IN)
    if ruled := sum(steps[step] for step in rest):
        told = named([say(f"verdict.ruled.{step.name.lower()}", n=steps[step]) for step in rest if steps[step]], say)
        lines.append(say("verdict.ruled", n=ruled, how=told))
    if due := steps[Step.DUE]:
        lines.append(say("verdict.due", n=due))
    wrong = [illegal for illegal in found.illegal if not illegal.ruled]
    fallen = sum(illegal.follows is not None for illegal in wrong)
    if wrong and (found.stopped or fallen):
        more = say("verdict.fallen", n=fallen) if fallen else ""
        lines.append(say("verdict.illegal", n=len(wrong), more=more))
    if found.stopped:
        lines.append(say("verdict.rest"))
    if found.unreached:
        reached = ", ".join(say("wrong.line", n=each.line) for each in found.unreached)
        lines.append(say("verdict.unreached", lines=reached))
    lines += found.changes
    if found.told.needs_words:
        lines.append(f"{upper(found.told.outcome(say))}.")
    return tuple(lines)


def _result(found: Adjudication) -> str:
    if found.told.needs_words:
        return found.told.outcome(found.say)
    return found.say("about.result.none") if found.told.result is None else headers.result_words(found.told.result)


def _row(entered: Entered, say: Words) -> Row:
    mark = "" if entered.step in (Step.PLAYED, Step.TABLE) else say(f"step.{entered.step.name.lower()}")
    if entered.violations:
        mark += f" ({', '.join(entered.rule_ids)})"
    return Row(entered.line, "", entered.words, mark)
