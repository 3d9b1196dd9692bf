"""The report of a match: as text, as a page with pictures, and the condition that a program asks for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Final

from referee.console import printable
from referee.games.game import InputError
from referee.text.notation.outcomes import counted
from referee_clients.match.course import MOST_FAULTS
from referee_clients.match.ratings import Rating
from referee_clients.match.sprt import BOUND, LEAST, Verdict
from referee_clients.match.statistics import Mean, Statistics

_CONDITION: Final = re.compile(
    r"(rating|low|first-places|placing|points|faults|p99)\s*(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?)(%?)\Z"
)
_SHARES: Final = frozenset({"first-places", "placing"})
_COMPARE: Final = {"<": lt, "<=": le, ">": gt, ">=": ge}
_MOST_CROSS: Final = 12
"""Bots in the cross table of the text; the page has all."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the first bot under which the command fails."""

    text: str
    what: str
    compare: str
    limit: float

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Return the condition of ``rating<-20``. Raise ``InputError``."""
        if (found := _CONDITION.match(text.strip())) is None:
            expected = "such as rating<-20, low<0, first-places<45%, placing<50%, points<30, faults>0 or p99>200"
            raise InputError("--fail-if", f"{text[:40]!r}", expected)
        if bool(found[4]) is not (found[1] in _SHARES):
            unit = "a percentage" if found[1] in _SHARES else "a number without %"
            raise InputError("--fail-if", f"{text[:40]!r}", f"{unit} for {found[1]}")
        return cls(text.strip(), found[1], found[2], float(found[3]) / (100 if found[4] else 1))

    def holds(self, found: Statistics) -> bool:
        """Return whether it is so."""
        bot = next(each for each in found.standings if each.bot == 0)
        value = {
            "rating": bot.rating.value,
            "low": bot.rating.low,
            "first-places": bot.first.value,
            "placing": bot.placing.value,
            "points": bot.points.value,
            "faults": sum(bot.faults.values()),
            "p99": bot.p99_ms,
        }[self.what]
        return bool(_COMPARE[self.compare](value, self.limit))


# --- text ----------------------------------------------------------------------------------------------------


def text(found: Statistics) -> str:
    """Return the report as text."""
    return "\n".join(_lines(found)) + "\n"


def title(found: Statistics) -> str:
    """Return what was played."""
    config = found.config
    seats = counted(config.seats, "seat")
    return f"{config.match.game}, {seats}, {config.schedule}, seed {config.match.seed}"


def _lines(found: Statistics) -> Iterator[str]:
    yield title(found)
    yield ""
    rows = [["bot", "rating", "95 %", "first", "95 %", "placing", "points", "blocks", "faults", "move p50/p99"]]
    rows += (
        [
            printable(each.name) + (" (out)" if each.is_out else ""),
            f"{each.rating.value:+.0f}",
            _range(each.rating, "{:+.0f}"),
            f"{each.first.value:.1%}",
            _range(each.first, "{:.1%}"),
            f"{each.placing.value:.1%}",
            f"{each.points.value:.1f}",
            str(each.blocks),
            faults_in_words(each.faults),
            f"{_ms(each.p50_ms)} / {_ms(each.p99_ms)}",
        ]
        for each in found.standings
    )
    if found.config.seats == 1:  # where no bot meets another one, only points tell them apart
        interval = ["95 %", *(_range(each.points, "{:.1f}") for each in found.standings)]
        rows = [[row[0], row[6], between, *row[7:]] for row, between in zip(rows, interval, strict=True)]
    yield from _table(rows)
    if 1 < len(found.standings) <= _MOST_CROSS and found.meetings:
        yield ""
        yield "placed before (row before column; in brackets what the ratings expect)"
        order = [each.bot for each in found.standings]
        cross = [["", *(str(number) for number, _ in enumerate(order, 1))]]
        for number, bot in enumerate(order, 1):
            cells = [cell(found, bot, other) for other in order]
            cross.append([f"{number} {printable(found.names[bot])}", *cells])
        yield from _table(cross)
    yield ""
    yield from remarks(found)


def cell(found: Statistics, bot: int, other: int) -> str:
    """Return a cell of the cross table."""
    met = found.meetings.get((bot, other))
    return "·" if met is None else f"{met.before:.0%} ({met.expected:.0%})"


def remarks(found: Statistics) -> Iterator[str]:
    """Yield what is to be said beside the tables, a line each."""
    seats = ", ".join(f"{share:.1%}" for share in found.by_seat)
    yield f"{found.games} games in {counted(found.blocks, 'block')} (a deal in all rotations); ended: " + ", ".join(
        f"{words} {count}" for words, count in sorted(found.endings.items())
    )
    if len(found.by_seat) > 1:
        yield f"first places by seat: {seats}"
    if found.distinct < found.games - found.loose:
        same = found.games - found.loose - found.distinct
        yield f"the same as another game of their block, move for move: {counted(same, 'game')}; such games count once"
    if found.loose:
        loose = counted(found.loose, "game")
        yield f"of blocks that were not played to their end: {loose}, for faults and times only"
    for bot, task in found.course.out.items():
        yield (
            f"{printable(found.names[bot])} is out after game {task.block}/{task.rotation}: "
            f"{MOST_FAULTS} faults in a row; its other games were not played"
        )
    if any(each.faults for each in found.standings):
        yield "faults/ in the folder of --out has what the bots printed, and the positions"
    yield from sprt_words(found)
    if found.blocks < LEAST:
        yield f"fewer than {LEAST} blocks: the intervals are rough"


def sprt_words(found: Statistics) -> Iterator[str]:
    """Yield how the test stands."""
    if (test := found.course.test) is None:
        return
    verdict = found.course.verdict
    stands = f"log likelihood ratio {test.ratio():+.2f} ({-BOUND:.2f} to {BOUND:+.2f}), {test.samples} blocks"
    said = {
        Verdict.H0: f"H0 is accepted: {printable(found.names[0])} is not that much better",
        Verdict.H1: f"H1 is accepted: {printable(found.names[0])} is that much better",
        Verdict.UNDECIDED: "undecided",
    }[verdict]
    yield f"SPRT of {printable(found.names[0])}, {test.sprt}: {said}; {stands}"


def faults_in_words(faults: Mapping[str, int]) -> str:
    """Return ``3 CRASHED, 1 FLAG``."""
    return ", ".join(f"{count} {name}" for name, count in faults.items()) or "0"


def _range(found: Rating | Mean, form: str) -> str:
    if math.isinf(found.low):
        return "unknown"
    return f"{form.format(found.low)} to {form.format(found.high)}"


def _ms(value: float) -> str:
    return f"{value:.1f} ms" if value < 100 else f"{value / 1000:.2g} s"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        yield "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()


# --- page ----------------------------------------------------------------------------------------------------


def page(found: Statistics) -> str:
    """Return the report as one HTML file, which needs nothing else. Raise ``ModuleNotFoundError`` without jinja2."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - all else is without it

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    order = [each.bot for each in found.standings]
    return environment.get_template("report.html.j2").render(
        found=found,
        title=title(found),
        bars=rating_bars(found),
        times=time_bars(found),
        order=order,
        cell=lambda bot, other: cell(found, bot, other),
        shade=lambda bot, other: _shade(found, bot, other),
        remarks=list(remarks(found)),
        interval=_range,
        ms=_ms,
        faults=faults_in_words,
    )


def _shade(found: Statistics, bot: int, other: int) -> int:
    """Return how dark a cell is, from -4 to 4."""
    met = found.meetings.get((bot, other))
    return 0 if met is None else round((met.before - 0.5) * 8)


_WIDTH: Final = 720
_LABEL: Final = 190
_ROW: Final = 30


def rating_bars(found: Statistics) -> str:
    """Return a picture of the ratings: a point with its interval for each bot, on one scale."""
    shown = [each for each in found.standings if not math.isinf(each.rating.low)] or list(found.standings)
    low = min(min(each.rating.low, each.rating.value) for each in shown) if shown else 0.0
    high = max(max(each.rating.high, each.rating.value) for each in shown) if shown else 0.0
    if math.isinf(low) or high - low < 1:
        low, high = -100.0, 100.0
    step = next(step for step in (10, 20, 50, 100, 200, 500, 1000, 5000) if (high - low) / step <= 8 or step == 5000)
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step

    def x(value: float) -> float:
        return _LABEL + (min(max(value, low), high) - low) / (high - low) * (_WIDTH - _LABEL - 30)

    height = _ROW * len(found.standings) + 34
    parts = [_open(height, "Ratings of the bots, each with the interval that holds it in 95 of 100 cases")]
    for tick in range(int(low), int(high) + 1, step):
        shown_tick = f"{tick:+d}" if tick else "0"
        parts.append(f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="6" y2="{height - 26}"/>')
        parts.append(f'<text class="tick" x="{x(tick):.1f}" y="{height - 8}" text-anchor="middle">{shown_tick}</text>')
    for row, each in enumerate(found.standings):
        y = row * _ROW + 22
        rating = each.rating
        parts.append(_label(each.name, y))
        if not math.isinf(rating.low):
            parts.append(
                f'<line class="interval" x1="{x(rating.low):.1f}" x2="{x(rating.high):.1f}" y1="{y}" y2="{y}"/>'
            )
        parts.append(
            f'<circle class="mark" cx="{x(rating.value):.1f}" cy="{y}" r="6">'
            f"<title>{escape(each.name)}: {rating.value:+.0f} ({_range(rating, '{:+.0f}')})</title></circle>"
        )
    return "".join([*parts, "</svg>"])


def time_bars(found: Statistics) -> str:
    """Return a picture of the times of a move, from the median to the 99th percentile, on a logarithmic scale."""
    timed = [each for each in found.standings if each.decisions]
    if not timed:
        return ""
    low = math.floor(math.log10(max(0.001, min(each.p50_ms for each in timed))))
    high = max(low + 1, math.ceil(math.log10(max(0.001, *(each.p99_ms for each in timed)))))

    def x(ms: float) -> float:
        return _LABEL + (math.log10(max(0.001, ms)) - low) / (high - low) * (_WIDTH - _LABEL - 30)

    height = _ROW * len(timed) + 34
    parts = [_open(height, "Time of a move, from the median to the 99th percentile")]
    for power in range(low, high + 1):
        at = x(10.0**power)
        name = f"{10**power:g} ms" if power < 3 else f"{10 ** (power - 3):g} s"
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="6" y2="{height - 26}"/>')
        parts.append(f'<text class="tick" x="{at:.1f}" y="{height - 8}" text-anchor="middle">{name}</text>')
    for row, each in enumerate(timed):
        y = row * _ROW + 22
        parts.append(_label(each.name, y))
        parts.append(
            f'<line class="time" x1="{x(each.p50_ms):.1f}" x2="{x(each.p99_ms):.1f}" y1="{y}" y2="{y}">'
            f"<title>{escape(each.name)}: {_ms(each.p50_ms)}, 99 of 100 below {_ms(each.p99_ms)}</title></line>"
        )
        parts.append(f'<circle class="mark" cx="{x(each.p50_ms):.1f}" cy="{y}" r="5"/>')
    return "".join([*parts, "</svg>"])


def _open(height: int, words: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(words)}"><title>{escape(words)}</title>'
    )


def _label(name: str, y: int) -> str:
    shown = printable(name)
    shown = shown if len(shown) <= 24 else f"{shown[:23]}…"
    return f'<text class="name" x="{_LABEL - 14}" y="{y + 5}" text-anchor="end">{escape(shown)}</text>'
