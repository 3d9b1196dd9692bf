"""All attacks in one table."""

from __future__ import annotations

from tests.attacks.by_players import PLAYERS
from tests.attacks.by_referees import REFEREES
from tests.attacks.forge import Attacks
from tests.attacks.on_copies import COPIES

ATTACKS = Attacks({**COPIES, **REFEREES, **PLAYERS})
assert len(ATTACKS) == len(COPIES) + len(REFEREES) + len(PLAYERS)
