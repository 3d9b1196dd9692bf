"""The rules of Kingdomino as this referee decides them: id, kind, text, citation, where it is held.

Citations name the rule text and its section: CZ is Královská zahrada (Společenství duševních sportů, Praha). "Decided"
marks a question that the text leaves open or answers in two ways, "follows" one that other rules answer.
"""

from __future__ import annotations

from typing import Final

from referee.games.game import Kind, Rule

_C, _T, _S, _D = Kind.CONSTRAINT, Kind.TRANSITION, Kind.SCORING, Kind.DERIVED


def _rule(key: int, kind: Kind, function: str, text: str, citation: str) -> Rule:
    return Rule(f"KDO-{key}", kind, text, citation, f"kingdomino.{function}")


DRAFT: Final = (
    _rule(
        1,
        _T,
        "options.kings_of",
        "With two seats each has two kings, with three or four each has one.",
        "CZ Příprava hry",
    ),
    _rule(
        2,
        _T,
        "options.Options.dominoes",
        "24 dominoes are played with two seats, 36 with three, all 48 with four; the others are removed unseen.",
        "CZ Příprava hry, first note. Decided: the table of dominoes is a declared part of the game, as the examples "
        "show some that are not among the 48 of Kingdomino",
    ),
    _rule(
        3,
        _C,
        "check._line",
        "A line has as many dominoes as there are kings (three seats 3, otherwise 4), in ascending order of their "
        "numbers.",
        "CZ Příprava hry, the row of dominoes",
    ),
    _rule(
        4,
        _C,
        "check._first_order",
        "The kings choose from the first line in a drawn order, each once. Any order is accepted; dealt is a first "
        "seat, the others following clockwise, with two seats twice around; option first_order: king by king. Option "
        "declared_order: not drawn.",
        "CZ Příprava hry (lots are drawn for the order) against Průběh hry (clockwise). Decided: a seat is drawn",
    ),
    _rule(
        5,
        _C,
        "check._choose",
        "A king goes on a domino of the line on which no king stands.",
        "CZ Příprava hry, second note",
    ),
    _rule(
        6,
        _C,
        "check._due",
        "After the first choice the kings act in the order of their dominoes, the lowest number first, each with the "
        "domino that it stands on.",
        "CZ Průběh hry",
    ),
    _rule(
        7,
        _C,
        "check._out_of_place",
        "A king's domino is placed first, then the king chooses from the new line.",
        "CZ Průběh hry, actions 1 and 2",
    ),
    _rule(
        8,
        _D,
        "state.State._end_round",
        "With two seats each acts twice in a round, once for each king, in the order of the kings.",
        "CZ Průběh hry. Follows from KDO-1 and KDO-6",
    ),
    _rule(
        9,
        _C,
        "check._not_awaited",
        "The course: the castles, the first order, the first line and the choice from it; then a new line and a round "
        "of placing and choosing, until 12 lines (two seats: 6, in a mighty duel 12) are drawn; then a last round. "
        "Nothing happens but what comes next.",
        "CZ Průběh hry (12 and 6 rounds). Decided: rounds are counted as lines",
    ),
    _rule(
        10,
        _T,
        "state.State._placed",
        "After all have chosen from the last line, one round follows in which dominoes are placed only.",
        "CZ Konec hry. Decided: the last line is chosen from, as 12 dominoes for each seat need it",
    ),
    _rule(
        11,
        _T,
        "state.State._choose",
        "The last king of a round has no choice; the king is put on the domino by a move all the same.",
        "CZ Příprava hry, second note. Decided: recorded",
    ),
    _rule(
        12,
        _C,
        "check._line",
        "A drawn domino is one of the table's and comes once. Which ones were removed is not known.",
        "Follows from the components. Decided: removed and undrawn dominoes stay hidden",
    ),
)

PLACING: Final = (
    _rule(
        13,
        _C,
        "check._discard",
        "Who can place the domino has to: it is discarded only if it fits nowhere.",
        "CZ Průběh hry, action 1",
    ),
    _rule(
        14,
        _C,
        "kingdom.Kingdom.violations",
        "A half touches the castle by a side, or a square of its own terrain. One such half is enough; what else "
        "touches need not match.",
        "CZ Pravidla napojování, with example B. Decided: the half that touches is the one that matches",
    ),
    _rule(
        15,
        _T,
        "state.State.apply",
        "A domino that fits nowhere is discarded: it is out of the game and gives nothing.",
        "CZ Pravidla napojování",
    ),
    _rule(
        16,
        _C,
        "kingdom.Kingdom.misplaced",
        "The kingdom, castle included, lies within 5 by 5 cells: the castle's place in that frame is fixed before the "
        "first line. Option frame: relative, any square of that size around what is laid.",
        "CZ Pravidla napojování; the last section (a field bounded exactly at 5 by 5); Důležité upozornění (nothing is "
        "moved). Decided: fixed, as the field is bounded; relative is the classic game",
    ),
    _rule(
        17,
        _C,
        "check._castle",
        "In a fixed frame every seat puts its castle on a cell of its choice, seat by seat, before the dominoes; never "
        "again.",
        "CZ Příprava hry (each puts its castle on its field). Decided: a free choice, in the order of the seats",
    ),
    _rule(
        18,
        _C,
        "kingdom.Kingdom.misplaced",
        "What lies, lies: a half comes on an empty cell, and no domino is moved, turned or covered.",
        "CZ Důležité upozornění",
    ),
    _rule(
        19,
        _C,
        "kingdom.Kingdom.misplaced",
        "A domino lies on two cells with a side in common, turned in any way. With equal halves either may be named "
        "the left one; lists have the placement once, with the smaller cell on the left.",
        "CZ Cíl hry (dominoes of two squares). Decided: both encodings are accepted as the same placement",
    ),
)

SCORING: Final = (
    _rule(
        20,
        _S,
        "kingdom.Kingdom.score",
        "Every area of one terrain, joined by sides, gives its squares times its crowns; without a crown nothing. The "
        "castle belongs to no area and joins none.",
        "CZ Konec hry",
    ),
    _rule(
        21,
        _S,
        "scoring.places",
        "Of equal points those of the seat with the largest area win, crowns or not.",
        "CZ Konec hry, tie",
    ),
    _rule(
        22,
        _S,
        "scoring.places",
        "If that is equal, the seat with more crowns in all of its kingdom wins.",
        "CZ Konec hry, tie",
    ),
    _rule(
        23,
        _S,
        "scoring.places",
        "If that is equal as well, the victory is shared.",
        "CZ Konec hry, tie",
    ),
    _rule(
        24,
        _S,
        "scoring.score",
        "Points for a central castle and for harmony belong to the points, before any tie is broken.",
        "CZ Varianty hry (are added). Decided: before ties",
    ),
    _rule(
        25,
        _S,
        "kingdom.Kingdom.score",
        "What counts is squares, not dominoes.",
        "CZ Konec hry against example A, which says pieces. Decided: squares, which the example's numbers fit as well",
    ),
)

VARIANTS: Final = (
    _rule(
        26,
        _S,
        "scoring.dynasty",
        "Dynasty: three games, the most points in all win; equal sums share the victory. The order of the first choice "
        "moves on by one seat from game to game.",
        "CZ Varianty hry, Dynastie. Decided: nothing breaks a tie of sums; nobody chooses first in all games",
    ),
    _rule(
        27,
        _S,
        "scoring.central_bonus",
        "Centralised kingdom: 10 points for a castle in the middle of a kingdom that has the frame's full size both "
        "ways. Option frame: for a castle on the middle cell of the fixed frame.",
        "CZ Varianty hry, Centralizované království. Decided: the full size, as the castle's cell is a free choice",
    ),
    _rule(
        28,
        _S,
        "scoring.harmony_bonus",
        "Harmony: 5 points for a kingdom of which no domino was discarded. One left over in a wider offer is no "
        "discard.",
        "CZ Varianty hry, Harmonie",
    ),
    _rule(
        29,
        _T,
        "options.Options.size",
        "Mighty duel: two seats, all 48 dominoes, 7 by 7 cells.",
        "CZ Varianty hry, Duel mocných",
    ),
    _rule(
        30,
        _T,
        "options.Options.line",
        "Wider offer: with two seats 30 dominoes, with three all 48; a line has one domino more than there are kings.",
        "CZ Varianty hry, Širší nabídka",
    ),
    _rule(
        31,
        _T,
        "options.Options.for_seats",
        "Variants go together, except a wider offer with a mighty duel, or one with seats that it is not for.",
        "CZ Varianty hry (may be combined freely). Decided: 48 dominoes do not make lines of 5, 30 no duel of all",
    ),
    _rule(
        32,
        _T,
        "state.State._end_round",
        "In a wider offer the domino left over leaves the game when all kings have chosen.",
        "CZ Varianty hry, Širší nabídka. Decided: the referee removes it, no move does",
    ),
)

CATALOGUE: Final[tuple[Rule, ...]] = (*DRAFT, *PLACING, *SCORING, *VARIANTS)
