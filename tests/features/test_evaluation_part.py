"""Evaluation programs in splits, and variants beside what they were derived from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.dataset.splits import SplitError, evaluation_twins, freeze_split
from pipelines.programs import kernel_programs
from pipelines.programs.evaluation import evaluation_programs
from pipelines.schemas import REJECTED, ProgramRow

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


def _variant(parent: ProgramRow, identity: str, root: str | None) -> ProgramRow:
    return replace(parent, program_id=identity, name=f"of_{identity}", parent=parent.program_id, root=root)


def test_a_variant_that_is_placed_before_its_ancestor_is_where_that_will_be() -> None:
    variants = [_variant(p, f"a{n}", p.name) for n, p in enumerate(KERNELS)]
    alone = freeze_split(variants)
    both = {row.program_id: row.part for row in freeze_split([*variants, *KERNELS], existing=alone)}
    assert all(both[v.program_id] == both[k.program_id] for v, k in zip(variants, KERNELS, strict=True))


def test_split_rejects_a_variant_that_was_placed_apart_from_its_ancestor() -> None:
    places = {row.part: row for row in freeze_split(KERNELS)}
    there, other = places["train"], places["test"]
    parent = next(k for k in KERNELS if k.program_id == there.program_id)
    variant = _variant(parent, "a0", parent.name)
    wrong = replace(other, program_id="a0", group="own")
    with pytest.raises(SplitError, match="a program must be in the part of its first ancestor"):
        freeze_split([variant], existing=[there, wrong])


def test_a_variant_is_where_its_ancestor_is() -> None:
    first = [_variant(p, f"a{n}", p.name) for n, p in enumerate(KERNELS)]
    second = [_variant(p, f"b{n}", p.root) for n, p in enumerate(first)]
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
