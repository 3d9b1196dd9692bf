"""``referee audit``: what a game file proves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli import audits
from referee.cli.arguments import Key, public_key, verifier_key
from referee.cli.event_editing import looking
from referee.cli.failure import EXIT_USAGE, Failure
from referee.log import audit as auditor
from referee.log.entry import decode_entry, decode_open
from referee.log.errors import LogError
from referee.log.file import entries


def audit(  # noqa: PLR0917 - typer reads options from the signature
    file: Annotated[
        Path,
        typer.Argument(help="A game file (.gamelog), or a directory of game files.", show_default=False),
    ],
    key: Key,
    seat_key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SEAT=KEY",
            help="A seat's public key, if you know it: 64 hexadecimal digits or a key file. Repeatable.",
        ),
    ] = None,
    scribe_key: Annotated[
        list[str] | None, typer.Option(metavar="SCRIBE=KEY", help="A scribe's public key, if you know it. Repeatable.")
    ] = None,
    event: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The event that the game belongs to (.eventlog): each seat has to be played with the key that its "
            "entrant registered. Check that file with `referee event check`.",
        ),
    ] = None,
    receipt: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A signed checkpoint that a player received in this game. Repeatable."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print every layer as one JSON document; for a directory, one per line.")
    ] = False,
) -> None:
    """Check a game file offline and report what it proves.

    The audit covers frames, encoding, hash chain, tree, the referee's signature, every author's signature, the
    committed deck and the rules, entry by entry. It fetches nothing, and trusts only the keys that you give.

    Exit codes:

    - 0 COMPLETE: the game is whole, and everything in it holds
    - 3 PREFIX: the game is not over, or the file was cut
    - 4 CORRUPT: altered, or never written by a referee
    - 5 UNTRUSTED_KEY: signed by another referee than yours
    - 6 STALE: a receipt is newer than the file
    - 7 FORK: a receipt contradicts the file
    - 8 RULES: an entry breaks the rules, or was not dealt from the deck
    - 9 UNSUPPORTED: another version of the rules, the format or the acts
    - 10 UNDISCLOSED: the referee did not disclose its deck
    - 1 the file cannot be read; 2 a key or an option is invalid

    For a directory, every file gets a line, and the exit code is that of the gravest verdict (FORK, RULES, CORRUPT,
    UNTRUSTED_KEY, STALE, UNDISCLOSED, UNSUPPORTED, PREFIX). If an earlier file has the same game, the line says so; if
    the referee signed another history there, the verdict is FORK.

    Examples: `referee audit demo/3f0c….gamelog --key demo/3f0c….vkey --seat-key 0=alice.pub`, `referee audit
    tournament/ --key referee.vkey`, `referee audit spring.games/3f0c….gamelog --key spring.vkey --event
    spring.eventlog`
    """
    registered = _registered(file, event) if event is not None and file.is_file() else {}
    policy = auditor.Policy(
        verifier=verifier_key("--key", key),
        seat_keys=registered | _numbered("--seat-key", seat_key or []),
        scribe_keys=_numbered("--scribe-key", scribe_key or []),
        receipts=tuple(_read(path) for path in receipt or []),
    )
    if file.is_dir():
        if seat_key or scribe_key or receipt or event:
            what = "--seat-key, --scribe-key, --event and --receipt belong to one game"
            raise Failure(f"{what}; expected one file, not a directory", EXIT_USAGE)
        if not (paths := audits.files_below(file)):
            raise Failure(f"{file}: this directory has no {audits.SUFFIX} file")
        raise typer.Exit(audits.tell(file, paths, policy, as_json=json))
    try:
        with file.open("rb") as stream:
            report = auditor.audit(stream, policy)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from None
    except LogError as error:
        raise Failure(f"--receipt: {error}", EXIT_USAGE) from None
    print(report.as_json() if json else report.as_text().rstrip())
    raise typer.Exit(report.exit_code)


def _registered(file: Path, event: Path) -> dict[int, bytes]:
    """Return the keys that the entrants at the game's table registered, by seat. Raise ``Failure``."""
    with looking(event) as found:
        state, number = found.log.state, found.log.event_id
    try:
        with file.open("rb") as stream:
            opened = decode_open(decode_entry(next(entries(stream), b"")).open)
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from None
    except LogError:
        return {}  # the audit tells what is wrong with the file
    if opened.event_id != number:
        raise Failure(f"--event {event}: event {number}; the game was opened for event {opened.event_id}", EXIT_USAGE)
    tables = {(each.number, table): players for each in state.rounds for table, players in enumerate(each.tables, 1)}
    if (players := tables.get((opened.round, opened.table))) is None:
        raise Failure(f"--event {event}: it has no round {opened.round} with a table {opened.table}")
    return {seat: key for seat, who in enumerate(players) if (key := state.entrants[who].key)}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None


def _numbered(option: str, words: list[str]) -> dict[int, bytes]:
    """``2=KEY`` words by number. Raise ``Failure``."""
    keys: dict[int, bytes] = {}
    for word in words:
        number, equals, text = word.partition("=")
        if not (equals and number.isascii() and number.isdigit()):
            raise Failure(f"{option} {word!r}: expected NUMBER=KEY, such as 2=key.pem", EXIT_USAGE)
        if int(number) in keys:
            raise Failure(f"{option}: number {number} was given twice", EXIT_USAGE)
        keys[int(number)] = public_key(f"{option} {word}", text)
    return keys
