"""Power of hand-made netlists against arithmetic done by hand, and of a kernel against OpenSTA."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from power_designs import SMALL_LIBERTY, TIMING, Kernel, netlist_of

from pipelines.power import (
    Activity,
    DesignRun,
    DesignStimulus,
    PowerError,
    PowerParts,
    compare_with_opensta,
    encode_netlist,
    estimate_power,
    opensta,
    power_parts,
    run_engine,
)
from pipelines.power.opensta import tool_internal_mw
from pipelines.rtl.simulation import MemoryTiming
from pipelines.silicon.synthesis import load_liberty
from pipelines.silicon.synthesis.liberty import Liberty
from pipelines.silicon.synthesis.netlist import Netlist
from pipelines.silicon.synthesis.timing import analyse_timing


@pytest.fixture
def small(tmp_path: Path) -> Liberty:
    path = tmp_path / "small.lib"
    path.write_text(SMALL_LIBERTY)
    return load_liberty(path)


def activity_of(netlist: Netlist, cycles: int, nets: dict[int, tuple[int, int]]) -> Activity:
    """Changes and cycles at 1 of some nets; the others stay at 0."""
    toggles, ones = np.zeros(netlist.net_count, np.int64), np.zeros(netlist.net_count, np.int64)
    for net, (changes, high) in nets.items():
        toggles[net], ones[net] = changes, high
    return Activity(cycles=cycles, toggles=toggles, ones=ones)


def parts_of(netlist: Netlist, liberty: Liberty, activity: Activity) -> PowerParts:
    timing = analyse_timing(netlist, liberty)
    return power_parts(netlist, liberty, timing, activity, clock_period_ns=10.0)


def test_one_inverter_has_the_power_computed_by_hand(small: Liberty) -> None:
    netlist = netlist_of({"a": ("input", [2]), "y": ("output", [3])}, ("INV", "A=2 Y=3"))
    # two pulses of a in 4 cycles of 10 ns: 4 changes of each net, at 1 half of the time
    activity = activity_of(netlist, 4, {2: (4, 2), 3: (4, 2)})
    parts = parts_of(netlist, small, activity)
    # the output port is 0.02 pF at 2 V
    assert parts.switching_mw == pytest.approx(4 * 0.5 * 0.02 * 2**2 / 40)
    # two rising transitions of 1 pJ + 1 pJ/pF, two falling ones of 5 pJ
    assert parts.internal_mw == pytest.approx((2 * (1 + 0.02) + 2 * 5) / 40)
    assert parts.leakage_mw == pytest.approx((0.5 * 1000 + 0.5 * 3000) * 1e-6)
    assert parts.input_net_mw == pytest.approx(4 * 0.5 * (0.4 + 0.6) / 2 * 2**2 / 40)
    assert parts.total_mw == pytest.approx(parts.switching_mw + parts.internal_mw + parts.leakage_mw)


def test_opensta_rule_counts_both_directions_for_each_transition(small: Liberty) -> None:
    netlist = netlist_of({"a": ("input", [2]), "y": ("output", [3])}, ("INV", "A=2 Y=3"))
    activity = activity_of(netlist, 4, {2: (4, 2), 3: (4, 2)})
    found = tool_internal_mw(netlist, small, activity, clock_period_ns=10.0)
    assert found == pytest.approx(4 * ((1 + 0.02) + 5) / 40)
    assert found == pytest.approx(2 * parts_of(netlist, small, activity).internal_mw)


def test_rising_output_of_an_inverter_costs_by_the_falling_input(small: Liberty) -> None:
    netlist = netlist_of({"a": ("input", [2]), "y": ("output", [3])}, ("INV", "A=2 Y=4"), ("INV", "A=4 Y=3"))
    parts = parts_of(netlist, small, activity_of(netlist, 1, {3: (2, 1)}))
    # only the second inverter's output is given changes: its input rises in 0.5 ns and falls in 0.25 ns
    assert parts.internal_mw == pytest.approx(((1 + 0.25 + 0.02) + (5 + 2 * 0.5)) / 10)


def test_tables_of_an_output_count_as_their_inputs_change(small: Liberty) -> None:
    netlist = netlist_of(
        {"a": ("input", [2]), "b": ("input", [3]), "y": ("output", [4])}, ("XOR", "A=2 B=3 Y=4")
    )
    parts = parts_of(netlist, small, activity_of(netlist, 10, {2: (6, 3), 3: (2, 4), 4: (8, 5)}))
    mean_pj = 0.75 * (1 + 3) / 2 + 0.25 * (10 + 30) / 2
    assert parts.internal_mw == pytest.approx(8 * mean_pj / 100)


def test_group_of_energies_may_name_several_inputs(tmp_path: Path) -> None:
    path = tmp_path / "joined.lib"
    first = SMALL_LIBERTY.index('internal_power () { related_pin : "A";', SMALL_LIBERTY.index("A ^ B"))
    second = SMALL_LIBERTY.index('internal_power () { related_pin : "B";')
    text = SMALL_LIBERTY[:second] + SMALL_LIBERTY[SMALL_LIBERTY.index("timing ()", second) :]
    path.write_text(text[:first] + text[first:].replace('"A";', '"A B";', 1))
    ports = {"a": ("input", [2]), "b": ("input", [3]), "y": ("output", [4])}
    netlist = netlist_of(ports, ("XOR", "A=2 B=3 Y=4"))
    activity = activity_of(netlist, 10, {2: (6, 3), 3: (2, 4), 4: (8, 5)})
    assert parts_of(netlist, load_liberty(path), activity).internal_mw == pytest.approx(8 * 2 / 100)


def test_flip_flop_pays_for_clock_data_and_output(small: Liberty) -> None:
    netlist = netlist_of(
        {"clk": ("input", [2]), "d": ("input", [3]), "q": ("output", [4])}, ("FF", "CK=2 R=1 D=3 Q=4")
    )
    parts = parts_of(netlist, small, activity_of(netlist, 10, {2: (20, 5), 3: (6, 5), 4: (4, 5)}))
    assert parts.internal_mw == pytest.approx((20 * 3 + 6 * 1 + 4 * 8) / 100)
    assert parts.leakage_mw == pytest.approx(20e-6)


def design_run(kernel: Kernel) -> DesignRun:
    compiled = kernel.compiled
    return DesignRun(interface=compiled.interface, data=kernel.data, timing=TIMING, banks=compiled.banks)


def test_energy_is_power_times_time_and_glitches_cost(
    kernel: Kernel, osu018: Path, tmp_path: Path, engine_folder: Path
) -> None:
    liberty = load_liberty(osu018)
    found = {
        (period, glitches): estimate_power(
            kernel.netlist,
            liberty=liberty,
            clock_period_ns=period,
            run=design_run(kernel),
            folder=tmp_path / "run",
            engine_folder=engine_folder,
            glitches=glitches,
        )
        for period, glitches in ((10.0, True), (20.0, True), (10.0, False))
    }
    fast, slow, calm = found.values()
    expected = kernel.data["A"].astype(int) @ kernel.data["B"].astype(int) + int(kernel.data["bias"])
    for result in found.values():
        assert result.status == "ok", result.reason
        assert np.array_equal(result.outputs["C"], expected)
        assert result.returned == expected.sum()
    assert fast.power_mw is not None
    assert fast.parts is not None
    assert slow.power_mw is not None
    assert calm.power_mw is not None
    assert fast.energy_nj == pytest.approx(fast.power_mw * (fast.latency_cycles or 0) * 10.0 / 1000)
    assert slow.power_mw == pytest.approx((fast.power_mw + fast.parts.leakage_mw) / 2)
    assert calm.power_mw < fast.power_mw


def test_a_netlist_without_a_cycle_has_no_power(
    kernel: Kernel, osu018: Path, tmp_path: Path, engine_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one is that was mapped without an inverter, so that `done` is constant."""
    result = DesignStimulus.result
    monkeypatch.setattr(
        DesignStimulus, "result", lambda *arguments: replace(result(*arguments), latency_cycles=0)
    )
    estimated = estimate_power(
        kernel.netlist,
        liberty=load_liberty(osu018),
        clock_period_ns=10.0,
        run=design_run(kernel),
        folder=tmp_path,
        engine_folder=engine_folder,
    )
    reason = "the netlist is done before its first cycle, so it has no power; its cells may be wrong"
    assert (estimated.status, estimated.reason) == ("tool_error", reason)


def test_estimate_power_rejects_a_period_of_zero(
    kernel: Kernel, osu018: Path, tmp_path: Path, engine_folder: Path
) -> None:
    with pytest.raises(PowerError, match="clock_period_ns must be positive, got 0"):
        estimate_power(
            kernel.netlist,
            liberty=load_liberty(osu018),
            clock_period_ns=0.0,
            run=design_run(kernel),
            folder=tmp_path,
            engine_folder=engine_folder,
        )


def test_estimate_power_rejects_memories_without_delay(
    kernel: Kernel, osu018: Path, tmp_path: Path, engine_folder: Path
) -> None:
    timing = MemoryTiming(read_delay_cycles=0, write_delay_cycles=1)
    with pytest.raises(PowerError, match="memory delays must be at least 1 cycle, got 0 and 1"):
        estimate_power(
            kernel.netlist,
            liberty=load_liberty(osu018),
            clock_period_ns=10.0,
            run=replace(design_run(kernel), timing=timing),
            folder=tmp_path,
            engine_folder=engine_folder,
        )


def test_estimate_power_rejects_a_netlist_that_is_no_design(
    kernel: Kernel, osu018: Path, tmp_path: Path, engine_folder: Path
) -> None:
    netlist = netlist_of({"a": ("input", [2]), "y": ("output", [3])}, ("INVX1", "A=2 Y=3"))
    with pytest.raises(PowerError, match="design lacks ports clk, rst"):
        estimate_power(
            netlist,
            liberty=load_liberty(osu018),
            clock_period_ns=10.0,
            run=design_run(kernel),
            folder=tmp_path,
            engine_folder=engine_folder,
        )


@pytest.mark.skipif(shutil.which("sta") is None, reason="needs sta of the package opensta")
@pytest.mark.parametrize("glitches", [False, True])
def test_kernel_agrees_with_opensta(
    glitches: bool, kernel: Kernel, osu018: Path, tmp_path: Path, engine_folder: Path
) -> None:
    liberty = load_liberty(osu018)
    encoded = encode_netlist(kernel.netlist, liberty, analyse_timing(kernel.netlist, liberty))
    stimulus = DesignStimulus(encoded=encoded, run=design_run(kernel))
    run = run_engine(
        encoded,
        lambda: stimulus.content(delays=glitches),
        folder=tmp_path / "run",
        engine_folder=engine_folder,
        timeout_s=60,
    )
    assert run.status == "ok", run.reason
    found = compare_with_opensta(
        kernel.netlist,
        stimulus.result(run.content).activity,
        liberty=liberty,
        liberty_path=osu018,
        clock=encoded.clock,
        clock_period_ns=10.0,
        folder=tmp_path / "sta",
    )
    assert found.delay_ns == pytest.approx(found.tool_delay_ns, rel=1e-4)
    assert found.parts.switching_mw == pytest.approx(found.tool.switching_mw, rel=0.03)
    assert found.parts.leakage_mw == pytest.approx(found.tool.leakage_mw, rel=1e-4)
    assert found.expected_internal_mw == pytest.approx(found.tool.internal_mw, rel=1e-4)
    assert 0.4 < found.parts.internal_mw / found.tool.internal_mw < 0.6


@pytest.mark.skipif(shutil.which("sta") is None, reason="needs sta of the package opensta")
def test_ports_only_design_agrees_with_opensta(osu018: Path, tmp_path: Path) -> None:
    cells = [("XOR2X1", "A=2 B=3 Y=5"), ("AOI21X1", "A=5 B=4 C=3 Y=6"), ("MUX2X1", "A=5 B=6 S=4 Y=7")]
    cells += [("FAX1", "A=5 B=6 C=7 YC=8 YS=9"), ("INVX1", "A=8 Y=10")]
    netlist = netlist_of({"a": ("input", [2, 3, 4]), "y": ("output", [9, 10])}, *cells)
    activity = activity_of(
        netlist, 100, {net: (7 * net % 60 + 5, 13 * net % 90 + 5) for net in range(2, netlist.net_count)}
    )
    found = compare_with_opensta(
        netlist,
        activity,
        liberty=load_liberty(osu018),
        liberty_path=osu018,
        clock=None,
        clock_period_ns=10.0,
        folder=tmp_path,
    )
    assert found.delay_ns == pytest.approx(found.tool_delay_ns, rel=1e-4)
    assert found.parts.switching_mw == pytest.approx(found.tool.switching_mw, rel=0.03)
    assert found.expected_internal_mw == pytest.approx(found.tool.internal_mw, rel=1e-4)


def test_power_parts_rejects_energies_that_overflow(tmp_path: Path) -> None:
    path = tmp_path / "steep.lib"
    steep = SMALL_LIBERTY.replace('index_2 ("0, 1")', 'index_2 ("0, 1e-30")')
    path.write_text(steep.replace('"1, 2", "2, 3"', '"0, 1e30", "0, 1e30"'))
    netlist = netlist_of({"a": ("input", [2]), "y": ("output", [3])}, ("INV", "A=2 Y=3"))
    liberty = load_liberty(path)
    timing = replace(analyse_timing(netlist, liberty), load_pf=np.full((netlist.net_count, 2), 1e250))
    activity = activity_of(netlist, 4, {2: (4, 2), 3: (4, 2)})
    message = "^energies of the library grow beyond what a double holds; accepted: tables of smaller slopes$"
    with pytest.raises(PowerError, match=message):
        power_parts(netlist, liberty, timing, activity, clock_period_ns=10.0)


@pytest.mark.parametrize("number", ["nan", "-inf", "1e999", "-"])
def test_opensta_rejects_power_that_is_not_finite(
    number: str, small: Liberty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opensta, "_run", lambda *_: f"Total  1e-6  {number}  1e-9  1e-6 100.0%\n")
    netlist = netlist_of({"a": ("input", [2]), "y": ("output", [3])}, ("INV", "A=2 Y=3"))
    activity = activity_of(netlist, 4, {2: (4, 2), 3: (4, 2)})
    message = rf"^sta reported the number '{number}'; accepted: finite numbers$"
    with pytest.raises(PowerError, match=message):
        opensta.tool_power(
            netlist,
            activity,
            liberty_path=tmp_path / "small.lib",
            clock=None,
            clock_period_ns=10.0,
            folder=tmp_path,
        )
