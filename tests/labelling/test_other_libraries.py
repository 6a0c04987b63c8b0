"""Labels of designs in the cells of other libraries: their rows, and what the cache and an import keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling import (
    CacheImport,
    ConfigurationSpace,
    LabelContext,
    LabelOptions,
    ProgramRows,
    import_rows,
    label_designs,
    label_in_libraries,
    lacking_library_labels,
    plan_designs,
    synthesis,
)
from pipelines.programs import program_from_file
from pipelines.silicon.synthesis import Target, find_liberty, tool_version

SCALE = "void scale(int A[8], int B[8]) { for (int i = 0; i < 8; i++) B[i] = A[i] * 5 + 3; }\n"
SPACE = ConfigurationSpace(memory_delays=(2,), pipeline=(False,))


def test_labels_in_another_library_are_rows_that_an_import_keeps(
    tmp_path: Path, new_cache: Callable[[Path], ContentCache], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scale.c"
    path.write_text(SCALE)
    program = program_from_file(path, top="scale")
    options = LabelOptions(
        workers=1, audit_fraction=0.0, power=False, other_libraries=(find_liberty("osu035"),)
    )
    target = Target(liberty=find_liberty("osu018"), clock_period_ns=10.0)
    context = LabelContext(target=target, cache=new_cache(tmp_path / "cache"), options=options)
    planned = plan_designs([program], SPACE, context)
    tables = label_designs([program], planned.designs, context)

    (row,) = label_in_libraries([program], planned.designs, tables.labels, context)

    (own,) = tables.labels
    assert (row.status, row.tool, row.liberty) == ("ok", "pyosys_osu035", "osu035")
    assert (row.tool_version, row.flip_flop_count) == (tool_version(), own.flip_flop_count)
    assert (row.area_um2 or 0) > 2 * (own.area_um2 or 0)  # cells of 0.35 um against 0.18 um
    assert (row.delay_ns or 0) > (own.delay_ns or 0)

    none = replace(context, options=replace(options, other_library_fraction=0.0))
    assert label_in_libraries([program], planned.designs, tables.labels, none) == []

    alone = [replace(own, area_um2=None, cell_count=None)]  # not mapped to the cells of osu018
    assert label_in_libraries([program], planned.designs, alone, context) == []
    unmapped = replace(options, other_library_fraction=0.0, other_library_unmapped_fraction=1.0)
    rows = label_in_libraries([program], planned.designs, alone, replace(context, options=unmapped))
    assert rows == [row]
    failed = [replace(own, status="timeout")]
    assert label_in_libraries([program], planned.designs, failed, context) == []
    (liberty,) = options.other_libraries
    assert lacking_library_labels(planned.designs, alone, liberty, unmapped) == {row.design_id}
    assert lacking_library_labels(planned.designs, [*alone, row], liberty, unmapped) == set()

    rows = ProgramRows(
        program=program,
        designs=planned.designs,
        outcomes=planned.directive_outcomes,
        labels=[*tables.labels, row],
        runs=tables.runs,
    )
    fresh, report = replace(context, cache=new_cache(tmp_path / "other")), CacheImport()
    import_rows(rows, SPACE, fresh, report)
    assert (report.stored["synthesis"], report.different) == (2, [])
    monkeypatch.setattr(synthesis, "synthesize_design", None)
    assert label_in_libraries([program], planned.designs, tables.labels, fresh) == [row]
