"""Policy files: the specification's example, what a quorum is, and every line that is refused."""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.log.errors import Code, LogError
from referee.log.note import VerifierKey
from referee.log.public.checkpoint import COSIGNATURE, LogPolicy, witness_key
from tests.log.games import key
from tests.log.public.logs import LOG, policy, policy_text


def vkey(name: str) -> VerifierKey:
    return witness_key(f"{name}.example", key(name).public)


NAMES = [f"{letter}{number}" for letter in "XY" for number in (1, 2, 3)]
EXAMPLE = f"""# two organisations
log {LOG.verifier} https://club.example/log

\twitness X1 {vkey("X1")} https://x.example/one
{"".join(f"witness {name} {vkey(name)}{chr(10)}" for name in NAMES[1:])}
group X-witnesses 2 X1 X2 X3
group Y-witnesses any Y1 Y2 Y3
  group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
"""


def test_the_example_of_the_specification() -> None:
    found = LogPolicy.parse(EXAMPLE.encode())
    assert [str(peer.key) for peer in found.logs] == [str(LOG.verifier)]
    assert found.logs[0].url == "https://club.example/log"
    assert found.witnesses["X1"].url == "https://x.example/one"
    assert found.log(LOG.verifier.name) == (LOG.verifier,)
    assert found.log("another.example/log") == ()
    for count in range(7):
        for some in combinations(NAMES, count):
            expected = sum(name[0] == "X" for name in some) >= 2 and any(name[0] == "Y" for name in some)
            assert found.is_met(some) == expected


def test_a_quorum_is_all_any_a_number_or_nobody() -> None:
    assert policy("none").is_met(())
    assert not policy("any").is_met(())
    assert policy("any").is_met({"w2"})
    assert not policy("all").is_met({"w1", "w2"})
    assert policy("2").is_met({"w1", "w3"})
    assert not policy("2").is_met({"w1", "stranger"})
    one = LogPolicy.parse(f"witness w {vkey('w')}\nquorum w\n".encode())
    assert one.is_met({"w"})
    assert not one.is_met(())


W = f"witness w {vkey('w')}\n"
BAD = {
    "no quorum": (W, "no quorum line"),
    "two quorums": (W + "quorum w\nquorum w\n", "line 3: a second quorum line"),
    "a quorum of nobody that is known": ("quorum w\n", "line 1: 'w'"),
    "a quorum before its witness": ("quorum w\n" + W, "line 1: 'w'"),
    "a word that no line begins with": ("logs x\nquorum none\n", "line 1: 'logs'"),
    "a witness of a type that cosigns nothing": (
        f"witness w {VerifierKey.of('w.example', key('w').public)}\nquorum w\n",
        "line 1: key of type 0x01",
    ),
    "a witness with a weak key": (f"witness w {VerifierKey('w', COSIGNATURE, bytes(32))}\nquorum w\n", "line 1: weak"),
    "an ML-DSA key that is too short": (f"witness w {VerifierKey('w', 6, bytes(32))}\nquorum w\n", "line 1: ML-DSA-44"),
    "a log of a type that nobody knows": (
        f"log {VerifierKey('l', 9, bytes(32))}\nquorum none\n",
        "line 1: key of type",
    ),
    "the same key under another name": (
        W + f"witness v {witness_key('v.example', key('w').public)}\nquorum w\n",
        "line 2: the key of v.example a second time",
    ),
    "the same log twice": (f"log {LOG.verifier}\nlog {LOG.verifier}\nquorum none\n", "line 2: the key of"),
    "a name twice": (W + f"witness w {vkey('v')}\nquorum w\n", "line 2: the name 'w' is taken"),
    "a witness called none": (f"witness none {vkey('w')}\nquorum none\n", "line 1: the name 'none' is taken"),
    "a member that is not known": ("group g any w\nquorum g\n", "line 1: 'w'"),
    "a group with none in it": (W + "group g any none\nquorum g\n", "line 2: 'none'"),
    "a group in itself": (W + "group g any w g\nquorum g\n", "line 2: 'g'"),
    "a member twice": (W + "group g 2 w w\nquorum g\n", "line 2: 'w' is a member already"),
    "a member of two groups": (W + "group g any w\ngroup h any w\nquorum g\n", "line 3: 'w' is a member already"),
    "none of them": (W + "group g 0 w\nquorum g\n", "line 2: '0' of 1 members"),
    "more than there are": (W + "group g 2 w\nquorum g\n", "line 2: '2' of 1 members"),
    "a number in another writing": (W + "group g 01 w\nquorum g\n", "line 2: '01' of 1 members"),
    "a group without members": (W + "group g any\nquorum w\n", "line 2: a group with 2 words"),
    "a log with too many words": (f"log {LOG.verifier} a b\nquorum none\n", "line 1: a log with 3 words"),
    "a carriage return": (W + "quorum w\r\n", "line 2: control character"),
    "no verifier key": ("witness w x\nquorum w\n", "line 1: verifier key 'x'"),
}


@pytest.mark.parametrize(("text", "expected"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_named_with_its_line(text: str, expected: str) -> None:
    with pytest.raises(LogError) as caught:
        LogPolicy.parse(text.encode())
    assert caught.value.code is Code.NOTE
    assert expected in caught.value.what


def test_names_and_comments_may_be_in_any_encoding() -> None:
    found = LogPolicy.parse(b"# caf\xe9\nwitness \xe9 " + str(vkey("w")).encode() + b"\nquorum \xe9")
    assert found.is_met({"\udce9"})


@given(st.binary(max_size=200), st.integers(0, 400))
def test_anything_is_a_policy_or_refused(data: bytes, at: int) -> None:
    text = policy_text().encode()
    for each in (data, text[:at] + data + text[at:]):
        with suppress(LogError):  # and nothing else
            LogPolicy.parse(each).is_met(())


@given(st.data())
def test_a_quorum_can_split_if_two_without_a_common_witness_meet_it(data: st.DataObject) -> None:
    """Against every way to share out the witnesses among two lists."""
    free = [f"w{number}" for number in range(data.draw(st.integers(1, 6)))]
    names, lines = [*free], [f"witness {name} {witness_key(f'{name}.example', key(name).public)}" for name in free]
    for number in range(data.draw(st.integers(1, 3))):
        members = [free.pop() for _ in range(data.draw(st.integers(1, len(free))))]
        lines.append(f"group g{number} {data.draw(st.integers(1, len(members)))} {' '.join(members)}")
        free.append(f"g{number}")
    found = LogPolicy.parse("\n".join([*lines, f"quorum {data.draw(st.sampled_from(free))}"]).encode())
    shares = [{name for at, name in enumerate(names) if bits >> at & 1} for bits in range(1 << len(names))]
    assert found.can_split == any(found.is_met(one) and found.is_met({*names} - one) for one in shares)


def test_without_witnesses_anything_can_be_shown() -> None:
    assert LogPolicy.parse(b"quorum none\n").can_split
