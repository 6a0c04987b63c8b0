"""Commands on networks, fabrics, accelerators and Verilog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from simfoundry import asking
from simfoundry.cli.options import PATH, PacedEcho, answer_json, as_json_option, explained, listed, options_of
from simfoundry.questions import (
    CollectiveQuestion,
    ExploreQuestion,
    NetworkQuestion,
    PlaceQuestion,
    PowerQuestion,
    SimulateQuestion,
    VerilateQuestion,
)


@listed("Networks, accelerators and Verilog", memory_gib=2)
@click.command()
@options_of(NetworkQuestion)
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


@listed("Networks, accelerators and Verilog", memory_gib=2)
@click.command()
@options_of(CollectiveQuestion)
@as_json_option
@explained
def collective(as_json: bool, **options: Any) -> None:
    """Estimate how long collective operations of jobs take on the hosts of a network."""
    answer = asking.collective(**options)
    if as_json:
        answer_json(answer)
    else:
        from simfoundry.commands.collective import collective_text

        click.echo(collective_text(answer))


@listed("Networks, accelerators and Verilog", memory_gib=4)
@click.command()
@click.argument("network", type=PATH)
@options_of(PowerQuestion)
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


@listed("Networks, accelerators and Verilog", memory_gib=4)
@click.command()
@click.argument("network", type=PATH)
@options_of(ExploreQuestion)
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


@listed("Networks, accelerators and Verilog", memory_gib=4)
@click.command()
@click.argument("graph", type=PATH)
@options_of(PlaceQuestion)
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


@listed("Networks, accelerators and Verilog", memory_gib=4)
@click.command()
@click.argument("files", type=PATH, nargs=-1, metavar="[FILE]...")
@options_of(
    SimulateQuestion,
    *("file_list", "near_list", "include", "parameter", "root"),
    *("top", "cycles", "stimuli", "engine", "seed", "inputs", "reset_cycles", "vcd", "fst", "signals"),
    *(
        "library",
        "define",
        "undefine",
        "clock",
        "unroll_limit",
        "toggles",
        "memory",
        "threads",
        "batch",
        "skip_idle",
        "checkpoint",
    ),
    "resume",
)
@as_json_option
@explained
def simulate(as_json: bool, **options: Any) -> None:
    """Simulate a Verilog, SystemVerilog or FIRRTL design, cycle by cycle.

    Outputs are sampled before the rising edge; their digest is equal for all engines.
    """
    _require_usage(options)
    answer = asking.simulate(**options)
    if as_json:
        answer_json(answer)
    else:
        from simfoundry.commands.simulate import simulate_text

        click.echo(simulate_text(answer))


@listed("Networks, accelerators and Verilog", memory_gib=4)
@click.command()
@click.argument("files", type=PATH, nargs=-1, metavar="[FILE]...")
@options_of(VerilateQuestion)
@as_json_option
@explained
def verilate(as_json: bool, **options: Any) -> None:
    """Translate a design to a C++ library for test benches of Verilator's models.

    The class has the ports as members, and eval(), trace() and final(); see docs/rtlsim.md.
    """
    _require_usage(options)
    answer = asking.verilate(**options)
    if as_json:
        answer_json(answer)
    else:
        from simfoundry.commands.verilate import verilate_text

        click.echo(verilate_text(answer))


def _require_usage(options: Mapping[str, Any]) -> None:
    if not (options["files"] or options["file_list"] or options["near_list"]):
        raise click.UsageError("one of FILE, --file-list and --near-list is required")
    from pipelines.rtl.reuse.errors import RtlError
    from simfoundry.commands.rtl_project import require_forms

    names = ("define", "undefine", "parameter", "clock")
    try:
        require_forms(**{name: options[name] for name in names if name in options})
    except RtlError as error:
        raise click.UsageError(str(error)) from error
