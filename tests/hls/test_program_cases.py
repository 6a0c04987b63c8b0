"""Programs of `cases/programs`, which compute in IR what gcc computes, of `cases/refusals` and `cases/rules`.

runs: 20             calls with drawn arguments, each compared with gcc
top: f               the top function
plain: f_plain       the top function after `with_plain_arguments`, which is compared in its place
rules: forms-1       later rules of the program's identity, all of them
arguments: k b       names of the arguments of its interface
error: TEXT          the whole message of its refusal
"""

from __future__ import annotations

from pathlib import Path

import pytest
from native_pairs import check_front_end

from pipelines.c import HlsError, read_function, read_interface, with_plain_arguments
from pipelines.hls.rules import later_rules
from tests.support.case_files import Case, as_pattern, case_parameters

FOLDER = Path(__file__).parent / "cases"
PROGRAM_KEYS = ("arguments", "plain", "rules", "runs", "top")


@pytest.mark.parametrize("case", case_parameters(FOLDER / "programs", PROGRAM_KEYS))
def test_program_equals_gcc(case: Case, tmp_path: Path) -> None:
    source, top = case.source, case.value("top", "f")
    if case.values("plain"):
        source, top = with_plain_arguments(source, top)
        assert top == case.value("plain")
    check_front_end(source, top, tmp_path, runs=int(case.value("runs", "5")))
    if case.values("rules"):
        assert " ".join(later_rules(source, top)) == case.value("rules").strip()
    if case.values("arguments"):
        assert " ".join(a.name for a in read_interface(source, top).arguments) == case.value("arguments")


@pytest.mark.parametrize("case", case_parameters(FOLDER / "refusals", ("class", "error"), "error"))
def test_program_is_refused(case: Case) -> None:
    with pytest.raises(HlsError) as refused:
        read_function(case.source, top="f", file="f.c")
    assert as_pattern(case.value("error")).fullmatch(str(refused.value)), str(refused.value)
    assert not case.values("class") or type(refused.value).__name__ == case.value("class")


@pytest.mark.parametrize("case", case_parameters(FOLDER / "rules", ("rules",), "rules"))
def test_later_rules_are_of_the_programs_that_they_change(case: Case) -> None:
    assert " ".join(later_rules(case.source, "f")) == case.value("rules").strip()
