"""Commands as tools of the Model Context Protocol, asked by the client of its package."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import click
import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from assets.errors import FoundryError
from simfoundry.cli import simfoundry
from simfoundry.cli.mcp import TOOLS
from simfoundry.commands import mcp_server
from simfoundry.commands.mcp_server import Calls
from simfoundry.commands.mcp_tools import Tool, tool_of
from tests.base.test_recorded_interface import GRAPH, C

CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "label": ({"source": C, "targets": ["cycles"]}, "label"),
    "predict": ({"source": C, "memory_delay": 3}, "area_um2"),
    "pragmas": ({"source": C, "solver_timeout": 5}, "directives"),
    "network": ({"pods": 4, "load": 0.3}, "busiest_queues"),
    "power": ({"network": "mlp.onnx"}, "power_mw"),
    "place": ({"graph": "graph.json", "moves": 20}, "graphs"),
    "sql": ({"query": "SELECT count(*) AS n FROM labels"}, "rows"),
}
"""A call of each tool, and a key of its answer."""


def _tool(name: str, *, writes: bool = False) -> Tool:
    return tool_of(simfoundry.commands[name], TOOLS[name], writes=writes)


@pytest.fixture
def place(tmp_path: Path, repository: Path) -> Path:
    """A project with the files of the calls."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("dvc.yaml", "workspace.yaml"):
        (folder / name).touch()
    (folder / "mlp.onnx").write_bytes((repository / "examples" / "mlp.onnx").read_bytes())
    (folder / "graph.json").write_text(json.dumps(GRAPH))
    return folder


@pytest.fixture
def environment(place: Path, repository: Path) -> dict[str, str]:
    path = ":".join(filter(None, [str(repository), *sys.path]))
    return {"SIMFOUNDRY_PROJECT": str(place), "PYTHONPATH": path}


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _asked(server: Any, calls: Mapping[str, dict[str, Any]], **settings: Any) -> dict[str, CallToolResult]:
    """Ask a server in one session."""

    async def ask() -> dict[str, CallToolResult]:
        async with Client(server, **settings) as client:
            return {name: await client.call_tool(name, arguments) for name, arguments in calls.items()}

    return anyio.run(ask)


def _said(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if block.type == "text"]


def _stdio(place: Path, environment: dict[str, str], *options: str) -> StdioServerParameters:
    words = ["-m", "simfoundry.cli", "mcp", *options]
    return StdioServerParameters(command=sys.executable, args=words, env=environment, cwd=place)


def test_each_tool_answers_over_stdio_and_changes_no_file_of_the_project(
    place: Path, environment: dict[str, str]
) -> None:
    before = _files(place)
    answers = _asked(_stdio(place, environment), {name: call for name, (call, _) in CALLS.items()})
    for name, (_, key) in CALLS.items():
        result = answers[name]
        assert not result.is_error, _said(result)
        assert key in result.structured_content
        [text] = _said(result)
        answer = json.loads(text)
        assert result.structured_content == (answer if isinstance(answer, dict) else {"rows": answer})
    assert answers["label"].structured_content["label"]["status"] == "ok"
    assert _files(place) == before


@contextmanager
def _served(place: Path, environment: dict[str, str], *options: str) -> Iterator[tuple[str, Any]]:
    """The address of a server on a port of this machine, and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "simfoundry.cli", "mcp", "--json", "--port", str(port), *options]
    with subprocess.Popen(words, cwd=place, env=environment, stdout=-1, stderr=-1, text=True) as process:
        try:
            yield json.loads(process.stdout.readline())["address"], process  # type: ignore[union-attr]
        finally:
            process.kill()


@pytest.mark.slow
def test_calls_write_into_the_cache_and_files_with_write_alone(
    place: Path, environment: dict[str, str]
) -> None:
    label, graph = CALLS["label"][0], {**CALLS["place"][0], "svg": "drawing.svg"}
    with _served(place, environment, "--write") as (address, process):
        answers = _asked(address, {"label": label, "place": graph}, mode="legacy")
        assert not any(result.is_error for result in answers.values())
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
        assert (process.returncode, said.count("\n")) == (143, 1), said
    assert "drawing.svg" in _files(place)
    assert any(name.startswith("data/cache/") for name in _files(place))


def test_http_answers_clients_and_rejects_other_hosts_and_pages(
    place: Path, environment: dict[str, str]
) -> None:
    with _served(place, environment) as (address, _):
        assert _asked(address, {"sql": CALLS["sql"][0]})["sql"].structured_content == {"rows": [{"n": 0}]}
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            assert httpx.post(address, headers=headers, json={}).status_code == 403


def test_a_port_that_is_taken_is_refused(place: Path, environment: dict[str, str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        words = [sys.executable, "-m", "simfoundry.cli", "mcp", "--port", str(other.getsockname()[1])]
        done = subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "choose another with --port" in done.stderr


def test_the_server_ends_with_its_standard_input(place: Path, environment: dict[str, str]) -> None:
    words = [sys.executable, "-m", "simfoundry.cli", "mcp"]
    done = subprocess.run(words, cwd=place, env=environment, input="", capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---- refusals ------------------------------------------------------------------------------------------


@pytest.fixture
def calls(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The tools in this process; commands are processes of their own."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(place))
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, sys.path)))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Calls(tools={name: _tool(name) for name in TOOLS}, scratch=scratch, slots=anyio.Semaphore(1))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("network", {"pods": 5}, "the pods of a fat-tree must be an even number from 2 to 48, got 5"),
        (
            "sql",
            {"query": "DROP TABLE labels"},
            "not one read-only statement: DROP; accepted: SELECT, WITH, ",
        ),
        ("label", {"source": "none.c"}, "cannot read the C source none.c: No such file or directory"),
        ("power", {"network": ""}, "Invalid value for 'NETWORK': an empty text."),
        ("none", {}, "unknown tool: none; accepted: label, predict, pragmas, network, power, place, sql"),
        ("sql", {}, "missing key: query (sql); needed: query"),
    ],
)
def test_a_call_that_is_refused_is_an_error_result_of_one_line(
    calls: Calls, name: str, arguments: dict[str, Any], problem: str
) -> None:
    result = _asked(mcp_server._server(calls), {name: arguments})[name]
    assert result.is_error
    [said] = _said(result)
    assert said.startswith(problem)
    assert "\n" not in said


def test_a_failed_design_is_an_error_result_with_its_rows(calls: Calls) -> None:
    source = "void f(int a[4]) { a[0] = a[1] / (a[2] - a[2]); }\n"
    result = _asked(mcp_server._server(calls), {"label": {"source": source}})["label"]
    assert result.is_error
    assert result.structured_content["label"]["status"] == "rejected"
    problem, rows = _said(result)
    assert problem.startswith("the design is not ok (rejected): ")
    assert json.loads(rows) == result.structured_content


@pytest.mark.slow
def test_an_answer_that_is_too_long_is_refused(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_server, "ANSWER_BYTES", 1 << 20)
    query = {"query": "SELECT range FROM range(100000)"}
    result = _asked(mcp_server._server(calls), {"sql": query})["sql"]
    assert result.is_error
    assert _said(result) == ["an answer of more than 1 MiB; accepted: a question about less"]


def test_a_call_that_is_cancelled_ends_its_command(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    processes: list[Any] = []
    opened = anyio.open_process

    async def open_process(*args: Any, **kwargs: Any) -> Any:
        processes.append(await opened(*args, **kwargs))
        return processes[-1]

    monkeypatch.setattr(mcp_server.anyio, "open_process", open_process)

    async def cancel() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(calls.answer, "place", {"graph": "graph.json", "moves": 10**9})
            while not processes:
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()

    anyio.run(cancel)
    assert processes[0].returncode is not None


# ---- arguments -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_has_the_options_of_its_command_and_writes_only_when_asked(name: str) -> None:
    shown = {"as_json", "as_table", "help"}
    options = {p.name for p in simfoundry.commands[name].params if isinstance(p, click.Option)} - shown
    with_writes, without = (set(_tool(name, writes=writes).options) for writes in (True, False))
    assert with_writes == options - {"debug"}
    written = {"label": {"report"}, "pragmas": {"out"}, "network": {"flows"}, "place": {"svg"}}
    assert with_writes - without == written.get(name, set())


def test_arguments_have_the_bounds_choices_and_meanings_of_options() -> None:
    schema = _tool("network").arguments.model_json_schema()
    assert schema["additionalProperties"] is False
    seed, pattern, load = (schema["properties"][name] for name in ("seed", "pattern", "load"))
    assert (seed["minimum"], seed["maximum"], seed["default"]) == (0, 2**20 - 1, 1)
    assert pattern["anyOf"][0]["enum"][:2] == ["all_to_all", "incast"]
    assert load["description"] == "Utilisation of the busiest host link by data. Without it: 0.5."
    assert (load["anyOf"][0]["exclusiveMinimum"], load["anyOf"][0]["maximum"]) == (0, 4.0)


@pytest.fixture
def words(tmp_path: Path) -> Callable[..., list[str]]:
    def words_of(name: str, **arguments: Any) -> list[str]:
        return _tool(name).words(arguments, tmp_path)

    return words_of


def test_words_of_a_command_carry_every_kind_of_value(
    words: Callable[..., list[str]], tmp_path: Path
) -> None:
    directives = [{"kind": "pipeline", "loop": "L0"}]
    label = words(
        "label",
        source=C,
        directives=directives,
        unit_limits={"mul_32": 1, "fadd": 2},
        data={"a": [1]},
        targets=["cycles", "area"],
        unsafe_math=True,
        top=None,
        define=[],
    )
    own = tmp_path / "program.c"
    assert label == [
        *("label", f"--directives={tmp_path}/directives.json", "--unsafe-math"),
        *("--unit-limit=mul_32=1", "--unit-limit=fadd=2", f"--data={tmp_path}/data.json"),
        *("--targets=cycles,area", "--json", "--", str(own)),
    ]
    assert own.read_text() == C
    assert json.loads((tmp_path / "directives.json").read_text()) == directives
    assert words("label", source="-f.c", data="d.json") == ["label", "--data=d.json", "--json", "--", "-f.c"]
    assert words("network", acknowledged=False) == ["network", "--unacknowledged", "--json", "--"]


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("network", {"pods": True}, "pods: true (network); accepted: a whole number"),
        ("network", {"load": 9}, "load: 9 (network); accepted: 4 or less"),
        ("network", {"load": float("nan")}, "load: nan (network); accepted: a finite number"),
        ("place", {"graph": "g", "svg": "x.svg"}, "unknown key: svg (place); accepted: graph, fabric, cost_"),
        ("label", {"source": C, "tools": "bambu"}, 'tools: "bambu" (label); accepted: a list'),
        ("label", {"source": "x" * (5 << 20)}, "arguments of more than 4 MiB (label)"),
        ("sql", {"query": "SELECT 1\0"}, "a text with a NUL byte: 'SELECT 1\\x00' (sql)"),
        (
            "sql",
            {"query": "-" * 200_000},
            f"a text of 200000 characters: '{'-' * 40}' (sql); accepted: at most",
        ),
    ],
)
def test_words_reject_wrong_arguments(
    words: Callable[..., list[str]], name: str, arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(FoundryError) as raised:
        words(name, **arguments)
    assert str(raised.value).startswith(problem)


def test_the_page_lists_every_argument(repository: Path) -> None:
    page = (repository / "docs" / "mcp.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE))
    for name in TOOLS:
        reading, writing = (_tool(name, writes=writes) for writes in (False, True))
        cells = [[*reading.positional, *reading.options], sorted({*writing.options} - {*reading.options})]
        assert [re.findall(r"`(\w+)`", cell) for cell in rows[name].split(" | ")] == cells
