#!/usr/bin/env bash
# Unpack packages of Debian 12 below .setup/liberty, for releases of Debian that no longer have them.
#
#     setup/liberty.sh PACKAGE ...
#
# apt's own client fetches and verifies them from the mirror that this machine uses, with its own source list,
# state and cache: nothing of the system changes, and no root is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=.setup/liberty
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# apt knows the mirror from every format of source lists; the lists of security updates have another label.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n 1)
if [ -z "$mirror" ]; then
    echo "liberty files: this release has no package $1 and no mirror of Debian;" \
        "SYSTEM=skip needs *_stdcells.lib of these packages below $folder" >&2
    exit 1
fi

echo "liberty files: this release has no package $1; unpacking those of Debian 12 ($mirror) in $folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{state/lists/partial,cache/archives/partial}
echo "deb [signed-by=$keyring] $mirror bookworm main" >"$scratch/sources.list"
apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$scratch/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State="$scratch/state" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$scratch/cache" \
        -o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)" "$@"
}
apt update
(cd "$scratch" && apt download "$@")
rm -rf "$folder"
mkdir -p "$folder"
for archive in "$scratch"/*.deb; do
    dpkg -x "$archive" "$folder"
done
