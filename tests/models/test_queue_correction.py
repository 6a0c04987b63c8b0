"""Corrections of queueing theory: samples of streams, bounds and the gate, training, the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from omegaconf import OmegaConf

from models.base import PredictorError
from models.model_files import model_bytes, read_model, write_folder
from models.queue_correction import PREDICTOR, FitOptions
from models.queue_correction.correction import (
    Correction,
    correct,
    corrected_waits,
    correction_files,
    shipped_correction,
)
from models.queue_correction.data import SimulatedRun, read_runs, simulated_run
from models.queue_correction.features import FEATURES, SMALL_WAIT, samples_of
from models.queue_correction.train import DRAWN_GROUPS, LONG_GROUPS, fit_correction, training_samples
from pipelines.base.cache import ContentCache
from pipelines.network.queueing import flow_latency, hop_waits_s, model_network, stream_waits
from pipelines.network.runs import RunGroup, simulate_runs
from pipelines.network.topology import FatTree, fat_tree
from pipelines.network.traffic import Arrivals, Pattern, traffic_of
from pipelines.schemas import table_spec, write_arrow, write_table
from tests.models.paper_trees import fit_trees

TREE = fat_tree(FatTree(pods=4))
GROUP = RunGroup(
    name="few",
    loads=(0.5,),
    patterns=("all_to_all", "incast"),
    sizes=("fixed",),
    duration_s=1.0,
    warm_up_s=0.1,
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of four simulated runs."""
    folder = tmp_path_factory.mktemp("runs")
    made = simulate_runs(
        GROUP,
        cache=ContentCache(folder=folder / "cache"),
        workers=2,
        timeout_s=60,
        on_progress=lambda _: None,
    )
    write_table(folder, table_spec("network_runs"), made.runs, GROUP.name)
    for name, table in (("network_flows", made.flows), ("network_hops", made.hops)):
        write_arrow(folder, table_spec(name), table, GROUP.name)
    return folder / "tables"


@pytest.fixture(scope="module")
def runs(tables: Path) -> list[SimulatedRun]:
    return list(read_runs(tables))


def _mean_error(run: SimulatedRun, correction: Correction | None) -> float:
    waits = stream_waits(run.model, "tree") if correction is None else corrected_waits(run.model, correction)
    return float(np.nanmean(np.abs(flow_latency(run.model, waits).rtt_s / run.truth_s - 1)))


def _content(correction: Correction) -> dict[str, bytes]:
    return model_bytes(PREDICTOR.name, correction_files(correction))


def _nothing(**changed: object) -> Correction:
    """A correction that changes nothing."""
    width = len(FEATURES)
    given = Correction(
        center=np.zeros(width, np.float32),
        scale=np.ones(width, np.float32),
        least=np.full(width, -100, np.float32),
        most=np.full(width, 100, np.float32),
        weights=(np.zeros((width, 4), np.float32), np.zeros((4, 2), np.float32)),
        biases=(np.zeros(4, np.float32), np.zeros(2, np.float32)),
        lowest=np.full(2, -1.0, np.float32),
        highest=np.ones(2, np.float32),
        about="nothing",
    )
    return replace(given, **changed)  # type: ignore[arg-type]


def test_samples_are_the_streams_that_packets_use(runs: list[SimulatedRun]) -> None:
    for run in runs:
        for part, load in zip(run.samples, run.model.queues.loads, strict=True):
            assert np.array_equal(part.streams, np.flatnonzero(load.rate_per_s > 0))
            assert part.features.shape == (len(part.streams), len(FEATURES))
            assert np.isfinite(part.features).all()


def test_measured_waits_of_streams_give_the_measured_latencies_back(runs: list[SimulatedRun]) -> None:
    for run in runs:
        base = run.flows.column("base_ns").to_numpy() / 1e9
        sums = base + np.bincount(run.hop_flow, run.waits_s[run.hop_sample], len(base))
        assert np.nanmean(np.abs(sums / run.truth_s - 1)) < 0.03  # flows of a stream differ by chance


def test_features_have_no_unit() -> None:
    """Links ten times as fast with ten times the packets are the same network to a correction."""
    slow = model_network(TREE, traffic_of(TREE, Pattern(load=0.5)))
    quick_tree = fat_tree(FatTree(pods=4, rate_bps=1_000_000_000))
    quick = model_network(quick_tree, traffic_of(quick_tree, Pattern(load=0.5)))
    for one, other in zip(samples_of(slow), samples_of(quick), strict=True):
        np.testing.assert_allclose(one.features, other.features, rtol=1e-5, atol=1e-6)


def test_nothing_learned_changes_nothing(runs: list[SimulatedRun]) -> None:
    waits = corrected_waits(runs[0].model, _nothing())
    plain = stream_waits(runs[0].model, "tree")
    assert np.array_equal(flow_latency(runs[0].model, waits).rtt_s, flow_latency(runs[0].model, plain).rtt_s)


def test_an_answer_is_a_factor_on_every_wait(runs: list[SimulatedRun]) -> None:
    model = runs[0].model
    twice = _nothing(biases=(np.zeros(4, np.float32), np.full(2, np.log(2.0), np.float32)))
    waits, plain = corrected_waits(model, twice), stream_waits(model, "tree")
    one, two = hop_waits_s(model, model.data, plain), hop_waits_s(model, model.data, waits)
    mean_s = model.queues.utilisation / model.queues.rate_per_s
    used = model.data.routes >= 0
    small = SMALL_WAIT * mean_s[model.data.routes[used]]
    exact = np.zeros(len(mean_s))  # by queue
    samples = samples_of(model)[0]
    exact[model.queues.pairs.queue[samples.streams]] = samples.exact
    factor = 2.0 ** (1.0 - exact[model.data.routes[used]])
    assert factor.min() < 1.1
    assert factor.max() == 2.0
    np.testing.assert_allclose(two[used] + small, factor * (one[used] + small), rtol=1e-6)


@pytest.mark.parametrize(("arrivals", "is_exact"), [("poisson", True), ("ge", True), ("on_off", False)])
def test_queues_that_all_packets_enter_straight_are_left_to_theory(arrivals: str, is_exact: bool) -> None:
    """Of incast the senders' queues: one has data of one flow alone, the receiver's has acknowledgements."""
    traffic = traffic_of(
        TREE,
        Pattern(kind="incast", load=0.5),
        arrivals=Arrivals(kind=arrivals, scv=1.0 if arrivals == "poisson" else 4.0),
    )
    model = model_network(TREE, traffic)
    data, acks = samples_of(model)
    pairs = model.queues.pairs
    entry = pairs.before[data.streams] < 0
    assert entry.sum() == 15
    np.testing.assert_array_equal(data.exact[entry], float(is_exact))
    alone = data.exact[~entry] == 1.0
    assert not data.theory_s[~entry][alone].any()
    assert not data.exact[~entry][~alone].any()
    assert not acks.exact[pairs.before[acks.streams] < 0].any()


def test_a_stream_that_is_alone_in_a_queue_waits_for_nothing() -> None:
    """Of broadcast the queue behind the sender's own: packets come one after the other, no faster."""
    model = model_network(TREE, traffic_of(TREE, Pattern(kind="broadcast", load=0.5)))
    data = samples_of(model)[0]
    own = int(model.data.routes[-1, 0])
    following = model.queues.pairs.before[data.streams] == own
    assert following.sum() == 3  # the neighbour, and two ways up
    np.testing.assert_array_equal(data.exact[following], 1.0)
    high = _nothing(biases=(np.zeros(4, np.float32), np.full(2, np.log(2.0), np.float32)))
    waits = hop_waits_s(model, model.data, corrected_waits(model, high))
    assert not waits[:, 1].any()


def test_answers_are_bounded_by_what_training_saw(runs: list[SimulatedRun]) -> None:
    wild = _nothing(biases=(np.zeros(4, np.float32), np.full(2, 40.0, np.float32)))
    answers = wild.log_factors(runs[0].features)
    assert answers.max() == 1.0


def test_answers_fade_outside_of_training(runs: list[SimulatedRun]) -> None:
    most = np.full(len(FEATURES), 100, np.float32)
    most[0] = 0.1  # utilisations in training
    known = _nothing(most=most, biases=(np.zeros(4, np.float32), np.ones(2, np.float32)))
    features = runs[0].features
    outside = np.maximum(0.0, features[:, 0] - 0.1)
    np.testing.assert_allclose(
        known.log_factors(features), np.exp2(-np.column_stack([outside] * 2)), rtol=1e-5
    )
    assert correct(runs[0].model, known).seen < 1.0


def test_training_reduces_the_error_of_its_runs_and_repeats_itself(runs: list[SimulatedRun]) -> None:
    samples = training_samples(runs, seed=0)
    options = FitOptions(width=16, epochs=30, batch_size=256)
    learned = fit_correction(samples, options, seed=0, about="four runs")
    assert _content(learned) == _content(fit_correction(samples, options, seed=0, about="four runs"))
    bursty = [run for run in runs if run.row.arrivals == "ge"]
    for run in bursty:
        if run.row.pattern == "all_to_all":
            assert _mean_error(run, learned) < 0.6 * _mean_error(run, None)


def test_a_correction_survives_its_files(tmp_path: Path, runs: list[SimulatedRun]) -> None:
    content = _content(_nothing())
    write_folder(tmp_path / "model", content)
    again = PREDICTOR.load(tmp_path / "model")
    assert _content(again) == content
    assert np.array_equal(again.log_factors(runs[0].features), np.zeros((len(runs[0].features), 2)))


def test_correction_rejects_other_features_and_missing_arrays(tmp_path: Path) -> None:
    write_folder(tmp_path / "model", _content(_nothing()))
    name, files = read_model(tmp_path / "model")
    features = ["log_wait" if f == "log_idle" else f for f in FEATURES]
    other = replace(files, card={**files.card, "features": features})
    write_folder(tmp_path / "model", model_bytes(name, other))
    with pytest.raises(PredictorError, match="features of the correction are not those of this version"):
        PREDICTOR.load(tmp_path / "model")
    fewer = {key: value for key, value in files.arrays.items() if key != "center"}
    write_folder(tmp_path / "model", model_bytes(name, replace(files, arrays=fewer)))
    with pytest.raises(PredictorError, match=r"not a predictor of queue-correction: .*\('center'\)"):
        PREDICTOR.load(tmp_path / "model")


@pytest.mark.slow
def test_a_release_trains_a_correction(tmp_path: Path, tables: Path) -> None:
    data_dir = tmp_path / "data"
    for table in ("network_runs", "network_flows", "network_hops"):
        (data_dir / "tables" / table).mkdir(parents=True)
        source = tables / table / f"{GROUP.name}.parquet"
        (data_dir / "tables" / table / "sampled-16.parquet").write_bytes(source.read_bytes())
    outcome = PREDICTOR.train(data_dir, FitOptions(width=8, epochs=2), seed=1)
    assert outcome.seen_groups == ("sampled-16",)
    assert len(PREDICTOR.load(outcome.folder).tails) == 2
    assert PREDICTOR.train(data_dir, FitOptions(width=8, epochs=2), seed=1).cached


def test_training_rejects_tables_without_drawn_groups(tmp_path: Path, tables: Path) -> None:
    with pytest.raises(PredictorError, match=r"no group to learn from in .*; accepted: sampled-16, "):
        PREDICTOR.train(tables.parent, folder=tmp_path / "model")


def test_runs_reject_a_folder_without_tables(tmp_path: Path) -> None:
    with pytest.raises(
        PredictorError, match=r"no such file: .*few\.parquet; `simfoundry run network=release`"
    ):
        list(read_runs(tmp_path, ["few"]))


def test_a_regression_tree_a_queue_type_learns_its_rows(runs: list[SimulatedRun]) -> None:
    trees = fit_trees(runs, rows=lambda count: np.ones(count, bool), seed=0)
    assert set(trees.trees) == {
        *("host_up", "edge_up", "aggregation_up", "core_down", "aggregation_down", "edge_down")
    }
    for run in runs:
        fitted = np.nanmean(np.abs(trees.latency_s(run) / run.truth_s - 1))
        entropy = flow_latency(run.model, stream_waits(run.model, "maximum_entropy"))
        assert fitted < 0.02 + np.nanmean(np.abs(entropy.rtt_s / run.truth_s - 1))


def test_a_run_whose_flows_lost_everything_is_read(runs: list[SimulatedRun]) -> None:
    run = runs[0]
    empty = pa.nulls(run.hops.num_rows, pa.int64())
    lost = run.hops.set_column(run.hops.schema.get_field_index("wait_mean_ns"), "wait_mean_ns", empty)
    place = lost.schema.get_field_index("drop_count")
    lost = lost.set_column(place, "drop_count", lost.column("packet_count"))
    again = simulated_run(run.row, run.flows, lost)
    assert again.packets.sum() == 0
    assert np.isfinite(again.waits_s).all()


@pytest.mark.sample(2)
@pytest.mark.parametrize("arrivals", [Arrivals(), Arrivals(kind="ge", scv=4.0)])
def test_the_shipped_correction_beats_theory_on_traffic_of_another_network(
    tmp_path_factory: pytest.TempPathFactory, arrivals: Arrivals
) -> None:
    group = RunGroup(
        name="other",
        network="two_tier",
        edges=4,
        patterns=("all_to_all",),
        loads=(0.4,),
        arrivals=(arrivals.kind,),
        scvs=(4.0,),
        sizes=("fixed",),
        seeds=(77,),
        routing_seeds=(4321,),
        duration_s=3.0,
        warm_up_s=0.3,
    )
    folder = tmp_path_factory.mktemp("other")
    made = simulate_runs(
        group, cache=ContentCache(folder=folder), workers=1, timeout_s=60, on_progress=lambda _: None
    )
    run = simulated_run(made.runs[0], made.flows, made.hops)
    corrected = _mean_error(run, shipped_correction())
    assert corrected < _mean_error(run, None)
    assert corrected < 0.05  # 1.0 and 3.6 %; two seeds of so short a run differ by 1.0 and 3.3 %
    assert correct(run.model, shipped_correction()).seen > 0.9


def test_the_groups_that_are_learned_from_are_those_of_the_configurations() -> None:
    """A group that is renamed or added there would be left out of the next training."""
    networks = Path(__file__).parents[2] / "conf" / "network"
    release, long = (set(OmegaConf.load(networks / f"{name}.yaml").groups) for name in ("release", "long"))
    assert set(DRAWN_GROUPS) == {name for name in release if name.startswith("sampled-")}
    assert set(LONG_GROUPS) == long
