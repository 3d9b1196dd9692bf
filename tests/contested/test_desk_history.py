"""The lists of a scribe's desk in contested games, against the truth of their entries."""

from __future__ import annotations

import re
from io import BytesIO

import pytest

from referee.games import registry
from referee.log import intent
from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.events import Author, Role
from referee.log.intent import decode_intent
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.telling.game_file import GameFile, as_text
from referee.text.notation import game_text
from referee.text.notation.game_text import line
from referee_clients.terminal.desk.boards import History, entry_line
from tests.contested.campaign import IN_THIRDS, games_of, sampled
from tests.log.games import key
from tests.sizes import Part
from tests.telling.contested import is_act, rounds_of

EACH = pytest.mark.parametrize("rules_id", registry.names())
PLACES_AT = 4
"""Entries of each game after which it is asked where a correction can go back to."""


def history_of(entries: list[bytes]) -> History:
    history = History()
    history.read(entries)
    return history


@IN_THIRDS
@EACH
def test_what_stands(rules_id: str, part: Part) -> None:
    """Moves, draws and passes stand, or the list names the entry that took them back."""
    for made in games_of(part, rules_id):
        by = {seq: number for number, truth in enumerate(made.truth) for seq in truth.takes_back}
        for entry, truth in zip(history_of(made.entries).entries, made.truth, strict=True):
            if truth.brings:
                told = f"{made}, entry {entry.seq}: {entry}"
                assert (entry.taken_back_by is None) == truth.stands, told
                if not truth.stands:
                    assert entry.taken_back_by == by[entry.seq], told
                    assert entry_line(entry).endswith(f"  [taken back by entry {by[entry.seq]}]")


@IN_THIRDS
@EACH
def test_scored_lines(rules_id: str, part: Part) -> None:
    """Under the entries that brought them: as the game_file has them."""
    for made in games_of(part, rules_id):
        listed = history_of(made.entries).entries
        scored = {entry.seq: list(entry.scored) for entry in listed if entry.scored and made.truth[entry.seq].stands}
        assert scored == rounds_of(GameFile.read(BytesIO(made.data))), str(made)


@IN_THIRDS
@EACH
def test_accepted_moves_are_told(rules_id: str, part: Part) -> None:
    """An arbiter let the move stand: it is listed as others are, with the rules that it breaks."""
    seen = 0
    for made in games_of(part, rules_id):
        listed = history_of(made.entries).entries
        for seq, truth in enumerate(made.truth):
            entry = decode_entry(made.entries[seq])
            if truth.broken and entry.HasField("signed"):
                assert decode_intent(entry.signed.intent).rule.HasField("accept")
                before = made.position(seq - 1)
                words = f"{line(rules_id, before, truth.events[-1])} against {' '.join(truth.broken)}"
                assert listed[seq].lines()[-1].startswith(words), f"{made}: {listed[seq].lines()}"
                seen += 1
    assert seen


@IN_THIRDS
@EACH
def test_desk_list_and_text_have_the_same_lines(rules_id: str, part: Part) -> None:
    """But for the numbers in them, which are those of entries or of lines, and for slips of a scribe's pen."""
    seen = 0
    for made in games_of(part, rules_id):
        game_file = GameFile.read(BytesIO(made.data))
        shown = [told.split(maxsplit=1)[1] for told in game_file.numbered_moves() if told[:4].strip()]
        at_the_desk = [told.split(maxsplit=1)[1] for told in history_of(made.entries).lines() if told[:4].strip()]
        words = re.compile(r' ".*"')
        assert [words.sub("", told) for told in shown if " stands" not in told] == [
            told for told in at_the_desk if " stands" not in told
        ]
        listed = [told.split(maxsplit=1)[-1] if told[:4].strip() else told for told in game_file.numbered_moves()]
        acts = iter(unnumbered(told) for told in map(str.strip, listed) if is_act(game_file, told))
        _, lines, _ = game_text.written(as_text(game_file))
        for told in lines:
            if not told.startswith(";"):
                # Each is somewhere behind the one before.
                assert unnumbered(told) in acts, f"{made}: {told}"
                seen += told.startswith(("arbiter", "referee", "organiser"))
    assert seen


def unnumbered(told: str) -> str:
    """Without marks, and without numbers of entries or lines."""
    return re.sub(r"(against|back to|restore to|decides) \d+", r"\1 #", told.partition("  [")[0])


@IN_THIRDS
@EACH
def test_places_of_corrections(rules_id: str, part: Part) -> None:
    """Those and no others to whose position the referee lets a scribe go back."""
    asked = 0
    for made in games_of(part, rules_id):
        if not made.opened.HasField("declared"):
            continue
        for size in sampled(len(made.entries), PLACES_AT + 1)[1:]:
            entries = made.entries[: size + 1]
            record = Record.replay(entries)
            allowed = [seq for seq in range(len(entries)) if may_correct(record, seq)]
            asked += len(allowed)
            assert [place.seq for place in history_of(entries).places()] == allowed, f"{made}, after entry {size}"
    # Games of Alhambra with a place to go back to are few.
    assert asked or rules_id == "alhambra"


def may_correct(record: Record, to_seq: int) -> bool:
    act = log_pb2.Correct(to_seq=to_seq)
    signed = intent.act(record.place, Author(Role.SCRIBE, 1), key("scribe 1"), act)
    try:
        record.check(signed)
    except LogError:
        return False
    return True
