"""The games themselves: files that hold, and everything of the closed lists in them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from referee.games import registry
from referee.games.game import Ending
from referee.games.results import Contest
from referee.log.entry import decode_entry
from referee.log.replay import Record
from tests.contested.campaign import sampled
from tests.contested.contents import EVERYWHERE, contents
from tests.contested.games import ENDINGS, RULES, game, kept, sample
from tests.endings import CONSEQUENCES
from tests.sizes import sample_of

EACH = pytest.mark.parametrize("rules_id", sample_of(registry.names(), 1))
NUMBERS = [n for n in range(2 * len(ENDINGS)) if ENDINGS[n % len(ENDINGS)] != RULES or n % len(ENDINGS) < 4]
"""Games with every ending, entered and held; not all of those that are played to the end by the rules."""
AT_ONCE = {Ending.ABORTED, Ending.REFEREE_FAULT}
"""Endings without a time for protests: they are entered at once."""
WAIVED = {
    "alhambra": {"ALH-A2", "ALH-A4"},
    "kingdomino": {"KDO-13", "KDO-14"},
    "rollwrite": {"RNW-10"},
}
"""Rules that accepted moves break; ALH-A5 and ALH-A6 are too rare for so few games."""


@EACH
def test_everything_occurs(rules_id: str) -> None:
    """Every kind of entry, every ruling, every ending of the closed list: entered, and held where it can be."""
    found: Counter[str] = Counter()
    for number in NUMBERS:
        found.update(contents(kept(rules_id, number)))
    endings = [Ending(number) for number in CONSEQUENCES]
    entered = {f"{ending.name} entered" for ending in endings}
    held = {f"{ending.name} held" for ending in endings if ending not in AT_ONCE}
    waived = {f"accepted {rule_id}" for rule_id in WAIVED[rules_id]}
    back = {f"back by {kind}" for kind in ("restore", "correct", "consent")}
    missing = (EVERYWHERE | entered | held | waived | back | {"accepted, taken back", "left unfinished"}) - found.keys()
    assert not missing


@EACH
def test_games_are_played(rules_id: str) -> None:
    """Most games last long: moves are made, rounds are scored, kingdoms grow."""
    made = sample(rules_id, 6)
    most = sorted(max(len(truth.events) for truth in each.truth) for each in made)
    assert most[2] > 20
    assert sum(truth.brings for each in made for truth in each.truth) > 300


@EACH
def test_truth_fits_together(rules_id: str) -> None:
    """The truth of each entry fits that of the others, and the bytes."""
    for made in sample(rules_id, 4):
        taken = {seq for truth in made.truth for seq in truth.takes_back}
        assert [seq for seq, truth in enumerate(made.truth) if not truth.stands] == sorted(taken)
        assert [decode_entry(data).state_digest for data in made.entries] == [truth.digest for truth in made.truth]
        assert Record.replay(made.entries).root() == made.played.record.root()
        for before, after in pairwise(made.truth):
            if after.brings:
                assert after.events[:-1] == before.events
            elif after.back_to is None:
                assert after.events == before.events
            else:
                assert after.events == made.truth[after.back_to].events


def test_a_number_is_one_game() -> None:
    assert game("kingdomino", 3).data == kept("kingdomino", 3).data != game("kingdomino", 4).data


@EACH
def test_results_follow_from_what_happened(rules_id: str) -> None:
    """``Contest`` gives the result from the position, the seats out and the points taken off, unless a ruling did."""
    ruled = (Ending.ADJUDICATED, Ending.VOIDED, Ending.ABORTED, Ending.REFEREE_FAULT)
    for made in sample(rules_id, 6):
        for seq in sampled(len(made.truth), 25):
            truth = made.truth[seq]
            if truth.is_ended or (truth.result is not None and truth.result.ending in ruled):
                continue
            if truth.out or any(truth.points_off) or truth.result is not None:
                contest = Contest(out=dict(truth.out), points_off=truth.points_off)
                found = contest.result(len(made.opened.seats), made.position(seq).pending())
                assert found == truth.result, f"{made}, after entry {seq}"
