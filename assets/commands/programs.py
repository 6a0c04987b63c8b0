"""Reading what `label` and `predict` are given: a C file and a configuration.

Belongs here: files of the user into typed inputs. Does not: what is done with them.
"""

from __future__ import annotations

from pathlib import Path

from assets.errors import FoundryError
from pipelines.hls import Directive, bundle_source, default_top, parse_directives
from pipelines.programs import program_from_file
from pipelines.schemas import ProgramRow

DIRECTIVES_LIMIT_BYTES = 1 << 20


def read_user_program(file: Path, top: str | None) -> ProgramRow:
    """The program of a C file, with the local headers it includes.

    Args:    top: function that becomes hardware; None for the one the file is about.
    Raises:  ProgramError: the file or the name is not acceptable. HlsError: the file is not C, or nothing
             says which function is meant.
    """
    program_from_file(file, top=top or "any")  # a readable C file, whatever it includes
    source = bundle_source(file)
    if top is None:
        top = default_top(source, file.stem, file=str(file))
    return program_from_file(file, top=top, source=source)


def read_directives(file: Path | None) -> tuple[Directive, ...]:
    """Directives of a JSON file; none without a file.

    Raises: FoundryError: the file cannot be read. HlsError: it is not a list of directives.
    """
    if file is None:
        return ()
    try:
        with file.open("rb") as stream:
            content = stream.read(DIRECTIVES_LIMIT_BYTES + 1)
        if len(content) > DIRECTIVES_LIMIT_BYTES:
            raise FoundryError(f"directives must be at most 1 MiB, got more ({file})")
        return parse_directives(content.decode())
    except UnicodeDecodeError as error:
        raise FoundryError(f"directives must be UTF-8 text, got other bytes ({file})") from error
    except OSError as error:
        raise FoundryError(f"directives must be a readable file, got {error.strerror} ({file})") from error
