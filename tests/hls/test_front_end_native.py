"""Random programs read by the front end, printed as C and compared with themselves compiled by gcc."""

from __future__ import annotations

from pathlib import Path

import pytest
from native_pairs import check_front_end
from random_sources import bit_field_programs, packed_bit_fields, random_layout, random_nodes, random_pointers
from sequenced_programs import sequenced_program

PROGRAMS = {
    # name: (program of a seed, seeds, runs)
    "side effects": (sequenced_program, range(4), 8),
    "pointers": (random_pointers, range(6), 8),
    "bit-fields": (bit_field_programs, range(8), 8),
    "nodes": (random_nodes, range(6), 8),
    "layouts": (random_layout, range(12), 1),
    "packed bit-fields": (packed_bit_fields, (4, 5, 7, 22, 41, 53), 6),
}


@pytest.mark.parametrize(("name", "seed"), [(n, s) for n, (_, seeds, _) in PROGRAMS.items() for s in seeds])
def test_random_programs_equal_gcc(name: str, seed: int, tmp_path: Path) -> None:
    program, _, runs = PROGRAMS[name]
    check_front_end(program(seed), "f", tmp_path, runs=runs)
