"""The first Python program inside the sandbox: give up every right, then become the notebook kernel.

It runs before any code of a student and imports nothing but installed packages. Its one argument
is JSON; see ``provisioner.py``, which writes it.
"""

import json
import os
import resource
import sys

NO_KEYBOARD = "[a call of a debugger is passed over: nobody sits at a keyboard while grading]"


def give_up_rights(limits, user):
    """Take on the limits for good and, where root started us, another user's number."""
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, name), (value, value))
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")  # should the machine run out of memory, this process goes first
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


def find_packages(folders):
    """Make the packages of the grader's environment importable, and no others; do the rest of site's work."""
    import site

    sys.path += folders
    site.sethelper()
    site.setcopyright()


def use_open_sockets(sockets):
    """Let every ``bind`` of an address in ``sockets`` take the socket that the grader already opened.

    The grader's folder of sockets is then never visible in here, so nothing in it can be replaced.
    """
    import zmq

    bind = zmq.Socket.bind

    def bind_open_socket(self, address):
        if address in sockets:
            self.setsockopt(zmq.USE_FD, sockets[address])
        return bind(self, address)

    zmq.Socket.bind = bind_open_socket


class ExitRefused(BaseException):
    """Raised by exit() and quit(), which would otherwise end the kernel under the cells that follow."""


def refuse_exit(shell):
    raise ExitRefused("exit() and quit() end a notebook's kernel: delete the call")


def pass_over_debugger(*arguments, **options):
    print(NO_KEYBOARD)


def start_kernel(arguments):
    """Run ipykernel in this process until it is told to stop.

    Calls that honest students forget in their code, exit() and breakpoint(), cost them nothing here.
    """
    import pdb

    from ipykernel.kernelapp import IPKernelApp
    from ipykernel.zmqshell import ZMQInteractiveShell

    ZMQInteractiveShell.ask_exit = refuse_exit
    kernel = IPKernelApp.instance()
    kernel.initialize(arguments)
    sys.breakpointhook = pdb.set_trace = pass_over_debugger
    kernel.start()


def main():
    task = json.loads(sys.argv[1])
    give_up_rights(task["limits"], task["user"])
    find_packages(task["imports"])
    use_open_sockets(task["sockets"])
    start_kernel(task["arguments"])


if __name__ == "__main__":
    main()
