#!/usr/bin/env bash
# Make .venv hold exactly what requirements.txt says; do nothing when it already does. With HASHED=1 every file
# must have a hash of requirements.hashed.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
stamp=.venv/.simfoundry-stamp
lock=requirements.txt
[ -z "${HASHED:-}" ] || lock=requirements.hashed.txt

# A virtual environment knows its own absolute path, so a moved checkout needs a new one.
wanted=$({ pwd -P && cat $lock setup/antlr.txt pyproject.toml setup/venv.sh; } | sha256sum)
if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    echo "virtual environment: .venv is up to date"
    exit 0
fi

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || {
    echo "virtual environment: PYTHON must be a Python interpreter, got $python" >&2
    exit 1
}
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || {
    echo "virtual environment: Python must be 3.11, 3.12 or 3.13, got $version ($python);" \
        "name another one: make PYTHON=/path/to/python3.11 ..." >&2
    exit 1
}

SECONDS=0
echo "virtual environment: installing $lock into .venv for Python $version (some minutes)"
rm -f "$stamp"
pip=(.venv/bin/python -m pip --disable-pip-version-check)
sane='import sys, pip; sys.exit("%d.%d" % sys.version_info[:2] != sys.argv[1] or sys.argv[2] != sys.prefix)'
if ! .venv/bin/python -c "$sane" "$version" "$(pwd -P)/.venv" 2>/dev/null; then
    "$python" -m venv --clear .venv || {
        echo "virtual environment: $python -m venv must work; on Debian install python3-venv" >&2
        exit 1
    }
fi

log=.venv/pip.log
shopt -s nullglob

# In a terminal one line that changes, elsewhere a line every ten seconds.
show_progress() {
    local installed=(.venv/lib/python*/site-packages/*.dist-info) found line now
    found=$(grep -cE '^(Collecting|Processing|Requirement already)' "$log" || true)
    now=$(tail -n 1 "$log")
    line=$(printf '  %3d s: %d packages found, %d in .venv: %.60s' $SECONDS "$found" ${#installed[@]} "${now# }")
    if [ -t 1 ]; then
        printf '\r%s\033[K' "$line"
    elif [ $((SECONDS - shown)) -ge 10 ]; then
        shown=$SECONDS
        echo "$line"
    fi
}

install() {
    local shown=$SECONDS
    : >"$log"
    "${pip[@]}" install --no-compile --progress-bar off "$@" >"$log" 2>&1 &
    pid=$!
    trap 'kill $pid' EXIT
    while kill -0 $pid 2>/dev/null; do
        show_progress
        sleep 0.5
    done
    shown=-10
    show_progress
    [ ! -t 1 ] || echo
    trap - EXIT
    wait $pid || {
        tail -n 20 "$log" >&2
        echo "virtual environment: pip could not install $lock" >&2
        exit 1
    }
}

# torch alone and first, with the resolver on: a local CPU build that pip finds (PIP_FIND_LINKS)
# serves, and torch brings what its own build needs. Everything else is in the lock, so nothing
# is resolved and no other package can pull another torch. The lock with hashes has the registry's build of torch and
# all that it needs. Compiling all modules takes longer than unpacking them: what commands import is compiled here,
# torch while pip unpacks the rest. Processes that start at once would each compile it (18 s of processor time).
compiling=()
compile() {
    env -u PYTHONDONTWRITEBYTECODE .venv/bin/python -W ignore -c "import $1" &
    compiling+=($!)
}
if [ -n "${HASHED:-}" ]; then
    grep -E '^(pip|setuptools)==' $lock >.venv/first.txt
    "${pip[@]}" install -q --no-deps --require-hashes -r .venv/first.txt
    install --no-deps --require-hashes --no-build-isolation -r $lock
else
    "${pip[@]}" install -q -c $lock pip setuptools
    install -c $lock torch
    compile "torch._dynamo, torch.distributed.fsdp"
    install --no-deps --no-build-isolation -r $lock
fi
"${pip[@]}" install -qq --no-deps --no-build-isolation -e .
compile "lightning.pytorch, torch_geometric.nn, lightgbm"
compile "assets.definitions, mlflow"
# Hydra pins ANTLR's runtime 4.9; Dagster's parser needs 4.13 (assets/antlr.py).
"${pip[@]}" install -q --no-deps --target .venv/antlr-4.13 --upgrade --require-hashes -r setup/antlr.txt
for process in "${compiling[@]}"; do
    wait "$process"
done
"${pip[@]}" check >/dev/null || {
    "${pip[@]}" check >&2 || true
    echo "virtual environment: $lock must be consistent; run make lock" >&2
    exit 1
}
printf '%s\n' "$wanted" >"$stamp"
echo "virtual environment: ready after ${SECONDS} s"
