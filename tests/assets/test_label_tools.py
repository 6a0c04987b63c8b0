"""`simfoundry label` with several tools and reports, and the main job without a tool it asks for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from invoking import invoke

from assets.configuration import compose_configuration, write_parameters
from assets.deployments import Deployment
from simfoundry.commands.label import HEAD

ADD = "void add(int a[4], int b[4]) {\n  for (int i = 0; i < 4; i++) a[i] = a[i] + b[i];\n}\n"
SCALE = "void scale(float a[4]) {\n  for (int i = 0; i < 4; i++) a[i] = a[i] * 0.5f;\n}\n"
MISSING = "simfoundry: bambu: not found on PATH; install it from https://github.com/ferrandi/"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "add.c").write_text(ADD)
    (folder / "scale.c").write_text(SCALE)
    return folder


@pytest.fixture
def no_bambu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH without bambu that keeps the tools that other stages need, such as gcc."""
    folders = [f for f in os.environ["PATH"].split(os.pathsep) if not (Path(f) / "bambu").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))


@pytest.mark.circt
@pytest.mark.slow
def test_label_shows_each_tool_and_writes_its_files(project: Path, programs: Path, tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    tools = ("--tool", "simfoundry-hls", "--tool", "circt-calyx")
    result = invoke("label", str(programs), *tools, "--report", str(reports), "--table")
    assert result.exit_code == 1
    assert "not every design is ok: 3 ok, 1 rejected" in result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == list(HEAD)
    assert lines[2][7] == "yes"
    assert [(Path(words[0]).name, words[1], words[2]) for words in lines[2:]] == [
        ("add.c", "simfoundry-hls", "ok"),
        ("add.c", "circt-calyx", "ok"),
        ("scale.c", "simfoundry-hls", "ok"),
        ("scale.c", "circt-calyx", "rejected"),
    ]
    assert all(int(words[3]) > 8 for words in lines[2:5])
    names = sorted(path.name.rpartition("-delay2-")[0] + path.suffix for path in reports.iterdir())
    assert names == [
        "add-circt-calyx.v",
        *(f"{name}-simfoundry-hls{s}" for name in ("add", "scale") for s in (".json", ".svg", ".v")),
    ]


def test_label_report_has_the_schedule_of_the_design(project: Path, programs: Path, tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    result = invoke("label", str(programs / "add.c"), "--report", str(reports))
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    verilog, schedule, drawing = (Path(path) for path in answer["report"])
    content = json.loads(schedule.read_text())
    assert content["design"]["design_id"] == answer["design"]["design_id"]
    label = answer["label"]
    assert label["slack_ns"] == answer["design"]["clock_period_ns"] - label["delay_ns"]
    assert label["timing_met"] is True
    assert "hls_wall_s" not in content["design"]
    assert any(o["opcode"] == "load" for block in content["blocks"] for o in block["operations"])
    assert ElementTree.fromstring(drawing.read_text()).tag.endswith("svg")
    assert "module " in verilog.read_text()


@pytest.mark.circt
def test_label_answers_a_file_with_several_tools_as_a_list(project: Path, tmp_path: Path) -> None:
    path = tmp_path / "scale.c"
    path.write_text(SCALE)
    result = invoke("label", str(path), "--tool", "circt-calyx", "--tool", "circt-handshake")
    answer = json.loads(result.stdout)
    assert [entry["design"]["tool"] for entry in answer["files"]] == ["circt-calyx", "circt-handshake"]
    assert answer["counts"] == {"rejected": 2}


def test_label_rejects_bambu_that_is_not_installed(project: Path, programs: Path, no_bambu: None) -> None:
    result = invoke("label", str(programs), "--tool", "simfoundry-hls", "--tool", "bambu")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(MISSING)
    assert len(result.stderr.splitlines()) == 1


def test_run_rejects_bambu_that_is_not_installed_before_it_begins(
    project: Path, engines: Any, no_bambu: None
) -> None:
    result = invoke("run", "labelling.tools=[simfoundry-hls,bambu]", "programs.suites=[stencil]")
    assert result.exit_code == 1
    assert result.stderr.startswith(MISSING)
    assert not (project / "data" / "tables").exists()
    assert not (project / "params.yaml").exists()


@pytest.mark.parametrize(("stage", "status"), [("programs", 0), ("designs", 1), ("labels", 1)])
def test_stage_rejects_bambu_that_is_not_installed_where_it_matters(
    stage: str, status: int, deployment: Deployment, no_bambu: None
) -> None:
    write_parameters(deployment.project, compose_configuration(["labelling.tools=[bambu]"]))
    result = invoke("stage", stage)
    assert result.exit_code == status, result.stderr
    assert result.stderr.startswith(MISSING) == bool(status)


def test_label_takes_limits_and_a_write_delay(project: Path, programs: Path) -> None:
    options = ("--write-delay", "7", "--unit-limit", "fmul=1", "--unsafe-math")
    found = json.loads(invoke("label", str(programs / "scale.c"), *options).stdout)
    design = found["design"]
    assert (design["memory_read_delay_cycles"], design["memory_write_delay_cycles"]) == (2, 7)
    engine = json.loads(design["engine_options"])
    assert (engine["unit_limits"], engine["unsafe_math"]) == ({"fmul": 1}, True)
