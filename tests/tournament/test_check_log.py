"""``referee event check --log-policy``: an event and its games in the public log, and a game that is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.log.note import Checkpoint
from referee.tournament.game_logs import audit_alone
from tests.cli.audit_log import Log
from tests.cli.inside import referee
from tests.log.games import SIGNER
from tests.log.public.logs import policy_text
from tests.log.verifier import verify
from tests.log.verify_js import why_not
from tests.tournament.check import POLICY, with_games

FILES = ("two.eventlog", "1.gamelog", "2.gamelog")


class Place:
    """An event with two games, and the proofs of all three beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = with_games(folder)
        heads = [audit_alone(folder / name, POLICY).head for name in FILES]
        log = Log(*(head for head in heads if head is not None))
        for number, name in enumerate(FILES):
            (folder / name).with_suffix(".tlog-proof").write_bytes(log.proof(200 + number, "w1", "w2"))
        self.beside = self.file.with_suffix(".tlog-proof")
        (folder / "policy").write_text(policy_text("2"))

    def check(self, *more: str | Path) -> tuple[int, str, str]:
        words = ["--key", str(SIGNER.verifier), "--games", self.folder, "--games-key", str(SIGNER.verifier)]
        done = referee("event", "check", self.file, *words, *more)
        return done.returncode, done.stdout, done.stderr

    def with_log(self, *more: str) -> tuple[int, str]:
        code, text, said = self.check("--log-policy", self.folder / "policy", *more)
        assert said == ""
        return code, text


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_the_log_has_is_counted(place: Place) -> None:
    code, text = place.with_log("--require-log")
    assert (code, text.splitlines()[0]) == (0, "COMPLETE")
    assert "results: 2 with an audited log, 2 of which the public log has" in text
    assert "as entry 200 of referee.example/log, cosigned by w1, w2, by a quorum at 2026-11-18 11:07:40 UTC" in text
    assert "public log" not in place.check()[1], "nobody asked"


def test_a_game_that_is_not_there_is_named(place: Place) -> None:
    (place.folder / "2.tlog-proof").unlink()
    code, text = place.with_log()
    assert (code, text.splitlines()[0]) == (0, "COMPLETE")
    assert "results: 2 with an audited log, 1 of which the public log has" in text
    code, text = place.with_log("--require-log")
    why = "nothing shows that the file's last head is in the public log: no proof was given"
    assert text.splitlines()[:2] == ["UNLOGGED", f"  round 1, table 2: 2.gamelog: {why}"]
    assert code == 13
    value = json.loads(place.with_log("--require-log", "--json")[1])
    assert (value["verdict"], value["results"]["logged"], len(value["unlogged"])) == ("UNLOGGED", 1, 1)


def test_an_event_that_is_not_there_is_unlogged(place: Place) -> None:
    place.beside.unlink()
    code, text = place.with_log()
    assert (code, "comment: nothing shows that the file's last head is in the public log" in text) == (0, True)
    code, text = place.with_log("--require-log")
    assert (code, text.splitlines()[0]) == (13, "UNLOGGED")


def test_another_history_of_a_game_in_the_log_is_told(place: Place) -> None:
    head = audit_alone(place.folder / "1.gamelog", POLICY).head
    assert head is not None
    other = Log(Checkpoint(head.origin, head.game_id, head.size, bytes(32)))
    (place.folder / "1.tlog-proof").write_bytes(other.proof(200, "w1", "w2", extra=True))
    code, text = place.with_log()
    assert (code, "round 1, table 1: 1.gamelog: the game does not audit: FORK" in text) == (8, True)


def test_what_is_worse_than_unlogged_comes_first(place: Place) -> None:
    data = bytearray((place.folder / "1.gamelog").read_bytes())
    data[len(data) // 2] ^= 1
    (place.folder / "1.gamelog").write_bytes(data)
    place.beside.unlink()
    assert place.with_log("--require-log")[0] == 8


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (("--require-log",), "--require-log needs --log-policy"),
        (("--log-policy", "nowhere"), "--log-policy nowhere: No such file"),
    ],
)
def test_wrong_words_are_one_line(place: Place, more: tuple[str, ...], expected: str) -> None:
    code, _, said = place.check(*more)
    assert (code, expected in said) == (2, True)


def test_a_document_is_in_no_log(place: Place) -> None:
    document = place.folder / "two.json"
    document.write_text("{}")
    done = referee("event", "check", document, "--log-policy", place.folder / "policy")
    assert (done.returncode, "a document is not signed, so no log has it; expected an .eventlog" in done.stderr) == (
        2,
        True,
    )


def test_the_verifier_in_javascript_says_the_same_of_the_event(place: Place) -> None:
    if why := why_not():
        pytest.skip(why)
    words = [str(place.file), "--key", str(SIGNER.verifier), "--log-policy", str(place.folder / "policy")]
    for more, code in ((("--require-log",), 0), ((), 0), (("--require-log",), 13)):
        assert verify(*words, *more).returncode == code
        assert place.with_log(*more)[0] == code
        place.beside.unlink(missing_ok=True)
