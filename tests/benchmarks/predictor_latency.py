"""Seconds of one prediction by predictor on ten PolyBench kernels, beside Table 4 of LLMulator.

    python -m tests.benchmarks.predictor_latency FOLDER... [--size mini] [--repeats 3] [--processor]

FOLDER holds a trained predictor (`simfoundry train NAME --out FOLDER`). Each kernel is asked alone under
memory delays of 10 cycles; a first question loads code and is not counted. The time has everything that the
level needs; the first row has the time of high-level synthesis alone, which levels hls and run contain. With
--processor it is processor time, for a machine with other load.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from models.catalogue import predictor_named
from models.labelled import Query
from models.model_files import read_model
from models.scheduled import compile_query
from pipelines.programs import polybench_program
from tests.benchmarks.harness import options_parser, processor_s, table_text, write_json

KERNELS = (
    *("heat-3d", "correlation", "jacobi-2d", "fdtd-2d", "deriche"),
    *("seidel-2d", "adi", "covariance", "bicg", "atax"),
)
"""In the order of LLMulator's Table 4, which spells fdtd-2d fDTD-2d and bicg bigc."""
PAPER = {
    "GNNHLS": (0.12, 0.12, 0.11, 0.11, 0.11, 0.11, 0.11, 0.11, 0.11, 0.11),
    "Tenset": (0.08, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08),
    "TLP": (0.21, 0.08, 0.10, 0.15, 0.10, 0.09, 0.13, 0.10, 0.09, 0.07),
    "LLMulator": (1.45, 0.86, 0.84, 1.09, 0.95, 0.72, 1.36, 0.97, 0.95, 1.06),
}
ENGINE = {"liberty": "osu018", "engine_options": "{}"}


def kernel_queries(size: str, data_type: str) -> list[Query]:
    """One question per kernel, without directives."""
    programs = [polybench_program(name, size=size, data_type=data_type) for name in KERNELS]
    return [
        Query(
            source=program.source,
            top=program.top,
            memory_read_delay_cycles=10,
            memory_write_delay_cycles=10,
            clock_period_ns=10.0,
            inputs=program.inputs,
        )
        for program in programs
    ]


Clock = Callable[[], float]


def median_s(work: Callable[[], Any], repeats: int, clock: Clock) -> float:
    """Median time of several runs."""
    times: list[float] = []
    for _ in range(repeats):
        started_s = clock()
        work()
        times.append(clock() - started_s)
    return median(times)


def _renamed(query: Query, numbers: Iterator[int]) -> Query:
    """The question with a comment of its own, so that nothing is known of its source from before."""
    return replace(query, source=f"{query.source}\n// {next(numbers)}\n")


def prediction_times_s(
    folder: Path, queries: Sequence[Query], repeats: int, clock: Clock
) -> tuple[str, list[float]]:
    """Name of a predictor, and its time for every question."""
    name = read_model(folder)[0]
    spec = predictor_named(name)
    predictor = spec.load(folder)
    numbers = itertools.count()

    def ask(query: Query) -> None:
        predictor.predict([_renamed(query, numbers)])

    ask(queries[0])
    times = [median_s(partial(ask, query), repeats, clock) for query in queries]
    return f"{name} ({spec.task.level})", times


def table(times: Mapping[str, Sequence[float]]) -> str:
    """Markdown: a row per predictor, a column per kernel, the mean last."""
    rows = [(name, *(f"{s:.3f}" for s in (*own, sum(own) / len(own)))) for name, own in times.items()]
    return table_text(["predictor", *KERNELS, "mean"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = options_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--size", default="mini")
    parser.add_argument("--type", dest="data_type", default="int")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--processor", action="store_true", help="processor time in place of elapsed time")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    queries = kernel_queries(options.size, options.data_type)
    clock: Clock = processor_s if options.processor else time.perf_counter
    numbers = itertools.count()
    times: dict[str, Sequence[float]] = {
        "high-level synthesis alone": [
            median_s(lambda q=query: compile_query(_renamed(q, numbers), ENGINE), options.repeats, clock)
            for query in queries
        ]
    }
    for folder in options.folders:
        name, own = prediction_times_s(folder, queries, options.repeats, clock)
        times[name] = own
    write_json(options.json, times)
    sys.stdout.write(table({**times, **{f"{name} (paper)": own for name, own in PAPER.items()}}))


if __name__ == "__main__":
    main()
