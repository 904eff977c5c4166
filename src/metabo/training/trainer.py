"""The training loop: tasks -> rollout -> update -> validate -> checkpoint.

All random numbers of iteration i are a function of (seed, i), so a run that was killed and resumed
ends with the same weights as an uninterrupted one.
"""

import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TextIO

import torch
from torch import Tensor, nn

from metabo.acquisition import NeuralAF
from metabo.devices import matmul_precision, require_device
from metabo.errors import DataError, MetaBOError
from metabo.loop import Episodes, rollout
from metabo.policies import Maximize, Searcher, informed
from metabo.pretrained import save
from metabo.seeding import generator
from metabo.shapes import Float, Int
from metabo.store import save_json, write_all
from metabo.tasks import TaskFamily, Tasks
from metabo.tasks import family as family_of
from metabo.training.adam import adam, moments
from metabo.training.benefit import if_better
from metabo.training.card import training_card
from metabo.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from metabo.training.config import TrainConfig
from metabo.training.critic import Critic
from metabo.training.draws import (
    draw_budget,
    minibatch_order,
    random_key,
    scheduled,
    training_tasks,
)
from metabo.training.folder import CONFIG, has_checkpoint, require_free
from metabo.training.graphs import Replayed
from metabo.training.interrupt import TrainingInterrupted, noticed_interrupts
from metabo.training.log import Event, forget_after
from metabo.training.ppo import LOSS_PARTS, Batch, update
from metabo.training.rewards import rewards
from metabo.training.rollouts import (
    collect,
    regret_floor,
    starting_prior,
    training_searches,
    validation_tasks,
)


class TrainingError(MetaBOError, ArithmeticError):
    """Training diverged: the loss is no longer finite."""


class Trainer:
    """One training run in one folder."""

    def __init__(
        self,
        config: TrainConfig,
        out: Path,
        *,
        family: TaskFamily | None = None,
        resume: bool = False,
        record: bool = True,
        is_member: bool = False,
    ) -> None:
        """Start a run, or continue the one in the folder.

        Args:
            config: All that the run depends on.
            out: Folder of the run.
            family: The family that `config` names, where it has been built; built if None.
            resume: Whether to continue the run in the folder.
            record: Whether to record CUDA graphs on a GPU.
            is_member: Whether the network is one of an ensemble, which is judged as a whole.
        """
        require_device(config.device)
        self.config, self.out, self.is_member = config, out, is_member
        family = family_of(config.family) if family is None else family
        self.family = family if config.sources is None else family.restricted(config.sources)
        self.judge = self.family.validation()
        """Family of the validation tasks; None if there are none."""
        self.floor = regret_floor(config, self.family)
        self.prior = starting_prior(config, self.family).to(config.device)
        self.searches = training_searches(config, self.family)
        self.budgets = config.budgets(self.family.budget)
        weights = generator(config.seed, "weights")
        self.af = NeuralAF(config.architecture(self.family.domain.dim), weights)
        if config.precision == "bf16":
            self.af.products = torch.bfloat16
        self.critic = Critic(config, weights)
        self.networks = nn.ModuleDict({"af": self.af, "critic": self.critic})
        self.networks.to(config.device)
        self.optimizer = adam(self.networks, config.learning_rate, config.device)
        self.progress = Progress()
        self.best: dict[str, Tensor] = {k: v.clone() for k, v in self.af.state_dict().items()}
        self.is_resumed = resume
        if resume and has_checkpoint(out):
            parts = (config, self.family, self.networks, self.optimizer)
            self.progress, self.best = load_checkpoint(out, *parts)
        else:
            require_free(out, config, is_resumed=resume)
        self.collect, self.update, self.attempt = self._collect, self._update, self._attempt
        is_cuda = config.device.startswith("cuda")
        if record and is_cuda and is_dataclass(self._validation_tasks()):
            state = [*self.networks.parameters(), *moments(self.optimizer)]
            self.collect = Replayed(self._collect)
            self.update = Replayed(self._update, state)
            self.attempt = Replayed(self._attempt)

    def run(
        self, *, seconds: float | None = None, on_event: Callable[[Event], None] | None = None
    ) -> Path:
        """Train to the end, or for `seconds`, and return the path of the artifact.

        Raises:
            TrainingInterrupted: After Ctrl-C, once the iteration has been finished and saved.
        """
        forget_after(self.out / "log.jsonl", self.progress.iteration, is_resumed=self.is_resumed)
        write_all(self.out, {CONFIG: save_json(self.config.record())})
        with noticed_interrupts() as is_interrupted:
            self._train(seconds, on_event, is_interrupted)
            path = None if is_interrupted() else self._write_artifact()
        if path is None or is_interrupted():
            raise TrainingInterrupted(self.out, self.progress.iteration, self.config.end)
        return path

    def _train(
        self,
        seconds: float | None,
        on_event: Callable[[Event], None] | None,
        is_interrupted: Callable[[], bool],
    ) -> None:
        """Iterate, and save a checkpoint at intervals and at the end."""
        config = self.config
        before, start = self.progress.seconds, time.perf_counter()
        precision = "high" if config.precision == "tf32" else "highest"
        with matmul_precision(precision), (self.out / "log.jsonl").open("a") as log:
            while self.progress.iteration < config.end and not self._is_stalled():
                event = self._iterate(before + time.perf_counter() - start)
                log.write(json.dumps(asdict(event)) + "\n")
                log.flush()
                self.progress.seconds = before + time.perf_counter() - start
                is_late = seconds is not None and time.perf_counter() - start >= seconds
                is_over = is_late or is_interrupted() or self._is_stalled()
                is_due = self.progress.iteration % config.checkpoint_every == 0
                is_saved = is_due or is_over or self.progress.iteration == config.end
                if is_saved:
                    self._checkpoint(log)
                if on_event is not None:
                    on_event(event)
                if is_interrupted() and not is_saved:
                    self._checkpoint(log)
                if is_over or is_interrupted():
                    break

    def _iterate(self, elapsed: float) -> Event:
        """Run one iteration, with validation if it is due."""
        config, number = self.config, self.progress.iteration
        started = time.perf_counter()
        passed = number / config.iterations
        rate = scheduled(config.learning_rate, config.final_learning_rate, passed)
        bonus = scheduled(config.entropy_coefficient, config.final_entropy_coefficient, passed)
        for group in self.optimizer.param_groups:
            group["lr"].fill_(rate)
        budget = draw_budget(self.budgets, config.seed, number)
        batch, episodes = self.collect(
            training_tasks(self.family, config, number).to(config.device),
            random_key(config.seed, number),
            budget,
            self.searches[number % len(self.searches)],
        )
        earned = rewards(episodes.regret, config.reward, self.floor).mean()
        regret = episodes.regret[:, -1].median()
        order = minibatch_order(config, number, len(batch.index))
        # As a tensor: a recorded update would treat every other number as a new form.
        losses = self.update(batch, order, torch.tensor(bonus))
        if not episodes.observed.isfinite().all():  # a replayed graph does not check values
            raise DataError(
                f"A task of `{config.family}` gave a value that is not finite. Give failed "
                "evaluations a finite penalty."
            )
        seen = dict(zip(LOSS_PARTS, losses.tolist(), strict=True))
        if not math.isfinite(seen["policy"] + seen["value"]):
            raise TrainingError(self._divergence(number + 1))
        took = time.perf_counter() - started
        self.progress.iteration = number + 1
        score = self._validate() if self._is_validation_due() else None
        return Event(
            iteration=number + 1,
            iterations=config.end,
            reward=earned.item(),
            regret=regret.item(),
            entropy=seen["entropy"],
            value_loss=seen["value"],
            clipped=seen["clipped"],
            learning_rate=rate,
            steps_per_second=config.episodes * budget / took,
            seconds=elapsed + time.perf_counter() - started,
            score=score,
            best_score=self.progress.best_score if score is not None else None,
        )

    def _collect(
        self, tasks: Tasks, key: Int[Tensor, ""], budget: int, search: Searcher
    ) -> tuple[Batch, Episodes]:
        """Roll out the sampled policy: the first half of an iteration."""
        return collect(
            self.af,
            self.critic,
            tasks,
            self.family,
            self.config,
            search,
            budget=budget,
            seed=key,
            prior=self.prior,
        )

    def _update(
        self, batch: Batch, order: Int[Tensor, "epochs S"], bonus: Float[Tensor, ""]
    ) -> Float[Tensor, "4"]:
        """Update the networks from the rollout: the second half of an iteration."""
        return update(self.af, self.critic, self.optimizer, batch, order, self.config, bonus)

    def _attempt(
        self, tasks: Tasks, key: Int[Tensor, ""], search: Searcher
    ) -> Float[Tensor, "E T"]:
        """Return the regret when always choosing the AF's best candidate."""
        policy = informed(Maximize(self.af, search), self.prior.learned)
        budget = self.budgets[-1]
        return rollout(
            policy, tasks, self.family, seed=key, budget=budget, prior=self.prior
        ).regret

    def _is_validation_due(self) -> bool:
        number = self.progress.iteration
        return number % self.config.validate_every == 0 or number == self.config.end

    def _validation_tasks(self) -> Tasks:
        """Return the validation tasks, or some training tasks if the family has no others."""
        return validation_tasks(self.family, self.config)

    def _validate(self) -> float:
        """Score the AF on the validation tasks, and keep its weights if the score is the best."""
        config = self.config
        tasks, key = self._validation_tasks().to(config.device), random_key(config.seed)
        scores = []
        for search in dict.fromkeys(self.searches):  # each candidate set once
            regret = self.attempt(tasks, key, search)
            scores.append(rewards(regret, config.reward, self.floor).mean().item())
        score = sum(scores) / len(scores)
        # Scores on training tasks are not informative: in that case keep the last weights.
        best = self.progress.best_score
        if best is None or score > best or self.judge is None:
            self.progress.best_score = score
            self.progress.best_iteration = self.progress.iteration
            self.best = {k: v.clone() for k, v in self.af.state_dict().items()}
        return score

    def _is_stalled(self) -> bool:
        """Tell whether validation has not improved for as long as the patience allows."""
        patience = self.config.patience
        since = self.progress.iteration - self.progress.best_iteration
        return patience is not None and since >= patience * self.config.validate_every

    def _divergence(self, iteration: int) -> str:
        kept = f"The last good state is in `{self.out}`. " if has_checkpoint(self.out) else ""
        return (
            f"Training diverged in iteration {iteration}: the loss is not finite. {kept}Try a "
            "lower `learning_rate` or set `max_gradient_norm`."
        )

    def _checkpoint(self, log: TextIO) -> None:
        """Save everything, the log first: its lines must not be lost once iterations are saved."""
        os.fsync(log.fileno())
        save_checkpoint(
            self.out,
            self.config,
            self.family,
            self.progress,
            self.networks,
            self.optimizer,
            self.best,
        )

    def _write_artifact(self) -> Path:
        """Write the best validated weights with their card, or the current ones if none."""
        if self.progress.best_score is None and self.config.iterations:
            self._validate()
        af = NeuralAF(self.af.architecture)
        af.load_state_dict({k: v.cpu() for k, v in self.best.items()})
        path = self.out / "af.safetensors"
        prior = self.prior.to("cpu")
        score: dict[str, float] = {}
        if not self.is_member:
            af, score = if_better(af, prior, self.family, self.config)
        card = training_card(af, prior, self.family, self.config, self.progress, score)
        save(af, card, path, prior.learned)
        return path
