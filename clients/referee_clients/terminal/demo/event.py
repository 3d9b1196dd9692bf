"""``python -m referee_clients.terminal.demo.event``: a tournament of bots at a referee, and its check without trust."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import cyclopts
from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console

from referee.console import accept_every_character
from referee.games import registry
from referee_clients.children import ChildFailed, Children, stop_on_sigterm

NAME = "event"


def demo(
    *,
    game: Annotated[str, Parameter(help=f"One of {', '.join(registry.names())}.")] = "kingdomino",
    bots: Annotated[str, Parameter(help="Names of bots, which the entrants have in turn.")] = "greedy,random",
    players: Annotated[int, Parameter(help="How many enter.", validator=Number(gte=2))] = 16,
    rounds: Annotated[int, Parameter(help="How many rounds are played.", validator=Number(gte=1, lte=20))] = 5,
    seed: Annotated[int, Parameter(help="Seed for bots that choose at random.", validator=Number(gte=0))] = 1,
    out: Annotated[Path, Parameter(help="Folder for the event, its keys and the logs of its games.")] = Path("demo"),
) -> None:
    """Play a tournament of bots over gRPC, then check event and games offline.

    Exit codes: 0 everything is COMPLETE; 1 failed, with the reason in one line; 130 stopped by Ctrl-C.
    """
    console = Console()
    try:
        asyncio.run(_demo(console, game, bots, players, rounds, seed, out))
    except (ChildFailed, OSError) as error:
        raise SystemExit(_failed(console, str(error), 1)) from error
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise SystemExit(_failed(console, "stopped; nothing is left running", 130)) from None


def _failed(console: Console, why: str, code: int) -> int:
    console.print(f"demo: {why}", style="red", highlight=False, markup=False, soft_wrap=True)
    return code


async def _demo(  # noqa: PLR0917 - as they stand in the command
    console: Console, game: str, bots: str, players: int, rounds: int, seed: int, out: Path
) -> None:
    began = time.monotonic()
    stop_on_sigterm()
    folder = _new_folder(out)
    file, key = folder / f"{NAME}.eventlog", folder / f"{NAME}.vkey"
    with TemporaryDirectory(prefix="tile-referee-") as temporary:
        async with Children(Path(temporary)) as children:
            ready = await children.start_referee()
            token = ("--token-file", ready["organiser_token_file"])
            console.print(f"A referee at {ready['address']} keeps the event; {players} bots enter it.", highlight=False)
            new = ["event", "new", str(file), "--rules", game, "--rounds", str(rounds), "--server", ready["address"]]
            await _run(console, children, [*new, *token], quiet=True)
            run = ["event", "run", str(file), "--bots", bots, "--players", str(players), "--seed", str(seed)]
            await _run(console, children, [*run, *token])
    # The referee is gone; the rest needs files alone.
    with TemporaryDirectory(prefix="tile-referee-") as temporary:
        async with Children(Path(temporary)) as children:
            games = folder / f"{NAME}.games"
            console.print(f"\nPlayed in {time.monotonic() - began:.0f} s. The audit of every game:", highlight=False)
            await _run(console, children, ["audit", str(games), "--key", str(key)])
            console.print("The check of the event, with its games:")
            check = ["event", "check", str(file), "--key", str(key), "--games", str(games), "--games-key", str(key)]
            await _run(console, children, check)
    console.print(f"In {folder}/: the event, its verifier key, the logs of its games. Try next:")
    for line in (
        f"referee event standings {file}",
        f"referee event show {file}",
        f"referee event export {file} --html {folder / 'pages'}",
    ):
        console.print(f"  {line}", style="bold", highlight=False, markup=False, soft_wrap=True)


def _new_folder(out: Path) -> Path:
    """Return a folder that was not there: an event is never replaced."""
    number = 1
    while (folder := out / f"event-{number}").exists():
        number += 1
    folder.mkdir(parents=True)
    return folder


async def _run(console: Console, children: Children, words: Sequence[str], *, quiet: bool = False) -> None:
    """Run a command, and show what it prints while it does. Raise ``ChildFailed``."""
    child = await children.start(" ".join(words[:2]), words, speaks=True)
    assert child.process.stdout is not None  # noqa: S101 - it speaks
    async for line in child.process.stdout:
        if not quiet:
            console.print(f"  {line.decode().rstrip()}", highlight=False, markup=False, soft_wrap=True)
    if await child.process.wait():
        raise child.failure()


if __name__ == "__main__":
    accept_every_character()
    cyclopts.run(demo)
