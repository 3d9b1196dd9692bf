"""A tool's statement of a game's result, read from its real output: one place to change when wording changes."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee.games.game import Ending
from referee.games.results import Result

_WINS: Final = re.compile(r"\bplayer (\d+) (?:wins|has won)\b", re.IGNORECASE)
_SHARE: Final = re.compile(r"\b((?:player \d+, )*player \d+ and player \d+) (?:share|shared)\b", re.IGNORECASE)
_NOBODY: Final = re.compile(
    r"\bno result\b|\bwithout a result\b|\bnobody (?:wins|is first|has won)\b|\bno (?:player|one) wins\b", re.IGNORECASE
)
_PLACES: Final = re.compile(r"\bplayer (\d+):(?: -?\d+ points?,)? place (\d+)")
_SHEET: Final = re.compile(r"^Player (\d+): -?\d+ points?, place (\d+)$", re.MULTILINE)
_RANKS: Final = re.compile(r"(?:^|[:;])\s*(?:place )?(\d+):?\s+player (\d+)\b", re.MULTILINE | re.IGNORECASE)
_OF_AUDIT: Final = re.compile(r"^ending: [a-z ]+(?:, scores \[[^]]*\])?(?:, places \[([\d, ]*)\])?$", re.MULTILINE)
_WAITS: Final = re.compile(r"\bwaits?\b|\bif nobody acts\b|\bnot final\b|\buntil\b|\bunless\b|\bonce\b", re.IGNORECASE)
_TELLS: Final = re.compile(
    r"^(?:.*\bend \(|ending\b|.*come to its end|\[Result |The game ended|The game is over).*$", re.MULTILINE
)
_WORDS: Final[dict[Ending, str]] = {
    Ending.STALLED: r"stall|limit|h(?:eld|old|olding)\s[^.;,]*\bup\b",
    Ending.RESIGNED: r"resign",
    Ending.FLAG: r"flag|time (?:has |had )?r[ua]n out|out of time",
    Ending.DISCONNECTED: r"disconnect|absent|not (?:there|connected)|away",
    Ending.CRASHED: r"crash|program",
    Ending.ILLEGAL_MOVES: r"illegal.moves|strikes",
    Ending.ADJUDICATED: r"adjudicat|arbiter",
    Ending.VOIDED: r"void|does not count|arbiter",
    Ending.ABORTED: r"abort|organiser|broken off",
    Ending.REFEREE_FAULT: r"fault|referee could not continue",
}
"""How the reason is recognised; an end by the rules needs none."""


@dataclass(frozen=True)
class Said:
    """The statement as read."""

    winners: tuple[int, ...] | None
    """Empty: that there is no result, or no winner; None: nothing was said."""
    lines: str = ""
    """Where it is said."""
    places: tuple[int, ...] | None = None
    """By seat, where the tool gives them."""

    def wrong(self, result: Result, *, is_held: bool) -> str:
        """How that differs from what is true; empty if it does not. ``is_held``: and not entered."""
        if self.winners is None:
            return "says nothing of the result"
        if self.winners != result.winners:
            return f"says that {list(self.winners)} won, and {list(result.winners)} did"
        if self.places is not None and self.places != result.places:
            return f"says places {list(self.places)}, and they are {list(result.places)}"
        word = _WORDS.get(result.ending)
        if word is not None and not re.search(word, self.lines, re.IGNORECASE):
            return f"does not say how it ended, {result.ending.words}: {self.lines!r}"
        if is_held and not _WAITS.search(self.lines):
            return f"does not say that the result is not entered yet: {self.lines!r}"
        return ""


def in_text(text: str) -> Said:
    """Read a text for people: its sentence, or else the places in their usual form."""
    for pattern in (_WINS, _SHARE, _NOBODY):
        if found := list(pattern.finditer(text)):
            lines = "\n".join(_line(text, match) for match in (*found, *_TELLS.finditer(text)))
            if _is_contradicted(found):
                return Said(None, lines)
            seats = (
                tuple(int(number) - 1 for number in re.findall(r"\d+", found[0][1])) if pattern is not _NOBODY else ()
            )
            return Said(seats, lines)
    told = "\n".join(_line(text, match) for match in _TELLS.finditer(text))
    if (of_audit := _OF_AUDIT.search(text)) is not None:
        return of_places([int(place) for place in re.findall(r"\d+", of_audit[1] or "")], told)
    ranks = [(int(seat), int(place)) for place, seat in _RANKS.findall(text)]
    pairs = [(int(seat), int(place)) for seat, place in (_SHEET.findall(text) or _PLACES.findall(told))] or ranks
    return of_places([place for _, place in sorted(pairs)], told) if pairs else Said(None, told)


def _is_contradicted(found: Sequence[re.Match[str]]) -> bool:
    """Said more than once, and not the same."""
    return len({match[0].lower() for match in found}) > 1


def _line(text: str, match: re.Match[str]) -> str:
    """Return the whole of it, and the next, where a note may stand."""
    begin = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    after = text.find("\n", end + 1) if end >= 0 else -1
    return text[begin : after if after >= 0 else len(text)]


def in_page(page: str) -> Said:
    """Read the text of HTML."""
    body = re.sub(r"<style.*?</style>|<svg.*?</svg>", "", page, flags=re.DOTALL)
    body = re.sub(r"</(?:p|li|tr|h\d|div|dd|pre|section|ol|ul|table)>|<br>", "\n", body)
    text = html.unescape(re.sub(r"<[^>]*>", " ", body))
    return in_text("\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip()))


def in_header(text: str) -> Said:
    """Read the headers of notation. Points alone name the winner where no other seat has as many."""
    headers = "\n".join(line for line in text.partition("\n\n")[0].splitlines() if line.startswith(("[", ";")))
    said, found = in_text(headers), re.search(r'^\[Result "([^"]*)"\]$', headers, re.MULTILINE)
    if said.winners is not None or found is None:
        return said
    if re.fullmatch(r"-?\d+( -?\d+)*", found[1]):
        points = [int(each) for each in found[1].split()]
        return Said(tuple(seat for seat, each in enumerate(points) if each == max(points)), found[0])
    return Said((), found[0]) if found[1] in ("aborted", "voided", "referee fault") else said


def in_json(text: str) -> Said:
    """Read the report of an audit."""
    found: dict[str, Any] = json.loads(text)
    told = found.get("result") if isinstance(found.get("result"), dict) else found
    assert told is not None
    lines = json.dumps(
        {name: value for name, value in told.items() if name != "layers"} | {"verdict": found["verdict"]}
    )
    return of_places(told["places"], lines) if told.get("ending") else Said(None, lines)


def of_places(places: Iterable[int], lines: str) -> Said:
    found = tuple(places)
    return Said(tuple(seat for seat, place in enumerate(found) if place == 1), lines, found)
