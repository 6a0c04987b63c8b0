"""Liberty files: syntax, units and meaning, and what is not a liberty file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipelines.synthesis import SynthesisError, Target, find_liberty, liberty_hash, load_liberty


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


@pytest.mark.parametrize("name", ["osu999", "/nowhere/x.lib", "../*", "a b;'\"", "/"])
def test_find_liberty_rejects_what_is_not_there(name: str) -> None:
    message = "liberty must be the path of a liberty file or the name of an installed library, got "
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
        ("library (x) {\n cell (A) { area : wide; } }", "must be a number, got 'wide' ({path}:2)"),
        ('library (x) { time_unit : "1h"; cell (A) { } }', "a number and a unit of s, got '1h'"),
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
    for call in (load_liberty, liberty_hash):
        with pytest.raises(SynthesisError, match="liberty must be a readable file, got No such"):
            call(tmp_path / "none.lib")
