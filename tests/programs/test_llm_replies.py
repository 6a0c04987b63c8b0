"""Rules on the text of replies: what is taken, what is refused before anything else reads it."""

from __future__ import annotations

import pytest
from llm_support import GOOD, SOURCE, fenced

from pipelines.programs import ProgramError
from pipelines.programs.llm import Prompt, ReplyRejected, TextLimits, program_of_reply

LIMITS = TextLimits()


def _program(text: str) -> str:
    return program_of_reply(text, LIMITS)


def _with(line: str) -> str:
    return fenced(SOURCE.replace("#define N 6", "#define N 6\n" + line))


def test_reply_gives_its_last_block_of_c() -> None:
    text = f"First\n```c\nint f(void) {{ return 1; }}\n```\nthen\n{fenced(GOOD)}\n```python\nprint(1)\n```\n"
    assert _program(text) == GOOD


def test_reply_without_a_block_is_all_program() -> None:
    assert _program(GOOD) == GOOD


def test_reply_that_is_cut_off_in_its_block_is_read_to_its_end() -> None:
    assert _program(fenced(GOOD).split("```\n")[0]) == GOOD


def test_comments_are_left_out_of_programs() -> None:
    commented = GOOD.replace("for (", '/* it\'s `fine` "here"\n#include */ for (').replace("}", "} // don't")
    assert "it's" not in _program(fenced(commented))
    assert "for (int i = 0; i < N; i++)" in _program(fenced(commented))


REFUSED = {
    "an absolute include": (_with('#include "/etc/passwd"'), 'without ", got a quote'),
    "an include in angle brackets": (_with("#include </etc/passwd>"), "got </etc/passwd>"),
    "an include of input and output": (
        _with("#include <stdio.h>"),
        "#include must be one of .* got <stdio.h>",
    ),
    "an include by a macro": (_with("#define H <stdio.h>\n#include H"), "must be #include <...> or #define"),
    "an include behind a comment": (_with("/* */ #include <unistd.h>"), "got <unistd.h>"),
    "an include over two lines": (_with("#inc\\\nlude <unistd.h>"), "got a backslash"),
    "an include by a digraph": (_with("%:include <unistd.h>"), "got a digraph"),
    "an include by a trigraph": (_with("??=include <unistd.h>"), "got a trigraph"),
    "a question about a file": (_with("#if __has_include(</etc/passwd>)\n#endif"), "got #if"),
    "a pragma": (_with("#pragma GCC poison for"), "got #pragma GCC poison for"),
    "a pragma operator": (fenced(SOURCE.replace("out[i] =", '_Pragma("x") out[i] =')), "got a quote"),
    "a pragma operator without text": (
        fenced(SOURCE.replace("out[i] =", "_Pragma(x) out[i] =")),
        "got _Pragma",
    ),
    "an error line": (_with("#error no"), "got #error no"),
    "a pasting macro": (_with("#define P(a, b) a ## b"), "got #define P"),
    "assembly": (
        fenced(SOURCE.replace("out[i] =", "__asm__(x); out[i] =")),
        "no name of the compiler, got __asm__",
    ),
    "a constructor": (_with("__attribute__((constructor)) static void f(void) {}"), "got __attribute__"),
    "a shell": (fenced(SOURCE.replace("out[i] =", "system(0); out[i] =")), "must only compute, got system"),
    "a fork bomb": (
        fenced(SOURCE.replace("out[i] =", "for (;;) fork(); out[i] =")),
        "must only compute, got fork",
    ),
    "a file": (fenced(SOURCE.replace("out[i] =", "fopen(0, 0); out[i] =")), "must only compute, got fopen"),
    "another alphabet": (fenced(SOURCE.replace("gain", "gаin")), "printable ASCII, got character 0x430"),
    "a null byte": (fenced(SOURCE + "\0"), "printable ASCII, got character 0x0"),
    "half a character": (fenced(SOURCE + "\ud800"), "printable ASCII, got character 0xd800"),
    "deep parentheses": (
        fenced(SOURCE.replace("gain;", "(" * 3000 + "gain" + ")" * 3000 + ";")),
        "nest at most 64",
    ),
    "many tokens": (fenced(SOURCE.replace("gain;", "gain" + "+1" * 5000 + ";")), "at most 8000 tokens"),
    "too much text": (fenced(SOURCE + "int x;" * 4000), "at most 16384 bytes, got more"),
    "nothing": ("", "got an empty text"),
    "prose": ("I cannot do that.", "got other text"),
    "an open comment": (fenced(SOURCE + "/* \n"), "got a comment without an end"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_reply_rejects(text: str, message: str) -> None:
    with pytest.raises(ReplyRejected, match=message):
        _program(text)


def test_reply_rejects_a_long_program_by_the_limit() -> None:
    with pytest.raises(ReplyRejected, match="at most 100 bytes"):
        program_of_reply(fenced(SOURCE), TextLimits(most_source_bytes=100))


def test_prompt_rejects_an_unknown_place() -> None:
    with pytest.raises(ProgramError, match=r"no other place than .*, got answer"):
        Prompt(name="x", text="{{source}} {{answer}}")


def test_prompt_rejects_a_text_without_a_program() -> None:
    with pytest.raises(ProgramError, match=r"got no \{\{source\}\}"):
        Prompt(name="x", text="Write C.")


def test_prompt_rejects_a_name_of_other_characters() -> None:
    with pytest.raises(ProgramError, match=r"of a-z, 0-9 and _, got '\.\./x'"):
        Prompt(name="../x", text="{{source}}")
