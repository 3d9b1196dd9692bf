"""Complete lists: permissions, reasons, statuses; and details that stay small."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest
from google.rpc import error_details_pb2

from referee import v1
from referee.games.game import UnknownRules, Violation
from referee.log.errors import Code, LogError, RulesError
from referee.process.frames import BadQuestion
from referee.process.pool import WorkerFailed, WorkerFault
from referee.server.live import refusals
from referee.server.service import grpc_errors as service_errors
from referee.server.service.auth import Caller, PermissionDenied, Unauthenticated
from referee.server.service.guard import handler
from referee.server.service.limits import TookTooLong
from referee.server.service.permissions import EVERYBODY, PERMISSIONS, SERVICES, Scope
from referee.server.service.solver import Disagreement
from referee.server.store.nodes import Node
from referee.server.store.store import StoreFailed
from referee.text.notation.violations import Kind, NotationError
from referee.text.words.catalogue import Phrase, phrase
from referee.v1 import game_service_pb2 as pb
from tests.server.service.player import CODE


def test_every_service_is_served() -> None:
    modules = [
        import_module(f"referee.v1.{m.name}") for m in pkgutil.iter_modules(v1.__path__) if m.name.endswith("_pb2")
    ]
    declared = {name for module in modules for name in module.DESCRIPTOR.services_by_name}
    assert declared == {service.name for service in SERVICES}


def test_every_method_has_a_row_and_no_row_is_left_over() -> None:
    methods = {f"{service.full_name}/{method.name}" for service in SERVICES for method in service.methods}
    assert set(PERMISSIONS) == methods


def test_a_method_without_a_row_or_a_behaviour_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AttributeError, match="CreateGame"):
        handler(SERVICES[0], object(), None)  # type: ignore[arg-type]
    monkeypatch.delitem(PERMISSIONS, "referee.v1.RulesService/ListRules")

    class All:
        def __getattr__(self, name: str) -> None: ...

    with pytest.raises(KeyError, match="ListRules"):
        handler(SERVICES[1], All(), None)  # type: ignore[arg-type]


def test_who_may_what() -> None:
    """The table once more, the other way round."""
    for scope in [None, *Scope]:
        caller = Caller(scopes=frozenset({scope} if scope else ()), digest=b"token" if scope else b"")
        allowed = {method.rpartition("/")[2] for method in PERMISSIONS if _may(caller, method)}
        extra = {
            Scope.ORGANISE: {
                "CreateGame",
                "CreateEvent",
                "AbortGame",
                "GetStatus",
                "GetCallers",
                "EraseRemark",
                "CallArbiter",
                "NamePlayer",
            },
            Scope.PLAY: {"NamePlayer", "SubmitIntent", "SubmitAct", "CallArbiter", "PlayGame", "WatchSeat"},
            Scope.SCRIBE: {"SubmitIntent", "SubmitAct", "CallArbiter", "PlayGame", "WatchSeat"},
            Scope.ARBITER: {"SubmitIntent", "SubmitAct", "EraseRemark", "AnswerCall", "GetStatus"},
            Scope.AUDIT: {"GetStatus"},
            Scope.ADMIN: {"GetStatus", "GetCallers", "IssueToken", "RevokeToken", "ListTokens"},
        }.get(scope, set())
        known = (
            {
                "ProveMove",
                "ExplainMove",
                "FindBestTurn",
                "FindLongestWall",
                "FindBestKingdom",
                "RebuildDistance",
                "ProveDecided",
                "AdjudicateRecord",
                "ScorePosition",
                "ReportGame",
                "ProposePairing",
            }
            if scope not in {None, Scope.GATEWAY}
            else set()
        )
        reading = {method.rpartition("/")[2] for method, scopes in PERMISSIONS.items() if scopes == EVERYBODY}
        assert allowed == reading | extra | known


def _may(caller: Caller, method: str) -> bool:
    try:
        caller.check_method(method)
    except (PermissionDenied, Unauthenticated):
        return False
    return True


def test_every_reason_has_a_status() -> None:
    reasons = {name.removeprefix("ERROR_REASON_") for name in pb.ErrorReason.DESCRIPTOR.values_by_name} - {
        "UNSPECIFIED"
    }
    assert set(service_errors.STATUS_OF) == reasons == set(CODE)
    assert dict(service_errors.STATUS_OF) == CODE


LONG = "\U0001f600" * 100_000
EVERY_ERROR: list[Exception] = [
    *(LogError(code, LONG, LONG) for code in Code),
    RulesError([Violation(LONG)]),
    refusals.UnknownGame(LONG),
    refusals.GameOver(LONG),
    refusals.StaleHead(2**63, bytes(32)),
    refusals.BeyondHead(2**63),
    refusals.NotAwaited(LONG, LONG),
    refusals.WeakKey(LONG),
    refusals.MalformedMove(LONG),
    refusals.MalformedIntent(LONG),
    refusals.BadField(LONG, LONG),
    refusals.LimitReached(LONG, retry_s=1e9),
    TookTooLong(LONG),
    refusals.Draining(LONG),
    refusals.InDoubt(2**63),
    refusals.Unsound(bytes(16), LONG),
    refusals.Elsewhere(bytes(16), Node(1, LONG, LONG)),
    UnknownRules(LONG),
    StoreFailed(LONG),
    PermissionDenied(LONG),
    Unauthenticated(LONG),
    BadQuestion(f"{LONG}: {LONG}, expected {LONG}", field=LONG, expected=LONG),
    WorkerFailed("died", LONG),
    WorkerFault(LONG),
    Disagreement(LONG),
    NotationError(Kind.ILLEGAL, (9**9, 9**9), LONG, LONG, [Violation(LONG)]),
    ZeroDivisionError(LONG),
]


@pytest.mark.parametrize("error", EVERY_ERROR, ids=lambda error: f"{type(error).__name__} {getattr(error, 'code', '')}")
def test_details_are_small(error: Exception) -> None:
    status = service_errors.status(error)
    assert status.ByteSize() < service_errors.MAX_DETAILS_BYTES
    assert len(status.details) == 1 + (service_errors.retry_s(error) > 0)


def test_a_phrase_is_told_whole_or_not_at_all() -> None:
    said = phrase("{a} of {a}", a="x" * 1000)
    for long, error in (
        (False, refusals.NotAwaited(said, LONG)),
        (True, refusals.NotAwaited(phrase(LONG), LONG)),
        (True, refusals.LimitReached(phrase("a" * 3000), retry_s=1e9)),
        (True, refusals.BadField(LONG, phrase("a" * 350), what=phrase(LONG))),
    ):
        status, info = service_errors.status(error), error_details_pb2.ErrorInfo()
        assert status.ByteSize() < service_errors.MAX_DETAILS_BYTES
        assert status.details[0].Unpack(info)
        assert ("said" not in info.metadata) == long
    assert str(Phrase.decoded(said.encoded())) == str(said)


def test_every_table_error_is_told_apart() -> None:
    """Only what is our own fault becomes an incident."""
    for error in EVERY_ERROR:
        reason, message, _ = service_errors._explained(error)
        if isinstance(error, refusals.LiveGameError):
            assert reason != "INTERNAL", error
            assert (reason == "SET_ASIDE") == isinstance(error, refusals.Unsound), error
        if reason == "SET_ASIDE":
            assert LONG not in message, "what is wrong with a record is for the operator"
    covered = {type(error) for error in EVERY_ERROR}
    assert set(refusals.LiveGameError.__subclasses__()) <= covered
