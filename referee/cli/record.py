"""``referee record``: the log of a game that was written down by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli import texts
from referee.cli.arguments import verifier_key
from referee.cli.failure import EXIT_USAGE, Failure
from referee.cli.recorder import Recorder, checkpoint_signer, different_keys, has_rulings, obstacle, write_new
from referee.log.errors import LogError
from referee.notation import game_text
from referee.notation.game_text import Reading
from referee.notation.outcomes import outcome
from referee.service.files import DEFAULT_ORIGIN


def record(  # noqa: PLR0917 - typer reads options from the signature
    text: Annotated[Path, typer.Argument(metavar="TEXT", help="The game, in the notation of docs/notation.md.")],
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="The scribe's private key, which signs every act.")
    ],
    referee_key: Annotated[
        Path,
        typer.Option(
            "--referee-key", metavar="FILE", help="The referee's private key, which signs the head of the log."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The game file to create.")],
    origin: Annotated[
        str, typer.Option("--origin", metavar="NAME", help="The name under which the referee signs.")
    ] = DEFAULT_ORIGIN,
    text_key: Annotated[
        str | None, typer.Option("--text-key", metavar="VKEY", help="The verifier key that must have signed TEXT.")
    ] = None,
) -> None:
    """Make a game file from the text of a game that was played at a physical table.

    The file is a declared game: the scribe enters every seat's moves and every draw and roll, each signed with the
    scribe's key, and the referee's key signs the head. You act as both, with two keys that `referee keys --new` makes.
    A text that breaks off becomes the log of an unfinished game, for which `referee audit` says PREFIX. All entries
    carry the time of the recording.

    If the text is wrong, the command names the line and writes no file. It also writes none if the text needs an
    arbiter: for moves that stand against the rules, forfeits, penalties or a ruled result. Use `referee adjudicate` for
    these, which takes the arbiter's key.

    Exit codes: 0 recorded; 2 the text is not in the notation or is ambiguous, or wrong usage; 8 the text breaks the
    rules; 4 the text lacks the signature that `--text-key` demands, 5 another key signed it; 1 the file cannot be
    written.

    Example: `referee record final.txt --key scribe.pem --referee-key referee.pem --out final.gamelog`
    """
    scribe, referee = different_keys({"--key": key, "--referee-key": referee_key})
    signer = checkpoint_signer(origin, referee)
    verifier = None if text_key is None else verifier_key("--text-key", text_key)
    reading = texts.read(text, game_text.read, verifier)
    game = reading.game
    if why := obstacle(game.contest, game.setup.seats, reading.state.pending()):
        raise Failure(f"{text}: {why}", EXIT_USAGE)
    if ruled := _ruled(reading):
        how = "expected referee adjudicate, which makes the log with --out and --arbiter-key"
        raise Failure(
            f"{text}: nothing recorded, because this text needs an arbiter's rulings: {ruled}; {how}", EXIT_USAGE
        )
    try:
        recorder = Recorder(game.setup, scribe)
        for event in game.events:
            recorder.take(event)
        recorder.end(game.contest)
        data = recorder.file(signer)
    except LogError as error:
        raise Failure(f"{text}: {error}", EXIT_USAGE) from None
    write_new("--out", out, data)
    ended = outcome(reading.result, game.contest)
    print(f"{out}: game {recorder.record.game_id.hex()}, {recorder.record.size} entries, {ended}")
    print(f"verifier key {signer.verifier}")
    print(f"scribe 0: key {scribe.public.raw.hex()}")


def _ruled(reading: Reading) -> str:
    """What of the game rests on an arbiter, or on seats that left it; empty if nothing does."""
    if reading.accepted:
        return f"line {reading.accepted[0]} has a move that stands against the rules"
    contest = reading.game.contest
    return outcome(reading.result, contest) if has_rulings(contest) else ""
