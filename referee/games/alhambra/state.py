"""A game of Alhambra in progress: what is awaited and what each event does.

Whether an event may happen is asked in ``check.py``; here it has happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from referee.games.alhambra import check, encoding, listing, piles
from referee.games.alhambra.as_played import AsPlayed
from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.money import (
    KINDS,
    SCORING_A,
    VALUE,
    copies,
    sums,
)
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
from referee.games.alhambra.options import EndRule, Options
from referee.games.alhambra.phases import ACTIONS, CHANCE_KINDS, DISPOSALS, FREE, SLOTS, Phase
from referee.games.alhambra.scoring import places, score_round, wall_points
from referee.games.alhambra.tiles import TYPES, TileTable, tiles_of
from referee.games.game import Chance, Decision, Ending, Forced, Over, Pending, Violation


class State:
    """The whole public state; nothing in it is secret. Hidden is only the order of what is still undrawn."""

    __slots__ = (
        "a_at",
        "b_at",
        "bag",
        "bought",
        "deck",
        "discard",
        "ending",
        "hands",
        "layouts",
        "market",
        "neutral",
        "options",
        "phase",
        "reserves",
        "row",
        "scores",
        "scorings",
        "seat",
        "seats",
        "stack",
        "start",
        "table",
        "to_score",
        "turned",
        "turns",
        "won",
    )

    def __init__(self, seats: int, options: Options, table: TileTable) -> None:
        """Before the first event (ALH-F1 to ALH-F4). Raises ``SetupError``."""
        self.options = options.for_seats(seats)
        self.table = table
        self.seats = seats
        self.phase = Phase.NEUTRAL_START if seats == 2 else Phase.MARKET
        self.seat = self.options.age_order[0]
        self.start = self.seat
        """The start seat, once the hands are dealt."""
        self.turns = 0
        self.market = [FREE] * SLOTS
        self.row: list[int] = []
        """Face-up money, ascending."""
        self.deck = bytearray([copies(seats)] * KINDS)
        """Money cards not yet turned, counted by kind."""
        self.discard = bytearray(KINDS)
        self.hands = [bytearray(KINDS) for _ in range(seats)]
        self.bag = table.all
        self.layouts = [Layout(table)] * seats
        self.reserves = [0] * seats
        self.bought = 0
        """Tiles of the seat on turn that wait for their place."""
        self.won = [0] * seats
        """Tiles of the hand-out that wait for the seat's decision."""
        self.neutral = 0
        self.scores = [0] * seats
        self.scorings = 0
        """Scoring rounds held."""
        self.to_score: tuple[int, ...] = ()
        """Rounds whose card was turned and that are not yet held."""
        self.stack = 0
        """Money cards in the five piles when they were made (ALH-F3)."""
        self.turned = 0
        """Money cards turned from the piles."""
        self.a_at = self.b_at = -1
        """Money cards turned before the scoring card; -1: not yet turned."""
        self.ending = Ending.RULES
        """How the game ended, once it is over."""

    # What is awaited

    def pending(self) -> tuple[Pending, ...]:
        """One thing at a time: a decision, an outcome, a forced pass, or the result."""
        kind = CHANCE_KINDS.get(self.phase)
        if kind is not None:
            return (Chance(kind),)
        if self.phase is Phase.ACTION:
            if self.row or next(self.legal_moves(), None) is not None:
                return (Decision(self.seat, ACTIONS),)
            return (Forced(self.seat),)
        if self.phase is Phase.PLACE:
            return (Decision(self.seat, DISPOSALS if self.seats == 2 else DISPOSALS[:2]),)
        if self.phase is Phase.HAND_OUT:
            return (Decision(self.seat, DISPOSALS[:2]),)
        return (Over(self.ending, tuple(self.scores), places(self.scores)),)

    def check(self, event: Event) -> tuple[Violation, ...]:
        """Every rule that the event breaks; empty means legal."""
        return check.violations(self, event)

    def tiles_in_hand(self) -> int:
        """Bought or won tiles that the seat on turn has to dispose of."""
        return self.won[self.seat] if self.phase is Phase.HAND_OUT else self.bought

    def legal_moves(self) -> Iterator[Move]:
        """Canonical moves in canonical order: money, purchases by slot, the three rebuilds; or place, reserve, give."""
        if self.phase is Phase.ACTION:
            return iter(listing.actions(self))
        if self.phase in (Phase.PLACE, Phase.HAND_OUT):
            return iter(listing.disposals(self))
        return iter(())

    def stand_in(self, seat: int) -> Move:
        """TBL-2: what is entered for a seat that makes no move. Raises ``ValueError`` if it has nothing to decide."""
        return listing.stand_in(self, seat)

    def chance_outcomes(self) -> Iterator[tuple[Outcome, int]]:
        """Every outcome that can come next, weighted by the orders of draw that bring it."""
        return piles.outcomes(self)

    def observation(self, seat: int | None) -> State:  # noqa: ARG002 - everybody may see all of it
        """All of it: hands are public in the record of a game, and the undrawn order is not in the state."""
        return self.copy()

    # What happens

    def apply(self, event: Event) -> None:
        """Moves on to the next thing awaited. The event has passed ``check``."""
        match event:
            case TakeMoney(cards):
                self._take_money(cards)
            case Buy(slot, payment):
                self._buy(slot, payment)
            case RebuildAdd(tile, cell):
                self._lay(tile, index_of(cell))
                self.reserves[self.seat] ^= 1 << tile
                self._end_actions()
            case RebuildRemove(cell):
                self._rebuild_remove(index_of(cell))
            case RebuildSwap(tile, cell):
                self._rebuild_swap(tile, index_of(cell))
            case PlaceTile(tile, cell):
                self._lay(tile, index_of(cell))
                self._dispose(tile)
            case ReserveTile(tile):
                self.reserves[self.seat] |= 1 << tile
                self._dispose(tile)
            case GiveTile(tile):
                self.neutral |= 1 << tile
                self._dispose(tile)
            case NeutralTiles(tiles):
                self._neutral_tiles(tiles)
            case MarketTiles(tiles):
                self._market_tiles(tiles)
            case Hand(seat, cards):
                self._hand(seat, cards)
            case MoneyRow(cards):
                self._money_row(cards)
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
        if paid != self.table.costs[tile]:
            self._end_actions()

    def _rebuilt(self, layout: Layout, legal: int) -> None:
        """TBL-7: what an arbiter lets stand is judged as such from then on."""
        self.layouts[self.seat] = layout if legal else AsPlayed.of_layout(layout)

    def _lay(self, tile: int, index: int) -> None:
        layout = self.layouts[self.seat]
        self._rebuilt(layout.placed(tile, index), layout.placeable(self.table.walls[tile]) >> index & 1)

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
        self._rebuilt(layout.swapped(tile, index), layout.swappable(self.table.walls[tile]) >> index & 1)
        self._end_actions()

    def _end_actions(self) -> None:
        """ALH-C5, ALH-C7: after the last action the bought tiles are placed; without any the turn is over."""
        if self.bought:
            self.phase = Phase.PLACE
        else:
            self._end_turn()

    def _dispose(self, tile: int) -> None:
        """ALH-C7, ALH-F10: one tile in hand less; with the last, the turn or the seat's hand-out is over."""
        if self.phase is Phase.HAND_OUT:
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
            self.phase = Phase.ROW
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
            if self.phase is Phase.ROW and self.turned < self.stack:
                self.turned += 1
        self.row.sort()
        if self.phase is Phase.FIRST_ROW:
            self.stack = sum(self.deck)
            self.phase = Phase.ACTION
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
        """ALH-C9: the free slots are refilled with what the bag still has."""
        if self.bag and FREE in self.market:
            self.phase = Phase.REFILL
        else:
            self._after_refill()

    def _market_tiles(self, tiles: tuple[int, ...]) -> None:
        """ALH-C9: the first tile to the first free slot."""
        free = [slot for slot, tile in enumerate(self.market) if tile == FREE]
        for slot, tile in zip(free, tiles, strict=False):
            self.market[slot] = tile
            self.bag ^= 1 << tile
        if self.phase is Phase.MARKET:
            self.phase = Phase.HAND
        else:
            self._after_refill()

    def _after_refill(self) -> None:
        """ALH-E7, ALH-F4, ALH-F8: rounds that are due are held, the neutral player draws, the game goes on or ends."""
        while self.to_score:
            round_, self.to_score = self.to_score[0], self.to_score[1:]
            self._score(round_)
            if self.neutral_draws():
                self.phase = Phase.NEUTRAL
                return
        if FREE in self.market or (self.options.end_rule is EndRule.BAG_EMPTY and not self.bag):
            self._hand_out()
        else:
            self.seat = (self.seat + 1) % self.seats
            self.phase = Phase.ACTION

    def neutral_draws(self) -> int:
        """ALH-F4: tiles that the neutral player draws before the game, and after round 1 and round 2."""
        if self.seats != 2:
            return 0
        in_bag = self.bag.bit_count()
        return in_bag // 3 if self.scorings == 2 else min(6, in_bag)

    def _neutral_tiles(self, tiles: tuple[int, ...]) -> None:
        """ALH-F4: to the neutral player."""
        for tile in tiles:
            self.bag ^= 1 << tile
            self.neutral |= 1 << tile
        if self.phase is Phase.NEUTRAL_START:
            self.phase = Phase.MARKET
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
            self.phase = Phase.FIRST_ROW

    def _start_seat(self) -> int:
        """ALH-F2: fewest cards, then least money, then the youngest."""
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
        self.phase = Phase.HAND_OUT
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
        self.phase = Phase.OVER
        self.ending = ending

    def _score(self, round_: int) -> None:
        points, _ = score_round(
            round_,
            [self.counts(seat) for seat in range(self.seats)],
            [self.wall(seat) for seat in range(self.seats)],
            self.neutral_counts() if self.seats == 2 else None,
        )
        self.scores = [score + more for score, more in zip(self.scores, points, strict=True)]
        self.scorings += 1

    def counts(self, seat: int) -> list[int]:
        """ALH-E5: tiles in the seat's Alhambra by type, the reserve not among them."""
        return self._count_types(self.layouts[seat].tiles.values())

    def neutral_counts(self) -> list[int]:
        """The neutral player's tiles by type."""
        return self._count_types(tiles_of(self.neutral))

    def _count_types(self, tiles: Iterable[int]) -> list[int]:
        counts = [0] * len(TYPES)
        for tile in tiles:
            counts[self.table.types[tile]] += 1
        return counts

    def wall(self, seat: int) -> int:
        """ALH-B1, ALH-B6: the seat's longest wall; closed, it counts one less where the options say so."""
        return wall_points(*self.layouts[seat].wall(), self.options.loop_rule)

    def __repr__(self) -> str:
        return f"<Alhambra: {self.phase.name.lower()}, seat {self.seat}, {self.turns} turns, scores {self.scores}>"

    # Copies and encoding

    def copy(self) -> State:
        """Return an independent position; layouts are values and are shared."""
        # Written out, as every event makes one: a loop over the names takes three times as long.
        new = type(self).__new__(type(self))
        new.a_at = self.a_at
        new.b_at = self.b_at
        new.bag = self.bag
        new.bought = self.bought
        new.deck = self.deck.copy()
        new.discard = self.discard.copy()
        new.ending = self.ending
        new.hands = [hand.copy() for hand in self.hands]
        new.layouts = self.layouts.copy()
        new.market = self.market.copy()
        new.neutral = self.neutral
        new.options = self.options
        new.phase = self.phase
        new.reserves = self.reserves.copy()
        new.row = self.row.copy()
        new.scores = self.scores.copy()
        new.scorings = self.scorings
        new.seat = self.seat
        new.seats = self.seats
        new.stack = self.stack
        new.start = self.start
        new.table = self.table
        new.to_score = self.to_score
        new.turned = self.turned
        new.turns = self.turns
        new.won = self.won.copy()
        return new

    def encode(self) -> bytes:
        """The canonical encoding, as docs/alhambra-state.md gives it."""
        return encoding.encode(self)

    def digest(self) -> bytes:
        """SHA-256 of ``encode()``."""
        return sha256(self.encode()).digest()
