"""The auditor against forgers: each attack, with the verdict, the layer, the entry and the exit code it must get.

Numbers in docstrings are those of the table of attacks in docs/log-format.md.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from referee.log import audit as auditing
from referee.log import file, findings, intent
from referee.log.audit import audit
from referee.log.engines import Engines
from referee.log.entry import Clock, decode_entry
from referee.log.errors import Code, LogError
from referee.log.events import Author, Role
from referee.log.file import FrameType, encode_frame
from referee.log.keys import PublicKey
from referee.log.merkle import EMPTY_ROOT
from referee.log.note import CheckpointSigner, VerifierKey
from referee.log.replay import Keyring
from referee.log.v1 import log_pb2
from referee.log.verdict import Layer, Policy, Report, Verdict
from referee.wire import strict
from tests.core import needs_source
from tests.log import evil, games
from tests.log.games import SIGNER, Played, key, play, seat_key, seed, start
from tests.log.record import KINDS
from tests.log.toy import CARDS, ENGINES, engines


def expect(report: Report, verdict: Verdict, code: Code, entry: int | None) -> None:
    decisive = report.decisive
    assert decisive is not None
    assert (report.verdict, decisive.code, decisive.entry) == (verdict, code, entry), report.as_text()
    assert report.exit_code == int(verdict)


def found(report: Report) -> dict[Layer, tuple[Code, int | None]]:
    return {finding.layer: (finding.code, finding.entry) for finding in report.findings}


@pytest.fixture(scope="module")
def dealt() -> Played:
    """Entries: 0 open, 1-2 join, 3-4 reveal, then chance, moves and passes, GameEnd, SeedDisclose."""
    return play(start(recorded=True))


@pytest.fixture(scope="module")
def declared() -> Played:
    return play(start(dealt=False))


def moves(played: Played) -> list[int]:
    """Return indices of entries that hold moves."""
    return [
        i
        for i, entry in enumerate(evil.entries(played))
        if entry.HasField("signed") and log_pb2.Intent.FromString(entry.signed.intent).HasField("move")
    ]


def with_move(entry: log_pb2.Entry, data: bytes) -> None:
    act = log_pb2.Intent.FromString(entry.signed.intent)
    act.move = data
    entry.signed.intent = act.SerializeToString(deterministic=True)


# --- what is right -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_honest_games_are_complete(kind: dict[str, Any]) -> None:
    report = play(start(**kind)).audit()
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert report.exit_code == 0
    assert report.findings == ()
    assert report.signed_entries == report.entries
    assert report.deck_checked == (report.chance == "dealt")
    assert report.as_text().startswith("COMPLETE\n")
    assert report.ending == "ENDING_RULES"
    assert len(report.scores) == len(report.places) == len(report.seats)


@pytest.mark.parametrize("stop", range(7))
def test_aborted_games_are_complete(stop: int) -> None:
    """At any point the organiser may stop; then the seed is disclosed all the same."""
    played = start()
    for i in (0, 1)[:stop]:
        played.admit(intent.join(played.record.place, i, seat_key(i), seed(f"p {i}")))
    for i in (0, 1)[: max(0, stop - 2)]:
        played.admit(intent.reveal(played.record.place, i, seat_key(i), seed(f"p {i}")))
    if stop > 4:
        played.settle()
    report = games.abort(played).audit()
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert (report.ending, report.scores) == ("ENDING_ABORTED", ())


def test_report_as_json(dealt: Played) -> None:
    value = json.loads(dealt.audit().as_json())
    assert value["verdict"] == "COMPLETE"
    assert [layer["layer"] for layer in value["layers"]] == [str(layer) for layer in Layer]
    bad = json.loads(dealt.audit(evil.forged(dealt, lambda e: with_move(e[moves(dealt)[0]], b"\x02"))).as_json())
    assert bad["exit_code"] == 4
    authors = next(layer for layer in bad["layers"] if layer["layer"] == "authors")
    assert authors["finding"]["code"] == "AUTHOR_SIGNATURE"
    assert authors["finding"]["entry"] == moves(dealt)[0]
    assert authors["finding"]["offset"] > 0


# --- the referee: entries (attacks 1, 2, 3, 5, 11, 12, 15) ----------------------------------------------------


def test_forged_move(dealt: Played) -> None:
    """11: rewritten, linked and signed again by the referee: the player's signature gives it away."""
    for at in moves(dealt):
        report = dealt.audit(evil.forged(dealt, lambda e, at=at: with_move(e[at], b"\x02")))  # type: ignore[misc]
        assert found(report)[Layer.AUTHORS] == (Code.AUTHOR_SIGNATURE, at)
        assert report.verdict is Verdict.CORRUPT
        assert report.checked[Layer.AUTHORS] == len(dealt.entries), "the layer goes on after its first failure"


def test_last_move_forged_is_named_first(dealt: Played) -> None:
    at = moves(dealt)[-1]
    report = dealt.audit(evil.forged(dealt, lambda e: with_move(e[at], b"\x02")))
    expect(report, Verdict.CORRUPT, Code.AUTHOR_SIGNATURE, at)


@pytest.mark.parametrize("relink", [False, True])
def test_dropped_entry(dealt: Played, relink: bool) -> None:
    """12: the chain breaks there; linked again, the next intent still names what is gone."""
    signed = [i for i, e in enumerate(evil.entries(dealt)) if e.HasField("signed")]
    for at in range(1, len(dealt.entries) - 3):
        changed = evil.entries(dealt)
        del changed[at]
        if relink:
            data = evil.signed_file(dealt, evil.relinked(changed))
            broken = min((i - 1 for i in signed if i > at), default=None)
        else:
            leaves = [entry.SerializeToString(deterministic=True) for entry in changed]
            data = evil.signed_file(dealt, leaves)
            broken = at
        if broken is None:
            continue
        report = dealt.audit(data)
        assert found(report)[Layer.CHAIN] == (Code.STALE_HEAD, broken), (at, report.as_text())
        expect(report, Verdict.CORRUPT, Code.STALE_HEAD, broken)


def test_reordered_entries(dealt: Played) -> None:
    """15."""
    for at in range(1, len(dealt.entries) - 1):
        leaves = list(dealt.entries)
        leaves[at], leaves[at + 1] = leaves[at + 1], leaves[at]
        expect(dealt.audit(evil.signed_file(dealt, leaves)), Verdict.CORRUPT, Code.STALE_HEAD, at)


def test_replayed_entry(dealt: Played) -> None:
    """2: an old entry once more, as it was."""
    for at in range(1, len(dealt.entries)):
        leaves = [*dealt.entries[: at + 1], dealt.entries[at], *dealt.entries[at + 1 :]]
        expect(dealt.audit(evil.signed_file(dealt, leaves)), Verdict.CORRUPT, Code.STALE_HEAD, at + 1)


def test_replayed_intent(dealt: Played) -> None:
    """2: an old intent in a new entry at the end, with the chain intact."""
    at = moves(dealt)[0]

    def edit(changed: list[log_pb2.Entry]) -> None:
        copy = log_pb2.Entry()
        copy.CopyFrom(changed[at])
        changed.insert(len(changed) - 2, copy)

    report = dealt.audit(evil.forged(dealt, edit))
    expect(report, Verdict.CORRUPT, Code.STALE_HEAD, len(dealt.entries) - 2)


def test_spliced_from_another_game(dealt: Played) -> None:
    """3."""
    other = play(start(recorded=True, seats=3))
    for at in range(len(dealt.entries)):
        leaves = list(dealt.entries)
        leaves[at] = other.entries[at]
        report = dealt.audit(evil.signed_file(dealt, leaves))
        assert report.exit_code == 4
        first = report.decisive
        assert first is not None
        if at:
            assert (first.code, first.entry) == (Code.WRONG_GAME, at)


def test_forged_by_another_seat(dealt: Played) -> None:
    """1: a move of seat 0 signed by seat 1, which the referee lets through."""
    at = moves(dealt)[-1]

    def edit(changed: list[log_pb2.Entry]) -> None:
        act = log_pb2.Intent.FromString(changed[at].signed.intent)
        signed = intent.sign(act, seat_key(1 - act.seat))
        changed[at].signed.CopyFrom(
            log_pb2.Signed(intent=signed.intent, signature=signed.signature, key_id=signed.key_id)
        )

    expect(dealt.audit(evil.forged(dealt, edit)), Verdict.CORRUPT, Code.AUTHOR_SIGNATURE, at)


def test_illegal_move_let_through(dealt: Played) -> None:
    """5: the player signs it, the referee enters it; only the rules object."""
    at = moves(dealt)[-1]
    report = dealt.audit(evil.forged(dealt, lambda e: with_move(e[at], b"\x63"), players=True))
    expect(report, Verdict.RULES, Code.RULES, at)
    assert "TOY-2, TOY-3" in str(report.decisive)
    assert report.checked[Layer.RULES] == at


def test_move_out_of_turn(dealt: Played) -> None:
    at = moves(dealt)[-1]

    def edit(changed: list[log_pb2.Entry]) -> None:
        act = log_pb2.Intent.FromString(changed[at].signed.intent)
        act.seat = 1 - act.seat
        changed[at].signed.intent = act.SerializeToString(deterministic=True)

    expect(dealt.audit(evil.forged(dealt, edit, players=True)), Verdict.RULES, Code.NOT_AWAITED, at)


def test_two_joins_of_a_seat(dealt: Played) -> None:
    """A later Join must not take a seat over."""

    def edit(changed: list[log_pb2.Entry]) -> None:
        copy = log_pb2.Entry()
        copy.CopyFrom(changed[1])
        changed.insert(3, copy)

    expect(dealt.audit(evil.forged(dealt, edit, players=True)), Verdict.RULES, Code.NOT_AWAITED, 3)


def test_wrong_digest(dealt: Played) -> None:
    """The position recorded is not that of the rules: another engine, not an altered log."""
    for at in range(len(dealt.entries)):

        def edit(changed: list[log_pb2.Entry], at: int = at) -> None:
            changed[at].state_digest = bytes(32)

        report = dealt.audit(evil.forged(dealt, edit, players=True))
        expect(report, Verdict.RULES, Code.DIGEST, at)


@pytest.mark.parametrize("field", ["scores", "places"])
def test_wrong_result(dealt: Played, field: str) -> None:
    def edit(changed: list[log_pb2.Entry]) -> None:
        getattr(changed[-2].end, field)[0] += 1

    expect(dealt.audit(evil.forged(dealt, edit)), Verdict.RULES, Code.RESULT, len(dealt.entries) - 2)


def test_result_denied(dealt: Played) -> None:
    """The rules have ended the game; the referee calls it aborted."""

    def edit(changed: list[log_pb2.Entry]) -> None:
        changed[-2].end.CopyFrom(log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED))

    expect(dealt.audit(evil.forged(dealt, edit)), Verdict.RULES, Code.RESULT, len(dealt.entries) - 2)


def test_invented_events(dealt: Played) -> None:
    """24: a pass that is not forced, a timeout, a second GameOpen, in the middle of play."""
    at = moves(dealt)[-1]
    opened = evil.entries(dealt)[0].open
    for event, code, verdict in (
        ({"forced_pass": log_pb2.ForcedPass(seat=0)}, Code.NOT_AWAITED, Verdict.RULES),
        ({"timeout": log_pb2.Timeout(seat=0)}, Code.UNSUPPORTED, Verdict.UNSUPPORTED),
        ({"open": opened}, Code.NOT_AWAITED, Verdict.RULES),
        ({"chance": log_pb2.Chance(outcome=b"\x01")}, Code.NOT_AWAITED, Verdict.RULES),
        ({"end": log_pb2.GameEnd(ending=log_pb2.ENDING_RESIGNED)}, Code.RESULT, Verdict.RULES),
    ):

        def edit(changed: list[log_pb2.Entry], event: dict[str, Any] = event) -> None:
            changed.insert(at, log_pb2.Entry(game_id=changed[0].game_id, state_digest=bytes(32), **event))

        expect(dealt.audit(evil.forged(dealt, edit, players=True)), verdict, code, at)


def test_acts_that_are_not_offered(dealt: Played) -> None:
    at = moves(dealt)[-1]

    def edit(changed: list[log_pb2.Entry]) -> None:
        act = log_pb2.Intent.FromString(changed[at].signed.intent)
        act.resign.SetInParent()
        changed[at].signed.intent = act.SerializeToString(deterministic=True)

    expect(dealt.audit(evil.forged(dealt, edit, players=True)), Verdict.UNSUPPORTED, Code.UNSUPPORTED, at)


def test_refusals_are_checked() -> None:
    """A move refused that is legal, or refused for other rules than it breaks."""
    played = start(recorded=True)
    games.join_and_reveal(played)
    awaited: Any = played.record.game.position.pending()[0]
    author = Author(Role.SEAT, awaited.seat)
    signed = intent.move(played.record.place, author, seat_key(awaited.seat), b"\x63")
    with pytest.raises(LogError) as caught:
        played.record.admit(signed, Clock(0))
    at = len(played.entries)
    played.keep(played.record.refuse(signed, caught.value, Clock(0)))  # type: ignore[arg-type]
    while games.step(played):
        pass
    assert played.audit().exit_code == 0

    def other_rules(changed: list[log_pb2.Entry]) -> None:
        del changed[at].refused.rule_ids[0]

    def legal(changed: list[log_pb2.Entry]) -> None:
        act = log_pb2.Intent.FromString(changed[at].refused.intent)
        act.move = b"\x01"
        changed[at].refused.intent = act.SerializeToString(deterministic=True)

    expect(played.audit(evil.forged(played, other_rules, players=True)), Verdict.RULES, Code.RULES, at)
    expect(played.audit(evil.forged(played, legal, players=True)), Verdict.RULES, Code.RULES, at)


# --- the deck (attacks 7, 19, 21, 22) ------------------------------------------------------------------------


def chances(played: Played) -> list[int]:
    return [i for i, entry in enumerate(evil.entries(played)) if entry.HasField("chance")]


def test_stacked_deck(dealt: Played) -> None:
    """22: a card that is in the deck, but not the next one."""
    at = chances(dealt)[-1]
    card = evil.entries(dealt)[at].chance.outcome
    unused = set(range(8)) - {e.chance.outcome[0] for e in evil.entries(dealt) if e.HasField("chance")}

    def edit(changed: list[log_pb2.Entry]) -> None:
        changed[at].chance.outcome = bytes([min(unused)])

    report = dealt.audit(evil.forged(dealt, edit, players=True))
    expect(report, Verdict.RULES, Code.DECK, at)
    assert not report.deck_checked
    assert card.hex() in str(report.decisive)


def test_other_seed_disclosed(dealt: Played) -> None:
    """19: r chosen after the fact does not open C_r."""

    def edit(changed: list[log_pb2.Entry]) -> None:
        changed[-1].disclose.seed = seed("a better r")

    report = dealt.audit(evil.forged(dealt, edit))
    expect(report, Verdict.RULES, Code.DECK, len(dealt.entries) - 1)


def test_reveal_that_opens_nothing(dealt: Played) -> None:
    """7: seat and referee agree on another p_i afterwards."""

    def edit(changed: list[log_pb2.Entry]) -> None:
        act = log_pb2.Intent.FromString(changed[4].signed.intent)
        act.reveal.seed = seed("a better p")
        changed[4].signed.intent = act.SerializeToString(deterministic=True)

    expect(dealt.audit(evil.forged(dealt, edit, players=True)), Verdict.RULES, Code.DECK, 4)


def test_seed_withheld(dealt: Played) -> None:
    """21: a closed file without r is UNDISCLOSED; a file that may continue is a prefix."""
    leaves = dealt.entries[:-1]
    data = evil.signed_file(dealt, leaves)
    report = dealt.audit(data)
    expect(report, Verdict.UNDISCLOSED, Code.UNDISCLOSED, None)
    assert report.exit_code == 10
    assert not report.deck_checked
    open_end = data[: -len(evil.frames(data)[-1])]
    expect(dealt.audit(open_end), Verdict.PREFIX, Code.INCOMPLETE, None)


def test_declared_by_the_wrong_scribe(declared: Played) -> None:
    at = 3

    def edit(changed: list[log_pb2.Entry]) -> None:
        act = log_pb2.Intent.FromString(changed[at].signed.intent)
        act.scribe = 0
        changed[at].signed.intent = act.SerializeToString(deterministic=True)

    expect(declared.audit(evil.forged(declared, edit, players=True)), Verdict.RULES, Code.NOT_AWAITED, at)


def test_declared_card_that_is_gone(declared: Played) -> None:
    def edit(changed: list[log_pb2.Entry]) -> None:
        act = log_pb2.Intent.FromString(changed[3].signed.intent)
        act.declare = b"\x63"
        changed[3].signed.intent = act.SerializeToString(deterministic=True)

    expect(declared.audit(evil.forged(declared, edit, players=True)), Verdict.RULES, Code.RULES, 3)


# --- keys and heads (attacks 13, 16, 17, 25, 33, 45) -----------------------------------------------------------


def test_policies(dealt: Played) -> None:
    expect(dealt.audit(policy=Policy()), Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, None)
    other = VerifierKey.of(games.ORIGIN, key("another referee").public)
    expect(dealt.audit(policy=Policy(other)), Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, None)
    renamed = VerifierKey.of("referee.other", key("referee").public)
    expect(dealt.audit(policy=Policy(renamed)), Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, None)


def test_pinned_seats(dealt: Played) -> None:
    """A file with keys that the referee made up itself is whole; only pinned keys show it."""
    pinned = Policy(SIGNER.verifier, seat_keys={1: seat_key(1).public.raw})
    report = dealt.audit(policy=pinned)
    assert report.verdict is Verdict.COMPLETE
    assert [seat.standing for seat in report.seats] == ["self-declared", "pinned"]
    wrong = Policy(SIGNER.verifier, seat_keys={1: seat_key(7).public.raw})
    expect(dealt.audit(policy=wrong), Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, 1)
    nobody = Policy(SIGNER.verifier, seat_keys={5: seat_key(1).public.raw})
    expect(dealt.audit(policy=nobody), Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, 0)


def test_pinned_seat_that_is_scribed() -> None:
    """A forger declares the seat scribed and signs its moves with a scribe of his own."""
    played = play(start(seats=2, scribed=(0,)))
    assert played.audit().verdict is Verdict.COMPLETE
    pinned = Policy(SIGNER.verifier, seat_keys={0: seat_key(0).public.raw})
    report = played.audit(policy=pinned)
    expect(report, Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, 0)
    assert found(report)[Layer.AUTHORS] == (Code.UNTRUSTED_KEY, 0)


@pytest.mark.parametrize("joined", [0, 1])
def test_pinned_seat_that_never_joined(joined: int) -> None:
    """A seat that aborts before it joins is not forged, but the report says that it is not there."""
    played = start()
    for i in range(joined):
        played.admit(intent.join(played.record.place, i, seat_key(i), seed(f"p {i}")))
    games.abort(played)
    report = played.audit(policy=Policy(SIGNER.verifier, seat_keys={1: seat_key(1).public.raw}))
    assert report.verdict is Verdict.COMPLETE
    assert report.seats[1].standing == "pinned, never joined"
    assert report.remarks == ("player 2, whose key you gave, never joined",)
    assert "pinned, never joined" in report.as_text()


def test_pinned_seat_that_never_joined_though_the_game_went_on(dealt: Played) -> None:
    def by_seat_1(entry: log_pb2.Entry) -> bool:
        act = log_pb2.Intent.FromString(entry.signed.intent)
        return act.WhichOneof("author") == "seat" and act.seat == 1

    def edit(changed: list[log_pb2.Entry]) -> None:
        changed[:] = [entry for entry in changed if not by_seat_1(entry)]

    data = evil.forged(dealt, edit, players=True)
    report = dealt.audit(data, Policy(SIGNER.verifier, seat_keys={1: seat_key(1).public.raw}))
    expect(report, Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, None)


def test_pinned_scribes(declared: Played) -> None:
    good = Policy(SIGNER.verifier, scribe_keys={1: key("scribe 1").public.raw})
    assert declared.audit(policy=good).verdict is Verdict.COMPLETE
    wrong = Policy(SIGNER.verifier, scribe_keys={1: key("scribe 0").public.raw})
    expect(declared.audit(policy=wrong), Verdict.UNTRUSTED_KEY, Code.UNTRUSTED_KEY, 0)


def test_clean_cut(dealt: Played) -> None:
    """13: a shorter game, properly closed: the file alone cannot show it, a receipt can."""
    for size in range(1, len(dealt.entries)):
        data = evil.signed_file(dealt, dealt.entries[:size])
        alone = dealt.audit(data)
        assert alone.verdict in (Verdict.PREFIX, Verdict.UNDISCLOSED), alone.as_text()
        receipt = Policy(SIGNER.verifier, receipts=(dealt.notes[size],))
        expect(dealt.audit(data, receipt), Verdict.STALE, Code.STALE, None)


def test_receipts_hold(dealt: Played) -> None:
    report = dealt.audit(policy=Policy(SIGNER.verifier, receipts=tuple(dealt.notes)))
    assert report.verdict is Verdict.COMPLETE


def other_history() -> Played:
    """Return the same game with another course from the first decision on, to which all players agreed."""
    return play(start(recorded=True), lambda _, options: options[-1])


def test_fork(dealt: Played) -> None:
    """16, 17: two histories, both signed by the referee: the receipt of the one convicts the other."""
    fork = other_history()
    assert fork.record.game_id == dealt.record.game_id
    split = next(i for i, (a, b) in enumerate(zip(dealt.entries, fork.entries, strict=False)) if a != b)
    report = dealt.audit(fork.file(), Policy(SIGNER.verifier, receipts=(dealt.notes[split],)))
    expect(report, Verdict.FORK, Code.FORK, split)
    assert report.exit_code == 7
    before = dealt.audit(fork.file(), Policy(SIGNER.verifier, receipts=(dealt.notes[split - 1],)))
    assert before.verdict is Verdict.COMPLETE


def test_altered_copy_is_no_fork(dealt: Played) -> None:
    """A person who alters a copy cannot accuse the referee: without a matching signed head it is CORRUPT."""
    fork = other_history()
    data = games.build_file(fork.header, fork.entries, dealt.notes[-1])
    report = dealt.audit(data, Policy(SIGNER.verifier, receipts=(dealt.notes[-1],)))
    assert report.verdict is Verdict.CORRUPT


def test_receipts_have_to_be_the_referees(dealt: Played) -> None:
    forged = CheckpointSigner(games.ORIGIN, key("another referee")).sign(bytes(16), 3, bytes(32))
    with pytest.raises(LogError) as caught:
        dealt.audit(policy=Policy(SIGNER.verifier, receipts=(forged,)))
    assert caught.value.code is Code.UNTRUSTED_KEY
    with pytest.raises(LogError):
        dealt.audit(policy=Policy(None, receipts=(dealt.notes[0],)))
    elsewhere = SIGNER.sign(bytes(16), 3, bytes(32))
    report = dealt.audit(policy=Policy(SIGNER.verifier, receipts=(elsewhere,)))
    expect(report, Verdict.CORRUPT, Code.CHECKPOINT, None)


def test_checkpoint_of_other_size_root_or_game(dealt: Played) -> None:
    n = len(dealt.entries)
    root = dealt.record.root()
    for note in (
        SIGNER.sign(dealt.record.game_id, n - 1, root),
        SIGNER.sign(dealt.record.game_id, n + 1, root),
        SIGNER.sign(dealt.record.game_id, n, bytes(32)),
        SIGNER.sign(bytes(16), n, root),
    ):
        expect(dealt.audit(dealt.file(note=note)), Verdict.CORRUPT, Code.CHECKPOINT, None)
    broken = dealt.notes[-1][:-10] + b"AAAAAAA==\n"
    assert dealt.audit(dealt.file(note=broken)).exit_code == 4
    expect(dealt.audit(dealt.file(note=b"nonsense")), Verdict.CORRUPT, Code.NOTE, None)


def test_other_header(dealt: Played) -> None:
    """25, 26: rules or descriptors swapped under the same entries."""
    header = log_pb2.Header.FromString(dealt.header)
    for change in ({"producer": "another"}, {"rules_hash": bytes(32)}, {"descriptors": b"x"}):
        other = log_pb2.Header()
        other.CopyFrom(header)
        other.MergeFrom(log_pb2.Header(**change))
        swapped = replace(dealt, header=other.SerializeToString(deterministic=True))
        expect(swapped.audit(), Verdict.CORRUPT, Code.HEADER, 0)
    played = games.abort(start(header=games.small_header("other")))
    expect(played.audit(), Verdict.CORRUPT, Code.HEADER, 0)


LOG_PROTO = log_pb2.DESCRIPTOR.name


@pytest.mark.parametrize(
    "descriptors",
    [b"", b"these are not descriptors", games.described("other.proto"), games.described(LOG_PROTO, LOG_PROTO)],
)
def test_descriptors_that_describe_no_log(descriptors: bytes) -> None:
    """26: GameOpen names them, and they are of no use to readers of the file without our code."""
    played = games.abort(start(header=games.small_header(descriptors=descriptors)))
    expect(played.audit(), Verdict.CORRUPT, Code.HEADER, 0)


def test_other_descriptors_are_remarked() -> None:
    """26: another producer may describe the same messages in other words; a comparison shows lies."""
    assert games.abort(start()).audit().remarks == ()
    report = games.abort(start(header=games.small_header())).audit()
    assert report.verdict is Verdict.COMPLETE
    assert report.remarks == ("the file describes the signed messages differently from this installation",)


def test_other_catalogue_is_remarked(dealt: Played) -> None:
    played = games.abort(start(header=games.small_header(rules_hash=bytes(32))))
    report = played.audit()
    assert report.verdict is Verdict.COMPLETE
    assert "catalogue" in report.remarks[1]


def test_components_of_ones_own(dealt: Played) -> None:
    """25: a version of the rules stands for its components, the order included."""
    for cards in (bytes([*CARDS[:-1], 9]), CARDS[::-1], CARDS[:-1]):
        with pytest.raises(LogError) as caught:
            start(tables=cards)
        assert (caught.value.code, caught.value.entry) == (Code.RULES, 0)
        played = play(start(tables=cards, engines=engines(cards)))
        assert played.audit().verdict is Verdict.COMPLETE, "by rules that have these components"
        report = replace(played, engines=ENGINES).audit()
        expect(report, Verdict.RULES, Code.RULES, 0)


def test_chosen_options_are_in_the_report(dealt: Played) -> None:
    plain = dealt.audit()
    assert json.loads(plain.as_json())["options"] == {}
    assert "options" not in plain.as_text()
    report = play(start(options=b"\x02")).audit()
    assert json.loads(report.as_json())["options"] == {"turns": 2}
    assert "options: turns 2\n" in report.as_text()


def test_unknown_rules_are_unsupported_but_signatures_are_checked(dealt: Played) -> None:
    """45."""
    from referee.games.game import UnknownRules

    def unknown(rules_id: str, version: int) -> Any:
        raise UnknownRules(rules_id)

    stranger = replace(dealt, engines=Engines(unknown, unknown))
    expect(stranger.audit(), Verdict.UNSUPPORTED, Code.UNSUPPORTED, 0)
    report = stranger.audit(evil.forged(dealt, lambda e: with_move(e[moves(dealt)[-1]], b"\x02")))
    expect(report, Verdict.CORRUPT, Code.AUTHOR_SIGNATURE, moves(dealt)[-1])


def test_later_format_version(dealt: Played) -> None:
    changed = evil.entries(dealt)
    opened = log_pb2.GameOpen.FromString(changed[0].open)
    opened.format_version = 2
    changed[0].open = opened.SerializeToString(deterministic=True)
    report = dealt.audit(evil.signed_file(dealt, evil.relinked(changed)))
    assert found(report)[Layer.RULES] == (Code.UNSUPPORTED, 0)


def test_a_cut_does_not_hide_a_forgery(dealt: Played) -> None:
    at = moves(dealt)[0]
    data = evil.forged(dealt, lambda e: with_move(e[at], b"\x02"))
    report = dealt.audit(data[:-200])
    assert report.verdict is Verdict.CORRUPT
    assert found(report)[Layer.FRAMES][0] is Code.TORN


def test_a_clock_that_was_set_back(dealt: Played) -> None:
    """One remark only: the referee's times have no witness."""

    def edit(changed: list[log_pb2.Entry]) -> None:
        for at in (5, 7):
            changed[at].referee_ms = changed[at - 1].referee_ms - 1
        changed[6].referee_ms = changed[5].referee_ms

    report = dealt.audit(evil.forged(dealt, edit, players=True))
    assert report.verdict is Verdict.COMPLETE
    assert report.remarks == ("entry 5 is dated earlier than the entry before it",)


def test_a_time_beyond_reason(dealt: Played) -> None:
    def edit(changed: list[log_pb2.Entry]) -> None:
        for entry in changed[-2:]:
            entry.referee_ms = (1 << 64) - 1

    report = dealt.audit(evil.forged(dealt, edit, players=True))
    assert report.verdict is Verdict.COMPLETE
    assert report.remarks == (f"entry {dealt.record.size - 2} is dated later than any clock shows",)


# --- words of the file in the report --------------------------------------------------------------------------

STEERING = "\x1b[2J\x1b[HCOMPLETE\ngame 00\u202e"


@pytest.mark.parametrize("rules_id", [STEERING, "", "a b", "x" * 65, "é", "toy\n"])
def test_rules_ids_that_are_no_names(dealt: Played, rules_id: str) -> None:
    changed = evil.entries(dealt)
    opened = log_pb2.GameOpen.FromString(changed[0].open)
    opened.rules_id = rules_id
    changed[0].open = opened.SerializeToString(deterministic=True)
    report = dealt.audit(evil.signed_file(dealt, evil.relinked(changed)))
    expect(report, Verdict.CORRUPT, Code.MALFORMED, 0)
    assert all(line.isprintable() for line in report.as_text().splitlines())
    assert "\\x1b[2J" in report.as_text() or rules_id != STEERING
    in_header = games.abort(start(header=games.small_header(rules_id)))
    expect(in_header.audit(), Verdict.CORRUPT, Code.MALFORMED, 0)


@pytest.mark.parametrize("rule_id", [STEERING, "", "x" * 65])
def test_rule_ids_that_are_no_names(dealt: Played, rule_id: str) -> None:
    at = moves(dealt)[0]

    def edit(changed: list[log_pb2.Entry]) -> None:
        part = changed[at].signed
        changed[at].refused.CopyFrom(
            log_pb2.Refused(intent=part.intent, signature=part.signature, key_id=part.key_id, rule_ids=[rule_id])
        )

    report = dealt.audit(evil.forged(dealt, edit, players=True))
    expect(report, Verdict.CORRUPT, Code.MALFORMED, at)
    assert all(line.isprintable() for line in report.as_text().splitlines())


def test_failures_are_printable() -> None:
    error = LogError(Code.ENGINE, f"failed: {STEERING}", "a\ud800b\r")
    assert str(error).isprintable()
    assert error.what == "failed: \\x1b[2J\\x1b[HCOMPLETE\\ngame 00\\u202e"
    assert error.expected == "a\\ud800b\\r"


# --- strict decode (attacks 8, 9) ------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [b"\xf8\x07\x01", b"\x10\x01", b"\x6a\x00"], ids=["unknown", "twice", "oneof"])
def test_entries_that_protobuf_would_read_differently(dealt: Played, extra: bytes) -> None:
    for at in range(len(dealt.entries)):
        leaves = list(dealt.entries)
        leaves[at] += extra
        report = dealt.audit(evil.signed_file(dealt, leaves))
        assert found(report)[Layer.DECODE] == (Code.MALFORMED, at)
        expect(report, Verdict.CORRUPT, Code.MALFORMED, at)


def test_intents_that_protobuf_would_read_differently(dealt: Played) -> None:
    at = moves(dealt)[-1]
    changed = evil.entries(dealt)
    part = changed[at].signed
    part.intent += b"\x08\x01"
    expect(dealt.audit(evil.signed_file(dealt, evil.relinked(changed))), Verdict.CORRUPT, Code.MALFORMED, at)


def test_moves_that_are_no_moves(dealt: Played) -> None:
    at = moves(dealt)[-1]
    report = dealt.audit(evil.forged(dealt, lambda e: with_move(e[at], b"two"), players=True))
    expect(report, Verdict.CORRUPT, Code.MALFORMED, at)


def test_weak_seat_key(dealt: Played) -> None:
    """4."""

    def edit(changed: list[log_pb2.Entry]) -> None:
        act = log_pb2.Intent.FromString(changed[1].signed.intent)
        act.join.key = bytes([1]) + bytes(31)
        changed[1].signed.intent = act.SerializeToString(deterministic=True)

    report = dealt.audit(evil.forged(dealt, edit, players=True))
    expect(report, Verdict.CORRUPT, Code.KEY, 1)


@needs_source
def test_nothing_is_decoded_twice(monkeypatch: pytest.MonkeyPatch, dealt: Played) -> None:
    """But the disclosed seed, which is looked for first."""
    data, signed = dealt.file(), sum(entry.HasField("signed") for entry in evil.entries(dealt))
    decoded: Counter[tuple[str, bytes]] = Counter()
    decode = strict.decode

    def spy(message_class: Any, data: bytes, **limits: int) -> Any:
        decoded[message_class.__name__, data] += 1
        return decode(message_class, data, **limits)

    monkeypatch.setattr(strict, "decode", spy)
    assert dealt.audit(data).verdict is Verdict.COMPLETE
    assert sum(name == "Intent" for name, _ in decoded) == signed
    again = {key: count for key, count in decoded.items() if count > 1}
    assert again == {("Entry", dealt.entries[-1]): 2}


def with_entry(played: Played, at: int, entry: log_pb2.Entry) -> bytes:
    """Return the game's file with another entry, which those after it do not follow."""
    return evil.signed_file(
        played, [*played.entries[:at], entry.SerializeToString(deterministic=True), *played.entries[at + 1 :]]
    )


def _verified_at_once(data: bytes) -> Report:
    auditor = auditing._Auditor(Policy(SIGNER.verifier), ENGINES, games.SECRET, has_proofs=False)
    return auditing._audited(file.Readings(BytesIO(data)), auditor)


@pytest.mark.parametrize("together", [1, 3, 256])
def test_a_wrong_signature_is_found_as_if_each_were_verified_at_once(
    together: int, monkeypatch: pytest.MonkeyPatch, dealt: Played
) -> None:
    """The report says the same, whichever signature it is, and whatever is verified together with it."""
    monkeypatch.setattr(findings, "_TOGETHER", together)
    found_at = []
    for at, entry in enumerate(evil.entries(dealt)):
        if entry.HasField("signed"):
            entry.signed.signature = bytes([entry.signed.signature[0] ^ 1]) + entry.signed.signature[1:]
            data = with_entry(dealt, at, entry)
            report = dealt.audit(data)
            assert report == _verified_at_once(data)
            assert found(report)[Layer.AUTHORS] == (Code.AUTHOR_SIGNATURE, at)
            found_at.append(at)
    assert found_at[:4] == [1, 2, 3, 4]
    assert len(found_at) > 8


@needs_source
@pytest.mark.parametrize("certificates", [0, 1])
def test_a_file_with_certificates_is_audited_once(
    certificates: int, monkeypatch: pytest.MonkeyPatch, dealt: Played
) -> None:
    """Others are again, if one of their signatures is wrong; certificates would cost too much."""
    last = moves(dealt)[-1]
    entry = evil.entries(dealt)[last]
    entry.signed.signature = bytes(64)
    frames = evil.frames(with_entry(dealt, last, entry))
    data = evil.ended([*frames[:-2], *[encode_frame(0x81, b"x")] * certificates, *frames[-2:]])
    decoded: list[bytes] = []
    decode = decode_entry

    def spy(data: bytes) -> log_pb2.Entry:
        decoded.append(data)
        return decode(data)

    monkeypatch.setattr("referee.log.audit.decode_entry", spy)
    assert found(dealt.audit(data))[Layer.AUTHORS] == (Code.AUTHOR_SIGNATURE, last)
    assert len(decoded) == 1 + (2 - certificates) * len(dealt.entries)


@needs_source
def test_no_more_signatures_wait_than_are_verified_together(monkeypatch: pytest.MonkeyPatch, dealt: Played) -> None:
    """Those of Joins, too: a file may have as many as it likes."""
    waited = []
    check = Keyring.check

    def spy(self: Keyring, *given: Any) -> Author:
        waited.append(self.deferred)
        return check(self, *given)

    monkeypatch.setattr(Keyring, "check", spy)
    monkeypatch.setattr(findings, "_TOGETHER", 1)
    assert dealt.audit().verdict is Verdict.COMPLETE
    assert set(waited) == {0}


@needs_source
def test_certificates_that_the_look_ahead_does_not_reach_are_checked_once(
    monkeypatch: pytest.MonkeyPatch, dealt: Played
) -> None:
    """It ends at an entry that looks as if it disclosed the seed, and cannot be decoded."""
    frames = evil.frames(dealt.file())
    garbage = encode_frame(int(FrameType.ENTRY), b"\xff" * 8 + auditing._DISCLOSE + bytes(32))
    data = evil.ended([*frames[:2], garbage, *frames[2:-2], encode_frame(0x81, b"x"), *frames[-2:]])
    begun: list[bool] = []
    begin = auditing._Auditor.__init__

    def spy(self: Any, *others: Any, **options: Any) -> None:
        begun.append(options.get("defers", False))
        begin(self, *others, **options)

    monkeypatch.setattr(auditing._Auditor, "__init__", spy)
    dealt.audit(data)
    assert begun == [False]


@needs_source
def test_each_signature_is_verified_once(monkeypatch: pytest.MonkeyPatch, dealt: Played) -> None:
    verified: list[bytes] = []
    is_signed = PublicKey.is_signed

    def spy(key: PublicKey, message: bytes, signature: bytes) -> bool:
        verified.append(signature)
        return is_signed(key, message, signature)

    monkeypatch.setattr(PublicKey, "is_signed", spy)
    assert dealt.audit().verdict is Verdict.COMPLETE
    signed = [entry.signed.signature for entry in evil.entries(dealt) if entry.HasField("signed")]
    assert [signature for signature in verified if signature in signed] == signed


def test_engine_failure_is_not_the_logs() -> None:
    cards = bytes(range(100, 110))
    played = start(options=b"\x06", tables=cards, engines=engines(cards))
    games.join_and_reveal(played)
    games.step(played)
    games.abort(played)
    at = moves(played)[0]
    report = played.audit(evil.forged(played, lambda e: with_move(e[at], bytes([66])), players=True))
    expect(report, Verdict.UNSUPPORTED, Code.ENGINE, at)


def test_no_entry_at_all() -> None:
    report = audit(BytesIO(b""), Policy(SIGNER.verifier), engines=ENGINES)
    assert report.verdict is Verdict.PREFIX
    assert report.as_text().startswith("PREFIX(0)")


def test_a_receipt_of_another_game_is_one_whatever_its_root(dealt: Played) -> None:
    record = dealt.record
    receipt = SIGNER.sign(bytes(16), record.size, record.root())
    report = dealt.audit(policy=Policy(SIGNER.verifier, receipts=(receipt,)))
    assert report.verdict is Verdict.CORRUPT
    assert f"receipt of game {'00' * 16}; expected {record.game_id.hex()}" in report.as_text()


def test_a_receipt_of_nothing_is_older_than_every_file(dealt: Played) -> None:
    receipt = SIGNER.sign(dealt.record.game_id, 0, EMPTY_ROOT)
    assert dealt.audit(policy=Policy(SIGNER.verifier, receipts=(receipt,))).verdict is Verdict.COMPLETE
