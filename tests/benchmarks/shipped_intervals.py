"""Coverage of the intervals of shipped predictors of labels trained on releases/v1, by target and part.

    python -m tests.benchmarks.shipped_intervals [--count N] [--write] [NAME]...

The factor of each target is chosen on the validation part of releases/v1 for 90 % of its groups. Designs are
drawn, at most --count a part; each is asked as `simfoundry predict` would ask. --write keeps the intervals in
the outcome of the weights, as training does for new ones.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import replace
from pathlib import Path

from models.base import TrainOutcome
from models.catalogue import PredictorSpec, predictor_named
from models.intervals import FACTOR, MEASURED, measure_intervals
from models.labelled import LabelledDesign, training_designs
from models.leaderboard import Prediction, paired
from models.model_files import CARD_FILE, OUTCOME_FILE, WEIGHTS_FILE, read_outcome, write_outcome

RELEASE = Path("releases/v1")
SHIPPED = ("tenset-mlp", "lightgbm-text", "lightgbm-static")


def drawn(designs: list[LabelledDesign], count: int) -> list[LabelledDesign]:
    """At most `count` designs of each part but the training part."""
    chosen: list[LabelledDesign] = []
    for part in ("validation", *MEASURED):
        own = [design for design in designs if design.part == part]
        chosen += random.Random(0).sample(own, min(count, len(own)))
    return chosen


def predictions(spec: PredictorSpec, designs: list[LabelledDesign]) -> list[Prediction]:
    """The shipped predictor's answers beside the labels."""
    estimates = spec.load(spec.shipped_folder).predict([design.query for design in designs])
    return paired(designs, [estimate.values for estimate in estimates])


def keep(spec: PredictorSpec, outcome: TrainOutcome) -> None:
    """Write an outcome with other intervals beside the same weights."""
    folder = spec.shipped_folder
    content = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    write_outcome(outcome, {name: content[name] for name in (CARD_FILE, WEIGHTS_FILE)})
    for name in content.keys() - {CARD_FILE, WEIGHTS_FILE, OUTCOME_FILE}:
        (folder / name).write_bytes(content[name])


def main() -> None:
    """Print a row a predictor and target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", default=SHIPPED)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    print(f"| predictor | target | factor | {' | '.join(MEASURED)} |\n| --- | --- | --- | --- | --- |")
    for name in options.names:
        spec = predictor_named(name)
        designs = drawn(list(training_designs([RELEASE], spec.options())), options.count)
        intervals = measure_intervals(predictions(spec, designs))
        for target, row in intervals.items():
            shares = " | ".join(f"{row[part]:.0%}" for part in MEASURED)
            print(f"| `{name}` | `{target}` | {row[FACTOR]:.2f} | {shares} |", flush=True)
        outcome = read_outcome(spec.shipped_folder)
        if options.write and outcome is not None:
            keep(spec, replace(outcome, intervals=intervals))


if __name__ == "__main__":
    main()
