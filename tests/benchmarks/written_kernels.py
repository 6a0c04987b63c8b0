"""Predictors on the kernels of a collection: intervals and errors, and what the engine refuses.

    python -m tests.benchmarks.written_kernels written [--field F]... [--model M]...
    python -m tests.benchmarks.written_kernels untouched --release v2 [--model M]...

Each kernel is labelled at size mini without directives (memory delay 2 cycles, clock 10 ns, cells of osu018),
with the project's cache, and asked about as `written_programs` does: its docstring has the columns. A refused
kernel is counted with its reason and never changed.

`untouched` is scored once per release: a scoring is a line of docs/results/untouched.jsonl, and a second one
of a release is refused. Its files must have the hashes of `frozen.json`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from assets.deployments import find_deployment
from assets.label_settings import default_label_settings, label_context
from models.query import Query
from pipelines.base.workers import Outcome, run_all
from pipelines.dataset.labelling import LabelContext, LabelledDesign, label_design
from pipelines.hls import HlsOptions
from pipelines.programs.collections import (
    MINI,
    WRITTEN_FOLDER,
    collection_programs,
    kernel_files,
    require_frozen,
)
from pipelines.schemas import OK, ProgramRow
from tests.benchmarks.harness import ROOT, options_parser, present_machine, print_machine
from tests.benchmarks.recording import present_commit
from tests.benchmarks.written_programs import labels_of, print_judged, shipped_models

UNTOUCHED_FOLDER = Path(__file__).parent / "untouched"
LOG = ROOT / "docs" / "results" / "untouched.jsonl"
FOLDERS = {"written": WRITTEN_FOLDER, "untouched": UNTOUCHED_FOLDER}
CONFIGURATION = HlsOptions(memory_read_delay_cycles=2, memory_write_delay_cycles=2, clock_period_ns=10.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A kernel with its labels by target, none where its status is not ok."""

    program: ProgramRow
    status: str
    reason: str
    labels: Mapping[str, float]

    @property
    def design(self) -> str:
        """Name of its design, as `written_programs` writes it."""
        return f"{self.program.name}-0"

    @property
    def question(self) -> dict[str, Any]:
        """The question about its design."""
        query = Query(
            source=self.program.source,
            top=self.program.top,
            memory_read_delay_cycles=CONFIGURATION.memory_read_delay_cycles,
            memory_write_delay_cycles=CONFIGURATION.memory_write_delay_cycles,
            clock_period_ns=CONFIGURATION.clock_period_ns,
            inputs=self.program.inputs,
        )
        return asdict(query)


def label(program: ProgramRow, *, context: LabelContext) -> Outcome[LabelledDesign | None]:
    """Label a program, unless its manifest refuses it."""
    done = label_design(program, CONFIGURATION, context) if program.status == OK else None
    return Outcome(result=done, failed=done is None or done.label.status != OK, name=program.name)


def labelled_kernels(folder: Path, fields: Sequence[str], context: LabelContext) -> list[Kernel]:
    """Label the kernels of a collection; finished ones come from the cache."""
    field_of = {path.stem: path.parent.name for path in kernel_files(folder)}
    rows = collection_programs(folder, suite="scored", stage="evaluation", sizes=(MINI,))
    programs = [row for row in rows if not fields or field_of[row.name] in fields]
    designs = run_all("labels", programs, partial(label, context=context), workers=2)
    return [_kernel(program, done) for program, done in zip(programs, designs, strict=True)]


def _kernel(program: ProgramRow, done: LabelledDesign | None) -> Kernel:
    if done is None:
        return Kernel(program=program, status=program.status, reason=program.reason or "", labels={})
    answer = {"label": asdict(done.label), "runs": [asdict(run) for run in done.runs]}
    reason = done.label.reason or done.design.reason or ""
    return Kernel(program=program, status=done.label.status, reason=reason, labels=labels_of(answer))


def print_scores(kernels: Sequence[Kernel], models: Sequence[str]) -> list[Sequence[str]]:
    """Print outcomes, reasons of those that are not ok, and a row per model and target, which it returns."""
    print(f"{len(kernels)} kernels: {dict(Counter(k.status for k in kernels))}")
    for reason, count in Counter(k.reason[:110] for k in kernels if k.status != OK).most_common():
        print(f"  {count} x {reason}")
    labelled = [kernel for kernel in kernels if kernel.labels]
    asked = [(kernel.design, kernel.question) for kernel in labelled]
    return print_judged({k.design: k.labels for k in labelled}, asked, models)


def require_unscored(release: str) -> None:
    """Check that `untouched` was not scored with a release, and is as it was frozen.

    Raises: SystemExit: it was scored. ProgramError: a kernel was changed.
    """
    require_frozen(UNTOUCHED_FOLDER)
    lines = LOG.read_text("utf-8").splitlines() if LOG.exists() else []
    if release in [json.loads(line)["release"] for line in lines]:
        raise SystemExit(f"untouched was scored with release {release}: {LOG.relative_to(ROOT)}")


def log_scoring(release: str, kernels: Sequence[Kernel], scores: Sequence[Sequence[str]]) -> None:
    """Append a scoring to the log."""
    line = {
        "release": release,
        "frozen": require_frozen(UNTOUCHED_FOLDER),
        "statuses": {kernel.program.name: kernel.status for kernel in kernels},
        "scores": scores,
        "commit": present_commit(),
        "machine": present_machine(),
        "date": datetime.now(UTC).date().isoformat(),
    }
    with LOG.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, sort_keys=True) + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Label, ask, print; log the scoring of `untouched`."""
    parser = options_parser(__doc__)
    parser.add_argument("collection", choices=sorted(FOLDERS))
    parser.add_argument("--release", help="that the models of a scoring of `untouched` learned from")
    parser.add_argument("--field", action="append", default=[], help="of `written`, these fields alone")
    parser.add_argument("--model", action="append", default=[], help="name of weights, or a folder")
    options = parser.parse_args(arguments)
    is_untouched = options.collection == "untouched"
    if is_untouched != (options.release is not None) or (is_untouched and options.field):
        parser.error("untouched is scored as a whole and with --release, written without it")
    if is_untouched:
        require_unscored(options.release)
    print_machine()
    context = label_context(default_label_settings(find_deployment()))
    kernels = labelled_kernels(FOLDERS[options.collection], options.field, context)
    scores = print_scores(kernels, options.model or shipped_models())
    if is_untouched:
        log_scoring(options.release, kernels, scores)


if __name__ == "__main__":
    from tests.benchmarks import written_kernels  # worker processes import its functions by that name

    written_kernels.main()
