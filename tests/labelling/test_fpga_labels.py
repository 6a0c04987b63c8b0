"""FPGA labels of designs: their rows, the share that has them, and what the cache and an import keep."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling import (
    CacheImport,
    LabelContext,
    LabelOptions,
    LabelTables,
    ProgramRows,
    fpga,
    import_rows,
    label_designs,
    plan_designs,
)
from pipelines.dataset.labelling.fpga import FpgaTarget
from pipelines.programs import program_from_file
from pipelines.schemas import DesignRow, LabelRow, ProgramRow
from pipelines.silicon.synthesis import Target, find_liberty, xilinx_version
from tests.support.labelling import configuration_space, label_options, with_synthesis

SCALE = "void scale(int A[8], int B[8]) { for (int i = 0; i < 8; i++) B[i] = A[i] * A[i] + 3; }\n"
SPACE = configuration_space(memory_delay=(2, 5), pipeline=(False,))


class Labelled:
    """One program under two delays, labelled once for all tests."""

    def __init__(self, folder: Path, cache: ContentCache) -> None:
        path = folder / "scale.c"
        path.write_text(SCALE)
        self.program: ProgramRow = program_from_file(path, top="scale")
        target = Target(liberty=find_liberty(None), clock_period_ns=10.0)
        options = label_options(workers=1, audit_fraction=0.0, power=False)
        options = with_synthesis(options, tools=("pyosys", "synth_xilinx"))
        self.context = LabelContext(target=target, cache=cache, options=options)
        tables = plan_designs([self.program], SPACE, self.context)
        self.designs, self.outcomes = tables.designs, tables.directive_outcomes
        self.tables = label_designs([self.program], self.designs, self.context)

    def fpga(self, context: LabelContext | None = None) -> list[LabelRow]:
        return self.label(self.tables.labels, context or self.context)

    def label(
        self, labels: list[LabelRow], context: LabelContext, designs: list[DesignRow] | None = None
    ) -> list[LabelRow]:
        tables = LabelTables(labels=labels)
        return FpgaTarget().label([self.program], designs or self.designs, tables, context).labels

    def lacking(self, labels: list[LabelRow], options: LabelOptions) -> set[str]:
        return set(FpgaTarget().lacking(self.designs, LabelTables(labels=labels), options))


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory, new_cache: Callable[[Path], ContentCache]) -> Labelled:
    folder = tmp_path_factory.mktemp("labelled")
    return Labelled(folder, new_cache(folder / "cache"))


def test_every_labelled_design_has_a_row_of_the_fpga(labelled: Labelled) -> None:
    rows = labelled.fpga()
    assert {row.design_id for row in rows} == {design.design_id for design in labelled.designs}
    for row in rows:
        assert (row.status, row.tool, row.tool_version) == ("ok", "synth_xilinx", xilinx_version())
        assert (row.liberty, row.area_um2, row.delay_ns, row.leakage_mw) == ("xc7", None, None, None)
        assert (row.lut_count or 0) > 10
        assert (row.dsp_count, row.bram_count) == (2, 0)  # a part of 32 by 32 bit is in LUTs
        assert row.cell_count == sum(json.loads(row.cells_by_type or "{}").values())


def test_a_second_pass_runs_no_tool(labelled: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    first = labelled.fpga()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a tool was run")

    monkeypatch.setattr(fpga, "synthesize_for_fpga", refuse)
    assert labelled.fpga() == first


def test_imported_rows_run_no_tool(
    labelled: Labelled,
    tmp_path: Path,
    new_cache: Callable[[Path], ContentCache],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = labelled.fpga()
    rows = ProgramRows(
        program=labelled.program,
        designs=labelled.designs,
        outcomes=labelled.outcomes,
        labels=[*labelled.tables.labels, *first],
        runs=labelled.tables.runs,
    )
    context, report = replace(labelled.context, cache=new_cache(tmp_path / "cache")), CacheImport()
    import_rows(rows, context, report)
    assert (report.stored["fpga"], report.different) == (len({d.rtl_sha256 for d in labelled.designs}), [])
    monkeypatch.setattr(fpga, "synthesize_for_fpga", None)
    assert labelled.fpga(context) == first


def test_designs_outside_the_share_and_without_the_tool_have_no_row(labelled: Labelled) -> None:
    options = with_synthesis(labelled.context.options, fpga_fraction=0.0)
    assert labelled.fpga(replace(labelled.context, options=options)) == []
    assert [target.name for target in FpgaTarget.chosen(options)] == ["synth_xilinx"]
    assert FpgaTarget.chosen(with_synthesis(options, tools=("pyosys",))) == []


def test_a_design_that_is_not_mapped_to_cells_has_a_row(labelled: Labelled) -> None:
    cycles_alone = [replace(row, cell_count=None) for row in labelled.tables.labels]
    assert labelled.label(cycles_alone, labelled.context) == []
    options = with_synthesis(labelled.context.options, fpga_fraction=0.0, fpga_unmapped_fraction=1.0)
    context = replace(labelled.context, options=options)
    rows = labelled.label(cycles_alone, context)
    assert rows == labelled.fpga()
    for labels in (labelled.tables.labels, cycles_alone):
        lacking = labelled.lacking(labels, with_synthesis(options, fpga_fraction=1.0))
        assert lacking == {row.design_id for row in rows}
        assert not labelled.lacking([*labels, *rows], options)
    areas = sorted(design.estimated_area_um2 or 0.0 for design in labelled.designs)
    small = with_synthesis(options, unmapped_most_um2=areas[0])
    assert len(labelled.lacking(cycles_alone, small)) == areas.count(areas[0])
    assert not labelled.lacking(cycles_alone, with_synthesis(small, unmapped_most_um2=1.0))


def test_a_design_whose_label_is_not_ok_has_no_row(labelled: Labelled) -> None:
    failed = [replace(row, status="tool_error") for row in labelled.tables.labels]
    assert labelled.label(failed, labelled.context) == []


def test_other_verilog_than_the_rows_is_a_failed_row_that_is_not_kept(
    labelled: Labelled, tmp_path: Path, new_cache: Callable[[Path], ContentCache]
) -> None:
    designs: list[DesignRow] = [replace(design, rtl_sha256="other") for design in labelled.designs]
    context = replace(labelled.context, cache=new_cache(tmp_path / "cache"))
    rows = labelled.label(labelled.tables.labels, context, designs)
    assert {row.status for row in rows} == {"tool_error"}
    assert all("other" in (row.reason or "") for row in rows)
    assert not (context.cache.folder / "fpga").exists()
