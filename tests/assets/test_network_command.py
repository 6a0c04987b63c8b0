"""`simfoundry network`: answers, files of flows, and what it refuses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from invoking import invoke

from pipelines.network.simulation.ns3 import find_ns3
from pipelines.schemas import table_spec

_invoke = partial(invoke, "network")


def test_an_answer_has_latencies_of_flows_and_the_busiest_queues(tmp_path: Path) -> None:
    file = tmp_path / "flows.parquet"
    answer = json.loads(_invoke("--pods", "4", "--load", "0.3", "--flows", str(file), "--json").output)
    assert (answer["hosts"], answer["flows"], answer["note"]) == (16, 240, None)
    rtt = answer["rtt_mean_ns"]
    assert 2 * (42_400 + 2_400) < rtt["least"] < rtt["mean"] < rtt["most"]
    assert answer["rtt_p50_ns"]["mean"] < rtt["mean"] < answer["rtt_p99_ns"]["mean"]
    busy = [queue["utilisation"] for queue in answer["busiest_queues"]]
    assert busy == sorted(busy, reverse=True)
    assert busy[0] == answer["offered_utilisation"]
    rows = pq.read_table(file)
    assert rows.num_rows == 240
    mean = sum(rows.column("rtt_mean_ns").to_pylist()) / 240
    assert mean == pytest.approx(rtt["mean"], abs=1)
    tables = {name for spec in ("network_flows", "network_runs") for name in table_spec(spec).schema().names}
    own = {"uncorrected_rtt_mean_ns", "uncorrected_rtt_p99_ns", "rtt_p95_ns", "lost_share"}
    assert set(rows.column_names) - own <= tables
    assert {"offered_utilisation", "hosts", "network"} <= tables


def test_short_times_have_digits(tmp_path: Path) -> None:
    nodes = [{"id": "a", "host": True}, {"id": "b", "host": True}, {"id": "s"}]
    links = [{"source": end, "target": "s", "rate_bps": 1e13} for end in "ab"]
    path = tmp_path / "fast.json"
    path.write_text(json.dumps({"nodes": nodes, "links": links}))
    answer = json.loads(_invoke("--topology", str(path), "--json").output)
    sending_ns = 2 * 530 * 8 / 1e4
    assert sending_ns < answer["delay_mean_ns"]["least"] < 3 * sending_ns
    assert all(0 < queue["wait_mean_ns"] < 1 for queue in answer["busiest_queues"])
    lines = _invoke("--topology", str(path)).output.splitlines()
    assert f"delay_mean_ns            least {answer['delay_mean_ns']['least']:.3f} " in "\n".join(lines)
    assert lines[-1].endswith(f"wait {answer['busiest_queues'][-1]['wait_mean_ns']:.3f} ns")


def test_theory_is_kept_beside_what_corrects_it(tmp_path: Path) -> None:
    file, question = tmp_path / "flows.parquet", ("--pods", "4", "--arrivals", "ge", "--flows")
    corrected = json.loads(_invoke(*question, str(file), "--json").output)
    assert corrected["estimate"] == "corrected"
    assert corrected["seen_in_training"] > 0.99
    theory = json.loads(
        _invoke("--pods", "4", "--arrivals", "ge", "--estimate", "maximum_entropy", "--json").output
    )
    assert corrected["uncorrected_rtt_mean_ns"] == theory["rtt_mean_ns"] != corrected["rtt_mean_ns"]
    assert theory["seen_in_training"] is None
    assert "uncorrected_rtt_mean_ns" in pq.read_table(file).column_names


def test_network_rejects_a_correction_of_a_trace(tmp_path: Path) -> None:
    file = _write_rows(tmp_path / "trace.csv", "0,0,1,9\n1,0,1,9\n")
    found = _invoke("--pods", "4", "--trace", str(file), "--estimate", "corrected")
    assert found.exit_code == 1
    assert found.stderr == (
        "simfoundry: estimate corrected is not available for a trace: nothing was learned of traces; "
        "accepted: maximum_entropy, tree, simulate, ns3\n"
    )


def test_a_network_from_a_file_and_a_csv_of_its_flows(tmp_path: Path) -> None:
    links = [{"source": f"h{n}", "target": "s", "rate_bps": 10**9} for n in range(3)]
    nodes = [{"id": "s"}, *({"id": f"h{n}", "host": True} for n in range(3))]
    (tmp_path / "star.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    found = _invoke(
        *("--topology", str(tmp_path / "star.json"), "--pattern", "incast", "--arrivals", "on_off"),
        *("--flows", str(tmp_path / "f.csv"), "--estimate", "maximum_entropy"),
    )
    assert found.exit_code == 0
    assert "network                  star" in found.output
    assert len((tmp_path / "f.csv").read_text().splitlines()) == 3


def _write_rows(file: Path, rows: str) -> Path:
    file.write_text("time_s,source,destination,bytes\n" + rows)
    return file


def test_flows_of_a_trace_are_those_of_its_file(tmp_path: Path) -> None:
    rows = "".join(f"{20 + k / 1000},{k % 3},{5 + k % 2},{100 + k}\n" for k in range(600))
    file = _write_rows(tmp_path / "trace.csv", rows)
    flows = tmp_path / "flows.parquet"
    found = _invoke("--pods", "4", "--trace", str(file), "--flows", str(flows), "--json")
    answer = json.loads(found.output)
    assert (answer["hosts"], answer["flows"], answer["note"]) == (16, 6, None)
    table = pq.read_table(flows)
    assert table.column("source").to_pylist() == [0, 0, 1, 1, 2, 2]
    assert table.column("destination").to_pylist() == [5, 6] * 3
    wire_bits = (100 + 299.5 + 30) * 8
    # Hosts 5 and 6 get half of the packets each, and nothing else goes to them.
    assert answer["offered_utilisation"] == pytest.approx(500 * wire_bits / 1e8, rel=0.01)
    endless = json.loads(
        _invoke("--pods", "4", "--trace", str(file), "--queue-capacity", "0", "--json").output
    )
    assert endless["rtt_mean_ns"]["mean"] == pytest.approx(answer["rtt_mean_ns"]["mean"], rel=0.001)


def test_tcp_has_longer_headers_and_acknowledgements() -> None:
    udp, tcp = (
        json.loads(_invoke("--pods", "4", "--load", "0.3", "--protocol", protocol, "--json").output)
        for protocol in ("udp", "tcp")
    )
    # The shortest way has two hops, of data with headers and of headers alone, without waits at 30 %.
    added_ns = 2 * 2 * (54 - 30) * 8 * 10
    more_ns = tcp["rtt_mean_ns"]["least"] - udp["rtt_mean_ns"]["least"]
    assert added_ns < more_ns < 1.5 * added_ns
    assert tcp["offered_utilisation"] > udp["offered_utilisation"]
    full = json.loads(_invoke("--pods", "4", "--load", "1.0", "--protocol", "tcp", "--json").output)
    assert "TCP has no steady state" in full["note"]


def test_tcp_is_simulated_by_ns3(tmp_path: Path) -> None:
    if find_ns3() is None:
        pytest.skip("ns-3 is not installed")
    asked = ("--pods", "4", "--load", "0.3", "--pattern", "incast", "--protocol", "tcp", "--estimate", "ns3")
    answer = json.loads(_invoke(*asked, "--packets", "20000", "--json").output)
    assert answer["simulated"]["engine"] == "ns3"
    assert answer["simulated"]["rtt_mean_ns"]["mean"] == pytest.approx(
        answer["rtt_mean_ns"]["mean"], rel=0.02
    )


def test_a_trace_is_simulated_beside_its_estimate(tmp_path: Path) -> None:
    rows = "".join(f"{k / 1000},{k % 3},5,1000\n" for k in range(600))
    file = _write_rows(tmp_path / "trace.csv", rows)
    answer = json.loads(_invoke("--pods", "4", "--trace", str(file), "--json").output)
    counted = answer["simulated"]
    assert (counted["engine"], counted["packets"], counted["counted"], counted["dropped"]) == (
        "simulate",
        600,
        600,
        0,
    )
    assert answer["estimate"] == "maximum_entropy"
    # A packet each millisecond meets no other one: its time is that of sending it on every link.
    assert counted["delay_mean_ns"]["least"] == pytest.approx(answer["delay_mean_ns"]["least"], rel=0.01)
    assert counted["rtt_p99_ns"]["most"] == pytest.approx(counted["rtt_p50_ns"]["most"])
    theory = json.loads(
        _invoke("--pods", "4", "--trace", str(file), "--estimate", "maximum_entropy", "--json").output
    )
    assert "simulated" not in theory
    assert theory["rtt_mean_ns"] == answer["rtt_mean_ns"]


def test_a_pattern_is_simulated_on_request_and_the_estimate_is_near(tmp_path: Path) -> None:
    asked = ("--pods", "4", "--load", "0.6", "--estimate", "simulate", "--packets", "60000")
    file = tmp_path / "flows.parquet"
    answer = json.loads(_invoke(*asked, "--flows", str(file), "--json").output)
    counted = answer["simulated"]
    assert counted["packets"] == pytest.approx(60_000, rel=0.02)
    assert counted["counted"] == pytest.approx(54_000, rel=0.02)
    assert answer["estimate"] == "corrected"
    for name in ("rtt_mean_ns", "rtt_p95_ns"):
        assert counted[name]["mean"] == pytest.approx(answer[name]["mean"], rel=0.02)
    tiers = {tier["kind"]: tier for tier in answer["tiers"]}
    assert set(tiers) == {
        *("host_up", "edge_up", "aggregation_up"),
        *("core_down", "aggregation_down", "edge_down"),
    }
    assert {tier["queues"] for tier in tiers.values()} == {16}
    for figure, near in (("utilisation", 0.05), ("waiting_packets", 0.2)):
        own, simulated = tiers["edge_down"][figure], tiers["edge_down"][f"simulated_{figure}"]
        assert own["mean"] == pytest.approx(simulated["mean"], rel=near)
        assert own["mean"] <= own["most"]
    again = json.loads(_invoke(*asked, "--json").output)
    assert again["simulated"]["rtt_mean_ns"] == counted["rtt_mean_ns"]
    other = json.loads(_invoke(*asked, "--seed", "2", "--json").output)
    assert other["simulated"]["rtt_mean_ns"] != counted["rtt_mean_ns"]
    rows = pq.read_table(file)
    mean = sum(rows.column("simulated_rtt_mean_ns").to_pylist()) / rows.num_rows
    assert mean == pytest.approx(counted["rtt_mean_ns"]["mean"], abs=1)
    text = _invoke(*asked).output
    assert re.search(
        r"^simulated +[56]\d,\d{3} packets by the project's simulator in \d+\.\d s, 5\d,", text, re.M
    )
    assert re.search(r"^estimate +corrected in \d+\.\d\d s$", text, re.M)


@pytest.mark.parametrize("pattern", ["permutation", "hot-spot", "rack_local"])
def test_estimates_of_further_patterns_and_sizes_are_near_a_simulation(pattern: str) -> None:
    asked = ("--pods", "4", "--pattern", pattern, "--load", "0.3", "--packet-bytes", "200:0.5,1000:0.5")
    answer = json.loads(_invoke(*asked, "--estimate", "simulate", "--packets", "100000", "--json").output)
    found = answer["simulated"]["rtt_mean_ns"]["mean"]
    assert found == pytest.approx(answer["rtt_mean_ns"]["mean"], rel=0.06)


def _write_matrix(file: Path, rows: str, head: str = "source,destination,rate_per_s") -> Path:
    file.write_text(f"{head}\n{rows}")
    return file


def test_a_traffic_matrix_has_flows_with_rates_and_sizes_of_their_own(tmp_path: Path) -> None:
    head = "source,destination,rate_per_s,variation,packet_bytes"
    rows = "0,5,4000,1,470\n1,5,2000,4,970\n2,9,100,1,70\n"
    file, flows = _write_matrix(tmp_path / "m.csv", rows, head), tmp_path / "flows.parquet"
    asked = ("--pods", "4", "--traffic", str(file), "--estimate", "simulate", "--packets", "300000")
    answer = json.loads(_invoke(*asked, "--flows", str(flows), "--json").output)
    # 4,000 packets of 500 bytes and 2,000 of 1,000 reach host 5, which acknowledges 100 a second of no one.
    assert answer["offered_utilisation"] == pytest.approx((4000 * 500 + 2000 * 1000) * 8 / 1e8, rel=0.01)
    table = pq.read_table(flows)
    assert table.column("destination").to_pylist() == [5, 5, 9]
    estimated, found = (table.column(name).to_pylist() for name in ("rtt_mean_ns", "simulated_rtt_mean_ns"))
    assert found == pytest.approx(estimated, rel=0.12)
    assert found[2] < found[0] < found[1]
    text = pa.csv.read_csv(file)
    pq.write_table(text, tmp_path / "m.parquet")
    again = json.loads(_invoke(*asked[:3], str(tmp_path / "m.parquet"), *asked[4:], "--json").output)
    assert again["simulated"]["rtt_mean_ns"] == answer["simulated"]["rtt_mean_ns"]
    assert again["rtt_mean_ns"] == answer["rtt_mean_ns"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("0,99,1\n", "a flow's destination must be 0 to 15, got 99 in row 1"),
        ("0,1,1\n0,0,1\n", "a flow's destination must be another host than its source, in row 2"),
        ("0,1,0\n", "a flow's rate_per_s must be above 0 to 1e+12, got 0.0 in row 1"),
        ("0,1,nan\n", "a flow's rate_per_s must be above 0 to 1e+12, got nan in row 1"),
        ("0,1,x\n", "a flow's rate_per_s must be a number, got 'x' in row 1"),
        ("", "a traffic matrix has no flows"),
    ],
)
def test_a_traffic_matrix_is_refused_with_its_row(tmp_path: Path, rows: str, words: str) -> None:
    file = _write_matrix(tmp_path / "m.csv", rows)
    found = _invoke("--pods", "4", "--traffic", str(file))
    assert found.exit_code == 1
    assert found.stderr == f"simfoundry: {words} ({file})\n"


@pytest.mark.parametrize(
    "rows",
    [
        "0,1,10000,1,500\n2,1,20000,20,1400\n",
        "0,1,50000,1,500\n2,1,20000,8,1400\n",
        "0,1,100000,1,500\n2,1,36000,8,1400\n",
    ],
)
def test_a_flow_without_bursts_does_not_wait_for_those_of_another(rows: str, tmp_path: Path) -> None:
    """They come over a link of the same rate; the first of these means was 3.4 times too long."""
    links = [{"source": host, "target": "s", "rate_bps": 10**9, "delay_ns": 1000} for host in "abc"]
    nodes = [*({"id": host, "host": True} for host in "abc"), {"id": "s"}]
    network = tmp_path / "star.json"
    network.write_text(json.dumps({"nodes": nodes, "links": links}))
    head = "source,destination,rate_per_s,variation,packet_bytes"
    file, flows = _write_matrix(tmp_path / "m.csv", rows, head), tmp_path / "flows.parquet"
    asked = ("--topology", str(network), "--traffic", str(file), "--flows", str(flows), "--json")
    answer = json.loads(_invoke(*asked, "--estimate", "simulate", "--packets", "300000").output)
    columns = pq.read_table(flows).to_pydict()
    for estimated, counted in zip(columns["delay_mean_ns"], columns["simulated_delay_mean_ns"], strict=True):
        assert estimated == pytest.approx(counted, rel=0.12)
    assert answer["within"] is None


STAR = {
    "nodes": [{"id": "s"}, *({"id": host, "host": True} for host in ("web", "db", "2"))],
    "links": [{"source": host, "target": "s", "rate_bps": 10**8} for host in ("web", "db", "2")],
}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_hosts_of_a_network_file_go_by_their_ids(tmp_path: Path, ending: str) -> None:
    """The third host has number 2 and id "2"; "1" is no id, so it is the number of `db`."""
    network, flows = tmp_path / "star.json", tmp_path / "flows.parquet"
    network.write_text(json.dumps(STAR))
    file = _write_matrix(tmp_path / "m.csv", "web,db,10000\n2, web,5000\n1,2,10\n")
    if ending == "parquet":
        columns = {
            "source": ["web", "2", "1"],
            "destination": ["db", "web", "2"],
            "rate_per_s": [1e4, 5e3, 10],
        }
        file = tmp_path / "m.parquet"
        pq.write_table(pa.table(columns), file)
    asked = ("--topology", str(network), "--traffic", str(file), "--flows", str(flows), "--json")
    queues = json.loads(_invoke(*asked).output)["busiest_queues"]
    assert [(queue["from_node"], queue["to_node"]) for queue in queues[:2]] == [("web", "s"), ("s", "db")]
    columns = pq.read_table(flows).to_pydict()
    assert (columns["source"], columns["destination"]) == ([0, 2, 1], [1, 0, 2])
    assert columns["source_id"] == ["web", "2", "db"]


def test_a_traffic_matrix_says_its_protocol(tmp_path: Path) -> None:
    head = "source,destination,rate_per_s,protocol"
    tcp = _write_matrix(tmp_path / "tcp.csv", "0,5,4000,TCP\n1,5,10,tcp\n", head)
    asked = ("--pods", "4", "--json", "--traffic")
    answer = json.loads(_invoke(*asked, str(tcp)).output)
    plain = _write_matrix(tmp_path / "plain.csv", "0,5,4000\n1,5,10\n")
    assert answer == json.loads(_invoke(*asked, str(plain), "--protocol", "tcp").output)
    assert answer["rtt_mean_ns"] != json.loads(_invoke(*asked, str(plain)).output)["rtt_mean_ns"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            "0,5,1,tcp\n1,5,1,udp\n",
            "a flow's protocol is udp in row 2, tcp before; accepted: one for all flows",
        ),
        ("0,5,1,tcp\n1,5,1,quic\n", "a flow's protocol is 'quic' in row 2; accepted: udp, tcp"),
    ],
)
def test_a_traffic_matrix_rejects_other_protocols(tmp_path: Path, rows: str, words: str) -> None:
    file = _write_matrix(tmp_path / "m.csv", rows, "source,destination,rate_per_s,protocol")
    assert _invoke("--pods", "4", "--traffic", str(file)).stderr == f"simfoundry: {words} ({file})\n"


def test_an_unknown_host_is_refused_with_its_row(tmp_path: Path) -> None:
    network, file = tmp_path / "star.json", _write_matrix(tmp_path / "m.csv", "web,db,1\nweb,api,1\n")
    network.write_text(json.dumps(STAR))
    refused = _invoke("--topology", str(network), "--traffic", str(file))
    assert refused.stderr == (
        "simfoundry: a flow's destination must be the id of a host (web, db, 2) or a whole number of 32 "
        f"bits, got 'api' in row 2 ({file})\n"
    )


def test_other_columns_and_a_pattern_beside_a_matrix_are_refused(tmp_path: Path) -> None:
    file = _write_matrix(tmp_path / "m.csv", "0,1\n", "source,destination")
    words = (
        "columns of a traffic matrix: source, destination; accepted: each of source, destination, rate_per_s"
    )
    assert words in _invoke("--pods", "4", "--traffic", str(file)).stderr
    both = _invoke("--pods", "4", "--traffic", str(file), "--load", "0.5")
    assert "traffic, load are mutually exclusive" in both.stderr
    low = _write_matrix(tmp_path / "v.csv", "0,1,5,0.5\n", "source,destination,rate_per_s,variation")
    assert (
        "a flow's variation must be 1 to 1000, got 0.5 in row 1"
        in _invoke(*("--pods", "4", "--traffic", str(low))).stderr
    )


@pytest.mark.parametrize("text", ["x", "0", "64:0.5", "64:0.5,1500", "64:0.5,70000:0.5", "1e3", ""])
def test_packet_bytes_are_refused_in_one_line(text: str) -> None:
    found = _invoke("--pods", "4", "--packet-bytes", text)
    assert found.exit_code != 0
    assert len(found.stderr.splitlines()) == 1
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--packets", "5000"],
            "packets are those of a simulation; accepted: estimate simulate",
        ),
        (["--packets", "10", "--estimate", "simulate"], "1,000 to 20,000,000"),
        (["--packets", "1e9", "--estimate", "simulate"], "1e9"),
    ],
)
def test_packets_are_refused_without_a_simulation_and_out_of_range(options: list[str], words: str) -> None:
    found = _invoke("--pods", "4", *options)
    assert found.exit_code != 0
    assert words in found.stderr


def test_a_note_says_that_a_queue_is_nearly_full() -> None:
    found = _invoke("--pods", "4", "--pattern", "incast", "--load", "0.97")
    assert "note: flows offer the busiest queue 97.0% of its rate" in found.output


def test_patterns_are_accepted_with_hyphens(project: Path) -> None:
    plain, hyphened = (
        invoke("network", "--pods", "4", "--json", "--pattern", name) for name in ("all_to_all", "all-to-all")
    )
    assert hyphened.exit_code == 0, hyphened.stderr
    assert hyphened.stdout == plain.stdout


def test_an_answer_imports_nothing_that_takes_long() -> None:
    slow = ("pandas", "networkx", "polars", "torch", "mlflow", "dagster", "scipy.stats", "scipy.optimize")
    script = (
        "import sys; from click.testing import CliRunner; from simfoundry.cli import simfoundry\n"
        "assert CliRunner().invoke(simfoundry, ['network', '--pods', '4']).exit_code == 0\n"
        f"print([name for name in {slow} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
