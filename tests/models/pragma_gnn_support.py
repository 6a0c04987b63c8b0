"""Two small programs and made-up measurements, for tests of the surrogate of directives."""

from __future__ import annotations

import math
from itertools import product

from models.pragma_gnn import FitOptions
from models.pragma_gnn.data import MeasuredDesign
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import bound, read_target
from pipelines.pragmas.configuration import COARSE, FINE, OFF, Configuration, LoopChoice

TARGET = read_target("u200")
PRODUCT = """
void product(double c[8][8], double a[8][16], double b[16][8]) {
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 8; j++) {
      c[i][j] = 0.0;
      for (int k = 0; k < 16; k++) {
        c[i][j] += a[i][k] * b[k][j];
      }
    }
  }
}
"""
SCALE = """
void scale(float x[64], float y[64]) {
  for (int i = 0; i < 64; i++) {
    y[i] = x[i] * 3.0f;
  }
}
"""
SUMMARIES = {"product": summarise(PRODUCT, "product"), "scale": summarise(SCALE, "scale")}
QUICK = FitOptions(width=8, epochs=3, steps=4, batch=8, validation_share=0.0)


def configurations(program: str) -> list[Configuration]:
    """Every pipeline and some factors of the outermost and the innermost loop."""
    first, *_, last = (*SUMMARIES[program].loops, *SUMMARIES[program].loops)
    found: list[Configuration] = []
    for pipeline, unroll, tile in product((OFF, COARSE, FINE), (1, 2, 4), (1, 4)):
        loops = {first: LoopChoice(pipeline=pipeline, tile=tile)}
        loops[last] = LoopChoice(pipeline=OFF if last != first else pipeline, unroll=unroll, tile=tile)
        found.append(Configuration(loops=loops))
    return found


def designs(*programs: str, tool: str = "some-tool") -> list[MeasuredDesign]:
    """All configurations, measured as a smooth function of what they say and of their bound."""
    found: list[MeasuredDesign] = []
    for program in programs:
        for configuration in configurations(program):
            least = bound(SUMMARIES[program], configuration, TARGET)
            choices = configuration.loops.values()
            slower = 0.4 * sum(c.tile > 1 for c in choices) + 0.3 * sum(c.pipeline == OFF for c in choices)
            found.append(
                MeasuredDesign(
                    program=program,
                    tool=tool,
                    configuration=configuration,
                    bound=least,
                    latency_cycles=round(100 + least.latency_cycles * math.exp(slower)),
                )
            )
    return found
