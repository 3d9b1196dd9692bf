"""Checks certificates: what they claim, whether it holds, and every rule that is broken. Needs no solver and no search.

What is proven by an accepted certificate:

- of a step, and of each step of a turn: for **every** rule of building, whether the layout after it obeys the rule, and
  where not. A rule that is not reported is obeyed: each tile has a way on foot, each empty cell a way out, and the way is
  in the certificate as numbers that fall along it. A rule that is reported is broken at exactly the cells named: none of
  them has a way to any cell that has one. So a certificate of the contrary cannot exist.
- of a turn: the same up to its first move that breaks a rule, after which nothing is judged; and the rules about what is
  in the reserve and what was bought.
- of "no placement": each empty cell beside a tile breaks ALH-A2, ALH-A4 or leaves a cell shut in; every other cell
  touches no tile (ALH-A3) or is taken (ALH-A9).
- of a distance: that there is a way of so many turns. That there is no shorter one was refuted by a solver; nothing here
  can check that, and ``Checked.assumed`` says so.
- of the hand-out: all of it (ALH-F9).

The layout that a claim starts from is taken as legal, as the claim says; whoever has the game can see that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from referee.alhambra.v1 import proof_pb2 as pb
from referee.games.game import Cell, Violation
from solver.claims import (
    Add,
    Claim,
    DistanceClaim,
    HandOutClaim,
    Layout,
    NoPlacementClaim,
    Place,
    Remove,
    Step,
    StepClaim,
    Swap,
    TurnClaim,
    TurnMove,
    walls,
)
from solver.wire import claim_of, move_of

MAX_BYTES = 64 * 1024
_NEVER = 1 << 32
_FOUNTAIN: Cell = (0, 0)
_FAR = 54
_NEIGHBOURS = (("N", 0, -1, "S"), ("E", 1, 0, "W"), ("S", 0, 1, "N"), ("W", -1, 0, "E"))
_AROUND = ((0, -1), (1, 0), (0, 1), (-1, 0), (-1, -1), (1, -1), (1, 1), (-1, 1))


class BadCertificate(ValueError):
    """The bytes prove nothing: what is wrong, where, and what was expected; one line."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a certificate proves."""

    claim: Claim
    holds: bool
    violations: tuple[Violation, ...]
    """Every rule that is broken, with the cells; facts of a turn name the move, counted from 1."""
    assumed: str = ""
    """The part that a solver refuted and that was not checked here, in words; empty: everything was checked."""


def check(data: bytes) -> Checked:
    """What the certificate proves. Raises ``BadCertificate`` unless it is the one certificate of its claim."""
    if len(data) > MAX_BYTES:
        raise BadCertificate(f"certificate: {len(data)} bytes, expected at most {MAX_BYTES}")
    message = pb.Certificate()
    try:
        message.ParseFromString(data)
        claim = claim_of(message.claim)
    except DecodeError:
        raise BadCertificate("certificate: expected a referee.alhambra.v1.Certificate") from None
    except ValueError as error:
        raise BadCertificate(f"claim: {error}") from None
    message.DiscardUnknownFields()
    if message.SerializeToString(deterministic=True) != data or not all(map(_in_order, _layouts(claim))):
        raise BadCertificate("certificate: expected its one encoding, without unknown fields, layouts in order")
    kind = message.claim.WhichOneof("claim")
    if message.WhichOneof("evidence") != kind:
        raise BadCertificate(f"evidence: {message.WhichOneof('evidence')}, expected {kind}")
    match claim:
        case StepClaim(layout, step):
            violations, _ = _judge_step("step", layout, step, message.step)
        case TurnClaim():
            violations = _judge_turn(claim, message.turn)
        case NoPlacementClaim():
            return Checked(claim, _judge_no_placement(claim, message.no_placement), ())
        case DistanceClaim():
            return _judge_distance(claim, message.distance)
        case HandOutClaim():
            violations = judge_hand_out(claim)
    return Checked(claim, not violations, violations)


# One layout


def _judge_step(
    where: str, layout: Layout, step: Step, evidence: pb.LayoutEvidence
) -> tuple[tuple[Violation, ...], dict[Cell, str]]:
    """Every rule of building that the step breaks, and the layout after it."""
    x, y = at = step.at
    after = dict(layout)
    early = None
    if isinstance(step, Place):
        if not (-_FAR <= x <= _FAR and -_FAR <= y <= _FAR):
            early = Violation("ALH-A8", (at,))
        elif at == _FOUNTAIN or at in layout:
            early = Violation("ALH-A9", (at,))
    elif at == _FOUNTAIN:
        early = Violation("ALH-D2", (at,))
    elif at not in layout:
        early = Violation("ALH-D1", (at,), {"found": "empty cell", "expected": "a tile"})
    if early is not None:
        if evidence.ByteSize():
            raise BadCertificate(f"{where}: numbers of a layout, expected none after {early.rule_id}")
        return (early,), after
    if isinstance(step, Remove):
        del after[at]
    else:
        after[at] = step.tile
    return _judge_layout(where, after, at, evidence), after


def _judge_layout(where: str, layout: Layout, at: Cell, evidence: pb.LayoutEvidence) -> tuple[Violation, ...]:
    """Every rule of building that the layout breaks; ``at`` is the only cell that changed."""
    tiles = _tiles(layout)
    found = _clashes(where, tiles, at)
    cells = [cell for cell in tiles if cell != _FOUNTAIN]
    cut = _without_way(f"{where}.foot", evidence.foot, cells, lambda cell: _walkable(tiles, cell))
    loose = _without_way(f"{where}.touch", evidence.touch, cells if cut else [], lambda cell: _beside(tiles, cell))
    found += [Violation(rule, cells) for rule, cells in (("ALH-A3", loose), ("ALH-A4", cut)) if cells]
    inner = _inner(tiles)
    shut = _without_way(f"{where}.out", evidence.out, inner, lambda cell: _empty(tiles, cell, 4))
    tight = _without_way(f"{where}.corner", evidence.corner, inner if shut else [], lambda cell: _empty(tiles, cell, 8))
    cornered = tuple(cell for cell in shut if cell not in tight)
    found += [Violation(rule, cells) for rule, cells in (("ALH-A5", tight), ("ALH-A6", cornered)) if cells]
    return tuple(found)


def _without_way(
    where: str, numbers: Sequence[int], cells: Sequence[Cell], ways: Callable[[Cell], Iterable[Cell]]
) -> tuple[Cell, ...]:
    """The cells that have no way to where ways end, which is any cell that is not among them.

    The numbers are right if each is one more than the least that a way leads to. They fall along a way then, so it comes
    to an end; and no way leads from a cell without a number to one that has one.
    """
    if len(numbers) != len(cells):
        raise BadCertificate(f"{where}: {len(numbers)} numbers, expected {len(cells)}")
    steps = {cell: number or _NEVER for cell, number in zip(cells, numbers, strict=True)}
    for cell, number in steps.items():
        least = min([steps.get(on, 0) for on in ways(cell)], default=_NEVER)
        if number != min(least + 1, _NEVER):
            raise BadCertificate(f"{where}: {number % _NEVER} for {cell}, expected {(least + 1) % _NEVER}")
    return tuple(cell for cell, number in steps.items() if number == _NEVER)


def _tiles(layout: Layout) -> dict[Cell, str]:
    """Walls by cell, the fountain's among them, by column, then row."""
    tiles = {cell: walls(tile) for cell, tile in layout.items()}
    tiles[_FOUNTAIN] = ""
    return {cell: tiles[cell] for cell in sorted(tiles)}


def _clashes(where: str, tiles: dict[Cell, str], at: Cell) -> list[Violation]:
    """ALH-A2: sides of the tile ``at`` where wall meets open. Other sides were right before the step."""
    cells, sides = [at], ""
    for (x, y), mine in tiles.items():
        for side, dx, dy, opposite in _NEIGHBOURS:
            theirs = tiles.get((x + dx, y + dy))
            if theirs is not None and (side in mine) != (opposite in theirs):
                if (x, y) == at:
                    cells.append((x + dx, y + dy))
                    sides += side
                elif (x + dx, y + dy) != at:
                    raise BadCertificate(f"{where}: the layout before it breaks ALH-A2 at ({x}, {y})")
    return [Violation("ALH-A2", tuple(cells), {"sides": sides})] if sides else []


def _walkable(tiles: dict[Cell, str], cell: Cell) -> Iterator[Cell]:
    (x, y), mine = cell, tiles[cell]
    for side, dx, dy, opposite in _NEIGHBOURS:
        if side not in mine and opposite not in tiles.get((x + dx, y + dy), opposite):
            yield x + dx, y + dy


def _beside(tiles: dict[Cell, str], cell: Cell) -> list[Cell]:
    return [there for dx, dy in _AROUND[:4] if (there := (cell[0] + dx, cell[1] + dy)) in tiles]


def _empty(tiles: dict[Cell, str], cell: Cell, ways: int) -> list[Cell]:
    return [there for dx, dy in _AROUND[:ways] if (there := (cell[0] + dx, cell[1] + dy)) not in tiles]


def _inner(tiles: dict[Cell, str]) -> list[Cell]:
    """Empty cells with tiles in all four directions of the compass. From any other one leaves in a straight line."""
    west: dict[int, int] = {}
    east: dict[int, int] = {}
    columns: dict[int, list[int]] = {}
    for x, y in tiles:  # by column, then row
        west.setdefault(y, x)
        east[y] = x
        columns.setdefault(x, []).append(y)
    return [
        (x, y)
        for x, ys in columns.items()
        for y in range(ys[0] + 1, ys[-1])
        if (x, y) not in tiles and west.get(y, x) < x < east.get(y, x)
    ]


# Several


def _judge_turn(claim: TurnClaim, evidence: pb.TurnEvidence) -> tuple[Violation, ...]:
    """Every rule that the first bad move breaks, or that tiles left over break."""
    layout, hand, steps = dict(claim.layout), set(claim.bought), list(evidence.steps)
    found: tuple[Violation, ...] = ()
    for i, move in enumerate(claim.moves):
        found = out_of_turn(i == 0, move, claim, hand)
        if not found and isinstance(move, Add | Remove | Swap | Place):
            if not steps:
                raise BadCertificate(f"turn: no numbers for move {i + 1}, expected them for every step")
            step = Place(move.tile, move.at) if isinstance(move, Add) else move
            found, layout = _judge_step(f"move {i + 1}", layout, step, steps.pop(0))
        if found:
            found = tuple(Violation(v.rule_id, v.cells, {**v.facts, "move": i + 1}) for v in found)
            break
        if not isinstance(move, Add | Remove | Swap):
            hand.discard(move.tile)
    if steps:
        raise BadCertificate(f"turn: {len(steps)} layouts too many, expected one for each step that is judged")
    left = () if found else (tile for tile in claim.bought if tile in hand)
    return found or tuple(Violation("ALH-C7", facts={"tile": tile, "found": "not put anywhere"}) for tile in left)


def out_of_turn(first: bool, move: TurnMove, claim: TurnClaim, hand: set[str]) -> tuple[Violation, ...]:
    """Rules that a move of a turn breaks wherever it lays its tile: ALH-C5, ALH-C7, ALH-C8, ALH-D1."""
    if isinstance(move, Add | Remove | Swap):
        if not first:
            return (Violation("ALH-C5", facts={"awaited": "the bought tiles to be placed"}),)
        if isinstance(move, Remove) or move.tile in claim.reserve:
            return ()
        if move.tile in claim.bought:
            return (Violation("ALH-C8", facts={"tile": move.tile}),)
        return (Violation("ALH-D1", facts={"tile": move.tile, "found": "not in the reserve"}),)
    return () if move.tile in hand else (Violation("ALH-C7", facts={"tile": move.tile, "found": "not in hand"}),)


def _judge_no_placement(claim: NoPlacementClaim, evidence: pb.NoPlacementEvidence) -> bool:
    """Whether no cell is left."""
    layouts = list(evidence.cells)
    for cell in candidates(claim):
        if evidence.HasField("placeable") and cell == (evidence.placeable.x, evidence.placeable.y):
            broken, _ = _judge_step("placed", claim.layout, Place(claim.tile, cell), evidence.placed)
            if broken or layouts:
                raise BadCertificate(f"placeable: {cell}, expected the first cell that breaks no rule")
            return False
        numbers = layouts.pop(0) if layouts else pb.LayoutEvidence()
        tiles = _tiles({**claim.layout, cell: claim.tile})
        shut = _without_way(f"cell {cell}", numbers.out, _inner(tiles), lambda c, tiles=tiles: _empty(tiles, c, 4))
        if not shut or numbers.foot or numbers.touch or numbers.corner:
            raise BadCertificate(f"cell {cell}: expected numbers out, a cell without a way among them, and no others")
    if layouts or evidence.HasField("placeable") or evidence.HasField("placed"):
        raise BadCertificate("no_placement: evidence for a cell that is out of the question")
    return True


def candidates(claim: NoPlacementClaim) -> list[Cell]:
    """Cells that ALH-A2, A3, A4, A8 and A9 leave for the tile: whether it shuts a cell in has to be asked."""
    tiles, mine = _tiles(claim.layout), walls(claim.tile)
    found = []
    for x, y in sorted({there for cell in tiles for there in _empty(tiles, cell, 4)}):
        sides = [
            (side in mine, opposite in tiles[on])
            for side, dx, dy, opposite in _NEIGHBOURS
            if (on := (x + dx, y + dy)) in tiles
        ]
        if all(a == b for a, b in sides) and (False, False) in sides and max(abs(x), abs(y)) <= _FAR:
            found.append((x, y))
    return found


def _judge_distance(claim: DistanceClaim, evidence: pb.DistanceEvidence) -> Checked:
    """The way is walked; that none is shorter is taken over."""
    layout, reserve = dict(claim.start), set(claim.reserve)
    if len(evidence.moves) != len(evidence.steps) or len(evidence.moves) > claim.turns:
        raise BadCertificate(f"distance: {len(evidence.moves)} moves, {len(evidence.steps)} layouts")
    for i, (message, numbers) in enumerate(zip(evidence.moves, evidence.steps, strict=True)):
        where = f"moves[{i}]"
        try:
            move = move_of(message, where)
        except ValueError as error:
            raise BadCertificate(str(error)) from None
        if not isinstance(move, Add | Remove | Swap) or (not isinstance(move, Remove) and move.tile not in reserve):
            raise BadCertificate(f"{where}: {move}, expected a rebuild with a tile of the reserve")
        step = Place(move.tile, move.at) if isinstance(move, Add) else move
        gone = layout.get(move.at)
        broken, layout = _judge_step(where, layout, step, numbers)
        if broken:
            raise BadCertificate(f"{where}: breaks {broken[0].rule_id}, expected a legal move")
        reserve = (reserve | ({gone} if gone else set())) - set(layout.values())
    arrived = dict(claim.goal) == layout
    below = evidence.refuted_below
    if arrived and len(evidence.moves) < claim.turns and not below:
        return Checked(claim, False, ())
    if arrived and len(evidence.moves) == claim.turns == below:
        assumed = f"that fewer than {below} turns do not suffice was refuted by a solver and is not checked here"
        return Checked(claim, True, (), assumed if below else "")
    if not evidence.moves and below == claim.turns + 1:
        return Checked(
            claim, False, (), f"that {claim.turns} turns do not suffice was refuted by a solver and is not checked here"
        )
    raise BadCertificate(f"distance: {len(evidence.moves)} moves, refuted below {below}, claimed {claim.turns}")


def judge_hand_out(claim: HandOutClaim) -> tuple[Violation, ...]:
    """ALH-F9: each tile to the seat with the most money of its slot's currency; to nobody on a tie or without any."""
    found = []
    for slot in claim.slots:
        sums = [sum(value for currency, value in hand if currency == slot.currency) for hand in claim.hands]
        most = max(sums)
        seat = sums.index(most) if most and sums.count(most) == 1 else None
        if seat != slot.seat:
            claimed, expected = (("nobody" if each is None else each) for each in (slot.seat, seat))
            found.append(Violation("ALH-F9", facts={"tile": slot.tile, "seat": claimed, "expected": expected}))
    return tuple(found)


def _layouts(claim: Claim) -> tuple[Layout, ...]:
    match claim:
        case DistanceClaim(start, _, goal, _):
            return start, goal
        case HandOutClaim():
            return ()
        case _:
            return (claim.layout,)


def _in_order(layout: Layout) -> bool:
    return list(layout) == sorted(layout)
