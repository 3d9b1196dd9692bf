"""What is looked for: the one list, each with its rule and the page that has it."""

from __future__ import annotations

from typing import Final

from referee_clients.bot_check.catalogue import Check

_HERE: Final = "bot-check.md#a-look-without-playing"
_GET: Final = "bots.md#what-you-get"
RULES: Final = {
    rule.id: rule
    for rule in (
        Check("imports", "It can be imported, or started, and made without arguments.", "bots.md"),
        Check("slow-import", "It is imported within 1 s; a program answers within 2 s.", _HERE),
        Check("signature", "It has choose(observation, legal_moves), and may have begin, end and agrees.", _GET),
        Check("raises", "It returns a move in the first positions of a game.", _GET),
        Check("not-a-legal-move", "It returns a legal move.", _GET),
        Check("not-of-the-list", "It returns a move of the list, or pays more than it needs to.", "bots.md#alhambra"),
        Check("not-deterministic", "With the same seed and positions it makes the same moves.", _HERE),
        Check("shared-state", "Games that are played at one time do not touch each other.", "bots.md#many-games"),
        Check("beyond-its-seat", "It looks at its observation, and at nothing else of the referee.", _GET),
    )
}  # fmt: skip
