"""The warm process, inside the sandbox: import everything once, then fork for each message on the control socket.

Its one argument is JSON; see ``process.py``, which writes it. It never runs code of a student. A message is JSON
with one file descriptor, the fork's end of its channel; the fork answers there, or its end closes.
"""

import base64
import gc
import importlib
import json
import os
import signal
import socket
import sys

LARGEST_ORDER = 2**16


def import_all(modules):
    """Import what lessons use; a module that is not there is the lesson's own affair."""
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:
            print(f"not imported: {name} ({type(error).__name__}: {error})", file=sys.stderr)


def draw_figures_once():
    """Leave it to the inline backend to draw a figure, as it does for the picture that it shows when a cell ends.

    pyplot asks for a drawing of its own right before, which nobody would see.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg.draw_idle = lambda canvas, *arguments, **keywords: None


def fresh_random_state():
    """Seeds of the system's, in place of those that every fork inherits."""
    import random

    import numpy
    import torch

    random.seed()
    numpy.random.seed()
    torch.seed()


def become_student(shell, order, descriptor):
    """In the fork's child: put up the walls, say so, and serve."""
    from course.grading.warm import channel, walls

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    walls.own_folders(order["folders"])
    walls.close_files(keep=descriptor)
    for folder in order["made"]:
        os.mkdir(folder)
        os.chmod(folder, 0o1777)
    os.chdir(order["cwd"])
    with socket.socket(fileno=descriptor) as line:
        for name, content in channel.receive(line).items():
            with open(name, "wb") as file:
                file.write(base64.b64decode(content))
            os.chmod(name, 0o444)
        walls.give_up_for_good(order["limits"], order["user"], bytes.fromhex(order["rules"]))
        fresh_random_state()
        line.sendall(channel.pack({"ready": os.getpid()}))
        shell.serve(line)


def fork(shell, order, descriptor, control):
    """Fork twice: the child takes namespaces, its own child is the first process in them."""
    if os.fork():
        return
    try:
        from course.grading.warm import walls

        control.close()
        walls.separate()
        if os.fork() == 0:
            become_student(shell, order, descriptor)
    except BaseException as error:
        print(f"no fork: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(0)


def main():
    task = json.loads(sys.argv[1])
    import site

    sys.path += task["imports"]
    site.sethelper()
    site.setcopyright()
    import torch
    from traitlets.config import Config

    torch.set_num_threads(1)
    import_all(task["modules"])
    draw_figures_once()
    from course.grading.warm.shell import StudentShell

    shell = StudentShell.instance(config=Config({"HistoryManager": {"enabled": False}}))  # it would start a thread
    shell.warm_up(task["sources"])
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        sys.exit(f"{threads} threads run in the warm process, and only one can be forked")
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    with socket.socket(fileno=task["control"]) as control:
        control.send(b"ready")
        while True:
            order, descriptors, _, _ = socket.recv_fds(control, LARGEST_ORDER, 1)
            if not order:
                return
            fork(shell, json.loads(order), descriptors[0], control)
            os.close(descriptors[0])


if __name__ == "__main__":
    main()
