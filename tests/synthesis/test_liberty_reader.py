"""Liberty files: syntax, units and meaning, and what is not a liberty file."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest

from pipelines.silicon.synthesis import (
    SynthesisError,
    Target,
    find_liberty,
    liberty_hash,
    liberty_reader,
    liberty_syntax,
    load_liberty,
)


def test_every_cell_of_osu018_is_read_with_its_flip_flops(osu018: Target) -> None:
    library = load_liberty(osu018.liberty)
    assert library.name == "osu018_stdcells"
    assert library.nominal_voltage_v == 1.8
    assert len(library.cells) == 32
    flip_flops = {c.name for c in library.cells.values() if c.flip_flops}
    assert flip_flops == {"DFFNEGX1", "DFFPOSX1", "DFFSR"}
    assert {c.name for c in library.cells.values() if c.is_latch} == {"LATCH"}
    assert library.smallest_buffer == "BUFX2"


def test_figures_of_a_cell_are_those_of_the_file(osu018: Target) -> None:
    cell = load_liberty(osu018.liberty).cells["AND2X1"]
    assert cell.area_um2 == 32
    assert cell.leakage_mw == pytest.approx(0.0746794e-6)
    assert cell.pins["A"].rise_capacitance_pf == 0.0129077
    assert cell.pins["A"].fall_capacitance_pf == 0.0128842
    assert cell.pins["Y"].function == "(A B)"
    delay = cell.pins["Y"].arcs[0].delay_rise
    assert delay is not None
    # first axis transition, second load, although the file has them the other way round
    assert delay.first.tolist() == [0.06, 0.18, 0.42, 0.6, 1.2]
    assert delay.second.tolist() == [0.005, 0.0125, 0.025, 0.075, 0.15]
    assert delay.values[1, 0] == 0.070461
    assert [p.related_pin for p in cell.pins["Y"].internal_power] == ["A", "B"]


def test_units_become_ns_pf_mw_and_pj(small_liberty: Path) -> None:
    library = load_liberty(small_liberty)
    assert library.nominal_voltage_v == 1.5
    inverter, buffer, flip_flop = (library.cells[n] for n in ("INV", "BUF", "FF"))
    assert inverter.leakage_mw == pytest.approx(2e-3)
    assert buffer.leakage_mw == pytest.approx(2e-3)  # mean of its two states
    assert [s.when for s in buffer.leakage_by_state] == ["A", "!A"]
    assert inverter.pins["A"].rise_capacitance_pf == pytest.approx(0.005)
    arc = inverter.pins["Y"].arcs[0]
    assert arc.delay_rise is not None
    assert arc.delay_rise.values[2, 1] == pytest.approx(0.320)
    energy = buffer.pins["Y"].internal_power[0].fall
    assert energy is not None
    assert energy.values.tolist() == [[pytest.approx(8e-3)]]  # 8 fF V^2
    setup = flip_flop.pins["D"].constraints[0].rise
    assert setup is not None
    assert setup.values.tolist() == [[0.03, 0.04], [0.05, 0.06]]


def test_semicolon_is_optional_at_the_end_of_a_line(small_liberty: Path) -> None:
    assert load_liberty(small_liberty).cells["BUF"].area_um2 == 4


def test_file_is_read_again_when_it_changed(small_liberty: Path) -> None:
    before = load_liberty(small_liberty)
    assert load_liberty(small_liberty) is before
    key = liberty_hash(small_liberty)
    small_liberty.write_text(small_liberty.read_text().replace("area : 3;", "area : 33;"))
    assert load_liberty(small_liberty).cells["INV"].area_um2 == 33
    assert liberty_hash(small_liberty) != key


def test_library_is_found_by_name_and_by_path(osu018: Target, small_liberty: Path) -> None:
    assert find_liberty(None) == osu018.liberty
    assert find_liberty(str(osu018.liberty)) == osu018.liberty
    assert find_liberty(str(small_liberty)) == small_liberty


def test_library_is_found_where_set_up_unpacks_it(
    osu018: Target, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert liberty_reader.SEARCH_ROOTS[-1] == repository / ".setup" / "liberty"
    unpacked = tmp_path / "usr" / "share" / "qflow" / "tech" / "osu018" / "osu018_stdcells.lib"
    unpacked.parent.mkdir(parents=True)
    unpacked.write_bytes(osu018.liberty.read_bytes())
    monkeypatch.setattr(liberty_reader, "SEARCH_ROOTS", (tmp_path / "absent", tmp_path))
    assert find_liberty("osu018") == unpacked
    monkeypatch.setattr(liberty_reader, "SEARCH_ROOTS", (tmp_path / "absent",))
    with pytest.raises(SynthesisError, match=r"none installed; run `make setup`$"):
        find_liberty("osu018")


def test_find_liberty_rejects_a_compressed_file(small_liberty: Path) -> None:
    packed = small_liberty.with_suffix(".lib.gz")
    packed.write_bytes(gzip.compress(small_liberty.read_bytes()))
    with pytest.raises(
        SynthesisError, match=r"^compressed with gzip: .*; accepted: an unpacked liberty file$"
    ):
        find_liberty(str(packed))


@pytest.mark.parametrize("name", ["osu999", "/nowhere/x.lib", "../*", "a b;'\"", "/"])
def test_find_liberty_rejects_what_is_not_there(name: str) -> None:
    message = "no such liberty file or installed library: "
    with pytest.raises(SynthesisError, match=re.escape(message + repr(name))):
        find_liberty(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a liberty file must begin with `library (name) {`, got '' ({path}:1)"),
        ("/* x */\n\nint main() {}", "`library (name) {`, got 'int main (' ({path}:3)"),
        ("\x00\x01 binary", "a liberty file must begin with `library (name) {`"),
        ("library (x);", "`library (name)` must be followed by '{'"),
        ("library (x) { }", "a liberty file must contain cells, got 'none' ({path}:1)"),
        ("library (x) {\n cell (A) {\n", "liberty group cell must end with '}', got the end"),
        ("library (x) {\n cell (A {\n} }", "a liberty list must end with ')', got '{' ({path}:2)"),
        ("library (x) { cell }", "must be followed by ':' or '(', got 'cell' ({path}:1)"),
        ("library (x) {\n : 3; }", "must begin with a name, got ':' ({path}:2)"),
        (
            "library (x) {\n cell (A) { area : wide; } }",
            "liberty group cell has area 'wide' ({path}:2); accepted: numbers from 0 to 1e+30",
        ),
        ('library (x) { time_unit : "1h"; cell (A) { } }', "a number and a unit of s, got '1h'"),
        (
            "library (x) {\n/* cell (A) { area : 1; } }",
            "liberty group library must end with '}', got the end",
        ),
        ('library (x) {\n cell (A) {\n area : "3; } }', "a liberty string must end with a quote ({path}:3)"),
        ("library (x) {" + "a () {" * 40 + "}" * 41, "must nest at most 32 deep"),
        ("library (x) { cell (A) { ff (Q) { } } }", "a liberty ff group must have a state"),
    ],
)
def test_load_liberty_rejects_what_is_not_liberty(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad; name.lib"
    path.write_text(text)
    wanted = message.replace("{path}", str(path))
    with pytest.raises(SynthesisError, match=re.escape(wanted)):
        find_liberty(str(path))


def test_load_liberty_rejects_a_table_of_the_wrong_size(small_liberty: Path) -> None:
    text = small_liberty.read_text().replace('"160, 210, 310", ', "")
    small_liberty.write_text(text)
    with pytest.raises(SynthesisError, match=r"cell_rise must have 6 values, got 3 \(.*lib:26\)"):
        load_liberty(small_liberty)


def test_load_liberty_rejects_a_missing_file(tmp_path: Path) -> None:
    absent = tmp_path / "none.lib"
    for call in (load_liberty, liberty_hash):
        with pytest.raises(
            SynthesisError, match=f"^cannot read the liberty file {absent}: No such file or directory$"
        ):
            call(absent)


def test_load_liberty_rejects_what_is_not_a_regular_file_and_a_large_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.lib")
    with (tmp_path / "large.lib").open("wb") as file:
        file.truncate(1 << 40)
    accepted = "; accepted: a regular file of at most 64 MiB"
    for call in (load_liberty, liberty_hash):
        for path, kind in {
            Path("/dev/zero"): "a character device",
            tmp_path / "pipe.lib": "a pipe",
            tmp_path: "a folder",
            tmp_path / "large.lib": f"{1 << 40} bytes",
        }.items():
            with pytest.raises(
                SynthesisError, match=f"^cannot read the liberty file {path}: {kind}{accepted}$"
            ):
                call(path)
    with pytest.raises(
        SynthesisError, match=f"^cannot read the liberty file /dev/zero: a character device{accepted}$"
    ):
        find_liberty("/dev/zero")


NOT_ACCEPTED = ("nan", "-nan", "inf", "-inf", "Infinity", "1e999", "-1e999", "1e31", "1_0")


@pytest.mark.parametrize(
    ("old", "new", "group", "name", "line", "least"),
    [
        ("area : 3", "area : {}", "cell", "area", 19, "0"),
        ("cell_leakage_power : 2", "cell_leakage_power : {}", "cell", "cell_leakage_power", 19, "0"),
        ('"A"; value : 1', '"A"; value : {}', "leakage_power", "value", 35, "0"),
        ("; capacitance : 4; rise", "; capacitance : {}; rise", "pin", "capacitance", 21, "0"),
        ("rise_capacitance : 5", "rise_capacitance : {}", "pin", "rise_capacitance", 21, "0"),
        ("fall_capacitance : 3", "fall_capacitance : {}", "pin", "fall_capacitance", 21, "0"),
        ('"(!A)";', '"(!A)"; max_capacitance : {};', "pin", "max_capacitance", 22, "0"),
        ('"160, 210', '"160, {}', "cell_rise", "values", 26, "-1e+30"),
        ('"245, 270', '"245, {}', "rise_transition", "values", 28, "0"),
        ('"30, 40"', '"30, {}"', "rise_constraint", "values", 57, "-1e+30"),
        ('values ("7")', 'values ("{}")', "rise_power", "values", 40, "-1e+30"),
        ('index_1 ("10,', 'index_1 ("{},', "cell_rise", "index_1", 26, "0"),
        ('index_2 ("100,', 'index_2 ("{},', "cell_rise", "index_2", 26, "0"),
        ("nom_voltage : 1.5", "nom_voltage : {}", "library", "nom_voltage", 3, "1e-30"),
        (
            "nom_voltage : 1.5",
            "default_cell_leakage_power : {}",
            "library",
            "default_cell_leakage_power",
            3,
            "0",
        ),
    ],
)
def test_load_liberty_rejects_numbers_that_cannot_be(
    old: str, new: str, group: str, name: str, line: int, least: str, small_liberty: Path
) -> None:
    text = small_liberty.read_text()
    assert old in text
    for number in (*NOT_ACCEPTED, *(["-1e-9"] if least != "-1e+30" else [])):
        small_liberty.write_text(text.replace(old, new.format(number), 1))
        message = (
            f"liberty group {group} has {name} {number!r} ({small_liberty}:{line}); "
            f"accepted: numbers from {least} to 1e+30"
        )
        with pytest.raises(SynthesisError, match=f"^{re.escape(message)}$"):
            load_liberty(small_liberty)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'time_unit : "1ps"',
            'time_unit : "0ps"',
            "has time_unit '0' ({path}:3); accepted: numbers from 1e-30",
        ),
        ("(1, ff)", "(0.0, ff)", "has capacitive_load_unit '0.0' ({path}:3); accepted: numbers from 1e-30"),
        ('voltage_unit : "1V"', 'voltage_unit : "1.2.3V"', "has voltage_unit '1.2.3' ({path}:3); accepted"),
        ('"1uW"', f'"{"9" * 400}uW"', f"has leakage_power_unit '{'9' * 40}' ({{path}}:3); accepted"),
        ('"1uW"', '"-1uW"', "a liberty unit must be a number and a unit of w, got '-1uW' ({path}:3)"),
        (
            "nom_voltage : 1.5",
            "nom_voltage : 0",
            "has nom_voltage '0' ({path}:3); accepted: numbers from 1e-30",
        ),
        (
            "clock : true;",
            "max_transition : inf;",
            "group pin has max_transition 'inf' ({path}:52); accepted",
        ),
        ("nom_voltage : 1.5", "default_max_transition : nan", "has default_max_transition 'nan' ({path}:3)"),
        (
            'values ("7")',
            f'values ("{"7 " * 10_001}")',
            "values in liberty group rise_power must have at most 10000",
        ),
        (
            'index_2 ("100, 200, 400")',
            f'index_2 ("{"1 " * 101}")',
            "index_2 in liberty group cell_rise must have",
        ),
    ],
)
def test_load_liberty_rejects_units_and_tables_that_cannot_be(
    old: str, new: str, message: str, small_liberty: Path
) -> None:
    text = small_liberty.read_text()
    assert old in text
    small_liberty.write_text(text.replace(old, new, 1))
    with pytest.raises(SynthesisError, match=re.escape(message.replace("{path}", str(small_liberty)))):
        load_liberty(small_liberty)


def test_a_pin_may_have_the_name_of_a_number(small_liberty: Path) -> None:
    text = small_liberty.read_text().replace("(A)", "(INF)").replace('"A"', '"INF"').replace("(!A)", "(!INF)")
    small_liberty.write_text(text)
    library = load_liberty(small_liberty)
    assert library.cells["BUF"].pins["Y"].function == "INF"
    assert library.smallest_buffer == "BUF"


def test_load_liberty_rejects_more_words_than_any_library_has(
    small_liberty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liberty_syntax, "TOKEN_LIMIT", 100)
    message = rf"^liberty must have at most 100 words and marks \({small_liberty}:21\)$"
    with pytest.raises(SynthesisError, match=message):
        load_liberty(small_liberty)


_UNUSED = (
    '  lu_table_template (unused) { variable_1 : input_net_transition; index_1 ("%s"); }\n  cell (INV) {'
)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cell (BUF)", "cell (INV)", "cells of a liberty file must have different names, got 'INV'"),
        ("  cell (INV) {", _UNUSED % "1, nan", "liberty group lu_table_template has index_1 'nan'"),
        ("  cell (INV) {", _UNUSED % "2, 1", "index of a liberty template must not decrease"),
    ],
)
def test_load_liberty_rejects_equal_names_and_templates_that_decrease(
    small_liberty: Path, old: str, new: str, message: str
) -> None:
    text = small_liberty.read_text()
    assert old in text
    small_liberty.write_text(text.replace(old, new, 1))
    with pytest.raises(SynthesisError, match=re.escape(message)):
        load_liberty(small_liberty)
