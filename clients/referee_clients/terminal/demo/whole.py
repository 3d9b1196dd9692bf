"""``referee demo``: a referee, bots with their own keys, and a log that is checked without trust."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from rich.console import Console

from referee.log.replay import Record
from referee.text.render.registry import renderer
from referee_clients.children import ChildFailed, Children, read, stop_on_sigterm
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.organiser import Opened, organiser
from referee_clients.terminal.demo.game import play
from referee_clients.terminal.demo.screen import Screen, show_result
from referee_clients.terminal.demo.show import show


@dataclass(frozen=True, slots=True)
class Files:
    """What the demo leaves behind."""

    log: Path
    verifier: Path
    boards: tuple[Path, ...]


def run(console: Console, game: str, bots: Sequence[str], seed: int, out: Path) -> int:
    """Play a game and check its log. Return the exit code; what went wrong is printed."""
    try:
        return asyncio.run(_demo(console, game, bots, seed, out))
    except (ChildFailed, ClientError, OSError) as error:
        return _failed(console, str(error), 1)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return _failed(console, "stopped; nothing is left running", 130)


def _failed(console: Console, why: str, code: int) -> int:
    console.print(f"demo: {why}", style="red", highlight=False, markup=False, soft_wrap=True)
    return code


async def _demo(console: Console, game: str, bots: Sequence[str], seed: int, out: Path) -> int:
    began = time.monotonic()
    stop_on_sigterm()
    with TemporaryDirectory(prefix="tile-referee-") as folder:
        async with Children(Path(folder)) as children:
            ready = await children.start_referee()
            address = ready["address"]
            async with organiser(address, read(ready["organiser_token_file"])) as organising:
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
    referee = _command("referee")
    for line in (
        f"{referee} show {files.log} --moves",
        f"{referee} audit {files.log} --key {files.verifier} --json",
        f"{referee} arena --game {game}",
    ):
        console.print(f"  {line}", style="bold", highlight=False, markup=False, soft_wrap=True)
    return 0
