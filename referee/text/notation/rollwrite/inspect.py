"""Questions about Roll & Write, their sheets and dice in JSON, and the answers: moves with the dice, and points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, Final

from referee.games.game import SetupError
from referee.games.rollwrite import GAME, TYPES, Options, Sheet, State
from referee.games.rollwrite.moves import Build, ChangeDice, GetCoins, Move
from referee.games.rollwrite.options import MAX_SEATS, Solo
from referee.games.rollwrite.position import Phase
from referee.games.rollwrite.scoring import BONUS, place_of, place_points, score_sheet, share
from referee.games.rollwrite.sheet import CELLS, DEFAULT, DICE, FACES, START_COINS, dice_of, index_of, sheet
from referee.text.notation.options import options_of_question
from referee.text.notation.questions import QueryError, an_array, an_integer, an_object, only, required, shown
from referee.text.notation.rollwrite.words import Scored, gain

_MOVE_FIELDS: Final = frozenset(("sheet", "built", "dice", "coins", "circled"))
_POINTS_FIELDS: Final = frozenset(("options", "sheet", "score"))
_SCORE_FIELDS: Final = frozenset(("counts", "virtual", "awarded", "built", "coins"))
_OPTIONS: Final = frozenset(("solo",))


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a question about a turn or, with ``score``, about points. Raise ``QueryError``."""
    about: Callable[[dict[str, Any], Sheet], dict[str, Any]]
    fields, about = (_POINTS_FIELDS, _score) if "score" in question else (_MOVE_FIELDS, _moves)
    only(question, fields)
    sheet = sheet_of(question.get("sheet", DEFAULT), "sheet")
    named = {"sheet": sheet.name, **({"remark": sheet.provenance} if sheet.provenance else {})}
    return named | about(question, sheet)


# Moves


def _moves(question: dict[str, Any], sheet: Sheet) -> dict[str, Any]:
    built = cells(required(question, "built", "question"), "built")
    blue, yellow = four_dice(required(question, "dice", "question"), "dice")
    coins = an_integer(required(question, "coins", "question"), 0, sheet.coin_track, "coins")
    least = max(START_COINS, coins)
    circled = an_integer(question.get("circled", least), least, sheet.coin_track, "circled")
    state = GAME.new(2, Options(start_seat=0), sheet)
    state.phase = Phase.ACTION
    state.round = 1
    state.built[0], state.blue[0], state.yellow[0] = built, blue, yellow
    state.coins[0], state.circled[0] = coins, circled
    return {"actions": [_action(move, state) for move in state.legal_moves()]}


def _action(move: Move, state: State) -> dict[str, Any]:
    """Return the move, with its cost, building or gain."""
    after = state.copy()
    after.apply(move)
    match move:
        case ChangeDice(blue, yellow):
            cost = state.coins[0] - after.coins[0]
            return {"action": "change_dice", "blue": blue, "yellow": yellow, "cost": cost}
        case Build(blue, yellow):
            type_ = TYPES[state.sheet.type_at(blue, yellow)]
            second = after.phase is Phase.SECOND
            return {"action": "build", "blue": blue, "yellow": yellow, "type": type_, "second": second}
        case GetCoins():
            return {"action": "get_coins", "coins": gain(state)}
    raise AssertionError(move)


# Points


def _score(question: dict[str, Any], sheet: Sheet) -> dict[str, Any]:
    score = an_object(question["score"], "score")
    given = an_object(question.get("options", {}), "options")
    solo = options_of_question(Options, given, _OPTIONS).solo
    only(score, _SCORE_FIELDS, "score")
    counts = _counts(score)
    virtual = _virtual(score.get("virtual", []), counts)
    names = [name for name in counts if name not in virtual] + virtual
    seats = len(names) - len(virtual)
    against = solo is Solo.AGAINST
    if against and (seats != 1 or len(virtual) not in BONUS):
        found = f"with {len(virtual)} virtual players and {seats} others"
        raise QueryError(f"options.solo: against {found}; expected it with 2 to 4 virtual players and 1 other")
    losers = () if against else range(seats, len(names))
    built = _built(score.get("built", {}), names[:seats])
    coins = _coins(score.get("coins", {}), names[:seats], sheet)
    awarded = _awarded(score.get("awarded", {}), names, losers)
    scores, shares = score_sheet(
        [counts[name] for name in names],
        built=built,
        coins=coins,
        awarded=awarded,
        virtual=range(seats, len(names)),
        against=against,
    )
    explained = Scored(names, [counts[name] for name in names], coins, awarded, losers, scores, shares).explained()
    remarks = _remarks(counts, dict(zip(names, built, strict=False)), sheet)
    totals = [each.total for player, each in enumerate(scores) if player not in losers]
    return {
        "points": {
            name: {
                **dict(zip(TYPES, each.types, strict=True)),
                "lines": sum(line.points for line in each.lines),
                "coins": each.coins,
                **({"bonus": each.bonus} if against else {}),
                "total": each.total,
            }
            for name, each in zip(names, scores, strict=True)
        },
        "winners": [name for name, total in zip(names, totals, strict=False) if place_of(total, totals) == 1],
        "explained": explained,
        **({"remarks": remarks} if remarks else {}),
    }


def _counts(score: dict[str, Any]) -> dict[str, list[int]]:
    counts = an_object(required(score, "counts", "score"), "score.counts")
    if not 1 <= len(counts) <= MAX_SEATS:
        raise QueryError(f"score.counts: {len(counts)} players; expected 1 to {MAX_SEATS}")
    return {name: type_counts(own, f"score.counts[{shown(name)}]") for name, own in counts.items()}


def _virtual(value: Any, players: Mapping[str, Any]) -> list[str]:
    names = an_array(value, "score.virtual")
    for i, name in enumerate(names):
        where = f"score.virtual[{i}]"
        if type(name) is not str or name not in players:
            raise QueryError(f"{where}: {shown(name)}; expected a player of score.counts")
        if name in names[:i]:
            raise QueryError(f"{where}: {shown(name)} twice; expected each player once")
    if len(names) == len(players):
        raise QueryError("score.virtual: all players; expected another one among them")
    return names


def _known(value: Any, where: str, players: list[str], who: str) -> dict[str, Any]:
    """Return an object by players, these and no others."""
    fields = an_object(value, where)
    for name in fields:
        if name not in players:
            raise QueryError(f"{where}: {shown(name)}; expected {who}")
    return fields


_REAL: Final = "a player of score.counts who is not virtual"


def _built(value: Any, players: list[str]) -> list[int]:
    """Return each player's set of cells; empty for a player without one in the question."""
    fields = _known(value, "score.built", players, _REAL)
    sets = {name: cells(own, f"score.built[{shown(name)}]") for name, own in fields.items()}
    return [sets.get(name, 0) for name in players]


def _remarks(counts: Mapping[str, list[int]], built: Mapping[str, int], sheet: Sheet) -> list[str]:
    """Return remarks on buildings of a player that cannot all be as the question has them: points come from both."""
    remarks = []
    for name, own in counts.items():
        here = sheet.counts(built[name]) if built.get(name) else own
        for type_, word in enumerate(TYPES):
            if own[type_] > sheet.boxes[type_]:
                remarks.append(f"{name}: {own[type_]} {word}, of {sheet.boxes[type_]} boxes on the sheet")
            elif here[type_] != own[type_]:
                remarks.append(f"{name}: {own[type_]} {word} counted, {here[type_]} built on the sheet")
    return remarks


def _coins(value: Any, players: list[str], sheet: Sheet) -> list[int]:
    fields = _known(value, "score.coins", players, _REAL)
    read = {name: an_integer(own, 0, sheet.coin_track, f"score.coins[{shown(name)}]") for name, own in fields.items()}
    return [read.get(name, 0) for name in players]


def _awarded(value: Any, names: list[str], losers: range | tuple[()]) -> list[dict[int, int]]:
    """Return the points of each player who completed the type in the game, by type; the rules can give these points."""
    awarded: list[dict[int, int]] = [{} for _ in TYPES]
    for type_name, own in an_object(value, "score.awarded").items():
        type_ = type_of(type_name, "score.awarded")
        where = f"score.awarded.{type_name}"
        most = place_points(type_)[0]
        for name, points in _known(own, where, names, "a player of score.counts").items():
            awarded[type_][names.index(name)] = an_integer(points, 0, most, f"{where}[{shown(name)}]")
        if not _possible(type_, awarded[type_], 0, losers):
            points = ", ".join(map(str, awarded[type_].values()))
            places = ", ".join(map(str, place_points(type_)))
            raise QueryError(f"{where}: {points}; expected places of {places} in their order, shared in a round")
    return awarded


def _possible(type_: int, left: dict[int, int], taken: int, losers: range | tuple[()]) -> bool:
    """Return whether these players can have completed the type, in some order of rounds, for these points."""
    if not left:
        return True
    for size in range(1, len(left) + 1):
        for group in combinations(left, size):
            each = share(type_, taken, group).each
            if all(left[player] == (0 if player in losers else each) for player in group):
                rest = {player: points for player, points in left.items() if player not in group}
                if _possible(type_, rest, taken + size, losers):
                    return True
    return False


_SHEET_FIELDS: Final = ("grid", "boxes", "coin_track", "rows_are")
_DECLARED: Final = "declared"
"""The name of a sheet that comes with a question."""
_MOST_COINS: Final = 1000
"""The most coins of a track that is read; the sheet has its own limit."""


def sheet_of(value: Any, where: str) -> Sheet:
    """Return the default, by its name, or the sheet that the object declares.

    Raise ``QueryError``, of a sheet that breaks a constraint with the constraint's name.
    """
    if value == DEFAULT:
        return sheet()
    if type(value) is not dict:
        expected = f'"{DEFAULT}" or an object with {", ".join(_SHEET_FIELDS)}'
        raise QueryError(f"{where}: {shown(value)}; expected {expected}")
    only(value, frozenset(_SHEET_FIELDS), where)
    grid, boxes, coin_track, rows_are = (required(value, name, where) for name in _SHEET_FIELDS)
    if rows_are not in DICE:
        raise QueryError(f'{where}.rows_are: {shown(rows_are)}; expected "blue" or "yellow"')
    rows = _rows(grid, f"{where}.grid")
    if rows_are == "yellow":
        rows = [[row[blue] for row in rows] for blue in range(FACES)]
    track = an_integer(coin_track, 0, _MOST_COINS, f"{where}.coin_track")
    types = tuple(type_ for row in rows for type_ in row)
    counts = tuple(type_counts(boxes, f"{where}.boxes"))
    try:
        return Sheet(_DECLARED, types, counts, track, rows_are)
    except SetupError as error:
        raise QueryError(f"{where}: {error}") from None


def _rows(value: Any, where: str) -> list[list[int]]:
    """Return types, as six rows of six."""
    rows = [an_array(row, f"{where}[{i}]") for i, row in enumerate(an_array(value, where))]
    if [len(row) for row in rows] != [FACES] * FACES:
        raise QueryError(
            f"{where}: cells: rows of {[len(row) for row in rows]}; expected {FACES} rows of {FACES} types"
        )
    return [[type_of(name, f"{where}[{i}][{j}]") for j, name in enumerate(row)] for i, row in enumerate(rows)]


def type_of(name: Any, where: str) -> int:
    """Raise ``QueryError``."""
    if name not in TYPES:
        raise QueryError(f"{where}: {shown(name)}; expected a type: {', '.join(TYPES)}")
    return TYPES.index(name)


def type_counts(value: Any, where: str) -> list[int]:
    """Return how many of each type, in the order of the types, from ``{"tower":2}``. Raise ``QueryError``."""
    counts = [0] * len(TYPES)
    for name, count in an_object(value, where).items():
        type_ = type_of(name, where)
        counts[type_] = an_integer(count, 0, CELLS, f"{where}.{name}")
    return counts


def cells(value: Any, where: str) -> int:
    """Return the set of cells, from ``[[blue,yellow],…]``. Raise ``QueryError``."""
    built = 0
    for i, pair in enumerate(an_array(value, where)):
        index = index_of(*_pair(pair, f"{where}[{i}]"))
        if built >> index & 1:
            raise QueryError(f"{where}: cell {list(dice_of(index))} twice; expected each cell once")
        built |= 1 << index
    return built


def _pair(value: Any, where: str) -> tuple[int, int]:
    if len(an_array(value, where)) != 2:
        raise QueryError(f"{where}: {shown(value)}; expected [blue,yellow]")
    blue, yellow = (an_integer(number, 1, FACES, f"{where}[{i}]") for i, number in enumerate(value))
    return blue, yellow


def four_dice(value: Any, where: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two blue and two yellow ones, ascending, from ``{"blue":[3,5],"yellow":[1,1]}``. Raise ``QueryError``."""
    fields = an_object(value, where)
    only(fields, frozenset(DICE), where)
    blue, yellow = (_two(required(fields, die, where), f"{where}.{die}") for die in DICE)
    return blue, yellow


def _two(value: Any, where: str) -> tuple[int, ...]:
    if len(an_array(value, where)) != 2:
        raise QueryError(f"{where}: {shown(value)}; expected what two dice show")
    return tuple(sorted(an_integer(number, 1, FACES, f"{where}[{i}]") for i, number in enumerate(value)))
