"""Claims about Alhambra's rules of building: as JSON has them, and in words. Judges nothing.

A question has one of five forms; a layout is as ``inspect`` has it:

    {"layout":{…},"action":MOVE}                                          a step (place, remove or swap) is legal
    {"layout":{…},"turn":{"reserve":[…],"bought":[…],"moves":[MOVE,…]}}   a turn may end like this
    {"layout":{…},"no_placement":TILE}                                    there is no cell for the tile
    {"distance":{"start":{…},"reserve":[…],"goal":{…},"turns":N}}         N rebuild turns, and not fewer
    {"hand_out":{"hands":[[CARD,…],…],"slots":[SLOT,…]}}                  the last tiles are handed out like this

    MOVE: {"place":TILE,"at":[x,y]}, {"remove":[x,y]}, {"swap":TILE,"at":[x,y]};
          in a turn also {"add":TILE,"at":[x,y]}, {"reserve":TILE}, {"give":TILE}
    SLOT: {"currency":"denar","tile":TILE,"seat":0}, the seat null for none; CARD: "denar-3"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from referee.games.alhambra.money import CURRENCIES, KINDS, VALUES, card_name
from referee.games.alhambra.options import MAX_SEATS
from referee.games.game import Cell
from referee.text.notation.alhambra.inspect import cell, layout_names, tile_name, tile_names, written_layout
from referee.text.notation.outcomes import counted
from referee.text.notation.questions import QueryError, an_array, an_integer, an_object, only, required, shown
from referee.wire.certificates.alhambra import claims

_CARDS: Final = {card_name(kind): (kind // VALUES, kind % VALUES + 1) for kind in range(KINDS)}


def claim(question: dict[str, Any]) -> claims.Claim:
    """Return what the question claims. Raise ``QueryError``."""
    named = [form for form in _FORMS if form in question]
    if len(named) != 1:
        found = " and ".join(named) or "none"
        raise QueryError(f"claim: {found}; expected exactly one of {', '.join(_FORMS)}")
    return _FORMS[named[0]](question)


def is_of_move(about: claims.Claim) -> bool:
    """Return whether it is that a move is legal, or a whole turn."""
    return isinstance(about, claims.StepClaim | claims.TurnClaim)


def _step(question: dict[str, Any]) -> claims.Claim:
    only(question, frozenset(("layout", "action")))
    step = move(question["action"], "action", ("place", "remove", "swap"))
    assert isinstance(step, claims.Place | claims.Remove | claims.Swap)  # noqa: S101 - no other was asked for
    return claims.StepClaim(_layout(question), step)


def _turn(question: dict[str, Any]) -> claims.Claim:
    only(question, frozenset(("layout", "turn")))
    turn = an_object(question["turn"], "turn")
    only(turn, frozenset(("reserve", "bought", "moves")), "turn")
    moves = an_array(required(turn, "moves", "turn"), "turn.moves")
    return claims.TurnClaim(
        _layout(question),
        tile_names(turn.get("reserve", []), "turn.reserve"),
        tile_names(turn.get("bought", []), "turn.bought"),
        tuple(move(each, f"turn.moves[{i}]") for i, each in enumerate(moves)),
    )


def _no_placement(question: dict[str, Any]) -> claims.Claim:
    only(question, frozenset(("layout", "no_placement")))
    return claims.NoPlacementClaim(_layout(question), tile_name(question["no_placement"], "no_placement"))


def _distance(question: dict[str, Any]) -> claims.Claim:
    only(question, frozenset(("distance",)))
    fields = an_object(question["distance"], "distance")
    only(fields, frozenset(("start", "reserve", "goal", "turns")), "distance")
    return claims.DistanceClaim(
        layout_names(required(fields, "start", "distance"), "distance.start"),
        tile_names(fields.get("reserve", []), "distance.reserve"),
        layout_names(required(fields, "goal", "distance"), "distance.goal"),
        an_integer(required(fields, "turns", "distance"), 0, claims.MOST_TURNS, "distance.turns"),
    )


def _hand_out(question: dict[str, Any]) -> claims.Claim:
    only(question, frozenset(("hand_out",)))
    fields = an_object(question["hand_out"], "hand_out")
    only(fields, frozenset(("hands", "slots")), "hand_out")
    hands = an_array(required(fields, "hands", "hand_out"), "hand_out.hands")
    slots = an_array(required(fields, "slots", "hand_out"), "hand_out.slots")
    return claims.HandOutClaim(
        tuple(_hand(hand, f"hand_out.hands[{i}]") for i, hand in enumerate(hands)),
        tuple(_slot(slot, f"hand_out.slots[{i}]") for i, slot in enumerate(slots)),
    )


_FORMS: Final[dict[str, Callable[[dict[str, Any]], claims.Claim]]] = {
    "action": _step,
    "turn": _turn,
    "no_placement": _no_placement,
    "distance": _distance,
    "hand_out": _hand_out,
}


def _layout(question: dict[str, Any]) -> dict[Cell, str]:
    return layout_names(question.get("layout", {}), "layout")


_TILE_AND_CELL: Final[dict[str, Callable[[str, Cell], claims.TurnMove]]] = {
    "add": claims.Add,
    "swap": claims.Swap,
    "place": claims.Place,
}
_TILE: Final[dict[str, Callable[[str], claims.TurnMove]]] = {"reserve": claims.Reserve, "give": claims.Give}
_MOVES: Final = ("add", "remove", "swap", "place", "reserve", "give")


def move(value: Any, where: str, kinds: Iterable[str] = _MOVES) -> claims.TurnMove:
    """Return a move of one of these kinds. Raise ``QueryError``."""
    fields = an_object(value, where)
    named = [kind for kind in kinds if kind in fields]
    if len(named) != 1:
        raise QueryError(f"{where}: {shown(value)}; expected exactly one of {', '.join(kinds)}")
    kind = named[0]
    if kind == "remove":
        only(fields, frozenset((kind,)), where)
        return claims.Remove(cell(fields[kind], f"{where}.{kind}"))
    tile = tile_name(fields[kind], f"{where}.{kind}")
    if kind in _TILE:
        only(fields, frozenset((kind,)), where)
        return _TILE[kind](tile)
    only(fields, frozenset((kind, "at")), where)
    return _TILE_AND_CELL[kind](tile, cell(required(fields, "at", where), f"{where}.at"))


def _hand(value: Any, where: str) -> tuple[tuple[int, int], ...]:
    cards = an_array(value, where)
    for i, name in enumerate(cards):
        if type(name) is not str or name not in _CARDS:
            raise QueryError(f"{where}[{i}]: {shown(name)}; expected a card, such as denar-3 or guilder-9")
    return tuple(_CARDS[name] for name in cards)


def _slot(value: Any, where: str) -> claims.Slot:
    fields = an_object(value, where)
    only(fields, frozenset(("currency", "tile", "seat")), where)
    currency = required(fields, "currency", where)
    if type(currency) is not str or currency not in CURRENCIES:
        raise QueryError(f"{where}.currency: {shown(currency)}; expected {', '.join(CURRENCIES)}")
    seat = fields.get("seat")
    return claims.Slot(
        CURRENCIES.index(currency),
        tile_name(required(fields, "tile", where), f"{where}.tile"),
        None if seat is None else an_integer(seat, 0, MAX_SEATS - 1, f"{where}.seat"),
    )


# And back


def written(about: claims.Claim) -> dict[str, Any]:
    """Return the question that claims it."""
    match about:
        case claims.StepClaim(layout, step):
            return {"layout": written_layout(layout), "action": written_move(step)}
        case claims.TurnClaim(layout, reserve, bought, moves):
            turn = {"reserve": [*reserve], "bought": [*bought], "moves": [written_move(each) for each in moves]}
            return {"layout": written_layout(layout), "turn": turn}
        case claims.NoPlacementClaim(layout, tile):
            return {"layout": written_layout(layout), "no_placement": tile}
        case claims.DistanceClaim(start, reserve, goal, turns):
            ends = {"start": written_layout(start), "reserve": [*reserve], "goal": written_layout(goal)}
            return {"distance": {**ends, "turns": turns}}
        case claims.HandOutClaim(hands, slots):
            return {
                "hand_out": {
                    "hands": [[f"{CURRENCIES[currency]}-{value}" for currency, value in hand] for hand in hands],
                    "slots": [
                        {"currency": CURRENCIES[slot.currency], "tile": slot.tile, "seat": slot.seat} for slot in slots
                    ],
                }
            }


def written_move(each: claims.TurnMove) -> dict[str, Any]:
    """Return the object that ``move`` reads."""
    match each:
        case claims.Remove(at):
            return {"remove": [*at]}
        case claims.Reserve(tile) | claims.Give(tile):
            return {_kind(each): tile}
        case claims.Add(tile, at) | claims.Place(tile, at) | claims.Swap(tile, at):
            return {_kind(each): tile, "at": [*at]}


# In words


def describe(about: claims.Claim) -> str:
    """Return the claim on one line: ``place garden-10-N 1,-2``, ``no cell for tower-12``, ….

    Moves are worded as in a game's list of moves.
    """
    match about:
        case claims.StepClaim(_, step):
            return describe_move(step)
        case claims.TurnClaim(_, _, _, moves):
            return "; ".join(map(describe_move, moves)) or "end the turn"
        case claims.NoPlacementClaim(_, tile):
            return f"no cell for {tile}"
        case claims.DistanceClaim(_, _, _, turns):
            return f"{counted(turns, 'rebuild turn')} to the goal, and not fewer"
        case claims.HandOutClaim(_, slots):
            return "hand out " + ", ".join(
                f"{slot.tile} to {'no seat' if slot.seat is None else f'seat {slot.seat}'}" for slot in slots
            )


def describe_move(each: claims.TurnMove) -> str:
    """Return ``add tower-12 1,-2``, ``remove 1,-2``, ``reserve tower-12``, …."""
    match each:
        case claims.Remove((x, y)):
            return f"remove {x},{y}"
        case claims.Reserve(tile) | claims.Give(tile):
            return f"{_kind(each)} {tile}"
        case claims.Add(tile, (x, y)) | claims.Place(tile, (x, y)) | claims.Swap(tile, (x, y)):
            return f"{_kind(each)} {tile} {x},{y}"


def _kind(each: claims.TurnMove) -> str:
    return type(each).__name__.lower()
