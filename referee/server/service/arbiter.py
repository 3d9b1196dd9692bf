"""ArbiterService: acts of the table with the words that go with them, and how the table stands."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from referee.log import remarks
from referee.log.errors import LogError
from referee.log.events import TABLE_ACTS, Role
from referee.log.intent import act_name
from referee.log.v1 import log_pb2
from referee.server.live.acts import Accepted, Act
from referee.server.live.docket import Official, Who, call_message
from referee.server.live.live_games import LiveGames
from referee.server.live.refusals import BadField, GameOver, NotAwaited
from referee.server.live.turns import Work
from referee.server.live.view import awaited_text
from referee.server.service.auth import Caller, PermissionDenied
from referee.server.service.game_service import GameService, fill_accepted
from referee.server.service.messages import game_id_of
from referee.server.service.permissions import Scope
from referee.telling.docket import docket_message
from referee.text.words.catalogue import Phrase, phrase
from referee.v1 import arbiter_service_pb2 as pb

_MOST_RULINGS = 64
"""Most rulings in a docket: with the longest texts they fit into one answer. The game's file has them all."""


class ArbiterService:
    """Every method is one of the API's."""

    def __init__(self, live_games: LiveGames, games: GameService) -> None:
        self._live_games = live_games
        self._games = games
        self._log = structlog.get_logger("referee.arbiter")

    async def SubmitAct(self, request: pb.SubmitActRequest, caller: Caller) -> pb.SubmitActResponse:
        _, answer = await self._games.submit(request, caller, _with_words(request))
        assert isinstance(answer, Accepted)  # noqa: S101 - only moves are refused
        response = pb.SubmitActResponse()
        fill_accepted(response.accepted, answer)
        return response

    async def GetDocket(self, request: pb.GetDocketRequest, caller: Caller) -> pb.GetDocketResponse:
        game_id = game_id_of(request.game_id)
        game = await self._live_games.game(game_id, caller.account)
        arbitration = (record := await game.record()).game.arbitration
        shown = {*arbitration.disputes, *list(arbitration.rulings)[-_MOST_RULINGS:]}
        kept = await self._live_games.context.store.remarks(game_id, min(shown, default=record.size), record.size)
        texts = {seq: remarks.decode_remark(data).text for seq, data in kept.items() if seq in shown}
        # A long text costs as much as many a call: any caller can ask, and seats can have written 16 each.
        caller.account.charge(Work.TEXT, len(texts))
        docket = docket_message(await game.record(), texts, _MOST_RULINGS)
        if not docket.HasField("result"):
            docket.calls.extend(map(call_message, game.calls.open))
        return pb.GetDocketResponse(docket=docket)

    async def CallArbiter(self, request: pb.CallArbiterRequest, caller: Caller) -> pb.CallArbiterResponse:
        game_id = game_id_of(request.game_id)
        caller.check_game(game_id)
        who = await self._who(caller, game_id)
        game = await self._live_games.game(game_id, caller.account)
        record = await game.record()
        if record.game.is_over:
            raise GameOver("the game is over")
        if not record.opened.arbiter_keys:
            raise NotAwaited(phrase("this game has no arbiter, who could answer"), awaited_text(record))
        call = game.calls.add(who, request.text, self._live_games.context.time.now_ms())
        self._log.info("arbiter called", game=request.game_id, number=call.number)
        return pb.CallArbiterResponse(call=call_message(call))

    async def _who(self, caller: Caller, game_id: bytes) -> Who:
        """Return as whom the bearer of the token calls. Raise ``PermissionDenied``."""
        author = await self._games.author_in(caller, game_id)
        if author is not None:
            return author.index if author.role is Role.SEAT else Official.SCRIBE
        if Scope.ORGANISE not in caller.scopes:
            raise PermissionDenied(f"the {caller.credential} is for no seat of this game")
        return Official.ORGANISER

    async def AnswerCall(self, request: pb.AnswerCallRequest, caller: Caller) -> pb.AnswerCallResponse:
        game_id = game_id_of(request.game_id)
        caller.check_game(game_id)
        game = await self._live_games.game(game_id, caller.account)
        answered = game.calls.answer(request.number)
        if answered:
            by = caller.principal or "bearer"
            self._log.info("call answered", game=request.game_id, number=request.number, by=by)
        return pb.AnswerCallResponse(answered=answered)

    async def EraseRemark(self, request: pb.EraseRemarkRequest, caller: Caller) -> pb.EraseRemarkResponse:
        game_id = game_id_of(request.game_id)
        caller.check_game(game_id)
        game = await self._live_games.game(game_id, caller.account)
        if request.seq >= game.size:
            raise BadField("seq", f"an entry of the game, 0 to {game.size - 1}")
        erased = await self._live_games.context.store.erase_remark(game_id, request.seq)
        if erased:
            self._log.info("remark erased", game=request.game_id, entry=request.seq, by=caller.principal or "bearer")
        return pb.EraseRemarkResponse(erased=erased)


def _with_words(request: pb.SubmitActRequest) -> Callable[[Act], Act]:
    """Return a function that adds the request's words, if any, to an act. It raises ``BadField``."""

    def finished(act: Act) -> Act:
        if act_name(act.intent) not in TABLE_ACTS:
            raise BadField("intent", f"one of {', '.join(TABLE_ACTS)}; moves go to GameService")
        if not request.HasField("words"):
            return act
        remark = log_pb2.Remark(seq=act.intent.seq, salt=request.words.salt, text=request.words.text)
        try:
            remarks.check(remark, remarks.committed(act.intent))
        except LogError as error:
            what, expected = error.said
            found = what.places["found"] if isinstance(what, Phrase) else error.found
            told = phrase("{field} {found}", field=error.field, found=found) if error.field else error.what
            raise BadField("words", phrase("{expected}, found {found}", expected=expected, found=told)) from None
        return act._replace(remark=remarks.encode_remark(remark))

    return finished
