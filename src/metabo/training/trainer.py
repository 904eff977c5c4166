"""The training loop: tasks -> rollout -> update -> validate -> checkpoint.

Everything random in iteration i is a function of (seed, i), so a run that was killed and resumed
ends with the weights of one that was not.
"""

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from metabo.acquisition import NeuralAF
from metabo.devices import require_device
from metabo.errors import DataError, MetaBOError, OptionError
from metabo.loop import rollout
from metabo.policies import Maximize
from metabo.pretrained import save
from metabo.seeding import generator
from metabo.tasks import family as family_of
from metabo.training.card import training_card
from metabo.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from metabo.training.config import TrainConfig
from metabo.training.critic import Critic
from metabo.training.ppo import update
from metabo.training.rewards import rewards
from metabo.training.rollouts import collect, training_search


class TrainingError(MetaBOError, ArithmeticError):
    """Training diverged."""


@dataclass(frozen=True)
class Event:
    """What happened in one iteration: a line of `log.jsonl`."""

    iteration: int
    iterations: int
    reward: float
    """Mean reward per step of the training batch."""
    regret: float
    """Median final regret of the training batch."""
    entropy: float
    value_loss: float
    clipped: float
    learning_rate: float
    steps_per_second: float
    seconds: float
    """Wall-clock time spent so far."""
    score: float | None = None
    """Mean reward per step on the validation tasks, the best candidate taken."""
    best_score: float | None = None


class Trainer:
    """One training run in one folder."""

    def __init__(self, config: TrainConfig, out: Path, *, resume: bool = False) -> None:
        require_device(config.device)
        self.config, self.out = config, out
        self.family = family_of(config.family)
        if config.sources is not None:
            self.family = family_of(config.family, sources=config.sources)
        self.budget = config.budget or self.family.budget
        weights = generator(config.seed, "weights")
        self.af = NeuralAF(config.architecture(self.family.domain.dim), weights)
        self.networks = nn.ModuleDict({"af": self.af, "critic": Critic(config, weights)})
        self.networks.to(config.device)
        self.optimizer = torch.optim.Adam(self.networks.parameters(), lr=config.learning_rate)
        self.progress = Progress()
        self.best: dict[str, Tensor] = {k: v.clone() for k, v in self.af.state_dict().items()}
        checkpoint = out / "checkpoint.safetensors"
        if resume and checkpoint.exists():
            self.progress, self.best = load_checkpoint(
                checkpoint, config, self.networks, self.optimizer
            )
        elif checkpoint.exists():
            raise DataError(f"`{out}` holds a training run. Give `--resume`, or another `--out`.")
        self._forget_lines_after(self.progress.iteration)

    def run(
        self, *, seconds: float | None = None, on_event: Callable[[Event], None] | None = None
    ) -> Path:
        """Train to the end or until the time is up; give the path of the artifact."""
        config = self.config
        if seconds is not None and not seconds >= 0:
            raise OptionError(f"`seconds` must not be negative, but got {seconds}.")
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "config.json").write_text(json.dumps(config.record(), indent=1))
        if config.precision == "tf32":
            torch.set_float32_matmul_precision("high")
        before, start = self.progress.seconds, time.perf_counter()
        with (self.out / "log.jsonl").open("a") as log:
            while self.progress.iteration < config.iterations:
                event = self._iterate(before + time.perf_counter() - start)
                log.write(json.dumps(asdict(event)) + "\n")
                log.flush()
                self.progress.seconds = before + time.perf_counter() - start
                is_over = seconds is not None and time.perf_counter() - start >= seconds
                is_due = self.progress.iteration % config.checkpoint_every == 0
                if is_due or is_over or self.progress.iteration == config.iterations:
                    self._checkpoint()
                if on_event is not None:
                    on_event(event)
                if is_over:
                    break
        return self._write_artifact()

    def _iterate(self, elapsed: float) -> Event:
        """One iteration, with validation when it is due."""
        config, number = self.config, self.progress.iteration
        started = time.perf_counter()
        rate = self._learning_rate(number)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        drawn = self.family.sample(
            config.episodes, generator(config.seed, f"training tasks/{number}")
        )
        batch, episodes = collect(
            self.af,
            self.networks["critic"],  # type: ignore[arg-type]
            drawn.to(config.device),
            self.family,
            config,
            budget=self.budget,
            seed=_mix(config.seed, number),
            is_coarse=number % 2 == 1,
        )
        losses = update(
            self.af,
            self.networks["critic"],  # type: ignore[arg-type]
            self.optimizer,
            batch,
            config,
            generator(config.seed, f"minibatches/{number}"),
        )
        if not math.isfinite(losses.policy + losses.value):
            raise TrainingError(
                f"Training diverged in iteration {number + 1}: the loss is not finite. The last "
                f"good state is in `{self.out / 'checkpoint.safetensors'}`. Try a lower "
                "`learning_rate` or set `max_gradient_norm`."
            )
        self.progress.iteration = number + 1
        score = self._validate() if self._is_validation_due() else None
        earned = rewards(episodes.regret, config.reward, config.reward_floor)
        took = time.perf_counter() - started
        return Event(
            iteration=number + 1,
            iterations=config.iterations,
            reward=earned.mean().item(),
            regret=episodes.regret[:, -1].median().item(),
            entropy=losses.entropy,
            value_loss=losses.value,
            clipped=losses.clipped,
            learning_rate=rate,
            steps_per_second=config.episodes * self.budget / took,
            seconds=elapsed + took,
            score=score,
            best_score=self.progress.best_score if score is not None else None,
        )

    def _learning_rate(self, number: int) -> float:
        config = self.config
        cosine = 0.5 * (1 + math.cos(math.pi * number / config.iterations))
        return config.final_learning_rate + cosine * (
            config.learning_rate - config.final_learning_rate
        )

    def _is_validation_due(self) -> bool:
        number = self.progress.iteration
        return number % self.config.validate_every == 0 or number == self.config.iterations

    def _validate(self) -> float:
        """Score the AF on tasks of its own, and keep its weights if it never did better."""
        config = self.config
        whole = family_of(config.family)  # not only the sources
        drawn = whole.sample(config.validation_tasks, generator(config.seed, "validation tasks"))
        policy = Maximize(self.af, training_search(config, whole.domain.dim))
        episodes = rollout(
            policy, drawn.to(config.device), self.family, seed=config.seed, budget=self.budget
        )
        score = rewards(episodes.regret, config.reward, config.reward_floor).mean().item()
        if self.progress.best_score is None or score > self.progress.best_score:
            self.progress.best_score = score
            self.progress.best_iteration = self.progress.iteration
            self.best = {k: v.clone() for k, v in self.af.state_dict().items()}
        return score

    def _checkpoint(self) -> None:
        save_checkpoint(
            self.out / "checkpoint.safetensors",
            self.config,
            self.progress,
            self.networks,
            self.optimizer,
            self.best,
        )

    def _write_artifact(self) -> Path:
        """The best validated weights with their card; the current ones if there are none."""
        if self.progress.best_score is None:
            self._validate()
        af = NeuralAF(self.af.architecture)
        af.load_state_dict({k: v.cpu() for k, v in self.best.items()})
        path = self.out / "af.safetensors"
        save(af, training_card(af, self.config, self.progress), path)
        return path

    def _forget_lines_after(self, iteration: int) -> None:
        """Drop log lines of iterations that will be done again."""
        path = self.out / "log.jsonl"
        if path.exists():
            lines = [line for line in path.read_text().splitlines() if line.endswith("}")]
            kept = [line for line in lines if json.loads(line)["iteration"] <= iteration]
            path.write_text("".join(f"{line}\n" for line in kept))


def _mix(seed: int, number: int) -> int:
    """A seed for the episodes of one iteration."""
    return seed * 1_000_003 + number
