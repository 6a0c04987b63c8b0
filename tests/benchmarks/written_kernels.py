"""Predictors on kernels that people wrote: errors, intervals, and what the engine refuses.

    python -m tests.benchmarks.written_kernels written [--field F]... [--folder MODEL]...
    python -m tests.benchmarks.written_kernels untouched --release v2 [--folder MODEL]...

Each kernel is labelled at size mini without directives (memory delay 2 cycles, clock 10 ns, cells of osu018)
and asked about. Predictors are those that come with the project, or models in folders. Beside them stand the
engine's estimate and a constant, the median of the training designs of the release. Errors are medians and
means of |answer / label - 1|; an interval holds when the label lies in it. A refused kernel is counted with
its reason and never changed.

`untouched` is scored once per release: each scoring is a line of docs/results/untouched.jsonl, and a second
one of a release is refused. Its files must have the hashes of `frozen.json`.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from assets.deployments import find_deployment
from assets.label_settings import default_label_settings, label_context
from models.catalogue import PredictorSpec, predictor_named
from models.champions import label_predictors
from models.engine_estimate.estimates import estimate_of
from models.model_files import read_model, read_outcome
from models.query import ALL_TARGETS, Query
from models.registry import REFERENCE_FILE
from models.scheduled import know_query
from pipelines.base.workers import Outcome, run_all
from pipelines.dataset.features import LEARNED_PARTS
from pipelines.dataset.labelling import LabelContext, LabelledDesign, label_design
from pipelines.dataset.labelling.synthesis import SYNTHESIS_TOOL
from pipelines.dataset.releases import load_release
from pipelines.hls import HlsOptions
from pipelines.programs.collections import (
    MINI,
    UNTOUCHED_FOLDER,
    WRITTEN_FOLDER,
    collection_programs,
    kernel_files,
    require_frozen,
)
from pipelines.schemas import OK, ProgramRow
from tests.benchmarks.harness import (
    ROOT,
    options_parser,
    present_machine,
    print_header,
    print_machine,
    print_row,
)
from tests.benchmarks.recording import present_commit

LOG = ROOT / "docs" / "results" / "untouched.jsonl"
FOLDERS = {"written": WRITTEN_FOLDER, "untouched": UNTOUCHED_FOLDER}
CONFIGURATION = HlsOptions(memory_read_delay_cycles=2, memory_write_delay_cycles=2, clock_period_ns=10.0)
ESTIMATE, CONSTANT = "engine's estimate", "constant"


@dataclass(slots=True, kw_only=True)
class Kernel:
    """A labelled kernel.

    Attributes: labels: value by target; answers: of each predictor, with the ends of its intervals.
    """

    program: ProgramRow
    group: str
    status: str
    reason: str
    labels: Mapping[str, float]
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])


def label(program: ProgramRow, *, context: LabelContext) -> Outcome[LabelledDesign | None]:
    """Label a program that its manifest does not refuse."""
    done = label_design(program, CONFIGURATION, context) if program.status == OK else None
    return Outcome(result=done, failed=done is None or done.label.status != OK, name=program.name)


def labelled_kernels(folder: Path, fields: Sequence[str]) -> list[Kernel]:
    """Label the kernels of a collection; finished ones come from the project's cache."""
    programs = collection_programs(folder, suite="scored", stage="evaluation", sizes=(MINI,))
    field_of = {path.stem: path.parent.name for path in kernel_files(folder)}
    programs = [p for p in programs if not fields or field_of[p.name] in fields]
    context = label_context(default_label_settings(find_deployment()))
    designs = run_all("labels", programs, partial(label, context=context), workers=2)
    return [
        _kernel(program, field_of[program.name], done)
        for program, done in zip(programs, designs, strict=True)
    ]


def _kernel(program: ProgramRow, own: str, done: LabelledDesign | None) -> Kernel:
    if done is None:
        status, reason = program.status, program.reason or ""
        return Kernel(program=program, group=own, status=status, reason=reason, labels={})
    run = next(iter(done.runs), None)
    values = asdict(done.label) | (
        {} if run is None else {n: getattr(run, n) for n in ("latency_cycles", "power_mw")}
    )
    labels = {t: float(values[t]) for t in ALL_TARGETS if values.get(t)} if done.label.status == OK else {}
    reason = done.label.reason or done.design.reason or ""
    return Kernel(program=program, group=own, status=done.label.status, reason=reason, labels=labels)


def query_of(program: ProgramRow) -> Query:
    """Return the question about a program without directives."""
    return Query(
        source=program.source,
        top=program.top,
        memory_read_delay_cycles=CONFIGURATION.memory_read_delay_cycles,
        memory_write_delay_cycles=CONFIGURATION.memory_write_delay_cycles,
        clock_period_ns=CONFIGURATION.clock_period_ns,
        inputs=program.inputs,
    )


def ask(kernels: Sequence[Kernel], spec: PredictorSpec, folder: Path) -> None:
    """Ask a predictor about each kernel; one that it refuses has no answer."""
    predictor, outcome = spec.load(folder), read_outcome(folder)
    for kernel in kernels:
        try:
            [answer] = spec.answer(predictor, [asdict(query_of(kernel.program))], outcome)
        except ValueError:
            continue
        kernel.answers[spec.name] = answer


def ask_simplest(kernels: Sequence[Kernel], release: Path) -> None:
    """Ask the engine's estimate, and give each kernel the median of the training designs of a release."""
    constant = training_medians(release)
    for kernel in kernels:
        kernel.answers[CONSTANT] = constant
        try:
            known = know_query(query_of(kernel.program), {"liberty": "osu018", "engine_options": "{}"}, "hls")
        except ValueError:
            continue
        kernel.answers[ESTIMATE] = estimate_of(known)


def training_medians(release: Path) -> dict[str, float]:
    """Return the median of each target over the designs of a release that models learn from."""
    tables = load_release(release)
    learned = tables["splits"].filter(pl.col("part").is_in(LEARNED_PARTS)).select("program_id").unique()
    designs = tables["designs"].join(learned, on="program_id", how="semi").select("design_id")
    labels = tables["labels"].filter(pl.col("status") == OK, pl.col("tool") == SYNTHESIS_TOOL)
    runs = tables["runs"].filter(pl.col("status") == OK)
    medians: dict[str, float] = {}
    for table in (labels, runs):
        own = table.join(designs, on="design_id", how="semi")
        names = [name for name in ALL_TARGETS if name in own.collect_schema().names()]
        medians |= own.select(pl.col(names).cast(pl.Float64).median()).collect().row(0, named=True)
    return medians


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Errors of a predictor for one target.

    Attributes: inside: share of labels in their interval; None where it gives none.
    """

    predictor: str
    target: str
    median: float
    mean: float
    inside: float | None
    answered: int
    labelled: int


def score(kernels: Sequence[Kernel], predictor: str, target: str) -> Score | None:
    """Score a predictor for a target; None when it answers no kernel that has the label."""
    labelled = [k for k in kernels if target in k.labels]
    answered = [k for k in labelled if k.answers.get(predictor, {}).get(target) is not None]
    if not answered:
        return None
    errors = [abs(k.answers[predictor][target] / k.labels[target] - 1) for k in answered]
    ends = [
        (k.answers[predictor].get(f"{target}_low"), k.answers[predictor].get(f"{target}_high"))
        for k in answered
    ]
    holds = [
        low <= k.labels[target] * (1 + 1e-9) and k.labels[target] * (1 - 1e-9) <= (high or float("inf"))
        for k, (low, high) in zip(answered, ends, strict=True)
        if low is not None
    ]
    return Score(
        predictor=predictor,
        target=target,
        median=statistics.median(errors),
        mean=statistics.fmean(errors),
        inside=statistics.fmean(holds) if holds else None,
        answered=len(answered),
        labelled=len(labelled),
    )


def print_scores(kernels: Sequence[Kernel], predictors: Sequence[str]) -> list[Score]:
    """Print outcomes, reasons and a row per predictor and target."""
    print(f"{len(kernels)} kernels: {dict(Counter(k.status for k in kernels))}")
    for reason, count in Counter(k.reason[:110] for k in kernels if k.status != OK).most_common():
        print(f"  {count} x {reason}")
    print_header("predictor | target | median error | mean error | inside 90 % | answered of labelled")
    scores = [s for p in predictors for t in ALL_TARGETS if (s := score(kernels, p, t)) is not None]
    for own in scores:
        inside = "" if own.inside is None else f"{own.inside:.0%}"
        share = f"{own.answered} of {own.labelled}"
        print_row(own.predictor, own.target, f"{own.median:.1%}", f"{own.mean:.1%}", inside, share)
    return scores


def scored_releases() -> list[str]:
    """Return the releases that `untouched` was scored with."""
    lines = LOG.read_text("utf-8").splitlines() if LOG.exists() else []
    return [json.loads(line)["release"] for line in lines]


def log_scoring(release: str, kernels: Sequence[Kernel], scores: Sequence[Score]) -> None:
    """Append a scoring to the log."""
    line = {
        "release": release,
        "frozen": require_frozen(UNTOUCHED_FOLDER),
        "statuses": dict(Counter(k.status for k in kernels)),
        "scores": [asdict(own) for own in scores],
        "kernels": {f"{k.group}/{k.program.name}": k.status for k in kernels},
        "commit": present_commit(),
        "machine": present_machine(),
        "date": datetime.now(UTC).date().isoformat(),
    }
    with LOG.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, sort_keys=True) + "\n")


def main() -> None:
    """Label, ask, print; log the scoring of `untouched`."""
    parser = options_parser(__doc__)
    parser.add_argument("collection", choices=sorted(FOLDERS))
    parser.add_argument("--release", default="v2", help="whose training designs the constant is of")
    parser.add_argument("--field", action="append", default=[])
    parser.add_argument(
        "--folder", type=Path, action="append", default=[], help="of a model, in place of the weights"
    )
    options = parser.parse_args()
    is_untouched = options.collection == "untouched"
    if is_untouched and options.release in scored_releases():
        raise SystemExit(f"untouched was scored with release {options.release}: {LOG.relative_to(ROOT)}")
    if is_untouched and options.field:
        raise SystemExit("untouched is scored as a whole")
    if is_untouched:
        require_frozen(UNTOUCHED_FOLDER)
    print_machine()
    kernels = labelled_kernels(FOLDERS[options.collection], options.field)
    ask_simplest(kernels, ROOT / "releases" / options.release)
    names = [ESTIMATE, CONSTANT]
    for spec, folder in models(options.folder):
        ask(kernels, spec, folder)
        names.append(spec.name)
    scores = print_scores(kernels, names)
    if is_untouched:
        log_scoring(options.release, kernels, scores)


def models(folders: Sequence[Path]) -> list[tuple[PredictorSpec, Path]]:
    """Return the predictors of labels with their files: of folders, or the weights of the project."""
    if folders:
        return [(predictor_named(read_model(folder)[0]), folder) for folder in folders]
    return [
        (s, s.shipped_folder) for s in label_predictors() if (s.shipped_folder / REFERENCE_FILE).is_file()
    ]


if __name__ == "__main__":
    main()
