"""``referee record``: the log of a game that was written down by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.cli.shared import game_texts
from referee.cli.shared.arguments import verifier_key
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.game_texts import checkpoint_signer, different_keys, not_recordable, write_new
from referee.console import printable
from referee.log.errors import LogError
from referee.server.service.files import DEFAULT_ORIGIN
from referee.telling.recorder import NO_CLOCK, Recorder, has_rulings, obstacle
from referee.text.notation import game_text
from referee.text.notation.game_text import Reading
from referee.text.notation.outcomes import outcome
from referee.text.notation.table import ActKind, TableAct
from referee.text.notation.violations import NotationError


def record(
    text: Annotated[Path, Parameter(name="TEXT", help="The game, in the notation of docs/notation.md.")],
    /,
    *,
    key: Annotated[Path, Parameter(metavar="FILE", help="The scribe's private key, which signs every act.")],
    referee_key: Annotated[
        Path,
        Parameter(metavar="FILE", help="The referee's private key, which signs the head of the log."),
    ],
    out: Annotated[Path, Parameter(metavar="FILE", help="The game file to create.")],
    origin: Annotated[str, Parameter(metavar="NAME", help="The name under which the referee signs.")] = DEFAULT_ORIGIN,
    text_key: Annotated[
        str | None, Parameter(metavar="VKEY", help="The verifier key that must have signed TEXT.")
    ] = None,
    arbiter_key: Annotated[
        list[Path] | None,
        Parameter(
            metavar="FILE",
            help="The private key of the arbiter, who signs every ruling. Repeat it for further arbiters.",
        ),
    ] = None,
) -> None:
    """Make a game file from the text of a game that was played at a physical table.

    The file is a declared game: the scribe enters every seat's moves and every draw and roll, each signed with the
    scribe's key, and the referee's key signs the head. You act as both, with two keys that `referee keys --new` makes.
    A text that breaks off becomes the log of an unfinished game, for which `referee audit` says PREFIX. All entries
    carry the time of the recording.

    Resignations, take-backs and protests are recorded in their places; so are an arbiter's rulings, which need
    --arbiter-key. Headers such as Penalties do not say when something happened, so they are entered last. A recording
    has no clock: a forfeit without a ruling, such as a flag, becomes a ruling of arbiter 0, and a text in which an
    arbiter sets a clock, or takes time off one, is refused.

    The text can leave out the moves of a seat that resigned or forfeited: the stand-in's are entered.

    If the text is wrong, the command names the line and writes no file.

    Exit codes: 0 recorded; 2 the text is not in the notation or is ambiguous, or wrong usage; 8 the text breaks the
    rules; 4 the text lacks the signature that `--text-key` demands, 5 another key signed it; 1 the file cannot be
    written.

    Example: `referee record final.txt --key scribe.pem --referee-key referee.pem --out final.gamelog`
    """
    given = {f"--arbiter-key ({n})" if n else "--arbiter-key": path for n, path in enumerate(arbiter_key or [])}
    scribe, referee, *arbiters = different_keys({"--key": key, "--referee-key": referee_key, **given})
    signer = checkpoint_signer(origin, referee)
    verifier = None if text_key is None else verifier_key("--text-key", text_key)
    reading = game_texts.read(text, game_text.read, verifier)
    game = reading.game
    is_given_up = any(isinstance(each, TableAct) and each.kind is ActKind.ABORT for each in game.happened)
    if not is_given_up and (why := obstacle(game.contest, game.setup.seats, reading.state.pending())):
        raise Failure(f"{text}: {why}", EXIT_USAGE)
    if clocked := next((act for act in game.happened if isinstance(act, TableAct) and act.needs_clock), None):
        raise Failure(f"{text}: nothing recorded: {clocked}: {NO_CLOCK}; expected a text without this line", EXIT_USAGE)
    if not arbiters and (ruled := _ruled(reading)):
        raise Failure(
            f"{text}: nothing recorded, because this text needs an arbiter's rulings: {ruled}; expected --arbiter-key",
            EXIT_USAGE,
        )
    try:
        recorder = Recorder(game.setup, scribe, arbiters, has_table_acts=bool(game.happened))
        recorder.lines(game)
        data = recorder.file(signer)
    except (LogError, NotationError) as error:
        raise not_recordable(text, error) from None
    write_new("--out", out, data)
    ended = outcome(reading.result, game.contest, waits=recorder.record.game.result_waits)
    print(f"{printable(str(out))}: game {recorder.record.game_id.hex()}, {recorder.record.size} entries, {ended}")
    print(f"verifier key {signer.verifier}")
    print(f"scribe 0: key {scribe.public.raw.hex()}")


def _ruled(reading: Reading) -> str:
    """Return what of the game rests on an arbiter; empty if nothing does."""
    if reading.accepted:
        return f"line {reading.accepted[0]} has a move that stands against the rules"
    game = reading.game
    acts = [each for each in game.happened if isinstance(each, TableAct)]
    if ruling := next((act for act in acts if act.needs_arbiter), None):
        return str(ruling)
    return outcome(reading.result, game.contest) if not acts and has_rulings(game.contest) else ""
