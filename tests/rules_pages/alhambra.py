"""Alhambra: the tiles by type, and the options by the names that each door gives them."""

from __future__ import annotations

from referee.games.alhambra.tiles import NAMES, TYPES

CITATIONS = """\
Citations name the rule texts by edition: CZ (Corfix/Queen 2003), RU (Russian edition), HU (Piatnik). BGA is the Board
Game Arena implementation (thoun/bga-alhambra, 2021-01). "Decided" marks a question that the texts leave open,
"follows" one that other rules answer.
"""


def appendix() -> list[str]:
    """Lines of Markdown."""
    tiles = [[name for name in NAMES if name.startswith(f"{type_}-")] for type_ in TYPES]
    return [
        "## Tiles",
        "",
        "A tile is named `type-cost-walls`, the walls in the order N E S W; a tile without walls is `type-cost`.",
        "",
        "| type | tiles |",
        "|---|---|",
        *(f"| {type_} | {', '.join(names)} |" for type_, names in zip(TYPES, tiles, strict=True)),
        "",
        "## Options",
        "",
        "A game is opened with them (`referee new --options`, message `referee.alhambra.v1.Options`); the defaults are",
        "the decisions above.",
        "",
        "| rule | option | values |",
        "|---|---|---|",
        "| ALH-F1, ALH-F2 | `age_order` | seats from the youngest to the oldest; default 0, 1, 2, … |",
        "| ALH-C13 | `max_turns` | 1 to 10000; default 400 |",
        "| ALH-B6 | `loop_rule` | `LOOP_RULE_ONE_LESS`: a closed wall counts one less (`loop_one_less` in `inspect`) |",
        "| ALH-F6 | `end_rule` | `END_RULE_BAG_EMPTY`: the game ends when the bag is empty (`end_when_bag_empty`) |",
        "| ALH-C9 | `slot_currencies` | the currency of each slot, such as `CURRENCY_DUCAT`; each once |",
        "",
    ]
