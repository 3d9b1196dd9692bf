"""Rulings and protests over gRPC: each once, who may not, the docket, texts kept and erased."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.games.game import Decision, Ending
from referee.games.kingdomino.moves import DiscardDomino
from referee.log.intent import Author, Role
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
from tests.service.arbiter import ARBITERS, RULE, Table
from tests.service.conftest import running
from tests.service.player import Client, Play, bearer, refused


async def until_decision(table: Table, kind: str) -> None:
    while True:
        (awaited,) = table.play.record.game.position.pending()
        if isinstance(awaited, Decision) and kind in awaited.kinds:
            return
        assert await table.play.step(), f"the game has ended without a decision to {kind}"


async def test_every_ruling_once_and_all_of_it_is_kept(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (_, client):
        table = await Table.declared(client)
        await until_decision(table, "place_domino")
        before = table.play.record.size - 1
        await table.rule(rule_id="", pause=log_pb2.Pause(), text="the fire alarm")
        assert (await table.docket()).suspension == pb.Docket.SUSPENSION_PAUSED
        await table.rule(rule_id="", adjourn=log_pb2.Adjourn())
        assert (await table.docket()).suspension == pb.Docket.SUSPENSION_ADJOURNED
        await table.rule(rule_id="", resume=log_pb2.Resume())
        assert not (await table.docket()).suspension
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
        await until_decision(table, "place_domino")
        digest = table.play.record.game.position.digest()
        await table.rule(skip=log_pb2.Skip(seat=table.on_turn()))
        assert table.play.record.game.position.digest() != digest
        await accept_something(table)
        protest = await table.seat(0, log_pb2.Protest(against_seq=before, rule_id="KDO-1"), "seat 1 looked")
        assert [d.seq for d in (await table.docket()).disputes if not d.HasField("ruled")] == [protest]
        ruling = await table.rule(decides=protest, dismiss=log_pb2.Dismiss(), text="nobody saw it")
        appeal = await table.seat(0, log_pb2.Appeal(against_seq=ruling, rule_id="KDO-1"))
        told = await table.not_allowed(decides=appeal, dismiss=log_pb2.Dismiss())
        assert "the appeal is against arbiter 0 (TBL-31); expected another arbiter" in told
        final = await table.rule(1, decides=appeal, restore=log_pb2.Restore(to_seq=before))
        docket = await table.docket()
        assert [(d.seq, d.is_appeal, d.ruled, d.text) for d in docket.disputes] == [
            (protest, False, ruling, "seat 1 looked"),
            (appeal, True, final, ""),
        ]
        ruled = {r.seq: (r.arbiter, r.rule.WhichOneof("ruling"), r.text) for r in docket.rulings}
        assert (ruled[ruling], ruled[final]) == ((0, "dismiss", "nobody saw it"), (1, "restore", ""))
        await table.rule(adjudicate=log_pb2.Adjudicate(scores=[5, 9, 5], places=[2, 1, 2]))
        assert list(table.game.end.places) == [2, 1, 2]
        kinds = {kind for _, kind, _ in ruled.values()} | {"adjudicate", "void"}
        assert kinds == {field.name for field in log_pb2.Rule.DESCRIPTOR.oneofs_by_name["ruling"].fields}
        data = await table.audited(client)
        assert all(text in data for text in (b"the fire alarm", b"seat 1 looked", b"nobody saw it"))
        docket = await table.docket()

    async with running(tmp_path / "data") as (_, client):
        table.calls = arbiter_service_pb2_grpc.ArbiterServiceStub(client.channel)
        assert await table.docket() == docket, "a restart keeps it"
        assert await client.log(table.play.id) == data
        organiser = bearer(client.organiser)
        erase = pb.EraseRemarkRequest(game_id=table.play.id, seq=protest)
        assert (await table.calls.EraseRemark(erase, metadata=organiser)).erased
        assert not (await table.calls.EraseRemark(erase, metadata=organiser)).erased
        shorter = await table.audited(client)
        assert b"seat 1 looked" not in shorter
        assert b"nobody saw it" in shorter
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
    assert "a seat from 0 to 1" in await table.not_allowed(skip=log_pb2.Skip(seat=7))
    no_ranking = log_pb2.Adjudicate(places=[2, 2])
    assert "for each seat 1 more than the seats before it" in await table.not_allowed(adjudicate=no_ranking)
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


async def test_who_calls_for_an_arbiter_who_sees_it_and_who_answers(client: Client) -> None:
    table, other = await Table.dealt(client), await Table.dealt(client)
    lonely = await client.play(2, rules_id="kingdomino")

    def calls(token: str, play: Play = table.play) -> Arbiter:
        return Arbiter(client.channel, play.id, token)

    async def not_taken(play: Play, token: str, text: str = "words") -> Any:
        call = table.calls.CallArbiter(pb.CallArbiterRequest(game_id=play.id, text=text), metadata=bearer(token))
        return await refused(call)

    async def seen(token: str) -> dict[str, Any]:
        """Return the games that the token's status shows, with their calls."""
        stub: Any = status_service_pb2_grpc.StatusServiceStub(client.channel)
        found = await stub.GetStatus(status_service_pb2.GetStatusRequest(), metadata=bearer(token))
        assert found.server.now_ms
        assert bool(found.server.acts_accepted) == (token == client.organiser)
        assert found.server.open_games == len(found.games)
        return {game.id: game for game in found.games}

    seat, arbiter = table.token(Role.SEAT, 1), table.token(Role.ARBITER)
    assert (await calls(seat).call("the clock runs")).number == 1
    assert (await calls(seat).call("the clock runs")).number == 1, "the same call again"
    found = await not_taken(table.play, seat, "something else")
    assert (found.reason, found.message) == ("NOT_AWAITED", "your call before this one is still open")
    assert (await calls(client.organiser).call("table 3")).caller == pb.Call.CALLER_ORGANISER
    # Nothing of it is in the log.
    assert b"the clock runs" not in await client.log(table.play.id)
    assert [(call.number, call.seat, call.text) for call in (await table.docket()).calls] == [
        (1, 1, "the clock runs"),
        (2, 0, "table 3"),
    ]
    # Strangers, seats of other games and arbiters call nobody; a game without arbiters has nobody to call.
    assert (await refused(table.calls.CallArbiter(pb.CallArbiterRequest()))).reason == "UNAUTHENTICATED"
    for token in (other.token(Role.SEAT), arbiter):
        assert (await not_taken(table.play, token)).reason == "PERMISSION_DENIED"
    assert "this game has no arbiter" in (await not_taken(lonely, lonely.created.seat_tokens[0])).message
    assert (await not_taken(table.play, table.token(Role.SEAT, 0), "two\nlines")).metadata["field"] == "text"
    # An arbiter's token shows the games that it is for.
    status = (await seen(arbiter))[table.play.id]
    assert [call.text for call in status.calls] == ["the clock runs", "table 3"]
    assert list(status.arbiter_keys) == [key.public.raw for key in ARBITERS]
    assert [clock.running for clock in status.clocks].count(True) == 1
    assert set(await seen(arbiter)) == {table.play.id}
    assert {table.play.id, other.play.id, lonely.id} <= set(await seen(client.organiser))
    access: Any = access_service_pb2_grpc.AccessServiceStub(client.channel)
    issue = access_service_pb2.IssueTokenRequest(principal="ada", scopes=[access_service_pb2.SCOPE_ARBITER])
    everywhere = (await access.IssueToken(issue, metadata=bearer(client.organiser))).secret
    assert {table.play.id, other.play.id} <= set(await seen(everywhere))
    # Arbiters of the game alone answer, and each call once.
    answer = pb.AnswerCallRequest(game_id=table.play.id, number=1)
    for token in (seat, client.organiser, other.token(Role.ARBITER)):
        assert (await refused(table.calls.AnswerCall(answer, metadata=bearer(token)))).reason == "PERMISSION_DENIED"
    assert await calls(arbiter).answer(1)
    assert not await calls(arbiter).answer(1)
    assert await calls(everywhere).answer(2)
    assert not (await table.docket()).calls
    limit = await not_taken(table.play, seat, "once more")
    assert (limit.reason, 0 < limit.retry_s <= 10) == ("LIMIT", True)
    assert (await calls(table.token(Role.SEAT, 0)).call("me too")).number == 3
    await table.rule(void=log_pb2.Void(), rule_id="TBL-36")
    assert not (await table.docket()).calls, "the game is over"
    assert (await not_taken(table.play, seat)).reason == "GAME_OVER"


async def test_the_sdk_signs_again_only_if_asked(client: Client) -> None:
    table = await Table.dealt(client)
    place, author = table.play.place, Author(Role.ARBITER, 0)
    await table.play.step()
    calls = Arbiter(client.channel, table.play.id, table.token(Role.ARBITER))
    with pytest.raises(WentOn, match=f"the game went on meanwhile: its newest entry is {place.seq}; your act"):
        await calls.act(place, author, ARBITERS[0], log_pb2.Rule(pause=log_pb2.Pause()))
    accepted = await calls.act(place, author, ARBITERS[0], log_pb2.Rule(pause=log_pb2.Pause()), "words", tries=2)
    (ruling,) = (await calls.docket()).rulings
    assert (ruling.seq, ruling.text) == (accepted.seq, "words")
    assert b"words" in await calls.log()
    assert await calls.erase(accepted.seq)
    assert b"words" not in await calls.log()
