"""Data exchange between Python and the C harness: the generated call, inputs and outputs."""

from __future__ import annotations

from math import prod

import numpy as np

from pipelines.interface import Argument, DataSet, Interface, ScalarType, canonical_values

TOP_SYMBOL = "simfoundry_top"
"""New name of the top function, whose own name may be main or that of a library function."""

MAIN_SYMBOL = "simfoundry_main_of_the_program"
"""New name of a main function of the program: the harness has its own main."""

_RESULT_BYTES = 8
_C_NAMES = {8: "char", 16: "short", 32: "int", 64: "long long"}


def table_text(interface: Interface) -> str:
    """C text of arguments.h: the table of arguments."""
    rows = [_table_row(a) for a in interface.arguments] or ["{0, 0, 0}"]
    return (
        f"#define ARGUMENT_COUNT {len(interface.arguments)}\n"
        f"static const struct argument arguments[] = {{{', '.join(rows)}}};\n"
    )


def unit_text(interface: Interface) -> str:
    """C text of unit.c: the program, and after it the call of its top function, which may be static.

    Types are spelled without headers, because the program may include none.
    """
    values = ", ".join(_value(i, a) for i, a in enumerate(interface.arguments))
    call = f"{TOP_SYMBOL}({values});"
    if interface.returns is not None:
        call = f"*({_c_name(interface.returns)} *)simfoundry_result = {call}"
    return (
        '#include "kernel.c"\n'
        "void simfoundry_call(void **simfoundry_values, void *simfoundry_result)\n"
        f"{{\n    (void)simfoundry_values;\n    (void)simfoundry_result;\n    {call}\n}}\n"
    )


def pack_inputs(interface: Interface, data: DataSet) -> bytes:
    """Bytes of inputs.bin: every argument in order, C order, in its own type."""
    return b"".join(
        np.ascontiguousarray(data[a.name], dtype=a.type.dtype).tobytes() for a in interface.arguments
    )


def unpack_outputs(interface: Interface, content: bytes) -> tuple[DataSet, int | None]:
    """Written arrays by name and the result of the top function, from outputs.bin.

    A floating result is returned as its bits. NaN is canonical everywhere.
    """
    outputs: DataSet = {}
    offset = _RESULT_BYTES
    for argument in _written(interface):
        flat = np.frombuffer(content, argument.type.dtype, argument.element_count, offset)
        outputs[argument.name] = canonical_values(flat.reshape(argument.shape).copy())
        offset += flat.nbytes
    if interface.returns is None:
        return outputs, None
    kind = interface.returns
    result = canonical_values(np.frombuffer(content, kind.dtype, 1))
    return outputs, int(result.view(f"u{kind.width_bits // 8}" if kind.floating else kind.dtype)[0])


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


def _value(index: int, argument: Argument) -> str:
    if argument.is_array:
        return f"simfoundry_values[{index}]"
    return f"*({_c_name(argument.type)} *)simfoundry_values[{index}]"


def _c_name(kind: ScalarType) -> str:
    if kind.floating:
        return kind.c_name
    return f"{'signed' if kind.signed else 'unsigned'} {_C_NAMES[kind.width_bits]}"
