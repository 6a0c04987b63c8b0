"""Dependences that do not repeat through a whole loop, and updates that are not one statement."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling import ToolContext, count_design
from pipelines.hls import HlsOptions, TransformOptions
from pipelines.pragmas import Configuration, LoopChoice
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import bound, read_target
from pipelines.pragmas.configuration import FINE, OFF
from pipelines.pragmas.search import OwnHls
from pipelines.pragmas.search.evaluators import COUNTING
from pipelines.pragmas.summary import RAW, Summary
from pipelines.programs import program_from_file
from pipelines.schemas import OK

TARGET = read_target("simfoundry")
FACTORS = (1, 2, 8)

BROKEN = {
    "mirror": ("float x[37]", "for (int i = 0; i < 37; i++) x[36 - i] += x[i];"),
    "doubled": ("float x[44]", "for (int i = 0; i < 20; i++) x[2 * i + 3] = x[i] * 1.5f + 1.0f;"),
    "diagonal": (
        "float x[17][5]",
        "for (int i = 0; i < 16; i++) for (int j = 0; j < 4; j++) x[i + 1][j] = x[i][j + 1] * 1.5f;",
    ),
    "convolution": (
        "float y[20], float a[16], float b[2]",
        "for (int i = 0; i < 16; i++) for (int j = 0; j < 2; j++) y[i + j] += a[i] * b[j];",
    ),
    "two_statements": (
        "float x[40], float y[40]",
        "for (int i = 0; i < 40; i++) { y[i] = x[i] * 1.5f; x[39 - i] = y[i] + 2.0f; }",
    ),
}
"""Programs whose loop L0 carries a value, but in no chain through all its iterations."""

UPDATES = {
    "overwritten": "s += x[i]; x[i] = x[i] * 0.5f; s -= x[i];",
    "product": "s *= x[i]; x[i] = y[i] + 1.0f; s *= x[i];",
    "mixed": "s = s * y[i]; s += x[i]; x[i] = y[i] + 1.0f; s += x[i]; s += y[i];",
    "branch": "s += x[i]; s = x[i] > 0.5f ? s + y[i] : s; s -= x[15 - i];",
    "read_between": "s += y[i]; x[i] = s * 2.0f; s += x[15 - i]; s -= y[15 - i];",
    "inner_loop": "s += x[i]; for (int j = 0; j < 4; j++) s += y[i + j];",
    "in_a_row": "".join(f"s += y[i + {k}]; y[{k}] = x[i];" for k in range(6)),
}
"""Bodies of a loop that update one variable in several statements."""


def text_of(name: str) -> str:
    if name in BROKEN:
        parameters, body = BROKEN[name]
        return f"void {name}({parameters}) {{ {body} }}"
    loop = f"for (int i = 0; i < 16; i++) {{ {UPDATES[name]} }}"
    return f"void {name}(float x[16], float y[24], float o[1]) {{ float s = 1.0f; {loop} o[0] = s; }}"


def configurations(summary: Summary) -> list[Configuration]:
    """Pipelined or not, with small factors and complete unrolling of each loop."""
    choices = [
        [
            (name, LoopChoice(unroll=unroll, pipeline=pipeline))
            for unroll in sorted({*FACTORS, loop.trip_count_max})
            if unroll <= loop.trip_count_max
            for pipeline in (OFF, FINE)
        ]
        for name, loop in summary.loops.items()
    ]
    return [Configuration(loops=dict(chosen)) for chosen in product(*choices)]


@pytest.mark.sample(14)
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("name", [*BROKEN, *UPDATES])
def test_no_design_is_faster_than_its_bound(name: str, ordered: bool, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.c"
    file.write_text(text_of(name))
    program = program_from_file(file, top=name)
    summary = summarise(program.source, name)
    own = OwnHls(
        program=program,
        summary=summary,
        cache=ContentCache(folder=tmp_path / "cache"),
        base=HlsOptions(transforms=TransformOptions(unsafe_math=not ordered)),
    )
    context = ToolContext(cache=own.cache, options=replace(COUNTING, audit_fraction=0.0))
    target = TARGET.ordered() if ordered else TARGET
    measured = 0
    for configuration in configurations(summary):
        run = count_design(program, own.options_for(configuration), context).run
        if run is not None and run.status == OK and run.latency_cycles is not None:
            measured += 1
            assert bound(summary, configuration, target).latency_cycles <= run.latency_cycles, configuration
    assert measured >= 4


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_chain_is_none(name: str) -> None:
    summary = summarise(text_of(name), name)
    carried = [d for d in summary.dependences if d.kind == RAW and d.loop == "L0"]
    assert carried
    assert {d.chain for d in carried} == {None}
    assert (summary.loops["L0"].parallel, summary.loops["L0"].distance) == (False, None)
    assert all("L0" not in s.sum_loops for s in summary.statements)


@pytest.mark.parametrize(
    ("body", "chain"),
    [
        ("for (int i = 2; i < 40; i++) x[i] = x[i - 2] * y[i];", 2),
        ("for (int i = 0; i < 39; i++) { y[i] = x[i] * 0.5f; x[i + 1] = y[i]; }", 1),
        (
            "for (int i = 1; i < 9; i++) { float s = x[i - 1]; "
            "for (int j = 0; j < 4; j++) s *= y[j]; x[i] = s; }",
            1,
        ),
        (
            "for (int i = 1; i < 9; i++) for (int j = 0; j < 4; j++) x[4 * i + j] = x[4 * i + j - 4] * y[j];",
            1,
        ),
        ("for (int i = 1; i < 39; i++) x[i] = x[i - 1] + x[38 - i];", 1),
    ],
)
def test_a_chain_goes_through_the_whole_loop(body: str, chain: int) -> None:
    summary = summarise(f"void f(float x[40], float y[40]) {{ {body} }}", "f")
    assert summary.loops["L0"].distance == chain
    assert chain in {d.chain for d in summary.dependences if d.loop == "L0"}


def test_a_sum_over_two_loops_is_one_chain() -> None:
    text = "void f(float x[8][4], float o[1]) { float s = 0; for (int i = 0; i < 8; i++) "
    summary = summarise(text + "for (int j = 0; j < 4; j++) s += x[i][j]; o[0] = s; }", "f")
    assert summary.statements[1].sum_loops == {"L0", "L1"}
    assert {(d.loop, d.chain) for d in summary.dependences if d.reduction and d.kind == RAW} == {
        ("L0", 1),
        ("L1", 1),
    }


def test_one_link_counts_for_a_pipeline_of_one_schedule() -> None:
    """All iterations have the same schedule, so that one link makes the interval longer; copies differ."""
    summary = summarise(text_of("mirror"), "mirror")
    pipeline, copies = (
        bound(summary, Configuration(loops={"L0": LoopChoice(pipeline=FINE, unroll=u)}), TARGET)
        for u in (1, 37)
    )
    assert pipeline.latency_cycles >= 37
    assert copies.latency_cycles < 10


@pytest.mark.parametrize("condition", ["j < i", "j > i", "i < 5"])
def test_a_conditional_sum_counts_where_it_runs(condition: str) -> None:
    loops = "for (int i = 0; i < 9; i++) { float s = 0; for (int j = 0; j < 9; j++)"
    text = f"void f(float x[9], float o[9]) {{ {loops} if ({condition}) s += x[j]; o[i] = s; }} }}"
    [_, update, _] = summarise(text, "f", relaxed=True).statements
    assert (update.always, update.sum_loops) == (False, {"L1"})


def test_a_conditional_sum_of_few_terms_each_is_none() -> None:
    loops = "for (int i = 0; i < 9; i++) for (int j = 0; j < 3; j++)"
    text = f"void f(float y[11], float x[9]) {{ {loops} if (j < i) y[i + j] += x[i]; }}"
    [update] = summarise(text, "f", relaxed=True).statements
    assert (update.always, update.sum_loops) == (False, frozenset())
