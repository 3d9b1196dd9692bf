"""The files of docs/deploy do what they say: their commands and variables exist, and their own programs take them."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from referee.cli import application
from tests.cli.command import REFEREE
from tests.docs.shell import ROOT
from tests.packaging.deploy import DEPLOY, free_port, instructions, needs, text_of
from tests.sizes import GATE

UNITS = sorted((DEPLOY / "systemd").iterdir())
SERVICES = [unit for unit in UNITS if unit.suffix == ".service"]
MOST_EXPOSED = 2.5
INSTALLED = "/opt/tile-referee/bin/referee"
HOST = "club.example"
RESERVED = {"CLUB_HOST": HOST}


def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return subprocess.run(
        [str(word) for word in words], env=os.environ | environment, capture_output=True, text=True, check=False
    )


def shown(environment: dict[str, str], *words: str) -> dict[str, str]:
    """Each setting of ``referee serve``, as ``--show-config`` prints it; fails if it knows a word or variable not."""
    done = run(REFEREE, "serve", *words, "--show-config", **environment)
    assert (done.returncode, done.stderr) == (0, ""), done
    return dict(line.split(" = ", 1) for line in done.stdout.splitlines() if " = " in line)


def parsed(words: Sequence[str]) -> None:
    """Read the words after ``referee`` as the command does; raises for an option that there is not."""
    application([words[0]]).parse_args(words, exit_on_error=False, print_error=False)


def composed(*names: str) -> dict[str, dict[str, Any]]:
    """Return the services of these files, the later ones laid over the earlier ones, with the variables of the page."""
    services: dict[str, dict[str, Any]] = {}
    for name in names:
        text = re.sub(r"\$\{(\w+)(?::\?[^}]*)?\}", lambda found: RESERVED[found[1]], text_of(name))
        for service, told in yaml.safe_load(text)["services"].items():
            under = services.setdefault(service, {})
            both = {key: {**under[key], **told[key]} for key in ("environment",) if key in under and key in told}
            services[service] = {**under, **told, **both}
    return services


# --- containers -----------------------------------------------------------------------------------------------------


def test_the_image_is_of_two_stages_and_does_not_run_as_root() -> None:
    told = instructions()
    assert [words.split(" AS ")[1:] for name, words in told if name == "FROM"] == [["build"], []]
    final = told[max(at for at, (name, _) in enumerate(told) if name == "FROM") :]
    assert dict(final)["USER"] == "referee"
    assert dict(final)["VOLUME"] == "/data"


def test_commands_and_variables_of_the_image_exist() -> None:
    told = dict(instructions())
    environment = dict(word.split("=", 1) for word in shlex.split(told["ENV"]))
    variables = {name: value for name, value in environment.items() if name.startswith("REFEREE_")}
    found = shown(variables)
    assert found["data"] == '"/data"  # environment'
    health = told["HEALTHCHECK"].partition("CMD ")[2]
    program, *words = json.loads(health)
    assert program == "referee"
    parsed(words)
    assert json.loads(told["ENTRYPOINT"]) == ["referee"]
    parsed(json.loads(told["CMD"]))


def test_the_build_has_the_files_that_the_wheel_is_made_of() -> None:
    kept = re.findall(r"^!(.*)", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert all((ROOT / each).exists() for each in kept)
    assert {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "referee", "proto"} <= set(kept)


@pytest.mark.parametrize(
    "names", [("compose.yaml",), ("compose.yaml", "compose.cluster.yaml")], ids=["one machine", "cluster"]
)
def test_the_settings_of_a_composed_referee_count(names: tuple[str, ...]) -> None:
    referee = composed(*names)["referee"]
    found = shown(referee["environment"])
    for variable in referee["environment"]:
        option = variable.removeprefix("REFEREE_SERVE_").lower().replace("_", "-")
        assert found[option].endswith("# environment"), variable
    assert found["public"].startswith(f'"grpcs://{HOST}')


def test_every_file_and_volume_that_services_name_is_there() -> None:
    for name in ("compose.yaml", "compose.cluster.yaml"):
        whole = yaml.safe_load(text_of(name))
        for service in whole["services"].values():
            for volume in service.get("volumes", ()):
                source = volume.partition(":")[0]
                assert (DEPLOY / source).is_file() if source.startswith(".") else source in whole["volumes"], volume
            for secret in service.get("secrets", ()):
                assert secret in whole["secrets"]
    assert (DEPLOY / "compose.yaml" / ".." / "../..").resolve() == ROOT


def test_the_shell_lines_of_the_cluster_are_of_the_referee() -> None:
    (line,) = composed("compose.cluster.yaml")["referee"]["command"]
    words = shlex.split(line.replace("$$", "$").partition(" exec ")[2])
    assert words[0] == "referee"
    parsed(words[1:])


def test_prometheus_and_grafana_find_what_they_are_given() -> None:
    prometheus = yaml.safe_load(text_of("prometheus/prometheus.yml"))
    assert prometheus["rule_files"] == ["alerts.yml"]
    (job,) = prometheus["scrape_configs"]
    metrics = composed("compose.cluster.yaml")["referee"]["environment"]["REFEREE_SERVE_METRICS"]
    assert job["static_configs"] == [{"targets": [f"referee:{metrics.rpartition(':')[2]}"]}]
    assert job["job_name"] == "referee"  # as the alarms name it
    mounts = composed("compose.cluster.yaml")["grafana"]["volumes"]
    (provider,) = yaml.safe_load(text_of("grafana/dashboards.yaml"))["providers"]
    assert any(f":{provider['options']['path']}/" in mount for mount in mounts)
    (source,) = yaml.safe_load(text_of("grafana/datasource.yaml"))["datasources"]
    assert source["type"] == "prometheus"


def test_promtool_takes_the_configuration(tmp_path: Path) -> None:
    promtool = needs("promtool")
    shutil.copy(DEPLOY / "prometheus" / "prometheus.yml", tmp_path)
    shutil.copy(ROOT / "docs" / "monitoring" / "alerts.yml", tmp_path)
    done = run(promtool, "check", "config", tmp_path / "prometheus.yml")
    assert done.returncode == 0, done


@pytest.mark.parametrize("script", ["primary.sh", "standby.sh"])
def test_the_scripts_of_the_database_are_of_the_shell(script: str) -> None:
    assert run("sh", "-n", DEPLOY / "postgresql" / script).returncode == 0


# --- one machine ----------------------------------------------------------------------------------------------------


def sample(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """Return the sample of options as a file that only its owner can change."""
    text = text_of("referee.toml")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "referee.toml"
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_the_sample_of_options_is_read(tmp_path: Path) -> None:
    file = sample(tmp_path)
    found = shown({}, "--config", str(file))
    named = re.findall(r"^([a-z-]+) = ", text_of("referee.toml"), re.MULTILINE)
    assert all(str(file) in found[option] for option in named)


def test_options_that_the_sample_shows_commented_out_exist(tmp_path: Path) -> None:
    commented = re.findall(r"^# ([a-z-]+ = .*)$", text_of("referee.toml"), re.MULTILINE)
    assert commented
    file = tmp_path / "referee.toml"
    file.write_text("[serve]\n" + "\n".join(commented))
    file.chmod(0o600)
    shown({}, "--config", str(file))


def unit(path: Path) -> dict[str, dict[str, str]]:
    """Return a unit's settings; of those that are there twice, the last."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path, encoding="utf-8")
    return {section: dict(parser[section]) for section in parser.sections()}


def started_by(setting: str) -> list[str]:
    """Return the words of a unit's command, without the specifiers of systemd."""
    return shlex.split(setting.replace("%%", "%").replace("$$", "$"))


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.name)
def test_units_are_hardened(path: Path) -> None:
    analyze = needs("systemd-analyze")
    done = run(analyze, "security", "--offline=yes", "--no-pager", path)
    found = re.search(r"Overall exposure level for .*: ([\d.]+)", done.stdout)
    if found is None:
        pytest.skip(f"this systemd-analyze rates no file: {done.stderr.strip()}")
    assert float(found[1]) <= MOST_EXPOSED


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    analyze = needs("systemd-analyze")
    root = tmp_path / "units"
    root.mkdir()
    for path in UNITS:
        text = path.read_text(encoding="utf-8").replace(INSTALLED, str(REFEREE))
        (root / path.name).write_text(re.sub(r"^Documentation=.*\n", "", text, flags=re.MULTILINE))
    done = run(analyze, "verify", "--man=no", *sorted(root.iterdir()), SYSTEMD_UNIT_PATH=f"{root}:")
    said = [line for line in done.stderr.splitlines() if "tile-referee" in line]
    assert said == [], done.stderr


def test_the_timer_starts_the_backup() -> None:
    assert {path.name for path in UNITS} == {
        "tile-referee.service", "tile-referee-backup.service", "tile-referee-backup.timer",
    }  # fmt: skip
    assert unit(DEPLOY / "systemd" / "tile-referee-backup.timer")["Install"]["WantedBy"] == "timers.target"
    assert [unit(path)["Service"]["StateDirectory"] for path in SERVICES] == ["tile-referee"] * 2


@contextmanager
def serving(tmp_path: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield a referee, started by the command of the unit with the sample of options: data, gRPC and pages."""
    data, grpc, pages = tmp_path / "state" / "club", f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    data.parent.mkdir(mode=0o700)
    file = sample(
        tmp_path,
        ("/var/lib/tile-referee/club", str(data)),
        ("127.0.0.1:50051", grpc),
        ("127.0.0.1:8080", pages),
        ("127.0.0.1:9464", "127.0.0.1:0"),
    )
    command = unit(DEPLOY / "systemd" / "tile-referee.service")["Service"]["ExecStart"]
    words = started_by(command.replace(INSTALLED, str(REFEREE)).replace("/etc/tile-referee/referee.toml", str(file)))
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        try:
            assert lines[0].startswith("listening on"), (process.kill(), process.communicate())  # type: ignore[func-returns-value]
            while not lines[-1].startswith("pages at"):
                lines.append(process.stdout.readline())
                assert lines[-1], lines
            yield data, grpc, pages
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate()


@GATE
def test_the_unit_starts_a_referee_that_answers_and_the_backup_unit_copies_it(tmp_path: Path) -> None:
    with serving(tmp_path) as (data, _, _):
        health = run(REFEREE, "health", "--ready", "--data", data)
        assert health.returncode == 0, health
        backups = tmp_path / "backups"
        backups.mkdir()
        command = unit(DEPLOY / "systemd" / "tile-referee-backup.service")["Service"]
        for setting in (command["ExecStart"], command["ExecStartPost"]):
            words = [
                word.replace(INSTALLED, str(REFEREE))
                .replace("/var/lib/tile-referee/club", str(data))
                .replace("/var/backups/tile-referee", str(backups))
                for word in started_by(setting)
            ]
            done = run(*words)
            assert done.returncode == 0, done
        (copy,) = backups.iterdir()
        assert re.fullmatch(r"club-\d{4}-\d\d-\d\d-\d{6}", copy.name)


# --- in front of it -------------------------------------------------------------------------------------------------


@contextmanager
def proxy(*words: str | Path, **environment: str) -> Iterator[None]:
    """Yield a proxy, until the end."""
    with subprocess.Popen(
        [str(word) for word in words], env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        try:
            yield
        finally:
            process.terminate()
            process.communicate()


def reached(port: int, authority: Path) -> str:
    """Return the faults of health and pages through a proxy; empty if there is none. Asks until it answers."""
    words = (REFEREE, "health", "--server", f"grpcs://localhost:{port}", "--tls-ca", authority)
    done = run("curl", "--version")
    for _ in range(40):
        if authority.exists():
            done = run(*words)
            if done.returncode == 0:
                break
        subprocess.run(["sleep", "0.25"], check=True)
    if done.returncode:
        return done.stderr
    page = run("curl", "--silent", "--show-error", "--cacert", str(authority), f"https://localhost:{port}/about")
    return "" if "<html" in page.stdout else page.stdout + page.stderr


def test_caddy_takes_its_file() -> None:
    caddy = needs("caddy")
    done = run(caddy, "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile", **RESERVED)
    assert done.returncode == 0, done


@GATE
def test_caddy_passes_grpc_and_pages_on(tmp_path: Path) -> None:
    caddy = needs("caddy")
    port, other = free_port(), free_port()
    file = tmp_path / "Caddyfile"
    head = f"{{\n\tadmin off\n\thttp_port {other}\n\tskip_install_trust\n\tstorage file_system {tmp_path}/caddy\n}}\n"
    file.write_text(head + text_of("Caddyfile"))
    with serving(tmp_path) as (_, grpc, pages):
        variables = {"CLUB_HOST": f"localhost:{port}", "CLUB_GRPC": grpc, "CLUB_PAGES": pages, "HOME": str(tmp_path)}
        with proxy(caddy, "run", "--adapter", "caddyfile", "--config", file, **variables):
            assert reached(port, tmp_path / "caddy" / "pki" / "authorities" / "local" / "root.crt") == ""


def for_nginx(tmp_path: Path, *changes: tuple[str, str]) -> tuple[Path, Path]:
    """Return a whole configuration of nginx around the file, and its certificate."""
    names = "subjectAltName=DNS:localhost"
    certificate, key = tmp_path / "fullchain.pem", tmp_path / "privkey.pem"
    made = run(
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"),
        *("-subj", "/CN=localhost", "-addext", names, "-keyout", key, "-out", certificate),
    )
    assert made.returncode == 0, made
    text = text_of("nginx.conf").replace(f"/etc/letsencrypt/live/{HOST}", str(tmp_path))
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    whole = tmp_path / "nginx.conf"
    places = "".join(
        f"{name}_temp_path {tmp_path}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole.write_text(
        f"user root;\npid {tmp_path}/pid;\nerror_log stderr;\ndaemon off;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{places}{text}}}\n"
    )
    return whole, certificate


def test_nginx_takes_its_file(tmp_path: Path) -> None:
    nginx, _ = needs("nginx"), needs("openssl")
    whole, _ = for_nginx(tmp_path)
    done = run(nginx, "-t", "-c", whole, "-e", "stderr")
    assert done.returncode == 0, done.stderr


@GATE
def test_nginx_passes_grpc_and_pages_on(tmp_path: Path) -> None:
    nginx, _ = needs("nginx"), needs("openssl")
    port, other = free_port(), free_port()
    with serving(tmp_path) as (_, grpc, pages):
        whole, certificate = for_nginx(
            tmp_path,
            ("listen 443 ", f"listen 127.0.0.1:{port} "),
            ("listen [::]:443 ssl http2;", ""),
            ("listen 80;", f"listen 127.0.0.1:{other};"),
            ("listen [::]:80;", ""),
            ("127.0.0.1:50051", grpc),
            ("127.0.0.1:8080", pages),
        )
        with proxy(nginx, "-c", whole, "-e", "stderr"):
            assert reached(port, certificate) == ""


def test_logrotate_takes_its_file(tmp_path: Path) -> None:
    logrotate = needs("logrotate")
    copy = tmp_path / "logrotate.conf"
    copy.write_text(text_of("logrotate.conf"))
    copy.chmod(0o644)
    done = run(logrotate, "--debug", "--state", tmp_path / "state", copy)
    assert (done.returncode, "error:" in done.stderr) == (0, False), done.stderr
