"""A short form of the campaign of faults; its long form is `tests/benchmarks/fault_campaign.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mutated_inputs import PARSERS

HERE = Path(__file__).parent
MEMORY_LIMIT_MB = 1000


def campaign(script: str, *arguments: str) -> list[dict[str, Any]]:
    """Answers of a campaign in a process of its own."""
    argv = [sys.executable, str(HERE / script), *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.sample(4)
@pytest.mark.parametrize("parser", sorted(PARSERS))
def test_mutated_inputs_are_accepted_or_refused_in_bounds(parser: str) -> None:
    (answer,) = campaign("mutated_inputs.py", parser, "--count", "40")
    assert answer["faults"] == []
    assert answer["peak_mb"] < MEMORY_LIMIT_MB
    assert sum(answer["outcomes"].values()) == 40


@pytest.mark.slow
def test_flipped_bits_are_never_read_as_another_result() -> None:
    answers = campaign("flipped_bits.py", "--count", "21")
    assert [fault for answer in answers for fault in answer["faults"]] == []
    assert sum(answer["flips"] for answer in answers) == 21


@pytest.mark.slow
def test_a_killed_run_leaves_whole_tables_and_is_finished() -> None:
    (answer,) = campaign("interrupted_runs.py", "kills:1")
    assert (answer["faults"], answer["interruptions"]) == ([], 1)


@pytest.mark.slow
def test_a_run_on_a_full_disk_leaves_whole_tables_and_is_finished() -> None:
    (answer,) = campaign("interrupted_runs.py", "full-disk:1")
    assert answer["faults"] == []
    assert answer["interruptions"] == 1 or answer["skipped"], "no file system can be mounted"
