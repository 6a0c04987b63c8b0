"""State of generation: variables and arrays that may be read and written at the current point.

Programs are generated from their end to their start, so a variable is *pending* from its last use until its
definition has been generated: it is live, and may be read or updated.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from math import prod
from random import Random

from pipelines.c.signature import INT32, UINT32, UINT64, ScalarType
from pipelines.programs.ast.operations import type_range
from pipelines.programs.ast.options import DATA_TYPES, AstOptions
from pipelines.programs.ast.tree import Array, Extent, Function, Number, Variable

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
"""Words by the kind of object that they name."""

LOOPS = ("i", "j", "k", "m", "n", "p", "q", "r")
"""Loop variables by depth."""


class NameSupply:
    """Supply of unique names."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._taken: set[str] = set(LOOPS)

    def new(self, kind: str) -> str:
        """Return a name of a kind of WORDS: an unused word, or a word with a number."""
        word = self._random.choice(WORDS[kind])
        name, number = word, 2
        while name in self._taken:
            name, number = f"{word}{number}", number + 1
        self._taken.add(name)
        return name


@dataclass(slots=True, kw_only=True)
class Frame:
    """A block that is being generated.

    Attributes:
        loop: variable of the loop whose body the block is, with its values inside; None of other blocks.
        extent: range of the loop variable, when it may be a subscript.
        trips: maximum executions of the block per entry.
        covering: part of a nest that must write every element, so it has no early exits.
        leaves: `continue` and `break` that may stand in it.
        pending: variables declared in this block, live, whose definition is yet to come.
    """

    loop: Variable | None = None
    extent: Extent | None = None
    trips: int = 1
    covering: bool = False
    is_loop: bool = False
    leaves: tuple[str, ...] = ()
    pending: list[Variable] = field(default_factory=list[Variable])


@dataclass(slots=True, kw_only=True)
class Scope:
    """The state of the generation of one function.

    Attributes:
        palette: types of the program's data; the first is the main one.
        extents: lengths of dimensions and loops.
        depth: maximum loops around a statement.
        budget: statements that may still be added.
        arguments: scalars that are arguments.
        inputs, outputs, tables: arrays of the whole program; outputs may be written.
        local_arrays: live arrays of the function that are yet to be defined.
        closed: outputs that are overwritten as a whole later, and so are not live.
        barred: arrays that must not be read where a nest overwrites them.
        locked: variables and arrays that must not be changed: they control a loop, or are not live here.
        sums: variables and arrays that are only added to, with the remaining magnitude.
        demanded: loops still required around the additions to a variable.
        helpers: functions of the program besides the top one; helper_ranges: ranges of their results.
        fixed_arguments: the function is a helper, which has no arrays and no other arguments.
        returned: the result of the function; None when it has none.
        forms: requested ones of FORMS.
    """

    random: Random
    options: AstOptions
    names: NameSupply
    palette: tuple[ScalarType, ...]
    extents: tuple[Extent, ...]
    depth: int
    budget: int
    frames: list[Frame] = field(default_factory=list[Frame])
    arguments: list[Variable] = field(default_factory=list[Variable])
    inputs: list[Array] = field(default_factory=list[Array])
    outputs: list[Array] = field(default_factory=list[Array])
    tables: list[Array] = field(default_factory=list[Array])
    local_arrays: list[Array] = field(default_factory=list[Array])
    closed: list[str] = field(default_factory=list[str])
    barred: list[str] = field(default_factory=list[str])
    locked: list[str] = field(default_factory=list[str])
    sums: dict[str, float] = field(default_factory=dict[str, float])
    demanded: dict[str, int] = field(default_factory=dict[str, int])
    helpers: list[Function] = field(default_factory=list[Function])
    helper_ranges: dict[str, tuple[Number, Number]] = field(default_factory=dict[str, tuple[Number, Number]])
    fixed_arguments: bool = False
    returned: Variable | None = None
    forms: Collection[str] = ()

    @property
    def frame(self) -> Frame:
        """The innermost block."""
        return self.frames[-1]

    @property
    def loops(self) -> int:
        """Loops around the current point."""
        return sum(f.is_loop for f in self.frames)

    @property
    def trips(self) -> int:
        """Maximum executions of the current point."""
        return prod(f.trips for f in self.frames)

    def trips_within(self, name: str) -> int:
        """Return maximum executions of the current point while a variable lives; for an array, in total."""
        for place, frame in enumerate(self.frames):
            if any(v.name == name for v in frame.pending):
                return prod(f.trips for f in self.frames[place + 1 :])
        return self.trips

    def chance(self, probability: float) -> bool:
        """Return true with a probability."""
        return self.random.random() < probability

    def draws(self, form: str, probability: float) -> bool:
        """Return true with a probability for a requested form; else no number is drawn."""
        return form in self.forms and self.chance(probability)

    # ---- existing objects ------------------------------------------------------------------------------

    def counters(self) -> list[tuple[Variable, Extent]]:
        """Return the loop variables that may be subscripts, with what they run over, outermost first."""
        return [(f.loop, f.extent) for f in self.frames if f.loop is not None and f.extent is not None]

    def loop_variables(self) -> list[Variable]:
        """Return the variables of all loops around the current point, outermost first."""
        return [f.loop for f in self.frames if f.loop is not None]

    def pending(self) -> list[Variable]:
        """Return the live variables of the function at the current point."""
        return [v for f in self.frames for v in f.pending]

    def readable_arrays(self) -> list[Array]:
        """Return the arrays that may be read at the current point."""
        arrays = [*self.inputs, *self.tables, *self.local_arrays, *self.outputs]
        return [a for a in arrays if a.name not in self.closed and a.name not in self.barred]

    def writable_arrays(self) -> list[Array]:
        """Return the live arrays that may be written at the current point."""
        arrays = [*self.outputs, *self.local_arrays]
        barred = (*self.closed, *self.barred, *self.locked)
        return [a for a in arrays if a.name not in barred]

    def updatable(self) -> list[Variable]:
        """Return the live variables that a statement may change."""
        return [v for v in self.pending() if v.name not in self.locked]

    def live_names(self) -> set[str]:
        """Return the names of everything live at the current point."""
        return {p.name for p in (*self.pending(), *self.local_arrays, *self.outputs)}

    def can_loop(self, count: int = 1) -> bool:
        """Tell whether more loops may be added at the current point."""
        smallest = min(e.value for e in self.extents)
        return (
            self.loops + count <= self.depth and self.trips * smallest**count <= self.options.max_iterations
        )

    def loop_extent(self) -> Extent:
        """Return a length that a loop at the current point may have; the smallest if none is short enough."""
        room = self.options.max_iterations // self.trips
        return self.random.choice([e for e in self.extents if e.value <= room] or [self.smallest_extent()])

    def smallest_extent(self) -> Extent:
        """Return the shortest length."""
        return min(self.extents, key=lambda e: e.value)

    def loop_name(self) -> str:
        """Return the name of the variable of a loop at the current point."""
        return LOOPS[self.loops]

    # ---- new variables and arrays -------------------------------------------------------------------

    def new_temporary(self, kind: ScalarType, *, word: str = "temporary") -> Variable:
        """Return a variable that is live from here backwards, declared in this block or one around it."""
        low, high = self.value_range(kind)
        return self.declared(Variable(name=self.names.new(word), type=kind, low=low, high=high))

    def declared(self, variable: Variable, *, innermost: bool = False) -> Variable:
        """Make a variable live in the current block or, at random, one around it."""
        place = len(self.frames) - 1
        while place > 0 and not innermost and self.chance(0.3):
            place -= 1
        self.frames[place].pending.append(variable)
        return variable

    def new_sum(self, domain: ScalarType, levels: int) -> Variable:
        """Return a variable of the current block that loops add to, `levels` of them around each other."""
        kind = sum_type(domain)
        low, high = self.sum_range(kind)
        variable = Variable(name=self.names.new("sum"), type=kind, low=low, high=high)
        self.frame.pending.append(variable)
        if not wraps(kind):
            self.sums[variable.name] = float(high)
        self.demanded[variable.name] = levels
        return variable

    def new_argument(self, kind: ScalarType) -> Variable:
        """Return a scalar argument."""
        low, high = self.drawn_range(kind)
        variable = Variable(name=self.names.new("argument"), type=kind, low=low, high=high)
        self.arguments.append(variable)
        return variable

    def value_range(self, kind: ScalarType) -> tuple[Number, Number]:
        """Return a range for a freely assigned variable: the full range of a narrow or unsigned type."""
        if kind.floating:
            reach = float(1 << self.random.randint(22, 28))
            return -reach, reach
        if not kind.signed or kind.width_bits < 32:
            return type_range(kind)
        bits = self.random.randint(15, 20) if kind == INT32 else self.random.randint(24, 40)
        return -(1 << bits), (1 << bits) - 1

    def sum_range(self, kind: ScalarType) -> tuple[Number, Number]:
        """Return a range for a sum: room for each iteration to add some thousands."""
        if wraps(kind):
            return type_range(kind)
        bits = self.options.max_iterations.bit_length() + (12 if kind == INT32 else 24)
        if kind.floating:
            return -(2.0**44), 2.0**44
        bits = min(bits, kind.width_bits - 4)
        return -(1 << bits) + 1, (1 << bits) - 1

    def drawn_range(self, kind: ScalarType) -> tuple[Number, Number]:
        """Return a range that data of an argument is drawn from, both ends included."""
        generator = self.random
        if kind.floating:
            return generator.choice([(-1.0, 1.0), (0.0, 1.0), (-8.0, 8.0), (0.5, 4.0), (-50.0, 50.0)])
        most = {8: 7, 16: 12, 32: 13, 64: 24}[kind.width_bits]
        bits = generator.randint(4, most)
        if not kind.signed:
            return 0, (1 << generator.randint(bits, most + 1)) - 1
        return -(1 << bits), (1 << bits) - 1

    def new_array(self, role: str, shape: tuple[Extent, ...]) -> Array:
        """Return an array of a role: input, output, sum (an output that is added to), local or table."""
        kind = self.data_type()
        drawn = self.drawn_range(kind)
        low, high = drawn
        if role == "sum":
            kind = sum_type(kind)
            drawn = self.drawn_range(kind)
            low, high = self.sum_range(kind)
        elif role in ("output", "local"):
            low, high = self.value_range(kind)
            drawn = max(low, drawn[0]), min(high, drawn[1])
        word = {"sum": "output"}.get(role, role)
        values = self.initial_values(kind, drawn, shape) if role == "table" else ()
        array = Array(
            name=self.names.new(word), type=kind, low=low, high=high, shape=shape, drawn=drawn, values=values
        )
        if role == "sum" and not wraps(kind):
            self.sums[array.name] = float(high) - max(abs(float(drawn[0])), abs(float(drawn[1])))
        owner = {"input": self.inputs, "local": self.local_arrays, "table": self.tables}
        owner.get(role, self.outputs).append(array)
        return array

    def data_type(self) -> ScalarType:
        """Return a type of the palette, mostly the main one."""
        return self.palette[0] if self.chance(0.6) else self.random.choice(self.palette)

    def initial_values(
        self, kind: ScalarType, drawn: tuple[Number, Number], shape: tuple[Extent, ...]
    ) -> tuple[Number, ...]:
        """Return values of every element of an array, flat."""
        count = prod(e.value for e in shape)
        if kind.floating:
            steps = [self.random.randint(int(drawn[0] * 16), int(drawn[1] * 16)) for _ in range(count)]
            return tuple(s / 16 for s in steps)
        low, high = int(drawn[0]), int(drawn[1])
        return tuple(self.random.randint(low, high) for _ in range(count))


def domain_of(kind: ScalarType) -> ScalarType:
    """Return the type that values of a type are computed in."""
    return INT32 if not kind.floating and kind.width_bits < 32 else kind


def sum_type(kind: ScalarType) -> ScalarType:
    """Return the type of a sum of values of a type."""
    if kind.floating or kind.width_bits == 64:
        return kind
    return INT32 if kind.signed or kind.width_bits < 32 else UINT32


def wraps(kind: ScalarType) -> bool:
    """Tell whether a sum in this type may wrap around: it is unsigned and at least as wide as int."""
    return kind in (UINT32, UINT64)


def draw_palette(
    generator: Random, options: AstOptions, forms: Collection[str] = ()
) -> tuple[ScalarType, ...]:
    """Draw one to three types of data, with at most one floating type; of `mixed_types` up to five."""
    kinds = [DATA_TYPES[name] for name in options.data_types]
    if "mixed_types" in forms:
        return tuple(generator.sample(kinds, min(generator.randint(2, 5), len(kinds))))
    main = generator.choice(kinds)
    others = [k for k in kinds if not (k.floating and main.floating) and k != main]
    if not main.floating:
        others = [k for k in others if not k.floating] * 3 + [k for k in others if k.floating]
    count = min(generator.choice((0, 1, 1, 2)), len(others))
    chosen = [main]
    for kind in generator.sample(others, count):
        if kind not in chosen and not (kind.floating and any(c.floating for c in chosen)):
            chosen.append(kind)
    return tuple(chosen)
