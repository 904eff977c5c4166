"""Four processes on one study: no trial is lost, and none repeats one that it could have seen."""

import os
import shutil
import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="needs the extra `optuna`")

import optuna
import study_worker
from study_worker import storage, value_at

WORKERS, TRIALS = 4, 3


def require_server():
    """The folder of PostgreSQL's programs, and what to put before them; skips without a server."""
    pytest.importorskip("psycopg2", reason="needs psycopg2 to speak to PostgreSQL")
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    folder = next((f for f in folders if (f / "initdb").exists()), None)
    if folder is None:
        pytest.skip("PostgreSQL's server is not installed")
    if os.geteuid() != 0:
        return folder, []
    # The server refuses to be run by root.
    runuser = shutil.which("runuser")
    if runuser is None or subprocess.run(["id", "postgres"], capture_output=True).returncode:
        pytest.skip("PostgreSQL refuses to run as root, and there is no user `postgres`")
    return folder, [runuser, "-u", "postgres", "--"]


@pytest.fixture
def postgresql():
    """The address of a server of our own, in a temporary folder, on a socket only."""
    folder, prefix = require_server()
    # Short, because the path of a socket may have 107 characters at most.
    with tempfile.TemporaryDirectory(prefix="pg") as base:
        if prefix:
            shutil.chown(base, "postgres")
        data = f"{base}/data"

        def call(*arguments):
            subprocess.run(
                [*prefix, *arguments], check=True, capture_output=True, cwd=base, timeout=120
            )

        call(f"{folder}/initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync")
        options = f"-k {base} -c listen_addresses= -c fsync=off"
        log = f"{base}/log"
        call(f"{folder}/pg_ctl", "-D", data, "-l", log, "-o", options, "-w", "start")
        try:
            yield f"postgresql+psycopg2://postgres@/postgres?host={base}"
        finally:
            call(f"{folder}/pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


@pytest.fixture
def sqlite(tmp_path):
    return f"sqlite:///{tmp_path}/study.db"


@pytest.mark.slow
@pytest.mark.parametrize("server", ["sqlite", "postgresql"])
def test_four_processes_lose_no_trial_and_repeat_none_they_could_see(server, request):
    url = request.getfixturevalue(server)
    optuna.create_study(study_name="shared", storage=storage(url), direction="maximize")
    workers = [sys.executable, study_worker.__file__, url, str(TRIALS), str(WORKERS)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(workers, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done
    acknowledged = [line.split() for line in done.stdout.splitlines()]

    trials = optuna.load_study(study_name="shared", storage=storage(url)).trials
    assert len(acknowledged) == len(trials) == WORKERS * TRIALS
    assert sorted(int(number) for number, *_ in acknowledged) == [t.number for t in trials]
    for number, x1, x2 in acknowledged:
        trial = trials[int(number)]
        assert trial.params == {"x1": float(x1), "x2": float(x2)}
        assert trial.value == value_at(trial.params)

    # The rule: two trials may get the same point only if they asked at overlapping times, so that
    # neither could see what the other was given.
    for one, other in combinations(trials, 2):
        if one.params == other.params:
            (a, b), (c, d) = one.user_attrs["interval"], other.user_attrs["interval"]
            assert a < d, (one, other)
            assert c < b, (one, other)
    assert len({tuple(t.params.values()) for t in trials}) >= WORKERS * TRIALS - 1
