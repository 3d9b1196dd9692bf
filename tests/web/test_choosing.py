"""Choosing a move by options and cells: every legal move is reached, byte for byte, and no other is marked legal."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Page

from referee.games import registry
from referee.games.alhambra.money import Currency
from referee.games.alhambra.moves import (
    Buy,
    GiveTile,
    PlaceTile,
    RebuildAdd,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.options import Options as Alhambra
from referee.games.game import Decision
from referee.games.kingdomino.moves import PlaceDomino
from referee.games.kingdomino.options import Frame
from referee.games.kingdomino.options import Options as Kingdomino
from referee.games.rollwrite.dice import change_cost
from referee.games.rollwrite.moves import ChangeDice
from referee.games.rollwrite.options import Options as Rollwrite
from referee.games.rollwrite.options import Solo
from referee.wire.registry import codec
from tests.sizes import campaign
from tests.web.positions import at_random
from tests.web.words import wordy

# For each turn [all moves that can be chosen in full, as [bytes, whether the last tap was on a legal mark, taps], those
# with few taps first, and what was wrong on the way]. The walk continues only where legal marks lead.
WALK = """async ([rules, version, tables, options, turns]) => {
  const bytes = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (each) => parseInt(each, 16));
  const hex = (data) => Array.from(data, (each) => each.toString(16).padStart(2, "0")).join("");
  const names = ["verify/schema", "verify/wire", "seat/encode", "positions/reader", "choosing/chooser"];
  const [{ GAMES }, { decodeBody }, { encode }, { decoderOf }, { chooserOf }] = await Promise.all(
    names.map((name) => import(`/static/${name}.mjs`)));
  const [schema, decode] = [GAMES[rules][version], await decoderOf(rules)];
  const opened = { rules_id: rules, tables: bytes(tables), options: bytes(options) };
  const { components } = await (await fetch(`/static/parts/${rules}.json`)).json();
  const chooser = await chooserOf({ opened, rules: schema, components });
  return turns.map(([seat, position, moves]) => {
    const listed = moves.map((each) => decodeBody(schema.move, bytes(each)));
    const [found, wrong, seen] = [[], new Set(), new Set()];
    const left = [];
    const come = (state, isLegal, taps) => {
      const move = chooser.move(state);
      if (move) found.push([hex(encode(schema.move, move)), isLegal, taps]);
      const { position, moves, ...chosen } = state;
      const key = JSON.stringify(chosen);
      if (isLegal && !seen.has(key)) left.push([state, taps]);
      if (isLegal) seen.add(key);
    };
    come(chooser.begin({ position: decode(bytes(position)), seat, moves: listed }), true, 0);
    if (found.length) wrong.add("a move is chosen at the beginning");
    while (left.length) {
      const [state, before] = left.shift();
      const taps = before + 1;
      if (!chooser.hint(state)) wrong.add("no hint");
      for (const { label, options } of chooser.groups(state)) {
        if (!label || !options.length) wrong.add("a group without label or options");
        for (const option of options) {
          if (!option.label) wrong.add("an option without label");
          come(option.next, option.legal, taps);
        }
      }
      const board = chooser.board(state);
      if (board)
        for (let y = board.top; y < board.top + board.rows; y++)
          for (let x = board.left; x < board.left + board.columns; x++) {
            const { label, marks } = board.cell(x, y);
            const isLegal = marks.includes("legal");
            if (label.includes("may go here") !== isLegal) wrong.add("a mark without words");
            let said = "";
            const next = chooser.choose(state, x, y, (words) => (said = words));
            if (next) come(next, isLegal, taps);
            else if (isLegal) wrong.add("a legal cell that cannot be chosen");
            else if (!said) wrong.add("nothing happens, and nothing is said");
          }
      // Cells that keys lead to are not marked.
      const byKey = Object.values(chooser.keys).map((key) => key(state));
      for (const next of byKey) if (!chooser.move(next)) come(next, true, taps);
    }
    return [found, [...wrong]];
  });
}"""


@dataclass(frozen=True)
class Turn:
    """The choices of a seat. ``state`` changes with the game, so it is questioned while this is made."""

    seat: int
    position: bytes
    moves: tuple[bytes, ...]
    phase: str
    state: Any


def turns(rules: str, seats: int, seed: int, options: Any) -> Iterator[Turn]:
    """Yield every decision of a whole game at random."""
    made = codec(rules, registry.get(rules).version)
    components = made.decode_components(made.encode_components(None))
    for _, state in at_random(rules, seats, seed, options):
        awaited = state.pending()[0]
        if isinstance(awaited, Decision):
            moves = tuple(made.encode_move(move, components) for move in state.legal_moves())
            yield Turn(awaited.seat, state.encode(), moves, state.phase.name, state.copy())


def sampled(every: Sequence[Turn], rng: random.Random, each: int) -> list[Turn]:
    """Some of each phase with the same kinds of moves, by a move's first byte."""
    alike = defaultdict(list)
    for turn in every:
        alike[turn.phase, frozenset(move[0] for move in turn.moves), is_twin(turn)].append(turn)
    return [turn for several in alike.values() for turn in rng.sample(several, min(each, len(several)))]


def is_twin(turn: Turn) -> bool:
    """Return True if a domino with equal halves is to be placed."""
    if not isinstance(next(turn.state.legal_moves()), PlaceDomino):
        return False
    domino = turn.state.due()
    return bool(domino.left == domino.right)


def taps_of(move: Any, turn: Turn) -> int:
    """In how many taps a move is chosen: no choice that there is not costs one."""
    tiles = {each.tile for each in turn.state.legal_moves() if isinstance(each, ReserveTile)}
    match move:
        case PlaceDomino() | RebuildAdd() | RebuildSwap():
            return 2
        case TakeMoney(cards):
            return len(cards)
        case Buy(slot, payment):
            payments = [each for each in turn.state.legal_moves() if isinstance(each, Buy) and each.slot == slot]
            return 1 + (len(payment) if len(payments) > 1 else 0)
        case PlaceTile() | ReserveTile() | GiveTile():
            return 1 + (len(tiles) > 1)
        case ChangeDice(blue, yellow):
            state = turn.state
            return change_cost(state.blue[turn.seat], blue) + change_cost(state.yellow[turn.seat], yellow)
    return 1


KINDS = [
    pytest.param("kingdomino", 2, None, id="kingdomino-2"),
    pytest.param("kingdomino", 4, Kingdomino(frame=Frame.RELATIVE), id="kingdomino-4-relative"),
    pytest.param("kingdomino", 2, Kingdomino(mighty_duel=True), id="kingdomino-2-duel"),
    pytest.param("alhambra", 2, None, id="alhambra-2"),
    pytest.param("alhambra", 6, Alhambra(slot_currencies=tuple(reversed(Currency))), id="alhambra-6-currencies"),
    pytest.param("rollwrite", 1, Rollwrite(solo=Solo.AGAINST), id="rollwrite-1"),
    pytest.param("rollwrite", 3, None, id="rollwrite-3"),
]


@pytest.mark.parametrize(("seed", "each"), [(1, 1), campaign(2, 12)])
@pytest.mark.parametrize(("rules", "seats", "options"), KINDS)
async def test_every_legal_move_is_chosen_and_nothing_else_is_marked_legal(
    rules: str, seats: int, options: Any, seed: int, each: int, page: Page, gateway: str
) -> None:
    await wordy(page, gateway)
    chosen = sampled(list(turns(rules, seats, seed, options)), random.Random(seed), each)
    made, version = codec(rules, registry.get(rules).version), registry.get(rules).version
    components = made.decode_components(made.encode_components(None))
    told = made.encode_options(options) if options else b""
    asked = [[turn.seat, turn.position.hex(), [move.hex() for move in turn.moves]] for turn in chosen]
    found = await page.evaluate(WALK, [rules, version, made.encode_components(None).hex(), told.hex(), asked])
    for turn, (moves, wrong) in zip(chosen, found, strict=True):
        assert wrong == [], turn.phase
        marked, unmarked = (
            {bytes.fromhex(move): taps for move, legal, taps in reversed(moves) if legal is kind}
            for kind in (True, False)
        )
        for move in turn.moves:
            assert move in marked, turn.phase
            assert marked[move] == taps_of(made.decode_move(move, components), turn), turn.phase
        for move in marked.keys() - set(turn.moves):
            overpaid = made.decode_move(move, components)
            assert isinstance(overpaid, Buy)
            assert turn.state.check(overpaid) == ()
        for move in unmarked:
            assert turn.state.check(made.decode_move(move, components)) != (), move.hex()
