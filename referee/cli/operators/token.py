"""``referee token``: the permissions at a referee."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, TypeVar

import grpc
from cyclopts import Parameter
from cyclopts.validators import Number
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from referee.cli.shared.commands import group
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.remote import Operated, refused
from referee.cli.shared.remote_games import whole_id
from referee.cli.shared.tournament import looking
from referee.server.live.opening import ENTRANT
from referee.server.service.permissions import Scope
from referee.text.notation.outcomes import counted
from referee.text.notation.times import moment_utc
from referee.tournament.file import SUFFIX
from referee.v1 import access_service_pb2 as pb
from referee.v1.access_service_pb2_grpc import AccessServiceStub
from referee.wire.enums import word
from referee_clients.sdk.channel import Metadata, Security, bearer, open_channel

_T = TypeVar("_T")
_Call = Callable[[Any, Metadata], Awaitable[_T]]
_ID_DIGITS = 16
_TIMEOUT_S = 15
_LIFETIME = re.compile(r"([1-9][0-9]{0,8})([smhd])\Z", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_PAGE = 500

token = group(
    "token",
    """Issue, list and revoke the tokens and certificates that admit callers to a referee.

    Reading games needs none; everything else needs a token or a client certificate. Exit codes: 0 done; 1 the referee
    cannot be reached, or refuses; 2 wrong usage.
    """,
)
TokenFile = Annotated[
    Path | None, Parameter(name="--token-file", metavar="FILE", help="A token with scope admin, if it is not in DIR.")
]


@token.command
def issue(
    principal: Annotated[
        str,
        Parameter(
            name="PRINCIPAL",
            help="The owner of the token, such as ani.bot: a-z, 0-9, dot, hyphen, underscore.",
            show_default=False,
        ),
    ] = "",
    /,
    *,
    scope: Annotated[
        list[Scope] | None,
        Parameter(
            help="The rights of the token: organise games; play the principal's seats; scribe: enter "
            "moves as a scribe; arbiter: rule on games; audit the state of the referee; admin: "
            "manage tokens; gateway: say for whom a call is. Repeatable.",
            show_default=False,
        ),
    ] = None,
    event: Annotated[
        str,
        Parameter(
            metavar="EVENT",
            help="For an entrant of this event, by its number, its id or its file: the token takes the entrant's seats "
            "in the event's games, and nothing else.",
        ),
    ] = "",
    entrant: Annotated[
        int | None, Parameter(metavar="NUMBER", help="With --event: the entrant's number.", validator=Number(gte=1))
    ] = None,
    game: Annotated[str, Parameter(metavar="ID", help="Limit the token to this game.")] = "",
    seat: Annotated[
        int | None,
        Parameter(
            help="Limit the token to this seat of the game, which becomes the principal's.", validator=Number(gte=0)
        ),
    ] = None,
    lifetime: Annotated[
        str | None,
        Parameter(
            metavar="TIME", help="How long the token is valid, such as 90m, 12h or 30d; by default until it is revoked."
        ),
    ] = None,
    cert: Annotated[
        Path | None, Parameter(metavar="FILE", help="Admit this client certificate (PEM) instead of making a token.")
    ] = None,
    token_file: TokenFile = None,
    home: Operated = Operated(),
) -> None:
    """Make a token for a principal and print it once; it cannot be shown again. Its description goes to standard error.

    Examples: `referee token issue ani.bot --scope play > ani.token`, `referee token issue club --scope organise
    --lifetime 12h`, `referee token issue ani.bot --scope play --cert ani.pem`, `referee token issue --event
    spring.eventlog --entrant 7 > 7.token`
    """
    if bool(event) != (entrant is not None):
        raise Failure("--event and --entrant go together; expected both, or neither", EXIT_USAGE)
    if event and (principal or scope or game):
        raise Failure(
            "--event says whose the token is and for what; expected no PRINCIPAL, --scope or --game", EXIT_USAGE
        )
    if not event and not (principal and scope):
        raise Failure("for whom? expected PRINCIPAL and --scope, or --event and --entrant", EXIT_USAGE)
    admitted = _admitted(home, token_file)
    request = pb.IssueTokenRequest(
        principal=principal,
        scopes=[pb.Scope.Value(f"SCOPE_{name.name}") for name in scope or ()],
        event=_event(event),
        entrant=entrant or 0,
        game_id=whole_id(admitted[0], admitted[2], game) if game else "",
        seat=seat,
        lifetime_ms=_milliseconds(lifetime) if lifetime is not None else 0,
        certificate=_der(cert) if cert is not None else b"",
    )
    found: pb.IssueTokenResponse = _called(
        *admitted,
        lambda stub, metadata: stub.IssueToken(request, timeout=_TIMEOUT_S, metadata=metadata),
    )
    if found.secret:
        print(found.secret)
    print(", ".join((found.token.id, *_words(found.token)[1:])), file=sys.stderr)


@token.command(name="list")
def list_tokens(
    *,
    principal: Annotated[str, Parameter(metavar="NAME", help="List only the tokens of this principal.")] = "",
    every: Annotated[
        bool,
        Parameter(name="--all", help="Also list revoked and expired tokens, and those that were issued with games."),
    ] = False,
    as_json: Annotated[bool, Parameter(name="--json", help="Print JSON.")] = False,
    token_file: TokenFile = None,
    home: Operated = Operated(),
) -> None:
    """List tokens and certificates, newest first, without their secrets.

    Example: `referee token list --principal ani.bot --all`
    """

    admitted = _admitted(home, token_file)
    request = pb.ListTokensRequest(principal=principal, all=every)
    tokens = _called(*admitted, lambda stub, metadata: _pages(stub, metadata, request))
    if as_json:
        print(json.dumps([_plain(found) for found in tokens], indent=2))
        return
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("id", "principal", "for", "where", "until"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "id")
    for found in tokens:
        table.add_row(*_words(found))
    Console(highlight=False).print(table)


@token.command
def revoke(
    id_: Annotated[
        str,
        Parameter(name="ID", help="The token's id, as `referee token list` shows it.", show_default=False),
    ] = "",
    /,
    *,
    issued_before: Annotated[
        str,
        Parameter(
            metavar="TIME",
            help="Revoke all tokens that were issued before, such as 2026-11-28T18:00 (UTC), but the one that this "
            "command uses: after `referee restore` those that were revoked since the copy are valid again.",
        ),
    ] = "",
    token_file: TokenFile = None,
    home: Operated = Operated(),
) -> None:
    """Revoke a token or certificate at once: its calls and open streams end.

    Examples: `referee token revoke 3b1f0c77a5d2e914`, `referee token revoke --issued-before 2026-11-28T18:00`
    """
    if bool(id_) == bool(issued_before):
        raise Failure("which? expected a token's ID, or --issued-before", EXIT_USAGE)
    until_ms = _moment_ms(issued_before) if issued_before else 0
    admitted = _admitted(home, token_file)

    shown = admitted[1].encode() if admitted[1] or home.transport.tls_cert is None else _der(home.transport.tls_cert)
    ours = sha256(shown).hexdigest()[:_ID_DIGITS]

    async def revoked(stub: Any, metadata: Metadata, identity: str) -> pb.Token:
        request = pb.RevokeTokenRequest(id=identity)
        answer: pb.RevokeTokenResponse = await stub.RevokeToken(request, timeout=_TIMEOUT_S, metadata=metadata)
        return answer.token

    async def every(stub: Any, metadata: Metadata) -> list[pb.Token]:
        if id_:
            return [await revoked(stub, metadata, id_)]
        known = await _pages(stub, metadata, pb.ListTokensRequest())
        old = [each for each in known if each.issued_ms < until_ms and each.id != ours]
        return [await revoked(stub, metadata, each.id) for each in old]

    found = _called(*admitted, every)
    for each in found:
        print(", ".join(_words(each)))
    if issued_before:
        print(f"{counted(len(found), 'token')} revoked")


async def _pages(stub: Any, metadata: Metadata, request: pb.ListTokensRequest) -> list[pb.Token]:
    """Return the tokens of all pages."""
    request.page_size = _PAGE
    found: list[pb.Token] = []
    while True:
        page = await stub.ListTokens(request, timeout=_TIMEOUT_S, metadata=metadata)
        found += page.tokens
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


def _moment_ms(text: str) -> int:
    """Return a time in UTC as milliseconds since 1970. Raise ``Failure``."""
    try:
        found = datetime.fromisoformat(text)
        return round(1000 * (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
    except ValueError:
        raise Failure(f"--issued-before {text!r}: expected a time such as 2026-11-28T18:00", EXIT_USAGE) from None


def _event(text: str) -> str:
    """Return the number or id of an event; of a file, its event's number. Raise ``Failure``."""
    if not text.endswith(SUFFIX):
        return text
    with looking(Path(text)) as found:
        return str(found.log.event_id)


def _admitted(home: Operated, token_file: Path | None) -> tuple[str, str, Security]:
    """Return the address, the token, empty where a certificate is to do, and how to connect."""
    secret = home.token(token_file)
    return home.address, secret, home.transport.security(home.address, secret)


def _called(server: str, secret: str, secured: Security, call: _Call[_T]) -> _T:
    async def run() -> _T:
        async with open_channel(server, secret, secured) as channel:
            return await call(AccessServiceStub(channel), bearer(secret))

    try:
        return asyncio.run(run())
    except grpc.aio.AioRpcError as error:
        raise refused(server, error) from None


def _milliseconds(text: str) -> int:
    if (found := _LIFETIME.match(text)) is None:
        raise Failure(f"--lifetime {text!r}: expected a number and s, m, h or d, such as 12h", EXIT_USAGE)
    return timedelta(**{_UNITS[found[2]]: int(found[1])}) // timedelta(milliseconds=1)


def _der(path: Path) -> bytes:
    # Only who serves installs this.
    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415

    try:
        return x509.load_pem_x509_certificate(path.read_bytes()).public_bytes(Encoding.DER)
    except OSError as error:
        raise Failure(f"--cert {path}: {error.strerror}", EXIT_USAGE) from None
    except ValueError:
        raise Failure(f"--cert {path}: expected a certificate in PEM", EXIT_USAGE) from None


def _words(found: pb.Token) -> tuple[str, ...]:
    """Id, principal, scopes, where it holds, until when."""
    entrant = ENTRANT.match(found.principal)
    where = f"game {found.game_id}" if found.game_id else f"event {entrant[1]}" if entrant else "everywhere"
    if found.HasField("seat"):
        where += f", seat {found.seat}"
    until = f"until {moment_utc(found.expires_ms)}" if found.expires_ms else "until revoked"
    if found.revoked_ms:
        until = f"revoked {moment_utc(found.revoked_ms)}"
    elif found.certificate:
        until = f"certificate, {until}"
    return found.id, found.principal or "bearer", " ".join(_scopes(found)), where, until


def _scopes(found: pb.Token) -> Iterator[str]:
    for value in found.scopes:
        yield word(pb.Scope, value)


def _plain(found: pb.Token) -> dict[str, object]:
    return {
        "id": found.id,
        "principal": found.principal,
        "scopes": list(_scopes(found)),
        "game": found.game_id or None,
        "seat": found.seat if found.HasField("seat") else None,
        "certificate": found.certificate,
        "issued_ms": found.issued_ms or None,
        "expires_ms": found.expires_ms or None,
        "revoked_ms": found.revoked_ms or None,
    }
