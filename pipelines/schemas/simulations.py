"""Table of RTL simulations: a design, an engine, and what it gave."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import STATUSES, column, table


@table(
    "simulations",
    stage="simulations",
    group="simulations",
    checked_by={
        "digest": "every design: each engine's outputs of all cycles, equal",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationRow:
    """A design simulated by one engine with random inputs."""

    simulation_id: str = column("Hash of the design, the engine, the run and the version.", key=True)
    design: str = column("Hash of the Verilog text.")
    family: str = column("Family of designs.")
    design_size: int = column("Size within the family.")
    engine: str = column("Simulator.", choices=("reuse", "arc", "verilator", "cxxrtl"))
    cycles: int = column("Clock cycles.", unit="cycles")
    stimuli: int = column("Stimuli simulated side by side.")
    seed: int = column("Seed of the inputs.")
    status: str = column("Outcome of the simulation.", choices=STATUSES)
    reason: str | None = column("Why the status is not ok.")
    digest: str | None = column("Hash of all outputs of all cycles and stimuli.")
    instances: int | None = column("Instances of blocks: modules that were not joined with their parents.")
    blocks: int | None = column("Blocks: unique modules with evaluators of their own.")
    nodes: int | None = column("Operations of all blocks.")
    instance_nodes: int | None = column("Operations of all instances.")
    register_bits: int | None = column("Bits of registers of all instances.", unit="bits")
    memory_bits: int | None = column("Bits of memories of all instances.", unit="bits")
    levels: int | None = column("Levels of evaluation within a cycle.")
    copied_words: int | None = column("Words copied between lanes per cycle and stimulus.")
    input_bits: int | None = column("Bits of input ports.", unit="bits")
    output_bits: int | None = column("Bits of output ports.", unit="bits")
    program_bytes: int | None = column("Size of the compiled simulator.", unit="bytes", measured=True)
    state_bytes: int | None = column("Size of the simulated state.", unit="bytes", measured=True)
    build_cpu_s: float | None = column(
        "Processor time of the build; null where its tools ran confined, which hides it.",
        unit="s",
        measured=True,
    )
    cycle_cpu_ns: float | None = column(
        "Processor time of a cycle of all stimuli, best of several runs.", unit="ns", measured=True
    )
    machine: str | None = column("Processor that it was measured on, and its cores.", measured=True)
    build_wall_s: float | None = column("From Verilog to the compiled simulator.", unit="s", measured=True)
    run_wall_s: float | None = column("Simulation of all cycles and stimuli.", unit="s", measured=True)
