"""The deck that no party chose: commitments, the deck's key, and the numbers that come from it.

The referee commits to r, every joining seat to p_i, then the seats open theirs and the deck is fixed; at the
end r is opened and everyone recomputes it. Knows no game: a dealer turns the numbers into tiles and cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from hmac import digest as hmac_digest

from referee.log.keys import PrivateKey

SEED_BYTES = 32
COMMITMENT_BYTES = 32

_DOMAIN = b"tile-referee/v1/"
LABEL = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)*\Z")
"""The labels that a dealer may ask for."""
_BLOCK_WORDS = 8
_WORDS = 1 << 32


def referee_commitment(seed: bytes) -> bytes:
    """Return C_r, which stands in GameOpen."""
    return sha256(_DOMAIN + b"ref-commit\0" + _seed(seed)).digest()


def seat_commitment(game_id: bytes, seat: int, seed: bytes) -> bytes:
    """Return C_i, which stands in the seat's Join. It is bound to game and seat, so that it cannot be copied."""
    return sha256(_DOMAIN + b"seat-commit\0" + game_id + seat.to_bytes(1, "big") + _seed(seed)).digest()


def own_seed(key: PrivateKey, game_id: bytes) -> bytes:
    """Return a seat's p_i from its private key, so that a key that was saved is enough to come back at any moment.

    Not from a signature: those of some browsers are another one each time.
    """
    return key.derive(_DOMAIN + b"client-seed\0" + game_id)


def deck_key(referee_seed: bytes, game_id: bytes, seat_seeds: Sequence[bytes]) -> bytes:
    """Return K. ``seat_seeds`` are those of the seats that joined, in the order of the seats."""
    message = sha256(_DOMAIN + b"deck-key\0" + game_id + b"".join(map(_seed, seat_seeds))).digest()
    return hmac_digest(_seed(referee_seed), message, "sha256")


class Deck:
    """The numbers that K gives: a ``referee.games.game.Stream``.

    Every label is a stream of its own that starts at counter 0 each time it is asked for, so the numbers of a label do
    not depend on earlier questions. A dealer uses each label once.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def words(self, label: str) -> Iterator[int]:
        """Yield the label's stream, unsigned 32-bit numbers without end. Raise ``ValueError`` for a bad label."""
        if not LABEL.match(label):
            raise ValueError(f"label {label!r}; expected parts of a-z, 0-9 and -, separated by /")
        prefix = _DOMAIN + label.encode() + b"\0"
        counter = 0
        while True:
            block = hmac_digest(self._key, prefix + counter.to_bytes(8, "big"), "sha256")
            for at in range(0, _BLOCK_WORDS * 4, 4):
                yield int.from_bytes(block[at : at + 4], "big")
            counter += 1

    def uniform(self, label: str, n: int) -> int:
        """Return a number in 0..n-1, all equally likely: the label's first that is not rejected."""
        return _uniform(self.words(label), n)

    def permutation(self, label: str, n: int) -> list[int]:
        """Return 0..n-1, shuffled (Fisher and Yates, from the end) with the label's stream."""
        words = self.words(label)
        order = list(range(n))
        for i in range(n - 1, 0, -1):
            j = _uniform(words, i + 1)
            order[i], order[j] = order[j], order[i]
        return order


def _uniform(words: Iterator[int], n: int) -> int:
    if not 1 <= n <= _WORDS:
        raise ValueError(f"a range of {n}; expected 1 to 2^32")
    # Numbers from the last, incomplete run of n would make small results likelier.
    limit = _WORDS - _WORDS % n
    while (word := next(words)) >= limit:
        pass
    return word % n


def _seed(seed: bytes) -> bytes:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"the seed has {len(seed)} bytes; expected {SEED_BYTES}")
    return seed
