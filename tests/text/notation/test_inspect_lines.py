"""Every line gets one answer, whatever is in it."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from referee.games import registry
from referee.text.notation.questions import MAX_LINE_BYTES, Lines, answer, encode
from tests.sizes import campaign

ASK = b'{"game":"alhambra"'
GAMES = " or ".join(f'"{name}"' for name in sorted(registry.names()))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"", "line: empty; expected a JSON object"),
        (b" \t\r", "line: empty; expected a JSON object"),
        (b"[", "line: not JSON at character 2: Expecting value"),
        (b"{}{}", "line: not JSON at character 3: Extra data"),
        (b"[]", "line: []; expected an object"),
        (b"null", "line: null; expected an object"),
        (b"{}", f"game is missing; expected {GAMES}"),
        (b'{"game":"chess"}', f'game: "chess"; expected {GAMES}'),
        (b'{"game":["alhambra"]}', f'game: ["alhambra"]; expected {GAMES}'),
        (b'{"game":"alhambra","game":"alhambra"}', 'duplicate key "game"'),
        (b'{"game":"alhambra","layout":{"1,0":"tower-12","1,0":"tower-12"}}', 'duplicate key "1,0"'),
        (ASK + b',"layout":NaN}', "NaN is not JSON; expected a number"),
        (ASK + b',"layout":-Infinity}', "-Infinity is not JSON; expected a number"),
        (ASK + b',"id":1e999}', "number 1e999 is too large"),
        (ASK + b',"id":' + b"9" * 5000 + b"}", "line: a number with too many digits"),
        (ASK + b',"id":[1]}', "id: [1]; expected a string, a number, true, false or null"),
        (ASK + b',"layout":"\xff"}', "line: not UTF-8 at byte 30"),
        (b"\xef\xbb\xbf{}", "line: begins with a byte order mark; expected a JSON object"),
        (b"[" * 60_000, "line: nested too deeply"),
        (b'{"a":' * 10_000, "line: nested too deeply"),
        (b"7" * (MAX_LINE_BYTES + 1), "line: longer than 65536 bytes"),
        (ASK + b',"tiles":1}', 'unknown field "tiles"; expected cells, layout, options, tile'),
        (ASK + b',"layout":[]}', "layout: []; expected an object"),
        (ASK + b',"layout":null}', "layout: null; expected an object"),
        (ASK + b',"tile":null}', "tile: null; expected the name of a tile, such as tower-8-NES or garden-10"),
        (
            ASK + b',"tile":["tower-12"]}',
            'tile: ["tower-12"]; expected the name of a tile, such as tower-8-NES or garden-10',
        ),
        (ASK + b',"options":1}', "options: 1; expected an object"),
        (ASK + b',"options":{"loop_rule":1}}', "options.loop_rule: 1; expected full or one_less"),
        (ASK + b',"options":{"loop":true}}', 'options: unknown field "loop"; expected loop_rule'),
        (ASK + b',"layout":{"0,0":"tower-12"}}', "layout: cell 0,0 is the fountain's; expected no tile there"),
        (
            ASK + b',"layout":{"1,0":"tower-12","2,0":"tower-12"}}',
            "layout: tile tower-12 on 1,0 and on 2,0; expected each tile once",
        ),
        (
            ASK + b',"layout":{"1,0":"tower-8-SEN"}}',
            'layout: cell 1,0: "tower-8-SEN"; expected the name of a tile, such as tower-8-NES or garden-10',
        ),
        *(
            (
                ASK + b',"layout":{"0,1":"tower-12","1,0":' + name + b"}}",
                f"layout: cell 1,0: {name.decode()}; expected the name of a tile, such as tower-8-NES or garden-10",
            )
            for name in (b'["tower-12"]', b'{"tower-12": 1}', b"12", b"true", b"null")
        ),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_what_is_refused(line: bytes, message: str) -> None:
    assert answer(line) == {"error": message}


@pytest.mark.parametrize(
    "cell",
    [
        *(
            "+1,0",
            "01,0",
            " 1,0",
            "1,0 ",
            "1, 0",
            "1_0,0",
            "-0,1",
            "1,-0",
            "1,0\n",
            "0x1,0",
            "1.0,0",
            "١,0",
            "1\uff0c0",
        ),
        *("", "1", "1,", ",1", "1,0,", "1,0,0", "1;0", "55,0", "0,-55", "1000000,0", "9" * 5000 + ",0"),
    ],
    ids=lambda cell: ascii(cell)[:20],
)
def test_a_cell_is_written_in_one_way(cell: str) -> None:
    question = {"game": "alhambra", "layout": {cell: "tower-12"}}
    error = answer(json.dumps(question).encode())["error"]
    assert error.startswith("layout: cell ")
    assert error.endswith("; expected x,y from -54 to 54, such as 1,-2, and nothing else")
    assert len(error) < 160


@pytest.mark.parametrize("identity", ["a", "\ud800", 7, -1.5, 10**400, True, None])
def test_an_id_comes_back(identity: object) -> None:
    line = json.dumps({"id": identity, "game": "alhambra"}).encode()
    assert json.loads(encode(answer(line)))["id"] == identity
    line = json.dumps({"id": identity, "game": "chess"}).encode()
    found = json.loads(encode(answer(line)))
    assert found["id"] == identity
    assert "error" in found


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
words = st.sampled_from(
    [
        "game",
        "layout",
        "tile",
        "options",
        "score",
        "id",
        "round",
        "players",
        "neutral",
        "counts",
        "wall",
        "loop_rule",
        "0,-1",
        "1,0",
        "0,0",
        "-54,54",
        "tower",
    ]
)
near_values = st.recursive(
    json_values | st.sampled_from(["alhambra", "tower-12", "garden-10-N", 1, 2, 3]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=5),
)


def one_answer(line: bytes) -> dict[str, object]:
    written = encode(answer(line))
    assert written.endswith(b"\n")
    assert written.count(b"\n") == 1
    assert written.isascii()
    found = json.loads(written, parse_constant=pytest.fail)
    assert isinstance(found, dict)
    assert ("error" in found) + ("valid" in found) + ("points" in found) == 1
    return found


@given(st.binary())
@example(b"\x00")
@example(b'"\\ud800"')
def test_any_bytes_get_one_answer(line: bytes) -> None:
    one_answer(line)


@given(json_values)
def test_any_json_gets_one_answer(value: object) -> None:
    one_answer(json.dumps(value).encode())


@pytest.mark.parametrize("examples", [35, campaign(150)])
def test_anything_like_a_question_gets_one_answer(examples: int) -> None:
    @given(st.dictionaries(words, near_values))
    @settings(max_examples=examples)
    def like_a_question(value: dict[str, object]) -> None:
        one_answer(json.dumps({**value, "game": "alhambra"}).encode())

    like_a_question()


@given(st.lists(st.binary(max_size=40) | st.just(b"\n")))
def test_lines_are_the_same_however_they_come(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    lines = Lines()
    found = [line for piece in pieces for line in lines.feed(piece)] + lines.end()
    expected = data.split(b"\n")
    assert found == (expected if expected[-1] else expected[:-1])


def test_a_line_without_end_is_not_kept() -> None:
    lines = Lines()
    for _ in range(40):
        assert lines.feed(b"x" * 50_000) == []
    (line,) = lines.feed(b"\n")
    assert len(line) <= MAX_LINE_BYTES + 50_000
    assert answer(line) == {"error": "line: longer than 65536 bytes"}
    assert lines.feed(b"{}\n") == [b"{}"]
