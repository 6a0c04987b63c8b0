"""Public tools on the networks of a release: zigzag-dse, scalesim and rule4ml beside compile-power.

python -m tests.benchmarks.accelerator_tools RELEASE [--rows 100] [--seed 0]
RELEASE: accelerators-v2 (zigzag-dse, scalesim) or fixed-v2 (rule4ml).

The tools have dependencies of their own (rule4ml brings TensorFlow), so they get an environment of their own:
    python -m venv tools && tools/bin/pip install '.[predict]' \\
        zigzag-dse==3.9.1 scalesim==3.0.0 rule4ml==0.2.0 'numpy<2.4'
(scalesim 3.0.0 takes an integer of an array of one number, which NumPy 2.4 refuses).

zigzag-dse gets the products of a network as matrices, as our compiler sees them, and our mesh, scratchpad
and accumulator in its description of a TPU, with its energies per bit scaled by the root of the capacity.
External memory costs nothing there, as in our labels. Its energies are those of another process, so one
factor is fitted on all rows before errors are taken, in favour of zigzag; compile-power gets none.
"""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from math import prod, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.stats import kendalltau

from models.compile_power import FIXED_PREDICTOR, PREDICTOR
from models.compile_power.data import Pair, pair_of, read_fixed_pairs
from models.metrics import mape
from models.tasks import table_files
from pipelines.accelerators import AcceleratorError, Hardware, Network, network_of
from pipelines.accelerators.networks import FIXED_SCALES, drawn_fixed_network, drawn_network
from pipelines.schemas import OK, fill_columns, read_arrow, table_spec
from tests.benchmarks.harness import options_parser, write_json

Vector = NDArray[np.float64]
_PACKAGES = {"zigzag": "zigzag-dse==3.9.1", "scalesim": "scalesim==3.0.0", "rule4ml": "rule4ml==0.2.0"}


class Product(NamedTuple):
    """groups products of (rows, inner) and (inner, outputs)."""

    groups: int
    rows: int
    inner: int
    outputs: int


class Case(NamedTuple):
    """A labelled row of the systolic release."""

    pair: Pair
    products: tuple[Product, ...]
    flow: str


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("release", type=Path)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)
    is_fixed = (asked.release / "tables" / "fixed_networks").is_dir()
    rows = (pipelines_judged if is_fixed else systolic_judged)(asked.release, asked.rows, asked.seed)
    for row in rows:
        print("  ".join(f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    write_json(asked.json, rows)


def is_installed(package: str) -> bool:
    """Whether a tool can be imported; else the command that installs it is printed."""
    if find_spec(package) is not None:
        return True
    print(f"{package} is not installed: pip install {_PACKAGES[package]}")
    return False


# ---- systolic --------------------------------------------------------------------------------------


def systolic_judged(release: Path, rows: int, seed: int) -> list[dict[str, Any]]:
    """Energy and cycles of every tool on drawn rows of the test part of the random split."""
    cases = drawn_cases(release, rows, seed)
    energy = np.array([case.pair.energy_nj for case in cases], float)
    cycles = np.array([case.pair.cycles for case in cases], float)
    model = PREDICTOR.load(PREDICTOR.shipped_folder)
    answers = np.exp(model.logarithms([case.pair for case in cases]))
    result = [judged("compile-power", "energy_nj", energy, answers[:, 1], is_scaled=False)]
    estimated = np.array([case.pair.estimated_cycles for case in cases], float)
    result.append(judged("compiler", "latency_cycles", cycles, estimated, is_scaled=False))
    with TemporaryDirectory() as folder:
        if is_installed("zigzag"):
            zigzag = by_case(cases, lambda case: zigzag_costs(case, Path(folder)))
            result.append(judged("zigzag-dse", "energy_nj", energy, zigzag[:, 0], is_scaled=True))
            result.append(judged("zigzag-dse", "latency_cycles", cycles, zigzag[:, 1], is_scaled=False))
            result.append(
                judged("zigzag-dse, scaled", "latency_cycles", cycles, zigzag[:, 1], is_scaled=True)
            )
        if is_installed("scalesim"):
            scale = by_case(cases, lambda case: (scalesim_cycles(case, Path(folder)),))
            result.append(judged("scalesim", "latency_cycles", cycles, scale[:, 0], is_scaled=False))
            result.append(judged("scalesim, scaled", "latency_cycles", cycles, scale[:, 0], is_scaled=True))
    return result


def by_case(cases: Sequence[Case], cost: Callable[[Case], tuple[float, ...]]) -> Vector:
    """(cases, costs); what the tools print is dropped."""
    answers: list[tuple[float, ...]] = []
    for case in cases:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            answers.append(cost(case))
    return np.array(answers, float)


def judged(tool: str, target: str, actual: Vector, predicted: Vector, *, is_scaled: bool) -> dict[str, Any]:
    """Rank correlation and error; scaled by the factor of the least mean error when asked for."""
    factor = best_factor(actual, predicted) if is_scaled else 1.0
    tau: Any = kendalltau(actual, predicted)
    row = {"tool": tool, "target": target, "rows": len(actual), "tau": float(tau.statistic)}
    return {**row, "mape": mape(actual, factor * predicted), "factor": factor}


def best_factor(actual: Vector, predicted: Vector) -> float:
    """The factor with the least mean absolute percentage error: a weighted median of the ratios."""
    ratios, weights = actual / predicted, predicted / actual
    order = np.argsort(ratios)
    half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    return float(ratios[order][half])


def drawn_cases(release: Path, count: int, seed: int) -> list[Case]:
    """Rows in turn of every family and size of the mesh, as long as there are some."""

    def rows_of(table: str) -> list[dict[str, Any]]:
        schema = table_spec(table).schema()
        paths = [path for path in table_files(release, table) if "labelled" in path.name]
        return [row for path in paths for row in fill_columns(read_arrow(path), schema).to_pylist()]

    configurations = {row["accelerator_id"]: row["configuration"] for row in rows_of("accelerators")}
    labels = {row["compiled_id"]: row for row in rows_of("accelerator_labels") if row["status"] == OK}
    order = np.random.default_rng(seed)
    strata: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in sorted(rows_of("compiled_networks"), key=lambda row: row["compiled_id"]):
        if row["compiled_id"] not in labels or row["split_random"] != "test":
            continue
        hardware = Hardware.model_validate_json(configurations[row["accelerator_id"]])
        size = int(np.log2(hardware.rows * hardware.columns)) // 2
        strata.setdefault((row["family"], size), []).append(row)
    for rows in strata.values():
        order.shuffle(rows)  # pyright: ignore[reportArgumentType]
    cases: list[Case] = []
    while len(cases) < count and any(strata.values()):
        for rows in strata.values():
            if rows and len(cases) < count:
                row = rows.pop()
                pair = pair_of(row, configurations[row["accelerator_id"]], labels[row["compiled_id"]])
                cases.append(Case(pair, _products(_network(row)), row["dataflow"]))
    return cases


def _network(row: dict[str, Any]) -> Network:
    model = drawn_network(row["family"], row["scale"], row["seed"], has_data=False)
    return network_of(model, row["family"])


def _products(network: Network) -> tuple[Product, ...]:
    products: list[Product] = []
    for layer in network.layers:
        if layer.kind == "conv":
            outputs, per_group, high, wide = layer.weight_shape
            top, left, bottom, right = layer.pads
            _, _, height, width = layer.in_shapes[0]
            rows = ((height + top + bottom - high) // layer.strides[0] + 1) * (
                (width + left + right - wide) // layer.strides[1] + 1
            )
            products.append(Product(layer.groups, rows, per_group * high * wide, outputs // layer.groups))
        elif layer.kind == "matmul" and layer.weight_shape:
            inner, outputs = layer.weight_shape
            products.append(Product(1, prod(layer.in_shapes[0]) // inner, inner, outputs))
        elif layer.kind == "matmul":
            *batch, rows, inner = layer.in_shapes[0]
            products.append(Product(prod(batch), rows, inner, layer.in_shapes[1][-1]))
    return tuple(products)


# ---- zigzag-dse ------------------------------------------------------------------------------------

_SRAM_BITS, _SRAM_READ, _SRAM_WRITE, _SRAM_WIDTH = 16777216, 416.16, 378.4, 2048
"""Of its tpu_like.yaml: capacity, pJ per access, bits per access."""
_STAGES = (
    ("stages.parser.workload_parser", "WorkloadParserStage"),
    ("stages.parser.accelerator_parser", "AcceleratorParserStage"),
    ("stages.results.reduce_stages", "SumStage"),
    ("stages.workload_iterator", "WorkloadStage"),
    ("stages.results.reduce_stages", "MinimalEnergyStage"),
    ("stages.mapping.spatial_mapping_generation", "SpatialMappingGeneratorStage"),
    ("stages.results.reduce_stages", "MinimalEnergyStage"),
    ("stages.mapping.temporal_mapping_generator_stage", "TemporalMappingGeneratorStage"),
    ("stages.evaluation.cost_model_evaluation", "CostModelStage"),
)
"""Those of zigzag.api without its drawings, which fail on a layer without a loop in time."""


def _zigzag(module: str, name: str) -> Any:
    return getattr(import_module(f"zigzag.{module}"), name)


def zigzag_costs(case: Case, folder: Path) -> tuple[float, float]:
    """Energy in pJ of its own process, and cycles."""
    hardware = case.pair.of_hardware
    workload = [_layer(place, product, hardware) for place, product in enumerate(case.products)]
    paths = [folder / name for name in ("hardware.yaml", "mapping.yaml", "workload.yaml")]
    contents = (_zigzag_hardware(hardware, case.flow), _zigzag_mapping(hardware, case.flow), workload)
    for path, content in zip(paths, contents, strict=True):
        path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    main: Any = _zigzag("stages.main", "MainStage")(
        list_of_callables=[_zigzag(module, name) for module, name in _STAGES],
        accelerator=str(paths[0]),
        mapping=str(paths[1]),
        workload=str(paths[2]),
        loma_lpf_limit=4,
        loma_show_progress_bar=False,
        nb_mappings_generated=1,
        enable_mix_spatial_mapping_generation=False,
        access_same_data_considered_as_no_access=True,
        temporal_mapping_type=_zigzag("mapping.temporal_mapping", "TemporalMappingType").UNEVEN,
    )
    (whole, _), *_ = main.run()
    return float(whole.energy_total), float(whole.latency_total2)


def _layer(place: int, product: Product, hardware: Hardware) -> dict[str, Any]:
    return {
        "id": place,
        "name": f"layer{place}",
        "operator_type": "Gemm",
        "equation": "O[g][d][k]+=W[g][k][c]*I[g][d][c]",
        "loop_dims": ["G", "D", "K", "C"],
        "loop_sizes": [product.groups, product.rows, product.outputs, product.inner],
        "operand_precision": {
            "W": hardware.input_bits,
            "I": hardware.input_bits,
            "O": hardware.accumulator_bits,
            "O_final": hardware.input_bits,
        },
        "operand_source": {"W": place, "I": place - 1} if place else {"W": place, "I": place},
    }


def _zigzag_mapping(hardware: Hardware, flow: str) -> list[dict[str, Any]]:
    """Weight stationary: outputs and inner size in space; output stationary: outputs and rows."""
    inner = "C" if flow == "weight" else "D"
    spatial = {"D1": [f"K, {hardware.columns}"], "D2": [f"{inner}, {hardware.rows}"]}
    return [
        {
            "name": "default",
            "spatial_mapping": spatial,
            "memory_operand_links": {"O": "O", "W": "I2", "I": "I1"},
        }
    ]


def _zigzag_hardware(hardware: Hardware, flow: str) -> dict[str, Any]:
    """Its TPU with our sizes: a register per element, scratchpad, accumulator, external memory."""
    scratchpad = hardware.scratchpad_rows * hardware.lanes * hardware.input_bits
    accumulator = hardware.accumulator_rows * hardware.columns * hardware.accumulator_bits
    row, sums = hardware.lanes * hardware.input_bits, hardware.columns * hardware.accumulator_bits
    dma = 8 * hardware.dma_bytes
    is_weight = flow == "weight"
    held = hardware.input_bits if is_weight else hardware.accumulator_bits
    register = {
        "size": held,
        "r_cost": 0.021 * held / 16,
        "w_cost": 0.021 * held / 16,
        "operands": ["I2"] if is_weight else ["O"],
        "ports": _ports(
            held,
            held,
            ["I2, tl"] if is_weight else ["O, tl", "O, th"],
            ["I2, fh"] if is_weight else ["O, fh", "O, fl"],
        ),
        "served_dimensions": [],
    }
    memories = {
        "register": register,
        "scratchpad": _memory(scratchpad, row, ["I1", "I2"], ["I1, tl", "I2, tl"], ["I1, fh", "I2, fh"]),
        "accumulator": _memory(accumulator, sums, ["O"], ["O, tl", "O, th"], ["O, fh", "O, fl"]),
        "dram": {
            **_memory(
                10**10,
                dma,
                ["I1", "I2", "O"],
                ["I1, tl", "I2, tl", "O, tl", "O, th"],
                ["I1, fh", "I2, fh", "O, fh", "O, fl"],
            ),
            "r_cost": 0.0,
            "w_cost": 0.0,
        },
    }
    for memory in memories.values():
        memory |= {"area": 0, "latency": 1}
    array = {
        "unit_energy": 0.04 * hardware.input_bits**2 / 64,
        "unit_area": 1,
        "dimensions": ["D1", "D2"],
        "sizes": [hardware.columns, hardware.rows],
    }
    return {"name": "mesh", "memories": memories, "operational_array": array}


def _memory(
    size: int, width: int, operands: list[str], reads: list[str], writes: list[str]
) -> dict[str, Any]:
    scale = sqrt(size / _SRAM_BITS) * width / _SRAM_WIDTH
    return {
        "size": size,
        "r_cost": _SRAM_READ * scale,
        "w_cost": _SRAM_WRITE * scale,
        "operands": operands,
        "ports": _ports(1, width, reads, writes),
        "served_dimensions": ["D1", "D2"],
    }


def _ports(least: int, most: int, reads: list[str], writes: list[str]) -> list[dict[str, Any]]:
    def port(name: str, kind: str, allocation: list[str]) -> dict[str, Any]:
        widths = {"bandwidth_min": least, "bandwidth_max": most}
        return {"name": name, "type": kind, **widths, "allocation": allocation}

    return [port("r_port_1", "read", reads), port("w_port_1", "write", writes)]


# ---- scalesim --------------------------------------------------------------------------------------

_CONFIGURATION = """[general]
run_name = run
[architecture_presets]
ArrayHeight: {rows}
ArrayWidth: {columns}
IfmapSramSzkB: {ifmap}
FilterSramSzkB: {filters}
OfmapSramSzkB: {ofmap}
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Bandwidth: {bandwidth}
Dataflow: {flow}
ReadRequestBuffer: 64
WriteRequestBuffer: 64
[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: false
SparseRep: ellpack_block
OptimizedMapping: false
BlockSize: 8
RandomNumberGeneratorSeed: 40
[run_presets]
InterfaceBandwidth: USER
UseRamulatorTrace: False
"""


def scalesim_cycles(case: Case, folder: Path) -> float:
    """Cycles of all products, one after the other; a group of a product is a product."""
    hardware = case.pair.of_hardware
    scratchpad = max(1, hardware.scratchpad_rows * hardware.lanes * hardware.input_bits // 8192 // 2)
    accumulator = max(1, hardware.accumulator_rows * hardware.columns * hardware.accumulator_bits // 8192)
    text = _CONFIGURATION.format(
        rows=hardware.rows,
        columns=hardware.columns,
        ifmap=scratchpad,
        filters=scratchpad,
        ofmap=accumulator,
        bandwidth=hardware.dma_bytes,
        flow="ws" if case.flow == "weight" else "os",
    )
    (folder / "scale.cfg").write_text(text, encoding="utf-8")
    lines = [f"layer{i},{p.rows},{p.outputs},{p.inner},\n" for i, p in enumerate(case.products)]
    (folder / "gemm.csv").write_text("Layer,M,N,K,\n" + "".join(lines), encoding="utf-8")
    (folder / "layout.csv").write_text("Layer\n", encoding="utf-8")  # none: memories are not banked there
    simulator: Any = import_module("scalesim.scale_sim").scalesim(
        save_disk_space=True,
        verbose=False,
        config=str(folder / "scale.cfg"),
        topology=str(folder / "gemm.csv"),
        layout=str(folder / "layout.csv"),
        input_type_gemm=True,
    )
    simulator.run_scale(top_path=str(folder / "logs"))
    layers = simulator.runner.single_layer_sim_object_list
    return float(sum(layer.total_cycles * p.groups for layer, p in zip(layers, case.products, strict=True)))


# ---- rule4ml ---------------------------------------------------------------------------------------

_TARGETS = (("LUT", "cell_count"), ("FF", "area_um2"), ("LUT", "power_mw"), ("CYCLES", "latency_cycles"))


def pipelines_judged(release: Path, rows: int, seed: int) -> list[dict[str, Any]]:
    """Ranks of perceptrons by rule4ml's resources of an FPGA, and by compile-power-fixed on its test part.

    Its other layers are those of Keras; residual additions and unrolled recurrences have no form there.
    """
    schema = table_spec("fixed_networks").schema()
    perceptrons = [
        row
        for path in table_files(release, "fixed_networks")
        for row in fill_columns(read_arrow(path), schema).to_pylist()
        if row["family"] == "mlp" and row["power_mw"] is not None
    ]
    order = np.random.default_rng(seed).permutation(len(perceptrons))[:rows]
    drawn = [perceptrons[i] for i in sorted(order.tolist())]
    pairs = {pair.compiled_id: pair for pair in read_fixed_pairs([release])}
    tested = [row for row in drawn if row["split_random"] == "test"]
    model = FIXED_PREDICTOR.load(FIXED_PREDICTOR.shipped_folder)
    answers = np.exp(model.logarithms([pairs[row["fixed_id"]] for row in tested]))
    power = np.array([row["power_mw"] for row in tested], float)
    result = [judged("compile-power-fixed", "power_mw", power, answers[:, 0], is_scaled=False)]
    if is_installed("rule4ml"):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            predicted = [rule4ml_answer(row) for row in drawn]
        is_tested = np.array([row["split_random"] == "test" for row in drawn])
        for name, target in _TARGETS:
            actual = np.array([row[target] for row in drawn], float)
            values = np.maximum(1e-3, np.array([answer[name] for answer in predicted], float))
            label = {"tool": f"rule4ml {name}"}
            result.append(judged("", target, actual, values, is_scaled=True) | label)
            if target == "power_mw":
                parts = actual[is_tested], values[is_tested]
                result.append(
                    judged("", target, *parts, is_scaled=True) | {"tool": f"rule4ml {name}, tested"}
                )
    return result


def rule4ml_answer(row: dict[str, Any]) -> dict[str, float]:
    """Resources and cycles that its default estimators give for a board."""
    import torch
    import torch_geometric  # noqa: F401 (before TensorFlow, which rule4ml loads: the other order crashes)

    layers: list[torch.nn.Module] = []
    sizes = _dense_sizes(row)
    for place, (inputs, outputs) in enumerate(pairwise(sizes)):
        layers.append(torch.nn.Linear(inputs, outputs))
        if place < len(sizes) - 2:
            layers.append(torch.nn.ReLU())
    network: Any = torch.nn.Sequential(*layers)
    network.input_shape = (None, sizes[0])
    options = {"strategy": "latency", "precision": "ap_fixed<8, 3>", "reuse_factor": row["reuse_factor"] or 1}
    answers = _estimator().predict(
        network,
        hls_configs={"board": "pynq-z2", "model": options},
        hls4ml_versions="1.1.0",
        vivado_versions="2024.2",
    )
    return answers.iloc[0].to_dict()


@cache
def _estimator() -> Any:
    estimator: Any = import_module("rule4ml.models.wrappers").MultiModelWrapper()
    estimator.load_default_models()
    return estimator


def _dense_sizes(row: dict[str, Any]) -> list[int]:
    """Inputs, then outputs of every layer."""
    for scale in FIXED_SCALES:
        network = network_of(drawn_fixed_network("mlp", row["seed"], scale), "mlp")
        if network.parameter_count == row["parameter_count"]:
            shapes = [layer.weight_shape for layer in network.layers]
            return [shapes[0][0], *(shape[1] for shape in shapes)]
    raise AcceleratorError(
        f"network {row['fixed_id']} is of no known scale; accepted: {', '.join(FIXED_SCALES)}"
    )


if __name__ == "__main__":
    main()
