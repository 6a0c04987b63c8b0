"""Elementwise operators and activations, on tensors of one to three dimensions."""

from __future__ import annotations

from collections.abc import Callable

from pipelines.programs.dataflow.builder import OperatorBody, OperatorBuilder, Tensor
from pipelines.programs.dataflow.options import ZERO, Range, Unsuitable, symmetric
from pipelines.programs.dataflow.tree import Branch, Extent, declaration, nest, statement

VARIABLES = ("i", "j", "k")
ROLES = ("D0", "D1", "D2")


def everywhere(builder: OperatorBuilder, tensor: Tensor) -> tuple[list[tuple[str, Extent]], str]:
    """Return the loops over a tensor's elements and the subscripts of one."""
    axes = [
        (variable, builder.size(role, size))
        for variable, role, size in zip(VARIABLES, ROLES, tensor.shape, strict=False)
    ]
    return axes, "".join(f"[{variable}]" for variable, _ in axes)


def _mapped(
    builder: OperatorBuilder, x: Tensor, expression: str, values: Range, *, first: str | None = None
) -> OperatorBody:
    """Compute out = finish(expression) everywhere, over the valid rows when their number is a scalar.

    Args:    expression: its @ stands for the subscripts of an element; first: a declaration before it.
    """
    axes, place = everywhere(builder, x)
    text, values = builder.finish(expression.replace("@", place), values)
    run = builder.runtime(axes[0][1], "rows") if len(axes) > 1 else axes[0][1]
    fill = builder.zero_fill(axes) if run.runtime else ()
    axes[0] = (axes[0][0], run)
    before = (declaration(first.replace("@", place)),) if first else ()
    body = nest(axes, "parallel", *before, statement(f"out{place} = {text}"))
    return OperatorBody(body=fill + body, shape=x.shape, values=values.hull(ZERO) if run.runtime else values)


# ---- activations -----------------------------------------------------------------------------------


def relu(builder: OperatorBuilder) -> OperatorBody:
    """Compute max(x, 0), by a conditional expression or a branch."""
    x = builder.input("x", rank=(1, 2, 3))
    values = Range(max(x.values.low, 0), max(x.values.high, 0))
    if builder.flip(0.7):
        return _mapped(builder, x, "x@ > 0 ? x@ : 0", values)
    axes, place = everywhere(builder, x)
    branch = Branch(
        condition=f"x{place} > 0",
        body=(statement(f"out{place} = x{place}"),),
        otherwise=(statement(f"out{place} = 0"),),
    )
    return OperatorBody(body=nest(axes, "parallel", branch), shape=x.shape, values=values)


def leaky_relu(builder: OperatorBuilder) -> OperatorBody:
    """Compute x, or a power of two's part of it where it is negative."""
    x = builder.input("x", rank=(1, 2, 3))
    shift = builder.random.randint(2, 4)
    builder.parameter("slope_shift", shift)
    small = f"x@ * {2.0**-shift!r}f" if builder.floating else f"x@ >> {shift}"
    return _mapped(builder, x, f"x@ > 0 ? x@ : {small}", x.values.hull(ZERO))


def clipped_relu(builder: OperatorBuilder) -> OperatorBody:
    """Compute min(max(x, 0), ceiling)."""
    x = builder.input("x", rank=(1, 2, 3))
    ceiling = builder.random.choice((6, 32, 100))
    builder.parameter("ceiling", ceiling)
    top = builder.number(ceiling)
    return _mapped(builder, x, f"x@ < 0 ? 0 : x@ > {top} ? {top} : x@", Range(0, ceiling))


def sigmoid(builder: OperatorBuilder) -> OperatorBody:
    """Return 1 / (1 + e^-x); in integers the piecewise linear form, 64 standing for 1 and 16 for x = 1."""
    x = builder.input("x", rank=(1, 2))
    if builder.floating:
        return _mapped(builder, x, "1.0f / (1.0f + expf(-x@))", Range(0, 1))
    return _mapped(builder, x, "x@ < -40 ? 0 : x@ > 40 ? 64 : 32 + (x@ * 4) / 5", Range(0, 64))


def hard_sigmoid(builder: OperatorBuilder) -> OperatorBody:
    """Return the piecewise linear sigmoid."""
    x = builder.input("x", rank=(1, 2, 3))
    if builder.floating:
        text = "x@ <= -3.0f ? 0.0f : x@ >= 3.0f ? 1.0f : x@ * 0.16666667f + 0.5f"
        return _mapped(builder, x, text, Range(0, 1))
    return _mapped(builder, x, "x@ <= -48 ? 0 : x@ >= 48 ? 96 : x@ + 48", Range(0, 96))


def tanh(builder: OperatorBuilder) -> OperatorBody:
    """Compute tanh(x); in integers clipped, with a quarter of the slope outside."""
    x = builder.input("x", rank=(1, 2))
    if builder.floating:
        return _mapped(builder, x, "tanhf(x@)", Range(-1, 1))
    text = "x@ > 64 ? 64 + ((x@ - 64) >> 2) : x@ < -64 ? -64 + ((x@ + 64) >> 2) : x@"
    bound = max(64, 65 + x.values.magnitude / 4)
    return _mapped(builder, x, text, symmetric(bound))


def gelu(builder: OperatorBuilder) -> OperatorBody:
    """Compute x Phi(x) by erf or by tanh; in integers x hard_sigmoid(x)."""
    x = builder.input("x", rank=(1, 2))
    if not builder.floating:
        builder.parameter("form", "hard")
        text = "(x@ <= -48 ? 0 : x@ >= 48 ? x@ * 96 : x@ * (x@ + 48)) >> 6"
        bound = 2 * x.values.magnitude + 1
        return _mapped(builder, x, text, symmetric(bound))
    form = builder.random.choice(("erf", "tanh"))
    builder.parameter("form", form)
    inner = "erff(x@ * 0.70710678f)"
    if form == "tanh":
        inner = "tanhf(0.79788456f * (x@ + 0.044715f * x@ * x@ * x@))"
    return _mapped(builder, x, f"0.5f * x@ * (1.0f + {inner})", x.values.hull(ZERO))


def swish(builder: OperatorBuilder) -> OperatorBody:
    """Compute x sigmoid(x) in floating point; in integers x clip(x + 24, 0, 48) / 48."""
    x = builder.input("x", rank=(1, 2, 3))
    if builder.floating:
        return _mapped(builder, x, "x@ / (1.0f + expf(-x@))", x.values.hull(ZERO))
    builder.use("clamp")
    return _mapped(builder, x, "x@ * clamp(x@ + 24, 0, 48) / 48", x.values.hull(Range(-24, 0)))


# ---- elementwise -----------------------------------------------------------------------------------


def _binary(text: str, values: Callable[[Range, Range], Range]) -> Callable[[OperatorBuilder], OperatorBody]:
    def build(builder: OperatorBuilder) -> OperatorBody:
        a = builder.input("a", rank=(1, 2, 3))
        b = builder.weight("b", a.shape, sharing=0.8)
        return _mapped(builder, a, text, values(a.values, b.values))

    build.__doc__ = f"{text.replace('@', '')} everywhere."
    return build


add = _binary("a@ + b@", lambda a, b: a + b)
subtract = _binary("a@ - b@", lambda a, b: a - b)
multiply = _binary("a@ * b@", lambda a, b: a * b)
maximum = _binary("a@ > b@ ? a@ : b@", lambda a, b: a.hull(b))
squared_difference = _binary("(a@ - b@) * (a@ - b@)", lambda a, b: Range(0, (a - b).magnitude ** 2))
absolute_difference = _binary("a@ > b@ ? a@ - b@ : b@ - a@", lambda a, b: Range(0, (a - b).magnitude))


def scale_and_shift(builder: OperatorBuilder) -> OperatorBody:
    """Compute x scale + shift with constants."""
    x = builder.input("x", rank=(1, 2, 3))
    scale, offset = builder.random.randint(2, 5), builder.random.randint(-8, 8)
    builder.parameter("scale", scale)
    builder.parameter("offset", offset)
    values = x.values * Range(scale, scale) + Range(offset, offset)
    sign = "-" if offset < 0 else "+"
    return _mapped(builder, x, f"x@ * {builder.number(scale)} {sign} {builder.number(abs(offset))}", values)


def clip(builder: OperatorBuilder) -> OperatorBody:
    """Compute x kept between two constants."""
    x = builder.input("x", rank=(1, 2, 3))
    low, high = -builder.random.randint(4, 40), builder.random.randint(4, 60)
    builder.parameter("low", low)
    builder.parameter("high", high)
    first, last = builder.number(low), builder.number(high)
    return _mapped(builder, x, f"x@ < {first} ? {first} : x@ > {last} ? {last} : x@", Range(low, high))


def axpy(builder: OperatorBuilder) -> OperatorBody:
    """Return alpha x + y with a constant."""
    x = builder.input("x", rank=(1, 2, 3))
    y = builder.weight("y", x.shape, sharing=0.8)
    alpha = builder.random.randint(2, 6)
    builder.parameter("alpha", alpha)
    values = x.values * Range(alpha, alpha) + y.values
    return _mapped(builder, x, f"{builder.number(alpha)} * x@ + y@", values)


def bias_add(builder: OperatorBuilder) -> OperatorBody:
    """Compute x plus a vector along its last or first dimension."""
    x = builder.input("x", rank=(2, 3))
    last = builder.flip()
    builder.parameter("axis", len(x.shape) - 1 if last else 0)
    bias = builder.weight("bias", (x.shape[-1 if last else 0],))
    variable = VARIABLES[len(x.shape) - 1] if last else "i"
    return _mapped(builder, x, f"x@ + bias[{variable}]", x.values + bias.values)


def channel_scale(builder: OperatorBuilder) -> OperatorBody:
    """Compute x times a vector along its first dimension: excitation, or attention over channels."""
    x = builder.input("x", rank=(2, 3))
    scale = builder.weight("scale", (x.shape[0],), sharing=0.9)
    return _mapped(builder, x, "x@ * scale[i]", x.values * scale.values)


def quotient(builder: OperatorBuilder) -> OperatorBody:
    """Return a / (|b| + 1): truncated towards zero in integers."""
    a = builder.input("a", rank=(1, 2))
    b = builder.weight("b", a.shape, sharing=0.6)
    if b.values.magnitude < 1:
        raise Unsuitable("a divisor range must not be empty")
    one = builder.number(1)
    divisor = f"{builder.sum_type} d = b@ < 0 ? {one} - b@ : {one} + b@"
    return _mapped(builder, a, "a@ / d", symmetric(a.values.magnitude), first=divisor)
