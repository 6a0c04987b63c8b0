"""SiliconCompiler's manifest as text, its runner on a stand-in for `smake`, and the rows that come of it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.base.cache import ContentCache
from pipelines.base.tools import ToolMissing
from pipelines.dataset.labelling import (
    LabelContext,
    label_designs,
    plan_designs,
)
from pipelines.dataset.labelling.placement import PlacementTarget
from pipelines.programs import program_from_file
from pipelines.silicon.siliconcompiler import (
    SiliconCompilerError,
    parse_manifest,
    require_flow,
    run_flow,
    runner,
    tool_version,
)
from pipelines.silicon.synthesis import SynthesisResult, Target, find_liberty
from tests.support.labelling import configuration_space, label_options, with_synthesis

STEP = "place.detailed"


def metric(value: float | None, unit: str | None = None, **steps: float) -> dict[str, Any]:
    """A parameter of the manifest's metrics, in the form of SiliconCompiler 0.38."""
    values = {"synthesis": 1.0, STEP: value, **steps}
    nodes: dict[str, Any] = {s: {"0": {"value": v, "signature": None}} for s, v in values.items()}
    nodes["default"] = {"default": {"value": None, "signature": None}}
    found = {
        "type": "float",
        "require": False,
        "scope": "job",
        "lock": False,
        "switch": ["-metric 'step index <float>'"],
        "shorthelp": "Metric",
        "example": ["api: asic.set('metric', 'name', 1.0, step='place', index=0)"],
        "help": "Metric tracking something.",
        "notes": None,
        "pernode": "required",
        "node": nodes,
    }
    return found if unit is None else {**found, "unit": unit}


METRICS = {
    "cellarea": metric(1234.5, "um^2"),
    "cells": metric(77),
    "registers": metric(5),
    "setupslack": metric(7.25, "ns"),
    "leakagepower": metric(1e-6, "mw"),
    "fmax": metric(3.6e8, "Hz"),
    "errors": metric(0),
}


def manifest(**changes: dict[str, Any] | None) -> str:
    metrics = {name: value for name, value in {**METRICS, **changes}.items() if value is not None}
    return json.dumps({"schemaversion": "0.54.0", "design": "top", "history": {}, "metric": metrics})


def test_metrics_of_a_step_are_read_in_our_units() -> None:
    found = parse_manifest(manifest(), step=STEP)
    assert (found.cell_area_um2, found.cell_count, found.register_count) == (1234.5, 77, 5)
    assert (found.setup_slack_ns, found.leakage_mw, found.error_count) == (7.25, 1e-6, 0)
    assert parse_manifest(manifest(), step="synthesis").cell_area_um2 == 1.0


def test_a_metric_that_a_step_lacks_is_none() -> None:
    found = parse_manifest(manifest(leakagepower=None, setupslack=metric(None, "ns")), step=STEP)
    assert (found.leakage_mw, found.setup_slack_ns, found.cell_count) == (None, None, 77)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not json", "not SiliconCompiler's manifest: Invalid JSON"),
        ('{"design": "top"}', r"Field required at \('metric',\)"),
        (
            manifest(cellarea=metric(1.0, "mm^2")),
            r"unit of metric cellarea is mm\^2; accepted: um\^2",
        ),
        (
            json.dumps({"metric": {"cells": {"node": {"synthesis": {"0": {"value": 1}}}}}}),
            r"manifest has no metrics of step place.detailed; steps: \['synthesis'\]",
        ),
    ],
)
def test_manifest_rejects_what_is_no_manifest_of_the_step(text: str, reason: str) -> None:
    with pytest.raises(SiliconCompilerError, match=reason):
        parse_manifest(text, step=STEP)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1e16", "-1e16"])
@pytest.mark.parametrize("name", ["cellarea", "setupslack", "leakagepower", "cells", "registers", "errors"])
def test_manifest_rejects_numbers_that_cannot_be(name: str, number: str) -> None:
    text = manifest(**{name: METRICS[name] | metric(12345.5, METRICS[name].get("unit"))}).replace(
        "12345.5", number
    )
    least = "-1e\\+15" if name == "setupslack" else "0"
    message = rf"^metric {name} is \S+; accepted: numbers from {least} to 1e\+15$"
    with pytest.raises(SiliconCompilerError, match=message):
        parse_manifest(text, step=STEP)


def test_manifest_rejects_an_area_below_zero() -> None:
    with pytest.raises(
        SiliconCompilerError, match=r"^metric cellarea is -25532; accepted: numbers from 0 to "
    ):
        parse_manifest(manifest(cellarea=metric(-25532.0, "um^2")), step=STEP)


@pytest.fixture
def smake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder at the head of the PATH with a stand-in for each tool; `smake` runs its build.sh."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("yosys", "openroad", "smake"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    script = f'#!/bin/sh\ncase "$*" in *--version) echo "smake 0.38.11";; *) . {folder}/build.sh;; esac\n'
    (folder / "smake").write_text(script)
    (folder / "build.sh").write_text("cat > manifest.json <<'END'\n" + manifest() + "\nEND\n")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    tool_version.cache_clear()
    return folder


def flow(folder: Path, *, timeout_s: float = 60.0, top: str = "top") -> SynthesisResult:
    return run_flow(
        "module top(input clk); endmodule",
        top=top,
        clock_period_ns=10.0,
        folder=folder / "run",
        cache_folder=folder / "pdk",
        timeout_s=timeout_s,
    )


def test_a_run_gives_area_delay_and_leakage(smake: Path, tmp_path: Path) -> None:
    (smake / "build.sh").write_text((smake / "build.sh").read_text() + 'echo "$*" > arguments.txt\n')
    found = flow(tmp_path)
    assert (found.status, found.reason, found.tool) == ("ok", None, "siliconcompiler")
    assert (found.area_um2, found.delay_ns, found.flip_flop_count) == (1234.5, 2.75, 5)
    assert (found.cell_count, found.leakage_mw) == (77, 1e-6)
    assert found.tool_version.startswith("0.38.11+")
    said = (tmp_path / "run" / "arguments.txt").read_text()
    assert said.split()[:6] == ["--file", "flow.py", "build", "--top", "top", "--last_step"]
    assert "create_clock -name clk -period 10" in (tmp_path / "run" / "design.sdc").read_text()


@pytest.mark.parametrize(
    ("script", "status", "reason"),
    [
        ("echo broken >&2; exit 1", "tool_error", "SiliconCompiler: broken"),
        ("exit 0", "tool_error", "SiliconCompiler: no output"),
        ("echo '{}' > manifest.json", "tool_error", "not SiliconCompiler's manifest"),
        ("while :; do :; done", "timeout", "SiliconCompiler took more than 0.5 s of processor time"),
    ],
)
def test_a_run_that_fails_is_a_status(
    script: str, status: str, reason: str, smake: Path, tmp_path: Path
) -> None:
    (smake / "build.sh").write_text(script + "\n")
    found = flow(tmp_path, timeout_s=0.5 if status == "timeout" else 60.0)
    assert (found.status, found.area_um2, found.delay_ns) == (status, None, None)
    assert reason in (found.reason or "")


def test_a_flow_with_errors_or_without_area_is_no_label(smake: Path, tmp_path: Path) -> None:
    for text in (manifest(errors=metric(2)), manifest(cellarea=metric(None, "um^2"))):
        (smake / "build.sh").write_text(f"cat > manifest.json <<'END'\n{text}\nEND\n")
        found = flow(tmp_path)
        assert (found.status, found.area_um2) == ("tool_error", None)
        assert "the flow ended with errors, or without area or slack" in (found.reason or "")


def test_run_rejects_a_top_that_is_no_identifier(smake: Path, tmp_path: Path) -> None:
    with pytest.raises(SiliconCompilerError, match=r"top is not a Verilog identifier .*: 'a b'"):
        flow(tmp_path, top="a b")


def test_missing_tools_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    tool_version.cache_clear()
    with pytest.raises(ToolMissing, match="smake, yosys, openroad not found on PATH"):
        require_flow()


def test_the_flow_file_is_plain_python_with_options_for_smake() -> None:
    source = Path(runner.__file__).with_name("flow.py").read_text()
    assert "def build(top: str, last_step: str, cache: str)" in source
    assert "from __future__" not in source  # smake calls the annotations


def test_designs_get_a_second_label_of_another_library(smake: Path, tmp_path: Path) -> None:
    path = tmp_path / "add.c"
    path.write_text("int add(int a, int b) { return a + b; }\n")
    programs = [program_from_file(path, top="add")]
    target = Target(liberty=find_liberty(None), clock_period_ns=10.0)
    cache = ContentCache(folder=tmp_path / "cache")
    options = label_options(workers=1, audit_fraction=0.0, power=False)
    plain = LabelContext(target=target, cache=cache, options=options)
    placing = replace(plain, options=with_synthesis(options, tools=("pyosys", "siliconcompiler")))
    space = configuration_space(memory_delay=(2,), pipeline=(False,))
    designs = plan_designs(programs, space, plain).designs
    tables = label_designs(programs, designs, plain)
    assert PlacementTarget.chosen(plain.options) == []
    (target,) = PlacementTarget.chosen(placing.options)
    (row,) = target.label(programs, designs, tables, placing).labels
    assert (row.design_id, row.tool, row.liberty) == (designs[0].design_id, "siliconcompiler", "sky130hd")
    assert (row.status, row.area_um2, row.delay_ns, row.cells_by_type) == ("ok", 1234.5, 2.75, None)
    (smake / "build.sh").write_text("exit 1\n")
    assert target.label(programs, designs, tables, placing).labels == [row]
