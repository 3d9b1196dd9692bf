"""``python -m referee_clients.terminal.demo.web``: a referee with its pages, bots that play, a browser that watches."""

from __future__ import annotations

import asyncio
import os
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import cyclopts
from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console

from referee.console import accept_every_character
from referee.games import registry, table_rules
from referee.log.v1 import log_pb2
from referee_clients.children import Child, ChildFailed, Children, read, stop_on_sigterm
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.organiser import organiser
from referee_clients.terminal.demo.game import players_of, start_bots

_CLOCK = log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=600_000, increment_ms=5000))


@dataclass(frozen=True, slots=True)
class _Show:
    """The games to be played."""

    game: str
    bots: Sequence[str]
    games: int
    pace: str
    seed: int


def demo(
    *,
    game: Annotated[str, Parameter(help=f"One of {', '.join(registry.names())}.")] = "alhambra",
    bots: Annotated[
        str | None,
        Parameter(
            help="The bot of each seat, in order: names, or module:attribute for your own.",
            show_default="all bots of the game but sampler",
        ),
    ] = None,
    games: Annotated[
        int, Parameter(help="Games at one time; the wall shows more than one.", validator=Number(gte=1, lte=12))
    ] = 1,
    pace: Annotated[str, Parameter(help="How long bots wait before each move.")] = "1s",
    web: Annotated[
        str, Parameter(metavar="HOST:PORT", help="Where the pages are; port 0 picks a free port.")
    ] = "127.0.0.1:0",
    seed: Annotated[int, Parameter(help="Seed for bots that choose at random.", validator=Number(gte=0))] = 1,
    browser: Annotated[bool, Parameter(help="Open a browser, where there is a display.")] = True,
) -> None:
    """Let bots play so slowly that people can watch in a browser, until Ctrl-C. Nothing is kept.

    Exit codes: 0 stopped by Ctrl-C; 1 failed, with the reason in one line; 2 wrong usage.
    """
    console = Console()
    try:
        players = players_of(game, bots)
    except ValueError as error:
        raise SystemExit(_failed(console, str(error), 2)) from error
    try:
        asyncio.run(_demo(console, _Show(game, players, games, pace, seed), web, browser=browser))
    except (ChildFailed, ClientError, OSError) as error:
        raise SystemExit(_failed(console, str(error), 1)) from error
    except (KeyboardInterrupt, asyncio.CancelledError):
        console.print("Stopped; nothing is left running.")


def _failed(console: Console, why: str, code: int) -> int:
    console.print(f"demo: {why}", style="red", highlight=False, markup=False, soft_wrap=True)
    return code


async def _demo(console: Console, show: _Show, web: str, *, browser: bool) -> None:
    stop_on_sigterm()
    with TemporaryDirectory(prefix="tile-referee-") as folder:
        async with Children(Path(folder)) as children:
            ready = await children.start_referee("--web", web)
            opened, playing = [], list[Child]()
            terms = log_pb2.Terms(table_rules=table_rules.VERSION, clock=_CLOCK)
            async with organiser(ready["address"], read(ready["organiser_token_file"])) as organising:
                for number in range(show.games):
                    opened.append(await organising.open_game(show.game, len(show.bots), terms=terms))
                    words = ("--pace", show.pace, "--no-keep")
                    playing += await start_bots(
                        children, opened[-1], show.bots, show.seed + number * len(show.bots), *words
                    )
            ids = [each.game_id for each in opened]
            address = ready["web"] + (f"g/{ids[0]}" if show.games == 1 else f"wall?g={','.join(ids)}")
            console.print(f"Watch: {address}", highlight=False, soft_wrap=True)
            console.print("Ctrl-C ends it.")
            if browser and _has_display():
                await asyncio.to_thread(webbrowser.open, address)
            failure = asyncio.create_task(children.first_failure())
            over = asyncio.gather(*(player.process.wait() for player in playing))
            await asyncio.wait((failure, over), return_when=asyncio.FIRST_COMPLETED)
            if not failure.done():
                console.print("Over. The pages stay until Ctrl-C.")
            raise await failure


def _has_display() -> bool:
    """Return whether a browser has a window to open; a text browser would take the terminal."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


if __name__ == "__main__":
    accept_every_character()
    cyclopts.run(demo)
