"""Every registered game keeps its contract, with any number of seats and any options that go together."""

from __future__ import annotations

import copy
import random
from dataclasses import fields
from typing import Any

import pytest

from referee.games import registry
from referee.games.game import SetupError
from referee.harness import Played, by_kind, check_game, evenly
from tests.games.options import GAMES, legal, own_dominoes, own_sheet
from tests.sizes import Part, in_parts, sample_of

SEATS = [
    (name, seats)
    for name in registry.names()
    for seats in range(registry.get(name).min_seats, registry.get(name).max_seats + 1)
]


def play(rules_id: str, seats: int, options: Any, seed: int) -> Played:
    return check_game(
        registry.get(rules_id),
        seats,
        random.Random(f"{rules_id} {seats} {options} {seed}"),
        options=options,
        choose=(evenly, by_kind)[seed % 2],
    )


def sample(rules_id: str, seats: int, count: int) -> list[Any]:
    """So many of the legal options, the defaults among them."""
    every = list(legal(rules_id, seats))
    rng = random.Random(f"{rules_id} {seats}")
    return [GAMES[rules_id][0](), *rng.sample(every, min(count - 1, len(every)))]


@in_parts(2)
@pytest.mark.parametrize(("rules_id", "seats"), sample_of(SEATS, 7))
def test_whole_games_pass_the_harness(rules_id: str, seats: int, part: Part) -> None:
    for seed, options in part.of(enumerate(sample(rules_id, seats, 2))):
        play(rules_id, seats, options, seed)


@pytest.mark.long
@pytest.mark.parametrize(("rules_id", "seats"), [(name, seats) for name, seats in SEATS if name != "alhambra"])
def test_options_that_go_together(rules_id: str, seats: int) -> None:
    """More of them; Alhambra's are played in ``test_alhambra_game``."""
    for seed, options in enumerate(sample(rules_id, seats, 7)[1:]):
        play(rules_id, seats, options, seed)


@pytest.mark.parametrize("rules_id", registry.names())
def test_components_are_equal_if_they_are_the_same_things(rules_id: str) -> None:
    """Only a few components are kept: others are made anew, and the texts of their games stay equal."""
    default = registry.get(rules_id).default_components()
    again = copy.deepcopy(default)
    assert again is not default
    assert (again, hash(again)) == (default, hash(default))
    assert again != object()


@pytest.mark.parametrize(("rules_id", "seats"), SEATS)
def test_all_options_can_be_opened(rules_id: str, seats: int) -> None:
    """Every game can be set up with the options that ``for_seats`` lets pass, and the codec keeps all of them."""
    game, codec = registry.get(rules_id), registry.part("referee.wire", rules_id).CODECS[1]
    seen = set()
    for options in legal(rules_id, seats):
        data = codec.encode_options(options)
        assert codec.decode_options(data) == options
        assert data not in seen
        seen.add(data)
        game.new(seats, options, None).digest()
    assert seen


@pytest.mark.parametrize("components", [own_dominoes(), own_sheet()], ids=lambda components: type(components).__name__)
def test_components_of_ones_own(components: Any) -> None:
    rules_id = type(components).__module__.split(".")[2]
    game, codec = registry.get(rules_id), registry.part("referee.wire", rules_id).CODECS[1]
    assert game.declares_components
    rng = random.Random(rules_id)
    for seats in (game.min_seats, game.max_seats):
        played = check_game(game, seats, rng, components=components)
        used = getattr(played.state, {"kingdomino": "domino_set", "rollwrite": "sheet"}[rules_id])
        assert codec.encode_components(used) == codec.encode_components(components)


@pytest.mark.parametrize("rules_id", registry.names())
def test_every_option_is_varied(rules_id: str) -> None:
    """An option that is added and not tried would be missing here."""
    make, values_for = GAMES[rules_id]
    assert {field.name for field in fields(make())} == set(values_for(3))


@pytest.mark.parametrize("rules_id", registry.names())
def test_no_other_number_of_seats(rules_id: str) -> None:
    game = registry.get(rules_id)
    for seats in (-1, 0, game.min_seats - 1, game.max_seats + 1, 255):
        with pytest.raises(SetupError, match="seats") as raised:
            game.new(seats, None, None)
        assert raised.value.field == "seats"


@pytest.mark.parametrize("rules_id", registry.names())
def test_what_cannot_be_set_up_names_the_option(rules_id: str) -> None:
    make, values_for = GAMES[rules_id]
    fields_, refused = {field.name for field in fields(make())}, set()
    for name, values in values_for(1).items():
        for value in values:
            for seats in range(1, 7):
                try:
                    registry.get(rules_id).new(seats, make(**{name: value}), None)
                except SetupError as error:
                    refused.add(error.field)
    assert refused <= {*fields_, "seats"}
    assert refused & fields_
