"""Dense linear algebra."""

from __future__ import annotations

from pipelines.programs.dataflow.builder import OperatorBody, OperatorBuilder
from pipelines.programs.dataflow.options import ZERO, Range, Unsuitable, require_int32
from pipelines.programs.dataflow.tree import Axis, Extent, Loop, Node, loop, nest, statement


def matmul(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[M][N] = A B, each factor transposed in memory or not, with or without bias per column."""
    a = builder.input("a", rank=2)
    layout = builder.random.choice(("nn", "nn", "nt", "tn"))
    builder.parameter("layout", layout)
    inner, rows = a.shape if layout == "tn" else a.shape[::-1]
    columns = builder.random.randint(2, 12)
    b = builder.weight("b", (columns, inner) if layout == "nt" else (inner, columns))
    m, n, k = builder.size("M", rows), builder.size("N", columns), builder.size("K", inner)
    first, first_values = _bias(builder, columns, "j")
    left = "a[k][i]" if layout == "tn" else "a[i][k]"
    right = "b[j][k]" if layout == "nt" else "b[k][j]"
    run = builder.runtime(m, "rows")
    fill = builder.zero_fill([("i", m), ("j", n)]) if run.runtime else ()
    nodes, values = builder.accumulate(
        outer=[("i", run), ("j", n)],
        inner=[("k", k)],
        term=f"{left} * {right}",
        term_values=a.values * b.values,
        first=first,
        first_values=first_values,
    )
    return OperatorBody(body=fill + nodes, shape=(rows, columns), values=values.hull(ZERO))


def matvec(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[M] = A x, or out[N] = A^T x."""
    a = builder.input("a", rank=2)
    transposed = builder.flip(0.4)
    builder.parameter("transposed", transposed)
    rows, columns = a.shape[::-1] if transposed else a.shape
    x = builder.weight("x", (columns,))
    m, n = builder.size("M", rows), builder.size("N", columns)
    first, first_values = _bias(builder, rows, "i")
    term = "a[j][i] * x[j]" if transposed else "a[i][j] * x[j]"
    nodes, values = builder.accumulate(
        outer=[("i", m)],
        inner=[("j", builder.runtime(n, "columns"))],
        term=term,
        term_values=a.values * x.values,
        first=first,
        first_values=first_values,
    )
    return OperatorBody(body=nodes, shape=(rows,), values=values)


def batched_matmul(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[B][M][N] = A[B] W[B], or one W for every batch."""
    a = builder.input("a", rank=3)
    batch, rows, inner = a.shape
    columns = builder.random.randint(2, 8)
    shared = builder.flip(0.4)
    builder.parameter("shared", shared)
    b = builder.weight("b", (inner, columns) if shared else (batch, inner, columns))
    g, m, n, k = (
        builder.size(role, value) for role, value in zip("BMNK", (batch, rows, columns, inner), strict=True)
    )
    nodes, values = builder.accumulate(
        outer=[("g", g), ("i", m), ("j", n)],
        inner=[("k", k)],
        term="a[g][i][k] * b[k][j]" if shared else "a[g][i][k] * b[g][k][j]",
        term_values=a.values * b.values,
    )
    return OperatorBody(body=nodes, shape=(batch, rows, columns), values=values)


def outer_product(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[M][N] = x y^T, or a rank-one update of a matrix."""
    x = builder.input("x", rank=1, accept=lambda shape: shape[0] <= 24)
    y = builder.weight("y", (builder.random.randint(3, 12),))
    shape = (x.shape[0], y.shape[0])
    m, n = builder.sizes("M N", shape)
    update = builder.flip(0.4)
    builder.parameter("update", update)
    values = x.values * y.values
    text = "x[i] * y[j]"
    if update:
        a = builder.weight("a", shape, sharing=0.8)
        values, text = values + a.values, f"a[i][j] + {text}"
    text, values = builder.finish(text, values)
    return OperatorBody(
        body=nest([("i", m), ("j", n)], "parallel", statement(f"out[i][j] = {text}")),
        shape=shape,
        values=values,
    )


def gemm(builder: OperatorBuilder) -> OperatorBody:
    """Compute out = alpha A B + beta C with constant factors."""
    a = builder.input("a", rank=2)
    rows, inner = a.shape
    columns = builder.random.randint(2, 12)
    b = builder.weight("b", (inner, columns))
    c = builder.weight("c", (rows, columns))
    alpha, beta = builder.random.randint(1, 4), builder.random.randint(1, 4)
    builder.parameter("alpha", alpha)
    builder.parameter("beta", beta)
    m, n, k = builder.size("M", rows), builder.size("N", columns), builder.size("K", inner)
    factor, scale = builder.number(alpha), builder.number(beta)
    nodes, values = builder.accumulate(
        outer=[("i", m), ("j", n)],
        inner=[("k", k)],
        term=f"{factor} * a[i][k] * b[k][j]",
        term_values=a.values * b.values * Range(alpha, alpha),
        first=f"{scale} * c[i][j]",
        first_values=c.values * Range(beta, beta),
    )
    return OperatorBody(body=nodes, shape=(rows, columns), values=values)


def syrk(builder: OperatorBuilder) -> OperatorBody:
    """Compute the lower triangle of A A^T; zero above the diagonal."""
    a = builder.input("a", rank=2)
    m, k = builder.sizes("M K", a.shape)
    values = (a.values * a.values).accumulated(k.size)
    if not builder.floating:
        require_int32(values)
    text, values = builder.finish("sum", values)
    body: tuple[Node, ...] = (
        statement(f"{builder.sum_type} sum = 0"),
        *nest([("k", k)], "reduction", statement("sum += a[i][k] * a[j][k]")),
        statement(f"out[i][j] = {text}"),
    )
    rows = loop("i", m, "parallel", _triangle("j", "i", m, *body))
    axes: list[Axis] = [("i", m), ("j", m)]
    return OperatorBody(
        body=(*builder.zero_fill(axes), rows),
        shape=(m.size, m.size),
        values=values.hull(ZERO),
    )


def triangular_matvec(builder: OperatorBuilder) -> OperatorBody:
    """Compute out = L x of the lower triangle of a square matrix, summed in the result or in a scalar."""
    x = builder.input("x", rank=1, accept=lambda shape: shape[0] <= 20)
    a = builder.weight("a", (x.shape[0], x.shape[0]))
    n = builder.size("N", x.shape[0])
    values = (a.values * x.values).accumulated(n.size)
    if not builder.floating:
        require_int32(values)
    text, values = builder.finish("sum", values)
    body: tuple[Node, ...] = (
        statement(f"{builder.sum_type} sum = 0"),
        _triangle("j", "i", n, statement("sum += a[i][j] * x[j]"), kind="reduction"),
        statement(f"out[i] = {text}"),
    )
    return OperatorBody(body=(loop("i", n, "parallel", *body),), shape=(n.size,), values=values)


def forward_substitution(builder: OperatorBuilder) -> OperatorBody:
    """Compute x of L x = b with ones on the diagonal of L, in floating point."""
    if not builder.floating:
        raise Unsuitable("forward substitution needs quotients or growing integers")
    b = builder.input("b", rank=1, accept=lambda shape: shape[0] <= 20)
    size = b.shape[0]
    lower = builder.external("a", (size, size), 0.5 / size)
    n = builder.size("N", size)
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
    return OperatorBody(body=(loop("i", n, "serial", *body),), shape=(size,), values=doubled)


def _triangle(inner: str, outer: str, extent: Extent, *body: Node, kind: str = "parallel") -> Loop:
    return Loop(
        variable=inner,
        stop=f"{outer} + 1",
        kind="reduction" if kind == "reduction" else "parallel",
        trips=extent.size,
        exact=False,
        body=body,
    )


def _bias(builder: OperatorBuilder, size: int, variable: str) -> tuple[str, Range]:
    if not builder.flip(0.4):
        return "0", ZERO
    bias = builder.weight("bias", (size,), sharing=0.1)
    return f"bias[{variable}]", bias.values
