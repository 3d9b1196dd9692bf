"""Claims about Kingdomino's rules of placement: as JSON has them, and in words. Judges nothing.

A question has one of two forms; the frame and the kingdom are as ``inspect`` has them, the castle at 0,0:

    {"frame":FRAME,"kingdom":[PLACED,…],"place":PLACED}    the domino may be placed so
    {"frame":FRAME,"kingdom":[PLACED,…],"discard":NUMBER}  it may be placed nowhere

    FRAME: {"size":5,"castle":[column,row]}, the castle null in a relative frame; PLACED: [number,ax,ay,bx,by]

Dominoes are those of the default set; ``"dominoes":{"48":["wheat","mine:2"]}`` states the halves of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from referee.games.kingdomino.dominoes import DOMINOES, Domino
from referee.text.notation.kingdomino.inspect import domino_number, frame, placed, stated_dominoes
from referee.text.notation.questions import QueryError, an_array, only, required
from referee.wire.certificates.kingdomino.claims import Claim, DiscardClaim, Frame, Kingdom, Placed, PlacementClaim

_FIELDS: Final = ("frame", "kingdom", "dominoes")
_FORMS: Final = ("place", "discard")


def claim(question: dict[str, Any]) -> Claim:
    """Return what the question claims. Raise ``QueryError``."""
    named = [form for form in _FORMS if form in question]
    if len(named) != 1:
        found = " and ".join(named) or "none"
        raise QueryError(f"claim: {found}; expected exactly one of {', '.join(_FORMS)}")
    (form,) = named
    only(question, frozenset((*_FIELDS, form)))
    dominoes = stated_dominoes(question.get("dominoes", {}), "dominoes")
    frame_ = Frame(*frame(required(question, "frame", "line"), "frame"))
    kingdom = Kingdom(frame_, _kingdom(question.get("kingdom", []), dominoes))
    if form == "place":
        return PlacementClaim(kingdom, _placed(question[form], form, dominoes))
    return DiscardClaim(kingdom, dominoes[domino_number(question[form], form)])


def is_of_move(about: Claim) -> bool:
    """Return whether the claim is that a move is legal."""
    return isinstance(about, PlacementClaim)


def _kingdom(value: Any, dominoes: Mapping[int, Domino]) -> tuple[Placed, ...]:
    return tuple(_placed(each, f"kingdom[{i}]", dominoes) for i, each in enumerate(an_array(value, "kingdom")))


def _placed(value: Any, where: str, dominoes: Mapping[int, Domino]) -> Placed:
    number, left, right = placed(value, where)
    return Placed(dominoes[number], left, right)


# And back


def written(about: Claim) -> dict[str, Any]:
    """Return the question that claims it."""
    kingdom = about.kingdom
    mine = about.placed.domino if isinstance(about, PlacementClaim) else about.domino
    others = {
        str(domino.number): [str(domino.left), str(domino.right)]
        for domino in sorted([*(placed.domino for placed in kingdom.dominoes), mine])
        if domino != DOMINOES[domino.number - 1]
    }
    castle = kingdom.frame.castle
    return {
        "frame": {"size": kingdom.frame.size, "castle": None if castle is None else [*castle]},
        "kingdom": [*map(written_placed, kingdom.dominoes)],
        **({"dominoes": others} if others else {}),
        **(written_move(about.placed) if isinstance(about, PlacementClaim) else {"discard": mine.number}),
    }


def written_move(placed: Placed) -> dict[str, Any]:
    """``{"place":[48,1,0,2,0]}``."""
    return {"place": written_placed(placed)}


def written_placed(placed: Placed) -> list[int]:
    """``[48,1,0,2,0]``: the number, and the cells of the left and the right half."""
    return [placed.domino.number, *placed.left, *placed.right]


# In words


def describe(about: Claim) -> str:
    """Return the claim on one line: ``place 48 wheat/mine:3 1,0 2,0``, ``no place for 48 wheat/mine:3``."""
    if isinstance(about, PlacementClaim):
        return describe_move(about.placed)
    return f"no place for {about.domino}"


def describe_move(placed: Placed) -> str:
    """Return ``place 48 wheat/mine:3 1,0 2,0``."""
    (ax, ay), (bx, by) = placed.left, placed.right
    return f"place {placed.domino} {ax},{ay} {bx},{by}"
