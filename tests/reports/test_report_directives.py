"""Directives on the page: failures of their rows, and the section of the searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from report_examples import example_rows

from pipelines.dataset.reports import draw_page, read_report

Write = Callable[[Path, Mapping[str, Sequence[Mapping[str, Any]]]], Path]
REASON = "the design needs 3 mm2, more than 1"


def _step(step: int, **changes: Any) -> dict[str, Any]:
    common = {"exploration_id": "e", "step": step, "program_id": "p000", "kernel": "gemm", "size": "small"}
    common |= {"method": "nlp_dse", "target": "u200", "decision": "evaluated", "status": "ok", "reason": None}
    return {**common, "latency_cycles": 150, "bound_cycles": 100.0, "solver_wall_s": 0.5, **changes}


@pytest.fixture
def folder(tmp_path: Path, write_rows: Write) -> Path:
    rows = example_rows(5)
    rows["programs"] = rows["programs"][:5]
    steps = [
        _step(0),
        _step(1, latency_cycles=120),
        _step(2, status="infeasible", reason=REASON, latency_cycles=None),
        _step(3, decision="repeated", latency_cycles=None),
    ]
    return write_rows(tmp_path / "tables", {**rows, "pragma_designs": steps})


def test_rows_of_directives_that_failed_are_failures(folder: Path) -> None:
    report = read_report(folder, name="x")
    assert [(r.table, r.stage, r.status, r.rows) for r in report.inventory.reasons] == [
        ("pragma_designs", "kernel", "infeasible", 1)
    ]
    page = draw_page(report)
    assert "No row failed." not in page
    assert REASON in page
    assert all("pragma_designs" not in suite.counts for suite in report.inventory.suites)


def test_searches_are_counted_and_the_best_design_is_beside_its_bound(folder: Path) -> None:
    directives = read_report(folder, name="x").directives
    assert directives is not None
    [search] = directives.searches
    assert (search.valid, search.failed, search.repeated, search.pruned) == (2, 1, 1, 0)
    assert search.solver_s == 0.5
    [best] = directives.best
    assert (best.program, best.measured, best.best_cycles, best.bound_cycles) == ("gemm small", 3, 120, 100)
    assert best.gap == pytest.approx(0.2)


def test_a_search_without_a_valid_design_has_no_gap(tmp_path: Path, write_rows: Write) -> None:
    rows = [_step(0, status="timeout", latency_cycles=None)]
    report = read_report(write_rows(tmp_path / "tables", {"pragma_designs": rows}), name="x")
    assert report.directives is not None
    assert [best.gap for best in report.directives.best] == [None]
    assert 'id="directives"' in draw_page(report)


def test_a_page_without_searches_has_no_section_of_them(example: Path) -> None:
    assert 'id="directives"' not in draw_page(read_report(example, name="x"))
