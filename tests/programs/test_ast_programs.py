"""Rows of the AST stage: deterministic, within their options, clean C."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from statistics import median

import pytest
from ast_support import dead_assignments, interface_of
from omegaconf import OmegaConf

from pipelines.c.signature import INT32
from pipelines.c.text.headers import INCLUDE_FOLDER
from pipelines.programs import ProgramError, draw_data
from pipelines.programs.ast import AstOptions, GeneratedProgram, ast_programs, generate_program, tree
from pipelines.programs.ast.tree import unread_names
from pipelines.schemas import OK, REJECTED
from tests.programs.loop_depths import loop_depth

OPTIONS = AstOptions()
WARNINGS = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror")


@pytest.fixture(scope="module")
def programs() -> list[GeneratedProgram]:
    return [generate_program(seed=1, number=k, options=OPTIONS) for k in range(120)]


def test_the_same_seed_gives_the_same_rows_for_any_count() -> None:
    rows = ast_programs(count=12, seed=3, options=OPTIONS)
    assert ast_programs(count=5, seed=3, options=OPTIONS) == rows[:5]
    assert len({row.program_id for row in rows}) == 12
    assert not {r.program_id for r in rows} & {
        r.program_id for r in ast_programs(count=12, seed=4, options=OPTIONS)
    }


def test_rows_say_what_a_program_is(programs: list[GeneratedProgram]) -> None:
    row = ast_programs(count=1, seed=1, options=OPTIONS)[0]
    assert (row.suite, row.stage, row.size, row.status) == ("ast", "ast", "custom", OK)
    assert row.source == programs[0].source
    assert f" {row.top}(" in row.source
    assert row.operators == tuple(sorted(row.operators))
    for name, value in json.loads(row.parameters).items():
        assert f"#define {name} {value}\n" in row.source


def test_every_argument_has_its_data(programs: list[GeneratedProgram]) -> None:
    for generated in programs[:20]:
        interface = interface_of(generated.program)
        assert set(generated.inputs) == {a.name for a in interface.arguments}
        data = draw_data(interface, json.dumps(generated.inputs), seed=0)
        for argument in interface.arguments:
            kind = generated.inputs[argument.name]
            assert kind["low"] <= data[argument.name].min(), argument.name
            assert data[argument.name].max() <= kind["high"], argument.name


def test_sizes_are_within_the_options(programs: list[GeneratedProgram]) -> None:
    assert [p.refused for p in programs if p.refused] == []
    lengths = [len(p.source) for p in programs]
    assert min(lengths) >= OPTIONS.source_bytes[0]
    assert max(lengths) <= OPTIONS.source_bytes[1]


def test_nothing_is_dead_by_static_analysis(programs: list[GeneratedProgram]) -> None:
    more = [generate_program(seed=0, number=k, options=OPTIONS) for k in range(200)]
    for generated in (*programs, *more):
        assert unread_names(generated.program) == (), generated.source
        assert dead_assignments(generated.program) == [], generated.source


def test_static_analysis_finds_what_is_dead(programs: list[GeneratedProgram]) -> None:
    program = programs[0].program
    zero = tree.Constant(type=INT32, low=0, high=0, value=0)
    unused = tree.Variable(name="unused", type=INT32, low=0, high=0)
    top = replace(program.top, body=(tree.Declare(variable=unused, value=zero), *program.top.body))
    broken = replace(program, functions=(*program.functions[:-1], top))
    assert unread_names(broken) == ("unused",)
    assert dead_assignments(broken) == ["unused"]


def test_gcc_has_no_warning(programs: list[GeneratedProgram], tmp_path: Path) -> None:
    headers = ("-nostdinc", "-isystem", str(INCLUDE_FOLDER))
    paths = []
    for number, generated in enumerate(programs):
        paths.append(tmp_path / f"p{number}.c")
        paths[-1].write_text(generated.source, encoding="utf-8")
    argv = ["gcc", *WARNINGS, *headers, "-fsyntax-only", *map(str, paths)]
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    # Some warnings need the optimiser.
    for path in paths[:5]:
        argv = ["gcc", *WARNINGS, *headers, "-S", "-o", str(tmp_path / "s"), str(path)]
        assert subprocess.run(argv, capture_output=True, text=True, check=False).stderr == ""


# ---- options ---------------------------------------------------------------------------------------


def test_loop_depths_follow_their_weights(programs: list[GeneratedProgram]) -> None:
    depths = Counter(loop_depth(p.program.top.body) for p in programs)
    assert median(depths.elements()) >= 3
    assert max(depths) == 5
    deep = replace(OPTIONS, loop_depth_weights=(0, 0, 0, 0, 1))
    found = [loop_depth(generate_program(seed=2, number=k, options=deep).program.top.body) for k in range(20)]
    assert set(found) == {4}


def test_data_types_are_those_asked_for() -> None:
    options = replace(OPTIONS, data_types=("float",))
    for number in range(15):
        program = generate_program(seed=2, number=number, options=options).program
        for parameter in program.top.parameters:
            assert parameter.type.floating or isinstance(parameter, tree.Variable)


def test_operators_are_those_asked_for() -> None:
    options = replace(OPTIONS, operators=("+", "*"), control_share=0.0, helper_probability=0.0)
    for row in ast_programs(count=15, seed=2, options=options):
        # Subscripts have "-", and masks and remainders keep them and other values in range.
        assert set(row.operators) <= {"+", "*", "-", "&", "%", "for", "fmin", "fmax", "fminf", "fmaxf", ">>"}


def test_without_control_there_are_loops_only() -> None:
    options = replace(OPTIONS, control_share=0.0, operators=("+", "-", "*"))
    for row in ast_programs(count=15, seed=5, options=options):
        assert not {"if", "while", "switch", "break", "continue", "?:"} & set(row.operators)


def test_every_kind_of_control_occurs(programs: list[GeneratedProgram]) -> None:
    used = {name for p in programs for name in tree.operators_of(p.program)}
    assert {"for", "while", "if", "switch", "break", "continue", "call", "?:"} <= used
    assert {"+", "-", "*", "/", "%", "&", "|", "^", "~", "<<", ">>", "&&", "||"} <= used


def test_a_program_outside_its_bounds_is_a_rejected_row() -> None:
    rows = ast_programs(count=2, seed=0, options=replace(OPTIONS, source_bytes=(5990, 6000)))
    assert [r.status for r in rows] == [REJECTED, REJECTED]
    assert "a source must have 5990 .. 6000 bytes, got " in str(rows[0].reason)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data_types": ("int128_t",)}, r"data_types must be of int8_t, .*, got int128_t"),
        ({"data_types": ()}, r"data_types must not be empty"),
        ({"operators": ("-",)}, r"operators must have \+, got \('-',\)"),
        (
            {"loop_depth_weights": (1, -1)},
            r"loop_depth_weights must be 1 to 7 weights .*, got \(1, -1\)",
        ),
        ({"control_weights": (1, 2)}, r"control_weights must be 6 to 6 weights"),
        ({"control_share": 1.5}, r"control_share must be 0 \.\. 1, got 1\.5"),
        ({"statements": (5, 2)}, r"statements must be a least and a most between 1 and 200, got \(5, 2\)"),
        ({"max_expression_depth": 0}, r"max_expression_depth must be 1 \.\. 6, got 0"),
    ],
)
def test_options_rejects_what_is_outside(change: dict[str, object], message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        replace(OPTIONS, **change)  # type: ignore[arg-type]


def test_the_configuration_has_every_option_at_its_default(repository: Path) -> None:
    loaded = OmegaConf.to_container(OmegaConf.load(repository / "conf" / "ast" / "default.yaml"))
    assert isinstance(loaded, dict)
    assert loaded["count"] > 0
    assert loaded["seed"] == 0
    plain = {k: tuple(v) if isinstance(v, list) else v for k, v in loaded["options"].items()}
    assert plain == {f.name: getattr(OPTIONS, f.name) for f in fields(OPTIONS)}
