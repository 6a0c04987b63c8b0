"""A traffic matrix of a user: flows with rates, variations and packet sizes of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.base.files import open_regular
from pipelines.network.errors import NetworkError
from pipelines.network.request import GENERALISED_EXPONENTIAL, PROTOCOLS, SCV_LIMIT, UDP
from pipelines.network.topology import Topology
from pipelines.network.traffic.columns import ENDINGS, Form, naming_file, read_columns
from pipelines.network.traffic.patterns import (
    FLOW_LIMIT,
    PAYLOAD_LIMIT_BYTES,
    Arrivals,
    OwnArrivals,
    Traffic,
)

FILE_LIMIT_BYTES = 1 << 28
RATE_LIMIT_PER_S = 1e12
FORM = Form(
    what="traffic matrix",
    row="flow",
    required=("source", "destination", "rate_per_s"),
    optional={"variation": 1.0, "packet_bytes": 500, "protocol": -1},
    numbers=("rate_per_s", "variation"),
    choices={"protocol": PROTOCOLS},
    most_rows=FLOW_LIMIT,
)


def read_matrix(path: Path, topology: Topology, *, protocol: str = UDP) -> Traffic:
    """Read the flows of a CSV or Parquet file.

    Columns are source and destination (ids of hosts in the network file, or numbers), rate_per_s (packets),
    variation (squared coefficient of variation of times between packets, 1 for Poisson arrivals),
    packet_bytes (without headers, of all packets of a flow) and protocol (one for all flows). Two rows may
    have the same hosts. Rows count from 1, after the header.

    Args:   protocol: of a file without that column.

    Raises: NetworkError: the file cannot be read or a flow is invalid; the message names file and row.
    """
    if path.suffix not in ENDINGS:
        raise NetworkError(
            f"unknown file type of a traffic matrix: {path.name}; accepted: {', '.join(ENDINGS)}"
        )
    with (
        open_regular(path, what=FORM.what, most_bytes=FILE_LIMIT_BYTES, error=NetworkError) as file,
        naming_file(path, FORM.what),
    ):
        flows = read_columns(file, path, FORM, topology.host_ids)
        hosts = topology.host_count - 1
        ranges = {
            "source": (0, hosts),
            "destination": (0, hosts),
            "rate_per_s": (np.nextafter(0.0, 1.0), RATE_LIMIT_PER_S),
            "variation": (1.0, SCV_LIMIT),
            "packet_bytes": (1, PAYLOAD_LIMIT_BYTES),
        }
        for name, (least, most) in ranges.items():
            for row in np.flatnonzero(~((flows[name] >= least) & (flows[name] <= most)))[:1].tolist():
                words = f"above 0 to {most:g}" if name == "rate_per_s" else f"{least:g} to {most:g}"
                raise NetworkError(
                    f"a flow's {name} must be {words}, got {flows[name][row]} in row {row + 1}"
                )
        for row in np.flatnonzero(flows["source"] == flows["destination"])[:1].tolist():
            raise NetworkError(f"a flow's destination must be another host than its source, in row {row + 1}")
        return Traffic(
            sources=flows["source"],
            destinations=flows["destination"],
            rates_per_s=flows["rate_per_s"],
            arrivals=_mean_arrivals(flows["rate_per_s"], flows["variation"]),
            protocol=_one_protocol(flows["protocol"], protocol),
            own=OwnArrivals(payload_bytes=flows["packet_bytes"], scvs=flows["variation"]),
        )


def _one_protocol(places: NDArray[np.int32], default: str) -> str:
    """Return the protocol of all flows: the simulators have one per network."""
    for row in np.flatnonzero(places != places[0])[:1].tolist():
        one, other = (PROTOCOLS[int(place)] for place in (places[0], places[row]))
        raise NetworkError(
            f"a flow's protocol is {other} in row {row + 1}, {one} before; accepted: one for all flows"
        )
    return default if places[0] < 0 else PROTOCOLS[int(places[0])]


def _mean_arrivals(rates_per_s: NDArray[np.float64], scvs: NDArray[np.float64]) -> Arrivals:
    """Return the arrivals that stand for those of all flows, where a correction asks for one kind."""
    mean = float(np.average(scvs, weights=rates_per_s))
    return Arrivals() if mean <= 1.0 else Arrivals(kind=GENERALISED_EXPONENTIAL, scv=mean)
