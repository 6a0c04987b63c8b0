"""`simfoundry power` and `simfoundry explore`: a network on accelerators, from compilation alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from assets.deployments import find_deployment
from assets.errors import FoundryError
from pipelines.accelerators import (
    CATEGORIES,
    AcceleratorError,
    Compiled,
    Hardware,
    Network,
    compile_network,
    read_hardware,
    read_network,
)
from pipelines.base.limited import reading
from pipelines.onnx_models import SHAPES_ALONE
from simfoundry.commands.aligned import aligned_lines
from simfoundry.commands.dimensions import sizes_of
from simfoundry.questions import DEFAULT_REUSE_FACTOR, ExploreQuestion, PowerQuestion

if TYPE_CHECKING:
    from models.compile_power.data import Pair
    from models.compile_power.inference import QueryModel
    from pipelines.accelerators.fixed.sharing import FixedDesign

_LISTED = 20


def shipped_model(*, is_fixed: bool = False) -> QueryModel:
    """Return the weights that come with the project.

    Raises: FoundryError: there are none.
    """
    from models.compile_power import FIXED_PREDICTOR, PREDICTOR
    from models.compile_power.inference import read_query_model  # without torch: its import takes seconds

    spec = FIXED_PREDICTOR if is_fixed else PREDICTOR
    if not spec.shipped_folder.is_dir():
        raise FoundryError(f"no weights of {spec.name}: {spec.shipped_folder}; train it first")
    return read_query_model(spec.shipped_folder, spec.name)


def answer_power(question: PowerQuestion) -> dict[str, Any]:
    """Return power, energy and cycles of a network on one accelerator, and where the energy goes.

    Raises: AcceleratorError: the network or the hardware is not acceptable. FoundryError: there are no
        weights, unknown flow, or an option of the other one.
    """
    if question.flow == "fixed":
        return answer_fixed(question)
    if question.flow != "systolic":
        raise FoundryError(f"unknown flow: {question.flow}; accepted: systolic, fixed")
    others = (
        ("--reuse-factor", question.reuse_factor is not None),
        ("--hls-config", question.hls_config is not None),
        ("--describe", question.describe),
    )
    for option, is_given in others:
        if is_given:
            raise FoundryError(f"{option} is an option of --flow fixed")
    with reading(f"the network {question.network}"):
        hardware = Hardware() if question.hardware is None else read_hardware(Path(question.hardware))
        network = _read(question, has_data=question.measure)
        _require_work(network)
        compiled = compile_network(network, hardware)
    pair = compiled_pair(compiled, hardware)
    model = shipped_model()
    figures = model.predict([pair])[0]
    answer = {
        "network": network.name,
        "notes": list(network.notes),
        "parameter_count": network.parameter_count,
        "hardware": hardware.model_dump(),
        "flow": compiled.flow,
        **_figures(figures, hardware),
        "outside": _outside(model, pair),
        "estimated_cycles": compiled.estimated_cycles,
        **_shares(pair, compiled, figures["energy_nj"]),
        "measured": None,
    }
    if question.measure:
        answer["measured"] = measured(network, hardware, compiled.flow)
    return answer


def _require_work(network: Network) -> None:
    """Refuse a network without a layer on the accelerator. Raises: FoundryError."""
    if all(layer.kind == "host" for layer in network.layers):
        raise FoundryError(f"no layer of {network.name} runs on the accelerator; accepted: products or sums")


def _read(question: PowerQuestion | ExploreQuestion, *, has_data: bool) -> Network:
    return read_network(Path(question.network), dimensions=sizes_of(question.dimension), has_data=has_data)


def answer_fixed(question: PowerQuestion) -> dict[str, Any]:
    """Return the power and energy of a network as a fixed-point pipeline, and where the energy goes by stage.

    Raises: AcceleratorError: an operator has no fixed-point form, the network is too large or has no data,
        the configuration is not acceptable, or a package is not installed. FoundryError: there are no
        weights, or an option of the other flow.
    """
    from models.compile_power.baselines import changed_bits
    from models.compile_power.data import fixed_pair
    from pipelines.accelerators.fixed.dataset import CLOCK_PERIOD_NS, compiled_columns
    from pipelines.accelerators.fixed.description import (
        HlsConfiguration,
        describe_network,
        read_configuration,
    )
    from pipelines.accelerators.fixed.sharing import trace_shared

    if question.hardware is not None:
        raise FoundryError("--hardware is an option of --flow systolic")
    if question.hls_config is not None and question.reuse_factor is not None:
        raise FoundryError("--reuse-factor and --hls-config are mutually exclusive")
    with reading(f"the network {question.network}"):
        if question.hls_config is None:
            chosen = HlsConfiguration(reuse_factor=question.reuse_factor or DEFAULT_REUSE_FACTOR)
        else:
            chosen = read_configuration(Path(question.hls_config))
        network = _read(question, has_data=True)
        if absent := [note for note in network.notes if note.endswith(SHAPES_ALONE)]:
            file = absent[0].removesuffix(SHAPES_ALONE)
            raise FoundryError(f"{file}; --flow fixed needs the weights ({question.network})")
        described = describe_network(network, **asdict(chosen)).layers() if question.describe else None
        design = trace_shared(network, reuse_factor=chosen.reuse_factor)
    columns = compiled_columns(network, design)
    pair = fixed_pair(
        {"fixed_id": "", "family": "", "seed": 0, "reuse_factor": design.interval_cycles, **columns}
    )
    model = shipped_model(is_fixed=True)
    figures = model.predict([pair])[0]
    stages = changed_bits(pair, model.settings.get("loads", ()))
    energies = figures["energy_nj"] * stages / max(stages.sum(), 1e-12)
    return {
        "network": network.name,
        "notes": list(network.notes),
        "parameter_count": network.parameter_count,
        "flow": "fixed",
        "reuse_factor": design.interval_cycles,
        **{name: float(f"{value:.4g}") for name, value in figures.items()},
        "outside": _outside(model, pair),
        "latency_cycles": design.latency_cycles,
        "clock_period_ns": CLOCK_PERIOD_NS,
        "layers": [
            {"kind": kind, "parameter_count": count}
            for kind, count in zip(columns["layer_kinds"], columns["layer_parameters"], strict=True)
        ],
        "stages": [float(f"{energy:.4g}") for energy in energies],
        "description": described,
        "measured": measured_fixed(design) if question.measure else None,
    }


def measured_fixed(design: FixedDesign) -> dict[str, Any]:
    """Return the label: synthesis, and the netlist on drawn inputs.

    Raises: AcceleratorError: there is no label.
    """
    from pipelines.accelerators.fixed.dataset import CLOCK_PERIOD_NS
    from pipelines.accelerators.fixed.labels import label_fixed
    from pipelines.silicon.synthesis import find_liberty

    folder = find_deployment().cache_dir / "fixed"
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as scratch:
        label = label_fixed(
            design,
            liberty_path=find_liberty("osu018"),
            folder=Path(scratch),
            engines=folder,
            clock_period_ns=CLOCK_PERIOD_NS,
        )
    if label.status != "ok":
        raise AcceleratorError(f"no label: {label.status}, {label.reason}")
    return asdict(label)


def compiled_pair(compiled: Compiled, hardware: Hardware) -> Pair:
    """Return a compiled network and its hardware as the model reads them."""
    from models.compile_power.data import pair_of
    from pipelines.accelerators.dataset import block_columns

    names = {"compiled_id": "", "accelerator_id": "", "family": "mlp", "scale": "", "seed": 0}
    return pair_of({**names, **block_columns(compiled)}, hardware.model_dump_json(), {})


def _figures(figures: Mapping[str, float], hardware: Hardware) -> dict[str, Any]:
    """Return the rounded figures, and the cycles that power and energy mean together."""
    cycles = figures["energy_nj"] / figures["power_mw"] / hardware.clock_period_ns * 1e3
    rounded = {name: float(f"{value:.4g}") for name, value in figures.items()}
    return {
        **rounded,
        "cycles": round(cycles),
        "latency_ms": float(f"{cycles * hardware.clock_period_ns * 1e-6:.4g}"),
    }


def _outside(model: QueryModel, pair: Pair) -> list[dict[str, Any]]:
    """Return the columns outside what was labelled: hardware, then size of the network."""
    return [asdict(column) for column in model.labelled.outside(pair)]


def _shares(pair: Pair, compiled: Compiled, energy_nj: float) -> dict[str, Any]:
    """Return the predicted energy by layer and category of commands, shared by the analytical model."""
    from models.compile_power.baselines import block_energies

    energies = block_energies(pair)
    whole = max(energies.sum(), 1e-12)
    layers = [
        {
            "layer": block.name,
            "kind": block.kind,
            "cycles": block.estimated_cycles,
            "energy_nj": float(f"{energy_nj * own / whole:.4g}"),
        }
        for block, own in zip(compiled.blocks, energies.sum(axis=1), strict=True)
    ]
    by_category = zip((*CATEGORIES, "clock"), energies.sum(axis=0), strict=True)
    commands = {name: round(float(own / whole), 4) for name, own in by_category if own > 0}
    return {"layers": layers, "shares": dict(sorted(commands.items(), key=lambda item: -item[1]))}


def measured(network: Network, hardware: Hardware, flow: str) -> dict[str, Any]:
    """Return the label: synthesis, RTL and netlist on the network's own data.

    Raises: AcceleratorError: the network has no data, or a layer is too large for the bench.
    """
    from pipelines.accelerators.labels import Labeller
    from pipelines.accelerators.systolic.quantise import quantise
    from pipelines.silicon.synthesis import find_liberty

    folder = find_deployment().cache_dir / "accelerators"
    integer = quantise(network, hardware)
    labeller = Labeller(hardware=hardware, liberty_path=find_liberty("osu018"), folder=folder)
    label = labeller.label(integer, flow=flow)
    if label.status != "ok":
        raise AcceleratorError(f"no label: {label.status}, {label.reason}")
    return {
        "power_mw": label.power_mw,
        "energy_nj": label.core_energy_nj + label.memory_energy_nj,
        "cycles": label.cycles,
        "area_um2": labeller.synthesis.area_um2,
        "outputs_equal": label.outputs_equal,
        "layers": [asdict(layer) for layer in label.layers],
    }


def answer_explore(question: ExploreQuestion) -> dict[str, Any]:
    """Return the configurations within a budget that no other one beats in both power and time.

    Raises: AcceleratorError: the network is not acceptable. FoundryError: no configuration keeps the budget.
    """
    from pipelines.accelerators.dataset import drawn_hardware

    network = _read(question, has_data=False)
    _require_work(network)
    drawn = [
        drawn_hardware(question.seed, number, is_small=number % 2 == 0)
        for number in range(question.candidates)
    ]
    candidates = list(dict.fromkeys(drawn))
    pairs = [compiled_pair(compile_network(network, hardware), hardware) for hardware in candidates]
    model = shipped_model()
    rows = [
        {
            **_figures(figures, hardware),
            "hardware": hardware.model_dump(),
            "outside": _outside(model, pair),
        }
        for figures, hardware, pair in zip(model.predict(pairs), candidates, pairs, strict=True)
    ]
    within = [row for row in rows if row["power_mw"] <= question.budget_mw]
    if not within:
        least = min(row["power_mw"] for row in rows)
        raise FoundryError(f"no configuration within {question.budget_mw} mW; the least power is {least} mW")
    return {
        "network": network.name,
        "notes": list(network.notes),
        "budget_mw": question.budget_mw,
        "candidates": len(rows),
        "within_budget": len(within),
        "front": pareto_front(within),
    }


def pareto_front(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of which no other has less power and time, by power."""
    front: list[Mapping[str, Any]] = []
    for row in sorted(rows, key=lambda row: (row["power_mw"], row["latency_ms"])):
        if not front or row["latency_ms"] < front[-1]["latency_ms"]:
            front.append(row)
    return front


# ---- text ------------------------------------------------------------------------------------------


def power_text(answer: Mapping[str, Any]) -> str:
    """Return the answer as text."""
    size = f"{answer['parameter_count']:,} parameters, {len(answer['layers'])} layers"
    plain = {
        "network": f"{answer['network']}: {size}",
        **_noted(answer),
        "dataflow": answer["flow"],
        "power": _interval(answer, "power", "mw", "mW"),
        "energy": _interval(answer, "energy", "nj", "nJ"),
        **_warned(answer),
        "cycles": f"{answer['cycles']:,} ({answer['latency_ms']} ms)",
        "shares": ", ".join(f"{name} {share:.0%}" for name, share in list(answer["shares"].items())[:6]),
    }
    if answer["measured"]:
        label = answer["measured"]
        plain["measured"] = (
            f"{label['power_mw']:.4g} mW, {label['energy_nj']:.4g} nJ, {label['cycles']:,} cycles"
        )
    lines = [f"{name:<10} {text}" for name, text in plain.items()]
    layers = sorted(answer["layers"], key=lambda layer: -layer["energy_nj"])[:_LISTED]
    rows = [[str(layer[name]) for name in ("layer", "kind", "cycles", "energy_nj")] for layer in layers]
    return "\n".join([*lines, "", *aligned_lines([("layer", "kind", "cycles", "nJ"), *rows])])


def fixed_text(answer: Mapping[str, Any]) -> str:
    """Return the answer of a pipeline as text."""
    size = f"{answer['parameter_count']:,} parameters, {len(answer['layers'])} layers"
    period = answer["reuse_factor"] * answer["clock_period_ns"]
    plain = {
        "network": f"{answer['network']}: {size}",
        **_noted(answer),
        "pipeline": f"{len(answer['stages'])} stages, an inference every {period:g} ns",
        "power": _interval(answer, "power", "mw", "mW"),
        "energy": _interval(answer, "energy", "nj", "nJ"),
        **_warned(answer),
        "latency": f"{answer['latency_cycles']} cycles",
        "stages": ", ".join(f"{energy} nJ" for energy in answer["stages"]),
    }
    if answer["measured"]:
        label = answer["measured"]
        plain["measured"] = (
            f"{label['power_mw']:.4g} mW, {label['energy_nj']:.4g} nJ, {label['cell_count']:,} cells"
        )
    lines = [f"{name:<10} {text}" for name, text in plain.items()]
    if answer["description"]:
        names = ("name", "class", "shape", "result", "accumulator", "products", "reuse_factor", "strategy")
        rows = [
            ["-" if row[name] is None else str(row[name]) for name in names] for row in answer["description"]
        ]
        lines += ["", *aligned_lines([names, *rows])]
    return "\n".join(lines)


def _interval(answer: Mapping[str, Any], name: str, suffix: str, unit: str) -> str:
    low, high = answer[f"{name}_low_{suffix}"], answer[f"{name}_high_{suffix}"]
    return f"{answer[f'{name}_{suffix}']} {unit} ({low} to {high})"


def _noted(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return a line of what was assumed about the model; none where nothing was."""
    return {"note": "; ".join(answer["notes"])} if answer["notes"] else {}


OUTSIDE = "outside what was labelled"


def _warned(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return a line of columns outside what was labelled; none where all are inside."""
    return {"warning": f"{OUTSIDE}: {outside_text(answer['outside'])}"} if answer["outside"] else {}


def outside_text(columns: Sequence[Mapping[str, Any]]) -> str:
    """Return the columns with their values and what was labelled."""
    return "; ".join(f"{c['column']} {_number(c['value'])} ({_range_text(c['labelled'])})" for c in columns)


def _range_text(labelled: Sequence[Any]) -> str:
    if isinstance(labelled[0], str):
        return ", ".join(labelled)
    low, high = map(_number, labelled)
    return f"{low} to {high}" if low != high else low


def _number(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,}"


def explore_text(answer: Mapping[str, Any]) -> str:
    """Return the answer as text."""
    names = ("rows", "columns", "dataflow", "scratchpad_rows", "accumulator_rows", "dma_bytes", "scale_lanes")
    figures = ("power_mw", "power_low_mw", "power_high_mw", "latency_ms", "energy_nj")
    rows = [
        [str(row[name]) for name in figures]
        + [str(row["hardware"][name]) for name in names]
        + [outside_text(row["outside"]) or "-"]
        for row in answer["front"]
    ]
    head = "".join(f"note: {note}\n" for note in answer["notes"]) + (
        f"{answer['network']}: {answer['within_budget']} of {answer['candidates']} configurations within "
        f"{answer['budget_mw']} mW; {len(rows)} that no other one beats"
    )
    titles = ("mW", "low", "high", "ms", "nJ", *names, OUTSIDE)
    return "\n".join([head, "", *aligned_lines([titles, *rows])])
