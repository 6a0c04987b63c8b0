"""What trainings on the tables of a deployment or of a release stored beside them, for the report page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from models.base import TrainOutcome
from models.catalogue import predictors
from models.model_files import OUTCOME_FILE, read_outcome
from models.tasks import has_table, hash_tables
from pipelines.dataset.releases.baselines import Baseline, read_baselines
from pipelines.dataset.releases.manifest import MANIFEST_FILE, read_manifest
from pipelines.dataset.reports.inventory import LEVELS, Entry, read_leaderboard
from pipelines.dataset.reports.levels import Certainty, StoredPredictor
from pipelines.dataset.reports.tables import TableSet

_RISK, _SHARE = "risk_", "%"
_FACTOR = "factor"


def stored_predictors(folder: Path, *, is_release: bool) -> list[StoredPredictor]:
    """Return trainings on exactly the tables of a folder: its own models, or for a release those shipped.

    A release's baselines follow. A folder without labels has none.

    Raises: ReleaseError: the release's file of baselines is damaged.
    """
    if not has_table(folder, "labels"):
        return []
    if not is_release:
        folders = sorted((folder / "models").glob(f"*/*/{OUTCOME_FILE}"))
        return [_stored(outcome) for outcome in map(read_outcome, (at.parent for at in folders)) if outcome]
    return [*(_stored(outcome) for outcome in _shipped(folder)), *_baselines(folder)]


def _shipped(release: Path) -> Iterator[TrainOutcome]:
    """Yield the trainings of shipped predictors of labels whose tables are those of the release, by hash."""
    for spec in predictors():
        if spec.task.level not in LEVELS or not all(has_table(release, t) for t in spec.task.tables):
            continue
        outcome = read_outcome(spec.shipped_folder)
        if outcome is not None and outcome.dataset_hash == hash_tables((release,), spec.task.tables):
            yield outcome


def _stored(outcome: TrainOutcome) -> StoredPredictor:
    return StoredPredictor(
        predictor=outcome.predictor,
        version=outcome.key,
        entries=_entries(map(asdict, outcome.leaderboard)),
        certainties={
            target: certainty
            for target, figures in outcome.intervals.items()
            for certainty in [_certainty(figures)]
            if certainty.curve
        },
    )


def _certainty(figures: Mapping[str, float]) -> Certainty:
    """Read the figures of `models.intervals.measure_intervals` for one target."""
    risks = {name.removeprefix(_RISK): risk for name, risk in figures.items() if name.startswith(_RISK)}
    curve = sorted((int(share.removesuffix(_SHARE)) / 100, risk) for share, risk in risks.items())
    others = (_FACTOR, *(f"{_RISK}{share}" for share in risks))
    inside = {part: share for part, share in figures.items() if part not in others}
    return Certainty(curve=tuple(curve), inside=inside, factor=figures.get(_FACTOR))


def _baselines(release: Path) -> list[StoredPredictor]:
    """Return the baselines of a release that are registered predictors, whose level is known."""
    if not (release / MANIFEST_FILE).is_file():
        return []
    levels = {spec.name: spec.task.level for spec in predictors()}
    rows = [row for row in read_baselines(release, read_manifest(release)) if row.predictor in levels]
    return [
        StoredPredictor(
            predictor=name, version="", entries=_entries(_rows_of(rows, name, levels[name])), certainties={}
        )
        for name in dict.fromkeys(row.predictor for row in rows)
    ]


def _rows_of(rows: Sequence[Baseline], name: str, level: str) -> list[dict[str, Any]]:
    own = (row for row in rows if row.predictor == name)
    return [{**row.model_dump(), "version": "", "level": level} for row in own]


def _entries(rows: Iterable[Mapping[str, Any]]) -> tuple[Entry, ...]:
    """Return rows of a leaderboard as entries of the page."""
    frame = pl.DataFrame(list(rows), infer_schema_length=None)
    tables = TableSet(name="", contents={"leaderboard": frame}, fingerprint="", problems=())
    return tuple(read_leaderboard(tables))
