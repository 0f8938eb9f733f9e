# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commands for people to paste, made of words that come from a cluster.

Shared by every room and private to the collection. A command that is pasted is run, so every word is quoted for the
shell, and a word that could mean more than itself gets no command at all, but a sentence that names it: a template
(`{{ … }}`) which Ansible would run, an option (`--all`) that kubectl would obey, a character that is not seen. Options
of Ansible that hold more than plain words are given as JSON, so that `name=x owner=any` stays one value.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence

from .visible import visible

# What names, namespaces, finalizers, labels and kinds are made of; a blank only between words.
_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._:/@+=,~-]| (?! |$))*", re.ASCII)
# What key=value needs no more for.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+~-]*", re.ASCII)
_PLACE = re.compile(r"\{(\w+)\}")


class _Unsafe(Exception):
    """This word must not stand in a command."""


def command(line: str, **words: str) -> str:
    """A command with `{word}` in place of what comes from the cluster; a sentence where one of them is not safe.

    What explains the command may stand before it, up to a colon.
    """
    try:
        return _PLACE.sub(lambda place: shlex.quote(_checked(words[place[1]])), line)
    except _Unsafe as unsafe:
        before, colon, _command = line[: line.index("{")].rpartition(": ")
        return before + colon + _no_command(unsafe)


def kubectl(line: str, *, namespace: str = "", **words: str) -> str:
    """`command` for kubectl, in a namespace if there is one."""
    scope = "kubectl -n {namespace} " if namespace else "kubectl "
    return command(scope + line, namespace=namespace, **words)


def ad_hoc(module: str, options: Mapping[str, str | Sequence[str]]) -> str:
    """One task of ours on the command line. Options without a value are left out."""
    return _ansible(f"ansible localhost -m sunset.kube.{module} -a ", options, joined=True)


def playbook(name: str, options: Mapping[str, str | Sequence[str]]) -> str:
    """One of our playbooks with its variables. Those without a value are left out."""
    return _ansible(f"ansible-playbook sunset.kube.{name} ", options, joined=False)


def _ansible(start: str, options: Mapping[str, str | Sequence[str]], *, joined: bool) -> str:
    given = {key: value for key, value in options.items() if value}
    words = {key: [value] if isinstance(value, str) else list(value) for key, value in given.items()}
    try:
        every = [_checked(word) for listed in words.values() for word in listed]
    except _Unsafe as unsafe:
        return _no_command(unsafe)
    if all(map(_PLAIN.fullmatch, every)):
        pairs = [f"{key}={','.join(listed)}" for key, listed in words.items()]
        return start + (shlex.quote(" ".join(pairs)) if joined else " ".join(f"-e {shlex.quote(one)}" for one in pairs))
    return start + ("" if joined else "-e ") + shlex.quote(json.dumps(given))


def _checked(word: str) -> str:
    if not _WORD.fullmatch(word):
        raise _Unsafe(word)
    return word


def _no_command(unsafe: _Unsafe) -> str:
    return f"by hand (no command is shown, as '{visible(str(unsafe))}' is not safe to paste)"
