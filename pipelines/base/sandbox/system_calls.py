"""The system calls that are refused to a confined program, as a seccomp filter.

The filter adds to namespaces and limits: it refuses what compilers and arithmetic programs do not need
(sockets, tracing, namespaces, mounts, memory outside all limits), which removes most of the kernel's attack
surface. Everything else is allowed.
"""

from __future__ import annotations

import errno
import platform
import struct
from functools import cache

from pipelines.base.sandbox.limits import SandboxError

# name: number on x86_64, number on aarch64 (asm/unistd_64.h, asm-generic/unistd.h)
REFUSED: dict[str, tuple[int, int]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_setup": (425, 425),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "semget": (64, 190),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
X86_ONLY = {"ioperm": 173, "iopl": 172, "modify_ldt": 154}

CLONE = (56, 220)
CLONE3 = 435  # its flags are in memory, which a filter cannot read; glibc then uses clone
_NEW_NAMESPACES = 0x7E020000  # CLONE_NEW* of linux/sched.h that clone takes
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # AUDIT_ARCH_* of linux/audit.h
_X32_BIT = 0x40000000

# linux/bpf_common.h and linux/seccomp.h
_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data


@cache
def system_call_filter(machine: str | None = None) -> bytes:
    """Return the filter as an array of struct sock_filter, little-endian.

    Args:    machine: processor as uname names it; None for this one.
    Raises:  SandboxError: a processor whose system calls are not listed here.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        known = ", ".join(_ARCHITECTURES)
        raise SandboxError(f"system calls of this processor are not known: {machine}; accepted: {known}")
    audit, column = _ARCHITECTURES[machine]
    program = [
        _step(_LOAD, _ARCHITECTURE),
        *([_step(_EQUAL, audit, 1, 0), _step(_RETURN, _KILL)]),
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, _X32_BIT, 0, 1),
        _step(_RETURN, _KILL),
    ]
    for number in refused_numbers(column):
        program += _when_equal(number, _ERROR | errno.EPERM)
    program += _when_equal(CLONE3, _ERROR | errno.ENOSYS)
    program += [
        _step(_EQUAL, CLONE[column], 0, 3),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1),
        _step(_RETURN, _ERROR | errno.EPERM),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(program)


def refused_numbers(column: int) -> list[int]:
    """Return numbers of the refused calls, ascending; column 0 for x86_64, 1 for aarch64."""
    numbers = [row[column] for row in REFUSED.values()]
    extra = list(X86_ONLY.values()) if column == 0 else []
    return sorted([*numbers, *extra])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _when_equal(value: int, action: int) -> list[bytes]:
    return [_step(_EQUAL, value, 0, 1), _step(_RETURN, action)]
