"""How single cells end, each in a kernel of its own."""

import pytest
from traitlets.config import Config

from course.grading.sandbox.kernel import ConfinedKernelManager, Kernel

LIMIT = 1  # seconds


def end_of(kernel, source, output_limit=64 * 1024, time_limit=LIMIT):
    return kernel.run(source, time_limit, output_limit)


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except KeyboardInterrupt: pass",
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        "import ctypes; ctypes.PyDLL(None).sleep(100)",  # one call in C that holds the interpreter
        "sum(range(10**13))",
        "import time; time.sleep(100)",
        "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
    ],
    ids=["loop", "swallowed interrupt", "ignored signal", "sleeping C", "busy C", "sleep", "regular expression"],
)
def test_time_ends_at_the_limit_plus_two_seconds(own_kernel, source):
    seconds = []
    while not seconds or (seconds[-1] >= LIMIT + 2 and len(seconds) < 3):  # a busy machine may be late by itself
        run = end_of(own_kernel if own_kernel.is_alive() else own_kernel.restart(), source)
        assert run.ending == "time"
        seconds.append(run.seconds)
    assert min(seconds) >= LIMIT
    assert seconds[-1] < LIMIT + 2, seconds


def test_a_cell_that_heeds_the_interrupt_keeps_the_kernel(own_kernel):
    run = end_of(own_kernel, "kept = 1\nwhile True: pass")
    assert run.alive and not run.succeeded
    assert end_of(own_kernel, "print(kept)").outputs.kept[0].text == "1\n"


def test_a_quick_cell_succeeds(own_kernel):
    run = end_of(own_kernel, "1 + 1")
    assert run.succeeded and run.outputs.kept[0].data["text/plain"] == "2"


def test_an_error_is_an_end_without_success(own_kernel):
    run = end_of(own_kernel, "1 / 0")
    assert run.ending == "finished" and run.alive and not run.succeeded


def test_one_process_cannot_take_more_memory(own_kernel):
    run = end_of(own_kernel, "bytearray(400 * 2**20)", time_limit=20)
    assert run.reply["ename"] == "MemoryError" and run.alive


def test_processes_together_cannot_take_more_memory(own_kernel):
    source = "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        kept = b'x' * 150 * 2**20\n"
    source += "        time.sleep(100)\ntime.sleep(100)"
    run = end_of(own_kernel, source, time_limit=20)
    assert (run.ending, run.alive) == ("memory", False)


@pytest.mark.parametrize(
    "source",
    [
        "import os\nwhile True: os.fork()",
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "import subprocess\nkept = [subprocess.Popen(['sleep', '100']) for _ in range(1000)]",
        "import threading, time\nthreading.stack_size(2**16)\n"
        "for _ in range(1000): threading.Thread(target=time.sleep, args=(100,)).start()",
    ],
    ids=["fork bomb", "stubborn fork bomb", "subprocesses", "threads"],
)
def test_a_bomb_ends_at_the_limit_on_processes(own_kernel, source):
    run = end_of(own_kernel, source + "\ntime.sleep(100)", time_limit=20)
    assert (run.ending, run.alive) == ("processes", False)


def test_a_bomb_that_leaves_its_watcher_no_turn_is_told_from_a_loop(sandbox, config):
    unwatched = Config({"SandboxProvisioner": config.SandboxProvisioner | {"watch_interval": 1000.0}})
    kernel = Kernel(ConfinedKernelManager, config=unwatched).start()
    source = "import threading, time\nthreading.stack_size(2**16)\n"
    source += "for _ in range(60): threading.Thread(target=time.sleep, args=(100,)).start()\ntime.sleep(100)"
    try:
        run = end_of(kernel, source)
        assert (run.ending, run.alive) == ("processes", False)
    finally:
        kernel.stop()


@pytest.mark.parametrize(
    "source",
    [
        "while True: print('x' * 1000)",
        "from IPython.display import display\nwhile True: display('x' * 1000)",
        "import os\nwhile True: os.write(1, b'x' * 1000)",
    ],
    ids=["print", "display", "write"],
)
def test_an_endless_flood_is_stopped(own_kernel, source):
    run = end_of(own_kernel, source, time_limit=20)
    assert run.ending == "output"
    assert sum(len(str(output)) for output in run.outputs.kept) < 2 * 64 * 1024


def test_a_flood_with_an_end_is_only_cut(own_kernel):
    run = end_of(own_kernel, "print('x' * 100_000)", time_limit=20)
    assert run.succeeded and run.outputs.cut
    assert 0 < len(run.outputs.kept[0].text) <= 64 * 1024


def test_a_message_too_large_to_read_is_lost_and_no_more(sandbox, config, monkeypatch):
    monkeypatch.setattr("course.grading.sandbox.kernel.LARGEST_MESSAGE", 2**20)
    kernel = Kernel(ConfinedKernelManager, config=config).start()
    try:
        run = end_of(kernel, "print('x' * 2**21)\nkept = 1", time_limit=20)
        assert run.alive and run.outputs.received < 2**20
        assert end_of(kernel, "print(kept)", time_limit=20).succeeded
    finally:
        kernel.stop()


@pytest.mark.parametrize(
    "source", ["import os; os._exit(0)", "import os; os.abort()", "import os; os.kill(os.getpid(), 9)"]
)
def test_death_is_noticed_at_once(own_kernel, source):
    run = end_of(own_kernel, source, time_limit=60)
    assert (run.ending, run.alive, run.reply) == ("died", False, None)
    assert run.seconds < 30


def test_a_restarted_kernel_knows_nothing(own_kernel):
    end_of(own_kernel, "kept = 1")
    own_kernel.restart()
    assert end_of(own_kernel, "kept").reply["ename"] == "NameError"


def test_messages_that_are_none_are_passed_over(own_kernel):
    """A student's process owns the channel, so it can send what it likes."""
    forged = "from ipykernel.kernelapp import IPKernelApp\nkernel = IPKernelApp.instance().kernel\n"
    forged += "parent = kernel.get_parent()\nsend = kernel.session.send\n"
    forged += (
        "for kind, content in [('stream', {}), ('stream', {'name': 1, 'text': 2}), ('display_data', {'data': 3}),\n"
    )
    forged += "    ('status', {}), ('error', {'traceback': 4}), ('clear_output', {'wait': []}), (5, {})]:\n"
    forged += "    try: send(kernel.iopub_socket, kind, content, parent)\n    except Exception: pass\n"
    run = end_of(own_kernel, forged + "print('end')", time_limit=20)
    assert [output.text for output in run.outputs.kept] == ["end\n"]


def test_what_is_said_in_the_name_of_an_earlier_cell_is_passed_over(own_kernel):
    end_of(own_kernel, "kernel = get_ipython().kernel\nearlier = kernel.get_parent()", time_limit=20)
    late = "kernel.session.send(kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': 'late'}, earlier)\n"
    run = end_of(own_kernel, f"{late}print('end')", time_limit=20)
    assert [output.text for output in run.outputs.kept] == ["end\n"]
