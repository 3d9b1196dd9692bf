"""Seats in the games that are not over, by principal and by game."""

from __future__ import annotations

from collections.abc import Container, Sequence

from referee.server.store.store import Player, Store


class Seats:
    """Knows the seats of the games that are live here, and finds those of all others in the store."""

    def __init__(self, store: Store, live: Container[bytes]) -> None:
        """``live``: the ids of the games whose seats are ``take``n."""
        self._store = store
        self._live = live
        self._by_principal: dict[str, dict[bytes, int]] = {}
        self._by_game: dict[bytes, dict[int, str]] = {}

    def take(self, players: Sequence[Player]) -> None:
        """Note the seats of games that are live from now on."""
        for player in players:
            self._by_principal.setdefault(player.principal, {})[player.game_id] = player.seat
            self._by_game.setdefault(player.game_id, {})[player.seat] = player.principal

    def clear(self, game_id: bytes) -> None:
        """Forget the seats of a game that is live no more."""
        for principal in set(self._by_game.pop(game_id, {}).values()):
            self._by_principal[principal].pop(game_id)
            if not self._by_principal[principal]:
                del self._by_principal[principal]

    async def seat_of(self, principal: str, game_id: bytes) -> int | None:
        """Return the principal's seat in the game, over or not. Raise ``StoreFailed``."""
        seat = self._by_principal.get(principal, {}).get(game_id)
        if seat is None and game_id not in self._live:
            players = await self._store.players(game_id)
            seat = next((player.seat for player in players if player.principal == principal), None)
        return seat

    async def players(self, game_id: bytes) -> dict[int, str]:
        """Return the principals of a game by seat, over or not. Raise ``StoreFailed``."""
        if game_id in self._live:
            return self.principals(game_id)
        return {player.seat: player.principal for player in await self._store.players(game_id)}

    def principals(self, game_id: bytes) -> dict[int, str]:
        """Return the principals of a live game, by seat."""
        return self._by_game.get(game_id, {})

    def games_of(self, principal: str) -> list[bytes]:
        """Return the live games that have the principal at a seat."""
        return list(self._by_principal.get(principal, ()))
