"""A seat that is played by hand while everything breaks: nothing is lost, nothing is entered twice."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.sizes import campaign
from tests.web.club import Club
from tests.web.hand import Hand, audited, bots

pytestmark = pytest.mark.cut_off  # what the referee refuses, such as an act that comes second, browsers complain of


@pytest.mark.parametrize("moves", [2, campaign(None)])
async def test_a_game_by_hand(moves: int | None, page: Page, club: Club) -> None:
    made = await club.client.create(2, rules_id="kingdomino")
    async with bots(club.referee, made, 1):
        hand = Hand.of(page, club.address, made)
        await hand.sit()
        await hand.play(moves)
        if moves is not None:
            await hand.resign()
        await expect(hand.result).to_be_visible()
    await audited(club.client, made)
