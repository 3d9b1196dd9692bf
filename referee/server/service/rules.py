"""RulesService: which games there are, by which rules, with which components."""

from __future__ import annotations

from typing import Any

from referee.games import registry
from referee.games.game import Game
from referee.log.engines import installed
from referee.log.header import rules_hash
from referee.server.service.auth import Caller
from referee.server.service.messages import rule_message
from referee.v1 import rules_service_pb2 as pb
from referee.wire.registry import components_json


class RulesService:
    """Every method is one of the API's."""

    async def ListRules(self, request: pb.ListRulesRequest, caller: Caller) -> pb.ListRulesResponse:
        response = pb.ListRulesResponse()
        for game in registry.games():
            response.rules.add(
                rules_id=game.rules_id,
                rules_version=game.version,
                min_seats=game.min_seats,
                max_seats=game.max_seats,
                rules_hash=rules_hash(game.catalogue),
                declares_components=game.declares_components,
            )
        return response

    async def GetCatalogue(self, request: pb.GetCatalogueRequest, caller: Caller) -> pb.GetCatalogueResponse:
        response = pb.GetCatalogueResponse()
        response.rules.extend(map(rule_message, _game(request).catalogue))
        return response

    async def GetComponents(self, request: pb.GetComponentsRequest, caller: Caller) -> pb.GetComponentsResponse:
        game = _game(request)
        wire = installed().codec(game.rules_id, game.version)
        return pb.GetComponentsResponse(components=wire.encode_components(None), json=components_json(wire))


def _game(request: Any) -> Game:
    """Raise ``UnknownRules``."""
    return installed().game(request.rules_id, request.rules_version)
