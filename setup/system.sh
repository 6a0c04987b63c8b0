#!/usr/bin/env bash
# Install the Debian packages the foundry calls, or say in one line that they are there.
# Further packages may be named as arguments: `make test` adds ns-3, Chromium
# and PostgreSQL, which nothing else needs.
set -euo pipefail
here=$(dirname "$0")

# Standard cells and their liberty files at 0.18, 0.35 and 0.5 um. Debian 13 no longer has them.
cells=(qflow-tech-osu018 qflow-tech-osu035 qflow-tech-osu050)
packages=(
    verilator        # simulates the generated Verilog
    opensta          # static timing and power
    yosys            # second opinion on netlists: another version than pyosys
    iverilog         # second opinion on generated Verilog in the tests
    g++ gcc make     # Verilator's builds, native C
    bubblewrap       # confines generated and foreign C
    python3-venv git # the virtual environment, DVC
    "$@"
)
[ -d "$here/../.setup/liberty" ] || packages+=("${cells[@]}")

if [ "${SYSTEM:-install}" = skip ]; then
    echo "system packages: skipped (SYSTEM=skip)"
    exit 0
fi

give_up() {
    {
        echo "system packages: $1"
        echo "  needed: ${missing[*]}"
        echo "  as root: apt-get install --no-install-recommends ${missing[*]}"
        echo "  if you have these tools from elsewhere, add SYSTEM=skip to the make command"
    } >&2
    exit 1
}

missing=("${packages[@]}")
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    give_up "this target needs Debian or Ubuntu, got a system without dpkg and apt-get"

# dpkg-query exits 1 when it does not know one of the packages; what it knows is still listed.
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
    grep -qxF "installed $package" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    echo "system packages: all ${#packages[@]} already there"
    exit 0
fi

# apt-cache knows the packages of a release only where there are package lists.
unpack_cells_of_debian_12() {
    [ -n "$(apt-get indextargets)" ] || return 0
    local package rest=() unknown=()
    for package in "${missing[@]}"; do
        if [[ " ${cells[*]} " == *" $package "* ]] && ! apt-cache show "$package" >/dev/null 2>&1; then
            unknown+=("$package")
        else
            rest+=("$package")
        fi
    done
    [ ${#unknown[@]} -eq 0 ] || "$here/liberty.sh" "${unknown[@]}" || exit 1
    missing=("${rest[@]}")
    if [ ${#missing[@]} -eq 0 ]; then
        echo "system packages: all others already there"
        exit 0
    fi
}

unpack_cells_of_debian_12

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
        give_up "installing them needs root or sudo, got user $(id -un) and no sudo"
    as_root=(sudo)
fi

apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@"
}

echo "system packages: installing ${missing[*]}"
if ! apt install -y --no-install-recommends "${missing[@]}"; then
    echo "system packages: refreshing the package lists, then once more"
    apt update
    unpack_cells_of_debian_12
    apt install -y --no-install-recommends "${missing[@]}" || give_up "apt-get could not install them"
fi
