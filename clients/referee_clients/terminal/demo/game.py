"""The demo's game: bots in processes, a spectator who checks everything, and the audit of its log. Knows no rules."""

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

from referee.games import registry
from referee.games.game import UnknownRules
from referee.log.events import Moved
from referee.log.judge import Happened
from referee.log.note import VerifierKey
from referee.log.replay import Record
from referee.telling.words import entry_words
from referee.text.notation.outcomes import counted
from referee.text.notation.registry import notation
from referee.text.render.drawing import renderer
from referee.v1.game_service_pb2 import WatchGameResponse
from referee_clients.bots import load, names
from referee_clients.children import Child, ChildFailed, Children, read, stop_on_sigterm
from referee_clients.join import format_join
from referee_clients.sdk.connection import Connection
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.organiser import Opened, organiser
from referee_clients.terminal.demo.screen import Screen, show, show_result


def players_of(game: str, bots: str | None) -> list[str]:
    """Return the bot of each seat. Raise ``ValueError``.

    ``bots``: as typed; None: all of the game's but ``sampler``.
    """
    sys.path.insert(0, str(Path.cwd()))
    try:
        rules = registry.get(game)
    except UnknownRules as error:
        raise ValueError(f"{error}: there are {', '.join(registry.names())}") from error
    players = names(game, slow=False) if bots is None else [name.strip() for name in bots.split(",")]
    for name in players:
        load(name, game)
    if not rules.min_seats <= len(players) <= rules.max_seats:
        expected = f"{rules.min_seats} to {rules.max_seats}"
        raise ValueError(f"{counted(len(players), 'bot')}: {game} is for {expected}")
    return list(players)


async def start_bots(children: Children, opened: Opened, bots: Sequence[str], seed: int, *words: str) -> list[Child]:
    """Start a process for each seat."""
    players: list[Child] = []
    for join, bot in zip(opened.joins, bots, strict=True):
        how = ["bot", bot, "--join", "-", "--seed", str(seed + join.seat), "--verifier", opened.verifier, *words]
        line = format_join(join.address, join.game_id, join.seat, join.token)
        players.append(await children.start(f"{bot}, player {join.seat + 1}", how, stdin=line + "\n"))
    return players


async def play(children: Children, opened: Opened, bots: Sequence[str], seed: int, screen: Screen) -> Record:
    """Start the bots, watch until the end and see them out. Raise ``ChildFailed`` and ``ClientError``."""
    players = await start_bots(children, opened, bots, seed)
    game = asyncio.create_task(_watch(opened, screen))
    failure = asyncio.create_task(children.first_failure())
    try:
        await asyncio.wait((game, failure), return_when=asyncio.FIRST_COMPLETED)
        if not game.done():
            raise failure.result()
        for player in players:
            if await player.process.wait():
                raise player.failure()
        return game.result()
    finally:
        for task in (game, failure):
            task.cancel()
        await asyncio.gather(game, failure, return_exceptions=True)


async def _watch(opened: Opened, screen: Screen) -> Record:
    """Follow the game without a token: as everybody can, and checking what everybody can check."""
    ledger = Ledger(opened.game_id, VerifierKey.parse(opened.verifier))

    async def show(message: WatchGameResponse) -> None:
        if not message.HasField("commit"):
            return
        # An act comes first in its commit; its direct consequences are drawn and dealt.
        if ledger.happened and isinstance(ledger.happened[0].event, Moved):
            screen.moved(_words(ledger.record, ledger.happened[0]))
        screen.show(ledger.record)

    async with Connection(opened.joins[0].address, opened.game_id) as connection:
        await connection.watch(ledger, show)
    return ledger.record


def _words(record: Record, happened: Happened) -> str:
    return f"{happened.seq:>4}  {entry_words(happened, notation(record.opened.rules_id))}"


# --- the command -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Files:
    """The files that the demo writes."""

    log: Path
    verifier: Path
    boards: tuple[Path, ...]


def run(console: Console, game: str, bots: Sequence[str], seed: int, out: Path) -> int:
    """Play a game and check its log. Return the exit code; failures are printed."""
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
        title = f"Player {seat + 1} at the end"
        picture = renderer(record.opened.rules_id).seat_svg(record.game.position.state, seat, title)
        path.write_text(picture, encoding="utf-8")


def _command(name: str) -> str:
    """Return what has to be typed: the name alone if that is found, else where it is."""
    path = Path(sys.executable).with_name(name)
    if which(name) == str(path):
        return name
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


async def _audit(console: Console, children: Children, files: Files, out: Path, game: str) -> int:
    """Run the auditor as any reader would; it needs the file and the key, and no referee."""
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
        f"{referee} match --game {game}",
    ):
        console.print(f"  {line}", style="bold", highlight=False, markup=False, soft_wrap=True)
    return 0
