"""Quantiles of round trips: cumulants beside closed forms and simulation, the law, what was learned."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaincinv
from scipy.stats import wasserstein_distance

from models.model_files import model_bytes, write_folder
from models.queue_correction import PREDICTOR, FitOptions
from models.queue_correction.correction import corrected_waits, correction_files, shipped_correction
from models.queue_correction.data import SimulatedRun, simulated_run
from models.queue_correction.features import TAIL_FEATURES
from models.queue_correction.tails import (
    KINDS,
    flow_law,
    gamma_rtt_quantile_s,
    law_quantile_s,
    rtt_quantiles_s,
    tail_kind,
)
from models.queue_correction.train import fit_correction, fit_tails, mean_of, tail_samples
from models.queue_correction.wait_law import wait_quantile_s
from pipelines.base.cache import ContentCache
from pipelines.network.queueing import FlowLatency, flow_latency, model_network, rtt_quantile_s, stream_waits
from pipelines.network.runs import RunGroup, simulate_runs
from pipelines.network.topology import FatTree, fat_tree
from pipelines.network.traffic import Arrivals, PacketSizes, Pattern, traffic_of

TREE = fat_tree(FatTree(pods=4))
SERVICE_S = 530 * 8 / 1e8


def _runs(folder: Path, **changed: object) -> list[SimulatedRun]:
    given: dict[str, object] = {
        "name": "tails",
        "loads": (0.5,),
        "arrivals": ("poisson",),
        "sizes": ("fixed",),
        "seeds": (7,),
        "routing_seeds": (4321,),
        "duration_s": 4.0,
        "warm_up_s": 0.2,
    }
    group = RunGroup(**(given | changed))  # type: ignore[arg-type]
    made = simulate_runs(
        group, cache=ContentCache(folder=folder), workers=2, timeout_s=60, on_progress=lambda _: None
    )
    runs: list[SimulatedRun] = []
    for row in made.runs:
        flows, hops = (
            table.filter(np.array(table["run_id"].to_pylist()) == row.run_id)
            for table in (made.flows, made.hops)
        )
        runs.append(simulated_run(row, flows, hops))
    return runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[SimulatedRun]:
    """A run of each pattern, Poisson arrivals."""
    return _runs(tmp_path_factory.mktemp("runs"))


def _measured(run: SimulatedRun, name: str) -> np.ndarray:
    return run.flows.column(name).to_numpy() / 1e9


def test_the_law_of_one_queue_has_the_moments_of_m_d_1() -> None:
    """Broadcast: most waits are at the sender's queue, of constant service."""
    model = model_network(TREE, traffic_of(TREE, Pattern(kind="broadcast", load=0.6)), has_acks=False)
    waits = stream_waits(model, "tree")
    law = flow_law(model, waits, flow_latency(model, waits))
    mean = 0.6 * SERVICE_S / (2 * 0.4)
    np.testing.assert_allclose(np.median(law.mean_s), mean, rtol=1e-5)
    np.testing.assert_allclose(
        np.median(law.variance_s2), mean**2 + 0.6 * SERVICE_S**2 / (3 * 0.4), rtol=1e-5
    )
    np.testing.assert_allclose(np.median(law.log_no_wait), np.log(0.4), rtol=1e-5)


def test_the_law_of_batches_has_the_moments_of_their_work_and_of_places_in_a_batch() -> None:
    """A batch is geometric of mean 2.5; a packet waits for work and for those before it in its batch."""
    load, more = 0.5, 1.5
    traffic = traffic_of(
        TREE, Pattern(kind="broadcast", load=load), arrivals=Arrivals(kind="ge", scv=1 + 2 * more)
    )
    model = model_network(TREE, traffic, has_acks=False)
    waits = stream_waits(model, "tree")
    law = flow_law(model, waits, flow_latency(model, waits))
    mean = load * (1 + 2 * more) * SERVICE_S / (2 * (1 - load))
    third = load * (6 * more**2 + 6 * more + 1) * SERVICE_S**2
    variance = mean**2 + third / (3 * (1 - load)) + more * (1 + more) * SERVICE_S**2
    np.testing.assert_allclose(np.median(law.mean_s), mean + more * SERVICE_S, rtol=1e-5)
    np.testing.assert_allclose(np.median(law.variance_s2), variance, rtol=1e-5)
    np.testing.assert_allclose(np.median(law.log_no_wait), np.log((1 - load) / (1 + more)), rtol=1e-5)


def test_quantiles_of_the_law_are_those_of_nothing_or_a_gamma_wait() -> None:
    model = model_network(TREE, traffic_of(TREE, Pattern(load=0.5)))
    waits = stream_waits(model, "tree")
    law = replace(flow_law(model, waits, flow_latency(model, waits)), is_poisson=False)
    waiting = -np.expm1(law.log_no_wait)
    scv = waiting * (law.variance_s2 / law.mean_s**2 + 1) - 1
    expected = gammaincinv(1 / scv, 1 - 0.01 / waiting) * scv * law.mean_s / waiting
    np.testing.assert_allclose(law_quantile_s(law, 0.99), expected, rtol=1e-3)
    often = replace(law, log_no_wait=np.full(240, np.log(0.6)))
    assert not law_quantile_s(often, 0.5).any()


@pytest.mark.parametrize("used", [0.05, 0.25, 0.5, 0.75, 0.9])
def test_for_poisson_arrivals_the_law_is_that_of_one_queue(used: float) -> None:
    """Erlang's sum for the probability to wait at most so long, whose terms cancel, in decimals."""
    mean = used / (2 * (1 - used))
    variance = mean**2 + used / (3 * (1 - used))
    moments = (np.array([mean]), np.array([variance]), np.log1p(-used))

    def at_most(waiting: float) -> float:
        load, left, factorial = Decimal(used), Decimal(waiting), Decimal(1)
        total = Decimal(0)
        for count in range(int(waiting) + 1):
            factorial *= max(1, count)
            power = load * (count - left)
            total += (power**count if count else 1) / factorial * (-power).exp()
        return float((1 - load) * total)

    with localcontext() as context:
        context.prec = 80
        for probability in (0.96, 0.99, 0.999):
            found = float(wait_quantile_s(*moments, probability, is_poisson=True)[0])
            assert at_most(found) == pytest.approx(probability, abs=(1 - probability) / 100)
        one, gamma = (float(wait_quantile_s(*moments, 0.99, is_poisson=law)[0]) for law in (True, False))
        assert abs(at_most(gamma) - 0.99) > 3 * abs(at_most(one) - 0.99)


def test_the_table_gives_the_gamma_law_of_theory() -> None:
    model = model_network(TREE, traffic_of(TREE, Pattern(load=0.5), arrivals=Arrivals(kind="ge", scv=3.0)))
    latency: FlowLatency = flow_latency(model, stream_waits(model, "tree"))
    for probability in (0.5, 0.99):
        np.testing.assert_allclose(
            gamma_rtt_quantile_s(latency, probability), rtt_quantile_s(latency, probability), rtol=1e-3
        )


@pytest.mark.slow
def test_waits_behind_larger_packets_of_a_stream_widen_less_than_others(runs: list[SimulatedRun]) -> None:
    """Those of acknowledgements are no longer than one packet; with all waits alike the law is too wide."""
    run = next(run for run in runs if run.row.pattern == "all_to_all")
    waits = corrected_waits(run.model, shipped_correction())
    latency = flow_latency(run.model, waits)
    law = flow_law(run.model, waits, latency)
    met = law.features[:, TAIL_FEATURES.index("met")].astype(np.float64)
    assert 0.1 < met.mean() < 0.5
    truth = _measured(run, "rtt_p99_ns")
    alike = replace(law, variance_s2=law.variance_s2 / (1 - met) ** 2)
    errors = [
        float(np.mean((latency.base_s + law_quantile_s(given, 0.99)) / truth - 1)) for given in (law, alike)
    ]
    assert abs(errors[0]) < 0.03 < errors[1]


@pytest.mark.parametrize("pattern", ["all_to_all", "incast", "broadcast"])
def test_the_shipped_tails_are_near_simulation_and_nearer_than_the_gamma_law(
    pattern: str, runs: list[SimulatedRun]
) -> None:
    run = next(run for run in runs if run.row.pattern == pattern)
    correction = shipped_correction()
    waits = corrected_waits(run.model, correction)
    latency = flow_latency(run.model, waits)
    found = rtt_quantiles_s(run.model, waits, latency, correction.tails)
    assert found.shape == (2, len(run.truth_s))
    assert (latency.base_s <= found[0]).all()
    assert (found[0] < found[1]).all()
    truth = _measured(run, "rtt_p99_ns")
    learned, gamma = (
        wasserstein_distance(given, truth) / truth.mean()
        for given in (found[1], rtt_quantile_s(latency, 0.99))
    )
    assert learned < 0.02  # two seeds of so short a run differ by as much
    assert learned < gamma or gamma < 0.01


def test_flows_of_several_sizes_have_a_mixture_over_sizes() -> None:
    """At a load of 5 % packets hardly wait: quantiles are those of their sizes."""
    sizes = PacketSizes(kind="bimodal", values_bytes=(64, 1400), shares=(0.6, 0.4))
    model = model_network(TREE, traffic_of(TREE, Pattern(load=0.05), sizes=sizes))
    assert tail_kind(model) is None
    correction = shipped_correction()
    waits = corrected_waits(model, correction)
    latency = flow_latency(model, waits)
    found = rtt_quantiles_s(model, waits, latency, correction.tails)
    hops = (model.data.routes >= 0).sum(axis=1)
    small_s, large_s = (hops * (size + 30) * 8 / 1e8 + hops * 30 * 8 / 1e8 for size in (64, 1400))
    assert (found[0] < small_s + 0.3 * (large_s - small_s)).all()  # 60 % of the packets are small
    assert (found[1] > large_s).all()
    assert (found[1] < 1.6 * large_s).all()
    many = traffic_of(TREE, Pattern(load=0.05), sizes=PacketSizes(kind="uniform", spread=0.9))
    model = model_network(TREE, many)
    waits = corrected_waits(model, correction)
    spread = rtt_quantiles_s(model, waits, flow_latency(model, waits), correction.tails)
    assert (spread[0] * 1.3 < spread[1]).all()


def test_the_gamma_law_takes_over_where_queues_are_full() -> None:
    model = model_network(TREE, traffic_of(TREE, Pattern(kind="broadcast", load=0.98)))
    correction = shipped_correction()
    waits = corrected_waits(model, correction)
    latency = flow_latency(model, waits)
    assert not flow_law(model, waits, latency).share.any()
    found = rtt_quantiles_s(model, waits, latency, correction.tails)
    np.testing.assert_allclose(found[0], gamma_rtt_quantile_s(latency, 0.5), rtol=1e-9)


def test_full_queues_end_the_tail_of_bursts() -> None:
    """With a squared variation of 10 a wait behind 128 packets is no rare one: p99 was 21 % too long."""
    bursts = Arrivals(kind="ge", scv=10.0)
    traffic = traffic_of(TREE, Pattern(kind="incast", load=0.85), arrivals=bursts)
    found: list[np.ndarray] = []
    for capacity in (128, 100_000):
        model = model_network(TREE, traffic, capacity=capacity)
        correction = shipped_correction()
        waits = corrected_waits(model, correction)
        latency = flow_latency(model, waits)
        probabilities = (0.5, 0.95, 0.99)
        found.append(rtt_quantiles_s(model, waits, latency, correction.tails, probabilities))
    full_s = 128 * 530 * 8 / 1e8
    assert found[0][2].max() < 1.15 * full_s < found[1][2].min()
    assert (np.diff(found[0], axis=0) > 0).all()


def test_quantiles_of_many_flows_are_those_of_few() -> None:
    """Flows are answered in parts; a flow's answer does not depend on the others of its part."""
    tree = fat_tree(FatTree(pods=8))
    model = model_network(tree, traffic_of(tree, Pattern(load=0.4)))
    correction = shipped_correction()
    waits = corrected_waits(model, correction)
    latency = flow_latency(model, waits)
    whole = rtt_quantiles_s(model, waits, latency, correction.tails)
    law = flow_law(model, waits, latency)
    answers = correction.tails["poisson"].log_factors(law.features)
    waits_s = np.maximum(0.0, law_quantile_s(law, 0.99) + answers[:, 1] * law.unit_s)
    np.testing.assert_allclose(whole[1], latency.base_s + waits_s, rtol=1e-6)


@pytest.mark.slow
def test_tails_survive_their_file_and_repeat_their_training(tmp_path: Path, runs: list[SimulatedRun]) -> None:
    correction = replace(shipped_correction(), tails={})
    first, second = (fit_tails(runs, correction, seed=3) for _ in range(2))
    assert set(first) == {"poisson"}
    again = [replace(correction, tails=tails) for tails in (first, second)]
    contents = [model_bytes(PREDICTOR.name, correction_files(correction)) for correction in again]
    assert contents[0] == contents[1]
    write_folder(tmp_path / "model", contents[0])
    loaded = PREDICTOR.load(tmp_path / "model")
    assert model_bytes(PREDICTOR.name, correction_files(loaded)) == contents[0]


def test_answers_about_tails_are_bounded_by_what_training_saw(runs: list[SimulatedRun]) -> None:
    correction = shipped_correction()
    assert set(correction.tails) == set(KINDS)
    samples = tail_samples(runs, correction, seed=0)
    for tail in correction.tails.values():
        wild = replace(tail, biases=(*tail.biases[:-1], np.full(2, 1e6, np.float32)))
        assert (wild.log_factors(samples.features) <= tail.highest).all()


def test_members_side_by_side_answer_with_their_mean(runs: list[SimulatedRun]) -> None:
    samples = tail_samples(runs, shipped_correction(), seed=0)
    options = FitOptions(width=4, layers=3, epochs=2)
    members = [fit_correction(samples, options, seed=seed, about="") for seed in (0, 1, 2)]
    wide = [replace(m, lowest=np.full(2, -9e9), highest=np.full(2, 9e9)) for m in members]
    expected = np.mean([member.answers(samples.features) for member in wide], axis=0)
    np.testing.assert_allclose(mean_of(wide).answers(samples.features), expected, atol=1e-5)


def test_a_run_of_few_packets_is_not_learned_from(tmp_path: Path) -> None:
    short = _runs(tmp_path, patterns=("broadcast",), duration_s=0.1, warm_up_s=0.0)
    assert len(tail_samples([*short, *short], shipped_correction(), seed=0).targets) == 0
