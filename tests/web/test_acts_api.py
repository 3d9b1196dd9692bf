"""Seats' acts through a gateway: exact bytes that they signed, with their own tokens, to a real referee."""

from __future__ import annotations

import random
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from referee.games.kingdomino.moves import ChooseDomino
from referee.log.v1 import log_pb2
from referee.text.notation.violations import sentence
from referee.v1 import arbiter_service_pb2 as arbiter_pb
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.channel import Security
from referee_clients.web import acts_api
from referee_clients.web.request import MOST_BYTES, PROTOBUF
from referee_clients.web.upstream import Upstream
from tests.server.service.player import Play, seat_key
from tests.web.club import Club
from tests.web.games_api import NOBODYS, kingdomino
from tests.web.gateway import check_refusal


@pytest.fixture
async def browser(club: Club) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=club.address, headers={"Origin": club.address}, timeout=60) as made:
        yield made


async def sent(
    browser: httpx.AsyncClient, path: str, body: bytes, token: str | None, kind: str = PROTOBUF
) -> httpx.Response:
    headers = {"Content-Type": kind} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    while True:
        found = await browser.post(f"/api/v1/games/{path}", content=body, headers=headers)
        if found.status_code != 429:
            return found


def signed(play: Play, seat: int, move: bytes) -> bytes:
    act = play.move(seat, move)
    return pb.SubmitIntentRequest(
        game_id=play.id, intent=act.intent, signature=act.signature, thought_ms=10
    ).SerializeToString()


def illegal(play: Play) -> tuple[Any, bytes]:
    """Return a choice of a domino that does not lie on the table."""
    position = play.record.game.position
    move = next(move for number in range(1, 49) if position.state.check(move := ChooseDomino(number)))
    return move, position.codec.encode_move(move, position.components)


async def test_an_act_is_entered_once_however_often_it_comes(club: Club, browser: httpx.AsyncClient) -> None:
    play = await kingdomino(club.client)
    seat = play.seat_on_turn()
    body, token = signed(play, seat, play.a_move()), play.created.seat_tokens[seat]
    first = (await sent(browser, f"{play.id}/acts", body, token)).json()
    again = (await sent(browser, f"{play.id}/acts", body, token)).json()
    assert first == again
    await play.catch_up(first["accepted"]["size"])
    assert first["accepted"]["seq"] == play.record.size - 1
    assert bytes.fromhex(first["accepted"]["head"]) == play.record.head
    assert b64decode(first["accepted"]["checkpoint"]) == play.notes[play.record.size]


async def test_what_may_be_done_is_the_referees_word(club: Club, browser: httpx.AsyncClient) -> None:
    play = await kingdomino(club.client, 5)
    found = (await browser.get(f"/api/v1/games/{play.id}/moves")).json()
    course = play.record.game.position
    legal = [course.codec.encode_move(move, course.components) for move in course.state.legal_moves()]
    assert sorted(map(b64decode, found["moves"])) == sorted(legal)
    assert (found["seat"], found["size"]) == (play.seat_on_turn(), play.record.size)
    assert bytes.fromhex(found["head"]) == play.record.head
    assert found["next_page"] == ""


async def test_a_refusal_says_why_before_and_after(club: Club, browser: httpx.AsyncClient) -> None:
    play = await kingdomino(club.client)
    seat = play.seat_on_turn()
    move, data = illegal(play)
    rules = {rule.id: rule for rule in play.record.game.position.rules.catalogue}
    broken = [
        (each.rule_id, sentence(each, rules), {key: str(value) for key, value in each.facts.items()})
        for each in play.record.game.position.state.check(move)
    ]
    before = (await sent(browser, f"{play.id}/why?size={play.record.size}", data, None)).json()["violations"]
    after = (await sent(browser, f"{play.id}/acts", signed(play, seat, data), play.created.seat_tokens[seat])).json()
    assert after["refused"]["recorded"] is None
    assert before == after["refused"]["violations"]
    assert [(each["rule"], each["text"], each["facts"]) for each in before] == broken
    assert broken
    assert (await sent(browser, f"{play.id}/why?size={play.record.size}", play.a_move(), None)).json() == {
        "violations": []
    }


async def test_why_is_told_of_the_game_as_it_stands(club: Club, browser: httpx.AsyncClient) -> None:
    """Also where the rules are asked after every entry."""
    play = await kingdomino(club.client)
    rng = random.Random(5)
    for _ in range(6):
        number = rng.randint(1, 48)
        position = play.record.game.position
        data = position.codec.encode_move(ChooseDomino(number), position.components)
        found = (await sent(browser, f"{play.id}/why?size={play.record.size}", data, None)).json()["violations"]
        rules = [each.rule_id for each in position.state.check(ChooseDomino(number))]
        assert [each["rule"] for each in found] == rules
        await play.step()


async def test_a_seat_calls_an_arbiter_who_reads_it_in_the_docket(club: Club, browser: httpx.AsyncClient) -> None:
    play = await kingdomino(club.client, arbiter_keys=[seat_key(9).public.raw], terms=log_pb2.Terms(table_rules=2))
    token = play.created.seat_tokens[1]
    text = "<b>he moved my castle</b>"
    made = await sent(browser, f"{play.id}/call", f'{{"text": "{text}"}}'.encode(), token, "application/json")
    assert made.json()["call"]["text"] == text
    docket = (await browser.get(f"/api/v1/games/{play.id}/docket")).json()
    assert [(call["caller"], call["seat"], call["text"]) for call in docket["calls"]] == [("CALLER_SEAT", 1, text)]
    refused = await sent(browser, f"{play.id}/call", b'{"text": 7}', token, "application/json")
    assert check_refusal(refused, 400, "INVALID_ARGUMENT")["field"] == "text"


async def test_the_checkpoint_of_a_seat_is_a_note_or_refused(club: Club, browser: httpx.AsyncClient) -> None:
    """The referee judges what is in it: here it is one that it signed."""
    play = await kingdomino(club.client)
    headers = {"Authorization": f"Bearer {play.created.seat_tokens[0]}"}
    for text in ("?", "AAA", "A" * 8192):
        refused = await browser.get(f"/api/v1/games/{play.id}/seat?after=-1&checkpoint={text}", headers=headers)
        assert check_refusal(refused, 400, "INVALID_ARGUMENT")["field"] == "checkpoint"
    note = quote(b64encode(play.notes[play.record.size]), safe="")
    async with browser.stream(
        "GET", f"/api/v1/games/{play.id}/seat?after=-1&checkpoint={note}", headers=headers
    ) as found:
        assert found.status_code == 200


@pytest.mark.parametrize("path", ["acts", "table"])
async def test_what_is_no_act_is_refused_before_the_referee_has_it(
    path: str, club: Club, browser: httpx.AsyncClient
) -> None:
    play = await kingdomino(club.client)
    seat = play.seat_on_turn()
    token, other = play.created.seat_tokens[seat], play.created.seat_tokens[1 - seat]
    kind = pb.SubmitIntentRequest if path == "acts" else arbiter_pb.SubmitActRequest
    act = play.move(seat, play.a_move())
    body = kind(game_id=play.id, intent=act.intent, signature=act.signature).SerializeToString()
    here = f"{play.id}/{path}"
    check_refusal(await sent(browser, here, body, None), 401, "UNAUTHENTICATED")
    check_refusal(await sent(browser, here, body, "x" * 40), 401, "UNAUTHENTICATED")
    check_refusal(await sent(browser, here, body, other), 403, "PERMISSION_DENIED")
    check_refusal(await sent(browser, f"{NOBODYS}/{path}", body, token), 400, "WRONG_GAME")
    check_refusal(await sent(browser, here, b"\xff" * 9, token), 400, "INVALID_ARGUMENT")
    check_refusal(await sent(browser, here, b"\0" * (MOST_BYTES + 1), token), 413, "TOO_LARGE")
    check_refusal(await sent(browser, here, body, token, "application/json"), 415, "WRONG_TYPE")
    check_refusal(await sent(browser, f"GAME/{path}", body, token), 400, "INVALID_ARGUMENT")
    forged = kind(game_id=play.id, intent=act.intent, signature=bytes(64)).SerializeToString()
    check_refusal(
        await sent(browser, here, forged, token), 400, "BAD_SIGNATURE" if path == "acts" else "INVALID_ARGUMENT"
    )
    foreign = await browser.post(f"/api/v1/games/{here}", content=body, headers={"Origin": "https://evil.example"})
    check_refusal(foreign, 403, "FOREIGN_ORIGIN")
    await play.step()  # nothing of it happened


async def test_why_and_moves_refuse_what_is_none(club: Club, browser: httpx.AsyncClient) -> None:
    play = await kingdomino(club.client)
    check_refusal(await sent(browser, f"{play.id}/why?size={play.record.size}", b"\xff", None), 400, "MALFORMED_MOVE")
    check_refusal(await sent(browser, f"{NOBODYS}/why?size=1", b"", None), 404, "UNKNOWN_GAME")
    check_refusal(await browser.get(f"/api/v1/games/{NOBODYS}/moves"), 404, "UNKNOWN_GAME")
    check_refusal(await browser.get(f"/api/v1/games/{play.id}/moves?page=%20"), 400, "INVALID_ARGUMENT")
    joining = await club.client.play(rules_id="kingdomino")
    check_refusal(await sent(browser, f"{joining.id}/why?size=1", b"", None), 409, "NOT_AWAITED")
    await play.to_the_end()
    over = await sent(browser, f"{play.id}/why?size={play.record.size}", b"", None)
    check_refusal(over, 409, "GAME_OVER")
    stale = await sent(browser, f"{(await kingdomino(club.client, 3)).id}/why?size=1", b"", None)
    check_refusal(stale, 409, "STALE_HEAD")
    check_refusal(await sent(browser, f"{play.id}/why?size=x", b"", None), 400, "INVALID_ARGUMENT")


async def test_tokens_go_nowhere_where_they_could_be_read() -> None:
    """On the way from the gateway to the referee."""
    async with Upstream("192.0.2.1:50051", security=Security()) as referee:
        paths = {route.path for route in acts_api.routes(referee)}
    assert paths == {f"/api/v1/games/{{id}}/{what}" for what in ("moves", "docket", "why")}
