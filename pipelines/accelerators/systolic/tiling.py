"""Products in tiles: what the mesh computes, in which order, from where in external memory.

A job is out[m, n] = sum over k of a[m, k] w[k, n]. Positions m are lines of a padded image, k is cut in terms
(a kernel's row, or its positions), n are output channels. Weight stationary reads and writes channels last;
output stationary reads and writes channels first, channels on the mesh's rows and positions on its columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.graph import Layer
from pipelines.accelerators.systolic.hardware import Hardware

_ROW_LIMIT = 255
"""Rows of one command."""
WEIGHT, OUTPUT = "weight", "output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A run of k: place of its first operand relative to a position's, first row of the weights, length."""

    base: int
    first: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A product; places and distances are bytes of external memory.

    Attributes:
        flow: weight or output.
        lines, columns: of positions. line_stride, column_stride, k_stride: distances of neighbours.
        terms: of k. outputs: n. groups: diagonal blocks of the weights of a term; 1 = dense.
        operand_bytes: of a. pool: window (height, width) of stores, (1, 1) without.
        has_bias: whether every output has one. repeats: products of this shape, one after the other.
        expanded: whether the host copies the operands of every term, as no gather path is there.
    """

    flow: str
    lines: int
    columns: int
    line_stride: int
    column_stride: int
    k_stride: int
    terms: tuple[Term, ...]
    outputs: int
    operand_bytes: int
    groups: int = 1
    pool: tuple[int, int] = (1, 1)
    has_bias: bool = False
    repeats: int = 1
    expanded: bool = False

    @property
    def positions(self) -> int:
        """All m."""
        return self.lines * self.columns

    @property
    def depth(self) -> int:
        """Rows of the weights, all k."""
        return sum(term.length for term in self.terms)

    @property
    def weights_at(self) -> int:
        """Place of the weights, behind the operands, at a multiple of 8."""
        return -(-self.operand_bytes // 8) * 8

    @property
    def results_at(self) -> int:
        """Place of the results."""
        return self.weights_at + -(-self.depth * self.outputs // 8) * 8

    @property
    def result_positions(self) -> int:
        """Positions of results, after the pool."""
        return (self.lines // self.pool[0]) * (self.columns // self.pool[1])

    def channels(self, first: int, last: int) -> tuple[int, int]:
        """Return the part of a term's k that outputs first .. last - 1 read."""
        length, per_group = self.terms[0].length, self.outputs // self.groups
        if self.groups == 1:
            return 0, length
        size = length // self.groups
        return first // per_group * size, (-(-last // per_group)) * size


def jobs_of(layer: Layer, hardware: Hardware, flow: str) -> Job:
    """Return the product of a layer under a dataflow; the pool is part of it where the hardware takes it.

    Raises: AcceleratorError: the layer is the host's.
    """
    if layer.kind == "conv":
        return _conv(layer, hardware, flow)
    if layer.kind == "matmul":
        return _matmul(layer, flow)
    if layer.kind == "add":
        return _addition(layer, flow)
    raise AcceleratorError(f"layer of the host: {layer.name}")


def folded(**fields: object) -> Job:
    """Return a job whose lines are one line where its positions lie in a row."""
    job = Job(**fields)  # pyright: ignore[reportArgumentType]
    if job.pool == (1, 1) and job.line_stride == job.columns * job.column_stride:
        fields |= {"lines": 1, "columns": job.positions}
        return Job(**fields)  # pyright: ignore[reportArgumentType]
    return job


def _conv(layer: Layer, hardware: Hardware, flow: str) -> Job:
    _, channels, height, width = layer.in_shapes[0]
    outputs, _, kernel_h, kernel_w = layer.weight_shape
    top, left, bottom, right = layer.pads
    high, wide = height + top + bottom, width + left + right
    lines = (high - kernel_h) // layer.strides[0] + 1
    columns = (wide - kernel_w) // layer.strides[1] + 1
    fields: dict[str, object] = {
        "flow": flow,
        "lines": lines,
        "columns": columns,
        "outputs": outputs,
        "groups": layer.groups,
        "operand_bytes": channels * high * wide,
        "has_bias": layer.has_bias,
    }
    kernel = [(ky, kx) for ky in range(kernel_h) for kx in range(kernel_w)]
    if flow == WEIGHT:
        fields |= {"line_stride": layer.strides[0] * wide * channels, "k_stride": 1}
        fields |= {"column_stride": layer.strides[1] * channels}
        pool = _hardware_pool(layer, hardware, columns)
        fields |= {"pool": pool, "lines": lines // pool[0] * pool[0]}
        run = kernel_w * channels
        if layer.groups == 1:
            terms = [Term(base=ky * wide * channels, first=ky * run, length=run) for ky in range(kernel_h)]
        else:
            terms = [
                Term(base=(ky * wide + kx) * channels, first=i * channels, length=channels)
                for i, (ky, kx) in enumerate(kernel)
            ]
        return folded(**fields, terms=tuple(terms))
    if layer.strides[1] > 1 and not hardware.transposer:
        size = channels * lines * columns
        fields |= {"operand_bytes": size * len(kernel), "expanded": True}
        fields |= {"line_stride": columns, "column_stride": 1, "k_stride": lines * columns}
        bases = [i * size for i in range(len(kernel))]
    else:
        fields |= {"line_stride": layer.strides[0] * wide, "column_stride": layer.strides[1]}
        fields |= {"k_stride": high * wide}
        bases = [ky * wide + kx for ky, kx in kernel]
    terms = [Term(base=base, first=i * channels, length=channels) for i, base in enumerate(bases)]
    return folded(**fields, terms=tuple(terms))


def _hardware_pool(layer: Layer, hardware: Hardware, columns: int) -> tuple[int, int]:
    """Return the layer's pool, when a band of lines fits the accumulator; else the host's."""
    fits = layer.pool and layer.pool[0] * columns <= position_limit(hardware) and max(layer.pool) < 16
    return layer.pool if hardware.pooling and layer.pool and fits else (1, 1)


def position_limit(hardware: Hardware) -> int:
    """Return the most positions of a block under weight stationary flow."""
    return min(hardware.scratchpad_rows // 4, hardware.accumulator_rows // 2, _ROW_LIMIT)


def _matmul(layer: Layer, flow: str) -> Job:
    shape = layer.in_shapes[0]
    depth, outputs = shape[-1], layer.out_shape[-1]
    dynamic = not layer.weight_shape
    positions = shape[-2] if dynamic else prod(shape[:-1])
    return _plain(
        flow,
        positions,
        (Term(base=0, first=0, length=depth),),
        outputs=outputs,
        operand_bytes=positions * depth,
        has_bias=layer.has_bias,
        repeats=prod(shape[:-2]) if dynamic else 1,
    )


def _addition(layer: Layer, flow: str) -> Job:
    shape = layer.out_shape
    is_image = len(shape) == 4
    channels = shape[1] if is_image else shape[-1]
    positions = prod(shape) // channels
    terms = tuple(Term(base=i * prod(shape), first=i * channels, length=channels) for i in range(2))
    return _plain(flow, positions, terms, outputs=channels, operand_bytes=2 * prod(shape), groups=channels)


def _plain(flow: str, positions: int, terms: tuple[Term, ...], **fields: object) -> Job:
    """Return a product of a matrix with positions as rows (weight stationary) or columns (else)."""
    length = terms[0].length
    column_stride, k_stride = (length, 1) if flow == WEIGHT else (1, positions)
    return folded(
        flow=flow,
        lines=1,
        columns=positions,
        line_stride=positions * column_stride,
        column_stride=column_stride,
        k_stride=k_stride,
        terms=terms,
        **fields,
    )


# ---- plans: sizes of blocks and tiles --------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightPlan:
    """Order under weight stationary flow: block of positions, group of outputs, chunk of k, tile of outputs.

    Attributes: block: positions. tiles: tiles of outputs that share the operands of a chunk.
    """

    job: Job
    block: int
    tiles: int

    def chunks(self, rows: int) -> list[tuple[Term, int, int]]:
        """Return term, first k within it, and length of every chunk."""
        return [
            (term, k, min(rows, term.length - k))
            for term in self.job.terms
            for k in range(0, term.length, rows)
        ]

    def blocks(self) -> list[tuple[int, int]]:
        """Return the first position and number of positions of every block."""
        count = self.job.positions
        return [(m, min(self.block, count - m)) for m in range(0, count, self.block)]

    def segments(self, first: int, count: int) -> list[tuple[int, int]]:
        """Return the place of the first position, and the number of positions, of a block's line parts."""
        job, parts = self.job, list[tuple[int, int]]()
        while count:
            line, column = divmod(first, job.columns)
            size = min(count, job.columns - column)
            parts.append((line * job.line_stride + column * job.column_stride, size))
            first, count = first + size, count - size
        return parts


def plan_weight(job: Job, hardware: Hardware) -> WeightPlan:
    """Return the sizes with the least traffic of operands and weights."""
    limit, half = position_limit(hardware), hardware.accumulator_rows // 2
    band = job.pool[0] * job.columns if job.pool != (1, 1) else 1
    most = min(limit, -(-job.positions // band) * band)
    sizes = sorted({max(band, most // part // band * band) for part in (1, 2, 4, 8)})
    tile_count = -(-job.outputs // hardware.columns)

    def traffic(block: int) -> int:
        tiles = min(tile_count, half // block)
        operands = job.positions * -(-tile_count // tiles)
        return job.depth * (operands + job.outputs * -(-job.positions // block))

    block = min(sizes, key=lambda size: (traffic(size), -size))
    return WeightPlan(job=job, block=block, tiles=min(tile_count, half // block))


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPlan:
    """Order under output stationary flow: tile of outputs, tile of positions, chunk of k.

    Attributes: chunk: most k of a chunk. rows, columns: of the mesh.
    """

    job: Job
    chunk: int
    rows: int
    columns: int

    def tiles(self) -> list[tuple[int, int]]:
        """Return the first output and number of outputs of every tile."""
        return [(n, min(self.rows, self.job.outputs - n)) for n in range(0, self.job.outputs, self.rows)]

    def positions(self) -> list[tuple[int, int, int]]:
        """Return first position, its place, number of positions of every tile; a tile lies within a line."""
        job = self.job
        return [
            (
                line * job.columns + m,
                line * job.line_stride + m * job.column_stride,
                min(self.columns, job.columns - m),
            )
            for line in range(job.lines)
            for m in range(0, job.columns, self.columns)
        ]

    def chunks(self, first: int, count: int) -> list[tuple[Term, int, int]]:
        """Return the chunks of k that a tile of outputs reads: term, first k within it, length."""
        low, high = self.job.channels(first, first + count)
        return [
            (term, k, min(self.chunk, high - k))
            for term in self.job.terms
            for k in range(low, high, self.chunk)
        ]


def plan_output(job: Job, hardware: Hardware) -> OutputPlan:
    """Return the sizes that fill the scratchpad."""
    chunk = min(hardware.scratchpad_rows // 4, _ROW_LIMIT)
    return OutputPlan(job=job, chunk=chunk, rows=hardware.rows, columns=hardware.columns)
