"""The deck: the commitments bind, the labels are independent, the numbers are uniform and as specified."""

from __future__ import annotations

import hmac
from collections import Counter
from hashlib import sha256
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.log.deck import Deck, deck_key, referee_commitment, seat_commitment
from tests.log.games import seed

GAME = bytes(range(16))


def test_commitments_as_specified() -> None:
    r, p = seed("r"), seed("p")
    assert referee_commitment(r) == sha256(b"tile-referee/v1/ref-commit\0" + r).digest()
    expected = sha256(b"tile-referee/v1/seat-commit\0" + GAME + b"\x03" + p).digest()
    assert seat_commitment(GAME, 3, p) == expected
    inner = sha256(b"tile-referee/v1/deck-key\0" + GAME + p + r).digest()
    assert deck_key(r, GAME, [p, r]) == hmac.new(r, inner, "sha256").digest()


def test_commitments_bind_game_seat_and_seed() -> None:
    values = {seat_commitment(g, s, p) for g in (GAME, bytes(16)) for s in (0, 1) for p in (seed("a"), seed("b"))}
    assert len(values) == 8
    keys = {deck_key(r, g, p) for r in (seed("r"), seed("q")) for g in (GAME, bytes(16)) for p in ([], [seed("a")])}
    assert len(keys) == 8
    assert deck_key(seed("r"), GAME, [seed("a"), seed("b")]) != deck_key(seed("r"), GAME, [seed("b"), seed("a")])


def test_stream_as_specified() -> None:
    key = seed("K")
    blocks = [
        hmac.new(key, b"tile-referee/v1/shuffle/tiles/0\0" + n.to_bytes(8, "big"), "sha256").digest() for n in range(3)
    ]
    expected = [int.from_bytes(block[i : i + 4], "big") for block in blocks for i in range(0, 32, 4)]
    assert list(islice(Deck(key).words("shuffle/tiles/0"), 24)) == expected


def test_each_label_starts_anew() -> None:
    deck = Deck(seed("K"))
    once = deck.permutation("shuffle/tiles/0", 54)
    assert deck.uniform("pile/2", 20) == deck.uniform("pile/2", 20)
    assert deck.permutation("shuffle/tiles/0", 54) == once
    assert sorted(once) == list(range(54))
    assert deck.permutation("shuffle/money/0", 54) != once


@given(st.integers(1, 300))
def test_permutation_is_fisher_yates_on_the_stream(n: int) -> None:
    words = Deck(seed("K")).words("shuffle/tiles/0")
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        while True:
            x = next(words)
            if x < 2**32 - 2**32 % (i + 1):
                break
        j = x % (i + 1)
        order[i], order[j] = order[j], order[i]
    assert Deck(seed("K")).permutation("shuffle/tiles/0", n) == order


def test_rejection() -> None:
    """With n = 2^31 + 1 nearly half of all words are rejected."""
    deck = Deck(seed("K"))
    n = 2**31 + 1
    words = list(islice(deck.words("dice/0"), 64))
    assert any(word >= n for word in words)
    assert deck.uniform("dice/0", n) == next(word for word in words if word < n)
    assert deck.uniform("dice/0", 2**32) == words[0]
    assert deck.uniform("dice/0", 1) == 0


def test_shuffles_look_uniform() -> None:
    """Chi-square over the 24 orders of 4 cards; 60 is far in the tail of 23 degrees of freedom."""
    counts = Counter(tuple(Deck(seed(f"K {i}")).permutation("x", 4)) for i in range(4800))
    assert len(counts) == 24
    assert sum((count - 200) ** 2 / 200 for count in counts.values()) < 60


@pytest.mark.parametrize("label", ["", "/", "a/", "/a", "a//b", "A", "a b", "a\0b", "a\n", "ž"])
def test_bad_labels(label: str) -> None:
    with pytest.raises(ValueError, match="label"):
        Deck(seed("K")).uniform(label, 2)


@pytest.mark.parametrize("n", [0, -1, 2**32 + 1])
def test_bad_ranges(n: int) -> None:
    with pytest.raises(ValueError, match="range"):
        Deck(seed("K")).uniform("a", n)


def test_seeds_have_32_bytes() -> None:
    with pytest.raises(ValueError, match="seed"):
        referee_commitment(b"short")
