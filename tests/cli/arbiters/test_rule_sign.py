"""``referee rule --sign``: a ruling that was prepared elsewhere is hostile until its bytes have been read."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

from referee.log.events import Author, Role
from referee.log.intent import Place, TableAct
from referee.log.v1 import log_pb2
from referee.wire import strict
from referee_clients.rulings import Prepared
from tests.cli.rule import Club, Game, declared, here
from tests.server.service.player import Play

REASON = "the fire\nalarm"


def pause() -> log_pb2.Rule:
    return log_pb2.Rule(pause=log_pb2.Pause())


def prepared(place: Place, act: TableAct | None = None, text: str = REASON, arbiter: int = 0) -> dict[str, Any]:
    return Prepared.of(place, Author(Role.ARBITER, arbiter), act or pause(), text).json()


def changed(file: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the file with another intent, of which these fields are others."""
    intent = log_pb2.Intent.FromString(b64decode(file["intent"]))
    for name, value in fields.items():
        setattr(intent, name, value)
    return {**file, "intent": b64encode(strict.encode(intent)).decode()}


@pytest.fixture(scope="module")
def game(club: Club) -> Game:
    return declared(club)


@pytest.fixture(scope="module")
def play(game: Game) -> Play:
    """The game as it stands for every test that enters nothing."""
    return game.until("place_domino")


def saved(tmp_path: Path, file: Any) -> Path:
    path = tmp_path / "ruling.json"
    path.write_bytes(file if isinstance(file, bytes) else json.dumps(file).encode())
    return path


def signing(game: Game, path: Path, *words: object, by: str = "arbiter0", typed: str = "") -> tuple[int, str, str]:
    return here("rule", "--sign", path, *game.by("arbiter", by), *words, typed=typed)


def test_what_is_signed_is_shown_and_asked(club: Club, tmp_path: Path) -> None:
    game = declared(club, "--clock", "10m")
    play = game.until("place_domino")
    place = play.record.place
    file = saved(tmp_path, prepared(place))
    code, told, error = signing(game, file, typed="n\n")
    assert (code, error) == (1, "referee: nothing was sent\n")
    shown = f'game {game.id}\narbiter 0 rules: the game is paused\nreason: "the fire alarm"\nSend this? [y/N] '
    assert told == shown
    code, told, error = signing(game, file, typed="y\n")
    assert (code, error) == (0, "")
    assert told == f"{shown}entered as entry {place.seq}\n"
    docket = here("docket", game.id, "--server", club.address)[1]
    assert f'entry {place.seq}: arbiter 0 rules: the game is paused: "the fire alarm"' in docket
    # It is entered once, however often it is tried.
    code, told, error = signing(game, file, "--yes")
    assert (code, told) == (1, "")
    assert error == f"referee: nothing was sent: this ruling is entry {place.seq} of the game already\n"


def test_both_spellings_and_a_changed_key(club: Club, tmp_path: Path) -> None:
    game = declared(club)
    play = game.until("place_domino")
    warning = log_pb2.Rule(rule_id="TBL-33", penalty=log_pb2.Penalty(seat=1))
    for word in (["--sign"], ["sign"]):
        file = saved(tmp_path, prepared(play.record.place, warning, ""))
        code, told, error = here("rule", *word, file, *game.by("arbiter", "arbiter0"), "--yes")
        assert (code, error) == (0, "")
        assert "arbiter 0 rules: player 2: a warning (TBL-33)\nentered as entry" in told
        play = game.until("place_domino")
    file = saved(tmp_path, prepared(play.record.place, warning, "", arbiter=1))
    code, _, error = here("rule", f"--sign={file}", *game.by("arbiter", "arbiter1"), "--yes")
    assert (code, error) == (0, "")
    # Seats of this game have no keys.
    play = game.until("place_domino")
    change = log_pb2.ChangeKey(seat=0, key=bytes([9]) * 32)
    code, _, error = signing(game, saved(tmp_path, prepared(play.record.place, change)), "--yes")
    assert (code, error.count("\n")) == (1, 1)
    assert "not allowed now" in error


def test_a_game_that_went_on_is_not_ruled_on(game: Game, play: Play, tmp_path: Path) -> None:
    place = play.record.place
    for file, told in (
        (prepared(Place(place.game_id, place.seq - 1, place.prev)), f"the game has moved on, to entry {place.seq - 1}"),
        (prepared(Place(place.game_id, place.seq + 1, place.prev)), f"the game has only {place.seq} entries"),
        (prepared(Place(place.game_id, place.seq, bytes(32))), "the game has another history"),
        (prepared(Place(place.game_id, 0, bytes(32))), "the game has moved on, to entry"),
    ):
        code, out, error = signing(game, saved(tmp_path, file), "--yes")
        assert (code, out, error.count("\n")) == (1, "", 1)
        assert "nothing was signed: the ruling is for entry" in error
        assert told in error
        assert "expected it prepared again" in error


def test_what_may_not_stand_is_not_signed(game: Game, play: Play, tmp_path: Path) -> None:
    place = play.record.place
    file = prepared(place)
    cases: list[tuple[dict[str, Any], str, str]] = [
        (prepared(Place(bytes(16), place.seq, place.prev)), "arbiter0", "UNKNOWN_GAME"),
        (file, "arbiter1", "not the key of arbiter 0, but that of arbiter 1"),
        (file, "seat0", "not the key of arbiter 0"),
        (prepared(place, arbiter=7), "arbiter0", "this game has no arbiter 7"),
        (prepared(place, log_pb2.Rule(resume=log_pb2.Resume())), "arbiter0", "not allowed now: "),
        (prepared(place, log_pb2.Rule(rule_id="X-1", void=log_pb2.Void())), "arbiter0", "there is no rule 'X-1'"),
    ]
    for given, by, told in cases:
        code, out, error = signing(game, saved(tmp_path, given), "--yes", by=by)
        assert (code, out, error.count("\n")) == (1, "", 1), told
        assert told in error
    assert game.until("place_domino").record.place == place, "nothing was entered"


def hostile(play: Play) -> list[tuple[Any, str]]:
    """Return contents for a file, each with the message about it."""
    place = play.record.place
    file, other = prepared(place), prepared(place, text="another")
    by_seat = {"seat": 0, "resign": log_pb2.Resign()}
    resigning = log_pb2.Intent(game_id=place.game_id, seq=place.seq, prev=place.prev, **by_seat)  # type: ignore[arg-type]
    body = b64decode(file["intent"])
    return [
        (b"", "expected a JSON object"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 70_000, "longer than 65536 bytes"),
        (b"[" * 30_000, "nested too deeply"),
        (b'{"intent": "", "intent": ""}', "duplicate key"),
        ([], "expected an object"),
        ({}, "intent is missing"),
        ({"intent": 7}, "intent: expected a string"),
        ({"intent": "\ud800"}, "intent: "),
        ({"intent": "*"}, "intent: expected base64"),
        ({"intent": file["intent"] + "\n"}, "intent: expected base64"),
        ({**file, "game": "x"}, 'unknown field "game"'),
        ({**file, "words": []}, "words: []; expected an object"),
        ({**file, "words": {"text": "x"}}, "salt is missing"),
        ({**file, "words": {**file["words"], "more": 1}}, 'words: unknown field "more"'),
        ({"intent": file["intent"]}, "commits to a reason that is not there"),
        # Words other than those that are committed to: a text that was not shown is never signed.
        ({**file, "words": other["words"]}, "a text that the entry does not commit to"),
        ({**file, "words": {**file["words"], "text": "the fire\nalarm "}}, "a text that the entry does not commit to"),
        ({**prepared(place, text=""), "words": file["words"]}, "a text"),
        ({**file, "words": {**file["words"], "salt": ""}}, "salt"),
        ({"intent": b64encode(b"").decode()}, "expected"),
        ({"intent": b64encode(body[:-1]).decode()}, "expected"),
        ({"intent": b64encode(body + b"\x00").decode()}, "expected"),
        ({"intent": b64encode(strict.encode(resigning)).decode()}, "this is an act of seat 0, and no ruling"),
        (changed(file, seat=0), "this is an act of seat 0, and no ruling"),
        (changed(file, scribe=0), "this is an act of scribe 0, and no ruling"),
    ]


def test_the_file_itself_is_read_as_hostile(game: Game, play: Play, tmp_path: Path) -> None:
    for given, told in hostile(play):
        path = saved(tmp_path, given)
        code, out, error = signing(game, path, "--yes")
        assert (code, out, error.count("\n")) == (2, "", 1), (told, error)
        assert f"{path}: nothing was signed: " in error
        assert told in error, error


def test_a_file_that_is_not_there_and_an_answer_that_is_not_given(game: Game, play: Play, tmp_path: Path) -> None:
    file = prepared(play.record.place)
    code, _, error = signing(game, tmp_path / "none.json")
    assert (code, error) == (2, f"referee: {tmp_path / 'none.json'}: No such file or directory\n")
    code, _, error = here("rule", "--sign", saved(tmp_path, file), "--key", game.club.keys["arbiter0"])
    assert (code, error.count("\n")) == (2, 1)
