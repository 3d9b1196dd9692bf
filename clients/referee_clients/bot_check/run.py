"""The run of all checks of one game, from the first question to the end of the last process.

Each part has a process of its own: ``python -m referee_clients.bot_check.run PART``, in JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee_clients.bot_check.catalogue import ASKED, CATALOGUE, PLAYED, Result, Status, as_row, of_row
from referee_clients.bot_check.child import EndedEarly, telling, told_by
from referee_clients.bot_check.network_checks import NetworkChecks, ids
from referee_clients.bot_check.offline_checks import OfflineChecks
from referee_clients.bot_check.scene import Patience, Referee, Scene
from referee_clients.bot_check.subject import Subject, named, subject
from referee_clients.bots.bot import BrokenBot, UnknownBot
from referee_clients.children import ChildFailed, Children, stop_on_sigterm


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
    return [check for check in ids(rules_id, is_client=subject.is_client) if check in how.wanted]


async def check(subject: Subject, rules_id: str, how: How) -> AsyncGenerator[Result, None]:
    """Check the bot in one game and yield each result when it is there.

    First it is asked, with nothing beside it that takes time; then it is played against, in many games at once. Each
    part has its own process. Raise ``ChildFailed``, and ``UnknownBot`` if a user's bot is not there or is broken.
    """
    asked, playing = _asked(subject, rules_id, how), _played(subject, rules_id, how)
    if asked or subject.is_own:  # this alone finds out that there is no such bot
        left = list(asked)
        try:
            async with aclosing(_in_child(subject, rules_id, how, asked, is_played=False)) as results:
                async for result in results:
                    left.remove(result.check.id)
                    yield result
        except EndedEarly as ended:
            for ended_one in _unmade(rules_id, left, ended):
                yield ended_one
    if playing:
        try:
            async with aclosing(_in_child(subject, rules_id, how, playing, is_played=True)) as results:
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


async def _in_child(
    subject: Subject, rules_id: str, how: How, wanted: Sequence[str], *, is_played: bool
) -> AsyncGenerator[Result, None]:
    what = {"bot": subject.name, "game": rules_id, "wanted": wanted, "is_played": is_played}
    what |= {"games": how.games, "p99_s": how.p99_s, "limit_s": how.limit_s}
    async with aclosing(told_by("referee_clients.bot_check.run", [json.dumps(what)])) as answers:
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


# --- in its own process ---------------------------------------------------------------------------------------


def main(what: dict[str, Any]) -> None:
    """Tell each result as its row, or instead that there is no such bot, that it is broken, or what else failed."""
    with telling() as tell:

        def told(result: Result) -> None:
            tell(as_row(result))

        try:
            if what["is_played"]:
                asyncio.run(_play(what["bot"], what["game"], what["wanted"], told))
            else:
                _ask(what, told)
        except BrokenBot as error:
            tell({"broken": str(error)})
        except UnknownBot as error:
            tell({"unknown": str(error)})
        except ChildFailed as error:
            tell({"failed": str(error)})


def _ask(what: dict[str, Any], told: Callable[[Result], None]) -> None:
    asking = OfflineChecks(subject(what["bot"]), what["game"], what["games"], what["p99_s"], what["limit_s"])
    for result in asking.results(what["wanted"]):
        told(result)


async def _play(bot: str, rules_id: str, wanted: Collection[str], told: Callable[[Result], None]) -> None:
    stop_on_sigterm()
    played = named(bot)
    with tempfile.TemporaryDirectory(prefix="bot-check-") as made:
        folder = Path(made)
        async with Children(folder) as children, AsyncExitStack() as stack:
            names = ("one", "other") if {"draining", "restart"} & set(wanted) else ("one",)
            scenes = []
            for name in names:
                referee = await stack.enter_async_context(Referee(children, folder / f"referee-{name}").relayed())
                (folder / name).mkdir()
                scenes.append(await stack.enter_async_context(Scene(played, rules_id, referee, folder / name)))
            playing = NetworkChecks(rules_id, (scenes[0], scenes[-1]), Patience(), is_client=played.is_client)
            async for result in playing.results(wanted):
                told(result)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
