"""Games that pages read through a gateway."""

from __future__ import annotations

from typing import Any

from tests.server.service.player import Client, Play

NOBODYS = "0" * 32


async def kingdomino(client: Client, steps: int = 0, **fields: Any) -> Play:
    """Return a game of two in play."""
    play = await client.play(rules_id="kingdomino", **fields)
    await play.until_play()
    await play.steps(steps)
    return play
