"""Random programs whose arguments became objects of static storage, with the program that they came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from typed_programs import typed_program

from pipelines.c import read_interface
from pipelines.c.signature import DataSet, Interface

_HEAD = re.compile(r"^int32_t fuzz\((.*)\)\n\{\n", re.MULTILINE)


@dataclass(frozen=True)
class ObjectProgram:
    """A program, and the same with some arguments as objects.

    Attributes:
        original, text: before and after. places: of each argument, `argument`, `file` or `function`.
    """

    original: str
    text: str
    places: Mapping[str, str]

    def data(self, interface: Interface, values: DataSet) -> DataSet:
        """The original's data for the interface of the new program."""
        return {a.name: values[a.name].reshape(a.shape) for a in interface.arguments}


def object_program(seed: int) -> ObjectProgram:
    """The program of a seed; at least one of its arrays is an object.

    Only arrays that it writes become static variables of the function: others would be constants.
    """
    original = typed_program(seed).text
    written = [a.name for a in read_interface(original, "fuzz").arrays if a.written]
    random = Random(seed)
    head = _HEAD.search(original)
    assert head is not None
    kept: list[str] = []
    outer: list[str] = []
    inner: list[str] = []
    places: dict[str, str] = {}
    parameters = head[1].split(", ")
    always = random.choice([p for p in parameters if "[" in p])
    for parameter in parameters:
        name = parameter.split()[1].split("[")[0]
        choices = ["file", "function"] if name in written else ["file"]
        place = random.choice(choices if parameter == always else ["argument", *choices])
        places[name] = place
        if place == "argument":
            kept.append(parameter)
        elif place == "file":
            outer.append(f"{random.choice(('', 'static '))}{parameter};\n")
        else:
            inner.append(f"    static {parameter};\n")
    new = f"int32_t fuzz({', '.join(kept) or 'void'})\n{{\n{''.join(inner)}"
    text = f"{original[: head.start()]}{''.join(outer)}{new}{original[head.end() :]}"
    return ObjectProgram(original=original, text=text, places=places)
