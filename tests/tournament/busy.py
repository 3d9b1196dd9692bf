"""An organiser who enters one player after the other, and says so: ``python -m tests.tournament.busy FILE``."""

from __future__ import annotations

import sys
from pathlib import Path

from referee.tournament.file import EventFile
from referee.tournament.rules.acts import Enter


def main(path: Path) -> None:
    """Never ends."""
    while True:
        with EventFile.opened(path) as event:
            number = len(event.log.state.entrants) + 1
            event.names, person = event.names.with_one(number, f"Player {number}")
            event.log.enter(Enter(number, person.player))
            event.save()
        print(number, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
