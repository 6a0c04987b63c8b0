"""Runs of SiliconCompiler on one design, and its manifest; needs it and its tools on PATH.

The flow ends after detailed placement: cells are sized and buffered for their places, there is no clock tree
and wires are estimated. Delay is the clock period less the worst set-up slack, of the slow corner.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from pipelines.base.tools import ToolMissing, ToolRun, run_tool, stopwatch
from pipelines.schemas.columns import OK, TIMEOUT, TOOL_ERROR
from pipelines.silicon.synthesis import OUTPUT_LOAD_PF, SynthesisResult


class SiliconCompilerError(ValueError):
    """An invalid design or manifest."""


UNITS = {"cellarea": "um^2", "setupslack": "ns", "leakagepower": "mw"}
"""Expected units of the metrics."""
LARGEST = 1e15
_LEAST = {"setupslack": -LARGEST} | dict.fromkeys(
    ("cellarea", "leakagepower", "cells", "registers", "errors"), 0.0
)


class _Value(BaseModel):
    model_config = ConfigDict(extra="ignore")
    value: float | int | None = None


class _Metric(BaseModel):
    model_config = ConfigDict(extra="ignore")
    unit: str | None = None
    node: dict[str, dict[str, _Value]] = {}


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="ignore")
    metric: dict[str, _Metric]


_MANIFEST = TypeAdapter(_Manifest)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowMetrics:
    """Metrics of a step; None where the step has none.

    Attributes:
        cell_area_um2: area of all cells except fillers.
        cell_count, register_count: instances.
        setup_slack_ns: worst one, of the slowest corner.
        leakage_mw: of all cells.
        error_count: errors that the step reported.
    """

    cell_area_um2: float | None
    cell_count: int | None
    register_count: int | None
    setup_slack_ns: float | None
    leakage_mw: float | None
    error_count: int | None


def parse_manifest(text: str | bytes, *, step: str) -> FlowMetrics:
    """Parse the metrics of a step's first index.

    Args:    step: name of the step, such as `place.detailed`.
    Raises:  SiliconCompilerError: not a manifest, another unit than expected, no metric of the step, or an
             invalid one.
    """
    try:
        metrics = _MANIFEST.validate_json(text).metric
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SiliconCompilerError(
            f"not SiliconCompiler's manifest: {first['msg']} at {first['loc']}"
        ) from error
    values = {name: _value(name, metric, step) for name, metric in metrics.items()}
    for name, least in _LEAST.items():
        value = values.get(name)
        if value is not None and not least <= value <= LARGEST:
            raise SiliconCompilerError(
                f"metric {name} is {value:g}; accepted: numbers from {least:g} to {LARGEST:g}"
            )
    if all(value is None for value in values.values()):
        steps = sorted({s for metric in metrics.values() for s in metric.node} - {"default", "global"})
        raise SiliconCompilerError(f"manifest has no metrics of step {step}; steps: {steps}")
    return FlowMetrics(
        cell_area_um2=values.get("cellarea"),
        cell_count=_count(values.get("cells")),
        register_count=_count(values.get("registers")),
        setup_slack_ns=values.get("setupslack"),
        leakage_mw=values.get("leakagepower"),
        error_count=_count(values.get("errors")),
    )


def _value(name: str, metric: _Metric, step: str) -> float | None:
    value = metric.node.get(step, {}).get("0", _Value()).value
    expected = UNITS.get(name)
    if value is not None and expected is not None and metric.unit != expected:
        raise SiliconCompilerError(f"unit of metric {name} is {metric.unit}; accepted: {expected}")
    return value


def _count(value: float | None) -> int | None:
    return None if value is None else int(value)


TOOL = "siliconcompiler"
LIBRARY = "sky130hd"
LAST_STEP = "place.detailed"
_VERSION = "eb229a45"
"""Raise it when the flow, its last step or its constraints change."""
EXECUTABLES = ("smake", "yosys", "openroad")
_FLOW = Path(__file__).with_name("flow.py")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*", re.ASCII)


def require_flow() -> None:
    """Raise unless every tool of the flow is on PATH.

    Raises: ToolMissing: the message names the missing tools.
    """
    missing = [name for name in EXECUTABLES if shutil.which(name) is None]
    if missing:
        raise ToolMissing(
            f"{', '.join(missing)} not found on PATH; install SiliconCompiler (pip install "
            "siliconcompiler) and its tools (sc-install openroad yosys)"
        )


@cache
def tool_version() -> str:
    """Return the version of SiliconCompiler and of the flow.

    Raises: ToolMissing: it is not installed. SiliconCompilerError: it does not tell its version.
    """
    require_flow()
    run = run_tool(
        ["smake", "--file", str(_FLOW), "--version"], folder=Path("/"), timeout_s=120, memory_bytes=None
    )
    version = re.search(r"\d+\.\d+\.\d+\S*", run.stdout)
    if run.returncode != 0 or version is None:
        raise SiliconCompilerError(f"smake did not tell its version: {run.last_words()!r}")
    return f"{version[0]}+{_VERSION}"


def constraints(clock_period_ns: float) -> str:
    """Return the timing constraints, as in the project's own timing: an ideal clock, no outside delay."""
    return "\n".join(
        [
            f"create_clock -name clk -period {clock_period_ns:g} [get_ports clk]",
            "set_input_delay 0 -clock clk [all_inputs -no_clocks]",
            "set_output_delay 0 -clock clk [all_outputs]",
            f"set_load {OUTPUT_LOAD_PF:g} [all_outputs]",
            "",
        ]
    )


def run_flow(
    verilog: str,
    *,
    top: str,
    clock_period_ns: float,
    folder: Path,
    cache_folder: Path,
    timeout_s: float = 3600.0,
) -> SynthesisResult:
    """Take a design to placed cells of sky130.

    Args:
        verilog: complete Verilog text; top: name of the top module, a plain identifier, with a port `clk`.
        clock_period_ns: clock period in ns.
        folder: private to this call; cache_folder: SiliconCompiler's PDK, kept between calls.
        timeout_s: processor time of each of its processes.
    Returns: area, flip-flops, cells, delay and leakage; or status timeout or tool_error with the reason.
    Raises:  ToolMissing: a tool is not on the PATH. SiliconCompilerError: top is no identifier.
    """
    if not _IDENTIFIER.fullmatch(top):
        raise SiliconCompilerError(f"top is not a Verilog identifier [A-Za-z_][A-Za-z0-9_$]*: {top!r}")
    version = tool_version()
    start = stopwatch()
    folder.mkdir(parents=True, exist_ok=True)
    cache_folder.mkdir(parents=True, exist_ok=True)
    (folder / "design.v").write_text(verilog, encoding="utf-8")
    (folder / "design.sdc").write_text(constraints(clock_period_ns), encoding="utf-8")
    shutil.copyfile(_FLOW, folder / "flow.py")
    argv = ["smake", "--file", "flow.py", "build", "--top", top, "--last_step", LAST_STEP]
    argv += ["--cache", str(cache_folder.absolute())]
    run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True, memory_bytes=None)
    status, reason, metrics = _outcome(run, folder / "manifest.json", timeout_s)
    return _result(status, reason, metrics, clock_period_ns, version, stopwatch() - start)


def _outcome(run: ToolRun, manifest: Path, timeout_s: float) -> tuple[str, str | None, FlowMetrics | None]:
    if run.timed_out and run.machine_fault is None:
        return TIMEOUT, f"SiliconCompiler took more than {timeout_s:g} s of processor time", None
    if run.returncode != 0 or not manifest.is_file():
        return TOOL_ERROR, f"SiliconCompiler: {run.last_words().splitlines()[-1].strip()}", None
    try:
        metrics = parse_manifest(manifest.read_bytes(), step=LAST_STEP)
    except SiliconCompilerError as error:
        return TOOL_ERROR, str(error), None
    if metrics.error_count or None in (metrics.cell_area_um2, metrics.setup_slack_ns):
        return TOOL_ERROR, f"the flow ended with errors, or without area or slack: {metrics}", None
    return OK, None, metrics


def _result(
    status: str,
    reason: str | None,
    metrics: FlowMetrics | None,
    clock_period_ns: float,
    version: str,
    wall_s: float,
) -> SynthesisResult:
    if metrics is None:
        return SynthesisResult(status=status, reason=reason, tool=TOOL, tool_version=version, wall_s=wall_s)
    return SynthesisResult(
        status=status,
        area_um2=metrics.cell_area_um2,
        flip_flop_count=metrics.register_count,
        cell_count=metrics.cell_count,
        delay_ns=clock_period_ns - (metrics.setup_slack_ns or 0.0),
        leakage_mw=metrics.leakage_mw,
        tool=TOOL,
        tool_version=version,
        wall_s=wall_s,
    )
