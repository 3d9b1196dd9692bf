"""How much one caller may take: requests a second and open streams, for each principal, game token or address.

What counts, and what never does:

- Every call draws one request when it comes, but for acts of who may send some. Streams draw when they are opened.
- An act (by ``SubmitIntent``, or on ``PlayGame``) that is accepted draws nothing, so nobody can play too fast. One
  that fails or is refused, and one that was answered before, draws one request afterwards.
- Who has nothing left gets LIMIT with RetryInfo; acts get it before their signature is checked. The exception is an act
  for the current head by an author whose act is awaited now: it is always judged, as it may be the right one.
- Whatever takes the referee more work than a request does is charged afterwards, by ``PRICES``.
- A token that is unknown draws from the address that it came from.

An account refills at a steady rate and holds ten seconds' worth.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address
from time import monotonic

from referee.live.errors import RETRY_S, LimitReached
from referee.live.game import LiveGame
from referee.live.turns import Work
from referee.log.errors import LogError
from referee.log.intent import author_of, decode_intent
from referee.service.turn_messages import awaited

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
_MANY = 4096


class TookTooLong(Exception):
    """A call was cut off."""


class Account:
    """What one caller has left: a bucket of tokens, kept as the time at which it will be full."""

    __slots__ = ("_full_s", "_held_s", "_interval_s", "_most_streams", "streams", "__weakref__")

    def __init__(self, requests_per_s: float = REQUESTS_PER_S, most_streams: int = STREAMS) -> None:
        self._interval_s = 1 / requests_per_s
        self._held_s = max(_HELD_S, self._interval_s)  # at a very low rate, still one request
        self._most_streams = most_streams
        self._full_s = 0.0
        self.streams = 0

    def draw(self) -> None:
        """Draw one request. Raise ``LimitReached``."""
        if self.is_empty:
            raise self.exhausted()
        self.charge()

    def charge(self, work: Work = Work.REQUEST, count: int = 1) -> None:
        """Charge work that is done already, or will be; nobody has to wait for longer than from an empty account."""
        now = monotonic()
        cost_s = count * PRICES[work] * self._interval_s
        self._full_s = min(max(self._full_s, now) + cost_s, now + self._held_s)

    @property
    def is_empty(self) -> bool:
        """Return whether the next request has to wait."""
        return self._full_s - monotonic() > self._held_s - self._interval_s

    @property
    def is_idle(self) -> bool:
        """Return whether the account is as good as new."""
        return not self.streams and self._full_s <= monotonic()

    def exhausted(self) -> LimitReached:
        """Return the error, with the time until there is one request again."""
        wait_s = self._full_s - monotonic() - self._held_s + self._interval_s
        return LimitReached("requests", retry_s=max(wait_s, 0.001))

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Count one stream while it is open. Raise ``LimitReached``."""
        if self.streams >= self._most_streams:
            raise LimitReached("streams", retry_s=RETRY_S)
        self.streams += 1
        try:
            yield
        finally:
            self.streams -= 1


class Accounts:
    """All callers of late. Who has not called for a while begins anew, and has lost nothing by it."""

    def __init__(self, requests_per_s: float = REQUESTS_PER_S, most_streams: int = STREAMS) -> None:
        """The limits are those of each account."""
        self._new = (requests_per_s, most_streams)
        self._accounts: dict[str | bytes, Account] = {}
        self._swept_at = _MANY

    def __len__(self) -> int:
        return len(self._accounts)

    def of(self, who: str | bytes) -> Account:
        """Return the account of a principal, of a token's digest, or of an address as ``host_of`` names it."""
        account = self._accounts.get(who)
        if account is None:
            if len(self._accounts) >= self._swept_at:
                self._accounts = {key: kept for key, kept in self._accounts.items() if not kept.is_idle}
                self._swept_at = max(_MANY, 2 * len(self._accounts))
            account = self._accounts[who] = Account(*self._new)
        return account


def host_of(peer: str) -> str:
    """Return what one caller is identified by, from gRPC's name of the peer: an IPv4 address, or an IPv6 network of 64
    bits.
    """
    kind, _, rest = peer.partition(":")
    if kind != "ipv6":
        return f"{kind}:{rest.rpartition(':')[0] or rest}"
    host = rest.replace("%5B", "[").replace("%5D", "]").rpartition(":")[0].strip("[]").partition("%")[0]
    try:
        address = IPv6Address(host)
    except ValueError:
        return f"ipv6:{host}"
    if address.ipv4_mapped is not None:
        return f"ipv4:{address.ipv4_mapped}"
    return f"ipv6:{address.packed[:8].hex()}"


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
