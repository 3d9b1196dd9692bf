"""Records of games to judge, with lines that are fine and lines that are not."""

from __future__ import annotations

from referee.text.report.adjudication import adjudicate
from referee.text.report.rulings import Adjudication, Policy

START = """\
[Game "kingdomino"]
[Seats "2"]
0: castle 2,2
1: castle 2,2
first order: 0 1 0 1
line: 3 5 17 22
0: choose 3
1: choose 5
0: choose 17
1: choose 22
line: 4 6 18 23
"""


NEXT = START.count("\n") + 1
"""The number of the line after it: seat 0 places domino 3, forest on both halves."""


AWAY, OUTSIDE, FINE = "0: place 3 2,0 2,1", "0: place 3 2,0 3,0", "0: place 3 0,1 0,2"
"""Touching nothing (KDO-14), which can stand; outside of the frame as well (KDO-16), which cannot; legal."""


def judged(policy: Policy, *lines: str, before: str = START) -> Adjudication:
    return adjudicate(before + "".join(f"{line}\n" for line in lines), policy)
