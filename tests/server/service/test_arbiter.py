"""Rulings and protests over gRPC: each once, refused callers, the docket, texts kept and erased."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.games.game import Decision, Ending
from referee.games.kingdomino.moves import DiscardDomino
from referee.log.events import Author, Role
from referee.log.v1 import log_pb2
from referee.v1 import (
    access_service_pb2,
    access_service_pb2_grpc,
    arbiter_service_pb2_grpc,
    status_service_pb2,
    status_service_pb2_grpc,
)
from referee.v1 import arbiter_service_pb2 as pb
from referee.v1 import game_service_pb2 as games_pb
from referee_clients.sdk.arbiter import Arbiter
from referee_clients.sdk.errors import WentOn
from tests.server.service.arbiter import ARBITERS, RULE, Table
from tests.server.service.conftest import running
from tests.server.service.player import Client, Play, Refusal, bearer, refused


async def until_decision(table: Table, kind: str) -> None:
    while True:
        (awaited,) = table.play.record.game.position.pending()
        if isinstance(awaited, Decision) and kind in awaited.kinds:
            return
        assert await table.play.step(), f"the game has ended without a decision to {kind}"


async def at_a_decision(client: Client) -> Table:
    table = await Table.declared(client)
    await until_decision(table, "place_domino")
    return table


async def test_play_is_paused_adjourned_and_resumed(client: Client) -> None:
    table = await at_a_decision(client)
    await table.rule(rule_id="", pause=log_pb2.Pause(), text="the fire alarm")
    assert (await table.docket()).suspension == pb.Docket.SUSPENSION_PAUSED
    await table.rule(rule_id="", adjourn=log_pb2.Adjourn())
    assert (await table.docket()).suspension == pb.Docket.SUSPENSION_ADJOURNED
    await table.rule(rule_id="", resume=log_pb2.Resume())
    assert not (await table.docket()).suspension


async def test_a_seat_is_given_time_penalised_put_out_and_let_in_again(client: Client) -> None:
    table = await at_a_decision(client)
    await table.rule(set_clock=log_pb2.SetClock(seat=1, left_ms=90_000))
    assert table.game.clocks.seat(1).left_ms == 90_000
    await table.rule(penalty=log_pb2.Penalty(seat=1, time_ms=30_000, points=2, strikes=1))
    assert table.game.clocks.seat(1).left_ms == 60_000
    await table.rule(forfeit=log_pb2.Forfeit(seat=2, ending=log_pb2.ENDING_CRASHED))
    seats = (await table.docket()).seats
    assert [(seat.out, seat.strikes, seat.points_off) for seat in seats] == [
        (0, 0, 0),
        (0, 1, 2),
        (log_pb2.ENDING_CRASHED, 0, 0),
    ]
    await table.rule(reinstate=log_pb2.Reinstate(seat=2))
    assert not any(seat.out for seat in (await table.docket()).seats)


async def test_a_turn_is_skipped_and_a_move_accepted(client: Client) -> None:
    table = await at_a_decision(client)
    digest = table.game.position.digest()
    await table.rule(skip=log_pb2.Skip(seat=table.on_turn()))
    assert table.game.position.digest() != digest
    await accept_something(table)


async def protested(table: Table, before: int) -> tuple[int, int, int, int]:
    """Have a protest dismissed and an appeal upheld, by the other arbiter; return where these four are."""
    protest = await table.seat(0, log_pb2.Protest(against_seq=before, rule_id="KDO-1"), "seat 1 looked")
    ruling = await table.rule(decides=protest, dismiss=log_pb2.Dismiss(), text="no one saw it")
    appeal = await table.seat(0, log_pb2.Appeal(against_seq=ruling, rule_id="KDO-1"))
    final = await table.rule(1, decides=appeal, restore=log_pb2.Restore(to_seq=before))
    return protest, ruling, appeal, final


async def test_a_protest_and_an_appeal_are_in_the_docket(client: Client) -> None:
    table = await at_a_decision(client)
    before = table.play.record.size - 1
    await table.play.step()
    protest, ruling, appeal, final = await protested(table, before)
    docket = await table.docket()
    assert [(d.seq, d.is_appeal, d.ruled, d.text) for d in docket.disputes] == [
        (protest, False, ruling, "seat 1 looked"),
        (appeal, True, final, ""),
    ]
    assert [(r.seq, r.arbiter, r.rule.WhichOneof("ruling"), r.text) for r in docket.rulings] == [
        (ruling, 0, "dismiss", "no one saw it"),
        (final, 1, "restore", ""),
    ]


async def test_a_dispute_is_open_until_another_arbiter_has_ruled(client: Client) -> None:
    table = await at_a_decision(client)
    protest = await table.seat(0, log_pb2.Protest(against_seq=table.play.record.size - 1, rule_id="KDO-1"))
    assert [d.seq for d in (await table.docket()).disputes if not d.HasField("ruled")] == [protest]
    ruling = await table.rule(decides=protest, dismiss=log_pb2.Dismiss())
    appeal = await table.seat(0, log_pb2.Appeal(against_seq=ruling, rule_id="KDO-1"))
    told = await table.not_allowed(decides=appeal, dismiss=log_pb2.Dismiss())
    assert "the appeal is against arbiter 0 (TBL-31); expected another arbiter" in told


async def ruled_in_every_way(table: Table) -> int:
    """Rule once in each way to the end of the game; return where the protest is."""
    before = table.play.record.size - 1
    await table.rule(rule_id="", pause=log_pb2.Pause(), text="the fire alarm")
    await table.rule(rule_id="", adjourn=log_pb2.Adjourn())
    await table.rule(rule_id="", resume=log_pb2.Resume())
    await table.rule(set_clock=log_pb2.SetClock(seat=1, left_ms=90_000))
    await table.rule(penalty=log_pb2.Penalty(seat=1, points=2))
    await table.rule(forfeit=log_pb2.Forfeit(seat=2, ending=log_pb2.ENDING_CRASHED))
    await table.rule(reinstate=log_pb2.Reinstate(seat=2))
    await until_decision(table, "place_domino")
    await table.rule(skip=log_pb2.Skip(seat=table.on_turn()))
    await accept_something(table)
    protest, *_ = await protested(table, before)
    await table.rule(adjudicate=log_pb2.Adjudicate(scores=[5, 9, 5], places=[2, 1, 2]))
    return protest


async def test_every_ruling_is_kept(tmp_path: Path) -> None:
    """Over a restart, with all words; one that is erased is gone, and no other."""
    async with running(tmp_path / "data") as (_, client):
        table = await at_a_decision(client)
        protest = await ruled_in_every_way(table)
        assert list(table.game.end.places) == [2, 1, 2]
        docket, data = await table.docket(), await table.audited(client)
    kinds = {r.rule.WhichOneof("ruling") for r in docket.rulings} | {"void"}
    assert kinds == {field.name for field in log_pb2.Rule.DESCRIPTOR.oneofs_by_name["ruling"].fields}
    assert all(text in data for text in (b"the fire alarm", b"seat 1 looked", b"no one saw it"))
    async with running(tmp_path / "data") as (_, client):
        table.calls = arbiter_service_pb2_grpc.ArbiterServiceStub(client.channel)
        assert await table.docket() == docket
        assert await client.log(table.play.id) == data
        erase = pb.EraseRemarkRequest(game_id=table.play.id, seq=protest)
        erased = [await table.calls.EraseRemark(erase, metadata=bearer(client.organiser)) for _ in range(2)]
        assert [answer.erased for answer in erased] == [True, False]
        shorter = await table.audited(client)
        assert b"seat 1 looked" not in shorter
        assert b"no one saw it" in shorter
        assert {d.seq: d.text for d in (await table.docket()).disputes}[protest] == ""


async def accept_something(table: Table) -> None:
    """A domino is thrown away that could be placed."""
    while True:
        await until_decision(table, "place_domino")
        course = table.play.record.game
        discard = DiscardDomino(table.domino())
        violations = course.position.state.check(discard)
        if violations:
            break
        await table.play.step()
    move = course.position.codec.encode_move(discard, course.position.components)
    rule_ids = sorted({violation.rule_id for violation in violations})
    seat = table.on_turn()
    told = await table.not_allowed(accept=log_pb2.Accept(seat=seat, move=move, rule_ids=["KDO-7"]))
    assert f"expected {', '.join(rule_ids)}" in told
    await table.rule(accept=log_pb2.Accept(seat=seat, move=move, rule_ids=rule_ids))


async def test_a_game_that_does_not_count(client: Client) -> None:
    table = await Table.dealt(client)
    await table.rule(void=log_pb2.Void())
    assert table.game.end.ending == Ending.VOIDED
    await table.audited(client)
    request = table.request(Author(Role.ARBITER, 0), log_pb2.Rule(rule_id=RULE, void=log_pb2.Void()))
    found = await refused(table.calls.SubmitAct(request, metadata=bearer(table.token(Role.ARBITER))))
    assert found.reason == "GAME_OVER"


async def test_a_result_waits_for_protests_and_rulings(client: Client) -> None:
    table = await Table.dealt(client, terms=log_pb2.Terms(protest_ms=3_600_000))
    seat = Author(Role.SEAT, 1)
    await table.rule(forfeit=log_pb2.Forfeit(seat=0, ending=log_pb2.ENDING_STALLED))
    docket = await table.docket()
    assert list(docket.waiting.places) == [2, 1]
    assert docket.until_ms == table.play.record.last_ms + 3_600_000
    protest = await table.act(seat, log_pb2.Protest(against_seq=0, rule_id="KDO-1"), "words")
    assert (await table.docket()).until_ms == 0
    await table.rule(decides=protest, reinstate=log_pb2.Reinstate(seat=0))
    assert not (await table.docket()).HasField("waiting")


async def test_take_backs_and_resignation(client: Client) -> None:
    table = await Table.declared(client)
    await until_decision(table, "choose_domino")
    last = table.play.record.size - 1
    await table.play.step()
    digest = table.play.record.game.position.digest()
    proposal = await table.seat(0, log_pb2.TakeBack(to_seq=last))
    found = (await table.docket()).proposal
    assert (found.seq, found.to_seq, list(found.agreed), list(found.missing)) == (proposal, last, [0], [1, 2])
    await table.seat(1, log_pb2.Consent(to_seq=proposal))
    await table.seat(2, log_pb2.Consent(to_seq=proposal))
    assert table.play.record.game.position.digest() != digest
    assert not (await table.docket()).HasField("proposal")
    await table.seat(2, log_pb2.Resign())
    assert (await table.docket()).seats[2].out == log_pb2.ENDING_RESIGNED
    await table.audited(client)


async def test_who_may_not_rule(client: Client) -> None:
    table, other = await Table.dealt(client), await Table.dealt(client)
    pause = log_pb2.Rule(pause=log_pb2.Pause())
    arbiter = Author(Role.ARBITER, 0)

    async def told(request: Any, token: str) -> tuple[str, str]:
        found = await refused(table.calls.SubmitAct(request, metadata=bearer(token)))
        return found.reason, found.message

    own = table.token(Role.ARBITER)
    good = table.request(arbiter, pause)
    assert (await told(good, table.token(Role.SEAT)))[0] == "PERMISSION_DENIED"
    assert (await told(good, other.token(Role.ARBITER)))[0] == "PERMISSION_DENIED"
    assert (await told(good, client.organiser))[0] == "PERMISSION_DENIED"
    assert (await told(good, ""))[0] == "UNAUTHENTICATED"
    assert (await told(table.request(arbiter, pause, key=ARBITERS[1]), own))[0] == "BAD_SIGNATURE"
    absent = table.request(Author(Role.ARBITER, 5), pause, key=ARBITERS[0])
    assert (await told(absent, own))[1] == "arbiter 5 has no key; expected one of the game's 2 arbiters"
    assert (await told(table.request(Author(Role.SEAT, 0), pause), table.token(Role.SEAT)))[0] == "NOT_AWAITED"
    assert "a rule of the game, or of the table" in await table.not_allowed(rule_id="TBL-999", void=log_pb2.Void())
    assert "the game cannot go back to entry 0" in await table.not_allowed(restore=log_pb2.Restore(to_seq=0))
    begun = 4  # after two joins and two seeds
    await until_decision(table, "choose_domino")
    await table.play.steps(3)
    assert "past the draw in entry" in await table.not_allowed(restore=log_pb2.Restore(to_seq=begun))
    assert "the protest or appeal" in await table.not_allowed(dismiss=log_pb2.Dismiss())
    assert "a seat from 0 (player 1) to 1" in await table.not_allowed(skip=log_pb2.Skip(seat=7))
    no_ranking = log_pb2.Adjudicate(places=[2, 2])
    assert "for each player 1 more than the players before" in await table.not_allowed(adjudicate=no_ranking)
    assert (await client.log(table.play.id)).count(b"TBL-") == 0, "nothing was entered"


async def test_a_game_without_arbiters(client: Client) -> None:
    table = await Table.dealt(client, arbiter_keys=[])
    assert table.play.created.arbiter_token == ""
    token = await issued(client, access_service_pb2.SCOPE_ARBITER)
    request = table.request(Author(Role.ARBITER, 0), log_pb2.Rule(pause=log_pb2.Pause()))
    found = await refused(table.calls.SubmitAct(request, metadata=bearer(token)))
    assert found.message == "arbiter 0 has no key; expected one of the game's 0 arbiters"
    protest = table.request(Author(Role.SEAT, 0), log_pb2.Protest(against_seq=1, rule_id="KDO-1"))
    found = await refused(table.calls.SubmitAct(protest, metadata=bearer(table.token(Role.SEAT))))
    assert "this game has no arbiter (TBL-27)" in found.message


async def issued(client: Client, scope: Any) -> str:
    stub: Any = access_service_pb2_grpc.AccessServiceStub(client.channel)
    request = access_service_pb2.IssueTokenRequest(principal="somebody", scopes=[scope])
    return str((await stub.IssueToken(request, metadata=bearer(client.organiser))).secret)


async def test_a_principal_rules_in_all_games(client: Client) -> None:
    token = bearer(await issued(client, access_service_pb2.SCOPE_ARBITER))
    for table in (await Table.dealt(client), await Table.dealt(client)):
        request = table.request(Author(Role.ARBITER, 1), log_pb2.Rule(pause=log_pb2.Pause()))
        await table.calls.SubmitAct(request, metadata=token)
        docket = (await table.calls.GetDocket(pb.GetDocketRequest(game_id=table.play.id))).docket
        assert docket.suspension == pb.Docket.SUSPENSION_PAUSED


async def test_words_are_those_that_the_act_commits_to(client: Client) -> None:
    table = await Table.dealt(client)
    token = bearer(table.token(Role.ARBITER))
    arbiter = Author(Role.ARBITER, 0)
    for words, expected in (
        (pb.Words(salt=b"s" * 16, text="other words"), "the one that it commits to"),
        (pb.Words(salt=b"t" * 16, text="words"), "the one that it commits to"),
        (pb.Words(salt=b"s" * 15, text="words"), "16 bytes"),
        (pb.Words(salt=b"s" * 16, text=""), "1 to 4000"),
        (pb.Words(salt=b"s" * 16, text="w" * 4001), "1 to 4000"),
        (pb.Words(salt=b"s" * 16, text="\x1b[2J"), "none but line ends"),
    ):
        request = table.request(arbiter, log_pb2.Rule(pause=log_pb2.Pause()), "words")
        request.words.CopyFrom(words)
        found = await refused(table.calls.SubmitAct(request, metadata=token))
        assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", "words")
        assert expected in found.message
    request = table.request(arbiter, log_pb2.Rule(pause=log_pb2.Pause()))
    request.words.CopyFrom(pb.Words(salt=b"s" * 16, text="words"))
    found = await refused(table.calls.SubmitAct(request, metadata=token))
    assert "for an entry that commits to it" in found.message
    move = table.play.next_act()
    assert move is not None
    request = pb.SubmitActRequest(game_id=table.play.id, intent=move[0].intent, signature=move[0].signature)
    found = await refused(table.calls.SubmitAct(request, metadata=bearer(move[1])))
    assert "moves go to GameService" in found.message
    await table.rule(pause=log_pb2.Pause(), rule_id="", text="w" * 4000)
    assert (await table.docket()).rulings[0].text == "w" * 4000


async def test_an_act_by_the_other_call_has_no_text(client: Client) -> None:
    table = await Table.dealt(client)
    request = table.request(Author(Role.ARBITER, 0), log_pb2.Rule(pause=log_pb2.Pause()), "words")
    plain = games_pb.SubmitIntentRequest(game_id=table.play.id, intent=request.intent, signature=request.signature)
    token = bearer(table.token(Role.ARBITER))
    accepted = (await client.games.SubmitIntent(plain, metadata=token)).accepted
    again = await table.calls.SubmitAct(request, metadata=token)
    assert again.accepted == accepted
    docket = (await table.calls.GetDocket(pb.GetDocketRequest(game_id=table.play.id))).docket
    assert [ruling.text for ruling in docket.rulings] == [""], "what was not told with the act is not told later"


@pytest.mark.usefixtures("nothing_refills")
async def test_a_docket_costs_who_asks_a_request_for_each_text(tmp_path: Path) -> None:
    async with running(tmp_path / "data", requests_per_s=12.0) as (_, client):  # 120 are held
        table = await Table.dealt(client)
        for _ in range(32):
            await table.rule(penalty=log_pb2.Penalty(seat=0), text="words")
        ask, own = pb.GetDocketRequest(game_id=table.play.id), bearer(table.token(Role.SEAT))
        for _ in range(4):
            docket = (await table.calls.GetDocket(ask, metadata=own)).docket
            assert [ruling.text for ruling in docket.rulings] == ["words"] * 32
        assert (await refused(table.calls.GetDocket(ask, metadata=own))).reason == "LIMIT"


async def test_who_may_erase(client: Client) -> None:
    table, other = await Table.dealt(client), await Table.dealt(client)
    seq = await table.rule(rule_id="", pause=log_pb2.Pause(), text="words")
    erase = pb.EraseRemarkRequest(game_id=table.play.id, seq=seq)
    for token in (table.token(Role.SEAT), other.token(Role.ARBITER)):
        assert (await refused(table.calls.EraseRemark(erase, metadata=bearer(token)))).reason == "PERMISSION_DENIED"
    assert (await table.docket()).rulings[0].text == "words"
    own = bearer(table.token(Role.ARBITER))
    beyond = pb.EraseRemarkRequest(game_id=table.play.id, seq=999)
    assert (await refused(table.calls.EraseRemark(beyond, metadata=own))).metadata["field"] == "seq"
    assert (await table.calls.EraseRemark(erase, metadata=own)).erased
    assert (await table.docket()).rulings[0].text == ""


def calling(client: Client, table: Table, token: str) -> Arbiter:
    return Arbiter(client.channel, table.play.id, token)


async def not_taken(table: Table, token: str, text: str = "words", play: Play | None = None) -> Refusal:
    """That a call is refused, and how."""
    request = pb.CallArbiterRequest(game_id=(play or table.play).id, text=text)
    return await refused(table.calls.CallArbiter(request, metadata=bearer(token)))


async def shown(client: Client, token: str) -> dict[str, Any]:
    """Return the games that the token's status shows, with their calls."""
    stub: Any = status_service_pb2_grpc.StatusServiceStub(client.channel)
    found = await stub.GetStatus(status_service_pb2.GetStatusRequest(), metadata=bearer(token))
    assert found.server.now_ms
    assert bool(found.server.acts_accepted) == (token == client.organiser)
    assert found.server.open_games == len(found.games)
    return {game.id: game for game in found.games}


async def arbiter_everywhere(client: Client) -> str:
    access: Any = access_service_pb2_grpc.AccessServiceStub(client.channel)
    issue = access_service_pb2.IssueTokenRequest(principal="ada", scopes=[access_service_pb2.SCOPE_ARBITER])
    secret: str = (await access.IssueToken(issue, metadata=bearer(client.organiser))).secret
    return secret


async def test_a_call_for_an_arbiter_is_in_the_docket_and_not_in_the_log(client: Client) -> None:
    table = await Table.dealt(client)
    seat = table.token(Role.SEAT, 1)
    assert (await calling(client, table, seat).call("the clock runs")).number == 1
    assert (await calling(client, table, seat).call("the clock runs")).number == 1, "the same call again"
    found = await not_taken(table, seat, "something else")
    assert (found.reason, found.message) == ("NOT_AWAITED", "your call before this one is still open")
    own = await calling(client, table, client.organiser).call("table 3")
    assert own.caller == pb.Call.CALLER_ORGANISER
    assert b"the clock runs" not in await client.log(table.play.id)
    assert [(call.number, call.seat, call.text) for call in (await table.docket()).calls] == [
        (1, 1, "the clock runs"),
        (2, 0, "table 3"),
    ]


async def test_calls_that_are_not_taken(client: Client) -> None:
    """Calls of strangers, of seats of other games and of arbiters; in a game without an arbiter; of two lines."""
    table, other = await Table.dealt(client), await Table.dealt(client)
    lonely = await client.play(2, rules_id="kingdomino")
    assert (await refused(table.calls.CallArbiter(pb.CallArbiterRequest()))).reason == "UNAUTHENTICATED"
    for token in (other.token(Role.SEAT), table.token(Role.ARBITER)):
        assert (await not_taken(table, token)).reason == "PERMISSION_DENIED"
    without = await not_taken(table, lonely.created.seat_tokens[0], play=lonely)
    assert "this game has no arbiter" in without.message
    assert (await not_taken(table, table.token(Role.SEAT, 0), "two\nlines")).metadata["field"] == "text"


async def test_calls_are_shown_to_the_arbiters_of_the_game(client: Client) -> None:
    """A token of one game shows that game, one of every game shows them all."""
    table, other = await Table.dealt(client), await Table.dealt(client)
    lonely = await client.play(2, rules_id="kingdomino")
    await calling(client, table, table.token(Role.SEAT, 1)).call("the clock runs")
    games = await shown(client, table.token(Role.ARBITER))
    assert set(games) == {table.play.id}
    status = games[table.play.id]
    assert [call.text for call in status.calls] == ["the clock runs"]
    assert list(status.arbiter_keys) == [key.public.raw for key in ARBITERS]
    assert [clock.running for clock in status.clocks].count(True) == 1
    assert {table.play.id, other.play.id, lonely.id} <= set(await shown(client, client.organiser))
    assert {table.play.id, other.play.id} <= set(await shown(client, await arbiter_everywhere(client)))


async def test_a_call_is_answered_once_and_by_arbiters_of_the_game_alone(client: Client) -> None:
    table, other = await Table.dealt(client), await Table.dealt(client)
    seat, arbiter = table.token(Role.SEAT, 1), table.token(Role.ARBITER)
    await calling(client, table, seat).call("the clock runs")
    await calling(client, table, client.organiser).call("table 3")
    answer = pb.AnswerCallRequest(game_id=table.play.id, number=1)
    for token in (seat, client.organiser, other.token(Role.ARBITER)):
        assert (await refused(table.calls.AnswerCall(answer, metadata=bearer(token)))).reason == "PERMISSION_DENIED"
    assert await calling(client, table, arbiter).answer(1)
    assert not await calling(client, table, arbiter).answer(1)
    assert await calling(client, table, await arbiter_everywhere(client)).answer(2)
    assert not (await table.docket()).calls


async def test_a_seat_calls_again_after_a_while_and_not_when_the_game_is_over(client: Client) -> None:
    table = await Table.dealt(client)
    seat = table.token(Role.SEAT, 1)
    await calling(client, table, seat).call("the clock runs")
    assert await calling(client, table, table.token(Role.ARBITER)).answer(1)
    limit = await not_taken(table, seat, "once more")
    assert (limit.reason, 0 < limit.retry_s <= 10) == ("LIMIT", True)
    assert (await calling(client, table, table.token(Role.SEAT, 0)).call("me too")).number == 2
    await table.rule(void=log_pb2.Void(), rule_id="TBL-36")
    assert not (await table.docket()).calls, "the game is over"
    assert (await not_taken(table, seat)).reason == "GAME_OVER"


async def test_the_sdk_signs_again_only_if_asked(client: Client) -> None:
    table = await Table.dealt(client)
    place, author = table.play.place, Author(Role.ARBITER, 0)
    await table.play.step()
    calls = Arbiter(client.channel, table.play.id, table.token(Role.ARBITER))
    with pytest.raises(WentOn, match=f"other entries came meanwhile: its newest entry is {place.seq}; your act"):
        await calls.act(place, author, ARBITERS[0], log_pb2.Rule(pause=log_pb2.Pause()))
    accepted = await calls.act(place, author, ARBITERS[0], log_pb2.Rule(pause=log_pb2.Pause()), "words", tries=2)
    (ruling,) = (await calls.docket()).rulings
    assert (ruling.seq, ruling.text) == (accepted.seq, "words")
    assert b"words" in await calls.log()
    assert await calls.erase(accepted.seq)
    assert b"words" not in await calls.log()
