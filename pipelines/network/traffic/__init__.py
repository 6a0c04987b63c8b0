"""Traffic: patterns, arrival processes, packet sizes, schedules and traces.

Belongs here: flows and their packets. Does not: where they go (`routing`).
"""

from pipelines.network.request import ARRIVALS, PAPER_PATTERNS, PATTERNS, PROTOCOLS, TCP, UDP
from pipelines.network.traffic.generated import (
    ThinOptions,
    TraceOptions,
    generate_thin_streams,
    generate_trace,
)
from pipelines.network.traffic.matrix import read_matrix
from pipelines.network.traffic.patterns import (
    HEADER_BYTES,
    SIZES,
    Arrivals,
    FlowMoments,
    PacketSizes,
    Pattern,
    Traffic,
    traffic_of,
)
from pipelines.network.traffic.schedule import Schedule, draw_schedule
from pipelines.network.traffic.traces import (
    Trace,
    read_trace,
    replicate_trace,
    traffic_of_trace,
    write_trace,
)

__all__ = [
    "ARRIVALS",
    "HEADER_BYTES",
    "PAPER_PATTERNS",
    "PATTERNS",
    "PROTOCOLS",
    "SIZES",
    "TCP",
    "UDP",
    "Arrivals",
    "FlowMoments",
    "PacketSizes",
    "Pattern",
    "Schedule",
    "ThinOptions",
    "Trace",
    "TraceOptions",
    "Traffic",
    "draw_schedule",
    "generate_thin_streams",
    "generate_trace",
    "read_matrix",
    "read_trace",
    "replicate_trace",
    "traffic_of",
    "traffic_of_trace",
    "write_trace",
]
