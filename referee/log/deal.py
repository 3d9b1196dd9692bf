"""The committed deck of a dealt game, as far as it has been opened: which seeds open it, and what chance it gives.

Raises ``LogError`` and nothing else on purpose. Knows neither keys nor the order of entries.
"""

from __future__ import annotations

from referee.games.game import Dealer, State
from referee.log.deck import Deck, deck_key, referee_commitment, seat_commitment
from referee.log.errors import Code, LogError
from referee.log.position import Position, engine_failed
from referee.log.v1 import log_pb2


class Deal:
    """One game's. A declared game has one, too, which gives nothing."""

    def __init__(self, opened: log_pb2.GameOpen, identity: bytes, secret: bytes | None) -> None:
        """``secret`` is r where it is known: by the referee from the start, by the auditor once disclosed."""
        self.is_dealt = opened.HasField("dealt")
        self.secret = secret
        self.seeds: dict[int, bytes] = {}
        """What seats have revealed, by seat."""
        self.dealer: Dealer | None = None
        """The dealer of a dealt game whose deck is known."""
        self._commitment = opened.dealt.commitment
        self._identity = identity
        self._is_doubted = False
        self._asked: State | None = None
        self._outcome = b""

    def check_reveal(self, seat: int, seed: bytes, commitment: bytes) -> None:
        """Raise ``LogError`` (``DECK``) for a seed that is not the one its seat committed to."""
        if not self._is_doubted and seat_commitment(self._identity, seat, seed) != commitment:
            raise LogError(Code.DECK, f"the seed of seat {seat} is not the one it committed to")

    def check_disclosed(self, seed: bytes) -> None:
        """Raise ``LogError`` (``DECK``) for a seed that is not the one the referee committed to."""
        if not self._is_doubted and referee_commitment(seed) != self._commitment:
            raise LogError(Code.DECK, "the referee's seed is not the one it committed to")

    def check_outcome(self, position: Position, data: bytes) -> None:
        """Raise ``LogError`` (``DECK``) for chance that is not the deck's, where the deck is known."""
        if self.dealer is not None and data != (expected := self.outcome(self.dealer, position)):
            raise LogError(Code.DECK, f"chance {data.hex()}", f"{expected.hex()} from the deck")

    def outcome(self, dealer: Dealer, position: Position) -> bytes:
        """Return the exact bytes of what the deck gives in this position."""
        # A dealer is asked once for each chance event, and may be in need of its answer twice.
        if self._asked is not position.state:
            try:
                self._outcome = position.codec.encode_outcome(dealer.outcome(position.state), position.components)
            except Exception as error:
                raise engine_failed(error) from error
            self._asked = position.state
        return self._outcome

    def shuffle(self, position: Position) -> None:
        """Shuffle: every seed is revealed, so the deck is fixed, and known to whoever knows the referee's secret."""
        if self.secret is None or referee_commitment(self.secret) != self._commitment:
            return
        stream = Deck(deck_key(self.secret, self._identity, [self.seeds[seat] for seat in sorted(self.seeds)]))
        try:
            self.dealer = position.rules.dealer(position.seats, position.options, position.components, stream)
        except Exception as error:
            raise engine_failed(error) from error

    def doubt(self) -> None:
        """Stop comparing, after a ``DECK`` failure: from here on chance is judged by the rules alone."""
        self.secret = None
        self.dealer = None
        self._is_doubted = True
