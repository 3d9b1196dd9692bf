"""The rules of the table, whatever the game: what the referee does when a seat leaves or an arbiter rules.

They are no part of a game's own catalogue, which is frozen with its version. Ids stay for ever; new rules follow.
"""

from __future__ import annotations

from typing import Final

from referee.games.game import Kind, Rule

_C, _T, _S, _D = Kind.CONSTRAINT, Kind.TRANSITION, Kind.SCORING, Kind.DERIVED


def _rule(number: int, kind: Kind, function: str, text: str, citation: str) -> Rule:
    """``function``: dotted name below ``referee``, as not all of the table is in ``referee.games``."""
    return Rule(f"TBL-{number}", kind, text, citation, function)


FORFEITS: Final = (
    _rule(
        1,
        _D,
        "games.game.State.stand_in",
        "A seat that has forfeited stays in the game: what it has stays where it is and counts against the others as "
        "it did, in majorities, too. It does not come back.",
        "Decided here: a seat that is taken out would change what the others have earned, and no rule text has it",
    ),
    _rule(
        2,
        _T,
        "games.game.State.stand_in",
        "For a seat that has forfeited, or that an arbiter passes over, the stand-in's move is entered: each game says "
        "which, from the position alone. It does as little as the rules allow, and any referee enters the same.",
        "Decided here: a pass is no move of these games, and a draw would be one that nobody can follow",
    ),
    _rule(
        3,
        _T,
        "games.forfeits.is_decided",
        "When forfeits leave one seat, or none, the game ends at once. The one that is left is first.",
        "FIDE Laws 2018, 5.1.2: a resignation ends the game immediately",
    ),
    _rule(
        4,
        _S,
        "games.forfeits.places_after",
        "Who has forfeited is placed behind everybody who has not, whatever the points; of several, who forfeited "
        "later is before who forfeited earlier.",
        "FIDE Laws 2018, 5.1.2: who resigns has lost. Decided here: the order, as who stayed longer played more",
    ),
    _rule(
        5,
        _S,
        "games.forfeits.places_after",
        "A game that every seat has forfeited has no winner: the places begin with 2, in a solo game, too.",
        "Decided here: there is nobody whom the last one could be placed before",
    ),
)

RULINGS: Final = (
    _rule(
        6,
        _S,
        "games.forfeits.places_by",
        "Points that an arbiter takes off count before the places: seats are ranked by what is left, equal ones by the "
        "game's own rules. Who has forfeited stays behind, and what plays without a seat keeps its place.",
        "FIDE Laws 2018, 12.9.5: reducing the points scored by the offending player",
    ),
    _rule(
        7,
        _C,
        "games.game.State.apply",
        "An arbiter may let an illegal move stand only if all rules that it breaks are about the form of a placement "
        "or of a choice. What is not there cannot be moved, paid or covered.",
        "FIDE Laws 2018, A.4.2: an illegal move that is not corrected stands. Decided here: rule by rule, see below",
    ),
    _rule(
        8,
        _D,
        "games.game.State.check",
        "What stands is the position for all that follows: later moves answer for what they break themselves, and "
        "scoring counts what lies there.",
        "FIDE Laws 2018, A.4.2: the game continues. Decided here",
    ),
)

VERSION: Final = 1
"""What the terms of a game name; a change of a rule is another version."""

CATALOGUE: Final[tuple[Rule, ...]] = (*FORFEITS, *RULINGS)
"""All rules, in the order of their ids."""
