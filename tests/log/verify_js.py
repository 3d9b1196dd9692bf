"""The verifier in JavaScript, what it has to say, and altered files for it."""

from __future__ import annotations

import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from io import BytesIO
from typing import Any

from referee.games import registry
from referee.log.audit import audit
from referee.log.engines import installed
from referee.log.errors import Code
from referee.log.file import MAGIC
from referee.log.intent import intent_encoding
from referee.log.v1 import log_pb2
from referee.log.verdict import Finding, Layer, Policy, Report, Verdict
from tests.log import evil, games
from tests.log.games import SIGNER, Played, abort, join_and_reveal, play, seat_key, start, step
from tests.log.registered import at_random, codec, opened
from tests.log.verifier import node

NAMES = registry.names()
ABOVE = (Layer.RULES, Layer.RESULT, Layer.PROOFS)
_NODE = 20
FACTS = (
    *("seat", "scribe", "arbiter", "field", "version", "rules", "key", "seq"),
    *("bytes", "limit", "size", "entries", "seen", "positions"),
)
"""Facts that messages of the verifier and of pages may name: pages have words for each."""
TRUSTED = Policy(SIGNER.verifier)
Job = tuple[bytes, Policy]


@cache
def why_not() -> str:
    """Why the verifier cannot run here; empty if it can."""
    if shutil.which("node") is None:
        return "needs node"
    found = node().ask("able")
    version = found["version"]
    if int(version.removeprefix("v").partition(".")[0]) < _NODE:
        return f"needs node {_NODE} or newer, this is {version}"
    return "" if found["ed25519"] else f"the WebCrypto of node {version} has no Ed25519"


def verified(jobs: list[Job]) -> list[dict[str, Any]]:
    """Return the verifier's reports."""

    def told(data: bytes, policy: Policy) -> dict[str, object]:
        pins = {"seats": policy.seat_keys, "scribes": policy.scribe_keys}
        job = {name: [f"{i}={raw.hex()}" for i, raw in keys.items()] for name, keys in pins.items()}
        texts = {"log": b64encode(data).decode(), "key": str(policy.verifier) if policy.verifier else None}
        return {**texts, **job, "receipts": [b64encode(note).decode() for note in policy.receipts]}

    reports: list[dict[str, Any]] = node().ask("audits", jobs=[told(*job) for job in jobs])
    assert len(reports) == len(jobs)
    for failure in (each for report in reports for each in report["failures"]):
        assert set(failure["facts"]) <= set(FACTS)
        for name, value in failure["facts"].items():
            # Facts count seats from 0, people from 1.
            named = f"player {int(value) + 1}" if name == "seat" else str(value)
            assert name == "entries" or named in failure["message"]
    return reports


def of_the_game(finding: Finding) -> bool:
    """Found with the rules: those of the game, what its messages may say, what it deals, section 4."""
    content = finding.code is Code.MALFORMED and finding.what.startswith(
        ("move:", "outcome:", "options:", "tables:", "Join")
    )
    dealing = finding.code in (Code.DECK, Code.UNDISCLOSED) and finding.what.startswith("chance ")
    # Texts and the form of certificates are beside the entries, but need no rules.
    beside = finding.code is Code.REMARK or finding.what.startswith(("remark", "proof", "a certificate for "))
    return (finding.layer in ABOVE and not beside) or content or dealing


def agree(jobs: list[Job]) -> set[Verdict]:
    """Return the verdicts of the auditor. Fails unless the verifier says the same of every file below the rules."""
    with ThreadPoolExecutor(1) as beside:
        verifying = beside.submit(verified, jobs)
        reports = [audit(BytesIO(data), policy) for data, policy in jobs]
    for ours, theirs in zip(reports, verifying.result(), strict=True):
        assert found(theirs) in expected(ours, theirs), f"{ours.as_text()}\n{theirs}"
        assert theirs["entries"] == ours.entries
        assert theirs["covered"] == ours.signed_entries
    return {report.verdict for report in reports}


Found = tuple[str, str | None, str | None, int | None, int | None]


def found(theirs: dict[str, Any]) -> Found:
    first = [theirs[name] for name in ("code", "layer", "entry", "offset")] if theirs["failures"] else [None] * 4
    return (theirs["verdict"], *first)


def expected(ours: Report, theirs: dict[str, Any]) -> list[Found]:
    """Return the findings allowed for a verifier that ignores the rules; mostly one."""
    failures = [f for f in ours.findings if not f.is_shortfall]
    above = [f for f in failures if of_the_game(f) and f.layer is not Layer.PROOFS]
    below = [f for f in failures if not of_the_game(f) or f.code is Code.UNSUPPORTED]
    answers: list[Found] = []
    if below:
        answers.append(
            (below[0].verdict.name, below[0].code.value, below[0].layer.value, below[0].entry, below[0].offset)
        )
    elif not failures and ours.decisive is not None:
        answers.append((ours.verdict.name, None, None, None, None))
    else:
        # There are no objections, or only of the rules: then the auditor does not say what is missing at the end.
        missing = ("PREFIX", "UNDISCLOSED") if failures else ()
        answers += [(verdict, None, None, None, None) for verdict in ("COMPLETE", *missing)]
    if failures and failures[0].code is Code.MALFORMED:
        # A game's message that is none by section 3 either.
        answers.append(("CORRUPT", "MALFORMED", "decode", failures[0].entry, failures[0].offset))
    if not below and failures and failures[0].layer is Layer.PROOFS:
        # The rules judge an entry's claims. They say the same of a leaf that is not its entry's.
        answers.append(("CORRUPT", "PROOF", "certificates", failures[0].entry, failures[0].offset))
    if above and theirs["layer"] == "certificates":
        # Where the rules object, the auditor compares no certificates with entries further on.
        answers.append(found(theirs))
    if ours.verdict is Verdict.RULES and theirs["layer"] in ("deck", "rules") and theirs["code"] != "NOT_AWAITED":
        # Where the rules object, the auditor looks at seeds and acts no further; without them, one does.
        answers.append(found(theirs))
    return answers


# --- games -----------------------------------------------------------------------------------------------------


@cache
def dealt(rules_id: str) -> Played:
    return play(opened(rules_id), at_random(2))


@cache
def small() -> Played:
    """Return a dealt game that was stopped when its seats had joined and revealed, in a file of 3 KiB."""
    names = ["referee/log/v1/log.proto", "referee/rollwrite/v1/rollwrite.proto"]
    header = games.small_header("rollwrite", descriptors=games.described(*names))
    tables = codec("rollwrite").encode_components(None)
    played = start(games.game_open(header, rules=("rollwrite", 1), tables=tables), header=header, engines=installed())
    join_and_reveal(played)
    assert step(played, at_random(1))
    return abort(played)


def running(played: Played, entries: int) -> bytes:
    """Return the file of the running game."""
    frames = evil.frames(played.file())
    return MAGIC + b"".join(frames[: 1 + entries])


# --- altered files --------------------------------------------------------------------------------


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def dropped(at: int) -> evil.Edit:
    return lambda entries: entries.__delitem__(at)


def doubled(at: int) -> evil.Edit:
    return lambda entries: entries.insert(at, log_pb2.Entry.FromString(entries[at].SerializeToString()))


def swapped(at: int) -> evil.Edit:
    return lambda entries: entries.insert(at, entries.pop())


def edits(played: Played) -> Iterator[tuple[str, evil.Edit]]:
    """Yield edits of an unscrupulous referee, with names."""

    def field(at: int, name: str, value: Any) -> evil.Edit:
        def edit(entries: list[log_pb2.Entry]) -> None:
            message: Any = entries[at]
            *path, last = name.split(".")
            for part in path:
                message = getattr(message, part)
            if isinstance(value, bytes | int | str):
                setattr(message, last, value)
            else:
                getattr(message, last).CopyFrom(value)

        return edit

    def act(at: int, change: Callable[[log_pb2.Intent], None]) -> evil.Edit:
        def edit(entries: list[log_pb2.Entry]) -> None:
            intent = log_pb2.Intent.FromString(entries[at].signed.intent)
            change(intent)
            entries[at].signed.intent = intent.SerializeToString(deterministic=True)

        return edit

    def rename(intent: log_pb2.Intent) -> None:
        intent.seat = 1 - intent.seat

    def idle(intent: log_pb2.Intent) -> None:
        for name in ("join", "reveal", "move"):
            intent.ClearField(name)

    ends = (log_pb2.ENDING_UNSPECIFIED, log_pb2.ENDING_RULES, log_pb2.ENDING_RESIGNED)
    for at, entry in enumerate(evil.entries(played)):
        yield f"{at} dropped", dropped(at)
        yield f"{at} doubled", doubled(at)
        yield f"{at} and the last", swapped(at)
        for name, value in (("game_id", bytes(16)), ("game_id", b"x"), ("referee_ms", 1), ("state_digest", bytes(32))):
            yield f"{at} {name}", field(at, name, value)
        for event in (
            log_pb2.Timeout(seat=0),
            log_pb2.Timeout(),
            log_pb2.ForcedPass(),
            log_pb2.Recovered(lost_size=at + 9, lost_root=bytes(32)),
            log_pb2.Recovered(lost_root=bytes(32)),
            *(log_pb2.GameEnd(ending=log_pb2.Ending.ValueType(ending)) for ending in ends),
            log_pb2.SeedDisclose(seed=bytes(32)),
            log_pb2.SeedDisclose(seed=bytes(31)),
        ):
            name = next(f.name for f in log_pb2.Entry.DESCRIPTOR.fields if f.message_type is event.DESCRIPTOR)
            yield f"{at} is {name}", field(at, name, event)
        if entry.HasField("signed"):
            for name, value in (("signature", bytes(64)), ("signature", b"x"), ("key_id", bytes(8)), ("key_id", b"")):
                yield f"{at} {name}", field(at, f"signed.{name}", value)
            yield f"{at} of another seat", act(at, rename)
            yield f"{at} of nobody", act(at, lambda intent: setattr(intent, "seat", 9))
            yield f"{at} of a scribe", act(at, lambda intent: setattr(intent, "scribe", 0))
            yield f"{at} of an arbiter", act(at, lambda intent: setattr(intent, "arbiter", 0))
            yield f"{at} unsigned", act(at, lambda intent: intent.ClearField("seat"))
            yield f"{at} no act", act(at, idle)
            yield f"{at} resigns", act(at, lambda intent: intent.resign.SetInParent())
            yield f"{at} reveals", act(at, lambda intent: intent.reveal.CopyFrom(log_pb2.Reveal(seed=bytes(32))))
            yield f"{at} joins", act(at, lambda intent: intent.join.CopyFrom(log_pb2.Join(key=bytes(32))))
            yield f"{at} joins again", act(at, lambda i: i.join.CopyFrom(log_pb2.Join(key=seat_key(i.seat).public.raw)))
            yield f"{at} of another game", act(at, lambda intent: setattr(intent, "game_id", bytes(16)))
            yield f"{at} changes key", act(at, lambda intent: intent.change_key.CopyFrom(log_pb2.ChangeKey(key=b"x")))


def linked(played: Played, edit: evil.Edit, players: bool) -> bytes | None:
    entries = evil.entries(played)
    edit(entries)
    try:
        return evil.signed_file(played, evil.relinked(entries, players=players))
    except AttributeError:  # no author who could sign again
        return None


def with_longer_intent(played: Played, at: int, extra: bytes) -> list[bytes]:
    """Return the entries up to one to whose intent its author added bytes before signing it."""
    entry = log_pb2.Entry.FromString(played.entries[at])
    if not entry.HasField("signed"):
        return played.entries[: at + 1]
    seat = log_pb2.Intent.FromString(entry.signed.intent).seat
    entry.signed.intent += extra
    entry.signed.signature = seat_key(seat).sign(intent_encoding(entry.signed.intent))
    return [*played.entries[:at], entry.SerializeToString(deterministic=True)]
