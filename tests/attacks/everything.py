"""All attacks in one table."""

from __future__ import annotations

from tests.attacks.by_players import PLAYERS
from tests.attacks.by_referees import REFEREES
from tests.attacks.forge import Attacks
from tests.attacks.on_copies import COPIES
from tests.attacks.on_rules import RULES
from tests.attacks.on_tables import ON_TABLES

ATTACKS = Attacks({**COPIES, **REFEREES, **RULES, **PLAYERS, **ON_TABLES})
assert len(ATTACKS) == sum(map(len, (COPIES, REFEREES, RULES, PLAYERS, ON_TABLES)))
