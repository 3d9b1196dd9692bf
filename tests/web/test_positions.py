"""The browser's decoders of positions: what they read is what the referee's state says, and they read nothing else."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from referee.games import registry
from referee.games.kingdomino.options import Options as Kingdomino
from referee.games.rollwrite.options import Options as Rollwrite
from referee.games.rollwrite.options import Solo
from referee.log import file
from referee.log.entry import decode_entry
from referee.log.file import FrameType
from referee.log.replay import Record
from tests.log.verify_js import NAMES, why_not
from tests.sizes import Part, in_parts
from tests.web.described import described
from tests.web.positions import at_random
from tests.web.static import run

LOGS = sorted((Path(__file__).parents[1] / "frozen").glob("*.gamelog"))
# Answers a list of [rules, hex] with a list of positions as JSON, or null for what is malformed. Anything else that is
# thrown ends the process.
_DECODE = """
import { readFileSync } from "node:fs";
const { decoderOf, Malformed } = await import(`${STATIC}/positions/reader.mjs`);
const read = async ([rules, digits]) => {
  const decode = await decoderOf(rules);
  try {
    return decode(new Uint8Array(Buffer.from(digits, "hex")));
  } catch (error) {
    if (error instanceof Malformed && error.code === "MALFORMED") return null;
    throw error;
  }
};
console.log(JSON.stringify(await Promise.all(JSON.parse(readFileSync(0)).map(read))));
"""
Bytes = tuple[str, bytes]


@pytest.fixture(autouse=True)
def _node() -> None:
    if why := why_not():
        pytest.skip(why)


def decoded(positions: list[Bytes]) -> list[Any]:
    """Decode the positions in one process; None for those that it refuses."""
    return list(run(_DECODE, [[rules_id, data.hex()] for rules_id, data in positions]))


def replayed(log: Path) -> Iterator[tuple[str, Any]]:
    """Yield every position of a log, with the rules."""
    with log.open("rb") as stream:
        entries = [frame.payload for frame in file.read(stream) if frame.type == FrameType.ENTRY]
    record = Record(decode_entry(entries[0]).open)
    for entry in entries:
        record.reread(entry)
        yield record.opened.rules_id, record.game.position.state


@cache
def random_games() -> dict[Bytes, Any]:
    """Return descriptions of positions by their bytes: each number of seats, and options that add fields."""
    kinds: list[tuple[str, int, Any]] = [
        (rules_id, seats, None)
        for rules_id in NAMES
        for seats in range(registry.get(rules_id).min_seats, registry.get(rules_id).max_seats + 1)
    ]
    kinds += [("kingdomino", 2, Kingdomino(mighty_duel=True)), ("kingdomino", 3, Kingdomino(wider_offer=True))]
    kinds.append(("rollwrite", 1, Rollwrite(solo=Solo.AGAINST, virtual_players=4)))
    return _told(
        told
        for rules_id, seats, options in kinds
        for seed in (1, 2)
        for told in at_random(rules_id, seats, seed, options)
    )


def _told(positions: Iterator[tuple[str, Any]]) -> dict[Bytes, Any]:
    return {(rules_id, state.encode()): described(rules_id, state) for rules_id, state in positions}


@in_parts(4)
def test_every_position_of_every_frozen_log(part: Part) -> None:
    logs = part.of(LOGS)
    expected = _told(told for log in logs for told in replayed(log))
    assert {rules_id for rules_id, _ in expected} == set(NAMES)
    assert len(expected) > 30 * len(logs) > 0
    found = decoded(list(expected))
    for (rules_id, data), ours, theirs in zip(expected, expected.values(), found, strict=True):
        assert theirs == ours, f"{rules_id} {data.hex()}"


@pytest.mark.long
def test_every_position_of_random_games() -> None:
    expected = random_games()
    assert decoded(list(expected)) == list(expected.values())


def test_all_phases_came() -> None:
    """The comparison above is complete: every phase of every game."""
    for rules_id in NAMES:
        came = {told["phase"] for (rules, _), told in random_games().items() if rules == rules_id}
        _, state = next(at_random(rules_id, 2, 1))
        assert came == {phase.name for phase in type(state.phase)}, rules_id


# --- what is no position -------------------------------------------------------------------------------------------


@cache
def samples(rules_id: str) -> list[bytes]:
    """From a game's first position to its last."""
    every = [data for rules, data in random_games() if rules == rules_id]
    return [every[0], *random.Random(1).sample(every, 3), every[-1]]


@pytest.mark.parametrize("rules_id", NAMES)
def test_cut_and_longer(rules_id: str) -> None:
    wrong = [data[:length] for data in samples(rules_id) for length in range(len(data))]
    wrong += [data + extra for data in samples(rules_id) for extra in (b"\0", b"\xff", b"\0" * 8, data)]
    assert set(decoded([(rules_id, data) for data in wrong])) == {None}


@pytest.mark.long
@pytest.mark.parametrize("rules_id", NAMES)
def test_every_byte_altered(rules_id: str) -> None:
    """No two byte strings are one position; of an altered magic none is."""
    for data in samples(rules_id):
        altered = [
            data[:at] + bytes([byte ^ flip]) + data[at + 1 :]
            for at, byte in enumerate(data)
            for flip in (1, 0x80, 0xFF)
        ]
        original, *found = decoded([(rules_id, each) for each in (data, *altered)])
        assert original is not None
        assert found[:12] == [None] * 12
        different = [json.dumps(each) for each in found if each is not None]
        assert json.dumps(original) not in different
        assert len(set(different)) == len(different)
        assert None in found[12:]
        assert different


@pytest.mark.parametrize("rules_id", NAMES)
def test_noise(rules_id: str) -> None:
    rng = random.Random(3)
    noise = [samples(rules_id)[0][: rng.randrange(40)] + rng.randbytes(rng.randrange(400)) for _ in range(500)]
    decoded([(rules_id, data) for data in [b"", *noise]])


def test_bytes_of_another_game() -> None:
    others = [(mine, samples(theirs)[0]) for mine in NAMES for theirs in NAMES if mine != theirs]
    assert set(decoded(others)) == {None}


def _set(data: bytes, at: int, *values: int) -> bytes:
    return data[:at] + bytes(values) + data[at + len(values) :]


def _alhambra() -> Iterator[tuple[str, bytes]]:
    data = samples("alhambra")[-1]
    seats, market, bag, seat = data[4], 20, 132, 156
    for what, at, *values in (
        ("seats", 4, 1),
        ("seats", 4, 7),
        ("phase", 5, 11),
        ("seat", 6, seats),
        ("start", 7, seats),
        ("scorings", 8, 4),
        ("to score: round 0", 9, 1),
        ("to score: round 3", 9, 8),
        ("A at", 16, 0xFF, 0xFE),
        ("B at", 18, 0x80, 0x00),
        ("market", market, 54),
        ("market", market + 3, 254),
        ("bag: tile 54", bag + 1, 0x40),
        ("bag: tile 63", bag, 0x80),
        ("reserve", seat + 38, 0x80),
    ):
        yield what, _set(data, at, *values)
    # The first seat's layout: a hand, a score, two sets, and then its cells.
    first = seat + 36 + 2 + 16
    count = data[first]
    assert count > 1
    cells = [data[first + 1 + 3 * n : first + 4 + 3 * n] for n in range(count)]
    rest = data[first + 1 + 3 * count :]
    for what, several in (
        ("cells: the order", [cells[1], cells[0], *cells[2:]]),
        ("cells: one twice", [cells[0], cells[0], *cells[2:]]),
        ("cells: a tile twice", [cells[0], cells[1][:2] + cells[0][2:], *cells[2:]]),
        ("cells: tile 54", [*cells[:-1], cells[-1][:2] + bytes([54])]),
    ):
        yield what, data[: first + 1] + b"".join(several) + rest


def _kingdomino() -> Iterator[tuple[str, bytes]]:
    data = next(
        data
        for (rules, data), told in random_games().items()
        if rules == "kingdomino" and len(told["kings"]) > 1 and len(told["offer"]) > 2 and len(told["order"]) == 3
    )
    order = 20
    kings = order + 1 + data[order]
    offer = kings + 1 + data[kings]
    removed = offer + 1 + data[offer]
    castle = removed + 1 + data[removed]
    assert data[castle] < 5
    for what, at, *values in (
        ("seats", 4, 1),
        ("seats", 4, 5),
        ("phase", 5, 6),
        ("seat", 6, 3),
        ("size 4", 7, 4),
        ("size 6", 7, 6),
        ("size 8", 7, 8),
        ("lines", 8, 200),
        ("unseen: domino 0", 19, data[19] | 1),
        ("unseen: domino 49", 13, 2),
        ("order: a seat", order + 1, 3),
        ("kings: domino 0", kings + 1, 0),
        ("kings: a seat", kings + 2, 3),
        ("kings: nobody's", kings + 2, 255),
        ("kings: one twice", kings + 3, data[kings + 1]),
        ("offer: domino 49", removed - 2, 49),
        ("offer: a seat", offer + 2, 3),
        ("offer: the order", offer + 1, *data[offer + 3 : offer + 5], *data[offer + 1 : offer + 3]),
        ("castle: half", castle, 255),
        ("castle: the other half", castle + 1, 255),
        ("castle: outside", castle, 5),
    ):
        yield what, _set(data, at, *values)
    yield "kings: half", _set(data, kings, data[kings] - 1)[: kings + data[kings]] + data[offer:]
    end = next(data for rules, data in reversed(random_games()) if rules == "kingdomino" and data[4] == 3)
    at = _kingdom(end)
    first, second = end[at + 3 : at + 8], end[at + 8 : at + 13]
    assert end[at + 2] > 1
    yield "placed: the order", _set(end, at + 3, *second, *first)
    yield "placed: one twice", _set(end, at + 8, *first)
    yield "placed: domino 49", _set(end, at + 3 + 5 * (end[at + 2] - 1), 49)


def _kingdom(data: bytes) -> int:
    """Where the first seat's kingdom begins."""
    at = 20
    for _ in range(4):
        at += 1 + data[at]
    return at


def _rollwrite() -> Iterator[tuple[str, bytes]]:
    data = next(
        data
        for (rules, data), told in random_games().items()
        if rules == "rollwrite" and len(told["seats"]) == 3 and told["seats"][0]["pairs"] == 2 and told["first"] is None
    )
    seat = 16
    for what, at, *values in (
        ("seats", 4, 0),
        ("seats", 4, 6),
        ("phase", 5, 10),
        ("seat", 6, 3),
        ("start", 7, 3),
        ("round", 8, 19),
        ("changed", 11, 2),
        ("first: half a pair", 12, 1),
        ("first: a seven", 12, 7, 1),
        ("to roll", 14, 3),
        ("player", 15, 1),
        ("built: cell 36", seat + 3, 0x10),
        ("built: cell 63", seat, 0x80),
        ("coins", seat + 8, 200),
        ("pairs", seat + 10, 3),
        ("blue: no value", seat + 11, 0),
        ("blue: a seven", seat + 12, 7),
        ("blue: the order", seat + 11, 6, 5),
        ("yellow: the order", seat + 13, 2, 1),
    ):
        yield what, _set(data, at, *values)
    bare = _bare("rollwrite", 1)
    yield "three pairs", bare[: seat + 10] + bytes([3]) + b"\1" * 6 + bare[seat + 11 :]
    end, told = next(
        (data, told)
        for (rules, data), told in reversed(random_games().items())
        if rules == "rollwrite" and len(told["awards"]) > 1 and told["virtual"]
    )
    awards = len(end) - 4 * len(told["awards"])
    yield "virtual players", _set(end, awards - 1 - 6 * len(told["virtual"]) - 1, 6 - len(told["seats"]))
    yield "awards: type 6", _set(end, awards, 6)
    yield "awards: round 19", _set(end, len(end) - 3, 19)
    yield "awards: a seat", _set(end, awards + 2, 1 << len(told["seats"]))
    yield "awards: a virtual player", _set(end, awards + 3, 1 << len(told["virtual"]))
    yield "awards: the order", _set(end, awards, *end[awards + 4 : awards + 8], *end[awards : awards + 4])
    yield "awards: one twice", _set(end, awards + 4, *end[awards : awards + 2])


@pytest.mark.parametrize("rules_id", NAMES)
def test_what_the_pages_do_not_allow(rules_id: str) -> None:
    """Each range and each order, by name."""
    wrong = dict(enumerate({"alhambra": _alhambra, "kingdomino": _kingdomino, "rollwrite": _rollwrite}[rules_id]()))
    found = decoded([(rules_id, data) for _, data in wrong.values()])
    assert [what for (what, _), each in zip(wrong.values(), found, strict=True) if each is not None] == []


def _bare(rules_id: str, seats: int) -> bytes:
    """Return a position in which nothing lies anywhere."""
    if rules_id == "alhambra":
        head = bytes([seats, *bytes(11)]) + b"\xff" * 8 + bytes(36 * 3 + 8 * 3)
        return b"ALH\x01" + head + bytes(36 + 2 + 8 + 8 + 1) * seats
    if rules_id == "kingdomino":
        head = bytes([seats, 0, 0, 5, 0, 0, 0, 12, *bytes(8 + 4)])
        return b"KDO\x01" + head + b"\xff\xff\0\0" * seats
    return b"RNW\x01" + bytes([seats, *bytes(11)]) + bytes(11) * seats + bytes(2)


@pytest.mark.parametrize("rules_id", NAMES)
def test_number_of_seats(rules_id: str) -> None:
    game = registry.get(rules_id)
    found = decoded([(rules_id, _bare(rules_id, seats)) for seats in range(256)])
    read = [seats for seats, told in enumerate(found) if told is not None]
    assert read == list(range(game.min_seats, game.max_seats + 1))


def test_number_of_virtual_players() -> None:
    kinds = [(seats, virtual) for seats in range(1, 6) for virtual in range(8)]
    bare = [_bare("rollwrite", seats)[:-2] + bytes([virtual]) + bytes(6 * virtual + 1) for seats, virtual in kinds]
    found = decoded([("rollwrite", data) for data in bare])
    assert [told is not None for told in found] == [seats + virtual <= 5 for seats, virtual in kinds]


def test_rules_that_are_not_known() -> None:
    script = """
const { decoderOf, Malformed } = await import(`${STATIC}/positions/reader.mjs`);
const why = (rules) => decoderOf(rules).catch((error) => [error.code, error instanceof Malformed]);
console.log(JSON.stringify(await Promise.all(["toy", "__proto__", "constructor", "../feed", ""].map(why))));
"""
    assert run(script, None) == [["UNSUPPORTED", False]] * 5
