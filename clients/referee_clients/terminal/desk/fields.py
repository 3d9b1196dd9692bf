"""The parts of a line about the table that a scribe fills in, and the line that they make. Knows no terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.text.notation.table import RULINGS, ActKind, TableAct, arbiter_name, plain_words
from referee.text.notation.times import in_words


@dataclass(frozen=True, slots=True)
class Field:
    """One of them."""

    name: str
    """Empty: nothing is filled in."""
    form: str
    """What it puts into the line, ``{}`` for the value."""
    value: str = ""
    """To begin with."""
    empty: str = ""
    """What it means if nothing is filled in; empty: it has to be."""

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
