"""Several threads and several cycles per task give the outputs of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.rtl.reuse import RtlError, Simulator, build_reuse
from pipelines.rtl.reuse.designs import FAMILIES
from pipelines.rtl.reuse.elaboration import elaborate
from pipelines.rtl.reuse.netlist import read_verilog
from pipelines.rtl.reuse.partition import partition, replication
from pipelines.rtl.reuse.structure import analyse


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("family", "size", "threads", "batch", "stimuli"),
    [("gemm_os", 5, 2, 3, 1), ("gemmini", 16, 3, 2, 2), ("mesh", 2, 2, 2, 1)],
)
def test_outputs_do_not_depend_on_threads_and_cycles_per_task(
    family: str, size: int, threads: int, batch: int, stimuli: int, programs: Path
) -> None:
    text = FAMILIES[family](size).verilog
    options = {"top": "top", "folder": programs, "compiler": "g++", "stimuli": stimuli}
    one = Simulator(build_reuse(text, **options))
    many = Simulator(build_reuse(text, **options, threads=threads, batch=batch))
    expected = one.run(200, seed=2, is_traced=True)
    found = many.run(200, seed=2, is_traced=True)
    assert expected.outputs is not None
    assert found.outputs is not None
    assert (found.outputs == expected.outputs).all()
    assert found.digests.tolist() == expected.digests.tolist()
    assert many.step() == one.step()
    assert many.run(31, seed=2).digests.tolist() == one.run(31, seed=2).digests.tolist()


def test_more_cycles_per_task_repeat_more() -> None:
    structure = analyse(elaborate(read_verilog(FAMILIES["gemm_os"](8).verilog, top="top")))
    shares = [replication(structure, partition(structure, 2, batch)) for batch in (1, 2, 4)]
    assert shares[0] == 1
    assert shares == sorted(shares)
    assert shares[2] < 1.8


def test_toggles_are_counted_by_one_thread(programs: Path) -> None:
    text = "module top (input clk, input a, output reg b); always @(posedge clk) b <= a; endmodule"
    with pytest.raises(RtlError) as error:
        build_reuse(text, top="top", folder=programs, threads=2, is_counting=True)
    assert str(error.value) == "toggle counts of several threads or cycles per task; accepted: 1 of each"
