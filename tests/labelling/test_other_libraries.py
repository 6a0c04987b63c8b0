"""Labels of designs in the cells of other libraries: their rows, and what the cache and an import keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling import (
    CacheImport,
    LabelContext,
    LabelTables,
    ProgramRows,
    import_rows,
    label_designs,
    plan_designs,
    synthesis,
)
from pipelines.dataset.labelling.other_libraries import LibraryTarget
from pipelines.programs import program_from_file
from pipelines.schemas import LabelRow
from pipelines.silicon.synthesis import Target, find_liberty, tool_version
from tests.support.labelling import configuration_space, label_options, with_synthesis

SCALE = "void scale(int A[8], int B[8]) { for (int i = 0; i < 8; i++) B[i] = A[i] * 5 + 3; }\n"
SPACE = configuration_space(memory_delay=(2,), pipeline=(False,))


def test_labels_in_another_library_are_rows_that_an_import_keeps(
    tmp_path: Path, new_cache: Callable[[Path], ContentCache], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scale.c"
    path.write_text(SCALE)
    program = program_from_file(path, top="scale")
    options = label_options(
        workers=1, audit_fraction=0.0, power=False, synthesis={"other_libraries": ("osu035",)}
    )
    osu018 = Target(liberty=find_liberty("osu018"), clock_period_ns=10.0)
    context = LabelContext(target=osu018, cache=new_cache(tmp_path / "cache"), options=options)
    planned = plan_designs([program], SPACE, context)
    tables = label_designs([program], planned.designs, context)

    def label(labels: list[LabelRow], context: LabelContext) -> list[LabelRow]:
        (target,) = LibraryTarget.chosen(context.options)
        return target.label([program], planned.designs, LabelTables(labels=labels), context).labels

    (row,) = label(tables.labels, context)

    (own,) = tables.labels
    assert (row.status, row.tool, row.liberty) == ("ok", "pyosys_osu035", "osu035")
    assert (row.tool_version, row.flip_flop_count) == (tool_version(), own.flip_flop_count)
    assert (row.area_um2 or 0) > 2 * (own.area_um2 or 0)  # cells of 0.35 um against 0.18 um
    assert (row.delay_ns or 0) > (own.delay_ns or 0)

    none = replace(context, options=with_synthesis(options, other_library_fraction=0.0))
    assert label(tables.labels, none) == []

    alone = [replace(own, area_um2=None, cell_count=None)]  # not mapped to the cells of osu018
    assert label(alone, context) == []
    unmapped = with_synthesis(options, other_library_fraction=0.0, other_library_unmapped_fraction=1.0)
    rows = label(alone, replace(context, options=unmapped))
    assert rows == [row]
    failed = [replace(own, status="timeout")]
    assert label(failed, context) == []
    (target,) = LibraryTarget.chosen(options)
    assert target.lacking(planned.designs, LabelTables(labels=alone), unmapped) == {row.design_id}
    assert target.lacking(planned.designs, LabelTables(labels=[*alone, row]), unmapped) == set()

    rows = ProgramRows(
        program=program,
        designs=planned.designs,
        outcomes=planned.directive_outcomes,
        labels=[*tables.labels, row],
        runs=tables.runs,
    )
    fresh, report = replace(context, cache=new_cache(tmp_path / "other")), CacheImport()
    import_rows(rows, fresh, report)
    assert (report.stored["synthesis"], report.different) == (2, [])
    monkeypatch.setattr(synthesis, "synthesize_design", None)
    assert label(tables.labels, fresh) == [row]
