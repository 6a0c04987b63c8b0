"""Which programs of a suite are explored, how far, and by which methods; importing it loads no solver."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.base.validation import Count, Positive
from pipelines.pragmas.errors import PragmaError

NLP_DSE, AUTODSE, RANDOM, EXHAUSTIVE = "nlp_dse", "bottleneck", "random", "exhaustive"
METHODS = (NLP_DSE, AUTODSE, RANDOM, EXHAUSTIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteExploration:
    """Which programs are explored, and how far.

    Attributes:
        kernels: names in PolyBench, or `suite/program` and `suite/program/size` of any suite that needs no
            language model; size, data_type: of the former, as `polybench_program` takes them.
        methods: of METHODS, each an exploration of each kernel.
        most_evaluations: designs that an exploration measures; None = unlimited.
        solver_nodes: of each sub-problem.
        most_operations: operations and accesses of a design; larger ones count as timeouts.
        hls_timeout_s: processor time of each design, far above the time of one of that size.
        most_area_um2: largest estimated area of a design; None = unlimited.
        ordered_sums: floating sums keep their order, for programs whose results are roundings.
        together: designs measured at a time; seed: of random searches.
    """

    kernels: tuple[str, ...] = ()
    size: str = "mini"
    data_type: str = "float"
    methods: tuple[str, ...] = (NLP_DSE,)
    most_evaluations: Count | None = 12
    solver_nodes: Count = 2000
    most_operations: Count = 15_000
    hls_timeout_s: Positive = 600.0
    most_area_um2: Positive | None = None
    ordered_sums: bool = False
    together: Count = 2
    seed: int = 0

    def __post_init__(self) -> None:
        for method in self.methods:
            if method not in METHODS:
                raise PragmaError(f"unknown method: {method}; accepted: {', '.join(METHODS)}")
