"""The scribe of one game: declares what is drawn, enters the moves of all seats, and what happened beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.games.game import Chance
from referee.log import intent
from referee.log.errors import LogError
from referee.log.intent import Author, Role
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.text.notation.table import ActKind
from referee_clients.sdk.channel import Security
from referee_clients.sdk.errors import Denied
from referee_clients.sdk.game_copy import GameCopy
from referee_clients.sdk.organiser import organiser
from referee_clients.terminal.desk.acts import NO_KEY, Meant, message
from referee_clients.terminal.desk.hand import Hand, NotEntered


class Scribe(Hand):
    """One game, entered by one scribe."""

    def __init__(
        self,
        address: str,
        game_id: str,
        token: str,
        key: PrivateKey,
        *,
        verifier: VerifierKey | None = None,
        security: Security | None = None,
        copy: GameCopy | None = None,
        on_commit: Callable[[], None],
        on_way: Callable[[str], None],
    ) -> None:
        """See ``Hand``."""
        super().__init__(
            address,
            game_id,
            token,
            verifier=verifier,
            security=security,
            copy=copy,
            on_commit=on_commit,
            on_way=on_way,
        )
        self._key = key

    @property
    def key(self) -> PrivateKey:
        return self._key

    @property
    def author(self) -> Author:
        keys = list(self.ledger.record.opened.scribe_keys)
        if self._key.public.raw not in keys:
            raise Denied("this desk's key is not a scribe's key of this game")
        return Author(Role.SCRIBE, keys.index(self._key.public.raw))

    async def enter(self, event: Any) -> int:
        """Enter what the rules await, and allow. Return and raise as ``send`` does."""
        record = self.ledger.record
        position = record.game.position
        if isinstance(position.pending()[0], Chance):
            data = position.codec.encode_outcome(event, position.components)
            return await self.send(intent.declare(record.place, self.author.index, self._key, data))
        return await self.move(position.encoded_move(event))

    async def correct(self, to_seq: int) -> int:
        """Go back to the position after that entry. Return and raise as ``send`` does."""
        return await self.send(
            intent.act(self.ledger.record.place, self.author, self._key, log_pb2.Correct(to_seq=to_seq))
        )

    async def act(self, meant: Meant, arbiter: PrivateKey | None, arbiter_token: str, organiser_token: str) -> int:
        """Enter what happened beside the moves. Return and raise as ``send`` does."""
        record, act = self.ledger.record, meant.act
        if act.kind is ActKind.ABORT:
            async with organiser(self.address, organiser_token, self.security) as there:
                return await there.abort(self.game_id)
        author, key, token = self.author, self._key, self.token
        if act.is_ruling:
            if arbiter is None or arbiter.public.raw not in record.opened.arbiter_keys:
                raise NotEntered(NO_KEY)
            author = Author(Role.ARBITER, list(record.opened.arbiter_keys).index(arbiter.public.raw))
            key, token = arbiter, arbiter_token
        try:
            made = message(record, meant, author)
        except LogError as error:
            raise NotEntered(f"{error.what}; expected {error.expected}") from None
        return await self.submit(author, key, token, made, act.words)
