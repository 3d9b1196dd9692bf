"""The rules of Alhambra Roll & Write as this referee decides them: id, kind, text, citation, where it is held.

SK is the Slovak edition of the rules, by its headings. "Decided" marks a question that the text leaves open.
"""

from __future__ import annotations

from typing import Final

from referee.games.game import Kind, Rule

_C, _T, _S, _D = Kind.CONSTRAINT, Kind.TRANSITION, Kind.SCORING, Kind.DERIVED


def _rule(number: int, kind: Kind, function: str, text: str, citation: str) -> Rule:
    return Rule(f"RNW-{number}", kind, text, citation, f"rollwrite.{function}")


SET_UP: Final = (
    _rule(
        1,
        _C,
        "check._start_buildings",
        "The start seat is drawn. From it on every seat rolls both dice until it has three buildings; for a building "
        "that stands already it rolls both again. Every roll is recorded.",
        "SK set-up 2, 3",
    ),
    _rule(
        2,
        _C,
        "check._outcome",
        "Then every seat, from the start seat on, rolls both dice once more and places them; nothing is built.",
        "SK set-up 3, last paragraph",
    ),
    _rule(
        3,
        _C,
        "check._outcome",
        "The start seat rolls another pair and places it, on dice of the same value, too; so it has four dice.",
        "SK set-up 4",
    ),
    _rule(4, _T, "position.Position.__init__", "Every seat starts with three coins circled.", "SK set-up 5"),
    _rule(
        5,
        _D,
        "sheet.Sheet",
        "No type is completed by the set-up: a sheet has at least four boxes of each type, and others are refused.",
        "Decided: the text does not say what would be awarded",
    ),
    _rule(
        6,
        _C,
        "check._outcome",
        "With one or two seats there are virtual players, three players in all. Each starts with three rolls and a "
        "building of the type of each: a value rolled again is another building of its type, as it has no sheet.",
        "SK changes in the set-up for 1 and 2 players 1, 2",
    ),
    _rule(
        7,
        _D,
        "state.State._start_dice",
        "With one or two seats the seats' dice are the same as with more: one pair each and another for the start "
        "seat. The virtual players have a pair of their own, which nobody else uses.",
        "Decided: SK names no other change of the set-up",
    ),
)

TURN: Final = (
    _rule(
        8,
        _C,
        "check._not_awaited",
        "The seat on turn has to build or to get coins; nobody passes, and only what the game waits for can happen.",
        "SK the turn in detail",
    ),
    _rule(
        9,
        _C,
        "check._build",
        "A building stands where one of the seat's blue dice meets one of its yellow dice: up to four choices.",
        "SK build",
    ),
    _rule(10, _C, "check._build", "What is built already cannot be built again.", "SK build"),
    _rule(
        11,
        _C,
        "check._outcome",
        "After a building the two dice that were not used go to the next seat as they are; the two that were used are "
        "rolled, once, and placed. After its last turn nothing is rolled for a seat any more.",
        "SK build, end of the turn. Decided: the last turn",
    ),
    _rule(
        12,
        _D,
        "state.State._hand_on",
        "Before every turn exactly the seat whose turn it is has four dice, and every other has two, or fewer once it "
        "has had its last turn.",
        "SK build, end of the turn",
    ),
    _rule(
        13,
        _T,
        "state.State._change_dice",
        "A die that coins have turned goes to the next seat with its new value.",
        "SK special action 1 and build. Decided: what is not changed is the value that the die shows then",
    ),
    _rule(
        14,
        _T,
        "state.State._get_coins",
        "Getting coins gives one for each of the four pairs of a blue and a yellow die that meets on a building of the "
        "seat; equal pairs count each.",
        "SK get coins with the example of two buildings and four coins",
    ),
    _rule(
        15,
        _T,
        "check.actions",
        "A seat may get coins although it gets none or could build; its four dice are rolled all the same.",
        "Decided: SK forbids it nowhere",
    ),
    _rule(
        16,
        _T,
        "state.State._get_coins",
        "Once all coins of the track are circled there are no more; coins that were spent stay circled.",
        "SK get coins, special actions",
    ),
    _rule(
        17,
        _C,
        "check._keep_pair",
        "After getting coins the seat rolls all four dice, keeps a blue and a yellow one of them, and the others go to "
        "the next seat as they are.",
        "SK get coins",
    ),
    _rule(18, _T, "state.State._left", "Turns and dice go to the left, clockwise.", "SK course of the game; build"),
    _rule(
        19,
        _C,
        "check._change_dice",
        "Before its action a seat may turn its dice: a coin for each step of each die, up or down, never from 1 to 6 "
        "or back. All of it is one move that says what the four dice show in the end; its cost is the sum of the "
        "differences of the sorted dice of each colour, which is the least, and it changes something.",
        "SK special action 1. Decided: one move, as the order of the steps does not matter",
    ),
    _rule(
        20,
        _C,
        "check._build_second",
        "For three coins, after building, a seat may build where its other two dice meet, if nothing is built there; "
        "then all four dice are rolled as after getting coins.",
        "SK special action 2",
    ),
    _rule(
        21,
        _T,
        "state.State._build",
        "Dice may be turned and a second building be built in the same turn, if there are coins for both.",
        "SK use of coins (one or more special actions)",
    ),
    _rule(22, _C, "check._change_dice", "No more coins are spent than the seat has.", "SK use of coins"),
    _rule(
        23,
        _C,
        "check._virtual_building",
        "After the last seat of a round each virtual player builds: its dice are rolled, again as long as the type is "
        "full, and nothing is counted but the type. It gets no dice of the seats.",
        "SK changes for 2 players",
    ),
    _rule(
        24,
        _T,
        "state.State._dice",
        "With one seat the dice that were not used stay; after getting coins or two buildings all four are rolled and "
        "stay.",
        "SK changes for 1 player. Decided: there is no pair to choose where both stay",
    ),
    _rule(
        25,
        _C,
        "check._outcome",
        "Virtual players roll in the order of their rows.",
        "Decided: SK is silent; it matters to the record only",
    ),
)

COMPLETION: Final = (
    _rule(
        26,
        _T,
        "state.State._end_round",
        "Who fills the last box of a type gets the points of the first place at the end of the round, after the "
        "virtual players' buildings.",
        "SK build, last free box",
    ),
    _rule(
        27,
        _S,
        "scoring.share",
        "Who completes a type in the same round share the sum of the next places, rounded down.",
        "SK build, last free box, with its example 26:2 = 13",
    ),
    _rule(
        28,
        _S,
        "scoring.awards_of_round",
        "Who completes a type in a later round gets the second or third place; after the third there is nothing.",
        "SK build, last free box",
    ),
    _rule(
        29,
        _S,
        "scoring.share",
        "Where more complete a type than places are left, they share what is left.",
        "Decided, as at the end of the game",
    ),
    _rule(
        30,
        _S,
        "position.completed",
        "A virtual player that completes a type takes the place, and nobody gets its points.",
        "SK changes for 2 players",
    ),
    _rule(
        31,
        _S,
        "scoring.awards_of_round",
        "A virtual player that completes a type in the same round as a seat shares with it, and its share is lost.",
        "Decided, as at the end of the game",
    ),
    _rule(
        32,
        _T,
        "state.State._end_round",
        "Types completed in the last round are awarded before the final scoring.",
        "SK build, last free box (at the end of the round); end of the game",
    ),
)

SCORING: Final = (
    _rule(
        33,
        _S,
        "scoring.place_points",
        "At the end the most buildings of a type give 16, 17, 18, 19, 20 or 21 points, pavilions to towers; the second "
        "place 8 to 13, the third 1 to 6.",
        "SK final scoring 1; the tables of all examples, but for two slips in print (5 and 3 for 8 and 1)",
    ),
    _rule(
        34,
        _S,
        "scoring.share_places",
        "Players with equally many share the sum of the places that they take, rounded down; those tied for the third "
        "place share only that.",
        "SK final scoring 1 with its example; the table of the solo game for the third place",
    ),
    _rule(35, _S, "scoring.share_places", "Without a building of the type there is no place.", "SK final scoring 1"),
    _rule(
        36,
        _S,
        "scoring.share_places",
        "Of a type that was completed in the game only the places left are given, and not to who got one before.",
        "SK final scoring 1 with the example of the towers",
    ),
    _rule(
        37,
        _D,
        "scoring.share_places",
        "Who completed a type too late for a place finds no place left at the end either.",
        "Follows from RNW-28 and RNW-36",
    ),
    _rule(
        38,
        _S,
        "scoring.score_sheet",
        "Virtual players take places at the end and share them, but get no points.",
        "SK changes for 2 players with its table",
    ),
    _rule(
        39,
        _S,
        "scoring.lines_of",
        "A row or column with 4, 5 or 6 buildings gives 2, 5 or 10 points; they need not be adjacent.",
        "SK final scoring 2",
    ),
    _rule(40, _S, "scoring.score_sheet", "Two coins that were not spent give a point.", "SK final scoring 3"),
    _rule(41, _S, "scoring.place_of", "The most points win; equal points share the victory.", "SK end of the game"),
)

VARIANTS: Final = (
    _rule(
        42,
        _T,
        "state.State._end_round",
        "With 5, 4 or 3 players there are 12, 15 or 18 rounds, each begun by the start seat; with 1 or 2 seats 18.",
        "SK course of the game",
    ),
    _rule(
        43,
        _T,
        "position.Position.__init__",
        "A solo game against 3 or 4 virtual players has the 15 or 12 rounds of 4 or 5 players.",
        "SK variants of the solo game. Decided: the number of all players counts",
    ),
    _rule(
        44,
        _S,
        "scoring.score_sheet",
        "Played against the virtual players they score their buildings like a seat, and 2, 3 or 4 of them get a bonus "
        "of 21, 18 or 15 points each.",
        "SK variants of the solo game with its table",
    ),
    _rule(
        45,
        _S,
        "position.completed",
        "Played against them, virtual players get the points of types that they complete in the game.",
        "Decided: all points for buildings, like ordinary players",
    ),
    _rule(
        46,
        _S,
        "state.State._result",
        "Played against them, the seat's place counts the virtual players; equal points share it.",
        "Decided, as RNW-41",
    ),
)

CATALOGUE: Final = (*SET_UP, *TURN, *COMPLETION, *SCORING, *VARIANTS)
"""All rules, in the order of their ids."""
