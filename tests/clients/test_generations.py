"""Clients and referees of two generations of the API: each learns in plain words which side has to update."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from referee import api
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee_clients import Denied, Distrust, play_async
from referee_clients.bots import load
from referee_clients.sdk.organiser import Opened, organiser
from tests.clients.javascript import Node, ended
from tests.clients.referee_process import Referee
from tests.sizes import GATE, sample_of

CLIENT, ORGANISER = "update the client", "the organiser has to update the referee"
SILENT = "from referee import api; api.KEY = 'another'"
"""A referee from before there were generations, as far as its clients can see."""
DEAF = "; api.check_agent = lambda agent: None"
"""The referee does not get the client's generation: a proxy on the way has a user agent of its own."""


@contextmanager
def serving(folder: Path, changed: str) -> Iterator[Referee]:
    referee = Referee(folder, changed=changed)
    referee.start()
    try:
        yield referee
    finally:
        referee.stop()


@dataclass
class Other:
    """A referee of another generation."""

    referee: Referee
    number: int
    mend: str
    is_deaf: bool

    @property
    def words(self) -> str:
        """Return the message that its clients get, whichever side notices."""
        ours = f"this referee speaks version {self.number} of its API, the client version {api.GENERATION}"
        return f"{ours}: {self.mend}"


@pytest.fixture(
    scope="module",
    params=sample_of(
        [
            pytest.param((1, CLIENT, False), id="newer"),
            pytest.param((-1, ORGANISER, True), id="older, found by the client"),
            pytest.param((-1, ORGANISER, False), id="older"),
            pytest.param((1, CLIENT, True), id="newer, found by the client"),
        ],
        1,
    ),
)
def other(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Other]:
    ahead, mend, is_deaf = request.param
    number = api.GENERATION + ahead
    changed = f"from referee import api; api.GENERATION = {number}" + (DEAF if is_deaf else "")
    with serving(tmp_path_factory.mktemp("other"), changed) as referee:
        yield Other(referee, number, mend, is_deaf)


async def a_game(referee: Referee, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Open a game as a client that names no generation, and is served."""
    with monkeypatch.context() as here:
        here.setattr(api, "agent", lambda: "somebody else's")
        async with organiser(referee.address, referee.token) as organising:
            return await organising.open_game("alhambra", 2)


async def test_a_client_of_another_generation(other: Other, monkeypatch: pytest.MonkeyPatch) -> None:
    """Players and readers alike: no log is blamed, and nothing was entered."""
    opened = await a_game(other.referee, monkeypatch)
    for verifier in (opened.verifier, str(CheckpointSigner("referee.local", PrivateKey.generate()).verifier)):
        with pytest.raises(Denied) as denied:
            await play_async(opened.joins[0], load("greedy"), verifier=verifier)
        assert str(denied.value) == other.words
    if not other.is_deaf:
        async with organiser(other.referee.address, other.referee.token) as organising:
            with pytest.raises(Denied) as denied:
                await organising.game(opened.game_id)
        assert str(denied.value) == other.words
    with monkeypatch.context() as here:
        here.setattr(api, "agent", lambda: "somebody else's")
        async with organiser(other.referee.address, other.referee.token) as organising:
            assert (await organising.game(opened.game_id)).size == 1


@GATE
async def test_the_bot_in_javascript(other: Other, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = await a_game(other.referee, monkeypatch)
    code, out, err = await ended(await Node(tmp_path).bot(opened.joins[0]))
    assert (code, out, err) == (1, "", other.words + "\n")


async def test_a_referee_that_names_none_is_not_accused_without_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A contradiction of its log is shown, after the likely reason."""
    with serving(tmp_path, SILENT) as referee:
        opened = await a_game(referee, monkeypatch)
        other = str(CheckpointSigner("referee.local", PrivateKey.generate()).verifier)
        with pytest.raises(Distrust) as found:
            await play_async(opened.joins[0], load("greedy"), verifier=other)
        assert str(found.value).startswith("the referee does not say which version of its API it speaks")
        assert "UNTRUSTED_KEY" in str(found.value)


def test_both_clients_speak_the_same(tmp_path: Path) -> None:
    node = Node(tmp_path)
    said = node.command("-e", "import('./protocol.mjs').then(({ CHANNEL }) => console.log(Object.values(CHANNEL)[0]))")
    assert said.strip() == api.agent()


@pytest.mark.parametrize(
    "agent", ["", "grpc-go/1.2", "x tile-referee-api/7", "tile-referee-api/", "tile-referee-api/1234567890"]
)
def test_who_names_none_is_served(agent: str) -> None:
    api.check_agent(agent)


@pytest.mark.parametrize("agent", ["tile-referee-api/0", "tile-referee-api/7 grpc-go/1", "tile-referee-api/10"])
def test_who_names_another_is_not(agent: str) -> None:
    api.check_agent(api.agent())
    with pytest.raises(api.OtherGeneration):
        api.check_agent(f"{agent} grpc-python/1")
