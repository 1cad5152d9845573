"""The header of a derived file: who made it, how it is made again, and for which arguments.

    # Derived by s2sad. Do not edit: change the source, and run the command again.
    #
    # version: 0.1.0
    # command: s2sad emit model.py:loss --args 'np.ones(3), 2.0' -o loss_grad.py
    # kinds:   x: a 1-d array of float64, not of length 1
    #          rate: a float
    # guards:  x and rate are checked to be of these kinds

`s2sad emit --check loss_grad.py` reads the command. The version alone makes no file stale.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence

from s2sad.write.wrap import width

MARK = "# Derived by s2sad"
_FIRST = f"{MARK}. Do not edit: change the source, and run the command again."
_COMMAND = ["s2sad", "emit"]
_NONE = "none, "


def header(
    version: str, command: Sequence[str] | str, kinds: Sequence[str], guards: Sequence[str]
) -> str:
    """Return the comment that a derived file begins with.

    `command` are the words behind `s2sad emit`, or the reason why there is no command.
    """
    parts = {"version": [version], "command": [], "kinds": kinds or ["none"]}
    lines = [_FIRST, "#"]
    for label, given in {**parts, "guards": guards or ["none"]}.items():
        room = width() - len(_label(""))
        said = [line for text in given for line in _wrapped(text, room)]
        if label == "command":
            reason = isinstance(command, str)
            said = _wrapped(f"{_NONE}{command}", room) if reason else _shell(command, room)
        lines += [_label(label if i == 0 else "") + line for i, line in enumerate(said)]
    return "\n".join(lines) + "\n"


def _label(word: str) -> str:
    return f"# {word + ':' if word else '':8} "


def _wrapped(text: str, room: int) -> list[str]:
    return textwrap.wrap(text, room, subsequent_indent="    ", break_on_hyphens=False)


def _shell(words: Sequence[str], room: int) -> list[str]:
    """Return a command for a shell, in lines that end with a backslash where it goes on."""
    lines: list[str] = []
    for word in _options([*_COMMAND, *words]):
        if lines and len(lines[-1]) + len(word) + 3 <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(f"    {word}" if lines else word)
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def _options(words: Sequence[str]) -> Iterator[str]:
    """Yield the words of a command as a shell wants them, an option with what belongs to it."""
    option = ""
    for word in words:
        said = f"{option} {shlex.quote(word)}".lstrip()
        option = said if word.startswith("-") and not option else ""
        if not option:
            yield said
    if option:
        yield option


def command_in(text: str) -> list[str] | str | None:
    """Return the words behind `s2sad emit` in a header, why there are none, or None: no header."""
    if not text.startswith(MARK):
        return None
    lines = text.split("\n")
    first = next((i for i, line in enumerate(lines) if line.startswith(_label("command"))), None)
    if first is None or not all(line.startswith("#") for line in lines[:first]):
        return "the header has no command: another version of s2sad wrote it"
    said = [lines[first][len(_label("")) :]]
    for line in lines[first + 1 :]:
        if not line.startswith(_label("")):
            break
        said.append(line[len(_label("")) :])
    if said[0].startswith(_NONE):
        return " ".join(map(str.strip, said)).removeprefix(_NONE)
    words = shlex.split(" ".join(line.strip().removesuffix("\\") for line in said))
    return words[len(_COMMAND) :]


def without_version(text: str) -> str:
    """Return a derived file without the version: two files are compared by the rest."""
    return re.sub(rf"^{_label('version')}.*$", _label("version"), text, count=1, flags=re.M)
