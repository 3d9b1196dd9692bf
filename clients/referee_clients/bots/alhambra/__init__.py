"""Players for Alhambra: one that looks one move ahead, one that plans its whole turn."""

from __future__ import annotations

from referee_clients.bots.alhambra.greedy import Greedy
from referee_clients.bots.alhambra.planner import Planner

BOTS = {"greedy": Greedy, "planner": Planner}
"""The bots by name, the weaker first."""
