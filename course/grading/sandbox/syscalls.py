"""Requests to the operating system that no notebook needs, refused inside the sandbox (a seccomp filter).

Namespaces already hide files, processes and the network. This closes the doors through which
sandboxes have been left: new user namespaces, mounts, keyrings, tracing and programs in the kernel.
"""

import errno
import platform
import struct

AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # linux/audit.h

# Numbers of the system calls, linux/unistd.h; the order of the columns is x86_64, aarch64.
REFUSED = {
    "add_key": (248, 217),
    "bpf": (321, 280),
    "fsopen": (430, 430),
    "io_uring_setup": (425, 425),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pivot_root": (155, 41),
    "ptrace": (101, 117),
    "request_key": (249, 218),
    "setns": (308, 268),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
CLONE = (56, 220)
CLONE3 = (435, 435)
CLONE_NEWUSER = 0x10000000
FOREIGN_ABI = 0x40000000  # x32 numbers on x86_64 start here

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # linux/bpf_common.h
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
ALLOW = 0x7FFF0000
REFUSE = 0x00050000  # with the error number in the low bits


def instruction(code, value, then=0, otherwise=0):
    """One BPF instruction; ``then`` and ``otherwise`` count the instructions to skip."""
    return struct.pack("=HBBI", code, then, otherwise, value)


def seccomp_filter(machine=None):
    """The filter as bytes for ``bwrap --seccomp``, or None on a processor whose numbers are not listed here."""
    machine = machine or platform.machine()
    if machine not in AUDIT_ARCHITECTURE:
        return None
    column = list(AUDIT_ARCHITECTURE).index(machine)
    refuse = instruction(RETURN, REFUSE | errno.EPERM)
    program = [
        instruction(LOAD, ARCHITECTURE),
        instruction(EQUAL, AUDIT_ARCHITECTURE[machine], then=1),
        refuse,
        instruction(LOAD, NUMBER),
        instruction(AT_LEAST, FOREIGN_ABI, otherwise=1),
        refuse,
    ]
    for numbers in REFUSED.values():
        program += [instruction(EQUAL, numbers[column], otherwise=1), refuse]
    program += [
        # The flags of clone3 lie behind a pointer; told that it does not exist, the C library uses clone.
        instruction(EQUAL, CLONE3[column], otherwise=1),
        instruction(RETURN, REFUSE | errno.ENOSYS),
        instruction(EQUAL, CLONE[column], otherwise=3),
        instruction(LOAD, FIRST_ARGUMENT),
        instruction(ANY_BIT, CLONE_NEWUSER, otherwise=1),
        refuse,
        instruction(RETURN, ALLOW),
    ]
    return b"".join(program)
