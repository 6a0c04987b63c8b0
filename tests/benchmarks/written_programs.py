"""Intervals and confidence of predictors on programs that no training sees, two designs of each.

    python -m tests.benchmarks.written_programs label FOLDER [--set SET]
    python -m tests.benchmarks.written_programs measure FOLDER [--set SET] [--model M]... [--program P]...

A set is a folder beside this file: `written`, 74 programs that were looked at while the intervals were
tuned, or `written_blind`, 80 programs written after that without a look at any answer. `designs.json` of a
set has the second configuration of each program, the first is that of `simfoundry label`. `label` writes a
JSON file per design to FOLDER and goes on where it stopped. `measure` asks all label predictors with
weights, or each M: one of these, or the folder of a trained one. Beside them stand the median errors of
the engine's estimates alone, after high-level synthesis and after a run (whose cycles are counted on the
data of the label), and of a constant: the median of the training part of release v2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

import simfoundry as sf
from models.catalogue import PredictorSpec, predictor_named
from models.champions import label_predictors
from models.engine_estimate.estimates import EngineEstimate
from models.labelled import Selection, load_labelled_designs
from models.model_files import read_model, read_outcome
from models.query import ALL_TARGETS, Query
from pipelines.schemas import OK
from simfoundry.commands.predict import question_of
from simfoundry.questions import Options
from tests.benchmarks.harness import options_parser, print_header, print_row

LEVELS = ("hls", "run")
GOAL = (0.85, 0.95)
"""Share of labels inside of intervals that claim 90 %."""
TRAINING = Path("releases/v2")
SETS = ("written", "written_blind")


def designs(programs: Path) -> Iterator[tuple[Path, int, Mapping[str, Any]]]:
    """Program, number and configuration of each design."""
    second: Mapping[str, Mapping[str, Any]] = json.loads((programs / "designs.json").read_text())
    for file in sorted(programs.glob("*.c")):
        yield file, 0, {}
        yield file, 1, second[file.stem]


def label(programs: Path, folder: Path, most: int) -> None:
    """Label at most so many of the designs whose file FOLDER lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    left = [(folder / f"{file.stem}-{number}.json", file, own) for file, number, own in designs(programs)]
    for path, file, configuration in [one for one in left if not one[0].is_file()][:most]:
        answer = sf.label(file, options=Options(**configuration))
        path.write_text(json.dumps(answer, indent=1) + "\n")
        status, reason = answer["label"]["status"], answer["label"]["reason"]
        print(f"{path.stem}: {status} {reason or ''}", flush=True)


def labels_of(answer: Mapping[str, Any]) -> dict[str, float]:
    """Labels by target of an answer of `label`; none of a design that is not ok."""
    row, runs = answer["label"], answer["runs"]
    if row["status"] != OK or not runs or runs[0]["status"] != OK:
        return {}
    names = ("area_um2", "flip_flop_count", "delay_ns")
    values = {name: row[name] for name in names}
    values |= {name: runs[0][name] for name in ("latency_cycles", "power_mw")}
    return {name: float(value) for name, value in values.items() if value}


def questions(programs: Path) -> list[tuple[str, dict[str, Any]]]:
    """Name and question of each design, as `simfoundry predict` asks it."""
    asked: list[tuple[str, dict[str, Any]]] = []
    for file, number, own in designs(programs):
        with NamedTemporaryFile("w", suffix=".json") as directives:
            directives.write(json.dumps(own.get("directives", [])))
            directives.flush()
            query = question_of(
                file=file,
                top=None,
                directives=Path(directives.name),
                memory_delay=own.get("memory_delay", 2),
                clock=own.get("clock_ns", 10.0),
                data=None,
            )
        asked.append((f"{file.stem}-{number}", asdict(query)))
    return asked


def shipped_models() -> list[str]:
    """Names of the label predictors that come with weights, by level of information."""
    return [spec.name for spec in label_predictors() if spec.shipped_folder.is_dir()]


def opened(model: str) -> tuple[PredictorSpec, Path]:
    """A predictor and its folder, by the name of weights that come with the project or by a folder."""
    if Path(model).is_dir():
        return predictor_named(read_model(Path(model))[0]), Path(model)
    spec = predictor_named(model)
    return spec, spec.shipped_folder


def answers_of(model: str, asked: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Answers of a predictor by design."""
    spec, folder = opened(model)
    predictor, outcome = spec.load(folder), read_outcome(folder)
    return {design: spec.answer(predictor, [query], outcome)[0] for design, query in asked}


def estimates_of(level: str, asked: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, float]]:
    """The engine's own estimates by design."""
    estimate = EngineEstimate(level=level, engine={"liberty": "osu018", "engine_options": "{}"})
    return {design: dict(estimate.predict([Query(**query)])[0].values) for design, query in asked}


def constants() -> dict[str, float]:
    """Median of each target over the training part."""
    training = [d.labels for d in load_labelled_designs(TRAINING, Selection()) if d.part == "train"]
    return {t: float(np.median([own[t] for own in training if t in own])) for t in ALL_TARGETS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An answer beside its label. error: relative, of the value. factor: half the interval's width."""

    design: str
    actual: float
    inside: bool
    error: float
    confidence: float
    factor: float

    @property
    def program(self) -> str:
        """Name of the program."""
        return program_of(self.design)


def program_of(design: str) -> str:
    """Name of the program of a design."""
    return design.rpartition("-")[0]


def read_labels(folder: Path) -> dict[str, dict[str, float]]:
    """Labels by design and target."""
    return {path.stem: labels_of(json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))}


def judge(
    labels: Mapping[str, Mapping[str, float]], answers: Mapping[str, Mapping[str, Any]], target: str
) -> list[Judged]:
    """Answers whose design has a label of the target."""
    judged: list[Judged] = []
    for design, answer in sorted(answers.items()):
        actual = labels.get(design, {}).get(target)
        if actual is not None and answer.get(target) is not None:
            low, high = answer[f"{target}_low"], answer[f"{target}_high"]
            judged.append(
                Judged(
                    design=design,
                    actual=actual,
                    inside=low * (1 - 1e-9) <= actual <= high * (1 + 1e-9),
                    error=abs(answer[target] / actual - 1),
                    confidence=float(answer.get(f"{target}_confidence", answer["confidence"])),
                    factor=(high / low) ** 0.5,
                )
            )
    return judged


def interval_over_programs(judged: Sequence[Judged], resamples: int = 2000) -> tuple[float, float]:
    """95 % interval of the share inside over resampled programs."""
    names = sorted({one.program for one in judged})
    inside = np.array([sum(o.inside for o in judged if o.program == name) for name in names], float)
    counts = np.array([sum(o.program == name for o in judged) for name in names], float)
    draws = np.random.default_rng(0).integers(0, len(names), (resamples, len(names)))
    low, high = np.quantile(inside[draws].sum(axis=1) / counts[draws].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)


def calibration_text(judged: Sequence[Judged]) -> str:
    """Mean confidence and the share within 10 %, of the lower and the upper half by confidence."""
    ordered = sorted(judged, key=lambda one: one.confidence)
    halves = (ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :])
    return ", ".join(
        f"{np.mean([o.confidence for o in half]):.0%} said, {np.mean([o.error < 0.1 for o in half]):.0%} true"
        for half in halves
    )


def inside_text(judged: Sequence[Judged]) -> str:
    """Share inside, how many were judged, and whether the goal is missed."""
    share = float(np.mean([one.inside for one in judged]))
    verdict = (
        "" if GOAL[0] <= share <= GOAL[1] else f" **missed** ({'above' if share > GOAL[1] else 'below'})"
    )
    return f"{share:.0%} of {len(judged)}{verdict}"


def measure(programs: Path, folder: Path, models: Sequence[str], keep: frozenset[str]) -> None:
    """Print a row per model and target. keep: of these programs alone; empty for all."""
    asked = [one for one in questions(programs) if not keep or program_of(one[0]) in keep]
    print_judged(read_labels(folder), asked, models)


def print_judged(
    labels: Mapping[str, Mapping[str, float]],
    asked: Sequence[tuple[str, dict[str, Any]]],
    models: Sequence[str],
) -> list[Sequence[str]]:
    """Print a row per model and target, and return the rows.

    Args: labels: by design and target. asked: name and question of each design. models: see `opened`.
    """
    rows: list[Sequence[str]] = []
    estimates, constant = [estimates_of(level, asked) for level in LEVELS], constants()
    print_header(
        "predictor | target | inside | over programs | median factor | median error",
        f"estimate alone: {', '.join(LEVELS)} | constant | confidence: lower, upper half",
    )
    for model in models:
        answers = answers_of(model, asked)
        for target in ALL_TARGETS:
            judged = judge(labels, answers, target)
            if not judged:
                print(f"| `{model}` | `{target}` | no answer with a label |{' |' * 6}")
                continue
            low, high = interval_over_programs(judged)
            alone = (
                np.median([abs(known[one.design][target] / one.actual - 1) for one in judged])
                for known in estimates
            )
            cells = (
                f"`{model}`",
                f"`{target}`",
                inside_text(judged),
                f"{low:.0%} to {high:.0%}",
                f"{np.median([one.factor for one in judged]):.2f}",
                f"{np.median([one.error for one in judged]):.1%}",
                ", ".join(f"{value:.1%}" for value in alone),
                f"{np.median([abs(constant[target] / one.actual - 1) for one in judged]):.1%}",
                calibration_text(judged),
            )
            print_row(*cells)
            rows.append(cells)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Label, or print the figures."""
    parser = options_parser(__doc__)
    parser.add_argument("action", choices=("label", "measure"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", choices=SETS, default=SETS[0], help="Folder of the programs.")
    parser.add_argument("--most", type=int, default=1000, help="Designs that one call labels.")
    parser.add_argument("--model", action="append", default=[], help="Name of weights, or a folder.")
    parser.add_argument("--program", action="append", default=[], help="Measure these programs alone.")
    options = parser.parse_args(arguments)
    programs = Path(__file__).parent / options.set
    if options.action == "label":
        label(programs, options.folder, options.most)
    else:
        measure(programs, options.folder, options.model or shipped_models(), frozenset(options.program))


if __name__ == "__main__":
    main()
