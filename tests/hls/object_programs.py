"""Random programs whose arguments became objects of static storage, with the program that they came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from random import Random

from random_programs import typed_program

from pipelines.c import read_interface
from pipelines.c.signature import DataSet, Interface
from pipelines.schemas import ProgramRow


def _in_own_text(number: int) -> ProgramRow:
    """A typed program without a dialect, whose types are those of its interface."""
    program = typed_program(number)
    generated = program.generated
    return replace(program.row, source=generated.source, top=generated.program.top.name)


def _parameters(row: ProgramRow) -> re.Match[str]:
    """The head of the top function: its type and name, and its parameters."""
    head = re.search(rf"^(\w+ {row.top})\(([^)]*)\)\n\{{\n", row.source, re.MULTILINE)
    assert head is not None
    return head


@dataclass(frozen=True)
class ObjectProgram:
    """A program, and its text with some arguments as objects.

    Attributes: places: of each argument, `argument`, `file` or `function`.
    """

    original: ProgramRow
    text: str
    places: Mapping[str, str]

    def data(self, interface: Interface, values: DataSet) -> DataSet:
        """The original's data for the interface of the new program."""
        return {a.name: values[a.name].reshape(a.shape) for a in interface.arguments}


def object_program(seed: int) -> ObjectProgram:
    """The program of a seed; at least one of its arrays is an object.

    Only arrays that it writes become static variables of the function: others would be constants.
    """
    numbers = count(seed, step=1_000_000)
    original = next(row for row in map(_in_own_text, numbers) if _parameters(row)[2].count("["))
    written = [a.name for a in read_interface(original.source, original.top).arrays if a.written]
    random = Random(seed)
    head = _parameters(original)
    kept: list[str] = []
    outer: list[str] = []
    inner: list[str] = []
    places: dict[str, str] = {}
    parameters = re.sub(r"\s+", " ", head[2]).replace("const ", "").split(", ")
    always = random.choice([p for p in parameters if "[" in p])
    for parameter in parameters:
        name = parameter.split("[")[0].split()[-1]
        choices = ["file", "function"] if name in written else ["file"]
        place = random.choice(choices if parameter == always else ["argument", *choices])
        places[name] = place
        if place == "argument":
            kept.append(parameter)
        elif place == "file":
            outer.append(f"{random.choice(('', 'static '))}{parameter};\n")
        else:
            inner.append(f"    static {parameter};\n")
    new = f"{head[1]}({', '.join(kept) or 'void'})\n{{\n{''.join(inner)}"
    source = original.source
    text = f"{source[: head.start()]}{''.join(outer)}{new}{source[head.end() :]}"
    return ObjectProgram(original=original, text=text, places=places)
