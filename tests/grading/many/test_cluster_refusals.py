"""``course grade --scheduler`` where scheduler, workers or their versions are not as they should be."""

import re
import shutil
import socket
import subprocess

import pytest

from course.grading.many import worker
from tests.grading.many.conftest import ROOT, grade, graded
from tests.grading.many.dask_programs import a_worker, grade_there, scheduler, sentence, stored, trap


def test_no_scheduler_ends_in_one_sentence(root):
    with socket.create_server(("127.0.0.1", 0)) as free:
        silent = "tcp://{}:{}".format(*free.getsockname())
        status, _, told = grade_there(root, silent)
    assert status == 2 and told.startswith(f"Error: No Dask scheduler answers at {silent}")
    assert len(told.splitlines()) == 1
    for address in (silent, "nonsense"):
        status, _, told = grade_there(root, address)
        assert status == 2 and len(told.splitlines()) == 1
        assert told.startswith(f"Error: No Dask scheduler answers at {address}")
    assert stored(root) == 0


def test_no_workers_end_in_one_sentence(root, address):
    impatient = "import course.grading.many.cluster as c; c.PATIENCE = 1; from course.__main__ import main; main()"
    status, _, told = grade_there(root, address, code=impatient)
    assert status == 2
    assert sentence(told).startswith(f"The Dask scheduler at {address} has no workers; start some with `dask worker")


def test_without_dask_the_way_to_get_it_is_told(root):
    hidden = "import sys; sys.modules['distributed'] = None; from course.__main__ import main; main()"
    status, _, told = grade_there(root, "tcp://127.0.0.1:1", code=hidden)
    assert status == 2 and len(told.splitlines()) == 1
    assert "needs the Python package distributed; install it with `python -m pip install distributed`" in told


def test_jobs_and_a_scheduler_exclude_each_other(root):
    status, _, told = grade(root, "--scheduler", "tcp://127.0.0.1:1")
    assert status == 2 and "give one of them" in told


def test_a_worker_with_other_code_is_named(root, address, tmp_path):
    shutil.copytree(ROOT / "course", tmp_path / "other" / "course")
    with (tmp_path / "other" / "course" / "checks" / "failure.py").open("a") as module:
        module.write("# changed\n")
    with a_worker(address, tmp_path / "one", environment={"PYTHONPATH": str(tmp_path / "other")}) as (_, place):
        status, _, told = grade_there(root, address)
    assert status == 2 and len(told.splitlines()) == 1
    assert sentence(told).startswith(f"The worker {place} cannot grade: its code of the course")
    assert stored(root) == 0


def test_a_worker_with_other_libraries_is_named(root, address, tmp_path):
    for name in ("torch", "numpy"):
        about = tmp_path / "other" / f"{name}-9.9.9.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9.9\n")
    with a_worker(address, tmp_path / "one", environment={"PYTHONPATH": str(tmp_path / "other")}) as (_, place):
        status, _, told = grade_there(root, address)
    assert status == 2 and len(told.splitlines()) == 1
    here = worker.versions()
    assert sentence(told) == (
        f"The worker {place} cannot grade: it has torch 9.9.9 and not {here['torch']}, "
        f"numpy 9.9.9 and not {here['numpy']}, so scores may differ; install the same there."
    )
    assert stored(root) == 0


def test_a_worker_with_other_versions_is_unfit_whenever_it_joins():
    here = worker.versions()
    assert worker.obstacle(here, worker.code_digest(), True) == ""
    other = {"the course": "0.0.0", "Python": "2.7", "scipy-of-old": "1.0"}
    for name, wanted in other.items():
        terms = {"wanted": here | {name: wanted}, "digest": worker.code_digest(), "unconfined": True}
        with pytest.raises(worker.Unfit, match=f"has {name} {re.escape(here.get(name, '(missing)'))} and not {wanted}"):
            worker.station_of("a run", terms, b"")


def test_a_worker_without_a_sandbox_is_named_and_runs_nothing_unconfined(root, address, tmp_path):
    (tmp_path / "bin").mkdir()
    environment = {"PATH": str(tmp_path / "bin"), "COURSE_UNCONFINED": "1"}
    with a_worker(address, tmp_path / "one", environment=environment) as (_, place):
        status, _, told = grade_there(root, address)
        assert status == 2 and len(told.splitlines()) == 1
        assert sentence(told).startswith(f"The worker {place} cannot grade: bubblewrap is needed")
        assert stored(root) == 0
        allowed = {"COURSE_UNCONFINED": "1"}
        assert grade_there(root, address, "--student", "ada", environment=allowed)[1].startswith("1 graded")
    [(notebook, _)] = graded(root).values()
    assert notebook.metadata.course_grading.confined is False


def test_a_worker_without_a_warm_start_grades_and_is_named_once(root, address, tmp_path):
    cold = """
        from course.grading.warm.process import NoFork, WarmProcess
        def start(self):
            raise NoFork("none here")
        WarmProcess.start = start
        """
    environment = trap(tmp_path, "course.grading.many.station", cold)
    with a_worker(address, tmp_path / "one", "--nthreads", "2", environment=environment) as (_, place):
        status, said, told = grade_there(root, address, "--student", "ada", "--student", "cyd")
    assert status == 0 and said.startswith("2 graded"), told
    assert told.count(f"The worker {place} grades slowly, since it has no warm start; its log says why.") == 1
    assert "every kernel is cold: none here" in (tmp_path / "one" / "worker.log").read_text()


@pytest.fixture
def certified(tmp_path):
    """Dask's settings, as environment variables, for TLS with a certificate that all sides share."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is missing")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    kind = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=cluster")
    there = ("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)
    subprocess.run(["openssl", "req", *kind, *there], check=True, capture_output=True)
    settings = {"CA_FILE": certificate}
    for side in ("SCHEDULER", "WORKER", "CLIENT"):
        settings |= {f"{side}__CERT": certificate, f"{side}__KEY": key}
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(value) for name, value in settings.items()}


def test_tls_is_set_up_by_dasks_own_settings_and_its_lack_is_told(root, certified, tmp_path):
    with scheduler(tmp_path / "scheduler", "--protocol", "tls", **certified) as (_, address):
        assert address.startswith("tls://")
        status, _, told = grade_there(root, address)
        assert status == 2 and len(told.splitlines()) == 1
        assert sentence(told).startswith(
            f"No Dask scheduler answers at {address} (no certificate for TLS is set here); "
        )
        assert "distributed.comm.tls in Dask's settings" in told
        plain = address.replace("tls://", "tcp://")
        status, _, told = grade_there(root, plain, environment=certified)
        assert status == 2 and len(told.splitlines()) == 1
        assert sentence(told).startswith(f"No Dask scheduler answers at {plain} (")
        assert "with TLS it begins with tls://" in told
        with a_worker(address, tmp_path / "one", "--nthreads", "2", environment=certified) as (_, place):
            assert place.startswith("tls://")
            status, said, told = grade_there(root, address, environment=certified)
    assert status == 1 and said.startswith("4 graded, 1 not gradable"), told
