"""Random programs of every type against native C, and the shrinking of one that fails."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from batches import Hardware, difference, run_natively, simulate_all
from random_programs import TypedProgram, smaller, typed_program

from pipelines.c import Directive, Function, ir, read_function
from pipelines.cyclemodel import count_cycles
from pipelines.hls import HlsOptions, compile_program, innermost_loops
from pipelines.programs import draw_data
from pipelines.programs.ast import tree
from pipelines.rtl.simulation import MemoryTiming

SEEDS = range(900_000, 900_006)
TIMING = MemoryTiming(read_delay_cycles=2, write_delay_cycles=3)


def some_directives(function: Function, seed: int) -> tuple[Directive, ...]:
    """Innermost loops pipelined, some unrolled, one array in banks."""
    random = Random(seed)
    directives = [Directive(kind="pipeline", loop=loop) for loop in innermost_loops(function)]
    loops = [s.name for s in ir.walk_statements(function.body) if isinstance(s, ir.For)]
    directives += [Directive(kind="unroll", loop=n, value=2) for n in loops if random.random() < 0.4]
    arrays = [a.name for a in function.arrays]
    if arrays:
        directives.append(
            Directive(kind="partition", variable=arrays[0], style="cyclic", value=2, dimension=1)
        )
    return tuple(directives)


def test_random_typed_programs_equal_native_c(tmp_path: Path, runtime_folder: Path) -> None:
    programs, designs = {}, {}
    for seed in SEEDS:
        row = typed_program(seed).row
        function = read_function(row.source, top=row.top)
        options = HlsOptions(
            memory_read_delay_cycles=2,
            memory_write_delay_cycles=3,
            directives=some_directives(function, seed) if seed % 3 else (),
        )
        compiled = compile_program(row.source, top=row.top, options=options)
        data = draw_data(compiled.interface, row.inputs, seed=seed)
        programs[seed] = (row.source, compiled.interface, data)
        designs[seed] = Hardware(compiled=compiled, data=data, timing=TIMING)
    (tmp_path / "c").mkdir()
    (tmp_path / "v").mkdir()
    native = run_natively(programs, tmp_path / "c", sanitize=True)
    simulated = simulate_all(designs, tmp_path / "v", runtime_folder)
    for seed in SEEDS:
        assert native[seed].problem is None, seed
        assert simulated[seed].problem is None, seed
        assert difference(native[seed], simulated[seed]) is None, seed
    seed = SEEDS[1]
    folder = tmp_path / "m"
    folder.mkdir()
    counted = count_cycles(designs[seed].compiled, designs[seed].data, folder=folder)
    assert counted.latency_cycles == simulated[seed].cycles


def test_a_seed_always_gives_the_same_program() -> None:
    assert typed_program(7).row == typed_program(7).row
    assert len({typed_program(seed).row.source for seed in range(20)}) == 20


@pytest.mark.parametrize("number", [2, 3, 7])
def test_shrinking_keeps_the_failure_and_nothing_else(number: int) -> None:
    """The failure here is a program with a loop."""

    def fails(program: TypedProgram) -> bool:
        return "for (" in program.generated.source

    program = typed_program(number)
    assert fails(program)
    while True:
        candidate = next((c for c in smaller(program) if fails(c)), None)
        if candidate is None:
            break
        program = candidate
    (kept, *rest) = program.generated.program.top.body
    assert isinstance(kept, tree.For)
    assert not kept.body
    assert all(isinstance(s, tree.Return) for s in rest)
