"""Where fuzzing starts: pieces of real games, made from code or taken from the frozen logs. All small and fixed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from referee.games import registry
from referee.games.game import Ending
from referee.games.results import Contest, Result
from referee.log import file
from referee.log.certificates import encode_proof
from referee.log.deck import Deck
from referee.log.engines import installed
from referee.log.entry import decode_entry
from referee.log.file import FrameType, encode_frame
from referee.log.intent import decode_intent
from referee.log.merkle import leaf_hash
from referee.log.note import TlogProof, TreeHead
from referee.log.public.checkpoint import LogPolicy
from referee.log.public.tiles import encode_bundle
from referee.log.public.witness import Request
from referee.log.remarks import encode_remark
from referee.log.replay import signed_part
from referee.log.v1 import log_pb2
from referee.text.notation import position_text
from referee.text.notation.game_text import GameText, write
from referee.text.notation.headers import Setup
from referee.text.notation.position_text import Boards, Position
from referee.text.report.sheet import replay
from referee.wire import strict
from referee_solver.alhambra import prover as alhambra_proving
from referee_solver.kingdomino import prover as kingdomino_proving
from tests.log import registered
from tests.log.games import (
    SIGNER,
    Played,
    abort,
    described,
    game_open,
    join_and_reveal,
    seed,
    small_header,
    start,
    step,
)
from tests.log.public import logs
from tests.log.registered import at_random
from tests.text.notation import setups
from tests.text.notation.contested import contested
from tests.text.notation.page import BOARDS

VERIFIER = SIGNER.verifier
_LATE = 12
"""Turns."""
_FROZEN = Path(__file__).parents[1] / "frozen"
_QUESTIONS = (
    '{"game":"alhambra","layout":{"0,-1":"pavilion-2-NEW"},"tile":"tower-8-NES"}',
    '{"id":7,"game":"alhambra","layout":{"1,0":"tower-12"},"tile":"tower-8-NES","options":{"loop_rule":"one_less"}}',
    '{"game":"alhambra","score":{"round":1,"players":[{"counts":{"tower":2},"wall":5},{"counts":{},"wall":0}]}}',
    '{"game":"kingdomino","frame":{"size":5,"castle":[2,2]},"kingdom":[[1,1,0,2,0]],"domino":12}',
    '{"game":"kingdomino","frame":{"size":7,"castle":null}}',
    '{"game":"rollwrite","score":{"counts":{"Ani":{"tower":2}}}}',
    '{"game":"rollwrite","built":[[1,1],[2,3]],"dice":{"blue":[1,4],"yellow":[2,2]},"coins":3}',
)
_CLAIMS = (
    '{"game":"alhambra","layout":{"0,-1":"pavilion-2-NEW"},"action":{"place":"tower-8-NES","at":[1,0]}}',
    '{"game":"alhambra","layout":{"1,0":"tower-12"},"action":{"remove":[1,0]}}',
    '{"game":"alhambra","layout":{},"no_placement":"seraglio-3-ESW"}',
    '{"game":"alhambra","layout":{"1,0":"tower-12"},"turn":{"bought":["tower-11"],"moves":[{"reserve":"tower-11"}]}}',
    '{"game":"alhambra","distance":{"start":{"1,0":"tower-12"},"goal":{},"turns":1}}',
    '{"game":"alhambra","hand_out":{"hands":[["denar-3"],[]],"slots":[{"currency":"denar","tile":"tower-12","seat":0}]}}',
    '{"game":"kingdomino","frame":{"size":5,"castle":[0,0]},"kingdom":[[1,1,0,1,1],[2,0,1,0,2]],"discard":12}',
    '{"game":"kingdomino","frame":{"size":5,"castle":null},"kingdom":[],"discard":48}',
    '{"game":"kingdomino","frame":{"size":7,"castle":[3,3]},"kingdom":[],"place":[1,1,0,2,0]}',
)


@cache
def _games() -> tuple[Played, ...]:
    """Return the beginning of a game of each kind, aborted: files of some KiB."""
    found = []
    for rules_id in registry.names():
        for dealt in (True, False):
            played = _opened(rules_id, dealt=dealt)
            join_and_reveal(played)
            for _ in range(3):
                step(played, at_random(1))
            found.append(abort(played))
    return tuple(found)


def _opened(rules_id: str, *, dealt: bool) -> Played:
    """With a header that names the files of the messages and describes none."""
    codec = registered.codec(rules_id)
    named = described(log_pb2.DESCRIPTOR.name, codec.signed_file().name)
    header = small_header(rules_id, descriptors=named)
    tables, rules = codec.encode_components(None), (rules_id, 1)
    opened = game_open(header, dealt=dealt, recorded=True, rules=rules, tables=tables)
    played = start(opened, header=header, engines=installed())
    course = played.record.game
    played.drawn = course.position.rules.dealer(
        2, course.position.options, course.position.components, Deck(seed("drawn"))
    )
    return played


@cache
def signed_games() -> frozenset[tuple[bytes, ...]]:
    """Return the entries of every file that is a whole game."""
    return frozenset(tuple(played.entries) for played in _games())


def files() -> list[bytes]:
    """Return each game, and one more with every kind of frame."""
    first = _games()[0]
    stream = BytesIO()
    writer = file.Writer(stream)
    writer.header(first.header)
    for seq, entry in enumerate(first.entries):
        writer.entry(entry)
        writer.old_checkpoint(first.notes[seq])
    writer.proof(encode_proof(1, leaf_hash(first.entries[1]), b"certificate"))
    stream.write(encode_frame(FrameType.REMARK, b"words"))
    return [*(played.file() for played in _games()), stream.getvalue()]


def log_messages(classes: int) -> list[bytes]:
    """Entries, intents and so on, once for the walkers (``classes`` of them) and once for the log's own decoders."""
    found: list[tuple[int, bytes]] = []
    for played in _games():
        entries = [decode_entry(data) for data in played.entries]
        intents = [part.intent for part in map(signed_part, entries) if part is not None]
        found += [(0, data) for data in played.entries] + [(1, data) for data in intents]
        found += [(2, entries[0].open), (3, played.header)]
    remark = encode_remark(log_pb2.Remark(seq=9, salt=bytes(16), text="The tile was face up."))
    found += [(4, encode_proof(1, bytes(32), b"certificate")), (5, remark)]
    found += [(6, strict.encode(log_pb2.End(count=9, frames_hash=bytes(32))))]
    # The last class has no decoder of its own.
    return [
        bytes([first]) + data for which, data in found for first in (which, classes + which) if first < 2 * classes - 1
    ]


def game_messages(game: str, things: Collection[str]) -> list[bytes]:
    """Moves, outcomes, options and components of the frozen logs, some of each length; for the walker and the codec."""
    found: dict[tuple[int, int, bytes], bytes] = {}
    for path in sorted(_FROZEN.glob(f"{game}-*.gamelog")):
        with path.open("rb") as stream:
            for which, data in _parts(stream):
                found.setdefault((which, len(data), data[:1]), data)
    return [
        bytes([which + first]) + data for (which, _, _), data in sorted(found.items()) for first in (0, len(things))
    ]


def _parts(stream: Any) -> list[tuple[int, bytes]]:
    found = []
    for entry in map(decode_entry, file.entries(stream)):
        part = signed_part(entry)
        intent = decode_intent(part.intent) if part is not None else None
        if intent is not None and intent.HasField("move"):
            found.append((0, intent.move))
        elif intent is not None and intent.HasField("declare"):
            found.append((1, intent.declare))
        elif entry.HasField("chance"):
            found.append((1, entry.chance.outcome))
        elif entry.HasField("open"):
            opened = log_pb2.GameOpen.FromString(entry.open)
            found += [(2, opened.options), (3, opened.tables)]
    return found


def notes() -> list[bytes]:
    """Checkpoints, the example of Go's package, and verifier keys."""
    go = (
        "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n"
        "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
    )
    keys = [str(VERIFIER), "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"]
    return [
        *(b"\0" + note for note in _games()[0].notes[:3]),
        b"\0" + go.encode(),
        *(b"\1" + each.encode() for each in keys),
    ]


def tlog_proofs() -> list[bytes]:
    """Return the proofs of some entries of a game."""
    played = _games()[-1]
    return [TlogProof.of(played.entries, index, played.notes[-1]).encode() for index in (1, 3, 6)]


def log_policy() -> LogPolicy:
    """Return one that knows the log of the tests and three witnesses."""
    return logs.policy("2")


def of_the_public_log() -> list[bytes]:
    """Return a policy, a leaf, a request, a cosigned checkpoint and a bundle."""
    head = TreeHead(logs.LOG.verifier.name, 5, bytes(range(32)))
    note = logs.cosigned(logs.LOG.sign_head(head), "w1", "w2")
    leaves = logs.leaves(3)
    return [
        b"\0" + logs.policy_text("2").encode(),
        b"\1" + leaves[0],
        b"\2" + Request(3, (bytes(32), bytes(32)), note).encode(),
        b"\3" + note,
        b"\4\3" + encode_bundle(leaves),
    ]


@cache
def certificates() -> list[bytes]:
    """Return certificates of the claims below, by the engine or Z3."""
    found = []
    for line in _CLAIMS:
        question = json.loads(line)
        game = question.pop("game")
        claim = registry.part("referee.text.notation", game, "claims").claim(question)
        prove: Any = alhambra_proving.prove if game == "alhambra" else kingdomino_proving.prove
        found.append(bytes([game == "kingdomino"]) + prove(claim).certificate)
    return found


def questions() -> list[bytes]:
    """Return questions of ``referee inspect``."""
    return [line.encode() for line in _QUESTIONS]


def claims() -> list[bytes]:
    """Return claims of ``referee prove``."""
    return [line.encode() for line in _CLAIMS]


CONTESTS = [
    Contest({2: Ending.FLAG}, (0, 3, 0)),
    Contest({0: Ending.RESIGNED, 1: Ending.ILLEGAL_MOVES}),
    Contest(ruled=Result(Ending.ADJUDICATED, (9, 1, 5), (1, 3, 2))),
]


def texts() -> list[bytes]:
    """The beginnings of games, as they are printed: plain, and contested up to a move that stands against the rules."""
    found = []
    for setup in setups.PLAIN:
        events = setups.play(setup, seed=1).events[:6]
        found.append(write(GameText(setup, tuple(events))).encode())
        head, _, lines = write(GameText(*contested(setup.rules_id, 3, 0), CONTESTS[0])).partition(" against ")
        text = f"{head} against {lines.partition(chr(10))[0]}\n"
        found.append(re.sub(r"\[(Result|Places).*\n", "", text).encode())
    return found


def boards() -> list[bytes]:
    """The boards at the end of whole games, in whatever way they are set up, and those of the page."""
    ends = [position_text.write_boards(Boards(setup, setups.play(setup, seed=1).state)) for setup in setups.SETUPS[::5]]
    return [text.encode() for text in (*ends, *BOARDS.values())]


def positions() -> list[bytes]:
    """Return the first of each phase, and some from the middle of a game."""
    found: dict[tuple[str, str, bool], str] = {}
    for setup in setups.PLAIN:

        def watch(state: Any, setup: Setup = setup) -> None:
            late = state.turns > _LATE
            found.setdefault((setup.rules_id, state.phase.name, late), position_text.write(Position(setup, state)))

        setups.play(setup, seed=1, watch=watch)
        played, events = contested(setup.rules_id, 3, 0)
        for contest, length in zip(CONTESTS, (len(events) // 2, len(events), len(events)), strict=True):
            position = Position(played, replay(GameText(played, events[:length]))[0], contest)
            found[setup.rules_id, f"contested {contest}", True] = position_text.write(position)
    return [text.encode() for text in found.values()]
