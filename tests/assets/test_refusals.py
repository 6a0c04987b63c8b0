"""What commands refuse, as a table of commands, exit statuses and messages: refusals.yaml."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from invoking import invoke

TABLE = yaml.safe_load(Path(__file__).with_name("refusals.yaml").read_text(encoding="utf-8"))
ROWS = [(number, *row) for number in (1, 2) for row in TABLE[f"status {number}"].items()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """A project with the files of the table."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "empty").mkdir()
    shutil.copy(repository / "examples" / "mlp.onnx", folder)
    node = {"kind": "gemm", "stage": 0, "work": 1}
    many = {"name": "many", "nodes": [{"name": f"n{k}", **node} for k in range(60)], "edges": []}
    for name, value in {"dvc.yaml": "", "workspace.yaml": "", "many.json": many, **TABLE["files"]}.items():
        (folder / name).write_text(value if isinstance(value, str) else _dumped(value, name))
    return folder


def _dumped(value: Any, name: str) -> str:
    return json.dumps(value) if name.endswith(".json") else yaml.safe_dump(value)


@pytest.mark.parametrize(("status", "command", "message"), ROWS, ids=lambda value: str(value)[:60])
def test_a_command_refuses(
    status: int, command: str, message: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(place))
    result = invoke(*shlex.split(command))
    *steps, problem = result.stderr.splitlines()
    assert result.exit_code == status
    start, rest, _ = message.partition("...")
    assert problem.startswith(f"simfoundry: {start}") if rest else problem == f"simfoundry: {message}"
    assert not [line for line in steps if line.startswith(("simfoundry", "Traceback"))]
    assert result.stdout == "" or command.startswith("label"), "a rejected program has its rows"
