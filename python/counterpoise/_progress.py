"""How far a run is: a line that changes in terminals and notebooks, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

#: Seconds before anything is said, and between lines that stay.
_PATIENCE, _PAUSE = 2.0, 10.0


class Progress:
    """Takes what the engine tells."""

    def __init__(self, wanted: bool | None, simulations: int | None, generations: int | None) -> None:
        self.wanted, self.simulations, self.generations = wanted, simulations, generations
        self.begun = self.said = time.monotonic()
        self.display: Any = None
        self.open = False

    def __call__(self, kind: str, generation: int, done: int, failed: int) -> None:
        """Say something, if it is time."""
        now = time.monotonic()
        if self.wanted is False or now - self.begun < (0 if self.wanted else _PATIENCE):
            return
        text = self._text(kind, generation, done, failed)
        if text is None:
            return
        self.display = self.display or _notebook()
        if self.display is not None:
            self.display.update({"text/plain": text}, raw=True)
        elif sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(f"\r{text:<78}")
            sys.stderr.flush()
            self.open = True
        elif sys.stderr is not None and (now - self.said > _PAUSE or (self.wanted and kind == "committed")):
            sys.stderr.write(text + "\n")
            sys.stderr.flush()
        else:
            return
        self.said = now

    def _text(self, kind: str, generation: int, done: int, failed: int) -> str | None:
        of = f" of {self.generations}" if self.generations else ""
        if kind == "simulated":
            all = f" of {self.simulations}" if self.simulations else ""
            lost = f", {failed} failed" if failed else ""
            return f"generation {generation + 1}{of}: {done}{all} simulations{lost}"
        if kind == "weighing":
            return f"generation {generation + 1}{of}: choosing distance weights"
        if kind == "committed":
            return f"{generation}{of} generations done"
        return None

    def close(self) -> None:
        """End the line."""
        if self.open:
            sys.stderr.write("\r" + " " * 78 + "\r")
            sys.stderr.flush()


def _notebook() -> Any:
    """A display that can be updated, in a notebook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    # Some notebooks, such as Colab, have a shell that is made from Jupyter's.
    if not any(kind.__name__ == "ZMQInteractiveShell" for kind in type(shell).__mro__):
        return None
    from IPython.display import display

    return display({"text/plain": ""}, raw=True, display_id=True)
