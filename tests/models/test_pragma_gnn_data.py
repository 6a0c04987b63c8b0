"""Measured designs of the surrogate: rows of both tables, splits and folds."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

import pytest
from pragma_gnn_support import SUMMARIES, TARGET, configurations, designs

from models.base import PredictorError
from models.pragma_gnn.data import explored_designs, programs_apart
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.configuration import FINE, configuration_key
from pipelines.schemas import OK, TIMEOUT, PragmaDesignRow, VendorDesignRow
from tests.benchmarks.pragma_splits import folds_of_programs, split_by_configuration, vendor_designs
from tests.support.vendor_kernels import vendor_kernel

SAID = {
    "kernel": "gemm-ncubed",
    "tool": "vitis-2020.2",
    "directives": "{}",
    "status": OK,
    "directives_by_loop": '[{"kind":"pipeline","loop_index":1,"value":"flatten"}]',
    "fits": True,
    "latency_cycles": 12_345,
}
VENDOR = VendorDesignRow(**{field.name: SAID.get(field.name) for field in fields(VendorDesignRow)})
EXPLORED = PragmaDesignRow(
    exploration_id="e",
    step=0,
    program_id="product",
    suite="s",
    kernel="product",
    size="small",
    method="random",
    target="u200",
    evaluator="own-1",
    most_partitions=None,
    fine_only=False,
    configuration=configuration_key(configurations("product")[3]),
    decision="evaluated",
    bound_cycles=1.0,
    space_bound_cycles=None,
    proven=False,
    status=OK,
    reason=None,
    latency_cycles=777,
    applied=True,
    not_applied=None,
    dsp_count=None,
    area_um2=None,
    strips=None,
    best_cycles=777,
    solver_wall_s=None,
    measure_wall_s=None,
    elapsed_wall_s=None,
)


def test_rows_of_vendors_with_a_latency_are_designs() -> None:
    kernel = vendor_kernel("gemm-ncubed")
    summaries = {"gemm-ncubed": summarise(kernel.source, kernel.top, relaxed=True)}
    rows = [VENDOR, replace(VENDOR, latency_cycles=None), replace(VENDOR, kernel="atax")]
    (found,) = vendor_designs(rows, summaries, TARGET)
    assert (found.program, found.tool, found.latency_cycles, found.fits) == (
        "gemm-ncubed",
        "vitis-2020.2",
        12_345,
        True,
    )
    assert found.configuration.of("L1").pipeline == FINE
    assert 0 < found.bound.latency_cycles <= 12_345
    # 4,096 doubles come in by 512 bits a cycle in 512 cycles.
    assert not vendor_designs([replace(VENDOR, latency_cycles=511)], summaries, TARGET)


def test_rows_of_explorations_are_designs_once_a_tool() -> None:
    rows = [
        EXPLORED,
        replace(EXPLORED, exploration_id="f", step=4, latency_cycles=999),
        replace(EXPLORED, evaluator="own-2", latency_cycles=700),
        replace(EXPLORED, configuration=None),
        replace(EXPLORED, evaluator="own-3", status=TIMEOUT),
        replace(EXPLORED, program_id="unknown"),
    ]
    found = explored_designs(rows, SUMMARIES, TARGET)
    assert [(d.tool, d.latency_cycles) for d in found] == [("own-1", 777), ("own-2", 700)]
    assert configuration_key(found[0].configuration) == EXPLORED.configuration


def test_repetitions_of_a_configuration_stay_on_one_side() -> None:
    measured = [*designs("product", "scale", tool="a"), *designs("product", "scale", tool="b")]
    fitted, apart = split_by_configuration(measured, 0.3, seed=4)
    assert len(fitted) + len(apart) == len(measured)
    assert not {d.key for d in fitted} & {d.key for d in apart}
    assert all(count == 2 for count in Counter(d.key for d in apart).values())
    assert 0.1 < len(apart) / len(measured) < 0.5


def test_a_share_of_programs_is_apart_another_with_another_seed() -> None:
    names = [f"p{n}" for n in range(10)]
    found = [programs_apart(names, 0.2, seed) for seed in range(20)]
    assert {len(apart) for apart in found} == {2}
    assert len(set(found)) > 5
    assert programs_apart(reversed(names), 0.2, 3) == found[3]
    assert programs_apart(names, 0.0, 3) == frozenset()


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_splits_reject_a_share_that_is_none(share: float) -> None:
    with pytest.raises(PredictorError, match=f"a part must be a share from 0 to below 1, got {share}"):
        split_by_configuration(designs("scale"), share, seed=0)


def test_variants_of_a_kernel_are_in_one_fold() -> None:
    measured = [
        *designs("product"),
        *(replace(d, program="product-large") for d in designs("product")),
        *designs("scale"),
    ]
    folds = folds_of_programs(measured, 2, {"product-large": "product"})
    assert folds == [("product", "product-large"), ("scale",)]
