"""``python -m referee_clients.demo``: a referee, bots with their own keys, and a log that is checked without trust."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from referee.console import accept_every_character
from referee.games import registry
from referee.games.game import UnknownRules
from referee.log.replay import Record
from referee.notation.outcomes import counted
from referee.render.registry import renderer
from referee_clients.bots import UnknownBot, load, names
from referee_clients.demo.children import ChildFailed, Children
from referee_clients.demo.game import play
from referee_clients.demo.screen import Screen, show_result
from referee_clients.demo.show import show
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.organiser import Opened, organiser


@dataclass(frozen=True, slots=True)
class Files:
    """What the demo leaves behind."""

    log: Path
    verifier: Path
    boards: tuple[Path, ...]


def demo(
    game: Annotated[str, typer.Option(help=f"One of {', '.join(registry.names())}.")] = "alhambra",
    bots: Annotated[
        str | None,
        typer.Option(
            help="The bot of each seat, in order: names, or module:attribute for your own.",
            show_default="all bots of the game",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Seed for bots that choose at random. The deal has no seed: nobody can choose it."),
    ] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the log, the key and the pictures.")] = Path("demo"),
) -> None:
    """Play a game between bots over gRPC, then check its log offline.

    Exit codes: 0 the log is COMPLETE; 1 failed, with the reason in one line; 2 wrong usage; 130 stopped by Ctrl-C.
    """
    console = Console()
    sys.path.insert(0, str(Path.cwd()))
    try:
        players = names(game) if bots is None else [name.strip() for name in bots.split(",")]
        for name in players:
            load(name, game)
    except UnknownRules as error:
        raise typer.Exit(_failed(console, f"{error}: there are {', '.join(registry.names())}", 2)) from error
    except UnknownBot as error:
        raise typer.Exit(_failed(console, str(error), 2)) from error
    rules = registry.get(game)
    if not rules.min_seats <= len(players) <= rules.max_seats:
        expected = f"{rules.min_seats} to {rules.max_seats}"
        raise typer.Exit(_failed(console, f"{counted(len(players), 'bot')}: {game} is for {expected}", 2))
    try:
        code = asyncio.run(_demo(console, game, players, seed, out))
    except (ChildFailed, ClientError, OSError) as error:
        code = _failed(console, str(error), 1)
    except (KeyboardInterrupt, asyncio.CancelledError):
        code = _failed(console, "stopped; nothing is left running", 130)
    raise typer.Exit(code)


def _failed(console: Console, why: str, code: int) -> int:
    console.print(f"demo: {why}", style="red", highlight=False, markup=False, soft_wrap=True)
    return code


async def _demo(console: Console, game: str, bots: Sequence[str], seed: int, out: Path) -> int:
    began = time.monotonic()
    _stop_on_sigterm()
    with TemporaryDirectory(prefix="tile-referee-") as folder:
        async with Children(Path(folder)) as children:
            address, token = await _start_referee(children, Path(folder))
            async with organiser(address, token) as organising:
                opened = await organising.open_game(game, len(bots))
                console.print(f"Game {opened.game_id} at {address}.", highlight=False)
                console.print(f"Players, each in its own process with its own key: {', '.join(bots)}.", highlight=False)
                shown = show(game, bots)
                with Screen(console, shown, bots) as screen:
                    record = await play(children, opened, bots, seed, screen)
                files = _files(out, opened, len(bots))
                await organising.save_log(opened.game_id, files.log)
            _draw(files, opened, record)
            show_result(console, shown, bots, record)
            took = f"{record.size} signed entries in {time.monotonic() - began:.1f} s."
            console.print(f"{took} The audit, without the referee:", highlight=False)
            return await _audit(console, children, files, out, game)


def _stop_on_sigterm() -> None:
    """As Ctrl-C does: the way out cleans up."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


async def _start_referee(children: Children, folder: Path) -> tuple[str, str]:
    """On a free port, with its games in the folder: its address and the organiser's token."""
    words = ["serve", "--data", str(folder / "referee"), "--listen", "127.0.0.1:0", "--log-level", "warning", "--json"]
    referee = await children.start("referee", words, speaks=True)
    ready = json.loads(await referee.line())
    return ready["address"], _read(ready["organiser_token_file"])


def _read(path: str) -> str:
    return Path(path).read_text(encoding="ascii").strip()


def _files(out: Path, opened: Opened, seats: int) -> Files:
    out.mkdir(parents=True, exist_ok=True)
    name = out / opened.game_id
    boards = tuple(out / f"{opened.game_id}-seat{seat}.svg" for seat in range(seats))
    return Files(name.with_suffix(".gamelog"), name.with_suffix(".vkey"), boards)


def _draw(files: Files, opened: Opened, record: Record) -> None:
    files.verifier.write_text(opened.verifier + "\n", encoding="utf-8")
    for seat, path in enumerate(files.boards):
        picture = renderer(record.opened.rules_id).seat_svg(record.game.position.state, seat, f"Seat {seat} at the end")
        path.write_text(picture, encoding="utf-8")


def _command(name: str) -> str:
    """Return what has to be typed: the name alone if that is found, else where it is."""
    path = Path(sys.executable).with_name(name)
    if which(name) == str(path):
        return name
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


async def _audit(console: Console, children: Children, files: Files, out: Path, game: str) -> int:
    """Run the auditor as anybody would; it needs the file and the key, and no referee."""
    words = ["audit", str(files.log), "--key", str(files.verifier)]
    auditor = await children.start("auditor", words)
    code = await auditor.process.wait()
    console.print(auditor.output.read_text(encoding="utf-8").rstrip(), highlight=False, markup=False, soft_wrap=True)
    if code:
        return _failed(console, f"the auditor ended with exit code {code}", 1)
    console.print(f"\nIn {out}/: the log, the referee's verifier key, and every board as a picture.")
    console.print("Try next:")
    referee, python = _command("referee"), _command("python")
    for line in (
        f"{referee} show {files.log} --moves",
        f"{referee} audit {files.log} --key {files.verifier} --json",
        f"{python} -m referee_clients.arena --game {game}",
    ):
        console.print(f"  {line}", style="bold", highlight=False, markup=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    accept_every_character()
    typer.run(demo)
