"""Chain, tree, signed heads, keys."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from referee.log import audit, entry, heads, keys, note, replay, verdict
from referee.log.heads import Heads
from referee.log.intent import author_of
from referee.log.note import Note, VerifierKey
from referee.log.replay import Keyring
from tests.attacks.protections.table import Patch, nothing, protection

# --- chain, tree, heads -----------------------------------------------------------------------------------------------


def _unlinked(patch: Patch, what: str) -> None:
    check = replay.check_link
    patch.setattr(audit, "check_link", lambda thing, *more: None if thing == what else check(thing, *more))


@protection
def place_in_the_entry(patch: Patch) -> None:
    """An entry names its game, its number and the hash of the entry before."""
    _unlinked(patch, "entry")


@protection
def place_in_the_act(patch: Patch) -> None:
    """The seat signs the same three."""
    _unlinked(patch, "intent")


@protection
def tree_against_checkpoint(patch: Patch) -> None:
    """Game, size and root are those of the checkpoint."""
    patch.setattr(audit, "check_head", nothing)


@protection
def signature_of_the_checkpoint(patch: Patch) -> None:
    """The checkpoint is signed with the referee's key that the caller names."""
    patch.setattr(VerifierKey, "check", nothing)


@protection
def strict_notes(patch: Patch) -> None:
    """One text, one reading; every line by another key."""

    def lenient(data: bytes) -> Note:
        text, _, below = data.decode().rpartition("\n\n")
        return Note(text + "\n", tuple(map(note.NoteSignature.parse, below.splitlines())))

    patch.setattr(note.Note, "parse", lenient)
    patch.setattr(note, "_DECIMAL", re.compile(r"\d+\Z"))


@protection
def receipts(patch: Patch) -> None:
    """Checkpoints that a player received with an answer fit the entries."""
    begin = Heads.__init__
    patch.setattr(Heads, "__init__", lambda self, verifier, receipts, logged=(): begin(self, verifier, (), logged))


@protection
def checkpoints_in_the_file(patch: Patch) -> None:
    """Older checkpoints between the entries fit them."""
    patch.setattr(heads.Heads, "seen", lambda self, frame, tree: "")


# --- keys -----------------------------------------------------------------------------------------------------------


@protection
def signatures_of_the_acts(patch: Patch) -> None:
    """The author signs the exact bytes."""
    patch.setattr(Keyring, "check", lambda keyring, signed, intent: author_of(intent))


@protection
def weak_keys(patch: Patch) -> None:
    """Keys of small or mixed order are refused."""
    patch.setattr(keys, "check_public_key", nothing)
    patch.setattr(entry, "check_public_key", nothing)


@protection
def pinned_keys(patch: Patch) -> None:
    """Seats' keys that the caller knows from elsewhere are the ones in use."""
    begin = audit._Auditor.__init__

    def without(self: Any, policy: verdict.Policy, *others: Any, **options: Any) -> None:
        begin(self, replace(policy, seat_keys={}, scribe_keys={}), *others, **options)

    patch.setattr(audit._Auditor, "__init__", without)
