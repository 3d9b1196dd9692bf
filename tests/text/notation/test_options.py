"""An option has one name and each of its choices one word, from the messages to every text."""

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

from referee.games import registry
from referee.telling.game_file import GameFile
from referee.text.notation.game_text import GameText, read, write
from referee.text.notation.headers import Setup
from referee.text.notation.options import Option, chosen, options_of, plain, written
from referee.text.report.model import about
from referee_clients.sdk.opening import options as of_json
from referee_clients.sdk.opening import options_of_games
from referee_clients.terminal.desk.app import _field
from referee_clients.terminal.desk.guide import guide
from tests.docs.messages import HEADING
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
    """None has the messages' own names for choices, but where the messages are listed."""
    text = page.read_text(encoding="utf-8").partition(HEADING)[0]
    enumerations = [field.enum_type for rules_id in GAMES for field in fields(rules_id).values() if field.enum_type]
    for name in (value.name for each in enumerations for value in each.values):
        assert not re.search(rf"\b{name}\b", text), name
