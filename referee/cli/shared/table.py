"""Commands that act at a table: their options, and the look at the game before they send."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, fields
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar, get_type_hints

import grpc
from cyclopts import Parameter

from referee.cli.shared import output
from referee.cli.shared.arguments import private_key
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.remote import DEFAULT_SERVER, Server, Transport, refused, token_of
from referee.cli.shared.remote_games import GameId, names_now, whole_id
from referee.log.errors import LogError
from referee.log.events import Act, Author, Role
from referee.log.intent import TableAct
from referee.log.keys import PrivateKey
from referee.log.names import Shown
from referee.log.remarks import MAX_CHARACTERS, is_plain
from referee.log.replay import Record
from referee.telling.game_file import GameFile
from referee_clients.rulings import check
from referee_clients.sdk.arbiter import TRIES, arbiter
from referee_clients.sdk.channel import Security, open_channel
from referee_clients.sdk.errors import ClientError, WentOn

_T = TypeVar("_T")
ArbiterKey = Annotated[
    Path, Parameter(name="--key", metavar="FILE", help="The arbiter's private key.", show_default=False)
]
Yes = Annotated[bool, Parameter(name="--yes", help="Do not ask for confirmation.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Admitted:
    """The referee, and the credentials there."""

    server: Server = DEFAULT_SERVER
    token_file: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="A file with the token: the end of a join string, or the arbiters' token.",
            show_default=False,
        ),
    ] = None
    transport: Transport = Transport()

    def token(self) -> str:
        """Raise ``Failure`` if none is given and there is no certificate instead."""
        if self.token_file is not None:
            return token_of(self.token_file)
        if self.transport.tls_cert is None:
            raise Failure("no token; expected --token-file FILE, with the token that came with the game", EXIT_USAGE)
        return ""

    def secured(self, token: str = "") -> Security:
        """Raise ``Failure``."""
        return self.transport.security(self.server, token)


@dataclass(frozen=True, kw_only=True, slots=True)
class Remote(Admitted):
    """A game at a referee."""

    game: GameId


@dataclass(frozen=True, slots=True)
class Floor:
    """One game at a referee, to look at and to act in. Every method raises ``Failure``."""

    server: str
    game: str
    token: str
    secured: Security

    @classmethod
    def of(cls, words: Remote, token: str) -> Floor:
        """Return the game that is meant, at the referee that is meant."""
        secured = words.secured(token)
        return cls(words.server, whole_id(words.server, secured, words.game), token, secured)

    def game_file(self) -> GameFile:
        """Return the game so far."""

        async def fetch() -> bytes:
            async with arbiter(self.server, self.game, self.token, self.secured) as calls:
                return await calls.log()

        data = self._called(fetch)
        try:
            return GameFile.read(BytesIO(data))
        except LogError as error:
            raise Failure(f"the file that the referee sent is not valid: {error}") from None

    def names(self, record: Record) -> dict[int, Shown]:
        """Return the names of the players by seat, as far as the referee tells them."""

        async def ask() -> dict[int, Shown]:
            async with open_channel(self.server, self.token, self.secured) as channel:
                return await names_now(channel, record, self.token)

        return asyncio.run(ask())

    def check(self, record: Record, author: Author, key: Path, act: TableAct) -> Act:
        """Check that the referee will take it, as far as it is known here. Return what it says."""
        private = signer(record, author, key)
        try:
            return check(record, author, private, act)
        except ClientError as error:
            raise Failure(str(error)) from None

    def enter(self, record: Record, author: Author, key: Path, act: TableAct, text: str, *, anywhere: bool) -> int:
        """Send it; the entry that it became. ``anywhere``: it is meant wherever the game stands."""
        private = private_key("--key", key)
        tries = TRIES if anywhere else 1

        async def send() -> int:
            async with arbiter(self.server, self.game, self.token, self.secured) as calls:
                try:
                    return (await calls.act(record.place, author, private, act, text, tries=tries)).seq
                except WentOn as error:
                    raise Failure(f"{error}; expected the same command again") from None

        return self._called(send)

    def _called(self, call: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        return called(self.server, call)


def signer(record: Record, author: Author, key: Path) -> PrivateKey:
    """Return the author's private key, which is in the file. Raise ``Failure``."""
    private = private_key("--key", key)
    if not record.keyring.keys_of(author):
        raise Failure(f"this game has no {author}, or {author} has not joined; expected another number")
    if misfit := record.keyring.misfit(author, private.public):
        arbiters = list(record.opened.arbiter_keys) if author.role is Role.ARBITER else []
        whose = arbiters.index(private.public.raw) if private.public.raw in arbiters else None
        hint = "" if whose is None else f", but that of arbiter {whose}; expected --arbiter {whose}"
        raise Failure(f"--key {key}: {misfit}{hint}")
    return private


def called(server: str, call: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Make the call and return its answer. Raise ``Failure``."""
    try:
        return asyncio.run(call())
    except ClientError as error:
        if isinstance(error.__cause__, grpc.aio.AioRpcError) and not isinstance(error, WentOn):
            raise refused(server, error.__cause__) from None
        raise Failure(str(error)) from None


def reason_of(text: str) -> str:
    """Return the words of an act, which the referee takes as they are. Raise ``Failure``."""
    if len(text) > MAX_CHARACTERS or not is_plain(text):
        raise Failure(f"--reason: expected at most {MAX_CHARACTERS} printable characters", EXIT_USAGE)
    return text


def confirm(lines: Iterable[str], *, sure: bool) -> None:
    """Say what will happen, and ask. Raise ``Failure`` for anything but yes."""
    output.write("".join(f"{line}\n" for line in lines))
    if sure:
        return
    output.write("Send this? [y/N] ")
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer:
        output.write("\n")
        raise Failure("no answer, so nothing was sent; expected y, or --yes")
    if answer.strip().lower() not in ("y", "yes"):
        raise Failure("nothing was sent")


def composed(common: type[_T], make: Callable[..., Any], run: Callable[[_T, dict[str, Any]], None]) -> Any:
    """A command with the words of a dataclass and those of ``make``, which ``run`` is given.

    ``make`` may have a parameter ``look`` beside, for the game as it stands. The first word of the dataclass is an
    argument, and so are the words of ``make`` that are not keywords only.
    """
    first, *others = sorted(_parameters(common), key=lambda parameter: parameter.name in _REMOTE)
    own = [parameter for parameter in _parameters(make) if parameter.name != "look"]
    arguments = [each.replace(kind=_ARGUMENT) for each in (first, *own) if each is first or each.kind != _OPTION]
    ordered = [*arguments, *(each for each in own if each.kind == _OPTION), *others]

    def command(*given: Any, **words: Any) -> None:
        words |= dict(zip((each.name for each in arguments), given, strict=True))
        names = {each.name for each in own}
        run(
            common(**{name: value for name, value in words.items() if name not in names}),
            {name: value for name, value in words.items() if name in names},
        )

    command.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in ordered}
    command.__doc__ = make.__doc__
    return command


_ARGUMENT: Final = inspect.Parameter.POSITIONAL_ONLY
_OPTION: Final = inspect.Parameter.KEYWORD_ONLY
_REMOTE: Final = frozenset(field.name for field in fields(Admitted))
"""The options of reaching the referee, which come last."""


def _parameters(of: Callable[..., Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(of, include_extras=True)
    return [each.replace(annotation=hints[name]) for name, each in inspect.signature(of).parameters.items()]
