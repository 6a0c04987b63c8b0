"""Tables of accelerators: a hardware configuration, a network compiled for one, and its power."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import STATUSES, column, table

_PARTS = ("train", "test", "none")


FIXED_CLOCK_PERIOD_NS = 20.0
"""Clock period of every fixed-point pipeline."""


@table(
    "accelerators",
    stage="accelerators",
    group="accelerators",
    tools=("pyosys",),
    checked_by={
        "area_um2 flip_flop_count": "tests: as labels.area_um2, by the same synthesis",
        "module_kinds": "tests: kinds and numbers that Yosys elaborates",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorRow:
    """A hardware configuration of the systolic generator."""

    accelerator_id: str = column("Hash of the configuration and the generator's version.", key=True)
    configuration: str = column("JSON object of the hardware.")
    status: str = column("Outcome of synthesis; ok where it was not asked for.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    module_kinds: tuple[str, ...] = column("Kind of every module of the hierarchy, parents first.")
    module_sizes: tuple[int, ...] = column("Bits of state or width of every module.")
    module_parents: tuple[int, ...] = column("Number of the module that instantiates it; -1 for the top.")
    area_um2: float | None = column("Area of the core's cells.", unit="um2")
    memory_area_um2: float | None = column("Area of scratchpad and accumulator by a model.", unit="um2")
    cell_count: int | None = column("Cells of the core.")
    flip_flop_count: int | None = column("Flip-flops of the core.")
    delay_ns: float | None = column("Longest path of the core.", unit="ns")


@table(
    "compiled_networks",
    stage="accelerators",
    checked_by={
        "block_counts": "tests: counted again from the listed commands, equal",
        "estimated_cycles": "tests: within 10 % of accelerator_labels.latency_cycles in the mean",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledNetworkRow:
    """A network compiled for an accelerator: blocks with counts of commands, and the data between them."""

    compiled_id: str = column("Hash of the accelerator, the network and the compiler's version.", key=True)
    accelerator_id: str = column("Hardware.", references="accelerators")
    group: str = column("Group of the configuration that it belongs to.")
    family: str = column("Family of the network.")
    scale: str = column("Range of sizes that the network was drawn from.")
    seed: int = column("Seed of the network.")
    parameter_count: int = column("Weights and biases of the network.")
    status: str = column("Outcome.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    dataflow: str | None = column("Dataflow that the compiler chose.", choices=("weight", "output"))
    estimated_cycles: int | None = column("Cycles by the compiler's closed form.", unit="cycles")
    multiplications: int | None = column("Multiplications without those by structural zeros.")
    block_kinds: tuple[str, ...] = column("Layer type of every block.")
    block_parameters: tuple[int, ...] = column("Weights and biases of every block.")
    block_counts: tuple[int, ...] = column("Occurrences of every category of commands, block after block.")
    edge_sources: tuple[int, ...] = column("Block that makes the data, of every edge.")
    edge_targets: tuple[int, ...] = column("Block that reads the data, of every edge.")
    split_random: str = column("Part under the random split, 80 to 20.", choices=_PARTS)
    split_scale: str = column("Part when small networks are trained on.", choices=_PARTS)
    split_arch1: str = column(
        "Part when MLP and CNN are trained on, ResNet and MobileNet tested.", choices=_PARTS
    )
    split_arch2: str = column(
        "Part when MLP and CNN are trained on, Transformer and BERT tested.", choices=_PARTS
    )


@table(
    "accelerator_labels",
    stage="accelerators",
    tools=("netlist-simulator", "pyosys", "rtl-reuse"),
    checked_by={
        "outputs_equal": "every row: integer inference, RTL and netlist",
        "latency_cycles": "every row: the netlist writes in the cycles of the RTL",
        "energy_nj": "every row: sum of parts, and of layers",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorLabelRow:
    """Power, energy and cycles of a network on an accelerator, from its netlist on the network's data."""

    compiled_id: str = column("Compiled network.", key=True, references="compiled_networks")
    accelerator_id: str = column("Hardware.", references="accelerators")
    status: str = column("Outcome.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    tool: str = column("Simulator of the netlist.")
    tool_version: str = column("Version of simulator, power model, synthesis and label.")
    outputs_equal: bool | None = column("Whether integer inference, RTL and netlist agree in every word.")
    latency_cycles: int | None = column(
        "Cycles from the first command to the last store, of all layers.", unit="cycles"
    )
    power_mw: float | None = column("Energy over time.", unit="mW")
    energy_nj: float | None = column("Core and memories.", unit="nJ")
    core_energy_nj: float | None = column("Internal, switching and leakage energy of the core.", unit="nJ")
    memory_energy_nj: float | None = column("Accesses of scratchpad and accumulator by a model.", unit="nJ")
    layer_cycles: tuple[int, ...] = column("Cycles of every layer of the accelerator.", unit="cycles")
    layer_energy_nj: tuple[float, ...] = column("Energy of every layer of the accelerator.", unit="nJ")
    label_wall_s: float | None = column("Time of the label without synthesis.", unit="s", measured=True)


@table(
    "fixed_networks",
    stage="accelerators",
    group="fixed",
    tools=("da4ml", "netlist-simulator", "pyosys"),
    checked_by={
        "outputs_equal": "every labelled row: da4ml's own model of the network",
        "power_mw energy_nj": "as runs.power_mw, by the same simulator and power model",
        "area_um2": "tests: as labels.area_um2, by the same synthesis",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class FixedNetworkRow:
    """A network as a fixed-point pipeline: what compilation gives, and its label."""

    fixed_id: str = column("Hash of the network and the compiler's version.", key=True)
    group: str = column("Group of the configuration that it belongs to.")
    family: str = column("Family of the network.")
    seed: int = column("Seed of the network.")
    parameter_count: int = column(
        "Weights and biases of all layers; those of an unrolled step count per step."
    )
    reuse_factor: int | None = column(
        "Cycles per inference: positions of a layer that share a unit; null before there were others than 1.",
        unit="cycles",
    )
    status: str = column("Outcome of compilation and label.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    layer_kinds: tuple[str, ...] = column("Type of every layer.")
    layer_parameters: tuple[int, ...] = column("Weights and biases of every layer.")
    stage_counts: tuple[int, ...] = column(
        "Operations and bits by category, stage after stage, per inference; registers count every cycle."
    )
    stage_activity: tuple[int, ...] | None = column(
        "Bits that change per inference, stage by stage, estimated by evaluating operations: of adders by "
        "hazards, of adders that reach no output, of registers; null before there was an estimate."
    )
    latency_cycles: int | None = column("Cycles from an input to its output.", unit="cycles")
    split_random: str = column("Part under the random split, 80 to 20.", choices=_PARTS)
    split_scale: str = column("Part when small networks are trained on.", choices=_PARTS)
    split_arch1: str = column(
        "Part when MLP and CNN are trained on, ResNet and MobileNet tested.", choices=_PARTS
    )
    tool: str | None = column("Simulator of the netlist; null without a label.")
    tool_version: str | None = column("Version of compiler, simulator, power model and synthesis.")
    outputs_equal: bool | None = column("Whether the netlist gives what the compiler's model gives, always.")
    power_mw: float | None = column(
        "Power with an input every reuse_factor cycles of 20 ns, drawn uniformly.", unit="mW"
    )
    energy_nj: float | None = column(
        "Energy of one inference: power times the clock period times reuse_factor.", unit="nJ"
    )
    area_um2: float | None = column("Area of the cells.", unit="um2")
    cell_count: int | None = column("Cells.")
    delay_ns: float | None = column("Longest path.", unit="ns")
    label_wall_s: float | None = column("Time of compilation and label.", unit="s", measured=True)
