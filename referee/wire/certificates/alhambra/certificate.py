"""Check certificates: the claim, whether it holds, and every broken rule. No solver, no search.

An accepted certificate proves:

- of a step, and of each step of a turn: for **every** rule of building whether the layout after it obeys the rule, and
  where it does not. A rule that is not reported is obeyed: each tile has a way on foot and each empty cell a way out,
  along which the certificate's numbers fall. A rule that is reported is broken at the cells named and at no others: no
  way leads from any of them to a cell that has one. So there is no certificate of the contrary.
- of a turn: the same up to its first move that breaks a rule, and the rules about reserve and bought tiles; of the
  hand-out: all of it (ALH-F9).
- of "no placement": each empty cell beside a tile breaks ALH-A2 or ALH-A4, or the tile there shuts a cell in (ALH-A5,
  ALH-A6). Every other cell touches no tile (ALH-A3), is taken (ALH-A9) or too far away (ALH-A8).
- of a distance: a way of that many turns. None is shorter than the number of cells that differ; that none is shorter
  than claimed is else a solver's word, which cannot be checked here, and ``Checked.assumed`` says so.

The layout that a claim starts from is taken to be legal, as the claim says: it can be seen in the game.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

from referee.alhambra.v1 import proof_pb2 as pb
from referee.games.alhambra.tiles import COUNT
from referee.games.game import Cell, InputError, Violation
from referee.wire.certificates.alhambra import claims
from referee.wire.certificates.registry import BadCertificate, Checked, canonical, read

_Ways = dict[Cell, list[Cell]]
_Broken = tuple[Violation, ...]
_NEVER = 1 << 32
_FOUNTAIN: Cell = (0, 0)
_SIDES = (("N", 0, -1, "S"), ("E", 1, 0, "W"), ("S", 0, 1, "N"), ("W", -1, 0, "E"))
_AROUND = ((0, -1), (1, 0), (0, 1), (-1, 0), (-1, -1), (1, -1), (1, 1), (-1, 1))


def check(data: bytes) -> Checked:
    """Return what the certificate proves. Raise ``BadCertificate`` unless it is the one certificate of its claim."""
    message = read(pb.Certificate, data)
    try:
        claim = claims.claim_of(message.claim)
    except InputError as error:
        raise BadCertificate(f"claim: {error}") from None
    kind, evidence = message.claim.WhichOneof("claim"), message.WhichOneof("evidence")
    if evidence != kind:
        raise BadCertificate(f"evidence: {evidence or 'none'}, expected {kind}")
    message.claim.CopyFrom(claims.message_of(claim))
    canonical(message, data)
    match claim:
        case claims.NoPlacementClaim():
            placeable = _judge_no_placement(claim, message.no_placement)
            return Checked(claim, placeable is None, counterexample=placeable)
        case claims.DistanceClaim():
            return _judge_distance(claim, message.distance)
        case claims.StepClaim(layout, step):
            violations, _ = _judge_step("step", layout, step, message.step)
        case claims.TurnClaim():
            violations = _judge_turn(claim, message.turn)
        case _:
            violations = _judge_hand_out(claim)
    return Checked(claim, not violations, violations)


# One layout


def _judge_step(
    where: str, layout: claims.Layout, step: claims.Step, evidence: pb.LayoutEvidence
) -> tuple[_Broken, claims.Layout]:
    """Return every rule of building that the step breaks, and the layout after it."""
    at, early = step.at, None
    if isinstance(step, claims.Place):
        if max(abs(at[0]), abs(at[1])) > COUNT:
            early = Violation("ALH-A8", (at,))
        elif at == _FOUNTAIN or at in layout:
            early = Violation("ALH-A9", (at,))
    elif at == _FOUNTAIN:
        early = Violation("ALH-D2", (at,))
    elif at not in layout:
        early = Violation("ALH-D1", (at,), {"found": "empty cell", "expected": "a tile"})
    if early:
        if evidence.ByteSize():
            raise BadCertificate(f"{where}: a layout, expected none as {early.rule_id} is broken before")
        return (early,), layout
    after = {cell: tile for cell, tile in layout.items() if cell != at}
    if not isinstance(step, claims.Remove):
        after[at] = step.tile
    tiles = _tiles(after)
    beside, walkable = _neighbours(where, tiles, at)
    cells = [cell for cell in tiles if cell != _FOUNTAIN]
    cut = _without_way(f"{where}: foot", evidence.foot, cells, walkable.__getitem__)
    loose = _without_way(f"{where}: touch", evidence.touch, cut and cells, beside.__getitem__)
    inner = _inner(tiles)
    shut = _without_way(f"{where}: out", evidence.out, inner, lambda cell: _empty(tiles, cell, 4))
    tight = _without_way(f"{where}: corner", evidence.corner, shut and inner, lambda cell: _empty(tiles, cell, 8))
    cornered = tuple(cell for cell in shut if cell not in tight)
    by_rule = (("ALH-A3", loose), ("ALH-A4", cut), ("ALH-A5", tight), ("ALH-A6", cornered))
    return (*_clashes(tiles, at), *(Violation(rule, broken) for rule, broken in by_rule if broken)), after


def _without_way(
    where: str, numbers: Sequence[int], cells: Sequence[Cell], ways: Callable[[Cell], Iterable[Cell]]
) -> tuple[Cell, ...]:
    """Return the cells from which no way leads to a cell that is not among them.

    The numbers are right if each is one more than the least that a way leads to. Then they fall along a way, so it
    ends; and no way leads from a cell without a number to one that has one.
    """
    if len(numbers) != len(cells):
        raise BadCertificate(f"{where}: {len(numbers)} numbers, expected {len(cells)}")
    steps = {cell: number or _NEVER for cell, number in zip(cells, numbers, strict=True)}
    for cell, number in steps.items():
        expected = min([steps.get(on, 0) + 1 for on in ways(cell)] + [_NEVER])
        if number != expected:
            raise BadCertificate(f"{where}: {number % _NEVER} for {cell}, expected {expected % _NEVER}")
    return tuple(cell for cell, number in steps.items() if number == _NEVER)


def _tiles(layout: claims.Layout) -> dict[Cell, str]:
    """Return walls by cell, the fountain's among them, by column, then row."""
    return {cell: claims.walls(layout[cell]) if cell in layout else "" for cell in sorted([*layout, _FOUNTAIN])}


def _neighbours(where: str, tiles: dict[Cell, str], at: Cell) -> tuple[_Ways, _Ways]:
    """Return for each tile those beside it, and those that one can walk to. Only sides of ``at`` may break ALH-A2."""
    beside: _Ways = {cell: [] for cell in tiles}
    walkable: _Ways = {cell: [] for cell in tiles}
    for here, mine in tiles.items():
        for side, dx, dy, opposite in _SIDES[1:3]:
            if (there := (here[0] + dx, here[1] + dy)) in tiles:
                beside[here].append(there)
                beside[there].append(here)
                walls_here = (side in mine) + (opposite in tiles[there])
                if not walls_here:
                    walkable[here].append(there)
                    walkable[there].append(here)
                elif walls_here == 1 and at not in (here, there):
                    raise BadCertificate(f"{where}: ALH-A2 is broken at {here}, expected a layout that was legal")
    return beside, walkable


def _clashes(tiles: dict[Cell, str], at: Cell) -> tuple[Violation, ...]:
    """ALH-A2 for the tile on a cell, if there is one: the sides where wall meets open."""
    found = {}
    for side, dx, dy, opposite in _SIDES if at in tiles else ():
        there = (at[0] + dx, at[1] + dy)
        if there in tiles and (side in tiles[at]) != (opposite in tiles[there]):
            found[side] = there
    return (Violation("ALH-A2", (at, *found.values()), {"sides": "".join(found)}),) if found else ()


def _empty(tiles: dict[Cell, str], cell: Cell, ways: int) -> list[Cell]:
    return [there for dx, dy in _AROUND[:ways] if (there := (cell[0] + dx, cell[1] + dy)) not in tiles]


def _inner(tiles: dict[Cell, str]) -> list[Cell]:
    """Empty cells with tiles in all four directions, by column, then row. From others one leaves in a straight line."""
    rows, columns = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for x, y in tiles:
        rows[y].append(x)
        columns[x].append(y)
    return [
        (x, y)
        for x, ys in columns.items()
        for y in range(ys[0] + 1, ys[-1])
        if (x, y) not in tiles and y in rows and rows[y][0] < x < rows[y][-1]
    ]


# Several


def _judge_turn(claim: claims.TurnClaim, evidence: pb.TurnEvidence) -> tuple[Violation, ...]:
    """Return every rule that the first bad move breaks, or that tiles left over break."""
    layout, hand, used, number = claim.layout, set(claim.bought), 0, 0
    found: tuple[Violation, ...] = ()
    for number, move in enumerate(claim.moves, 1):
        found = out_of_turn(number == 1, move, claim, hand)
        if not found and isinstance(move, claims.Add | claims.Remove | claims.Swap | claims.Place):
            if used == len(evidence.steps):
                raise BadCertificate(f"turn: {used} layouts, expected one more, for move {number}")
            step = claims.Place(move.tile, move.at) if isinstance(move, claims.Add) else move
            found, layout = _judge_step(f"move {number}", layout, step, evidence.steps[used])
            used += 1
        if found:
            break
        if not isinstance(move, claims.Add | claims.Remove | claims.Swap):
            hand.discard(move.tile)
    if used < len(evidence.steps):
        raise BadCertificate(f"turn: {len(evidence.steps)} layouts, expected {used}")
    return tuple(Violation(v.rule_id, v.cells, {**v.facts, "move": number}) for v in found) or left_over(claim, hand)


def candidates(claim: claims.NoPlacementClaim) -> list[Cell]:
    """Return the cells that ALH-A2, A3, A4, A8 and A9 leave for the tile; whether it shuts a cell in is still to be
    shown.
    """
    tiles, mine = _tiles(claim.layout), claims.walls(claim.tile)
    found = []
    for x, y in sorted({there for cell in tiles for there in _empty(tiles, cell, 4)}):
        sides = [(a in mine, b in tiles[x + dx, y + dy]) for a, dx, dy, b in _SIDES if (x + dx, y + dy) in tiles]
        if all(a == b for a, b in sides) and (False, False) in sides and max(abs(x), abs(y)) <= COUNT:
            found.append((x, y))
    return found


def _judge_no_placement(claim: claims.NoPlacementClaim, evidence: pb.NoPlacementEvidence) -> claims.Place | None:
    """Return the first placement that is legal; None if there is none."""
    cells, legal = candidates(claim), None
    for i, (cell, numbers) in enumerate(zip(cells, evidence.cells, strict=False), 1):
        step = claims.Place(claim.tile, cell)
        if not _judge_step(f"({cell[0]}, {cell[1]})", claim.layout, step, numbers)[0]:
            cells, legal = cells[:i], step
            break
    if len(evidence.cells) != len(cells):
        raise BadCertificate(f"no placement: {len(evidence.cells)} layouts, expected {len(cells)}")
    return legal


def _judge_distance(claim: claims.DistanceClaim, evidence: pb.DistanceEvidence) -> Checked:
    """Walk the way; that none is shorter is taken on trust, unless a turn for each cell that differs is enough."""
    walked, reserve = [claim.start], {*claim.reserve}
    moves, turns, below = len(evidence.moves), claim.turns, evidence.refuted_below
    if moves != len(evidence.steps):
        raise BadCertificate(f"distance: {len(evidence.steps)} layouts, expected {moves}, one for each move")
    for i, numbers in enumerate(evidence.steps):
        try:
            move = claims.move_of(evidence.moves[i], f"moves[{i}]")
        except InputError as error:
            raise BadCertificate(str(error)) from None
        if not isinstance(move, claims.Remove) and not (
            isinstance(move, claims.Add | claims.Swap) and move.tile in reserve
        ):
            raise BadCertificate(f"moves[{i}]: {move}, expected a rebuild, with a tile of the reserve")
        step = claims.Place(move.tile, move.at) if isinstance(move, claims.Add) else move
        broken, after = _judge_step(f"steps[{i}]", walked[-1], step, numbers)
        if broken or after in walked:
            fault = f"breaks {broken[0].rule_id}" if broken else "leads back to an earlier layout"
            raise BadCertificate(f"moves[{i}]: {fault}, expected a legal rebuild on a shortest way")
        reserve, walked = (reserve | {*walked[-1].values()}) - {*after.values()}, [*walked, after]
    holds = (arrived := walked[-1] == claim.goal) and moves == turns
    expected = turns if holds else 0 if arrived else turns + 1
    if moves > turns or (moves and not arrived) or below != expected:
        raise BadCertificate(f"distance: {moves} moves, refuted below {below}, expected what decides on {turns} turns")
    least = len({cell for cell, _ in claim.start.items() ^ claim.goal.items()})
    return Checked(claim, holds, assumed=f"a solver refuted that fewer than {below} turns suffice" * (below > least))


def _judge_hand_out(claim: claims.HandOutClaim) -> tuple[Violation, ...]:
    """Apply ALH-F9: each tile to the seat with the most money of its slot's currency; to no seat on a tie or without
    any.
    """
    found = []
    for slot in claim.slots:
        sums = [sum(value for currency, value in hand if currency == slot.currency) for hand in claim.hands]
        richest = [seat for seat, money in enumerate(sums) if money == max(sums) > 0]
        seat = richest[0] if len(richest) == 1 else None
        if seat != slot.seat:
            claimed, expected = ("no seat" if each is None else each for each in (slot.seat, seat))
            facts = {"tile": slot.tile, "seat": claimed, "expected": expected, "money": " ".join(map(str, sums))}
            found.append(Violation("ALH-F9", (), facts))
    return tuple(found)


def out_of_turn(
    first: bool, move: claims.TurnMove, claim: claims.TurnClaim, hand: Collection[str]
) -> tuple[Violation, ...]:
    """Return what a move breaks wherever it lays its tile: ALH-C5, ALH-C7, ALH-C8, ALH-D1."""
    if not isinstance(move, claims.Add | claims.Remove | claims.Swap):
        return () if move.tile in hand else (Violation("ALH-C7", (), {"tile": move.tile, "found": "not in hand"}),)
    if not first:
        return (Violation("ALH-C5", (), {"awaited": "the bought tiles to be placed"}),)
    if isinstance(move, claims.Remove) or move.tile in claim.reserve:
        return ()
    if move.tile in claim.bought:
        return (Violation("ALH-C8", (), {"tile": move.tile}),)
    return (Violation("ALH-D1", (), {"tile": move.tile, "found": "not in the reserve"}),)


def left_over(claim: claims.TurnClaim, hand: Collection[str]) -> tuple[Violation, ...]:
    """Return bought tiles that are in hand when the turn ends (ALH-C7)."""
    left = [tile for tile in claim.bought if tile in hand]
    return tuple(Violation("ALH-C7", (), {"tile": tile, "found": "not put anywhere"}) for tile in left)
