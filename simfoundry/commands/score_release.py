"""`simfoundry score PREDICTOR --release NAME`: a predictor learns and answers in the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import polars as pl

from assets.errors import FoundryError
from models.catalogue import predictor_named
from models.model_files import MODEL_NAMES, read_model, read_outcome
from models.options import JUDGED_PARTS
from models.predictor_files import FILE_BYTES
from models.scoring.confined import ScoreLimits, Subject
from models.scoring.entries import Entry
from models.scoring.score import score_predictor
from pipelines.base.files import read_bounded
from pipelines.base.limited import memory_limit, tool_memory
from pipelines.dataset.splits import last_split
from pipelines.schemas import scan_table, table_spec
from simfoundry.commands.aligned import aligned_lines
from simfoundry.commands.models import setting_values
from simfoundry.commands.release_compare import find_release
from simfoundry.commands.score import model_folder

_STEPS = {
    "describe": "reading the predictor",
    "train": "training in the sandbox",
    "answer": "asking in the sandbox",
}


def score_release(
    predictor: str,
    *,
    release: str,
    level: str | None = None,
    parts: Sequence[str] = (),
    settings: Sequence[str] = (),
    seed: int = 0,
    limit_minutes: float = 60.0,
    report: Callable[[str], None] = lambda _: None,
) -> Entry:
    """Score a predictor on a release; see `models.scoring.score_predictor`.

    Args:
        predictor: FILE.py, the name of a predictor of the project, NAME@ALIAS, or a folder of a model.
        release: its name, or its folder. settings: options of the training, as `epochs=3`.
        limit_minutes: of the training, and of all answers together, by the clock.
        report: gets a line as a step begins.

    Raises: FoundryError: no such file, release or option, or a model that learned from judged programs.
            PredictorError: the predictor fails.
    """
    folder = find_release(release)
    values = setting_values(settings)
    split = str(values.pop("split", last_split(folder)))
    subject = _subject(predictor, folder, split, has_settings=bool(settings))
    if subject.model is None:
        subject = replace(subject, settings={**values, "split": split}, seed=seed)
    seconds = limit_minutes * 60
    entry = score_predictor(
        subject,
        folder,
        split=split,
        level=level,
        parts=parts,
        limits=ScoreLimits(training_s=seconds, answering_s=seconds, memory_bytes=tool_memory(memory_limit())),
        report=lambda step: report(_STEPS[step]),
    )
    return entry.model_copy(update={"settings": values})


def _subject(predictor: str, release: Path, split: str, *, has_settings: bool) -> Subject:
    if predictor.endswith(".py"):
        content = read_bounded(Path(predictor), what="predictor", most_bytes=FILE_BYTES, error=FoundryError)
        return Subject(label=predictor, content=content)
    if "@" not in predictor and not Path(predictor).is_dir():
        return Subject(label=predictor, name=predictor_named(predictor).name)
    if has_settings:
        raise FoundryError(f"{predictor} is trained already; accepted: no --option")
    with model_folder(predictor) as folder:
        name = read_model(folder)[0]
        _refuse_seen(predictor, folder, release, split)
        model = {own: (folder / own).read_bytes() for own in MODEL_NAMES if (folder / own).is_file()}
    return Subject(label=predictor, name=predictor_named(name).name, model=model)


def _refuse_seen(predictor: str, folder: Path, release: Path, split: str) -> None:
    """Refuse a model whose training looked at a group of a judged part."""
    outcome = read_outcome(folder)
    if outcome is None:
        raise FoundryError(f"{predictor} does not say what it was trained on; accepted: FILE.py, or a name")
    own = (pl.col("split") == split) & pl.col("part").is_in(JUDGED_PARTS)
    judged = set(scan_table(release, table_spec("splits")).filter(own).collect()["group"])
    if seen := sorted(judged & set(outcome.seen_groups)):
        raise FoundryError(
            f"{predictor} learned from programs of the judged parts, {seen[0]} for example; accepted: a "
            f"model trained on split {split}"
        )


# ---- the answer ------------------------------------------------------------------------------------------


def entry_text(entry: Entry) -> str:
    """Return an entry as a table, its costs and its failures."""
    head = ("part", "target", "designs", "mean error %", "median error %", "rank", "inside %")
    shares = {(row.part, row.target): row.share for row in entry.coverage}
    rows: list[tuple[str, ...]] = []
    ordered = sorted(entry.errors, key=lambda row: (entry.parts.index(row.part), row.target))
    for (part, target), group in groupby(ordered, key=lambda row: (row.part, row.target)):
        own = {row.metric: row for row in group}
        mean, rank = own["mape"], own["spearman"].value
        ends = f" ({_percent(mean.interval_low)} to {_percent(mean.interval_high)})"
        rows.append(
            (
                part,
                target,
                f"{mean.row_count:,}",
                _percent(mean.value) + ends,
                _percent(own["median_ape"].value),
                "-" if rank is None else f"{rank:.2f}",
                _percent(shares.get((part, target))),
            )
        )
    failed = sum(failure.row_count for failure in entry.failures)
    return "\n".join(
        [
            f"{entry.predictor}, version {entry.version}, level {entry.level}: release {entry.release}, "
            f"split {entry.split}",
            *aligned_lines([head, *rows]),
            f"designs: {sum(entry.designs.values()):,} asked, {failed:,} without an answer, each an error of "
            "100%",
            *(f"{one.row_count:,} of {one.part} without an answer: {one.reason}" for one in entry.failures),
            f"processor time: training {_seconds(entry.training_s)}, an answer {_seconds(entry.answer_s)}",
        ]
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _seconds(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g} s"
