"""Damage to games that are over."""

from __future__ import annotations

import sqlite3

from referee.v1 import game_pb2
from tests.attacks.database import CASES, a_signature_edited


def ending_edited(store: sqlite3.Connection, game: int, _: int) -> None:
    """The result that lists show."""
    (data,) = store.execute("SELECT data FROM closed WHERE game = ?", (game,)).fetchone()
    ended = game_pb2.Game.FromString(data)
    ended.result.scores.append(99)
    store.execute("UPDATE closed SET data = ? WHERE game = ?", (ended.SerializeToString(), game))


DAMAGE = [*(case for case in CASES if case.__name__ != "deleted_altogether"), a_signature_edited, ending_edited]
