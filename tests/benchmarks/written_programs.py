"""Intervals and confidence of predictors on 74 programs that no training sees, two designs of each.

    python -m tests.benchmarks.written_programs label FOLDER
    python -m tests.benchmarks.written_programs measure FOLDER [--model NAME]... [--program NAME]...

The programs are in `written/`; `designs.json` there has the second configuration of each, the first is
that of `simfoundry label`. `label` writes a JSON file per design to FOLDER and goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

import simfoundry as sf
from models.catalogue import predictor_named
from models.model_files import read_outcome
from models.query import ALL_TARGETS
from pipelines.schemas import OK
from simfoundry.commands.predict import question_of
from simfoundry.questions import Options

MODELS = ("lightgbm-text", "lightgbm-static", "lightgbm-hls", "numeric-lm-hls")
PROGRAMS = Path(__file__).parent / "written"


def designs() -> Iterator[tuple[Path, int, Mapping[str, Any]]]:
    """Program, number and configuration of each design."""
    second: Mapping[str, Mapping[str, Any]] = json.loads((PROGRAMS / "designs.json").read_text())
    for file in sorted(PROGRAMS.glob("*.c")):
        yield file, 0, {}
        yield file, 1, second[file.stem]


def label(folder: Path, most: int) -> None:
    """Label at most so many of the designs whose file FOLDER lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    left = [(folder / f"{file.stem}-{number}.json", file, own) for file, number, own in designs()]
    for path, file, configuration in [one for one in left if not one[0].is_file()][:most]:
        answer = sf.label(file, options=Options(**configuration))
        path.write_text(json.dumps(answer, indent=1) + "\n")
        status, reason = answer["label"]["status"], answer["label"]["reason"]
        sys.stdout.write(f"{path.stem}: {status} {reason or ''}\n")
        sys.stdout.flush()


def labels_of(answer: Mapping[str, Any]) -> dict[str, float]:
    """Labels by target of an answer of `label`; none of a design that is not ok."""
    row, runs = answer["label"], answer["runs"]
    if row["status"] != OK or not runs or runs[0]["status"] != OK:
        return {}
    names = ("area_um2", "flip_flop_count", "delay_ns")
    values = {name: row[name] for name in names}
    values |= {name: runs[0][name] for name in ("latency_cycles", "power_mw")}
    return {name: float(value) for name, value in values.items() if value}


def questions() -> list[tuple[str, dict[str, Any]]]:
    """Name and question of each design, as `simfoundry predict` asks it."""
    asked: list[tuple[str, dict[str, Any]]] = []
    for file, number, own in designs():
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


def answers_of(name: str, asked: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Answers of the weights that come with the project, by design."""
    spec = predictor_named(name)
    predictor, outcome = spec.load(spec.shipped_folder), read_outcome(spec.shipped_folder)
    return {design: spec.answer(predictor, [query], outcome)[0] for design, query in asked}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An answer beside its label. error: relative, of the value."""

    program: str
    inside: bool
    error: float
    confidence: float
    factor: float


def judge(
    folder: Path, answers: Mapping[str, Mapping[str, Any]], target: str, keep: frozenset[str] | None = None
) -> list[Judged]:
    """Answers whose design has a label of the target. keep: of these programs alone."""
    judged: list[Judged] = []
    for design, answer in sorted(answers.items()):
        path, program = folder / f"{design}.json", design.rpartition("-")[0]
        if not path.is_file() or (keep is not None and program not in keep):
            continue
        actual = labels_of(json.loads(path.read_text())).get(target)
        if actual is not None and answer.get(target) is not None:
            low, high = answer[f"{target}_low"], answer[f"{target}_high"]
            judged.append(
                Judged(
                    program=program,
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


def measure(folder: Path, models: Sequence[str], keep: frozenset[str] | None) -> None:
    """Print a row per model and target."""
    asked = questions()
    sys.stdout.write(
        "| predictor | target | inside | over programs | median factor | median error | confidence: lower, "
        "upper half |\n|" + " --- |" * 7 + "\n"
    )
    for name in models:
        answers = answers_of(name, asked)
        for target in ALL_TARGETS:
            judged = judge(folder, answers, target, keep)
            low, high = interval_over_programs(judged)
            cells = (
                f"`{name}`",
                f"`{target}`",
                f"{np.mean([one.inside for one in judged]):.0%} of {len(judged)}",
                f"{low:.0%} to {high:.0%}",
                f"{np.median([one.factor for one in judged]):.2f}",
                f"{np.median([one.error for one in judged]):.1%}",
                calibration_text(judged),
            )
            sys.stdout.write(f"| {' | '.join(cells)} |\n")
            sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> None:
    """Label, or print the figures."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("action", choices=("label", "measure"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=1000, help="Designs that one call labels.")
    parser.add_argument("--model", action="append", default=[], help="Name of shipped weights.")
    parser.add_argument("--program", action="append", default=[], help="Measure these programs alone.")
    options = parser.parse_args(arguments)
    if options.action == "label":
        label(options.folder, options.most)
    else:
        measure(options.folder, options.model or MODELS, frozenset(options.program) or None)


if __name__ == "__main__":
    main()
