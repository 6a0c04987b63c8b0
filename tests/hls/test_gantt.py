"""The schedule report: complete JSON, and a drawing that is valid SVG."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from pipelines.c import Directive
from pipelines.hls import HlsOptions, compile_program
from pipelines.hls.gantt import schedule_drawing, schedule_entries

SOURCE = """
int f(int n, int A[64], int B[64]) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        if (A[i] < B[i] && A[i] > 0)
            sum += A[i] * B[i];
    return sum;
}
"""


def test_schedule_report_has_every_operation_with_its_cycle_and_line() -> None:
    options = HlsOptions(directives=(Directive(kind="pipeline", loop="L0"),))
    design = compile_program(SOURCE, top="f", options=options).scheduled
    entries = json.loads(json.dumps(schedule_entries(design)))
    pipelined = [e for e in entries if e["interval_cycles"] is not None]
    assert [e["loop"] for e in pipelined] == ["L0"]
    loads = [o for o in pipelined[0]["operations"] if o["opcode"] == "load"]
    assert {o["name"] for o in loads} == {"A", "B"}
    assert all(o["start_cycle"] + o["latency_cycles"] <= pipelined[0]["length_cycles"] for o in loads)
    assert all(o["line"] in (5, 6) for o in loads)


def test_schedule_drawing_is_svg_with_a_bar_an_operation() -> None:
    design = compile_program(SOURCE, top="f", options=HlsOptions()).scheduled
    root = ElementTree.fromstring(schedule_drawing(design))
    bars = [e for e in root if e.tag.endswith("rect")][1:]
    assert len(bars) == sum(len(e["operations"]) for e in schedule_entries(design))
