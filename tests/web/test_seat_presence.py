"""The presence of players at seats, and the page's behaviour when something beside the game fails."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Request, Route, expect

from referee.log import intent
from referee.log.events import Author, Role
from referee.log.v1 import log_pb2
from referee.v1 import arbiter_service_pb2 as arbiter_pb
from referee.v1 import arbiter_service_pb2_grpc as arbiter_grpc
from referee.v1 import game_service_pb2 as pb
from referee.v1 import status_service_pb2, status_service_pb2_grpc
from tests.server.service.player import Play, bearer, seat_key
from tests.waiting import MOST_S
from tests.web.club import Club
from tests.web.hand import Hand

pytestmark = pytest.mark.cut_off  # browsers complain of refusals on their own


async def connected(club: Club, game_id: str) -> set[int]:
    """Return the seats that the referee has on a stream."""
    stub: Any = status_service_pb2_grpc.StatusServiceStub(club.client.channel)
    request = status_service_pb2.GetStatusRequest()
    status = await stub.GetStatus(request, metadata=bearer(club.client.organiser))
    (game,) = (each for each in status.games if each.id == game_id)
    return {seat for seat, each in enumerate(game.seats) if each.connected}


async def awaited(club: Club, game_id: str, seats: set[int]) -> None:
    while await connected(club, game_id) != seats:
        pass


async def test_a_seat_in_a_browser_is_there_as_long_as_its_page(page: Page, club: Club) -> None:
    """So it forfeits no more than a program's does where absence is limited (TBL-38)."""
    made = await club.client.create(1, rules_id="rollwrite", terms=log_pb2.Terms(table_rules=2, absence_ms=60_000))
    hand = Hand.of(page, club.address, made)
    await hand.sit()
    assert await hand.on_turn()
    await awaited(club, made.game.id, {0})
    await page.goto("about:blank")
    await awaited(club, made.game.id, set())


async def test_a_seat_that_another_phone_took_is_not_played_here(page: Page, browser: Browser, club: Club) -> None:
    made = await club.client.create(2, rules_id="kingdomino")
    first = Hand.of(page, club.address, made)
    await first.open()
    await first.save_key()
    context = await browser.new_context()
    context.set_default_timeout(1000 * MOST_S)
    try:
        second = Hand.of(await context.new_page(), club.address, made)
        await second.sit()
        await expect(page.get_by_role("heading", name="Someone plays as player 1 already")).to_be_visible()
        await expect(first.turn).to_have_count(0)
    finally:
        await context.close()


async def test_moves_that_do_not_come_hold_nothing_up(page: Page, club: Club) -> None:
    """The page says so, asks again, and hears meanwhile that the game is over."""
    made = await club.client.create(2, rules_id="kingdomino", terms=log_pb2.Terms(table_rules=2))
    hand = Hand.of(page, club.address, made)

    async def broken(route: Route) -> None:
        await route.fulfill(status=500, body="<h1>no</h1>", content_type="text/html")

    await page.route("**/moves?**", broken)
    other = await Other.of(club, made)
    await hand.sit()
    await other.begins()
    await expect(page.get_by_text("Your moves cannot be asked for")).to_be_visible()
    await other.does(log_pb2.Resign())
    await expect(hand.result).to_be_visible()


async def test_only_the_referee_says_that_an_act_is_none(page: Page, club: Club) -> None:
    """Not a page of errors of somebody on the way: the same bytes are sent again."""
    made = await club.client.create(1, rules_id="rollwrite")
    hand = Hand.of(page, club.address, made)
    await hand.sit()
    assert await hand.on_turn()
    bodies = list[bytes]()

    async def strange(route: Route) -> None:
        bodies.append(route.request.post_data_buffer or b"")
        if len(bodies) < 3:
            await route.fulfill(status=(404, 500)[len(bodies) - 1], body="<h1>no</h1>", content_type="text/html")
        else:
            await route.continue_()

    await page.route("**/acts", strange)
    await hand.move()
    assert len(bodies) == 3
    assert len(set(bodies)) == 1


async def test_the_time_of_thought_is_told_only_where_it_is_known(page: Page, club: Club) -> None:
    """A player who opens the page in the middle of a turn does not get the time before for nothing."""
    made = await club.client.create(1, rules_id="rollwrite")
    hand = Hand.of(page, club.address, made)
    sent = list[pb.SubmitIntentRequest]()

    def note(request: Request) -> None:
        if request.url.endswith("/acts"):
            sent.append(pb.SubmitIntentRequest.FromString(request.post_data_buffer or b""))

    page.on("request", note)
    await hand.sit()
    assert await hand.on_turn()
    await hand.move()
    assert await hand.on_turn()
    await page.reload()
    assert await hand.on_turn()
    await hand.move()
    moves = [each for each in sent if log_pb2.Intent.FromString(each.intent).HasField("move")]
    assert [each.HasField("thought_ms") for each in moves] == [True, False]


async def test_a_skip_link_leaves_the_game_as_it_is(page: Page, club: Club) -> None:
    made = await club.client.create(1, rules_id="rollwrite")
    hand = Hand.of(page, club.address, made)
    await hand.sit()
    assert await hand.on_turn()
    chosen = await hand.choose()
    await page.locator(".skip").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#chosen-move")).to_have_text(chosen)


async def test_what_is_agreed_to_is_what_was_proposed(page: Page, club: Club) -> None:
    """The signed entries state the proposal: no request is made."""
    made = await club.client.create(2, rules_id="kingdomino", terms=log_pb2.Terms(table_rules=2, take_backs=True))
    hand, other = Hand.of(page, club.address, made), await Other.of(club, made)
    await hand.sit()
    await other.begins()
    await hand.move()
    entered = await other.read()
    await other.does(log_pb2.TakeBack(to_seq=entered - 1))
    await page.get_by_role("button", name="Agree to the take-back").click()
    asked = page.get_by_role("group", name="Agree to the take-back")
    await expect(asked.get_by_role("listitem")).to_have_text([f"Player 1: {hand.chosen[0]}"])
    await asked.get_by_role("button", name="Agree", exact=True).click()
    await expect(page.get_by_text("You agreed.")).to_be_visible()
    await expect(hand.turn).to_be_visible()


@dataclass
class Other:
    """Player 2 of a game, which acts only on command."""

    play: Play

    @classmethod
    async def of(cls, club: Club, made: pb.CreateGameResponse) -> Other:
        return cls(Play(club.client, made, random.Random(1)))

    async def read(self) -> int:
        """Read on as far as there is anything; return the last entry."""
        game = (await self.play.client.games.GetGame(pb.GetGameRequest(game_id=self.play.id))).game
        await self.play.catch_up(game.size)
        return int(game.size) - 1

    async def begins(self) -> None:
        """Join after the other, and reveal after the other, so that the game begins."""
        token = self.play.created.seat_tokens[1]
        await self.play.catch_up(2)
        await self.play.act(self.play.join(1), token)
        await self.play.catch_up(4)
        await self.play.act(self.play.reveal(1), token)

    async def does(self, act: intent.TableAct) -> None:
        await self.read()
        signed = intent.act(self.play.place, Author(Role.SEAT, 1), seat_key(1), act)
        stub: Any = arbiter_grpc.ArbiterServiceStub(self.play.client.channel)
        request = arbiter_pb.SubmitActRequest(game_id=self.play.id, intent=signed.intent, signature=signed.signature)
        await stub.SubmitAct(request, metadata=bearer(self.play.created.seat_tokens[1]))


async def test_a_seat_protests_and_calls_and_an_arbiter_reads_it(page: Page, club: Club) -> None:
    made = await club.client.create(
        2, rules_id="kingdomino", terms=log_pb2.Terms(table_rules=2), arbiter_keys=[seat_key(9).public.raw]
    )
    hand, other = Hand.of(page, club.address, made), await Other.of(club, made)
    await hand.sit()
    await other.begins()
    await hand.move()
    entered = await other.read()
    await hand.beside("Protest")
    asked = page.get_by_role("group", name="Protest")
    await asked.get_by_label("Against this entry").select_option(str(entered))
    await asked.get_by_label("The rule that was broken").fill("KDO-14")
    await asked.get_by_label("Your reason in words").fill("<b>look</b> at my castle")
    await asked.get_by_role("button", name="Protest", exact=True).click()
    await expect(page.get_by_text("Your protest is entered.")).to_be_visible()
    await hand.beside("Call the arbiter")
    await page.get_by_label("The reason, in one line").fill("my castle")
    await page.get_by_role("button", name="Call", exact=True).click()
    await expect(page.get_by_text("The arbiter is called.")).to_be_visible()
    stub: Any = arbiter_grpc.ArbiterServiceStub(club.client.channel)
    docket = (await stub.GetDocket(arbiter_pb.GetDocketRequest(game_id=made.game.id))).docket
    (dispute,) = docket.disputes
    assert (dispute.seat, dispute.against, dispute.rule_id) == (0, entered, "KDO-14")
    assert dispute.text == "<b>look</b> at my castle"
    assert [call.text for call in docket.calls] == ["my castle"]
