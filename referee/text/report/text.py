"""Score sheets and reports as plain text, and a report as a page: one file of HTML, nothing fetched.

The page has no scripts. Everything on it is escaped; only the pictures, the referee's own, escape their words
themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from referee.games.game import Rule
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.violations import original, rule_text
from referee.text.report.model import Facts, Report, Wrong
from referee.text.report.sheet import Sheet, upper
from referee.text.words.catalogue import Words

if TYPE_CHECKING:
    from jinja2 import Environment


_WIDTH = 100


def text(report: Report) -> str:
    """Return the whole report, but for the pictures."""
    lines = [*_summary(report), *_headed(report.say("head.happened"))]
    width = max((len(str(row.number or "")) for row in report.rows), default=0)
    for row in report.rows:
        number = "-" if row.number is None else str(row.number)
        time = f"{row.time:19}  " if report.has_times else ""
        mark = f"  [{row.mark}]" if row.mark else ""
        lines.append(f"{number:>{width}}  {time}{row.words}{mark}")
    return _joined([*lines, *_holding(report), *_to_sign(report)])


def summary(report: Report) -> str:
    """Return the same without what happened."""
    return _joined([*_summary(report), *_holding(report)])


def listing(name: str, lines: Sequence[Wrong], result: Wrong | None, say: Words = IN_ENGLISH) -> str:
    """Return what is wrong with a record, alone: its lines, or the result that it states."""
    head = say("listing.none" if result is None else "listing.result")
    if lines:
        head = say("listing.lines", n=len(lines))
    wrong = [*lines, *([result] if result else [])]
    return _joined([*_draft(say), f"{name}: {head}", *_wrong_lines(wrong)])


def _draft(say: Words) -> list[str]:
    """Return the words with which an unread translation says that it is a draft."""
    return _wrapped(say("draft")) if say.is_draft else []


def _wrong_lines(wrong: Sequence[Wrong]) -> list[str]:
    lines = []
    for each in wrong:
        lines += _wrapped(f"{each.where}: {each.words}")
        lines += [line for why in each.broken for line in _wrapped(why, 4)]
        lines += _wrapped(f"-> {each.outcome}", 4)
    return lines


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _holding(report: Report) -> list[str]:
    return [*_headed(report.say("head.evidence")), *_facts(report.hashes)] if report.hashes else []


def _to_sign(report: Report) -> list[str]:
    if not report.signatures:
        return []
    width = max(map(len, report.signatures))
    lines = [line for name in report.signatures for line in ("", f"{upper(name):{width}}  {'_' * 40}")]
    return [*_headed(report.say("head.signatures")), *lines]


def _summary(report: Report) -> list[str]:
    say = report.say
    lines = [report.title, "=" * len(report.title), *_draft(say), "", f"{report.headline}.", *report.verdict, ""]
    if report.result:
        lines += [*_standings(report), ""]
    lines += [*_facts(report.about), ""]
    for seat in report.seats:
        lines += [seat.titled(say), *(f"  {line}" for line in _facts(seat.facts))]
    if report.wrong:
        lines += _headed(say("head.illegal"))
        lines += _wrong_lines(report.wrong)
    lines += _headed(say("head.sheet"))
    if report.sheet is None:
        lines.append(report.no_sheet)
    else:
        lines += sheet_lines(report.sheet, report.rules, places=False, say=say)
    return lines


def _standings(report: Report) -> Iterator[str]:
    """Yield places, players and points in columns: a place beside a number that is a player's would be read wrongly."""
    say, has_points = report.say, any(each.points is not None for each in report.result)
    rows = [(say("slip.place"), say("slip.player"), say("slip.points") if has_points else "")]
    rows += [(str(each.place), each.player, "" if each.points is None else str(each.points)) for each in report.result]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    yield from (f"{place:{first}}  {player:{second}}  {points}".rstrip() for place, player, points in rows)


def sheet_lines(
    sheet: Sheet,
    rules: Iterable[Rule],
    *,
    places: bool = True,
    say: Words = IN_ENGLISH,
) -> Iterator[str]:
    """Yield a score sheet."""
    yield from (line for remark in sheet.remarks for line in _wrapped(remark))
    items = [item for player in sheet.players for item in player.items]
    total = say("total")
    widest = max((len(item.what) for item in items), default=0)
    how = max((len(item.how) for item in items), default=0)
    for player in sheet.players:
        yield ""
        name = upper(player.name)
        place = f", {say('place', n=player.place)}" if places and player.place else ""
        yield f"{name}: {say('points', n=player.total)}{place}"
        for group, own in player.groups():
            yield f"  {group}"
            for item in own:
                yield f"    {item.what:{widest}}  {item.how:{how}}  {item.points:>4}  {', '.join(item.rules)}"
        yield f"    {total:{widest}}  {'':{how}}  {player.total:>4}"
    for tie in sheet.ties:
        yield ""
        yield from _wrapped(f"{tie.words} ({', '.join(tie.rules)})")
    yield ""
    for rule in rules:
        yield from _wrapped(f"{rule.id}: {rule_text(rule, say)} {original(rule, say)}".rstrip())


def _headed(words: str) -> list[str]:
    return ["", words, "-" * len(words)]


def _facts(facts: Facts) -> list[str]:
    width = max((len(name) for name, _ in facts), default=0)
    return [f"{name:{width}}  {value}" for name, value in facts]


def _wrapped(words: str, indent: int = 0) -> list[str]:
    blanks = " " * indent
    return wrap(words, _WIDTH, initial_indent=blanks, subsequent_indent=f"{blanks}    ", break_on_hyphens=False) or [""]


def html(report: Report) -> str:
    """Return the whole document."""
    return _environment().get_template("report.html.j2").render(report=report, say=report.say)


@cache
def _environment() -> Environment:
    # Only who wants pages installs this.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["upper_first"] = upper
    environment.globals |= {"original": original, "rule_text": rule_text}
    return environment
