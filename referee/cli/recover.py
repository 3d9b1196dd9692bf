"""``referee recover``: games that the referee cannot go on with."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.failure import EXIT_FAILED, EXIT_USAGE, Failure
from referee.live import recovery
from referee.live.context import Context
from referee.log.engines import installed
from referee.service import logs
from referee.service.data import DataError, open_data, origin_of
from referee.service.files import STORE_FILE
from referee.store.errors import StoreFailed

_ID_DIGITS = 32


def recover(  # noqa: PLR0917 - typer reads options from the signature
    game: Annotated[
        str | None, typer.Argument(help="The game's id, 32 hexadecimal digits. Without it: lists games.")
    ] = None,
    data: Annotated[Path, typer.Option(metavar="DIR", help="The referee's directory.")] = Path("referee-data"),
    copy: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Take the lost entries from this game file.", show_default=False),
    ] = None,
    go_on: Annotated[bool, typer.Option("--continue", help="Go on without them, with an entry that says so.")] = False,
    end: Annotated[bool, typer.Option("--end", help="The same, and end the game for the referee's fault.")] = False,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="Expect nothing more of a game with which nothing else can be done.")
    ] = False,
    marks: Annotated[
        Path | None, typer.Option(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
    seal_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
    new_marks: Annotated[
        bool,
        typer.Option(
            "--new-marks",
            help="The file of marks is lost: make it again from what the database has. That the database was set back "
            "before cannot be noticed any more.",
        ),
    ] = False,
    new_seal: Annotated[
        bool,
        typer.Option(
            "--new-seal",
            help="The key of the secrets is lost: make a new one. Dealt games in play can then only be ended, with "
            "--end, and their decks are not disclosed; the others go on.",
        ),
    ] = False,
) -> None:
    """Says which games a stopped referee cannot go on with and why; and helps it to go on.

    A referee keeps the newest head of every game that it has signed apart from its database. If the database was set
    back, to a backup say, entries are missing that players hold receipts for. Best is `--from` a player's copy or one
    of `referee fetch`: then nothing is lost. With `--continue` the log says how many entries are lost, and whoever has
    a receipt for them can show it: an audit with that receipt says FORK.

    Exit codes: 0 done, or no such games; 1 there are such games, or it cannot be done; 2 wrong usage.

    Examples: `referee recover`, `referee recover 0197a1cb1db4c9da428632ae52ec26d7 --from alice.gamelog`
    """
    chosen = [copy is not None, go_on, end, give_up].count(True)
    if (game is not None) != (chosen == 1) or chosen > 1:
        raise Failure("expected a game with one of --from, --continue, --end and --give-up; or neither", EXIT_USAGE)
    if game is not None and (len(game) != _ID_DIGITS or set(game) - set("0123456789abcdef")):
        raise Failure(f"game {game!r}: expected {_ID_DIGITS} hexadecimal digits, lower case", EXIT_USAGE)
    if not (data / STORE_FILE).exists():
        raise Failure(f"{data / STORE_FILE}: No such file; expected --data with a referee's directory")
    logs.configure("text", "critical")  # what it would log it prints
    try:
        opened = open_data(
            data, origin_of(data, None), marks=marks, seal_key=seal_key, new_marks=new_marks, new_seal=new_seal
        )
    except DataError as error:
        raise Failure(str(error)) from None
    if new_marks:
        print(f"{opened.marks_path}: made again")
    if new_seal:
        print(f"{opened.seal_path}: made; what was sealed with the one before cannot be opened any more")

    async def run() -> list[str]:
        context = Context(opened.store, opened.signer, installed())
        try:
            if game is None:
                return [str(error) for error in await recovery.find(context)]
            return await _recover(context, bytes.fromhex(game), copy, end=end, give_up=give_up)
        finally:
            await opened.close()

    try:
        lines = asyncio.run(run())
    except recovery.CannotRecover as error:
        raise Failure(f"game {game}: {error}") from None
    except StoreFailed as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(f"{copy}: {error.strerror}") from None
    print("\n".join(lines) or "every game can be gone on with")
    if game is None and lines:
        raise typer.Exit(EXIT_FAILED)


async def _recover(context: Context, game_id: bytes, copy: Path | None, *, end: bool, give_up: bool) -> list[str]:
    """What was done, in words."""
    if give_up:
        mark = await recovery.give_up(context, game_id)
        return [f"game {game_id.hex()}: given up; a head of {mark.size} entries was signed, and is kept as lost"]
    if copy is not None:
        with copy.open("rb") as stream:
            done = await recovery.restore(context, game_id, stream)
        what = f"{_entries(done.entries)} came back: nothing is lost"
    else:
        done = await recovery.go_on(context, game_id, end=end)
        what = f"goes on without {_entries(done.entries)} that it had signed for; the log says so"
        if not done.entries:
            what = "ended for the referee's fault, with all its entries; its deck is not disclosed"
    state = "is over" if done.ended else "can be gone on with"
    lines = [f"game {game_id.hex()}: {what}", f"it has {done.size} entries and {state}"]
    return lines + [f"a new token for {whose}: {token}" for whose, token in done.tokens]


def _entries(count: int) -> str:
    return "one entry" if count == 1 else f"{count} entries"
