"""The options of every command that calls a referee: its address and what the two sides show each other."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Container
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Annotated, TypeVar

import grpc
from cyclopts import Parameter

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.server.service.files import ADDRESS_FILE, TOKEN_FILE
from referee_clients.sdk.channel import (
    ADDRESS_EXPECTED,
    TLS_SCHEME,
    BadAddress,
    Insecure,
    Security,
    check,
    is_loopback,
    split_address,
    split_addresses,
)
from referee_clients.sdk.errors import EXPIRED, answer_of, expired

_EVERYWHERE = ("0.0.0.0", "[::]")  # noqa: S104 - to find out that a referee listens there
"""Hosts to listen on that are no address for clients elsewhere."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of one referee."""

    here: str
    """The address to which commands on its own machine connect."""
    public: str
    """The address in join strings."""
    web: str = ""
    """The origin of its pages, in links; empty: it has no pages where seats can be played."""

    @classmethod
    def of(cls, listening: str, public: str, web: str = "") -> Addresses:
        """Return those of a referee that listens there. ``public``: what its operator says; empty: nothing."""
        tls, host, target = split_address(listening)
        here = listening.replace(target, f"127.0.0.1:{target.rpartition(':')[2]}") if is_everywhere(host) else listening
        # A certificate is for the name that is public, and without TLS a token leaves no machine.
        return cls(public if tls and public else here, public or listening, web)

    @classmethod
    def remembered(cls, data: Path) -> Addresses | None:
        """Return those of the referee that was started last on the directory; None if it cannot be known."""
        try:
            found = json.loads((data / ADDRESS_FILE).read_text(encoding="utf-8"))
            addresses = cls(str(found["here"]), str(found["public"]), str(found.get("web", "")))
            for address in (addresses.here, addresses.public):
                split_addresses(address)
        except (OSError, ValueError, KeyError, TypeError, BadAddress):
            return None
        return addresses

    def remember(self, data: Path) -> None:
        """Raise ``OSError``."""
        part = data / f"{ADDRESS_FILE}.part"
        part.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")
        part.replace(data / ADDRESS_FILE)


def is_everywhere(host: str) -> bool:
    """Return whether a host to listen on is none to connect to."""
    return host in _EVERYWHERE


def is_reached_from_elsewhere(address: str) -> bool:
    """Return whether a join string with this address can be of use on another machine."""
    hosts = [split_address(each)[1] for each in split_addresses(address)]
    return not any(is_everywhere(host) or is_loopback(host) for host in hosts)


def problem_with(public: str, *, tls: bool) -> str:
    """Return what is wrong with an operator's public address; empty if nothing is."""
    try:
        first = split_addresses(public)[0]
    except BadAddress:
        return "expected HOST:PORT, or grpcs://HOST:PORT for TLS; several with commas between"
    return f"this referee speaks TLS; expected {TLS_SCHEME}{public}" if tls and not first.startswith(TLS_SCHEME) else ""


_T = TypeVar("_T")
DEFAULT_SERVER = "127.0.0.1:50051"
Server = Annotated[
    str,
    Parameter(
        name="--server",
        env_var="REFEREE_SERVER",
        metavar="ADDRESS",
        help="The referee's address; grpcs://HOST:PORT for TLS. Put commas between several that share games.",
        group="The referee",
    ),
]
ServerOfData = Annotated[
    str | None,
    Parameter(
        name="--server",
        env_var="REFEREE_SERVER",
        metavar="ADDRESS",
        help="The referee's address; grpcs://HOST:PORT for TLS. Put commas between several that share games.",
        show_default=f"the one that DIR remembers, or {DEFAULT_SERVER}",
        group="The referee",
    ),
]
"""The option of commands with ``--data``: see ``server_of``."""
Data = Annotated[
    Path,
    Parameter(
        name="--data",
        metavar="DIR",
        help="The referee's data directory, whose organiser token is used.",
        group="The referee",
    ),
]
DataForAddress = Annotated[
    Path, Parameter(name="--data", metavar="DIR", help="The referee's data directory, which remembers its address.")
]
_PATIENCE_S = 60.0
"""The wait for one answer of a referee that says when it resumes."""
DATA = Path("referee-data")
_TOKEN = re.compile("[A-Za-z0-9_-]{20,200}", re.ASCII)
TlsCa = Annotated[
    Path | None,
    Parameter(
        name="--tls-ca",
        env_var="REFEREE_TLS_CA",
        metavar="FILE",
        help="Certificate authorities (PEM) to trust for the referee; by default the well-known ones.",
        group="The referee",
    ),
]


@Parameter(name="*", group="The referee")
@dataclass(frozen=True, kw_only=True, slots=True)
class Transport:
    """The options of what a client and its referee show each other."""

    tls_ca: TlsCa = None
    tls_cert: Annotated[
        Path | None,
        Parameter(env_var="REFEREE_TLS_CERT", metavar="FILE", help="Client certificate (PEM) that the referee admits."),
    ] = None
    tls_key: Annotated[
        Path | None,
        Parameter(env_var="REFEREE_TLS_KEY", metavar="FILE", help="Private key (PEM) of the client certificate."),
    ] = None
    insecure: Annotated[
        bool, Parameter(env_var="REFEREE_INSECURE", help="Send tokens to other machines even without TLS.")
    ] = False

    def security(self, server: str, token: str = "") -> Security:
        """Return the security for ``open_channel``, which cannot fail any more. Raise ``Failure``.

        ``token``: the one that calls will carry.
        """
        found = Security(self.tls_ca, self.tls_cert, self.tls_key, self.insecure)
        try:
            check(server, found, token)
        except BadAddress:
            raise Failure(f"--server {server!r}: expected {ADDRESS_EXPECTED}", EXIT_USAGE) from None
        except Insecure as error:
            raise Failure(str(error)) from None
        return found


@Parameter(name="*", group="The referee")
@dataclass(frozen=True, kw_only=True, slots=True)
class Operated:
    """The options that say which referee is meant, for the people who run it."""

    server: ServerOfData = None
    data: Data = DATA
    transport: Transport = Transport()

    @property
    def address(self) -> str:
        """The address that is given, or else the one that the directory remembers."""
        return server_of(self.server, self.data)

    def token(self, file: Path | None, *, needed: bool | None = None) -> str:
        """Return the token in the file, or else the organiser's; empty if there is none. Raise ``Failure``.

        ``needed``: by default unless a certificate stands for it.
        """
        if needed is None:
            needed = self.transport.tls_cert is None or file is not None
        return token_of(file or self.data / TOKEN_FILE, needed=needed)


class NoAnswer(Failure):
    """There is no answer now; a referee that is being started again may give one later."""


def server_of(server: str | None, data: Path) -> str:
    """Return the address that is given, or else the one that the directory remembers."""
    if server is not None:
        return server
    addresses = Addresses.remembered(data)
    return DEFAULT_SERVER if addresses is None else addresses.here


def token_of(path: Path, *, needed: bool = True) -> str:
    """Return the token in the file; empty if there is no such file and none is ``needed``."""
    try:
        found = path.read_text("ascii").strip()
    except FileNotFoundError:
        if not needed:
            return ""
        raise Failure(
            f"{path}: No such file or directory; expected a token file, such as referee serve makes"
        ) from None
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}; expected a token file, such as referee serve makes") from None
    except UnicodeDecodeError:
        found = ""
    if not is_token(found):
        raise Failure(f"{path}: not a token; expected one such as referee serve makes")
    return found


def is_token(text: str) -> bool:
    """Return whether the text can be a token."""
    return _TOKEN.fullmatch(text) is not None


async def patiently(
    ask: Callable[[], Awaitable[_T]],
    server: str,
    reasons: Container[str] = frozenset({"LIMIT"}),
    patience_s: float = _PATIENCE_S,
) -> _T:
    """Return the answer. As long as the referee refuses for one of the reasons and says when, ask again then.

    Raise ``Failure``.
    """
    until_s = monotonic() + patience_s
    while True:
        try:
            return await ask()
        except grpc.aio.AioRpcError as error:
            answer = answer_of(error)
            if answer.reason not in reasons or answer.retry_s is None or monotonic() + answer.retry_s > until_s:
                raise refused(server, error) from None
            await asyncio.sleep(answer.retry_s)


def refused(server: str, error: grpc.aio.AioRpcError) -> Failure:
    """Return what the referee said, or why it cannot be asked."""
    answer = answer_of(error)
    kind = NoAnswer if answer.passes else Failure
    if answer.reason:
        return kind(f"the referee refused: {answer}")
    for sign, meaning in _SIGNS.items():
        if sign in answer.message:
            return kind(f"{server}: {meaning}")
    return kind(f"{server}: no referee answers ({answer.code.name})")


_SIGNS = {
    EXPIRED: expired(),
    "CERTIFICATE_VERIFY_FAILED": "no trusted authority signed its certificate; expected --tls-ca FILE",
    "Hostname Verification": "its certificate is for another name",
    "WRONG_VERSION_NUMBER": "the server does not speak TLS; expected the address without grpcs://",
    "Connection refused": "nothing listens there; expected the address that referee serve printed",
    "Socket closed": "the server there does not answer; expected grpcs://HOST:PORT if it speaks TLS",
    "Failed parsing HTTP/2": "the server there is not a referee; expected the address that referee serve printed",
    "errors resolving": "no machine has this name; expected the name or address of one",
}
"""gRPC's words for the reason why there is no connection."""
