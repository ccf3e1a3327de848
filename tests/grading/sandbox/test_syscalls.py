"""The filter as the operating system would run it; that it holds is tested from inside."""

import ctypes
import errno
import struct

import pytest

from course.grading.sandbox.syscalls import seccomp_filter

X86_64, AARCH64, I386 = 0xC000003E, 0xC00000B7, 0x40000003
ALLOW = 0x7FFF0000


def verdict(program, number, architecture, first_argument=0):
    """Run the BPF ``program`` on one system call; its return value."""
    data = struct.pack("=IIQQ", number, architecture, 0, first_argument)
    instructions = list(struct.iter_unpack("=HBBI", program))
    position, loaded = 0, 0
    while True:
        code, then, otherwise, value = instructions[position]
        position += 1
        if code == 0x06:
            return value
        if code == 0x20:
            loaded = struct.unpack_from("=I", data, value)[0]
            continue
        holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
        position += then if holds else otherwise


CALLS = {  # name: numbers on x86_64 and aarch64
    "unshare": (272, 97),
    "ptrace": (101, 117),
    "mount": (165, 40),
    "setns": (308, 268),
}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("call", CALLS)
def test_dangerous_calls_are_refused(machine, call):
    column, architecture = (0, X86_64) if machine == "x86_64" else (1, AARCH64)
    result = verdict(seccomp_filter(machine), CALLS[call][column], architecture)
    assert result & 0xFFFF == errno.EPERM and result != ALLOW


@pytest.fixture
def number_of():
    """number_of(call, architecture), as libseccomp knows it, which apt and systemd bring."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("no libseccomp, which knows the numbers of system calls")
    return lambda call, architecture: library.seccomp_syscall_resolve_name_arch(architecture, call.encode())


@pytest.mark.parametrize("architecture", [X86_64, AARCH64])
@pytest.mark.parametrize(
    "doors",
    [
        "unshare setns",
        "mount umount2 pivot_root fsopen open_tree move_mount mount_setattr",
        "add_key keyctl request_key",
        "ptrace perf_event_open",
        "bpf io_uring_setup userfaultfd kexec_load open_by_handle_at",
    ],
)
def test_each_door_is_shut_by_its_number(number_of, architecture, doors):
    program = seccomp_filter("x86_64" if architecture == X86_64 else "aarch64")
    for call in doors.split():
        assert verdict(program, number_of(call, architecture), architecture) & 0xFFFF == errno.EPERM, call


@pytest.mark.parametrize("architecture", [X86_64, AARCH64])
def test_what_programs_need_is_not_taken_for_a_door(number_of, architecture):
    program = seccomp_filter("x86_64" if architecture == X86_64 else "aarch64")
    needed = "read write openat close mmap mprotect brk futex execve exit_group wait4 socket connect getrandom"
    for call in needed.split():
        assert verdict(program, number_of(call, architecture), architecture) == ALLOW, call


@pytest.mark.parametrize(("machine", "architecture", "clone"), [("x86_64", X86_64, 56), ("aarch64", AARCH64, 220)])
def test_processes_can_be_made_but_no_user_namespaces(machine, architecture, clone):
    program = seccomp_filter(machine)
    assert verdict(program, clone, architecture, first_argument=0x11) == ALLOW
    assert verdict(program, clone, architecture, first_argument=0x10000011) & 0xFFFF == errno.EPERM
    assert verdict(program, 435, architecture) & 0xFFFF == errno.ENOSYS  # clone3, whose flags cannot be seen


@pytest.mark.parametrize("number", [0, 1, 9, 202, 257])
def test_ordinary_calls_are_allowed(number):
    assert verdict(seccomp_filter("x86_64"), number, X86_64) == ALLOW


def test_calls_by_other_numbers_are_refused():
    assert verdict(seccomp_filter("x86_64"), 0, I386) != ALLOW
    assert verdict(seccomp_filter("x86_64"), 0x40000000, X86_64) != ALLOW


def test_an_unlisted_processor_gets_no_filter():
    assert seccomp_filter("riscv64") is None
