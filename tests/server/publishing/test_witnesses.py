"""Witnesses that are honest, away, set back, and worse: which of them count, and that no commit waits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import pytest
from structlog.testing import capture_logs

from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner, TreeHead
from referee.log.public.checkpoint import LogPolicy, Peer, open_log_checkpoint
from referee.log.public.sources import CHECKPOINT
from referee.server.publishing import witnesses
from referee.server.publishing.sequencer import NoQuorum, Sequencer, WentBack
from referee.server.publishing.witnesses import Outcome
from tests.server.publishing.club import LOG, SIGNER, opened, policy, published, sequencer
from tests.server.publishing.witness import Answer, SmallWitness, dripping, serving
from tests.server.store.memory import MemoryStore
from tests.waiting import MOST_S, until


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No witness is late because the machine is slow: only those that a test means to be."""
    monkeypatch.setattr(witnesses, "PATIENCE_S", MOST_S)
    monkeypatch.setattr(witnesses, "GRACE_S", MOST_S)


@pytest.fixture
def pair() -> Iterator[tuple[SmallWitness, SmallWitness]]:
    with ExitStack() as stack:
        yield (
            stack.enter_context(serving(SmallWitness("w1.example"))),
            stack.enter_context(serving(SmallWitness("w2.example"))),
        )


class Club:
    """A log with two witnesses, in a folder of its own."""

    def __init__(self, folder: Path, trusted: LogPolicy) -> None:
        self.folder, self.trusted = folder, trusted
        self.store = MemoryStore()
        self.log = self.again()
        self._games = 0

    def again(self) -> Sequencer:
        """Return the log as the next start finds it."""
        self.log = sequencer(self.store, self.folder, self.trusted)
        return self.log

    async def round(self) -> set[str]:
        """Open a game; return who has signed for it."""
        await opened(self.store, self._games)
        self._games += 1
        await self.log.round()
        found = published(self.folder, self.trusted)
        assert found.head.size == self._games
        return {*found.cosigned}

    def outcomes(self, name: str) -> dict[str, int]:
        assert self.log.witnesses is not None
        return {outcome.value: count for (who, outcome), count in self.log.witnesses.outcomes.items() if who == name}


@pytest.fixture
async def club(tmp_path: Path, pair: tuple[SmallWitness, SmallWitness]) -> AsyncIterator[Club]:
    made = Club(tmp_path / "log", policy({"w1": pair[0], "w2": pair[1]}))
    yield made
    await made.log.stop()


def _olds(witness: SmallWitness) -> list[bytes]:
    return [request.partition(b"\n")[0] for request in witness.requests]


async def test_each_is_shown_how_the_log_grew_since_it_last_signed(
    club: Club, pair: tuple[SmallWitness, SmallWitness]
) -> None:
    assert [await club.round() for _ in range(3)] == [{"w1", "w2"}] * 3
    assert _olds(pair[0]) == _olds(pair[1]) == [b"old 0", b"old 1", b"old 2"]
    await club.log.stop()
    await club.again().start()
    await club.round()
    assert _olds(pair[0])[3:] == [b"old 0", b"old 3"], "it is asked what it has seen, and then shown the rest"
    assert pair[0].size == 4


async def test_an_empty_log_is_signed_by_its_witnesses_and_goes_on_from_there(
    club: Club, pair: tuple[SmallWitness, SmallWitness]
) -> None:
    pair[0].answer = pair[1].answer = lambda _: (500, b"")
    await club.log.start()
    with pytest.raises(NoQuorum):
        await club.log.round()
    note = (club.folder / CHECKPOINT).read_bytes()
    witnessed = open_log_checkpoint(note, club.trusted)
    assert (witnessed.head.size, {*witnessed.cosigned}) == (0, set()), "whoever looks sees that no witness has signed"
    await club.log.stop()
    pair[0].answer, pair[1].answer = pair[0].honest, pair[1].honest
    await club.again().start()
    await club.log.round()
    assert {*published(club.folder, club.trusted).cosigned} == {"w1", "w2"}
    assert await club.round() == {"w1", "w2"}


async def test_one_that_was_away_or_set_back_is_shown_all_that_it_lacks(
    club: Club, pair: tuple[SmallWitness, SmallWitness]
) -> None:
    await club.round()
    size, root = pair[0].size, pair[0].root
    pair[0].answer = lambda _: (500, b"")
    assert await club.round() == {"w2"}
    pair[0].answer = pair[0].honest
    assert await club.round() == {"w1", "w2"}
    pair[0].size, pair[0].root = size, root
    assert await club.round() == {"w1", "w2"}
    assert _olds(pair[0])[-2:] == [b"old 3", b"old 1"]


async def test_without_a_quorum_the_old_checkpoint_stays_and_the_next_round_tries_again(
    tmp_path: Path, pair: tuple[SmallWitness, SmallWitness]
) -> None:
    club = Club(tmp_path / "log", policy({"w1": pair[0], "w2": pair[1]}, "all"))
    await club.round()
    before = (club.folder / CHECKPOINT).read_bytes()
    pair[1].answer = lambda _: (500, b"")
    with pytest.raises(NoQuorum, match="w1 signed; expected the quorum quorum"):
        await club.round()
    assert (club.folder / CHECKPOINT).read_bytes() == before
    assert club.log.size == 2, "tiles may be ahead"
    pair[1].answer = pair[1].honest
    assert await club.round() == {"w1", "w2"}
    await club.log.stop()


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ((404, b""), Outcome.UNKNOWN),
        ((403, b""), Outcome.KEY),
        ((422, b""), Outcome.FORKED),
        ((400, b"bad"), Outcome.GARBAGE),
        ((409, b"many\n"), Outcome.GARBAGE),
        ((409, b"9" * 40), Outcome.GARBAGE),
        ((409, b"0\n"), Outcome.GARBAGE),
        ((409, b"999999999\n"), Outcome.CLAIMED),
        ((200, b""), Outcome.GARBAGE),
        ((200, b"\xff\xfe"), Outcome.GARBAGE),
        ((200, b"\xe2\x80\x94 w1.example AAAA\n"), Outcome.GARBAGE),
        ((200, b"x" * 10_000_000), Outcome.GARBAGE),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_what_is_no_cosignature_does_not_count(
    club: Club, pair: tuple[SmallWitness, SmallWitness], answer: Answer, outcome: Outcome
) -> None:
    pair[0].answer = lambda _: answer
    assert await club.round() == {"w2"}
    assert club.outcomes("w1") == {outcome.value: 1}
    assert club.outcomes("w2") == {"cosigned": 1}


async def test_a_line_by_another_key_or_over_another_text_does_not_count(
    club: Club, pair: tuple[SmallWitness, SmallWitness]
) -> None:
    def text(body: bytes) -> str:
        return body.partition(b"\n\n")[2].partition(b"\n\n")[0].decode() + "\n"

    wrong = [
        lambda body: (200, pair[0].line(text(body), PrivateKey.generate())),
        lambda body: (200, pair[0].line(text(body).replace("\n2\n", "\n3\n"))),
        lambda body: (200, pair[1].line(text(body))),
    ]
    for each in wrong:
        pair[0].answer = each
        assert await club.round() == {"w2"}
    assert club.outcomes("w1") == {"garbage": 3}
    evil = b"evil\n\n"

    def longer(body: bytes) -> Answer:
        return 200, evil + pair[0].line(f"{text(body)}\n{evil.decode()[:-1]}")

    pair[0].answer = longer
    assert await club.round() == {"w2"}, "a text that it made longer"
    assert club.outcomes("w1") == {"garbage": 4}
    other = SmallWitness("w9.example")
    pair[0].answer = lambda body: (200, other.line(text(body)) + pair[0].line(text(body)))
    assert await club.round() == {"w1", "w2"}, "further lines do no harm"
    assert b"w9.example" not in (club.folder / CHECKPOINT).read_bytes()


async def test_a_fork_is_signed_by_no_honest_witness_and_not_published(
    tmp_path: Path, pair: tuple[SmallWitness, SmallWitness]
) -> None:
    trusted = policy({"w1": pair[0], "w2": pair[1]})
    club = Club(tmp_path / "log", trusted)
    await club.round()
    await club.log.stop()
    fork = Club(tmp_path / "fork", trusted)
    fork._games = 10
    await opened(fork.store, 9)
    await opened(fork.store, 10)
    with pytest.raises(WentBack, match=r"witness w[12] shows a checkpoint of this log of size 1, and the database has"):
        await fork.log.round()
    assert fork.outcomes("w1") == fork.outcomes("w2") == {"ahead": 1}
    assert not (fork.folder / CHECKPOINT).exists()
    await fork.log.stop()


async def test_one_for_which_there_was_no_thread_is_asked_again(club: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    start = Thread.start

    def full(thread: Thread) -> None:
        if thread.name == "witness":
            monkeypatch.undo()
            raise RuntimeError("can't start new thread")
        start(thread)

    await club.round()
    monkeypatch.setattr(Thread, "start", full)
    assert await club.round() == {"w2"}
    assert await club.round() == {"w1", "w2"}
    assert club.outcomes("w1") == {"cosigned": 2, "silent": 1}


async def test_one_that_drips_its_answer_holds_up_nobody(
    tmp_path: Path, pair: tuple[SmallWitness, SmallWitness], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither those who play, as all of it is beside the event loop, nor the quorum: after the first time, when it may
    know of more, only for a moment."""
    monkeypatch.setattr(witnesses, "PATIENCE_S", 5.0)
    monkeypatch.setattr(witnesses, "GRACE_S", 0.05)
    with dripping() as url:
        trusted = policy({"w1": pair[0], "w2": pair[1]})
        slow = Peer(trusted.witnesses["w1"].key, url)
        club = Club(tmp_path / "log", LogPolicy(trusted.logs, {**trusted.witnesses, "w1": slow}, "w2"))
        assert await club.round() == {"w2"}
        began = monotonic()
        for _ in range(3):
            assert await club.round() == {"w2"}
        assert monotonic() - began < 3 * witnesses.PATIENCE_S, "it was not waited for three times"
        await club.log.stop()


async def test_that_one_has_seen_more_is_not_forgotten_when_it_says_so_late(
    tmp_path: Path, pair: tuple[SmallWitness, SmallWitness], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Event()

    def late(_: bytes) -> Answer:
        told.wait(MOST_S)
        return 409, b"77\n"

    monkeypatch.setattr(witnesses, "GRACE_S", 0.01)  # from the second time on
    club = Club(tmp_path / "log", policy({"w1": pair[0], "w2": pair[1]}))
    await club.round()
    pair[0].answer, pair[0].shown = late, SIGNER.sign_head(TreeHead(LOG, 77, bytes(32)))
    assert await club.round() == {"w2"}
    told.set()
    club.log.begin()
    await until(lambda: club.log.halted, "it halts")
    assert "witness w1 shows a checkpoint of this log of size 77" in club.log.halted
    await club.log.stop()


@pytest.mark.parametrize("answer", [(409, b"999999999\n"), (422, b"")], ids=["more", "forked"])
@pytest.mark.parametrize(
    "shown",
    [
        b"",
        b"no note",
        CheckpointSigner(LOG, PrivateKey(bytes([1]) * 32)).sign_head(TreeHead(LOG, 77, bytes(32))),
        SIGNER.sign_head(TreeHead("another.example/log", 77, bytes(32))),
    ],
    ids=["nothing", "garbage", "another key", "another log"],
)
async def test_a_claim_that_the_logs_key_did_not_sign_halts_nothing(
    club: Club, pair: tuple[SmallWitness, SmallWitness], answer: Answer, shown: bytes
) -> None:
    """The quorum has signed. The witness is named, and its operator is to be asked; no repair is advised."""
    pair[0].answer, pair[0].shown = (lambda _: answer), shown
    assert await club.round() == {"w2"}
    assert await club.round() == {"w2"}
    assert not club.log.halted
    assert club.outcomes("w1").keys() == {"claimed" if answer[0] == 409 else "forked"}


async def test_one_of_three_that_lies_stops_nothing(tmp_path: Path, pair: tuple[SmallWitness, SmallWitness]) -> None:
    """The quorum is two: the lie does not stop the log at once, nor at the next start. The operator learns the name."""
    with serving(SmallWitness("w3.example")) as liar:
        liar.answer = lambda _: (409, b"999999999\n")
        club = Club(tmp_path / "log", policy({"w1": pair[0], "w2": pair[1], "w3": liar}, "2"))
        with capture_logs() as told:
            assert await club.round() == {"w1", "w2"}
            await club.log.stop()
            await club.again().start()
            assert await club.round() == {"w1", "w2"}
            await club.log.stop()
    assert not club.log.halted
    wrong = [each for each in told if each["log_level"] == "error"]
    assert [(each["event"], each["witness"], each["outcome"]) for each in wrong] == [
        ("witness refuses", "w3", "claimed")
    ] * 2
    assert all("ask its operator, or take it out of the policy" in each["why"] for each in wrong)
    assert "recover" not in str(told)


@pytest.mark.parametrize("answer", [(409, b"999999999\n"), (422, b"")], ids=["more", "forked"])
async def test_a_checkpoint_of_another_history_halts_the_log(
    club: Club, pair: tuple[SmallWitness, SmallWitness], answer: Answer
) -> None:
    """With fewer leaves than there are: the log's own key has signed two histories."""
    await club.round()
    pair[0].answer, pair[0].shown = (lambda _: answer), SIGNER.sign_head(TreeHead(LOG, 1, bytes(32)))
    with pytest.raises(WentBack, match="witness w1 shows a checkpoint of this log of size 1, and"):
        await club.round()


async def test_a_witness_that_shows_an_older_checkpoint_has_proved_nothing(
    club: Club, pair: tuple[SmallWitness, SmallWitness]
) -> None:
    await club.round()
    pair[0].answer = lambda _: (409, b"999999999\n")
    assert await club.round() == {"w2"}
    assert club.outcomes("w1") == {"cosigned": 1, "claimed": 1}
