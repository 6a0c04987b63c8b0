#!/usr/bin/env bash
# Resolve requirements.in and the extras `dev`, `cluster` and `circt` in a new virtual environment; write every version to
# requirements.txt, the same with hashes to requirements.hashed.txt, and the licences to NOTICE.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
pip=("$scratch/venv/bin/python" -m pip --disable-pip-version-check)
"${pip[@]}" install -q --upgrade pip setuptools
"${pip[@]}" install -q "$(grep '^torch==' requirements.in)"
"${pip[@]}" install -q -r requirements.in -r setup/extras/dev.in -r setup/extras/cluster.in -r setup/extras/circt.in
"${pip[@]}" check

# `torch==2.13.0` stands for every build of that version; the accelerator libraries that only some
# builds bring are torch's business, not the lock's. Versions of circt differ between versions of Python.
frozen=$("${pip[@]}" freeze --all |
    sed -E 's/^(torch==[0-9.]+)\+.*/\1/' |
    grep -vE '^(nvidia-|cuda-|triton==|circt==)')
{
    echo "# Every package of the virtual environment on Python 3.11 to 3.13, exactly. Derived; do not edit."
    echo "# Made by \`make lock\`: pip resolves requirements.in and extras in a new virtual environment, torch first."
    echo "# Used by \`make venv\`, which installs torch, then these with --no-deps."
    { echo "$frozen"; grep -v '^#' setup/extras/circt.in; } | LC_ALL=C.UTF-8 sort --ignore-case --stable
} >"$scratch/requirements.txt"
cp "$scratch/requirements.txt" requirements.txt
"$scratch/venv/bin/python" setup/hashes.py >"$scratch/requirements.hashed.txt"
cp "$scratch/requirements.hashed.txt" requirements.hashed.txt
"$scratch/venv/bin/python" setup/notice.py >"$scratch/NOTICE"
cp "$scratch/NOTICE" NOTICE
echo "lock: $(grep -c == requirements.txt) packages in requirements.txt"
