"""What users and their scripts rely on: names of options, keys, columns, views and statuses, as recorded.

A name that goes, or a key that moves, breaks a script. A name that is new is added to the record by
`--update-golden`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import duckdb
import pytest
import yaml
from click.testing import CliRunner

import simfoundry as sf
from assets.configuration import compose_configuration, parameters_text
from assets.database import DATABASE_FILE, write_database
from simfoundry.cli import options
from simfoundry.cli import simfoundry as command_line

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
C = "void f(int a[8], int b[8]) { for (int i = 0; i < 8; i++) b[i] = 3 * a[i]; }\n"
VERILOG = "module m(input c, input a, output reg q); always @(posedge c) q <= a; endmodule\n"
GRAPH = {
    "name": "one",
    "nodes": [
        {"name": "x", "kind": "buffer", "stage": 0, "work": 8},
        {"name": "y", "kind": "gemm", "stage": 1, "work": 8},
    ],
    "edges": [{"source": "x", "target": "y", "words": 8}],
}
ANSWERS = {
    "network": ("network", "--pods", "4"),
    "place": ("place", "graph.json", "--moves", "20"),
    "power": ("power", str(EXAMPLES / "mlp.onnx")),
    "pragmas": ("pragmas", "f.c"),
    "predict": ("predict", "f.c"),
    "simulate": ("simulate", "m.v", "--top", "m", "--cycles", "5"),
    "verilate": ("verilate", "m.v", "--out", "model"),
}


def _lines(content: Any) -> str:
    return json.dumps(content, indent=1) + "\n"


def _commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[str, list[str]]]:
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from _commands(command, (*words, name))
        parameters = [p for p in command.params if not isinstance(p, click.Option) or not p.hidden]
        yield " ".join((*words, name)), ["/".join((*p.opts, *p.secondary_opts)) for p in parameters]


def test_options_of_commands(golden: Callable[[str, str], None]) -> None:
    golden("interface/commands.json", _lines(dict(sorted(_commands(command_line)))))


def test_statuses(golden: Callable[[str, str], None]) -> None:
    codes = {name: value for name, value in vars(options).items() if name.startswith("EXIT_")}
    golden("interface/statuses.json", _lines(codes))


def test_functions(golden: Callable[[str, str], None]) -> None:
    functions = {n: getattr(sf, n) for n in sorted(sf.__all__) if inspect.isfunction(getattr(sf, n))}
    names = {name: list(inspect.signature(function).parameters) for name, function in functions.items()}
    golden("interface/functions.json", _lines(names))


@pytest.mark.parametrize("scale", ["laptop", "smoke"])
def test_keys_of_parameters(golden: Callable[[str, str], None], scale: str) -> None:
    content = yaml.safe_load(parameters_text(compose_configuration([f"scale={scale}"])))
    golden(f"interface/parameters_{scale}.json", _lines(list(_paths(content))))


def _paths(content: Any, prefix: str = "") -> Iterator[str]:
    """Paths of all keys in order; elements of a list are `[]`."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield f"{prefix}{key}"
            yield from _paths(value, f"{prefix}{key}.")
    elif isinstance(content, list):
        yield from dict.fromkeys(path for value in content for path in _paths(value, f"{prefix}[]."))


def test_columns_of_views(golden: Callable[[str, str], None], tmp_path: Path) -> None:
    write_database(tmp_path)
    with duckdb.connect(str(tmp_path / DATABASE_FILE), read_only=True) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() "
            "WHERE schema_name = 'main' AND NOT internal ORDER BY table_name, column_index"
        ).fetchall()
    views: dict[str, dict[str, str]] = {}
    for view, column, kind in columns:
        views.setdefault(view, {})[column] = kind
    golden("interface/views.json", _lines(views))


@pytest.mark.parametrize("name", ANSWERS)
def test_keys_of_answers(
    golden: Callable[[str, str], None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in ("dvc.yaml", "workspace.yaml"):
        (tmp_path / file).touch()
    (tmp_path / "f.c").write_text(C)
    (tmp_path / "m.v").write_text(VERILOG)
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(tmp_path))
    result = CliRunner().invoke(command_line, [*ANSWERS[name], "--json"])
    assert result.exit_code == 0, result.stderr
    golden(f"interface/answer_{name}.json", _lines(list(_paths(json.loads(result.stdout)))))
