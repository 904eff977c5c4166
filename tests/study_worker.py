"""Several processes on a study: each runs trials and writes down what it was given.

python study_worker.py URL TRIALS WORKERS

The workers are forked from one process, because the imports take seconds; each opens the storage
and builds its sampler by itself.
"""

import os
import sys
import time

import optuna
from optuna.distributions import FloatDistribution
from optuna.storages import RDBStorage

from metabo.integrations.optuna import MetaBOSampler

SPACE = {"x1": FloatDistribution(0.0, 1.0), "x2": FloatDistribution(0.0, 1.0)}


def value_at(params):
    """Cheap, with several maxima."""
    return -((params["x1"] - 0.3) ** 2) - (params["x2"] - 0.6) ** 2


class TimedSampler(MetaBOSampler):
    """Notes when each proposal was made."""

    def sample_relative(self, study, trial, search_space):
        """The same, with its beginning and end."""
        begin = time.time()
        params = super().sample_relative(study, trial, search_space)
        interval = [begin, time.time()]
        study._storage.set_trial_user_attr(trial._trial_id, "interval", interval)
        return params


def storage(url):
    """SQLite makes writers wait for one another."""
    options = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {}
    return RDBStorage(url, engine_kwargs=options)


def main(url, n_trials):
    """Run trials; each line printed is one that the storage has acknowledged."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = TimedSampler("branin", seed=0)
    study = optuna.load_study(study_name="shared", storage=storage(url), sampler=sampler)
    for _ in range(n_trials):
        trial = study.ask(SPACE)
        study.tell(trial, value_at(trial.params))
        line = f"{trial.number} {trial.params['x1']} {trial.params['x2']}\n"
        os.write(sys.stdout.fileno(), line.encode())  # at once: the workers share a pipe


def fork(url, n_trials, n_workers):
    """Start the workers; the exit status is 0 if that of all of them is."""
    storage(url).engine.dispose()  # imports the database's modules, and keeps no connection
    workers = []
    for _ in range(n_workers):
        worker = os.fork()
        if worker == 0:
            main(url, n_trials)
            return 0
        workers.append(worker)
    return max(os.waitstatus_to_exitcode(os.waitpid(w, 0)[1]) != 0 for w in workers)


if __name__ == "__main__":
    sys.exit(fork(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
