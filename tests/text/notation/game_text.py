"""Lines of whole games as text."""

from __future__ import annotations

KINGS = '[Game "kingdomino"]\n[Seats "2"]\n'


CHOSEN = (
    f"{KINGS}0: castle 2,2\n1: castle 2,2\nfirst order: 0 1 0 1\nline: 3 5 17 22\n"
    "0: choose 3\n1: choose 5\n0: choose 17\n1: choose 22\nline: 33 34 35 36\n"
)
