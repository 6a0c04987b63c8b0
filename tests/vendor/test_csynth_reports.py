"""Synthesis reports as rows: every version's spelling, nested loops, and XML that nobody should read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pipelines.dataset.vendor import VendorError, VendorReport, read_csynth
from pipelines.dataset.vendor.xml_tree import parse_xml
from pipelines.schemas import table_spec

VIVADO = """<profile>
<ReportVersion><Version>2018.3</Version></ReportVersion>
<UserAssignments>
<unit>ns</unit><Part>xc7z020clg484-1</Part><TopModelName>fir</TopModelName>
<TargetClockPeriod>10.00</TargetClockPeriod><ClockUncertainty>1.25</ClockUncertainty>
</UserAssignments>
<PerformanceEstimates>
<PipelineType>none</PipelineType>
<SummaryOfTimingAnalysis><EstimatedClockPeriod>8.419</EstimatedClockPeriod></SummaryOfTimingAnalysis>
<SummaryOfOverallLatency>
<Best-caseLatency>14</Best-caseLatency><Average-caseLatency>23</Average-caseLatency>
<Worst-caseLatency>32</Worst-caseLatency><Interval-min>15</Interval-min><Interval-max>33</Interval-max>
</SummaryOfOverallLatency>
<SummaryOfLoopLatency>
<Loop1><TripCount>4</TripCount><Latency>24</Latency><IterationLatency>6</IterationLatency>
<Loop1.1><TripCount><range><min>1</min><max>3</max></range></TripCount><Latency>undef</Latency>
<PipelineII>2</PipelineII><PipelineDepth>3</PipelineDepth></Loop1.1></Loop1>
<Loop2><TripCount>2</TripCount><Latency>2 ~ 8</Latency></Loop2>
</SummaryOfLoopLatency>
</PerformanceEstimates>
<AreaEstimates>
<Resources><BRAM_18K>9</BRAM_18K><DSP48E>50</DSP48E><FF>1680</FF><LUT>4546</LUT></Resources>
<AvailableResources>
<BRAM_18K>40</BRAM_18K><DSP48E>40</DSP48E><FF>16000</FF><LUT>8000</LUT>
</AvailableResources>
</AreaEstimates>
</profile>
"""

VITIS = """<profile>
  <ReportVersion><Version>2023.1</Version></ReportVersion>
  <UserAssignments>
    <Part>xcu280-fsvh2892-2L-e</Part><TopModelName>top</TopModelName>
    <TargetClockPeriod>3.33</TargetClockPeriod><FlowTarget>vitis</FlowTarget>
  </UserAssignments>
  <PerformanceEstimates>
    <SummaryOfTimingAnalysis><EstimatedClockPeriod>2.431</EstimatedClockPeriod></SummaryOfTimingAnalysis>
    <SummaryOfOverallLatency>
      <Best-caseLatency>undef</Best-caseLatency><Average-caseLatency>undef</Average-caseLatency>
      <Worst-caseLatency>undef</Worst-caseLatency>
    </SummaryOfOverallLatency>
    <SummaryOfLoopLatency><shown_once><TripCount>8</TripCount><Latency>9</Latency></shown_once></SummaryOfLoopLatency>
  </PerformanceEstimates>
  <AreaEstimates>
    <Resources><BRAM_18K>2</BRAM_18K><DSP>3</DSP><FF>10</FF><LUT>20</LUT><URAM>1</URAM></Resources>
    <AvailableResources>
      <BRAM_18K>4032</BRAM_18K><DSP>9024</DSP><FF>2607360</FF><LUT>1303680</LUT><URAM>960</URAM>
    </AvailableResources>
  </AreaEstimates>
  <ModuleInformation>
    <Module><Name>top_Pipeline_A</Name><PerformanceEstimates><SummaryOfLoopLatency>
      <A><Name>A</Name><TripCount>8</TripCount><Latency>9</Latency><PipelineII>1</PipelineII>
      <PipelineDepth>3</PipelineDepth><PipelineType>yes</PipelineType></A>
    </SummaryOfLoopLatency></PerformanceEstimates></Module>
    <Module><Name>top</Name><PerformanceEstimates><SummaryOfLoopLatency>
      <outer><Name>outer</Name><TripCount>2</TripCount><Latency>30</Latency><PipelineType>no</PipelineType></outer>
    </SummaryOfLoopLatency></PerformanceEstimates></Module>
  </ModuleInformation>
  <PragmaReport>
    <Pragma type="pipeline" location="a.cpp:7" status="valid" parentFunction="top" options="II=1"/>
    <Pragma type="unroll" location="a.cpp:9" status="warning" parentFunction="top" variable="" options=""/>
  </PragmaReport>
</profile>
"""


def read(folder: Path, text: str, **options: str) -> VendorReport:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "csynth.xml"
    path.write_text(text)
    return read_csynth(path, **options)


def test_a_report_of_vivado_hls(tmp_path: Path) -> None:
    (design,) = read(tmp_path, VIVADO).designs
    assert (design.kernel, design.tool, design.tool_version) == ("fir", "vivado-2018.3", "2018.3")
    assert (design.status, design.reason, design.directives) == ("ok", None, "[]")
    assert (design.latency_best_cycles, design.latency_average_cycles, design.latency_cycles) == (14, 23, 32)
    assert (design.interval_min_cycles, design.interval_max_cycles) == (15, 33)
    clocks = (design.clock_period_ns, design.clock_uncertainty_ns, design.estimated_clock_period_ns)
    assert clocks == (10.0, 1.25, 8.419)
    used = (design.dsp_count, design.bram_count, design.lut_count, design.ff_count, design.uram_count)
    assert used == (50, 9, 4546, 1680, None)
    assert (design.dsp_available, design.dsp_utilization) == (40, 1.25)
    assert design.fits is False
    assert design.part == "xc7z020clg484-1"


def test_loops_stand_where_the_report_nests_them(tmp_path: Path) -> None:
    first, inner, last = read(tmp_path, VIVADO).loops
    assert [(x.loop, x.parent_index, x.depth) for x in (first, inner, last)] == [
        ("Loop1", None, 1),
        ("Loop1.1", 0, 2),
        ("Loop2", None, 1),
    ]
    assert (first.iteration_latency_cycles, first.pipelined, inner.pipelined) == (6, False, True)
    assert (inner.trip_count_min, inner.trip_count_max, inner.latency_max_cycles) == (1, 3, None)
    assert (inner.interval_cycles, inner.pipeline_depth_cycles) == (2, 3)
    assert (last.latency_min_cycles, last.latency_max_cycles) == (2, 8)


def test_a_report_of_vitis_hls_has_the_loops_of_all_modules_and_its_directives(tmp_path: Path) -> None:
    found = read(tmp_path, VITIS)
    (design,) = found.designs
    assert (design.tool, design.dsp_count, design.uram_count, design.fits) == ("vitis-2023.1", 3, 1, True)
    assert (design.latency_cycles, design.status) == (None, "ok")
    assert "worst-case latency" in (design.reason or "")
    assert json.loads(design.directives) == [
        {"function": "top", "location": "a.cpp:7", "options": "II=1", "type": "pipeline"}
    ]
    assert [(x.module, x.loop, x.pipelined) for x in found.loops] == [
        ("top_Pipeline_A", "A", True),
        ("top", "outer", False),
    ]


def test_rows_fit_their_tables(tmp_path: Path) -> None:
    for text in (VIVADO, VITIS):
        found = read(tmp_path, text)
        for name, rows in (("vendor_designs", found.designs), ("vendor_loops", found.loops)):
            spec = table_spec(name)
            assert spec.violations(spec.to_arrow(rows)) == []


def test_directives_of_the_solution_serve_a_report_without_its_own(tmp_path: Path) -> None:
    solution = tmp_path / "solution2"
    solution.mkdir()
    script = '# made by the tool\nset_directive_pipeline  -II 2 "fir/Loop1"\nopen_project x\n'
    (solution / "directives.tcl").write_text(script)
    (design,) = read(solution / "syn" / "report", VIVADO).designs
    assert json.loads(design.directives) == ['set_directive_pipeline -II 2 "fir/Loop1"']
    (named,) = read(solution / "syn" / "report", VIVADO, kernel="fir-small", directives='["x"]').designs
    assert (named.kernel, named.directives) == ("fir-small", '["x"]')


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<profile>", "<html>", r"must be well-formed XML, got mismatched tag \(.*csynth.xml:\d+\)"),
        ("TopModelName", "TopName", r"must have UserAssignments/TopModelName, got nothing"),
        ("UserAssignments", "Assignments", r"must be <profile> with <UserAssignments>, got <profile>"),
        (">2018.3<", ">new<", r"Version must be a version as 2020.2, got 'new' \(.*csynth.xml:2\)"),
        (">32<", ">many<", r"Worst-caseLatency must be a whole number, got 'many' \(.*csynth.xml:12\)"),
        (">10.00<", ">-1<", r"TargetClockPeriod must be a number, got '-1' \(.*csynth.xml:5\)"),
        ("SummaryOfOverallLatency", "Overall", r"must have PerformanceEstimates/SummaryOfOverallLatency"),
        (">4546<", f">{'9' * 30}<", r"LUT must be a whole number, got '9+' \("),
    ],
)
def test_a_report_rejects_what_is_not_one(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = VIVADO.replace(old, new, 1) if old == "<profile>" else VIVADO.replace(old, new)
    with pytest.raises(VendorError, match=message):
        read(tmp_path, text)


BOMB = "<!DOCTYPE p [<!ENTITY a 'ha'>" + "".join(
    f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(9)
)


@pytest.mark.parametrize(
    "text",
    [
        f"{BOMB}]><profile>&j;</profile>",
        "<!DOCTYPE p [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><profile>&x;</profile>",
        "<!DOCTYPE p SYSTEM 'http://127.0.0.1:9/x.dtd'><profile/>",
        "<!DOCTYPE p [<!ENTITY % x SYSTEM 'file:///etc/passwd'> %x;]><profile/>",
    ],
)
def test_a_report_rejects_document_types_and_entities(text: str) -> None:
    with pytest.raises(
        VendorError, match=r"^a report must have no document type and no entities, got one \(x:1\)$"
    ):
        parse_xml(text.encode(), where="x")


def test_a_report_rejects_depth_and_size_and_absence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = "<a>" * 5000 + "</a>" * 5000
    with pytest.raises(VendorError, match=r"^a report must nest at most 100 deep, got more \(x:1\)$"):
        parse_xml(deep.encode(), where="x")
    monkeypatch.setattr("pipelines.dataset.vendor.xml_tree.SIZE_LIMIT_BYTES", 1 << 10)
    size = len(VIVADO.encode())
    accepted = "accepted: a regular file of at most 1024 bytes"
    with pytest.raises(
        VendorError, match=rf"^cannot read the report .*csynth\.xml: {size} bytes; {accepted}$"
    ):
        read(tmp_path, VIVADO)
    os.mkfifo(tmp_path / "pipe.xml")
    for path, kind in {
        tmp_path: "a folder",
        tmp_path / "pipe.xml": "a pipe",
        Path("/dev/zero"): "a character device",
    }.items():
        with pytest.raises(VendorError, match=f"^cannot read the report {path}: {kind}; {accepted}$"):
            read_csynth(path)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999", "-1", "9" * 30, "1_0", "0x10"])
def test_a_report_rejects_numbers_that_cannot_be(number: str, tmp_path: Path) -> None:
    for tag, right in (("TargetClockPeriod", "10.00"), ("LUT", "4546")):
        text = VIVADO.replace(f"<{tag}>{right}<", f"<{tag}>{number}<")
        assert text != VIVADO
        kind = "a number" if tag == "TargetClockPeriod" else "a whole number"
        with pytest.raises(
            VendorError, match=rf"^{tag} must be {kind}, got '{number}' \(.*csynth\.xml:\d+\)$"
        ):
            read(tmp_path, text)


@pytest.mark.parametrize("content", [b"", b"\x00\x01", b"<a>", b"<?xml version='1.0' encoding='x-no'?><a/>"])
def test_a_report_rejects_bytes_that_are_not_xml(content: bytes) -> None:
    with pytest.raises(VendorError, match=r"^a report must be well-formed XML, got .* \(x(:\d+)?\)$"):
        parse_xml(content, where="x")
