"""Words that several commands read: public keys, verifier keys, policies of logs, addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.log.errors import LogError
from referee.log.keys import PrivateKey, PublicKey, public_key_from_pem
from referee.log.note import VerifierKey
from referee.text.notation.violations import cut
from referee.text.words.catalogue import ENGLISH, UnknownLanguage, Words, category, languages, load

_KEY = Parameter(
    name="--key",
    metavar="VKEY",
    help="The referee's verifier key, as you have it from the referee: a .vkey file or its text.",
    show_default=False,
)
Key = Annotated[str, _KEY]
OptionalKey = Annotated[str | None, _KEY]

Language = Annotated[
    str,
    Parameter(
        name="--language",
        metavar="LANG",
        help=f"The language: {', '.join(languages('report'))}. The English text of a rule stands beside it.",
    ),
]
CardLanguage = Annotated[
    str,
    Parameter(
        name="--language",
        metavar="LANG",
        help=f"With --sheet: the language of the cards: {', '.join(languages('web'))}.",
        group="What is handed out",
    ),
]

_HEX_KEY = re.compile("[0-9a-fA-F]{64}", re.ASCII)
_ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?/?", re.ASCII | re.IGNORECASE)
_KEY_EXPECTED = "64 hexadecimal digits, or a file with them or with a PEM key"
_MOST_BYTES = 4096
"""The largest file that may hold a key."""


def words_in(language: str, part: str = "report") -> Words:
    """Return what reports say, or another part of the catalogue, in a language. Raise ``Failure``.

    Raise ``ModuleNotFoundError`` if something is lacking for this language: before anything is written.
    """
    try:
        words = load(part, language)
        category(language, 1)
    except UnknownLanguage as error:
        raise Failure(f"--language: {error}", EXIT_USAGE) from None
    return words


def check_language(language: str, document: object, option: str, part: str = "report") -> None:
    """Raise ``Failure`` for a language without words, or without the document that would be in it."""
    words_in(language, part)
    if language != ENGLISH and document is None:
        raise Failure(f"--language {language}: nothing is written in it; expected {option} with it", EXIT_USAGE)


def public_key(word: str, text: str) -> bytes:
    """Return the public key, or the public half of a private one. ``word`` is the whole word, for the error."""
    path = Path(text)
    try:
        found = text if _HEX_KEY.fullmatch(text) else _beginning(path)
        if _HEX_KEY.fullmatch(found):
            return PublicKey(bytes.fromhex(found)).raw
        if "PRIVATE KEY-----" in found:
            return PrivateKey.load(path).public.raw
        if "PUBLIC KEY-----" in found:
            return public_key_from_pem(found).raw
    except OSError as error:
        raise Failure(f"{word}: {error.strerror}; expected {_KEY_EXPECTED}", EXIT_USAGE) from None
    except LogError as error:
        # The word may name the file already.
        raise Failure(f"{word}: {error.found or error.what}; expected {error.expected}", EXIT_USAGE) from None
    raise Failure(f"{word}: not a key; expected {_KEY_EXPECTED}", EXIT_USAGE)


def private_key(option: str, path: Path) -> PrivateKey:
    """Raise ``Failure``."""
    try:
        return PrivateKey.load(path)
    except OSError as error:
        raise Failure(f"{option} {path}: {error.strerror}", EXIT_USAGE) from None
    except LogError as error:
        raise Failure(f"{option} {error.what}; expected {error.expected}", EXIT_USAGE) from None


def new_private_key(path: Path, *, instead: str = "the name of a new file") -> PrivateKey:
    """Make a key in a new file, for its owner alone. Raise ``Failure``; ``instead``: what to give if there is one."""
    key = PrivateKey.generate()
    try:
        key.save(path)
    except FileExistsError:
        raise Failure(f"{path}: the file exists, and a key is never replaced; expected {instead}") from None
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    return key


def check_origins(option: str, origins: Iterable[str]) -> None:
    """Raise ``Failure`` for what no browser names as an origin."""
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            expected = "expected http:// or https:// and a name, such as https://club.example"
            raise Failure(f"{option} {origin!r}: {expected}", EXIT_USAGE)


def check_proxies(option: str, proxies: Iterable[str]) -> None:
    """Raise ``Failure`` for what is neither an address nor a network."""
    from ipaddress import ip_network  # noqa: PLC0415 - few commands need it

    for proxy in proxies:
        try:
            ip_network(proxy, strict=False)
        except ValueError:
            expected = "expected an address or a network, such as 127.0.0.1 or 10.0.0.0/8"
            raise Failure(f"{option} {proxy!r}: {expected}", EXIT_USAGE) from None


def web_origin(option: str, origin: str) -> str:
    """Return where a browser can play a seat, as browsers name it. Raise ``Failure``."""
    from referee_clients.web.origins import has_keys  # noqa: PLC0415 - few commands need it

    check_origins(option, [origin])
    if not has_keys(origin):
        what = "seats cannot be played there, as browsers give keys only to pages over HTTPS"
        raise Failure(f"{option} {origin!r}: {what}; expected https:// and a name", EXIT_USAGE)
    return origin.rstrip("/")


def verifier_key(option: str, text: str) -> VerifierKey:
    """Read a .vkey file, or the text itself."""
    if "PRIVATE KEY" in text:
        raise Failure(f"{option}: this is a private key; expected a .vkey file or its text", EXIT_USAGE)
    word = f"{option} {cut(text)}"
    is_key = _is_verifier(text)
    try:
        key = text if is_key else _beginning(Path(text))
    except OSError as error:
        raise Failure(f"{word}: {error.strerror}; expected a .vkey file or its text", EXIT_USAGE) from None
    try:
        return VerifierKey.parse(key)
    except LogError as error:
        if not is_key:
            # The content of another file, perhaps a private key, is not repeated.
            raise Failure(f"{word}: not a verifier key; expected a .vkey file or its text", EXIT_USAGE) from None
        expected = f"; expected {error.expected}" if error.expected else ""
        raise Failure(f"{word}: {error.what}{expected}", EXIT_USAGE) from None


def address(option: str, text: str) -> tuple[str, int]:
    """Return host and port."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdecimal() and int(port) < 1 << 16):
        raise Failure(f"{option} {text!r}: expected HOST:PORT, such as 127.0.0.1:50051", EXIT_USAGE)
    return host, int(port)


def _is_verifier(text: str) -> bool:
    """Return whether it is the key itself; a file's name may have a plus sign, too."""
    try:
        return "+" in text and not Path(text).exists()
    except OSError:  # too long for a name
        return True


def _beginning(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES).decode("utf-8", "replace").strip()


def languages_named(option: str, text: str | None) -> tuple[str, ...]:
    """Return the languages of pages that are named, or else those that are no drafts."""
    from referee_clients.web.languages import offered, read  # noqa: PLC0415 - few commands need it

    try:
        return read() if text is None else offered(text)
    except ValueError as error:
        raise Failure(f"{option}: {error}", EXIT_USAGE) from None


def pyodide_folder(folder: Path) -> Path:
    """Return the folder. Raise ``Failure`` unless it holds Pyodide."""
    from referee_clients.web.in_browser.pyodide import BadPyodide, check  # noqa: PLC0415 - few commands need it

    try:
        check(folder)
    except BadPyodide as error:
        raise Failure(str(error)) from error
    return folder
