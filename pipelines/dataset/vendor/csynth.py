"""Synthesis reports `csynth.xml` of Vivado HLS and Vitis HLS as rows.

Read off reports of 2018.2 to 2023.1. They differ: DSP blocks are `DSP48E` in Vivado HLS; nested loops stand
inside each other; numbers that depend on data are a range or `undef`; from 2021 on, `ModuleInformation` has
the loops of all modules and `PragmaReport` the directives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pipelines.base.files import read_bounded
from pipelines.base.identity import canonical_json
from pipelines.dataset.vendor.errors import VendorError
from pipelines.dataset.vendor.xml_tree import Element, decimal_number, read_xml, whole_number
from pipelines.schemas import OK, VendorDesignRow, VendorLoopRow

UNKNOWN = ("undef", "?", "-", "inf")
FIRST_VITIS_VERSION = (2020, 1)
_VERSION = re.compile(r"(\d{4})\.(\d{1,2})[\w.]*")
_SCRIPT_LIMIT_BYTES = 1 << 20
_LOOP_FACTS = frozenset({"TripCount", "Latency"})
_RESOURCES = {
    "dsp": ("DSP", "DSP48E"),
    "bram": ("BRAM_18K",),
    "lut": ("LUT",),
    "ff": ("FF",),
    "uram": ("URAM",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorReport:
    """Rows of one source."""

    designs: tuple[VendorDesignRow, ...]
    loops: tuple[VendorLoopRow, ...]


def read_csynth(path: Path, *, kernel: str | None = None, directives: str | None = None) -> VendorReport:
    """Read a synthesis report.

    Args:
        path: the file; named `csynth.xml` it is of the whole design.
        kernel: name in the rows; the top function when None.
        directives: canonical JSON; None: of the report, else of `directives.tcl` of its solution.

    Returns: one design row, and one row a loop of every module.
    Raises:  VendorError: not XML, or not such a report; the message has the line.
    """
    root = read_xml(path)
    return report_rows(root, where=str(path), kernel=kernel, directives=directives, script=_script(path))


def report_rows(
    root: Element,
    *,
    where: str,
    kernel: str | None = None,
    directives: str | None = None,
    script: str | None = None,
) -> VendorReport:
    """Return the rows of a report; see `read_csynth`.

    Args: script: canonical JSON of the solution's directives, for a report that lists none.
    """
    if root.tag != "profile" or root.child("UserAssignments") is None:
        raise VendorError(
            "a synthesis report must be <profile> with <UserAssignments>, "
            f"got <{root.tag}> ({where}:{root.line})"
        )
    top = _required(root, where, "UserAssignments", "TopModelName")
    version = _required(root, where, "ReportVersion", "Version")
    said = directives or _pragmas(root) or script or canonical_json([])
    row = _design(root, where, kernel or top, _tool(root, version, where), version, said)
    return VendorReport(designs=(row,), loops=tuple(_loops(root, where, top, row)))


def _required(root: Element, where: str, *path: str) -> str:
    text = root.text_at(*path)
    if text is None:
        raise VendorError(f"a synthesis report must have {'/'.join(path)}, got nothing ({where}:{root.line})")
    return text


def _tool(root: Element, version: str, where: str) -> str:
    """Return the name of the tool: Vitis HLS began with 2020.1, when Vivado HLS ended."""
    match = _VERSION.fullmatch(version)
    if match is None:
        line = (root.child("ReportVersion", "Version") or root).line
        raise VendorError(f"Version must be a version as 2020.2, got {version[:40]!r} ({where}:{line})")
    area = root.child("AreaEstimates", "Resources")
    is_vivado = (int(match[1]), int(match[2])) < FIRST_VITIS_VERSION or (
        area is not None and area.child("DSP48E") is not None
    )
    return f"{'vivado' if is_vivado else 'vitis'}-{version}"


# ---- the design ------------------------------------------------------------------------------------


def _design(
    root: Element, where: str, kernel: str, tool: str, version: str, directives: str
) -> VendorDesignRow:
    timing = root.child("PerformanceEstimates", "SummaryOfTimingAnalysis")
    overall = root.child("PerformanceEstimates", "SummaryOfOverallLatency")
    if overall is None:
        rule = "a synthesis report must have PerformanceEstimates/SummaryOfOverallLatency"
        raise VendorError(f"{rule}, got nothing ({where}:{root.line})")
    worst = _cycles(overall.child("Worst-caseLatency"), where)
    used = _resources(root.child("AreaEstimates", "Resources"), where)
    available = _resources(root.child("AreaEstimates", "AvailableResources"), where)
    settings = root.child("UserAssignments") or root
    return VendorDesignRow(
        kernel=kernel,
        tool=tool,
        directives=directives,
        suite="",
        source="csynth",
        toolchain=tool,
        tool_version=version,
        stage="hls",
        vendor_status="report",
        status=OK,
        reason="the report has no worst-case latency, it depends on data" if worst is None else None,
        directives_by_loop=None,
        fits=_fits(used, available),
        part=settings.text_at("Part"),
        clock_period_ns=decimal_number(settings.child("TargetClockPeriod"), where=where),
        clock_uncertainty_ns=decimal_number(settings.child("ClockUncertainty"), where=where),
        estimated_clock_period_ns=(
            decimal_number(timing.child("EstimatedClockPeriod"), where=where) if timing else None
        ),
        latency_cycles=worst,
        latency_best_cycles=_cycles(overall.child("Best-caseLatency"), where),
        latency_average_cycles=_cycles(overall.child("Average-caseLatency"), where),
        interval_min_cycles=_cycles(overall.child("Interval-min"), where),
        interval_max_cycles=_cycles(overall.child("Interval-max"), where),
        dsp_count=used["dsp"],
        bram_count=used["bram"],
        lut_count=used["lut"],
        ff_count=used["ff"],
        uram_count=used["uram"],
        dsp_available=available["dsp"],
        bram_available=available["bram"],
        lut_available=available["lut"],
        ff_available=available["ff"],
        uram_available=available["uram"],
        dsp_utilization=_share(used["dsp"], available["dsp"]),
        bram_utilization=_share(used["bram"], available["bram"]),
        lut_utilization=_share(used["lut"], available["lut"]),
        ff_utilization=_share(used["ff"], available["ff"]),
    )


def _cycles(element: Element | None, where: str) -> int | None:
    return whole_number(element, where=where, unknown=UNKNOWN)


def _resources(element: Element | None, where: str) -> dict[str, int | None]:
    return {
        name: None
        if element is None
        else next(
            (whole_number(c, where=where) for tag in tags for c in element.children if c.tag == tag), None
        )
        for name, tags in _RESOURCES.items()
    }


def _fits(used: dict[str, int | None], available: dict[str, int | None]) -> bool | None:
    """Tell whether nothing is used beyond the part; None when the part is not described."""
    pairs = [(u, available[name]) for name, u in used.items() if u is not None]
    known = [(u, a) for u, a in pairs if a is not None]
    return all(u <= a for u, a in known) if known else None


def _share(used: int | None, available: int | None) -> float | None:
    return None if used is None or not available else used / available


# ---- directives ------------------------------------------------------------------------------------


def _pragmas(root: Element) -> str | None:
    """Return the report's own list of pragmas and directives, in its order; None for a report without one."""
    report = root.child("PragmaReport")
    if report is None:
        return None
    kept = ("type", "options", "location", "variable")
    listed = [
        {"function": p.attributes.get("parentFunction", "")}
        | {name: p.attributes[name] for name in kept if p.attributes.get(name)}
        for p in report.children
        if p.tag == "Pragma" and p.attributes.get("status", "valid") == "valid"
    ]
    return canonical_json(listed)


def _script(path: Path) -> str | None:
    """Return the directives of a report's solution (`<solution>/syn/report/`), None without such a file."""
    if path.parent.name != "report" or path.parent.parent.name != "syn":
        return None
    script = path.parent.parent.parent / "directives.tcl"
    if not script.exists():
        return None
    content = read_bounded(script, what="directives", most_bytes=_SCRIPT_LIMIT_BYTES, error=VendorError)
    text = content.decode("utf-8", errors="replace")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return canonical_json([line for line in lines if line.startswith("set_directive_")])


# ---- loops -----------------------------------------------------------------------------------------


def _loops(root: Element, where: str, top: str, design: VendorDesignRow) -> list[VendorLoopRow]:
    """Return the loops of all modules; of the top module alone in reports that list no modules."""
    information = root.child("ModuleInformation")
    modules = [m for m in information.children if m.tag == "Module"] if information else []
    named = {m.text_at("Name") or "": m for m in modules}
    rows: list[VendorLoopRow] = []
    for name, module in (({} if top in named else {top: root}) | named).items():
        summary = module.child("PerformanceEstimates", "SummaryOfLoopLatency")
        if summary is not None:
            _add_loops(rows, summary, where, name, design)
    return rows


def _add_loops(
    rows: list[VendorLoopRow], summary: Element, where: str, module: str, design: VendorDesignRow
) -> None:
    waiting: list[tuple[Element, int | None, int]] = [(c, None, 1) for c in reversed(summary.children)]
    while waiting:
        element, parent, depth = waiting.pop()
        if not _LOOP_FACTS & {c.tag for c in element.children}:
            continue
        index = len(rows)
        rows.append(_loop(element, where, module, design, index, parent, depth))
        waiting.extend((c, index, depth + 1) for c in reversed(element.children))


def _loop(
    element: Element,
    where: str,
    module: str,
    design: VendorDesignRow,
    index: int,
    parent: int | None,
    depth: int,
) -> VendorLoopRow:
    trips, latency = _range(element.child("TripCount"), where), _range(element.child("Latency"), where)
    interval = _cycles(element.child("PipelineII"), where)
    said = element.text_at("PipelineType")
    return VendorLoopRow(
        kernel=design.kernel,
        tool=design.tool,
        directives=design.directives,
        loop_index=index,
        module=module,
        loop=element.text_at("Name") or element.tag,
        parent_index=parent,
        depth=depth,
        trip_count_min=trips[0],
        trip_count_max=trips[1],
        latency_min_cycles=latency[0],
        latency_max_cycles=latency[1],
        iteration_latency_cycles=_range(element.child("IterationLatency"), where)[1],
        interval_cycles=interval,
        pipeline_depth_cycles=_cycles(element.child("PipelineDepth"), where),
        pipelined=interval is not None if said is None else said not in ("no", "none"),
        pipeline_directive=None,
        tile_directive=None,
        parallel_directive=None,
    )


def _range(element: Element | None, where: str) -> tuple[int | None, int | None]:
    """Return the least and most of a number that is one, a `<range>`, or `least ~ most`."""
    if element is None:
        return None, None
    inner = element.child("range")
    if inner is not None:
        return _cycles(inner.child("min"), where), _cycles(inner.child("max"), where)
    parts = [
        Element(tag=element.tag, attributes={}, line=element.line, pieces=[p])
        for p in element.text.split("~")
    ]
    if len(parts) == 2:
        return _cycles(parts[0], where), _cycles(parts[1], where)
    value = _cycles(element, where)
    return value, value
