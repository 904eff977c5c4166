"""Fixtures shared by all tests."""

import logging
import signal

import jaxtyping
import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """Let Ctrl-C reach the tests of it: a shell's background jobs ignore it, and so do theirs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def cuda():
    """A device to compare the CPU with."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return "cuda"


@pytest.fixture(autouse=True)
def own_registry():
    """Forget at the end of each test which families it registered."""
    from metabo.tasks import registered  # not before the shape checks are switched on

    with registered():
        yield


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(0)


@pytest.fixture
def unchecked():
    """Switch run-time shape checks off, as they are for users, to see our own errors."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(autouse=True)
def checked_unless_slow(request):
    """Check shapes and types at run time in the unit tests: whole experiments take long enough."""
    is_slow = request.node.get_closest_marker("slow") is not None
    jaxtyping.config.update("jaxtyping_disable", is_slow)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def restored_levels():
    """Pages and examples silence the libraries they show."""
    loggers = [logging.getLogger(name) for name in ("ax", "optuna")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """Keep source data away from the user's cache, and warm for one session."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("METABO_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
