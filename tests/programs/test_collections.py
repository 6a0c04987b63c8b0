"""Collections: manifests, their numbers, refusals as rows, features, and kernels too much alike."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pipelines.base.arithmetic import whole_number
from pipelines.programs import ProgramError
from pipelines.programs.collections import (
    FIELDS_LEFT_OUT,
    WRITTEN_FOLDER,
    audit_collection,
    c_features,
    collection_programs,
    freeze_collection,
    left_out_kernels,
    pointer_parameters,
    read_collection,
    require_frozen,
    write_features,
)
from pipelines.schemas import OK, REJECTED
from tests.benchmarks.written_kernels import UNTOUCHED_FOLDER

SOURCE = """#include <stdint.h>
#ifndef N
#define N 8
#endif
typedef struct { int low, high; } range_t;
static int clip(int v, range_t r) { if (v < r.low) return r.low; return v > r.high ? r.high : v; }
/* top(int *x) { in a comment */
void top(const int16_t *x, int y[N], int *count)
{
    range_t r = { -4, 4 };
    *count = 0;
    for (unsigned i = 0; i < N; i++) { y[i] = clip(*x++, r); *count += y[i] == 4; }
}
"""
MANIFEST: dict[str, Any] = {
    "top": "top",
    "sizes": {"mini": {"N": 8}, "small": {"N": 32}},
    "elements": {"x": "N", "y": "N", "count": 1},
    "inputs": {"x": {"kind": "uniform", "low": "0 - N", "high": "N * 2"}},
    "tags": ["clip"],
}


def write_kernel(folder: Path, name: str, source: str = SOURCE, **changed: Any) -> None:
    path = folder / "images"
    path.mkdir(parents=True, exist_ok=True)
    (path / f"{name}.c").write_text(source, "utf-8")
    (path / f"{name}.json").write_text(json.dumps(MANIFEST | changed), "utf-8")


def test_rows_of_each_size_have_macros_sizes_of_pointers_and_numbers_of_inputs(tmp_path: Path) -> None:
    write_kernel(tmp_path, "clip")
    mini, small = collection_programs(tmp_path, suite="mine", stage="written", sizes=("mini", "small"))
    assert small.source.startswith("#define N 32\n#pragma simfoundry size x=32 count=1\n#include")
    assert json.loads(small.inputs) == {"x": {"kind": "uniform", "low": -32, "high": 64}}
    assert (mini.name, mini.size, mini.status, json.loads(mini.parameters)) == ("clip", "mini", OK, {"N": 8})
    assert mini.ast_hash is not None


def test_a_size_that_a_kernel_lacks_gives_its_first_one(tmp_path: Path) -> None:
    write_kernel(tmp_path, "clip")
    (row,) = collection_programs(tmp_path, suite="mine", stage="written", sizes=("large",))
    assert row.size == "mini"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"elements": {"x": "M"}}, "elements of x of clip: unknown macro M: 'M'; accepted: a whole"),
        ({"elements": {"x": "N.__class__"}}, "elements of x"),
        ({"sizes": {"mini": {"N": 0}}, "elements": {"x": "8 / N"}}, "elements of x"),
        ({"inputs": {"x": {"kind": "noise"}}}, "invalid input specification"),
        ({"tops": "top"}, "unknown key: tops"),
        ({"tags": ["Two words"]}, "tags"),
        ({"sizes": {}}, "sizes"),
    ],
)
def test_a_kernel_that_breaks_a_rule_is_a_rejected_row(tmp_path: Path, changed: Any, words: str) -> None:
    write_kernel(tmp_path, "clip", **changed)
    write_kernel(tmp_path, "other")
    rejected, other = collection_programs(tmp_path, suite="mine", stage="written", sizes=("mini",))
    assert (rejected.status, other.status) == (REJECTED, OK)
    assert words in (rejected.reason or "")


def test_pointers_are_those_of_the_definition() -> None:
    text = "int f(int *a);\nint f(int *restrict a, int b[], int c[4], int d, struct s *e) { return f(a); }"
    assert pointer_parameters(text, "f") == {"a": (), "b": (), "e": ()}
    rows = "void g(const float (*p)[3][N], int q[][WIDTH], int (*call)(int), uint8_t r[N][2]) { }"
    assert pointer_parameters(rows, "g") == {"p": ("3", "N"), "q": ("WIDTH",)}


def test_a_pointer_to_rows_has_as_many_as_its_elements(tmp_path: Path) -> None:
    source = "#define WIDTH 4 /* of a row */\n" + SOURCE.replace("*x,", "(*x)[WIDTH],").replace(
        "*x++", "x[i][0]"
    )
    write_kernel(
        tmp_path,
        "rows",
        source,
        elements={"x": "N * WIDTH", "y": "N", "count": 1},
        sizes={"mini": {"N": 8, "WIDTH": 4}},
    )
    (row,) = collection_programs(tmp_path, suite="mine", stage="written", sizes=("mini",))
    assert "#pragma simfoundry size x=8 count=1" in row.source


def test_features_are_constructs_of_the_text_without_comments() -> None:
    own = c_features(SOURCE + "// goto switch union\n")
    assert {"struct", "typedef", "unsigned", "pointer-walk", "early-return", "helper-function"} <= set(own)
    assert not {"goto", "switch", "union", "while", "main"} & set(own)


def test_audit_names_undeclared_features_elements_and_kernels_alike(tmp_path: Path) -> None:
    write_kernel(tmp_path, "clip", elements={"x": "N"}, tags=[])
    write_kernel(tmp_path, "clip-again", SOURCE.replace("clip", "limit").replace("-4, 4", "0, 7"))
    (tmp_path / "images" / "alone.c").write_text(SOURCE, "utf-8")
    problems = "\n".join(audit_collection(tmp_path))
    assert "features" in problems
    assert "images/clip: no elements of count" in problems
    assert "images/clip: no tags" in problems
    assert "alone.c has no manifest" in problems
    assert "images/clip-again and images/clip share 94%" in problems
    assert write_features(tmp_path) == 2
    assert write_features(tmp_path) == 0
    assert "features" not in "\n".join(audit_collection(tmp_path))


def test_a_frozen_collection_names_what_changed(tmp_path: Path) -> None:
    write_kernel(tmp_path, "clip")
    write_kernel(tmp_path, "other")
    freeze_collection(tmp_path)
    frozen = require_frozen(tmp_path)
    with pytest.raises(FileExistsError):
        freeze_collection(tmp_path)
    write_kernel(tmp_path, "clip", SOURCE.replace("-4", "-5"))
    write_kernel(tmp_path, "third")
    with pytest.raises(ProgramError, match=r"differ from frozen.json: images/clip, images/third"):
        require_frozen(tmp_path)
    write_kernel(tmp_path, "clip")
    for path in (tmp_path / "images").glob("third.*"):
        path.unlink()
    assert require_frozen(tmp_path) == frozen


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 * N + 1", 17),
        ("N / 3", 2),
        ("-N", -8),
        ("N / 0", None),
        ("f(N)", None),
        ("2 ** N", None),
        ("", None),
    ],
)
def test_arithmetic_reads_sums_products_and_quotients_alone(text: str, value: int | None) -> None:
    assert whole_number(text, {"N": 8}) == value


@pytest.mark.parametrize(
    ("folder", "others", "least"), [(WRITTEN_FOLDER, (), 240), (UNTOUCHED_FOLDER, (WRITTEN_FOLDER,), 120)]
)
def test_every_manifest_passes_the_audit_and_no_kernel_is_like_another(
    folder: Path, others: tuple[Path, ...], least: int
) -> None:
    kernels = read_collection(folder)
    assert len(kernels) >= least
    assert min(Counter(kernel.field for kernel in kernels).values()) >= least // 12
    assert audit_collection(folder, *others) == []


def test_untouched_is_as_it_was_frozen() -> None:
    assert require_frozen(UNTOUCHED_FOLDER) == "61ec8c95a4ef3ab6eb3353e8db8ff59c"


def test_fields_left_out_are_fields_of_written() -> None:
    assert len(left_out_kernels()) == 20 * len(FIELDS_LEFT_OUT)
