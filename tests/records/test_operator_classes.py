"""Classes of operators, and run-time data in short."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from pipelines.dataset.records import (
    RecordError,
    data_text,
    operator_classes,
    summarise_data,
    summarise_rows,
)
from pipelines.programs import given_data, input_rows, program_from_file

SOURCE = """
static int pick(int v) { return v > 0 ? v : -v; }
static void scale(int x[8], int y[8]) {
    for (int i = 0; i < 8; i++)
        y[i] = pick(x[i]) * 3;
}
static void count(int y[8], int n, int z[8]) {
    for (int i = 0; i < n; i++)
        z[i] = y[i];
}
static void keep(int x[8], int z[8]) {
    for (int i = 0; i < 8; i++)
        if (x[i] > 3)
            z[i] = 1;
}
static void scan(int x[8], int z[8]) {
    int i = 0;
    while (i < 8)
        i++;
    for (int j = 0; j < 8; j++) {
        if (z[j] == 7)
            break;
        z[j] = x[j];
    }
}
static void edge(int z[8]) {
    for (int i = 0; i < 8; i++)
        if (i > 0)
            z[i] += i;
}
void top(int x[8], int y[8], int n, int z[8]) {
    scale(x, y);
    CALL
    keep(x, z);
    scan(x, z);
    edge(z);
}
"""


@pytest.mark.parametrize(("bound", "depends"), [("n", True), ("8", False), ("x[0]", True)])
def test_control_flow_depends_on_data_by_bounds_branches_and_exits(bound: str, depends: bool) -> None:
    classes = operator_classes(SOURCE.replace("CALL", f"count(y, {bound}, z);"), "top")
    assert classes == {
        "pick": False,
        "scale": False,
        "count": depends,
        "keep": True,
        "scan": True,
        "edge": False,
        "top": False,
    }


def test_data_are_summarised_by_argument() -> None:
    data = {"n": np.array(5, np.int32), "x": np.array([[0.0, 1.0], [2.0, 3.00004]])}
    summary = summarise_data(data)
    assert json.loads(summary) == {
        "n": 5,
        "x": {"minimum": 0.0, "maximum": 3.0, "mean": 1.5, "zero_share": 0.25, "is_sorted": 1.0},
    }
    text = {"n": "5", "x": "minimum=0 maximum=3 mean=1.5 zero_share=0.25 is_sorted=1"}
    assert data_text(summary) == text
    assert data_text("") == {}


def test_rows_of_table_inputs_give_the_same_summary() -> None:
    program = program_from_file(
        Path("p.c"), top="p", source="void p(int n, float x[3][2], char on) { on = n; }"
    )
    values = {
        "n": np.array(-70000, np.int32),
        "x": np.array([[0.0, 1.0], [2.0, 3.00004], [1 / 3, 0.0]], np.float32),
        "on": np.array(1, np.int8),
    }
    rows = input_rows(given_data(program, values), "suite")
    assert summarise_rows([asdict(row) for row in rows]) == summarise_data(values)


@pytest.mark.parametrize("summary", ["[1]", "x", '{"x": "3,4"}', '{"x": {"minimum": 1}}'])
def test_data_text_rejects_what_is_no_summary(summary: str) -> None:
    with pytest.raises(RecordError, match=r"^run-time data are not a summary; accepted: a JSON object"):
        data_text(summary)
