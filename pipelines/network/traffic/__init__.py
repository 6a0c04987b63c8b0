"""What a network carries: patterns, arrival processes, packet sizes, schedules and traces.

Belongs here: flows and their packets. Does not: where they go (`routing`).
"""

from pipelines.network.traffic.arrivals import ARRIVALS, SIZES, Arrivals, PacketSizes
from pipelines.network.traffic.patterns import (
    HEADER_BYTES,
    PATTERNS,
    PROTOCOLS,
    TCP,
    UDP,
    Pattern,
    Traffic,
    traffic_of,
)
from pipelines.network.traffic.schedule import Schedule, draw_schedule

__all__ = [
    "ARRIVALS",
    "HEADER_BYTES",
    "PATTERNS",
    "PROTOCOLS",
    "SIZES",
    "TCP",
    "UDP",
    "Arrivals",
    "PacketSizes",
    "Pattern",
    "Schedule",
    "Traffic",
    "draw_schedule",
    "traffic_of",
]
