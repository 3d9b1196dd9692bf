"""Seats that do not come, seats that leave before play, and keys that are changed (TBL-38 to TBL-40)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from referee.games.game import Ending
from referee.games.results import Result
from referee.games.table_rules import VERSION
from referee.log import deck
from referee.log.errors import Code, LogError
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Verdict
from tests.log import second
from tests.log.games import SECRET, SIGNER, build_file, key, seed
from tests.log.opening import Opening

ARBITER = Author(Role.ARBITER, 0)
FORFEIT = log_pb2.Forfeit(seat=1, ending=log_pb2.ENDING_DISCONNECTED)
OUT_BEFORE_PLAY: dict[str, Callable[[Opening], Opening]] = {
    "absent": lambda game: game.absent(1),
    "forfeit": lambda game: game.rule(forfeit=FORFEIT),
    "resigned": lambda game: game.join(1).act(Author(Role.SEAT, 1), log_pb2.Resign()),
}


def verdict(game: Opening) -> Verdict:
    return game.played.audit().verdict


@pytest.mark.parametrize("leaves", OUT_BEFORE_PLAY.values(), ids=OUT_BEFORE_PLAY)
@pytest.mark.parametrize("is_last", [True, False], ids=["last", "first"])
@pytest.mark.parametrize("dealt", [True, False], ids=["dealt", "declared"])
def test_play_begins_without_who_does_not_come(
    leaves: Callable[[Opening], Opening], is_last: bool, dealt: bool
) -> None:
    game = Opening(dealt=dealt)
    # With the last Join the deck awaits all of them: to resign then is another case.
    came = (0,) if leaves is OUT_BEFORE_PLAY["resigned"] else (0, 2)
    game = leaves(game.join(*came)) if is_last else leaves(game).join(*came)
    game.join(*(seat for seat in (0, 2) if seat not in came))
    assert game.game.phase is (Phase.REVEALING if dealt else Phase.PLAYING)
    if not dealt:
        assert 1 not in game.game.awaited()
        return
    assert game.game.dealing == (0, 2)
    game.reveal(0, 2)
    assert game.game.phase is Phase.PLAYING
    game.play()
    assert game.game.end.ending is Ending.RULES
    assert game.game.end.places[1] == 3
    report = game.played.audit()
    assert report.verdict is Verdict.COMPLETE
    assert report.deck_checked
    # The shares of the present seats, by the specification alone.
    shares = [seed("p 0"), seed("p 2")]
    made = second.Verifier(game.played.file(), str(SIGNER.verifier)).deck
    assert made == deck.deck_key(SECRET, game.record.game_id, shares)


@pytest.mark.parametrize("leaves", OUT_BEFORE_PLAY.values(), ids=OUT_BEFORE_PLAY)
def test_one_who_came_wins(leaves: Callable[[Opening], Opening]) -> None:
    game = leaves(Opening(seats=2).join(0))
    assert game.game.phase is Phase.CLOSED
    assert game.game.end.places == (1, 2)
    assert verdict(game) is Verdict.COMPLETE


def test_nobody_comes() -> None:
    game = Opening(seats=2).absent(0).absent(1)
    assert game.game.end.places == (3, 2)
    assert verdict(game) is Verdict.COMPLETE


def test_who_is_left_has_to_come_to_win() -> None:
    game = Opening(seats=2).absent(0)
    assert game.game.result() is None
    game.join(1)
    assert game.game.end.places == (2, 1)
    assert verdict(game) is Verdict.COMPLETE


@pytest.mark.parametrize("revealed", [(), (0,), (0, 2)], ids=str)
@pytest.mark.parametrize("how", ["absent", "forfeit"])
def test_without_a_committed_share_no_deck_is_made(revealed: tuple[int, ...], how: str) -> None:
    game = OUT_BEFORE_PLAY[how](Opening().join(0, 1, 2).reveal(*revealed))
    assert game.game.deal.dealer is None
    assert game.game.end == Result(Ending.ABORTED)
    assert dict(game.game.arbitration.out) == {1: Ending.DISCONNECTED}
    assert verdict(game) is Verdict.COMPLETE


def test_a_share_that_is_open_stays_in_the_deck() -> None:
    game = Opening().join(0, 1, 2).reveal(1).rule(forfeit=FORFEIT).reveal(0, 2)
    assert game.game.phase is Phase.PLAYING
    assert game.game.dealing == (0, 1, 2)
    assert verdict(game.play()) is Verdict.COMPLETE


def test_scribed_seats_alone_get_no_deck() -> None:
    game = Opening(seats=4, scribed=(0, 1), dealt=True).absent(2).absent(3)
    assert game.game.end == Result(Ending.ABORTED)
    assert verdict(game) is Verdict.COMPLETE


def test_an_arbiter_gives_more_time_and_brings_back() -> None:
    game = Opening().join(0, 2).rule(pause=log_pb2.Pause())
    with pytest.raises(LogError, match="TBL-38"):
        game.absent(1, after=9_000)
    game.rule(resume=log_pb2.Resume())
    since = game.game.missing_from_ms
    assert since == game.now
    game.join(1)
    again = Opening().absent(1).rule(reinstate=log_pb2.Reinstate(seat=1)).join(0, 1, 2).reveal(0, 1, 2)
    assert again.game.dealing == (0, 1, 2)
    assert verdict(again.play()) is Verdict.COMPLETE


def test_a_result_of_absence_can_be_undone_while_there_is_time_to_protest() -> None:
    game = Opening(seats=2, protest_ms=5_000).join(0).absent(1)
    assert not game.game.is_over
    assert game.game.result() == Result(Ending.DISCONNECTED, places=(1, 2))
    game.rule(reinstate=log_pb2.Reinstate(seat=1)).join(1).reveal(0, 1)
    assert game.game.phase is Phase.PLAYING


def test_version_1_is_as_it_was() -> None:
    """Before play nothing but a result: no forfeit, no other key."""
    acts: tuple[Callable[[Opening], Opening], ...] = (
        lambda game: game.absent(1),
        lambda game: game.rule("TBL-34", forfeit=FORFEIT),
        lambda game: game.act(Author(Role.SEAT, 0), log_pb2.Resign()),
        lambda game: game.rule("TBL-32", pause=log_pb2.Pause()),
    )
    for act in acts:
        with pytest.raises(LogError) as found:
            act(Opening(table_rules=1).join(0))
        assert found.value.code is Code.NOT_AWAITED
    with pytest.raises(LogError) as found:
        Opening(table_rules=1).join(0).change(0, key("new"))
    assert found.value.code is Code.UNSUPPORTED


# --- keys ------------------------------------------------------------------------------------------------------------


def started() -> Opening:
    return Opening().join(0, 1, 2).reveal(0, 1, 2)


def test_the_old_key_counts_until_the_new_one_signs() -> None:
    game, author, new = started(), Author(Role.SEAT, 0), key("new")
    game.change(0, new)
    game.act(author, log_pb2.Protest(rule_id="TBL-1"))
    assert [known.raw for known in game.record.keyring.keys_of(author)] == [key("seat 0").public.raw, new.public.raw]
    game.keys[author] = new
    game.act(author, log_pb2.Protest(rule_id="TBL-1"))
    assert [known.raw for known in game.record.keyring.keys_of(author)] == [new.public.raw]
    game.keys[author] = key("seat 0")
    with pytest.raises(LogError) as found:
        game.act(author, log_pb2.Protest(rule_id="TBL-1"))
    assert found.value.code is Code.AUTHOR_SIGNATURE


def test_by_a_ruling_the_old_key_ends_at_once() -> None:
    game, author, new = started(), Author(Role.SEAT, 0), key("new")
    game.change(0, new, by=ARBITER, named=0)
    with pytest.raises(LogError) as found:
        game.act(author, log_pb2.Protest(rule_id="TBL-1"))
    assert found.value.code is Code.AUTHOR_SIGNATURE
    game.keys[author] = new
    game.act(author, log_pb2.Protest(rule_id="TBL-1"))
    assert verdict(game) is Verdict.PREFIX


def test_a_key_that_never_signs_can_be_replaced() -> None:
    game, author = started(), Author(Role.SEAT, 0)
    game.change(0, key("a slip")).change(0, key("right"))
    game.keys[author] = key("a slip")
    with pytest.raises(LogError):
        game.act(author, log_pb2.Resign())
    game.keys[author] = key("right")
    game.act(author, log_pb2.Resign())


def test_a_weak_key_is_refused() -> None:
    with pytest.raises(LogError) as found:
        started().act(Author(Role.SEAT, 0), log_pb2.ChangeKey(key=bytes(32)))
    assert found.value.code is Code.KEY
    with pytest.raises(LogError) as found:
        started().act(Author(Role.SEAT, 0), log_pb2.ChangeKey(key=b"short"))
    assert found.value.code is Code.KEY


def test_the_audit_says_how_far_a_pinned_key_holds() -> None:
    game, author, new = started(), Author(Role.SEAT, 0), key("new")
    game.change(0, new)
    at = game.record.size
    game.keys[author] = new
    game.play()
    first = next(seq for seq in range(at, game.record.size) if game.record.keyring.used[0][1][0] == seq)
    for pinned, expected, standing in (
        ("seat 0", Verdict.COMPLETE, f"pinned up to entry {first - 1}"),
        ("new", Verdict.COMPLETE, f"pinned from entry {first}"),
        ("another", Verdict.UNTRUSTED_KEY, f"self-declared, changed in entry {first}"),
    ):
        report = game.played.audit(policy=Policy(SIGNER.verifier, seat_keys={0: key(pinned).public.raw}))
        assert (report.verdict, report.seats[0].standing) == (expected, standing)
        assert report.seats[0].key == (new if pinned == "another" else key(pinned)).public.raw


@pytest.mark.parametrize("signs", [True, False], ids=["the new key signs", "it never does"])
def test_an_arbiter_ends_a_pinned_key_at_once(signs: bool) -> None:
    game, author, new = started(), Author(Role.SEAT, 0), key("new")
    ruled = game.record.size
    game.change(0, new, by=ARBITER, named=0)
    first = game.record.size
    if signs:
        game.keys[author] = new
        game.act(author, log_pb2.Protest(rule_id="TBL-1"))
    standings = []
    for pinned in ("seat 0", "new"):
        report = game.played.audit(policy=Policy(SIGNER.verifier, seat_keys={0: key(pinned).public.raw}))
        standings.append((report.verdict, report.seats[0].standing))
    assert standings[0] == (Verdict.PREFIX, f"pinned up to entry {ruled - 1}")
    holds = (Verdict.PREFIX, f"pinned from entry {first}")
    assert standings[1] == (holds if signs else (Verdict.UNTRUSTED_KEY, "self-declared"))


def test_a_pinned_seat_that_did_not_come_is_a_comment() -> None:
    pinned = {1: key("seat 1").public.raw}
    game = OUT_BEFORE_PLAY["absent"](Opening().join(0, 2)).reveal(0, 2).play()
    report = game.played.audit(policy=Policy(SIGNER.verifier, seat_keys=pinned))
    assert report.verdict is Verdict.COMPLETE
    assert "player 2, whose key you gave, never joined" in report.remarks


def test_a_later_version_is_unsupported_whatever_it_holds() -> None:
    """The version is looked at before anything else: what a later one has added is no damage."""
    whole = started().play().played
    opened = log_pb2.Entry.FromString(whole.entries[0])
    later = log_pb2.GameOpen.FromString(opened.open)
    later.terms.table_rules = VERSION + 1
    unknown = b"\xfa\x01\x01x"  # field 31
    opened.open = later.SerializeToString(deterministic=True) + unknown
    entries = [opened.SerializeToString(deterministic=True), *(entry + unknown for entry in whole.entries[1:])]
    report = whole.audit(build_file(whole.header, entries, whole.notes[-1]))
    assert {finding.code for finding in report.findings} >= {Code.UNSUPPORTED}
    assert not any(finding.code is Code.MALFORMED for finding in report.findings), report.findings
