"""One warm process for all tests, and forks of it."""

import pytest

from course.grading.sandbox.availability import SandboxUnavailable, require_sandbox
from course.grading.sandbox.kernel import ConfinedKernelManager, Kernel
from course.grading.warm.kernel import WarmKernel
from course.grading.warm.process import NoFork, WarmProcess
from tests.grading.sandbox.conftest import MIB, small_limits


def roomy_limits():
    """Small limits with room for what the warm process has imported."""
    config = small_limits()
    config.SandboxProvisioner.memory = 768 * MIB
    return config


@pytest.fixture(scope="session")
def warm():
    """The warm process; tests are skipped where there can be none."""
    try:
        require_sandbox()
        process = WarmProcess().start()
    except (SandboxUnavailable, NoFork) as reason:
        pytest.skip(str(reason))
    yield process
    process.stop()


@pytest.fixture
def start(warm):
    """Start a kernel; it is a fork, and ends with the test."""
    kernels = []

    def start(folder=None, config=None, process=warm):
        config = config or roomy_limits()
        kernel = WarmKernel(process, lambda: Kernel(ConfinedKernelManager, config=config), folder, config)
        kernels.append(kernel.start())
        return kernel

    yield start
    for kernel in kernels:
        kernel.stop()


@pytest.fixture
def inside(start):
    """Run code in a fork; what it prints, or the name of the error that ends it."""
    kernel = start()

    def run(source):
        result = kernel.run(source, time_limit=20, output_limit=10**6)
        assert result.alive, result.ending
        assert kernel.cold is None
        errors = [output.ename for output in result.outputs.kept if output.output_type == "error"]
        return errors[0] if errors else "".join(output.get("text", "") for output in result.outputs.kept).strip()

    return run
