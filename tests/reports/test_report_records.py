"""Records on the page: lengths of their prompts by format, stage and part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from report_examples import example_rows

from pipelines.dataset.records import PromptLengths
from pipelines.dataset.reports import draw_page, read_report

Write = Callable[[Path, Mapping[str, Sequence[Mapping[str, Any]]]], Path]


def _record(number: int, **changes: Any) -> dict[str, Any]:
    common = {"design_id": f"d{number}", "data_id": "x", "format": "direct", "level": "text", "stage": "ast"}
    common |= {"part": "train", "prompt": "p", "completion": "c", "left_out": None}
    return {**common, "prompt_characters": 100 * number, **changes}


def test_lengths_of_prompts_stand_by_format_stage_and_part(tmp_path: Path, write_rows: Write) -> None:
    rows = [_record(n) for n in range(21)]
    rows[3] |= {"left_out": "elements of a"}
    rows += [_record(1, part="unseen_delay"), _record(2, part="unseen_delay", prompt_characters=None)]
    report = read_report(write_rows(tmp_path / "tables", {**example_rows(5), "records": rows}), name="x")
    common = {"format": "direct", "stage": "ast"}
    assert report.lengths == (
        PromptLengths(
            **common, part="train", records=21, p5=100.0, median=1000.0, p95=1900.0, maximum=2000, left_out=1
        ),
        PromptLengths(
            **common,
            part="unseen_delay",
            records=1,
            p5=100.0,
            median=100.0,
            p95=100.0,
            maximum=100,
            left_out=0,
        ),
    )
    page = draw_page(report)
    assert 'id="records"' in page
    assert "unseen delay" in page
    assert "1,900" in page


def test_tables_without_records_have_no_section_of_them(tmp_path: Path, write_rows: Write) -> None:
    folder = write_rows(tmp_path / "tables", example_rows(5))
    assert 'id="records"' not in draw_page(read_report(folder, name="x"))
