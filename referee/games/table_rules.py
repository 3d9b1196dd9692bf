"""The rules of the table, for every game: the referee's acts when a seat leaves or an arbiter rules.

They are no part of a game's own catalogue, which is frozen with its version. Ids stay for ever; new rules follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from referee.games.game import Ending, Kind, Rule

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
        "it did, in majorities, too. Only an arbiter brings it back (TBL-34).",
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
        "games.table_rules.is_decided",
        "When forfeits leave one seat, or none, the game ends at once. The one that is left is first.",
        "FIDE Laws 2018, 5.1.2: a resignation ends the game immediately",
    ),
    _rule(
        4,
        _S,
        "games.table_rules.places_after",
        "A seat that has forfeited is placed behind every seat that has not, whatever the points. Of several, the "
        "seat that forfeited later is ahead.",
        "FIDE Laws 2018, 5.1.2: who resigns has lost. Decided here: the order, as who stayed longer played more",
    ),
    _rule(
        5,
        _S,
        "games.table_rules.places_after",
        "A game that every seat has forfeited has no winner: its places begin with 2, in a solo game, too.",
        "Decided here: there is nobody whom the last one could be placed before",
    ),
)

RULINGS: Final = (
    _rule(
        6,
        _S,
        "games.table_rules.places_by",
        "Points that an arbiter takes off count before the places: seats are ranked by the points that are left, "
        "equal ones by the game's own rules. Seats that have forfeited stay behind, and a player that nobody "
        "plays keeps its place.",
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

CLOCKS: Final = (
    _rule(
        9,
        _T,
        "log.clocks.Clocks.await_seats",
        "A clock runs for each seat whose move is awaited, from the entry that made it so. All others stand, and all "
        "of them while the game is suspended or has come to its end.",
        "FIDE Laws 2018, 6.2.1: having moved, a player stops his clock and starts the opponent's",
    ),
    _rule(
        10,
        _C,
        "log.clocks.Clocks.check",
        "What has passed since a seat's clock began to run is accounted for to the millisecond with each move, attempt "
        "and flag of the seat, and nowhere else: charged to it, allowed for the network, taken by the referee itself.",
        "Decided here: entries alone move the clocks, so that a replay has those of the game",
    ),
    _rule(
        11,
        _C,
        "log.clocks.Clocks.check",
        "Of a move, the network allowance is at most what the terms say; of an attempt there is none; of a flag "
        "it covers all of the network's time.",
        "Decided here: nobody loses by a slow line what the terms allow, nor gains by saying so more than once",
    ),
    _rule(
        12,
        _C,
        "log.clocks.Clocks.check",
        "A move counts if it is charged no more than the seat has left, its free time included.",
        "FIDE Laws 2018, 6.9: the moves have to be completed in the allotted time",
    ),
    _rule(
        13,
        _C,
        "log.clocks.Clocks.check_flag",
        "The flag of a seat whose move is awaited falls when the seat is charged more than it has left, after the "
        "network's whole share: not a millisecond earlier. The seat forfeits.",
        "FIDE Laws 2018, 6.9: who does not complete the moves in the allotted time loses",
    ),
    _rule(
        14,
        _T,
        "log.clocks.Clocks.decided",
        "A decision that is made restores the whole time, adds an increment, or gives nothing, as the time "
        "control says. No clock has more than 30 days. Every decision of a turn is a move of its own.",
        "Decided here: what a turn consists of differs from game to game, what is awaited does not",
    ),
    _rule(
        15,
        _C,
        "log.judge.judge",
        "No entry is dated before the one before it.",
        "Decided here: time that runs back could be given to one seat and taken from another",
    ),
    _rule(
        16,
        _C,
        "log.judge.judge",
        "While the referee is not running no clock runs: what passed until it was last seen is charged, what passed "
        "since is not. It was last seen between the entry before and this one. From version 3 on clocks start again "
        "when the seats that are awaited are back, or when the grace that the terms name has passed.",
        "FIDE Laws 2018, 6.11.1: if the game needs to be interrupted the arbiter stops the clocks",
    ),
    _rule(
        17,
        _C,
        "log.judge.judge",
        "A seat whose move is awaited forfeits when it has not been connected for as long as the terms allow. A "
        "scribed seat does not connect, so it is never absent.",
        "FIDE Laws 2018, 6.7.1: who comes after the default time loses",
    ),
)

ATTEMPTS: Final = (
    _rule(
        18,
        _C,
        "log.judge.judge",
        "Where the terms say so a move that the rules forbid is recorded, with every rule that it breaks; otherwise it "
        "is answered and leaves no trace. The position stays.",
        "FIDE Laws 2018, 7.5.1: the position before an illegal move is reinstated",
    ),
    _rule(
        19,
        _T,
        "log.arbitration.Arbitration.strike",
        "A recorded attempt that the seat signed itself is a strike, and takes the penalty of the terms off its clock. "
        "With as many strikes as the terms say it forfeits. What a scribe mistypes is nobody's attempt.",
        "FIDE Laws 2018, 7.5.5: time for the first illegal move, the game for the second",
    ),
)

SEATS: Final = (
    _rule(
        20,
        _C,
        "log.arbitration.Arbitration.check",
        "Seats act at the table while the game is in play: each for itself, a scribe for a scribed seat that it "
        "names. A seat that has forfeited can only protest and appeal. From version 2 on seats resign, protest and "
        "appeal before play, too.",
        "Decided here: who left has no say in the game, but may have been put out wrongly",
    ),
    _rule(
        21,
        _C,
        "log.arbitration.Arbitration.check",
        "When the game has come to its end, no seat can resign or take back; there is time to protest.",
        "FIDE Laws 2018, 5.1.2: a resignation ends the game, so there has to be one",
    ),
)

GOING_BACK: Final = (
    _rule(
        22,
        _C,
        "log.clocks.Takebacks.check",
        "A game goes back to what it was after an earlier entry, since play began, that was not itself taken back. "
        "Seats and scribes take back at least a move, a draw or a pass, not the time alone.",
        "FIDE Laws 2018, 7.5.1: the game continues from a position that it had",
    ),
    _rule(
        23,
        _C,
        "log.clocks.Takebacks.check",
        "No take-back goes past what was drawn or rolled. In a dealt game nothing does, nor back when a draw is due: "
        "the deck goes on.",
        "Decided here: what was seen cannot be unseen",
    ),
    _rule(
        24,
        _C,
        "log.arbitration.Arbitration.check",
        "Where the terms allow it a seat proposes to take moves back, four times at most while the position stays. It "
        "happens when every seat that has not forfeited has agreed to the newest proposal.",
        "Decided here: proposals cost no time, and a game has only so many entries",
    ),
    _rule(
        25,
        _C,
        "log.clocks.Takebacks.check",
        "A scribe of a declared game takes back what scribes entered, draws included, but nothing that a seat "
        "signed, an arbiter ruled or a forfeit changed.",
        "Decided here: a slip of the pen is nobody's move; all else is not the scribe's to undo",
    ),
    _rule(
        26,
        _T,
        "log.game.LoggedGame.apply",
        "With the position the clocks become what they were after that entry, and stand until it is awaited again. "
        "Forfeits since then are undone by an arbiter alone. Strikes, points taken off, protests, rulings and a "
        "suspension stay.",
        "Decided here: seats cannot bring back who left, and what was ruled was ruled",
    ),
)

DISPUTES: Final = (
    _rule(
        27,
        _C,
        "log.arbitration.Arbitration.check",
        "A seat protests against an earlier entry and names the rule that was broken, where the game has an arbiter. "
        "It has 16 protests and appeals.",
        "Decided here: a protest holds the result, so there cannot be any number of them",
    ),
    _rule(
        28,
        _C,
        "log.arbitration.Arbitration.check",
        "A seat appeals once against a ruling, where the game has another arbiter. A ruling on an appeal is the "
        "last word.",
        "FIDE Laws 2018, 11.10: a player may appeal against any decision of the arbiter",
    ),
    _rule(
        29,
        _C,
        "log.game.LoggedGame.due",
        "No result is entered while a protest or an appeal is open, nor before nobody has acted for the time that the "
        "terms give to protest. A game that nobody rules on can be aborted.",
        "Decided here: what is entered as the result stays; without its arbiters a game has to end, too",
    ),
)

ARBITERS: Final = (
    _rule(
        30,
        _C,
        "log.arbitration.Arbitration.check",
        "Only the arbiters of the game rule. A ruling names the rule that it rests on, of the game or of the "
        "table; to suspend the game or to resume it needs none. Before play, an arbiter can only give a result or "
        "void the game; from version 2 on also suspend and resume it, make a seat forfeit, and bring one back.",
        "FIDE Laws 2018, 12.1: the arbiter sees that the Laws are observed",
    ),
    _rule(
        31,
        _C,
        "log.arbitration.Arbitration.check",
        "Any ruling can decide one open protest or appeal, an appeal not by the arbiter whose ruling it is against. To "
        "dismiss is to decide one without consequence.",
        "Decided here: nobody judges his own ruling",
    ),
    _rule(
        32,
        _C,
        "log.arbitration.Arbitration.check",
        "A game is paused, or adjourned, until it is resumed. Until then no move counts.",
        "FIDE Laws 2018, 6.11.1: if the game needs to be interrupted the arbiter stops the clocks",
    ),
    _rule(
        33,
        _C,
        "log.arbitration.Arbitration.check",
        "An arbiter sets a clock, 30 days at most, warns a seat, or takes time, points or strikes: at most 1000 of "
        "each of the last two in a ruling.",
        "FIDE Laws 2018, 12.9: warning, time, points",
    ),
    _rule(
        34,
        _C,
        "log.arbitration.Arbitration.check",
        "An arbiter makes a seat forfeit, by an ending that a single seat can have, or brings back a seat that "
        "has forfeited. It comes back with the time and the strikes that it had.",
        "FIDE Laws 2018, 12.9.6: declaring the game lost. Decided here: the way back, as a forfeit can be an error",
    ),
    _rule(
        35,
        _C,
        "log.arbitration.Arbitration.check",
        "An arbiter can skip a decision of the seat on turn, or let its illegal move stand, in a game that is not "
        "suspended.",
        "Decided here: of no other seat a move is awaited",
    ),
    _rule(
        36,
        _C,
        "log.arbitration.Arbitration.check",
        "An arbiter gives the result, with places and, for all seats or none, scores; or voids the game. A place is "
        "one more than the seats that are before it.",
        "FIDE Laws 2018, 12.2.1 and 12.9: the arbiter ensures fair play. Decided here: the form of a result",
    ),
    _rule(
        37,
        _C,
        "log.game.LoggedGame.due",
        "A game ends as the table of endings says: by what brings that ending about, and with the result that "
        "follows from it.",
        "Decided here: an ending that nobody brought about is none",
    ),
)

BEFORE_PLAY: Final = (
    _rule(
        38,
        _C,
        "log.game.LoggedGame.missing",
        "From version 2 on, a seat forfeits before play, too: when its Join or its Reveal has been awaited for as long "
        "as the terms allow absence, connected or not; when it resigns; or when an arbiter says so. The time "
        "counts from the opening of the game, from the entry with which Reveals are awaited, and anew when an arbiter "
        "resumes the game or brings a seat back. Play begins without the seat. Forfeits decide the game (TBL-3) only "
        "when all other seats have joined.",
        "FIDE Laws 2018, 6.7.1: who comes after the default time loses. Decided here: from the opening on",
    ),
    _rule(
        39,
        _T,
        "log.game.LoggedGame.reached",
        "The deck is made from the referee's share and those of the seats that had joined and not forfeited when the "
        "first Reveal was awaited. If one of these forfeits before it reveals, or there is none, no deck is made: "
        "the game ends aborted, unless forfeits have decided it.",
        "Decided here: whoever could leave a share out after others are open could choose between two decks",
    ),
    _rule(
        40,
        _C,
        "log.replay.Keyring.change",
        "From version 2 on, a seat that has joined changes its key in play: with its old one, 16 times at most, or an "
        "arbiter names another for it. The new key is one that no seat of the game has had. It counts from the first "
        "act that it signs. Until then the old one counts, too, unless an arbiter changed it.",
        "Decided here: a slip in a key locks nobody out, and a stolen key ends with the ruling",
    ),
)

VERSION: Final = 3
"""The version that the terms of a game name; a change of a rule makes another version."""
GRACE_SINCE: Final = 3
"""The first version whose terms can name a grace (TBL-16)."""
LAST_OF_VERSION_1: Final = 37
"""The number of the last rule that a game of version 1 has."""

CATALOGUE: Final[tuple[Rule, ...]] = (
    *(*FORFEITS, *RULINGS, *CLOCKS, *ATTEMPTS, *SEATS, *GOING_BACK, *DISPUTES, *ARBITERS, *BEFORE_PLAY),
)
"""All rules, in the order of their ids."""


def catalogue(version: int) -> tuple[Rule, ...]:
    """Return the rules that a game has whose terms name this version, 1 or later, in the order of their ids."""
    return CATALOGUE if version > 1 else CATALOGUE[:LAST_OF_VERSION_1]


# Places when seats have forfeited, or an arbiter has taken points off. Knows no game.
#
# Where ``places`` are given they are those of the rules, per seat: 1 is the best, equal ones are a draw. ``out`` are
# the seats that forfeited, in the order in which they did.

ENDINGS: Final = (
    Ending.STALLED,
    Ending.RESIGNED,
    Ending.FLAG,
    Ending.DISCONNECTED,
    Ending.ILLEGAL_MOVES,
    Ending.ADJUDICATED,
    Ending.CRASHED,
)
"""The ways in which a seat can forfeit."""


def is_decided(seats: int, out: Sequence[int]) -> bool:
    """Return whether forfeits end the game: there are some, and at most one seat is left (TBL-3)."""
    return bool(out) and len(out) >= seats - 1


def places_after(places: Sequence[int], out: Sequence[int]) -> tuple[int, ...]:
    """Return the places: seats that stayed move up past the others, the first to forfeit is last (TBL-4, TBL-5).

    If no seat stayed no seat is first: the places begin with 2. Raise ``ValueError`` for a seat that is not there or
    comes twice in ``out``.
    """
    seats = len(places)
    if len(set(out)) < len(out) or not set(out) <= set(range(seats)):
        raise ValueError(f"forfeited: expected seats 0 to {seats - 1}, each once, got {list(out)}")
    last = max(seats, 1 + len(out))
    return tuple(
        last - out.index(seat) if seat in out else place - sum(places[other] < place for other in out)
        for seat, place in enumerate(places)
    )


def places_of_last(seats: int, out: Sequence[int]) -> tuple[int, ...]:
    """Return places of a game that forfeits end, whatever its points (TBL-3 to TBL-5).

    Raise ``ValueError`` if they do not end it, and as ``places_after``.
    """
    if not is_decided(seats, out):
        raise ValueError(f"forfeited: {len(out)} of {seats} seats do not end a game")
    return places_after((1,) * seats, out)


def places_by(scores: Sequence[int], penalties: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
    """Return the places by the points that are left, equal ones by the places of the rules (TBL-6). All per seat.

    A seat's place moves by the seats that it passes and that pass it: places that players other than the seats have
    (virtual ones of a solo game) stay with them.
    """
    left = [(penalty - score, place) for score, penalty, place in zip(scores, penalties, places, strict=True)]
    return tuple(
        place + sum(other < own for other in left) - sum(other < place for other in places)
        for own, place in zip(left, places, strict=True)
    )
