"""The independent check behind each column: another program, or an implementation for the check alone.

A check is of every row, of a sample of each run (`labelling.audit_fraction` and `cross_check_fraction`), or
of examples in the tests. Columns that no program but their own computes say `none`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pipelines.schemas.columns import SchemaError, TableSpec

NONE = "none"
REST = "*"
"""All columns of a table that its other entries do not name."""

_IDENTITY = "every row: ids are computed again from the content at `simfoundry import`"
_NATIVE = "every row: native C (gcc) on the same data, outputs equal bit by bit"
_AUDIT = "audited sample: Verilator on the Verilog, equal"
_STA = "cross-checked sample: OpenSTA"
_YOSYS = "cross-checked sample: yosys of the system on the mapped netlist and the liberty file"
_ESTIMATE = "none; an estimate, compared with the label of the same design in the report"
_NS3 = "tests: ns-3 on the same scenarios"
_THEORY = "tests: closed forms of queueing theory"
_VENDOR = "none; as the vendor's tool reported it"

_SOURCES: Mapping[str, Mapping[str, str]] = {
    "programs": {
        "program_id source_bytes": _IDENTITY,
        "source top inputs": "every program with a run: gcc and its sanitizers",
        "status reason": "programs of a language model: undefined behaviour by gcc's sanitizers",
    },
    "designs": {
        "design_id": _IDENTITY,
        "rtl_sha256": f"{_NATIVE} (cycle model); {_AUDIT}; every row with power: the netlist simulator",
        "memory_read_delay_cycles memory_write_delay_cycles": "audited sample: memories of the bench",
        "initiation_intervals": "tests: a checker of schedules, and cycles in Verilator",
        "register_bits": "tests: registers in the text of the Verilog",
        "estimated_area_um2 critical_path_ns": _ESTIMATE,
    },
    "directive_outcomes": {},
    "loops": {
        "loop depth parent_index iterator is_innermost kind trip_count step": (
            "tests: loops of kernels, written down by hand"
        ),
        "load_count store_count arithmetic_count array_count": "tests: loops of kernels, counted by hand",
    },
    "cdfg_nodes": {"start_cycle latency_cycles": "tests: a checker of schedules"},
    "cdfg_edges": {"distance": "tests: distances found by running the loops"},
    "labels": {
        "design_id": _IDENTITY,
        "status": f"{_NATIVE}; netlist simulated where power is",
        "area_um2 flip_flop_count": f"{_YOSYS}; FPGA: tests, another yosys",
        "cell_count cells_by_type": "area and flip-flops are sums over them, see there",
        "delay_ns": f"{_STA}, within 2 %",
        "lut_count": "tests: another yosys and mapper, within 25 %",
        "dsp_count": "tests: another yosys, equal",
        "bram_count": "tests: memories of known size",
    },
    "runs": {
        "design_id": _IDENTITY,
        "outputs_equal": _NATIVE,
        "latency_cycles": f"{_AUDIT}; every row with power: the mapped netlist; cross-checked sample: Icarus",
        "bytes_read bytes_written": f"{_AUDIT}; every row with power: the mapped netlist",
        "audit_latency_cycles": "every audited row: the cycle model",
        "power_mw energy_nj": "sum of parts; see internal_power_mw and switching_power_mw",
        "switching_power_mw": f"{_STA} with the same activity of every pin, within 3 %",
        "internal_power_mw": f"{_STA} with the same activity under its rule, within 5 %",
        "toggle_count": "tests: a plain simulation in Python; of a share of cycles: within 2 %",
    },
    "inputs": {
        "data_id": "tests: one row per data set of each run",
        "type shape element_count minimum maximum mean zero_share distinct_count is_sorted values": (
            "tests: data of which these figures are known"
        ),
    },
    "loop_runs": {
        "iterations entries branches branches_taken": "tests: loops in Python, on data of several kinds",
    },
    "cross_checks": {"reference": "another tool's own figure"},
    "features": {"estimated_cycles": "every row of known trips: the cycle model, within 0.2 %"},
    "loop_profiles": {
        "depth bounds": "tests: loops of kernels, written down by hand",
        "entries iterations": "tests: programs of known counts; see features.estimated_cycles",
        "iteration_cycles interval_cycles": "see features.estimated_cycles",
    },
    "run_features": {"cycles": "every row: the same run in table runs, equal"},
    "simulations": {"digest": "every design: each engine's outputs of all cycles, equal"},
    "splits": {"part": "every row: groups on one side, checked at each run"},
    "program_facts": {"dynamic_class": "class I with several runs: equal cycles on all data"},
    "stage_reports": {},
    "records": {"prompt completion": "tests: read back, and their code with its pragmas is the design"},
    "accelerators": {
        "area_um2 flip_flop_count": "tests: as labels.area_um2, by the same synthesis",
        "memory_area_um2": NONE,
        "module_kinds": "tests: kinds and numbers that Yosys elaborates",
    },
    "compiled_networks": {
        "block_counts": "tests: counted again from the listed commands, equal",
        "estimated_cycles": "tests: within 10 % of accelerator_labels.latency_cycles in the mean",
    },
    "accelerator_labels": {
        "outputs_equal": "every row: integer inference, RTL and netlist",
        "latency_cycles": "every row: the netlist writes in the cycles of the RTL",
        "memory_energy_nj": NONE,
        "energy_nj": "every row: sum of parts, and of layers",
    },
    "fixed_networks": {
        "outputs_equal": "every labelled row: da4ml's own model of the network",
        "power_mw energy_nj": "as runs.power_mw, by the same simulator and power model",
        "area_um2": "tests: as labels.area_um2, by the same synthesis",
    },
    "fabric_graphs": {},
    "fabric_nodes": {},
    "fabric_edges": {},
    "placements": {
        "units routes": "every row: legal units, and routes that join them",
        "throughput interval_cycles": "tests: a simulator that steps through every cycle",
    },
    "network_runs": {
        "delay_mean_ns rtt_mean_ns rtt_p50_ns rtt_p99_ns packet_count drop_count": _NS3,
        "offered_utilisation busiest_utilisation": _THEORY,
    },
    "network_flows": {
        "packet_count drop_count delay_mean_ns delay_p50_ns delay_p99_ns": _NS3,
        "rtt_mean_ns rtt_p50_ns rtt_p99_ns": _NS3,
        "base_ns entropy_ns tree_ns": _THEORY,
    },
    "network_hops": {
        "wait_mean_ns service_ns utilisation": f"{_NS3}; {_THEORY}",
        "entropy_wait_ns tree_wait_ns": _THEORY,
    },
    "pragma_designs": {
        "bound_cycles space_bound_cycles proven": "tests: brute force on small programs",
        "latency_cycles": f"{_NATIVE}, cycles as in runs",
        "dsp_count": NONE,
        "area_um2": "as labels.area_um2 where measured by this project",
    },
    "leaderboard": {},
    "workload_errors": {},
    "predictor_costs": {},
    "promotions": {},
    "vendor_designs": {REST: _VENDOR},
    "vendor_loops": {REST: _VENDOR},
}


def column_checks(table: TableSpec) -> Mapping[str, str]:
    """The check behind each column of a table, in order of the columns.

    Raises: SchemaError: no entry for the table, or an entry names a column that it lacks or names twice.
    """
    if table.name not in _SOURCES:
        raise SchemaError(
            f"no independent check is stated for table {table.name}; state one in pipelines/schemas/checks.py"
        )
    columns = [column.name for column in table.columns]
    checks: dict[str, str] = {}
    for names, check in _SOURCES[table.name].items():
        for name in names.split() if names != REST else ():
            if name not in columns or name in checks:
                raise SchemaError(f"checks of table {table.name} name {name} twice, or it has no such column")
            checks[name] = check
    rest = _SOURCES[table.name].get(REST, NONE)
    return MappingProxyType({name: checks.get(name, rest) for name in columns})
