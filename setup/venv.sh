#!/usr/bin/env bash
# Make .venv hold exactly what requirements.txt says; do nothing when it already does.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
stamp=.venv/.simfoundry-stamp

# A virtual environment knows its own absolute path, so a moved checkout needs a new one.
wanted=$({ pwd -P && cat requirements.txt pyproject.toml setup/venv.sh; } | sha256sum)
if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    echo "virtual environment: .venv is up to date"
    exit 0
fi

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || {
    echo "virtual environment: PYTHON must be a Python interpreter, got $python" >&2
    exit 1
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "virtual environment: Python must be 3.11 or newer, got $version ($python);" \
        "name another one: make PYTHON=/path/to/python3.11 ..." >&2
    exit 1
}

SECONDS=0
echo "virtual environment: installing requirements.txt into .venv for Python $version (some minutes)"
rm -f "$stamp"
pip=(.venv/bin/python -m pip --disable-pip-version-check)
sane='import sys, pip; sys.exit("%d.%d" % sys.version_info[:2] != sys.argv[1] or sys.argv[2] != sys.prefix)'
if ! .venv/bin/python -c "$sane" "$version" "$(pwd -P)/.venv" 2>/dev/null; then
    "$python" -m venv --clear .venv || {
        echo "virtual environment: $python -m venv must work; on Debian install python3-venv" >&2
        exit 1
    }
fi

# torch alone and first, with the resolver on: a local CPU build that pip finds (PIP_FIND_LINKS)
# serves, and torch brings what its own build needs. Everything else is in the lock, so nothing
# is resolved and no other package can pull another torch. Python compiles a module when it is imported
# first: compiling all of them takes longer than unpacking them.
"${pip[@]}" install -q -c requirements.txt pip setuptools
"${pip[@]}" install -q --no-compile -c requirements.txt torch
"${pip[@]}" install -q --no-compile --no-deps --no-build-isolation -r requirements.txt
"${pip[@]}" install -qq --no-deps --no-build-isolation -e .
# Hydra pins ANTLR's runtime 4.9; Dagster's parser needs 4.13 (assets/antlr.py).
"${pip[@]}" install -q --no-deps --target .venv/antlr-4.13 --upgrade antlr4-python3-runtime==4.13.2
"${pip[@]}" check >/dev/null || {
    "${pip[@]}" check >&2 || true
    echo "virtual environment: requirements.txt must be consistent; run make lock" >&2
    exit 1
}
printf '%s\n' "$wanted" >"$stamp"
echo "virtual environment: ready after ${SECONDS} s"
