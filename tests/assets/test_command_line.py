from __future__ import annotations

import importlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from invoking import invoke

from assets.deployments import Deployment
from assets.errors import FoundryError, is_permanent
from assets.progress import PlainProgress
from assets.settings import Settings, ignore_progress
from assets.steps import designs as designs_step
from assets.steps import step_named
from pipelines.base.workers import Progress
from pipelines.schemas import read_table, table_path, table_spec
from simfoundry.cli import simfoundry
from simfoundry.cli.entry import OWN_PROCESS
from simfoundry.commands import supervision
from simfoundry.commands.supervision import Servers, require_free
from simfoundry.commands.ui import _server, serve

COMMANDS = [
    "run",
    "models",
    "train",
    "check",
    "serve",
    "score",
    "team",
    "ui",
    "sql",
    "label",
    "predict",
    "calibrate",
    "adapt",
    "stage",
    "store",
    "report",
    "release",
    "import",
    "records",
    "network",
    "collective",
    "node",
    "pragmas",
    "place",
    "simulate",
    "verilate",
    "power",
    "explore",
    "mcp",
    "doctor",
]
ADD = "void add(int a[4], int b[4]) {\n  for (int i = 0; i < 4; i++) a[i] = a[i] + b[i];\n}\n"


def test_help_names_every_command_and_imports_no_engine() -> None:
    script = (
        "import sys; from simfoundry.cli import simfoundry\n"
        "print(sorted(simfoundry.commands))\n"
        "print([m for m in ('dagster', 'mlflow', 'torch', 'scipy', 'dvc', 'duckdb') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    commands, heavy = found.stdout.splitlines()
    assert commands == str(sorted(COMMANDS))
    assert heavy == "[]"


SUBCOMMANDS = [
    *(f"release {name}" for name in ("write", "make", "check", "diff")),
    *(f"store {name}" for name in ("status", "sweep")),
]


@pytest.mark.parametrize("command", [*(c for c in COMMANDS if c not in ("release", "store")), *SUBCOMMANDS])
def test_every_command_has_help_and_json(command: str) -> None:
    result = invoke(*command.split(), "--help")
    assert result.exit_code == 0
    assert "--json" in result.output


def _walked(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command with its words, groups included."""
    yield " ".join(words), group
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _walked(command, (*words, name))
        else:
            yield " ".join((*words, name)), command


WALKED = dict(_walked(simfoundry))


@pytest.mark.parametrize("words", WALKED)
def test_help_is_whole_and_has_no_default_and_no_range_by_hand(words: str) -> None:
    shown = invoke(*words.split(), "--help").output
    assert "..." not in re.sub(r"\[(ARGS|FILE|HYDRA OVERRIDES)\]\.\.\.", "", shown)
    assert not re.search(r"x[<>]|[<>]=|\bNone\b", shown)
    for option in (param for param in WALKED[words].params if isinstance(param, click.Option)):
        assert "default" not in (option.help or ""), option.name
        assert re.fullmatch(r"(?!Of ).*\.", option.help or ""), option.name


def test_help_lists_every_command_in_a_section_with_its_whole_first_sentence() -> None:
    shown = invoke("--help").output
    _, _, sections = shown.partition("Programs:")
    listed = set(re.findall(r"^  (\w+) ", sections, re.MULTILINE))
    assert listed == set(COMMANDS)
    assert "Commands:" not in shown
    for command in simfoundry.commands.values():
        first = " ".join((command.help or "").split("\n\n")[0].split())
        assert first in " ".join(shown.split()), command.name


def test_a_long_value_is_shown_in_part() -> None:
    result = invoke("predict", "f.c", "--memory-delay", "9" * 5000)
    said = f"'{'9' * 50}... (5000 characters)' is not a valid integer; "
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"simfoundry: invalid value for '--memory-delay': {said}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--memory-gib 0.3 label f.c", "0.3 is not in the range 0.5 or more"),
        ("--memory-gib 0.6 pragmas f.c", "0.6 is too little for pragmas: 0.75 or more"),
    ],
)
def test_memory_gib_rejects_less_than_a_command_needs_to_start(words: str, said: str) -> None:
    result = CliRunner().invoke(simfoundry, words.split(), obj=OWN_PROCESS)
    problem = f"invalid value for '--memory-gib': {said}; `simfoundry --help` lists what is accepted"
    assert (result.exit_code, result.stderr) == (2, f"simfoundry: {problem}\n")


def test_wrong_usage_is_one_object_under_json() -> None:
    result = invoke("label", "f.c", "--table", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stderr) == {
        "error": "--json and --table are mutually exclusive",
        "where": "simfoundry label",
        "accepted": [],
    }


def test_no_command_shows_the_help() -> None:
    result = invoke()
    assert result.exit_code == 2
    assert "Programs:" in result.stderr


@pytest.mark.parametrize("way", ["command", "group", "variable", "none"])
def test_an_unexpected_error_names_its_place_and_debugging_shows_the_traceback(
    way: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        return {}["hosts"]

    monkeypatch.setattr("simfoundry.commands.network.estimate_network", fail)
    if way == "variable":
        monkeypatch.setenv("SIMFOUNDRY_DEBUG", "1")
    words = {"command": ("network", "--debug"), "group": ("--debug", "network")}.get(way, ("network",))
    result = invoke(*words, "--pods", "4")
    assert result.exit_code == 1
    *traceback, said = result.stderr.splitlines()
    assert re.fullmatch(
        r"simfoundry: unexpected KeyError: 'hosts' \(simfoundry/commands/network\.py:\d+\); "
        r"--debug shows the traceback",
        said,
    )
    assert (traceback[:1] == ["Traceback (most recent call last):"]) == (way != "none")
    where = json.loads(invoke("network", "--pods", "4", "--json").stderr.splitlines()[-1])["where"]
    assert where.startswith("simfoundry/commands/network.py:")


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("models.registry", "RegistryError"),
        ("pipelines.base.sandbox", "SandboxError"),
        ("pipelines.silicon.synthesis", "SynthesisError"),
        ("pipelines.base.tools", "ToolMissing"),
    ],
)
def test_errors_that_trying_again_cannot_mend_are_known(module: str, name: str) -> None:
    kind = getattr(importlib.import_module(module), name)
    assert is_permanent(kind.__new__(kind))
    assert not is_permanent(RuntimeError("a tool crashed"))


def test_sql_answers_as_a_table_and_as_json(settings: Settings) -> None:
    step_named("programs").make(settings, "stencil", ignore_progress)
    query = "SELECT name, size FROM programs ORDER BY name"
    assert invoke("sql", query).output.splitlines() == [
        "name       size",
        "---------  -----",
        "jacobi-1d  small",
        "jacobi-2d  small",
        "2 rows",
    ]
    assert json.loads(invoke("sql", "--json", query).output)[0] == {"name": "jacobi-1d", "size": "small"}


@pytest.mark.slow
def test_run_ends_with_what_there_is(project: Path, engines: Any) -> None:
    result = invoke("run", "programs.suites=[stencil]", "hls.memory_delay=[2]", "hls.pipeline=[false]")
    assert result.exit_code == 0, result.stderr
    for words in ("Rows", "No row failed.", "Test error (MAPE)", "25.0%", str(project / "data" / "tables")):
        assert words in result.stdout
    assert "labels stencil: done after" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_run_says_what_failed_on_one_line(
    project: Path, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise ValueError("a design must be made, got none")

    monkeypatch.setattr(designs_step, "plan_designs", refuse)
    result = invoke("run", "programs.suites=[stencil]")
    assert result.exit_code == 1
    progress = (" after ", " s left")
    problems = [line for line in result.stderr.splitlines() if not any(part in line for part in progress)]
    assert problems[0] == "simfoundry: designs stencil: a design must be made, got none"
    assert all(" was not made, because " in line for line in problems[1:])
    assert {
        "simfoundry: lightgbm_hls was not made, because designs, features, labels, design_features failed",
        "simfoundry: tenset_mlp was not made, because designs, features, labels failed",
        "simfoundry: stage_reports was not made, because features failed",
    } <= set(problems)


def test_stage_makes_every_file_and_says_so_as_json(settings: Settings, engines: Any) -> None:
    result = invoke("stage", "programs", "--json")
    assert result.exit_code == 0, result.stderr
    partitions = [summary["partition"] for summary in json.loads(result.stdout)]
    assert partitions == ["linear_algebra", "stencil", "irregular"]


def test_stage_goes_on_after_a_damaged_input(settings: Settings, engines: Any) -> None:
    invoke("stage", "programs")
    path = table_path(settings.deployment.data_dir, table_spec("programs"), "stencil")
    path.write_bytes(b"not parquet")
    result = invoke("stage", "designs")
    assert result.exit_code == 1
    assert f"simfoundry: designs stencil: {path} is damaged" in result.stderr
    assert len(read_table(settings.deployment.data_dir, table_spec("designs"))) == 28


@pytest.mark.slow
@pytest.mark.parametrize("suite_limit_bytes", [4096])
def test_stage_rejects_a_full_disk_and_leaves_whole_tables(
    settings: Settings, suite_limit_bytes: int, repository: Path
) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (suite_limit_bytes, suite_limit_bytes))

    found = subprocess.run(
        [sys.executable, "-m", "simfoundry.cli", "stage", "programs"],
        env={**os.environ, "PYTHONPATH": str(repository), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )
    assert found.returncode == 1
    assert "the disk must have room, got [Errno 27] File too large" in found.stderr
    assert "make room and run again" in found.stderr
    assert "Traceback" not in found.stderr
    folder = settings.deployment.data_dir / "tables" / "programs"
    assert [p.name for p in folder.glob(".*")] == []
    read_table(settings.deployment.data_dir, table_spec("programs"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "it's a; file $(x).c"
    path.write_text(ADD)
    return path


@pytest.mark.slow
def test_label_takes_a_file_with_any_name(project: Path, source: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.json"
    data.write_text('{"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]}')
    result = invoke("label", str(source), "--top", "add", "--memory-delay", "5", "--data", str(data))
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    assert rows["label"]["status"] == "ok"
    assert rows["label"]["area_um2"] > 0
    assert rows["runs"][0]["outputs_equal"] is True
    assert rows["runs"][0]["latency_cycles"] > 0
    assert rows["design"]["memory_read_delay_cycles"] == 5


def test_the_first_answer_of_a_project_says_where_it_is_from(project: Path, source: Path) -> None:
    answer = json.loads(invoke("predict", str(source), "--json").stdout)
    assert (answer["version"], answer["release"], answer["level"]) == ("shipped", "releases/v2", "hls")
    assert answer["top"] == "add"
    assert answer["area_um2_low"] < answer["area_um2"] < answer["area_um2_high"]
    assert answer["intervals"].startswith("made for 90% of labels; measured: area_um2 ")
    assert answer["engine_area_um2"] > 0


def test_plain_progress_says_counts_failures_and_time_left() -> None:
    lines = StringIO()
    progress = PlainProgress(lines)
    listen = progress.listener("labels stencil", lambda _: None)
    listen(Progress(step="labels", done=1, total=4, failed=0, latest="a"))
    listen(Progress(step="labels", done=4, total=4, failed=1, latest="b"))
    progress.ended("labels stencil", failure=None)
    progress.ended("tenset_mlp", failure=None, skipped="no designs")
    progress.ended("designs stencil", failure="no room")
    written = lines.getvalue().splitlines()
    assert written.pop() == "designs stencil: failed after 0.0 s: no room"
    assert written.pop() == "tenset_mlp: skipped after 0.0 s: no designs"
    assert written[0] == "labels stencil: 4/4, 1 failed, 0 s left"
    assert written[1].startswith("labels stencil: done after ")


def test_servers_end_with_what_they_started(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "STOP_TIMEOUT_S", 600.0)  # a crowded machine ends them late
    script = (
        "import os, signal, subprocess, sys, time\n"
        "signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])\n"  # whatever the tests before left
        "signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open(sys.argv[1] + '.new', 'w').write(str(child.pid))\n"
        "os.rename(sys.argv[1] + '.new', sys.argv[1])\n"
        "time.sleep(600)"
    )
    note = tmp_path / "child"
    servers = Servers()
    server = servers.start(_server("server", [sys.executable, "-c", script, str(note)], deployment))
    while not note.exists():
        assert server.poll() is None
    servers.stop()
    assert server.returncode == -signal.SIGTERM
    while _is_running(int(note.read_text())):
        time.sleep(0.01)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_ui_rejects_a_port_that_is_taken(project: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(FoundryError, match=f"a port must be free and from 1 to 65535, got {port}"):
            serve(port=port, mlflow_port=0, as_json=False)
    with pytest.raises(FoundryError, match="got 70000"):
        require_free({"--port": 70000})


def test_label_takes_every_c_file_of_a_folder_and_keeps_failures_as_entries(
    project: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "programs"
    (folder / "deep").mkdir(parents=True)
    (folder / "add.c").write_text(ADD)
    (folder / "deep" / "broken.c").write_text("void broken(int a[4]) { a[0] = ; }\n")
    result = invoke("label", str(folder))
    assert result.exit_code == 1
    assert "not every design is ok: 1 ok, 1 rejected" in result.stderr
    answer = json.loads(result.stdout)
    assert [Path(entry["file"]).name for entry in answer["files"]] == ["add.c", "broken.c"]
    assert answer["files"][0]["runs"][0]["outputs_equal"] is True
    assert "broken.c:1" in answer["files"][1]["label"]["reason"]
    assert answer["counts"] == {"ok": 1, "rejected": 1}


def test_label_takes_local_headers_and_finds_the_function_of_the_file(project: Path, tmp_path: Path) -> None:
    (tmp_path / "add.h").write_text("#define N 4\n")
    (tmp_path / "add.c").write_text('#include "add.h"\n' + ADD.replace("4", "N"))
    result = invoke("label", str(tmp_path / "add.c"))
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["runs"][0]["outputs_equal"] is True


def test_label_names_what_it_cannot_read_in_a_folder(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "device.c").symlink_to("/dev/zero")
    (folder / "gone.c").symlink_to("nowhere")
    os.mkfifo(folder / "pipe.c")
    result = invoke("label", str(folder), "--json")
    reasons = {
        Path(entry["file"]).stem: entry["label"]["reason"] for entry in json.loads(result.stdout)["files"]
    }
    assert result.exit_code == 1
    assert {name: said.partition(f"{name}.c: ")[2].partition(";")[0] for name, said in reasons.items()} == {
        "device": "a character device",
        "gone": "No such file or directory",
        "pipe": "a pipe",
    }
