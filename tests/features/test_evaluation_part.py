"""Evaluation programs in splits, and variants beside what they were derived from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.features import SplitError, evaluation_twins, freeze_split
from pipelines.programs import kernel_programs
from pipelines.programs.evaluation import evaluation_programs
from pipelines.schemas import REJECTED

KERNELS = kernel_programs(suites=("linear_algebra", "irregular"), sizes=("small",))
EVALUATION = evaluation_programs("stationary")


def test_evaluation_programs_have_a_part_of_their_own() -> None:
    places = {row.program_id: row.part for row in freeze_split([*KERNELS, *EVALUATION])}
    assert {places[p.program_id] for p in EVALUATION} == {"evaluation"}
    assert "evaluation" not in {places[p.program_id] for p in KERNELS}


def test_evaluation_programs_move_no_other() -> None:
    alone = freeze_split(KERNELS)
    both = freeze_split([*EVALUATION, *KERNELS], existing=alone)
    assert [row for row in both if row.part != "evaluation"] == alone


@pytest.mark.parametrize(("stage", "part"), [("evaluation", "train"), ("kernel", "evaluation")])
def test_split_rejects_an_evaluation_program_elsewhere(stage: str, part: str) -> None:
    program = replace(KERNELS[0], stage=stage)
    place = replace(freeze_split([KERNELS[0]])[0], part=part)
    with pytest.raises(
        SplitError,
        match=rf"^evaluation programs and no others must be in part evaluation of .+, got .+ {part}$",
    ):
        freeze_split([program], existing=[place])


def test_a_variant_is_where_its_ancestor_is() -> None:
    first = [replace(p, program_id=f"a{n}", name=f"v{n}", parent=p.program_id) for n, p in enumerate(KERNELS)]
    second = [replace(p, program_id=f"b{n}", name=f"w{n}", parent=p.program_id) for n, p in enumerate(first)]
    places = {row.program_id: (row.group, row.part) for row in freeze_split([*second, *first, *KERNELS])}
    for kernel, child, grandchild in zip(KERNELS, first, second, strict=True):
        assert places[kernel.program_id] == places[child.program_id] == places[grandchild.program_id]


def test_a_program_that_is_its_own_ancestor_has_a_place() -> None:
    one, two = (replace(p, parent=q.program_id) for p, q in (KERNELS[:2], KERNELS[1::-1]))
    assert len(freeze_split([one, two])) == 2


def test_training_programs_are_no_evaluation_programs() -> None:
    assert evaluation_twins([*KERNELS, *EVALUATION]) == []


@pytest.mark.parametrize("tree", ["stored", "missing"])
def test_a_planted_twin_is_found(tree: str) -> None:
    twin = EVALUATION[0]
    planted = replace(twin, stage="llm", program_id="planted", name="variant")
    planted = planted if tree == "stored" else replace(planted, ast_hash=None)
    found = evaluation_twins([*KERNELS, planted])
    assert found == [
        "a training program must differ from every evaluation program, got variant (planted), "
        "which equals stationary/weight-stationary-int/custom by its syntax tree"
    ]


def test_a_twin_of_an_evaluation_program_that_is_not_frozen_is_found() -> None:
    new = replace(KERNELS[0], stage="evaluation", program_id="new", suite="later", name="late")
    assert [text.split(", which ")[1] for text in evaluation_twins([new, *KERNELS])] == [
        "equals later/late/small by its syntax tree"
    ]


def test_a_rejected_twin_is_no_training_program() -> None:
    assert evaluation_twins([replace(EVALUATION[0], stage="ast", status=REJECTED)]) == []
