"""Names for what a program declares.

No word is a keyword of C or Verilog, or a function of the C library.
"""

from __future__ import annotations

from random import Random

WORDS = {
    "input": [
        "samples",
        "pixels",
        "weights",
        "image",
        "matrix",
        "vector",
        "grid",
        "field",
        "readings",
        "costs",
        "prices",
        "signal_data",
        "frame",
        "kernel",
        "noise",
    ],
    "output": [
        "result",
        "filtered",
        "totals",
        "smoothed",
        "encoded",
        "features",
        "response",
        "mapped",
        "energies",
        "scores",
        "moved",
    ],
    "local": ["buffer", "partial", "scratch", "stage", "lines", "history"],
    "table": ["taps", "coefficients", "lookup", "window", "bias_table", "steps"],
    "argument": ["gain", "offset", "threshold", "scale", "limit", "shift_by", "seed_value", "ratio"],
    "sum": ["sum", "total", "acc", "energy", "dot", "norm", "count_sum"],
    "temporary": [
        "value",
        "delta",
        "mixed",
        "weight",
        "scaled",
        "term",
        "diff",
        "product",
        "inner",
        "part",
        "level",
        "key",
    ],
    "bits": ["bits", "remaining", "pending_bits", "rest", "digits"],
    "helper": ["blend", "mix", "score", "transform", "adjust", "combine"],
    "top": [
        "accumulate_windows",
        "apply_filter",
        "blend_rows",
        "classify",
        "compute_scores",
        "convolve_grid",
        "encode_block",
        "estimate",
        "fold_matrix",
        "integrate",
        "match_pattern",
        "merge_levels",
        "mix_channels",
        "normalise_rows",
        "project_vectors",
        "quantise",
        "rank_samples",
        "reduce_blocks",
        "relax_grid",
        "resample",
        "scan_rows",
        "score_table",
        "smooth_field",
        "solve_step",
        "sweep",
        "track_state",
        "update_cells",
        "warp_image",
    ],
    "extent": ["ROWS", "COLS", "TAPS", "LENGTH", "DEPTH", "WIDTH", "HEIGHT", "CHANNELS", "POINTS", "SIZE"],
}
"""Words by what they name."""

LOOPS = ("i", "j", "k", "m", "n", "p", "q", "r")
"""Loop variables by depth."""


class NameSupply:
    """Names that no other part of the program has."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._taken: set[str] = set(LOOPS)

    def new(self, kind: str) -> str:
        """A name of a kind of WORDS: a word that is free, or a word with a number."""
        word = self._random.choice(WORDS[kind])
        name, number = word, 2
        while name in self._taken:
            name, number = f"{word}{number}", number + 1
        self._taken.add(name)
        return name
