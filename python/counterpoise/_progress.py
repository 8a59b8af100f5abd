"""How far a run is: a line that changes in terminals and notebooks, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

#: Seconds before anything is said, and between lines that stay.
_PATIENCE, _PAUSE = 2.0, 10.0
#: Letters of a line.
_WIDE = 78


class Progress:
    """Takes what the engine tells."""

    def __init__(self, wanted: bool | None, plan: Callable[[], tuple[int | None, int | None]]) -> None:
        # The simulations of a generation and the number of generations; asked for when something is said.
        self.wanted, self.plan = wanted, plan
        self.begun = self.said = time.monotonic()
        # When the first generation of this call began, which it was, and how many of its simulations were there.
        self.first: tuple[float, int, int] | None = None
        self.display: Any = None
        self.open = False

    def __call__(self, kind: str, generation: int, done: int, failed: int) -> None:
        """Say something, if it is time."""
        now = time.monotonic()
        if kind == "simulating" and self.first is None:
            self.first = (now, generation, done)
        if self.wanted is False or now - self.begun < (0 if self.wanted else _PATIENCE):
            return
        text = self._text(kind, generation, done, failed, now)
        if text is None:
            return
        self.display = self.display or _notebook()
        if self.display is not None:
            self.display.update({"text/plain": text}, raw=True)
        elif sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(f"\r{text[:_WIDE]:<{_WIDE}}")
            sys.stderr.flush()
            self.open = True
        elif sys.stderr is not None and (now - self.said > _PAUSE or (self.wanted and kind == "committed")):
            sys.stderr.write(text + "\n")
            sys.stderr.flush()
        else:
            return
        self.said = now

    def _text(self, kind: str, generation: int, done: int, failed: int, now: float) -> str | None:
        simulations, generations = self.plan()
        of = f" of {generations}" if generations else ""
        if kind == "simulated":
            all = f" of {simulations}" if simulations else ""
            lost = f", {failed} failed" if failed else ""
            left = self._left(generation, done, now)
            return f"generation {generation + 1}{of}: {done}{all} simulations{lost}{left}"
        if kind == "weighing":
            left = self._left(generation, simulations or 0, now)
            return f"generation {generation + 1}{of}: choosing distance weights{left}"
        if kind == "committed":
            return f"{generation}{of} generations done{self._left(generation, 0, now)}"
        return None

    def _left(self, generation: int, done: int, now: float) -> str:
        """Say how long it will take, if simulations go on as they went since the beginning of this call."""
        simulations, generations = self.plan()
        if self.first is None or not simulations or not generations:
            return ""
        begun, first, stored = self.first
        made = (generation - first) * simulations + done - stored
        missing = (generations - generation) * simulations - done
        if made <= 0 or missing <= 0:
            return ""
        return f", about {_duration((now - begun) * missing / made)} left"

    def close(self) -> None:
        """End the line."""
        if self.open:
            sys.stderr.write("\r" + " " * _WIDE + "\r")
            sys.stderr.flush()


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.2g} h"


def _notebook() -> Any:
    """A display that can be updated, in a notebook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    # Some notebooks, such as Colab, have a shell that is made from Jupyter's.
    if not any(kind.__name__ == "ZMQInteractiveShell" for kind in type(shell).__mro__):
        return None
    from IPython.display import display

    return display({"text/plain": ""}, raw=True, display_id=True)
