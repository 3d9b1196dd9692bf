"""Turns of callers that can wait."""

from __future__ import annotations

import asyncio

from referee.server.live.turns import Turns


async def test_nobody_has_a_turn_while_an_act_goes_first() -> None:
    is_held, order = True, list[str]()
    turns = Turns(held=lambda: is_held)

    async def wait(who: str) -> None:
        await turns.next(who)
        order.append(who)

    async with asyncio.TaskGroup() as group:
        for who in ("ani", "bo"):
            group.create_task(wait(who))
        for _ in range(100):
            await asyncio.sleep(0)
        assert order == []
        is_held = False
    assert order == ["ani", "bo"]
