"""``referee web``: the pages, for browsers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.operators.settings import ConfigFile, ShowConfig, show
from referee.cli.shared.arguments import (
    address,
    check_origins,
    check_proxies,
    languages_named,
    pyodide_folder,
    verifier_key,
)
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.remote import TlsCa, is_token, security, token_of
from referee_clients.web.secure import Lack

TOKEN_VARIABLE = "REFEREE_GATEWAY_TOKEN"  # noqa: S105 - a name
"""The environment variable of a gateway's token."""


def web(  # noqa: PLR0917 - typer reads options from the signature
    ctx: typer.Context,
    server: Annotated[
        str,
        typer.Option(
            "--server",
            envvar="REFEREE_SERVER",
            metavar="ADDRESS",
            help="The referee whose games are shown; grpcs://HOST:PORT for TLS. Without one there are no games.",
            show_default=False,
        ),
    ] = "",
    key: Annotated[
        str | None,
        typer.Option(
            metavar="VKEY", help="The referee's verifier key: what it did not sign is not shown.", show_default=False
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="A token with scope gateway: the referee then charges each reader's address, and not the gateway's. "
            f"By default the one in {TOKEN_VARIABLE}, if it is set.",
            show_default=False,
        ),
    ] = None,
    hashes: Annotated[
        bool,
        typer.Option(
            "--hashes",
            help="Print the SHA-256 of everything that would be served with the other options, and end: to compare "
            "with /about of a gateway.",
        ),
    ] = False,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Address to listen on; port 0 picks a free port.")
    ] = "127.0.0.1:8080",
    origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="An address under which people reach the pages by name, such as https://club.example. Can be "
            "repeated. Numeric addresses and localhost need none.",
            show_default=False,
        ),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="A proxy, or its network, whose X-Forwarded-For says who calls. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    tls_ca: TlsCa = None,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Speak TLS with this certificate and its chain (PEM).")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="The certificate's private key (PEM).")] = None,
    pyodide: Annotated[
        Path | None,
        typer.Option(
            "--pyodide",
            metavar="DIR",
            help="A folder with Pyodide, as `make web-rules` brings it. With it, browsers also check the rules of a "
            "game file, and not only its signatures.",
            show_default=False,
        ),
    ] = None,
    languages: Annotated[
        str | None,
        typer.Option(
            "--languages",
            metavar="en,LANG,...",
            help="The languages of the pages; who asks for none of them gets the first. By default those whose "
            "translation was read by somebody who speaks it: drafts are offered only by name.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print where the pages are, and what they lack, as one line of JSON.")
    ] = False,
    config_file: ConfigFile = None,  # noqa: ARG001 - it has been the options' default by now
    show_config: ShowConfig = False,
) -> None:
    """Serve pages to browsers until Ctrl-C or SIGTERM: judge a position, verify a file, read the rules.

    On /position anybody can put an Alhambra, a kingdom or a sheet together and see whether it is legal, what it scores
    and where a piece may go. Nothing is stored: the position is in the page's link.

    Browsers play seats and verify games only on pages over HTTPS with a certificate that they trust, and on this
    machine itself. The command says at its start, on standard error, what is lacking for that.

    Exit codes: 0 stopped; 1 the address or the certificate cannot be used; 2 wrong usage.

    Example: `referee web --listen 0.0.0.0:8080`, for phones in the same network
    """
    if show_config:
        print(show(ctx))
        return
    from referee_clients.web.pages import Site  # noqa: PLC0415 - few commands need it
    from referee_clients.web.server import CannotServe, Settings, bind, serve  # noqa: PLC0415
    from referee_clients.web.upstream import may_bear_tokens  # noqa: PLC0415

    host, port = address("--listen", listen)
    if (tls_cert is None) != (tls_key is None):
        raise Failure("--tls-cert and --tls-key belong together; expected both or neither", EXIT_USAGE)
    check_origins("--origin", origin or ())
    check_proxies("--trusted-proxy", trusted_proxy or ())
    verifier = None if key is None else verifier_key("--key", key)
    if bool(server) != (verifier is not None):
        raise Failure("--server and --key belong together: games are shown only as the referee signed them", EXIT_USAGE)
    token = token_of(token_file) if token_file is not None else os.environ.get(TOKEN_VARIABLE, "")
    if token and not is_token(token):
        raise Failure(f"{TOKEN_VARIABLE} is not a token; expected one such as referee token issue makes", EXIT_USAGE)
    if token and not server:
        raise Failure("a gateway's token is for a referee; expected --server with it", EXIT_USAGE)
    spoken = languages_named("--languages", languages)
    secured = security(server, tls_ca, None, None, insecure=False, token=token) if server else None
    if hashes:
        has_solver = secured is not None and may_bear_tokens(server, secured)
        site = Site(
            verifier,
            has_solver=has_solver,
            python=None if pyodide is None else pyodide_folder(pyodide),
            languages=spoken,
        )
        print(*(f"{digest}  {path}" for digest, path in site.hashes()), sep="\n")
        return
    try:
        serve(
            Settings(
                origins=origin or (),
                trusted=trusted_proxy or (),
                certificate=tls_cert,
                key=tls_key,
                referee=server,
                verifier=verifier,
                token=token,
                security=secured,
                python=pyodide,
                languages=spoken,
            ),
            bind(host, port),
            _tell_as_json if as_json else _tell,
        )
    except CannotServe as error:
        raise Failure(str(error)) from error


def _tell(address: str, lacking: Sequence[Lack]) -> None:
    for lack in lacking:
        print(f"warning: {lack}", file=sys.stderr)
    print(f"Pages are at {address}", flush=True)


def _tell_as_json(address: str, lacking: Sequence[Lack]) -> None:
    print(json.dumps({"address": address, "lacks": [lack.told for lack in lacking]}), flush=True)
