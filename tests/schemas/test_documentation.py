"""The page of tables says what the declarations say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.schemas import TableSpec, table_spec
from pipelines.schemas.documentation import main, stage_order, tables_page


def test_committed_page_is_the_derived_one(repository: Path) -> None:
    committed = (repository / "docs" / "tables.md").read_text(encoding="utf-8")
    assert committed == tables_page(), "run `make docs` and commit docs/tables.md"


def test_page_names_every_column_of_every_table() -> None:
    page = tables_page()
    for spec in TableSpec.registry.values():
        section = page.split(f"\n## {spec.name}\n")[1].split("\n## ")[0]
        for column in spec.columns:
            assert f"| `{column.name}` |" in section, f"{spec.name}.{column.name}"
            assert column.description in section


def test_page_marks_keys_units_choices_and_measures() -> None:
    page = tables_page([table_spec("labels")])
    assert "| `design_id` | string |  | *Key.* Design that was synthesised. |" in page
    assert "| `area_um2` | double or null | um2 | Standard-cell area. |" in page
    assert "*Measured.* Time of logic synthesis" in page
    assert "One of `ok`, `timeout`, `tool_error`, `infeasible`, `rejected`." in page


def test_stages_follow_the_references_of_tables() -> None:
    order = stage_order(TableSpec.registry.values())
    chain = [order.index(stage) for stage in ("programs", "designs", "labels", "records", "vendor")]
    assert chain == sorted(chain)
    assert set(order) == {spec.stage for spec in TableSpec.registry.values()}


def test_a_new_stage_needs_no_entry() -> None:
    assert "Stage `lab`." in tables_page([replace(table_spec("labels"), stage="lab")])


def test_main_writes_the_page(tmp_path: Path) -> None:
    main([str(tmp_path / "tables.md")])
    assert (tmp_path / "tables.md").read_text(encoding="utf-8") == tables_page()


def test_main_rejects_anything_but_one_file() -> None:
    with pytest.raises(SystemExit, match=r"one argument, the file of the page; got \['a', 'b'\]"):
        main(["a", "b"])
