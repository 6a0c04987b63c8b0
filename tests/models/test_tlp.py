"""TLP: primitives of a text, training, its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from labelled_nests import NESTS

from models.base import PredictorError, TrainOutcome
from models.query import ALL_TARGETS, Query
from models.tlp import PREDICTOR, TrainOptions
from models.tlp.network import PrimitiveTransformer, padded
from models.tlp.primitives import OPERATORS, TYPES, sequence_of

QUICK = TrainOptions(width=16, layers=1, max_epochs=60, learning_rate=1e-2, bootstrap_resamples=10)
QUERY = Query(
    source=NESTS[0].source,
    top="top",
    memory_read_delay_cycles=2,
    memory_write_delay_cycles=2,
    clock_period_ns=10.0,
    directives='[{"kind": "pipeline", "loop": "L0"}]',
)
SOURCE = """#define N 8
/* for */
void f(int a[N]) { // while
  for (int i = 0; i < 8; i++) { if (a[i] > 3) a[i] += 2 * a[i]; else a[i] = 0; }
}
"""


@pytest.fixture(scope="module")
def outcome(compiled_data_dir: Path) -> TrainOutcome:
    return PREDICTOR.train(compiled_data_dir, QUICK, seed=1)


def test_primitives_are_statements_headers_braces_and_directives() -> None:
    sequence = sequence_of(replace(QUERY, source=SOURCE, top="f"), 64)
    types = [TYPES[place] for place in sequence.types]
    said, text = ["configuration", "pipeline"], ["macro", "function", "open", "for", "open"]
    assert types == [*said, *text, "if", "else", "close", "close"]
    multiply = sequence.numbers[7, 6 + OPERATORS.index("*")]
    assert multiply == 1.0  # log2(1 + 1) in the statement behind `if`
    assert sequence.names[3].tolist()[:2] == sequence.names[3][:2].tolist() != [0, 0]


def test_names_are_numbered_and_not_read() -> None:
    renamed = replace(QUERY, source=QUERY.source.replace("A[", "zeta[").replace("C[", "omega["))
    one, other = (sequence_of(query, 64) for query in (QUERY, renamed))
    np.testing.assert_array_equal(one.names, other.names)
    np.testing.assert_array_equal(one.numbers, other.numbers)


def test_a_sequence_is_cropped() -> None:
    assert len(sequence_of(QUERY, 3).types) == 3


def test_padding_has_no_say() -> None:
    torch.manual_seed(1)
    network = PrimitiveTransformer(most=64, width=8, layers=1, heads=2, dropout=0.0, targets=2).eval()
    short, long = sequence_of(QUERY, 4), sequence_of(QUERY, 64)
    with torch.no_grad():
        alone, together = network(padded([short])), network(padded([short, long]))
    torch.testing.assert_close(alone[0], together[0], rtol=1e-4, atol=1e-5)


def test_the_network_learns_and_survives_its_folder(outcome: TrainOutcome) -> None:
    assert outcome.metrics["train/mape/area_um2"] < 0.2
    assert {row.target for row in outcome.leaderboard} == set(ALL_TARGETS)
    answer = PREDICTOR.load(outcome.folder).predict([QUERY])[0]
    assert np.isfinite(list(answer.values.values())).all()
    assert max(answer.spread.values()) < 0.5


def test_the_distance_grows_for_a_foreign_program(outcome: TrainOutcome) -> None:
    branches = "if (a[0] > 3) a[1] += 2; else a[2] = 0; " * 40
    foreign = replace(QUERY, source=f"void f(int a[8]) {{ {branches} }}", top="f", directives="[]")
    far = PREDICTOR.load(outcome.folder).predict([foreign])[0]
    assert min(far.spread.values()) > 0.5
    assert "log2_if" in far.outside_training


@pytest.mark.parametrize("directives", ["no JSON", '{"kind": "pipeline"}', '[{"kind": "fly"}]'])
def test_prediction_rejects_directives_naming_the_row(outcome: TrainOutcome, directives: str) -> None:
    with pytest.raises(PredictorError, match=r"^row 1: "):
        PREDICTOR.load(outcome.folder).predict([QUERY, replace(QUERY, directives=directives)])


@pytest.mark.parametrize("change", [{"width": 10}, {"dropout": 1.0}, {"layers": 0}])
def test_options_rejects_values_out_of_range(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"^\w+ out of range: .*; accepted: "):
        replace(TrainOptions(), **change)
