"""Reported latencies that no design of a program can have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.pragmas import Configuration
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import impossible, read_target
from pipelines.pragmas.search import RecordedReports
from pipelines.pragmas.search.evaluators import REPORT, report_folder
from pipelines.schemas import OK, REJECTED

SCALE = """\
void scale(float a[12][20], double b[30])
{
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 20; j++)
      a[i][j] = b[i] * b[j];
}
"""
SUMMARY = summarise(SCALE)
TARGET = read_target("u200")
PORT = 15
"""240 floats go out by 512 bits a cycle; 20 doubles come in meanwhile."""
REPORTED = """<profile>
<ReportVersion><Version>2020.2</Version></ReportVersion>
<UserAssignments>
<unit>ns</unit><Part>xcu200</Part><TopModelName>scale</TopModelName>
<TargetClockPeriod>4.00</TargetClockPeriod>
</UserAssignments>
<PerformanceEstimates>
<PipelineType>none</PipelineType>
<SummaryOfTimingAnalysis><EstimatedClockPeriod>2.9</EstimatedClockPeriod></SummaryOfTimingAnalysis>
<SummaryOfOverallLatency>
<Best-caseLatency>CYCLES</Best-caseLatency><Average-caseLatency>CYCLES</Average-caseLatency>
<Worst-caseLatency>CYCLES</Worst-caseLatency><Interval-min>1</Interval-min><Interval-max>1</Interval-max>
</SummaryOfOverallLatency>
</PerformanceEstimates>
<AreaEstimates>
<Resources><DSP>5</DSP></Resources><AvailableResources><DSP>40</DSP></AvailableResources>
</AreaEstimates>
</profile>
"""


def test_a_latency_below_what_the_ports_take_is_impossible() -> None:
    assert impossible(SUMMARY, TARGET, PORT) is None
    assert impossible(SUMMARY, TARGET, PORT - 1) == (
        "a latency must be at least 15 cycles, in which 240 elements of a go out by 512 bits a cycle, "
        "got 14: the report leaves parts of the program out"
    )


def test_where_nothing_is_transferred_no_latency_is_impossible() -> None:
    assert impossible(SUMMARY, replace(TARGET, burst_bits=None), 0) is None


@pytest.mark.parametrize(("cycles", "status"), [(PORT, OK), (PORT - 1, REJECTED)])
def test_a_report_of_an_impossible_latency_is_rejected(tmp_path: Path, cycles: int, status: str) -> None:
    configuration = Configuration()
    path = tmp_path / report_folder(configuration) / REPORT
    path.parent.mkdir()
    path.write_text(REPORTED.replace("CYCLES", str(cycles)))
    found = RecordedReports(folder=tmp_path, summary=SUMMARY, target=TARGET).evaluate(configuration)
    assert found.status == status
    assert found.latency_cycles == (PORT if status == OK else None)
    assert (found.reason is None) == (status == OK)
