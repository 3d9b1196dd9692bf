"""Players for Alhambra Roll & Write: one that looks one move ahead, one that weighs whole turns."""

from __future__ import annotations

from referee_clients.bots.rollwrite.greedy import Greedy
from referee_clients.bots.rollwrite.planner import Planner

BOTS = {"greedy": Greedy, "planner": Planner}
"""The bots by name, the weaker first."""
