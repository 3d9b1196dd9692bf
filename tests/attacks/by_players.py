"""Attacks of a player whose acts the referee enters, by mistake or in league with it."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha512
from itertools import count

from nacl.bindings import (
    crypto_core_ed25519_add,
    crypto_core_ed25519_scalar_add,
    crypto_core_ed25519_scalar_mul,
    crypto_core_ed25519_scalar_reduce,
    crypto_scalarmult_ed25519_base_noclamp,
)

from referee.log import intent
from referee.log.errors import Code
from referee.log.keys import key_id
from referee.log.v1 import log_pb2
from referee.log.verdict import Verdict
from tests.attacks.by_referees import taken_over
from tests.attacks.corpus import TABLES
from tests.attacks.forge import Attack, Attacks, Forgery, Signer, act_in, acts, edited, events, put_act, relinked
from tests.log import evil, games
from tests.log.games import Played

PLAYERS = Attacks()
attack = PLAYERS.by("player")

_OF_ORDER_8 = bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
_IDENTITY = bytes([1]) + bytes(31)


class _Weak:
    """The public part of a key that must not be used."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.id = key_id(raw)


class MixedOrderKey:
    """A key with a part of order 8: its owner makes signatures that some verifiers accept and others refuse.

    So that libsodium accepts them, it tries until the hash is a multiple of 8 and the part vanishes.
    """

    def __init__(self, label: str) -> None:
        self._scalar = crypto_core_ed25519_scalar_reduce(sha512(label.encode()).digest())
        self.public = _Weak(crypto_core_ed25519_add(crypto_scalarmult_ed25519_base_noclamp(self._scalar), _OF_ORDER_8))

    def sign(self, message: bytes, /) -> bytes:
        for attempt in count():
            r = crypto_core_ed25519_scalar_reduce(sha512(b"%d " % attempt + message).digest())
            point = crypto_scalarmult_ed25519_base_noclamp(r)
            h = crypto_core_ed25519_scalar_reduce(sha512(point + self.public.raw + message).digest())
            if h[0] % 8 == 0:
                product = crypto_core_ed25519_scalar_mul(h, self._scalar)
                return point + crypto_core_ed25519_scalar_add(r, product)
        raise AssertionError


class IdentityKey:
    """Everybody's: OpenSSL accepts this one signature of it for every message."""

    public = _Weak(_IDENTITY)

    def sign(self, message: bytes, /) -> bytes:
        return _IDENTITY + bytes(32)


def with_key(played: Played, key: Signer, code: Code) -> Forgery:
    """The first seat that joins does so with this key, and signs with it."""
    at = acts(played, "join")[0]
    data, _ = taken_over(played, {act_in(evil.entries(played)[at]).seat: key})
    return Forgery(data, Verdict.CORRUPT, code, at)


@attack
def key_of_mixed_order(table: str, played: Played) -> Forgery:
    """The player can deny its acts before people whose verifier refuses them."""
    return with_key(played, MixedOrderKey("mixed"), Code.KEY)


@attack
def identity_key(table: str, played: Played) -> Forgery:
    """To say later that anybody could have signed."""
    return with_key(played, IdentityKey(), Code.KEY)


# --- bodies that one program reads otherwise than another ---------------------------------------------------------


def _two_acts(body: bytes) -> bytes:
    # Most programs see only the last member of a oneof.
    act = log_pb2.Intent.FromString(body)
    name = str(act.WhichOneof("act"))
    act.ClearField("act")
    head = len(act.SerializeToString(deterministic=True))
    fields = log_pb2.Intent.DESCRIPTOR.fields_by_name
    other = bytes([fields["join" if name != "join" else "reveal"].number << 3 | 2, 0])
    return body[:head] + other + body[head:] if name != "join" else body + other


def _longer_varint(body: bytes) -> bytes:
    assert body[18] == 0x10
    assert body[19] < 0x80
    return body[:19] + bytes([body[19] | 0x80, 0]) + body[20:]


def _without_act(body: bytes) -> bytes:
    act = log_pb2.Intent.FromString(body)
    act.ClearField("act")
    return act.SerializeToString(deterministic=True)


ODD_BODIES: dict[str, Callable[[bytes], bytes]] = {
    "unknown field": lambda body: body + b"\xf8\x07\x01",
    "field given twice": lambda body: body[:18] + body,
    "two acts in one": _two_acts,
    "over-long varint": _longer_varint,
    "nested a thousand deep": lambda body: body + b"\xfb\x07" * 1000 + b"\xfc\x07" * 1000,
    "act of 20 KiB": lambda body: body + b"\xfa\x07\x80\xa0\x01" + bytes(20 * 1024),
    "no act": _without_act,
    "no bytes": lambda body: b"",
}
"""Changes of an act's bytes before its author signs them."""


def _last_act(body: Callable[[bytes], bytes]) -> Callable[[str, Played], Forgery]:
    def make(table: str, played: Played) -> Forgery:
        at = acts(played, "move", "reveal", "join", "declare")[-1]
        leaves = relinked(evil.entries(played), bodies={at: body})
        return Forgery(evil.signed_file(played, leaves), Verdict.CORRUPT, Code.MALFORMED, at)

    return make


for _name, _body in ODD_BODIES.items():
    if _name != "no bytes":  # an entry cannot hold such an act
        PLAYERS[_name] = Attack("player", _last_act(_body), _name)


# --- joining and revealing -----------------------------------------------------------------------------------------


@attack
def reveal_that_opens_nothing(table: str, played: Played) -> Forgery | None:
    """Another p than was committed to, chosen when others had opened theirs; the game is ended before it is dealt."""
    if not acts(played, "reveal") or len(played.record.opened.seats) < 2:
        return None
    game = TABLES[table].open()
    for seat in range(len(game.record.opened.seats)):
        game.admit(intent.join(game.record.place, seat, games.seat_key(seat), games.seed(f"p {seat}")))
    game.record.game.deal.doubt()
    at = len(game.entries)
    game.admit(intent.reveal(game.record.place, 0, games.seat_key(0), games.seed("a better p")))
    return Forgery(games.abort(game).file(), Verdict.RULES, Code.DECK, at)


@attack
def one_key_for_two_seats(table: str, played: Played) -> Forgery | None:
    """A player who sits at both."""
    joins = acts(played, "join")
    if len(joins) < 2:
        return None
    data, _ = taken_over(played, {0: games.seat_key(0), 1: games.seat_key(0)})
    return Forgery(data, Verdict.RULES, Code.NOT_AWAITED, joins[1])


@attack
def joining_without_a_commitment(table: str, played: Played) -> Forgery | None:
    """In a dealt game, to choose p when the others' are known."""
    if not acts(played, "reveal"):
        return None
    at = acts(played, "join")[0]

    def edit(entries: list[log_pb2.Entry]) -> None:
        act = act_in(entries[at])
        act.join.commitment = b""
        put_act(entries[at], act)

    return Forgery(edited(played, edit), Verdict.CORRUPT, Code.MALFORMED, at)


@attack
def act_after_the_end(table: str, played: Played) -> Forgery:
    """A seat's last act once more, signed for its new place."""
    at, end = acts(played, "move", "reveal", "join")[-1], events(played, "end")[0]

    def edit(entries: list[log_pb2.Entry]) -> None:
        copy = log_pb2.Entry()
        copy.CopyFrom(entries[at])
        entries.insert(end + 1, copy)

    return Forgery(edited(played, edit), Verdict.RULES, Code.NOT_AWAITED, end + 1)
