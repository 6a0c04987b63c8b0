"""Outputs of fixed-point pipelines against hls4ml's C++ emulation, element by element.

    python -m tests.benchmarks.fixed_against_hls4ml [NETWORKS PER FAMILY]

Networks that average over a number of positions that is no power of two are counted by themselves: hls4ml
divides by it, a pipeline multiplies by the inverse in the format of weights. Elements of outputs that are the
same for all samples prove little and are counted, too.
"""

from __future__ import annotations

import sys
from collections import Counter
from math import prod

import numpy as np

from pipelines.accelerators import AcceleratorError, Network, network_of
from pipelines.accelerators.fixed.sharing import trace_network
from pipelines.accelerators.fixed.tracing import uniform_inputs
from pipelines.accelerators.networks import FIXED_FAMILIES, drawn_fixed_network
from tests.support.fixed_emulation import emulate_network

SAMPLES, SEED = 500, 7


def average_kind(network: Network) -> str:
    """Whether a network averages over a number of positions that is no power of two."""
    sizes = [prod(x.in_shapes[0][2:]) for x in network.layers if x.kinds[0] == "GlobalAveragePool"]
    return ", other averages" if any(size & (size - 1) for size in sizes) else ""


def main(networks: int) -> None:
    counts: dict[str, Counter[str]] = {}
    for family in FIXED_FAMILIES:
        for seed in range(networks):
            network = network_of(drawn_fixed_network(family, seed), family)
            count = counts.setdefault(family + average_kind(network), Counter())
            try:
                design = trace_network(network)
                values = uniform_inputs(design.inputs, SAMPLES, SEED)
                outputs = emulate_network(network, values)
            except AcceleratorError as error:
                count[f"refused: {error}"] += 1
                continue
            differs = outputs != design.expected(values)
            constant = int((np.ptp(outputs, axis=0) == 0).sum()) * SAMPLES
            count.update(networks=1, elements=differs.size, constant=constant, mismatches=int(differs.sum()))
            print(f"{network.name} {seed}: {differs.size} elements, {differs.sum()} mismatches", flush=True)
    for name, count in counts.items():
        print(name, dict(count))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
