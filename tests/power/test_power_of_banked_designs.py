"""Netlists with partitioned arrays, floating values and a result, against the cycle model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.c import Directive
from pipelines.cyclemodel import count_cycles
from pipelines.hls import HlsOptions, compile_program
from pipelines.power import DesignRun, estimate_power
from pipelines.rtl.simulation import MemoryTiming
from pipelines.silicon.synthesis import Target, load_liberty, synthesize_design
from pipelines.silicon.synthesis.netlist import parse_netlist

SOURCE = """
unsigned char spread(signed char scale, unsigned char a[3][5], long long b[7], float c[5]) {
  unsigned char last = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 5; j++) {
      last = a[i][j] ^ (unsigned char)scale;
      a[i][j] = last;
    }
  for (int j = 0; j < 7; j++) b[j] = (b[j] ^ scale) - j;
  for (int j = 0; j < 5; j++) c[j] = -c[j];
  return last;
}
"""

PARTITIONS = (
    Directive(kind="partition", variable="a", style="cyclic", value=2, dimension=2),
    Directive(kind="partition", variable="b", style="block", value=3, dimension=1),
    Directive(kind="partition", variable="c", style="complete", dimension=1),
)


@pytest.mark.slow
def test_partitioned_design_computes_what_the_cycle_model_computes(
    osu018: Path, tmp_path: Path, engine_folder: Path
) -> None:
    options = HlsOptions(memory_read_delay_cycles=3, memory_write_delay_cycles=2, directives=PARTITIONS)
    compiled = compile_program(SOURCE, top="spread", options=options)
    assert len(compiled.banks) >= 2 + 3
    target = Target(liberty=osu018, clock_period_ns=10.0)
    synthesized = synthesize_design(
        compiled.verilog, top=compiled.module, target=target, folder=tmp_path / "synthesis"
    )
    assert synthesized.status == "ok", synthesized.reason
    rng = np.random.default_rng(5)
    data = {
        "scale": np.array(-77, np.int8),
        "a": rng.integers(0, 256, (3, 5)).astype(np.uint8),
        "b": rng.integers(-(2**40), 2**40, 7),
        "c": np.array([0.0, -1.5, np.inf, np.nan, 1e-40], np.float32),
    }
    (tmp_path / "model").mkdir()
    model = count_cycles(compiled, data, folder=tmp_path / "model")
    for noise in (False, True):
        found = estimate_power(
            parse_netlist((tmp_path / "synthesis" / "netlist.json").read_bytes(), compiled.module),
            liberty=load_liberty(osu018),
            clock_period_ns=10.0,
            run=DesignRun(
                interface=compiled.interface,
                data=data,
                timing=MemoryTiming(read_delay_cycles=3, write_delay_cycles=2),
                banks=compiled.banks,
                noise=noise,
            ),
            folder=tmp_path / "power",
            engine_folder=engine_folder,
        )
        assert found.status == "ok", found.reason
        assert (found.latency_cycles, found.returned) == (model.latency_cycles, model.returned)
        assert (found.loads, found.stores) == (model.loads, model.stores)
        assert found.outputs.keys() == model.outputs.keys()
        for name, values in found.outputs.items():
            assert values.dtype == model.outputs[name].dtype
            assert values.tobytes() == model.outputs[name].tobytes(), name
