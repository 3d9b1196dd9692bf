"""Whole games as text: printed text is read as the same game, and errors have their place."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games import registry
from referee.games.game import Decision, Ending
from referee.games.results import Contest, Result
from referee.text.notation.game_text import GameText, line, read, read_line, write
from referee.text.notation.headers import Setup
from referee.text.notation.registry import notation
from referee.text.notation.violations import Kind, NotationError
from tests.text.notation.game_text import CHOSEN, KINGS
from tests.text.notation.setups import PLAIN, SETUPS, name_of, play, text_of


@pytest.mark.parametrize("setup", SETUPS[:7] + SETUPS[7:-12:9] + SETUPS[-12:], ids=name_of)
def test_a_game_is_read_as_it_was_printed(setup: Setup) -> None:
    played = play(setup, seed=1)
    game = text_of(setup, played)
    text = write(game)
    reading = read(text)
    assert reading.game == game
    assert reading.state.digest() == played.state.digest()
    assert write(reading.game) == text


@pytest.mark.parametrize("setup", SETUPS, ids=name_of)
def test_headers_alone_are_read_as_they_were_printed(setup: Setup) -> None:
    game = GameText(setup, ())
    assert read(write(game)).game == game


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
def test_every_legal_move_of_every_position_is_read_as_it_was_printed(setup: Setup) -> None:
    """A position with many moves has some of each kind tested."""
    seen = set()

    def watch(state: Any) -> None:
        before = state.digest()
        kinds: dict[type, int] = {}
        for move in state.legal_moves():
            kinds[type(move)] = kinds.get(type(move), 0) + 1
            if kinds[type(move)] <= 3:
                assert read_line(setup.rules_id, state, line(setup.rules_id, state, move)) == move
                seen.add(type(move))
        assert state.digest() == before

    play(setup, seed=5, watch=watch)
    assert len(seen) >= 4


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
def test_a_game_may_break_off_anywhere(setup: Setup) -> None:
    played = play(setup, seed=2)
    for length in (0, 1, len(played.events) // 2, len(played.events) - 1):
        for contest in (Contest(), Contest(ruled=Result(Ending.ABORTED))):
            game = GameText(setup, tuple(played.events[:length]), contest)
            assert read(write(game)).game == game


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
def test_blanks_comments_ends_of_lines_and_what_may_be_left_out_change_nothing(setup: Setup) -> None:
    game = text_of(setup, play(setup, seed=3))
    text = write(game)
    assert read(text.replace("\n", "\r\n")).game == game
    assert read(text.rstrip("\n")).game == game
    assert read(text.replace("\n", " \t; as played\n\n{and\nread}")).game == game
    left_out = "Version|Result" if game.setup.version == registry.get(game.setup.rules_id).version else "Result"
    assert read(re.sub(rf"^\[({left_out}) .*\n", "", text, flags=re.MULTILINE)).game == game
    assert read(re.sub(r"(?<=\d) (?:[a-z]+(:\d)?/[a-z]+(:\d)?)|\((?:slot )?\d\) ?", "", text)).game == game
    assert read(re.sub(r"\b(build(?: second)?) [a-z]+ (?=\d,)", r"\1 ", text)).game == game


def test_nothing_is_read_that_a_reader_would_not_see() -> None:
    """Characters that do not show, comments that swallow the end of a line, cells that run into a number."""
    setup = next(setup for setup in PLAIN if setup.rules_id == "kingdomino")
    lines = write(text_of(setup, play(setup, seed=3))).split("\n")
    place = next(i for i, words in enumerate(lines) if re.match(r"\d: place \d", words))
    for at, hidden in enumerate("\x0b\x85\u2028\u202e\u200b\ufeff"):
        changed = [*lines[:place], f"{lines[place]} ; so{hidden}", *lines[place + 1 :]]
        with pytest.raises(NotationError, match=rf"U\+{ord(hidden):04X}, which does not show") as raised:
            read("\n".join(changed))
        assert (raised.value.line, raised.value.column) == (place + 1, len(lines[place]) + 6), at
    seat, _, act = lines[place].partition(": ")
    for words in (f"{seat}: {{\n{lines[place]}\n}} {act}", re.sub(r" (?=-?\d+,\S+ \S+$)", "", lines[place])):
        with pytest.raises(NotationError) as raised:
            read("\n".join([*lines[:place], words, *lines[place + 1 :]]))
        assert raised.value.kind is Kind.SYNTAX


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
def test_names_of_players_are_read_and_written(setup: Setup) -> None:
    names = ("<Žlutý> & 'co'", *[""] * (setup.seats - 1))
    named = replace(setup, players=names)
    text = write(GameText(named, ()))
    assert "[Player0 \"<Žlutý> & 'co'\"]\n" in text
    assert "Player1" not in text
    assert read(text).game.setup == named
    for header, column in (
        ('Player0 " a"', 10),
        ('Player0 ""', 10),
        (f'Player0 "{"x" * 101}"', 10),
        ('Player2 "a"', 10),
        ('Player6 "a"', 2),
    ):
        with pytest.raises(NotationError) as raised:
            read(text.replace("Player0 \"<Žlutý> & 'co'\"", header))
        assert (raised.value.kind, raised.value.column) == (Kind.SYNTAX, column)


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
def test_every_kind_of_event_is_in_some_game(setup: Setup) -> None:
    """Otherwise the tests above would show less than they say."""
    moves = registry.part("referee.games", setup.rules_id, "moves")
    kinds = set((moves.Move | moves.Outcome).__args__)
    played = {type(event) for seed in range(3) for event in play(setup, seed).events}
    if setup.rules_id == "rollwrite":
        played |= {type(event) for event in play(replace(setup, seats=2), 3).events}
    assert kinds <= played


@pytest.mark.parametrize("setup", PLAIN[1:], ids=name_of)
def test_components_and_options_that_are_the_defaults_are_no_others(setup: Setup) -> None:
    game = GameText(setup, ())
    text = write(GameText(replace(setup, components=setup.game.default_components()), ()))
    assert text != write(game)
    default = {"kingdomino": 'harmony "false"', "rollwrite": 'solo "points"'}[setup.rules_id]
    assert read(text.replace("[Result", f"[{default}]\n[Result")).game == game


# Errors

TILES = '[Game "alhambra"]\n[Seats "2"]\n'
DICE = '[Game "rollwrite"]\n[Seats "2"]\n[start_seat "0"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'line 1, column 1: syntax: the text does not name its game; expected [Game "…"] first'),
        ('; so\n [Game "go"]', "line 2, column 9: syntax: game 'go'; expected alhambra, kingdomino or rollwrite"),
        ('[Game "kingdomino"]', 'line 1, column 1: syntax: header Seats is missing; expected [Seats "…"]'),
        (f'{KINGS}[Version "2"]', 'line 3, column 10: syntax: Version "2"; expected 1'),
        (f'{KINGS}[Seats "2"]', "line 3, column 2: syntax: header Seats is given twice; expected each header once"),
        (f'{KINGS}[harmony "1"]', 'line 3, column 10: syntax: harmony "1"; expected true or false'),
        (f'{KINGS}[frame "round"]', 'line 3, column 8: syntax: frame "round"; expected fixed or relative'),
        (f'{KINGS}[declared_order "0,1"]', "expected a list of numbers, with blanks between them"),
        (f'{KINGS}[Round "x"]', 'line 3, column 8: syntax: Round "x"; expected a number up to 4294967295'),
        (f'{KINGS}[Components "wheat"]', "line 3, column 13: syntax: Components: domino 1 'wheat': expected left and"),
        (f'{DICE}[Components "mine"]', "line 4, column 13: syntax: Components: sheet: coin track ''"),
        (f'{KINGS}[Position "over"]', 'line 3, column 11: syntax: Position "over"; expected a game, from its first'),
        (f'{TILES}[Components "x"]', "line 3, column 2: syntax: header 'Components'; expected Game, Version, Seats"),
        (f"{KINGS}0: castel 2,2", "line 3, column 4: syntax: found 'castel'; expected castle, choose, discard, pass"),
        (f"{KINGS}0: castle", "line 3, column 10: syntax: the line ends; expected a cell, such as 1,-2"),
        (f"{KINGS}0: castle 2,2 9", "line 3, column 15: syntax: found '9'; expected against or the end of the line"),
        (f"{KINGS}0: castle2,2", "line 3, column 10: syntax: '2,2' directly after 'castle'; expected a blank between"),
        (f"{KINGS}first order: 0101", "line 3, column 15: syntax: '101' directly after '0'; expected a blank"),
        (f"{KINGS}0: castle {'1 ' * 9000}", "line 3, column 8193: syntax: the line is too long; expected at most 8192"),
        (f"{KINGS}{chr(10) * 600_000}", "line 1, column 1: syntax: the text is too long; expected at most 524288"),
        (f'{KINGS}[Round "{"9" * 99}"]', f'line 3, column 8: syntax: Round "{"9" * 38}…; expected a number up to'),
        (f"{KINGS}{{open", "line 3, column 1: syntax: found '{'"),
        (f"{CHOSEN}0: place 3 wheat/mine", "line 12, column 12: syntax: domino 3 with wheat/mine; expected forest/"),
        (f"{TILES}neutral: tower-8", "line 3, column 10: syntax: there is no tile tower-8; expected tower-8-NES"),
        (f"{TILES}0: take denar-10", "line 3, column 9: syntax: found 'denar-10'; expected against, a card, such as"),
        (f"{DICE}start buildings 0: 1,1 1,7", "line 4, column 24: syntax: found '1,7'; expected a blue and a yellow"),
        (f"{DICE}start buildings 0: tower 1,1", "line 4, column 20: syntax: tower 1,1; expected garden 1,1"),
    ],
)
def test_syntax(text: str, message: str) -> None:
    error = refused(text)
    assert error.kind is Kind.SYNTAX
    assert error.rule_ids == ()
    assert message in str(error)


@pytest.mark.parametrize(
    ("text", "message", "rules"),
    [
        (f"{KINGS}0: castle 9,2", "line 3, column 1: illegal: 0: castle 9,2: KDO-17 (column: 9", ("KDO-17",)),
        (f"{CHOSEN}0: place 5 9,9 9,9", "line 12, column 1: illegal: 0: place 5 forest/forest 9,9 9,9: KDO-6", None),
        (f"{CHOSEN}0: choose 49", "line 12, column 1: illegal: 0: choose 49: KDO-7", ("KDO-7",)),
        (
            f"{KINGS}1: castle 2,2",
            "line 3, column 1: illegal: player 2 is not on turn; expected player 1: place castle",
            (),
        ),
        (f"{KINGS}line: 1 2 3 4", "line 3, column 1: illegal: chance; expected player 1: place castle", ()),
        (f"{TILES}0: take denar-1", "expected a draw or a roll: neutral tiles", ()),
        (f"{KINGS}0: pass", "line 3, column 1: illegal: 0: pass: KDO-9", ("KDO-9",)),
        (f"{CHOSEN}0: place 5", "line 12, column 4: illegal: place 5: no legal move begins so", ()),
        (
            f'{KINGS}[Result "1 2"]',
            'line 3, column 9: illegal: Result "1 2"; expected *, adjudicated, voided, aborted',
            (),
        ),
        (f'{KINGS}[mighty_duel "true"]\n[wider_offer "true"]', "line 4, column 14: illegal: no game can be set up", ()),
        ('[Game "kingdomino"]\n[Seats "1"]', "line 2, column 8: illegal: no game can be set up: seats", ()),
    ],
)
def test_illegal(text: str, message: str, rules: tuple[str, ...] | None) -> None:
    error = refused(text)
    assert error.kind is Kind.ILLEGAL
    assert message in str(error)
    assert rules is None or error.rule_ids == rules


def test_a_purchase_of_what_is_not_there_names_the_rule() -> None:
    setup = PLAIN[0]
    played = play(setup, seed=2)
    state: Any = setup.start()
    for event in played.events:
        if isinstance(state.pending()[0], Decision):
            break
        state.apply(event)
    away = next(name for name in state.tile_set.names if state.tile_set.numbers[name] not in state.market)
    with pytest.raises(NotationError) as caught:
        read_line("alhambra", state, f"{state.seat}: buy {away} with denar-1")
    assert caught.value.rule_ids == ("ALH-C6",)


def test_nothing_follows_the_end() -> None:
    for setup in PLAIN:
        text = write(text_of(setup, play(setup, seed=4)))
        assert "expected nothing after the end" in str(refused(text + "0: pass\n"))
        wrong = re.sub(r'Result "\d+', 'Result "1000', text)
        assert "illegal: Result" in str(refused(wrong))


@pytest.mark.parametrize(
    ("number", "written", "wrong", "expected"),
    [
        (0, r"\(slot 2\)", "(slot 3)", "in slot 3; expected slot 2"),
        (0, r"\(slot 2\)", "(slot 0)", "in slot 0; expected slot 2"),
        (2, r"get coins \(1\)", "get coins (2)", "2 coins; expected 1"),
        (2, r"build second \w+ \d,\d", "build second 7,7", "found '7,7'"),
        (2, r"build second \w+ [1-5],\d", "build second tower 6,1", "another building; expected"),
        (2, r"build chambers", "build tower", "expected chambers"),
    ],
)
def test_what_could_be_left_out_has_to_be_right(number: int, written: str, wrong: str, expected: str) -> None:
    texts = (write(text_of(PLAIN[number], play(PLAIN[number], seed))) for seed in range(9))
    text = next(text for text in texts if re.search(written, text))
    altered = re.sub(written, wrong, text, count=1)
    error = refused(altered)
    assert error.kind is Kind.SYNTAX
    assert expected in str(error)
    assert wrong.split(maxsplit=1)[0] in altered.splitlines()[error.line - 1]


def test_ambiguous() -> None:
    error = refused(f"{CHOSEN}0: place 3")
    assert error.kind is Kind.AMBIGUOUS
    assert (error.line, error.column) == (12, 4)
    assert "place 3 can be 12 moves; expected place 3 forest/forest -2,0 -1,0; place 3" in str(error)


@pytest.mark.parametrize("setup", PLAIN[:2], ids=name_of)
def test_a_short_form_is_the_one_move_that_it_can_be(setup: Setup) -> None:
    """And is refused, with the moves, where there are more."""
    found = {"one": 0, "many": 0}

    def watch(state: Any) -> None:
        moves = [move for move in state.legal_moves() if type(move).__name__ in {"PlaceTile", "PlaceDomino"}]
        short: dict[str, list[Any]] = {}
        for move in moves:
            words = notation(setup.rules_id).describe(move, state)
            short.setdefault(" ".join(words.split()[:2]), []).append(move)
        for words, meant in short.items():
            if len(meant) == 1:
                assert read_line(setup.rules_id, state, f"{state.seat}: {words}") == meant[0]
                found["one"] += 1
            else:
                with pytest.raises(NotationError) as caught:
                    read_line(setup.rules_id, state, f"{state.seat}: {words}")
                assert caught.value.kind is Kind.AMBIGUOUS
                found["many"] += 1

    for seed in range(3):
        play(setup, seed, watch)
    assert min(found.values()) > 0


@cache
def text_at_random(setup: Setup) -> str:
    return write(text_of(setup, play(setup, seed=9)))


@given(st.data())
def test_an_altered_text_is_refused_or_is_a_game(data: st.DataObject) -> None:
    """Words and characters left out, doubled or taken from elsewhere: nothing but the one error is raised."""
    words = re.findall(r"\w+|\W", text_at_random(data.draw(st.sampled_from(PLAIN))))
    pieces = words[: data.draw(st.integers(1, 300))]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(pieces)))
        new = st.lists(st.one_of(st.sampled_from(words[:300]), st.text(max_size=2)), max_size=3)
        pieces[at : at + data.draw(st.integers(0, 3))] = data.draw(new)
    altered = "".join(pieces)
    game, error = tried(altered)
    if error is not None:
        assert 1 <= error.line <= altered.count("\n") + 2
        assert str(error).isprintable()
    else:
        assert game is not None
        assert read(write(game)).game == game


def tried(text: str) -> tuple[GameText | None, NotationError | None]:
    try:
        return read(text).game, None
    except NotationError as error:
        return None, error


def refused(text: str) -> NotationError:
    with pytest.raises(NotationError) as caught:
        read(text)
    return caught.value
