"""``referee web``: the pages, for browsers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from referee.cli.operators.settings import Sources, show
from referee.cli.shared.arguments import (
    address,
    check_origins,
    check_proxies,
    languages_named,
    pyodide_folder,
    verifier_key,
)
from referee.cli.shared.commands import Given
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.remote import TlsCa, Transport, is_token, token_of
from referee_clients.web.secure import Lack

TOKEN_VARIABLE = "REFEREE_GATEWAY_TOKEN"  # noqa: S105 - a name
"""The environment variable of a gateway's token."""


@Parameter(name="*", group=Group.create_ordered("The referee"))
@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """The options of the referee whose games are shown."""

    server: Annotated[
        str,
        Parameter(
            env_var="REFEREE_SERVER",
            metavar="ADDRESS",
            help="The referee whose games are shown; grpcs://HOST:PORT for TLS. Without one there are no games.",
            show_default=False,
        ),
    ] = ""
    key: Annotated[
        str | None,
        Parameter(
            metavar="VKEY", help="The referee's verifier key: what it did not sign is not shown.", show_default=False
        ),
    ] = None
    token_file: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="A token with scope gateway: the referee then charges each reader's address, and not the gateway's. "
            f"By default the one in {TOKEN_VARIABLE}, if it is set.",
            show_default=False,
        ),
    ] = None
    tls_ca: TlsCa = None


@Parameter(name="*", group=Group.create_ordered("Network and TLS"))
@dataclass(frozen=True, kw_only=True, slots=True)
class Listening:
    """The options of how browsers reach the pages."""

    listen: Annotated[str, Parameter(metavar="HOST:PORT", help="Address to listen on; port 0 picks a free port.")] = (
        "127.0.0.1:8080"
    )
    origin: Annotated[
        list[str] | None,
        Parameter(
            metavar="URL",
            help="An address under which people reach the pages by name, such as https://club.example. Can be "
            "repeated. Numeric addresses and localhost need none.",
            show_default=False,
        ),
    ] = None
    trusted_proxy: Annotated[
        list[str] | None,
        Parameter(
            metavar="ADDRESS",
            help="A proxy, or its network, whose X-Forwarded-For says who calls. Can be repeated.",
            show_default=False,
        ),
    ] = None
    tls_cert: Annotated[
        Path | None, Parameter(metavar="FILE", help="Speak TLS with this certificate and its chain (PEM).")
    ] = None
    tls_key: Annotated[Path | None, Parameter(metavar="FILE", help="The certificate's private key (PEM).")] = None


@Parameter(name="*", group=Group.create_ordered("Pages"))
@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The options of what is served."""

    hashes: Annotated[
        bool,
        Parameter(
            help="Print the SHA-256 of everything that would be served with the other options, and end: to compare "
            "with /about of a gateway.",
        ),
    ] = False
    pyodide: Annotated[
        Path | None,
        Parameter(
            metavar="DIR",
            help="A folder with Pyodide, as `make web-rules` brings it. With it, browsers also check the rules of a "
            "game file, and not only its signatures.",
            show_default=False,
        ),
    ] = None
    languages: Annotated[
        str | None,
        Parameter(
            metavar="en,LANG,...",
            help="The languages of the pages. The first is the default. Without this option, all languages whose "
            "translation a speaker has read: drafts are offered only by name.",
            show_default=False,
        ),
    ] = None
    as_json: Annotated[
        bool, Parameter(name="--json", help="Print where the pages are, and what they lack, as one line of JSON.")
    ] = False


def web(
    *,
    given: Given,
    shown: Shown = Shown(),
    listening: Listening = Listening(),
    content: Content = Content(),
    sources: Sources = Sources(),
) -> None:
    """Serve pages to browsers until Ctrl-C or SIGTERM: judge a position, verify a file, read the rules.

    On /position anybody can put an Alhambra, a kingdom or a sheet together and see whether it is legal, what it scores
    and where a piece may go. Nothing is stored: the position is in the page's link.

    Browsers play seats and verify games only on pages over HTTPS with a certificate that they trust, and on this
    machine itself. The command says at its start, on standard error, what is lacking for that.

    Exit codes: 0 stopped; 1 the address or the certificate cannot be used; 2 wrong usage.

    Example: `referee web --listen 0.0.0.0:8080`, for phones in the same network
    """
    if sources.show_config:
        print(show("web", given))
        return
    from referee_clients.web.pages import Site  # noqa: PLC0415 - few commands need it
    from referee_clients.web.server import CannotServe, Settings, bind, serve  # noqa: PLC0415
    from referee_clients.web.upstream import may_bear_tokens  # noqa: PLC0415

    host, port = address("--listen", listening.listen)
    if (listening.tls_cert is None) != (listening.tls_key is None):
        raise Failure("--tls-cert and --tls-key belong together; expected both or neither", EXIT_USAGE)
    check_origins("--origin", listening.origin or ())
    check_proxies("--trusted-proxy", listening.trusted_proxy or ())
    verifier = None if shown.key is None else verifier_key("--key", shown.key)
    if bool(shown.server) != (verifier is not None):
        raise Failure("--server and --key belong together: games are shown only as the referee signed them", EXIT_USAGE)
    token = token_of(shown.token_file) if shown.token_file is not None else os.environ.get(TOKEN_VARIABLE, "")
    if token and not is_token(token):
        raise Failure(f"{TOKEN_VARIABLE} is not a token; expected one such as referee token issue makes", EXIT_USAGE)
    if token and not shown.server:
        raise Failure("a gateway's token is for a referee; expected --server with it", EXIT_USAGE)
    spoken = languages_named("--languages", content.languages)
    secured = Transport(tls_ca=shown.tls_ca).security(shown.server, token) if shown.server else None
    if content.hashes:
        has_solver = secured is not None and may_bear_tokens(shown.server, secured)
        site = Site(
            verifier,
            has_solver=has_solver,
            python=None if content.pyodide is None else pyodide_folder(content.pyodide),
            languages=spoken,
        )
        print(*(f"{digest}  {path}" for digest, path in site.hashes()), sep="\n")
        return
    try:
        serve(
            Settings(
                origins=listening.origin or (),
                trusted=listening.trusted_proxy or (),
                certificate=listening.tls_cert,
                key=listening.tls_key,
                referee=shown.server,
                verifier=verifier,
                token=token,
                security=secured,
                python=content.pyodide,
                languages=spoken,
            ),
            bind(host, port),
            _tell_as_json if content.as_json else _tell,
        )
    except CannotServe as error:
        raise Failure(str(error)) from error


def _tell(address: str, lacking: Sequence[Lack]) -> None:
    for lack in lacking:
        print(f"warning: {lack}", file=sys.stderr)
    print(f"Pages are at {address}", flush=True)


def _tell_as_json(address: str, lacking: Sequence[Lack]) -> None:
    print(json.dumps({"address": address, "lacks": [lack.told for lack in lacking]}), flush=True)
