"""Players for Kingdomino: one takes the most points now, one builds for those to come, one samples what may follow."""

from __future__ import annotations

from functools import partial

from referee_clients.bots.kingdomino.builder import Builder
from referee_clients.bots.kingdomino.greedy import Greedy
from referee_clients.bots.kingdomino.thinking import Thinking
from referee_clients.bots.sampler import Sampler

BOTS = {"greedy": Greedy, "builder": Builder, "sampler": partial(Sampler, Thinking)}
"""The bots by name, the weaker first."""
