"""Programs of the stages in other dialects: equal results, and where a rewriting must not be applied."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from pipelines.c import read_interface
from pipelines.c.signature import same_values
from pipelines.native import run_native
from pipelines.programs import ProgramError
from pipelines.programs.ast import AstOptions, ast_program
from pipelines.programs.ast.options import AstPart
from pipelines.programs.collections import c_features
from pipelines.programs.data import draw_data
from pipelines.programs.dataflow import DataflowOptions, dataflow_program
from pipelines.programs.dialects import DIALECTS, OWN, dialect_of, in_dialect
from pipelines.programs.dialects.counters import CounterTypes, retype_counters
from pipelines.programs.dialects.expressions import (
    compound_assignments,
    extract_function,
    group_state,
    use_bits,
)
from pipelines.programs.dialects.loops import continue_early, loop_otherwise, walk_pointers
from pipelines.programs.dialects.unit import Unit, read_unit, write_unit
from pipelines.schemas import OK, ProgramRow

SEED = 4
NUMBERS = (0, 1)
HEAD = "#define N 8\n"
UNSIGNED = CounterTypes(loops=(("unsigned", 1),), rising=(("unsigned", 1),), most_casts=9)


def results(row: ProgramRow, folder: Path) -> tuple[object, ...]:
    """Native status, returned value and outputs of a program on one data set."""
    interface = read_interface(row.source, row.top)
    run = run_native(row.source, interface, draw_data(interface, row.inputs, seed=0), folder=folder)
    assert run.status == OK, run.reason
    return run.returned, run.outputs


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, ProgramRow, tuple[object, ...]]]:
    """Programs of both stages in their own dialect with their results."""
    programs = [(n, ast_program(n, seed=SEED, options=AstOptions())) for n in NUMBERS]
    options = DataflowOptions(maximum_operators=2, control_weight=20.0)
    programs.append((0, dataflow_program(0, seed=SEED, options=options)))
    folder = tmp_path_factory.mktemp("own")
    return [(n, row, results(row, folder / row.name)) for n, row in programs]


@pytest.mark.parametrize("dialect", DIALECTS[1:])
def test_programs_have_the_same_results_in_every_dialect(
    dialect: str, originals: list[tuple[int, ProgramRow, tuple[object, ...]]], tmp_path: Path
) -> None:
    for number, row, (returned, outputs) in originals:
        rewritten = in_dialect(row, dialect, seed=SEED, number=number)
        assert rewritten.source != row.source
        assert rewritten.inputs == row.inputs
        own_returned, own_outputs = results(rewritten, tmp_path / row.name)
        assert own_returned == returned
        assert isinstance(outputs, dict)
        assert isinstance(own_outputs, dict)
        assert all(same_values(own_outputs[name], outputs[name]) for name in outputs)


def test_dialects_have_the_constructs_that_they_are_for() -> None:
    rows = [ast_program(n, seed=SEED, options=AstOptions()) for n in range(8)]
    shares = {
        dialect: Counter(
            feature
            for n, row in enumerate(rows)
            for feature in c_features(in_dialect(row, dialect, seed=SEED, number=n).source)
        )
        for dialect in DIALECTS
    }
    assert shares["plain"]["unsigned"] > shares[OWN]["unsigned"]
    assert shares["plain"]["while"] > shares[OWN]["while"]
    assert shares["embedded"]["pointer-walk"] >= 3
    assert shares["embedded"]["do-while"] >= 3
    assert shares["embedded"]["struct"] >= 1
    kernels = [in_dialect(row, "polybench", seed=SEED, number=n) for n, row in enumerate(rows)]
    assert all(k.top.startswith("kernel_") and f"{k.top}(" in k.source for k in kernels)
    assert sum("#pragma scop" in k.source and "_PB_N" in k.source for k in kernels) >= 5


def test_a_dialect_follows_from_seed_and_number_and_has_its_share() -> None:
    weights = (1.0, 0.0, 2.0, 1.0)
    drawn = Counter(dialect_of(weights, stage="ast", seed=0, number=n) for n in range(2000))
    assert drawn["polybench"] == 0
    assert drawn["plain"] == pytest.approx(1000, abs=100)
    assert drawn[OWN] == pytest.approx(500, abs=80)
    options = AstOptions(dialect_weights=(0, 0, 1, 0))
    own = ast_program(0, seed=SEED, options=AstOptions())
    assert ast_program(0, seed=SEED, options=options) == in_dialect(own, "plain", seed=SEED, number=0)
    part = AstPart(share=1.0, options=AstOptions())
    mixed = AstOptions(dialect_weights=(0, 0, 1, 0), mix=(part,))
    assert ast_program(0, seed=SEED, options=mixed) == ast_program(0, seed=SEED, options=options)


def test_programs_before_the_first_with_a_dialect_keep_their_text() -> None:
    plain, later = AstOptions(), AstOptions(dialect_weights=(0, 1, 1, 1), dialect_first=1)
    assert ast_program(0, seed=SEED, options=later) == ast_program(0, seed=SEED, options=plain)
    assert ast_program(1, seed=SEED, options=later).source != ast_program(1, seed=SEED, options=plain).source
    flow, later_flow = DataflowOptions(), DataflowOptions(dialect_weights=(0, 1, 1, 1), dialect_first=1)
    assert dataflow_program(0, seed=SEED, options=later_flow) == dataflow_program(0, seed=SEED, options=flow)


@pytest.mark.parametrize("weights", [(1.0,), (0.0, 0.0, 0.0, 0.0), (1.0, -1.0, 1.0, 1.0)])
def test_options_reject_weights_that_are_no_distribution(weights: tuple[float, ...]) -> None:
    rule = r"^dialect_weights must be empty, or weights >= 0 of own, polybench, plain, embedded, one above 0"
    for options in (AstOptions, DataflowOptions):
        with pytest.raises(ProgramError, match=rule):
            options(dialect_weights=weights)


def test_in_dialect_rejects_an_unknown_dialect() -> None:
    row = ast_program(0, seed=SEED, options=AstOptions())
    with pytest.raises(ProgramError, match=r"^unknown dialect: cobol; accepted: own, polybench, plain, emb"):
        in_dialect(row, "cobol", seed=0, number=0)


# ---- single rewritings -------------------------------------------------------------------------------------


def unit_of(body: str) -> Unit:
    """Return a program of one function on arrays x, y and z."""
    text = f"{HEAD}void top(int x[N], int y[N], unsigned z[N], int n) {{ {body} }}"
    return read_unit(text, top="top", random=Random(0))


def rewritten(unit: Unit) -> str:
    """Return the text of a program in one line."""
    return " ".join(write_unit(unit).split())


def test_an_unsigned_counter_is_cast_where_an_operand_may_be_negative() -> None:
    unit = unit_of("for (int i = 0; i < N; i++) { if (i - 4 < x[i]) y[i] = x[i] * i + x[N - 1 - i]; }")
    retype_counters(unit, UNSIGNED)
    text = rewritten(unit)
    assert "for (unsigned i = 0; i < N; i++)" in text
    assert "(int)i - 4 < x[i]" in text
    assert "x[i] * (int)i + x[N - 1 - i]" in text


def test_an_unsigned_counter_is_not_cast_where_values_are_exact() -> None:
    unit = unit_of("for (int i = 0; i < N; i++) { if (i % 2 < 1) y[i] = (i + 1) / 2; z[i] = z[i] + i; }")
    retype_counters(unit, UNSIGNED)
    assert "(int)" not in rewritten(unit)


def test_an_unsigned_counter_counts_down_to_zero_before_its_body() -> None:
    unit = unit_of("for (int i = N - 1; i >= 0; i--) { y[i] = x[i]; }")
    retype_counters(unit, UNSIGNED)
    assert "for (unsigned i = N; i-- > 0;)" in rewritten(unit)


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = N - 2; i >= 0; i -= 2) { y[i] = x[i]; }",
        "for (int i = x[0]; i < N; i++) { y[0] = y[0] + 1; }",
        "int s = 0; s -= x[0]; y[0] = s;",
        "int s = 1; s = s * x[0]; y[0] = s;",
    ],
)
def test_a_variable_that_may_be_negative_stays_int(body: str) -> None:
    unit = unit_of(body)
    retype_counters(unit, UNSIGNED)
    assert "unsigned i" not in rewritten(unit)
    assert "unsigned s" not in rewritten(unit)


@pytest.mark.parametrize(("bound", "fits"), [(255, True), (256, False)])
def test_a_narrow_counter_holds_the_value_behind_its_loop(bound: int, fits: bool) -> None:
    unit = unit_of(f"for (int i = 0; i < {bound}; i++) {{ y[0] = y[0] + 1; }}")
    retype_counters(unit, CounterTypes(loops=(("uint8_t", 1),), rising=(("uint8_t", 1),)))
    assert ("uint8_t i" in rewritten(unit)) == fits


def test_a_step_stands_before_each_continue_of_a_while_loop() -> None:
    unit = unit_of("for (int i = 0; i < N; i++) { if (x[i] > 2) continue; y[i] = 1; }")
    loop_otherwise(unit, while_share=1.0, do_share=1.0)
    expected = "int i = 0; while (i < N) { if (x[i] > 2) { i++; continue; } y[i] = 1; i++; }"
    assert expected in rewritten(unit)


def test_a_loop_that_may_not_run_is_no_do_loop() -> None:
    unit = unit_of("for (int i = 0; i < n; i++) { y[i] = 1; }")
    loop_otherwise(unit, while_share=0.0, do_share=1.0)
    assert "do {" not in rewritten(unit)


def test_a_second_counter_of_a_block_uses_the_first_ones_variable() -> None:
    unit = unit_of("for (int i = 0; i < N; i++) { y[i] = 1; } for (int i = 0; i < N; i++) { x[i] = 1; }")
    loop_otherwise(unit, while_share=1.0, do_share=0.0)
    assert "i++; } i = 0; while (i < N)" in rewritten(unit)


def test_a_condition_on_floats_is_negated_as_a_whole() -> None:
    unit = unit_of("for (int i = 0; i < N; i++) { if ((float)x[i] < 0.5f) { y[i] = 1; x[i] = 2; } }")
    continue_early(unit, 1.0)
    assert "if (!((float)x[i] < 0.5f)) { continue; } y[i] = 1; x[i] = 2;" in rewritten(unit)


def test_a_pointer_walks_only_with_an_unconditional_access() -> None:
    unit = unit_of("for (int i = 0; i < N; i++) { y[i] = 3; if (i < 2) x[i] = 4; }")
    walk_pointers(unit, share=1.0, most=3)
    expected = "int *p_y = y; for (int i = 0; i < N; i++) { *p_y++ = 3; if (i < 2) { x[i] = 4; } }"
    assert expected in rewritten(unit)
    unit = unit_of("for (int i = 0; i < N; i++) { if (x[i] > 1) continue; y[i] = 3; }")
    walk_pointers(unit, share=1.0, most=3)
    assert "*p_" not in rewritten(unit)


def test_masks_are_of_numbers_that_are_not_negative() -> None:
    unit = unit_of("for (int i = 0; i < N; i++) { y[i % 4] = x[i] % 4; z[i] = z[i] / 8u; }")
    use_bits(unit, 1.0)
    assert "y[i & 3] = x[i] % 4; z[i] = z[i] >> 3;" in rewritten(unit)


def test_compound_assignments_keep_the_order_of_operands() -> None:
    unit = unit_of("y[0] = y[0] - (x[1] - 2); y[1] = x[1] - y[1];")
    compound_assignments(unit, 1.0)
    assert "y[0] -= x[1] - 2; y[1] = x[1] - y[1];" in rewritten(unit)


def test_a_function_takes_what_is_always_evaluated() -> None:
    unit = unit_of("y[0] = x[0] * 3 + x[1]; y[1] = x[2] * 3 + x[3]; y[2] = n < 8 ? x[n] + 1 - n : 0;")
    extract_function(unit)
    text = rewritten(unit)
    assert "(int a, int b) { return a * 3 + b; }" in text
    assert "x[n] + 1 - n" in text


def test_locals_become_members() -> None:
    unit = unit_of("int s = 1; for (int i = 0; i < N; i++) { int t = x[i]; t += 2; s += t; } y[0] = s;")
    group_state(unit, 5)
    text = rewritten(unit)
    assert "typedef struct { int s; int t; } top_state_t;" in text
    assert "state.t = x[i]; state.t += 2; state.s += state.t;" in text


def test_locals_of_every_function_become_members() -> None:
    body = "int s = 1; int t = 2; s += x[0]; t += s; for (int i = 0; i < N; i += t + s) { x[i] = t; }"
    text = f"{HEAD}static void one(int x[N]) {{ {body} }} void top(int x[N]) {{ {body} one(x); }}"
    unit = read_unit(text, top="top", random=Random(0))
    group_state(unit, 5)
    assert "i += state.t + state.s" in rewritten(unit)
    assert "i += acc.t + acc.s" in rewritten(unit)
