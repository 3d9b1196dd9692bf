"""Proves or refutes claims about Kingdomino's rules of placement with Z3, and writes the certificates.

Each placement is asked about twice, and so is whether there is any; the two answers, the rules that are broken
according to the models, and the solver-free checker's findings have to agree, or ``SolverFailed`` is raised.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from referee.games.game import Cell, Violation
from referee.games.kingdomino.dominoes import Domino
from referee.wire.certificates.kingdomino import certificate, claims
from referee_solver.z3run import DEFAULT_RLIMIT, Answer, Budget, OutOfBudget, Proof, SmtFile, SolverFailed


def prove(claim: claims.Claim, *, rlimit: int = DEFAULT_RLIMIT, smt_lib: bool = False) -> Proof:
    """Prove whether the claim holds, with every rule that it breaks, a minimal reason and a certificate.

    Raise ``InputError``, one line, for a claim about what cannot be or from a kingdom that is illegal itself, and
    ``SolverFailed`` if Z3 gives no answer for a reason that is not the budget.
    """
    claims.check_claim(claim)
    certificate.check_legal(claim.kingdom)
    questions = _Questions(Budget(rlimit))
    try:
        proof = _placement(questions, claim) if isinstance(claim, claims.PlacementClaim) else _discard(questions, claim)
    except OutOfBudget:
        proof = Proof(claim, None)
    else:
        data = certificate.evidence_of(claim).SerializeToString(deterministic=True)
        checked = certificate.check(data)
        if (checked.claim, checked.holds, checked.violations, checked.counterexample) != (
            claim,
            proof.holds,
            proof.violations,
            proof.counterexample,
        ):
            raise SolverFailed(
                f"Z3 finds {proof.violations or proof.counterexample}, "
                f"the certificate proves {checked.violations or checked.counterexample}"
            )
        proof = replace(proof, certificate=data)
    return replace(proof, smt_lib=tuple(questions.files)) if smt_lib else proof


class _Questions:
    """Asks, and keeps what was asked."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.files: list[SmtFile] = []

    def ask(self, name: str, text: str, *, model: bool = False, core: bool = False) -> Answer:
        answer = self._budget.ask(text, model=model, core=core)
        self.files.append(SmtFile(f"{name}.smt2", text, "sat" if answer.satisfiable else "unsat"))
        return answer


def _placement(questions: _Questions, claim: claims.PlacementClaim) -> Proof:
    """Ask the rules of placement both ways."""
    kingdom, placed = claim.kingdom, claim.placed
    legal = questions.ask("obeys", obeys(kingdom, placed)).satisfiable
    violations = _broken(questions, kingdom, placed)
    if legal == bool(violations):
        raise SolverFailed(f"Z3 contradicts itself: legal {legal}, broken {violations}")
    core: tuple[str, ...] = ()
    if violations:
        reason = questions.ask("reason", obeys(kingdom, placed, {violations[0].rule_id}), core=True)
        if reason.satisfiable:
            raise SolverFailed(f"Z3 contradicts itself: {violations[0].rule_id} is broken and is not")
        core = reason.core
    return Proof(claim, not violations, violations, core)


def _discard(questions: _Questions, claim: claims.DiscardClaim) -> Proof:
    """Ask both ways whether there is any placement; find the first one by looking for one before it."""
    kingdom, domino = claim.kingdom, claim.domino
    first = found = _somewhere(questions, kingdom, domino, None)
    if questions.ask("unbroken", unbroken(kingdom, domino)).satisfiable is (found is None):
        raise SolverFailed(f"Z3 contradicts itself: a placement {found}, by the other statement the opposite")
    while found is not None:
        first, found = found, _somewhere(questions, kingdom, domino, found)
    return Proof(claim, first is None, certificate.could_be_placed(first), counterexample=first)


def _somewhere(
    questions: _Questions, kingdom: claims.Kingdom, domino: Domino, before: claims.Placed | None
) -> claims.Placed | None:
    name = f"somewhere-{len(questions.files)}"
    answer = questions.ask(name, somewhere(kingdom, domino, before), model=True)
    return claims.Placed(domino, *cells_of(answer.true)) if answer.satisfiable else None


def _broken(questions: _Questions, kingdom: claims.Kingdom, placed: claims.Placed) -> tuple[Violation, ...]:
    """Return every rule that is broken, from the model of the question whether one is."""
    answer = questions.ask("breaks", breaks(kingdom, placed), model=True)
    return violations([name for name in answer.true if name.startswith("KDO-")], placed)


# Kingdomino's rules of placement as questions for a solver, stated from the rule text: a second opinion.
#
# Knows the names of the rules and nothing of the engine that decides moves. ``ax``, ``ay``, ``bx`` and ``by`` are the
# cells of the left and the right half, given or free. A placement is asked about twice, in SMT-LIB 2:
#
# - ``obeys`` is satisfiable exactly if every rule is obeyed: lengths of ways on the board, and somewhere a window of
#   the frame's size. One named assertion for each rule and its subject.
# - ``breaks`` is satisfiable exactly if one is broken: cell by cell, and squares too far apart. Its variables are named
#   like the rules and the halves; each is true exactly if that is broken, so its one model has all that is.
#
# If both were satisfiable, or neither, one would be wrong. With free cells both ask about all places at once: whether
# the domino may be placed anywhere.

RULES = ("KDO-14", "KDO-16", "KDO-18", "KDO-19")
_HALVES = (("left", "ax", "ay"), ("right", "bx", "by"))
_AROUND = ((0, -1), (1, 0), (0, 1), (-1, 0))


def obeys(kingdom: claims.Kingdom, placed: claims.Placed, rules: Collection[str] = RULES) -> str:
    """State the question whether the placement obeys the rules: satisfiable exactly if it does."""
    named = (line for rule, line in _obeyed(kingdom, placed.domino) if rule in rules)
    return _text(["(set-option :produce-unsat-cores true)", *_HEAD, *_window(kingdom.frame), *_given(placed), *named])


def breaks(kingdom: claims.Kingdom, placed: claims.Placed) -> str:
    """State the question whether the placement breaks a rule: satisfiable exactly if it does."""
    names, lines = _breaks(kingdom, placed.domino)
    return _text([*_HEAD, *_given(placed), *lines, f"(assert (or {_bars(names)}))"])


def somewhere(kingdom: claims.Kingdom, domino: Domino, before: claims.Placed | None = None) -> str:
    """State the question whether the domino may be placed anywhere; with ``before``, at a place that comes before that
    one.

    ``|left x y|`` and ``|right x y|`` tell where.
    """
    named = (line for _, line in _obeyed(kingdom, domino))
    order = [] if before is None else [f"(assert {_less(before)})"]
    return _text([*_HEAD, *_window(kingdom.frame), *named, *order, *_told(kingdom.frame)])


def unbroken(kingdom: claims.Kingdom, domino: Domino) -> str:
    """State the same question from the other statement: whether there are cells for which nothing is broken."""
    names, lines = _breaks(kingdom, domino)
    return _text([*_HEAD, *lines, f"(assert (not (or {_bars(names)})))"])


def violations(broken: Collection[str], placed: claims.Placed) -> tuple[Violation, ...]:
    """Return the rules that are broken, from the names of all broken instances."""
    halves: dict[str, set[str]] = {rule: set() for rule in RULES}
    for name in broken:
        rule, *half = name.split()
        halves[rule] |= {*half} or {"both"}
    both = (placed.left, placed.right)
    found = []
    for rule, named in halves.items():
        single = tuple(dict.fromkeys(cell for half, cell in zip(("left", "right"), both, strict=True) if half in named))
        if named:
            found.append(Violation(rule, single or both))
    return tuple(found)


def cells_of(true: Collection[str]) -> tuple[Cell, Cell]:
    """Return where ``somewhere`` found room, from the names that are true in its model."""
    found = {name.split()[0]: name.split()[1:] for name in true if name.startswith(("left ", "right "))}
    (ax, ay), (bx, by) = (map(int, found[half]) for half in ("left", "right"))
    return (ax, ay), (bx, by)


# Obeyed


def _obeyed(kingdom: claims.Kingdom, domino: Domino) -> Iterator[tuple[str, str]]:
    """Yield each rule with a named assertion, one for each thing that the rule speaks of."""
    squares, frame = kingdom.squares(), kingdom.frame
    yield "KDO-19", _named("KDO-19", f"(= 1 {_way('ax', 'ay', 'bx', 'by')})")
    for x, y in (claims.CASTLE, *squares):
        free = " ".join(f"(< 0 {_way(hx, hy, x, y)})" for _, hx, hy in _HALVES)
        yield "KDO-18", _named(f"KDO-18 {x} {y}", f"(and {free})")
    for half, hx, hy in _HALVES:
        yield "KDO-16", _named(f"KDO-16 {half}", _within(frame, hx, hy))
    if frame.castle is None:
        for x, y in (claims.CASTLE, *squares):
            yield "KDO-16", _named(f"KDO-16 {x} {y}", _within(frame, x, y))
    touching = [
        f"(= 1 {_way(hx, hy, x, y)})"
        for (_, hx, hy), half in zip(_HALVES, (domino.left, domino.right), strict=True)
        for x, y in (claims.CASTLE, *(cell for cell, square in squares.items() if square.terrain == half.terrain))
    ]
    yield "KDO-14", _named("KDO-14", f"(or {' '.join(touching)})")


def _window(frame: claims.Frame) -> list[str]:
    """State where the frame's first column and row lie."""
    if frame.castle is None:
        return ["(declare-const west Int)", "(declare-const north Int)"]
    column, row = frame.castle
    return [f"(define-fun west () Int {_int(-column)})", f"(define-fun north () Int {_int(-row)})"]


def _within(frame: claims.Frame, x: object, y: object) -> str:
    x, y = _int(x), _int(y)
    return f"(and (<= west {x}) (< {x} (+ west {frame.size})) (<= north {y}) (< {y} (+ north {frame.size})))"


def _way(ax: object, ay: object, bx: object, by: object) -> str:
    """Return how many sides one crosses from a cell to another."""
    return f"(+ (abs (- {_int(ax)} {_int(bx)})) (abs (- {_int(ay)} {_int(by)})))"


# Broken


def _breaks(kingdom: claims.Kingdom, domino: Domino) -> tuple[list[str], list[str]]:
    """Return the names of possible violations, and the meaning of each."""
    squares, frame = kingdom.squares(), kingdom.frame
    cells = [claims.CASTLE, *squares]
    means = {"KDO-19": f"(not {_beside('ax', 'ay', [('bx', 'by')])})"}
    means |= {f"KDO-18 {half}": _on(hx, hy, cells) for half, hx, hy in _HALVES}
    if frame.castle is not None:
        column, row = frame.castle
        inside = [(x - column, y - row) for x in range(frame.size) for y in range(frame.size)]
        means |= {f"KDO-16 {half}": f"(not {_on(hx, hy, inside)})" for half, hx, hy in _HALVES}
    else:
        means |= {f"KDO-16 {half}": _apart(hx, hy, cells, frame.size) for half, hx, hy in _HALVES}
        means["KDO-16"] = _apart("ax", "ay", [("bx", "by")], frame.size)
    fitting = []
    for (_, hx, hy), half in zip(_HALVES, (domino.left, domino.right), strict=True):
        like = [claims.CASTLE, *(cell for cell, square in squares.items() if square.terrain == half.terrain)]
        fitting.append(_beside(hx, hy, like))
    means["KDO-14"] = f"(not (or {' '.join(fitting)}))"
    lines = []
    for name, text in means.items():
        lines += [f"(declare-const |{name}| Bool)", f"(assert (= |{name}| {text}))"]
    return list(means), lines


def _apart(x: str, y: str, cells: Collection[tuple[object, object]], size: int) -> str:
    """State that the cell is too far from one of these to lie in one window with it, in one direction or the other."""
    ways = sorted({(here, _int(there)) for cell in cells for here, there in zip((x, y), cell, strict=True)})
    return f"(or {' '.join(f'(<= {size} (- {a} {b})) (<= {size} (- {b} {a}))' for a, b in ways)})"


def _on(x: str, y: str, cells: Collection[Cell]) -> str:
    """State that the cell is one of these."""
    return f"(or false {' '.join(f'(and (= {x} {_int(cx)}) (= {y} {_int(cy)}))' for cx, cy in cells)})"


def _beside(x: str, y: str, cells: Collection[tuple[object, object]]) -> str:
    """State that the cell to the north, east, south or west of it is one of these."""
    ways = (
        f"(and (= (+ {x} {_int(dx)}) {_int(cx)}) (= (+ {y} {_int(dy)}) {_int(cy)}))"
        for cx, cy in cells
        for dx, dy in _AROUND
    )
    return f"(or {' '.join(ways)})"


# Both

_HEAD = ("(set-logic QF_LIA)", *(f"(declare-const {name} Int)" for _, *half in _HALVES for name in half))


def _given(placed: claims.Placed) -> list[str]:
    ends = zip(_HALVES, (placed.left, placed.right), strict=True)
    return [f"(assert (and (= {hx} {_int(x)}) (= {hy} {_int(y)})))" for (_, hx, hy), (x, y) in ends]


def _less(placed: claims.Placed) -> str:
    """State that the cells come before these: by the left half's x and y, then the right half's."""
    text = "false"
    for name, value in reversed([*zip(("ax", "ay", "bx", "by"), (*placed.left, *placed.right), strict=True)]):
        text = f"(or (< {name} {_int(value)}) (and (= {name} {_int(value)}) {text}))"
    return text


def _told(frame: claims.Frame) -> Iterator[str]:
    """Name for the cells that can lie in one frame with the castle."""
    reach = range(1 - frame.size, frame.size)
    for half, hx, hy in _HALVES:
        for x in reach:
            for y in reach:
                name = f"|{half} {x} {y}|"
                yield f"(declare-const {name} Bool)"
                yield f"(assert (= {name} (and (= {hx} {_int(x)}) (= {hy} {_int(y)}))))"


def _named(name: str, text: str) -> str:
    return f"(assert (! {text} :named |{name}|))"


def _bars(names: Collection[str]) -> str:
    return " ".join(f"|{name}|" for name in names)


def _int(value: object) -> str:
    """Return a variable as it is; a negative number as SMT-LIB writes it."""
    return f"(- {-value})" if isinstance(value, int) and value < 0 else str(value)


def _text(lines: Collection[str]) -> str:
    return "\n".join([*lines, "(check-sat)", ""])
