"""Iterations, entries and branches of loops from executions of blocks, against counts in Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.c import ir
from pipelines.cyclemodel import count_cycles
from pipelines.dataset.labelling.loops import LoopCount, loop_counts
from pipelines.hls import HlsOptions, compile_program

NEST = """
int f(int A[6][8], int n[6])
{
    int s = 0;
    rows: for (int i = 0; i < 6; i++) {
        if (n[i] < 0)
            continue;
        cells: for (int j = 0; j < n[i]; j++) {
            if (A[i][j] > 3)
                A[i][j] = s / A[i][j];
            else if (A[i][j] == 0) {
                inner: while (s > 10)
                    s -= 7;
            }
            s += A[i][j];
        }
    }
    return s;
}
"""


def counted(source: str, data: dict[str, np.ndarray], folder: Path, *pipelined: str) -> dict[str, LoopCount]:
    directives = tuple(ir.Directive(kind="pipeline", loop=loop) for loop in pipelined)
    compiled = compile_program(source, top="f", options=HlsOptions(directives=directives))
    result = count_cycles(compiled, data, folder=folder)
    assert result.status == "ok"
    return {loop.loop: loop for loop in loop_counts(compiled.scheduled.graph, result.block_visits)}


def in_python(cells: list[list[int]], bounds: list[int]) -> dict[str, list[int]]:
    """Iterations and entries of each loop of NEST."""
    cells, s = [list(row) for row in cells], 0
    found = {"rows": [0, 1], "cells": [0, 0], "inner": [0, 0]}
    for row, bound in zip(cells, bounds, strict=True):
        found["rows"][0] += 1
        if bound < 0:
            continue
        found["cells"][1] += 1
        for j in range(bound):
            found["cells"][0] += 1
            if row[j] > 3:
                row[j] = int(s / row[j])
            elif row[j] == 0:
                found["inner"][1] += 1
                while s > 10:
                    found["inner"][0] += 1
                    s -= 7
            s += row[j]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_loops_that_data_bound_have_the_counts_of_python(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    cells = random.integers(-2, 12, (6, 8)).astype(np.int32)
    bounds = random.integers(-2, 9, 6).astype(np.int32)
    loops = counted(NEST, {"A": cells, "n": bounds}, tmp_path)
    expected = in_python(cells.tolist(), bounds.tolist())
    assert {name: [loop.iterations, loop.entries] for name, loop in loops.items()} == expected
    assert loops["rows"].branches == 6
    assert (loops["rows"].branches_taken or 0) in (np.sum(bounds < 0), np.sum(bounds >= 0))


def test_a_pipelined_loop_has_its_iterations(tmp_path: Path) -> None:
    source = (
        "int f(int A[10], int n)\n{\n    int s = 0;\n"
        "    sum: for (int i = 0; i < n; i++) s += A[i];\n    return s;\n}\n"
    )
    for bound in (0, 1, 9):
        data = {"A": np.arange(10, dtype=np.int32), "n": np.array(bound, np.int32)}
        loop = counted(source, data, tmp_path, "sum")["sum"]
        assert (loop.iterations, loop.entries, loop.branches) == (bound, 1, 0)


def test_a_program_without_loops_has_no_counts(tmp_path: Path) -> None:
    assert counted("int f(int n)\n{\n    return n + 1;\n}\n", {"n": np.array(3, np.int32)}, tmp_path) == {}
