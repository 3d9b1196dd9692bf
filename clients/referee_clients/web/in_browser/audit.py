"""The audit of one file in a browser's Python, with the signatures that the JavaScript verifier checked.

An audit that came upon a signature not yet checked says nothing yet: its questions are answered, and it is
made again. So the last one is exactly what the command ``referee audit`` would find, or ``referee event check``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from referee.log.audit import audit
from referee.log.errors import LogError
from referee.log.keys import PublicKey
from referee.log.note import VerifierKey
from referee.log.verdict import CertificateReport, Policy, Report
from referee.text.words.catalogue import Said
from referee.tournament.check import check_event
from referee.tournament.rules import TOURNAMENT
from referee_clients.web.in_browser import signatures
from referee_clients.web.in_browser.signatures import forget

__all__ = ["answer", "check", "forget"]

_PLACE = Path("audited")


def answer(holding: Iterable[bytes], failing: Iterable[bytes], keys: Iterable[bytes], weak: Iterable[bytes]) -> None:
    """Take what the verifier has found, of keys (32 bytes) and of key, signature and message, joined."""
    signatures.holding.update(map(bytes, holding))
    signatures.failing.update(map(bytes, failing))
    signatures.keys.update(map(bytes, keys))
    signatures.weak.update(map(bytes, weak))


def check(data: bytes, key: str, seats: Sequence[tuple[int, bytes]], receipts: Sequence[bytes]) -> list[bytes] | str:
    """Return what has to be asked first, or the report: JSON with ``exit_code``, ``lines`` and ``report``;
    of a game also ``said``.

    ``key``: the verifier key, or empty. ``seats``: keys that the reader knows, by seat. ``receipts``: files of signed
    checkpoints; one that is none makes ``{"error": why}``.
    """
    signatures.asked.clear()
    try:
        found = _report(bytes(data), key, seats, receipts)
    except LogError as error:
        found = {"error": str(error)}
    return list(signatures.asked) or json.dumps(found)


def _report(data: bytes, key: str, seats: Sequence[tuple[int, bytes]], receipts: Sequence[bytes]) -> dict[str, object]:
    verifier = VerifierKey.parse(key) if key else None
    pinned = {seat: PublicKey(bytes(raw)).raw for seat, raw in seats}
    policy = Policy(verifier, pinned, receipts=tuple(map(bytes, receipts)))
    _PLACE.write_bytes(data)
    with _PLACE.open("rb") as stream:
        report = audit(stream, policy)
    if report.rules is not None and report.rules[0] == TOURNAMENT.rules_id:
        checked = check_event(_PLACE, policy, None, Policy())
        return {
            "verdict": checked.verdict,
            "exit_code": checked.exit_code,
            "lines": list(checked.lines()),
            "report": json.loads(checked.as_json()),
        }
    return {
        "verdict": report.verdict.name,
        "exit_code": report.exit_code,
        "lines": report.as_text().splitlines(),
        "said": _said(report),
        "report": json.loads(report.as_json()),
    }


def _said(report: Report) -> dict[str, object]:
    """Return what a page says in its own language: of seats, of where draws come from, of certificates."""
    has_certificates = report.proofs != CertificateReport()
    return {
        "chance": _as_json(report.drawn),
        "seats": [
            {"seat": each.seat, "how": [*map(_as_json, each.how)], "key": each.key.hex() if each.key else ""}
            for each in report.seats
        ],
        "certificates": _as_json(report.proofs.said) if has_certificates else None,
    }


def _as_json(part: object) -> object:
    """Return a text as its key and the values of its places; any other value as it is."""
    if not isinstance(part, Said):
        return part
    return {"key": part.key, "places": {name: _as_json(each) for name, each in part.places.items()}}
