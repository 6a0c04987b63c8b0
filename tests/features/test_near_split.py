"""The split that keeps near-duplicates together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipelines.dataset import splits
from pipelines.dataset.splits import (
    BY_KERNEL_V2,
    BY_KERNEL_V3,
    EXCLUDED,
    FIELDS,
    UNSEEN_DELAY,
    design_part,
    freeze_near_split,
    freeze_split,
)
from pipelines.programs import WRITTEN, kernel_programs, polybench_program, untyped_name
from pipelines.programs.dataflow import DataflowOptions, dataflow_program
from pipelines.programs.similarity import near_pairs, signature, similarity, text_signature
from pipelines.schemas import REJECTED, ProgramRow, SplitRow

OF_RELEASE_V1 = DataflowOptions(cell_budget=6000)
TRANSPOSES = tuple(dataflow_program(number, seed=0, options=OF_RELEASE_V1) for number in (393, 468))
"""Transposes of three dimensions in test and in training of by_kernel_v1: sizes and subscripts differ."""
OTHERS = [dataflow_program(number, seed=0, options=OF_RELEASE_V1) for number in range(12)]


def places(programs: list[ProgramRow], existing: list[SplitRow] | None = None) -> dict[str, SplitRow]:
    rows = freeze_split(programs, name=BY_KERNEL_V2, existing=existing or [])
    names = {p.program_id: p.name for p in programs}
    return {names[row.program_id]: row for row in rows}


def test_programs_that_differ_in_sizes_and_order_of_subscripts_are_one_group() -> None:
    found = places([*OTHERS, *TRANSPOSES])
    first, second = (found[p.name] for p in TRANSPOSES)
    assert (first.group, first.part) == (second.group, second.part)
    before = {row.group: row.part for row in freeze_split(TRANSPOSES)}
    assert before["dataflow-0-393"] != before["dataflow-0-468"]


def test_similarity_estimates_the_share_of_common_runs() -> None:
    text = "int v = a[0] + b[1]; if (v > 3) { a[v & 7] -= b[2] * v; } while (v) v >>= 1;"
    one, other = (signature(f"void f(int a[9], int b[9]) {{ {t} }}", "f") for t in (text, text + " b[0]++;"))
    assert one is not None
    assert other is not None
    assert similarity(one, one) == 1.0
    assert 0.6 < similarity(one, other) < 1.0
    assert signature("no program", "f") is None


def test_programs_with_near_texts_are_one_group() -> None:
    """Inlined helpers make trees of equal texts differ; the texts count, too."""
    body = "for (int i = 0; i < 9; i++) { if (a[i] > 3) { b[i] = a[i] * 5 - b[i]; } else { b[i] -= a[i]; } }"
    tail = "for (int i = 1; i < 9; i++) { b[i] += b[i - 1]; a[i] ^= b[i] & 3; while (a[i] > 7) a[i] >>= 1; }"
    first = f"// one\nvoid f(int a[9], int b[9]) {{ {body} {tail} }}"
    second = (
        f"void g(short x[77], short y[77]) {{ {body.replace('a', 'x').replace('b', 'y')} {tail} y[0] = 1; }}"
    )
    one, other = text_signature(first), text_signature(second)
    assert 0.7 < similarity(one, other) < 1.0
    base = OTHERS[0]
    programs = [
        replace(base, program_id=name, name=name, root=None, source=source, top=top, ast_hash=name)
        for name, source, top in (("one", first, "f"), ("other", second, "g"))
    ]
    trees = {
        name: signature(other.source, other.top)
        for name, other in zip(("one", "other"), OTHERS, strict=False)
    }
    rows = freeze_near_split(programs, signature_of=lambda program: trees[program.name])
    assert len({row.group for row in rows}) == 1
    rows = freeze_near_split(programs, signature_of=lambda _: None)  # no programs, whatever their text
    assert len({row.group for row in rows}) == 2


def test_pairs_in_bands_are_those_of_all_pairs() -> None:
    signatures = [signature(p.source, p.top) for p in (*OTHERS, *TRANSPOSES, *TRANSPOSES)]
    every = [
        (i, j)
        for i, one in enumerate(signatures)
        for j, other in enumerate(signatures)
        if i < j and one is not None and other is not None and np.mean(one == other) >= 0.7
    ]
    assert near_pairs(signatures) == every
    assert len(every) >= 6


def test_what_is_near_an_evaluation_program_is_excluded() -> None:
    original = polybench_program("atax", data_type="int")
    near = replace(
        original,
        name="near",
        stage="ast",
        program_id="0" * 32,
        ast_hash=None,
        source=original.source.replace("y[i] = 0", "y[i] = 1 - 1"),
    )
    assert near.source != original.source
    found = places([original, near, *OTHERS[:2]])
    assert (found[original.name].part, found["near"].part) == ("evaluation", "excluded")
    assert {found[p.name].part for p in OTHERS[:2]} <= {"train", "test", "validation"}


def test_existing_places_stay_and_what_joins_two_parts_is_excluded() -> None:
    first = places(OTHERS)
    later = places([*OTHERS, *TRANSPOSES], list(first.values()))
    assert {name: later[name] for name in first} == first
    old = [
        SplitRow(split=BY_KERNEL_V2, program_id=p.program_id, group=p.name, part=part)
        for p, part in zip(TRANSPOSES, ("train", "test"), strict=True)
    ]
    again = replace(TRANSPOSES[0], name="again", program_id="1" * 32)
    found = places([*TRANSPOSES, again], old)
    assert [found[p.name].part for p in (*TRANSPOSES, again)] == ["train", "test", "excluded"]


def test_programs_of_an_evaluation_programs_name_are_not_learned_from() -> None:
    """A kernel of the same name is the same computation in other words, which no text shows to be near."""
    evaluated = [polybench_program(name, data_type="int") for name in ("atax", "gemm", "3mm")]
    kernels = kernel_programs(suites=("linear_algebra",), sizes=("small", "medium"))
    alone = {row.program_id: row for row in freeze_split(kernels, name=BY_KERNEL_V2)}
    names = {p.program_id: p.name for p in kernels}
    before = {names[key]: row.part for key, row in alone.items()}
    assert [before[name] for name in ("atax", "gemm", "3mm", "mvt")] == [
        "train",
        "test",
        "validation",
        "test",
    ]
    drawn = freeze_split([*kernels, *evaluated], name=BY_KERNEL_V2)
    moved = freeze_split([*kernels, *evaluated], name=BY_KERNEL_V2, existing=list(alone.values()))
    again = freeze_split([*kernels, *evaluated], name=BY_KERNEL_V2, existing=moved)
    assert drawn == moved == again
    later = {row.program_id: row for row in moved}
    differing = {names[key] for key, row in alone.items() if row != later[key]}
    assert differing == {"atax", "3mm"}  # gemm is in test, from which no model learns
    excluded = [row for row in moved if row.part == EXCLUDED]
    assert {names[row.program_id] for row in excluded} == {"atax", "3mm"}
    assert len(excluded) == 4  # both sizes


@pytest.mark.parametrize(
    ("name", "untyped"),
    [
        ("atax-int", "atax"),
        ("jacobi-1d-float", "jacobi-1d"),
        ("jacobi-1d", "jacobi-1d"),
        ("weight-stationary-double", "weight-stationary"),
        ("gemm-blocked", "gemm-blocked"),
        ("-int", "-int"),
        ("int", "int"),
    ],
)
def test_the_element_type_is_no_part_of_an_evaluation_programs_name(name: str, untyped: str) -> None:
    assert untyped_name(name) == untyped


def test_fields_left_out_are_a_part_of_their_own_and_the_others_keep_their_sides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = [replace(program, stage=WRITTEN, suite=WRITTEN) for program in OTHERS]
    monkeypatch.setattr(splits, "left_out_kernels", lambda: frozenset((OTHERS[0].name, OTHERS[1].name)))
    before = places(written)
    by_name = {program.name: program.program_id for program in written}
    rows = {row.program_id: row for row in freeze_split(written, name=BY_KERNEL_V3)}
    assert {rows[by_name[OTHERS[number].name]].part for number in (0, 1)} == {FIELDS}
    left_out = {row.group for row in rows.values() if row.part == FIELDS}
    others = {n: before[n].part for n in before if rows[by_name[n]].group not in left_out}
    assert others
    assert {name: rows[by_name[name]].part for name in others} == others
    assert design_part(BY_KERNEL_V3, FIELDS, 2, 15) == UNSEEN_DELAY


def test_a_rejected_program_joins_no_groups() -> None:
    """No design is made of it, so that it cannot leak."""
    copies = [replace(p, name=f"{p.name}_attempt_0", program_id=p.program_id[::-1]) for p in TRANSPOSES]
    rejected = [replace(p, status=REJECTED) for p in copies]
    assert len({row.group for row in places([*TRANSPOSES, *copies]).values()}) == 1
    together = places([*TRANSPOSES, *rejected])
    assert len({row.group for row in together.values()}) == 3
    alone = places(list(TRANSPOSES))
    assert {name: together[name] for name in alone} == alone


def test_variants_are_with_their_first_ancestor() -> None:
    variant = replace(OTHERS[1], name="llm_1", root=OTHERS[0].name, program_id="2" * 32)
    found = places([OTHERS[0], variant])
    assert found["llm_1"].group == found[OTHERS[0].name].group


@pytest.mark.parametrize(
    ("part", "delays", "expected"),
    [
        ("train", (2, 10), "train"),
        ("train", (2, 15), UNSEEN_DELAY),
        ("test", (15, 15), UNSEEN_DELAY),
        ("evaluation", (15, 2), UNSEEN_DELAY),
        ("excluded", (15, 2), "excluded"),
    ],
)
def test_designs_with_an_unseen_delay_have_a_part_of_their_own(
    part: str, delays: tuple[int, ...], expected: str
) -> None:
    assert design_part(BY_KERNEL_V2, part, *delays) == expected
    assert design_part("by_kernel_v1", part, *delays) == part
