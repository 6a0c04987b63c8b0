"""How many first variants of the embedded language model are accepted, trained and untrained.

For every program of the reference set one variant is drawn as the gate draws it. Two rules judge it: that of
the gate (it differs and the C front end reads it), and that of the stage `llm` (it also passes high-level
synthesis within bounds, has no undefined behaviour, and computes in hardware what it computes natively).

    .venv/bin/python -m tests.benchmarks.program_lm_acceptance --predictor FOLDER
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path

from models.program_lm import PREDICTOR, TrainingOptions
from models.program_lm.network import untrained
from models.program_lm.reference import first_variant, program_reference, reference_programs
from models.program_lm.training import size_of
from pipelines.base.cache import ContentCache
from pipelines.dataset.variants import check_variant
from pipelines.programs.llm import CheckLimits
from tests.benchmarks.harness import options_parser, print_header, print_row


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--predictor", type=Path, required=True, help="folder of a trained model")
    chosen = parser.parse_args()
    reference = PREDICTOR.task.reference
    assert reference is not None
    networks = {
        "trained": PREDICTOR.load(chosen.predictor),
        "untrained": untrained(size_of(TrainingOptions()), 0),
    }
    print_header("network | programs | accepted by the gate | accepted by the stage | reasons")
    known, rows = program_reference(reference), reference_programs(reference)
    with tempfile.TemporaryDirectory() as folder:
        cache = ContentCache(folder=Path(folder))
        for name, network in networks.items():
            read = int((known.score(network) == 0).sum())
            verdicts = [
                check_variant(first_variant(network, row.source), row, CheckLimits(), cache) for row in rows
            ]
            refusals = [verdict.reason or "" for verdict in verdicts if verdict.status != "ok"]
            reasons = Counter(re.split("[:,]", reason)[0] for reason in refusals)
            accepted = sum(verdict.status == "ok" for verdict in verdicts)
            said = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common())
            print_row(name, len(rows), read, accepted, said)


if __name__ == "__main__":
    main()
