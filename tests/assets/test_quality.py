from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from foundry_fakes import fill_tables, make_check, make_design, make_edge, make_label, make_run

from assets.checks import (
    CheckedFile,
    dangling_references,
    open_file,
    repeated_keys,
    schema_problems,
    too_many_failures,
)
from assets.dagster_assets import rules_of
from assets.settings import Settings
from assets.steps import STEPS, step_named
from assets.steps.labels import (
    labels_without_figures,
    unequal_cycles,
    unequal_runs,
    unknown_powers,
    unproven_labels,
)
from assets.steps.splits import split_leaks
from pipelines.cyclemodel import ENGINE
from pipelines.dataset.features import control_class
from pipelines.programs import kernel_programs
from pipelines.schemas import CROSS_CHECKS, TableSpec, read_table, table_spec, write_table

SUITE = "stencil"


@pytest.fixture
def made(settings: Settings, engines: Any, kept_tables: Path) -> Settings:
    """Every table of every suite."""
    return fill_tables(settings, kept_tables)


def _rewritten(settings: Settings, table: str, rows: Sequence[Any], partition: str = SUITE) -> CheckedFile:
    write_table(settings.deployment.data_dir, table_spec(table), rows, partition)
    return open_file(settings, table, partition)


def _rows(settings: Settings, table: str, partition: str = SUITE) -> list[Any]:
    return read_table(settings.deployment.data_dir, table_spec(table), [partition])


def test_sound_tables_break_no_rule(made: Settings) -> None:
    for step in (s for s in STEPS if s.is_active(made)):
        for table in step.tables:
            for partition in step.partitions(made):
                file = open_file(made, table, partition)
                assert {rule.name: rule.problems(file) for rule in rules_of(table)} == {
                    rule.name: [] for rule in rules_of(table)
                }


def test_every_table_has_blocking_schema_and_key_rules() -> None:
    for table in TableSpec.registry:
        blocking = {rule.name for rule in rules_of(table) if rule.blocking}
        assert {"schema", "unique_key"} <= blocking


def test_failure_rate_warns_and_the_truth_checks_block() -> None:
    blocking = {rule.name: rule.blocking for rule in rules_of("labels")}
    assert blocking["equals_native_c"]
    assert not blocking["failure_rate"]
    assert {rule.name: rule.blocking for rule in rules_of("splits")}["no_leak"]


def test_schema_rejects_other_columns(made: Settings) -> None:
    file = open_file(made, "labels", SUITE)
    lacking = replace(file, content=file.content.drop_columns(["area_um2"]))
    assert "column area_um2 is missing" in schema_problems(lacking)


def test_schema_rejects_measured_rows_of_other_designs(made: Settings) -> None:
    file = open_file(made, "labels", SUITE)
    fewer = replace(file, content=file.content.slice(1))
    assert schema_problems(fewer) == ["the measured file has other keys than the table"]


def test_keys_rejects_a_repeat(made: Settings) -> None:
    file = open_file(made, "loops", SUITE)
    twice = replace(file, content=pa.concat_tables([file.content, file.content.slice(0, 1)]))
    key = (file.content.column("program_id")[0].as_py(), 0)
    assert repeated_keys(twice) == [f"('program_id', 'loop_index') {key} stands in 2 rows"]


def test_references_rejects_a_design_that_is_not_there(made: Settings) -> None:
    stray = make_design(kernel_programs(suites=("irregular",), sizes=("small",))[0], 99)
    problems = dangling_references(_rewritten(made, "labels", [make_label(stray)]))
    assert problems == [f"('design_id',) {(stray.design_id,)} is not in table designs"]


def test_references_rejects_an_edge_to_no_node(made: Settings) -> None:
    design = _rows(made, "designs")[0]
    problems = dangling_references(_rewritten(made, "cdfg_edges", [make_edge(design, target=7)]))
    assert problems == [f"('design_id', 'target_index') {(design.design_id, 7)} is not in table cdfg_nodes"]


@pytest.mark.parametrize("equal", [False, None])
def test_equality_rejects_an_ok_run_that_differs(made: Settings, equal: bool | None) -> None:
    design = _rows(made, "designs")[0]
    problems = unequal_runs(_rewritten(made, "runs", [make_run(design, outputs_equal=equal)]))
    assert problems == [f"an ok run must equal native C, got design {design.design_id} data d0"]


def test_equality_accepts_a_mismatch_that_is_called_a_failure(made: Settings) -> None:
    design = _rows(made, "designs")[0]
    run = make_run(design, status="tool_error", reason="differs", outputs_equal=False)
    assert unequal_runs(_rewritten(made, "runs", [run])) == []


def test_equality_rejects_an_ok_label_without_proof(made: Settings) -> None:
    designs = _rows(made, "designs")
    wrong = make_run(designs[0], status="tool_error", reason="differs", outputs_equal=False)
    _rewritten(made, "runs", [wrong])
    problems = unproven_labels(open_file(made, "labels", SUITE))
    assert len(problems) == len(designs)
    assert any("got 1 runs, 1 of them not" in p and designs[0].design_id in p for p in problems)
    assert any("got 0 runs" in p for p in problems)


def test_split_rejects_a_group_on_two_sides(made: Settings) -> None:
    places = _rows(made, "splits", "by_kernel_v2")
    other = "test" if places[1].part != "test" else "train"
    moved = [places[0], replace(places[1], group=places[0].group, part=other), *places[2:]]
    moved[0] = replace(places[0], part="train" if other == "test" else "test")
    problems = split_leaks(_rewritten(made, "splits", moved, "by_kernel_v2"))
    assert problems == [
        f"a group must stand on one side of the split, got {places[0].group!r} on ['test', 'train']"
    ]


def test_split_rejects_one_source_on_two_sides(made: Settings) -> None:
    programs = _rows(made, "programs", "irregular")
    twin = replace(programs[0], program_id="twin", name="another")
    _rewritten(made, "programs", [*programs, twin], "irregular")
    places = _rows(made, "splits", "by_kernel_v2")
    own = next(p for p in places if p.program_id == programs[0].program_id)
    other = replace(own, program_id="twin", group="another", part="train" if own.part == "test" else "test")
    problems = split_leaks(_rewritten(made, "splits", [*places, other], "by_kernel_v2"))
    assert len(problems) == 1
    assert problems[0].startswith("a source must stand on one side of the split")
    _rewritten(
        made, "programs", [*programs, replace(twin, status="rejected", reason="too long")], "irregular"
    )
    assert split_leaks(_rewritten(made, "splits", [*places, other], "by_kernel_v2")) == []


def test_folds_rejects_graphs_that_differ_in_names_alone(made: Settings) -> None:
    [group] = step_named("fabric").partitions(made)
    [graph] = _rows(made, "fabric_graphs", group)
    nodes, edges = (_rows(made, table, group) for table in ("fabric_nodes", "fabric_edges"))
    [rule] = [rule for rule in rules_of("fabric_graphs") if rule.name == "folds_apart"]

    def problems(of_nodes: dict[str, Any], **changes: Any) -> list[str]:
        """Of the one graph, and of a copy in another fold with other names and these changes."""
        renamed = [replace(row, graph_id="twin", **{"name": f"n{row.node}", **of_nodes}) for row in nodes]
        _rewritten(made, "fabric_nodes", nodes + renamed, group)
        _rewritten(made, "fabric_edges", edges + [replace(row, graph_id="twin") for row in edges], group)
        twin = replace(graph, **{"graph_id": "twin", "name": "twin", "layer": "twin", "fold": 1, **changes})
        return rule.problems(_rewritten(made, "fabric_graphs", [graph, twin], group))

    assert not rule.blocking
    assert problems({}) == ["equal graphs in several folds: gemm_0000.0 (0), twin (1)"]
    assert problems({}, fold=0) == problems({}, family="bert_large") == problems({}, configuration="{}") == []
    assert problems({"stage": 7}) == problems({"work": 3.0}) == []


def test_split_rejects_a_program_without_a_place(made: Settings) -> None:
    places = _rows(made, "splits", "by_kernel_v2")
    problems = split_leaks(_rewritten(made, "splits", places[1:], "by_kernel_v2"))
    assert len(problems) == 1
    assert problems[0].startswith("no place in the split: ")


def test_failure_rate_rejects_more_than_the_configured_share(made: Settings) -> None:
    labels = _rows(made, "labels")
    failed = replace(labels[0], status="timeout", reason="late")
    problems = too_many_failures(_rewritten(made, "labels", [failed, *labels[1:]]))
    assert problems == ["25.0% of rows failed; accepted: at most 10%"]


CHECK_RULES = {
    "netlist_outputs": "netlist_equals_rtl",
    "netlist_icarus": "netlist_equals_rtl",
    "latency_cycles": "cycle_model_equals_verilator",
    "area_um2": "counts_equal_yosys_stat",
    "flip_flop_count": "counts_equal_yosys_stat",
    "delay_ns": "delay_equals_opensta",
    "switching_power_mw": "switching_power_equals_opensta",
    "internal_power_mw": "internal_power_equals_opensta",
}


def _broken_rules(file: CheckedFile) -> dict[str, list[str]]:
    found = {rule.name: rule.problems(file) for rule in rules_of(file.table)}
    return {name: problems for name, problems in found.items() if problems}


@pytest.mark.sample(4)
@pytest.mark.parametrize("check", CROSS_CHECKS)
@pytest.mark.parametrize(
    "changes",
    [
        {"value": 2.2},
        {"reference": 0.0},
        {"passed": False, "reason": "differs"},
        {"value": None},
        {"value": 2.2, "allowed": 1.0},
    ],
)
def test_a_cross_check_rejects_a_figure_that_differs(
    check: str, changes: dict[str, Any], made: Settings
) -> None:
    design = _rows(made, "designs")[0]
    rows = [make_check(design, name, **(changes if name == check else {})) for name in CROSS_CHECKS]
    broken = _broken_rules(_rewritten(made, "cross_checks", rows))
    assert set(broken) == {CHECK_RULES[check]}
    assert f"{check} must be within" in broken[CHECK_RULES[check]][0]
    assert f"for design {design.design_id}" in broken[CHECK_RULES[check]][0]


def test_every_cross_check_blocks_when_it_fails() -> None:
    rules = {rule.name: rule for rule in rules_of("cross_checks")}
    assert set(CHECK_RULES.values()) < set(rules)
    assert all(rules[name].blocking for name in CHECK_RULES.values())


def test_a_cross_check_that_could_not_be_made_warns_alone(made: Settings) -> None:
    design = _rows(made, "designs")[0]
    unmade = {"status": "tool_error", "reason": "no sta", "value": None, "passed": None}
    rows = [make_check(design, "delay_ns", **unmade), make_check(design, "latency_cycles")]
    assert set(_broken_rules(_rewritten(made, "cross_checks", rows))) == {"failure_rate"}


def test_powers_rejects_runs_that_lack_it(made: Settings) -> None:
    design = _rows(made, "designs")[0]
    lacking = make_run(design, power_status="infeasible", power_reason="no leakage", power_mw=None)
    problems = unknown_powers(_rewritten(made, "runs", [lacking]))
    assert problems == [
        "at most 10% of ok runs may lack their power, got 1 of 1, the first because no leakage"
    ]
    silent = make_run(design, engine=ENGINE, power_status=None, power_mw=None)
    assert unknown_powers(_rewritten(made, "runs", [silent])) != []


def test_powers_may_lack_where_they_were_not_asked_for(made: Settings) -> None:
    design = _rows(made, "designs")[0]
    of_another_tool = make_run(design, engine="bambu", power_status=None, power_mw=None)
    assert unknown_powers(_rewritten(made, "runs", [of_another_tool])) == []
    labelling = replace(made.configuration.labelling, power=False)
    without = replace(made, configuration=made.configuration.model_copy(update={"labelling": labelling}))
    unasked = make_run(design, engine=ENGINE, power_status=None, power_mw=None)
    assert unknown_powers(_rewritten(without, "runs", [unasked])) == []


def test_data_that_a_program_is_not_made_for_do_not_fail_its_label(made: Settings) -> None:
    (design, *_) = _rows(made, "designs")
    refused = make_run(design, data_id="d1", data_kind="sparse", status="rejected", outputs_equal=None)
    _rewritten(made, "labels", [make_label(design)])
    _rewritten(made, "runs", [make_run(design), refused])
    assert unproven_labels(open_file(made, "labels", SUITE)) == []
    _rewritten(made, "runs", [make_run(design), replace(refused, data_kind="drawn")])
    assert unproven_labels(open_file(made, "labels", SUITE)) != []
    _rewritten(made, "runs", [make_run(design), replace(refused, status="tool_error")])
    assert unproven_labels(open_file(made, "labels", SUITE)) != []


def test_power_may_lack_where_it_was_not_asked_for(made: Settings) -> None:
    (design, *_) = _rows(made, "designs")
    lacking: dict[str, Any] = {"power_status": None, "power_mw": None, "energy_nj": None}
    other = make_run(design, data_id="d1", data_kind="sorted", engine=ENGINE, **lacking)
    assert unknown_powers(_rewritten(made, "runs", [make_run(design), other])) == []
    drawn = replace(other, data_kind="drawn")
    assert unknown_powers(_rewritten(made, "runs", [make_run(design), drawn])) != []


def test_a_label_of_cycles_alone_must_be_outside_the_sample(made: Settings) -> None:
    (design, *_) = _rows(made, "designs")
    alone = make_label(design, area_um2=None, cell_count=None)
    problems = labels_without_figures(_rewritten(made, "labels", [alone]))
    assert problems == [f"an ok label must have area and cell count, got none for design {design.design_id}"]
    assert (
        unknown_powers(_rewritten(made, "runs", [make_run(design, engine=ENGINE, power_status=None)])) == []
    )
    others = [make_label(design), make_label(design, tool="synth_xilinx", area_um2=None, cell_count=None)]
    assert labels_without_figures(_rewritten(made, "labels", others)) == []
    synthesis = replace(made.configuration.synthesis, fraction=0.0)
    few = replace(made, configuration=made.configuration.model_copy(update={"synthesis": synthesis}))
    _rewritten(few, "designs", [replace(design, suite="ast")])
    assert labels_without_figures(_rewritten(few, "labels", [alone])) == []


def test_unequal_cycles_are_found_in_class_1_alone(made: Settings) -> None:
    programs = {program.program_id: program for program in _rows(made, "programs")}
    design = next(d for d in _rows(made, "designs") if control_class(programs[d.program_id]) == "I")
    first, second = make_run(design), make_run(design, data_id="d1", data_kind="sorted")
    assert unequal_cycles(_rewritten(made, "runs", [first, second])) == []
    changed = replace(second, latency_cycles=7)
    assert unequal_cycles(_rewritten(made, "runs", [first, changed])) == [
        "a design of class I must take the same cycles on all data, "
        f"got 7, {first.latency_cycles} for design {design.design_id}"
    ]
    failed = replace(changed, status="timeout")
    assert unequal_cycles(_rewritten(made, "runs", [first, failed])) == []
    branching = replace(
        programs[design.program_id],
        source="int f(int n)\n{\n    if (n > 3)\n        n = n / 3;\n    return n;\n}\n",
        top="f",
    )
    _rewritten(made, "programs", [branching])
    assert unequal_cycles(_rewritten(made, "runs", [first, changed])) == []
