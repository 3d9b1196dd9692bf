"""An option has one name and each of its choices one word, from the messages to every text; old ones are still read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from textual.app import App, ComposeResult
from textual.widgets import Select

from referee.games import kingdomino, registry, rollwrite
from referee.games.alhambra.money import Currency
from referee.games.alhambra.options import EndRule, LoopRule
from referee.games.alhambra.options import Options as Alhambra
from referee.games.rollwrite.options import Solo
from referee.telling.game_file import GameFile
from referee.text.notation import options
from referee.text.notation.game_text import GameText, read, write
from referee.text.notation.headers import Setup
from referee.text.notation.options import Option, chosen, options_of, plain, words, written
from referee.text.notation.violations import NotationError
from referee.text.report.model import about
from referee_clients.sdk.opening import options as of_json
from referee_clients.sdk.opening import options_of_games
from referee_clients.terminal.desk.app import _field
from referee_clients.terminal.desk.guide import guide
from tests.docs.messages import HEADING
from tests.games.options import own_dominoes, own_sheet
from tests.log.registered import codec, opened
from tests.make_docs import DOCS
from tests.text.notation.questions import ask
from tests.text.notation.setups import SETUPS, name_of

GAMES = registry.names()
CHOSEN = [setup for setup in SETUPS if chosen(setup.options)]


def known(rules_id: str) -> Mapping[str, Option]:
    return options_of(type(codec(rules_id).decode_options(b"")))


def fields(rules_id: str) -> Mapping[str, FieldDescriptor]:
    """Those of the game's signed message: the names that all others have to follow."""
    found = codec(rules_id).signed_file().message_types_by_name["Options"].fields_by_name
    return dict(found)


def choices(field: FieldDescriptor) -> list[str]:
    """Return the words of its enumeration; the first value, which is the default, has none there."""
    assert field.enum_type is not None
    unspecified, *names = [value.name for value in field.enum_type.values]
    prefix = unspecified.removesuffix("UNSPECIFIED")
    assert all(name.startswith(prefix) for name in names)
    return [name.removeprefix(prefix).lower() for name in names]


# One name


@pytest.mark.parametrize("rules_id", GAMES)
def test_an_option_is_called_what_its_field_is_called(rules_id: str) -> None:
    names = list(fields(rules_id))
    assert list(known(rules_id)) == names
    assert list(guide(rules_id).OPTIONS) == names
    assert list(registry.part("tests.rules_pages", rules_id).OPTIONS) == names
    (told,) = re.findall(rf"{rules_id}: (.*?)(?:; |$)", options_of_games())
    assert re.findall(r"(\w+) \(", told) == names


@pytest.mark.parametrize("rules_id", GAMES)
def test_a_choice_is_called_what_its_value_is_called(rules_id: str) -> None:
    for name, field in fields(rules_id).items():
        option = known(rules_id)[name]
        if field.enum_type is None:
            assert option.type is (bool if field.type == field.TYPE_BOOL else int)
        elif field.is_repeated:
            assert option.expected == f"a list of {', '.join(choices(field))}"
        else:
            default, *others = option.choices
            assert default == written(plain(option.default))
            assert others == choices(field)


@pytest.mark.parametrize("rules_id", GAMES)
def test_a_choice_is_encoded_as_its_value(rules_id: str) -> None:
    """The rules' internal names of enumerations do not matter."""
    for name, field in fields(rules_id).items():
        if field.enum_type is None:
            continue
        for number, word in enumerate(choices(field), start=1):
            value = [word] if field.is_repeated else word
            data = of_json(rules_id, b"", json.dumps({name: value}), None)
            tag = field.number << 3 | (2 if field.is_repeated else 0)
            assert data == bytes([tag, 1, number] if field.is_repeated else [tag, number])
        if not field.is_repeated:
            assert of_json(rules_id, b"", json.dumps({name: known(rules_id)[name].choices[0]}), None) == b""


@pytest.mark.parametrize("setup", CHOSEN, ids=name_of)
def test_names_and_values_are_the_same_everywhere(setup: Setup) -> None:
    values = chosen(setup.options)
    told = ", ".join(f"{name} {written(value)}" for name, value in values.items())
    # Input by a person: JSON, a header.
    wire = codec(setup.rules_id)
    assert wire.decode_options(of_json(setup.rules_id, b"", json.dumps(values), None)) == setup.options
    text = write(GameText(setup, ()))
    assert {f'[{name} "{written(value)}"]' for name, value in values.items()} <= set(text.splitlines())
    assert read(text).game.setup.options == setup.options
    # Output for a person: a file in words, an audit, a report.
    played = opened(setup.rules_id, options=wire.encode_options(setup.options), seats=setup.seats)
    assert f"options: {told}" in GameFile.read(BytesIO(played.file())).header()
    report = played.audit()
    assert f"options: {told}\n" in report.as_text()
    assert json.loads(report.as_json())["options"] == values
    assert ("options", told) in about(setup)


@pytest.mark.parametrize("rules_id", GAMES)
async def test_the_desk_offers_the_same_words(rules_id: str) -> None:
    class Form(App[None]):
        def compose(self) -> ComposeResult:
            yield from map(_field, known(rules_id).values())

    async with Form().run_test() as pilot:
        for name, option in known(rules_id).items():
            field: Any = pilot.app.query_one(f"#{name}")
            assert field.value == written(plain(option.default))
            assert isinstance(field, Select) == bool(option.choices)
            if option.choices:
                assert [(shown, value) for shown, value in field._options] == [(word, word) for word in option.choices]


def test_questions_have_the_same_names() -> None:
    """Each takes those on which its answer depends, and names them if it is asked with others."""
    questions: dict[str, Any] = {"alhambra": {}, "rollwrite": {"score": {"counts": {"Ani": {}}}}}
    for game, question in questions.items():
        found = re.fullmatch(
            r'options: unknown field "x"; expected (.*)', ask(game=game, options={"x": 1}, **question)["error"]
        )
        assert found is not None
        assert set(found[1].split(", ")) <= set(fields(game))


@pytest.mark.parametrize(
    "page",
    [*(page for page in DOCS.rglob("*.md") if page.parent.name != "history"), DOCS.parent / "README.md"],
    ids=lambda page: str(page.relative_to(DOCS.parent)),
)
def test_no_page_has_another_name(page: Path) -> None:
    """None has the messages' own names for choices, but where the messages are listed; one page has old names."""
    text = page.read_text(encoding="utf-8").partition(HEADING)[0]
    enumerations = [field.enum_type for rules_id in GAMES for field in fields(rules_id).values() if field.enum_type]
    for name in (value.name for each in enumerations for value in each.values):
        assert not re.search(rf"\b{name}\b", text), name
    if page.name != "notation.md":
        written_so = "|".join(rf'\[{old} "|"{old}":' for old, _ in options.renamed())
        assert not re.search(rf"loop_one_less|end_when_bag_empty|{written_so}", text)


# Old names

BEFORE = [
    (
        (
            '[Game "alhambra"]\n[Seats "3"]\n[age_order "2 0 1"]\n[max_turns "40"]\n[loop_one_less "yes"]\n'
            '[end_when_bag_empty "yes"]\n[slot_currencies "3 1 0 2"]\n'
        ),
        Alhambra(
            (2, 0, 1),
            40,
            LoopRule.ONE_LESS,
            EndRule.BAG_EMPTY,
            (Currency.GUILDER, Currency.DIRHAM, Currency.DENAR, Currency.DUCAT),
        ),
    ),
    ('[Game "alhambra"]\n[Seats "2"]\n[loop_one_less "no"]\n[end_when_bag_empty "no"]\n', Alhambra()),
    (
        '[Game "kingdomino"]\n[Seats "2"]\n[harmony "yes"]\n[mighty_duel "yes"]\n[wider_offer "no"]\n[dynasty "yes"]\n',
        kingdomino.Options(harmony=True, mighty_duel=True, dynasty=True),
    ),
    ('[Game "kingdomino"]\n[Seats "2"]\n[central "no"]\n', kingdomino.Options()),
    (
        '[Game "rollwrite"]\n[Seats "1"]\n[virtual_players "3"]\n[against "yes"]\n',
        rollwrite.Options(virtual_players=3, solo=Solo.AGAINST),
    ),
    ('[Game "rollwrite"]\n[Seats "1"]\n[against "no"]\n', rollwrite.Options()),
]


@pytest.mark.parametrize(("text", "options"), BEFORE)
def test_texts_from_before_are_read(text: str, options: Any) -> None:
    assert read(text).game.setup.options == options


@pytest.mark.parametrize(
    ("rules_id", "header", "components"),
    [("kingdomino", "Dominoes", own_dominoes()), ("rollwrite", "Sheet", own_sheet())],
    ids=["dominoes", "sheet"],
)
def test_components_from_before_are_read(rules_id: str, header: str, components: Any) -> None:
    setup = Setup(rules_id, 1, 2, type(codec(rules_id).decode_options(b""))(), components)
    text = write(GameText(setup, ()))
    assert text.count("[Components ") == 1
    for version in (text, text.replace("[Components ", f"[{header} ")):
        assert write(read(version).game) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[Game "alhambra"]\n[Seats "2"]\n[loop_one_less "perhaps"]\n',
            'line 3, column 16: syntax: loop_rule "perhaps"; expected full or one_less',
        ),
        (
            '[Game "alhambra"]\n[Seats "2"]\n[loop_one_less "yes"]\n[loop_rule "full"]\n',
            "line 4, column 2: syntax: header loop_rule is given twice; expected each header once",
        ),
        (
            '[Game "alhambra"]\n[Seats "2"]\n[Sheet "x"]\n',
            "line 3, column 2: syntax: header 'Sheet'; expected Game, Version, Seats",
        ),
        (
            '[Game "kingdomino"]\n[Seats "2"]\n[loop_one_less "yes"]\n',
            "line 3, column 2: syntax: header 'loop_one_less'; expected Game, Version, Seats",
        ),
        (
            '[Game "rollwrite"]\n[Seats "2"]\n[against "yes"]\n',
            "line 3, column 10: illegal: no game can be set up: solo: a variant for 1 seat, got 2",
        ),
    ],
)
def test_errors_have_todays_names(text: str, message: str) -> None:
    with pytest.raises(NotationError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


PLUS = {"0,-1": "pavilion-2-NEW", "1,0": "arcades-4-NES", "0,1": "seraglio-3-ESW", "-1,0": "chambers-5-NSW"}
SOLO: dict[str, Any] = {"counts": {"Ani": {"tower": 1}, "Dirk": {}, "Dirki": {}}, "virtual": ["Dirk", "Dirki"]}


def test_questions_from_before_are_answered() -> None:
    for old, today in ((True, "one_less"), (False, "full")):
        assert ask(layout=PLUS, options={"loop_one_less": old}) == ask(layout=PLUS, options={"loop_rule": today})
    for old, today in ((True, "against"), (False, "points")):
        before = ask(game="rollwrite", score={**SOLO, "against": old})
        assert before == ask(game="rollwrite", score=SOLO, options={"solo": today})
        assert "error" not in before
    twice = ask(layout=PLUS, options={"loop_one_less": True, "loop_rule": "full"})
    assert twice == {"error": 'options: loop_rule again, as "loop_rule"; expected each option once'}
    twice = ask(game="rollwrite", score={**SOLO, "against": True}, options={"solo": "points"})
    assert twice == {"error": 'options: solo again, as "against"; expected each option once'}
    wrong: tuple[Any, ...] = (1, None, [True], {}, [[[]]])
    for value in wrong:
        assert ask(layout=PLUS, options={"loop_one_less": value})["error"].startswith("options.loop_rule: ")


@pytest.mark.parametrize("setup", SETUPS, ids=name_of)
def test_nothing_is_written_by_an_old_name(setup: Setup) -> None:
    for name, value in chosen(setup.options).items():
        assert options.option_today(setup.rules_id, name, value) == (name, value)
        assert options.option_today(setup.rules_id, name, written(value)) == (name, written(value))
    for line in write(GameText(setup, ())).splitlines():
        if found := re.match(r"\[(\w+) ", line):
            assert options.header_today(setup.rules_id, found[1]) == found[1]


def test_old_names_are_not_read_where_no_old_text_can_be() -> None:
    assert words(chosen(Alhambra(loop_rule=LoopRule.ONE_LESS))) == "loop_rule one_less"
    for rules_id, text in (("alhambra", '{"loop_one_less": true}'), ("rollwrite", '{"against": true}')):
        with pytest.raises(Exception, match="no option"):
            of_json(rules_id, b"", text, None)
