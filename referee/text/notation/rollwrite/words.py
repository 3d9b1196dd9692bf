"""Events and points of Roll & Write in words, one line each. Prints only; it judges nothing.

A cell is what its dice show, the blue one first: ``3,5``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from referee.games.game import ForcedPass
from referee.games.rollwrite import TYPES, State, moves
from referee.games.rollwrite.position import Award, Phase, completed
from referee.games.rollwrite.scoring import Score, Share
from referee.games.rollwrite.sheet import cells_of
from referee.text.notation.outcomes import IN_ENGLISH, ORDINALS, named
from referee.text.words.catalogue import player


def describe(event: moves.Event, state: State) -> str:
    """Return ``change dice to blue 3 5 yellow 1 1``, ``build tower 3,5``, ``get coins (2)``, ``keep 3,5``, …

    ``state``: the position before the event.
    """
    match event:
        case moves.ChangeDice(blue, yellow):
            return _words("change dice to blue", (*map(str, blue), "yellow", *map(str, yellow)))
        case moves.Build(blue, yellow):
            return f"build {_building((blue, yellow), state)}"
        case moves.GetCoins():
            return "get coins" + (f" ({gain(state)})" if state.phase is Phase.ACTION else "")
        case moves.BuildSecond():
            return "build second" + (f" {_building(second(state), state)}" if state.phase is Phase.SECOND else "")
        case moves.EndBuilding():
            return "end building"
        case moves.KeepPair(blue, yellow):
            return f"keep {_roll((blue, yellow))}"
        case moves.StartSeat(seat):
            return f"start seat {seat}"
        case moves.StartBuildings(seat, rolls):
            return _words(f"start buildings {seat}:", (_building(roll, state) for roll in rolls))
        case moves.StartDice(seat, rolls):
            return _words(f"start dice {seat}:", map(_roll, rolls))
        case moves.Dice(rolls):
            return _words("dice:", map(_roll, rolls))
        case moves.VirtualBuildings(player, rolls):
            return _words(f"virtual {player}:", (_building(roll, state) for roll in rolls))
        case ForcedPass():
            return "pass"
        case _:
            assert_never(event)


def gain(state: State) -> int:
    """Return the coins that the seat on turn can get now."""
    after = state.copy()
    after.apply(moves.GetCoins())
    return after.circled[state.seat] - state.circled[state.seat]


def rounds(state: State, held: int) -> list[str]:
    """Return each completed type, ``round 9: tower completed by seat 1, 21 points``, and the final score's lines.

    Without the first ``held`` of them.
    """
    lines = [_award(award, against=state.is_against) for award in state.awards[held:]]
    if state.phase is Phase.OVER and held <= len(state.awards):
        found = scored(state)
        lines += [f"final: {line}" for line in found.explained()]
        totals = [f"{name}: {score.total}" for name, score in zip(found.names, found.scores, strict=True)]
        shown = [total for player, total in enumerate(totals) if player not in found.losers]
        lines.append(f"final: {shown[0]} points{''.join(f', {total}' for total in shown[1:])}")
    return lines


def scored(state: State) -> Scored:
    """Return the position's points, were the game over now."""
    scores, shares = state.score()
    return Scored(
        names=[*_seats(range(state.seats)), *_virtual(range(len(state.virtual)))],
        counts=state.all_counts(),
        coins=state.coins,
        awarded=completed(state.awards, state.seats, state.is_against),
        losers=() if state.is_against else range(state.seats, state.seats + len(state.virtual)),
        scores=scores,
        shares=shares,
    )


def _award(award: Award, *, against: bool) -> str:
    who = [*_seats(award.seats), *_virtual(award.virtual)]
    words = f"round {award.round}: {TYPES[award.type]} completed by {' and '.join(who)}, {award.each} points"
    if len(who) > 1:
        words += " each"
    if award.virtual and not against:
        words += f", not given to {' and '.join(_virtual(award.virtual))}" if award.seats else ", not given"
    return words


def _seats(seats: Iterable[int]) -> list[str]:
    return [player(IN_ENGLISH, seat) for seat in seats]


def _virtual(players: Iterable[int]) -> list[str]:
    return [f"virtual {number + 1}" for number in players]


def second(state: State) -> moves.Roll:
    """Return where the seat on turn can build a second time."""
    after = state.copy()
    after.apply(moves.BuildSecond())
    (cell,) = cells_of(after.built[state.seat] & ~state.built[state.seat])
    return cell


def _building(cell: moves.Roll, state: State) -> str:
    return f"{TYPES[state.sheet.type_at(*cell)]} {_roll(cell)}"


def _roll(roll: moves.Roll) -> str:
    return f"{roll[0]},{roll[1]}"


def _words(first: str, rest: Iterable[str]) -> str:
    return " ".join((first, *rest))


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores with all that led to them. Players by number: the seats, then the virtual players."""

    names: Sequence[str]
    counts: Sequence[Sequence[int]]
    """Each player's buildings by type."""
    coins: Sequence[int]
    """Each seat's coins."""
    awarded: Sequence[Mapping[int, int]]
    """By type, the players who completed it in the game, and the points for it."""
    losers: Collection[int]
    """Virtual players that take places and get no points."""
    scores: Sequence[Score]
    shares: Sequence[Share]

    def explained(self) -> list[str]:
        """Return a line for each type, for rows and columns, for coins, and for a bonus if any player has one.

        ``tower: Ani has it already: 21; Barbara 2nd: 13; Dirk and Frank share 3rd: 6 / 2 = 3 each``
        """
        lines = [f"{name}: {self._type(type_)}" for type_, name in enumerate(TYPES)]
        scoring = [player for player, score in enumerate(self.scores) if score.lines]
        lines.append(f"lines: {_joined(self._lines(player) for player in scoring)}")
        holding = [player for player, coins in enumerate(self.coins) if coins]
        lines.append(f"coins: {_joined(self._coins(player) for player in holding)}")
        if any(score.bonus for score in self.scores):
            scored = zip(self.names, self.scores, strict=True)
            lines.append(f"bonus: {_joined(f'{name} {score.bonus}' for name, score in scored if score.bonus)}")
        return lines

    def _type(self, type_: int) -> str:
        already = self.awarded[type_]
        words = [
            f"{self.names[player]} has it already" + (", not given" if player in self.losers else f": {points}")
            for player, points in already.items()
        ]
        placed = set(already)
        for share in self.shares:
            if share.type == type_:
                words.append(self._share(share))
                placed.update(share.players)
        late = [player for player, counts in enumerate(self.counts) if counts[type_] and player not in placed]
        if late:
            words.append(f"{self._named(late)} none")
        return "; ".join(words) or "no player has one"

    def _share(self, share: Share) -> str:
        places = ORDINALS[share.place - 1 : share.place - 1 + len(share.points)]
        if len(share.players) == 1:
            words = f"{self._named(share.players)} {places[0]}: {share.each}"
        else:
            sum_ = " + ".join(map(str, share.points))
            sum_ = f"({sum_})" if len(share.points) > 1 else sum_
            words = f"{self._named(share.players)} share {named(places)}: {sum_} / {len(share.players)}"
            words += f" = {share.each} each"
        lost = [player for player in share.players if player in self.losers]
        if len(lost) == len(share.players):
            return words + ", not given"
        return words + (f", not given to {self._named(lost)}" if lost else "")

    def _lines(self, player: int) -> str:
        lines = self.scores[player].lines
        found = ", ".join(f"{line.die} {line.value} with {line.buildings}: {line.points}" for line in lines)
        return f"{self.names[player]} {found}"

    def _coins(self, player: int) -> str:
        return f"{self.names[player]} {self.coins[player]} left: {self.scores[player].coins}"

    def _named(self, players: Iterable[int]) -> str:
        return named([self.names[player] for player in players])


def _joined(words: Iterable[str]) -> str:
    return "; ".join(words) or "no player"
