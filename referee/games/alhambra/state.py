"""A game of Alhambra in progress: the awaited act and the effect of each event.

``check.py`` decides whether an event may happen; here it has happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from referee.games.alhambra import chance, check
from referee.games.alhambra.chance import Dealer
from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.money import KINDS, SCORING_A, VALUE, sums
from referee.games.alhambra.moves import (
    Buy,
    Event,
    GiveTile,
    Hand,
    MarketTiles,
    MoneyRow,
    Move,
    NeutralTiles,
    Outcome,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.options import EndRule
from referee.games.alhambra.position import ACTIONS, CHANCE_KINDS, DISPOSALS, FREE, SLOTS, Phase, Position
from referee.games.alhambra.scoring import places, score_position
from referee.games.alhambra.violations import AsPlayed
from referee.games.game import Ending, Forced, Over, Pending, Violation, decision
from referee.games.game import chance as awaited_chance
from referee.games.sampling import Below

# Found once: to find a member of an enumeration takes as long as ten other names.
_NEUTRAL_START: Final = Phase.NEUTRAL_START
_MARKET: Final = Phase.MARKET
_HAND: Final = Phase.HAND
_FIRST_ROW: Final = Phase.FIRST_ROW
_ACTION: Final = Phase.ACTION
_PLACE: Final = Phase.PLACE
_ROW: Final = Phase.ROW
_REFILL: Final = Phase.REFILL
_NEUTRAL: Final = Phase.NEUTRAL
_HAND_OUT: Final = Phase.HAND_OUT
_OVER: Final = Phase.OVER
_BAG_EMPTY: Final = EndRule.BAG_EMPTY


class State(Position):
    """A position that events advance. Its methods call the rules in the other modules of the game."""

    __slots__ = ()

    def check(self, event: Any) -> tuple[Violation, ...]:
        """Return every rule that the event would break."""
        return check.violations(self, event)

    def legal_moves(self) -> Iterator[Move]:
        """Return the moves of the seat on turn, in canonical order."""
        return check.legal_moves(self)

    def stand_in(self, seat: int) -> Move:
        """Return the move for a seat that makes none. Raise ``ValueError``."""
        return check.stand_in(self, seat)

    def chance_outcomes(self) -> Iterator[tuple[Outcome, int]]:
        """Return outcomes that can come next, with integer weights."""
        return chance.outcomes(self)

    def sample(self, below: Below) -> Outcome:
        """Return one of them, as likely as it is. Raise ``ValueError`` unless one is awaited."""
        return chance.sample(self, below)

    def determinize(self, below: Below) -> Dealer:
        """Return a deck that fits what is known: all chance still to come, decided at once."""
        return chance.determinized(self, below)

    # The awaited moves and chance

    def pending(self) -> tuple[Pending, ...]:
        """Return one thing at a time: a decision, an outcome, a forced pass, or the result."""
        kind = CHANCE_KINDS.get(self.phase)
        if kind is not None:
            return awaited_chance(kind)
        if self.phase is _ACTION:
            if self.row or check.actions(self):
                return decision(self.seat, ACTIONS)
            return (Forced(self.seat),)
        if self.phase is _PLACE:
            return decision(self.seat, DISPOSALS if self.seats == 2 else DISPOSALS[:2])
        if self.phase is _HAND_OUT:
            return decision(self.seat, DISPOSALS[:2])
        return (Over(self.ending, tuple(self.scores), places(self.scores)),)

    # The effects of events

    def apply(self, event: Event) -> None:
        """Move on to the next thing awaited. The event has passed ``check``."""
        # A pattern that takes an event apart takes as long as all that this method does; the most frequent come first.
        match event:
            case TakeMoney():
                self._take_money(event.cards)
            case MoneyRow():
                self._money_row(event.cards)
            case Buy():
                self._buy(event.slot, event.payment)
            case MarketTiles():
                self._market_tiles(event.tiles)
            case PlaceTile():
                self._lay(event.tile, index_of(event.cell))
                self._dispose(event.tile)
            case ReserveTile():
                self.reserves[self.seat] |= 1 << event.tile
                self._dispose(event.tile)
            case RebuildAdd():
                self._lay(event.tile, index_of(event.cell))
                self.reserves[self.seat] ^= 1 << event.tile
                self._end_actions()
            case RebuildRemove():
                self._rebuild_remove(index_of(event.cell))
            case RebuildSwap():
                self._rebuild_swap(event.tile, index_of(event.cell))
            case GiveTile():
                self.neutral |= 1 << event.tile
                self._dispose(event.tile)
            case NeutralTiles():
                self._neutral_tiles(event.tiles)
            case Hand():
                self._hand(event.seat, event.cards)
            case _:  # ForcedPass: check admits nothing else
                self._end_actions()

    def _take_money(self, cards: tuple[int, ...]) -> None:
        """ALH-C1, ALH-C5: into the hand; the actions are over."""
        hand = self.hands[self.seat]
        for kind in cards:
            self.row.remove(kind)
            hand[kind] += 1
        self._end_actions()

    def _buy(self, slot: int, payment: tuple[int, ...]) -> None:
        """ALH-C2, ALH-C3, ALH-C5: an exact payment leaves the seat in its actions, any other ends them."""
        tile = self.market[slot]
        hand = self.hands[self.seat]
        paid = 0
        for kind in payment:
            hand[kind] -= 1
            self.discard[kind] += 1
            paid += VALUE[kind]
        self.market[slot] = FREE
        self.bought |= 1 << tile
        if paid != self.tile_set.costs[tile]:
            self._end_actions()

    def _rebuilt(self, layout: Layout, legal: int) -> None:
        """TBL-7: judge a move that an arbiter lets stand as such from then on."""
        self.layouts[self.seat] = layout if legal else AsPlayed.of_layout(layout)

    def _lay(self, tile: int, index: int) -> None:
        layout = self.layouts[self.seat]
        self._rebuilt(layout.placed(tile, index), layout.placeable(self.tile_set.walls[tile]) >> index & 1)

    def _rebuild_remove(self, index: int) -> None:
        """ALH-D1: from the Alhambra to the reserve."""
        layout = self.layouts[self.seat]
        self.reserves[self.seat] |= 1 << layout.tiles[index]
        self._rebuilt(layout.removed(index), layout.removable() >> index & 1)
        self._end_actions()

    def _rebuild_swap(self, tile: int, index: int) -> None:
        """ALH-D1: one tile of the reserve against one of the Alhambra, on the same cell."""
        layout = self.layouts[self.seat]
        self.reserves[self.seat] ^= 1 << tile | 1 << layout.tiles[index]
        self._rebuilt(layout.swapped(tile, index), layout.swappable(self.tile_set.walls[tile]) >> index & 1)
        self._end_actions()

    def _end_actions(self) -> None:
        """ALH-C5, ALH-C7: after the last action the bought tiles are placed; without any the turn is over."""
        if self.bought:
            self.phase = _PLACE
        else:
            self._end_turn()

    def _dispose(self, tile: int) -> None:
        """ALH-C7, ALH-F10: one tile in hand less; with the last, the turn or the seat's hand-out is over."""
        if self.phase is _HAND_OUT:
            self.won[self.seat] ^= 1 << tile
            if not self.won[self.seat]:
                self._next_winner()
        else:
            self.bought ^= 1 << tile
            if not self.bought:
                self._end_turn()

    def _end_turn(self) -> None:
        """ALH-C9, ALH-C11, ALH-C13: money first, then tiles; or the turn limit ends the game on the spot."""
        self.turns += 1
        if self.turns >= self.options.max_turns:
            self._final_scoring(Ending.STALLED)
        elif len(self.row) < SLOTS and (any(self.deck) or any(self.discard)):
            self.phase = _ROW
        else:
            self._after_money()

    def _money_row(self, cards: tuple[int, ...]) -> None:
        """ALH-C10, ALH-E7: an empty deck takes in the discards; a scoring card waits until market and row are full."""
        for kind in cards:
            if kind >= KINDS:
                self._scoring_card(kind)
                continue
            if not any(self.deck):
                self._reshuffle()
            self.deck[kind] -= 1
            self.row.append(kind)
            if self.phase is _ROW and self.turned < self.stack:
                self.turned += 1
        self.row.sort()
        if self.phase is _FIRST_ROW:
            self.stack = sum(self.deck)
            self.phase = _ACTION
        else:
            self._after_money()

    def _scoring_card(self, kind: int) -> None:
        """ALH-E7, ALH-E8: the card leaves the game; its round is held after the refill, A before B."""
        if kind == SCORING_A:
            self.a_at = self.turned
        else:
            self.b_at = self.turned
        self.to_score = tuple(sorted((*self.to_score, 1 if kind == SCORING_A else 2)))

    def _reshuffle(self) -> None:
        """ALH-C10: the discards are the new deck."""
        self.deck, self.discard = self.discard, bytearray(KINDS)

    def _after_money(self) -> None:
        """ALH-C9: refill the free slots from the bag, as far as it goes."""
        if self.bag and FREE in self.market:
            self.phase = _REFILL
        else:
            self._after_refill()

    def _market_tiles(self, tiles: tuple[int, ...]) -> None:
        """ALH-C9: the first tile to the first free slot."""
        free = [slot for slot, tile in enumerate(self.market) if tile == FREE]
        for slot, tile in zip(free, tiles, strict=False):
            self.market[slot] = tile
            self.bag ^= 1 << tile
        if self.phase is _MARKET:
            self.phase = _HAND
        else:
            self._after_refill()

    def _after_refill(self) -> None:
        """ALH-E7, ALH-F4, ALH-F8: hold rounds that are due, let the neutral player draw, continue or end the game."""
        while self.to_score:
            round_, self.to_score = self.to_score[0], self.to_score[1:]
            self._score(round_)
            if self.neutral_draws():
                self.phase = _NEUTRAL
                return
        if FREE in self.market or (self.options.end_rule is _BAG_EMPTY and not self.bag):
            self._hand_out()
        else:
            self.seat = (self.seat + 1) % self.seats
            self.phase = _ACTION

    def _neutral_tiles(self, tiles: tuple[int, ...]) -> None:
        """ALH-F4: to the neutral player."""
        for tile in tiles:
            self.bag ^= 1 << tile
            self.neutral |= 1 << tile
        if self.phase is _NEUTRAL_START:
            self.phase = _MARKET
        else:
            self._after_refill()

    def _hand(self, seat: int, cards: tuple[int, ...]) -> None:
        """ALH-F1, ALH-F2: the youngest first, then to the left; after the last hand the start seat is known."""
        for kind in cards:
            self.deck[kind] -= 1
            self.hands[seat][kind] += 1
        youngest = self.options.age_order[0]
        self.seat = (seat + 1) % self.seats
        if self.seat == youngest:
            self.start = self.seat = self._start_seat()
            self.phase = _FIRST_ROW

    def _start_seat(self) -> int:
        """Return the seat with the fewest cards, then the least money, then the youngest (ALH-F2)."""
        return min(self.options.age_order, key=lambda seat: (sum(self.hands[seat]), sum(sums(self.hands[seat]))))

    # The end

    def _hand_out(self) -> None:
        """ALH-F9: each tile left goes to the seat that alone has the most money of its currency; nothing is paid."""
        money = [sums(hand) for hand in self.hands]
        for slot, tile in enumerate(self.market):
            if tile == FREE:
                continue
            held = [own[self.options.slot_currencies[slot]] for own in money]
            most = max(held)
            if most > 0 and held.count(most) == 1:
                self.won[held.index(most)] |= 1 << tile
                self.market[slot] = FREE
        self.phase = _HAND_OUT
        self._next_winner()

    def _next_winner(self) -> None:
        """ALH-F10: the winners dispose of their tiles in turn order, starting left of the seat that ended the game."""
        for _ in range(self.seats):
            self.seat = (self.seat + 1) % self.seats
            if self.won[self.seat]:
                return
        self._final_scoring(Ending.RULES)

    def _final_scoring(self, ending: Ending) -> None:
        """ALH-E1, ALH-E9: the third round, and nothing for a round whose card never came."""
        self._score(3)
        self.phase = _OVER
        self.ending = ending

    def _score(self, round_: int) -> None:
        points, _ = score_position(self, round_)
        self.scores = [score + more for score, more in zip(self.scores, points, strict=True)]
        self.scorings += 1

    # Copies and encoding
