"""Commands on networks, fabrics, accelerators and Verilog: network, place, power, explore, simulate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from simfoundry import asking
from simfoundry.cli.options import (
    PATH,
    Finite,
    answer_json,
    as_json_option,
    explained,
)


@click.command()
@click.option(
    "--pods", type=int, help="Pods of a three-tier fat-tree: 4, 8, 12, 16 give 16, 128, 432, 1024 hosts."
)
@click.option("--topology", type=PATH, help="JSON or GraphML file of any other network.")
@click.option(
    "--trace", type=PATH, help="CSV or Parquet file of packets: time_s, source, destination, bytes."
)
@click.option("--pattern", help="all_to_all, incast or broadcast.  [default: all_to_all]")
@click.option("--load", type=Finite(), help="Of the busiest host link by data.  [default: 0.5]")
@click.option("--density", type=Finite(), help="Share of hosts of all_to_all.  [default: 1.0]")
@click.option("--arrivals", help="poisson, ge or on_off.  [default: poisson]")
@click.option("--scv", type=Finite(), help="Squared variation coefficient of arrivals.  [default: 1, or 4]")
@click.option("--routing", default="ecmp", show_default=True, help="ecmp or fixed.")
@click.option("--seed", default=1, show_default=True, type=int, help="Of routes, and of hosts by density.")
@click.option(
    "--queue-capacity",
    default=128,
    show_default=True,
    type=click.IntRange(min=0),
    help="Packets; 0 for no end.",
)
@click.option("--acknowledged/--unacknowledged", default=True, show_default=True, help="Every packet.")
@click.option(
    "--estimate",
    default=None,
    type=click.Choice(["corrected", "tree", "maximum_entropy"]),
    help="Queueing theory, for trees or by maximum entropy; or corrected by what simulations taught.  "
    "[default: corrected; maximum_entropy for a trace]",
)
@click.option("--flows", type=PATH, help="Write each flow's latency to this .parquet or .csv file.")
@as_json_option
@explained
def network(flows: Path | None, as_json: bool, **options: Any) -> None:
    """Estimate the latency of every flow of a network by queueing theory."""
    from simfoundry.commands.network import network_text

    answer = asking.network(flows=flows, **options)
    if as_json:
        answer_json(answer)
    else:
        click.echo(network_text(answer))


@click.command()
@click.argument("graph", type=PATH)
@click.option("--fabric", type=PATH, help="YAML file of a fabric.  [default: conf/fabric/present.yaml]")
@click.option(
    "--cost-model",
    default="heuristic",
    show_default=True,
    help="heuristic, simulator, or a registered model such as pnr-gnn@champion.",
)
@click.option(
    "--moves", default=16000, show_default=True, type=click.IntRange(min=0), help="Moves per graph."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the search.")
@click.option("--clock", type=Finite(min=1e-6), help="MHz, for samples per second.")
@click.option(
    "--dimension",
    multiple=True,
    metavar="NAME=SIZE",
    help="Size of a symbolic dimension of an ONNX model. Repeat for several.",
)
@click.option("--svg", type=PATH, help="Write a picture of the fabric to this file.")
@as_json_option
@explained
def place(as_json: bool, **options: Any) -> None:
    """Place and route a dataflow graph (JSON) or a neural network (ONNX) on a reconfigurable fabric.

    A network that does not fit is cut into graphs that take turns.
    """
    from simfoundry.commands.place import PlaceQuestion, answer_place, place_text

    answer = answer_place(PlaceQuestion(**options))
    if as_json:
        answer_json(answer)
    else:
        click.echo(place_text(answer))


@click.command()
@click.argument("network", type=PATH)
@click.option("--hardware", type=PATH, help="YAML file of the accelerator; the default one without it.")
@click.option(
    "--flow",
    default="systolic",
    show_default=True,
    help="systolic, or fixed: the network itself as a fixed-point pipeline of adders (extra `fixed`).",
)
@click.option(
    "--reuse-factor",
    type=click.IntRange(1, 64),
    help="Of --flow fixed: cycles per inference, in which positions of a layer share units.  [default: 1]",
)
@click.option(
    "--hls-config", type=PATH, help="Of --flow fixed: YAML file of hls4ml with reuse factor and precision."
)
@click.option(
    "--describe",
    is_flag=True,
    help="Of --flow fixed: also the layers as hls4ml describes them (extra `fixed`).",
)
@click.option("--measure", is_flag=True, help="Also synthesise and simulate it: minutes, small ones only.")
@as_json_option
@explained
def power(as_json: bool, **options: Any) -> None:
    """Power, energy and cycles of a neural network (ONNX) in hardware, from compilation alone."""
    from simfoundry.commands.power import PowerQuestion, answer_power, fixed_text, power_text

    answer = answer_power(PowerQuestion(**options))
    if as_json:
        answer_json(answer)
    else:
        click.echo((fixed_text if answer["flow"] == "fixed" else power_text)(answer))


@click.command()
@click.argument("network", type=PATH)
@click.option("--budget-mw", required=True, type=Finite(min=0, min_open=True), help="Most power in mW.")
@click.option(
    "--candidates",
    default=200,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="Drawn configurations.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**63 - 1), help="Of the draws.")
@as_json_option
@explained
def explore(as_json: bool, **options: Any) -> None:
    """Accelerators for a neural network (ONNX) within a power budget: the Pareto front of power and time."""
    from simfoundry.commands.power import ExploreQuestion, answer_explore, explore_text

    answer = answer_explore(ExploreQuestion(**options))
    if as_json:
        answer_json(answer)
    else:
        click.echo(explore_text(answer))


@click.command()
@click.argument("file", type=PATH)
@click.option("--top", required=True, help="Module that is simulated.")
@click.option("--cycles", required=True, type=click.IntRange(1, 10**12), help="Clock cycles.")
@click.option(
    "--stimuli", default=1, show_default=True, type=click.IntRange(1, 4096), help="Simulated side by side."
)
@click.option(
    "--engine",
    default="auto",
    show_default=True,
    help="auto, reuse, arc, verilator, cxxrtl, cuda or hetero; see docs/rtlsim.md.",
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0, 2**63 - 1), help="Of the inputs."
)
@click.option(
    "--inputs",
    type=PATH,
    help="CSV or Parquet file with a column per input port, instead of random values.",
)
@click.option(
    "--reset-cycles",
    default=2,
    show_default=True,
    type=click.IntRange(min=0),
    help="Cycles in which ports named like a reset are active; then they are inactive. 0 = random.",
)
@click.option("--vcd", type=PATH, help="Write a waveform of the first stimulus to this file.")
@click.option("--fst", type=PATH, help="The same as FST; needs vcd2fst of Debian's gtkwave.")
@click.option(
    "--signals",
    multiple=True,
    metavar="PATTERN",
    help="Ports and registers of the waveform, such as top.u.*; may be repeated.  [default: all ports]",
)
@click.option(
    "--library",
    multiple=True,
    type=PATH,
    help="Verilog of modules that the design instantiates (extmodules of FIRRTL); may be repeated.",
)
@click.option(
    "--toggles", type=PATH, help="Write toggles of ports and registers to this .csv or .parquet file."
)
@click.option(
    "--memory",
    multiple=True,
    metavar="NAME=FILE",
    help="Hexadecimal words of a memory, such as top.u.words=image.hex. Repeat for several.",
)
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1, 64), help="Of engine reuse.")
@click.option(
    "--batch",
    default=1,
    show_default=True,
    type=click.IntRange(1, 16),
    help="Cycles that a thread of engine reuse runs before it exchanges values with the others.",
)
@click.option("--skip-idle", is_flag=True, help="Skip parts of which nothing changed, for designs that idle.")
@click.option("--checkpoint", type=PATH, help="Write the state after the last cycle to this file.")
@click.option("--resume", type=PATH, help="Go on from this checkpoint.")
@as_json_option
@explained
def simulate(as_json: bool, **options: Any) -> None:
    """Simulate a Verilog or SystemVerilog design, one clock cycle after the other.

    Outputs are sampled before the rising edge; their digest is equal for all engines.
    """
    from simfoundry.commands.simulate import SimulateQuestion, answer_simulate, simulate_text

    answer = answer_simulate(SimulateQuestion(**options))
    if as_json:
        answer_json(answer)
    else:
        click.echo(simulate_text(answer))
