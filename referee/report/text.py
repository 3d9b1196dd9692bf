"""Score sheets and reports as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from referee.games.game import Rule
from referee.notation.outcomes import counted
from referee.report.model import Facts, Report, Wrong
from referee.report.sheet import Sheet, upper

_WIDTH = 100


def text(report: Report) -> str:
    """Return the whole report, but for the pictures."""
    lines = [*_summary(report), *_headed("What happened")]
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


def listing(name: str, wrong: Sequence[Wrong]) -> str:
    """Return what is wrong with a record, alone."""
    count = sum(each.where.startswith("line ") for each in wrong)
    head = counted(count, "illegal line") if count or not wrong else "a wrong result"
    return _joined([f"{name}: {head if wrong else 'nothing illegal'}", *_wrong_lines(wrong)])


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
    return [*_headed("Evidence in the log"), *_facts(report.hashes)] if report.hashes else []


def _to_sign(report: Report) -> list[str]:
    if not report.signatures:
        return []
    width = max(map(len, report.signatures))
    lines = [line for name in report.signatures for line in ("", f"{upper(name):{width}}  {'_' * 40}")]
    return [*_headed("Signatures"), *lines]


def _summary(report: Report) -> list[str]:
    lines = [report.title, "=" * len(report.title), "", f"{report.headline}.", *report.verdict, ""]
    for each in report.result:
        points = "" if each.points is None else f": {counted(each.points, 'point')}"
        lines.append(f"{each.place}. {report.name_of(each.player)}{points}")
    lines += [""] if report.result else []
    lines += [*_facts(report.about), ""]
    for seat in report.seats:
        lines += [upper(str(seat)), *(f"  {line}" for line in _facts(seat.facts))]
    if report.wrong:
        lines += _headed("Illegal moves")
        lines += _wrong_lines(report.wrong)
    lines += _headed("Score sheet")
    if report.sheet is None:
        lines.append(report.no_sheet)
    else:
        names = {player.name: report.name_of(player.name) for player in report.sheet.players}
        lines += sheet_lines(report.sheet, report.rules, names, places=False)
    return lines


def sheet_lines(
    sheet: Sheet, rules: Iterable[Rule], names: dict[str, str] | None = None, *, places: bool = True
) -> Iterator[str]:
    """Yield a score sheet. ``names``: of the players, where they are not their seats alone."""
    yield from (line for remark in sheet.remarks for line in _wrapped(remark))
    items = [item for player in sheet.players for item in player.items]
    widest = max((len(item.what) for item in items), default=0)
    how = max((len(item.how) for item in items), default=0)
    for player in sheet.players:
        yield ""
        name = upper((names or {}).get(player.name, player.name))
        place = f", place {player.place}" if places and player.place else ""
        yield f"{name}: {counted(player.total, 'point')}{place}"
        for group, own in player.groups():
            yield f"  {group}"
            for item in own:
                yield f"    {item.what:{widest}}  {item.how:{how}}  {item.points:>4}  {', '.join(item.rules)}"
        yield f"    {'total':{widest}}  {'':{how}}  {player.total:>4}"
    for tie in sheet.ties:
        yield ""
        yield from _wrapped(f"{tie.words} ({', '.join(tie.rules)})")
    yield ""
    for rule in rules:
        yield from _wrapped(f"{rule.id}: {rule.text}")


def _headed(words: str) -> list[str]:
    return ["", words, "-" * len(words)]


def _facts(facts: Facts) -> list[str]:
    width = max((len(name) for name, _ in facts), default=0)
    return [f"{name:{width}}  {value}" for name, value in facts]


def _wrapped(words: str, indent: int = 0) -> list[str]:
    blanks = " " * indent
    return wrap(words, _WIDTH, initial_indent=blanks, subsequent_indent=f"{blanks}    ", break_on_hyphens=False) or [""]
