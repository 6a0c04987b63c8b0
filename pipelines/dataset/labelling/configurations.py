"""The hardware configurations a program is tried under: a grid, or mappings drawn from its legal space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.base.validation import Count, Fraction, Positive
from pipelines.c import Directive, Function, HlsError, directives_json, ir, parse_directives, read_function
from pipelines.hls import (
    CLASS_WIDTHS_BITS,
    LIMITED_CLASSES,
    ArraySpace,
    HlsOptions,
    LoopSpace,
    MappingSpace,
    TransformOptions,
    design_id,
    innermost_loops,
    mapping_space,
    program_rules,
    tool_version,
)
from pipelines.schemas import OK, ProgramRow

PLAIN = "plain"
FACTORS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
UNKNOWN_TRIP_FACTORS = (2, 4)
BANKS = (2, 3, 4, 8, 16, 32, 64)  # a place in another number of banks needs a division
STYLES = ("cyclic", "block", "complete")
UNITS_OF_OPERATORS = {
    "add": "add",
    "sub": "add",
    "mul": "mul",
    "div": "div",
    "rem": "div",
    "sqrt": "sqrt",
}
"""Kind of functional unit of an operator, as in `LIMITED_CLASSES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedConfiguration:
    """One configuration: delays in cycles, a clock period in ns, directives in order of loops and arrays.

    Attributes: transforms, unit_limits: of the engine; None for those of the space.
    """

    read_delay_cycles: int
    write_delay_cycles: int
    clock_period_ns: float
    directives: tuple[Directive, ...] = ()
    transforms: TransformOptions | None = None
    unit_limits: tuple[tuple[str, int], ...] | None = None


def read_unit_limits(texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Read the limits of functional units, (class, number) in order of class, from texts as `mul_32=1` or
    `mul_32:1`.

    Raises: ValueError: another form, an unknown class, or no positive number.
    """
    limits: dict[str, int] = {}
    for text in texts:
        name, _, count = text.replace(":", "=").partition("=")  # an override of Hydra has no = in a list
        if name not in LIMITED_CLASSES or not count.isdecimal() or int(count) < 1:
            raise ValueError(
                f"a unit limit must be CLASS=N with N at least 1, got {text}; "
                f"classes: {', '.join(LIMITED_CLASSES)}"
            )
        limits[name] = int(count)
    return tuple(sorted(limits.items()))


def _checked_limits(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name}={count}" for name, count in read_unit_limits(texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationSpace:
    """The configurations of every program: a grid, or mappings drawn from what each program admits.

    Tools that are not the project's own engine have the grid without directives.

    Attributes:
        memory_delay: cycles of reads and writes, each a configuration; a sample draws both from here.
        write_delay: cycles of writes in all configurations; None: as reads.
        pipeline: whether innermost loops are pipelined; (False, True) tries both.
        clock_period_ns: period of every schedule.
        unsafe_math: floating sums may be reordered.
        unit_limits: most functional units of a class, as `mul_32=1`.
        sampling: a grid of the above, or a Latin hypercube, which the others describe.
        samples: configurations per program; fewer where two are the same.
        seed: of all programs.
        clock_periods_ns: to draw from, repeats count; `clock_period_ns` when empty.
        plain_share: of the strata of a loop or array, those that leave it as it is.
        copy_limit: copies of any operation, over all loops around it.
        added_cells_limit: estimated standard cells that all copies of a program may add.
        bank_limit: banks of all partitioned arrays together.
        varied_share: of the programs, those with one more configuration, whose transformations and unit
            limits are drawn too.
    """

    memory_delay: Annotated[tuple[Count, ...], Field(min_length=1)]
    write_delay: Count | None = None
    pipeline: Annotated[tuple[bool, ...], Field(min_length=1)]
    clock_period_ns: Positive
    unsafe_math: bool = False
    unit_limits: Annotated[tuple[str, ...], AfterValidator(_checked_limits)] = ()
    sampling: Literal["grid", "latin_hypercube"] = "grid"
    samples: Count = 4
    seed: Annotated[int, Field(ge=0)] = 0
    clock_periods_ns: tuple[Positive, ...] = ()
    plain_share: Annotated[float, Field(ge=0, lt=1)] = 0.5
    copy_limit: Count = 16
    added_cells_limit: Annotated[int, Field(ge=0)] = 4000
    bank_limit: Annotated[int, Field(ge=0)] = 8
    varied_share: Fraction = 0.0

    def __post_init__(self) -> None:
        """Refuse clock periods to draw from in a grid. Raises: ValueError."""
        if self.clock_periods_ns and self.sampling == "grid":
            raise ValueError(
                "clock_periods_ns are drawn with sampling latin_hypercube; accepted for a grid: []"
            )

    @property
    def write_delays(self) -> tuple[int, ...]:
        """Cycles of writes to draw from."""
        return self.memory_delay if self.write_delay is None else (self.write_delay,)

    @property
    def drawn_clocks_ns(self) -> tuple[float, ...]:
        """Clock periods to draw from."""
        return self.clock_periods_ns or (self.clock_period_ns,)


def space_in_keys(space: ConfigurationSpace, tools: Sequence[str]) -> dict[str, Any]:
    """Return what designs depend on, under the names that it has in keys.

    Args: tools: that make the designs.
    """
    drawn = {
        "count": space.samples,
        "read_delays": space.memory_delay,
        "write_delays": space.write_delays,
        "clock_periods_ns": space.drawn_clocks_ns,
        **{name: getattr(space, name) for name in _DRAWN},
    }
    return {
        "memory_delays": space.memory_delay,
        "unit_limits": read_unit_limits(space.unit_limits),
        "tools": tuple(tools),
        "sampling": drawn if space.sampling == "latin_hypercube" else None,
        **{name: getattr(space, name) for name in _PLAIN},
    }


_PLAIN = ("pipeline", "clock_period_ns", "write_delay", "unsafe_math")
_DRAWN = ("seed", "plain_share", "copy_limit", "added_cells_limit", "bank_limit", "varied_share")


def plain_configurations(space: ConfigurationSpace, *, liberty: str) -> list[HlsOptions]:
    """Return the configurations without directives: one per memory delay, the same for all programs."""
    return [
        HlsOptions(
            memory_read_delay_cycles=delay,
            memory_write_delay_cycles=space.write_delay or delay,
            clock_period_ns=space.clock_period_ns,
            liberty=liberty,
        )
        for delay in dict.fromkeys(space.memory_delay)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFault:
    """A fault of the engine in listing the configurations of a program."""

    reason: str


def configurations_key(program: ProgramRow, space: ConfigurationSpace) -> str:
    """Hash what the configurations of a program depend on."""
    return content_hash(program.program_id, tool_version(), _VERSION, asdict(space), *program_rules(program))


def program_configurations(
    program: ProgramRow, space: ConfigurationSpace, *, liberty: str, cache: ContentCache
) -> list[HlsOptions] | str | EngineFault:
    """Return every configuration of a program in the engine, or why the front end refuses it, or what broke.

    Configurations are cached, for reading a program and finding its legal space take a while. A refusal is
    not: a later engine may read the program.

    Raises: HlsError: the space has a value that the engine does not accept.
    """
    key = configurations_key(program, space)
    try:
        stored: list[dict[str, Any]] | str | None = cache.get("configurations", key)
        if stored is None or isinstance(stored, str):
            stored = _mappings_or_refusal(program, space)
            if not isinstance(stored, str):
                cache.put("configurations", key, stored)
    except (HlsError, OSError):
        raise
    except Exception as error:  # a fault of the engine costs one program, not the run, and is tried again
        return EngineFault(reason=f"the engine failed: {type(error).__name__}: {error}")
    if isinstance(stored, str):
        return stored
    return [_options(_read_mapping(one), space, liberty) for one in stored]


def _read_mapping(stored: dict[str, Any]) -> MappedConfiguration:
    columns: dict[str, Any] = {**stored, "directives": parse_directives(stored["directives"])}
    if columns["transforms"] is not None:
        columns["transforms"] = TransformOptions(**columns["transforms"])
        columns["unit_limits"] = tuple((name, count) for name, count in columns["unit_limits"])
    return MappedConfiguration(**columns)


_VERSION = "configurations-3"
"""Raise it when a draw changes."""


def _mappings_or_refusal(program: ProgramRow, space: ConfigurationSpace) -> list[dict[str, Any]] | str:
    """Return the configurations of a program as JSON, or why the front end refuses it."""
    try:
        function = read_function(program.source, top=program.top, file=f"{program.name}.c")
    except HlsError as error:
        return str(error)
    mappings = _program_mappings(function, space, program.program_id)
    return [asdict(one) | {"directives": directives_json(one.directives)} for one in mappings]


def _grid_mappings(function: Function, space: ConfigurationSpace) -> list[MappedConfiguration]:
    """Return every configuration of a grid, without repeats.

    Source: LLMulator section 6.3 and Figure 12 for the delays 2, 5, 10 and 15.
    """
    pipelined = tuple(Directive(kind="pipeline", loop=loop) for loop in innermost_loops(function))
    grid = product(space.memory_delay, space.pipeline)
    mappings = [
        MappedConfiguration(
            read_delay_cycles=delay,
            write_delay_cycles=space.write_delay or delay,
            clock_period_ns=space.clock_period_ns,
            directives=pipelined if pipeline else (),
        )
        for delay, pipeline in grid
    ]
    return list(dict.fromkeys(mappings))


def _program_mappings(
    function: Function, space: ConfigurationSpace, program_id: str
) -> list[MappedConfiguration]:
    if space.sampling == "grid":
        return _grid_mappings(function, space)
    legal = mapping_space(function, unsafe_math=space.unsafe_math, copy_limit=space.copy_limit)
    mappings = sampled_mappings(legal, space, program_id)
    varied = _varied_mapping(function, mappings[-1], space, program_id)
    return [*mappings, *([] if varied is None else [varied])]


def sampled_configurations(
    function: Function, space: ConfigurationSpace, program_id: str, *, liberty: str
) -> list[HlsOptions]:
    """Return the configurations of one program, without repeats; the first drawn one has no directives.

    Args: program_id: what a draw depends on beside the seed, see `sampled_mappings`.
    """
    mappings = _program_mappings(function, space, program_id)
    return [_options(mapping, space, liberty) for mapping in mappings]


def _options(mapped: MappedConfiguration, space: ConfigurationSpace, liberty: str) -> HlsOptions:
    return HlsOptions(
        memory_read_delay_cycles=mapped.read_delay_cycles,
        memory_write_delay_cycles=mapped.write_delay_cycles,
        directives=mapped.directives,
        clock_period_ns=mapped.clock_period_ns,
        liberty=liberty,
        transforms=mapped.transforms or TransformOptions(unsafe_math=space.unsafe_math),
        unit_limits=(
            read_unit_limits(space.unit_limits) if mapped.unit_limits is None else mapped.unit_limits
        ),
    )


def planned_ids(
    program: ProgramRow, space: ConfigurationSpace, *, liberty: str, cache: ContentCache
) -> set[str]:
    """Return the ids of the designs of the engine that a space asks for; of a refused program that of its one
    row.

    Raises: HlsError: the space has a value that the engine does not accept.
    """
    if program.status != OK:
        return set()
    own = program_configurations(program, space, liberty=liberty, cache=cache)
    if not isinstance(own, list):
        own = [refused_configuration(space, liberty=liberty)]
    return {design_id(program, one) for one in own}


def refused_configuration(space: ConfigurationSpace, *, liberty: str) -> HlsOptions:
    """Return the configuration in the one row of a program without configurations."""
    return HlsOptions(clock_period_ns=space.clock_period_ns, liberty=liberty)


# ---- mappings by Latin hypercube over a program's legal space ------------------------------------------
#
# Dimensions: read delay, write delay, clock period; for each loop how it is mapped and a factor; for each
# array the style, factor and dimension of its partition. Each is cut into as many strata as there are
# samples, and each stratum is met once (McKay, Beckman and Conover 1979). Choices that contradict each other,
# and copies and banks beyond the bounds, are taken back afterwards, in a drawn order, so that no loop is
# favoured.


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One dimension of the cube.

    Attributes:
        subject: the loop or array, empty for the hardware; what: of it.
        levels: in order; levels of equal share follow each other along the axis.
        first_share: of the axis for the first level; None for as much as any other.
    """

    subject: str
    what: str
    levels: tuple[Any, ...]
    first_share: float | None = None

    def level(self, place: float) -> Any:
        """Return the level at a place of the axis, 0 <= place < 1."""
        if self.first_share is None or len(self.levels) == 1:
            return self.levels[int(place * len(self.levels))]
        if place < self.first_share:
            return self.levels[0]
        rest = self.levels[1:]
        return rest[min(len(rest) - 1, int((place - self.first_share) / (1 - self.first_share) * len(rest)))]


def latin_hypercube(dimensions: int, count: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return points of the unit cube, (count, dimensions); each of the count strata of each axis has one."""
    # Here, because it takes longer to import than a command should take to start.
    from scipy.stats import qmc  # pyright: ignore[reportMissingTypeStubs]

    if not dimensions or not count:
        return np.zeros((count, dimensions))
    sampler: Any = qmc.LatinHypercube(d=dimensions, rng=generator)
    return np.asarray(sampler.random(count), dtype=np.float64)


# ---- dimensions -----------------------------------------------------------------------------------------


def hardware_dimensions(space: ConfigurationSpace) -> list[Dimension]:
    """Return the dimensions that every program has."""
    return [
        Dimension(subject="", what="read_delay_cycles", levels=space.memory_delay),
        Dimension(subject="", what="write_delay_cycles", levels=space.write_delays),
        Dimension(subject="", what="clock_period_ns", levels=space.drawn_clocks_ns),
    ]


def program_dimensions(legal: MappingSpace, space: ConfigurationSpace) -> list[Dimension]:
    """Return the dimensions of a program's loops and arrays; what admits one level only has none."""
    dimensions: list[Dimension] = []
    for loop in legal.loops:
        inner = any(other.parent == loop.name for other in legal.loops)
        dimensions.append(_choice(loop.name, "mapping", _mappings(loop, inner), space))
        dimensions.append(Dimension(subject=loop.name, what="factor", levels=_factors(loop, space)))
    for array in legal.arrays:
        long = tuple(d for d, extent in enumerate(array.shape, 1) if extent > 1)
        factors = tuple(f for f in BANKS if f <= space.bank_limit)
        if not long:
            continue
        dimensions.append(_choice(array.name, "partition", (PLAIN, *STYLES), space))
        dimensions.append(Dimension(subject=array.name, what="banks", levels=factors))
        dimensions.append(Dimension(subject=array.name, what="dimension", levels=long))
    return [d for d in dimensions if len(d.levels) > 1]


def _choice(subject: str, what: str, levels: Sequence[str], space: ConfigurationSpace) -> Dimension:
    return Dimension(subject=subject, what=what, levels=tuple(levels), first_share=space.plain_share)


def _mappings(loop: LoopSpace, has_inner: bool) -> list[str]:
    """Return the ways to map a loop, as directives joined by +."""
    several = loop.trip_count is None or loop.trip_count > 1
    copies = ["unroll"] * (loop.unrollable and several) + ["parallel"] * (loop.independent and several)
    ways = [PLAIN, *copies]
    if loop.pipelinable and several:
        ways.append("pipeline")
        ways += [] if has_inner else [f"{kind}+pipeline" for kind in copies]
    if loop.flattens:
        ways += ["flatten", "flatten+pipeline"] if loop.pipelinable else ["flatten"]
    return ways


def _factors(loop: LoopSpace, space: ConfigurationSpace) -> tuple[int, ...]:
    """Return the copies of a loop's body, up to the limit; the trip count itself is a full unroll."""
    if loop.trip_count is None:
        return tuple(f for f in UNKNOWN_TRIP_FACTORS if f <= space.copy_limit)
    below = {f for f in FACTORS if f < loop.trip_count and f <= space.copy_limit}
    full = {loop.trip_count} if 1 < loop.trip_count <= space.copy_limit else set[int]()
    return tuple(sorted(below | full))


# ---- from a point to a configuration --------------------------------------------------------------------


@dataclass(slots=True)
class _Drawn:
    """The mapping of each loop while contradictions are taken back: its kinds, and copies of its body."""

    loops: Mapping[str, LoopSpace]
    kinds: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    copies: dict[str, int] = field(default_factory=dict[str, int])

    def around(self, name: str) -> list[str]:
        """Return the loops around a loop, inner first."""
        parent = self.loops[name].parent
        return [] if parent is None else [parent, *self.around(parent)]

    def copies_of(self, name: str) -> int:
        """Return copies of a loop's body: by itself, by the loops around it, and inside a pipelined loop."""
        around = self.around(name)
        total = self.copies.get(name, 1)
        for outer in around:
            total *= self.copies.get(outer, 1)
        pipelined = [outer for outer in around if "pipeline" in self.kinds.get(outer, ())]
        if pipelined:  # then the loops between are unrolled; the outermost pipeline wins
            for inner in (name, *around[: around.index(pipelined[-1])]):
                total *= self.loops[inner].trip_count or 1
        return total

    def most_copies(self) -> int:
        return max((self.copies_of(name) for name in self.loops), default=1)

    def added_cells(self) -> int:
        """Return the estimated standard cells that copies add."""
        return sum(loop.own_cells * (self.copies_of(name) - 1) for name, loop in self.loops.items())

    def fits(self, space: ConfigurationSpace) -> bool:
        return self.most_copies() <= space.copy_limit and self.added_cells() <= space.added_cells_limit

    def set(self, name: str, kinds: tuple[str, ...], copies: int = 1) -> None:
        self.kinds.pop(name, None)
        self.copies.pop(name, None)
        if kinds:
            self.kinds[name], self.copies[name] = kinds, copies

    def settle(self, loop: LoopSpace) -> None:
        """Take back what cannot stand beside the mappings of the loops around."""
        kinds = self.kinds.get(loop.name, ())
        if any("pipeline" in self.kinds.get(outer, ()) for outer in self.around(loop.name)):
            self.set(loop.name, ())  # it is unrolled fully there
        elif "flatten" in kinds and any(outer in self.kinds for outer in loop.flattens):
            self.set(loop.name, tuple(kind for kind in kinds if kind != "flatten"))


Item = TypeVar("Item")


def _shuffled(items: Sequence[Item], generator: np.random.Generator) -> list[Item]:
    return [items[int(index)] for index in generator.permutation(len(items))]


def _mapped_loops(
    legal: MappingSpace,
    levels: Mapping[tuple[str, str], Any],
    space: ConfigurationSpace,
    generator: np.random.Generator,
) -> list[Directive]:
    """Draw directives on loops, in a drawn order, as far as the bounds allow; drop contradictions."""
    drawn = _Drawn({loop.name: loop for loop in legal.loops})
    for loop in _shuffled(legal.loops, generator):
        mapping = str(levels.get((loop.name, "mapping"), PLAIN))
        if mapping != PLAIN:
            _take(drawn, loop, tuple(mapping.split("+")), levels, space)
    for loop in legal.loops:  # outer before inner
        drawn.settle(loop)
    return [d for loop in legal.loops for d in _loop_directives(loop, drawn)]


def _take(
    drawn: _Drawn,
    loop: LoopSpace,
    kinds: tuple[str, ...],
    levels: Mapping[tuple[str, str], Any],
    space: ConfigurationSpace,
) -> None:
    """Map a loop as drawn, with the largest factor up to the drawn one that fits; else leave it plain."""
    factors = [1]
    if kinds[0] in ("unroll", "parallel"):
        offered = _factors(loop, space)
        if len(kinds) > 1 and loop.trip_count is not None:
            offered = tuple(f for f in offered if 2 * f <= loop.trip_count)  # so that a loop remains
        drawn_factor = levels.get((loop.name, "factor"), offered[-1] if offered else 1)
        factors = [f for f in reversed(offered) if f <= drawn_factor]
    for factor in factors:
        drawn.set(loop.name, kinds, factor)
        if drawn.fits(space):
            return
    drawn.set(loop.name, ())


def _loop_directives(loop: LoopSpace, drawn: _Drawn) -> list[Directive]:
    copies = drawn.copies.get(loop.name, 1)
    value = None if copies in (1, loop.trip_count) else copies
    return [
        Directive(kind=kind, loop=loop.name, value=value if kind in ("unroll", "parallel") else None)
        for kind in drawn.kinds.get(loop.name, ())
    ]


def _partitions(
    legal: MappingSpace,
    levels: Mapping[tuple[str, str], Any],
    space: ConfigurationSpace,
    generator: np.random.Generator,
) -> list[Directive]:
    """Return the directives on arrays, in a drawn order until the banks are used up."""
    left = space.bank_limit
    directives: dict[str, Directive] = {}
    for array in _shuffled(legal.arrays, generator):
        directive, banks = _partition(array, levels, left)
        if directive is not None:
            directives[array.name] = directive
            left -= banks
    return [directives[array.name] for array in legal.arrays if array.name in directives]


def _partition(
    array: ArraySpace, levels: Mapping[tuple[str, str], Any], left: int
) -> tuple[Directive | None, int]:
    """Return the partition of an array within the banks that are left, and its banks."""
    style = levels.get((array.name, "partition"), PLAIN)
    if style == PLAIN:
        return None, 0
    long = [d for d, extent in enumerate(array.shape, 1) if extent > 1]
    dimension = int(levels.get((array.name, "dimension"), long[0]))
    extent = array.shape[dimension - 1]
    if style == "complete" and extent <= left:
        return Directive(kind="partition", variable=array.name, style=style, dimension=dimension), extent
    drawn_banks = levels.get((array.name, "banks"), BANKS[0])
    fitting = [f for f in BANKS if f <= min(drawn_banks, left, extent - 1)]
    if not fitting:
        return None, 0
    style = "cyclic" if style == "complete" else style  # too many elements for a bank each
    directive = Directive(
        kind="partition", variable=array.name, style=style, value=fitting[-1], dimension=dimension
    )
    return directive, fitting[-1]


def sampled_mappings(
    legal: MappingSpace, space: ConfigurationSpace, program_id: str
) -> list[MappedConfiguration]:
    """Return the configurations of one program, without repeats.

    The first one has no directives, so that every program has a plain design to compare with. Delays and
    clock periods are a Latin hypercube over all of them, loops and arrays one over all but the first.

    Args:   program_id: hexadecimal; with the seed it is all that the draw depends on beside the space, so
            that no program's configurations depend on which others there are.
    Source: LLMulator section 6.3 for the parameters; it does not say how they are combined.
    """
    generator = np.random.default_rng([space.seed, int(program_id, 16)])
    hardware = hardware_dimensions(space)
    own = program_dimensions(legal, space)
    delays = latin_hypercube(len(hardware), space.samples, generator)
    mapped = latin_hypercube(len(own), space.samples - 1, generator)
    mappings: dict[MappedConfiguration, None] = {}
    for number, point in enumerate(delays):
        delays_and_clock = {name[1]: level for name, level in _levels(hardware, point).items()}
        directives: list[Directive] = []
        if number:
            levels = _levels(own, mapped[number - 1])
            directives += _mapped_loops(legal, levels, space, generator)
            directives += _partitions(legal, levels, space, generator)
        mappings[MappedConfiguration(**delays_and_clock, directives=tuple(directives))] = None
    return list(mappings)


REGISTER_THRESHOLDS = (4, 8, 16, 64, 128)
UNIT_COUNTS = (1, 1, 2, 3)


def _varied_mapping(
    function: Function, mapping: MappedConfiguration, space: ConfigurationSpace, program_id: str
) -> MappedConfiguration | None:
    """Return a mapping under drawn options of the engine, or None for a program that is not drawn.

    Each class of units that the program may use is limited with a chance of two thirds. Floating sums may be
    reordered in half of the programs that have them.
    """
    generator = np.random.default_rng([space.seed, int(program_id, 16), 1])
    if generator.random() >= space.varied_share:
        return None
    classes = _unit_classes(function)
    limited = [name for name in classes if generator.random() < 2 / 3]
    has_sums = bool({"fadd", "dadd"} & {*classes})
    transforms = TransformOptions(
        unsafe_math=has_sums and bool(generator.random() < 1 / 2),
        register_threshold_elements=int(generator.choice(REGISTER_THRESHOLDS)),
        flatten_perfect_nests=bool(generator.random() < 1 / 2),
    )
    limits = tuple((name, int(generator.choice(UNIT_COUNTS))) for name in limited)
    return replace(mapping, transforms=transforms, unit_limits=limits)


def _unit_classes(function: Function) -> list[str]:
    """Return the classes of units that the operators of a program may take, in order of their names.

    An integer operator may be narrowed, so that it counts in each class up to its width.
    """
    classes: set[str] = set()
    for one in ir.all_expressions(function.body):
        if not isinstance(one, ir.Binary | ir.Unary) or one.operator not in UNITS_OF_OPERATORS:
            continue
        kind, unit = one.type, UNITS_OF_OPERATORS[one.operator]
        if kind.floating:
            classes.add(f"{'f' if kind.width_bits == 32 else 'd'}{unit}")
        else:
            sign = "u" if unit == "div" and not kind.signed else ""
            classes |= {f"{sign}{unit}_{width}" for width in CLASS_WIDTHS_BITS if width <= kind.width_bits}
    return sorted(classes & {*LIMITED_CLASSES})


def _levels(dimensions: Sequence[Dimension], point: NDArray[np.float64]) -> dict[tuple[str, str], Any]:
    return {(d.subject, d.what): d.level(float(u)) for d, u in zip(dimensions, point, strict=True)}
