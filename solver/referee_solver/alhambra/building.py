"""Alhambra's rules of building as questions for a solver: a second opinion on every layout, and the evidence for it.

Knows the names of the rules and nothing of the engine that decides moves. A layout is asked about twice, in SMT-LIB 2:

- ``obeys`` is satisfiable exactly if the layout obeys every rule: every reachable cell has a number, and on the way
  numbers fall. One named assertion for each rule and place.
- ``breaks`` is satisfiable exactly if it breaks another rule than is said: a set from which no way leads out. Its
  variables are named like those assertions.

One is solved by arithmetic, the other by Boolean reasoning. For a layout that is said to break nothing the first has to
be satisfiable and the second not: otherwise one would be wrong.

A way on foot is one side by side, too, and one by sides is one by corners. So ALH-A3 and ALH-A5 need to be asked about
only where ALH-A4 and ALH-A6 are broken.

Empty cells from which a straight line along the row or the column meets no tile are outside, as one can walk on for
ever; the other empty cells are *inner* ones and need a way to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from referee.alhambra.v1 import proof_pb2 as pb
from referee.games.alhambra.tiles import COUNT
from referee.games.game import Cell, InputError, Violation
from referee.wire.certificates.alhambra import claims

FOUNTAIN: Cell = (0, 0)
_SIDES = "NESW"
_STEPS = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
_OPPOSITE = {"N": "S", "E": "W", "S": "N", "W": "E"}
_CACHED = 10_000
"""Names and neighbours that are kept: those of the cells near the fountain, which come back in every question."""
_FAMILIES = ("ALH-A2", "ALH-A3", "ALH-A4", "ALH-A5", "ALH-A6")
STRICTER = {"ALH-A3": "ALH-A4", "ALH-A5": "ALH-A6"}
"""Rules about ways, and the rule about the same cells that allows fewer ways. Cells that obey it obey both."""
_DECISIVE = ("ALH-A2", *STRICTER.values())

Walls = Mapping[Cell, str]
"""Walls by cell, as letters of NESW; the fountain's among them, which has none."""

Ways = Mapping[Cell, list[Cell]]
"""Cells that need a way, and where one step of it may lead. A way ends in a cell that needs none."""


def walls_of(layout: claims.Layout) -> dict[Cell, str]:
    """Return the walls of the layout's tiles and of the fountain, by column, then row."""
    return dict(sorted([(FOUNTAIN, ""), *((cell, claims.walls(tile)) for cell, tile in layout.items())]))


def impossible(layout: claims.Layout, step: claims.Step) -> Violation | None:
    """Return the rule that forbids the step before anything is laid: ALH-A8, ALH-A9, ALH-D1, ALH-D2."""
    taken = step.at in layout
    match step:
        case claims.Place() if max(map(abs, step.at)) > COUNT:
            return Violation("ALH-A8", (step.at,))
        case claims.Place() if taken or step.at == FOUNTAIN:
            return Violation("ALH-A9", (step.at,))
        case claims.Remove() | claims.Swap() if step.at == FOUNTAIN:
            return Violation("ALH-D2", (step.at,))
        case claims.Remove() | claims.Swap() if not taken:
            return Violation("ALH-D1", (step.at,), {"found": "empty cell", "expected": "a tile"})
    return None


def after(layout: claims.Layout, step: claims.Step) -> dict[Cell, str]:
    """Return the layout after a step that is not impossible."""
    if isinstance(step, claims.Remove):
        return {cell: tile for cell, tile in layout.items() if cell != step.at}
    return {**layout, step.at: step.tile}


class Ground:
    """The facts found without a solver: touching cells, ways on foot, inner cells."""

    def __init__(self, tiles: Walls) -> None:
        self.tiles = tiles
        self.inner = _inner(tiles)
        self._laid = [cell for cell in tiles if cell != FOUNTAIN]
        self._ways: dict[str, Ways] = {}

    def ways(self, rule: str) -> Ways:
        """Return the ways that ALH-A3, ALH-A4, ALH-A5 or ALH-A6 is about.

        ALH-A6 stands for ALH-A5 as well: an inner cell that no way by sides leads out of is shut in; if not even one by
        corners does, it is so under ALH-A5.
        """
        if rule not in self._ways:
            cells, there = {
                "ALH-A3": (self._laid, self.beside),
                "ALH-A4": (self._laid, self.walkable),
                "ALH-A5": (self.inner, self.empty_around),
                "ALH-A6": (self.inner, self.empty_beside),
            }[rule]
            self._ways[rule] = {cell: there(cell) for cell in cells}
        return self._ways[rule]

    def beside(self, cell: Cell) -> list[Cell]:
        """Return tiles that touch the tile by a side."""
        return [there for there in _beside(cell) if there in self.tiles]

    def walkable(self, cell: Cell) -> list[Cell]:
        """Return tiles that touch the tile by a side without a wall of either."""
        return [
            there
            for side, there in zip(_SIDES, _beside(cell), strict=True)
            if there in self.tiles and side not in self.tiles[cell] and _OPPOSITE[side] not in self.tiles[there]
        ]

    def empty_beside(self, cell: Cell) -> list[Cell]:
        """Return empty cells that touch the empty cell by a side."""
        return [there for there in _beside(cell) if there not in self.tiles]

    def empty_around(self, cell: Cell) -> list[Cell]:
        """Return empty cells that touch the empty cell by a side or a corner."""
        return [there for there in (*_beside(cell), *_diagonal(cell)) if there not in self.tiles]

    def seams(self) -> Iterable[tuple[Cell, str, bool, bool]]:
        """Return the sides that two tiles share: the tile to the west or north, its side, both walls (ALH-A2)."""
        for (x, y), mine in self.tiles.items():
            for side, there in (("E", (x + 1, y)), ("S", (x, y + 1))):
                if there in self.tiles:
                    yield (x, y), side, side in mine, _OPPOSITE[side] in self.tiles[there]


def obeys(ground: Ground, rules: Collection[str] = _DECISIVE) -> str:
    """State the question whether a layout obeys the rules: satisfiable exactly if it does. By default all of them."""
    out = ["(set-option :produce-unsat-cores true)", "(set-logic QF_IDL)"]
    if "ALH-A2" in rules:
        out += [
            f"(assert (! (= {_truth(mine)} {_truth(theirs)}) :named {_named('ALH-A2', cell, side)}))"
            for cell, side, mine, theirs in ground.seams()
        ]
    asked = {rule: ground.ways(rule) for rule in _FAMILIES[1:] if rule in rules}
    numbered = dict.fromkeys(cell for ways in asked.values() for cell in ways)
    out += [f"(declare-const {_number(cell)} Int)" for cell in numbered]
    for rule, ways in asked.items():
        out += _falling(rule, ways)
    return "\n".join([*out, "(check-sat)", ""])


def breaks(ground: Ground, said: Collection[str] = ()) -> str:
    """State the question whether a layout breaks other instances of rules than it is said to, or not all of those:
    satisfiable exactly if it does.

    Some cells are marked, those that are said to be broken and any others. Each of the others that is marked has ways
    to marked cells only. So if one is marked, or one that is said to be broken has a way to a cell that is not, the
    marked cells that no way leads out of are others than was said.
    """
    out, closed = ["(set-logic QF_UF)"], []
    said = {f"|{name}|" for name in said}
    different = [
        f"({'=' if _named('ALH-A2', cell, side) in said else 'distinct'} {_truth(mine)} {_truth(theirs)})"
        for cell, side, mine, theirs in ground.seams()
    ]
    about = {name[1:7] for name in said}
    for rule in _FAMILIES[1:]:
        if rule in STRICTER and not about & {rule, STRICTER[rule]}:
            continue
        ways = ground.ways(rule)
        for cell, there in ways.items():
            name = _named(rule, cell)
            only = f"(and true {' '.join(_named(rule, on) if on in ways else 'false' for on in there)})"
            if name in said:
                out.append(f"(define-fun {name} () Bool true)")
                different.append(f"(not {only})")
            else:
                out.append(f"(declare-const {name} Bool)")
                closed.append(f"(assert (=> {name} {only}))")
                different.append(name)
    return "\n".join([*out, *closed, f"(assert (or false {' '.join(different)}))", "(check-sat)", ""])


def violations(broken: Collection[str], at: Cell) -> tuple[Violation, ...]:
    """Return the rules that are broken, from the names of all broken instances, for a layout that changed ``at`` a
    cell.
    """
    cells: dict[str, list[Cell]] = {rule: [] for rule in _FAMILIES}
    clashes = []
    for name in broken:
        rule, x, y, *side = name.split()
        cells[rule].append((int(x), int(y)))
        if side:
            clashes.append(((int(x), int(y)), side[0]))
    found = []
    if clashes:
        # Seen from the tile that changed: a side to the north or west is kept as the neighbour's.
        sides = {
            side if cell == at else _OPPOSITE[side]: _neighbour(cell, side) if cell == at else cell
            for cell, side in clashes
        }
        letters = [side for side in _SIDES if side in sides]
        found.append(Violation("ALH-A2", (at, *(sides[side] for side in letters)), {"sides": "".join(letters)}))
    cells["ALH-A6"] = [cell for cell in cells["ALH-A6"] if cell not in cells["ALH-A5"]]
    found += [Violation(rule, tuple(sorted(cells[rule]))) for rule in _FAMILIES[1:] if cells[rule]]
    return tuple(found)


def somewhere(layout: claims.Layout, tile: str) -> str:
    """State the question whether the tile may be placed anywhere: satisfiable exactly if there is a cell for it.

    ``at`` numbers the empty cells beside a tile; on others it would touch nothing (ALH-A3). An empty cell of the box
    around the tiles has a way out of it by sides, which the placed tile does not block.
    """
    tiles, mine = walls_of(layout), claims.walls(tile)
    cells = {cell: i for i, cell in enumerate(sorted({c for t in tiles for c in _beside(t)} - set(tiles)))}
    xs, ys = [x for x, _ in tiles], [y for _, y in tiles]
    box = [(x, y) for x in range(min(xs), max(xs) + 1) for y in range(min(ys), max(ys) + 1) if (x, y) not in tiles]
    out = ["(set-logic QF_IDL)", "(declare-const at Int)", f"(assert (and (<= 0 at) (< at {len(cells)})))"]
    out += [f"(declare-const |out {x} {y}| Int)" for x, y in box]
    for cell, i in cells.items():
        sides = [
            (side in mine, _OPPOSITE[side] in tiles[there])
            for side, there in zip(_SIDES, _beside(cell), strict=True)
            if there in tiles
        ]
        match_all = " ".join(f"(= {_truth(a)} {_truth(b)})" for a, b in sides)
        open_one = " ".join(f"(and {_truth(not a)} {_truth(not b)})" for a, b in sides)
        out.append(f"(assert (! (=> (= at {i}) (and true {match_all})) :named {_named('ALH-A2', cell)}))")
        out.append(f"(assert (! (=> (= at {i}) (or false {open_one})) :named {_named('ALH-A4', cell)}))")
        if max(map(abs, cell)) > COUNT:
            out.append(f"(assert (! (distinct at {i}) :named {_named('ALH-A8', cell)}))")
    inside = set(box)
    for cell in box:
        ways = [f"(= at {cells[cell]})"] if cell in cells else []
        for on in _beside(cell):
            if on not in tiles:
                free = f"(distinct at {cells[on]})" if on in cells else "true"
                fall = f"(< |out {on[0]} {on[1]}| |out {cell[0]} {cell[1]}|)" if on in inside else "true"
                ways.append(f"(and {free} {fall})")
        out.append(f"(assert (! (or false {' '.join(ways)}) :named {_named('ALH-A5', cell)}))")
    return "\n".join([*out, "(check-sat)", ""])


def forbidden(violation: Violation) -> str:
    """State that a move which a single fact forbids obeys the rule: the fact contradicts it."""
    what = violation.cells[0] if violation.cells else (violation.facts.get("tile", "turn"),)
    name = f"|{' '.join((violation.rule_id, *map(str, what)))}|"
    return f"(set-option :produce-unsat-cores true)\n(set-logic QF_UF)\n(assert (! false :named {name}))\n(check-sat)\n"


def _falling(rule: str, ways: Ways) -> Iterable[str]:
    """Yield assertions: from each cell numbers fall along a way, to a cell that needs none, so every cell has a way.

    A way of the stricter rule is one of the other, too: a cell needs one number for both.
    """
    for cell, there in ways.items():
        falls = [f"(< {_number(on)} {_number(cell)})" if on in ways else "true" for on in there]
        yield f"(assert (! (or false {' '.join(falls)}) :named {_named(rule, cell)}))"


@lru_cache(_CACHED)
def _number(cell: Cell) -> str:
    return f"|steps {cell[0]} {cell[1]}|"


@lru_cache(_CACHED)
def _named(rule: str, cell: Cell, *more: str) -> str:
    return f"|{' '.join((rule, str(cell[0]), str(cell[1]), *more))}|"


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _neighbour(cell: Cell, side: str) -> Cell:
    dx, dy = _STEPS[side]
    return cell[0] + dx, cell[1] + dy


@lru_cache(_CACHED)
def _beside(cell: Cell) -> tuple[Cell, ...]:
    return tuple(_neighbour(cell, side) for side in _SIDES)


def _diagonal(cell: Cell) -> list[Cell]:
    return [(cell[0] + dx, cell[1] + dy) for dx in (-1, 1) for dy in (-1, 1)]


def _inner(tiles: Collection[Cell]) -> list[Cell]:
    """Return empty cells with a tile somewhere to the north, east, south and west, by column, then row."""
    rows: dict[int, list[int]] = {}
    columns: dict[int, list[int]] = {}
    for x, y in tiles:
        rows.setdefault(y, []).append(x)
        columns.setdefault(x, []).append(y)
    return [
        (x, y)
        for x, ys in sorted(columns.items())
        for y in range(min(ys) + 1, max(ys))
        if (x, y) not in tiles and y in rows and min(rows[y]) < x < max(rows[y])
    ]


# The facts about a layout without a solver: the least numbers of steps, counted outwards, and so whether it is legal.
#
# The numbers are the evidence of certificates; ``certificate`` finds what they prove.

Steps = Mapping[str, list[int]]
"""The ``least_steps`` of the cells, by rule about ways; none if a stricter rule is obeyed and stands for it."""


def of_layout(layout: claims.Layout) -> pb.LayoutEvidence:
    """Return the evidence of a layout, legal or not."""
    return message_of_steps(steps_of(Ground(walls_of(layout))))


def message_of_steps(steps: Steps) -> pb.LayoutEvidence:
    """Return the evidence of a layout whose steps are known."""
    return pb.LayoutEvidence(foot=steps["ALH-A4"], touch=steps["ALH-A3"], out=steps["ALH-A6"], corner=steps["ALH-A5"])


def steps_of(ground: Ground) -> Steps:
    """Return the steps of all rules about ways."""
    steps: dict[str, list[int]] = {}
    for rule, stricter in STRICTER.items():
        steps[stricter] = least_steps(ground.ways(stricter))
        steps[rule] = least_steps(ground.ways(rule)) if 0 in steps[stricter] else []
    return steps


def broken(ground: Ground, steps: Steps) -> list[str]:
    """Return names of all instances of rules that a layout breaks, as in ``building``, rule by rule."""
    found = [f"ALH-A2 {x} {y} {side}" for (x, y), side, mine, theirs in ground.seams() if mine != theirs]
    for rule in sorted(steps):
        if 0 in steps[rule]:
            numbered = zip(ground.ways(rule), steps[rule], strict=True)
            found += [f"{rule} {x} {y}" for (x, y), number in numbered if not number]
    return found


def of_distance(
    claim: claims.DistanceClaim, moves: Sequence[claims.Add | claims.Remove | claims.Swap], refuted_below: int
) -> bytes:
    """Return the certificate of a distance: a way, and the number of turns below which a solver refuted that there is
    one.

    The claim holds if both are ``claim.turns``. It fails with fewer moves and 0, or with no moves and
    ``claim.turns + 1``.
    """
    message = pb.DistanceEvidence(refuted_below=refuted_below)
    layout = dict(claim.start)
    for move in moves:
        layout = after(layout, claims.Place(move.tile, move.at) if isinstance(move, claims.Add) else move)
        message.moves.append(claims.move_message(move))
        message.steps.append(of_layout(layout))
    return serialized(pb.Certificate(claim=claims.message_of(claim), distance=message))


def serialized(certificate: pb.Certificate) -> bytes:
    """Return the one encoding of a certificate."""
    return certificate.SerializeToString(deterministic=True)


def least_steps(ways: Ways) -> list[int]:
    """Return for each cell the least number of steps to a cell that is not among them; 0 if there is no way.

    The ways have to lead back as well.
    """
    steps = dict.fromkeys(ways, 0)
    reached = [cell for cell, there in ways.items() if any(on not in steps for on in there)]
    number = 1
    while reached:
        for cell in reached:
            steps[cell] = number
        number += 1
        reached = list(dict.fromkeys(on for cell in reached for on in ways[cell] if steps.get(on) == 0))
    return list(steps.values())


def check_legal(where: str, layout: claims.Layout) -> None:
    """Raise ``InputError``, one line, if the layout breaks a rule of building.

    No solver is asked: a claim takes the layout it starts from as legal, so this proves nothing.
    """
    ground = Ground(walls_of(layout))
    for name in broken(ground, steps_of(ground)):
        rule, x, y, *side = name.split()
        raise InputError(where, f"breaks {', '.join([f'{rule} at ({x}, {y})', *side])}", "a legal layout", sep=";")
