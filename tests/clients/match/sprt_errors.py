"""How often the test errs, at 2, 4 and 6 seats: ``python -m tests.clients.match.sprt_errors [RUNS]``."""

import sys

from tests.clients.match.sprt import errors


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2500
    for seats in (2, 4, 6):
        wrong_h1, wrong_h0 = errors(seats, runs, seed=11)
        print(f"{seats} seats, {runs} runs each: H0 rejected {wrong_h1 / runs:.1%}, H1 missed {wrong_h0 / runs:.1%}")


if __name__ == "__main__":
    main()
