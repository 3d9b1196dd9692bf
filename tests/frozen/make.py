"""Writes the frozen logs: once for a version of the format or of the rules, never again for the same one.

``python -m tests.frozen.make`` refuses to touch a file that is there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from referee.games import registry
from referee.games.kingdomino import Options as Kingdomino
from referee.games.kingdomino.options import Central, Draw, Frame
from referee.games.rollwrite import Options as Rollwrite
from referee.games.rollwrite.options import Solo
from tests.frozen.report import report_of
from tests.games.options import own_dominoes, own_sheet
from tests.log.games import SIGNER, Played, abort, join_and_reveal, play, step
from tests.log.registered import at_random, codec, opened, play_with_attempts
from tests.log.seated import changed, contested, corrected, undealt

HERE: Final = Path(__file__).parent


def _played(rules_id: str, seed: int, **kind: Any) -> Callable[[], Played]:
    return lambda: play(opened(rules_id, **kind), at_random(seed))


def _attempted(rules_id: str, seed: int, **kind: Any) -> Callable[[], Played]:
    """In every third turn the seat first tries what it may not."""
    return lambda: play_with_attempts(opened(rules_id, recorded=True, **kind), seed)


def _aborted(rules_id: str, seed: int, acts: int) -> Callable[[], Played]:
    def some() -> Played:
        played = opened(rules_id)
        if acts:
            join_and_reveal(played)
        for _ in range(acts):
            step(played, at_random(seed))
        return abort(played)

    return some


def _kingdomino(**options: Any) -> bytes:
    return codec("kingdomino").encode_options(Kingdomino(**options))


def _rollwrite(**options: Any) -> bytes:
    return codec("rollwrite").encode_options(Rollwrite(**options))


NEWEST: Final = registry.newest()
ALL: Final = (0, 1, 2, 3, 4, 5)
DUEL: Final = {"frame": Frame.RELATIVE, "first_order": Draw.KINGS, "mighty_duel": True}
WIDER: Final = {"declared_order": (1, 2, 0), "wider_offer": True, "central": Central.KINGDOM, "harmony": True}
GAMES: Final[dict[str, Callable[[], Played]]] = {
    "alhambra-2-dealt-3": _played("alhambra", 7, seats=3),
    "alhambra-2-dealt-2-attempts": _attempted("alhambra", 11),
    "alhambra-2-declared-6": _played("alhambra", 8, seats=6, dealt=False, scribed=ALL),
    "alhambra-2-dealt-4-scribed": _played("alhambra", 9, seats=4, scribed=(1, 2)),
    "alhambra-2-aborted": _aborted("alhambra", 0, 0),
    "kingdomino-1-dealt-4": _played("kingdomino", 1, seats=4),
    "kingdomino-1-dealt-2-duel-attempts": _attempted("kingdomino", 2, options=_kingdomino(**DUEL)),
    "kingdomino-1-declared-3-wider-scribed": _played(
        "kingdomino", 3, seats=3, dealt=False, scribed=ALL[:3], options=_kingdomino(**WIDER)
    ),
    "kingdomino-1-dealt-2-own-dominoes": _played(
        "kingdomino", 4, tables=codec("kingdomino").encode_components(own_dominoes())
    ),
    "kingdomino-1-aborted": _aborted("kingdomino", 5, 20),
    "rollwrite-1-dealt-5": _played("rollwrite", 1, seats=5),
    "rollwrite-1-dealt-2-attempts": _attempted("rollwrite", 2),
    "rollwrite-1-declared-3-scribed": _played("rollwrite", 3, seats=3, dealt=False, scribed=ALL[:3]),
    "rollwrite-1-dealt-1-against": _played(
        "rollwrite", 4, seats=1, options=_rollwrite(virtual_players=4, solo=Solo.AGAINST)
    ),
    "rollwrite-1-dealt-3-own-sheet": _played(
        "rollwrite", 5, seats=3, tables=codec("rollwrite").encode_components(own_sheet())
    ),
    "rollwrite-1-aborted": _aborted("rollwrite", 6, 20),
    **{f"{game.rules_id}-{game.version}-dealt-3-contested": partial(contested, game.rules_id) for game in NEWEST},
    **{f"{game.rules_id}-{game.version}-declared-3-corrected": partial(corrected, game.rules_id) for game in NEWEST},
    **{f"{game.rules_id}-{game.version}-table-2-changed": partial(changed, game.rules_id) for game in NEWEST},
    **{f"{game.rules_id}-{game.version}-table-2-undealt": partial(undealt, game.rules_id) for game in NEWEST},
}
"""Every kind of log that this version writes."""


def main() -> None:
    """Write what is missing."""
    (HERE / "referee.vkey").write_text(f"{SIGNER.verifier}\n")
    for name, make in GAMES.items():
        log = HERE / f"{name}.gamelog"
        if log.exists():
            print(f"{log.name} is frozen")
            continue
        played = make()
        log.write_bytes(played.file())
        log.with_suffix(".json").write_text(report_of(log))
        print(f"wrote {log.name}, {len(played.entries)} entries, {log.stat().st_size} bytes")


if __name__ == "__main__":
    main()
