"""Players for Kingdomino: one that takes the most points now, one that builds for those to come."""

from __future__ import annotations

from referee_clients.bots.kingdomino.builder import Builder
from referee_clients.bots.kingdomino.greedy import Greedy

BOTS = {"greedy": Greedy, "builder": Builder}
"""The bots by name, the weaker first."""
