"""What a confined kernel sees of this machine, as a bubblewrap command line.

Inside, every path is neutral, so a traceback tells a student nothing about the instructor's machine:
``/python`` the interpreter, ``/packages/N`` the installed packages, ``/opt/course`` this package,
``/scratch`` the working folder. Only ``/scratch``, ``/tmp`` and ``/dev/shm`` can be written; they live
in memory, are limited in size and vanish with the kernel.
"""

import os
import secrets
import stat
import sys
from pathlib import Path

import course

SCRATCH = "/scratch"
PLOT_SETTINGS = f"{SCRATCH}/.matplotlib"
CONNECTION_FILE = "/run/kernel.json"
TEMPORARY = 16 * 1024**2  # bytes, for /tmp and for /dev/shm each

# systemd's list of user numbers leaves these to nobody (https://systemd.io/UIDS-GIDS).
UNUSED_USERS = 1_879_048_192
HOW_MANY = 2**28


def interpreter():
    """Path of this Python outside and its prefix, behind any virtual environment."""
    executable = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    return executable, Path(os.path.realpath(sys.base_prefix))


def is_system(path):
    """Whether ``path`` is below /usr, whose folders keep their names inside."""
    return Path(path).is_relative_to("/usr")


def package_folders():
    """The site-packages of this process, in import order."""
    folders = [Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


# bubblewrap keeps the folders that it makes on the way for root alone, and a student's code is not root.
OPEN_FOLDERS = ("/etc", "/opt", "/opt/course", "/packages", "/python", "/run", "/usr", "/usr/local", "/usr/share")
OPEN_FOLDERS += ("/sys", "/sys/devices", "/sys/devices/system")


def read_only(source, target):
    return ["--ro-bind", str(source), str(target)]


def writable(target, size):
    """A folder in memory that any user inside may write to, up to ``size`` bytes."""
    return ["--perms", "1777", "--size", str(size), "--tmpfs", target]


def system_folders():
    """The parts of /usr that programs need; its other parts may hold anything, nbgrader's exchange included."""
    names = ("bin", "lib", "lib32", "lib64", "libexec", "local/bin", "local/lib", "share/fonts", "share/zoneinfo")
    return [folder for folder in (Path("/usr", name) for name in names) if folder.is_dir()]


def python_folders():
    """Programs and libraries of the interpreter, {folder: its place inside}; none where it is the system's own."""
    _, prefix = interpreter()
    return {} if is_system(prefix) else {prefix / name: f"/python/{name}" for name in ("bin", "lib")}


def python_view():
    """Mounts for the interpreter and packages; the command that starts Python; its import folders."""
    executable, prefix = interpreter()
    mounts = [word for folder in system_folders() for word in read_only(folder, folder)]
    for name in ("bin", "lib", "lib32", "lib64"):  # links into /usr on current systems, folders on older ones
        folder = Path("/", name)
        if folder.is_symlink():
            mounts += ["--symlink", os.readlink(folder), str(folder)]
        elif folder.is_dir():
            mounts += read_only(folder, folder)
    for file in ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/sys/devices/system/cpu"):
        if os.path.exists(file):  # torch complains on stderr without the list of processors
            mounts += read_only(file, file)
    if not is_system(prefix):
        mounts += [word for folder, place in python_folders().items() for word in read_only(folder, place)]
        executable = Path("/python") / executable.relative_to(prefix)
    imports = []
    for number, folder in enumerate(package_folders()):
        if is_system(folder):
            imports.append(str(folder))
        else:
            imports.append(f"/packages/{number}")
            mounts += read_only(folder, imports[-1])
    package = Path(course.__file__).parent
    if not any(package.is_relative_to(folder) for folder in package_folders()):
        imports.append("/opt/course")
        mounts += read_only(package, "/opt/course/course")
    # -S: the interpreter may have packages of its own, of other versions, which this environment does not see.
    return mounts, [str(executable), "-I", "-S", "-B"], imports


def submission_files(folder):
    """Plain files beside the notebook, to be read inside: no links, no notebooks, nothing hidden."""
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    return [
        Path(entry.path)
        for entry in entries
        if stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode)
        and not entry.name.startswith(".")
        and not entry.name.endswith((".ipynb", ".py"))  # a module could shadow numpy, torch or course
    ]


def environment():
    """The variables a kernel gets; nothing is inherited from the instructor's shell but the settings of grading."""
    return {
        "HOME": SCRATCH,
        "USER": "student",
        "LOGNAME": "student",
        "PATH": "/python/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "LD_LIBRARY_PATH": "/python/lib",  # a relocated interpreter finds its own library
        "IPYTHONDIR": f"{SCRATCH}/.ipython",
        "MPLCONFIGDIR": PLOT_SETTINGS,
        # Tiny models run fastest on one thread, and many submissions share a machine.
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        # Demonstrations in lessons stay short; nbgrader sets it for its own process while it grades.
        "NBGRADER_EXECUTION": os.environ.get("NBGRADER_EXECUTION", "autograde"),
    }


def shown_folders():
    """The folders of this machine that a kernel can read."""
    return [*system_folders(), *python_folders(), *package_folders(), Path(course.__file__).parent]


def shows(folder):
    """The folder through which a kernel would see ``folder``, or None."""
    folder = Path(folder).resolve()
    return next((shown for shown in shown_folders() if folder.is_relative_to(shown.resolve())), None)


def separate_user():
    """A user number for one sandbox, where root can give it away; None for everybody else.

    The limit on processes never binds root's own number, not even in a user namespace, and with a
    number of its own it counts one sandbox alone.
    """
    if os.geteuid() != 0:
        return None
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= UNUSED_USERS and first + count >= UNUSED_USERS + HOW_MANY:
            return UNUSED_USERS + secrets.randbelow(HOW_MANY)
    return None  # root of a container, with few numbers to give


def unreadable_folder():
    """A folder that Python needs and that a separate user could not read, or None."""
    everyone = stat.S_IROTH | stat.S_IXOTH
    return next((folder for folder in shown_folders() if os.stat(folder).st_mode & everyone != everyone), None)


def isolation(user):
    """Flags that take a kernel away from the network and from every process of this machine.

    With a separate ``user``, the first program inside keeps the right to change to it and no other;
    without, a user namespace takes every right away.
    """
    namespaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if user is not None:
        rights = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        rights = ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    return [*namespaces, *rights, "--die-with-parent", "--new-session", "--hostname", "sandbox"]


def mounts(scratch_size, folder=None, extra=()):
    """Mounts and variables; the Python command; its import folders.

    ``folder`` holds the submission, whose data files appear in /scratch; ``extra`` are further mounts.
    """
    python_mounts, command, imports = python_view()
    arguments = [word for folder in OPEN_FOLDERS for word in ("--perms", "0755", "--dir", folder)]
    arguments += [*python_mounts, "--proc", "/proc", "--dev", "/dev"]
    arguments += [*writable("/dev/shm", TEMPORARY), *writable("/tmp", TEMPORARY)]
    arguments += [*writable(SCRATCH, scratch_size), "--perms", "1777", "--dir", PLOT_SETTINGS]
    for file in submission_files(folder) if folder else []:
        arguments += read_only(file, f"{SCRATCH}/{file.name}")
    arguments += [*extra, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", SCRATCH, "--clearenv"]
    for name, value in environment().items():
        arguments += ["--setenv", name, value]
    return arguments, command, imports
