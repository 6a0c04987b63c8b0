"""Libraries and programs that several tests of power use."""

from __future__ import annotations

from pathlib import Path

import pytest
from power_designs import Kernel, compiled_kernel

from pipelines.silicon.synthesis import SynthesisError, find_liberty


@pytest.fixture(scope="session")
def osu018() -> Path:
    """The liberty file of the Debian package; tests that need it are skipped without it."""
    try:
        return find_liberty("osu018")
    except SynthesisError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def kernel(osu018: Path, tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """A small matrix product as netlist, with data."""
    return compiled_kernel(osu018, tmp_path_factory.mktemp("kernel"))
