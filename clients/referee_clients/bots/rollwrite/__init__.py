"""Players for Alhambra Roll & Write: one looks one move ahead, one weighs whole turns, one samples what may follow."""

from __future__ import annotations

from functools import partial

from referee_clients.bots.rollwrite.greedy import Greedy
from referee_clients.bots.rollwrite.planner import Planner
from referee_clients.bots.rollwrite.thinking import Thinking
from referee_clients.bots.sampler import Sampler

BOTS = {"greedy": Greedy, "planner": Planner, "sampler": partial(Sampler, Thinking)}
"""The bots by name, the weaker first."""
