"""The search for parameters of methods."""

from metabo.paper.runs.job import Job, Record, short


def tuning(job: Job) -> Record:
    """Median regret summed over the steps, for every setting; the least is the best."""
    total: dict[str, float] = {}
    for number, setting in enumerate(job.unit.settings):
        result = job.evaluated(setting, on_step=lambda *_: None)
        total[setting] = short(result.regret.quantile(0.5, 0).sum().item())
        job.on_step(number + 1, len(job.unit.settings))
    return {"total": total, "best": min(total, key=lambda setting: total[setting])}
