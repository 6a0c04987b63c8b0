"""ns-3 and the project's simulator on the same scenarios."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from ns3_scenarios import RATE_BPS, WIDE, WORKLOADS, differences, pair, scenario_of, tree

from pipelines.network.errors import NetworkError
from pipelines.network.simulation import Scenario, SimulationFailed, SimulationResult, ns3, simulate
from pipelines.network.simulation.ns3 import build_ns3, engine_version, find_ns3, simulate_in_ns3
from pipelines.network.traffic import TCP, Pattern

TCP_HEADER_BYTES, TCP_HANDOVER_NS = 54, 1
"""ns-3 hands written bytes to the segmenter 1 ns later."""


@pytest.fixture(scope="session")
def engine_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the simulators' programs are kept between tests."""
    return tmp_path_factory.mktemp("engine")


@pytest.fixture(scope="session")
def in_ns3(engine_folder: Path) -> Callable[[Scenario], SimulationResult]:
    """Runs a scenario in ns-3; tests that need it are skipped without it."""
    if find_ns3() is None:
        pytest.skip("needs ns-3 with headers (`pip install ns3` or libns3-dev), which is not there")
    build_ns3(engine_folder)
    return lambda scenario: simulate_in_ns3(scenario, engine_folder=engine_folder)


@pytest.fixture
def _no_memory() -> Iterator[None]:
    """The place of ns-3 is looked up anew in the test and after it."""
    ns3._installed.cache_clear()
    yield
    ns3._installed.cache_clear()


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", WORKLOADS)
def test_simulator_gives_every_number_of_ns3(
    name: str, in_ns3: Callable[[Scenario], SimulationResult], engine_folder: Path
) -> None:
    scenario = WORKLOADS[name].make()
    truth, ours = in_ns3(scenario), simulate(scenario, engine_folder=engine_folder)
    assert differences(truth, ours) == {}
    assert np.count_nonzero(truth.delays_ns >= 0) > 500
    assert (truth.queues.drops.sum() > 0) == WORKLOADS[name].has_drops
    assert bool((truth.rtts_ns >= 0).any()) == scenario.options.has_acks


def test_tcp_alone_takes_the_time_of_its_links(in_ns3: Callable[[Scenario], SimulationResult]) -> None:
    result = in_ns3(scenario_of(pair(), Pattern(kind="broadcast", load=0.001), 1.0, protocol=TCP))
    data_ns, ack_ns = (
        2 * ((payload + TCP_HEADER_BYTES) * 8 * 10**9 // RATE_BPS + 1000) for payload in (500, 0)
    )
    assert set(result.delays_ns.tolist()) == {data_ns + TCP_HANDOVER_NS}
    assert set(result.rtts_ns.tolist()) == {data_ns + ack_ns + TCP_HANDOVER_NS}


@pytest.mark.parametrize("sizes", [None, WIDE])
def test_tcp_without_drops_sends_every_packet_and_one_acknowledgement(
    sizes, in_ns3: Callable[[Scenario], SimulationResult]
) -> None:
    scenario = scenario_of(tree(), Pattern(load=0.5), 0.02, sizes=sizes, protocol=TCP)
    result = in_ns3(scenario)
    counted = scenario.schedule.times_ns >= scenario.options.warm_up_s * 1e9
    packets = np.bincount(scenario.schedule.flows[counted], minlength=len(scenario.routes))
    assert result.queues.drops.sum() == 0
    assert (result.rtts_ns > result.delays_ns).all()
    assert result.delays_ns.min() > 0
    assert result.hops.packets.tolist() == ((scenario.routes >= 0) * packets[:, None]).tolist()
    assert result.ack_hops.packets.tolist() == ((scenario.ack_routes >= 0) * packets[:, None]).tolist()


def test_tcp_sends_dropped_packets_anew(in_ns3: Callable[[Scenario], SimulationResult]) -> None:
    scenario = scenario_of(tree(), Pattern(kind="incast", load=1.3), 0.05, protocol=TCP, queue_capacity=16)
    result = in_ns3(scenario)
    assert result.hops.drops.sum() > 0
    assert np.mean(result.delays_ns > 0) > 0.9


def test_ns3_rejects_two_routes_of_a_pair(in_ns3: Callable[[Scenario], SimulationResult]) -> None:
    scenario = scenario_of(tree(), Pattern(load=0.5), 0.01)
    ack_routes = scenario.ack_routes.copy()
    ack_routes[0, 0] = (ack_routes[0, 0] + 1) % scenario.topology.queue_count
    with pytest.raises(SimulationFailed, match=r"two flows between the same hosts must have one route$"):
        in_ns3(replace(scenario, ack_routes=ack_routes))


def test_ns3_rejects_links_with_unlike_directions(in_ns3: Callable[[Scenario], SimulationResult]) -> None:
    scenario = scenario_of(tree(), Pattern(load=0.5), 0.01)
    rates = scenario.topology.rates_bps.copy()
    rates[1] *= 2
    with pytest.raises(
        SimulationFailed, match="both directions of a link in ns-3 must have one rate and one"
    ):
        in_ns3(replace(scenario, topology=replace(scenario.topology, rates_bps=rates)))


def test_ns3_rejects_queues_without_room(in_ns3: Callable[[Scenario], SimulationResult]) -> None:
    with pytest.raises(SimulationFailed, match=r"a queue in ns-3 must have room for a packet$"):
        in_ns3(scenario_of(tree(), Pattern(load=0.5), 0.01, queue_capacity=0))


def test_program_over_ns3_is_built_once(
    in_ns3: Callable[[Scenario], SimulationResult], engine_folder: Path
) -> None:
    program = build_ns3(engine_folder)
    before = program.stat().st_mtime_ns
    assert build_ns3(engine_folder) == program
    assert program.stat().st_mtime_ns == before
    assert engine_version().rpartition("-")[0] in program.name


def _make_debian(prefix: Path, modules: tuple[str, ...]) -> None:
    """Files of libns3-dev, all empty but the one that has the version."""
    libraries, headers = prefix / "lib" / "x86_64-linux-gnu", prefix / "include" / "ns3"
    (libraries / "pkgconfig").mkdir(parents=True)
    headers.mkdir(parents=True)
    (headers / "point-to-point-net-device.h").touch()
    (libraries / "pkgconfig" / "ns3-core.pc").write_text("Name: ns3-core\nVersion: 3.37\n")
    for module in modules:
        (libraries / f"libns3-{module}.so").touch()


def _no_distribution(name: str) -> metadata.Distribution:
    raise metadata.PackageNotFoundError(name)


def test_find_ns3_finds_debian_where_no_wheel_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "distribution", _no_distribution)
    _make_debian(tmp_path, ("core", "network", "internet", "point-to-point"))
    found = find_ns3(system=tmp_path)
    assert found is not None
    assert (found.version, found.include_folder) == ("3.37", tmp_path / "include")
    assert found.library_folder == tmp_path / "lib" / "x86_64-linux-gnu"
    assert found.libraries == ("ns3-core", "ns3-network", "ns3-internet", "ns3-point-to-point")


def test_find_ns3_finds_nothing_where_a_library_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "distribution", _no_distribution)
    _make_debian(tmp_path, ("core", "network", "internet"))
    assert find_ns3(system=tmp_path) is None


def test_find_ns3_prefers_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "ns3-3.44.post0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: ns3\nVersion: 3.44.post0\n")
    headers, libraries = tmp_path / "ns3" / "include" / "ns3", tmp_path / "ns3" / "lib64"
    headers.mkdir(parents=True)
    libraries.mkdir()
    (headers / "point-to-point-net-device.h").touch()
    for module in ("core", "network", "internet", "point-to-point"):
        (libraries / f"libns3.44-{module}.so").touch()
    monkeypatch.syspath_prepend(tmp_path)
    found = find_ns3()
    assert found is not None
    assert (found.version, found.libraries[0], found.library_folder) == (
        "3.44.post0",
        "ns3.44-core",
        libraries,
    )


@pytest.mark.usefixtures("_no_memory")
def test_build_ns3_rejects_a_machine_without_ns3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ns3, "find_ns3", lambda: None)
    message = "ns-3 or its headers not found; install with `pip install ns3` or `apt-get install libns3-dev`"
    with pytest.raises(NetworkError, match=f"^{re.escape(message)}$"):
        build_ns3(tmp_path)
