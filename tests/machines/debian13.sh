#!/usr/bin/env bash
# Run both commands of the README on Debian 13, in a root of its own on this machine, and compare its tables.
#
#     tests/machines/debian13.sh FOLDER [--tables REFERENCE] [-- COMMAND ...]
#
# debootstrap makes a Debian 13 in `root` of FOLDER when it is not there yet; `srv/simfoundry` in it is a clone of
# this checkout's last commit. Without COMMAND: `make run`, then the comparison of its table files with those of
# REFERENCE (the folder data/tables of a run on another machine), then `make test`.
#
# Needs root, debootstrap, Debian's archive keyring, a network and 12 GB. Packages of Debian come from the mirror of
# this machine. pip has the configuration of this machine: files, variables, and the local folders that they name.
# Variables of linear algebra are passed on: OpenBLAS' kernels for different processors round differently.
#
# The root is entered with pivot_root in a mount namespace: bubblewrap, which confines C programs, needs a mount
# point at /, so chroot is not enough.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/../.." && pwd -P)

die() {
    echo "debian13: $1" >&2
    exit 1
}

[ $# -ge 1 ] || die "no folder; accepted: FOLDER [--tables REFERENCE] [-- COMMAND ...]"
mkdir -p "$1"
folder=$(cd "$1" && pwd -P)
shift
reference=
if [ "${1:-}" = --tables ]; then
    [ -d "${2:-}" ] || die "no such folder: ${2:-}"
    reference=$(cd "$2" && pwd -P)
    shift 2
fi
[ "${1:-}" != -- ] || shift
for tool in debootstrap unshare pivot_root git; do
    command -v "$tool" >/dev/null || die "not found on PATH: $tool"
done
[ "$(id -u)" -eq 0 ] || die "needs root, got user $(id -un)"

root=$folder/root
if [ ! -e "$folder/complete" ]; then
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n 1)
    [ -n "$mirror" ] || die "no mirror of Debian in the package lists; run apt-get update"
    echo "debian13: debootstrap from $mirror into $root"
    debootstrap --variant=minbase --include=ca-certificates,git,make,python3,python3-venv \
        trixie "$root" "$mirror" >"$folder/debootstrap.log" || die "debootstrap failed; see $folder/debootstrap.log"
    touch "$folder/complete"
fi

# What this machine says about the network, certificates and package indexes.
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
rm -rf "$root/etc/ssl/certs"
cp -rL /etc/ssl/certs "$root/etc/ssl/certs"
apt-config dump Acquire::http Acquire::https >"$root/etc/apt/apt.conf.d/50machine"
configuration=$(python3 -m pip config list)
{
    echo "[global]"
    sed -nE "s/^global\.([a-z-]+)='(.*)'$/\1 = \2/p" <<<"$configuration"
} >"$root/etc/pip.conf"
places=$(grep -oE "(file://)?/[^' ]+" <<<"$configuration" | sed 's,^file://,,' | sort -u)
variables=(HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
while IFS= read -r line; do
    variables+=("$line")
done < <(env | grep -E '^(PIP_|SSL_|GIT_SSL|REQUESTS_|CURL_|OPENBLAS_|OMP_|MKL_|[A-Za-z]+_(proxy|PROXY)=)' || true)

clone=$root/srv/simfoundry
[ -d "$clone" ] || git clone -q "$checkout" "$clone"
git -C "$clone" fetch -q "$checkout" HEAD
git -C "$clone" checkout -q --force --detach FETCH_HEAD

inside=$(
    cat <<'SCRIPT'
set -euo pipefail
root=$1 places=$2
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
for place in $places; do
    if [ -d "$place" ]; then
        [ "$(basename "$place")" != simple ] || place=$(dirname "$place") # an index links to files beside it
        mkdir -p "$root$place"
        mount --bind "$place" "$root$place"
        mount -o remount,bind,ro "$root$place"
    elif [ -f "$place" ] && [ ! -e "$root$place" ]; then
        mkdir -p "$(dirname "$root$place")"
        cp "$place" "$root$place"
    fi
done
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t tmpfs tmpfs "$root/run"
cd "$root"
mkdir -p .old
pivot_root . .old
cd /srv/simfoundry
umount -l /.old
exec "$@"
SCRIPT
)

enter() {
    env -i "${variables[@]}" unshare --mount --pid --fork bash -c "$inside" enter "$root" "$places" "$@"
}

if [ $# -gt 0 ]; then
    enter "$@"
    exit
fi
enter make run
if [ -n "$reference" ]; then
    (cd "$checkout" && .venv/bin/python -m tests.machines.compare_tables "$reference" "$clone/data/tables")
fi
enter make test
