"""Commands on networks, fabrics, accelerators and Verilog: network, place, power, explore, simulate."""

from __future__ import annotations

from typing import Any

import click

from pipelines.network.request import (
    ALL_TO_ALL,
    BURSTY_SCV,
    CORRECTED,
    DEFAULT_DENSITY,
    DEFAULT_LOAD,
    ESTIMATES,
    MAXIMUM_ENTROPY,
    POISSON,
)
from simfoundry import asking
from simfoundry.cli.options import (
    NAME_OR_FILE,
    OUTPUT,
    PATH,
    Finite,
    PacedEcho,
    Whole,
    answer_json,
    as_json_option,
    explained,
    option,
)
from simfoundry.questions import (
    DEFAULT_FABRIC,
    DEFAULT_REUSE_FACTOR,
    ExploreQuestion,
    NetworkQuestion,
    PlaceQuestion,
    PowerQuestion,
    SimulateQuestion,
)

LARGEST_SEED = 2**63 - 1


@click.command()
@option(
    NetworkQuestion,
    "pods",
    help="Pods of a three-tier fat-tree: 4, 8, 12, 16 give 16, 128, 432, 1024 hosts.",
)
@option(NetworkQuestion, "topology", help="JSON or GraphML file of any other network.")
@option(NetworkQuestion, "trace", help="CSV or Parquet file of packets: time_s, source, destination, bytes.")
@option(NetworkQuestion, "pattern", help="all_to_all, incast or broadcast.", show_default=ALL_TO_ALL)
@option(
    NetworkQuestion,
    "load",
    help="Utilisation of the busiest host link, acknowledgements excluded.",
    show_default=f"{DEFAULT_LOAD}",
)
@option(
    NetworkQuestion,
    "density",
    help="Share of hosts that take part in all_to_all.",
    show_default=f"{DEFAULT_DENSITY}",
)
@option(NetworkQuestion, "arrivals", help="poisson, ge or on_off.", show_default=POISSON)
@option(
    NetworkQuestion,
    "scv",
    help="Squared variation coefficient of arrivals.",
    show_default=f"1 for {POISSON}, else {BURSTY_SCV:g}",
)
@option(NetworkQuestion, "routing", help="ecmp or fixed.")
@option(NetworkQuestion, "seed", help="Seed of routes, and of hosts by density.")
@option(
    NetworkQuestion, "queue_capacity", type=Whole(min=0), help="Packets that a queue holds; 0 = unbounded."
)
@option(
    NetworkQuestion,
    "acknowledged",
    "--acknowledged/--unacknowledged",
    help="Whether receivers acknowledge every packet.",
)
@option(
    NetworkQuestion,
    "estimate",
    type=click.Choice([CORRECTED, *ESTIMATES]),
    help="Queueing theory for trees or by maximum entropy, or corrected by what simulations taught.",
    show_default=f"{CORRECTED}; {MAXIMUM_ENTROPY} for a trace",
)
@option(
    NetworkQuestion, "flows", type=OUTPUT, help="Write each flow's latency to this .parquet or .csv file."
)
@as_json_option
@explained
def network(as_json: bool, **options: Any) -> None:
    """Estimate the latency of every flow of a network by queueing theory."""
    answer = asking.network(**options)
    if as_json:
        answer_json(answer)
    else:
        from simfoundry.commands.network import network_text

        click.echo(network_text(answer))


@click.command()
@click.argument("graph", type=PATH)
@option(PlaceQuestion, "fabric", help="YAML file of a fabric.", show_default=f"conf/{DEFAULT_FABRIC}")
@option(
    PlaceQuestion,
    "cost_model",
    help="heuristic, simulator, or a registered model such as pnr-gnn@champion.",
)
@option(PlaceQuestion, "moves", type=Whole(min=0), help="Moves of the search per graph.")
@option(PlaceQuestion, "seed", type=Whole(min=0), help="Seed of the search.")
@option(PlaceQuestion, "clock", type=Finite(min=1e-6), help="Clock in MHz, for samples per second.")
@option(
    PlaceQuestion,
    "dimension",
    metavar="NAME=SIZE",
    help="Size of a symbolic dimension of an ONNX model.",
)
@option(PlaceQuestion, "svg", type=OUTPUT, help="Write a picture of the fabric to this file.")
@as_json_option
@explained
def place(as_json: bool, **options: Any) -> None:
    """Place and route a dataflow graph (JSON) or a neural network (ONNX) on a fabric.

    A network that does not fit is cut into graphs that take turns.
    """
    on_step = None if as_json else PacedEcho()
    answer = asking.place(**options, on_step=on_step)
    if as_json:
        answer_json(answer)
    else:
        from simfoundry.commands.place import place_text

        click.echo(place_text(answer))


@click.command()
@click.argument("network", type=PATH)
@option(
    PowerQuestion, "hardware", help="YAML file of the accelerator.", show_default="the default accelerator"
)
@option(
    PowerQuestion,
    "flow",
    help="systolic, or fixed: the network itself as a fixed-point pipeline of adders (extra `fixed`).",
)
@option(
    PowerQuestion,
    "reuse_factor",
    type=Whole(1, 64),
    help="For --flow fixed: cycles per inference, in which positions of a layer share units.",
    show_default=f"{DEFAULT_REUSE_FACTOR}",
)
@option(
    PowerQuestion,
    "hls_config",
    help="For --flow fixed: YAML file of hls4ml with reuse factor and precision.",
)
@option(
    PowerQuestion,
    "describe",
    help="For --flow fixed: also the layers as hls4ml describes them (extra `fixed`).",
)
@option(PowerQuestion, "dimension", metavar="NAME=SIZE", help="Size of a symbolic dimension of the model.")
@option(PowerQuestion, "measure", help="Also synthesise and simulate it: minutes, small ones only.")
@as_json_option
@explained
def power(as_json: bool, **options: Any) -> None:
    """Estimate power, energy and cycles of a neural network (ONNX) in hardware."""
    answer = asking.power(**options)
    if as_json:
        answer_json(answer)
    else:
        from simfoundry.commands.power import fixed_text, power_text

        click.echo((fixed_text if answer["flow"] == "fixed" else power_text)(answer))


@click.command()
@click.argument("network", type=PATH)
@option(ExploreQuestion, "budget_mw", type=Finite(min=0, min_open=True), help="Most power in mW.")
@option(ExploreQuestion, "candidates", type=Whole(1, 100_000), help="Drawn configurations.")
@option(ExploreQuestion, "seed", type=Whole(0, LARGEST_SEED), help="Seed of the draws.")
@option(ExploreQuestion, "dimension", metavar="NAME=SIZE", help="Size of a symbolic dimension of the model.")
@as_json_option
@explained
def explore(as_json: bool, **options: Any) -> None:
    """Find accelerators for a neural network (ONNX) within a power budget.

    The answer is the Pareto front of power and time.
    """
    answer = asking.explore(**options)
    if as_json:
        answer_json(answer)
    else:
        from simfoundry.commands.power import explore_text

        click.echo(explore_text(answer))


@click.command()
@click.argument("file", type=PATH)
@option(SimulateQuestion, "top", help="Module that is simulated.")
@option(SimulateQuestion, "cycles", type=Whole(1, 10**12), help="Clock cycles.")
@option(SimulateQuestion, "stimuli", type=Whole(1, 4096), help="Stimuli that are simulated side by side.")
@option(
    SimulateQuestion,
    "engine",
    help="auto, reuse, arc, verilator, cxxrtl, cuda or hetero; see docs/rtlsim.md.",
)
@option(SimulateQuestion, "seed", type=Whole(0, LARGEST_SEED), help="Seed of the inputs.")
@option(
    SimulateQuestion,
    "inputs",
    help="CSV or Parquet file with a column per input port, instead of random values.",
)
@option(
    SimulateQuestion,
    "reset_cycles",
    type=Whole(min=0),
    help="Cycles in which ports named like a reset are active; then they are inactive. 0 = random.",
)
@option(SimulateQuestion, "vcd", type=OUTPUT, help="Write a waveform of the first stimulus to this file.")
@option(
    SimulateQuestion, "fst", type=OUTPUT, help="Write the waveform as FST; needs vcd2fst of Debian's gtkwave."
)
@option(
    SimulateQuestion,
    "signals",
    metavar="PATTERN",
    help="Ports and registers of the waveform, such as top.u.*.",
    show_default="all ports",
)
@option(
    SimulateQuestion,
    "library",
    help="Verilog of modules that the design instantiates (extmodules of FIRRTL).",
)
@option(
    SimulateQuestion,
    "define",
    "-D",
    "--define",
    metavar="NAME[=TEXT]",
    help="Macro of the design for every engine; SYNTHESIS is 1 for all.",
)
@option(
    SimulateQuestion,
    "undefine",
    "-U",
    "--undefine",
    metavar="NAME",
    help="Macro that no engine sees, such as SYNTHESIS.",
)
@option(
    SimulateQuestion,
    "toggles",
    type=OUTPUT,
    help="Write toggles of ports and registers to this .csv or .parquet file.",
)
@option(
    SimulateQuestion,
    "memory",
    type=NAME_OR_FILE,
    metavar="NAME=FILE",
    help="Hexadecimal words of a memory, such as top.u.words=image.hex.",
)
@option(SimulateQuestion, "threads", type=Whole(1, 64), help="Threads of engine reuse.")
@option(
    SimulateQuestion,
    "batch",
    type=Whole(1, 16),
    help="Cycles that a thread of engine reuse runs before it exchanges values with the others.",
)
@option(SimulateQuestion, "skip_idle", help="Skip parts of which nothing changed, for designs that idle.")
@option(
    SimulateQuestion, "checkpoint", type=OUTPUT, help="Write the state after the last cycle to this file."
)
@option(SimulateQuestion, "resume", help="Go on from this checkpoint.")
@as_json_option
@explained
def simulate(as_json: bool, **options: Any) -> None:
    """Simulate a Verilog, SystemVerilog or FIRRTL design, cycle by cycle.

    Outputs are sampled before the rising edge; their digest is equal for all engines.
    """
    answer = asking.simulate(**options)
    if as_json:
        answer_json(answer)
    else:
        from simfoundry.commands.simulate import simulate_text

        click.echo(simulate_text(answer))
