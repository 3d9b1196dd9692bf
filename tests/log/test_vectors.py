"""The vectors of docs/log-format.md: code, files and document agree, and a second verifier reads what we write."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from referee.log.errors import Code
from referee.log.verdict import Verdict
from tests.log import evil, games, second, toy
from tests.log import format_vectors as vectors
from tests.log.alhambra import alhambra, at_random
from tests.log.games import SIGNER, Played, play, start
from tests.log.record import KINDS

DOCUMENT = Path(__file__).parents[2] / "docs" / "log-format.md"


@pytest.mark.parametrize("name", vectors.ALL)
def test_code_gives_the_files(name: str) -> None:
    kept = json.loads((vectors.FOLDER / f"{name}.json").read_text())
    assert json.loads(json.dumps(vectors.ALL[name]())) == kept


def test_document_gives_the_same_figures() -> None:
    expected = vectors.quoted()
    found = dict(re.findall(r"^([a-z_]+\.[^=\n]+?) = (.*)$", DOCUMENT.read_text(), re.MULTILINE))
    # A label that holds "n=54" has an equals sign of its own.
    labels = dict(re.findall(r"^(deck\.\S+ n=\d+) = (.*)$", DOCUMENT.read_text(), re.MULTILINE))
    assert {**{k: v for k, v in found.items() if not k.endswith(" n")}, **labels} == expected


def test_document_names_every_code_and_verdict() -> None:
    text = DOCUMENT.read_text()
    for code in Code:
        assert f"`{code}`" in text, code
    for verdict in Verdict:
        assert re.search(rf"\| {int(verdict)} \| {verdict.name} ", text), verdict


def test_document_shows_the_checkpoint() -> None:
    assert vectors.checkpoint()["note"] in DOCUMENT.read_text()


def test_the_file_of_the_vectors_is_complete() -> None:
    played = vectors.game()
    report = played.audit()
    assert report.verdict is Verdict.COMPLETE, report.as_text()


# --- the second verifier ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_second_verifier_accepts_what_we_write(kind: dict[str, Any]) -> None:
    played = play(start(**kind))
    verifier = second.Verifier(played.file(), str(SIGNER.verifier))
    assert verifier.game_id == played.record.game_id
    assert len(verifier.entries) == len(played.entries)
    if played.record.game.deal.is_dealt:
        assert verifier.deck is not None
        order = second.permutation(verifier.deck, "shuffle/cards/0", len(toy.CARDS))
        assert [card[0] for card in verifier.outcomes] == [toy.CARDS[i] for i in order][: len(verifier.outcomes)]


def test_second_verifier_finds_alhambras_tiles_in_the_deck() -> None:
    """Tiles of the market in the order of ``shuffle/tiles/0``, read without any of our code."""
    played = play(alhambra(seats=3), at_random(3))
    verifier = second.Verifier(played.file(), str(SIGNER.verifier))
    assert verifier.deck is not None
    names = [name.decode() for name in second.fields(verifier.opened[5][0])[1]]
    order = [names[i] for i in second.permutation(verifier.deck, "shuffle/tiles/0", 54)]
    drawn = []
    for outcome in verifier.outcomes:
        for member in second.fields(outcome).get(2, []):
            drawn += [name.decode() for name in second.fields(member).get(1, [])]
    assert len(drawn) > 8
    assert drawn == order[: len(drawn)]


def test_second_verifier_finds_alhambras_first_hand() -> None:
    """Cards by ``shuffle/money/0``; the canonical list holds each of the 36 kinds three times."""
    played = play(alhambra(seats=3), at_random(3))
    verifier = second.Verifier(played.file(), str(SIGNER.verifier))
    assert verifier.deck is not None
    cards = [kind for kind in range(36) for _ in range(3)]
    order = [cards[i] for i in second.permutation(verifier.deck, "shuffle/money/0", 108)]
    drawn = []
    for outcome in verifier.outcomes:
        for hand in second.fields(outcome).get(3, []):
            for card in second.fields(hand)[2]:
                currency, value = second.fields(card)[1][0], second.fields(card)[2][0]
                drawn.append((currency - 1) * 9 + value - 1)
    assert len(drawn) >= 9
    assert drawn == order[: len(drawn)]


def test_both_verifiers_name_the_same_entry() -> None:
    played = play(start())
    for at in range(1, len(played.entries) - 1):
        leaves = list(played.entries)
        leaves[at], leaves[at + 1] = leaves[at + 1], leaves[at]
        agree(played, evil.signed_file(played, leaves))
        agree(played, evil.signed_file(played, [*played.entries[:at], *played.entries[at + 1 :]]))
        changed = evil.entries(played)
        if changed[at].HasField("signed"):
            changed[at].signed.signature = bytes(64)
            agree(played, evil.signed_file(played, evil.relinked(changed)))


def agree(played: Played, data: bytes) -> None:
    report = played.audit(data)
    with pytest.raises(second.Refused) as caught:
        second.Verifier(data, str(SIGNER.verifier))
    named = {finding.entry for finding in report.findings}
    assert caught.value.entry in named, report.as_text()


def test_second_verifier_refuses_other_keys_and_damage() -> None:
    played = games.abort(start())
    with pytest.raises(second.Refused):
        second.Verifier(played.file(), vectors.keys()["referee_verifier_key"])
    data = played.file()
    for at in range(0, len(data), 37):
        with pytest.raises(second.Refused):
            second.Verifier(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], str(SIGNER.verifier))
