"""Libraries that several tests of logic synthesis use."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_designs import SMALL_LIBERTY

from pipelines.silicon.synthesis import SynthesisError, Target, find_liberty


@pytest.fixture(scope="session")
def osu018() -> Target:
    """The library of the Debian package; tests that need it are skipped without it."""
    try:
        return Target(liberty=find_liberty("osu018"), clock_period_ns=10.0)
    except SynthesisError as error:
        pytest.skip(str(error))


@pytest.fixture
def small_liberty(tmp_path: Path) -> Path:
    """File of a library of an inverter, a buffer, a flip-flop and a latch."""
    path = tmp_path / "small.lib"
    path.write_text(SMALL_LIBERTY)
    return path
