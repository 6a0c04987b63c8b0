"""Inputs of the engines that reason about directives: analysis, bound, non-linear program, searches."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pragmas"))

from brute_force import small_polybench
from engine_outputs import Folders, Output, outcome
from test_analysis_rejections import (
    ARGUMENT_BOUND,
    BREAK,
    CONDITION,
    DATA_BOUND,
    EMPTY,
    IDLE,
    INDIRECT,
    PRODUCT,
    WHILE,
)

from pipelines.base.cache import ContentCache
from pipelines.pragmas import Configuration, LoopChoice, Summary, analysis, bound, nlp, search
from pipelines.pragmas import configuration as pragmas_configuration
from pipelines.pragmas.configuration import COARSE, FINE, OFF
from pipelines.pragmas.search import directives
from pipelines.programs import Generation, SuiteOptions, kernel_programs, polybench_program
from pipelines.schemas import OK, TIMEOUT, TOOL_ERROR
from tests.support.vendor_kernels import configuration_of_row, vendor_kernel

GEMV = """\
// for (;;) in a comment is no loop
void gemv(float A[8][6], float x[6], float y[8])
{
  for (int i = 0; i < 8; i++) {
    y[i] = 0.0f;
    for (int j = 0; j < 6; j++)
      y[i] += A[i][j] * x[j];
  }
}
"""
BODIES = {
    "updates": """
        int s = 0;
        for (int i = 0; i < 50; i++) { s += x[i]; y[i] = 3 * x[i]; s -= x[i + 1]; }
        y[0] = s;""",
    "triangle": """
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < i; j++)
                for (int k = j; k <= i; k++) y[k] += 1;""",
    "steps": """
        for (int i = 90; i > 3; i -= 4) y[i] = 1;
        for (int i = 0; i < 60; i++)
            for (int j = i; j < 60; j += 7) x[j] = i;""",
    "recurrence": "for (int i = 3; i < 90; i++) { y[i] = y[i - 3] * 2 + x[i]; x[i + 1] = y[i] / 3; }",
    "swap": """
        for (int t = 0; t < 4; t++) {
            for (int i = 1; i < 9; i++) x[i] = (y[i - 1] + y[i + 1]) / 2;
            for (int i = 1; i < 9; i++) y[i] = x[i];
        }""",
    "scalar": """
        int s = 0;
        for (int i = 0; i < 50; i++) { int d = x[i] - y[2 * i + 1]; s += d * d; }
        y[0] = s;""",
    "maximum": "int m = 0; for (int i = 0; i < 50; i++) m = m > x[i] ? m : x[i]; y[0] = m;",
    "local": """
        int t[10];
        for (int i = 0; i < 10; i++) {
            for (int j = 0; j < 10; j++) t[j] = x[j] + i;
            for (int j = 0; j < 10; j++) y[j] ^= t[j] & 3;
        }""",
}
RELAXED = {
    "choice": "for (int i = 0; i < 50; i++) { if (i < 20) y[i] = x[i]; else y[i] = x[i] << 1; }",
    "conjunction": "for (int i = 0; i < 50; i++) if (i > 3 && i <= 20 && !(i == 9)) y[i] = -x[i];",
    "equality": "for (int i = 0; i < 50; i++) { if (i == 7) y[i] = 1; if (x[i] != 3 || i >= 9) y[i] = 2; }",
    "spelling": "for (int i = 0; i < 9; i++) y[x[i] > 3 ? -x[i] : ~x[i + 1] & 63] = (char)x[i];",
    "quotient": "for (int i = 0; i < 50; i++) y[i / 2] += x[(i * 3 + 1) % 7] * x[2 * (i + 1) - i];",
    "early exit": "for (int i = 0; i < 50; i++) { if (x[i] == 3) return; y[i] = x[i]; }",
    "switch": "for (int i = 0; i < 50; i++) switch (x[i] & 1) { case 0: y[i] = 1; break; default: y[i]--; }",
    "counter after": "int k = 0; for (int i = 0; i < 50; i++) { y[k] = x[i]; k += 2; } y[k - 2] = 0;",
    "nothing": "y[0] = x[1] * 2;",
}
SHARED = """
void f(float A[12], float B[12]) {
  for (int i = 0; i < 4; i++) A[i] = A[i] * 3.0f;
  for (int j = 0; j < 6; j++) A[j + 4] = A[j + 4] + B[j];
}
"""


def _summaries() -> dict[str, Summary]:
    """Summaries by name, of programs of every kind that the analysis accepts."""
    summaries = {"gemv": analysis.summarise(GEMV, "gemv"), "shared": analysis.summarise(SHARED, "f")}
    for name, body in BODIES.items():
        summaries[name] = analysis.summarise(f"void f(int y[100], int x[100]) {{ {body} }}", "f")
    for kernel in ("trmm", "jacobi-1d", "doitgen"):
        row = polybench_program(kernel, data_type="float")
        summaries[kernel] = analysis.summarise(row.source, row.top)
    for kernel in ("aes", "spmv-crs", "nw", "stencil-3d", "gemm-blocked"):
        vendor = vendor_kernel(kernel)
        summaries[f"vendor {kernel}"] = analysis.summarise(vendor.source, vendor.top, relaxed=True)
    return summaries


def _choices(summary: Summary) -> Iterator[tuple[str, Configuration]]:
    """A few configurations: nothing, everything pipelined, copies inside and outside, tiles, caches."""
    names = list(summary.loops)
    inner = [n for n in names if not summary.loops_inside(n)]
    yield "none", Configuration()
    yield "fine", Configuration(loops={n: LoopChoice(pipeline=FINE) for n in inner})
    yield "coarse", Configuration(loops={names[0]: LoopChoice(pipeline=COARSE)})
    yield "outer fine", Configuration(loops={names[0]: LoopChoice(pipeline=FINE, interval=2)})
    yield "copies", Configuration(loops={n: LoopChoice(pipeline=FINE, unroll=2) for n in inner})
    yield "outer copies", Configuration(loops={names[0]: LoopChoice(unroll=2)})
    yield "whole", Configuration(loops={n: LoopChoice(unroll=summary.loops[n].trip_count_max) for n in inner})
    yield "automatic", Configuration(loops={n: LoopChoice(automatic=True) for n in names})
    yield "tile", Configuration(loops={names[0]: LoopChoice(pipeline=OFF, tile=2)})


def bound_outputs(folders: Folders) -> Iterator[Output]:
    """Summaries, bounds of configurations for every target, pragmas and directives."""
    summaries = _summaries()
    targets = [bound.read_target(name) for name in bound.target_names()]
    for name, summary in summaries.items():
        yield f"summary {name}", summary
        for kind, configuration in _choices(summary):
            yield (
                f"{name} {kind}",
                [
                    outcome(lambda s=summary, c=configuration, t=target: _bounds(s, c, t))
                    for target in targets
                ],
            )
    rejected = {
        "indirect": INDIRECT,
        "product": PRODUCT,
        "data bound": DATA_BOUND,
        "argument bound": ARGUMENT_BOUND,
        "while": WHILE,
        "condition": CONDITION,
        "break": BREAK,
        "empty": EMPTY,
        "idle": IDLE,
        "not C": "void f(",
    }
    for name, source in rejected.items():
        yield f"rejected {name}", outcome(lambda s=source: analysis.summarise(s, "f"))
        yield f"relaxed {name}", outcome(lambda s=source: analysis.summarise(s, "f", relaxed=True))
    for name, body in RELAXED.items():
        text = f"void f(int y[100], int x[100]) {{ {body} }}"
        for relaxed in (False, True):
            yield (
                f"{name}, relaxed {relaxed}",
                outcome(lambda t=text, r=relaxed: analysis.summarise(t, "f", relaxed=r)),
            )
    yield from _files_of_targets(folders.scratch)
    yield (
        "with sizes",
        analysis.summarise(
            "void f(int y[N]) { for (int i = 0; i < N; i++) y[i] = i; }", "f", defines={"N": 5}
        ),
    )
    for number, make in enumerate(
        (
            lambda: bound.read_target("none"),
            lambda: bound.bound(summaries["gemv"], Configuration(loops={"L9": LoopChoice()}), targets[0]),
            lambda: bound.bound(
                summaries["gemv"], Configuration(loops={"L0": LoopChoice(unroll=0)}), targets[0]
            ),
            lambda: bound.bound(summaries["gemv"], Configuration(caches=(("L9", "A"),)), targets[0]),
            lambda: bound.bound(
                summaries["gemv"], Configuration(caches=(("L1", "A"), ("L0", "x"))), targets[0]
            ),
            lambda: vendor_kernel("none"),
            lambda: bound.impossible(summaries["gemv"], targets[0], 1) is not None,
            lambda: bound.impossible(summaries["gemv"], targets[0], 10**9) is not None,
        )
    ):
        yield f"other {number}", outcome(make)
    row = (
        '[{"kind": "pipeline", "loop_index": 0, "value": ""},'
        ' {"kind": "parallel", "loop_index": 1, "value": 4}]'
    )
    kernel = vendor_kernel("gemm-blocked")
    yield "vendor row", configuration_of_row(kernel, '{"__PARA__L0": 2, "__PIPE__L1": "flatten"}', row)
    for number, text in enumerate(('{"__PARA__L0": "x"}', '{"__PIPE__L0": "x"}')):
        yield f"wrong vendor row {number}", outcome(lambda t=text: configuration_of_row(kernel, t, None))


def _files_of_targets(folder: Path) -> Iterator[Output]:
    """Targets from files, and latencies that no design has."""
    whole = json.loads(resources.files(bound).joinpath("targets", "u200.json").read_text(encoding="utf-8"))
    texts = {
        "whole": json.dumps({**whole, "name": "other"}),
        "negative": json.dumps({**whole, "dsp_available": -1}),
        "unknown": json.dumps({**whole, "speed": 1}),
        "text": "x",
    }
    for name, text in texts.items():
        path = folder / f"{name}.json"
        path.write_text(text)
        yield f"target {name}", outcome(lambda path=path: bound.read_target(path))
    gemv, u200 = analysis.summarise(GEMV, "gemv"), bound.read_target("u200")
    yield "impossible", [bound.impossible(gemv, u200, cycles) is None for cycles in (1, 10**9)]


def _bounds(summary: Summary, configuration: Configuration, target: bound.Target) -> object:
    return [
        bound.bound(summary, configuration, target),
        bound.complete(summary, configuration, target),
        nlp.partitions(summary, configuration),
        nlp.unrolled_size(summary, configuration),
    ]


# ---- searches ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Known:
    """An evaluator whose answer is a function of the configuration."""

    answer: Callable[[Configuration], search.Evaluation]
    name: str = "known-1"

    def evaluate(self, configuration: Configuration) -> search.Evaluation:
        """The answer."""
        return self.answer(configuration)


def _solution(found: nlp.Solution) -> object:
    return [found.status, found.configuration, found.latency_cycles, found.lower_bound, found.clashing]


def search_outputs(folders: Folders) -> Iterator[Output]:
    """Optima, texts with pragmas, directives, and the steps of every search."""
    yield from _optima(folders.scratch)
    summary, target = analysis.summarise(GEMV, "gemv"), bound.read_target("u200")
    own = bound.read_target("simfoundry")
    for kind, configuration in _choices(summary):
        for style in directives.STYLES:
            yield (
                f"{style} {kind}",
                outcome(lambda c=configuration, s=style: search.annotate(GEMV, summary, c, style=s)),
            )
        yield (
            f"directives {kind}",
            [
                directives.hls_directives(summary, configuration),
                directives.partition_factors(summary, configuration),
            ],
        )
        yield (
            f"strips {kind}",
            outcome(
                lambda c=configuration: directives.strips_design(GEMV, summary, c)  # type: ignore[call-arg]
            ),
        )
        key = pragmas_configuration.configuration_key(configuration)
        yield f"key {kind}", [key, pragmas_configuration.configuration_of_key(key)]
    yield "wrong key", outcome(lambda: pragmas_configuration.configuration_of_key("x"))
    yield "wrong style", outcome(lambda: search.annotate(GEMV, summary, Configuration(), style="x"))
    yield from _searches(summary, target)
    yield from _searches_of_own(folders, own)


def _optima(folder: Path) -> Iterator[Output]:
    small = {
        "gemm": small_polybench("gemm", NI=2, NJ=4, NK=2),
        "trisolv": small_polybench("trisolv", N=6),
        "shared": analysis.summarise(SHARED, "f"),
    }
    u200, own = bound.read_target("u200"), bound.read_target("simfoundry")
    whole = Configuration(loops={"L0": LoopChoice(pipeline=FINE)})
    options = {
        "free": nlp.SearchOptions(),
        "fine": nlp.SearchOptions(fine_only=True, most_partitions=2),
        "small": nlp.SearchOptions(most_copies=31, copy_dsps=0.1, plain_copies=True),
        "excluded": nlp.SearchOptions(excluded=(whole,), start=whole, most_nodes=50),
        "parts": nlp.SearchOptions(excluded_parts=((whole, frozenset({"L0"})),), gap=0.1),
        "known": nlp.SearchOptions(at_least_cycles=20.0, most_partitions=1),
    }
    for name, summary in small.items():
        for kind, chosen in options.items():
            yield (
                f"optimum {name} {kind}",
                outcome(lambda s=summary, o=chosen: _solution(nlp.solve(s, u200, o))),
            )
        few = replace(own, dsp_available=330, intervals=(1, 2, 3))
        yield f"optimum {name} with intervals", _solution(nlp.solve(summary, few))
        yield (
            f"optimum {name} with little memory",
            _solution(nlp.solve(summary, replace(u200, onchip_bits=300))),
        )
        none = replace(u200, dsp_available=0, onchip_bits=0)
        yield f"optimum {name} without anything", _solution(nlp.solve(summary, none, options["small"]))
    path = folder / "program.cip"
    nlp.export(small["gemm"], u200, None, path)
    yield "exported", path.stat().st_size > 0
    for number, changes in enumerate(
        ({"most_partitions": 0}, {"most_copies": 0}, {"gap": -1.0}, {"time_limit_s": 0.0})
    ):
        wrong = nlp.SearchOptions(**changes)  # type: ignore[arg-type]
        yield f"wrong options {number}", outcome(lambda o=wrong: nlp.solve(small["gemm"], u200, o))


def _exploration(found: search.Exploration, subject: search.Explored) -> object:
    return [search.exploration_rows(subject, found), found.proven, found.gap]


def _searches(summary: Summary, target: bound.Target) -> Iterator[Output]:
    def least(configuration: Configuration) -> float:
        return bound.bound(summary, configuration, target).latency_cycles

    def exact(configuration: Configuration) -> search.Evaluation:
        return search.Evaluation(status=OK, latency_cycles=int(-(-least(configuration) // 1)), wall_s=1.0)

    def slow(configuration: Configuration) -> search.Evaluation:
        cycles = int(least(configuration) * 3) + 7
        large = bound.bound(summary, configuration, target).dsp_count > 40
        status = "infeasible" if large else OK
        return search.Evaluation(status=status, latency_cycles=cycles, used_share=1.5 if large else 0.3)

    def failing(configuration: Configuration) -> search.Evaluation:
        status = (OK, TIMEOUT, TOOL_ERROR)[len(pragmas_configuration.configuration_key(configuration)) % 3]
        cycles = int(least(configuration)) + 3 if status == OK else None
        return search.Evaluation(status=status, reason="so", latency_cycles=cycles)

    row = kernel_programs(suites=("linear_algebra",), sizes=("small",))[0]
    subject = search.Explored(program=row, target=target.name, evaluator="known-1", options="{}")
    few = replace(target, dsp_available=12)
    ladder = search.LadderOptions(together=1, solver_timeout_s=None, solver_nodes=500)
    for name, answer in {"exact": exact, "slow": slow, "failing": failing}.items():
        known = Known(answer)
        for where, options in (
            ("ladder", ladder),
            ("ladder with proof", replace(ladder, proof_evaluations=8, most_evaluations=14)),
            (
                "ladder of small designs",
                replace(ladder, most_copies=40, size=lambda c: 2 * nlp.unrolled_size(summary, c)),
            ),
        ):
            yield f"{name} {where}", _exploration(search.explore(summary, target, known, options), subject)
        yield f"{name} few units", _exploration(search.explore(summary, few, known, ladder), subject)
        rival = search.BaselineOptions(together=1, most_evaluations=12, seed=3)
        for method, explore in (
            ("bottlenecks", search.explore_bottlenecks),
            ("random", search.explore_randomly),
            ("all", search.explore_all),
        ):
            yield f"{name} {method}", _exploration(explore(summary, target, known, rival), subject)
        predictor = search.Predictor(
            predict=lambda _, bounds: [b.latency_cycles for b in bounds], most_copies=60, seconds=60.0
        )
        found = search.explore_predicted(summary, few, known, predictor, rival)
        yield f"{name} predicted", _exploration(found, subject)
    reports = search.RecordedReports(folder=Path("/nowhere"), summary=summary, target=target)
    yield "no report", reports.evaluate(Configuration()).status


def _searches_of_own(folders: Folders, own: bound.Target) -> Iterator[Output]:
    """A suite of one kernel measured by our own synthesis, then from the cache."""
    cache = ContentCache(folder=folders.scratch / "cache")
    options = search.SuiteExploration(
        kernels=("jacobi-1d",),
        methods=("nlp_dse", "random"),
        most_evaluations=1,
        solver_nodes=200,
        together=1,
    )
    suites = SuiteOptions(sizes=("mini",), ast=Generation(count=0), dataflow=Generation(count=0))
    for visit in ("first", "second"):
        rows = search.explore_suite(options, suites, cache=cache, on_progress=lambda _: None)
        yield f"{visit} search of a suite", rows
    yield "wrong method", outcome(lambda: search.SuiteExploration(methods=("none",)))
