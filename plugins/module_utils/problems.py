# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Errors as sentences: what failed, on which object, why, and what to do next.

Shared by every room and private to the collection.
"""

from __future__ import annotations


class Problem(Exception):
    """Anything we tell a person instead of a traceback."""

    def __init__(self, what: str, *, which: str = "", why: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.which = which
        self.why = why
        self.next_step = next_step

    @property
    def is_forbidden(self) -> bool:
        """The API server says that this user may not; another one may."""
        return False

    def __str__(self) -> str:
        head = f"{self.what} {self.which}".strip()
        sentence = f"{head}: {self.why}" if self.why else head
        return f"{sentence}. Next: {self.next_step}." if self.next_step else f"{sentence}."


class BadOption(Problem):
    """The task itself is wrong; nothing was sent."""


class Refused(Problem):
    """We could, but it would not be safe; nothing was written."""


class CannotLook(Problem):
    """We could not see what is there, so nothing may be concluded from not seeing it."""


class Unreachable(Problem):
    """No answer from the API server, or no way to talk to it."""


class NotLoggedIn(Problem):
    """The API server does not accept who we say we are."""


class TimedOut(Problem):
    """The time given to the task is over."""


class Hopeless(TimedOut):
    """There is time left, but nobody who could do what is waited for."""


class Interrupted(Problem):
    """Somebody asked us to stop; what was done until then is reported."""


class MissingPackage(Problem):
    """A Python package we need is not installed where the task runs."""

    @classmethod
    def named(cls, package: str, problem: ImportError) -> MissingPackage:
        return cls(
            f"the Python package {package} cannot be imported",
            why=str(problem),
            next_step=f"install it where this task runs: python3 -m pip install {package}",
        )


# Nothing was learnt about the cluster: the task itself ends.
ENDS_THE_TASK = (Interrupted, NotLoggedIn, TimedOut, Unreachable)


class BadFields:
    """Collects every bad field of an option before complaining once."""

    def __init__(self) -> None:
        self._complaints: list[str] = []

    def add(self, path: str, complaint: str) -> None:
        self._complaints.append(f"{path}: {complaint}")

    def complain(self, complaint: str) -> None:
        """A complaint that names its field by itself."""
        self._complaints.append(complaint)

    def raise_if_any(self) -> None:
        if self._complaints:
            raise BadOption("bad options", why="; ".join(self._complaints))
