"""The check finds what it is made to find: one broken history of each kind."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest

from referee.log.entry import decode_entry
from referee.log.replay import signed_part
from tests.rig.check import check
from tests.rig.history import Act, History, Outcome
from tests.rig.referee import running
from tests.rig.run import Report, rig

Break = Callable[[History, list[bytes]], None]


@pytest.fixture(scope="module")
async def played(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Return a game with a clean history."""
    with running(tmp_path_factory.mktemp("check")) as referee:
        async with rig(referee) as rigged:
            return await rigged.planned("clean", [lambda *_: None] * 3)


def accepted(history: History) -> list[Act]:
    return [act for act in history.acts if act.outcome is Outcome.ACCEPTED]


def lost(history: History, entries: list[bytes]) -> None:
    """The log ends before an act that was acknowledged."""
    del entries[max(act.seq or 0 for act in accepted(history)) :]


def lost_in_the_middle(history: History, entries: list[bytes]) -> None:
    del entries[accepted(history)[10].seq or 0]


def doubled(history: History, entries: list[bytes]) -> None:
    entries.append(entries[accepted(history)[10].seq or 0])


def elsewhere(history: History, entries: list[bytes]) -> None:
    accepted(history)[10].seq = 3


def voided(history: History, entries: list[bytes]) -> None:
    """The client learned that it is not in the log."""
    accepted(history)[10].answer(Outcome.VOID)


def nobodys(history: History, entries: list[bytes]) -> None:
    """A damaged act became an entry."""
    intent = accepted(history)[10].intent
    history.acts = [act for act in history.acts if act.intent != intent]


def late(history: History, entries: list[bytes]) -> None:
    """An act was made after a later one was acknowledged."""
    # Clients act at the same time, so the next act need not stand later; and one act can be answered twice.
    first = accepted(history)[10]
    second = next(act for act in accepted(history) if (act.seq or 0) > (first.seq or 0))
    assert second.answered_ns is not None
    first.invoked_ns, first.answered_ns = second.answered_ns + 1, second.answered_ns + 2


def refused_for_nothing(history: History, entries: list[bytes]) -> None:
    """A legal move was refused."""
    act = accepted(history)[10]
    entries[:] = entries[: act.seq]
    history.acts = [one for one in history.acts if one.seq is None or one.seq < (act.seq or 0)]
    history.streams = []
    history.acts.append(Act(act.client, act.intent, 0, Outcome.REFUSED, 1, None, ("ALH-C1",)))


def refused_and_entered(history: History, entries: list[bytes]) -> None:
    act = accepted(history)[10]
    history.acts.append(Act(act.client, act.intent, 0, Outcome.REFUSED, 1, None, ("ALH-C1",)))


def refused_too_late(history: History, entries: list[bytes]) -> None:
    """A refusal for a state that the log never reached."""
    act = accepted(history)[-1]
    del entries[(act.seq or 0) - 1 :]
    history.acts, history.streams = [], []
    history.acts.append(Act(act.client, act.intent, 0, Outcome.REFUSED, 1, None, ("ALH-C1",)))


def gap(history: History, entries: list[bytes]) -> None:
    del history.streams[0].entries[5]


def repeat(history: History, entries: list[bytes]) -> None:
    stream = history.streams[0]
    stream.entries.insert(5, stream.entries[5])


def reorder(history: History, entries: list[bytes]) -> None:
    stream = history.streams[0].entries
    stream[5], stream[6] = stream[6], stream[5]


def another_resume_point(history: History, entries: list[bytes]) -> None:
    history.streams[0].resume = 0


def back(history: History, entries: list[bytes]) -> None:
    seqs = history.streams[0].seqs
    seqs[5] = seqs[-1]


def promised(history: History, entries: list[bytes]) -> None:
    """A stream says that it is further than what it sent."""
    history.streams[0].seqs[-1] += 1


def test_the_history_of_a_good_game(played: Report) -> None:
    assert check(played.history, played.log) == []
    assert len(accepted(played.history)) > 60
    assert len(played.history.streams) == 6
    assert sum(signed_part(decode_entry(data)) is not None for data in played.log) > 60


def test_what_is_sent_again_was_made_when_it_was_first_sent(played: Report) -> None:
    """The other player may have moved between the two: the second copy gets the first one's entry."""
    history = deepcopy(played.history)
    first = accepted(history)[10]
    again = history.act(first.client, first.intent)
    again.answer(Outcome.ACCEPTED, first.seq)
    assert check(history, played.log) == []
    again.invoked_ns = again.answered_ns or 0
    assert "was acknowledged" in check(history, played.log)[0]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lost, "accepted as"),
        (lost_in_the_middle, "does not follow"),
        (doubled, "one act is several entries"),
        (elsewhere, "accepted as 3, stands at"),
        (voided, "told that it is not in the log"),
        (nobodys, "nobody made"),
        (late, "was acknowledged"),
        (refused_for_nothing, "refused for ('ALH-C1',), breaks ()"),
        (refused_and_entered, "refused, stands at"),
        (refused_too_late, "which the log has not reached"),
        (gap, "is not the log's"),
        (repeat, "is not the log's"),
        (reorder, "is not the log's"),
        (another_resume_point, "is not the log's"),
        (back, "goes back"),
        (promised, "is told after"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_history_is_found(played: Report, broken: Break, said: str) -> None:
    history, entries = deepcopy(played.history), list(played.log)
    broken(history, entries)
    findings = check(history, entries)
    assert any(said in finding for finding in findings), findings
