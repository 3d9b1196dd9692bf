"""``referee keys``: make and show keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.cli.shared.arguments import new_private_key
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.log.errors import LogError
from referee.log.keys import PrivateKey, PublicKey
from referee.log.note import VerifierKey
from referee.server.service.files import VERIFIER_FILE


def keys(
    path: Annotated[
        Path,
        Parameter(
            help="A private key file (PEM), or a referee's data directory for its verifier key.", show_default=False
        ),
    ],
    /,
    *,
    new: Annotated[bool, Parameter(help="Create the file with a new key, readable only by you.")] = False,
    pem: Annotated[bool, Parameter(help="Print the public key as PEM, for OpenSSL.")] = False,
    as_json: Annotated[bool, Parameter(name="--json", help="Print JSON.")] = False,
) -> None:
    """Make a player's or scribe's key, or show the public half of a key, which you may give to anyone.

    Exit codes: 0 done; 1 the file is missing, is not a key or, with `--new`, already exists; 2 wrong usage.

    Examples: `referee keys alice.pem --new`, `referee keys alice.pem`, `referee keys ./referee-data`
    """
    if path.is_dir():
        if new or pem:
            raise Failure(f"{path}: this is a directory; expected a key file for --new and --pem", EXIT_USAGE)
        verifier = _verifier(path / VERIFIER_FILE)
        print(json.dumps({"verifier_key": str(verifier)}) if as_json else verifier)
        return
    public = _private(path, new=new).public
    if as_json:
        print(json.dumps(_described(public)))
    else:
        print(public.pem().rstrip() if pem else public.raw.hex())


def _private(path: Path, *, new: bool) -> PrivateKey:
    if new:
        return new_private_key(path)
    try:
        if b"PRIVATE KEY-----" not in _beginning(path):  # or the first complaint would be of its mode
            raise Failure(f"{path}: not a private key; expected PEM, as referee keys --new writes it")
        return PrivateKey.load(path)
    except FileNotFoundError:
        raise Failure(f"{path}: no such file; expected --new, to make it") from None
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    except LogError as error:
        raise Failure(f"{error.what}; expected {error.expected}") from None


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(64)


def _verifier(path: Path) -> VerifierKey:
    try:
        return VerifierKey.parse(path.read_text(encoding="ascii").strip())
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    except (LogError, UnicodeDecodeError) as error:
        raise Failure(f"{path}: {error}") from None


def _described(public: PublicKey) -> dict[str, str]:
    return {"public_key": public.raw.hex(), "key_id": public.id.hex(), "pem": public.pem()}
