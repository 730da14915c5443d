"""Commands that can fail: the error is shown as a notice."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from app.model.errors import UserError

if TYPE_CHECKING:
    from app.window.application import Application

P = ParamSpec("P")


def attempt(application: Application, command: Callable[[], object]) -> None:
    """Run a command, and show its `UserError` as a notice."""
    try:
        command()
    except UserError as error:
        application.notices.complain(str(error))


def attempted(command: Callable[Concatenate[Application, P], None]) -> Callable[Concatenate[Application, P], None]:
    """A command that shows its own `UserError` as a notice."""

    @functools.wraps(command)
    def run(application: Application, /, *args: P.args, **kwargs: P.kwargs) -> None:
        attempt(application, lambda: command(application, *args, **kwargs))

    return run
