"""Calibrate the intervals and the confidence of trained weights again; the weights stay as they are.

    python -m tests.benchmarks.recalibrate NAME... --tables releases/v2 [--folder FOLDER]

Weights that come with the project, or one predictor in FOLDER. The tables are those of the training.
Trees are trained again without each suite of programs, some 5 s per suite after the features are made. The
outcome of the training is replaced; the table shows the share of labels inside on the test and evaluation
parts, and the median error of the answers of the highest confidence.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from models.catalogue import predictor_named
from models.intervals import MEASURED
from models.model_files import read_outcome, update_outcome


def main(arguments: Sequence[str] | None = None) -> None:
    """Calibrate and print the figures."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--tables", type=Path, default=Path("releases/v2"))
    parser.add_argument("--folder", type=Path, help="Folder of the trained predictor.")
    options = parser.parse_args(arguments)
    for name in options.names:
        spec = predictor_named(name)
        folder = options.folder or spec.shipped_folder
        outcome = read_outcome(folder)
        if outcome is None:
            raise SystemExit(f"no outcome of a training: {folder}")
        outcome = spec.calibrated(outcome, options.tables)
        update_outcome(outcome)
        for target, figures in sorted(outcome.intervals.items()):
            shares = " | ".join(f"{figures[part]:.0%}" if part in figures else "" for part in MEASURED)
            risks = [f"{value:.1%}" for key, value in figures.items() if key.startswith("risk_")]
            line = (f"`{name}`", f"`{target}`", shares, f"{figures.get('factor', 0):.2f}", *risks)
            sys.stdout.write(f"| {' | '.join(line)} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
