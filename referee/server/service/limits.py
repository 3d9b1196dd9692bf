"""The limits of one caller: requests a second and open streams, for each principal, game token or address.

The rules of what counts:

- Every call draws one request when it comes, except acts by callers who may send some. Streams draw when they are
  opened.
- An act (by ``SubmitIntent``, or on ``PlayGame``) that is accepted draws nothing, so no player is too fast. One
  that fails or is refused, and one that was answered before, draws one request afterwards.
- A caller with nothing left gets LIMIT with RetryInfo; acts get it before their signature is checked. The exception is
  an act for the current head by an author whose act is awaited now: it is always judged, as it may be the right one.
- Work beyond that of a request is charged afterwards, by ``PRICES``.
- An address, for callers without a token, may take less than a principal, and in shorter bursts. A token that is
  unknown draws from the address that it came from.
- A gateway may name the address that a call is for. That address pays, from an account that is smaller than others, and
  all addresses that one gateway names pay together from another, so that many of them are no more than a few callers.

An account refills at a steady rate and holds ten seconds' worth, that of an address two.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from ipaddress import IPv4Address, IPv6Address, ip_address
from time import monotonic
from weakref import WeakKeyDictionary

from referee.log.errors import LogError
from referee.log.intent import author_of, decode_intent
from referee.server.live.game import LiveGame
from referee.server.live.refusals import RETRY_S, LimitReached
from referee.server.live.turns import Turns, Work
from referee.server.live.view import awaited
from referee.text.words.catalogue import phrase

REQUESTS_PER_S = 500.0
STREAMS = 2_000
PRICES = {
    Work.REQUEST: 1.0,
    Work.REPLAY: 1.0,
    Work.TEXT: 1.0,
    Work.LIST: 1 / 16,
    Work.READ: 1 / 32,
    Work.COMMIT: 1 / 2,
    Work.SEND: 1.0,
}
"""Requests that each piece of work costs: about in proportion to its processor time."""
_HELD_S = 10.0
STRANGERS_PART = 1 / 5
"""The share of a caller's limits for an address with calls without a token."""
STRANGERS_HELD_S = 2.0
"""The seconds' worth that such an address may take at once: a burst delays players, and a flooder can change
addresses."""
_MANY = 4096
NAMED_PART = 1 / 10
"""The share of a caller's limits for an address that a gateway names."""
_ID_DIGITS = 16
"""The number of an id's digits in lists of tokens."""
_NETWORK_DIGITS = 16
"""The digits of an IPv6 network of 64 bits."""
GATEWAY_CALLERS = 4
"""The number of callers whose limits all addresses that one gateway names have together."""


_Who = str | bytes | tuple[str, str]
"""A principal, a digest, or an address: no choice of a name gives access to another's account."""


class TookTooLong(Exception):
    """A call was cut off."""


_REQUESTS, _GATEWAYS_REQUESTS = phrase("requests"), phrase("requests by a gateway")
_STREAMS, _GATEWAYS_STREAMS = phrase("streams"), phrase("streams by a gateway")


class Account:
    """The rest of one caller's limits: a bucket of tokens, kept as the time at which it will be full."""

    __slots__ = (
        "_full_s",
        "_gateway",
        "_held_s",
        "_interval_s",
        "_most_streams",
        "_of_gateway",
        "_whole",
        "_who",
        "streams",
        "__weakref__",
    )

    def __init__(
        self,
        requests_per_s: float = REQUESTS_PER_S,
        most_streams: int = STREAMS,
        *,
        held_s: float = _HELD_S,
        whole: Account | None = None,
        of_gateway: bool = False,
        who: _Who = "",
    ) -> None:
        """``held_s``: the seconds' worth that may be taken at once. ``whole``: the account that it is a part of,
        which pays for the same. ``of_gateway``: its limits are a gateway's. ``who``: the owner."""
        self._who = who
        self._gateway = ""
        self._whole = whole
        self._of_gateway = of_gateway
        self._interval_s = 1 / requests_per_s
        self._held_s = max(held_s, self._interval_s)  # at a very low rate, still one request
        self._most_streams = most_streams
        self._full_s = 0.0
        self.streams = 0

    def is_named(self, who: _Who, gateway: str) -> None:
        """Note who has it now that a gateway names; several may, one after the other."""
        self._who, self._gateway = who, gateway

    @property
    def name(self) -> str:
        """The owner's name for people: a principal has no blank in it, all others have one."""
        match self._who:
            case str(principal):
                return principal
            case bytes(digest):
                return f"token {digest.hex()[:_ID_DIGITS]}"
            case _, host:
                return _host_words(host) + (f" by {self._gateway}" if self._gateway else "")

    def draw(self) -> None:
        """Draw one request. Raise ``LimitReached``."""
        if self.is_empty:
            raise self.exhausted()
        self.charge()

    def charge(self, work: Work = Work.REQUEST, count: int = 1) -> None:
        """Charge work that is done already, or will be; the wait is never longer than from an empty account."""
        now = monotonic()
        cost_s = count * PRICES[work] * self._interval_s
        self._full_s = min(max(self._full_s, now) + cost_s, now + self._held_s)
        if self._whole is not None:
            self._whole.charge(work, count)

    @property
    def is_empty(self) -> bool:
        """Return whether the next request has to wait."""
        if self._full_s - monotonic() > self._held_s - self._interval_s:
            return True
        return self._whole is not None and self._whole.is_empty

    @property
    def is_idle(self) -> bool:
        """Return whether the account is as good as new."""
        return not self.streams and self._full_s <= monotonic()

    def exhausted(self) -> LimitReached:
        """Return the error, with the time until there is one request again."""
        wait_s = self._full_s - monotonic() - self._held_s + self._interval_s
        if wait_s <= 0 and self._whole is not None:
            return self._whole.exhausted()
        return LimitReached(_GATEWAYS_REQUESTS if self._of_gateway else _REQUESTS, retry_s=max(wait_s, 0.001))

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Count one stream while it is open. Raise ``LimitReached``."""
        if self.streams >= self._most_streams:
            raise LimitReached(_GATEWAYS_STREAMS if self._of_gateway else _STREAMS, retry_s=RETRY_S)
        with nullcontext() if self._whole is None else self._whole.stream():
            self.streams += 1
            try:
                yield
            finally:
                self.streams -= 1


class Accounts:
    """All recent callers. One without a call for a while begins anew, and has lost nothing by it."""

    def __init__(self, requests_per_s: float = REQUESTS_PER_S, most_streams: int = STREAMS) -> None:
        """The limits are those of each account."""
        self._limits = (requests_per_s, most_streams)
        self._accounts: dict[_Who, Account] = {}
        self._swept_at = _MANY
        self._gateways: dict[str, _Named] = {}

    def __len__(self) -> int:
        return len(self._accounts) + sum(len(named.parts) for named in self._gateways.values())

    def named(self, gateway: str, address: str) -> Account:
        """Return the account of an address, as ``host_of`` names it, that a gateway's principal names."""
        named = self._gateways.get(gateway)
        if named is None:
            named = self._gateways[gateway] = _Named(gateway, *self._limits)
        return named.of(address)

    def of(self, who: str | bytes) -> Account:
        """Return the account of a principal, or of a token's digest."""
        return self._accounts.get(who) or self._begin(who, Account(*self._limits, who=who))

    def at(self, address: str) -> Account:
        """Return the account of an address, as ``host_of`` names it."""
        requests_per_s, most_streams = self._limits
        key = ("address", address)
        return self._accounts.get(key) or self._begin(
            key, Account(requests_per_s * STRANGERS_PART, most_streams, held_s=STRANGERS_HELD_S, who=key)
        )

    def _begin(self, who: _Who, account: Account) -> Account:
        if len(self._accounts) >= self._swept_at:
            self._accounts = {key: kept for key, kept in self._accounts.items() if not kept.is_idle}
            self._swept_at = max(_MANY, 2 * len(self._accounts))
        self._accounts[who] = account
        return account


class _Named:
    """The addresses that one gateway names: accounts that are parts of one.

    There is a fixed number of them, and an address has one by a hash that cannot be foreseen. So a person with many
    addresses takes no memory, and shares an account with another only by chance.
    """

    def __init__(self, gateway: str, requests_per_s: float, most_streams: int) -> None:
        self._gateway = gateway
        self.parts: dict[int, Account] = {}
        self._part = (requests_per_s * NAMED_PART, max(1, int(most_streams * NAMED_PART)))
        self._whole = Account(requests_per_s * GATEWAY_CALLERS, most_streams * GATEWAY_CALLERS, of_gateway=True)
        self._secret = secrets.randbits(64)

    def of(self, address: str) -> Account:
        number = hash((self._secret, address)) % _MANY
        part = self.parts.get(number)
        if part is None:
            part = self.parts[number] = Account(*self._part, whole=self._whole)
        part.is_named(("address", address), self._gateway)
        return part


def host_of(peer: str) -> str:
    """Return what one caller is identified by, from gRPC's name of the peer: an IPv4 address, or an IPv6 network of 64
    bits.
    """
    kind, _, rest = peer.partition(":")
    if kind != "ipv6":
        return f"{kind}:{rest.rpartition(':')[0] or rest}"
    host = rest.replace("%5B", "[").replace("%5D", "]").rpartition(":")[0].strip("[]").partition("%")[0]
    try:
        return host_named(IPv6Address(host))
    except ValueError:
        return f"ipv6:{host}"


def host_named(address: str | IPv4Address | IPv6Address) -> str:
    """Return the same for an address as it is written: numbers alone, without a zone. Raise ``ValueError``."""
    found = ip_address(address)
    if isinstance(found, IPv4Address):
        return f"ipv4:{found}"
    if found.scope_id is not None:
        raise ValueError(address)
    if found.ipv4_mapped is not None:
        return f"ipv4:{found.ipv4_mapped}"
    return f"ipv6:{found.packed[:8].hex()}"


def _host_words(host: str) -> str:
    """Return for people what ``host_of`` returned."""
    kind, _, rest = host.partition(":")
    if kind == "ipv6" and len(rest) == _NETWORK_DIGITS:
        return f"network {IPv6Address(bytes.fromhex(rest) + bytes(8))}/64"
    return f"address {rest}"


async def check_due(account: Account, game: LiveGame | None, body: bytes) -> None:
    """Raise ``LimitReached`` for an account that is empty, unless the act is one that the game waits for now.

    Without looking at the signature. ``game``: None if it is over.
    """
    try:
        intent = decode_intent(body)
        author = author_of(intent)
    except LogError:
        raise account.exhausted() from None
    if game is not None and intent.game_id == game.game_id:
        record = await game.record()
        at_the_head = intent.seq == record.size and intent.prev == record.head
        if at_the_head and awaited(record, author) is not None:
            return
    raise account.exhausted()


REFUSED_AFTER_S = 0.25
MOST_REFUSED_LATER = 256


class Refusals:
    """Callers with nothing left, while they wait to hear it.

    The wait slows down a program that asks again at once, and when refusals come by the dozen an act waits for one.
    Callers beyond a limit hear it at once: waiting takes memory.
    """

    def __init__(self) -> None:
        self._turns = Turns()
        self._waiting = 0

    async def draw(self, account: Account) -> None:
        """Draw one request. Raise ``LimitReached``, after a while."""
        try:
            account.draw()
        except LimitReached:
            await self.wait(account)
            raise

    async def wait(self, account: Account) -> None:
        """Wait for ``REFUSED_AFTER_S`` and a turn, unless many do."""
        if self._waiting >= MOST_REFUSED_LATER:
            return
        self._waiting += 1
        try:
            await asyncio.sleep(REFUSED_AFTER_S)
            await self._turns.next(account)
        finally:
            self._waiting -= 1


class Guesses:
    """Tokens that are new here, while they wait to be looked up: any may be a guess, and a wrong one draws.

    For each account one is looked up at a time; once it has nothing left, each only when there would be one request
    again, and on each connection only one waits for that. So guesses keep the store little busy, and callers with a
    token at the same address wait for few.
    """

    def __init__(self) -> None:
        self._queues: WeakKeyDictionary[Account, _Queue] = WeakKeyDictionary()

    @asynccontextmanager
    async def turn(self, account: Account, connection: str) -> AsyncIterator[None]:
        """Wait until one may be looked up. ``connection``: that it came on. Raise ``LimitReached``."""
        queue = self._queues.setdefault(account, _Queue())
        queue.waiting[connection] += 1
        try:
            queue.check(account, connection)
            async with queue.lock:
                queue.check(account, connection)
                if account.is_empty:
                    await asyncio.sleep(min(account.exhausted().retry_s, REFUSED_AFTER_S))
                yield
        finally:
            queue.waiting[connection] -= 1
            if not queue.waiting[connection]:
                del queue.waiting[connection]


class _Queue:
    """The waiting guesses of one account."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting: Counter[str] = Counter()
        """The number of waiting guesses by connection."""

    def check(self, account: Account, connection: str) -> None:
        if account.is_empty and self.waiting[connection] > 1:
            raise account.exhausted()
