"""caissify-pairings, another program, on reports in FIDE's form: JSON in, JSON out.

A program of its own, run with the Python of .venv/compare (and -P: a neighbour may have the name of a library). Asked
for ``players``, ``rounds`` and ``seed`` it makes a report; given a ``trf`` it says what it reads there.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    from caissify_pairings.rtg import generate_tournament
    from caissify_pairings.trf import parse_trf

    asked = json.load(sys.stdin)
    if "trf" in asked:
        answer = parse_trf(asked["trf"])
    else:
        answer = generate_tournament(asked["players"], asked["rounds"], seed=asked["seed"])
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
