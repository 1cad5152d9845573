"""Files that s2sad writes: nothing is lost that somebody else has written.

A file is written beside its place and then renamed, so that there is the old text or the new one,
never half of either. What is written over begins with the mark of what s2sad writes.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from s2sad.errors import SourceError


def write_own(path: str | Path, text: str, mark: str, sources: Iterable[str] = ()) -> Path:
    """Write a text that begins with a mark to a file, unless that is somebody else's.

    It refuses a file that does not begin with the mark, and any of the `sources` that the text was
    made from, whatever link leads to it. The permissions of a file stay.
    """
    path = Path(path)
    found = _status(path)
    if found is not None and not stat.S_ISREG(found.st_mode):
        path.write_text(text, encoding="utf-8", newline="\n")  # a pipe or a device
        return path
    place = Path(os.path.realpath(path))
    if found is not None:
        _refuse_source(path, found, sources)
        with place.open("r+b") as old:  # a file that may not be written stays as it is
            own = old.read(len(mark.encode())) == mark.encode()
        if not own:
            raise SourceError(
                f"{path} exists, and s2sad did not write it: it does not begin with "
                f"`{mark.splitlines()[-1]}`. The file is left as it is.",
                remedy="Choose another file, or remove this one first.",
            )
    _replace(place, text, found)
    return path


def _status(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except FileNotFoundError:
        return None


def _refuse_source(path: Path, found: os.stat_result, sources: Iterable[str]) -> None:
    for source in sources:
        if os.path.isfile(source) and os.path.samestat(found, os.stat(source)):
            raise SourceError(
                f"{path} holds the source of the function: the derivative would overwrite it. "
                "The file is left as it is.",
                remedy="Choose another file.",
            )


def _replace(place: Path, text: str, found: os.stat_result | None) -> None:
    """Put a text in the place of a file at once."""
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        with open(beside, "x", encoding="utf-8", newline="\n") as new:
            new.write(text)
            new.flush()
            os.fsync(new.fileno())
        if found is not None:
            beside.chmod(stat.S_IMODE(found.st_mode))
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
