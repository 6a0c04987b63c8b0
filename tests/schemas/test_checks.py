"""Every column of every table states its independent check, or that it has none."""

from __future__ import annotations

import pytest

from pipelines.schemas import CROSS_CHECKS, SchemaError, TableSpec, checks, table_spec
from pipelines.schemas.checks import column_checks
from pipelines.schemas.documentation import table_section


def test_every_column_of_every_table_states_its_check() -> None:
    for spec in TableSpec.registry.values():
        stated = column_checks(spec)
        assert list(stated) == [column.name for column in spec.columns]
        assert all(stated.values())


def test_figures_with_a_cross_check_name_it() -> None:
    stated = {**column_checks(table_spec("runs")), **column_checks(table_spec("labels"))}
    for check in CROSS_CHECKS:
        if check in stated:
            assert "sample" in stated[check], check


def test_the_page_says_which_columns_have_no_check() -> None:
    section = table_section(table_spec("labels"))
    assert "| `lut_count` | tests: " in section
    assert "`synthesis_wall_s` | none |" in section
    assert "| all | none |" in table_section(table_spec("promotions"))


def test_tables_of_loops_and_inputs_name_their_tests() -> None:
    for table in ("loops", "inputs", "loop_runs", "loop_profiles"):
        assert any(check.startswith("tests: ") for check in column_checks(table_spec(table)).values()), table
    assert "power" in column_checks(table_spec("designs"))["rtl_sha256"]


@pytest.mark.parametrize("names", ["area", "area_um2 area_um2"])
def test_checks_reject_an_unknown_column_and_a_repeated_one(
    names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "_SOURCES", {"labels": {names: "another program"}})
    with pytest.raises(SchemaError, match="checks of table labels name area"):
        column_checks(table_spec("labels"))


def test_checks_reject_a_table_without_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_SOURCES", {})
    with pytest.raises(SchemaError, match="no independent check is stated for table labels"):
        column_checks(table_spec("labels"))
