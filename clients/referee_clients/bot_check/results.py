"""What came of the checks, and how it is written: as JSON and as JUnit's XML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any
from xml.etree import ElementTree

from referee_clients.bot_check.catalogue import CATALOGUE, Check


class Wrong(Exception):
    """What the bot did, on one line."""


class Status(Enum):
    """How a check ended."""

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
    """What was found, on one line."""
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
