"""Search under a limit on area against exhaustive spaces: eight kernels, at most 100 designs each.

    python -m tests.benchmarks.pragma_area --folder FOLDER [--record]

The space of a kernel: pipelines of any loop, factors and banks of the finest of `GRIDS` that has at most
100 designs. Cycles of all of them are measured, areas are the engine's estimates. Limits are multiples of the
plain program's area. The search is that of `simfoundry pragmas --area --evaluate 12`. Everything is cached in
FOLDER, so that an interrupted run goes on. The exit status is 1 where a search is more than 10 % slower than
the best of its space, or recommends a design over the limit.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from pipelines.base.cache import ContentCache
from pipelines.c import Directive
from pipelines.hls import HlsOptions, TransformOptions
from pipelines.pragmas import Configuration, LoopChoice, Summary
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.configuration import FINE, OFF
from pipelines.pragmas.errors import SubscriptError
from pipelines.pragmas.search import DirectiveRequest, OwnHls, recommend
from pipelines.pragmas.search.directives import given_directives, given_size
from pipelines.programs import program_from_file
from pipelines.schemas import TOOL_ERROR, ProgramRow
from tests.benchmarks.harness import KeptRows, Row, options_parser, print_header, print_row
from tests.benchmarks.recording import add_record_option, record

MOST_DESIGNS, MOST_SIZE, EVALUATIONS, NEAR = 100, 2000, 12, 1.10
LIMITS = (1.25, 2.5)
FIGURE = "search under an area limit within 10 % of an exhaustive one, at most 12 measured designs"
GRIDS = (
    ((1, 2, 3, 4, 8, 0), (1, 2, 4, 8, 32)),
    ((1, 2, 4, 0), (1, 2, 4, 32)),
    ((1, 4, 0), (1, 4, 32)),
    ((1, 3, 0), (1, 4)),
    ((1, 0), (1, 4)),
    ((1,), (1, 4)),
)
"""Factors (0 for the trip count) and most banks of a dimension, finest grid first."""

KERNELS = {
    "axpb": "void axpb(int y[60], const int x[60], int a, int b) {\n"
    "  for (int i = 0; i < 60; i++) y[i] = a * x[i] + b;\n}\n",
    "hist": "void hist(int h[16], const unsigned char x[96]) {\n"
    "  for (int i = 0; i < 16; i++) h[i] = 0;\n"
    "  for (int n = 0; n < 96; n++) h[x[n] & 15] += 1;\n}\n",
    "fir": "void fir(int y[48], const int x[56], const int c[8]) {\n"
    "  for (int n = 0; n < 48; n++) {\n    int s = 0;\n"
    "    for (int k = 0; k < 8; k++) s += c[k] * x[n + k];\n    y[n] = s;\n  }\n}\n",
    "smooth": "void smooth(int b[12][12], const int a[12][12]) {\n"
    "  for (int i = 1; i < 11; i++)\n    for (int j = 1; j < 11; j++)\n"
    "      b[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1]\n"
    "        + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9;\n}\n",
    "mulmat": "void mulmat(int c[8][9], const int a[8][12], const int b[12][9]) {\n"
    "  for (int i = 0; i < 8; i++)\n    for (int j = 0; j < 9; j++) {\n      int s = 0;\n"
    "      for (int k = 0; k < 12; k++) s += a[i][k] * b[k][j];\n      c[i][j] = s;\n    }\n}\n",
    "norm": "float norm(const float x[40]) {\n  float s = 0;\n"
    "  for (int i = 0; i < 40; i++) s += x[i] * x[i];\n  return s;\n}\n",
    "scan": "void scan(int p[50], int q[50], const int x[50]) {\n  int s = 0;\n"
    "  for (int i = 0; i < 50; i++) { s += x[i]; p[i] = s; }\n"
    "  for (int i = 0; i < 50; i++) q[i] = p[49 - i] * 3;\n}\n",
    "lower": "void lower(float y[14], const float a[14][14], const float x[14]) {\n"
    "  for (int i = 0; i < 14; i++) {\n    float s = 0;\n"
    "    for (int j = 0; j <= i; j++) s += a[i][j] * x[j];\n    y[i] = s;\n  }\n}\n",
}


def _space(summary: Summary) -> list[tuple[Directive, ...]]:
    """All designs of the finest grid with at most MOST_DESIGNS."""
    for factors, banks in GRIDS:
        designs = dict.fromkeys(_designs(summary, factors, banks))
        if len(designs) <= MOST_DESIGNS:
            return list(designs)
    raise ValueError(f"{summary.top} has more than {MOST_DESIGNS} designs")


def _designs(
    summary: Summary, factors: tuple[int, ...], banks: tuple[int, ...]
) -> Iterator[tuple[Directive, ...]]:
    choices = [
        [
            LoopChoice(pipeline=pipeline, unroll=unroll)
            for pipeline in (OFF, FINE)
            for unroll in sorted({f or loop.trip_count_max for f in factors} if loop.constant else {1})
            if unroll <= loop.trip_count_max
        ]
        for loop in summary.loops.values()
    ]
    for chosen in product(*choices):
        configuration = Configuration(loops=dict(zip(summary.loops, chosen, strict=True)))
        for most in banks:
            if given_size(summary, configuration, most) <= MOST_SIZE:
                yield given_directives(summary, configuration, most)


def _summary(program: ProgramRow) -> Summary:
    try:
        return summarise(program.source, program.top)
    except SubscriptError:
        return summarise(program.source, program.top, relaxed=True)


def _exhaustive(own: OwnHls, path: Path) -> list[Row]:
    """Cycles and area of every design of the space, one JSON line each."""
    kept = KeptRows(path, lambda row: row["design"])

    def measure(design: int, directives: tuple[Directive, ...]) -> Row:
        evaluation = own.measure(directives)
        if evaluation.status == TOOL_ERROR:
            raise RuntimeError(f"{own.program.name}: {evaluation.reason}")
        figures = {"cycles": evaluation.latency_cycles, "area": evaluation.area_um2}
        return {"design": design, **figures, "status": evaluation.status}

    rows = [
        kept.measured(design, lambda d=design, own=directives: measure(d, own))
        for design, directives in enumerate(_space(own.summary))
    ]
    return [row for row in rows if row["status"] == "ok"]


def _compared(name: str, folder: Path, cache: ContentCache) -> Iterator[tuple[bool, float]]:
    """Whether each limit's search is near the best of the space, and its cycles over those; prints rows."""
    file = folder / f"{name}.c"
    file.write_text(KERNELS[name])
    program = program_from_file(file, top=name)
    base = HlsOptions(transforms=TransformOptions(unsafe_math=True))
    own = OwnHls(program=program, summary=_summary(program), cache=cache, base=base)
    rows = _exhaustive(own, folder / f"{name}.jsonl")
    plain = own.measure(())
    for times in LIMITS:
        limit = times * (plain.area_um2 or 0.0)
        best = min(row["cycles"] for row in rows if row["area"] <= limit)
        request = DirectiveRequest(
            program=program,
            text=program.source,
            file=file,
            target="simfoundry",
            ordered_sums=False,
            most_area_um2=limit,
            most_partitions=None,
            fine_only=False,
            style=None,
            evaluations=EVALUATIONS,
            reports=None,
            power=False,
            solver_timeout_s=30.0,
            hls_timeout_s=120.0,
            together=2,
        )
        answer = recommend(request, cache=cache)
        chosen = answer.recommended
        measured = 0 if answer.exploration is None else len(answer.exploration.steps)
        cycles, area = chosen.cycles or 0, chosen.area_um2 or 0.0
        good = cycles <= NEAR * best and area <= limit and measured <= EVALUATIONS
        print_row(
            f"{name} | {limit / 1e6:.3f} | {len(rows)} | {plain.latency_cycles} | {best:.0f} | {cycles}",
            f"{area / 1e6:.3f} | {cycles / best:.2f} | {measured}",
        )
        yield good, cycles / best


def main() -> int:
    """Measure what is not kept yet and print the table."""
    parser = options_parser(__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    add_record_option(parser)
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    cache = ContentCache(folder=folder / "cache")
    print_header(
        "kernel | limit, mm2 | designs | plain | best of all | found | its mm2 | found/best | measured"
    )
    compared = [found for name in KERNELS for found in _compared(name, folder, cache)]
    good = [near for near, _ in compared]
    ratios = [ratio for _, ratio in compared]
    print(f"{sum(good)} of {len(good)} within 10 %; median of found/best {statistics.median(ratios):.2f}")
    if options.record:
        record("directives", FIGURE, f"{sum(good)} of {len(good)}", missed=not all(good))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
