"""Vendor rows as tables that the predictors of programs train on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from models.labelled import LabelledDesign, Selection, load_labelled_designs
from tests.benchmarks.vendor_predictors import SPLIT, Vendor, parts_of

KERNELS = ("atax", "mvt", "spmv-crs", "spmv-ellpack")


@pytest.fixture(scope="module")
def vendor(shared_folder: Path) -> Vendor:
    data = shared_folder / "data"
    return Vendor(data / "merlin_vitis_designs.parquet", data / "merlin_vitis_kernels.json", KERNELS)


def _read(folder: Path) -> tuple[LabelledDesign, ...]:
    return load_labelled_designs(folder, Selection(split=SPLIT))


def test_variants_of_a_kernel_are_in_one_fold_and_each_design_is_asked_once(vendor: Vendor) -> None:
    folds = parts_of(vendor, "kernels", 3)
    asked = Counter(name for parts in folds for name, part in parts.items() if part == "test")
    assert asked == Counter(vendor.rows.keys())
    for parts in folds:
        own = {parts[name] for name, row in vendor.rows.items() if row.kernel.startswith("spmv")}
        assert len(own) == 1


def test_the_tables_keep_every_figure_and_directive_of_a_row(vendor: Vendor, tmp_path: Path) -> None:
    parts = parts_of(vendor, "tool", 3)[0]
    designs = _read(vendor.write(tmp_path, parts))
    tools = {vendor.rows[d.design_id].tool for d in designs if d.part == "test"}
    assert len(tools) == 1
    assert {d.part for d in designs} == {"train", "validation", "test"}
    assert not tools & {vendor.rows[d.design_id].tool for d in designs if d.part != "test"}
    for design in designs:
        row = vendor.rows[design.design_id]
        assert design.labels["latency_cycles"] == row.latency_cycles
        assert design.labels.get("area_um2") == row.lut_count
        assert design.labels.get("delay_ns") == (row.dsp_count or None)
        factors = [c.unroll for c in vendor.measured[design.design_id].configuration.loops.values()]
        assert design.query.directives.count('"parallel"') == sum(factor > 1 for factor in factors)
