"""The join string goes there and back, and a wrong one is refused without showing the token."""

from __future__ import annotations

import pytest

from referee_clients import Join, JoinError, format_join, format_link, parse_join

GAME = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    "address", ["127.0.0.1:50051", "referee.example:443", "[::1]:50051", "unix:/run/referee/socket"]
)
def test_there_and_back(address: str) -> None:
    text = format_join(address, GAME, 2, "s3cret-Token_")
    assert parse_join(f" {text}\n") == Join(address, GAME, 2, "s3cret-Token_")


def test_a_link_has_its_secret_behind_the_hash_and_in_characters_of_addresses() -> None:
    link = format_link("https://club.example:8443", GAME, 2, "s3cret/-_%#")
    assert link == f"https://club.example:8443/seat#{GAME}/2/s3cret%2F-_%25%23"


def test_the_token_is_not_shown() -> None:
    assert "s3cret" not in repr(parse_join(format_join("h:1", GAME, 0, "s3cret")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("s3cret", "not a join string"),
        (format_link("https://club.example", GAME, 0, "s3cret"), "a link is for browsers: open it there"),
        (f" HTTP://127.0.0.1:8080/seat#{GAME}/0/s3cret", "or ask for the join string; expected address:port/game"),
        (f"h:1/{GAME}/0", "not a join string"),
        (f"{GAME}/0#s3cret", "not a join string"),
        (f"/{GAME}/0#s3cret", "address"),
        (f"h:/{GAME}/0#s3cret", "address"),
        (f"h:1/{GAME.upper()}/0#s3cret", "32 lower-case"),
        (f"h:1/{GAME[1:]}/0#s3cret", "32 lower-case"),
        (f"h:1/{GAME}/one#s3cret", "one digit"),
        (f"h:1/{GAME}/²#s3cret", "one digit"),
        (f"h:1/{GAME}/0#", "a token after #"),
        (f"h:1/{GAME}/0#s3cret and more", "a token after #"),
    ],
)
def test_what_is_no_join_string_is_refused(text: str, said: str) -> None:
    with pytest.raises(JoinError, match=said) as caught:
        parse_join(text)
    assert "s3cret" not in str(caught.value)
