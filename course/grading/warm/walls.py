"""What a fork does, before any code of a student, so that it shares nothing with its parent and its siblings.

The warm process keeps one right of root, to make namespaces; here it is used once and given up for good.
"""

import contextlib
import ctypes
import os

from course.grading.sandbox.inside import give_up_rights

# linux/sched.h
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x08000000, 0x20000000, 0x40000000
# linux/mount.h
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 16384, 1 << 18
# linux/prctl.h
PR_SET_SECCOMP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, PR_SET_NO_NEW_PRIVS = 22, 47, 4, 38
SECCOMP_MODE_FILTER = 2
CAPABILITY_VERSION_3 = 0x20080522

libc = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    """struct sock_fprog: a seccomp filter of ``length`` instructions."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def call(name, *arguments):
    """Call a function of the C library; OSError where it reports a failure."""
    if getattr(libc, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def separate():
    """Leave the namespaces of the warm process. The next child of this process is the first of its own."""
    call("unshare", CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET)


def own_folders(folders):
    """Put an empty folder in memory, {path: bytes}, over each folder that can be written, and a /proc of our own."""
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    for path, size in folders.items():
        call("mount", b"tmpfs", path.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, f"mode=1777,size={size}".encode())
    call("mount", b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)


def close_files(keep):
    """Close every open file but ``keep``; the standard ones lead to nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    for number in map(int, os.listdir("/proc/self/fd")):
        if number > 2 and number != keep:
            with contextlib.suppress(OSError):  # the one that listed them
                os.close(number)


def give_up_for_good(limits, user, rules):
    """Take on the limits and the other user's number, lose every capability, and refuse system calls by ``rules``."""
    give_up_rights(limits, user)
    call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    call("capset", header, (ctypes.c_uint32 * 6)())
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if rules:
        call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(Program(len(rules) // 8, rules)))
