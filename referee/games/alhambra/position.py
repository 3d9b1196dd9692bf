"""A position of Alhambra: the places of all pieces and the awaited act, with the plain questions about it.

``Position.encode`` gives the bytes that every entry's digest is made from: docs/alhambra-state.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from struct import Struct
from typing import Final, Self

from referee.games.alhambra.layout import Layout, wall_points
from referee.games.alhambra.money import KINDS, Cut, copies, is_uneven
from referee.games.alhambra.options import Options
from referee.games.alhambra.tiles import TYPES, TileSet, tiles_of
from referee.games.game import Ending
from referee.games.state_base import StateBase
from referee.games.values import Copied


class Phase(IntEnum):
    """The move or chance that the game waits for."""

    NEUTRAL_START = 0
    MARKET = 1
    HAND = 2
    FIRST_ROW = 3
    ACTION = 4
    PLACE = 5
    ROW = 6
    REFILL = 7
    NEUTRAL = 8
    HAND_OUT = 9
    OVER = 10


CHANCE_KINDS: Final = {
    Phase.NEUTRAL_START: "neutral_tiles",
    Phase.MARKET: "market_tiles",
    Phase.HAND: "hand",
    Phase.FIRST_ROW: "money_row",
    Phase.ROW: "money_row",
    Phase.REFILL: "market_tiles",
    Phase.NEUTRAL: "neutral_tiles",
}

ACTIONS: Final = ("take_money", "buy", "rebuild_add", "rebuild_remove", "rebuild_swap")
DISPOSALS: Final = ("place_tile", "reserve_tile", "give_tile")

SLOTS: Final = 4
"""Market slots; cards in a full money row."""

FREE: Final = 255
"""A market slot without a tile."""


# Found once: to find a member of an enumeration takes as long as ten other names.
_HAND_OUT: Final = Phase.HAND_OUT


class Position(StateBase):
    """All public data; nothing in it is secret. Only the order of undrawn pieces is hidden."""

    __slots__ = (
        "a_at",
        "b_at",
        "bag",
        "bought",
        "cut",
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
        "tile_set",
        "to_score",
        "turned",
        "turns",
        "won",
    )

    def __init__(self, seats: int, options: Options, tile_set: TileSet, cut: Cut = Cut.ANY) -> None:
        """Set up the position before the first event (ALH-F1 to ALH-F4). Raise ``SetupError``."""
        self.options = options.for_seats(seats)
        self.tile_set = tile_set
        self.seats = seats
        self.cut = cut
        """ALH-F3: how the money cards may be cut into piles, as the version has it."""
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
        self.bag = tile_set.all
        self.layouts = [Layout(tile_set)] * seats
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
        """The way in which the game ended, once it is over."""

    def comments(self) -> tuple[str, ...]:
        """Return what a referee says of piles that cannot have been equal (ALH-F3), in English."""
        facts = self.uneven_piles()
        if not facts:
            return ()
        came = " and ".join(
            f"scoring card {card} came after {facts[card]} of them" for card in ("A", "B") if card in facts
        )
        missing = f"{facts['turned']} of them are turned" if "turned" in facts else ""
        what = "; ".join(filter(None, (came, missing)))
        return (f"the {facts['cards']} money cards were not cut into five equal piles (ALH-F3): {what}",)

    def uneven_piles(self) -> Mapping[str, int]:
        """Return what shows that the piles were not equal (ALH-F3): how many ``cards`` they had, after how many of them
        scoring cards ``A`` and ``B`` came, how many are ``turned``, if one did not come. Empty: nothing shows it.
        """
        if not self.stack or not is_uneven(self.stack, self.turned, self.a_at, self.b_at):
            return {}
        came = {card: at for card, at in (("A", self.a_at), ("B", self.b_at)) if at >= 0}
        return {"cards": self.stack, **came, **({} if "B" in came else {"turned": self.turned})}

    def tiles_in_hand(self) -> int:
        """Bought or won tiles that the seat on turn has to dispose of."""
        return self.won[self.seat] if self.phase is _HAND_OUT else self.bought

    def tiles_due(self) -> int:
        """Return how many tiles the draw that is awaited has (ALH-C9, ALH-F4)."""
        if CHANCE_KINDS[self.phase] == "neutral_tiles":
            return self.neutral_draws()
        return min(self.market.count(FREE), self.bag.bit_count())

    def neutral_draws(self) -> int:
        """Return tiles that the neutral player draws before the game, and after round 1 and round 2 (ALH-F4)."""
        if self.seats != 2:
            return 0
        in_bag = self.bag.bit_count()
        return in_bag // 3 if self.scorings == 2 else min(6, in_bag)

    def counts(self, seat: int) -> list[int]:
        """Return tiles in the seat's Alhambra by type, the reserve not among them (ALH-E5)."""
        return self._count_types(self.layouts[seat].tiles.values())

    def neutral_counts(self) -> list[int]:
        """Return the neutral player's tiles by type."""
        return self._count_types(tiles_of(self.neutral))

    def _count_types(self, tiles: Iterable[int]) -> list[int]:
        counts = [0] * len(TYPES)
        for tile in tiles:
            counts[self.tile_set.types[tile]] += 1
        return counts

    def wall(self, seat: int) -> int:
        """Return the seat's longest wall; closed, it counts one less where the options say so (ALH-B1, ALH-B6)."""
        return wall_points(*self.layouts[seat].wall(), self.options.loop_rule)

    def copy(self) -> Self:
        """Return an independent position; layouts are values and are shared."""
        # Written out, as every event makes one: a loop over the names takes three times as long, a part of it in a base
        # class a tenth longer.
        new = Copied.__new__(type(self))
        new.a_at = self.a_at
        new.b_at = self.b_at
        new.bag = self.bag
        new.bought = self.bought
        new.cut = self.cut
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
        new.tile_set = self.tile_set
        new.to_score = self.to_score
        new.turned = self.turned
        new.turns = self.turns
        new.won = self.won.copy()
        return new

    def encode(self) -> bytes:
        """Return the bytes; their SHA-256 is the digest."""
        row = bytearray(KINDS)
        for kind in self.row:
            row[kind] += 1
        to_score = 0
        for round_ in self.to_score:
            to_score |= 1 << round_
        parts = [
            _table(
                b"ALH\x01",
                self.seats,
                self.phase,
                self.seat,
                self.start,
                self.scorings,
                to_score,
                self.turns,
                self.stack,
                self.turned,
                self.a_at,
                self.b_at,
                bytes(self.market),
                row,
                self.deck,
                self.discard,
                self.bag,
                self.bought,
                self.neutral,
            )
        ]
        hands, scores, reserves, won = self.hands, self.scores, self.reserves, self.won
        for seat, layout in enumerate(self.layouts):
            parts += (_seat(hands[seat], scores[seat], reserves[seat], won[seat]), layout.encode())
        return b"".join(parts)

    def __repr__(self) -> str:
        return f"<Alhambra: {self.phase.name.lower()}, seat {self.seat}, {self.turns} turns, scores {self.scores}>"


# Every entry has a digest, so the formats are read once.
_table = Struct(f">4s6B3Hhh{SLOTS}s{KINDS}s{KINDS}s{KINDS}s3Q").pack
_seat = Struct(f">{KINDS}sHQQ").pack
