"""Intervals of network estimates: made by conformal prediction, and of the shipped weights."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.base import PredictorError
from models.queue_correction import PREDICTOR, intervals
from models.queue_correction.intervals import (
    INTERVALS_FILE,
    RunErrors,
    error_of_flows,
    interval_of,
    intervals_of,
    kind_of,
    shipped_intervals,
    weights_hash,
    write_intervals,
)
from pipelines.network.queueing import NetworkModel, model_network
from pipelines.network.topology import FatTree, fat_tree
from pipelines.network.traffic import Arrivals, PacketSizes, Pattern, traffic_of

TREE = fat_tree(FatTree(pods=4))


def network(load: float, **options: object) -> NetworkModel:
    return model_network(TREE, traffic_of(TREE, Pattern(load=load), **options))  # type: ignore[arg-type]


def test_the_interval_is_the_conformal_quantile_of_runs() -> None:
    run = RunErrors(kind="poisson", utilisation=0.5, mean=0.0, p99=0.0)
    runs = [replace(run, mean=k / 100, p99=k / 10) for k in range(1, 20)]
    (own,) = intervals_of(runs).values()
    assert (own.mean, own.p99, own.runs) == (0.18, 1.8, 19)  # ceil(20 * 0.9) of 19
    few = [replace(run, utilisation=0.7, mean=0.5)] * 8
    full = [replace(run, utilisation=0.99)] * 20
    assert set(intervals_of([*runs, *few, *full])) == {"poisson 0.6"}


def test_the_error_of_a_run_is_that_of_nine_in_ten_flows_with_packets() -> None:
    truth = np.array([*[1.0] * 10, np.nan])
    estimate = np.array([1.0] * 8 + [1.1, 2.0, 5.0])
    assert 0.1 <= error_of_flows(estimate, truth) < 0.2
    assert np.isnan(error_of_flows(estimate, np.full(11, np.nan)))


def test_kinds_follow_from_arrivals_and_sizes() -> None:
    sizes = PacketSizes(kind="bimodal", values_bytes=(64, 1400), shares=(0.6, 0.4))
    assert kind_of(network(0.3)) == "poisson"
    assert kind_of(network(0.3, arrivals=Arrivals(kind="ge", scv=4.0))) == "ge"
    assert kind_of(network(0.3, sizes=sizes)) == "several_sizes"


def test_there_is_no_interval_outside_of_the_runs() -> None:
    known = interval_of(network(0.3), 1.0)
    assert known is not None
    assert 0 < known.mean < 0.1
    assert known.mean < known.p99
    assert interval_of(network(0.3), 0.4) is None
    assert interval_of(network(0.9), 1.0) is None
    short = model_network(TREE, traffic_of(TREE, Pattern(load=0.3)), capacity=16)
    assert interval_of(short, 1.0) is None


def test_the_shipped_intervals_are_of_the_shipped_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = json.loads((PREDICTOR.shipped_folder / INTERVALS_FILE).read_text())
    assert stored["weights"] == weights_hash(PREDICTOR.shipped_folder)
    assert shipped_intervals()
    (tmp_path / "outcome.json").write_bytes((PREDICTOR.shipped_folder / "outcome.json").read_bytes())
    write_intervals(shipped_intervals(), tmp_path)
    assert json.loads((tmp_path / INTERVALS_FILE).read_text()) == stored
    (tmp_path / INTERVALS_FILE).write_text(json.dumps(stored | {"weights": "0"}))

    class Elsewhere:
        shipped_folder = tmp_path

    monkeypatch.setattr(intervals, "PREDICTOR", Elsewhere)
    shipped_intervals.cache_clear()
    with pytest.raises(PredictorError, match="intervals are of other weights"):
        shipped_intervals()
    shipped_intervals.cache_clear()
