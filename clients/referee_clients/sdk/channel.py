"""The channel to a referee: its address, the credentials of the two sides, and the choice among several addresses.

An address is ``host:port``, or ``grpcs://host:port`` where the referee speaks TLS; join strings carry it as it is.
Several referees that share their games are a list, ``a:50051,b:50051``, of which any one will do; ``grpcs://`` before
the first stands for all. gRPC itself has a list of numeric addresses for one name and one certificate; referees that
share games are machines with names and certificates of their own. Over an address without TLS no credentials are sent,
but to this machine itself: a machine on the way could read them.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import grpc

from referee import api
from referee_clients.sdk.errors import ClientError

TLS_SCHEME = "grpcs://"
_TARGET = re.compile(r"(?P<host>\[[0-9a-fA-F:.%a-z]+\]|[^\s:/#\[\]]+):(?P<port>[0-9]{1,5})\Z", re.ASCII)
ADDRESS_EXPECTED = (
    "HOST:PORT, such as 127.0.0.1:50051, or grpcs://HOST:PORT for TLS; several with commas between, "
    "all of them with TLS or none"
)
MOST_ADDRESSES = 16

_HANDSHAKE_S = 5.0
CHANNEL_OPTIONS: Sequence[tuple[str, int | str]] = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    # This is how long a connection may take to be made: over the internet with TLS often more than 0.1 s. One that is
    # refused is tried again as the other two say.
    ("grpc.min_reconnect_backoff_ms", int(1000 * _HANDSHAKE_S)),
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.max_receive_message_length", 8 << 20),
)

ANY_TIME = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME, for which ssl has no name."""

Metadata = tuple[tuple[str, str], ...]


class BadAddress(ClientError):
    """Not an address of a referee."""


class Insecure(ClientError):
    """The channel would give credentials away, or cannot be as secure as was asked."""


@dataclass(frozen=True, slots=True)
class Security:
    """The certificates that a client trusts, and its own. All files are PEM."""

    ca: Path | None = None
    """Certificates of authorities that may vouch for the referee; None: those that gRPC brings along."""
    certificate: Path | None = None
    """The client's own, where the referee admits by certificate; with ``key``."""
    key: Path | None = None
    insecure: bool = False
    """Tokens may be sent without TLS to other machines."""
    name: str = ""
    """The name in the referee's certificate, where it is not the one in the address."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Security:
        """Read REFEREE_TLS_CA, REFEREE_TLS_CERT, REFEREE_TLS_KEY (files) and REFEREE_INSECURE (1)."""
        ca, certificate, key = (environment.get(f"REFEREE_TLS_{name}") for name in ("CA", "CERT", "KEY"))
        return cls(
            Path(ca) if ca else None,
            Path(certificate) if certificate else None,
            Path(key) if key else None,
            environment.get("REFEREE_INSECURE") == "1",
        )

    def credentials(self) -> grpc.ChannelCredentials:
        """Return credentials for gRPC, which itself says nothing useful about wrong files. Raise ``Insecure``."""
        self._context()
        return grpc.ssl_channel_credentials(_read(self.ca), _read(self.key), _read(self.certificate))

    def expired_on(self, address: str) -> datetime | None:
        """Return when the certificate expired that is shown there, if nothing else is wrong with it.

        It waits for the network. Raise ``BadAddress`` and ``Insecure``.
        """
        found = (self._expired_on(each) for each in split_addresses(address))
        return next((when for when in found if when is not None), None)

    def _expired_on(self, address: str) -> datetime | None:
        context = self._context()
        if self.ca is None:
            context.load_default_certs()
        context.verify_flags |= ANY_TIME
        context.set_alpn_protocols(["h2"])
        _, host, target = split_address(address)
        name, port = host.removeprefix("[").removesuffix("]"), int(target.rpartition(":")[2])
        try:
            with (
                socket.create_connection((name, port), timeout=_HANDSHAKE_S) as raw,
                context.wrap_socket(raw, server_hostname=name) as connection,
            ):
                shown = connection.getpeercert() or {}
        except OSError:
            return None
        ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(shown["notAfter"])), UTC)
        return ends if ends < datetime.now(UTC) else None

    def _context(self) -> ssl.SSLContext:
        """Return what the files make of a connection. Raise ``Insecure``."""
        if (self.certificate is None) != (self.key is None):
            raise Insecure("expected both a client certificate and its key, or neither")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self.ca is not None:
            with _telling(self.ca, "certificates in PEM"):
                context.load_verify_locations(self.ca)
        if self.certificate is not None and self.key is not None:
            _read(self.key)  # the error below does not say which of the two cannot be read
            with _telling(self.certificate, f"a certificate in PEM, of the key {self.key}"):
                context.load_cert_chain(self.certificate, self.key, password=_no_password)
        return context


def split_addresses(addresses: str) -> list[str]:
    """Return each address of a list, which may be of one, with its scheme. Raise ``BadAddress``."""
    found = addresses.split(",")
    scheme = TLS_SCHEME if found[0].startswith(TLS_SCHEME) else ""
    each = [address if address.startswith(TLS_SCHEME) else scheme + address for address in found]
    if len(each) > MOST_ADDRESSES:
        raise BadAddress(f"{len(each)} addresses: expected at most {MOST_ADDRESSES}")
    for address in each:
        if split_address(address)[0] != bool(scheme):
            raise BadAddress(f"address {address[:60]!r}: expected {TLS_SCHEME} before the first, for all of them")
    return list(dict.fromkeys(each))


def split_address(address: str) -> tuple[bool, str, str]:
    """Return whether the address asks for TLS, its host, and the target for gRPC. Raise ``BadAddress``."""
    target = address.removeprefix(TLS_SCHEME)
    found = _TARGET.match(target)
    if found is None or int(found["port"]) >= 1 << 16:
        raise BadAddress(f"address {address[:60]!r}: expected {ADDRESS_EXPECTED}")
    return target != address, found["host"], target


def is_loopback(host: str) -> bool:
    """Return whether what is sent there stays on this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def check(address: str, security: Security, token: str = "") -> None:
    """Raise ``BadAddress`` and ``Insecure`` as ``open_channel`` would."""
    for each in split_addresses(address):
        _credentials(each, security, token)


class Order:
    """The order in which the addresses of one referee are tried: by the outcomes of earlier attempts."""

    def __init__(self, addresses: str, security: Security, token: str) -> None:
        """Raise ``BadAddress`` and ``Insecure`` as ``open_channel`` would."""
        check(addresses, security, token)
        self._given = split_addresses(addresses)
        self._security = security
        self._token = token
        self._owner = ""

    def __str__(self) -> str:
        return ",".join(self._all)

    @property
    def _all(self) -> list[str]:
        return list(dict.fromkeys([self._owner, *self._given] if self._owner else self._given))

    def prefer(self, owner: str) -> None:
        """Try this one first, which a referee of these has named, if it is as safe as those are."""
        try:
            if split_address(owner)[0] == split_address(self._given[0])[0] and owner not in self._given[:1]:
                _credentials(owner, self._security, self._token)
                self._owner = owner
        except (BadAddress, Insecure):
            pass  # the others lead there as well

    def blame(self, channel: grpc.aio.Channel) -> None:
        """Try the address last that this channel went to. ``channel``: the last one that was opened in this order."""
        taken = channel.picked if isinstance(channel, Several) else 0
        if taken is not None:
            self.failed(self._all[taken])

    def failed(self, address: str) -> None:
        """Try this address last; an owner that was named not at all."""
        if address == self._owner:
            self._owner = ""
        else:
            self._given.append(self._given.pop(self._given.index(address)))


def open_channel(
    address: str,
    token: str = "",
    security: Security | None = None,
    *,
    options: Sequence[tuple[str, int | str]] = CHANNEL_OPTIONS,
) -> grpc.aio.Channel:
    """Connect when the first call is made, to the first of the addresses that answers.

    ``security``: as the environment says, if not given. ``token``: the one that calls will carry, see ``bearer``; it is
    not kept. Raise ``BadAddress`` and ``Insecure``.
    """
    ways = [_way(each, token, security, options) for each in split_addresses(address)]
    channels = [
        grpc.aio.insecure_channel(target, options=found)
        if credentials is None
        else grpc.aio.secure_channel(target, credentials, options=found)
        for target, credentials, found in ways
    ]
    return channels[0] if len(channels) == 1 else Several(channels)


def open_blocking_channel(address: str, token: str = "", security: Security | None = None) -> grpc.Channel:
    """Return the channel of ``open_channel``, for calls that block. Of several addresses it waits for one that
    answers."""
    ways = [_way(each, token, security, CHANNEL_OPTIONS) for each in split_addresses(address)]
    channels = [
        grpc.insecure_channel(target, options=options)
        if credentials is None
        else grpc.secure_channel(target, credentials, options=options)
        for target, credentials, options in ways
    ]
    taken = channels[0] if len(channels) == 1 else _first_open(channels)
    for channel in channels:
        if channel is not taken:
            channel.close()
    return taken


def _first_open(channels: Sequence[grpc.Channel]) -> grpc.Channel:
    for channel in channels:
        with suppress(grpc.FutureTimeoutError):
            grpc.channel_ready_future(channel).result(LOOK_S / len(channels))
            return channel
    return channels[0]


def _way(
    address: str, token: str, security: Security | None, options: Sequence[tuple[str, int | str]]
) -> tuple[str, grpc.ChannelCredentials | None, Sequence[tuple[str, int | str]]]:
    """Return target, credentials and options. Raise ``BadAddress`` and ``Insecure``."""
    security = security or Security.from_environment()
    credentials = _credentials(address, security, token)
    options = (*options, ("grpc.primary_user_agent", api.agent()))
    if security.name:
        options = (*options, ("grpc.ssl_target_name_override", security.name))
    return address.removeprefix(TLS_SCHEME), credentials, options


def bearer(token: str) -> Metadata:
    """Return the metadata of a call with this token; empty without one."""
    return (("authorization", f"Bearer {token}"),) if token else ()


def _credentials(address: str, security: Security, token: str) -> grpc.ChannelCredentials | None:
    """Return the credentials; None for an address without TLS."""
    tls, host, target = split_address(address)
    if tls:
        return security.credentials()
    asked = security.ca is not None or security.certificate is not None
    if (token or asked) and not security.insecure and not is_loopback(host):
        what = "a token" if token else "a client certificate"
        raise Insecure(
            f"{address}: {what} must not be sent there without TLS; expected {TLS_SCHEME}{target}, or --insecure"
        )
    return None


@contextmanager
def _telling(path: Path, expected: str) -> Iterator[None]:
    """Say of a file what is wrong with it."""
    try:
        yield
    except (ssl.SSLError, ValueError) as error:
        raise Insecure(f"{path}: expected {expected}") from error
    except OSError as error:
        raise Insecure(f"{path}: {error.strerror}") from error


def _read(path: Path | None) -> bytes | None:
    if path is None:
        return None
    with _telling(path, "a file"):
        return path.read_bytes()


def _no_password() -> str:
    """Instead of asking at the terminal."""
    raise ValueError("the key is encrypted")


# --- several addresses: every call takes the first way that is open -------------------------------------------------


HEAD_START_S = 0.3
"""The seconds before the next way is tried beside one."""
LOOK_S = 5.0
"""The seconds for all of them; then the first one is taken, whose error says why."""
_STEP_S = 0.01
_FAILED = (grpc.ChannelConnectivity.TRANSIENT_FAILURE, grpc.ChannelConnectivity.SHUTDOWN)


class Several(grpc.aio.Channel):
    """Channels in order of preference. The one that was open stays in use until it is not open."""

    def __init__(self, channels: Sequence[grpc.aio.Channel]) -> None:
        self._channels = channels
        self._open: int | None = None
        self._looking: asyncio.Task[int] | None = None
        self.picked: int | None = None
        """The index of the one that was taken last."""

    async def __aenter__(self) -> Several:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Close all of them."""
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(channel.close(grace) for channel in self._channels))

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Return the state of the one that is used."""
        return self._channels[self._open or 0].get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait until the one that is used is in another state."""
        await self._channels[self._open or 0].wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait until one of them is open."""
        await self._channels[await self._pick()].channel_ready()

    def unary_unary(self, method: str, *coders: Any, **named: Any) -> Any:
        """Return the method."""
        return self._method("unary_unary", method, *coders, **named)

    def unary_stream(self, method: str, *coders: Any, **named: Any) -> Any:
        """Return the method."""
        return self._method("unary_stream", method, *coders, **named)

    def stream_unary(self, method: str, *coders: Any, **named: Any) -> Any:
        """Return the method."""
        return self._method("stream_unary", method, *coders, **named)

    def stream_stream(self, method: str, *coders: Any, **named: Any) -> Any:
        """Return the method."""
        return self._method("stream_stream", method, *coders, **named)

    def _method(self, kind: str, *args: Any, **named: Any) -> Callable[..., _Call]:
        methods = [getattr(channel, kind)(*args, **named) for channel in self._channels]

        def call(*request: Any, **options: Any) -> _Call:
            async def begin() -> Any:
                return methods[await self._pick()](*request, **options)

            return _Call(begin())

        return call

    async def _pick(self) -> int:
        if self._open is None or self._channels[self._open].get_state() is not grpc.ChannelConnectivity.READY:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._look())
            self._open = await asyncio.shield(self._looking)
        self.picked = self._open
        return self._open

    async def _look(self) -> int:
        """Return the first that is open. Each has a head start before the next, so that the first is preferred."""
        failed: set[int] = set()
        tried, until_s = 1, monotonic() + HEAD_START_S
        end_s = monotonic() + LOOK_S
        while len(failed) < len(self._channels) and monotonic() < end_s:
            for number, channel in enumerate(self._channels[:tried]):
                state = channel.get_state(try_to_connect=True)
                if state is grpc.ChannelConnectivity.READY:
                    return number
                if state in _FAILED:
                    failed.add(number)
            if len(failed) >= tried or monotonic() > until_s:
                tried, until_s = tried + 1, monotonic() + HEAD_START_S
            else:
                await asyncio.sleep(_STEP_S)
        return 0


class _Call:
    """A call that begins when a way is open. It has the methods of a gRPC call that callers need."""

    def __init__(self, begun: Coroutine[Any, Any, Any]) -> None:
        self._begun = asyncio.create_task(begun)

    def __await__(self) -> Generator[Any, None, Any]:
        call = yield from self._begun.__await__()
        return (yield from call.__await__())

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for message in await self._begun:
            yield message

    def cancel(self) -> bool:
        """End the call."""
        if not self._begun.done():
            return self._begun.cancel()
        return not self._begun.cancelled() and bool(self._begun.result().cancel())

    def done(self) -> bool:
        """Return whether the call is over."""
        return self._begun.done() and (self._begun.cancelled() or bool(self._begun.result().done()))

    async def read(self) -> Any:
        """Return the next message."""
        return await (await self._begun).read()

    async def write(self, request: Any) -> None:
        """Send a message."""
        await (await self._begun).write(request)

    async def done_writing(self) -> None:
        """Say that no message follows."""
        await (await self._begun).done_writing()

    async def initial_metadata(self) -> Any:
        """Return what comes before the first message."""
        return await (await self._begun).initial_metadata()

    async def trailing_metadata(self) -> Any:
        """Return what comes with the status."""
        return await (await self._begun).trailing_metadata()

    async def code(self) -> Any:
        """Return the status's code."""
        return await (await self._begun).code()

    async def details(self) -> Any:
        """Return the status's text."""
        return await (await self._begun).details()
