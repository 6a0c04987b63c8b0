"""The schedule report of a design: JSON for programs, a Gantt-like SVG for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from pipelines.c.cdfg import Operation
from pipelines.hls.design import ScheduledDesign
from pipelines.hls.schedule import BlockSchedule

ROW_HEIGHT = 14
CYCLE_WIDTH = 18
TITLE_LETTER_WIDTH = 7
LABEL_WIDTH = 260
MAXIMUM_ROWS = 400
"""Largest number of rows per block in the drawing; the JSON has all of them."""

_COLOURS = {
    "load": "#4c78a8",
    "store": "#e45756",
    "mul": "#f58518",
    "div": "#b279a2",
    "rem": "#b279a2",
    "divc": "#b279a2",
    "sqrt": "#b279a2",
    "select": "#9d9d9d",
}
_OTHER_COLOUR = "#54a24b"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bar:
    """One row of the drawing: an operation from `start` for `cycles` (at least a part of one)."""

    label: str
    start: int
    cycles: int
    colour: str


def _shown(operation: Operation) -> bool:
    return operation.opcode not in ("const", "read")


def _operation_entry(operation: Operation, schedule: BlockSchedule) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "index": operation.index,
        "opcode": operation.opcode,
        "line": operation.line,
        "start_cycle": schedule.starts[operation.index],
        "latency_cycles": schedule.graph.timings[operation.index].latency_cycles,
        "operands": list(operation.inputs),
    }
    if operation.name:
        entry["name"] = operation.name
    if operation.type is not None:
        entry["width_bits"] = operation.type.width_bits
    return entry


def schedule_entries(design: ScheduledDesign) -> list[dict[str, Any]]:
    """Return the schedule as JSON-ready data: one object per block, which has one object per operation.

    Cycles count from the first cycle of the block, or of the iteration in a pipelined loop.
    """
    return [
        {
            "block": block.name,
            "loop": block.loop,
            "line": block.line,
            "length_cycles": schedule.length_cycles,
            "interval_cycles": schedule.interval_cycles,
            "bound": schedule.bound,
            "trip_count": block.trip_count,
            "successors": list(block.successors),
            "operations": [_operation_entry(o, schedule) for o in block.operations if _shown(o)],
        }
        for block, schedule in zip(design.graph.blocks, design.schedules, strict=True)
    ]


def _bars(schedule: BlockSchedule) -> list[_Bar]:
    operations = sorted(
        (o for o in schedule.graph.operations if _shown(o)),
        key=lambda o: (schedule.starts[o.index], o.index),
    )
    return [
        _Bar(
            label=f"{o.line}: {o.opcode} {o.name}".rstrip(),
            start=schedule.starts[o.index],
            cycles=schedule.graph.timings[o.index].latency_cycles,
            colour=_COLOURS.get(o.opcode, _OTHER_COLOUR),
        )
        for o in operations
    ]


def _title(schedule: BlockSchedule) -> str:
    block = schedule.graph.block
    parts = [f"{block.name}, line {block.line}"]
    if block.loop:
        parts.append(f"loop {block.loop}")
    parts.append(f"{schedule.length_cycles} cycles")
    if schedule.interval_cycles is not None:
        parts.append(f"pipelined, {schedule.bound}")
    return ", ".join(parts)


def _text(x: float, y: float, content: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}"{weight}>{escape(content)}</text>'


def _block_drawing(schedule: BlockSchedule, top: int) -> tuple[list[str], int]:
    """Return the lines of SVG of one block, and the height they take."""
    bars = _bars(schedule)
    shown = bars[:MAXIMUM_ROWS]
    lines = [_text(4, top + ROW_HEIGHT, _title(schedule), bold=True)]
    first = top + ROW_HEIGHT + 6
    height = max(1, len(shown)) * ROW_HEIGHT
    interval = schedule.interval_cycles
    for cycle in range(schedule.length_cycles + 1):
        x = LABEL_WIDTH + cycle * CYCLE_WIDTH
        strong = interval is not None and cycle % interval == 0
        colour = "#999" if strong else "#e4e4e4"
        lines.append(f'<line x1="{x}" y1="{first}" x2="{x}" y2="{first + height}" stroke="{colour}"/>')
    for row, bar in enumerate(shown):
        y = first + row * ROW_HEIGHT
        width = max(0.4, bar.cycles) * CYCLE_WIDTH - 1
        x = LABEL_WIDTH + bar.start * CYCLE_WIDTH
        lines.append(_text(4, y + ROW_HEIGHT - 3, bar.label))
        lines.append(
            f'<rect x="{x}" y="{y + 2}" width="{width:g}" height="{ROW_HEIGHT - 4}" fill="{bar.colour}"/>'
        )
    if len(bars) > len(shown):
        lines.append(_text(4, first + height + ROW_HEIGHT, f"and {len(bars) - len(shown)} more operations"))
        height += ROW_HEIGHT
    return lines, height + 2 * ROW_HEIGHT + 6


def _page(lines: Sequence[str], width: int, height: int) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="10">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *lines, "</svg>"]) + "\n"


def schedule_drawing(design: ScheduledDesign) -> str:
    """Return schedule as SVG text: a row per operation, a column per cycle; bold lines start iterations."""
    lines: list[str] = []
    top = 4
    width = 0
    for schedule in design.schedules:
        drawn, height = _block_drawing(schedule, top)
        lines += drawn
        top += height
        chart_width = LABEL_WIDTH + (schedule.length_cycles + 2) * CYCLE_WIDTH
        width = max(width, chart_width, len(_title(schedule)) * TITLE_LETTER_WIDTH)
    return _page(lines, width, top)
