"""What a submission sees of the machine that grades it, asked from inside."""

import ctypes
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from course.grading.sandbox import view
from course.grading.sandbox.watch import descendants


@pytest.mark.parametrize("path", ["source/01_foundations/01_foundations.ipynb", "gradebook.db", "autograded/bob", ""])
def test_the_course_of_the_instructor_is_not_there(inside, shared_folder, path):
    assert inside(f"import os; print(os.path.lexists({str(shared_folder.parents[2] / path)!r}))") == "False"


def test_the_home_of_the_instructor_is_not_there(inside):
    assert inside(f"import os; print(os.path.exists({str(Path.home())!r}))") == "False"


@pytest.mark.parametrize(
    "folder", ["/usr/local/share", "/usr/share/nbgrader", "/srv", "/var", "/home", "/python/share"]
)
def test_places_where_an_exchange_may_lie_are_not_there(inside, folder):
    assert inside(f"import os; print(os.path.exists({folder!r}))") == "False"


def test_home_is_the_working_folder(inside):
    assert inside("import os; print(os.path.expanduser('~'), os.getcwd())") == "/scratch /scratch"


def test_its_own_data_is_there_and_neither_links_nor_notebooks_nor_modules(inside):
    assert inside("print([name for name in sorted(os.listdir()) if not name.startswith('.')])") == "['table.csv']"


def test_its_own_data_cannot_be_changed(inside):
    assert inside("open('table.csv', 'w')") == "OSError"


def test_the_list_of_fonts_is_there_so_that_no_plot_has_to_look_for_them(inside):
    listed = "import os, matplotlib; print([n[:8] for n in os.listdir(matplotlib.get_cachedir()) if n[-5:] == '.json'])"
    assert inside(listed) == "['fontlist']"


def test_files_of_a_student_do_not_shadow_packages(inside):
    source = "open('random.py', 'w').write('raise SystemExit'); import random, numpy; print(numpy.__file__[:10])"
    assert inside(source) == "/packages/"


def test_only_what_python_needs_is_mounted(inside):
    source = "print(*sorted({line.split()[4] for line in open('/proc/self/mountinfo')}), sep='\\n')"
    allowed = {
        "/",
        "/usr/share/fonts",
        "/usr/share/zoneinfo",
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/etc/alternatives",
    }
    below = (
        "/bin",
        "/lib",
        "/usr/bin",
        "/usr/lib",
        "/usr/local/bin",
        "/usr/local/lib",
        "/dev",
        "/proc",
        "/sys/devices/",
    )
    below += ("/python/bin", "/python/lib", "/packages/", "/opt/course/course", "/run/", "/tmp", "/scratch")
    for mount in inside(source).splitlines():
        assert mount in allowed or mount.startswith(below), mount


@pytest.mark.parametrize("package", ["numpy", "torch", "matplotlib", "course"])
def test_packages_come_from_the_grader_s_environment_under_neutral_paths(inside, package):
    assert inside(f"import {package}; print({package}.__file__)").startswith(("/packages/", "/opt/course/", "/usr/"))


def test_python_sees_the_same_packages_as_the_grader(inside):
    import IPython

    assert inside("import IPython; print(IPython.__version__)") == IPython.__version__


@pytest.mark.parametrize(
    "path", ["/x", "/usr/x", "/etc/x", "/dev/x", "/run/x", "/packages/x", "/opt/course/course/x", "/sys/x", "/proc/x"]
)
def test_nothing_can_be_written_outside(inside, path):
    source = f"try:\n    open({path!r}, 'w')\nexcept OSError as error:\n    print('refused')"
    assert inside(source) == "refused"


def test_no_mount_can_be_written_but_those_of_a_notebook_s_own(inside):
    """An ordinary user's sandbox runs under that user's own number, and then nothing but the mount refuses."""
    source = "lines = [line.split() for line in open('/proc/self/mountinfo')]\n"
    source += "print(*[fields[4] for fields in lines if 'rw' in fields[5].split(',')], sep='\\n')"
    mounts = set(inside(source).splitlines())
    assert {mount for mount in mounts if not mount.startswith("/dev/")} == {"/proc", "/scratch", "/tmp"}
    assert not mounts & {"/dev/mqueue", "/dev/hugepages"}


def test_the_course_cannot_be_changed(inside):
    assert inside("open(course.__file__, 'a')") in ("OSError", "PermissionError")


@pytest.mark.parametrize("folder", ["/scratch", "/tmp", "/dev/shm"])
def test_scratch_folders_can_be_written(inside, folder):
    assert inside(f"open('{folder}/mine', 'w').write('x'); print(open('{folder}/mine').read())") == "x"


def test_the_temporary_folder_is_private(inside, tmp_path):
    inside("open('/tmp/from-inside', 'w').write('x')")
    assert not os.path.exists("/tmp/from-inside")


@pytest.mark.parametrize("folder", ["/scratch", "/tmp", "/dev/shm"])
def test_a_folder_in_memory_has_a_size(inside, folder):
    source = f"import errno, os\nparts = [f'{folder}/part{{i}}' for i in range(20)]\n"
    source += "try:\n    for part in parts: open(part, 'wb').write(b'x' * 2**20)\n"
    source += "except OSError as error: print(errno.errorcode[error.errno])\n"
    source += "finally:\n    for part in parts:\n        if os.path.exists(part): os.remove(part)"
    assert inside(source) == "ENOSPC"


def test_a_file_has_a_size(inside):
    source = "import errno\ntry:\n    open('big', 'wb').write(b'x' * 3 * 2**20)\n"
    source += "except OSError as error: print(errno.errorcode[error.errno])\nfinally: os.remove('big')"
    assert inside(source) == "EFBIG"


def test_one_process_holds_so_many_files_open_and_no_more(inside):
    source = "import errno, os\nkept = []\ntry:\n    while len(kept) < 1000: kept.append(os.dup(0))\n"
    source += "except OSError as error: print(errno.errorcode[error.errno])\n"
    source += "finally:\n    for descriptor in kept: os.close(descriptor)"
    assert inside(source) == "EMFILE"


def test_it_goes_first_where_the_machine_runs_out_of_memory(inside):
    assert inside("print(open('/proc/self/oom_score_adj').read())") == "1000"


def test_no_connection_to_this_machine(inside):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert inside(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)") == "ConnectionRefusedError"


def test_no_way_to_the_network(inside):
    assert inside("import socket; socket.create_connection(('192.0.2.1', 80), 2)") == "OSError"
    assert inside("import socket; socket.getaddrinfo('example.org', 80)") == "gaierror"


def test_no_abstract_socket_of_this_machine(inside):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0course-test-{os.getpid()}")
        server.listen()
        source = f"import socket; socket.socket(socket.AF_UNIX).connect('\\0course-test-{os.getpid()}')"
        assert inside(source) == "ConnectionRefusedError"


def test_no_shared_memory_of_this_machine(inside):
    libc, key = ctypes.CDLL(None), os.getpid()
    segment = libc.shmget(key, 4096, 0o1666)  # made anew, for everybody
    assert segment >= 0
    try:
        assert inside(f"import ctypes; print(ctypes.CDLL(None).shmget({key}, 0, 0))") == "-1"
    finally:
        libc.shmctl(segment, 0, None)  # taken away


def test_no_socket_file_is_visible(inside, shared_kernel):
    assert inside(f"print(os.path.exists({shared_kernel.manager.provisioner.folder!r}))") == "False"


def test_processes_of_this_machine_are_not_in_proc(inside):
    source = "print(*[open(f'/proc/{p}/cmdline').read().split('\\0')[0] for p in os.listdir('/proc') if p.isdigit()])"
    assert set(inside(source).split()) <= {"bwrap", "/usr/bin/bwrap", inside("import sys; print(sys.executable)")}


def test_no_signal_leaves(inside):
    assert inside(f"import os; os.kill({os.getpid()}, 0)") == "ProcessLookupError"


def test_no_open_file_is_inherited(inside):
    source = "import os; links = [f'/proc/self/fd/{d}' for d in os.listdir('/proc/self/fd')]\n"
    source += "print(*[os.readlink(link) for link in links if os.path.lexists(link)], sep='\\n')"
    files = [target for target in inside(source).splitlines() if target.startswith("/")]
    assert all(target.startswith(("/dev/", "/proc/", "/scratch/")) for target in files), files


def test_no_variable_of_the_instructor_is_inherited(inside):
    assert inside("import os; print(os.environ.get('TOKEN_OF_THE_INSTRUCTOR'))") == "None"


def test_bubblewrap_itself_has_none_either(shared_kernel):
    """It is the first process inside, and an ordinary user's sandbox can look at its own processes."""
    pids = [pid for pid, _ in descendants(shared_kernel.manager.provisioner.pid)]
    assert len(pids) >= 2
    assert [pid for pid in pids if b"SECRET" in Path(f"/proc/{pid}/environ").read_bytes()] == []


def test_it_runs_as_nobody_in_particular(inside):
    status = inside("print(open('/proc/self/status').read())")
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    assert "0" not in [*fields["Uid"].split(), *fields["Gid"].split(), *fields["Groups"].split()]
    assert int(fields["CapEff"], 16) == int(fields["CapPrm"], 16) == 0
    assert fields["NoNewPrivs"].strip() == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run code as somebody else")
def test_the_groups_of_root_are_given_up(sandbox):
    source = "import os; from course.grading.sandbox.inside import give_up_rights; os.setgroups([0, 7])\n"
    source += "give_up_rights({}, 12345); print(os.getgroups(), os.getresgid(), os.getresuid())"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stdout == "[] (12345, 12345, 12345) (12345, 12345, 12345)\n"


def test_no_two_sandboxes_run_as_the_same_user():
    """The limit on processes counts a user's: the bomb of one submission would be the end of the other."""
    users = [view.separate_user() for _ in range(9)]
    assert None in users or len(set(users)) == 9


@pytest.mark.parametrize("attempt", ["os.setuid(0)", "os.chroot('/tmp')", "os.sethostname('x')", "os.nice(-5)"])
def test_rights_do_not_come_back(inside, attempt):
    # OSError: in the user namespace of a grader who is not root there is no user 0 to become.
    assert inside(f"import os; {attempt}") in ("PermissionError", "AttributeError", "OSError")


@pytest.mark.parametrize("limit", ["RLIMIT_NPROC", "RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_CORE"])
def test_limits_cannot_be_raised(inside, limit):
    assert inside(f"import resource; resource.setrlimit(resource.{limit}, (-1, -1))") == "ValueError"


@pytest.mark.parametrize(
    "call",
    [
        "unshare(0x10000000)",  # a new user namespace
        "mount(b'none', b'/tmp', b'tmpfs', 0, 0)",
        "ptrace(0, 0, 0, 0)",
        "syscall(435, 0, 0)" if os.uname().machine in ("x86_64", "aarch64") else "unshare(0x10000000)",  # clone3
    ],
)
def test_doors_of_the_operating_system_are_shut(inside, call):
    assert inside(f"import ctypes; print(ctypes.CDLL(None, use_errno=True).{call})") == "-1"
    assert inside("print(ctypes.get_errno() in (1, 38))") == "True"
