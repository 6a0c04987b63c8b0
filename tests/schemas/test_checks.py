"""Every column of every table states its independent check, or that it has none."""

from __future__ import annotations

import pytest

from pipelines.schemas import CROSS_CHECKS, LabelRow, SchemaError, TableSpec, table_spec
from pipelines.schemas.columns import table
from pipelines.schemas.documentation import table_section


def column_checks(spec: TableSpec) -> dict[str, str]:
    return {column.name: column.checked_by for column in spec.columns}


def test_every_column_of_every_table_states_its_check() -> None:
    for spec in TableSpec.registry.values():
        assert all(column_checks(spec).values())
    assert set(column_checks(table_spec("vendor_loops")).values()) == {
        "none; as the vendor's tool reported it"
    }


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
    for name in ("loops", "inputs", "loop_runs", "loop_profiles"):
        assert any(check.startswith("tests: ") for check in column_checks(table_spec(name)).values()), name
    assert "power" in column_checks(table_spec("designs"))["rtl_sha256"]


@pytest.mark.parametrize("names", ["area", "area_um2 area_um2"])
def test_checks_reject_an_unknown_column_and_a_repeated_one(
    names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TableSpec, "registry", dict(TableSpec.registry))
    with pytest.raises(SchemaError, match="checks of table labels name area"):
        table("labels", stage="labels", checked_by={names: "another program"})(LabelRow)
