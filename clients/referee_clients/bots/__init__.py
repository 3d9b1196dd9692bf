"""Players: one that plays every game at random, and for each game a package with better ones in ``BOTS``."""

from __future__ import annotations

from referee_clients.bots.bot import Bot, MakeBot, UnknownBot, load, maker, names

__all__ = ["Bot", "MakeBot", "UnknownBot", "load", "maker", "names"]
