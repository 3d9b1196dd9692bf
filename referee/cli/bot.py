"""``referee bot``: a bot takes a seat and plays the game to its end."""

from __future__ import annotations

import sys
import traceback
from concurrent.futures import thread
from pathlib import Path
from types import TracebackType
from typing import Annotated

import typer

from referee.cli.arguments import verifier_key
from referee.cli.failure import EXIT_FAILED, EXIT_USAGE, Failure
from referee.cli.remote import SendInClear, TlsCa, TlsCert, TlsKey
from referee.games import registry
from referee.log.game import Phase
from referee_clients import BadMove, ClientError, Distrust, GameResult, Join, JoinError, parse_join, play
from referee_clients.bots import UnknownBot, maker, names
from referee_clients.sdk.channel import Security
from referee_clients.sdk.ledger import Ledger

EXIT_BOT = 3
EXIT_DISTRUST = 4
_THERE_ARE = "; ".join(f"in {rules_id} {', '.join(names(rules_id))}" for rules_id in registry.names())


def bot(  # noqa: PLR0917 - typer reads options from the signature
    name: Annotated[
        str,
        typer.Argument(
            help=f"{_THERE_ARE}; or module:attribute for your own, imported from the current directory.",
            show_default=False,
        ),
    ],
    join: Annotated[
        str,
        typer.Option(
            envvar="REFEREE_JOIN",
            metavar="STRING",
            help="The join string: address/game/seat#token. '-' reads it from standard input and "
            "'@FILE' from a file, which keeps the token out of the process list.",
            show_default=False,
        ),
    ],
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep the seat's private key in this file (created with mode 0600 if missing), so "
            "that a bot that was stopped can go on with its game. By default the key is never "
            "written.",
        ),
    ] = None,
    verifier: Annotated[
        str | None,
        typer.Option(
            metavar="VKEY",
            help="The referee's verifier key, a .vkey file or its text, to check the referee's receipts.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed for bots that choose at random.")] = None,
    patience: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, help="Give up when the referee has been unreachable for this long."),
    ] = 300.0,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure: SendInClear = False,
) -> None:
    """Let a bot take a seat and play the game to its end.

    The bot replays and checks every entry that the referee sends: signatures, chain and rules.

    Exit codes:

    - 0 the game is over, whoever won
    - 1 the referee was unreachable for too long, or does not admit this seat
    - 2 wrong usage: no such bot for this game, or not a join string
    - 3 the bot failed: it made an illegal move or raised an exception, which is shown
    - 4 the referee's log contradicts its signatures, the rules or itself
    """
    seat = _join(join)
    vkey = str(verifier_key("--verifier", verifier)) if verifier is not None else None
    sys.path.insert(0, str(Path.cwd()))
    try:
        player = maker(name, seed)
    except UnknownBot as error:
        raise Failure(str(error), EXIT_USAGE) from error
    try:
        result = play(
            seat,
            player,
            key_file=key,
            verifier=vkey,
            patience_s=patience,
            on_commit=_Progress(seat.seat),
            security=Security(tls_ca, tls_cert, tls_key, insecure),
        )
    except UnknownBot as error:  # of this game; the seat is still free
        raise Failure(str(error), EXIT_USAGE) from error
    except BadMove as error:
        raise Failure(str(error), EXIT_BOT) from error
    except Distrust as error:
        raise Failure(str(error), EXIT_DISTRUST) from error
    except ClientError as error:
        raise Failure(str(error), EXIT_FAILED) from error
    except Exception as error:
        traceback.print_exception(error.with_traceback(_of_the_bot(error.__traceback__)))
        raise Failure(f"the bot {name} failed: {type(error).__name__}: {error}", EXIT_BOT) from error
    except KeyboardInterrupt:
        raise Failure("stopped; the seat stays taken", EXIT_FAILED) from None
    print(_summary(result))


def _join(text: str) -> Join:
    try:
        if text == "-":
            text = sys.stdin.readline()
        elif text.startswith("@"):
            text = _only_line(Path(text[1:]))
        return parse_join(text)
    except JoinError as error:
        raise Failure(str(error), EXIT_USAGE) from error
    except OSError as error:
        raise Failure(f"--join {text}: {error.strerror}", EXIT_USAGE) from error
    except UnicodeDecodeError as error:
        raise Failure(f"--join {text}: {error}", EXIT_USAGE) from error


def _only_line(file: Path) -> str:
    """Return the only line: what ``referee new --out`` writes has one for every seat."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len(lines) > 1:
        raise JoinError(f"--join @{file}: the file has {len(lines)} lines; expected one join string")
    return lines[0] if lines else ""


class _Progress:
    """Tells, after a commit, that the seat is taken and that the game begins; once each."""

    def __init__(self, seat: int) -> None:
        self._seat = seat
        self._is_taken = self._has_begun = False

    def __call__(self, ledger: Ledger) -> None:
        playing = ledger.record.phase is Phase.PLAYING
        if not ledger.receipts:
            # Nothing was done by this process yet: what is told happened before it came back.
            self._is_taken = self._has_begun = playing
            return
        if not self._is_taken and self._seat in ledger.record.game.joins:
            self._is_taken = True
            print(f"seat {self._seat} taken, waiting for the others", file=sys.stderr)
        if playing and not self._has_begun:
            self._has_begun = True
            print("the game begins", file=sys.stderr)


def _of_the_bot(trace: TracebackType | None) -> TracebackType | None:
    """From the bot's own code on: it is asked in a thread, and what is before it is not its author's."""
    step = trace
    while step is not None:
        if step.tb_frame.f_code.co_filename == thread.__file__:
            return step.tb_next
        step = step.tb_next
    return trace


def _summary(result: GameResult) -> str:
    if not result.places:
        return f"The game is over: {result.outcome}."
    scores = ", ".join(f"seat {seat}: {score}" for seat, score in enumerate(result.scores))
    points = f" ({scores})" if scores else ""
    place = result.places[result.seat]
    shared = "joint " if result.places.count(place) > 1 else ""
    return f"Seat {result.seat} finished {shared}number {place}{points}; {result.outcome}."
