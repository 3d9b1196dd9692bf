"""Damage to copies of real games; ``make attack`` leaves nothing out, tests/log/test_file.py nothing of the toy's."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from referee.games import registry
from tests.attacks.__main__ import PIECES, piece
from tests.attacks.corpus import game, small_game, whole_game
from tests.attacks.damage import Target, Wrong
from tests.attacks.everything import ATTACKS
from tests.attacks.removal import taken_away
from tests.cli.inside import referee
from tests.core import needs_source
from tests.log.games import SIGNER
from tests.sizes import Part, campaign, in_parts

NAMES = registry.names()


@in_parts(3)
@pytest.mark.parametrize("rules_id", NAMES)
def test_every_byte_of_a_small_game(rules_id: str, part: Part) -> None:
    """One bit of each, each time another."""
    target = Target(small_game(rules_id))
    for at in part.of(range(len(target.data))):
        target.flip(at * 8 + at % 8)


@in_parts(3)
@pytest.mark.parametrize("rules_id", NAMES)
def test_every_cut_length_and_splice_of_a_small_game(rules_id: str, part: Part) -> None:
    target = Target(small_game(rules_id))
    damages: list[Callable[[], None]] = [partial(target.cut, size) for size in range(len(target.data))]
    for damage in part.of([*damages, *target.lengths(), *target.splices()]):
        damage()


@in_parts(5)
@pytest.mark.parametrize("table", ["toy, aborted", "kingdomino, aborted"])
def test_every_length_and_splice_of_a_game(table: str, part: Part) -> None:
    target = Target(game(table))
    for damage in part.of([*target.lengths(), *target.splices()]):
        damage()


@pytest.mark.parametrize("places", [15, campaign(50)])
@pytest.mark.parametrize("rules_id", NAMES)
def test_whole_games(rules_id: str, places: int) -> None:
    target, rng = Target(whole_game(rules_id)), random.Random(1)
    for _ in range(places):
        target.at_random(rng)


@needs_source
def test_an_auditor_that_overlooks_damage_is_told() -> None:
    """One without checksums, and one that finds nothing missing."""
    target = Target(small_game("rollwrite"))
    with taken_away("crc"), pytest.raises(Wrong, match="turned over"):
        target.flip((target.ends[1] + 8) * 8)
    with taken_away("completeness"), pytest.raises(Wrong, match="COMPLETE, expected PREFIX"):
        target.cut(target.ends[-2])


@needs_source
def test_all_of_it_is_cut_into_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """``make attack`` cuts so: nothing is left out, and an overlooked damage comes back with its number."""
    target = Target(small_game("rollwrite"))
    everything = list(target.everything())
    monkeypatch.setattr(Target, "everything", lambda self: iter(everything[::50]))
    pieces = [piece(("rollwrite, small", number, 0, 1)) for number in range(PIECES)]
    assert (sum(done for done, _ in pieces), [failure for _, failures in pieces for failure in failures]) == (
        len(everything[::50]),
        [],
    )
    assert piece(("rollwrite, at random", 3, 2 * PIECES + 4, 1)) == (3, [])
    assert piece(("rollwrite, at random", 4, 2 * PIECES + 4, 1)) == (2, [])
    monkeypatch.setattr(Target, "everything", lambda self: iter([partial(target.cut, target.ends[-2])]))
    with taken_away("completeness"):
        (done, (failure,)) = piece(("rollwrite, small", 0, 0, 1))
    assert (done, "COMPLETE, expected PREFIX" in failure) == (1, True)


@pytest.mark.parametrize("name", ["flipped bit", "tail cut", "tail cut against a receipt", "fork", "game invented"])
def test_exit_codes(name: str, tmp_path: Path) -> None:
    """``referee audit`` exits with them."""
    table = "kingdomino, dealt"
    forgery = ATTACKS[name](table, game(table))
    assert forgery is not None
    log = tmp_path / "game.gamelog"
    log.write_bytes(forgery.data)
    words: list[str | Path] = ["--key", str(SIGNER.verifier)]
    for number, receipt in enumerate(forgery.policy.receipts):
        (tmp_path / f"receipt-{number}").write_bytes(receipt)
        words += ["--receipt", tmp_path / f"receipt-{number}"]
    for seat, key in forgery.policy.seat_keys.items():
        words += ["--seat-key", f"{seat}={key.hex()}"]
    done = referee("audit", log, *words)
    assert (done.returncode, done.stderr) == (int(forgery.verdict), "")
    assert done.stdout.startswith(forgery.verdict.name)
