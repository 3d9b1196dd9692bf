"""``python -m clients.demo``: a referee, three bots with their own keys, and a log that is checked without trust."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from clients.bots import BOTS, UnknownBot, load
from clients.demo import game
from clients.demo.children import ChildFailed, Children
from clients.demo.screen import Screen, show_result
from clients.sdk.errors import ClientError
from clients.sdk.organiser import Opened, organiser
from referee.cli.output import accept_every_character
from referee.games.alhambra.options import MAX_SEATS, MIN_SEATS
from referee.render import alhambra as render


@dataclass(frozen=True, slots=True)
class Files:
    """What the demo leaves behind."""

    log: Path
    verifier: Path
    boards: tuple[Path, ...]


def demo(
    bots: Annotated[str, typer.Option(help="Who plays, by seat: names, or module:attribute of your own.")] = ",".join(
        BOTS
    ),
    seed: Annotated[
        int, typer.Option(min=0, help="Of what bots leave to chance. The deal is nobody's choice: it has no seed.")
    ] = 1,
    out: Annotated[Path, typer.Option(help="The folder for log, key and pictures.")] = Path("demo"),
) -> None:
    """Plays a game of Alhambra between bots over gRPC, then checks its log offline.

    Exit codes: 0 the log is COMPLETE; 1 something failed, and it is said what; 2 wrong words; 130 stopped by Ctrl-C.
    """
    console = Console()
    names = [name.strip() for name in bots.split(",")]
    sys.path.insert(0, str(Path.cwd()))
    try:
        for name in names:
            load(name)
    except UnknownBot as error:
        raise typer.Exit(_failed(console, str(error), 2)) from error
    if not MIN_SEATS <= len(names) <= MAX_SEATS:
        raise typer.Exit(_failed(console, f"{len(names)} bots: expected {MIN_SEATS} to {MAX_SEATS}", 2))
    try:
        code = asyncio.run(_demo(console, names, seed, out))
    except (ChildFailed, ClientError, OSError) as error:
        code = _failed(console, str(error), 1)
    except (KeyboardInterrupt, asyncio.CancelledError):
        code = _failed(console, "stopped; nothing is left running", 130)
    raise typer.Exit(code)


def _failed(console: Console, why: str, code: int) -> int:
    console.print(f"demo: {why}", style="red", highlight=False, markup=False, soft_wrap=True)
    return code


async def _demo(console: Console, bots: list[str], seed: int, out: Path) -> int:
    began = time.monotonic()
    _stop_on_sigterm()
    with TemporaryDirectory(prefix="tile-referee-") as folder:
        async with Children(Path(folder)) as children:
            address, token = await _start_referee(children, Path(folder))
            async with organiser(address, token) as organising:
                opened = await organising.open_game("alhambra", len(bots))
                console.print(f"Game {opened.game_id} at {address}.", highlight=False)
                console.print(f"{_listed(bots)} play, each in a process and with a key of its own.", highlight=False)
                with Screen(console, bots) as screen:
                    played = await game.play(children, opened, bots, seed, screen)
                files = _files(out, opened, len(bots))
                await organising.save_log(opened.game_id, files.log)
            _draw(files, opened, played)
            show_result(console, bots, played.state, played.rounds)
            took = f"{played.entries} signed entries in {time.monotonic() - began:.1f} s."
            console.print(f"{took} The audit, without the referee:", highlight=False)
            return await _audit(console, children, files, out)


def _listed(bots: list[str]) -> str:
    return f"{', '.join(bots[:-1])} and {bots[-1]}"


def _stop_on_sigterm() -> None:
    """As Ctrl-C does: the way out cleans up."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


async def _start_referee(children: Children, folder: Path) -> tuple[str, str]:
    """On a free port, with its games in the folder: its address and the organiser's token."""
    words = ["serve", "--data", str(folder / "referee"), "--listen", "127.0.0.1:0", "--log-level", "warning"]
    referee = await children.start("referee", words, speaks=True)
    address, token_file, _ = [(await referee.line()).rpartition(" ")[2] for _ in range(3)]
    return address, _read(token_file)


def _read(path: str) -> str:
    return Path(path).read_text(encoding="ascii").strip()


def _files(out: Path, opened: Opened, seats: int) -> Files:
    out.mkdir(parents=True, exist_ok=True)
    name = out / opened.game_id
    boards = tuple(out / f"{opened.game_id}-seat{seat}.svg" for seat in range(seats))
    return Files(name.with_suffix(".gamelog"), name.with_suffix(".vkey"), boards)


def _draw(files: Files, opened: Opened, played: game.Played) -> None:
    files.verifier.write_text(opened.verifier + "\n", encoding="utf-8")
    for seat, path in enumerate(files.boards):
        path.write_text(render.svg(played.state.layouts[seat]), encoding="utf-8")


def _command(name: str) -> str:
    """What one has to type: the name alone if that is found, else where it is."""
    path = Path(sys.executable).with_name(name)
    if which(name) == str(path):
        return name
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


async def _audit(console: Console, children: Children, files: Files, out: Path) -> int:
    """Runs the auditor as anybody would; it needs the file and the key, and no referee."""
    words = ["audit", str(files.log), "--key", str(files.verifier)]
    auditor = await children.start("auditor", words)
    code = await auditor.process.wait()
    console.print(auditor.output.read_text(encoding="utf-8").rstrip(), highlight=False, markup=False, soft_wrap=True)
    if code:
        return _failed(console, f"the auditor ended with exit code {code}", 1)
    console.print(f"\nIn {out}/: the log, the referee's verifier key, and every Alhambra as a picture.")
    console.print("Try next:")
    referee, python = _command("referee"), _command("python")
    for line in (
        f"{referee} show {files.log} --moves",
        f"{referee} audit {files.log} --key {files.verifier} --json",
        f"{python} -m clients.arena --bots planner,greedy",
    ):
        console.print(f"  {line}", style="bold", highlight=False, markup=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    accept_every_character()
    typer.run(demo)
