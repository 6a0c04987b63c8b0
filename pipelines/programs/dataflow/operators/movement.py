"""Moving data: gather and scatter, transposition, reshaping, concatenation."""

from __future__ import annotations

from itertools import permutations

from pipelines.programs.dataflow.builder import OperatorBody, OperatorBuilder
from pipelines.programs.dataflow.options import ZERO, Range, Unsuitable, require_int32
from pipelines.programs.dataflow.tree import Axis, nest, statement


def gather_rows(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[M][N] = x[index[M]][N]: also the lookup of embeddings."""
    x = builder.input("x", rank=2)
    rows, columns = x.shape
    count = builder.random.randint(2, 12)
    builder.external("index", (count,), rows - 1, low=0, index=True)
    m, n = builder.size("M", count), builder.size("N", columns)
    builder.size("ROWS", rows)
    run = builder.runtime(m, "count")
    axes: list[Axis] = [("i", m), ("j", n)]
    fill = builder.zero_fill(axes) if run.runtime else ()
    body = nest([("i", run), ("j", n)], "parallel", statement("out[i][j] = x[index[i]][j]"))
    return OperatorBody(body=fill + body, shape=(count, columns), values=x.values.hull(ZERO))


def gather_elements(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[M][N] = x[M][index[M][N]]."""
    x = builder.input("x", rank=2)
    rows, columns = x.shape
    count = builder.random.randint(2, 8)
    builder.external("index", (rows, count), columns - 1, low=0, index=True)
    m, n = builder.size("M", rows), builder.size("N", count)
    body = nest([("i", m), ("j", n)], "parallel", statement("out[i][j] = x[i][index[i][j]]"))
    return OperatorBody(body=body, shape=(rows, count), values=x.values)


def scatter_rows(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[index[M]][N] = x[M][N] for a permutation of the rows."""
    x = builder.input("x", rank=2)
    m, n = builder.sizes("M N", x.shape)
    data = {"kind": "permutation"}
    builder.external("index", (m.size,), m.size - 1, low=0, index=True, data=data)
    body = nest([("i", m), ("j", n)], "parallel", statement("out[index[i]][j] = x[i][j]"))
    return OperatorBody(body=body, shape=x.shape, values=x.values)


def scatter_add(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[index[M]][N] += x[M][N], from zero."""
    x = builder.input("x", rank=2)
    rows, columns = x.shape
    places = builder.random.randint(2, 8)
    builder.external("index", (rows,), places - 1, low=0, index=True)
    values = x.values.accumulated(rows)
    if values.magnitude > builder.element.limit:
        raise Unsuitable("what meets at one place must fit the element type")
    p, m, n = builder.size("P", places), builder.size("M", rows), builder.size("N", columns)
    run = builder.runtime(m, "count")
    body = nest([("i", p), ("j", n)], "parallel", statement("out[i][j] = 0"))
    add = statement("out[index[i]][j] += x[i][j]")
    body += nest([("i", run)], "reduction", *nest([("j", n)], "parallel", add))
    return OperatorBody(body=body, shape=(places, columns), values=values)


def histogram(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[b] = how many elements fall into bin b, the ends included in the outer bins."""
    x = builder.input("x", rank=2)
    if builder.floating or x.values.high - x.values.low < 4:
        raise Unsuitable("bins need integers")
    count = x.shape[0] * x.shape[1]
    if count > builder.element.limit:
        raise Unsuitable("counts must fit the element type")
    bins = builder.random.choice((4, 8, 12))
    low = int(x.values.low)
    width = int(x.values.high - x.values.low) // bins + 1
    builder.parameter("low", low)
    builder.parameter("width", width)
    b = builder.size("BINS", bins)
    m, n = builder.sizes("M N", x.shape)
    require_int32(x.values)
    minus = f"- {low}" if low >= 0 else f"+ {-low}"
    body = nest([("i", b)], "parallel", statement("out[i] = 0"))
    body += nest([("i", m), ("j", n)], "reduction", statement(f"out[(x[i][j] {minus}) / {width}] += 1"))
    return OperatorBody(body=body, shape=(bins,), values=Range(0, count))


def transpose2d(builder: OperatorBuilder) -> OperatorBody:
    """Compute out[N][M] = x[M][N]."""
    x = builder.input("x", rank=2)
    m, n = builder.sizes("M N", x.shape)
    body = nest([("i", m), ("j", n)], "parallel", statement("out[j][i] = x[i][j]"))
    return OperatorBody(body=body, shape=(n.size, m.size), values=x.values)


def transpose3d(builder: OperatorBuilder) -> OperatorBody:
    """Compute x with its dimensions in another order."""
    x = builder.input("x", rank=3)
    order = builder.random.choice([p for p in permutations(range(3)) if p != (0, 1, 2)])
    builder.parameter("order", "".join(map(str, order)))
    axes: list[Axis] = list(zip("ijk", builder.sizes("D0 D1 D2", x.shape), strict=True))
    place = "".join(f"[{'ijk'[d]}]" for d in order)
    body = nest(axes, "parallel", statement(f"out{place} = x[i][j][k]"))
    return OperatorBody(body=body, shape=tuple(x.shape[d] for d in order), values=x.values)


def flatten(builder: OperatorBuilder) -> OperatorBody:
    """Compute x[C][H][W] as out[C][H W], or x[M][N] as out[M N]."""
    x = builder.input("x", rank=(2, 3))
    if len(x.shape) == 2:
        m, n = builder.sizes("M N", x.shape)
        body = nest([("i", m), ("j", n)], "parallel", statement(f"out[i * {n.text} + j] = x[i][j]"))
        return OperatorBody(body=body, shape=(m.size * n.size,), values=x.values)
    c, h, w = builder.sizes("C H W", x.shape)
    axes: list[Axis] = [("c", c), ("h", h), ("w", w)]
    body = nest(axes, "parallel", statement(f"out[c][h * {w.text} + w] = x[c][h][w]"))
    return OperatorBody(body=body, shape=(c.size, h.size * w.size), values=x.values)


def split_rows(builder: OperatorBuilder) -> OperatorBody:
    """Compute x[M N] as out[M][N]."""
    x = builder.input("x", rank=1, accept=lambda shape: _divisors(shape[0]) != [])
    width = builder.random.choice(_divisors(x.shape[0]))
    m, n = builder.sizes("M N", (x.shape[0] // width, width))
    builder.size("LENGTH", x.shape[0])
    body = nest([("i", m), ("j", n)], "parallel", statement(f"out[i][j] = x[i * {n.text} + j]"))
    return OperatorBody(body=body, shape=(m.size, width), values=x.values)


def _divisors(number: int) -> list[int]:
    return [d for d in range(2, number // 2 + 1) if number % d == 0]


def concat(builder: OperatorBuilder) -> OperatorBody:
    """Return two matrices under or beside each other, or two stacks of images."""
    a = builder.input("a", rank=(2, 3))
    axis = builder.random.randrange(2 if len(a.shape) == 2 else 1)
    builder.parameter("axis", axis)
    other = list(a.shape)
    other[axis] = builder.random.randint(2, 6)
    tensors = [
        t.shape
        for t in builder.pool.tensors
        if len(t.shape) == len(other) and all(t.shape[d] == other[d] for d in range(len(other)) if d != axis)
    ]
    b = builder.weight(
        "b", builder.random.choice(tensors) if tensors and builder.flip(0.8) else other, sharing=0.9
    )
    roles = ("D0", "D1", "D2")
    first = [builder.size(role, size) for role, size in zip(roles, a.shape, strict=False)]
    second = [
        builder.size(f"{role}B", size) if d == axis else first[d]
        for d, (role, size) in enumerate(zip(roles, b.shape, strict=False))
    ]
    place = "".join(f"[{v}]" for v, _ in zip("ijk", first, strict=False))
    moved = "".join(
        f"[{v} + {first[axis].text}]" if d == axis else f"[{v}]"
        for d, (v, _) in enumerate(zip("ijk", first, strict=False))
    )
    left: list[Axis] = list(zip("ijk", first, strict=False))
    right: list[Axis] = list(zip("ijk", second, strict=False))
    body = nest(left, "parallel", statement(f"out{place} = a{place}"))
    body += nest(right, "parallel", statement(f"out{moved} = b{place}"))
    shape = tuple(s + b.shape[d] if d == axis else s for d, s in enumerate(a.shape))
    return OperatorBody(body=body, shape=shape, values=a.values.hull(b.values))


def crop(builder: OperatorBuilder) -> OperatorBody:
    """Return a window of a matrix, every so many elements."""
    x = builder.input("x", rank=2, accept=lambda shape: min(shape) >= 5)
    stride, top, left = (builder.random.randint(low, 2) for low in (1, 0, 0))
    for name, value in (("stride", stride), ("top", top), ("left", left)):
        builder.parameter(name, value)
    shape = ((x.shape[0] - top - 1) // stride + 1, (x.shape[1] - left - 1) // stride + 1)
    m, n = builder.sizes("M N", shape)
    row, column = _moved("i", stride, top), _moved("j", stride, left)
    body = nest([("i", m), ("j", n)], "parallel", statement(f"out[i][j] = x[{row}][{column}]"))
    return OperatorBody(body=body, shape=shape, values=x.values)


def _moved(variable: str, stride: int, offset: int) -> str:
    text = variable if stride == 1 else f"{variable} * {stride}"
    return f"{text} + {offset}" if offset else text


def flip_rows(builder: OperatorBuilder) -> OperatorBody:
    """Return every row backwards."""
    x = builder.input("x", rank=2)
    m, n = builder.sizes("M N", x.shape)
    last = str(n.size - 1) if n.text.isdigit() else f"{n.text} - 1"
    body = nest([("i", m), ("j", n)], "parallel", statement(f"out[i][j] = x[i][{last} - j]"))
    return OperatorBody(body=body, shape=x.shape, values=x.values)


def pad(builder: OperatorBuilder) -> OperatorBody:
    """Return a frame of zeros around every image."""
    x = builder.input("x", rank=3)
    width = builder.random.choice((1, 1, 2))
    builder.parameter("width", width)
    c, h, w = builder.sizes("C H W", x.shape)
    ph, pw = builder.sizes("PH PW", (h.size + 2 * width, w.size + 2 * width))
    body = nest([("c", c), ("h", ph), ("w", pw)], "parallel", statement("out[c][h][w] = 0"))
    body += nest(
        [("c", c), ("h", h), ("w", w)],
        "parallel",
        statement(f"out[c][h + {width}][w + {width}] = x[c][h][w]"),
    )
    return OperatorBody(body=body, shape=(c.size, ph.size, pw.size), values=x.values.hull(ZERO))


def upsample(builder: OperatorBuilder) -> OperatorBody:
    """Return every element twice in both directions."""
    x = builder.input("x", rank=3, accept=lambda shape: max(shape[1:]) <= 7)
    c, h, w = builder.sizes("C H W", x.shape)
    f = builder.size("SCALE", 2)
    body = nest(
        [("c", c), ("h", h), ("w", w), ("r", f), ("s", f)],
        "parallel",
        statement(f"out[c][h * {f.text} + r][w * {f.text} + s] = x[c][h][w]"),
    )
    return OperatorBody(body=body, shape=(c.size, h.size * 2, w.size * 2), values=x.values)


def pixel_shuffle(builder: OperatorBuilder) -> OperatorBody:
    """Return the channels into columns: out[C][H][2 W] from x[2 C][H][W]."""
    x = builder.input("x", rank=3, accept=lambda shape: shape[0] % 2 == 0 and shape[0] > 2)
    c, h, w = builder.sizes("C H W", (x.shape[0] // 2, *x.shape[1:]))
    builder.size("CHANNELS", x.shape[0])
    f = builder.size("SCALE", 2)
    body = nest(
        [("c", c), ("h", h), ("w", w), ("s", f)],
        "parallel",
        statement(f"out[c][h][w * {f.text} + s] = x[c * {f.text} + s][h][w]"),
    )
    return OperatorBody(body=body, shape=(c.size, h.size, w.size * 2), values=x.values)
