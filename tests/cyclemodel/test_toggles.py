"""Toggles that a cycle model counts: by hand, and without effect on anything else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.c.signature import DataSet
from pipelines.cyclemodel import CycleModel, CycleResult, build_model, run_model, write_program
from pipelines.hls import CompiledDesign, HlsOptions, compile_program

SUM = "int sum(int a[16]) { int s = 0; for (int i = 0; i < 16; i++) s += a[i]; return s; }"
CHAIN = "void two(short a[4], short b[4], int y[2]) { y[0] = a[0] * b[0]; y[1] = (short)y[0] * b[1]; }"
TWO = "void two(short a[4], short b[4], int y[2]) { y[0] = a[0] * b[0]; y[1] = a[1] * b[1]; }"


def compiled(source: str, top: str) -> CompiledDesign:
    return compile_program(source, top=top, options=HlsOptions())


def counted(design: CompiledDesign, data: DataSet, folder: Path, *, toggles: bool = True) -> CycleResult:
    model = build_model(design, folder=folder / "models", toggles=toggles)
    assert isinstance(model, CycleModel)
    return run_model(model, [data], folder=folder / f"run-{toggles}")[0]


def distances(values: list[int], width_bits: int) -> int:
    mask = (1 << width_bits) - 1
    pairs = zip([0, *values[:-1]], values, strict=True)
    return sum(((one ^ other) & mask).bit_count() for one, other in pairs)


def test_a_register_counts_the_distances_of_successive_values(tmp_path: Path) -> None:
    words = [5, -3, 1000, 0, 0, 7, -1, 8, 123456, -9, 2, 2, 2, 4, 1, -70000]
    run = counted(compiled(SUM, "sum"), {"a": np.array(words, np.int32)}, tmp_path)
    sums = np.cumsum(words).tolist()
    assert run.toggles["v_s"] == distances(sums, 32)
    assert run.toggles["m_a_rdata"] == distances(words, 32)
    assert run.toggles["v_i"] == distances([*range(1, 16), 0], 4)


def test_counting_toggles_changes_nothing_else(tmp_path: Path) -> None:
    design = compiled(SUM, "sum")
    data = {"a": np.arange(16, dtype=np.int32)}
    plain, more = (counted(design, data, tmp_path, toggles=own) for own in (False, True))
    assert plain.toggles == {}
    assert (plain.latency_cycles, plain.returned, plain.block_visits, plain.loads) == (
        more.latency_cycles,
        more.returned,
        more.block_visits,
        more.loads,
    )
    assert "toggled" not in write_program(design.scheduled, design.interface).text


@pytest.mark.parametrize("source", [TWO, CHAIN])
@pytest.mark.parametrize("words", [[3, 3], [1, -1]])
def test_a_shared_port_and_result_return_to_zero_between_uses(
    words: list[int], source: str, tmp_path: Path
) -> None:
    design = compiled(source, "two")
    data = {
        "a": np.array([*words, 0, 0], np.int16),
        "b": np.array([1, 1, 0, 0], np.int16),
        "y": np.zeros(2, np.int32),
    }
    run = counted(design, data, tmp_path)
    starts = sorted(
        design.scheduled.schedules[use.block].starts[use.operation] for use in design.scheduled.units[0].uses
    )
    values = words if source == TWO else [words[0], words[0]]  # all are multiplied by 1
    one, other = ((value & 0xFFFF).bit_count() for value in values)
    expected = one + (values[0] ^ values[1] & 0xFFFF).bit_count()
    if starts[1] - starts[0] > 1:
        expected = one + one + other
    assert run.toggles["mul0_a"] == expected
    assert run.toggles["mul0_y"] == shared_result_toggles(design, values)


def shared_result_toggles(design: CompiledDesign, results: list[int]) -> int:
    """By hand: toggles of the output of unit 0, whose result of zeros is 0, from its two results."""
    unit = design.scheduled.units[0]
    ready = sorted(design.scheduled.schedules[use.block].ready(use.operation) for use in unit.uses)
    mask = (1 << unit.unit.output[1]) - 1
    one, other = (result & mask for result in results)
    if ready[1] - ready[0] > 1:
        return one.bit_count() + one.bit_count() + other.bit_count()
    return one.bit_count() + (one ^ other).bit_count()
