"""Tree heads that the referee signed, compared with the entries: receipts, and checkpoints inside the file.

Knows the tree, not what the entries say.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from referee.log.errors import Code, LogError
from referee.log.file import Frame
from referee.log.merkle import Tree
from referee.log.note import Checkpoint, VerifierKey, open_checkpoint
from referee.text.words.catalogue import Phrase, phrase


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


_EVERYTHING: Final = 1 << 64


class Loss(NamedTuple):
    """Entries that the referee declared lost, by a Recovered entry."""

    seq: int
    """Index of that entry."""
    size: int
    """Entries that the newest lost head covers; 0 if the referee does not know that head."""
    root: bytes
    """Root of that head; empty if the referee does not know it."""


class Losses:
    """The losses declared up to some entry; a question costs the same for any number of declarations."""

    def __init__(self, losses: Iterable[Loss] = ()) -> None:
        self._named: dict[tuple[int, bytes], int] = {}
        self._reaching: list[tuple[int, int]] = []
        """The reach of each declaration, and its entry; of those that reach as far only the first."""
        for loss in losses:
            self.add(loss)

    def add(self, loss: Loss) -> None:
        """Take the next declaration."""
        self._named.setdefault((loss.size, loss.root), loss.seq)
        reach = loss.size or _EVERYTHING
        if not self._reaching or reach > self._reaching[-1][0]:
            self._reaching.append((reach, loss.seq))

    def naming(self, checkpoint: Checkpoint) -> int | None:
        """Return the index of the entry that declares this very head lost; None if none does."""
        return self._named.get((checkpoint.size, checkpoint.root))

    def covering(self, checkpoint: Checkpoint) -> int | None:
        """Return the index of the entry that declares a head lost which contradicts the log; None if none does.

        The head covers more entries than stand before that entry: both histories have those.
        """
        named, size = self.naming(checkpoint), checkpoint.size
        if named is not None and named < size:
            return named
        place = bisect_right(self._reaching, (size, _EVERYTHING))
        seq = self._reaching[place][1] if place < len(self._reaching) else size
        return seq if seq < size else None


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
        self.losses = Losses()
        """The losses declared by the entries that were read so far."""
        self._mismatched: dict[tuple[str, bytes, int | None], Checkpoint] = {}
        """The first of each kind, game and entry that declares it lost."""
        self._matched: dict[tuple[str, bytes], Checkpoint] = {}
        """The first of each kind and game, for checkpoints whose root is right."""
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
                self._mismatched.setdefault((kind, checkpoint.game_id, self.losses.covering(checkpoint)), checkpoint)

    def conflicts(self, identity: bytes | None, size: int, *, most: int | None) -> Iterator[LogError]:
        """Yield what the signed heads show against the file, when all entries are read.

        ``most``: entries that the game can have; None while it has no end.
        """
        for (kind, _, lost_by), checkpoint in self._mismatched.items():
            if checkpoint.game_id != identity:
                if kind != _LOGGED:
                    yield self._other_game(kind, checkpoint, identity)
            elif lost_by is not None and self.signed > lost_by:  # the declaration is signed for
                yield self._lost(kind, checkpoint, lost_by)
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
                elif (lost_by := self._cannot_follow(checkpoint, most)) is not None:
                    yield self._lost(kind, checkpoint, lost_by)
                else:
                    yield LogError(Code.STALE, f"{size} entries", f"{newest}, as a signed {kind} shows")

    def _cannot_follow(self, checkpoint: Checkpoint, most: int | None) -> int | None:
        """Return which entry declares a head lost that is ahead of the file; None if the file may grow into it."""
        if self.final is None:
            return None
        named = self.losses.naming(checkpoint)
        is_beyond = most is not None and checkpoint.size > most
        return self.losses.covering(checkpoint) if named is None and is_beyond else named

    @staticmethod
    def _lost(kind: str, checkpoint: Checkpoint, lost_by: int) -> LogError:
        what = f"a signed {kind} of {checkpoint.size} entries is of what entry {lost_by} declares lost"
        return LogError(Code.LOSS, what, "one history", entry=lost_by)

    @staticmethod
    def _other_game(kind: str, checkpoint: Checkpoint, identity: bytes | None) -> LogError:
        known = identity.hex() if identity else "a game"
        return LogError(Code.CHECKPOINT, f"{kind} of game {checkpoint.game_id.hex()}", known)
