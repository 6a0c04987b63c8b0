"""File lists: words, comments and options as Verilator reads them, and one line with its place for others."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.rtl.reuse import RtlError
from pipelines.rtl.reuse.file_lists import Arguments, list_words, read_list


def arguments_of(path: Path, base: Path | None = None) -> Arguments:
    """What a list on the disk says."""
    arguments = Arguments()
    read_list(path, arguments, read=lambda file, _: file.read_text(), place="", variables={}, base=base)
    return arguments


def test_words_end_at_comments_and_blanks() -> None:
    text = '# no\n  # no\na//b.v c.v // no\n/* no\n no */ d.v/* no */e#f "g h" -GT=\\"x\\"\n'
    words = [(word.text, word.place) for word in list_words(text, "l.f", {})]
    assert words == [
        ("a//b.v", "l.f:3"),
        ("c.v", "l.f:3"),
        ("d.v", "l.f:5"),
        ("e#f", "l.f:5"),
        ("g h", "l.f:5"),
        ('-GT="x"', "l.f:5"),
    ]


def test_words_have_variables_of_the_environment() -> None:
    words = list_words("$RTL/a ${RTL}/b $(RTL)/c", "l.f", {"RTL": "up"})
    assert [word.text for word in words] == ["up/a", "up/b", "up/c"]


def test_options_have_the_meaning_of_verilator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("l.f").write_text(
        "a.v -Iinc +incdir+x+y -y\nlib -v cells.v +libext+.v+.sv +define+A=1+B -DC=2 -UD -GW=8 --top t\n"
        "-Wno-WIDTH -O3 --trace -sv --Mdir obj -j 4 waivers.vlt +systemverilogext+.v\n"
    )
    arguments = arguments_of(Path("l.f"))
    assert [one.value for one in arguments.sources] == ["a.v"]
    assert [one.value for one in arguments.folders] == ["inc", "x", "y", "lib"]
    assert [(one.value, one.place) for one in arguments.libraries] == [("cells.v", "l.f:2")]
    assert arguments.extensions == [".v", ".sv"]
    assert [one.value for one in arguments.macros] == ["-DA=1", "-DB", "-DC=2", "-UD"]
    assert [one.value for one in arguments.parameters] == ["W=8"]
    assert [one.value for one in arguments.top] == ["t"]


def test_lists_in_lists_are_relative_to_the_current_folder_or_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    Path("l.f").write_text("-f sub/here.f -F sub/near.f b.v")
    Path("sub/here.f").write_text("a.v")
    Path("sub/near.f").write_text("a.v -f more.f")
    Path("sub/more.f").write_text("c.v")
    assert [one.value for one in arguments_of(Path("l.f")).sources] == ["a.v", "sub/a.v", "sub/c.v", "b.v"]
    near = arguments_of(Path("sub/near.f"), base=Path("sub"))
    assert [one.value for one in near.sources] == ["sub/a.v", "sub/c.v"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.v\n-y \0", "a character NUL in a file list (l.f:2)"),
        ("a.v\n-foo", "unknown option in a file list: -foo (l.f:2); accepted: files, -f, -F, -I, -y, -v, "),
        ("+foo+bar", "unknown option in a file list: +foo+bar (l.f:1); accepted: files, "),
        ("-D", "unknown option in a file list: -D (l.f:1); accepted: files, "),
        ("\n-y", "-y without a value (l.f:2)"),
        ("a.v\n/* no end", "comment without its end (l.f:2)"),
        ('a.v "b', "string without its end (l.f:1)"),
        ("a.v\n$(NO_SUCH)/b.v", "no variable NO_SUCH that is a folder: $(NO_SUCH)/b.v (l.f:2)"),
        ("a.v\n-f m.f", "cycle of file lists: l.f -> m.f -> l.f (m.f:3)"),
    ],
)
def test_lists_reject(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("l.f").write_text(text)
    Path("m.f").write_text("\n\n-f l.f")
    with pytest.raises(RtlError) as error:
        arguments_of(Path("l.f"))
    assert str(error.value).startswith(message)
