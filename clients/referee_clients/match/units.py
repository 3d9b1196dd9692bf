"""What a block is worth: its games with their weights, and what a bot got of it. It is the unit of all statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from referee_clients.match.journal import Game
from referee_clients.match.ratings import Placing
from referee_clients.match.sprt import Measure

Block = Sequence[Game]


def blocks(games: Iterable[Game]) -> tuple[list[Block], int]:
    """Return the whole blocks of games in their order, and how many games are in none."""
    found = [tuple(group) for _, group in groupby(games, key=lambda game: game.task.block)]
    whole: list[Block] = [block for block in found if len(block) == len(block[0].task.seats)]
    return whole, sum(map(len, found)) - sum(map(len, whole))


def weights(block: Block) -> list[float]:
    """Return what each game counts: those in which the same was done on the same deal are one game together."""
    alike = Counter(game.acts for game in block)
    return [1 / alike[game.acts] for game in block]


def placings(block: Block) -> list[Placing]:
    """Return what the block says of the bots' strengths."""
    return [Placing(game.task.seats, game.places, weight) for game, weight in zip(block, weights(block), strict=True)]


def first_share(game: Game, seat: int) -> float:
    """Return the seat's part of the first place."""
    return 1 / game.places.count(1) if game.places[seat] == 1 else 0.0


def _placing(game: Game, seat: int) -> float:
    """Return 1 for first and alone, 0 for last and alone, and what is between; shared places are their mean."""
    place = game.places[seat] + (game.places.count(game.places[seat]) - 1) / 2
    return (len(game.places) - place) / (len(game.places) - 1)


def scores(game: Game) -> tuple[int, ...]:
    """Return the points that count: whoever lost before the end has no more than anybody else, so that nobody keeps a
    lead by giving up.
    """
    least = min(game.scores)
    return tuple(least if seat in game.out else found for seat, found in enumerate(game.scores))


def _lead(game: Game, seat: int) -> float:
    own = scores(game)
    return own[seat] - (sum(own) - own[seat]) / (len(own) - 1)


def seats_of(game: Game, bot: int) -> list[int]:
    """Return where the bot sat."""
    return [seat for seat, other in enumerate(game.task.seats) if other == bot]


def _mean(block: Block, bot: int, value: Callable[[Game, int], float]) -> float:
    found = [value(game, seat) for game in block for seat in seats_of(game, bot)]
    return sum(found) / len(found)


def placing_share(block: Block, bot: int) -> float:
    """Return the bot's mean place in the block, from 0, always last, to 1, always first."""
    return _mean(block, bot, _placing)


def first_places(block: Block, bot: int) -> float:
    """Return the bot's part of the block's first places, for each seat that it had."""
    return _mean(block, bot, first_share)


def points(block: Block, bot: int) -> float:
    """Return the bot's mean points in the block."""
    return _mean(block, bot, lambda game, seat: scores(game)[seat])


def sample(measure: Measure, block: Block, bot: int) -> float:
    """Return how much more than even the bot got of the block."""
    match measure:
        case Measure.FIRST_PLACES:
            return first_places(block, bot) * len(block[0].task.seats) - 1
        case Measure.POINTS:
            return _mean(block, bot, _lead)
        case Measure.PLACING:
            return placing_share(block, bot) - 0.5


def whole(measure: Measure, block: Block) -> float:
    """Return how large a sample is that is large: twice as many first places as even, a seat's mean points, always
    first.
    """
    match measure:
        case Measure.FIRST_PLACES:
            return 1.0
        case Measure.POINTS:
            found = [each for game in block for each in scores(game)]
            return max(1.0, sum(found) / len(found))
        case Measure.PLACING:
            return 0.5
