"""Release pragmas-v1 and the weights of pragma-gnn that were trained on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from models.catalogue import predictor_named
from models.gate import ReferenceErrors, decide, score
from models.model_files import read_sealed_json
from models.pragma_gnn import PRAGMA_LATENCY
from models.pragma_gnn.data import Explorations, explorations_of, explored_rows
from models.registry import REFERENCE_FILE, read_outcome
from models.tasks import Reference
from pipelines.dataset.releases import Release, open_release
from pipelines.schemas import OK, PragmaDesignRow

REFERENCE = PRAGMA_LATENCY.reference or Reference(release="", split="", parts=(), minimum_programs=0)
SPEC = predictor_named("pragma-gnn")


@pytest.fixture(scope="module")
def release() -> Release:
    """The release, each file checked against its hash."""
    return open_release(REFERENCE.folder)


@pytest.fixture(scope="module")
def reference() -> Explorations:
    return explorations_of([REFERENCE.folder], parts=REFERENCE.parts, split=REFERENCE.split)


def test_the_release_has_searches_of_its_own_programs(release: Release) -> None:
    assert set(release.tables()) == {"programs", "splits", "pragma_designs"}
    programs = {row.program_id for p in release.partitions("programs") for row in release.rows("programs", p)}
    rows: Sequence[PragmaDesignRow] = release.rows("pragma_designs", "all")
    assert {row.program_id for row in rows} <= programs
    assert {row.suite for row in rows} == {"ast", "dataflow", "polybench", "stationary"}
    assert len({row.program_id for row in rows}) >= 100
    assert len({row.evaluator for row in rows}) == 1


@pytest.mark.slow
def test_no_design_of_the_release_is_faster_than_its_bound(release: Release, reference: Explorations) -> None:
    """By the bound that its search had, and by the present one."""
    rows: Sequence[PragmaDesignRow] = release.rows("pragma_designs", "all")
    measured = [r for r in rows if r.status == OK and r.latency_cycles is not None]
    assert len(measured) > 1000
    assert all((r.latency_cycles or 0) >= (r.bound_cycles or 0) * (1 - 1e-6) for r in measured)
    assert all(d.latency_cycles >= d.bound.latency_cycles * (1 - 1e-6) for d in reference.designs)


@pytest.mark.slow
def test_no_program_is_on_two_sides(release: Release, reference: Explorations) -> None:
    names = {r.program_id: r for p in release.partitions("programs") for r in release.rows("programs", p)}
    learned, _ = explored_rows([REFERENCE.folder], parts=("train", "validation"), split=REFERENCE.split)
    judged = [names[design.program] for design in reference.designs]
    sides = ([names[row.program_id] for row in learned], judged)
    assert all(sides)
    for column in ("name", "root", "ast_hash", "source"):
        first, second = ({getattr(p, column) for p in side} - {None} for side in sides)
        assert not first & second, column
    outcome = read_outcome(SPEC.shipped_folder)
    assert outcome is not None
    assert not set(outcome.seen_groups) & PRAGMA_LATENCY.reference_groups(REFERENCE)


def test_the_weights_pass_the_gate(reference: Explorations, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.pragma_gnn.data.explorations_of", lambda *_, **__: reference)  # read once
    known = ReferenceErrors.of_json(read_sealed_json(SPEC.shipped_folder / REFERENCE_FILE))
    predictor = SPEC.load(SPEC.shipped_folder)
    found = score(REFERENCE.name, known.digest, PRAGMA_LATENCY.reference_set(REFERENCE), predictor)
    assert found.programs == known.programs
    assert np.allclose(found.errors, known.errors, rtol=1e-3)
    row = decide(
        model=SPEC.name,
        version="1",
        challenger=found,
        champion=None,
        champion_version=None,
        minimum_programs=REFERENCE.minimum_programs,
    )
    assert row.decision == "promoted"
