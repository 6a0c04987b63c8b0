"""A command costs two files, which are found by themselves."""

from __future__ import annotations

from pathlib import Path

from scratch_tree import copy_tree, run_script

ADDED = {
    "simfoundry/commands/count.py": '''\
"""`simfoundry count`: lines of a file."""

from __future__ import annotations

from pathlib import Path

from assets.errors import FoundryError
from pipelines.base.files import read_bounded


def count_lines(file: Path) -> dict[str, int]:
    """Return the number of lines of a file of at most 1 MiB.

    Raises: FoundryError: it cannot be read.
    """
    content = read_bounded(file, what="text", most_bytes=1 << 20, error=FoundryError)
    return {"lines": content.count(b"\\n")}
''',
    "simfoundry/cli/count.py": '''\
"""Command count."""

from __future__ import annotations

from pathlib import Path

import click

from simfoundry.cli.options import PATH, answer_json, as_json_option, explained, listed


@listed("Files", memory_gib=1)
@click.command()
@click.argument("file", type=PATH)
@as_json_option
@explained
def count(file: Path, as_json: bool) -> None:
    """Count the lines of a file."""
    from simfoundry.commands.count import count_lines

    answer_json(count_lines(file))
''',
}
USE = """\
import subprocess
import sys

for words in (["count", sys.argv[1]], ["count", "absent.txt"], ["--help"]):
    done = subprocess.run([sys.executable, "-m", "simfoundry.cli", *words], capture_output=True, text=True)
    lines = (done.stdout + done.stderr).splitlines()
    print(done.returncode, [line for line in lines if "lines" in line or "count" in line or "absent" in line])
"""


def test_a_command_is_listed_limited_and_explains_failures(tmp_path: Path) -> None:
    tree, file = tmp_path / "tree", tmp_path / "file.txt"
    copy_tree(tree, ADDED)
    file.write_text("a\nb\n")
    assert run_script(tree, USE, str(file)) == [
        "0 ['  \"lines\": 2']",
        "1 ['simfoundry: cannot read the text absent.txt: No such file or directory']",
        "0 ['  count  Count the lines of a file.']",
    ]
