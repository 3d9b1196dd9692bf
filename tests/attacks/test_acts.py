"""Acts that a referee must not enter, in games of all rules: refused for the right reason, and nothing has changed.

Over the network, with statuses and tokens: tests/server/service/test_bad_acts.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from referee.games import registry
from referee.games.game import Decision
from referee.log import intent
from referee.log.errors import Code, LogError
from referee.log.events import Author, Role
from referee.log.intent import SignedIntent, intent_encoding
from referee.log.v1 import log_pb2
from tests.attacks.by_players import ODD_BODIES, IdentityKey, MixedOrderKey
from tests.attacks.corpus import Table
from tests.log import games
from tests.log.games import Played, join_and_reveal, key, seat_key, step
from tests.log.registered import at_random

NAMES = registry.names()


def in_play(rules_id: str) -> Played:
    """Two seats, some acts made, a seat on turn."""
    played = Table(rules_id).open()
    join_and_reveal(played)
    choose = at_random(1)
    for _ in range(4):
        step(played, choose)
    return played


def refused(played: Played, signed: SignedIntent) -> LogError:
    """Why; the game is as it was."""
    before = (played.record.root(), played.record.size, played.record.game.position.digest(), played.record.phase)
    with pytest.raises(LogError) as caught:
        played.record.admit(signed, played.clock())
    assert before == (
        played.record.root(),
        played.record.size,
        played.record.game.position.digest(),
        played.record.phase,
    )
    return caught.value


def good(played: Played, **place: Any) -> SignedIntent:
    """Return a legal move of the seat on turn."""
    course = played.record.game
    (awaited,) = course.position.pending()
    assert isinstance(awaited, Decision)
    data = course.position.codec.encode_move(
        next(iter(course.position.state.legal_moves())), course.position.components
    )
    author = Author(Role.SEAT, awaited.seat)
    return intent.move(played.record.place._replace(**place), author, seat_key(awaited.seat), data)


def on_turn(signed: SignedIntent) -> int:
    return log_pb2.Intent.FromString(signed.intent).seat


@pytest.mark.parametrize("rules_id", NAMES)
def test_what_is_refused_otherwise_is_admitted(rules_id: str) -> None:
    played = in_play(rules_id)
    played.admit(good(played))


@pytest.mark.parametrize("name", ODD_BODIES)
@pytest.mark.parametrize("rules_id", NAMES)
def test_bodies_with_two_readings(rules_id: str, name: str) -> None:
    played = in_play(rules_id)
    move = good(played)
    body = ODD_BODIES[name](move.intent)
    own = seat_key(on_turn(move))
    signed = SignedIntent(body, own.sign(intent_encoding(body)), own.public.id)
    assert refused(played, signed).code is Code.MALFORMED


def of_another_game(played: Played) -> SignedIntent:
    return good(played, game_id=bytes(16))


def of_another_place(played: Played) -> SignedIntent:
    return good(played, seq=played.record.size - 1)


def of_another_history(played: Played) -> SignedIntent:
    return good(played, prev=bytes(32))


def made_before(played: Played) -> SignedIntent:
    move = good(played)
    played.admit(move)
    return move


def signed_by_another(played: Played) -> SignedIntent:
    move = good(played)
    other = seat_key(1 - on_turn(move))
    return move._replace(signature=other.sign(intent_encoding(move.intent)))


def signed_by_the_referee(played: Played) -> SignedIntent:
    move = good(played)
    return move._replace(signature=key("referee").sign(intent_encoding(move.intent)))


def signed_without_its_type(played: Played) -> SignedIntent:
    """Return the bare body, as some other protocol might have one sign it."""
    move = good(played)
    return move._replace(signature=seat_key(on_turn(move)).sign(move.intent))


def not_signed(played: Played) -> SignedIntent:
    return good(played)._replace(signature=bytes(64))


def not_on_turn(played: Played) -> SignedIntent:
    move = log_pb2.Intent.FromString(good(played).intent)
    move.seat = 1 - move.seat
    return intent.sign(move, seat_key(move.seat))


def joining_once_more(played: Played) -> SignedIntent:
    return intent.join(played.record.place, 0, key("another"), games.seed("p"))


def revealing_once_more(played: Played) -> SignedIntent:
    return intent.reveal(played.record.place, 0, seat_key(0), games.seed("p 0"))


def declaring(played: Played) -> SignedIntent:
    act = log_pb2.Intent.FromString(good(played).intent)
    act.declare = act.move
    return intent.sign(act, seat_key(act.seat))


CASES: dict[Callable[[Played], SignedIntent], Code] = {
    of_another_game: Code.WRONG_GAME,
    of_another_place: Code.STALE_HEAD,
    of_another_history: Code.STALE_HEAD,
    made_before: Code.STALE_HEAD,
    signed_by_another: Code.AUTHOR_SIGNATURE,
    signed_by_the_referee: Code.AUTHOR_SIGNATURE,
    signed_without_its_type: Code.AUTHOR_SIGNATURE,
    not_signed: Code.AUTHOR_SIGNATURE,
    not_on_turn: Code.NOT_AWAITED,
    joining_once_more: Code.NOT_AWAITED,
    revealing_once_more: Code.NOT_AWAITED,
    declaring: Code.MALFORMED,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("rules_id", NAMES)
def test_acts_that_are_not_entered(rules_id: str, case: Callable[[Played], SignedIntent]) -> None:
    played = in_play(rules_id)
    assert refused(played, case(played)).code is CASES[case]


@pytest.mark.parametrize("own", [MixedOrderKey("mixed"), IdentityKey()], ids=["mixed order", "identity"])
def test_keys_whose_acts_could_be_denied(own: Any) -> None:
    """The signatures are as good as such keys allow: it is the key that is refused."""
    played = Table("alhambra").open()
    act = log_pb2.Intent.FromString(intent.join(played.record.place, 0, seat_key(0), games.seed("p 0")).intent)
    act.join.key = own.public.raw
    body = act.SerializeToString(deterministic=True)
    signed = SignedIntent(body, own.sign(intent_encoding(body)), own.public.id)
    assert refused(played, signed).code is Code.KEY


def test_a_reveal_that_opens_nothing() -> None:
    played = Table("alhambra").open()
    for seat in (0, 1):
        played.admit(intent.join(played.record.place, seat, seat_key(seat), games.seed(f"p {seat}")))
    signed = intent.reveal(played.record.place, 0, seat_key(0), games.seed("a better p"))
    assert refused(played, signed).code is Code.DECK


def test_no_signature_is_good_for_another_purpose() -> None:
    """One key signs everything, against all advice: neither text nor act passes for the other."""
    played = in_play("alhambra")
    own = key("referee")
    move = good(played).intent
    note = games.SIGNER.sign(played.record.game_id, played.record.size, played.record.root())
    text = note[: note.index(b"\n\n") + 1]
    assert own.public.is_signed(text, own.sign(text))
    assert not own.public.is_signed(intent_encoding(text), own.sign(text))
    assert not own.public.is_signed(move, own.sign(intent_encoding(move)))
    assert not own.public.is_signed(text, own.sign(intent_encoding(text)))
    assert not intent_encoding(move).startswith(b"referee.example/g/"), "no act is the text of a checkpoint"
