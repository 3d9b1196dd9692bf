"""The one list of checks, each with its rule and the page that has it; and their results, as JSON and JUnit XML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True)
class Check:
    """One check. ``id`` is stable; ``page`` is a file of ``docs`` with its section."""

    id: str
    rule: str
    page: str


_ASKED: Final = (
    Check("starts", "It starts; a program says its name and that it plays the game.", "exec-bots.md#hello"),
    Check("random-games", "In every decision of a game it returns a legal move.", "bots.md#what-you-get"),
    Check("transcripts", "It does so with every option and number of seats.", "bots.md#what-you-get"),
    Check("one-move", "A list of one move is a decision as well.", "bots.md#what-you-get"),
    Check("give-tile", "With two seats a bought tile may go to the neutral player.", "bots.md#alhambra"),
    Check("rebuilding", "A tile of the reserve may change places with one that lies.", "bots.md#alhambra"),
    Check("forced-pass", "A seat that can do nothing is passed over: expect it in plans.", "bots.md#playing-on"),
    Check("castle", "With a fixed frame the castle is placed first.", "bots.md#kingdomino"),
    Check("discard-only", "A domino that fits nowhere is discarded: that is then the only move.", "bots.md#kingdomino"),
    Check("coins-only", "Where nothing can be built, coins are the only move.", "bots.md#alhambra-roll--write"),
    Check("keep-pair", "After rolling, one pair of dice is kept.", "bots.md#alhambra-roll--write"),
    Check("build-second", "For three coins a second building may be built.", "bots.md#alhambra-roll--write"),
    Check("many-moves", "The list may be as long as it ever gets in this game.", "bots.md#what-you-get"),
    Check("full-list", "The list may have 5,000 moves, as many as a referee sends.", "bots.md#what-you-get"),
    Check("time", "Of 100 moves 99 take no longer than --p99, and none longer than --move-limit.", "bot-check.md#time"),
    Check("two-games", "Games that are played at one time do not touch each other.", "bots.md#many-games"),
    Check("unknown-lines", "A program ignores lines and members that it does not know.", "exec-bots.md#the-lines"),
    Check("exits", "A program exits within 2 s of the end of its input.", "exec-bots.md#the-lines"),
)  # fmt: skip
"""The checks that need no referee."""

_PLAYED: Final = (
    Check("joins", "It takes its seat and opens its share of the deck.", "bots.md#on-the-network"),
    Check("plays", "It plays a game to its end, no move is refused, and the exit code is 0.", "bots.md#on-the-network"),
    Check("clock", "It does not lose on time with 60 s and 2 s a move.", "bots.md#on-the-network"),
    Check("stale-head", "STALE_HEAD means that another act came first: another turn comes.", "bots.md#errors"),
    Check("cuts", "After a break it continues, whether or not its act arrived.", "bots.md#after-a-break"),
    Check("closings", "Only closing with GAME_OVER ends the game.", "bots.md#after-a-break"),
    Check("draining", "A referee that stops says DRAINING: connect again.", "bots.md#after-a-break"),
    Check("restart", "A referee that died comes back: connect again.", "bots.md#after-a-break"),
    Check("resumes", "Started again, it continues its game under the same key.", "bots.md#keys-crashes-and-hanging"),
    Check("refused", "After a refused move it continues, or says so and fails.", "bots.md#errors"),
    Check("garbage", "A message that cannot be read may be damage: connect again.", "bots.md#damage-and-distrust"),
    Check("unknown-fields", "Fields that it does not know are ignored.", "bots.md#versions-of-the-api"),
    Check("silence", "A stream that is silent for 30 s is dead: connect again.", "bots.md#after-a-break"),
    Check("paces", "Between attempts it waits, twice as long each time up to 5 s.", "bots.md#after-a-break"),
    Check("same-bytes", "For one head it signs one act, and sends the same bytes again.", "bots.md#on-the-network"),
    Check("secrets", "Neither token nor key is in anything that it writes.", "security.md"),
)  # fmt: skip
"""The checks that need a referee of their own."""

CATALOGUE: Final = {check.id: check for check in (*_ASKED, *_PLAYED)}
ASKED: Final = tuple(check.id for check in _ASKED)
PLAYED: Final = tuple(check.id for check in _PLAYED)


# --- results --------------------------------------------------------------------------------------------------------


class Wrong(Exception):
    """The bot's fault, on one line."""


class Status(Enum):
    """The ways in which a check can end."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Result:
    """One check of one game."""

    check: Check
    game: str
    status: Status
    told: str = ""
    """The finding, on one line."""
    seconds: float = 0.0


def has_failed(results: Sequence[Result]) -> bool:
    """Return whether any check failed."""
    return any(result.status is Status.FAILED for result in results)


def as_row(result: Result) -> dict[str, Any]:
    """Return it as a JSON object."""
    return {
        "game": result.game,
        "id": result.check.id,
        "status": result.status.value,
        "rule": result.check.rule,
        "page": result.check.page,
        "told": result.told,
        "seconds": round(result.seconds, 3),
    }


def of_row(row: Mapping[str, Any]) -> Result:
    """Return what ``as_row`` was given."""
    return Result(CATALOGUE[row["id"]], row["game"], Status(row["status"]), row["told"], row["seconds"])


def as_json(bot: str, results: Sequence[Result]) -> str:
    """Return one document."""
    checks = [as_row(result) for result in results]
    return json.dumps({"bot": bot, "passed": not has_failed(results), "checks": checks}, indent=2)


def as_junit(bot: str, results: Sequence[Result]) -> str:
    """Return what continuous integration reads: a suite for each game."""
    suites = ElementTree.Element("testsuites", name=_xml(f"referee bot-check {bot}"))
    for game in dict.fromkeys(result.game for result in results):
        of_game = [result for result in results if result.game == game]
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name=game,
            tests=str(len(of_game)),
            failures=str(sum(result.status is Status.FAILED for result in of_game)),
            skipped=str(sum(result.status is Status.SKIPPED for result in of_game)),
        )
        for result in of_game:
            case = ElementTree.SubElement(
                suite, "testcase", classname=game, name=result.check.id, time=f"{result.seconds:.3f}"
            )
            told = f"{result.told}. Rule: {result.check.rule} See docs/{result.check.page}"
            if result.status is Status.FAILED:
                ElementTree.SubElement(case, "failure", message=_xml(told))
            elif result.status is Status.SKIPPED:
                ElementTree.SubElement(case, "skipped", message=_xml(result.told))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """Return the text without the characters that XML cannot have, which a bot may have written."""
    return re.sub("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
