"""Fixtures of the HLS tests: compile, simulate and compare with native C."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipelines.c.signature import DataSet
from pipelines.hls import CompiledDesign, HlsOptions, compile_program
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.rtl.simulation import MemoryTiming, simulate_design


@pytest.fixture
def check_against_native(tmp_path: Path, runtime_folder: Path) -> Callable[..., tuple[CompiledDesign, int]]:
    """Compile and simulate a program; its outputs must equal native C. Returns the design and its cycles."""

    def check(
        source: str, top: str, options: HlsOptions, *, inputs: str = "{}", data: DataSet | None = None
    ) -> tuple[CompiledDesign, int]:
        compiled = compile_program(source, top=top, options=options)
        values = data if data is not None else draw_data(compiled.interface, inputs, seed=1)
        native = run_native(source, compiled.interface, values, folder=tmp_path / "native")
        assert native.status == "ok", native.reason
        folder = tmp_path / f"rtl{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        simulated = simulate_design(
            compiled.verilog,
            module=compiled.module,
            interface=compiled.interface,
            data=values,
            timing=MemoryTiming(
                read_delay_cycles=options.memory_read_delay_cycles,
                write_delay_cycles=options.memory_write_delay_cycles,
            ),
            folder=folder,
            runtime_folder=runtime_folder,
        )
        assert simulated.status == "ok", simulated.reason
        for name, expected in native.outputs.items():
            np.testing.assert_array_equal(simulated.outputs[name], expected, err_msg=name)
        assert simulated.returned == native.returned
        assert simulated.latency_cycles is not None
        return compiled, simulated.latency_cycles

    return check
