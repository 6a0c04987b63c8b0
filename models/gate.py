"""The gate before the alias `champion`: paired errors on a reference set that is frozen with a release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from models.base import PredictorError
from models.local_registry import worse_than_constant
from models.metrics import Interval, bootstrap
from models.tasks import DERIVED_TABLES, Reference, Task, hash_tables
from pipelines.identity import content_hash
from pipelines.schemas import ProgramRow, PromotionRow, read_table, scan_table, table_spec
from pipelines.summation import ordered_sum

if TYPE_CHECKING:
    from models.compile_power.data import Pair
    from models.pnr_gnn.data import PlacedGraph

RESAMPLES = 1000
Decision = Literal["promoted", "refused", "candidate"]
Vector = NDArray[np.float64]
Medians: TypeAlias = dict[str, list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSet:
    """Programs with known answers on which every version of a model is scored.

    Attributes:
        programs: name of every program (a network, where networks are asked about).
        groups: group of every program; programs of one group are not independent.
        baseline_errors: errors of the trivial baseline.
        score: errors of a loaded predictor, in the order of the programs.
        judge: the same, and its medians beside a constant's as in `ReferenceErrors`; None where targets have
            no constants.
    """

    programs: tuple[str, ...]
    groups: tuple[str, ...]
    baseline_errors: tuple[float, ...]
    score: Callable[[Any], Vector]
    judge: Callable[[Any], tuple[Vector, Medians]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceErrors:
    """Errors of one version on a reference set, kept with the version.

    Attributes:
        reference: its name. digest: hash of its tables; errors of another digest are not compared.
        medians: of labels, by target and part (`area_um2 of test`): median error over programs, not capped,
            of the version and of a constant (the training part's median), and the upper end of the 95 %
            interval of the second less the first. A version with a negative end is worse than a constant.
    """

    reference: str
    digest: str
    programs: tuple[str, ...]
    groups: tuple[str, ...]
    errors: tuple[float, ...]
    baseline_errors: tuple[float, ...]
    medians: Medians = field(default_factory=dict[str, list[float]])

    @property
    def error(self) -> float:
        """Mean over programs."""
        return float(np.mean(self.errors))

    @property
    def baseline_error(self) -> float:
        """Mean over programs of the trivial baseline."""
        return float(np.mean(self.baseline_errors))

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)

    @classmethod
    def of_json(cls, value: Any) -> ReferenceErrors:
        """Errors from the JSON that `as_json` gave."""
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
        return cls(**fields)


def score(reference: str, digest: str, known: ReferenceSet, predictor: Any) -> ReferenceErrors:
    """Errors of a loaded predictor on a reference set."""
    errors, medians = (known.score(predictor), {}) if known.judge is None else known.judge(predictor)
    return ReferenceErrors(
        reference=reference,
        digest=digest,
        programs=known.programs,
        groups=known.groups,
        errors=tuple(float(e) for e in errors),
        baseline_errors=known.baseline_errors,
        medians=medians,
    )


def improvement(groups: Sequence[str], before: Sequence[float], after: Sequence[float]) -> Interval:
    """Mean of before - after over programs, with its 95 % interval over resampled groups, paired."""
    values = np.asarray(before, np.float64), np.asarray(after, np.float64)
    return bootstrap(_mean_difference, *values, groups, resamples=RESAMPLES, seed=0)


def decide(
    *,
    model: str,
    version: str,
    challenger: ReferenceErrors,
    champion: ReferenceErrors | None,
    champion_version: str | None,
    minimum_programs: int,
) -> PromotionRow:
    """Promote a challenger that is better than the champion and than the trivial baseline beyond noise.

    Better means: the lower end of the paired 95 % interval of the improvement is above 0. Equal is not.
    Errors are capped, so medians are compared, too: one that is above a constant's beyond noise is refused.

    Args: champion: None where there is none, or where it cannot answer any more.
    """
    baseline = improvement(challenger.groups, challenger.baseline_errors, challenger.errors)
    against = improvement(challenger.groups, champion.errors, challenger.errors) if champion else None
    count = len(challenger.programs)
    decision, reason = "promoted", f"better than {_beaten(champion_version if champion else None)}"
    if count < minimum_programs:
        decision = "refused"
        reason = f"too few programs: scored on {count}; {minimum_programs} are needed"
    elif not baseline.low > 0:
        decision, reason = "refused", "not better than the trivial baseline beyond noise"
    elif against is not None and not against.low > 0:
        decision, reason = "refused", f"not better than champion version {champion_version} beyond noise"
    elif worse := worse_than_constant(challenger.medians):
        decision, reason = "refused", worse
    interval = against or baseline
    return PromotionRow(
        model=model,
        version=version,
        compared_with=champion_version if champion else None,
        reference_set=challenger.reference,
        row_count=count,
        error=challenger.error,
        champion_error=champion.error if champion else None,
        baseline_error=challenger.baseline_error,
        interval_low=interval.low,
        interval_high=interval.high,
        decision=decision,
        reason=reason,
    )


def undecided(
    model: str, version: str, reference: str | None, decision: Decision, reason: str
) -> PromotionRow:
    """The row of a version that was not scored."""
    return PromotionRow(
        model=model,
        version=version,
        compared_with=None,
        reference_set=reference,
        row_count=0,
        error=None,
        champion_error=None,
        baseline_error=None,
        interval_low=None,
        interval_high=None,
        decision=decision,
        reason=reason,
    )


def _beaten(champion_version: str | None) -> str:
    if champion_version is None:
        return "the trivial baseline; there was no champion"
    return f"champion version {champion_version} and the trivial baseline"


def _mean_difference(before: Vector, after: Vector) -> float:
    return float(np.mean(before - after))


def reference_digest(task: Task, reference: Reference) -> str:
    """Hash of all that errors on a reference set depend on besides the predictor."""
    read = [t for t in task.tables or ("programs", "splits") if t not in DERIVED_TABLES]
    tables = hash_tables([reference.folder], read)
    return content_hash(task.name, task.metric, task.baseline, reference.split, reference.parts, tables)


def reference_groups(reference: Reference) -> frozenset[str]:
    """Groups of a reference set, which training must not look at."""
    if reference.split == "group":
        return frozenset(reference.parts)
    if reference.split == "fold":
        return frozenset(graph.layer for graph in _reference_graphs(reference))
    if reference.split == "random":
        return frozenset(pair.compiled_id for pair in _reference_pairs(reference))
    import polars as pl  # lazy import: takes 0.15 s, and most decisions read no table

    own = (pl.col("split") == reference.split) & pl.col("part").is_in(reference.parts)
    rows = scan_table(reference.folder, table_spec("splits")).filter(own).select("group").collect()
    return frozenset(rows["group"])


def label_reference(reference: Reference) -> ReferenceSet:
    """Labelled designs; the error of a program is the mean over its designs and the targets."""
    from models.query import TARGETS

    return _label_reference(reference, TARGETS, knows_estimates=False)


def label_power_reference(reference: Reference) -> ReferenceSet:
    """The same, with power."""
    from models.query import POWER, TARGETS

    return _label_reference(reference, (*TARGETS, POWER), knows_estimates=False)


def hls_reference(reference: Reference) -> ReferenceSet:
    """The same, with power; the baseline has the engine's own estimates."""
    from models.query import POWER, TARGETS

    return _label_reference(reference, (*TARGETS, POWER), knows_estimates=True)


def compared_medians(own: Vector, constant: Vector, groups: Sequence[str]) -> list[float]:
    """Median errors of a predictor and of a constant, and the upper end of the interval of what it gains."""

    def difference(before: Vector, after: Vector) -> float:
        return float(np.median(before) - np.median(after))

    interval = bootstrap(difference, constant, own, groups, resamples=RESAMPLES, seed=0)
    return [float(np.median(own)), float(np.median(constant)), interval.high]


def _label_reference(reference: Reference, targets: Sequence[str], *, knows_estimates: bool) -> ReferenceSet:
    from models.labelled import Selection, load_labelled_designs

    designs = load_labelled_designs(reference.folder, Selection(split=reference.split))
    designs = [design for design in designs if all(target in design.labels for target in targets)]
    judged = [design for design in designs if design.part in reference.parts]
    actual = np.array([[design.labels[t] for t in targets] for design in judged])
    training = [[d.labels[t] for t in targets] for d in designs if d.part == "train"]
    constant = np.tile(np.median(np.array(training), axis=0), (len(judged), 1))
    trivial = constant.copy()
    if knows_estimates:
        from models.scheduled import engine_estimates

        for row, estimate in zip(trivial, engine_estimates(reference.folder, judged), strict=True):
            row[:] = [estimate.get(t, median) for t, median in zip(targets, row, strict=True)]
    names = [design.program_id for design in judged]

    def errors(predicted: Vector) -> Vector:
        relative = np.nan_to_num(_relative(predicted, actual), nan=1.0)  # no answer is an error of 1
        return np.asarray(relative.mean(axis=1), np.float64)

    def medians(predicted: Vector) -> Medians:
        by_target: Medians = {}
        uncapped = np.abs(np.stack([predicted, constant]) / actual - 1.0)
        for part in reference.parts:
            places = [n for n, design in enumerate(judged) if design.part == part]
            own = [names[n] for n in places]
            for column, target in enumerate(targets):
                (order, errs), (_, others) = (_means(own, row[places, column]) for row in uncapped)
                known = ~np.isnan(errs)
                if known.any():
                    those = [groups[name] for name, is_known in zip(order, known, strict=True) if is_known]
                    by_target[f"{target} of {part}"] = compared_medians(errs[known], others[known], those)
        return by_target

    def judge(predictor: Any) -> tuple[Vector, Medians]:
        missing = [t for t in targets if t not in predictor.targets]
        if missing:
            raise PredictorError(f"trained on tables without {', '.join(missing)}")
        estimates = predictor.predict([design.query for design in judged])
        predicted = np.array([[e.values[t] for t in targets] for e in estimates])
        return _means(names, errors(predicted))[1], medians(predicted)

    groups = {design.program_id: design.group for design in judged}
    programs, baseline = _means(names, errors(trivial))
    known = _reference_set(programs, groups, baseline, lambda predictor: judge(predictor)[0])
    return replace(known, judge=judge)


def network_reference(reference: Reference) -> ReferenceSet:
    """Simulated runs; the error of a run is the mean over its flows, the baseline is theory's estimate."""
    from models.queue_correction.data import read_means
    from pipelines.network.queueing import flow_latency, stream_waits

    runs = read_means(reference.folder / "tables", reference.parts)

    def errors(rtt_s: Callable[[Any], Vector]) -> Vector:
        return np.array([np.nanmean(_relative(rtt_s(r.model), r.rtt_mean_s)) for r in runs], np.float64)

    baseline = errors(lambda model: flow_latency(model, stream_waits(model)).rtt_s)
    programs = [run.row.run_id for run in runs]
    rows = [run.row for run in runs]
    groups = {r.run_id: f"{r.group} {r.pattern} {r.arrivals} {r.load}" for r in rows}
    return _reference_set(programs, groups, baseline, lambda predictor: errors(predictor.predict))


def pragma_reference(reference: Reference) -> ReferenceSet:
    """Explored designs; the error of a program is the mean over its designs, the baseline is the bound."""
    from models.pragma_gnn.data import explorations_of

    known = explorations_of([reference.folder], parts=reference.parts, split=reference.split)
    names = [design.program for design in known.designs]
    actual = np.array([design.latency_cycles for design in known.designs], np.float64)

    def score(predictor: Any) -> Vector:
        predicted = np.empty(len(actual))
        for name in sorted(set(names)):
            places = [n for n, program in enumerate(names) if program == name]
            designs = [known.designs[n] for n in places]
            predicted[places] = predictor.surrogate(known.summaries[name]).predict(
                [d.configuration for d in designs], [d.bound for d in designs], tool=designs[0].tool
            )
        return _means(names, _relative(predicted, actual))[1]

    bounds = np.array([design.bound.latency_cycles for design in known.designs], np.float64)
    programs, baseline = _means(names, _relative(bounds, actual))
    return _reference_set(programs, known.groups, baseline, score)


def placement_reference(reference: Reference) -> ReferenceSet:
    """Placements; the error of a graph is the mean over its placements, the baseline is the heuristic."""
    graphs = _reference_graphs(reference)

    def score(predictor: Any) -> Vector:
        return np.array(
            [_relative(predictor.throughput(g.features, g.routes), g.throughput).mean() for g in graphs]
        )

    baseline = np.array([_relative(g.heuristic, g.throughput).mean() for g in graphs])
    groups = {graph.graph_id: graph.layer for graph in graphs}
    return _reference_set([graph.graph_id for graph in graphs], groups, baseline, score)


def engine_reference(reference: Reference) -> ReferenceSet:
    """Designs of families; the error is the regret of the chosen engine, the baseline takes Verilator."""
    from models.rtl_engine.data import read_measured, regret
    from pipelines.rtlreuse import VERILATOR

    designs = [d for d in read_measured([reference.folder]) if d.family in reference.parts]

    def errors(choose: Callable[[Any, int, Sequence[str]], str]) -> Vector:
        losses = [
            regret(d, lambda cycles, engines, d=d: choose(d.features, cycles, engines)) for d in designs
        ]
        return np.array(losses, np.float64)

    def take_verilator(_row: Any, _cycles: int, engines: Sequence[str]) -> str:
        return VERILATOR if VERILATOR in engines else engines[0]

    baseline = errors(take_verilator)
    names = [design.design for design in designs]
    groups = {design.design: design.family for design in designs}
    return _reference_set(names, groups, baseline, lambda picker: errors(picker.choose))


def _reference_graphs(reference: Reference) -> list[PlacedGraph]:
    """Graphs of parts: a group, or a group and a fold."""
    from models.pnr_gnn.data import read_placed

    graphs: dict[str, PlacedGraph] = {}
    for part in reference.parts:
        group, *folds = part.split()
        chosen = read_placed([reference.folder], groups=[group], folds=[int(fold) for fold in folds])
        graphs |= {graph.graph_id: graph for graph in chosen}
    return [graphs[key] for key in sorted(graphs)]


def accelerator_reference(reference: Reference) -> ReferenceSet:
    """Labelled pairs; the error of a pair is the mean over power and energy.

    The baseline is the analytical model, scaled by the median ratio to the labels of the training part.
    """
    from models.compile_power.baselines import analytical

    return _power_reference(reference, analytical)


def fixed_reference(reference: Reference) -> ReferenceSet:
    """The same of fixed-point pipelines; the baseline is bits of adders and registers, scaled likewise."""
    from models.compile_power.baselines import start_logarithms

    return _power_reference(reference, lambda pairs: np.exp(start_logarithms(pairs)))


def _power_reference(reference: Reference, estimate: Callable[[Sequence[Pair]], Vector]) -> ReferenceSet:
    def labels(chosen: Sequence[Pair]) -> Vector:
        return np.array([(pair.power_mw, pair.energy_nj) for pair in chosen], np.float64)

    judged, known = (_reference_pairs(replace(reference, parts=(part,))) for part in ("test", "train"))
    actual = labels(judged)
    factor = np.median(labels(known) / estimate(known), axis=0)

    def score(predictor: Any) -> Vector:
        return _relative(np.exp(predictor.logarithms(judged)), actual).mean(axis=1)

    baseline = _relative(factor * estimate(judged), actual).mean(axis=1)
    groups = {pair.compiled_id: pair.accelerator_id or pair.compiled_id for pair in judged}
    return _reference_set([pair.compiled_id for pair in judged], groups, baseline, score)


def _reference_pairs(reference: Reference) -> list[Pair]:
    """Labelled pairs of parts, of the systolic accelerator or of pipelines."""
    from models.compile_power.data import read_fixed_pairs, read_pairs

    is_fixed = (reference.folder / "tables" / table_spec("fixed_networks").name).is_dir()
    pairs = (read_fixed_pairs if is_fixed else read_pairs)([reference.folder])
    return [p for p in pairs if p.power_mw is not None and p.parts[reference.split] in reference.parts]


def program_reference(reference: Reference) -> ReferenceSet:
    """Programs of the AST stage; the error is 0 where the first variant is accepted, else 1.

    A variant is accepted when it differs from its program and the C front end reads it. The grammar alone
    makes such variants, so the baseline is a network with random weights under the same grammar.
    """
    from models.program_lm import TrainingOptions
    from models.program_lm.network import untrained
    from models.program_lm.training import size_of

    judged = reference_programs(reference)

    def score(network: Any) -> Vector:
        return np.array([0.0 if _is_accepted(network, row.source, row.top) else 1.0 for row in judged])

    places = read_table(reference.folder, table_spec("splits"))
    groups = {r.program_id: r.group for r in places if r.split == reference.split}
    programs = [row.program_id for row in judged]
    return _reference_set(programs, groups, score(untrained(size_of(TrainingOptions()), 0)), score)


def reference_programs(reference: Reference) -> list[ProgramRow]:
    """Programs of the AST stage in a reference set."""
    places = read_table(reference.folder, table_spec("splits"))
    judged = {r.program_id for r in places if r.split == reference.split and r.part in reference.parts}
    rows = read_table(reference.folder, table_spec("programs"))
    return [r for r in rows if r.program_id in judged and r.suite == "ast"]


def first_variant(network: Any, source: str) -> str:
    """The variant of a program that a generator is judged by.

    Raises: ValueError: the generator cannot read the program.
    """
    from models.program_lm import EditOptions
    from models.program_lm.editing import draw_variant

    generator = Random(int(content_hash("reference", source), 16))  # noqa: S311 - sampling, no secrets
    return draw_variant(source, network, EditOptions(), generator).source


def _relative(predicted: Vector, actual: Vector) -> Vector:
    """Absolute percentage errors as fractions, each at most 1, or few programs would decide alone."""
    return np.minimum(1.0, np.abs(predicted / actual - 1.0))


def _is_accepted(network: Any, source: str, top: str) -> bool:
    from pipelines.hls import read_program

    try:
        variant = first_variant(network, source)
        read_program(variant, top=top)
    except ValueError:
        return False
    return variant != source


def _means(names: Sequence[str], values: Vector) -> tuple[list[str], Vector]:
    """Mean of the values of every program, in order of the programs' names."""
    by_program: dict[str, list[float]] = defaultdict(list)
    for name, value in zip(names, values, strict=True):
        by_program[name].append(float(value))
    programs = sorted(by_program)
    return programs, np.array(
        [ordered_sum(v) / len(v) for v in map(by_program.__getitem__, programs)], np.float64
    )


def _reference_set(
    programs: Sequence[str], groups: Mapping[str, str], baseline: Vector, score: Callable[[Any], Vector]
) -> ReferenceSet:
    return ReferenceSet(
        programs=tuple(programs),
        groups=tuple(groups[name] for name in programs),
        baseline_errors=tuple(map(float, baseline)),
        score=score,
    )


def require_release(folder: Path) -> None:
    """Check that a reference release is there.

    Raises: PredictorError: it is not.
    """
    if not (folder / "tables").is_dir():
        raise PredictorError(f"no reference release: {folder}")
