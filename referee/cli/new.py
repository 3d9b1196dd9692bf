"""``referee new``: an organiser opens a game."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, TextIO

import grpc
import typer

from referee.cli.arguments import public_key
from referee.cli.failure import EXIT_USAGE, Failure
from referee.cli.options import components as game_components
from referee.cli.options import default_components, options_of_games
from referee.cli.options import options as game_options
from referee.cli.remote import DEFAULT_SERVER, SendInClear, Server, TlsCa, TlsCert, TlsKey, refused, security, token_of
from referee.cli.series import game_before, next_options, place
from referee.cli.terms import Absence, Clock, Illegal, Lag, ProtestTime, TakeBacks, terms
from referee.games import registry
from referee.games.game import UnknownRules
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.service.files import TOKEN_FILE
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc
from referee_clients.join import format_join
from referee_clients.sdk.channel import Security, bearer, open_channel
from referee_clients.sdk.errors import answer_of

_TIMEOUT_S = 15
_RULES = "alhambra"
"""The game, unless another is named."""


class Proofs(StrEnum):
    """As ``referee.log.v1.ProofPolicy``."""

    NONE = "none"
    REFUSALS = "refusals"
    ALL = "all"


def new(  # noqa: PLR0917 - typer reads options from the signature
    seats: Annotated[
        int | None, typer.Option(min=1, help="Number of seats.", show_default="the game's minimum")
    ] = None,
    rules: Annotated[
        str | None, typer.Option(help=f"Which game: {', '.join(registry.names())}.", show_default=_RULES)
    ] = None,
    server: Server = DEFAULT_SERVER,
    data: Annotated[
        Path, typer.Option(metavar="DIR", help="The referee's data directory, whose organiser token is used.")
    ] = Path("referee-data"),
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The organiser's token, if it is not in DIR.")
    ] = None,
    age_order: Annotated[
        str | None,
        typer.Option(
            metavar="SEATS",
            help="Seats from the youngest player to the oldest, such as 2,0,1, in a game that asks "
            "for it; by default 0,1,2,…",
        ),
    ] = None,
    principal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Principal with its own token (`referee token`) who takes the seat, or - for a seat "
            "that gets a join string. Give it once for each seat, in order.",
        ),
    ] = None,
    options: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help=f"""The game's options, such as '{{"max_turns": 200}}'. {options_of_games()}.""",
        ),
    ] = None,
    components: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Your own dominoes or sheet, as JSON in the form that --show-components prints. The "
            "grid of a sheet begins with blue 1 and yellow 1 to 6, whichever dice stand for the "
            "rows on the printed sheet.",
        ),
    ] = None,
    show_components: Annotated[
        bool,
        typer.Option("--show-components", help="Print the game's default components as JSON, without opening a game."),
    ] = False,
    series: Annotated[
        bool, typer.Option("--series", help="Make this game the first of a series, such as a dynasty.")
    ] = False,
    series_of: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Continue the series of a previous game, given by its file. Rules, seats, options "
            "and components stay the same.",
        ),
    ] = None,
    declare: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Public key (hex or key file) of the scribe who declares draws and rolls."),
    ] = None,
    scribed: Annotated[
        list[int] | None, typer.Option(metavar="SEAT", help="Seat whose moves the scribe enters. Repeatable.")
    ] = None,
    scribe: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="Public key of a further scribe for scribed seats. Repeatable."),
    ] = None,
    record_attempts: Annotated[
        bool, typer.Option("--record-attempts", help="Record refused moves as entries of the log.")
    ] = False,
    proofs: Annotated[
        Proofs,
        typer.Option(
            help="Put certificates into the game's file: for recorded refusals, or for every verdict "
            "that the rules of building decide."
        ),
    ] = Proofs.NONE,
    clock: Clock = None,
    lag: Lag = None,
    illegal: Illegal = None,
    absence: Absence = None,
    take_backs: TakeBacks = False,
    protest_time: ProtestTime = None,
    arbiter_key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="Public key (hex or key file) of an arbiter, who may rule on anything. Repeatable; numbered from 0.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the join strings to this new file, readable only by you."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure: SendInClear = False,
) -> None:
    """Open a game: print its id and one join string per seat. Give each to its player: whoever has it takes the seat.

    Exit codes: 0 opened; 1 the referee cannot be reached, or refuses; 2 wrong usage.

    Examples: `referee new --seats 3 --age-order 2,0,1`, `referee new --rules kingdomino --options '{"dynasty": true}'
    --series`, `referee new --series-of first.gamelog`, `referee new --seats 4 --declare scribe.pem --scribed 1
    --scribed 3 --out joins.txt`, `referee new --clock "10m+5s" --illegal strikes:3 --absence 2m --arbiter-key
    arbiter.pem --protest-time 10m`
    """
    if show_components:
        print(default_components(_game(rules, seats, None)[0]))
        return
    if series_of is not None and (options or age_order or components):
        raise Failure(
            "--series-of: options and components are those of the previous game; expected none here", EXIT_USAGE
        )
    previous = None if series_of is None else game_before(series_of)
    rules, seats = _game(rules, seats, previous)
    chosen = game_options(rules, b"" if previous is None else next_options(previous), options, age_order)
    request = pb.CreateGameRequest(rules_id=rules, options=chosen, series=place(previous, first=series))
    request.components = _components(rules, components, previous)
    scribed = scribed or []
    for seat in scribed:
        if not 0 <= seat < seats:
            raise Failure(f"--scribed {seat}: the game has seats 0 to {seats - 1}", EXIT_USAGE)
    request.seats.extend(log_pb2.Seat(scribed=seat in scribed) for seat in range(seats))
    if principal:
        if len(principal) != seats:
            raise Failure(f"--principal: {len(principal)} given; expected {seats}, one for each seat", EXIT_USAGE)
        request.principals.extend("" if name == "-" else name for name in principal)
    if declare is not None:
        request.declaring_scribe_key = public_key(f"--declare {declare}", declare)
    request.scribe_keys.extend(public_key(f"--scribe {key}", key) for key in scribe or [])
    request.arbiter_keys.extend(public_key(f"--arbiter-key {key}", key) for key in arbiter_key or [])
    illegal = [*(illegal or []), *(["record"] if record_attempts else [])]
    request.terms.CopyFrom(terms(clock, lag, illegal, absence, take_backs, protest_time))
    if proofs is Proofs.REFUSALS and not request.terms.illegal_moves:
        raise Failure(
            "--proofs refusals: only recorded refusals are proved; expected --record-attempts with it", EXIT_USAGE
        )
    if proofs is not Proofs.NONE:
        request.terms.proofs = log_pb2.ProofPolicy.Value(f"PROOF_POLICY_{proofs.name}")
    token = token_of(token_file or data / TOKEN_FILE, needed=tls_cert is None or token_file is not None)
    secured = security(server, tls_ca, tls_cert, tls_key, insecure, token)
    # Before the game is opened, as its join strings are told only once.
    with _new_file(out) as file:
        created = asyncio.run(_create(server, secured, token, request))
        joins = {
            seat: format_join(server, created.game.id, seat, token)
            for seat, token in enumerate(created.seat_tokens)
            if token
        }
        if file is not None:
            lines = [*joins.values(), *(f"{role} {token}" for role, token in _tokens(created).items() if token)]
            file.write("".join(f"{line}\n" for line in lines))
    print(_as_json(created, joins) if as_json else _as_text(created, joins, out))
    for seat, name in enumerate(request.principals):
        if name:
            print(
                f"seat {seat}: {format_join(server, created.game.id, seat, 'TOKEN')} with the token of {name}",
                file=sys.stderr,
            )


async def _create(server: str, secured: Security, token: str, request: pb.CreateGameRequest) -> pb.CreateGameResponse:
    async with open_channel(server, token, secured) as channel:
        stub = game_service_pb2_grpc.GameServiceStub(channel)
        try:
            return await stub.CreateGame(request, timeout=_TIMEOUT_S, metadata=bearer(token))
        except grpc.aio.AioRpcError as error:
            raise _refused(server, error) from None


_OPTIONS: Final = {
    "seats": "--seats",
    "options": "--options",
    "age_order": "--age-order",
    "components": "--components",
    "principals": "--principal",
    "arbiter_keys": "--arbiter-key",
    "terms.clock": "--clock",
    "terms.illegal_moves": "--illegal",
    "terms.strikes": "--illegal",
    "terms.penalty_ms": "--illegal penalty",
    "terms.absence_ms": "--absence",
    "terms.protest_ms": "--protest-time",
    "terms.take_backs": "--take-backs",
    "terms.proofs": "--proofs",
}
"""What fills the fields of the request."""


def _refused(server: str, error: grpc.aio.AioRpcError) -> Failure:
    """Return what the referee finds wrong, by the option that said it."""
    found = answer_of(error)
    field, what = (found.metadata.get(name, "") for name in ("field", "what"))
    if not what:
        return refused(server, error)
    option = _OPTIONS.get(field.partition("[")[0], f"--options {field}")
    return Failure(f"{option}: {what}")


def _game(rules: str | None, seats: int | None, previous: Record | None) -> tuple[str, int]:
    """Rule and seats: as they are given or, of a series, as they were. Raise ``Failure``."""
    if previous is not None:
        known = previous.opened.rules_id, len(previous.opened.seats)
        if (rules or known[0], seats or known[1]) != known:
            raise Failure(
                f"--series-of: the previous game is {known[0]} with {known[1]} seats; expected the same", EXIT_USAGE
            )
        return known
    rules = rules or _RULES
    try:
        return rules, seats or registry.get(rules).min_seats
    except UnknownRules as error:
        raise Failure(f"--rules {rules}: {error}; expected one of {', '.join(registry.names())}", EXIT_USAGE) from None


def _components(rules: str, file: Path | None, previous: Record | None) -> bytes:
    """Return those of the file or, of a series, as they were; empty: the default. Raise ``Failure``."""
    if file is not None:
        return game_components(rules, file)
    return b"" if previous is None else previous.opened.tables


@contextmanager
def _new_file(path: Path | None) -> Iterator[TextIO | None]:
    """A new file that only its owner can read, and that is gone again if the game is not opened."""
    if path is None:
        yield None
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise Failure(f"--out {path}: {error.strerror}", EXIT_USAGE) from None
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            yield file
    except OSError as error:
        raise Failure(f"--out {path}: {error.strerror}; the game is open, but its join strings are lost") from None
    except BaseException:
        path.unlink()
        raise


def _as_text(created: pb.CreateGameResponse, joins: dict[int, str], out: Path | None) -> str:
    lines = [f"game {created.game.id}", f"verifier key {created.verifier_key}"]
    if out is not None:
        lines.append(f"join strings in {out}")
    else:
        lines += [f"seat {seat}: {join}" for seat, join in joins.items()]
        lines += [f"{role}: {token}" for role, token in _tokens(created).items() if token]
    return "\n".join(lines)


def _tokens(created: pb.CreateGameResponse) -> dict[str, str]:
    """Of those who are at no seat; empty where there are none."""
    return {"scribe": created.scribe_token, "arbiter": created.arbiter_token}


def _as_json(created: pb.CreateGameResponse, joins: dict[int, str]) -> str:
    value = {
        "game": created.game.id,
        "verifier_key": created.verifier_key,
        "joins": {str(seat): join for seat, join in joins.items()},
        **{f"{role}_token": token for role, token in _tokens(created).items()},
    }
    return json.dumps(value, indent=2)
