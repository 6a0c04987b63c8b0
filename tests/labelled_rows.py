"""Rows of labels and runs of a design with values that are easy to recognise."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pipelines.schemas import DesignRow, LabelRow, RunRow, table_spec


def table_row(table: str, **values: Any) -> Any:
    """A row of a table, None in every other column."""
    row = table_spec(table).row
    return row(**{**dict.fromkeys(f.name for f in fields(row)), **values})


def label_of(design: DesignRow, number: int) -> LabelRow:
    return table_row(
        "labels",
        design_id=design.design_id,
        tool="pyosys",
        suite=design.suite,
        status="ok",
        area_um2=1234.5 + 7 * number,
        flip_flop_count=10 + number,
        delay_ns=5.125 + number / 8,
    )


def run_of(design: DesignRow, number: int, *, has_power: bool = True) -> RunRow:
    return table_row(
        "runs",
        design_id=design.design_id,
        data_id=f"data{number}",
        suite=design.suite,
        seed=0,
        status="ok",
        audited=False,
        latency_cycles=100 + number,
        power_mw=1.25 * number + 0.0625 if has_power else None,
        energy_nj=0.5 * number + 0.125 if has_power else None,
    )
