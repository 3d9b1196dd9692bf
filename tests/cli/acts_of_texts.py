"""Texts of games with acts beside their moves."""

from __future__ import annotations

BASE = """\
[Game "kingdomino"]
[Seats "2"]

0: castle 4,1
1: castle 3,0
first order: 1 0 1 0
line: 18 31 34 43
1: choose 18
0: choose 31
"""


WRONG = {
    "an abort after the end": ("1: resign\norganiser: abort", "organiser: abort: the game has come to its end"),
    "a move in a pause": ("arbiter: pause\n1: choose 43", "1: choose 43 wheat/swamp:2: the game is paused (TBL-32)"),
    "a move after a result": ("arbiter: result places 1 2\n1: choose 43", "1: choose 43 wheat/swamp:2: "),
    "too many points": ("arbiter: penalty seat 1 points 5000", "the penalty is 5000 points (TBL-33); expected at most"),
    "a rule that is none": ("1: protest against 5 KDO-99", "there is no rule 'KDO-99' (TBL-30)"),
    "no way back": ("1: back to 6", "1: back to 6: the game cannot go back to entry 6 (TBL-22)"),
}
