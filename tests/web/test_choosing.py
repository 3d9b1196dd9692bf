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
from referee.games.alhambra.moves import Buy
from referee.games.alhambra.options import Options as Alhambra
from referee.games.game import Decision
from referee.games.kingdomino.options import Frame
from referee.games.kingdomino.options import Options as Kingdomino
from referee.games.rollwrite.options import Options as Rollwrite
from referee.games.rollwrite.options import Solo
from referee.wire.registry import codec
from tests.web.test_positions import at_random
from tests.web.words import wordy

# For each turn [all moves that can be chosen in full, as [bytes, whether the last step was marked legal]], and what was
# wrong on the way. The walk goes on only where a step is marked legal.
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
    const come = (state, isLegal) => {
      const move = chooser.move(state);
      if (move) found.push([hex(encode(schema.move, move)), isLegal]);
      const { position, moves, ...chosen } = state;
      const key = JSON.stringify(chosen);
      if (isLegal && !seen.has(key)) left.push(state);
      seen.add(key);
    };
    come(chooser.begin({ position: decode(bytes(position)), seat, moves: listed }), true);
    if (chooser.move(left[0])) wrong.add("a move is chosen at the beginning");
    while (left.length) {
      const state = left.pop();
      if (!chooser.hint(state)) wrong.add("no hint");
      for (const { label, options } of chooser.groups(state)) {
        if (!label || !options.length) wrong.add("a group without label or options");
        for (const option of options) {
          if (!option.label) wrong.add("an option without label");
          come(option.next, option.legal);
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
            if (next) come(next, isLegal);
            else if (isLegal) wrong.add("a legal cell that cannot be chosen");
            else if (!said) wrong.add("nothing happens, and nothing is said");
          }
      for (const key of Object.values(chooser.keys)) come(key(state), true);
    }
    return [found, [...wrong]];
  });
}"""


@dataclass(frozen=True)
class Turn:
    """What a seat chooses from. ``state`` goes on with the game, so what is asked of it is asked while it is made."""

    seat: int
    position: bytes
    moves: tuple[bytes, ...]
    phase: str
    state: Any


def turns(rules: str, seats: int, seed: int, options: Any) -> Iterator[Turn]:
    """Every decision of a whole game at random."""
    made = codec(rules, registry.get(rules).version)
    components = made.decode_components(made.encode_components(None))
    for _, state in at_random(rules, seats, seed, options):
        awaited = state.pending()[0]
        if isinstance(awaited, Decision):
            moves = tuple(made.encode_move(move, components) for move in state.legal_moves())
            yield Turn(awaited.seat, state.encode(), moves, state.phase.name, state.copy())


def sampled(every: Sequence[Turn], rng: random.Random, each: int) -> list[Turn]:
    """Some of each phase with the same kinds of moves: a move's first byte is its kind's."""
    alike = defaultdict(list)
    for turn in every:
        alike[turn.phase, frozenset(move[0] for move in turn.moves)].append(turn)
    return [turn for several in alike.values() for turn in rng.sample(several, min(each, len(several)))]


KINDS = [
    pytest.param("kingdomino", 2, None, id="kingdomino-2"),
    pytest.param("kingdomino", 4, Kingdomino(frame=Frame.RELATIVE), id="kingdomino-4-relative"),
    pytest.param("kingdomino", 2, Kingdomino(mighty_duel=True), id="kingdomino-2-duel"),
    pytest.param("alhambra", 2, None, id="alhambra-2"),
    pytest.param("alhambra", 6, Alhambra(slot_currencies=tuple(reversed(Currency))), id="alhambra-6-currencies"),
    pytest.param("rollwrite", 1, Rollwrite(solo=Solo.AGAINST), id="rollwrite-1"),
    pytest.param("rollwrite", 3, None, id="rollwrite-3"),
]


@pytest.mark.parametrize(("rules", "seats", "options"), KINDS)
async def test_every_legal_move_is_chosen_and_nothing_else_is_marked_legal(
    rules: str, seats: int, options: Any, page: Page, gateway: str
) -> None:
    await wordy(page, gateway)
    await walked(page, rules, seats, options, seed=1, each=1)


async def walked(page: Page, rules: str, seats: int, options: Any, seed: int, each: int) -> None:
    """Choose everything in some turns of a game at random."""
    chosen = sampled(list(turns(rules, seats, seed, options)), random.Random(seed), each)
    made, version = codec(rules, registry.get(rules).version), registry.get(rules).version
    components = made.decode_components(made.encode_components(None))
    told = made.encode_options(options) if options else b""
    asked = [[turn.seat, turn.position.hex(), [move.hex() for move in turn.moves]] for turn in chosen]
    found = await page.evaluate(WALK, [rules, version, made.encode_components(None).hex(), told.hex(), asked])
    for turn, (moves, wrong) in zip(chosen, found, strict=True):
        assert wrong == [], turn.phase
        marked, unmarked = ({bytes.fromhex(move) for move, legal in moves if legal is kind} for kind in (True, False))
        assert set(turn.moves) <= marked, turn.phase
        for move in marked - set(turn.moves):
            overpaid = made.decode_move(move, components)
            assert isinstance(overpaid, Buy)
            assert turn.state.check(overpaid) == ()
        for move in unmarked:
            assert turn.state.check(made.decode_move(move, components)) != (), move.hex()
