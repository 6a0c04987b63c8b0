"""Experiments of the numeric language model, each beside the paper's table (LLMulator section 7).

    python -m tests.benchmarks.numeric_lm_experiments NAME --tables FOLDER [--level hls] [-o OPTION=VALUE]

Every variant trains on the same tables with the same options: `-o share=0.2 -o max_epochs=3` is a small one
for all. Errors are mean absolute percentage errors. MLflow's experiment `numeric-lm NAME` gets a run per row.
NAME:

* `encoding`: with and without symbol isolation, by workload (Table 3, NoEnc);
* `forms`: fixed digits of three bases, and sign, exponent, mantissa;
* `synthesizer`: all programs against those of stage ast alone (Table 7; `--predictor tlp` for Table 8);
* `sizes`: three sizes (Table 10);
* `confidence`: correlation of confidence and squared error of flip-flops (Table 6), coverage of intervals;
* `delays`: error of cycles by memory delay (Figure 12);
* `edges`: error above the 95th percentile of the training labels (section 7.2);
* `curve`: shares of the training programs (`--shares`), 12.5 % to all of them;
* `think`: level hls reduced to the engine's estimates, these received, or generated from the text by a model
  of the estimates (section 6.2, `<think>`);
* `orders`: loop orders of TPU v1, Eyeriss and ShiDianNao (Table 3, last rows), beside trees and the estimate
  of the level (`--predictor tlp`, `gnnhls` and `tenset-mlp` for the other columns);
* `foreign`: a suite that training never saw (`--suite`): errors, coverage and confidence;
* `rules`: power where a loop-nest rule can say anything (Figure 11), beside those rules;
* `calibration`: cycles of the evaluation's programs on unseen inputs before and after five rounds (NoDPO).
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from models.base import PredictorError, TrainOutcome
from models.calibration_options import CalibrationOptions
from models.catalogue import PredictorSpec, predictor_named, predictors
from models.leaderboard import Prediction
from models.metrics import spearman
from models.model_files import PREDICTIONS_FILE
from models.numeric_lm.calibration import calibrate
from models.numeric_lm.data import ESTIMATE_FEATURES, load_examples
from models.numeric_lm.intervals import Judged, coverage
from models.numeric_lm.predictor import NumericPredictor
from models.numeric_lm.train import judge_examples, prediction_rows
from models.registry import RegistryStore, mlflow_at
from pipelines.dataset.splits import UNSEEN_DELAY
from pipelines.programs import EVALUATION_WORKLOADS
from pipelines.schemas import OK, LabelRow, SplitRow, read_table, scan_table, table_spec, write_table
from tests.benchmarks import harness

PAPER = {
    "encoding": "NoEnc -> ours: power 23.7 -> 10.2, area 11.9 -> 9.6, FF 24.7 -> 14.2 % (14 workloads)",
    "forms": "no such comparison",
    "synthesizer": "No-A -> all: power 25.5 -> 10.2, area 27.1 -> 9.6, FF 24.0 -> 14.2 %",
    "sizes": "cycles: 0.5B 22.9, 1B 16.4, 8B 15.3 %",
    "confidence": "Pearson correlation of the last logit and squared FF error: -0.44 over 12 samples",
    "delays": "cycles: 2, 5, 10 seen and 15 unseen: 20.8, 19.6, 16.4, 21.4 %",
    "edges": "power of T5: 10.9 %, TLP 14.4 %",
    "curve": "no such comparison",
    "think": "no such comparison",
    "orders": (
        "TPU, Eyeriss, ShiDianNao: power 9.8, 11.0, 9.2; area 10.2, 9.1, 10.1; FF 8.2, 8.3, 9.1; "
        "cycles 10.3, 9.6, 10.0 %"
    ),
    "foreign": "no such comparison",
    "rules": "power: ours 10.2 %, Timeloop 16.2 %",
    "calibration": "cycles in 5 iterations: PolyBench 20.9 -> 11.2 %, modern 28.9 -> 16.4 %",
}
SHARES = (0.125, 0.25, 0.5, 1.0)
_ESTIMATES = {
    "area_um2": "estimated_area_um2",
    "flip_flop_count": "estimated_flip_flop_count",
    "delay_ns": "critical_path_ns",
}
SIZES = {"small": (64, 1), "middle": (128, 3), "large": (192, 4)}
_STATIC_ORDER = ("power_mw", "area_um2", "flip_flop_count", "latency_cycles", "delay_ns")
Errors = Mapping[str, float]
WORKLOADS = frozenset(workload.name for workload in EVALUATION_WORKLOADS)
ORDERS = ("weight-stationary", "input-stationary", "output-stationary")
"""Programs of TPU v1, Eyeriss and ShiDianNao."""


# ---- training ----------------------------------------------------------------------------------------


class Trainer:
    """Trains variants of one predictor on one folder of tables."""

    def __init__(
        self,
        spec: PredictorSpec,
        tables: Path,
        out: Path,
        settings: Mapping[str, Any],
        suite: str = "",
        shares: Sequence[float] = SHARES,
        seed: int = 0,
    ) -> None:
        self.spec, self.tables, self.out, self.settings = spec, tables, out, settings
        self.suite, self.shares, self.seed = suite, shares, seed

    @property
    def split(self) -> str:
        """The frozen split."""
        return str(self.spec.options(**self.settings).split)

    def train(self, name: str, tables: Path | None = None, **changes: Any) -> TrainOutcome:
        """Train a variant, or return the same training done before."""
        options = self.spec.options(**{**self.settings, **changes})
        folder = self.out / f"{self.spec.name}-{name}{f'-seed-{self.seed}' if self.seed else ''}"
        return self.spec.train(tables or self.tables, options, folder=folder, seed=self.seed)

    def predictions(self, name: str, tables: Path | None = None, **changes: Any) -> list[Prediction]:
        """Predictions of a variant."""
        folder = self.train(name, tables, **changes).folder
        return [Prediction(**row) for row in json.loads((folder / PREDICTIONS_FILE).read_bytes())]


def changed_tables(tables: Path, folder: Path, changed: Mapping[str, Sequence[Any]]) -> Path:
    """The tables, some of them with other rows."""
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    for table in (tables / "tables").iterdir():
        if table.name not in changed and not (folder / "tables" / table.name).exists():
            (folder / "tables" / table.name).symlink_to(table.resolve(), target_is_directory=True)
    for name, rows in changed.items():
        write_table(folder, table_spec(name), rows, "all")
    return folder


def without_synthesizer(tables: Path, folder: Path) -> Path:
    """The tables with the training labels of stage ast alone."""
    stages = {p.program_id: p.stage for p in read_table(tables, table_spec("programs"))}
    parts = {s.program_id: s.part for s in read_table(tables, table_spec("splits"))}
    programs = {d.design_id: d.program_id for d in read_table(tables, table_spec("designs"))}

    def is_kept(row: LabelRow) -> bool:
        program = programs[row.design_id]
        return parts.get(program) != "train" or stages[program] == "ast"

    rows = [row for row in read_table(tables, table_spec("labels")) if is_kept(row)]
    return changed_tables(tables, folder, {"labels": rows})


def without_suite(tables: Path, folder: Path, suite: str) -> Path:
    """The tables with the groups of a suite in the test part, which holds nothing else."""
    own = {p.program_id for p in read_table(tables, table_spec("programs")) if p.suite == suite}
    if not own:
        raise SystemExit(f"no programs of suite {suite}")
    splits = read_table(tables, table_spec("splits"))
    groups = {(row.split, row.group) for row in splits if row.program_id in own}

    def part_of(row: SplitRow) -> str:
        if (row.split, row.group) in groups:
            return "test"
        return "train" if row.part == "test" else row.part

    rows = [replace(row, part=part_of(row)) for row in splits]
    labels = [row for row in read_table(tables, table_spec("labels")) if row.status == OK]
    return changed_tables(tables, folder, {"splits": rows, "labels": labels})


def estimates_as_labels(tables: Path, folder: Path) -> Path:
    """The tables with the engine's estimates in the place of the labels."""
    known = {row.design_id: row for row in read_table(tables, table_spec("features")) if row.status == OK}
    labels = [
        replace(row, **{name: getattr(known[row.design_id], own) for name, own in _ESTIMATES.items()})
        for row in read_table(tables, table_spec("labels"))
        if row.design_id in known and row.area_um2 is not None
    ]
    runs = [
        replace(
            row,
            latency_cycles=known[row.design_id].estimated_cycles,
            power_mw=known[row.design_id].estimated_power_mw,
            power_status=OK,
        )
        for row in read_table(tables, table_spec("runs"))
        if row.design_id in known
    ]
    return changed_tables(tables, folder, {"labels": labels, "runs": runs})


# ---- figures -----------------------------------------------------------------------------------------


def errors_by_target(predictions: Iterable[Prediction], part: str) -> Errors:
    """Mean absolute percentage error by target on a part."""
    by_target: dict[str, list[float]] = defaultdict(list)
    for one in predictions:
        if one.part == part:
            by_target[one.target].append(abs(one.predicted / one.actual - 1))
    return {target: float(np.mean(own)) for target, own in by_target.items()}


def errors_by_workload(
    predictions: Iterable[Prediction], tables: Path, names: Container[str] = WORKLOADS
) -> dict[str, Errors]:
    """Mean absolute percentage errors by evaluation workload and target."""
    designs = scan_table(tables, table_spec("designs")).select("design_id", "program_id")
    programs = scan_table(tables, table_spec("programs")).select("program_id", "name")
    known = dict(designs.join(programs, on="program_id").select("design_id", "name").collect().iter_rows())
    found: dict[str, list[Prediction]] = defaultdict(list)
    for one in predictions:
        name = known[one.design_id]
        name = name if name in names else name.rpartition("-")[0]
        if one.part == "evaluation" and name in names:
            found[name].append(one)
    return {name: errors_by_target(found[name], "evaluation") for name in sorted(found)}


def _variants(variants: Mapping[str, Sequence[Prediction]]) -> dict[str, Errors]:
    return {
        f"{name}, {part}": errors_by_target(own, part)
        for name, own in variants.items()
        for part in ("test", "evaluation")
    }


# ---- experiments -------------------------------------------------------------------------------------


def encoding(trainer: Trainer) -> dict[str, Errors]:
    """With and without symbol isolation and magnitudes, by workload."""
    variants = {
        "ours": trainer.predictions("ours"),
        "NoEnc": trainer.predictions("noenc", isolated=False, magnitudes=False),
    }
    rows = _variants(variants)
    for name, own in variants.items():
        for workload, errors in errors_by_workload(own, trainer.tables).items():
            rows[f"{workload}, {name}"] = errors
    return rows


def forms(trainer: Trainer) -> dict[str, Errors]:
    """Digits in three bases, and sign, exponent, mantissa."""
    variants = {f"digits {base}": trainer.predictions(f"digits-{base}", base=base) for base in (2, 10, 16)}
    variants["scientific 10"] = trainer.predictions("scientific", answer="scientific")
    return _variants(variants)


def synthesizer(trainer: Trainer) -> dict[str, Errors]:
    """Training programs of all stages against those of stage ast."""
    alone = without_synthesizer(trainer.tables, trainer.out / "ast-tables")
    return _variants({"all": trainer.predictions("ours"), "No-A": trainer.predictions("ast", alone)})


def sizes(trainer: Trainer) -> dict[str, Errors]:
    """Three sizes."""
    return _variants(
        {
            name: trainer.predictions(name, width=width, decoder_width=width, layers=layers)
            for name, (width, layers) in SIZES.items()
        }
    )


def confidence(trainer: Trainer) -> dict[str, Errors]:
    """Correlations of confidence and error over the rows of a part, and coverage."""
    outcome = trainer.train("ours")
    predictor: NumericPredictor = trainer.spec.load(outcome.folder)
    options = trainer.spec.options(**trainer.settings)
    known = load_examples([trainer.tables], options, predictor.card.level)
    examples = [e for e in known.examples if e.design.part in ("test", "evaluation")]
    judged = [one for _, one in judge_examples(predictor, examples)]
    rows: dict[str, Errors] = {}
    for part in ("test", "evaluation"):
        own = [one for one in judged if one.part == part]
        flip_flops = [one for one in own if one.target == "flip_flop_count"]
        rows[f"{part}, logit against squared error of flip-flops"] = _correlations(
            [one.answer.logit for one in flip_flops],
            [(one.answer.value - one.actual) ** 2 for one in flip_flops],
        )
        for target in _STATIC_ORDER:
            rows[f"{part}, confidence against relative error of {target}"] = _relative(own, target)
    covered = coverage(judged)
    for part in ("test", "evaluation"):
        rows[f"{part}, coverage of 90 % intervals"] = {
            name.rpartition("/")[2]: value
            for name, value in covered.items()
            if name.startswith(f"coverage/{part}/")
        }
    return rows


def _relative(judged: Sequence[Judged], target: str) -> Errors:
    own = [one for one in judged if one.target == target]
    return _correlations(
        [one.answer.confidence for one in own], [(one.answer.value / one.actual - 1) ** 2 for one in own]
    )


def _correlations(confidences: Sequence[float], errors: Sequence[float]) -> Errors:
    one, two = np.array(confidences), np.array(errors)
    return {
        "pearson": float(np.corrcoef(one, two)[0, 1]),
        "pearson_of_log": float(np.corrcoef(one, np.log10(two + 1e-6))[0, 1]),
        "spearman": float(spearman(one, two)),
        "rows": float(len(one)),
    }


def delays(trainer: Trainer) -> dict[str, Errors]:
    """Errors of cycles by memory delay; that of part `unseen_delay` never occurs in training."""
    designs = scan_table(trainer.tables, table_spec("designs"))
    delay = pl.col("memory_read_delay_cycles").cast(pl.String)
    known = dict(designs.select("design_id", delay).collect().iter_rows())
    rows: dict[str, Errors] = {}
    predictions = [*trainer.predictions("ours"), *_of_part(trainer, UNSEEN_DELAY)]
    predictions = [p for p in predictions if p.target == "latency_cycles"]
    for value in sorted({known[p.design_id] for p in predictions}, key=int):
        own = [p for p in predictions if known[p.design_id] == value]
        for part in ("test", "evaluation", UNSEEN_DELAY):
            if errors := [abs(p.predicted / p.actual - 1) for p in own if p.part == part]:
                middle = float(np.median(errors))
                rows[f"delay {value}, {part}"] = {"mean": float(np.mean(errors)), "median": middle}
    return rows


def _of_part(trainer: Trainer, part: str) -> list[Prediction]:
    """Answers to the drawn runs of a part that training does not judge."""
    predictor: NumericPredictor = trainer.spec.load(trainer.train("ours").folder)
    known = load_examples(
        [trainer.tables], trainer.spec.options(**trainer.settings), predictor.card.level
    ).examples
    return prediction_rows(
        judge_examples(predictor, [e for e in known if e.design.part == part and e.is_drawn])
    )


def edges(trainer: Trainer) -> dict[str, Errors]:
    """Errors on labels above the 95th percentile of the training part."""
    predictions = trainer.predictions("ours")
    options = trainer.spec.options(**trainer.settings)
    known = load_examples([trainer.tables], options, "text").examples
    labels: dict[str, list[float]] = defaultdict(list)
    for example in known:
        if example.design.part == "train":
            for target, value in example.labels.items():
                labels[target].append(value)
    limits = {target: float(np.quantile(own, 0.95)) for target, own in labels.items()}
    high = [p for p in predictions if p.actual > limits[p.target]]
    rest = [p for p in predictions if p.actual <= limits[p.target]]
    return _variants({"above": high, "below": rest}) | {
        "limit": {f"limit of {target}": value for target, value in limits.items()}
    }


def curve(trainer: Trainer) -> dict[str, Errors]:
    """Shares of the training programs."""
    return _variants(
        {
            f"{share:.1%} of the programs": trainer.predictions(f"share-{share}", share=share)
            for share in trainer.shares
        }
    )


def think(trainer: Trainer) -> dict[str, Errors]:
    """The engine's estimates received, and generated from the text by a model of them."""
    if trainer.spec.task.level != "hls":
        raise SystemExit("experiment think is of level hls")
    told = trainer.train("told", features=False)
    predictor: NumericPredictor = trainer.spec.load(told.folder)
    thinker = Trainer(
        predictor_named("numeric-lm-text"),
        estimates_as_labels(trainer.tables, trainer.out / "estimates"),
        trainer.out,
        {**trainer.settings, "stacked": False},
    )
    thoughts: NumericPredictor = thinker.spec.load(thinker.train("estimates").folder)
    known = load_examples([trainer.tables], trainer.spec.options(**trainer.settings), "hls")
    examples = [e for e in known.examples if e.is_drawn and e.design.part in ("test", "evaluation")]
    prompts = [thoughts.encode(e.query, {}) for e in examples]
    thought = [
        {ESTIMATE_FEATURES[target]: answer.value for target, answer in own.items()}
        for own in thoughts.answer_prompts(prompts, [{} for _ in prompts])
    ]
    guessed = [replace(e, features=own) for e, own in zip(examples, thought, strict=True)]
    received = prediction_rows(judge_examples(predictor, examples))
    by_design = {e.design.design_id: answers for e, answers in zip(examples, thought, strict=True)}
    return _variants(
        {
            "estimates received": received,
            "estimates generated": prediction_rows(judge_examples(predictor, guessed)),
            "generated estimates alone": [
                replace(one, predicted=by_design[one.design_id][ESTIMATE_FEATURES[one.target]])
                for one in received
            ],
        }
    )


def foreign(trainer: Trainer) -> dict[str, Errors]:
    """A suite that training never saw, beside the usual test part."""
    tables = without_suite(trainer.tables, trainer.out / f"without-{trainer.suite}", trainer.suite)
    rows: dict[str, Errors] = {}
    for name, own in (("test", trainer.tables), (trainer.suite, tables)):
        outcome = trainer.train("ours" if name == "test" else f"without-{name}", own)
        predictor: NumericPredictor = trainer.spec.load(outcome.folder)
        examples = load_examples([own], trainer.spec.options(**trainer.settings), predictor.card.level)
        judged = judge_examples(predictor, [e for e in examples.examples if e.design.part == "test"])
        covered = coverage(one for _, one in judged)
        targets = sorted({one.target for _, one in judged})
        rows[f"{name}: error"] = errors_by_target(prediction_rows(judged), "test")
        rows[f"{name}: coverage"] = {target: covered[f"coverage/test/{target}"] for target in targets}
        rows[f"{name}: confidence"] = {
            target: float(np.mean([one.answer.confidence for _, one in judged if one.target == target]))
            for target in targets
        }
    return rows


def orders(trainer: Trainer) -> dict[str, Errors]:
    """Matrix products that hold weights, inputs or outputs, by predictor."""
    level = trainer.spec.task.level
    known = {spec.name for spec in predictors()}
    others = [name for kind in ("lightgbm", "engine-estimate") if (name := f"{kind}-{level}") in known]
    rows: dict[str, Errors] = {}
    for name in (trainer.spec.name, *others):
        own = trainer
        if name != trainer.spec.name:
            own = Trainer(predictor_named(name), trainer.tables, trainer.out, {"split": trainer.split})
        for order, errors in errors_by_workload(own.predictions("ours"), trainer.tables, ORDERS).items():
            rows[f"{order}, {name}"] = errors
    return rows


def rules(trainer: Trainer) -> dict[str, Errors]:
    """Power of designs that the loop-nest rules describe."""
    own = Trainer(predictor_named("loop-rules"), trainer.tables, trainer.out, {"split": trainer.split})
    by_rules = own.predictions("ours")
    described = {one.design_id for one in by_rules if one.target == "power_mw"}
    ours = [one for one in trainer.predictions("ours") if one.design_id in described]
    return _variants({"ours": ours, "loop-rules": by_rules})


def calibration(trainer: Trainer) -> dict[str, Errors]:
    """Cycles of the evaluation's programs on inputs that calibration does not see."""
    folder = trainer.train("ours").folder
    programs = {p.program_id: p for p in read_table(trainer.tables, table_spec("programs"))}
    known = load_examples([trainer.tables], trainer.spec.options(**trainer.settings), trainer.spec.task.level)
    queries = {
        programs[e.design.program_id].name: replace(e.query, data="")
        for e in known.examples
        if e.design.part == "evaluation" and e.query.memory_read_delay_cycles == CALIBRATED_DELAY
    }
    rows: dict[str, Errors] = {}
    for name, query in sorted(queries.items()):
        predictor: NumericPredictor = trainer.spec.load(folder)
        try:
            report = calibrate(predictor, query, CalibrationOptions())
        except PredictorError as error:
            sys.stderr.write(f"{name}: {error}\n")
            continue
        figures = {
            "before": report.error_before,
            "after": report.error_after,
            "estimate": report.engine_error,
            "regression": report.anchor_error,
            "distinct": float(report.distinct_cycles),
        }
        rows[name] = {key: value for key, value in figures.items() if value is not None}
    moving = [row for row in rows.values() if row["distinct"] > 1]
    for name, own in (("mean", list(rows.values())), ("mean where cycles depend on data", moving)):
        keys = [key for key in ("before", "after", "estimate", "regression") if own and key in own[0]]
        rows[name] = {key: float(np.mean([row[key] for row in own if key in row])) for key in keys}
    return rows


CALIBRATED_DELAY = 10
"""Memory delay of the designs that are calibrated."""
EXPERIMENTS = {
    run.__name__: run
    for run in (
        *(encoding, forms, synthesizer, sizes, confidence, delays, edges),
        *(curve, think, orders, foreign, rules, calibration),
    )
}


# ---- the command -------------------------------------------------------------------------------------


def table_text(rows: Mapping[str, Errors]) -> str:
    """Rows as Markdown; errors are percentages."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    cells = [(name, *(_cell(c, row.get(c)) for c in columns)) for name, row in rows.items()]
    return harness.table_text(["", *columns], cells)


def _cell(column: str, value: float | None) -> str:
    if value is None:
        return ""
    shares = (*_STATIC_ORDER, "all", "mean", "median", "before", "after", "estimate", "regression")
    is_share = column in shares and abs(value) < 1000
    return f"{100 * value:.1f}" if is_share else f"{value:.2f}"


def record(
    rows: Mapping[str, Errors], name: str, spec: PredictorSpec, parameters: Mapping[str, Any], uri: str
) -> None:
    """A run of MLflow's experiment `numeric-lm NAME` per row, with its values as metrics.

    Args: parameters: options, tables and seed. uri: of the tracking store.
    """
    with mlflow_at(RegistryStore(tracking_uri=uri)) as client:
        known = client.get_experiment_by_name(f"numeric-lm {name}")
        experiment = known.experiment_id if known else client.create_experiment(f"numeric-lm {name}")
        for row, errors in rows.items():
            tags = {"predictor": spec.name, "paper": PAPER[name]}
            run = client.create_run(experiment, run_name=row, tags=tags).info.run_id
            for key, value in parameters.items():
                client.log_param(run, key, value)
            for column, value in errors.items():
                if np.isfinite(value):
                    client.log_metric(run, re.sub(r"[^\w ./-]", "", column), value)
            client.set_terminated(run)


def main() -> None:
    """Read the arguments, run one experiment, write its table and its rows as JSON, and record them."""
    parser = harness.options_parser(__doc__)
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("--tables", type=Path, required=True, help="folder that holds tables/")
    parser.add_argument("--level", default="hls")
    parser.add_argument("--predictor", default="", help="another predictor, for experiment synthesizer")
    parser.add_argument("--suite", default="machsuite", help="of experiment foreign")
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES, help="of experiment curve")
    parser.add_argument("--seed", type=int, default=0, help="of weights, batches and drawn shares")
    parser.add_argument("--out", type=Path, default=Path("data/experiments"))
    parser.add_argument("--tracking", default=RegistryStore().tracking_uri, help="MLflow's store")
    parser.add_argument("-o", "--option", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    settings = {
        key: yaml.safe_load(value)
        for key, _, value in (setting.partition("=") for setting in arguments.option)
    }
    spec = predictor_named(arguments.predictor or f"numeric-lm-{arguments.level}")
    given = (settings, arguments.suite, arguments.shares, arguments.seed)
    trainer = Trainer(spec, arguments.tables, arguments.out, *given)
    rows = EXPERIMENTS[arguments.name](trainer)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / f"{arguments.name}-{spec.name}.json").write_text(json.dumps(rows, indent=1) + "\n")
    said = {**settings, "tables": arguments.tables, "seed": arguments.seed}
    record(rows, arguments.name, spec, said, arguments.tracking)
    sys.stdout.write(f"{table_text(rows)}\nThe paper: {PAPER[arguments.name]}\n")


if __name__ == "__main__":
    main()
