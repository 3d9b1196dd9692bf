"""A game of two seats that can be lost by a key, a bot or a ruling."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from referee.log import file
from referee.log.audit import audit
from referee.log.entry import decode_entry
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.log.verdict import Policy, Verdict
from referee_clients import parse_join
from referee_clients.join import Join
from referee_clients.sdk.organiser import organiser
from referee_clients.sdk.player import GameResult
from tests.cli.inside import referee as command
from tests.clients.referee_process import Referee


@dataclass
class Opened:
    """A game for bots, with an arbiter."""

    referee: Referee
    folder: Path
    told: dict[str, Any]

    @property
    def joins(self) -> list[Join]:
        return [parse_join(text) for _, text in sorted(self.told["joins"].items())]

    async def ruled(self, kind: str, *words: object) -> str:
        """Return the output of the arbiter's command."""
        by = ("--token-file", self.folder / "arbiter.token", "--key", self.folder / "arbiter.pem", "--yes")
        return await done("rule", kind, self.told["game"], "--server", self.referee.address, *words, *by)

    async def docket(self) -> str:
        """Return the output of the docket command for the game at the referee."""
        return await done("docket", self.told["game"], "--server", self.referee.address)

    async def first_of(self, key: Path) -> int:
        """Return the entry of the first act that the key in the file signed."""
        async with organiser(self.referee.address, self.referee.token) as organising:
            await organising.save_log(self.told["game"], self.folder / "so far")
        key_id = PrivateKey.load(key).public.id
        entries = file.entries(BytesIO((self.folder / "so far").read_bytes()))
        return next(seq for seq, data in enumerate(entries) if decode_entry(data).signed.key_id == key_id)

    async def audited(self, result: GameResult) -> str:
        async with organiser(self.referee.address, self.referee.token) as organising:
            await organising.save_log(self.told["game"], self.folder / "game")
        verifier = VerifierKey.parse(self.told["verifier_key"])
        report = audit(BytesIO((self.folder / "game").read_bytes()), Policy(verifier, receipts=result.receipts))
        assert report.verdict is Verdict.COMPLETE, report.as_text()
        return report.as_text()


async def done(*words: object, code: int = 0) -> str:
    """Return the command's output, or its error."""
    found = await asyncio.to_thread(command, *words)
    assert found.returncode == code, found.stderr
    return found.stdout if code == 0 else found.stderr


async def opened(referee: Referee, folder: Path, *words: object, seats: int = 2, rules: str = "kingdomino") -> Opened:
    key = PrivateKey.generate()
    key.save(folder / "arbiter.pem")
    where = ("--server", referee.address, "--data", referee.folder, "--json", "--arbiter-key", folder / "arbiter.pem")
    told = json.loads(await done("new", *where, "--rules", rules, "--seats", seats, *words))
    (folder / "arbiter.token").write_text(told["arbiter_token"])
    return Opened(referee, folder, told)
