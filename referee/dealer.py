"""The source of chance in a live game: a deck that is committed to before the first draw, or a scribe.

The deals of a deck are computed by ``referee.log.position``, for the table and the auditor alike; here a game is bound
to its source before it opens. Knows no game.
"""

from __future__ import annotations

import secrets

from referee.log.deck import SEED_BYTES, referee_commitment
from referee.log.v1 import log_pb2


def deal(opened: log_pb2.GameOpen) -> bytes:
    """Commit the referee to a new secret r and return it: it is known only here until the game is over."""
    secret = secrets.token_bytes(SEED_BYTES)
    opened.dealt.commitment = referee_commitment(secret)
    return secret


def declare(opened: log_pb2.GameOpen, scribe: int) -> None:
    """Have every outcome declared by this scribe, an index into the game's scribe keys."""
    opened.declared.scribe = scribe
