"""What passes between Python and the C harness: the generated call, inputs and outputs.

Belongs here: generated C text and the two binary files. Does not: compiling or running (runner.py),
or what a sanitizer says (verdict.py).
"""

from __future__ import annotations

from math import prod

import numpy as np

from pipelines.interface import Argument, DataSet, Interface

TOP_SYMBOL = "simfoundry_top"
"""What the top function is renamed to: its own name may be main or that of a library function."""

_RESULT_BYTES = 8


def call_text(interface: Interface) -> str:
    """C text of call.h: the table of arguments and the call of the top function."""
    arguments = interface.arguments
    rows = [_table_row(a) for a in arguments] or ["{0, 0, 0}"]
    parameters = ", ".join(_parameter(a) for a in arguments) or "void"
    values = ", ".join(_value(i, a) for i, a in enumerate(arguments))
    returns = interface.returns.c_name if interface.returns else "void"
    call = f"{TOP_SYMBOL}({values})"
    statement = f"*result = (int64_t){call}" if interface.returns else f"(void)result, {call}"
    return (
        f"#define ARGUMENT_COUNT {len(arguments)}\n"
        f"static const struct argument arguments[] = {{{', '.join(rows)}}};\n"
        f"{returns} {TOP_SYMBOL}({parameters});\n"
        f"static void call_top(void **values, int64_t *result)\n"
        f"{{\n    (void)values;\n    {statement};\n}}\n"
    )


def pack_inputs(interface: Interface, data: DataSet) -> bytes:
    """Bytes of inputs.bin: every argument in order, C order, in its own type."""
    return b"".join(
        np.ascontiguousarray(data[a.name], dtype=a.type.dtype).tobytes() for a in interface.arguments
    )


def unpack_outputs(interface: Interface, content: bytes) -> tuple[DataSet, int | None]:
    """Written arrays by name and the result of the top function, from outputs.bin."""
    outputs: DataSet = {}
    offset = _RESULT_BYTES
    for argument in _written(interface):
        flat = np.frombuffer(content, argument.type.dtype, argument.element_count, offset)
        outputs[argument.name] = flat.reshape(argument.shape).copy()
        offset += flat.nbytes
    if interface.returns is None:
        return outputs, None
    # Truncated to its own type: the harness widened it to 64 bits, sign included.
    result = np.frombuffer(content, np.int64, 1).astype(interface.returns.dtype)[0]
    return outputs, int(result)


def output_bytes(interface: Interface) -> int:
    """Length of outputs.bin."""
    return _RESULT_BYTES + sum(_bytes(a) for a in _written(interface))


def _written(interface: Interface) -> tuple[Argument, ...]:
    return tuple(a for a in interface.arrays if a.written)


def _bytes(argument: Argument) -> int:
    return argument.element_count * argument.type.dtype.itemsize


def _table_row(argument: Argument) -> str:
    row_bytes = prod(argument.shape[1:]) * argument.type.dtype.itemsize if argument.is_array else 0
    is_output = int(argument.is_array and argument.written)
    return f"{{{_bytes(argument)}, {row_bytes}, {is_output}}}"


def _parameter(argument: Argument) -> str:
    if not argument.is_array:
        return argument.type.c_name
    return f"{argument.type.c_name} (*)" + "".join(f"[{n}]" for n in argument.shape[1:])


def _value(index: int, argument: Argument) -> str:
    if argument.is_array:
        return f"values[{index}]"
    return f"*({argument.type.c_name} *)values[{index}]"
