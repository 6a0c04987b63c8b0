"""`import simfoundry as sf`: the functions ask what the commands ask, and importing it is cheap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import simfoundry as sf
from assets.settings import Settings, ignore_progress
from assets.steps import step_named

ADD = "void add(int a[4], int b[4]) {\n  for (int i = 0; i < 4; i++) a[i] = a[i] + b[i];\n}\n"


def test_importing_is_cheap() -> None:
    script = (
        "import sys, simfoundry\n"
        "slow = ('torch', 'mlflow', 'dagster', 'polars', 'scipy', 'duckdb', 'pipelines.hls')\n"
        "print([m for m in slow if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_tables_and_sql_are_frames(settings: Settings) -> None:
    step_named("programs").make(settings, "stencil", ignore_progress)
    assert sf.table("programs").collect().height == 2
    frame = sf.sql("SELECT name, size FROM programs ORDER BY name")
    assert frame.rows() == [("jacobi-1d", "small"), ("jacobi-2d", "small")]


def test_a_release_is_found_by_name_and_by_folder(repository: Path) -> None:
    named = sf.release(repository / "releases" / "pragmas-v1")
    assert "pragma_designs" in named
    assert sf.release("pragmas-v1").folder.name == "pragmas-v1"


def test_label_takes_text_options_and_data(project: Path) -> None:
    options = sf.Options(memory_delay=5, directives=[{"kind": "pipeline", "loop": "L0"}])
    answer = sf.label(ADD, "add", options=options, data={"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]})
    assert answer["label"]["status"] == "ok"
    assert answer["design"]["memory_read_delay_cycles"] == 5
    assert answer["runs"][0]["outputs_equal"] is True


def test_predict_says_where_its_answer_is_from(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(name: str, alias: str, question: dict[str, Any], place: str) -> dict[str, Any]:
        assert question["memory_read_delay_cycles"] == 2
        return {"area_um2": 1.0, "outside_training": "array_count", "version": "1", "release": "v1"}

    monkeypatch.setattr("simfoundry.commands.predict.ask_model", ask)
    answer = sf.predict(ADD)
    assert (answer["top"], answer["version"], answer["release"]) == ("add", "1", "v1")
    assert answer["note"].startswith("outside what was learned: the arguments and arrays beyond the range")


def test_network_is_the_answer_of_the_command() -> None:
    assert sf.network(pods=4, pattern="all-to-all")["flows"] == 240
