"""Mixes of options, and discarded attempts as rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pydantic import TypeAdapter

from pipelines.programs import ProgramError
from pipelines.programs.ast import AstOptions, ast_program, ast_programs
from pipelines.programs.ast.generation import generate_program
from pipelines.programs.ast.options import AstPart
from pipelines.programs.dataflow import DataflowOptions, DataflowPart, dataflow_program, dataflow_programs
from pipelines.programs.mix import options_of
from pipelines.schemas import OK, REJECTED

SMALL = AstOptions(max_cells=4000)
FEW = DataflowOptions(maximum_operators=2)


def test_a_part_has_its_share_and_a_program_depends_on_its_number_alone() -> None:
    mix = (AstPart(share=0.25, options=SMALL), AstPart(share=0.5, options=AstOptions()))
    chosen = [options_of("rest", mix, stage="ast", seed=3, number=k) for k in range(2000)]
    counts = Counter("rest" if c == "rest" else "small" if c == SMALL else "other" for c in chosen)
    assert counts["small"] == pytest.approx(500, abs=75)
    assert counts["rest"] == pytest.approx(500, abs=75)


def test_programs_of_a_mix_are_those_of_their_part() -> None:
    mixed = DataflowOptions(mix=(DataflowPart(share=0.5, options=FEW),))
    both = (FEW, DataflowOptions())
    alone = {k: {dataflow_program(k, seed=0, options=o).source for o in both} for k in range(6)}
    rows = dataflow_programs(count=6, seed=0, options=mixed)
    assert all(row.source in alone[k] for k, row in enumerate(rows))
    assert rows[3:] == dataflow_programs(count=3, first=3, seed=0, options=mixed)


def test_a_mix_rejects_shares_above_one_and_nesting() -> None:
    with pytest.raises(ProgramError, match=r"^shares of a mix must be above 0 with a sum of at most 1, got"):
        AstOptions(mix=(AstPart(share=0.6, options=SMALL), AstPart(share=0.6, options=SMALL)))
    nested = AstOptions(mix=(AstPart(share=0.5, options=SMALL),))
    with pytest.raises(ProgramError, match=r"^a part of a mix must have no mix, got one$"):
        AstOptions(mix=(AstPart(share=0.5, options=nested),))


def test_discarded_attempts_are_rows_only_when_asked_for() -> None:
    plain = ast_programs(count=8, seed=0, options=AstOptions())
    kept = ast_programs(count=8, seed=0, options=AstOptions(keep_discarded=True))
    assert [row for row in kept if row.status == OK] == plain
    discarded = [row for row in kept if row.status == REJECTED]
    assert discarded
    assert all(row.reason for row in discarded)
    assert len({row.program_id for row in kept}) == len(kept)


def test_short_programs_are_drawn_again() -> None:
    options = AstOptions(min_cycles=50_000, max_cycles=400_000, max_iterations=20_000)
    programs = [generate_program(seed=1, number=k, options=options) for k in range(10)]
    reasons = [a.refused or "" for p in programs for a in p.discarded]
    assert any(reason.startswith("a program must take at least 50000 cycles") for reason in reasons)
    assert sum(p.refused is None for p in programs) >= 8


def test_local_arrays_are_bounded() -> None:
    rows = ast_programs(count=20, seed=0, options=AstOptions(max_local_bits=0, keep_discarded=True))
    reasons = [row.reason or "" for row in rows if row.status == REJECTED]
    assert any(reason.startswith("local arrays must have at most 0 bits, got") for reason in reasons)


def test_larger_options_give_more_operators_and_cycles() -> None:
    large = DataflowOptions(
        minimum_operators=12,
        maximum_operators=24,
        minimum_cycles=10_000,
        cycle_budget=200_000,
        cell_budget=25_000,
        local_bits=2048,
        dimension_scale=(1.0, 4.0),
        even_cells=True,
        tries=40,
    )
    rows = dataflow_programs(count=4, seed=0, options=large)
    assert [row.status for row in rows] == [OK] * 4
    assert all(12 <= len(row.operators) <= 24 for row in rows)
    assert max(row.source_bytes for row in rows) > 6000
    with pytest.raises(ProgramError, match=r"dimension_scale must be 0 < low <= high <= 64, got"):
        replace(large, dimension_scale=(2.0, 1.0))


def test_the_configuration_of_release_v2_is_accepted(repository: Path) -> None:
    with initialize_config_dir(version_base=None, config_dir=str(repository / "conf")):
        chosen = compose("config", overrides=["scale=release_v2"])
    ast = TypeAdapter(AstOptions).validate_python(OmegaConf.to_container(chosen.ast.options))
    dataflow = TypeAdapter(DataflowOptions).validate_python(OmegaConf.to_container(chosen.dataflow.options))
    assert sum(part.share for part in ast.mix) == pytest.approx(2 / 3, abs=0.05)
    assert sum(part.share for part in dataflow.mix) == pytest.approx(2 / 3, abs=0.05)
    total = chosen.ast.count + chosen.dataflow.count + chosen.llm.count
    shares = [group.count / total for group in (chosen.ast, chosen.dataflow, chosen.llm)]
    assert shares == pytest.approx([0.3, 0.5, 0.2], abs=0.01)
    assert list(chosen.programs.suites)[:3] == ["ast", "dataflow", "llm"]
    assert set(chosen.hls.memory_delay) == {2, 5, 10, 15}
    assert ast_program(0, seed=0, options=ast).status == OK
