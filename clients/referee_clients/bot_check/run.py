"""The run of all checks of one game, from the first question to the end of the last process."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from referee_clients.bot_check import network_checks
from referee_clients.bot_check.apart import EndedEarly, told_by
from referee_clients.bot_check.catalogue import ASKED, CATALOGUE, PLAYED, Result, Status, of_row
from referee_clients.bot_check.offline_checks import OfflineChecks
from referee_clients.bot_check.subject import Subject
from referee_clients.bots.bot import BrokenBot, UnknownBot
from referee_clients.children import ChildFailed


@dataclass(frozen=True, slots=True)
class How:
    """The checks that are made, and their limits."""

    games: int = 10
    """Random games, as long as there is time for them."""
    p99_s: float = 1.0
    limit_s: float = 10.0
    """The seconds for one answer of a bot that is asked."""
    wanted: Collection[str] = (*ASKED, *PLAYED)


def checks_of(subject: Subject, rules_id: str, how: How) -> list[str]:
    """Return those that will be made, in the order of the catalogue."""
    there = {*_asked(subject, rules_id, how), *_played(subject, rules_id, how)}
    return [check for check in CATALOGUE if check in there]


def _asked(subject: Subject, rules_id: str, how: How) -> list[str]:
    there = OfflineChecks(subject, rules_id, how.games, how.p99_s, how.limit_s).ids()
    return [check for check in there if check in how.wanted]


def _played(subject: Subject, rules_id: str, how: How) -> list[str]:
    return [check for check in network_checks.ids(rules_id, is_client=subject.is_client) if check in how.wanted]


async def check(subject: Subject, rules_id: str, how: How) -> AsyncGenerator[Result, None]:
    """Check the bot in one game and yield each result when it is there.

    First it is asked, with nothing beside it that takes time; then it is played against, in many games at once. Each
    part has its own process. Raise ``ChildFailed``, and ``UnknownBot`` if a user's bot is not there or is broken.
    """
    asked, playing = _asked(subject, rules_id, how), _played(subject, rules_id, how)
    if asked or subject.is_own:  # this alone finds out that there is no such bot
        left = list(asked)
        try:
            async with aclosing(_apart(subject, rules_id, how, asked, is_played=False)) as results:
                async for result in results:
                    left.remove(result.check.id)
                    yield result
        except EndedEarly as ended:
            for ended_one in _unmade(rules_id, left, ended):
                yield ended_one
    if playing:
        try:
            async with aclosing(_apart(subject, rules_id, how, playing, is_played=True)) as results:
                async for result in results:
                    yield result
        except EndedEarly as ended:
            raise ChildFailed(f"the process that makes the checks {ended}") from None


def _unmade(rules_id: str, left: Sequence[str], ended: EndedEarly) -> list[Result]:
    """Return what comes of the checks in whose first one the bot ended the process."""
    told = f"the process that asked the bot {ended}; expected an answer"
    failed = [Result(CATALOGUE[check], rules_id, Status.FAILED, told) for check in left[:1]]
    why = "the bot ended the process that asked it, and is not asked again"
    return [*failed, *(Result(CATALOGUE[check], rules_id, Status.SKIPPED, why) for check in left[1:])]


async def _apart(
    subject: Subject, rules_id: str, how: How, wanted: Sequence[str], *, is_played: bool
) -> AsyncGenerator[Result, None]:
    what = {"bot": subject.name, "game": rules_id, "wanted": wanted, "is_played": is_played}
    what |= {"games": how.games, "p99_s": how.p99_s, "limit_s": how.limit_s}
    async with aclosing(told_by("referee_clients.bot_check.inner", [json.dumps(what)])) as answers:
        async for told in answers:
            yield _result(told)


def _result(told: dict[str, Any]) -> Result:
    match told:
        case {"unknown": why}:
            raise UnknownBot(why)
        case {"broken": why}:
            raise BrokenBot(why)
        case {"failed": why}:
            raise ChildFailed(why)
    return of_row(told)
