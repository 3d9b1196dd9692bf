"""Values of enumerations by the distinct part of their names."""

from __future__ import annotations

import pytest

from referee.v1 import access_service_pb2, arbiter_service_pb2, game_pb2
from referee.v1.game_service_pb2 import ErrorReason
from referee.wire.enums import bare_name, word


def test_names_without_what_all_have() -> None:
    assert bare_name(ErrorReason, ErrorReason.Value("ERROR_REASON_STALE_HEAD")) == "STALE_HEAD"
    assert word(game_pb2.GameState, game_pb2.GAME_STATE_PAUSED) == "paused"
    assert word(access_service_pb2.Scope, access_service_pb2.SCOPE_AUDIT) == "audit"
    docket = arbiter_service_pb2.Docket
    assert word(docket.Suspension, docket.SUSPENSION_ADJOURNED) == "adjourned"
    with pytest.raises(ValueError, match="4711"):
        word(game_pb2.GameState, 4711)
