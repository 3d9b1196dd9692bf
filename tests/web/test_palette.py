"""Contrast, computed from the palette: of words 4.5 : 1 at least, of what else has to be seen 3 : 1 (WCAG 2.2)."""

from __future__ import annotations

import re
from itertools import product

import pytest

from referee.text.render.alhambra import COST_PAPER, GOLD, STONE
from referee.text.render.drawing import COLOURS
from referee.text.render.kingdomino import GROUNDS
from referee_clients.web.pages import static_files
from tests.web.every_page import THEMES

STYLE = static_files()["style.css"].decode()
WORDS, THINGS = 4.5, 3.0


def palette(theme: str) -> dict[str, str]:
    """Return the colours of the style sheet by name."""
    light, dark, *_ = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    found = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", light))
    assert len(found) > 15
    return found | (dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", dark)) if theme == "dark" else {})


def luminance(colour: str) -> float:
    """Relative, of ``#rrggbb``."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


OF_PAGES = {
    WORDS: [
        *product(("ink", "soft", "link", "good", "bad"), ("paper", "card")),
        ("on-piece", "bad-on-piece"),
        ("on-piece", "mark"),
        ("on-piece", "edge"),
        ("edge", "plate"),
        ("on-piece", "blue-die"),
        ("edge", "yellow-die"),
    ],
    THINGS: [
        *product(("line", "link", "ink"), ("paper", "card")),
        *product(("cell-line", "legal", "link"), ("cell",)),
        ("legal-on-piece", "on-piece"),
        ("bad-on-piece", "on-piece"),
    ],
}
"""Pairs of foreground and background, by the names of the style sheet."""

OF_PIECES = {
    WORDS: [(each.ink, COST_PAPER) for each in COLOURS.values()],
    THINGS: [
        (GOLD, STONE),
        *((each.ink, each.light) for each in COLOURS.values()),
        *((STONE, ground) for each in COLOURS.values() for ground in (each.light, each.deep)),
    ],
}
"""The drawings', which are the same in both themes."""


@pytest.mark.parametrize("theme", THEMES)
def test_everything_can_be_seen(theme: str) -> None:
    colours = palette(theme)
    pairs = [(least, one, on, colours[one], colours[on]) for least, all_of in OF_PAGES.items() for one, on in all_of]
    pairs += [(least, one, on, one, on) for least, all_of in OF_PIECES.items() for one, on in all_of]
    weak = [(one, on, round(found, 2)) for least, one, on, *both in pairs if (found := contrast(*both)) < least]
    assert weak == []


def test_a_mark_on_a_piece_can_be_seen_whatever_the_piece() -> None:
    """It has a light edge and a dark line: one of them stands out from any ground."""
    colours = palette("light")
    grounds = [ground for each in COLOURS.values() for ground in (each.light, each.deep)]
    grounds += [ground for pair in GROUNDS.values() for ground in pair]
    for line, ground in product(("legal-on-piece", "bad-on-piece", "edge", "mark"), grounds):
        seen = max(contrast(colours[line], ground), contrast(colours["on-piece"], ground))
        assert seen >= THINGS, (line, ground)


def test_every_colour_is_in_the_palette() -> None:
    rules = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)
    rules = re.sub(r"@media print \{.*", "", rules, flags=re.DOTALL)
    assert re.findall(r"[^&\w-]#[0-9a-f]{3,8}\b", rules) == []


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
