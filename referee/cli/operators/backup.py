"""``referee backup``, ``restore`` and ``migrate``: a referee's data copied, brought back and moved."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Annotated

from cyclopts import Parameter

from referee.cli.operators.recover import decided, entries_words, in_doubt_words
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Exit, Failure
from referee.log import file
from referee.log.engines import installed
from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.intent import game_id as identity_of
from referee.server.live import recovery, restoration
from referee.server.live.context import Context
from referee.server.service import logs
from referee.server.service.backup import back_up, lay_down, take_up
from referee.server.service.data import Data, DataError, move_data, open_data, origin_of
from referee.server.service.files import STORE_FILE, check_address
from referee.server.store.store import StoreFailed
from referee.text.notation.outcomes import counted
from referee.text.notation.times import moment_utc


def backup(
    out: Annotated[Path, Parameter(name="COPY", help="The directory to make.", show_default=False)],
    /,
    *,
    data: Annotated[Path, Parameter(metavar="DIR", help="The referee's data directory.")] = Path("referee-data"),
    without_keys: Annotated[
        bool,
        Parameter(
            help="Leave out the signing key, the seal key and the organiser's token, with which anybody could sign as "
            "the referee and read its decks. You need them to restore, so keep them elsewhere.",
        ),
    ] = False,
    marks: Annotated[
        Path | None, Parameter(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
    seal_key: Annotated[
        Path | None, Parameter(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
) -> None:
    """Copy a referee's games and keys into a new directory, while the referee runs or when it is stopped.

    The copy is of one moment and signed, so `referee restore` knows how old it is and whether it was changed. All of it
    is made, or nothing. It lacks everything that is played later, so make copies often, for example every hour. A copy
    of a stopped referee is as old as its newest entry. If the marks know more than the database, the command says so.

    With games in PostgreSQL the copy has only the keys and the address: copy the games with `pg_dump` or
    `pg_basebackup`.

    Exit codes: 0 copied; 1 the directory cannot be read, or the copy not be written; 2 wrong usage.

    Example: `referee backup /backup/club-$(date +%F-%H) --data club`
    """
    try:
        made = back_up(data, out, round(1000 * time()), with_keys=not without_keys, marks=marks, seal_key=seal_key)
    except DataError as error:
        raise Failure(str(error)) from None
    games = "" if made.address is not None else f", with {counted(made.games, 'open game')}"
    print(f"{out}: copied{games}: {', '.join(made.files)}")
    if made.address is not None:
        print(f"the games are not in it: they are in {made.address}; copy them with pg_dump or pg_basebackup")
    elif not made.is_of_running and made.games:
        print(f"the referee is stopped, so the copy is as old as its newest entry, of {moment_utc(made.copied_ms)}")
    if made.lacking:
        what = f"the copy lacks signed entries of {counted(made.lacking, 'game')}, as the database went back"
        print(f"{what}; see referee recover --data {data}, then make another copy")
    if without_keys:
        print("its keys are not in it; referee restore needs them")


_SUFFIXES = (".gamelog", ".eventlog")


def restore(
    copy: Annotated[
        Path,
        Parameter(name="COPY", help="A directory of `referee backup`, or a copy of referee.db.", show_default=False),
    ],
    /,
    *,
    data: Annotated[Path, Parameter(metavar="DIR", help="The referee's data directory; without games.")] = Path(
        "referee-data"
    ),
    from_: Annotated[
        list[Path] | None,
        Parameter(
            metavar="FOLDER",
            help="Take what the copy lacks from the game files in this folder and those below it: of players, watchers "
            "or the public log. Repeatable.",
            show_default=False,
        ),
    ] = None,
    marks: Annotated[
        Path | None, Parameter(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
    seal_key: Annotated[
        Path | None, Parameter(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
) -> None:
    """Lay down a copy of a referee in a new directory, after its machine or its disk was lost.

    The copy lacks everything that was played later, though players hold receipts for it. So every game that is open in
    the copy is in doubt from then on: people can look at it, and nothing is entered, until you decide. First collect
    the files that people have of games, such as those of `referee fetch`. `--from` takes from them what the copy lacks,
    also games that were opened later. Such a game is ended if it has a deck, as the secret that it deals from is lost.

    Decide about the others with `referee recover`: `--end`, or `--continue` without what is lost. The log says so, and
    a receipt of a lost entry gives the verdict LOSS. A referee that continued without saying so would sign two
    histories, which every audit calls a FORK.

    Keys that are not in the copy have to be in DIR already. Marks that are there are moved away.

    Exit codes: 0 restored, and no game is in doubt; 1 some are, or it cannot be restored; 2 wrong usage.

    Example: `referee restore /backup/club-2026-11-28-17 --data club --from files`
    """
    for folder in from_ or ():
        if not folder.is_dir():
            raise Failure(f"--from {folder}: expected a folder with game files")
    logs.configure("text", "critical")  # the command prints what would be logged
    try:
        laid = lay_down(copy, data, round(1000 * time()), marks=marks)
        try:
            opened = open_data(
                data,
                origin_of(data, None),
                marks=marks,
                seal_key=seal_key,
                new_marks=True,
                copied_ms=laid.copied_ms if laid.address is None else 0,  # the database is as old as its entries
                alone=True,
            )
        except DataError:
            take_up(laid)  # so that the command can be repeated
            raise
        opened.store.marks.doubt(laid.doubts)
    except (DataError, StoreFailed) as error:
        raise Failure(str(error)) from None
    if laid.marks is not None:
        print(f"the marks that were there are kept as {laid.marks}, and know what the copy lacks")
        print("if only the database was lost, they can be used: see docs/runbooks/database-went-back.md")
    when = f", as it was at {moment_utc(laid.copied_ms)}" if laid.copied_ms else ""
    print(f"{data}: restored from {copy}{when}")
    if laid.address is not None:
        print(f"the games are in {laid.address} as they are there now, and tokens too")

    async def run() -> list[str]:
        context = Context(opened.store, opened.signer, installed(), time=opened.time)
        try:
            games, others = _files_of(from_ or [])
            for game in sorted(games.items()):
                print(await _taken(context, *game))
            if others:
                print(f"not game files, and not used: {', '.join(map(str, others))}")
            doubts = await recovery.in_doubt(context)
            if laid.address is None:
                print(_tokens(opened))
            return list(in_doubt_words(doubts, data))
        finally:
            await opened.close()

    try:
        lines = asyncio.run(run())
    except StoreFailed as error:
        raise Failure(str(error)) from None
    print("\n".join(lines) or "no game is in doubt")
    if lines:
        raise Exit(EXIT_FAILED)


def _tokens(opened: Data) -> str:
    return (
        "tokens are as they were in the copy: one that was revoked later is valid again. When the referee runs, see "
        f"`referee token list --data {opened.path}`; `referee token revoke --issued-before TIME --data {opened.path}` "
        "revokes all older ones but yours: their owners need new ones. Join strings stay valid"
    )


def _files_of(folders: list[Path]) -> tuple[dict[bytes, list[Path]], list[Path]]:
    """Return the game files in these folders, by game, and files with such names that are none."""
    found, others = dict[bytes, list[Path]](), list[Path]()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file():
                game_id = _game_of(path)
                (others if game_id is None else found.setdefault(game_id, [])).append(path)
    return found, others


def _game_of(path: Path) -> bytes | None:
    """Return the game that a file is of; None if it is none."""
    try:
        with path.open("rb") as stream:
            first = next(file.entries(stream), b"")
            return identity_of(decode_entry(first).open)
    except (OSError, LogError):
        return None


async def _newest_first(context: Context, game_id: bytes, paths: list[Path]) -> list[Path]:
    signed = dict[Path, int]()
    for path in paths:
        with suppress(OSError), path.open("rb") as stream:
            signed[path] = await restoration.newest_signed(context, game_id, stream)
    return sorted(signed, key=lambda path: -signed[path])


async def _taken(context: Context, game_id: bytes, paths: list[Path]) -> str:
    """Take the file with the most entries that were signed; return what came of it. Raise ``StoreFailed``."""
    why = ""
    stored = await context.store.game(game_id)
    if stored is not None and game_id not in context.store.marks.doubts:
        return f"game {game_id.hex()}: was over in the copy"
    for path in await _newest_first(context, game_id, paths):
        try:
            with path.open("rb") as stream:
                done = await restoration.restore(context, game_id, stream)
        except (recovery.CannotRecover, OSError) as error:
            why = why or f"{path}: {error}"
            continue
        return "\n".join(decided(game_id, done, f"{entries_words(done.entries)} taken from {path}"))
    return f"game {game_id.hex()}: nothing taken: {why}"


def migrate(
    *,
    to: Annotated[
        str,
        Parameter(
            metavar="ADDRESS",
            help="An empty PostgreSQL database, such as postgresql://referee@db.example/club; the password comes from "
            "~/.pgpass or a service file.",
        ),
    ],
    data: Annotated[Path, Parameter(metavar="DIR", help="The referee's data directory.")] = Path("referee-data"),
    marks: Annotated[
        Path | None, Parameter(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
    seal_key: Annotated[
        Path | None, Parameter(metavar="FILE", help="As `referee serve` takes it.", show_default=False)
    ] = None,
) -> None:
    """Move the games of a stopped referee from its file into a PostgreSQL database.

    All of it is moved or nothing: games, texts, tokens. DIR remembers the address, and `referee serve --data DIR`
    continues from there. The keys, the organiser's token and the marks stay in DIR, which is needed as before. The file
    referee.db stays as it was; remove it when everything runs. A move that was stopped can be repeated.

    Exit codes: 0 moved; 1 the directory or the database cannot be used; 2 wrong usage.

    Example: `referee migrate --data club --to postgresql://referee@db.example/club`
    """
    try:
        check_address(to)
    except ValueError as error:
        raise Failure(f"--to: {error}", EXIT_USAGE) from None
    try:
        count = move_data(data, to, marks=marks, seal_key=seal_key)
    except DataError as error:
        raise Failure(str(error)) from None
    print(f"{'one game' if count == 1 else f'{count} games'} moved to {to}")
    print(f"{data / STORE_FILE} is no longer used")
