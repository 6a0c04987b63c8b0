"""A short form of the campaign of faults; its long form is `tests/benchmarks/fault_campaign.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import mutated_inputs
import pytest
from mutated_inputs import COMMANDS, PARSERS

from simfoundry.cli.entry import simfoundry
from simfoundry.cli.options import LISTED

HERE = Path(__file__).parent


def campaign(script: str, *arguments: str) -> list[dict[str, Any]]:
    """Answers of a campaign in a process of its own."""
    argv = [sys.executable, str(HERE / script), *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_mutated_inputs_are_accepted_or_refused_in_bounds() -> None:
    _check_answers(5)


@pytest.mark.slow
def test_more_mutated_inputs_are_accepted_or_refused_in_bounds() -> None:
    _check_answers(40)


def _check_answers(count: int) -> None:
    answers = campaign("mutated_inputs.py", "--count", str(count))
    assert [answer["parser"] for answer in answers] == sorted(PARSERS)
    for answer in answers:
        assert (answer["parser"], answer["faults"]) == (answer["parser"], [])
        assert sum(answer["outcomes"].values()) == count
        assert answer["outcomes"].get("accepted"), f"the unchanged input of {answer['parser']} is refused"


def test_every_command_that_reads_foreign_files_has_its_parsers() -> None:
    limited = {command.name for command, listing in LISTED.items() if listing.memory_gib is not None}
    assert limited <= COMMANDS.keys() <= simfoundry.commands.keys()
    assert set(chain.from_iterable(COMMANDS.values())) == set(PARSERS)


WORKER = """
import os, sys
sys.path.insert(0, {folder!r})
import mutated_inputs

def parse(content):
    words = []
    if content == b"abort":
        os.abort()
    while content == b"grow":
        words.append(bytes(1 << 20))

mutated_inputs.mutated = lambda draw, seeds, tokens: draw.choice([b"fine", b"grow"])
deadly = mutated_inputs.Parser(seeds=[b"abort"], parse=parse, errors=())
mutated_inputs.PARSERS["deadly"] = lambda folder: deadly
mutated_inputs.main()
"""


def test_an_input_that_ends_the_worker_is_a_fault_and_the_others_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(WORKER.format(folder=str(HERE)))
    monkeypatch.setattr(mutated_inputs, "WORKER", worker)
    monkeypatch.setattr(mutated_inputs, "MEMORY_LIMIT_BYTES", 300 << 20)
    (answer,) = mutated_inputs.campaign(["deadly"], 6, 0)
    fates = Counter(fault["fault"] for fault in answer["faults"])
    assert fates.keys() == {"the worker ended with status -6", "more than 300 MiB of memory"}
    assert answer["outcomes"] == {"ended": sum(fates.values()), "accepted": 6 - sum(fates.values())}
    assert 0 < answer["outcomes"]["accepted"] < 5


@pytest.mark.slow
def test_flipped_bits_are_never_read_as_another_result() -> None:
    answers = campaign("flipped_bits.py", "--count", "21")
    assert [fault for answer in answers for fault in answer["faults"]] == []
    assert sum(answer["flips"] for answer in answers) == 21


@pytest.mark.slow
def test_a_killed_run_leaves_whole_tables_and_is_finished() -> None:
    (answer,) = campaign("interrupted_runs.py", "kills:1", "--commands", "stage")
    assert (answer["faults"], answer["interruptions"]) == ([], 1)


@pytest.mark.slow
def test_a_run_on_a_full_disk_leaves_whole_tables_and_is_finished() -> None:
    (answer,) = campaign("interrupted_runs.py", "full-disk:1", "--commands", "stage")
    assert answer["faults"] == []
    assert answer["interruptions"] == 1 or answer["skipped"], "no file system can be mounted"
