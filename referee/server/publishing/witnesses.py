"""The witnesses of a log: each is shown how the log grew, and signs that it saw it grow (C2SP tlog-witness).

A slow witness holds up none of the others, and a line counts only if its key signed the very text that was shown. A
witness's other statements are claims: that it has seen more of the log, or another log, counts once it shows a
checkpoint that the log's own key has signed. Then the log halts. Knows no store.
"""

from __future__ import annotations

import asyncio
import threading
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import NamedTuple

import structlog

from referee.log.errors import LogError
from referee.log.merkle import check_consistency
from referee.log.note import Note, NoteSignature, TreeHead
from referee.log.public.checkpoint import LogPolicy, Peer, cosigned_at, open_log_checkpoint, origin_hash
from referee.log.public.sources import Answer, Web

PATIENCE_S = 5.0
"""The time for one witness's whole answer."""
GRACE_S = 0.5
"""The time that a quorum waits for the others' answers."""
_MOST_BYTES = 64 * 1024
_MOST_DIGITS = 19

_log = structlog.get_logger("referee.log")

Prove = Callable[[int], Collection[bytes]]
"""Returns the hashes that prove that the tree with this number of leaves grew into the one that is shown. Reads
files."""


class Outcome(StrEnum):
    """The outcome of a question to a witness."""

    COSIGNED = "cosigned"
    AHEAD = "ahead"
    """The witness has shown a checkpoint of this log that does not lie before this one: the log went back."""
    CLAIMED = "claimed"
    """The witness says that it has seen more leaves (409), and shows no such checkpoint."""
    FORKED = "forked"
    """The witness says that its tree did not grow into this one (422), and shows no such checkpoint."""
    UNKNOWN = "unknown"
    """The witness does not know the log (404)."""
    KEY = "key"
    """The witness does not know the log's key (403)."""
    SILENT = "silent"
    """The witness gave no answer in time, or none at all."""
    GARBAGE = "garbage"
    """An answer that is none."""


_SAID = {
    Outcome.FORKED: "it says that it has seen another beginning of this log, but shows no checkpoint of it;",
    Outcome.UNKNOWN: "it does not know the log; expected its operator to add the log's key to --logs",
    Outcome.KEY: "it knows the log under another key; expected the key that it has, or a new entry at --logs",
}


class Head(NamedTuple):
    """The head that witnesses are shown."""

    tree: TreeHead
    note: bytes
    """Signed by the log."""
    prove: Prove


_WITHOUT_PROOF = "it counts as not signing; ask its operator, or take it out of the policy"


class Ahead(Exception):
    """A witness has shown a checkpoint, signed by the log's key, that this log is no continuation of."""

    def __init__(self, witness: str, size: int) -> None:
        super().__init__(f"witness {witness} shows a checkpoint of this log of size {size}")
        self.witness, self.size = witness, size


class _Refused(Exception):
    """A witness signed nothing, for this reason."""

    def __init__(self, outcome: Outcome, why: str) -> None:
        super().__init__(why)
        self.outcome = outcome


class Witness:
    """One witness. It is asked one thing at a time, in a thread of its own: it can hold up only itself."""

    def __init__(self, name: str, peer: Peer, policy: LogPolicy) -> None:
        """``policy``: has the log's key. Raise ``ValueError`` if its address is none."""
        self.name = name
        self._policy = policy
        self._key = peer.key
        self._web = Web(peer.url, PATIENCE_S)
        self._size = 0
        """Leaves that it has seen, as far as is known."""
        self._said: Outcome | None = None
        self._is_busy = False
        self.ahead: Ahead | None = None
        """The contradiction that it has shown; None: it has shown none."""

    async def ask(self, head: Head, outcomes: Counter[tuple[str, Outcome]]) -> NoteSignature | None:
        """Return its line; None if it gives none, for whatever reason."""
        if self._is_busy:
            return None  # it is still at what it was asked before, and is counted when that is over
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[NoteSignature] = loop.create_future()

        def tell(line: NoteSignature | None, error: Exception | None) -> None:
            self._is_busy = False
            if isinstance(error, Ahead):
                self.ahead = error
            outcome, why = _outcome_of(error)
            outcomes[self.name, outcome] += 1
            self._report(outcome, why)
            if answered.done():
                return
            if line is not None:
                answered.set_result(line)
            else:
                answered.set_exception(error or _Refused(Outcome.GARBAGE, "no line"))

        def work() -> None:
            line, error = None, None
            try:
                line = self._cosigned(head)
            except Exception as caught:  # noqa: BLE001 - whatever a stranger brings about
                error = caught
            with suppress(RuntimeError):  # the loop has stopped in the meantime
                loop.call_soon_threadsafe(tell, line, error)

        self._is_busy = True
        try:
            threading.Thread(target=work, name="witness", daemon=True).start()
        except RuntimeError as error:  # there are as many threads as may be
            tell(None, OSError(str(error)))
        try:
            return await asyncio.wait_for(answered, PATIENCE_S)
        except Exception:  # noqa: BLE001 - it was reported
            return None

    def close(self) -> None:
        """Close the connection; an answer that is on its way is not waited for."""
        self._web.close()

    def _report(self, outcome: Outcome, why: str) -> None:
        """Tell the operator when it changes."""
        if outcome is self._said:
            return
        self._said = outcome
        if outcome is Outcome.COSIGNED:
            _log.info("witness cosigns", witness=self.name)
        elif outcome in {Outcome.FORKED, Outcome.CLAIMED, Outcome.AHEAD}:
            _log.error("witness refuses", witness=self.name, outcome=outcome.value, why=why)
        else:
            _log.warning("witness refuses", witness=self.name, outcome=outcome.value, why=why)

    def _cosigned(self, head: Head) -> NoteSignature:
        """Return its line under the head. Raise ``_Refused``, ``Ahead``, ``OSError``, ``LogError``."""
        answer = self._add(head, self._size)
        if answer.status == 409:
            size = _size_in(answer.body)
            if size > head.tree.size:
                self._check_shown(head)
                what = f"it says that it has seen {size} leaves, more than there are, but shows no checkpoint of them"
                raise _Refused(Outcome.CLAIMED, f"{what}; {_WITHOUT_PROOF}")
            answer = self._add(head, size)
        match answer.status:
            case 200:
                line = self._line_in(answer.body, head)
                self._size = head.tree.size
                return line
            case 404:
                raise _Refused(Outcome.UNKNOWN, _SAID[Outcome.UNKNOWN])
            case 403:
                raise _Refused(Outcome.KEY, _SAID[Outcome.KEY])
            case 422:
                self._check_shown(head)
                raise _Refused(Outcome.FORKED, f"{_SAID[Outcome.FORKED]} {_WITHOUT_PROOF}")
            case status:
                raise _Refused(Outcome.GARBAGE, f"it answers with status {status}")

    def _check_shown(self, head: Head) -> None:
        """Raise ``Ahead`` if the newest checkpoint that the witness shows of this log is not the beginning of the head.

        A checkpoint that cannot be read, or that the log's key did not sign, is none. Raise ``OSError``, ``LogError``
        if the log's own files cannot be read.
        """
        try:
            note = self._web.read(f"{origin_hash(head.tree.origin)}/checkpoint")
            shown = None if note is None else open_log_checkpoint(note, self._policy).head
        except (OSError, LogError):
            return
        if shown is None or shown.origin != head.tree.origin or not shown.size:
            return
        if shown.size > head.tree.size:
            raise Ahead(self.name, shown.size)
        # Damage to the log's own tiles says nothing about the witness's tree.
        proof = tuple(head.prove(shown.size))
        try:
            check_consistency(shown.size, shown.root, head.tree.size, head.tree.root, proof)
        except LogError:
            raise Ahead(self.name, shown.size) from None

    def _add(self, head: Head, old: int) -> Answer:
        lines = [f"old {old}\n", *(f"{b64encode(each).decode()}\n" for each in head.prove(old)), "\n"]
        return self._web.ask("POST", "add-checkpoint", "".join(lines).encode() + head.note, most=_MOST_BYTES)

    def _line_in(self, body: bytes, head: Head) -> NoteSignature:
        """Return the line by its key, checked; it may have sent others."""
        text = head.tree.text()
        try:
            note = Note.parse(text.encode() + b"\n" + body, len(body) + 4096)
            if note.text != text:
                # A blank line in the body makes what is above it part of the text: another one than was asked about.
                raise _Refused(Outcome.GARBAGE, "its answer has more than signature lines")
            is_signed = cosigned_at(self._key, note) is not None
        except LogError as error:
            raise _Refused(Outcome.GARBAGE, f"its answer is no cosignature: {error}") from None
        if not is_signed:
            raise _Refused(Outcome.GARBAGE, "its answer has no line by its key")
        return next(each for each in note.signatures if (each.name, each.key_id) == (self._key.name, self._key.id))


def _outcome_of(error: Exception | None) -> tuple[Outcome, str]:
    match error:
        case None:
            return Outcome.COSIGNED, ""
        case _Refused():
            return error.outcome, str(error)
        case Ahead():
            return Outcome.AHEAD, str(error)
        case OSError():
            return Outcome.SILENT, str(error)
        case _:
            return Outcome.GARBAGE, str(error)


def _size_in(body: bytes) -> int:
    """Return the size that a witness answers a 409 with. Raise ``_Refused``."""
    text = body.removesuffix(b"\n")
    if not text.isdigit() or len(text) > _MOST_DIGITS:
        raise _Refused(Outcome.GARBAGE, "status 409 without the size that it has seen")
    return int(text)


class Witnesses:
    """The witnesses of a policy that have an address."""

    def __init__(self, policy: LogPolicy) -> None:
        """Raise ``ValueError`` if an address is none, or if those with one can never be a quorum."""
        self._policy = policy
        self._all: list[Witness] = []
        self._grace_s = PATIENCE_S
        self.outcomes: Counter[tuple[str, Outcome]] = Counter()
        """The number of questions to each witness by outcome, since the start."""
        for name, peer in policy.witnesses.items():
            if not peer.url:
                continue
            try:
                self._all.append(Witness(name, peer, policy))
            except ValueError as error:
                raise ValueError(f"witness {name}: {error}") from None
        if not policy.is_met({witness.name for witness in self._all}):
            raise ValueError(f"the quorum {policy.quorum} can never be met; expected addresses of its witnesses")

    @property
    def are_there(self) -> bool:
        """Return whether there is any to ask."""
        return bool(self._all)

    def close(self) -> None:
        """Close the connections."""
        for witness in self._all:
            witness.close()

    async def cosign(self, head: Head) -> Mapping[str, NoteSignature]:
        """Ask all of them at once; return who signed, by name. A quorum waits only a moment for the others.

        At first it waits for all of them, which may know more of the log than there is. Raise ``Ahead``.
        """
        asked = {asyncio.create_task(each.ask(head, self.outcomes)): each.name for each in self._all}
        signed: dict[str, NoteSignature] = {}
        pending = {*asked}
        grace_s, self._grace_s = self._grace_s, GRACE_S
        try:
            while pending:
                timeout_s = grace_s if self._policy.is_met({*signed}) else None
                done, pending = await asyncio.wait(pending, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
                if not done:
                    break
                signed.update((asked[task], line) for task in done if (line := task.result()) is not None)
        finally:
            for task in pending:
                task.cancel()
        self.check()
        return signed

    def check(self) -> None:
        """Raise ``Ahead`` if one of them has ever shown a checkpoint that contradicted the log."""
        for witness in self._all:
            if witness.ahead is not None:
                raise witness.ahead
