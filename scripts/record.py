# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records what a command shows in a terminal as a moving picture: one SVG file with nothing else in it.

Run: python3 scripts/record.py --output docs/images/demo.svg --title "..." make demo
Run: python3 scripts/record.py --output docs/images/demo.svg --cast demo.cast      (draws an earlier recording again)

With both --cast and a command the recording is kept as well, in the format of asciinema (asciicast v2).
"""

from __future__ import annotations

import argparse
import codecs
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import environments

LONGEST = 600.0  # seconds a command may take
PIECE = 65536


@dataclass(frozen=True)
class Recording:
    """What a terminal of this size was sent, each piece with the seconds since the start."""

    columns: int
    rows: int
    pieces: list[tuple[float, str]]


def main() -> int:
    options = _options()
    if options.command:
        recording, status = record(options.command, options.columns, options.rows)
        if options.cast:
            options.cast.write_text(cast_of(recording))
        if status:
            print(f"record: the command ended with status {status}; nothing was drawn", file=sys.stderr)
            return status
    else:
        recording = read_cast(options.cast.read_text())
    _among_libraries()
    # Only here: the terminal emulator lives in an environment of its own, which nobody needs who does not record.
    from moving_picture import svg_of
    from screenplay import play

    pieces = [(at, _called(text, options.call)) for at, text in recording.pieces]
    film = play(pieces, recording.columns, recording.rows, longest_pause=options.longest_pause)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(svg_of(film, options.title))
    size = options.output.stat().st_size
    print(f"{options.output}: {film.seconds:.0f} s, {len(film.lines)} lines, {size / 1000:.0f} kB")
    return 0


def record(command: list[str], columns: int, rows: int) -> tuple[Recording, int]:
    """Run it in a terminal of this size, shown here too; what it wrote when, and its exit status."""
    pieces: list[tuple[float, str]] = []
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    started = time.monotonic()
    with _terminal(columns, rows) as (ours, theirs):
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": str(rows)},
        )
        os.close(theirs)
        previous = signal.signal(signal.SIGALRM, lambda number, frame: os.killpg(process.pid, signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, LONGEST)
        try:
            while data := _read(ours):
                text = decoder.decode(data)
                pieces.append((time.monotonic() - started, text))
                sys.stdout.write(text)
                sys.stdout.flush()
            status = process.wait()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()
    return Recording(columns, rows, pieces), status


@contextmanager
def _terminal(columns: int, rows: int) -> Iterator[tuple[int, int]]:
    """Both ends of a new one. The other side is closed by whoever hands it to a child."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    try:
        yield ours, theirs
    finally:
        os.close(ours)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, PIECE)
    except OSError:  # Linux' way to say that the other side was closed
        return b""


def cast_of(recording: Recording) -> str:
    """asciicast v2: a header, then one line a piece."""
    header = {"version": 2, "width": recording.columns, "height": recording.rows}
    rows = [json.dumps(header), *(json.dumps([round(at, 3), "o", text]) for at, text in recording.pieces)]
    return "\n".join(rows) + "\n"


def read_cast(text: str) -> Recording:
    header, *rows = map(json.loads, text.splitlines())
    return Recording(header["width"], header["height"], [(at, piece) for at, kind, piece in rows if kind == "o"])


def _called(text: str, names: list[str]) -> str:
    """Folders of this machine by the names that readers know."""
    for name in names:
        folder, _equals, known = name.partition("=")
        text = text.replace(folder, known)
    return text


def _among_libraries() -> None:
    """Make the emulator importable, whichever Python runs this."""
    venv = environments.ensure("recorder")
    sys.path += map(str, venv.glob("lib/python*/site-packages"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Record a command as an animated SVG.")
    parser.add_argument("--output", type=Path, required=True, help="the SVG to write")
    parser.add_argument("--title", default="A recorded terminal", help="what those hear who cannot see it")
    parser.add_argument("--cast", type=Path, help="keep the recording here, or draw this one when no command is given")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--longest-pause", type=float, default=2.0, help="seconds; what takes longer is cut to this")
    parser.add_argument("--call", action="append", default=[], metavar="FOLDER=NAME", help="show a folder by this name")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.command and not options.cast:
        parser.error("name a command to run, or a recording with --cast")
    return options


if __name__ == "__main__":
    sys.exit(main())
