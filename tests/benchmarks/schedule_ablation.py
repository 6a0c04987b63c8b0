"""Which part of a schedule carries the error of the levels text and static, and what each part costs.

    python -m tests.benchmarks.schedule_ablation [--release FOLDER] [--record]

The trees of `lightgbm` learn from the designs of a release with an area, labels of osu035 converted, and are
judged on evaluation: median absolute percentage error by target.

First table: at level static the schedule is computed from ever more of the engine's passes. `as written`
schedules the loops as they stand, `narrowed` with the widths that values need, `transformed` with the
directives' and the engine's own transformations. `hls` adds the cycles that the cycle model counts. Processor
time is that of the features of a design, the preprocessor included.

Second table: at level text one estimate at a time is replaced by the engine's own (an oracle). The estimate
whose replacement lowers an error most carries it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from assets.figures import Figure
from models.labelled import LabelledDesign, add_converted_labels, load_labelled_designs
from models.lightgbm import TrainOptions
from models.lightgbm.trees import fit_predictor, question_features, training_features
from models.query import ALL_TARGETS
from models.scheduled import engine_options
from pipelines.c import ir
from pipelines.hls import compiler
from pipelines.hls.narrowing import narrow
from pipelines.hls.plan import TransformedProgram, TransformOptions
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, timed
from tests.benchmarks.recording import add_record_option, record

Rows = Sequence[Mapping[str, float]]
ORACLES = {
    "log_text_cycles": "log_estimated_cycles",
    "log_text_area": "log_estimated_area_um2",
    "log_text_bits": "log_estimated_flip_flop_count",
    "log_text_power": "log_estimated_power_mw",
}
"""Feature of level text, and the engine's estimate that replaces it."""


def untransformed(
    function: ir.Function, directives: Sequence[ir.Directive], options: TransformOptions
) -> TransformedProgram:
    """Return the program as it is; a loop whose body is one block is still pipelined."""
    del options
    pipelines = {own.loop: own for own in directives if own.kind == "pipeline"}
    return TransformedProgram(
        function=function,
        intervals={loop: own.value or 1 for loop, own in pipelines.items()},
        pipelines=pipelines,
        decisions=(),
        caches=(),
    )


PASSES: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "as written": {"transform": untransformed, "narrow": lambda graph: graph},
    "narrowed": {"transform": untransformed},
    "transformed": {"narrow": narrow},
}


@contextmanager
def only(passes: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Replace passes of the compiler."""
    with patch.multiple(compiler, **passes):
        yield


def static_rows(
    designs: Sequence[LabelledDesign], engine: Mapping[str, Any], variant: str
) -> tuple[Rows, float]:
    """Return the features of level static by some passes, and the median processor time of a design."""
    rows: list[Mapping[str, float]] = []
    times: list[float] = []
    with only(PASSES[variant]):
        for design in designs:
            asked = replace(design.query, source=f"{design.query.source}\n/* {variant} */\n")  # in no cache
            row, spent = timed(lambda asked=asked: question_features(asked, "static", engine))
            rows.append(row)
            times.append(spent.processor_s)
    return rows, float(np.median(times))


def scored(designs: Sequence[LabelledDesign], rows: Rows, level: str) -> dict[str, float]:
    """Return the median error on evaluation by target."""
    learned = [(design, row) for design, row in zip(designs, rows, strict=True) if design.part == "train"]
    predictor = fit_predictor(learned, level, TrainOptions(), 0, {})
    judged = [(d, row) for d, row in zip(designs, rows, strict=True) if d.part == "evaluation"]
    matrix = np.array([[row[name] for name in predictor.names] for _, row in judged])
    answers = predictor.predict_matrix(matrix)
    errors: dict[str, float] = {}
    for column, target in enumerate(predictor.targets):
        labels = np.array([design.labels.get(target, np.nan) for design, _ in judged])
        errors[target] = float(np.nanmedian(np.abs(answers[:, column] / labels - 1.0)))
    return errors


def print_scores(name: str, errors: Mapping[str, float], *more: str) -> None:
    """Print a row of a table."""
    print_row(name, *(f"{errors[target]:.1%}" for target in ALL_TARGETS), *more)


def main() -> None:
    """Print both tables; record the medians of the passes and of the oracles."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--split", default="by_kernel_v2")
    add_record_option(parser)
    asked = parser.parse_args()
    options = TrainOptions(converted_liberty="osu035", split=asked.split)
    designs = add_converted_labels(load_labelled_designs(asked.release, options), asked.release, "osu035")
    designs = [d for d in designs if "area_um2" in d.labels and d.part in ("train", "evaluation")]
    engine = engine_options(asked.release, designs)
    print_machine()
    print_header("level static", *ALL_TARGETS, "processor s")
    passes: dict[str, dict[str, float]] = {}
    for variant in PASSES:
        rows, seconds = static_rows(designs, engine, variant)
        passes[variant] = scored(designs, rows, "static")
        print_scores(variant, passes[variant], f"{seconds:.3f}")
    scheduled = training_features(asked.release, designs, "hls", engine)
    passes["hls"] = scored(designs, scheduled, "hls")
    print_scores("hls", passes["hls"], "")
    text = training_features(asked.release, designs, "text", {})
    print()
    print_header("level text, oracle", *ALL_TARGETS)
    oracles = {"none": scored(designs, text, "text")}
    print_scores("none", oracles["none"])
    for name, estimate in [*ORACLES.items(), ("all", "")]:
        names = ORACLES if name == "all" else {name: estimate}
        rows = [
            {**own, **{feature: true[source] for feature, source in names.items()}}
            for own, true in zip(text, scheduled, strict=True)
        ]
        oracles[name] = scored(designs, rows, "text")
        print_scores(name, oracles[name])
    if asked.record:
        record_tables(passes, oracles)


def record_tables(
    passes: Mapping[str, Mapping[str, float]], oracles: Mapping[str, Mapping[str, float]]
) -> None:
    """Record a figure per target and table."""
    for table, scores in (("static by passes", passes), ("text by oracle", oracles)):
        for target in ALL_TARGETS:
            figure = f"{table}, {target}, median error on evaluation"
            new = Figure(
                area="predictor",
                section="Where the error of a schedule is",
                figure=figure,
                value="",
                command="python -m tests.benchmarks.schedule_ablation",
                commit="",
                engines={"hls": "", "knowledge": "", "lightgbm": ""},
                machine="",
                date="",
            )
            value = {name: f"{own[target]:.1%}" for name, own in scores.items()}
            record("predictor", figure, value, new=new)


if __name__ == "__main__":
    main()
