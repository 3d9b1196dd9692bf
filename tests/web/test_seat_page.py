"""The weight of a seat's page."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from referee.games import registry
from tests.sizes import campaign
from tests.web.club import Club
from tests.web.hand import Hand, bots

pytestmark = pytest.mark.cut_off  # a second Join is refused, of which browsers complain on their own

MOST_BYTES = 90_000
_SIZES = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter(({ name }) => !name.includes("/api/"))
  .map(({ name, encodedBodySize }) => [name, encodedBodySize])"""


@pytest.mark.parametrize("rules", ["alhambra", *map(campaign, sorted(set(registry.names()) - {"alhambra"}))])
async def test_a_seat_on_turn_weighs_90_kb_at_most(rules: str, club: Club, page: Page) -> None:
    """The weight is that on the network, without the signed entries of the game."""
    made = await club.client.create(2, rules_id=rules)
    async with bots(club.referee, made, 1):
        hand = Hand.of(page, club.address, made)
        await hand.sit()
        assert await hand.on_turn()
        sizes = dict(await page.evaluate(_SIZES))
    assert all(sizes.values()), sizes
    assert len(sizes) > 20
    assert sum(sizes.values()) <= MOST_BYTES, sizes
