from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from foundry_fakes import make_label, plan_designs

from assets.dvc_stages import dvc_yaml
from assets.errors import FoundryError
from assets.label_settings import label_options
from assets.overview import environment_problems
from assets.settings import Settings, ignore_progress
from assets.step import count_failures
from assets.steps import STEPS, check_tables, step_named, steps_of
from pipelines.dataset.labelling import ConfigurationSpace
from pipelines.programs import kernel_programs
from pipelines.schemas import SchemaError, TableSpec, read_table, table_path, table_spec


def _run(settings: Settings, *names: str, partition: str = "stencil") -> list[Any]:
    return [step_named(n).make(settings, partition, ignore_progress) for n in names]


def _file(settings: Settings, table: str, partition: str = "stencil") -> Path:
    return table_path(settings.deployment.data_dir, table_spec(table), partition)


def test_every_table_is_made_by_one_step_of_its_stage() -> None:
    pairs = {(table, table_spec(table).stage) for step in STEPS for table in step.tables}
    own = [spec for spec in TableSpec.registry.values() if spec.stage != "vendor"]  # which is imported
    assert pairs == {(s.name, s.stage) for s in own}


def test_steps_reject_an_undeclared_table() -> None:
    step = replace(step_named("designs"), tables=("designs", "desings"))
    with pytest.raises(FoundryError, match="step designs: unknown table: desings; nearest: designs"):
        check_tables([step])
    with pytest.raises(FoundryError, match="unknown table: lables; nearest: labels"):
        check_tables([replace(step_named("designs"), reads=("lables",))])


def test_every_table_is_made_before_it_is_read() -> None:
    made: set[str] = set()
    for step in STEPS:
        assert set(step.reads) <= made
        made |= set(step.tables)


def test_steps_write_their_tables_and_count_them(settings: Settings, engines: Any) -> None:
    summaries = _run(settings, "programs", "designs", "labels", "features")
    rows = {table: n for s in summaries for table, n in s.rows.items()}
    assert rows["programs"] == 2
    assert rows["designs"] == rows["labels"] == rows["runs"] == 4
    for table, count in rows.items():
        assert len(read_table(settings.deployment.data_dir, table_spec(table))) == count


def test_a_step_writes_the_same_bytes_again(settings: Settings, engines: Any) -> None:
    _run(settings, "programs", "designs")
    before = _file(settings, "designs").read_bytes()
    _run(settings, "designs")
    assert _file(settings, "designs").read_bytes() == before


def test_engines_are_given_what_the_configuration_says(settings: Settings) -> None:
    assert settings.group(ConfigurationSpace).memory_delay == (2, 10)
    assert settings.group(ConfigurationSpace).pipeline == (False,)
    assert label_options(settings).workers == 1
    assert label_options(settings).data_seeds == (0,)
    assert settings.cache.folder == settings.deployment.cache_dir


def test_a_long_reason_keeps_what_blames_the_machine(settings: Settings) -> None:
    programs = kernel_programs(suites=("stencil",), sizes=("small",))
    design = plan_designs(programs, settings.group(ConfigurationSpace), on_progress=ignore_progress).designs[
        0
    ]
    reason = f"a netlist is no JSON: {'x' * 100} at (); No space left on device: 0 bytes"
    failures = count_failures("labels", [make_label(design, status="tool_error", reason=reason)])
    assert environment_problems(failures) == [f"1 labels failed: {reason[:100]} ... No space left"]


def test_failures_are_counted_by_table_status_and_reason(settings: Settings) -> None:
    programs = kernel_programs(suites=("stencil",), sizes=("small",))
    design = plan_designs(programs, settings.group(ConfigurationSpace), on_progress=ignore_progress).designs[
        0
    ]
    rows = [
        make_label(design),
        make_label(design, status="timeout", reason="yosys  must end\nin 5 s"),
        make_label(design, status="timeout", reason="yosys must end in 5 s"),
    ]
    expected = {("labels", "timeout", "yosys must end in 5 s"): 2}
    assert count_failures("labels", rows) == expected


def test_a_split_has_every_program_once_and_forgets_those_left_out(settings: Settings, engines: Any) -> None:
    for suite in settings.configuration.programs.suites:
        _run(settings, "programs", partition=suite)
    _run(settings, "splits", partition="by_kernel_v2")
    everything = read_table(settings.deployment.data_dir, table_spec("splits"))
    assert len({p.program_id for p in everything}) == len(everything) == 16
    programs = settings.configuration.programs.model_copy(update={"suites": ("stencil",)})
    fewer = Settings(
        configuration=settings.configuration.model_copy(update={"programs": programs}),
        deployment=settings.deployment,
    )
    _run(fewer, "splits", partition="by_kernel_v2")
    left = read_table(settings.deployment.data_dir, table_spec("splits"))
    assert len(left) == 2
    assert set(left) < set(everything)


def test_a_split_keeps_a_place_given_before(settings: Settings, engines: Any) -> None:
    from dataclasses import replace

    from pipelines.schemas import write_table

    for suite in settings.configuration.programs.suites:
        _run(settings, "programs", partition=suite)
    _run(settings, "splits", partition="by_kernel_v2")
    data_dir = settings.deployment.data_dir
    rows = read_table(data_dir, table_spec("splits"))
    moved = [replace(r, part="test") if r.group == "gemm" else r for r in rows]
    write_table(data_dir, table_spec("splits"), moved, "by_kernel_v2")
    _run(settings, "splits", partition="by_kernel_v2")
    assert read_table(data_dir, table_spec("splits")) == moved


def test_a_damaged_file_is_made_anew_by_its_own_step(settings: Settings, engines: Any) -> None:
    _run(settings, "programs", "designs")
    good = _file(settings, "designs").read_bytes()
    _file(settings, "designs").write_bytes(good[:100])
    _run(settings, "designs")
    assert _file(settings, "designs").read_bytes() == good


def test_a_step_rejects_a_damaged_input(settings: Settings, engines: Any) -> None:
    _run(settings, "programs", "designs")
    path = _file(settings, "designs")
    path.write_bytes(b"not parquet")
    with pytest.raises(SchemaError, match=r"designs/stencil\.parquet is damaged"):
        _run(settings, "labels")


def test_a_step_rejects_a_missing_input(settings: Settings, engines: Any) -> None:
    with pytest.raises(FoundryError, match=r"table programs has no file .*run `simfoundry stage programs`"):
        _run(settings, "designs")


def test_partitions_are_suites_groups_or_the_one_file_over_all(settings: Settings) -> None:
    suites = ("linear_algebra", "stencil", "irregular")
    assert step_named("labels").partitions(settings) == suites
    assert step_named("splits").partitions(settings) == ("by_kernel_v2",)
    assert step_named("stage_reports").partitions(settings) == ("all",)
    assert step_named("records").partitions(settings) == ("by_kernel_v2",)
    assert step_named("network").partitions(settings) == ("small-16",)
    assert step_named("tenset_mlp").partitions(settings) == ("tenset-mlp",)


def test_dvc_yaml_is_what_the_steps_say(repository: Path) -> None:
    assert (repository / "dvc.yaml").read_text() == dvc_yaml(), "stale: run `make docs`"


def test_steps_rejects_an_unknown_stage() -> None:
    with pytest.raises(FoundryError, match=r"unknown stage: paint; accepted: programs, designs, "):
        steps_of("paint")
