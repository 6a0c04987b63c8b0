"""One small accelerator of both dataflows, compiled once per session."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.accelerators.systolic.execution import Bench
from pipelines.accelerators.systolic.hardware import Hardware

SMALL = Hardware(
    rows=2,
    columns=3,
    dataflow="both",
    accumulator_bits=24,
    scratchpad_rows=64,
    accumulator_rows=32,
    accumulator_banks=2,
    store_queue=1,
    dma_bytes=2,
    scale_bits=6,
)
"""An odd shape: operands and sums have rows of different lengths."""


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(SMALL, Path(tmp_path_factory.mktemp("simulators")))
