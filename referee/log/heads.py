"""Tree heads that the referee signed, compared with the entries: receipts, and checkpoints inside the file.

Knows the tree, not what the entries say.
"""

from __future__ import annotations

from collections.abc import Iterator

from referee.log.errors import Code, LogError
from referee.log.frames import Frame
from referee.log.merkle import Tree
from referee.log.note import Checkpoint, VerifierKey, open_checkpoint
from referee.words.catalogue import Phrase, phrase


def check_head(checkpoint: Checkpoint, identity: bytes | None, tree: Tree) -> None:
    """Raise ``LogError`` (``CHECKPOINT``) unless it is the head of this tree."""
    if checkpoint.game_id != identity:
        known = identity.hex() if identity else "a game"
        raise LogError(Code.CHECKPOINT, f"checkpoint of game {checkpoint.game_id.hex()}", known)
    if checkpoint.size != tree.size:
        raise LogError(Code.CHECKPOINT, f"checkpoint of {checkpoint.size} entries", f"{tree.size}")
    if checkpoint.root != tree.root():
        raise LogError(Code.CHECKPOINT, f"checkpoint with root {checkpoint.root.hex()}", tree.root().hex())


_LOGGED = "head in the public log"


class Heads:
    """Signed heads beside the final one, each compared when the tree has its size."""

    def __init__(
        self, verifier: VerifierKey | None, receipts: tuple[bytes, ...], logged: tuple[Checkpoint, ...] = ()
    ) -> None:
        """``logged``: heads that a public log has. Raise ``LogError`` for a receipt not signed by the verifier key."""
        self.signed = 0
        """Entries that a signed and matching head covers."""
        self.final: Checkpoint | None = None
        """The file's last checkpoint, if it is signed and matches."""
        self._verifier = verifier
        self._waiting: dict[int, list[tuple[str, Checkpoint]]] = {}
        self._mismatched: dict[tuple[str, bytes], Checkpoint] = {}
        """The first of each kind and game."""
        self._matched: dict[tuple[str, bytes], Checkpoint] = {}
        """As above, for checkpoints whose root is right."""
        for data in receipts:
            if verifier is None:
                raise LogError(Code.UNTRUSTED_KEY, "a receipt was given without a verifier key")
            receipt = open_checkpoint(data, verifier)
            self._waiting.setdefault(receipt.size, []).append(("receipt", receipt))
        for head in logged:
            self._waiting.setdefault(head.size, []).append((_LOGGED, head))
        self.grown(Tree())

    def seen(self, frame: Frame, tree: Tree) -> Phrase | None:
        """Take a checkpoint frame from inside the file; a comment if it is of no use."""
        # Anyone can add such a frame, so only what the referee signed counts.
        if self._verifier is None:
            return None
        try:
            checkpoint = open_checkpoint(frame.payload, self._verifier)
        except LogError as error:
            return phrase("checkpoint frame at byte {offset} was not used: {why}", offset=frame.offset, why=str(error))
        if checkpoint.size < tree.size:
            return phrase("checkpoint frame at byte {offset} comes too late to be compared", offset=frame.offset)
        self._waiting.setdefault(checkpoint.size, []).append(("checkpoint", checkpoint))
        self.grown(tree)
        return None

    def grown(self, tree: Tree) -> None:
        """Compare the heads of the tree's new size."""
        for kind, checkpoint in self._waiting.pop(tree.size, ()):
            if checkpoint.root == tree.root():
                if kind != _LOGGED:  # the log's signature is not the referee's under the game
                    self.signed = tree.size
                self._matched.setdefault((kind, checkpoint.game_id), checkpoint)
            else:
                self._mismatched.setdefault((kind, checkpoint.game_id), checkpoint)

    def conflicts(self, identity: bytes | None, size: int) -> Iterator[LogError]:
        """Yield what the signed heads show against the file, when all entries are read."""
        for (kind, _), checkpoint in self._mismatched.items():
            if checkpoint.game_id != identity:
                if kind != _LOGGED:
                    yield self._other_game(kind, checkpoint, identity)
            elif self.final is not None:
                # Both signed, one history cannot have both: that is the referee's doing, not the copy's.
                what = f"a signed {kind} of {checkpoint.size} entries with root {checkpoint.root.hex()}"
                yield LogError(Code.FORK, what, "one history", entry=checkpoint.size - 1)
            else:
                what = f"a signed {kind} has another root"
                yield LogError(Code.CHECKPOINT, what, "its first entries", entry=checkpoint.size - 1)
        for (kind, _), checkpoint in self._matched.items():
            if identity is not None and checkpoint.game_id != identity and kind != _LOGGED:
                yield self._other_game(kind, checkpoint, identity)
        for newest in sorted(self._waiting, reverse=True):
            for kind, checkpoint in self._waiting[newest]:
                # A file without any entry does not say of which game it is.
                if checkpoint.game_id != identity and kind == _LOGGED:
                    continue
                if checkpoint.game_id != identity and size > 0:
                    yield self._other_game(kind, checkpoint, identity)
                else:
                    yield LogError(Code.STALE, f"{size} entries", f"{newest}, as a signed {kind} shows")

    @staticmethod
    def _other_game(kind: str, checkpoint: Checkpoint, identity: bytes | None) -> LogError:
        known = identity.hex() if identity else "a game"
        return LogError(Code.CHECKPOINT, f"{kind} of game {checkpoint.game_id.hex()}", known)
