"""Names of players: what can be one, which look alike, whom somebody means, and the file of names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.game import InputError
from referee.log.names import (
    MAX_NAME,
    Meant,
    Person,
    Row,
    alike,
    check_unlike,
    checked,
    names_in,
    names_text,
    people_of,
    rows_of,
    same,
    seat_meant,
)

ANNA, BELA = Person("Anna", b"a" * 16), Person("Béla", b"b" * 16)
GAME, OTHER = "0" * 32, "1" * 32


def some_name(text: str) -> bool:
    try:
        checked(text)
    except InputError:
        return False
    return True


LETTERS = st.characters(categories=["L", "N", "P", "S", "Zs"])
NAMES = st.text(LETTERS, min_size=1, max_size=20).filter(some_name).map(checked)
PEOPLE = st.builds(Person, NAMES, st.one_of(st.just(b""), st.binary(min_size=16, max_size=16)))


@given(NAMES)
def test_a_checked_name_is_checked(name: str) -> None:
    assert checked(name) == name == checked(f" {name.replace(' ', '  ')} ")
    assert len(name) <= MAX_NAME
    assert same(name, name)
    assert alike(name, name)


@pytest.mark.parametrize(
    ("typed", "name"),
    [("Jan  Novák", "Jan Novák"), ("Nova\u0301k", "Novák"), ("Jan\u00a0Novák", "Jan Novák"), ("\u2009Jan ", "Jan")],
    ids=["two blanks", "two code points", "no-break space", "around it"],
)
def test_the_form_of_a_name(typed: str, name: str) -> None:
    assert checked(typed) == name


@pytest.mark.parametrize(
    "text", ["", "  ", "a" * 81, "a\nb", "a\tb", "\x1b[2J", "a\u202eb", "a\u200bb", "\u3164", "a\ufe0f", "a\u2066b"]
)
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(InputError, match="1 to 80 characters on one line, none of them invisible"):
        checked(text)


@pytest.mark.parametrize(
    ("one", "other", "is_same", "is_alike"),
    [
        ("Anna", "anna", True, True),
        ("Jan Novák", "JAN NOVÁK", True, True),
        ("Straße", "STRASSE", True, True),
        ("ﬁona", "fiona", True, True),
        ("Anna", "Аnnа", False, True),
        ("АННА", "AHHA", False, True),
        ("Ivan", "lvan", False, True),
        ("Bob0", "Bobo", False, True),
        ("Burns", "Bums", False, True),
        ("Ο'Brien", "O\u2019Brien", False, True),
        ("Novák", "Novak", False, False),
        ("Anna", "Hanna", False, False),
    ],
)
def test_which_names_are_one_and_which_look_alike(one: str, other: str, is_same: bool, is_alike: bool) -> None:
    for first, second in ((one, other), (other, one)):
        assert (same(first, second), alike(first, second)) == (is_same, is_alike)


def test_equal_names_are_refused_with_a_way_out_and_likenesses_told() -> None:
    with pytest.raises(InputError, match=r"'ANNA' is p1 already, expected another name, such as with an initial"):
        people_of(["Anna", "", "ANNA"])
    assert people_of(["Anna", " ", "Аnnа"]) == ({0: "Anna", 2: "Аnnа"}, [(0, 2)])
    assert check_unlike("Cecil", {1: "Anna"}) == []


# --- which player is meant -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Anna", Meant(0, False)),
        (" anna ", Meant(0, False)),
        ("Béla K.", Meant(1, False)),
        ("béla", Meant(1, False)),
        ("p1", Meant(0, False)),
        ("P3", Meant(2, False)),
        ("0", Meant(0, True)),
        ("2", Meant(2, True)),
    ],
)
def test_a_player_is_a_name_or_p_and_a_number_from_1(text: str, meant: Meant) -> None:
    assert seat_meant(text, ["Anna", "Béla K.", "Bertalan"]) == meant


@pytest.mark.parametrize("text", ["", "p0", "p4", "3", "B", "Cecil", "-1", "p", "١", "1.0", "p1 p2", "100"])
def test_nobody_else_is_meant(text: str) -> None:
    with pytest.raises(InputError, match=r"p1 \(Anna\)|p1 to p3"):
        seat_meant(text, ["Anna", "Béla K.", "Bertalan"])


@given(st.lists(NAMES, min_size=1, max_size=6, unique_by=lambda name: name.casefold()))
def test_whom_p_and_a_number_mean_no_name_changes(names: list[str]) -> None:
    for seat in range(len(names)):
        assert seat_meant(f"p{seat + 1}", names) == Meant(seat, False)
        assert seat_meant(str(seat), names) == Meant(seat, True)


# --- the file of names ---------------------------------------------------------------------------------------------


@given(st.lists(st.builds(Row, st.integers(1, 99), PEOPLE, st.sampled_from(["", GAME, OTHER]))))
def test_a_file_is_read_as_it_was_written(rows: list[Row]) -> None:
    assert rows_of(names_text(rows)) == rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "line 1"),
        ("name\nAnna\n", "line 1"),
        ("number,name,salt\n0,Anna,\n", "line 2: '0,Anna,'"),
        ("number,name,salt\n1,Anna,00\n", "line 2"),
        ("number,name,salt\n1,Anna\n", "line 2"),
        ("number,name,salt\n1,Anna,\n1,\x1b[2J,\n", "line 3, name"),
    ],
)
def test_what_is_no_file_of_names(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        rows_of(text)
    assert str(caught.value).startswith(expected)


def test_names_of_a_game_in_its_file_in_a_list_of_entrants_and_in_that_of_a_liar() -> None:
    players = [BELA.player, ANNA.player, b""]
    own = [Row(1, BELA, GAME), Row(2, ANNA, GAME), Row(3, Person("Cecil", b""), GAME)]
    assert names_in(own, GAME, players) == {0: BELA, 1: ANNA, 2: Person("Cecil", b"")}
    assert names_in(own, OTHER, players) == {0: BELA, 1: ANNA}, "a proof needs no number"
    entrants = [Row(17, ANNA), Row(1, Person("Mallory", b"m" * 16)), Row(2, BELA)]
    assert names_in(entrants, GAME, players) == {0: BELA, 1: ANNA}
    swapped = [Row(1, ANNA, GAME), Row(2, BELA, GAME)]
    assert names_in(swapped, GAME, players) == {0: BELA, 1: ANNA}
    assert names_in(swapped[:1], GAME, players) == {1: ANNA}, "a name that is proven is nobody else's"
    unproved = [Row(1, Person("Anna", b""), GAME), Row(2, Person("Béla", b""), GAME)]
    found = names_in(unproved, GAME, players)
    assert [found[seat].fits(player) for seat, player in enumerate(players[:2])] == [False, False]
