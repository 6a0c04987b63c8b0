"""The netlist simulator against a plain simulation in Python, against RTL, and on glitches made by hand."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from power_designs import SMALL_LIBERTY, TIMING, Kernel, netlist_of

from pipelines.power.encoding import EncodedNetlist, encode_netlist
from pipelines.power.estimate import EngineRun, run_engine
from pipelines.power.functions import PowerError, evaluate, parse_function
from pipelines.power.stimulus import (
    Activity,
    DesignActivity,
    DesignRun,
    DesignStimulus,
    TraceStimulus,
)
from pipelines.rtl.simulation import simulate_design
from pipelines.silicon.synthesis import load_liberty
from pipelines.silicon.synthesis.liberty import Liberty
from pipelines.silicon.synthesis.netlist import Netlist
from pipelines.silicon.synthesis.timing import analyse_timing


@pytest.fixture
def small(tmp_path: Path) -> Liberty:
    path = tmp_path / "small.lib"
    path.write_text(SMALL_LIBERTY)
    return load_liberty(path)


def run_trace(
    encoded: EncodedNetlist, ports: dict[str, list[int]], folder: Path, engine: Path, *, delays: bool
) -> tuple[Activity, dict[str, list[int]]]:
    stimulus = TraceStimulus(
        encoded=encoded,
        ports={n: np.array(v, np.uint64) for n, v in ports.items()},
        watched=tuple(encoded.netlist.outputs),
    )
    run = run_engine(
        encoded,
        lambda: stimulus.content(delays=delays),
        folder=folder,
        engine_folder=engine,
        timeout_s=60,
    )
    assert run.status == "ok", run.reason
    activity, watched = stimulus.result(run.content)
    return activity, {n: v.tolist() for n, v in watched.items()}


COMBINATIONAL = ("INVX1", "NAND2X1", "NOR3X1", "XOR2X1", "MUX2X1", "AOI21X1", "OAI22X1", "FAX1", "HAX1")
SEQUENTIAL = ("DFFPOSX1", "DFFNEGX1")


def random_netlist(liberty: Liberty, seed: int) -> Netlist:
    """Cells whose inputs come from ports, flip-flops and earlier cells; every output is a port's bit."""
    rng = random.Random(seed)
    clock, ports = 2, list(range(3, 7))
    sources, cells, nets = [*ports], [], 7
    flip_flops = [rng.choice(SEQUENTIAL) for _ in range(4)]
    states = list(range(nets, nets + len(flip_flops)))
    nets += len(flip_flops)
    sources += states
    for _ in range(14):
        kind = rng.choice(COMBINATIONAL)
        pins = liberty.cells[kind].pins
        words = [f"{p}={rng.choice(sources)}" for p, pin in pins.items() if pin.direction == "input"]
        outputs = [p for p, pin in pins.items() if pin.direction == "output"]
        words += [f"{p}={nets + i}" for i, p in enumerate(outputs)]
        sources += list(range(nets, nets + len(outputs)))
        nets += len(outputs)
        cells.append((kind, " ".join(words)))
    for kind, state in zip(flip_flops, states, strict=True):
        cells.append((kind, f"CLK={clock} D={rng.choice(sources)} Q={state}"))
    outputs: list[int | str] = list(range(7, nets))
    shape = {"clk": ("input", [clock]), "a": ("input", [*ports]), "y": ("output", outputs)}
    return netlist_of(shape, *cells)


class PlainSimulation:
    """Every gate computed again and again until nothing changes; flip-flops one after the other."""

    def __init__(self, netlist: Netlist, liberty: Liberty) -> None:
        self.value = dict.fromkeys(range(netlist.net_count), False)
        self.gates, self.flip_flops = [], []
        for kind, group in netlist.groups.items():
            cell = liberty.cells[kind]
            for i in range(len(group.names)):
                nets = {p: int(n[i]) for p, n in group.pins.items()}
                if cell.flip_flops:
                    falling = "!" in cell.flip_flops[0].clocked_on
                    self.flip_flops.append((nets["D"], nets["Q"], falling))
                else:
                    for pin in cell.pins.values():
                        if pin.function:
                            self.gates.append((parse_function(pin.function), nets, nets[pin.name]))

    def settle(self) -> None:
        for _ in self.gates:
            for function, nets, target in self.gates:
                self.value[target] = evaluate(function, {p: self.value[n] for p, n in nets.items()})

    def edge(self, *, falling: bool) -> None:
        taken = [(q, self.value[d]) for d, q, f in self.flip_flops if f == falling]
        self.value.update(taken)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("delays", [False, True])
def test_counts_equal_a_plain_simulation(
    seed: int, delays: bool, osu018: Path, tmp_path: Path, engine_folder: Path
) -> None:
    liberty = load_liberty(osu018)
    netlist = random_netlist(liberty, seed)
    rng = random.Random(100 + seed)
    trace = [rng.randrange(16) for _ in range(60)]
    encoded = encode_netlist(netlist, liberty, analyse_timing(netlist, liberty))
    activity, watched = run_trace(encoded, {"a": trace}, tmp_path, engine_folder, delays=delays)
    plain = PlainSimulation(netlist, liberty)
    for _, state, _ in plain.flip_flops:  # the simulator starts from states of its own, seen at its outputs
        plain.value[state] = bool(watched["y"][0] >> (state - 7) & 1)
    toggles, ones = np.zeros(netlist.net_count, int), np.zeros(netlist.net_count, int)
    for cycle, bits in enumerate(trace):
        before = dict(plain.value)
        if cycle:
            plain.edge(falling=False)
        plain.value.update({3 + k: bool(bits >> k & 1) for k in range(4)})
        plain.settle()
        steps = [dict(plain.value)]
        if cycle:
            plain.edge(falling=True)
            plain.settle()
            steps.append(dict(plain.value))
        assert watched["y"][cycle] == sum(plain.value[7 + k] << k for k in range(netlist.net_count - 7)), (
            cycle
        )
        for net in range(netlist.net_count) if cycle else ():
            ones[net] += plain.value[net]
            toggles[net] += before[net] != steps[0][net]
            toggles[net] += steps[0][net] != steps[1][net]
    ones[1], ones[2], toggles[2] = 59, 59 // 2, 2 * 59
    assert activity.cycles == 59
    assert activity.ones.tolist() == ones.tolist()
    if delays:
        assert (activity.toggles >= toggles).all()
        assert ((activity.toggles - toggles) % 2 == 0).all()
    else:
        assert activity.toggles.tolist() == toggles.tolist()


def test_delays_count_the_glitch_that_zero_delay_cannot_see(
    small: Liberty, tmp_path: Path, engine_folder: Path
) -> None:
    # y = a xor not a is always 1, but a rising reaches it 0.05 ns late, its inverse 0.1 + 0.2 ns late
    netlist = netlist_of(
        {"a": ("input", [2]), "y": ("output", [4])}, ("INV", "A=2 Y=3"), ("XOR", "A=3 B=2 Y=4")
    )
    encoded = encode_netlist(netlist, small, analyse_timing(netlist, small))
    ports = {"a": [0, 1, 1, 0, 1]}
    still, _ = run_trace(encoded, ports, tmp_path, engine_folder, delays=False)
    moving, watched = run_trace(encoded, ports, tmp_path, engine_folder, delays=True)
    assert still.toggles.tolist() == [0, 0, 3, 0, 3]  # a, y, its inverse
    assert moving.toggles.tolist() == [0, 0, 3, 6, 3]
    assert watched["y"] == [1, 1, 1, 1, 1]


def test_pulse_shorter_than_the_delay_of_a_gate_does_not_pass_it(
    small: Liberty, tmp_path: Path, engine_folder: Path
) -> None:
    # input A of the exclusive or now changes first; its delay is longer than the pulse
    netlist = netlist_of(
        {"a": ("input", [2]), "y": ("output", [4])}, ("INV", "A=2 Y=3"), ("XOR", "A=2 B=3 Y=4")
    )
    encoded = encode_netlist(netlist, small, analyse_timing(netlist, small))
    activity, _ = run_trace(encoded, {"a": [0, 1, 1]}, tmp_path, engine_folder, delays=True)
    assert activity.toggles.tolist() == [0, 0, 1, 0, 1]  # a, y, its inverse


def test_inputs_that_change_together_act_by_the_shortest_delay(
    small: Liberty, tmp_path: Path, engine_folder: Path
) -> None:
    # both inputs of the conjunction rise: after 0.05 ns, before the inverse of a, so that y sees no pulse
    netlist = netlist_of(
        {"a": ("input", [2]), "b": ("input", [3]), "y": ("output", [4])},
        ("AND", "A=2 B=3 Y=5"),
        ("INV", "A=2 Y=6"),
        ("XOR", "A=5 B=6 Y=4"),
    )
    encoded = encode_netlist(netlist, small, analyse_timing(netlist, small))
    ports = {"a": [0, 1, 1], "b": [0, 1, 1]}
    activity, _ = run_trace(encoded, ports, tmp_path, engine_folder, delays=True)
    assert activity.toggles.tolist() == [0, 0, 1, 1, 0, 1, 1]


def test_delays_of_gates_are_those_of_static_timing(osu018: Path) -> None:
    liberty = load_liberty(osu018)
    netlist = netlist_of(
        {"a": ("input", [2]), "y": ("output", [6])},
        *(("INVX1", f"A={n} Y={n + 1}") for n in (2, 3, 4)),
        ("BUFX2", "A=5 Y=6"),
    )
    timing = analyse_timing(netlist, liberty)
    encoded = encode_netlist(netlist, liberty, timing)
    gates = encoded.gate_count
    # behind the head, the tables, and level, output and six inputs of each gate
    ticks = np.frombuffer(encoded.content, "<i4", gates * 12, 16 + gates * (8 + 8 * 4)).reshape(gates, 2, 6)
    nets = [2, 5, 6, 4, 3]  # of the path: ports are numbered first, then cells by type
    for gate, (before, after) in enumerate(pairwise(nets)):
        came = timing.arrival_ns[before] if gate == 3 else timing.arrival_ns[before][::-1]
        found = ticks[gate, :, 0] / 1000
        assert found == pytest.approx(timing.arrival_ns[after] - came, abs=0.0006)


def test_clear_works_without_a_clock_edge_and_inverted_output_follows(
    small: Liberty, tmp_path: Path, engine_folder: Path
) -> None:
    netlist = netlist_of(
        {"clk": ("input", [2]), "reset_n": ("input", [3]), "d": ("input", [4]), "y": ("output", [5, 6])},
        ("FF", "CK=2 R=3 D=4 Q=5"),
        ("FF", "CK=2 R=3 D=4 QN=6"),
    )
    encoded = encode_netlist(netlist, small)
    ports = {"reset_n": [0, 1, 1, 0, 1, 1], "d": [1, 1, 1, 1, 1, 0]}
    for delays in (False, True):
        _, watched = run_trace(encoded, ports, tmp_path, engine_folder, delays=delays)
        # an edge takes the d of the cycle before, unless reset_n was 0 then
        assert watched["y"] == [2, 2, 1, 2, 2, 1]


def test_a_flip_flop_with_enable_holds_its_state(tmp_path: Path, engine_folder: Path) -> None:
    path = tmp_path / "enabled.lib"
    path.write_text(
        SMALL_LIBERTY.replace('next_state : "D"', 'next_state : "(D & E) | (IQ & !E)"').replace(
            "pin (R) {", "pin (E) { direction : input; capacitance : 1; }\n    pin (R) {"
        )
    )
    netlist = netlist_of(
        {"clk": ("input", [2]), "d": ("input", [3]), "e": ("input", [4]), "y": ("output", [5])},
        ("FF", "CK=2 R=1 D=3 E=4 Q=5"),
    )
    encoded = encode_netlist(netlist, load_liberty(path))
    ports = {"d": [1, 0, 0, 1, 0, 1], "e": [1, 0, 1, 0, 1, 1]}
    _, watched = run_trace(encoded, ports, tmp_path, engine_folder, delays=True)
    assert watched["y"][1:] == [1, 1, 0, 0, 0]


def run_kernel(
    kernel: Kernel,
    osu018: Path,
    folder: Path,
    engine: Path,
    *,
    delays: bool,
    noise: bool,
    limit: int = 10_000,
    timed_share: float = 1.0,
) -> tuple[EngineRun, DesignStimulus]:
    liberty = load_liberty(osu018)
    run = DesignRun(
        interface=kernel.compiled.interface,
        data=kernel.data,
        timing=TIMING,
        banks=kernel.compiled.banks,
        noise=noise,
        cycle_limit=limit,
        timed_share=timed_share,
    )
    encoded = encode_netlist(kernel.netlist, liberty, analyse_timing(kernel.netlist, liberty))
    stimulus = DesignStimulus(encoded=encoded, run=run)
    return (
        run_engine(
            encoded,
            lambda: stimulus.content(delays=delays),
            folder=folder,
            engine_folder=engine,
            timeout_s=60,
        ),
        stimulus,
    )


@pytest.mark.slow
def test_netlist_computes_what_the_rtl_computes(
    kernel: Kernel, osu018: Path, tmp_path: Path, engine_folder: Path, runtime_folder: Path
) -> None:
    (tmp_path / "rtl").mkdir()
    rtl = simulate_design(
        kernel.compiled.verilog,
        module="product_hw",
        interface=kernel.compiled.interface,
        data=kernel.data,
        timing=TIMING,
        banks=kernel.compiled.banks,
        folder=tmp_path / "rtl",
        runtime_folder=runtime_folder,
    )
    assert rtl.status == "ok", rtl.reason
    toggles = {}
    for delays in (False, True):
        for noise in (False, True):
            run, stimulus = run_kernel(
                kernel, osu018, tmp_path / "netlist", engine_folder, delays=delays, noise=noise
            )
            assert run.status == "ok", run.reason
            found = stimulus.result(run.content)
            assert found.outputs["C"].tobytes() == rtl.outputs["C"].tobytes()
            assert (found.latency_cycles, found.returned) == (rtl.latency_cycles, rtl.returned)
            assert (found.loads, found.stores) == (rtl.loads, rtl.stores)
            toggles[delays, noise] = int(found.activity.toggles.sum())
    assert toggles[False, False] < toggles[True, False] < toggles[True, True]


def test_a_share_of_timed_cycles_stands_for_all(
    kernel: Kernel, osu018: Path, tmp_path: Path, engine_folder: Path
) -> None:
    def simulated(*, delays: bool, share: float = 1.0) -> DesignActivity:
        run, stimulus = run_kernel(
            kernel, osu018, tmp_path, engine_folder, delays=delays, noise=False, timed_share=share
        )
        return stimulus.result(run.content)

    whole, half = simulated(delays=True), simulated(delays=True, share=0.5)
    none = simulated(delays=False)
    cycles = whole.latency_cycles
    assert [one.activity.timed_cycles for one in (whole, none)] == [cycles, 0]
    assert 0.4 * cycles < half.activity.timed_cycles < 0.6 * cycles
    for one in (half, none):
        assert one.outputs["C"].tobytes() == whole.outputs["C"].tobytes()
        assert (one.latency_cycles, one.loads, one.stores) == (cycles, whole.loads, whole.stores)
        np.testing.assert_array_equal(one.activity.ones, whole.activity.ones)
    # every second change of a net in one cycle takes one back, so that both runs settle alike
    assert not ((whole.activity.toggles - none.activity.toggles) % 2).any()
    total = whole.activity.toggles.sum()
    assert none.activity.toggles.sum() < 0.95 * total
    assert half.activity.toggles.sum() == pytest.approx(total, rel=0.02)


def test_run_that_is_too_long_is_a_timeout(
    kernel: Kernel, osu018: Path, tmp_path: Path, engine_folder: Path
) -> None:
    run, _ = run_kernel(kernel, osu018, tmp_path, engine_folder, delays=False, noise=False, limit=20)
    assert (run.status, run.reason) == ("timeout", "the netlist simulation ran past its cycle limit")


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("while :; do :; done", ("timeout", "the netlist simulation ran past its time limit")),
        (
            "exec sleep 60",
            (
                "tool_error",
                "the netlist simulation: the machine was too busy: no end within 1 s by the clock",
            ),
        ),
    ],
)
def test_only_processor_time_makes_a_timeout(
    program: str, outcome: tuple[str, str], small: Liberty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator = tmp_path / "simulator"
    simulator.write_text(f"#!/bin/sh\n{program}\n")
    simulator.chmod(0o755)
    monkeypatch.setattr("pipelines.power.estimate.build_engine", lambda folder: simulator)
    netlist = netlist_of({"a": ("input", [3]), "y": ("output", [5])}, ("INV", "A=3 Y=5"))
    encoded = encode_netlist(netlist, small, analyse_timing(netlist, small))
    limit_s = 1.0 if outcome[0] == "timeout" else 0.1
    run = run_engine(encoded, bytes, folder=tmp_path / "run", engine_folder=tmp_path, timeout_s=limit_s)
    assert (run.status, run.reason) == outcome


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([("LATCH", "D=3 G=4 Q=5")], "no latches or three-state drivers, got LATCH"),
        ([("OTHER", "A=3 Y=5")], "cells not in library small: OTHER"),
        ([("INV", "A=6 Y=5"), ("INV", "A=5 Y=6")], "netlist has a combinational loop before 2 gates"),
        ([("INV", "A=3 Y=5"), ("INV", "A=4 Y=5")], "a net has several drivers"),
        ([("INV", "A=3 Y=5"), ("FF", "CK=5 D=4 Q=6")], "one input port, got 1 clock nets, .* no port"),
        ([("INV", "A=2 Y=5"), ("FF", "CK=2 D=4 Q=6")], "reach flip-flops only, got gates at port clk"),
    ],
)
def test_encode_netlist_rejects_what_it_cannot_simulate(
    cells: list[tuple[str, str]], message: str, small: Liberty
) -> None:
    ports = {"clk": ("input", [2]), "a": ("input", [3, 4])}
    with pytest.raises(PowerError, match=message):
        encode_netlist(netlist_of(ports, *cells), small)


def test_trace_rejects_missing_ports(small: Liberty) -> None:
    netlist = netlist_of({"a": ("input", [2]), "b": ("input", [3])}, ("XOR", "A=2 B=3 Y=4"))
    stimulus = TraceStimulus(encoded=encode_netlist(netlist, small), ports={"a": np.zeros(3, np.uint64)})
    with pytest.raises(PowerError, match="at least 2 cycles of the ports a, b, got 3 of a"):
        stimulus.content(delays=False)
