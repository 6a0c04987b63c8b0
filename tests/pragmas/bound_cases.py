"""Random kernels with directives on them, and three figures of each design that must not fall: the least
cycles by SCIP, by the composed bound, and measured.

A case follows from its seed. Kernels have sums, updates of elements, recurrences, stencils and triangular
loops; directives have intervals of 1 to 64, factors that need not divide, and banks of any number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from pipelines.c import Directive
from pipelines.cyclemodel import count_cycles
from pipelines.hls import CompiledDesign, HlsOptions, TransformOptions, compile_program
from pipelines.pragmas import Configuration, LoopChoice, Summary
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Target, bound, read_target
from pipelines.pragmas.configuration import FINE
from pipelines.pragmas.nlp import SearchOptions, pipeline_factors, solve_limited
from pipelines.pragmas.nlp.constants import build_space
from pipelines.pragmas.nlp.solving import Problem, build_program
from pipelines.pragmas.nlp.space import design_of, encode
from pipelines.pragmas.search.budgets import is_fine
from pipelines.pragmas.search.directives import hls_directives
from pipelines.programs import draw_data

MOST_INTERVAL = 64
MOST_COPIES = 64
"""Copies of a statement that a case makes at most."""
TYPES = ("float", "float", "double", "int", "short")
TOLERANCE = 1e-6
SOLVER_NODES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A kernel and a configuration of it.

    Attributes:
        ordered: floating sums keep their order; banks: partitions other than those of the search.
        most_partitions, fine_only: limits that the design keeps to.
    """

    seed: int
    source: str
    summary: Summary
    configuration: Configuration
    ordered: bool
    banks: tuple[Directive, ...] | None
    most_partitions: int | None = None
    fine_only: bool = False

    @property
    def target(self) -> Target:
        """Our own engine, with the intervals of the case in SCIP's space."""
        own = read_target("simfoundry")
        asked = {choice.interval for choice in self.configuration.loops.values()}
        own = replace(own, intervals=tuple(sorted({1, *asked})), dsp_available=10**9)
        return own.ordered() if self.ordered else own

    @property
    def directives(self) -> tuple[Directive, ...]:
        """Of the engine."""
        all_of = hls_directives(self.summary, self.configuration)
        if self.banks is None:
            return all_of
        return (*(d for d in all_of if d.kind != "partition"), *self.banks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Cycles of a case's design.

    Attributes:
        solver: SCIP's bound on all configurations, None where a factor does not divide, which is in no space
            of SCIP's; at_design: its objective at this one, None where the program has no such option.
        composed: the bound; measured: by the cycle model.
    """

    solver: float | None
    at_design: float | None
    composed: float
    measured: int

    @property
    def holds(self) -> bool:
        """Whether no figure is below the one before."""
        slack = 1 + TOLERANCE
        least = max(self.solver or 0.0, self.at_design or 0.0)
        return least <= self.composed * slack + TOLERANCE and self.composed <= self.measured * slack


def figures_of(case: Case, folder: Path) -> Figures:
    """Bound and measure a case.

    Raises: HlsError: the engine refuses the design.
    """
    target, summary = case.target, case.summary
    design = compile_case(case)
    run = count_cycles(design, draw_data(design.interface, "{}", seed=0), folder=folder)
    if run.latency_cycles is None:
        raise ValueError(f"case {case.seed} has no latency: {run.reason}")
    divide = all(
        loop.trip_count_max % case.configuration.of(name).unroll == 0
        for name, loop in summary.loops.items()
        if loop.constant
    )
    options = SearchOptions(
        most_nodes=SOLVER_NODES, most_partitions=case.most_partitions, fine_only=case.fine_only
    )
    return Figures(
        solver=solve_limited(summary, target, options).lower_bound if divide else None,
        at_design=objective_at(summary, target, case.configuration) if divide else None,
        composed=bound(summary, case.configuration, target).latency_cycles,
        measured=run.latency_cycles,
    )


def compile_case(case: Case) -> CompiledDesign:
    """The engine's design of a case."""
    options = HlsOptions(
        directives=case.directives, transforms=TransformOptions(unsafe_math=not case.ordered)
    )
    return compile_program(case.source, top="f", options=options, file=f"case{case.seed}.c")


def objective_at(summary: Summary, target: Target, configuration: Configuration) -> float | None:
    """The least objective of SCIP's program with the options of one configuration, in cycles."""
    space = build_space(summary, target, SearchOptions(excluded=(Configuration(),)))
    indices = encode(space, design_of(summary, configuration, target), configuration)
    program = None if indices is None else build_program(Problem(space=space))
    if indices is None or program is None:
        return None
    for loop, index in indices.items():
        program.scip.chgVarLb(program.chosen[loop][index], 1.0)
    program.scip.optimize()
    if program.scip.getNSols() == 0:
        return None
    return float(program.scip.getObjVal()) / program.scale


# ---- drawing -------------------------------------------------------------------------------------------


def draw_case(seed: int) -> Case:
    """The case of a seed."""
    random = Random(seed)
    source = draw_kernel(random)
    summary = summarise(source, "f")
    configuration = draw_configuration(random, summary)
    banks = tuple(_draw_banks(random, summary)) if random.random() < 0.4 else None
    ordered = random.random() < 0.4
    most_partitions = random.choice((None, 1, 1, 2, 4))
    if most_partitions is not None:  # factors stay, also without the banks that they want
        banks = tuple(_within(summary, banks or tuple(_draw_banks(random, summary)), most_partitions))
    return Case(
        seed=seed,
        source=source,
        summary=summary,
        configuration=configuration,
        ordered=ordered,
        banks=banks,
        most_partitions=most_partitions,
        fine_only=random.random() < 0.5 and is_fine(summary, configuration),
    )


def _within(summary: Summary, banks: Sequence[Directive], most: int) -> Iterator[Directive]:
    """Partitions in their order as long as each array keeps to the limit."""
    counts = dict.fromkeys(summary.arrays, 1)
    for one in banks:
        extent = summary.arrays[one.variable].shape[(one.dimension or 1) - 1]
        count = min(one.value or extent, extent)
        if counts[one.variable] * count <= most:
            counts[one.variable] *= count
            yield one


def draw_configuration(random: Random, summary: Summary) -> Configuration:
    """Pipelines with intervals, and factors, of some loops."""
    loops: dict[str, LoopChoice] = {}
    left = MOST_COPIES
    for name, loop in summary.loops.items():
        choice = LoopChoice()
        inside = [summary.loops[i].trip_count_max for i in summary.loops_inside(name)]
        if random.random() < (0.25 if inside else 0.7):
            copies = 1
            for trips in inside:
                copies *= max(1, trips)
            if copies <= left:
                interval = random.choice((1, random.randint(2, 8), random.randint(2, MOST_INTERVAL)))
                choice = replace(choice, pipeline=FINE, interval=interval)
        if random.random() < 0.45:
            divisors = [n for n in range(2, loop.trip_count_max + 1) if loop.trip_count_max % n == 0]
            factor = random.choice(divisors or [1]) if random.random() < 0.6 else random.randint(1, 6)
            if not loop.constant:  # others are not in SCIP's space
                factor = random.choice((1, *pipeline_factors(summary, read_target("simfoundry"), name)))
            if factor <= left:
                left //= factor
                choice = replace(choice, unroll=min(factor, max(1, loop.trip_count_max)))
        if choice != LoopChoice():
            loops[name] = choice
    return Configuration(loops=loops)


def _draw_banks(random: Random, summary: Summary) -> Iterator[Directive]:
    for name, array in summary.arrays.items():
        for dimension, extent in enumerate(array.shape, 1):
            if random.random() < 0.5:
                continue
            style = random.choice(("cyclic", "cyclic", "block", "complete"))
            if style == "complete" and extent <= 16:
                yield Directive(kind="partition", variable=name, style="complete", dimension=dimension)
            elif extent > 1 and style != "complete":
                value = random.randint(2, min(8, extent))
                yield Directive(
                    kind="partition", variable=name, style=style, value=value, dimension=dimension
                )


def draw_kernel(random: Random) -> str:
    """C text of a kernel: one to three nests over a few arrays."""
    kind = random.choice(TYPES)
    nests = [_nest(random, kind, index) for index in range(random.choice((1, 1, 2, 3)))]
    parameters = [p for arrays, _ in nests for p in arrays]
    body = "\n".join(text for _, text in nests)
    return f"void f({', '.join(parameters)})\n{{\n{body}\n}}\n"


def _nest(random: Random, kind: str, index: int) -> tuple[list[str], str]:
    """Parameters and text of one nest, with arrays of its own."""
    shape = random.choice((_vector, _vector, _matrix, _matrix, _matrix, _product, _triangle))
    return shape(random, kind, f"{index}")


def _factor(random: Random, kind: str) -> str:
    return random.choice(("3", "5")) if kind in ("int", "short") else random.choice(("1.5f", "0.25f"))


def _vector(random: Random, kind: str, n: str) -> tuple[list[str], str]:
    """One loop: a map, a recurrence, a running sum, a sum, several updates, a stencil or a division."""
    trips, d = random.randint(1, 40), random.randint(1, 3)
    x, y, z, c = f"x{n}", f"y{n}", f"z{n}", _factor(random, kind)
    size = trips + 4
    bodies = (
        f"{y}[i] = {x}[i] * {c} + {z}[i];",
        f"{y}[i + {d}] = {y}[i] * {c} + {x}[i];",
        f"s += {x}[i] * {z}[i]; {y}[i] = s;",
        f"s += {x}[i] * {z}[i];",
        f"s += {x}[i]; s += {z}[i];",
        f"s += {x}[i]; s -= {z}[i] * {c}; {y}[i] = {x}[i];",
        f"s = s * {z}[i] + {x}[i];",
        f"s *= {x}[i];",
        f"{y}[0] += {x}[i];",
        f"{y}[i] = ({x}[i] + {x}[i + 1] + {x}[i + 2]) * {c};",
        f"{y}[i] += {x}[i] / ({z}[i] + 3);",
        f"{x}[i] = {x}[i] + {y}[i]; {y}[i + 1] = {x}[i] * {c};",
        f"{y}[i] = {x}[{trips - 1} - i];",
        f"{y}[{trips - 1} - i] = {y}[i] + {x}[i];",
    )
    body = random.choice(bodies)
    loop = f"  for (int i = 0; i < {trips}; i++) {{ {body} }}"
    if "s " in body:
        loop = f"  {{ {kind} s = {random.choice(('0', '1'))};\n{loop}\n  {y}[{trips}] = s; }}"
    return [f"{kind} {a}[{size}]" for a in (x, y, z)], loop


def _matrix(random: Random, kind: str, n: str) -> tuple[list[str], str]:
    """Two loops, perfect or with statements beside the inner one."""
    rows, columns = random.randint(1, 12), random.randint(1, 14)
    a, b, x, y, c = f"A{n}", f"B{n}", f"x{n}", f"y{n}", _factor(random, kind)
    inner = random.choice(
        (
            f"{a}[i][j] = {b}[i][j] * {c} + {x}[j];",
            f"{y}[i] += {b}[i][j] * {x}[j];",
            f"{x}[j] += {b}[i][j] * {y}[i];",
            f"{a}[i][j] += {b}[i][j];",
            f"{a}[i + 1][j] = {a}[i][j] * {c} + {b}[i][j];",
            f"{a}[i][j + 1] = {a}[i][j] * {c} + {b}[i][j];",
            f"{a}[i + 1][j] = {b}[i][j] + {b}[i][j + 1] + {b}[i + 1][j];",
            f"{a}[i + 1][j] = {a}[i][j + 1] * {c};",
            f"{y}[i] = {y}[i] + {b}[i][j]; {a}[i][j] = {b}[i][j] * {c};",
            f"{y}[0] += {b}[i][j];",
        )
    )
    before, after = random.choice((("", ""), ("", ""), (f"{y}[i] = 0;", ""), ("", f"{y}[i] = {y}[i] * {c};")))
    loop = (
        f"  for (int i = 0; i < {rows}; i++) {{ {before}\n"
        f"    for (int j = 0; j < {columns}; j++) {{ {inner} }} {after}\n  }}"
    )
    matrices = [f"{kind} {m}[{rows + 1}][{columns + 1}]" for m in (a, b)]
    return [*matrices, f"{kind} {x}[{columns}]", f"{kind} {y}[{rows}]"], loop


def _product(random: Random, kind: str, n: str) -> tuple[list[str], str]:
    """Three loops in any order, the element's sum in an array or in a variable."""
    i, j, k = (random.randint(1, 6) for _ in range(3))
    a, b, c = f"A{n}", f"B{n}", f"C{n}"
    update = f"{c}[i][j] += {a}[i][k] * {b}[k][j];"
    heads = {
        "i": f"for (int i = 0; i < {i}; i++)",
        "j": f"for (int j = 0; j < {j}; j++)",
        "k": f"for (int k = 0; k < {k}; k++)",
    }
    if random.random() < 0.4:
        text = (
            f"  {heads['i']} {heads['j']} {{ {kind} s = 0; {heads['k']} s += {a}[i][k] * {b}[k][j]; "
            f"{c}[i][j] = s; }}"
        )
    else:
        order = random.sample("ijk", 3)
        text = "  " + " ".join(heads[name] for name in order) + f" {update}"
    return [f"{kind} {a}[{i}][{k}]", f"{kind} {b}[{k}][{j}]", f"{kind} {c}[{i}][{j}]"], text


def _triangle(random: Random, kind: str, n: str) -> tuple[list[str], str]:
    """Two loops of which the inner one grows or shrinks, also from no iteration."""
    rows = random.randint(2, 12)
    a, x, y = f"A{n}", f"x{n}", f"y{n}"
    head = random.choice(("j = 0; j < i", "j = i; j < N", "j = 0; j <= i", "j = i + 1; j < N"))
    inner = random.choice(
        (f"{y}[i] += {a}[i][j] * {x}[j];", f"{a}[i][j] = {x}[j] + {x}[i];", f"{y}[j] += {a}[i][j];")
    )
    before = random.choice(("", "", f"{x}[i] = {y}[i];"))
    text = (
        f"  for (int i = 0; i < {rows}; i++) {{ {before}\n"
        f"    for (int {head.replace('N', str(rows))}; j++) {{ {inner} }}\n  }}"
    )
    return [f"{kind} {a}[{rows}][{rows}]", f"{kind} {x}[{rows}]", f"{kind} {y}[{rows}]"], text
