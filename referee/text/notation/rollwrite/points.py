"""Roll & Write's points in words: who gets what for which place, line and coin. Computes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from referee.games.rollwrite.scoring import Score, Share
from referee.games.rollwrite.sheet import TYPES
from referee.text.notation.outcomes import ORDINALS, named


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores with all that led to them. Players by number: the seats, then the virtual players."""

    names: Sequence[str]
    counts: Sequence[Sequence[int]]
    """Of each player, its buildings by type."""
    coins: Sequence[int]
    """Of each seat."""
    awarded: Sequence[Mapping[int, int]]
    """Of each type, who completed it in the game, and the points for it."""
    losers: Collection[int]
    """Virtual players that take places and get no points."""
    scores: Sequence[Score]
    shares: Sequence[Share]

    def explained(self) -> list[str]:
        """Return a line for each type, for rows and columns, for coins, and for a bonus if anybody has one.

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
        return "; ".join(words) or "nobody has one"

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
    return "; ".join(words) or "nobody"
