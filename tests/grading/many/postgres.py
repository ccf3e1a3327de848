"""A throw-away PostgreSQL server on a unix socket, whose one user has a password."""

import contextlib
import getpass
import glob
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
from sqlalchemy import URL

USER, PASSWORD = "grader", "s3cret@:/%hidden"


def programs():
    """The folder of PostgreSQL's programs, or None; Debian keeps them off the path."""
    found = shutil.which("initdb") or next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))[-1:]), None)
    return Path(found).resolve().parent if found else None


class Server:
    """Runs as another user where this one is root, which PostgreSQL refuses to be."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))  # short: a socket's path has at most 107 characters
        self.user = getpass.getuser() if os.getuid() else "nobody"
        owner = pwd.getpwnam(self.user)
        os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        self.rights = {} if os.getuid() else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        self.data = self.folder / "data"
        password = self.folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        self.run("initdb", "--no-sync", "--auth=scram-sha-256", f"--username={USER}", f"--pwfile={password}")
        password.unlink()

    def run(self, program, *arguments):
        command = [programs() / program, "-D", self.data, *arguments]
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        log = self.folder / "log"
        with open(log, "ab") as words:  # a pipe would stay open as long as the server runs
            done = subprocess.run(command, cwd=self.folder, env=environment, stdout=words, stderr=words, **self.rights)
        assert done.returncode == 0, log.read_text()

    def start(self):
        settings = f"-c listen_addresses= -c fsync=off -c unix_socket_directories={self.folder}"
        self.run("pg_ctl", "start", "--wait", "-l", self.folder / "server.log", "-o", settings)

    def stop(self):
        """As when its machine goes down: sessions end at once, and what was committed is recovered."""
        self.run("pg_ctl", "stop", "--wait", "-m", "immediate")

    def remove(self):
        with contextlib.suppress(AssertionError):
            self.stop()
        shutil.rmtree(self.folder)

    def url(self, database, password=PASSWORD):
        url = URL.create("postgresql+psycopg", USER, password, database=database, query={"host": str(self.folder)})
        return url.render_as_string(hide_password=False)

    def execute(self, statement, database="postgres"):
        with psycopg.connect(**self.about(database), autocommit=True) as connection:
            connection.execute(statement)

    def about(self, database):
        return {"host": str(self.folder), "user": USER, "password": PASSWORD, "dbname": database}
