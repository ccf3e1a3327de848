"""What a fork sees of the warm process, of other forks and of this machine, asked from inside."""

import os
import signal
from pathlib import Path

import psutil
import pytest

from course.grading.sandbox.watch import descendants

ROOT = Path(__file__).parents[3]


def test_no_process_but_its_own_is_in_proc(inside):
    assert inside("import os; print([p for p in os.listdir('/proc') if p.isdigit()])") == "['1']"


def test_the_warm_process_cannot_be_signalled(inside, warm):
    assert inside("import os; print(os.getpid(), os.getppid())") == "1 0"
    inside("import os\nfor number in range(2, 400):\n    try: os.kill(number, 9)\n    except OSError: pass")
    assert warm.process.poll() is None


def test_no_file_of_its_parent_is_open_but_its_own_channel(inside):
    source = "import os\nfor n in os.listdir('/proc/self/fd'):\n"
    source += "    try: print(os.readlink(f'/proc/self/fd/{n}'))\n    except OSError: pass"
    links = inside(source).splitlines()
    assert [link for link in links if not link.startswith(("/dev/null", "/proc/"))] == [
        next(link for link in links if link.startswith("socket:"))
    ]


@pytest.mark.parametrize("folder", ["/scratch", "/tmp", "/dev/shm"])
def test_what_one_fork_writes_another_does_not_see(start, folder):
    one, other = start(), start()
    one.run(f"open('{folder}/mine', 'w').write('x')", 9, 9999)
    result = other.run(f"import os; print(os.path.exists('{folder}/mine'))", 9, 9999)
    assert result.outputs.kept[0].text == "False\n"


def test_names_of_one_fork_are_not_in_another(start):
    start().run("import numpy; numpy.answer = answer = 42", 9, 9999)
    result = start().run("import numpy; print(hasattr(numpy, 'answer'), 'answer' in globals())", 9, 9999)
    assert result.outputs.kept[0].text == "False False\n"


@pytest.mark.parametrize("draw", ["torch.rand(1).item()", "np.random.rand()", "random.random()"])
def test_each_fork_draws_other_random_numbers(start, draw):
    source = f"import random, torch, numpy as np; print({draw})"
    first, second = (start().run(source, 9, 9999).outputs.kept[0].text for _ in range(2))
    assert first != second


def test_no_abstract_socket_leads_from_one_fork_to_another(start):
    one, other = start(), start()
    one.run("import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\0meet'); s.listen()", 9, 9999)
    result = other.run("import socket; socket.socket(socket.AF_UNIX).connect('\\0meet')", 9, 9999)
    assert result.outputs.kept[0].ename == "ConnectionRefusedError"


def test_no_shared_memory_of_system_v_leads_from_one_fork_to_another(start):
    source = "import ctypes; print(ctypes.CDLL(None).shmget(1234, 4096, {}) == -1)"
    results = [start().run(source.format(mode), 9, 9999) for mode in ("0o1666", "0")]  # make it, then look for it
    assert [result.outputs.kept[0].text for result in results] == ["False\n", "True\n"]


@pytest.mark.parametrize("folder", ["/scratch", "/tmp", "/dev/shm"])
def test_a_folder_in_memory_takes_only_so_much(inside, folder):
    source = f"for number in range(40):\n    with open(f'{folder}/{{number}}', 'wb') as file: file.write(bytes(2**20))"
    assert inside(source) == "OSError"


def test_it_has_no_rights_and_they_do_not_come_back(inside):
    status = inside("print(open('/proc/self/status').read())")
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    assert int(fields["Uid"].split()[0]) != 0
    assert {int(fields[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")} == {0}
    assert fields["NoNewPrivs"].strip() == "1" and fields["Seccomp"].strip() == "2"
    # OSError: in the user namespace of a grader who is not root there is no user 0 to become.
    assert inside("import os; os.setuid(0)") in ("PermissionError", "OSError")


@pytest.mark.parametrize(
    "call",
    ["unshare(0x10000000)", "unshare(0x00020000)", "mount(b'none', b'/tmp', b'tmpfs', 0, 0)", "ptrace(0, 0, 0, 0)"],
)
def test_doors_of_the_operating_system_are_shut(inside, call):
    assert inside(f"import ctypes; print(ctypes.CDLL(None, use_errno=True).{call})") == "-1"


def test_the_machine_is_not_there(inside, tmp_path):
    here = [str(Path.home()), str(ROOT), str(tmp_path)]
    assert inside(f"import os; print([os.path.exists(place) for place in {here}])") == "[False, False, False]"
    assert inside("import socket; socket.create_connection(('192.0.2.1', 80), 2)") == "OSError"
    assert inside("open('/opt/course/x', 'w')") in ("OSError", "PermissionError", "FileNotFoundError")


@pytest.mark.parametrize("limit", ["RLIMIT_NPROC", "RLIMIT_DATA", "RLIMIT_FSIZE"])
def test_limits_cannot_be_raised(inside, limit):
    assert inside(f"import resource; resource.setrlimit(resource.{limit}, (-1, -1))") == "ValueError"


def test_data_files_are_there_and_neither_links_nor_modules(start, tmp_path):
    (tmp_path / "table.csv").write_text("1,2")
    (tmp_path / "numpy.py").write_text("raise SystemExit")
    (tmp_path / "link.csv").symlink_to("/etc/passwd")
    kernel = start(tmp_path)
    listed = "import os; print([n for n in os.listdir() if n[0] != '.'], open('table.csv').read())"
    assert kernel.run(listed, 9, 9999).outputs.kept[0].text == "['table.csv'] 1,2\n"
    if os.geteuid() == 0:  # where a fork has a user of its own, the files are not its own
        assert kernel.run("open('table.csv', 'w')", 9, 9999).outputs.kept[0].ename == "PermissionError"


def test_a_submission_with_large_files_gets_a_cold_kernel(start, tmp_path):
    with open(tmp_path / "table.csv", "wb") as file:
        file.truncate(40 * 1024**2)
    assert start(tmp_path).cold is not None


def test_forks_that_have_ended_leave_no_zombies(start, warm):
    for _ in range(3):
        start().stop()
    family = {pid for pid, _ in descendants(warm.process.pid)}
    ended = [process for process in psutil.process_iter(["ppid", "status"]) if process.info["ppid"] in family]
    ended = [process for process in ended if process.info["status"] == psutil.STATUS_ZOMBIE]
    _, left = psutil.wait_procs(ended, timeout=5)  # one that ended a moment ago may still be about to go
    assert not left


def test_everything_that_a_fork_started_ends_with_it(start):
    kernel = start()
    kernel.run("import subprocess; p = subprocess.Popen(['sleep', '1234.5'])", 9, 9999)
    kernel.stop()
    assert not any("1234.5" in command for command in commands())


def commands():
    for entry in Path("/proc").iterdir():
        try:
            yield (entry / "cmdline").read_text()
        except OSError:
            continue


def test_without_the_warm_process_a_cold_kernel_does_the_work(start, warm, monkeypatch):
    from course.grading.warm.process import NoFork

    def none(*arguments):
        raise NoFork("none today")

    monkeypatch.setattr(warm, "fork", none)
    kernel = start()
    assert kernel.cold is not None
    assert kernel.run("print(6 * 7)", 20, 9999).outputs.kept[0].text == "42\n"


def test_a_killed_warm_process_means_cold_kernels(start):
    from course.grading.warm.process import WarmProcess

    process = WarmProcess().start()
    os.kill(process.process.pid, signal.SIGKILL)
    process.process.wait()
    kernel = start(process=process)
    assert kernel.cold is not None and kernel.is_alive()
    process.stop()


def test_where_a_fork_cannot_be_confined_there_is_no_warm_process(warm, monkeypatch):
    from course.grading.warm.process import NoFork, WarmProcess

    process = WarmProcess()
    confined = process.command

    def without_the_right(control):
        command, descriptors = confined(control)
        place = command.index("CAP_SYS_ADMIN")
        return command[: place - 1] + command[place + 1 :], descriptors

    monkeypatch.setattr(process, "command", without_the_right)
    with pytest.raises(NoFork, match="not permitted"):
        process.start()
    assert process.process is None
