"""Training with only the core installed: `python -m metabo.training FAMILY --out DIR`."""

import argparse
import sys
from pathlib import Path

from metabo.errors import MetaBOError
from metabo.tasks import family as family_of
from metabo.training.api import run_training
from metabo.training.config import read_settings
from metabo.training.folder import has_run
from metabo.training.interrupt import farewell
from metabo.training.log import Event
from metabo.training.presets import PRESETS, preset


def main() -> None:
    """Train, and print a line per validation."""
    parser = argparse.ArgumentParser(prog="python -m metabo.training", description=__doc__)
    parser.add_argument("family")
    parser.add_argument("--preset", choices=sorted(PRESETS))
    parser.add_argument("--sources", type=int)
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()

    def show(event: Event) -> None:
        if event.score is not None:
            print(
                f"{given.out.name} {event.iteration}/{event.iterations} {event.seconds:.0f} s  "
                f"reward {event.reward:.3f}  validation {event.score:.3f} "
                f"(best {event.best_score:.3f})  entropy {event.entropy:.2f}",
                flush=True,
            )

    try:
        changes: dict[str, object] = {"device": given.device, "seed": given.seed}
        for name in ("sources", "iterations"):
            if getattr(given, name) is not None:
                changes[name] = getattr(given, name)
        changes |= read_settings(given.set)
        family = family_of(given.family)
        config = preset(given.preset or family.preset, given.family, **changes)
        path = run_training(
            config,
            given.out,
            family=family,
            resume=given.resume,
            seconds=given.seconds,
            on_event=show,
        )
    except MetaBOError as error:
        print(f"Error: {error.in_shell}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as interrupt:
        words, is_begun = sys.argv[1:], has_run(given.out)
        print(farewell(interrupt, parser.prog, words, is_begun=is_begun), file=sys.stderr)
        sys.exit(130)
    print(f"Wrote {path}")


if __name__ == "__main__":
    main()
