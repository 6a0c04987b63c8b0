"""The score of a predictor on a release: trained on its training part, judged on parts it does not see."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from models.base import PredictorError
from models.labelled import LabelledDesign, Selection, load_labelled_designs
from models.leaderboard import Prediction, leaderboard_rows, paired
from models.options import JUDGED_PARTS, LABEL_LEVELS
from models.query import ALL_TARGETS
from models.scoring.confined import Answer, Description, ScoreLimits, Subject, ask, describe, train
from models.scoring.entries import Coverage, Entry, Failure
from models.scoring.training_tables import require_tables, write_training_tables
from models.tasks import DatasetError, has_table
from pipelines.dataset.releases import Baseline, read_manifest, tables_hash
from pipelines.schemas import scan_table, table_spec

METRICS = ("mape", "median_ape", "spearman")
RESAMPLES = 1000
KNOWN, UNKNOWN = "latency_cycles, trip counts known", "latency_cycles, others"
"""Cycles of designs whose trip counts are all known, and of others, beside those of all."""
_MOST_REASONS = 20
"""Of a part; further ones are counted together."""


def score_predictor(
    subject: Subject,
    release: Path,
    *,
    split: str,
    level: str | None = None,
    parts: Sequence[str] = (),
    limits: ScoreLimits | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Entry:
    """Score a predictor; its code runs in the sandbox, where no label of a judged part is.

    Args:
        release: folder. split: frozen split of its tables.
        level: of information; None for the predictor's own, below which it cannot be.
        parts: of JUDGED_PARTS; none: every one that the split has.
        report: gets the step that begins.

    Raises: PredictorError: the predictor fails, or has no answer at all. DatasetError: no such split or part.
            SchemaError, ReleaseError: the release is damaged. SandboxError: this machine forbids confinement.
    """
    limits = limits or ScoreLimits()
    designs = load_labelled_designs(release, Selection(split=split))
    parts = _parts(designs, parts, split)
    judged = [design for design in designs if design.part in parts]
    report("describe")
    description = describe(subject, limits)
    level = _level(subject, description, level)
    training_s = None
    model = subject.model
    if model is None:
        report("train")
        with TemporaryDirectory(prefix="simfoundry-score-") as scratch:
            tables = Path(scratch) / "tables"
            tables.mkdir(mode=0o755)
            write_training_tables(release, tables, split=split, level=level)
            model, training_s = train(subject, tables, limits)
    report("answer")
    questions = [asdict(design.query) for design in judged]
    targets, answers, answer_s = ask(subject, model, questions, limits)
    _require_answers(subject, answers)
    targets = [t for t in ALL_TARGETS if t in targets and not (level == "run" and t == "latency_cycles")]
    predictions = predictions_of(judged, answers, targets)
    return Entry(
        predictor=description.name,
        version=description.version,
        description=description.description,
        origin="file" if subject.name is None else "project" if subject.model is None else "registered",
        sha256=None if subject.content is None else hashlib.sha256(subject.content).hexdigest(),
        level=level,  # type: ignore[arg-type]
        release=release.resolve().name,
        tables=tables_hash(read_manifest(release).files),
        split=split,
        parts=tuple(parts),
        settings=subject.settings,
        seed=subject.seed,
        designs=Counter(design.part for design in judged),
        failures=_failures(judged, answers),
        errors=errors_of(description.name, split_cycles(predictions, release), split),
        coverage=_coverage(judged, answers, targets, parts),
        training_s=training_s,
        answer_s=answer_s or None,
    )


def _parts(designs: Sequence[LabelledDesign], parts: Sequence[str], split: str) -> list[str]:
    present = {design.part for design in designs}
    known = [part for part in JUDGED_PARTS if part in present]
    if absent := [part for part in parts if part not in known]:
        raise DatasetError(f"no part {absent[0]} in split {split}; accepted: {', '.join(known)}")
    return [part for part in known if part in parts] if parts else known


def _level(subject: Subject, description: Description, level: str | None) -> str:
    """Return the level of an entry. Raises: PredictorError: the predictor needs a higher one, or no level."""
    own = description.level
    if own not in LABEL_LEVELS or "labels" not in description.tables:
        accepted = f"a predictor of labels, of level {', '.join(LABEL_LEVELS)}"
        raise PredictorError(f"{subject.label} predicts no labels of designs; accepted: {accepted}")
    enough = LABEL_LEVELS[LABEL_LEVELS.index(own) :]
    if level is not None and level not in enough:
        raise PredictorError(
            f"{subject.label} is of level {own}, which is above {level}; accepted: {', '.join(enough)}"
        )
    require_tables(description.tables, level or own)
    return level or own


def _require_answers(subject: Subject, answers: Sequence[Answer]) -> None:
    if all(answer.reason for answer in answers):
        reason = answers[0].reason if answers else "no questions"
        raise PredictorError(f"{subject.label}: no design has an answer: {reason}")


# ---- errors ----------------------------------------------------------------------------------------------


def predictions_of(
    designs: Sequence[LabelledDesign], answers: Sequence[Answer], targets: Sequence[str]
) -> list[Prediction]:
    """Return label and answer of every design and target.

    A design without an answer has the answer 0, an error of 100 %: otherwise a predictor that refuses hard
    programs would be the best.
    """
    return paired(designs, [{t: answer.values.get(t, 0.0) for t in targets} for answer in answers])


def split_cycles(predictions: Iterable[Prediction], release: Path) -> list[Prediction]:
    """Return the predictions, and those of cycles once more by whether all trip counts are known."""
    if not has_table(release, "features"):
        return list(predictions)
    rows = scan_table(release, table_spec("features")).select("design_id", "trips_known").collect()
    is_known = dict(rows.iter_rows())
    parted: list[Prediction] = []
    for one in predictions:
        parted.append(one)
        if one.target == "latency_cycles":
            parted.append(replace(one, target=KNOWN if is_known.get(one.design_id) else UNKNOWN))
    return parted


def errors_of(predictor: str, predictions: Sequence[Prediction], split: str) -> tuple[Baseline, ...]:
    """Return the errors as `baselines.json` has them, with 95 % intervals over groups of programs."""
    rows = leaderboard_rows(
        predictions, predictor=predictor, version="", level="", split=split, resamples=RESAMPLES, seed=0
    )
    columns = tuple(Baseline.model_fields)
    return tuple(
        Baseline(**{column: getattr(row, column) for column in columns})
        for row in rows
        if row.metric in METRICS
    )


def _coverage(
    designs: Sequence[LabelledDesign],
    answers: Sequence[Answer],
    targets: Sequence[str],
    parts: Sequence[str],
) -> tuple[Coverage, ...]:
    pairs = list(zip(designs, answers, strict=True))
    with_interval = {target for answer in answers for target in answer.intervals}
    rows: list[Coverage] = []
    for target in targets:
        for part in parts:
            own = [(d.labels[target], a) for d, a in pairs if d.part == part and target in d.labels]
            if own:
                inside = sum(_is_inside(label, answer, target) for label, answer in own)
                share = inside / len(own) if target in with_interval else None
                rows.append(Coverage(target=target, part=part, share=share, row_count=len(own)))
    return tuple(rows)


def _is_inside(label: float, answer: Answer, target: str) -> bool:
    low, high = answer.intervals.get(target, (1.0, 0.0))
    return low <= label <= high


def _failures(designs: Sequence[LabelledDesign], answers: Sequence[Answer]) -> tuple[Failure, ...]:
    pairs = zip(designs, answers, strict=True)
    counts = Counter((design.part, answer.reason) for design, answer in pairs if answer.reason)
    ordered = sorted(counts.items(), key=lambda item: (item[0][0], -item[1], item[0][1]))
    seen: Counter[str] = Counter()
    failures: Counter[tuple[str, str]] = Counter()
    for (part, reason), count in ordered:
        seen[part] += 1
        failures[part, reason if seen[part] <= _MOST_REASONS else "other reasons"] += count
    return tuple(Failure(part=part, reason=text, row_count=n) for (part, text), n in failures.items())
