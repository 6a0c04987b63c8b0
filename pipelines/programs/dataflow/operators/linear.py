"""Dense linear algebra."""

from __future__ import annotations

from pipelines.programs.dataflow.builder import Bench, Built
from pipelines.programs.dataflow.options import ZERO, Range, Unsuitable, require_int32
from pipelines.programs.dataflow.tree import Axis, Extent, Loop, Node, loop, nest, statement


def matmul(bench: Bench) -> Built:
    """out[M][N] = A B, either factor transposed in memory or not, with or without a bias per column."""
    a = bench.input("a", rank=2)
    layout = bench.random.choice(("nn", "nn", "nt", "tn"))
    bench.parameter("layout", layout)
    inner, rows = a.shape if layout == "tn" else a.shape[::-1]
    columns = bench.random.randint(2, 12)
    b = bench.weight("b", (columns, inner) if layout == "nt" else (inner, columns))
    m, n, k = bench.size("M", rows), bench.size("N", columns), bench.size("K", inner)
    first, first_values = _bias(bench, columns, "j")
    left = "a[k][i]" if layout == "tn" else "a[i][k]"
    right = "b[j][k]" if layout == "nt" else "b[k][j]"
    run = bench.runtime(m, "rows")
    fill = bench.zero_fill([("i", m), ("j", n)]) if run.runtime else ()
    nodes, values = bench.accumulate(
        outer=[("i", run), ("j", n)],
        inner=[("k", k)],
        term=f"{left} * {right}",
        term_values=a.values * b.values,
        first=first,
        first_values=first_values,
    )
    return Built(body=fill + nodes, shape=(rows, columns), values=values.hull(ZERO))


def matvec(bench: Bench) -> Built:
    """out[M] = A x, or out[N] = A^T x."""
    a = bench.input("a", rank=2)
    transposed = bench.flip(0.4)
    bench.parameter("transposed", transposed)
    rows, columns = a.shape[::-1] if transposed else a.shape
    x = bench.weight("x", (columns,))
    m, n = bench.size("M", rows), bench.size("N", columns)
    first, first_values = _bias(bench, rows, "i")
    term = "a[j][i] * x[j]" if transposed else "a[i][j] * x[j]"
    nodes, values = bench.accumulate(
        outer=[("i", m)],
        inner=[("j", bench.runtime(n, "columns"))],
        term=term,
        term_values=a.values * x.values,
        first=first,
        first_values=first_values,
    )
    return Built(body=nodes, shape=(rows,), values=values)


def batched_matmul(bench: Bench) -> Built:
    """out[B][M][N] = A[B] W[B], or one W for every batch."""
    a = bench.input("a", rank=3)
    batch, rows, inner = a.shape
    columns = bench.random.randint(2, 8)
    shared = bench.flip(0.4)
    bench.parameter("shared", shared)
    b = bench.weight("b", (inner, columns) if shared else (batch, inner, columns))
    g, m, n, k = (
        bench.size(role, value) for role, value in zip("BMNK", (batch, rows, columns, inner), strict=True)
    )
    nodes, values = bench.accumulate(
        outer=[("g", g), ("i", m), ("j", n)],
        inner=[("k", k)],
        term="a[g][i][k] * b[k][j]" if shared else "a[g][i][k] * b[g][k][j]",
        term_values=a.values * b.values,
    )
    return Built(body=nodes, shape=(batch, rows, columns), values=values)


def outer_product(bench: Bench) -> Built:
    """out[M][N] = x y^T, or a rank-one update of a matrix."""
    x = bench.input("x", rank=1, accept=lambda shape: shape[0] <= 24)
    y = bench.weight("y", (bench.random.randint(3, 12),))
    shape = (x.shape[0], y.shape[0])
    m, n = bench.sizes("M N", shape)
    update = bench.flip(0.4)
    bench.parameter("update", update)
    values = x.values * y.values
    text = "x[i] * y[j]"
    if update:
        a = bench.weight("a", shape, sharing=0.8)
        values, text = values + a.values, f"a[i][j] + {text}"
    text, values = bench.finish(text, values)
    return Built(
        body=nest([("i", m), ("j", n)], "parallel", statement(f"out[i][j] = {text}")),
        shape=shape,
        values=values,
    )


def gemm(bench: Bench) -> Built:
    """out = alpha A B + beta C with constant factors."""
    a = bench.input("a", rank=2)
    rows, inner = a.shape
    columns = bench.random.randint(2, 12)
    b = bench.weight("b", (inner, columns))
    c = bench.weight("c", (rows, columns))
    alpha, beta = bench.random.randint(1, 4), bench.random.randint(1, 4)
    bench.parameter("alpha", alpha)
    bench.parameter("beta", beta)
    m, n, k = bench.size("M", rows), bench.size("N", columns), bench.size("K", inner)
    factor, scale = bench.number(alpha), bench.number(beta)
    nodes, values = bench.accumulate(
        outer=[("i", m), ("j", n)],
        inner=[("k", k)],
        term=f"{factor} * a[i][k] * b[k][j]",
        term_values=a.values * b.values * Range(alpha, alpha),
        first=f"{scale} * c[i][j]",
        first_values=c.values * Range(beta, beta),
    )
    return Built(body=nodes, shape=(rows, columns), values=values)


def syrk(bench: Bench) -> Built:
    """Lower triangle of A A^T; zero above the diagonal."""
    a = bench.input("a", rank=2)
    m, k = bench.sizes("M K", a.shape)
    values = (a.values * a.values).accumulated(k.size)
    if not bench.floating:
        require_int32(values)
    text, values = bench.finish("sum", values)
    body: tuple[Node, ...] = (
        statement(f"{bench.sum_type} sum = 0"),
        *nest([("k", k)], "reduction", statement("sum += a[i][k] * a[j][k]")),
        statement(f"out[i][j] = {text}"),
    )
    rows = loop("i", m, "parallel", _triangle("j", "i", m, *body))
    axes: list[Axis] = [("i", m), ("j", m)]
    return Built(
        body=(*bench.zero_fill(axes), rows),
        shape=(m.size, m.size),
        values=values.hull(ZERO),
    )


def triangular_matvec(bench: Bench) -> Built:
    """out = L x of the lower triangle of a square matrix, summed in the result or in a scalar."""
    x = bench.input("x", rank=1, accept=lambda shape: shape[0] <= 20)
    a = bench.weight("a", (x.shape[0], x.shape[0]))
    n = bench.size("N", x.shape[0])
    values = (a.values * x.values).accumulated(n.size)
    if not bench.floating:
        require_int32(values)
    text, values = bench.finish("sum", values)
    body: tuple[Node, ...] = (
        statement(f"{bench.sum_type} sum = 0"),
        _triangle("j", "i", n, statement("sum += a[i][j] * x[j]"), kind="reduction"),
        statement(f"out[i] = {text}"),
    )
    return Built(body=(loop("i", n, "parallel", *body),), shape=(n.size,), values=values)


def forward_substitution(bench: Bench) -> Built:
    """x of L x = b with ones on the diagonal of L, in floating point."""
    if not bench.floating:
        raise Unsuitable("forward substitution needs quotients or growing integers")
    b = bench.input("b", rank=1, accept=lambda shape: shape[0] <= 20)
    size = b.shape[0]
    lower = bench.external("a", (size, size), 0.5 / size)
    n = bench.size("N", size)
    body: tuple[Node, ...] = (
        statement("float sum = b[i]"),
        Loop(
            variable="j",
            stop="i",
            kind="reduction",
            trips=size,
            exact=False,
            body=(statement("sum -= a[i][j] * out[j]"),),
        ),
        statement("out[i] = sum"),
    )
    # |x_i| <= |b| + sum of |L| |x_j| <= |b| + |x| / 2, so no |x_i| exceeds 2 |b|.
    doubled = b.values * Range(-2, 2)
    del lower
    return Built(body=(loop("i", n, "serial", *body),), shape=(size,), values=doubled)


def _triangle(inner: str, outer: str, extent: Extent, *body: Node, kind: str = "parallel") -> Loop:
    return Loop(
        variable=inner,
        stop=f"{outer} + 1",
        kind="reduction" if kind == "reduction" else "parallel",
        trips=extent.size,
        exact=False,
        body=body,
    )


def _bias(bench: Bench, size: int, variable: str) -> tuple[str, Range]:
    if not bench.flip(0.4):
        return "0", ZERO
    bias = bench.weight("bias", (size,), sharing=0.1)
    return f"bias[{variable}]", bias.values
