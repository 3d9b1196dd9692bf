"""Lines of the boards, and of the list of entries, without the cards of a hand."""

from __future__ import annotations

import re
from typing import Final

_HAND: Final = re.compile(r"^( *hand), .+$|^(.*\bhand \d+:) .+$")
"""Where a line tells what is in a hand."""


def without_hand(line: str) -> str:
    """Return the line without the cards of a hand."""
    return _HAND.sub(lambda found: f"{found[1] + ':' if found[1] else found[2]} (hidden)", line)


def without_hands(text: str) -> str:
    """Return the text without them."""
    return "\n".join(map(without_hand, text.splitlines()))
