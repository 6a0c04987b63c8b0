"""Designs in Verilog, by family and size: what the engines are tested and measured on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.riscv import demonstration

CODE_WORDS, DATA_WORDS = 64, 64
"""Words of the memories of a core, at least; programs that need more get the next power of two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignSource:
    """Verilog text, the name of its top module, and the files that its memories begin with."""

    verilog: str
    top: str = "top"
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])


def gemm(rows: int, columns: int, *, is_weight_stationary: bool = False) -> DesignSource:
    """Return a systolic array for matrix products: 8-bit operands, 32-bit sums.

    Output-stationary: each element keeps its sum, which is shifted out downwards. Weight-stationary: weights
    are shifted in downwards, sums flow down.
    """
    return _filled("gemm_ws" if is_weight_stationary else "gemm_os", N=rows, M=columns)


def chain(cores: int) -> DesignSource:
    """Return the cores of 16 registers in a row; the output of one is the input of the next."""
    return _filled("chain", N=cores)


def conv2d(elements: int) -> DesignSource:
    """Return a convolution of a pixel stream by 4 x 4 windows from line buffers; 16 elements per filter."""
    return _filled("conv2d", FILTERS=_multiple(elements, 16) // 16)


def sigma(elements: int) -> DesignSource:
    """Return a sparse matrix times a vector: one element per nonzero, and a reduction tree that adds row by
    row.

    In the role of SIGMA (Qin et al., HPCA 2020), whose distribution network is a broadcast here.
    """
    if elements & (elements - 1):
        raise RtlError(f"elements of a reduction tree: {elements}; accepted: powers of 2")
    return _filled("sigma", PES=elements)


def gemmini(elements: int) -> DesignSource:
    """Return an array with two dataflows, scratchpad banks, accumulators and a controller; as square as 2^n
    allows.

    In the role of Gemmini (Genc et al., DAC 2021).
    """
    rows, columns = _sides(elements)
    return _filled("gemmini", N=rows, M=columns)


def rv32im(cores: int, program: Sequence[int] = ()) -> DesignSource:
    """Return cores RV32IM of two stages that run a program; each writes numbers that the next one reads."""
    words = program or demonstration(has_division=True)
    return _with_program("core", "rv32im", words, CORES=cores)


def mesh(side: int) -> DesignSource:
    """Return a mesh of side x side routers with queues, and a node at each that sends and receives flits."""
    if not 1 < side <= 16:
        raise RtlError(f"side of a mesh: {side}; accepted: 2 to 16")
    return _filled("mesh", N=side)


def soc(cores: int, elements: int) -> DesignSource:
    """Return the cores RV32IM and a weight-stationary array that they feed through a bus."""
    rows, columns = _sides(elements)
    return _with_program("core", "soc", demonstration(has_division=True), CORES=cores, N=rows, M=columns)


def wide(entries: int, width: int = 0, program: Sequence[int] = ()) -> DesignSource:
    """Return one out-of-order core RV32I with multiplications, as one module in which little repeats.

    In the role of BOOM (Zhao et al., CARRV 2020).

    Args: entries: of the reorder buffer, a power of 2. width: instructions per cycle.
    """
    width = width or max(2, min(8, entries // 16))
    if entries & (entries - 1) or entries < 2 * width:
        raise RtlError(f"entries of a core: {entries}; accepted: powers of 2 from {2 * width}")
    words = program or demonstration(has_division=False)
    tag = entries.bit_length() - 1
    return _with_program("wide", "", words, WIDTH=width, ENTRIES=entries, TAG=tag)


def _sides(elements: int) -> tuple[int, int]:
    """Return the rows and columns of a rectangle of 2^n elements."""
    if elements < 1 or elements & (elements - 1):
        raise RtlError(f"elements of an array: {elements}; accepted: powers of 2")
    rows = 1 << (elements.bit_length() - 1) // 2
    return rows, elements // rows


def _multiple(size: int, unit: int) -> int:
    if size < unit or size % unit:
        raise RtlError(f"elements: {size}; accepted: multiples of {unit}")
    return size


def _filled(name: str, **sizes: int) -> DesignSource:
    return DesignSource(verilog=_replaced(_template(name), sizes))


def _with_program(first: str, second: str, program: Sequence[int], **sizes: int) -> DesignSource:
    """Return the templates behind each other, with a program as the initial content of the code memory."""
    words = max(CODE_WORDS, 1 << (len(program) - 1).bit_length())
    image = "\n".join(f"    code[{i}] = 32'h{word:08x};" for i, word in enumerate(program))
    text = _template(first) + (_template(second) if second else "")
    return DesignSource(
        verilog=_replaced(text, {**sizes, "CODE": words, "DATA": DATA_WORDS}).replace("@IMAGE@", image)
    )


def _template(name: str) -> str:
    return files("pipelines.rtl.reuse").joinpath("verilog", f"{name}.v").read_text("utf-8")


def _replaced(template: str, sizes: dict[str, int]) -> str:
    for name, size in sizes.items():
        if size < 1:
            raise RtlError(f"size {name} of a design: {size}; accepted: 1 or more")
        template = template.replace(f"@{name}@", str(size))
    return template


FAMILIES: dict[str, Callable[[int], DesignSource]] = {
    "gemm_os": lambda size: gemm(size, size),
    "gemm_ws": lambda size: gemm(size, size, is_weight_stationary=True),
    "gemm": lambda size: gemm(*_sides(size)),
    "chain": chain,
    "conv2d": conv2d,
    "sigma": sigma,
    "gemmini": gemmini,
    "rv32im": rv32im,
    "mesh": mesh,
    "soc_4": lambda size: soc(4, size),
    "soc_32": lambda size: soc(32, size),
    "soc_cores": lambda size: soc(size, 1024),
    "wide": wide,
}
"""Generators by family; the size is an edge's (`gemm_os`, `gemm_ws`, `mesh`), or a number of elements, cores
or entries."""
