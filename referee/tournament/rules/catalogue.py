"""The rules of tournaments as this referee decides them: id, kind, text, citation, and the function that holds each.

"Decided" marks what no text of others answers for tables of two to six. C.04 is FIDE's handbook on Swiss systems.
"""

from __future__ import annotations

from typing import Final

from referee.games.game import Kind, Rule

_C, _T, _S, _D = Kind.CONSTRAINT, Kind.TRANSITION, Kind.SCORING, Kind.DERIVED


def _rule(rule_id: str, kind: Kind, function: str, text: str, citation: str) -> Rule:
    return Rule(f"EVT-{rule_id}", kind, text, citation, f"rules.{function}")


REGISTER: Final = (
    _rule(
        "R1",
        _C,
        "check._enter",
        "An entrant enters once: a number, a player's hash and a key each belong to one entrant.",
        "Decided",
    ),
    _rule(
        "R2",
        _C,
        "check._enter",
        "Entries close with CloseEntries. After the draw an entrant can enter late, to begin in a round that is not "
        "paired yet, up to the last one that the terms allow. An event has at most 1,024 entrants.",
        "Decided; C.04.2.C, late entries",
    ),
    _rule(
        "R3",
        _C,
        "check._enter",
        "A late entry states its first round and its points for the rounds before, which the terms give.",
        "Decided",
    ),
    _rule(
        "R4",
        _C,
        "check.pair",
        "A round needs as many entrants who are there as the smallest of its tables has seats.",
        "Decided",
    ),
    _rule(
        "R5",
        _C,
        "check.register",
        "Who has withdrawn is not paired until readmitted, and stays in the standings.",
        "Decided; C.04.2.D, unplayed games",
    ),
    _rule("R6", _C, "check.named", "Who is expelled is neither paired nor in any standing.", "Decided"),
    _rule("R7", _C, "check.register", "Absence from a round is told before the round is paired.", "Decided"),
)

PAIRINGS: Final = (
    _rule(
        "P1",
        _C,
        "quality.violations",
        "Every entrant who is there is at one table or has the bye, and nobody else is. It still holds when the round "
        "is published.",
        "C.04.1.a",
    ),
    _rule(
        "P2",
        _C,
        "quality.violations",
        "Tables have sizes that the terms allow. As few as can be have another size than the first.",
        "Decided",
    ),
    _rule(
        "P3",
        _D,
        "quality.improvement",
        "Meetings again are as few as exchanges of two players can make them: a part of EVT-P8.",
        "Decided; C.04.1.b",
    ),
    _rule(
        "P4",
        _D,
        "quality.improvement",
        "Nobody sits at a second short table while an exchange would spare it: a part of EVT-P8.",
        "Decided",
    ),
    _rule("P5", _C, "quality.violations", "Who must not meet does not. Pairs are named before round 1.", "Decided"),
    _rule(
        "P6",
        _C,
        "check._swiss",
        "The act states the quality vector of its pairing: second byes, rank of the byes, forbidden pairs, repeats, "
        "repeats from the round before, second short tables, spread, float, seats.",
        "Decided",
    ),
    _rule(
        "P7",
        _C,
        "check._swiss",
        "The act states the least spread over contiguous blocks of the standing.",
        "Decided",
    ),
    _rule(
        "P8",
        _C,
        "quality.improvement",
        "In a round that a program pairs by the standing, no exchange of two players makes the vector smaller.",
        "Decided: the best partition is too hard to find, and this can be checked by anybody",
    ),
    _rule(
        "P9",
        _D,
        "situation.situation",
        "What an engine of this project pairs is what that version pairs again from the log.",
        "Decided; C.04.1, the rules must be so clear that arbiters get the same pairing",
    ),
    _rule(
        "P10",
        _C,
        "check._swiss",
        "A pairing by hand, or by another program, has a reason and the vector of the engine's own.",
        "Decided",
    ),
    _rule(
        "P11",
        _C,
        "check._planned",
        "Planned seating follows the plan of the round. A plan has nobody twice in a round and no pair twice at all.",
        "Decided",
    ),
    _rule(
        "P12",
        _C,
        "check.pair",
        "A round is paired when the one before it is closed, in the order of the numbers.",
        "C.04.2.D",
    ),
)

SEATS_AND_BYES: Final = (
    _rule(
        "O1",
        _C,
        "check._seats",
        "At each table that a program seats, the sum of the squares of how often each entrant will have had each seat "
        "is the least over all orders.",
        "Decided",
    ),
    _rule(
        "O2",
        _D,
        "check.in_seat_order",
        "Where a game declares who is first (Kingdomino the order of the first choice, Alhambra that of age, Roll & "
        "Write who starts), it is the order of the seats, as seats are what EVT-O1 makes even.",
        "Decided",
    ),
    _rule("O3", _C, "check._knock_out", "In the knock-out seats are in the order of the standing.", "Decided"),
    _rule("B1", _C, "quality.violations", "Nobody has a second bye before all had one.", "C.04.1.d"),
    _rule("B2", _C, "quality.violations", "As few have the bye as can be: none, if tables can hold all.", "C.04.1.c"),
    _rule(
        "B3",
        _D,
        "quality.improvement",
        "The lowest by standing who may have the bye has it: a part of EVT-P8.",
        "C.04.3, D.2",
    ),
    _rule("B4", _S, "scoring.Scores._add", "Nobody gets points for a round by being away.", "Decided"),
)

STANDINGS: Final = (
    _rule("S1", _S, "scoring.table_points", "Points go by place, in 60ths; who ties shares.", "Decided"),
    _rule(
        "S2",
        _S,
        "terms._check_points",
        "Points fall with the place, or the terms are refused. Unequal sums a head are allowed, and told.",
        "Decided: a draw of all is then worth less than a win",
    ),
    _rule(
        "S3",
        _C,
        "check._result",
        "Who forfeits gets no points, unless the terms leave them; who was not there gets none. If fewer were there "
        "than the terms have points for, an arbiter decides.",
        "Decided",
    ),
    _rule("S4", _S, "scoring.Scores._add", "A bye gives what the terms say, at most a first place.", "C.04.1.c"),
    _rule("S5", _S, "scoring.Scores.value", "wins: the mean share of first places.", "Decided"),
    _rule(
        "S6",
        _S,
        "scoring.Scores._play",
        "relative: the mean of own points over the mean of the table; 1 is average.",
        "Decided; HIG, relative points",
    ),
    _rule("S7", _S, "scoring.Scores._play", "place: the mean rank, 1 for first, 0 for last.", "Europe Masters"),
    _rule(
        "S8",
        _S,
        "scoring.Scores.value",
        "opponents: the mean over rounds of the opponents' mean points a round.",
        "Decided; C.07, Buchholz",
    ),
    _rule(
        "S9",
        _S,
        "scoring.Scores.value",
        "opponents-cut: the same without the lowest round, if there are two or more.",
        "Decided; C.07, cut 1",
    ),
    _rule(
        "S10",
        _S,
        "scoring.Scores.direct",
        "direct: the mean rank at tables at which all who are tied met; nothing if there is none.",
        "Decided; C.07, direct encounter",
    ),
    _rule("S11", _S, "scoring.Scores.value", "game: the mean of the points of the game.", "Decided"),
    _rule(
        "S12",
        _S,
        "scoring.Scores._play",
        "Every tie-break is a mean over rounds played at a table that counts: byes and absences neither help nor hurt.",
        "Decided",
    ),
    _rule(
        "S13",
        _C,
        "check._share",
        "Lots come from the organiser's seed, committed to in the terms, and the shares that entrants committed to "
        "before entries were closed. A share that is not opened counts as none.",
        "Decided; C.04, drawing of lots",
    ),
    _rule(
        "S14",
        _C,
        "check._close_round",
        "The standings are those of the log, to the last fraction; lots decide last.",
        "Decided",
    ),
)

GAMES: Final = (
    _rule("G1", _C, "check._result", "A game, and its log, belong to one table.", "Decided"),
    _rule(
        "G2",
        _C,
        "check._result",
        "A result is of a table of a published round, with a place for every seat.",
        "Decided",
    ),
    _rule("G3", _C, "check.table", "A result is entered once; another is an amendment, with a reason.", "C.04.4"),
    _rule("G4", _C, "check._close_round", "A round is closed when every table is decided.", "Decided"),
    _rule(
        "G5",
        _C,
        "check.table",
        "An arbiter can give an entrant points for a round instead of what the table gives, at most 10,000.",
        "Decided",
    ),
    _rule("U1", _C, "check.of_round", "A round that is not published can be paired again freely.", "Decided"),
    _rule("U2", _C, "check.pair", "A published round is paired again only when it is reopened.", "C.04.4"),
    _rule("U3", _C, "check.pair", "So is one whose games began; its results are gone.", "Decided"),
    _rule(
        "K1", _C, "check._cut", "The cut comes once, after the last round; as many as the terms say go on.", "Decided"
    ),
    _rule("K2", _C, "check._knock_out", "Knock-out tables are the snake of the standing: 1, 8, 9, 16.", "WBC"),
    _rule(
        "K3",
        _T,
        "situation.seeds",
        "As many of each table go on as the terms say; among equal places the better by the standing.",
        "Decided",
    ),
    _rule("K4", _S, "scoring.standings", "After the knock-out who came further is better.", "Decided"),
    _rule("E1", _C, "check._violations", "Acts come in the order of the event, and nothing after its end.", "Decided"),
    _rule(
        "E2", _C, "check._reason", "An arbiter's act, and a pairing that is not the engine's, have a reason.", "Decided"
    ),
    _rule("E3", _C, "check._close", "An event closes when all its rounds, and the final, are played.", "Decided"),
)

CATALOGUE: Final = (*REGISTER, *PAIRINGS, *SEATS_AND_BYES, *STANDINGS, *GAMES)
