"""Players for Alhambra: one looks one move ahead, one plans its whole turn, one samples what may follow."""

from __future__ import annotations

from functools import partial

from referee_clients.bots.alhambra.greedy import Greedy
from referee_clients.bots.alhambra.planner import Planner
from referee_clients.bots.alhambra.thinking import Thinking
from referee_clients.bots.sampler import Sampler

BOTS = {"greedy": Greedy, "planner": Planner, "sampler": partial(Sampler, Thinking)}
"""The bots by name, the weaker first."""
