"""Players for Alhambra, from one that knows nothing to one that plans its whole turn."""

from __future__ import annotations

from clients.bots.bot import Bot, UnknownBot, load
from clients.bots.greedy import Greedy
from clients.bots.planner import Planner
from clients.bots.random_bot import RandomBot

BOTS = ("random", "greedy", "planner")
"""Names that ``load`` knows, the weakest first."""

__all__ = ["BOTS", "Bot", "Greedy", "Planner", "RandomBot", "UnknownBot", "load"]
