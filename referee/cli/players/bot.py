"""``referee bot``: a bot takes a seat and plays the game to its end, or plays every game of a principal."""

from __future__ import annotations

import asyncio
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.players.seat_files import NoLogCopy, folder, join_of, key_file
from referee.cli.shared.arguments import verifier_key
from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Failure
from referee.cli.shared.remote import DEFAULT_SERVER, Server, Transport, token_of
from referee.console import printable
from referee.games import registry
from referee.log.game import Phase
from referee_clients import BotFailed, ClientError, Distrust, GameResult, Join, play, play_all
from referee_clients.bots import UnknownBot, maker, names
from referee_clients.bots.bot import MakeBot, paced
from referee_clients.bots.program import ProgramFailed
from referee_clients.sdk.channel import Security
from referee_clients.sdk.decisions import of_the_bot
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.opening import milliseconds
from referee_clients.sdk.player import check_principal

EXIT_BOT = 3
EXIT_DISTRUST = 4
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_THERE_ARE = "; ".join(f"in {rules_id} {', '.join(names(rules_id))}" for rules_id in registry.names())


def bot(
    name: Annotated[
        str,
        Parameter(
            help=f"{_THERE_ARE}; module:attribute for your own, imported from the current directory; or "
            "'exec:COMMAND' for a program in any language (docs/exec-bots.md).",
            show_default=False,
        ),
    ],
    /,
    *,
    join: Annotated[
        str | None,
        Parameter(
            env_var="REFEREE_JOIN",
            metavar="STRING",
            help="The join string: address/game/seat#token. '-' reads it from standard input and "
            "'@FILE' from a file, which keeps the token out of the process list.",
            show_default=False,
        ),
    ] = None,
    principal: Annotated[
        str | None,
        Parameter(
            metavar="NAME",
            help="Play every game of this principal, with --token-file, until a signal ends it; in place of --join.",
            show_default=False,
        ),
    ] = None,
    at_once: Annotated[
        int,
        Parameter(
            metavar="N", help="With --principal: take no further seat while playing N games.", validator=Number(gte=1)
        ),
    ] = 4,
    server: Server = DEFAULT_SERVER,
    token_file: Annotated[
        Path | None,
        Parameter(metavar="FILE", help="With --principal: the file with its token.", show_default=False),
    ] = None,
    key: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Keep the seat's private key in this file (created with mode 0600 if missing).",
            show_default="a file of its own for each seat, in your data directory",
        ),
    ] = None,
    no_keep: Annotated[bool, Parameter(help="Never write the key: a bot that is stopped loses its seat.")] = False,
    move_limit: Annotated[
        str | None,
        Parameter(
            metavar="TIME",
            help="The bot has failed if it takes longer for a move, such as 30s.",
            show_default="no limit",
        ),
    ] = None,
    pace: Annotated[
        str | None,
        Parameter(
            metavar="TIME",
            help="Wait this long before each move, such as 2s, so that people can watch.",
            show_default="no time",
        ),
    ] = None,
    resign_on_failure: Annotated[
        bool, Parameter(help="Resign if the bot fails; by default the seat stays taken.")
    ] = False,
    verifier: Annotated[
        str | None,
        Parameter(
            metavar="VKEY",
            help="The referee's verifier key, a .vkey file or its text, to check the referee's receipts.",
        ),
    ] = None,
    seed: Annotated[int | None, Parameter(help="Seed for bots that choose at random.")] = None,
    patience: Annotated[
        float,
        Parameter(
            metavar="SECONDS",
            help="Give up when the referee has been unreachable for this long.",
            validator=Number(gte=0),
        ),
    ] = 300.0,
    no_log_copy: NoLogCopy = False,
    transport: Transport = Transport(),
) -> None:
    """Let a bot take a seat and play the game to its end, or every game of a principal.

    The bot replays and checks every entry that the referee sends: signatures, chain and rules. The seat's key is kept,
    and the command says where: after a crash the same command resumes the game. A bot whose seat forfeits ends at once.
    With --principal the command prints a line for every game that ends, and continues after a restart.

    Exit codes:

    - 0 the game is over, whoever won, or the seat has forfeited; with --principal: ended by a signal
    - 1 the referee was unreachable for too long, or does not admit this seat
    - 2 wrong usage: no such bot for this game, or not a join string
    - 3 the bot failed: it made an illegal move, took longer than --move-limit, raised an exception, which is shown, or
      is a program that ended or gave no answer
    - 4 the referee's log contradicts its signatures, the rules or itself

    Examples: `referee bot greedy --join @join.txt`, `referee bot 'exec:./mybot --fast' --join @join.txt`, `referee bot
    mybot:choose --principal ani.bot --token-file ani.token --at-once 8`
    """
    if (join is None) == (principal is None):
        raise Failure("which games? expected either --join STRING or --principal NAME", EXIT_USAGE)
    if key is not None and no_keep:
        raise Failure("--no-keep: the key is kept in --key FILE; expected one of the two", EXIT_USAGE)
    if key is not None and not key.absolute().parent.is_dir():
        raise Failure(f"--key {key}: there is no folder {key.parent}; make it first", EXIT_USAGE)
    limit_s = milliseconds("move-limit", move_limit) / 1000 if move_limit is not None else None
    if limit_s == 0:
        raise Failure("--move-limit 0s: no bot is so fast; expected a longer time", EXIT_USAGE)
    pace_s = milliseconds("pace", pace) / 1000 if pace is not None else 0
    vkey = str(verifier_key("--verifier", verifier)) if verifier is not None else None
    seat = join_of("--join", join) if join is not None else None
    token = seat.token if seat is not None else _token(token_file, transport.tls_cert)
    sys.path.insert(0, str(Path.cwd()))
    keeping = None if no_keep else key_file if key is None else lambda _: key
    with _told(name):
        secured = Security(transport.tls_ca, transport.tls_cert, transport.tls_key, transport.insecure)
        made = paced(maker(name, seed), pace_s)
        how = _How(name, made, keeping, not no_log_copy, vkey, patience, limit_s, resign_on_failure, secured)
        if seat is not None:
            _play_one(seat, how)
        else:
            print(f"keys are {_kept(None if no_keep else key or folder())}", file=sys.stderr)
            asyncio.run(_play_all(server, token, principal or "", how, at_once))


@dataclass(frozen=True, slots=True)
class _How:
    """The settings of the bot for any game."""

    name: str
    make: MakeBot
    keeping: Callable[[Join], Path] | None
    log_copy: bool
    verifier: str | None
    patience_s: float
    move_limit_s: float | None
    resign_on_failure: bool
    security: Security


def _kept(where: Path | None) -> str:
    return f"kept in {where}" if where is not None else "not kept: a bot that is stopped loses its seat"


def _play_one(seat: Join, how: _How) -> None:
    keep = how.keeping(seat) if how.keeping is not None else None
    print(f"the key of player {seat.seat + 1} is {_kept(keep)}", file=sys.stderr)
    result = play(
        seat,
        how.make,
        key_file=keep,
        log_copy=how.log_copy,
        verifier=how.verifier,
        patience_s=how.patience_s,
        move_limit_s=how.move_limit_s,
        resign_on_failure=how.resign_on_failure,
        on_commit=_Progress(seat.seat),
        security=how.security,
    )
    print(_summary(result))


async def _play_all(server: str, token: str, principal: str, how: _How, at_once: int) -> None:
    """Play until a signal comes."""

    def ended(game_id: str, result: GameResult | Exception) -> None:
        told = _summary(result) if isinstance(result, GameResult) else printable(str(_failure(how.name, result)))
        print(f"game {game_id}: {told}", flush=True)

    await check_principal(server, token, principal, how.security)
    playing = asyncio.create_task(
        play_all(
            server,
            token,
            how.make,
            ended,
            at_once=at_once,
            key_file=how.keeping,
            log_copy=how.log_copy,
            verifier=how.verifier,
            patience_s=how.patience_s,
            move_limit_s=how.move_limit_s,
            resign_on_failure=how.resign_on_failure,
            security=how.security,
        )
    )
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, playing.cancel)
    try:
        await playing
    except asyncio.CancelledError:
        print("stopped; the seats stay taken, and the same command resumes them", file=sys.stderr)
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def _token(file: Path | None, certificate: Path | None) -> str:
    if file is not None:
        return token_of(file)
    if certificate is None:
        raise Failure("no token; expected --token-file FILE, with the token of the principal", EXIT_USAGE)
    return ""


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Raise ``Failure`` for what ends a bot."""
    try:
        yield
    except Failure:
        raise
    except Exception as error:
        raise _failure(name, error) from error
    except KeyboardInterrupt:
        raise Failure("stopped; the seat stays taken", EXIT_FAILED) from None


def _failure(name: str, error: Exception) -> Failure:
    """Return what went wrong; an exception of the bot's is shown with its place."""
    match error:
        case UnknownBot():  # perhaps of this game only; the seat is still free
            return Failure(str(error), EXIT_USAGE)
        case BotFailed() | ProgramFailed():
            return Failure(str(error), EXIT_BOT)
        case Distrust():
            return Failure(str(error), EXIT_DISTRUST)
        case ClientError():
            return Failure(str(error), EXIT_FAILED)
        case _:
            traceback.print_exception(error.with_traceback(of_the_bot(error)))
            return Failure(f"the bot {name} failed: {type(error).__name__}: {error}", EXIT_BOT)


class _Progress:
    """Tells, after a commit, that the seat is taken and that the game begins; once each."""

    def __init__(self, seat: int) -> None:
        self._seat = seat
        self._is_taken = self._has_begun = False

    def __call__(self, ledger: Ledger) -> None:
        playing = ledger.record.phase is Phase.PLAYING
        if not ledger.receipts:
            # This process has not acted yet: these events happened before it came back.
            self._is_taken = self._has_begun = playing
            return
        if not self._is_taken and self._seat in ledger.record.game.joins:
            self._is_taken = True
            print(f"player {self._seat + 1}: the seat is taken, waiting for the others", file=sys.stderr)
        if playing and not self._has_begun:
            self._has_begun = True
            print("the game begins", file=sys.stderr)


def _summary(result: GameResult) -> str:
    if result.forfeited and not result.places:
        return f"Player {result.seat + 1} has forfeited: {result.outcome}."
    if not result.places:
        return f"The game is over: {result.outcome}."
    scores = ", ".join(f"player {seat + 1}: {score}" for seat, score in enumerate(result.scores))
    points = f" ({scores})" if scores else ""
    place = result.places[result.seat]
    shared = "joint " if result.places.count(place) > 1 else ""
    return f"Player {result.seat + 1} finished {shared}number {place}{points}; {result.outcome}."
