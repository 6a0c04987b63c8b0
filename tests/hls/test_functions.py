"""The default top function of a file."""

from __future__ import annotations

import pytest

from pipelines.c.errors import HlsError
from pipelines.c.text.preprocess import default_top, defined_functions

TWO = "int helper(int a) { return a; }\nvoid kernel_x_y(int A[4]) { A[0] = helper(1); }\n"


@pytest.mark.parametrize(
    ("source", "stem", "top"),
    [
        (TWO, "x-y", "kernel_x_y"),
        ("int only(int a) { return a; }\nint main(void) { return 0; }\n", "other", "only"),
        (TWO, "z", "kernel_x_y"),
        ("#include <math.h>\nfloat f(float a) { return expf(a); }\n", "g", "f"),
    ],
)
def test_default_top_is_called_like_the_file_or_the_only_one(source: str, stem: str, top: str) -> None:
    assert default_top(source, stem) == top


def test_default_top_rejects_a_choice_it_cannot_make() -> None:
    two = "int f(int a) { return a; }\nint g(int a) { return a; }\n"
    with pytest.raises(HlsError, match=r"define z or kernel_z, or only one function .*, got f, g"):
        default_top(two, "z", file="z.c")


def test_defined_functions_are_those_of_the_file() -> None:
    assert defined_functions(f"#include <math.h>\n{TWO}") == ("helper", "kernel_x_y")
