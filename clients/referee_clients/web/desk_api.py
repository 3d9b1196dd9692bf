"""The endpoints of organisers and arbiters: how all games stand, answers to calls, rulings, new games.

Each takes the token of its caller; the gateway has none for any of this. A ruling is prepared here, in the words of
``referee rule``, and signed elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any, Final

import grpc
import segno
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from referee.games import table_rules
from referee.log.codec import read_act
from referee.log.errors import LogError
from referee.log.events import Author, Role
from referee.log.intent import TableAct, author_of
from referee.log.judge import judge_act
from referee.log.keys import PublicKey
from referee.log.remarks import MAX_CHARACTERS, is_plain
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.text.notation.violations import BadWord
from referee.text.words.catalogue import Phrase, phrase
from referee.v1 import (
    arbiter_service_pb2,
    arbiter_service_pb2_grpc,
    game_service_pb2_grpc,
    status_service_pb2,
    status_service_pb2_grpc,
)
from referee.v1 import game_service_pb2 as pb
from referee_clients.join import format_link
from referee_clients.rulings import BadMove, NotAllowed, Prepared, refused, resting, standing_move
from referee_clients.sdk.errors import answer_of
from referee_clients.sdk.opening import MOST_EVENT, Proofs, Wishes
from referee_clients.sdk.opening import bad_field as of_field
from referee_clients.web.acts_api import as_json
from referee_clients.web.games_api import game_id_of
from referee_clients.web.refusals import Refusal
from referee_clients.web.request import Given, key_of, page_of, question_of, token_of
from referee_clients.web.upstream import CALL_S, Upstream

_ENDINGS: Final = {ending.name.lower().replace("_", "-"): ending for ending in table_rules.ENDINGS}


def prepared(record: Record, given: Given) -> Prepared:
    """Return what is to be signed, for the game as it stands. Raise ``BadWord`` and ``NotAllowed``."""
    arbiter = given.number("arbiter") or 0
    if arbiter >= len(record.opened.arbiter_keys):
        raise NotAllowed(phrase("not allowed now: the game has no arbiter {n}", n=arbiter))
    kind, reason = given.text("ruling"), ""
    act: TableAct
    if kind == "change-key":
        act = _change_key(given)
    elif kind in _RULINGS:
        act = resting(_RULINGS[kind](given, record), given.text("rule"), given.number("decides"))
        reason = given.text("reason")
        if len(reason) > MAX_CHARACTERS or not is_plain(reason):
            what = phrase(": expected at most {most} printable characters", most=MAX_CHARACTERS)
            raise BadWord("reason", what)
    else:
        raise BadWord("ruling", _one_of(kind, [*_RULINGS, "change-key"]))
    given.check_all_read()
    found = Prepared.of(record.place, Author(Role.ARBITER, arbiter), act, reason)
    try:
        judge_act(record.game, read_act(found.intent, author_of(found.intent), record.game.position), record.size)
    except LogError as error:
        raise refused(error) from None
    return found


def _one_of(found: str, names: Iterable[str]) -> Phrase:
    return phrase(" {found}: expected one of {names}", found=repr(found[:40]), names=", ".join(names))


def _change_key(given: Given) -> log_pb2.ChangeKey:
    key = key_of("new-key", given.text("new-key"))
    try:
        PublicKey(key)
    except LogError as error:
        what = phrase(": {what}", what=error.phrase) if error.phrase else f": {error.what}; expected {error.expected}"
        raise BadWord("new-key", what) from None
    return log_pb2.ChangeKey(seat=given.needed("seat"), key=key)


def _penalty(given: Given, _: Record) -> log_pb2.Rule:
    time_ms = given.ms("time") if given.text("time") else 0
    points, strikes = given.number("points") or 0, given.number("strikes") or 0
    return log_pb2.Rule(
        penalty=log_pb2.Penalty(seat=given.needed("seat"), time_ms=time_ms, points=points, strikes=strikes)
    )


def _forfeit(given: Given, _: Record) -> log_pb2.Rule:
    name = given.text("ending") or "adjudicated"
    if name not in _ENDINGS:
        raise BadWord("ending", _one_of(name, _ENDINGS))
    ending = log_pb2.Ending.ValueType(_ENDINGS[name].value)
    return log_pb2.Rule(forfeit=log_pb2.Forfeit(seat=given.needed("seat"), ending=ending))


def _accept(given: Given, record: Record) -> log_pb2.Rule:
    try:
        return log_pb2.Rule(accept=standing_move(record, given.needed("seat"), given.text("move")))
    except BadMove as error:
        raise BadWord("move", f": {error}") from None


def _adjudicate(given: Given, _: Record) -> log_pb2.Rule:
    places, scores = given.numbers("places"), given.numbers("scores", -(1 << 31))
    return log_pb2.Rule(adjudicate=log_pb2.Adjudicate(places=places, scores=scores))


_RULINGS: Final[Mapping[str, Callable[[Given, Record], log_pb2.Rule]]] = {
    "pause": lambda *_: log_pb2.Rule(pause=log_pb2.Pause()),
    "adjourn": lambda *_: log_pb2.Rule(adjourn=log_pb2.Adjourn()),
    "resume": lambda *_: log_pb2.Rule(resume=log_pb2.Resume()),
    "restore": lambda given, _: log_pb2.Rule(restore=log_pb2.Restore(to_seq=given.needed("to"))),
    "set-clock": lambda given, _: log_pb2.Rule(
        set_clock=log_pb2.SetClock(seat=given.needed("seat"), left_ms=given.ms("left"))
    ),
    "penalty": _penalty,
    "forfeit": _forfeit,
    "reinstate": lambda given, _: log_pb2.Rule(reinstate=log_pb2.Reinstate(seat=given.needed("seat"))),
    "skip": lambda given, _: log_pb2.Rule(skip=log_pb2.Skip(seat=given.needed("seat"))),
    "accept": _accept,
    "adjudicate": _adjudicate,
    "void": lambda *_: log_pb2.Rule(void=log_pb2.Void()),
    "dismiss": lambda *_: log_pb2.Rule(dismiss=log_pb2.Dismiss()),
}
"""The makers by name, as commands."""


# --- the endpoints ---------------------------------------------------------------------------------------------------


_PAGE_SIZE: Final = 200
_NEVER_STORE: Final = {"Cache-Control": "no-store"}


def routes(referee: Upstream) -> list[Route]:
    """Return where an organiser's or an arbiter's page asks; without those that need a token if it could be read on the
    way to the referee.
    """
    office = _Office(referee)
    found = [Route("/api/v1/games/{id}/ruling", office.ruling, methods=["POST"])]
    if referee.may_bear_tokens:
        found += [
            Route("/api/v1/status", office.status),
            Route("/api/v1/games", office.open, methods=["POST"]),
            Route("/api/v1/games/{id}/answer", office.answer, methods=["POST"]),
        ]
    return found


class _Office:
    """The endpoints. Each raises ``Refusal`` and ``grpc.aio.AioRpcError``."""

    def __init__(self, referee: Upstream) -> None:
        self._referee = referee
        channel = referee.channel
        self._games: game_service_pb2_grpc.GameServiceAsyncStub = game_service_pb2_grpc.GameServiceStub(channel)
        self._table: arbiter_service_pb2_grpc.ArbiterServiceAsyncStub = arbiter_service_pb2_grpc.ArbiterServiceStub(
            channel
        )
        self._status: status_service_pb2_grpc.StatusServiceAsyncStub = status_service_pb2_grpc.StatusServiceStub(
            channel
        )

    async def status(self, request: Request) -> Response:
        """Return the games that the token shows: the awaited and connected seats, clocks, calls."""
        metadata, page = self._referee.metadata(token_of(request, undone="asked")), page_of(request)
        asked = status_service_pb2.GetStatusRequest(page_size=_PAGE_SIZE, page_token=page)
        found = await self._status.GetStatus(asked, timeout=CALL_S, metadata=metadata)
        games = [as_json(game) | {"arbiter_keys": [key.hex() for key in game.arbiter_keys]} for game in found.games]
        told = {"now_ms": found.server.now_ms, "games": games, "next_page": found.next_page_token}
        return JSONResponse(told, headers=_NEVER_STORE)

    async def answer(self, request: Request) -> Response:
        """Answer a call for an arbiter."""
        metadata = self._referee.metadata(token_of(request, undone="answered"))
        game_id = game_id_of(request.path_params["id"])
        given = Given(await question_of(request, undone="answered"))
        try:
            number = given.needed("number")
            given.check_all_read()
        except BadWord as error:
            raise _refusal("answered", error) from error
        asked = arbiter_service_pb2.AnswerCallRequest(game_id=game_id, number=number)
        found = await self._table.AnswerCall(asked, timeout=CALL_S, metadata=metadata)
        return JSONResponse({"answered": found.answered})

    async def ruling(self, request: Request) -> Response:
        """Return a ruling on the game as it stands, to be signed. Nothing is sent to the referee."""
        game_id = game_id_of(request.path_params["id"])
        given = Given(await question_of(request, undone="prepared"))
        with ExitStack() as stack:
            # The size is the referee's: the copy of the game here may be behind by a moment.
            size = int((await self._referee.game(game_id)).size)
            feed = await self._referee.hub.hold(stack, game_id, size)
            await self._referee.hub.read(feed)
            if feed.is_over:
                raise Refusal(409, "GAME_OVER", "Nothing was prepared: the game is over.")
            try:
                found = prepared(feed.history.record, given)
            except BadWord as error:
                raise _refusal("prepared", error) from error
            except NotAllowed as error:
                message = f"Nothing was prepared: {error}."
                raise Refusal(409, "NOT_AWAITED", message, detail=error.phrase) from error
        return JSONResponse(found.json(), headers=_NEVER_STORE)

    async def open(self, request: Request) -> Response:
        """Open a game. Return its id and its tokens, which appear only here."""
        metadata = self._referee.metadata(token_of(request, undone="opened"))
        given = Given(await question_of(request, undone="opened"))
        try:
            asked = _wishes(given).request()
            given.check_all_read()
            created = await self._games.CreateGame(asked, timeout=CALL_S, metadata=metadata)
        except BadWord as error:
            raise _refusal("opened", error) from error
        except grpc.aio.AioRpcError as error:
            found = answer_of(error)
            if what := found.metadata.get("what", ""):
                told = found.phrase.places.get("what") if found.phrase is not None else None
                wrong = of_field(found.metadata.get("field", ""), told if isinstance(told, Phrase) else what)
                raise _refusal("opened", wrong) from error
            raise
        return JSONResponse(_created(created, request.headers["origin"]), headers=_NEVER_STORE)


def _wishes(given: Given) -> Wishes:
    """Return the wishes. Raise ``BadWord``. Components and the game before are in files, which only the command
    takes."""
    options = given.object("options")
    proofs = given.text("proofs") or Proofs.NONE.value
    if proofs not in list(Proofs):
        what = phrase(" {found}: expected one of {names}", found=repr(proofs[:40]), names=", ".join(Proofs))
        raise BadWord("proofs", what)
    declare = given.text("declare")
    return Wishes(
        rules=given.text("rules") or None,
        seats=given.number("seats", most=255),
        age_order=given.text("age-order") or None,
        principals=given.texts("principal"),
        options=None if options is None else json.dumps(options),
        series=given.truth("series"),
        declare=key_of("declare", declare) if declare else None,
        scribed=given.numbers("scribed"),
        scribes=given.keys("scribe"),
        illegal=given.texts("illegal"),
        proofs=Proofs(proofs),
        clock=given.text("clock") or None,
        lag=given.text("lag") or None,
        absence=given.text("absence") or None,
        take_backs=given.truth("take-backs"),
        protest_time=given.text("protest-time") or None,
        arbiter_keys=given.keys("arbiter-key"),
        event=given.large("event", MOST_EVENT),
        round=given.number("round"),
        table=given.number("table"),
    )


def _created(created: pb.CreateGameResponse, origin: str) -> dict[str, Any]:
    """Return the game with the link of each seat, and the code of the link as rows of dark and light modules."""
    links = [
        format_link(origin, created.game.id, seat, token) if token else ""
        for seat, token in enumerate(created.seat_tokens)
    ]
    return {
        "game": created.game.id,
        "seats": [{"link": link, "code": _code(link)} for link in links],
        "scribe_token": created.scribe_token,
        "arbiter_token": created.arbiter_token,
    }


def _code(link: str) -> list[str]:
    return ["".join("1" if module else "0" for module in row) for row in segno.make_qr(link, error="m").matrix]


def _refusal(undone: str, error: BadWord) -> Refusal:
    message, metadata = f"Nothing was {undone}: {error.word}{error.what}.", {"field": error.word}
    return Refusal(400, "INVALID_ARGUMENT", message, metadata, detail=error.phrase)
