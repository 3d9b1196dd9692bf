"""The rules of Alhambra as this referee decides them: id, kind, text, citation, where it is held.

Citations name the rule texts by edition: CZ (Corfix/Queen 2003), RU (Russian edition), HU (Piatnik); BGA is the Board
Game Arena implementation (thoun/bga-alhambra, 2021-01). "Decided" marks a question that the texts leave open.
"""

from __future__ import annotations

from typing import Final

from referee.games.game import Kind, Rule

_C, _T, _S, _D = Kind.CONSTRAINT, Kind.TRANSITION, Kind.SCORING, Kind.DERIVED


def _rule(key: str, kind: Kind, function: str, text: str, citation: str) -> Rule:
    return Rule(f"ALH-{key}", kind, text, citation, f"alhambra.{function}")


BUILDING: Final = (
    _rule(
        "A1",
        _D,
        "tiles.Tile",
        "A tile is never turned: its walls are those of the tile table, roofs up.",
        "CZ rules of building 1; RU same; HU same",
    ),
    _rule(
        "A2",
        _C,
        "layout.Layout.placeable",
        "Where two tiles touch by a side, both carry a wall there or neither does. The fountain has no walls.",
        "CZ rules of building 2; RU same; HU same; BGA canPlaceAlhambraPiece",
    ),
    _rule(
        "A3",
        _C,
        "layout.Layout.placeable",
        "A tile touches the Alhambra by at least one side; touching by a corner is not enough.",
        "CZ rules of building 4; RU same; HU same",
    ),
    _rule(
        "A4",
        _C,
        "layout.Layout.placeable",
        "Every tile can be reached on foot from the fountain without crossing a wall or leaving the tiles.",
        "CZ rules of building 3; RU same; HU same",
    ),
    _rule(
        "A5",
        _C,
        "layout.Layout.placeable",
        "No empty space is shut in by tiles: the empty cells hang together by their sides.",
        "CZ rules of building 5; RU same; HU same",
    ),
    _rule(
        "A6",
        _C,
        "layout.Layout.placeable",
        "An empty space that touches the outside by a corner only is shut in as well.",
        "Decided: the texts are silent; BGA refuses it. Each of its cells is bounded by sides of tiles",
    ),
    _rule(
        "A7",
        _T,
        "state.State.apply",
        "A tile may go to the reserve although it could be placed, and the reserve has no limit.",
        "CZ placing tiles; RU same; HU same",
    ),
    _rule(
        "A8",
        _C,
        "layout.on_board",
        "The Alhambra has no size limit; a cell further than 54 from the fountain cannot be reached by 54 tiles.",
        "No limit in any text",
    ),
    _rule(
        "A9",
        _C,
        "violations.placement_violations",
        "A tile is placed on an empty cell.",
        "CZ rules of building: tiles are added beside each other; exchange is a rebuild",
    ),
)

WALL: Final = (
    _rule(
        "B1",
        _S,
        "layout.Layout.wall",
        "A seat scores its longest connected outer wall, one point for each side of a tile, in every round.",
        "CZ points for the wall; RU same; HU same",
    ),
    _rule(
        "B2",
        _S,
        "layout.Layout.wall",
        "A wall between two tiles counts nothing.",
        "CZ points for the wall (inner walls); RU same; HU same",
    ),
    _rule(
        "B3",
        _S,
        "layout.Layout.wall",
        "The fountain's tile has no wall, so its outer sides break a wall.",
        "Decided from the pictures of all editions, where the start tile shows none; no text says so; BGA same",
    ),
    _rule(
        "B4",
        _D,
        "layout.Layout.wall",
        "The outline of an Alhambra is one closed curve that never touches itself.",
        "Follows from A3, A5 and A6",
    ),
    _rule(
        "B5",
        _D,
        "layout.Layout.wall",
        "There is no wall around a hole.",
        "Follows from A5 and A6: there are no holes",
    ),
    _rule(
        "B6",
        _S,
        "layout.wall_points",
        "A wall that closes on itself counts its full length. Option loop_rule: one less.",
        "Decided: each side counts one point in every text; BGA counts one less",
    ),
    _rule(
        "B7",
        _D,
        "layout.Layout.wall",
        "The longest wall is the longest run of walled sides along the outline, around corners of both kinds.",
        "Follows from B1 and B4",
    ),
    _rule(
        "B8",
        _S,
        "scoring.score_round",
        "Every seat scores its own wall, not only the seat with the longest.",
        "CZ points for the wall; RU same; HU same; BGA same",
    ),
)

TURN: Final = (
    _rule(
        "C1",
        _C,
        "check._take_money",
        "Taking money: one card of the row, or several whose values make 5 at most, whatever their currency.",
        "CZ taking money; RU same; HU same; BGA actTakeMoney",
    ),
    _rule(
        "C2",
        _C,
        "check._buy",
        "A tile is paid from the hand, in the currency of its slot, with at least its cost; no change is given, and "
        "cards beyond the cost are allowed.",
        "CZ buying tiles (at least the cost); RU same; HU same. Decided: a card to spare is allowed, as in BGA",
    ),
    _rule(
        "C3",
        _T,
        "state.State._buy",
        "Who pays the exact cost has a further action, again and again; so a turn has five actions at most.",
        "CZ buying tiles; RU same; HU same",
    ),
    _rule(
        "C4",
        _C,
        "check._forced_pass",
        "The further action cannot be declined; nobody passes while an action is possible.",
        "Decided: RU says that the player has to choose, CZ and HU that they may; BGA has no pass",
    ),
    _rule(
        "C5",
        _C,
        "check._action_out_of_place",
        "Taking money, a rebuild and a purchase that was overpaid end the actions of the turn.",
        "CZ course of the game; RU same; HU same",
    ),
    _rule(
        "C6",
        _C,
        "check._buy",
        "The market is not refilled during a turn: a slot that was emptied offers nothing.",
        "CZ buying tiles; RU same; HU same; BGA stNextPlayer",
    ),
    _rule(
        "C7",
        _C,
        "check._disposal",
        "Bought tiles, and no others, are placed at the end of the turn, after the actions, one by one in any order.",
        "CZ end of the turn; RU same; HU same",
    ),
    _rule(
        "C8",
        _C,
        "check._from_reserve",
        "A tile bought in this turn cannot be used for a rebuild of this turn.",
        "CZ end of the turn with its example; RU same; BGA same",
    ),
    _rule(
        "C9",
        _C,
        "position.Position.tiles_due",
        "After the turn every free slot is refilled in ascending order, as far as the bag reaches. Slots 1 to 4 want "
        "denar, dirham, ducat and guilder unless declared otherwise.",
        "CZ example of the refill; RU same; HU same. Decided: the currencies, in the order of the texts",
    ),
    _rule(
        "C10",
        _T,
        "state.State._money_row",
        "When the money deck is empty and a card is wanted, the discards are shuffled into a new deck; when both are "
        "empty, fewer than four cards lie in the row.",
        "CZ end of the turn; RU same; HU same. Decided: the case of both empty",
    ),
    _rule(
        "C11",
        _C,
        "check._money_row",
        "After every turn the money row is filled to four cards, neither fewer while cards are left, nor more.",
        "CZ end of the turn; RU same; HU same",
    ),
    _rule(
        "C12",
        _T,
        "state.State.pending",
        "A seat without any legal action passes by force, which is recorded; the turn goes on with the placing.",
        "Follows: nothing else can happen. The texts are silent",
    ),
    _rule(
        "C13",
        _T,
        "state.State._end_turn",
        "After max_turns turns of all seats together (400) the game ends stalled, before any refill: third scoring at "
        "once, no hand-out.",
        "Decided: the texts know no endless game",
    ),
    _rule(
        "C14",
        _C,
        "check._not_awaited",
        "Only what the game waits for can happen: no move before its draw, no other draw, nothing after the end.",
        "Follows from the course of the game in every text",
    ),
)

REBUILD: Final = (
    _rule(
        "D1",
        _C,
        "check._from_reserve",
        "A rebuild is one of three: a tile from the reserve to an empty cell; a tile to the reserve; a tile from the "
        "reserve in place of another on its cell.",
        "CZ rebuilding; RU same; HU same",
    ),
    _rule(
        "D2",
        _C,
        "violations.removal_violations",
        "The fountain is never removed or exchanged.",
        "CZ rebuilding; RU same; HU same",
    ),
    _rule(
        "D3",
        _D,
        "layout.Layout.removable",
        "A tile may be removed if the rest can still be reached on foot and no empty space is shut in, which is the "
        "case exactly if not all four of its sides touch tiles.",
        "CZ rebuilding (the rules of building hold); RU same; HU same; BGA canBeRemoved",
    ),
    _rule(
        "D4",
        _D,
        "layout.Layout.swappable_cells",
        "A swap is legal exactly if the new tile's walls match on every occupied side.",
        "Follows from A2 to A6: neither the cells nor the passages change",
    ),
    _rule(
        "D5",
        _D,
        "check._action",
        "A tile from the reserve obeys all rules of building, that of the shut-in space too.",
        "CZ rebuilding; RU same; HU same; BGA since a1ffe96",
    ),
    _rule(
        "D6",
        _D,
        "moves.RebuildSwap",
        "One rebuild moves one tile, or exchanges two; nothing is removed and placed again elsewhere.",
        "CZ rebuilding; RU same; HU same",
    ),
)

SCORING: Final = (
    _rule(
        "E1",
        _S,
        "scoring.place_points",
        "Round 1 gives 1 to 6 points to the first place of each type; round 2 gives 8 to 13 and 1 to 6 to two places; "
        "round 3 gives 16 to 21, 8 to 13 and 1 to 6 to three.",
        "RU tables; CZ scoring; BGA material.inc.php",
    ),
    _rule(
        "E2",
        _S,
        "scoring.award_type",
        "Tied players take the next places together and share the sum of their points, rounded down.",
        "CZ second scoring with its example 13 + 6 = 19, 9 each; RU same; HU same; BGA same",
    ),
    _rule(
        "E3",
        _S,
        "scoring.award_type",
        "Where more are tied than places are left, the missing places are worth nothing.",
        "Follows from E2; BGA same",
    ),
    _rule(
        "E4",
        _S,
        "scoring.award_type",
        "Without a tile of the type nobody gets points for it or takes a place.",
        "CZ scoring, note; RU same; HU same",
    ),
    _rule(
        "E5",
        _S,
        "position.Position.counts",
        "Tiles in the reserve do not count.",
        "CZ scoring, note; RU same; HU same",
    ),
    _rule(
        "E6",
        _S,
        "scoring.award_type",
        "The neutral player takes places like a seat, and has no wall.",
        "CZ two players; RU same; HU same; BGA same",
    ),
    _rule(
        "E7",
        _T,
        "state.State._after_refill",
        "A scoring card is set aside when it is turned; its round is held when money and market are filled, before "
        "the next turn.",
        "CZ scoring; RU same; HU same. Decided: after the market's refill, as in BGA",
    ),
    _rule(
        "E8",
        _T,
        "state.State._scoring_card",
        "If both scoring cards come in one refill, round 1 is held before round 2.",
        "Decided: a third pile of one or two cards allows it, equal piles do not",
    ),
    _rule(
        "E9",
        _T,
        "state.State._final_scoring",
        "A round whose card was not turned before the end is not held.",
        "Decided: the texts are silent; BGA same",
    ),
    _rule(
        "E10",
        _S,
        "scoring.places",
        "Equal points at the end are a draw.",
        "CZ end of the game; RU same; HU same",
    ),
)

COURSE: Final = (
    _rule(
        "F1",
        _C,
        "check._hand",
        "Every seat is dealt cards until it holds 20 or more (so 20 to 28); the youngest first, then to the left.",
        "CZ set-up; RU same; HU alone for the order",
    ),
    _rule(
        "F2",
        _T,
        "state.State._start_seat",
        "The seat with the fewest cards starts; among those the one with the least money; among those the youngest.",
        "CZ set-up; RU same; HU same",
    ),
    _rule(
        "F3",
        _C,
        "money.scoring_cards_fit",
        "After the first four cards of the row the deck is split into five piles; scoring card A is mixed into the "
        "second, B into the fourth. Where the referee deals, the piles differ by one card at most, larger ones first. "
        "At a table people cut by eye: any five piles of at least one card are accepted; the referee remarks on piles "
        "that cannot have been equal.",
        "CZ set-up: five approximately equal piles; RU same; HU same. Decided: how far from equal is not refused",
    ),
    _rule(
        "F4",
        _T,
        "position.Position.neutral_draws",
        "With two seats one copy of each card is left out, and the neutral player draws six tiles before the market "
        "is filled, six after round 1, a third of the bag rounded down after round 2.",
        "CZ two players; RU same; HU same. Decided: a third of the bag (RU, HU), after refill and scoring",
    ),
    _rule(
        "F5",
        _C,
        "check._disposal",
        "With two seats a bought tile may be given to the neutral player instead of being placed; a tile of the "
        "hand-out may not.",
        "CZ two players; RU same; HU same. Decided: tiles of the hand-out are not bought",
    ),
    _rule(
        "F6",
        _T,
        "state.State._after_refill",
        "The game ends when the market cannot be filled; what the bag still has is laid out. An empty bag with a full "
        "market goes on. Option end_rule: the empty bag ends it.",
        "CZ end of the game; RU same; HU same; the French edition ends with the bag",
    ),
    _rule(
        "F7",
        _T,
        "state.State._after_refill",
        "The round is not played to its end: seats may have had unequal turns.",
        "CZ end of the game; RU same; HU same; BGA same",
    ),
    _rule(
        "F8",
        _T,
        "state.State._after_refill",
        "A scoring card turned in the refill that ends the game is scored, then the game ends.",
        "Follows from E7",
    ),
    _rule(
        "F9",
        _T,
        "state.State._hand_out",
        "Each tile left in the market goes to the seat that holds the most money of the slot's currency; on a tie, or "
        "if nobody holds any, it stays. Money is not spent; the neutral player gets none.",
        "CZ end of the game; RU same; HU same; BGA stLastBuildingPick",
    ),
    _rule(
        "F10",
        _T,
        "state.State._next_winner",
        "The hand-out is computed at once; then the seats that won tiles dispose of them in turn order, starting left "
        "of the seat that ended the game, each of all its tiles in any order.",
        "Decided: the texts are silent",
    ),
    _rule(
        "F11",
        _C,
        "check._action_out_of_place",
        "There is no action between the last turn and the final scoring: won tiles are placed or put in reserve.",
        "CZ end of the game; RU same; HU same",
    ),
    _rule(
        "F12",
        _S,
        "scoring.places",
        "The most points win, and nothing else counts.",
        "CZ end of the game; RU same; HU same",
    ),
    _rule(
        "F13",
        _C,
        "check._outcome",
        "What is drawn was in the bag or the deck, each tile once, each card as often as it has copies.",
        "Components of all editions",
    ),
    _rule(
        "F14",
        _D,
        "state.State.observation",
        "Hands lie open: every seat, and whoever watches, sees all money.",
        "Decided against CZ, RU and HU, which hide money once all hands are dealt: everybody can check every payment "
        "at once, and nothing is hidden that was not dealt or taken in the open",
    ),
)

CATALOGUE: Final[tuple[Rule, ...]] = (*BUILDING, *WALL, *TURN, *REBUILD, *SCORING, *COURSE)
"""The rules of the newest version."""

_ADDED_IN_VERSION_2: Final = frozenset({"ALH-F14"})

_OF_VERSION_1: Final = {
    rule.id: rule
    for rule in (
        _rule(
            "B3",
            _S,
            "layout.Layout.wall",
            "The fountain's tile has no wall, so its outer sides break a wall.",
            "Components of all editions: the start tile shows none; BGA same",
        ),
        _rule(
            "C4",
            _C,
            "check._forced_pass",
            "The further action cannot be declined; nobody passes while an action is possible.",
            "Decided: CZ and RU say that the player has to choose; BGA has no pass",
        ),
        _rule(
            "E8",
            _T,
            "state.State._scoring_card",
            "If both scoring cards come in one refill, round 1 is held before round 2.",
            "Follows: the five piles exclude it, a declared game of another set-up may hold it",
        ),
        _rule(
            "F3",
            _C,
            "money.scoring_cards_fit",
            "After the first four cards of the row the deck is split into five piles that differ by one card at most; "
            "scoring card A is mixed into the second, B into the fourth.",
            "CZ set-up; RU same; HU same. Decided: larger piles first where the referee deals; any such split is "
            "accepted",
        ),
    )
}
"""The rules that have another text in version 1."""

CATALOGUES: Final = {
    1: tuple(_OF_VERSION_1.get(rule.id, rule) for rule in CATALOGUE if rule.id not in _ADDED_IN_VERSION_2),
    2: CATALOGUE,
}
"""The rules by version. The rules of a version never change: their hash stands in the headers of logs."""
