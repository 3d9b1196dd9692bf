"""A position to score."""

from __future__ import annotations

POSITION = """\
[Game "alhambra"]
[Version "2"]
[Seats "3"]
[Position "action seat 0 start 0 turns 40 | scorings 2 due | piles 90 turned 0 | market free free free free | row \
| discard | neutral | bought | score 31 hand reserve won laid tower-9-NE 1,0 garden-10-N -1,0 \
| score 30 hand reserve won laid tower-10-W 0,1 | score 9 hand denar-1 reserve won laid"]
"""
"""Not over."""
