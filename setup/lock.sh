#!/usr/bin/env bash
# Resolve requirements.in and setup/extras/dev.in in a new virtual environment and write every version to requirements.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
pip=("$scratch/venv/bin/python" -m pip --disable-pip-version-check)
"${pip[@]}" install -q --upgrade pip setuptools
"${pip[@]}" install -q "$(grep '^torch==' requirements.in)"
"${pip[@]}" install -q -r requirements.in -r setup/extras/dev.in
"${pip[@]}" check

# `torch==2.13.0` stands for every build of that version; the accelerator libraries that only some
# builds bring are torch's business, not the lock's.
frozen=$("${pip[@]}" freeze --all |
    sed -E 's/^(torch==[0-9.]+)\+.*/\1/' |
    grep -vE '^(nvidia-|cuda-|triton==)')
{
    echo "# Every package of the virtual environment, exactly. Derived; do not edit."
    echo "# Made by \`make lock\`: pip resolves requirements.in in a new virtual environment, torch first."
    echo "# Used by \`make venv\`, which installs torch, then these with --no-deps."
    echo "$frozen"
} >"$scratch/requirements.txt"
cp "$scratch/requirements.txt" requirements.txt
echo "lock: $(grep -c == requirements.txt) packages in requirements.txt"
