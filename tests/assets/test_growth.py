"""Growth of the nightly run under a budget of core-hours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from foundry_fakes import make_design, make_label, make_run

from assets.configuration import compose_configuration, may_promote
from assets.errors import FoundryError
from assets.growth import GROWTH_FILE, choose_growth, grow_configuration
from assets.settings import Configuration
from pipelines.programs import kernel_programs
from pipelines.schemas import read_table, table_spec, write_table

SMALL = ("scale=nightly", "programs.suites=[ast,stencil]", "ast.count=2")
NIGHT = (*SMALL, "run.nightly.budget_core_hours=0.01")


@pytest.fixture
def night() -> Configuration:
    return compose_configuration(NIGHT)


def _label(data_dir: Path, count: int, seconds: float) -> None:
    """Write programs of suite ast with a design each, whose label and run take half of the seconds each."""
    kernel = kernel_programs(suites=("stencil",), sizes=("small",))[0]
    programs = [replace(kernel, program_id=f"{n:032}", suite="ast") for n in range(count)]
    designs = [make_design(program, 2) for program in programs]
    rows = {
        "programs": programs,
        "designs": designs,
        "labels": [make_label(design, synthesis_wall_s=seconds / 2) for design in designs],
        "runs": [make_run(design, power_wall_s=seconds / 2) for design in designs],
    }
    for table, own in rows.items():
        write_table(data_dir, table_spec(table), own, "ast")


def test_the_first_night_has_the_programs_of_its_scale(night: Configuration, tmp_path: Path) -> None:
    growth = choose_growth(night, tmp_path)
    assert (growth.counts, growth.added, growth.expected_core_hours) == ({"ast": 2}, {"ast": 0}, 0.0)


def test_every_night_adds_programs_within_the_budget(night: Configuration, tmp_path: Path) -> None:
    _label(tmp_path, 2, seconds=10.0)
    growth = choose_growth(night, tmp_path)
    assert (growth.counts, growth.added) == ({"ast": 5}, {"ast": 3})
    assert growth.program_s == pytest.approx({"ast": 10.55})  # the fake designs take 0.55 s
    assert growth.expected_core_hours == pytest.approx(3 * 10.55 / 3600)
    grown = grow_configuration(night, growth.counts)
    assert (grown.ast.count, grown.dataflow.count) == (5, night.dataflow.count)
    assert choose_growth(night, tmp_path).added == {"ast": 0}  # the three are not labelled yet
    _label(tmp_path, 5, seconds=20.0)
    assert choose_growth(night, tmp_path).counts == {"ast": 6}


def test_labels_of_the_night_before_are_no_labels_of_the_last_one(
    night: Configuration, tmp_path: Path
) -> None:
    """A night that fails between programs and labels leaves the earlier file of labels."""
    _label(tmp_path, 3, seconds=10.0)
    labels = read_table(tmp_path, table_spec("labels"))
    write_table(tmp_path, table_spec("labels"), labels[:2], "ast")
    assert choose_growth(night, tmp_path).added == {"ast": 0}


def test_a_damaged_file_is_named(night: Configuration, tmp_path: Path) -> None:
    (tmp_path / GROWTH_FILE).write_text("{")
    with pytest.raises(FoundryError, match=GROWTH_FILE):
        choose_growth(night, tmp_path)


def test_without_a_budget_nothing_grows(tmp_path: Path) -> None:
    _label(tmp_path, 2, seconds=10.0)
    still = compose_configuration([*SMALL, "run.nightly.budget_core_hours=0"])
    assert choose_growth(still, tmp_path).counts == {"ast": 2}


def test_models_of_a_grown_night_may_be_promoted() -> None:
    night = compose_configuration(["scale=nightly"])
    assert may_promote(grow_configuration(night, {"ast": 500, "dataflow": 21}))
    assert not may_promote(grow_configuration(night, {"ast": 1}))
    assert not may_promote(compose_configuration(["scale=nightly", "ast.seed=1"]))
