"""Our texts of the vendor kernels beside the database's list of loops, and bounds beside measured rows."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import fmean

import pytest

from pipelines.dataset.vendor import read_merlin
from pipelines.pragmas import PragmaError, Summary
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.configuration import COARSE, FINE, OFF
from tests.benchmarks.vendor_bounds import figures, points, walk
from tests.support.vendor_kernels import configuration_of_row, vendor_kernel, vendor_kernel_names

TYPES = {"double": "double", "int": "int32", "char": "int8", "long": "int64"}
KERNEL_COUNT = 31


@cache
def summary_of(name: str) -> Summary:
    kernel = vendor_kernel(name)
    return summarise(kernel.source, kernel.top, file=f"{name}.c", relaxed=True)


@pytest.fixture(scope="module")
def designs(shared_folder: Path) -> Path:
    return shared_folder / "data" / "merlin_vitis_designs.parquet"


@pytest.fixture(scope="module")
def kernels(shared_folder: Path) -> Path:
    return shared_folder / "data" / "merlin_vitis_kernels.json"


def test_kernels_are_the_databases_kernels(kernels: Path) -> None:
    listed = {name.rpartition("/")[2] for name in json.loads(kernels.read_text())}
    assert len(listed) == KERNEL_COUNT
    assert set(vendor_kernel_names()) == listed


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", vendor_kernel_names())
def test_every_kernel_is_analysed(name: str) -> None:
    assert tuple(summary_of(name).loops) == vendor_kernel(name).loop_names


def test_arrays_and_trip_counts_are_the_databases(kernels: Path, designs: Path) -> None:
    trips = {
        (row.kernel, row.loop_index): (row.trip_count_max, row.parent_index, row.loop)
        for row in read_merlin(designs, kernels=kernels).loops
    }
    for path, entry in json.loads(kernels.read_text()).items():
        name = path.rpartition("/")[2]
        kernel, summary = vendor_kernel(name), summary_of(name)
        for array, facts in entry["arrays"].items():
            ours = summary.arrays.get(array)
            if ours is None:  # only the walk back of nw uses them
                assert array in ("alignedA", "alignedB")
                assert f"{array}[{facts['shape'][0]}]" in kernel.source
                continue
            assert (ours.type, ours.shape) == (TYPES[facts["type"]], tuple(map(int, facts["shape"])))
        numbers = Counter(kernel.loop(index) for index in range(len(entry["loops"])))
        for index, loop in enumerate(entry["loops"]):
            ours, known = summary.loops[kernel.loop(index)], trips[name, index]
            if known[0] is not None:
                assert ours.trip_count_max == known[0], (name, index)
            if loop["parent"] is not None and numbers[kernel.loop(index)] == 1:
                assert ours.parent == kernel.loop(loop["parent"]), (name, index)
        assert set(numbers) == set(summary.loops) or not entry["loops"]


def test_directives_of_a_row_become_choices() -> None:
    kernel = vendor_kernel("atax")
    by_loop = [
        {"kind": "pipeline", "loop_index": 1, "value": "flatten"},
        {"kind": "tile", "loop_index": 1, "value": 4},
        {"kind": "parallel", "loop_index": 1, "value": 2},
        {"kind": "parallel", "loop_index": 2, "value": 1},
    ]
    found = configuration_of_row(kernel, "{}", json.dumps(by_loop))
    assert (found.of("L1").pipeline, found.of("L1").unroll, found.of("L1").tile) == (FINE, 2, 4)
    assert [found.of(loop).automatic for loop in ("L0", "L1", "L2", "L3")] == [True, False, False, True]
    assert found.of("L2").pipeline == OFF


def test_directives_of_places_that_no_loop_has_in_the_list() -> None:
    kernel = vendor_kernel("stencil-3d")
    found = configuration_of_row(kernel, '{"__PIPE__L1": "", "__PARA__L2": 8, "__TILE__L0": 4}', None)
    assert (found.of("L1").pipeline, found.of("L2").unroll, found.of("L0").tile) == (COARSE, 8, 4)


def test_configuration_of_row_rejects_an_unknown_word() -> None:
    by_loop = '[{"kind": "pipeline", "loop_index": 0, "value": "fast"}]'
    with pytest.raises(PragmaError, match="unknown pipeline of L0: fast"):
        configuration_of_row(vendor_kernel("mvt"), "{}", by_loop)


def test_vendor_kernel_rejects_an_unknown_name() -> None:
    with pytest.raises(PragmaError, match=r"unknown vendor kernel: gemm; accepted: 2mm, "):
        vendor_kernel("gemm")


@pytest.mark.slow
def test_bounds_hold_on_measured_rows(designs: Path, kernels: Path) -> None:
    found = points(designs, kernels)
    # Reports of spmv-crs whose inner loop has an unknown trip count leave that loop and transfers out.
    refuted = [p for p in found if p.refuted is not None]
    assert {p.kernel for p in refuted} <= {"spmv-crs"}
    assert len(refuted) <= 0.002 * len(found)
    sound = [p for p in found if p.refuted is None]
    assert all(p.bound_cycles <= p.measured_cycles for p in sound)
    by_kernel = {p.kernel: [q for q in sound if q.kernel == p.kernel] for p in sound}
    assert fmean(figures(rows)[2] for rows in by_kernel.values()) > 0.6
    walks = [walk(rows) for rows in by_kernel.values()]
    assert all(result is not None and result[0] for result in walks)
