"""Makes some checks of one game, in a process apart: ``python -m referee_clients.bot_check.inner WHAT``, in JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from referee_clients.bot_check.apart import telling
from referee_clients.bot_check.catalogue import Result, as_row
from referee_clients.bot_check.network_checks import NetworkChecks
from referee_clients.bot_check.offline_checks import OfflineChecks
from referee_clients.bot_check.scene import Patience, Referee, Scene
from referee_clients.bot_check.subject import named, subject
from referee_clients.bots.bot import BrokenBot, UnknownBot
from referee_clients.children import ChildFailed, Children, stop_on_sigterm


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
