"""``referee best-kingdom``: the best kingdom that some dominoes can make, found and proven."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from cyclopts import Parameter

from referee import console
from referee.cli.shared import output
from referee.cli.shared.components import components as own_components
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.solver import Rlimit
from referee.cli.solver import questions
from referee.cli.solver.questions import NO_LIMIT, Seconds, Seed, search
from referee.games import registry
from referee.games.kingdomino.dominoes import COUNT, Domino, DominoSet, domino_set
from referee.games.kingdomino.scoring import in_one_area
from referee.text.notation.kingdomino.claims import written_placed
from referee.text.render.kingdomino import claim_picture, claimed
from referee.text.render.kingdomino import svg as drawn
from referee.v1 import solver_service_pb2 as pb
from referee.wire.certificates.kingdomino.claims import Frame, domino_message, frame_message, placed_of
from referee.wire.registry import codec

_GAME: Final = "kingdomino"
_FRAME: Final = re.compile("([57])(?::fixed:([0-6]),([0-6]))?", re.ASCII)

Answer: TypeAlias = pb.FindBestKingdomResponse


def best_kingdom(
    *,
    dominoes: Annotated[
        str | None,
        Parameter(metavar="NUMBERS", help="The dominoes to build with, such as 3,12,48.", show_default=False),
    ] = None,
    every: Annotated[bool, Parameter(name="--all", help="Build with all 48 dominoes.")] = False,
    components: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Your own dominoes, as JSON in the form that `referee new --rules kingdomino --show-components` "
            "prints.",
        ),
    ] = None,
    frame: Annotated[
        str,
        Parameter(
            metavar="FRAME", help="5 or 7 cells wide; 5:fixed:COLUMN,ROW for a fixed frame with the castle there."
        ),
    ] = "5",
    budget: Seconds = 60.0,
    rlimit: Rlimit = None,
    seed: Seed = 0,
    as_json: Annotated[bool, Parameter(name="--json", help="Print one JSON object instead of text.")] = False,
    svg: Annotated[Path | None, Parameter(metavar="OUT", help="Also write the kingdom as a picture.")] = None,
) -> None:
    """Find the kingdom with the most points that the given dominoes can make, and prove it if time allows.

    Dominoes may be left out. Bonuses do not count.

    `referee best-kingdom --dominoes 3,12,19,41,48 --frame 5:fixed:2,2 --svg kingdom.svg`

    `referee best-kingdom --components edition.json --dominoes 1,2,3` builds with dominoes of another edition.

    Standard error shows the progress: the best kingdom so far, and a bound that no kingdom exceeds. Ctrl-C stops the
    search and keeps the best. With --json:

        {"best":10,"bound":10,"proven":true,"kingdom":[[47,1,0,2,0],[48,2,2,2,1]]}

    Each domino of the kingdom is its number, then x and y of its left half and of its right half, with the castle at
    0,0. The dominoes are in an order in which they may be placed. "proven" is true if no kingdom of these dominoes in
    this frame has more points.
    """
    if (dominoes is None) != every:
        raise Failure("expected either --dominoes NUMBERS or --all", EXIT_USAGE)
    square, known = _frame(frame), domino_set() if components is None else _components(components)
    chosen = known.dominoes if every else _dominoes(questions.listed(dominoes) or [], known)
    request = pb.FindBestKingdomRequest(
        dominoes=map(domino_message, chosen),
        frame=frame_message(square),
        budget=pb.Budget(rlimit=rlimit or NO_LIMIT),
        seed=seed,
    )
    found, lost = search("FindBestKingdom", request, Answer(bound=in_one_area(chosen)), budget, _known)
    placed = [placed_of(each, "kingdom") for each in found.kingdom]
    if as_json:
        kingdom = [written_placed(each) for each in placed]
        questions.write_json({"best": found.best, "bound": found.bound, "proven": found.proven, "kingdom": kingdom})
    else:
        output.write(f"{_in_words(found)}\n\n{claim_picture(square, placed, ascii_only=not console.has_lines())}")
    if svg is not None:
        questions.write_text(svg, drawn(claimed(square, placed), known, f"Best kingdom: {found.best}"))
    if lost:
        raise Failure(f"{lost}; the answer is the best found so far")


def _frame(text: str) -> Frame:
    """Raise ``Failure``."""
    match = _FRAME.fullmatch(text)
    if match is None:
        raise Failure(f"--frame {text}: expected 5, 7, 5:fixed:COLUMN,ROW or 7:fixed:COLUMN,ROW", EXIT_USAGE)
    size, column, row = match.groups()
    if column is None:
        return Frame(int(size), None)
    if max(column, row) >= size:
        raise Failure(f"--frame {text}: expected column and row from 0 to {int(size) - 1}", EXIT_USAGE)
    return Frame(int(size), (int(column), int(row)))


def _components(file: Path) -> DominoSet:
    """Raise ``Failure``."""
    found: DominoSet = codec(_GAME, registry.get(_GAME).version).decode_components(own_components(_GAME, file))
    return found


def _dominoes(names: Iterable[str], known: DominoSet) -> list[Domino]:
    """Raise ``Failure``."""
    found: list[Domino] = []
    for name in names:
        if not (name.isascii() and name.isdecimal() and len(name) < 4 and 1 <= int(name) <= COUNT):
            raise Failure(f"--dominoes: {name}; expected numbers from 1 to {COUNT}, such as 3,12,48", EXIT_USAGE)
        if (domino := known.dominoes[int(name) - 1]) in found:
            raise Failure(f"--dominoes: {name} is given twice; expected each domino once", EXIT_USAGE)
        found.append(domino)
    return found


def _in_words(found: Answer) -> str:
    none = "no kingdom of these dominoes has more"
    if found.proven:
        return f"best kingdom {found.best} points, proven: {none}"
    return f"best kingdom found {found.best} points, not proven: {none} than {found.bound}"


def _known(found: Answer) -> str:
    return f"{found.best} points, bound {found.bound}"
