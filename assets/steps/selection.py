"""The ranking of designs without area: which are worth their seconds of mapping and power."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from assets.checks import CheckedFile, CheckRule
from assets.engines import training_engine
from assets.settings import Group, Listener, Settings
from assets.step import SKIPPED, Output, Step
from assets.steps.splits import Features
from models.labelled import LabelledDesign, Selection, load_labelled_designs
from models.lightgbm.ensembles import TARGETS, ensemble_logs
from models.scheduled import table_features
from models.tasks import TooFewRows
from pipelines.dataset.features import design_part
from pipelines.dataset.labelling.selection import COSTS, Pool, SelectionOptions, rank_designs
from pipelines.schemas import read_table, table_spec
from pipelines.schemas.selection import SelectionRow

LEAST_LABELLED = 20
"""Fewer labelled designs than this are no basis for trees that disagree."""
_SECONDS = 3600.0


class SelectionGroup(Group):
    """Which unlabelled training designs are ranked as worth a label; 0 core-hours = the step is not made."""

    budget_core_hours: Annotated[float, Field(ge=0)] = 0.0
    uncertainty: Annotated[float, Field(ge=0)] = 1.0
    distance: Annotated[float, Field(ge=0)] = 1.0
    coverage: Annotated[float, Field(ge=0)] = 1.0
    cost_exponent: Annotated[float, Field(ge=0, le=1)] = 1.0
    seed: Annotated[int, Field(ge=0)] = 0


def make_selection(settings: Settings, partition: str, listen: Listener) -> Output:
    """Rank the training designs without area; those of other parts are never ranked."""
    del partition, listen  # some ten seconds
    data_dir, group = settings.deployment.data_dir, settings.group(SelectionGroup)
    try:
        split = settings.group(Features).split
        learned = [d for d in load_labelled_designs(data_dir, Selection(split=split)) if d.part == "train"]
    except TooFewRows as error:
        return Output(rows={"selection": ()}, notes={SKIPPED: str(error)})
    labelled = [design for design in learned if "area_um2" in design.labels]
    others = [design for design in learned if "area_um2" not in design.labels]
    if len(labelled) < LEAST_LABELLED or not others:
        reason = f"{len(labelled)} labelled and {len(others)} other training designs"
        return Output(rows={"selection": ()}, notes={SKIPPED: f"{reason}; accepted: {LEAST_LABELLED} and 1"})
    pool = pool_of(settings, labelled, others)
    options = SelectionOptions(**group.model_dump(exclude={"budget_core_hours", "seed"}))
    choices = rank_designs(pool, options, group.budget_core_hours * _SECONDS)
    suites = {design.design_id: design.family for design in others}
    rows = [
        SelectionRow(
            design_id=choice.design_id,
            suite=suites[choice.design_id],
            rank=choice.rank,
            score=choice.score,
            uncertainty=choice.uncertainty,
            feature_distance=choice.distance,
            coverage=choice.coverage,
            reason=choice.reason,
            estimated_cost_s=choice.cost_s,
            chosen=choice.chosen,
        )
        for choice in choices
    ]
    chosen_s = sum(row.estimated_cost_s for row in rows if row.chosen)
    notes = {"chosen": sum(row.chosen for row in rows), "estimated seconds": round(chosen_s, 1)}
    return Output(rows={"selection": rows}, notes=notes)


def pool_of(settings: Settings, labelled: Sequence[LabelledDesign], others: Sequence[LabelledDesign]) -> Pool:
    """Return the unlabelled designs with what the ranking reads of them.

    Raises: DatasetError: a design has no features; make the steps first.
    """
    data_dir = settings.deployment.data_dir
    stages = {row.program_id: row.stage for row in read_table(data_dir, table_spec("programs"))}
    rows = table_features(data_dir, [*labelled, *others], "hls")
    names = tuple(rows[0])
    matrix = np.array([[row[name] for name in names] for row in rows], np.float64)
    known, asked = np.split(matrix, [len(labelled)])
    kinds = [(f"suite={d.family}", f"stage={stages[d.program_id]}") for d in (*labelled, *others)]
    labels = {t: np.array([d.labels.get(t, np.nan) for d in labelled], np.float64) for t in TARGETS}
    area, cycles = (
        np.exp(asked[:, names.index(name)]) for name in ("log_estimated_area_um2", "log_estimated_cycles")
    )
    return Pool(
        ids=[design.design_id for design in others],
        features=asked,
        kinds=kinds[len(labelled) :],
        costs_s=COSTS.seconds(area, cycles),
        predictions=ensemble_logs(known, names, labels, asked, seed=settings.group(SelectionGroup).seed),
        labelled_features=known,
        labelled_kinds=kinds[: len(labelled)],
    )


def chosen_outside_training(file: CheckedFile) -> list[str]:
    """Return the ranked designs that are not in part train."""
    split = file.settings.group(Features).split
    designs = {row["design_id"]: row for row in file.neighbour("designs")}
    places = {r["program_id"]: r["part"] for r in file.neighbour("splits") if r["split"] == split}
    problems: list[str] = []
    for row in file.rows:
        design = designs[row["design_id"]]
        delays = (design["memory_read_delay_cycles"], design["memory_write_delay_cycles"])
        part = design_part(split, places[design["program_id"]], *delays)
        if part != "train":
            problems.append(
                f"a ranked design must be in part train of {split}, got {row['design_id']} in {part}"
            )
    return problems


STEP = Step(
    name="selection",
    description="Training designs without area, by what a label would teach per second of labelling.",
    run=make_selection,
    tables=("selection",),
    reads=("programs", "loops", "designs", "labels", "runs", "splits", "features", "loop_profiles"),
    configuration={"selection": SelectionGroup},
    parameters=("features", "selection"),
    engines=(training_engine("lightgbm"),),
    checks={
        "selection": [
            CheckRule(
                "training_only",
                "Every ranked design is in part train of the frozen split.",
                chosen_outside_training,
            )
        ]
    },
    is_active=lambda settings: settings.group(SelectionGroup).budget_core_hours > 0,
    is_recorded=False,
    is_locked=False,
)
