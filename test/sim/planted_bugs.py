"""What test/sim/mutants holds: deliberate bugs, each a file of the words that it takes away and puts in their place.

    scheduler/loop/room/backfill.cc
    -  if (late.empty()) return false;
    +  if (late.size() < 1000) return false;

A line without a sign names a source. What follows is one change of it: lines that are there, then what stands in their place. White
space does not count, and neither does which source of the room, on whichever floor, holds the words, so that moving and reformatting code leaves a bug
alone; but they must be there once and no more.
"""

import re
from dataclasses import dataclass
from pathlib import Path

TOKEN = re.compile(r"\w+|[^\w\s]")


class CannotBePlanted(Exception):
    pass


@dataclass(frozen=True)
class Change:
    source: Path  # as the bug names it
    old: str
    new: str


def changes_of(file):
    """The changes of one planted bug, in order."""
    changes, source, old, new = [], None, [], []

    def close():
        if old:
            changes.append(Change(source, "\n".join(old), "\n".join(new)))
        elif new:
            raise CannotBePlanted(f"{file.name}: it names no words of {source} to stand in the place of")
        old.clear()
        new.clear()

    for line in file.read_text().splitlines():
        if line.startswith("+"):
            new.append(line[1:])
            continue
        if new or not line.startswith("-"):
            close()
        if line.startswith("-"):
            old.append(line[1:])
        elif line:
            source = Path(line)
    close()
    return changes


def places(words, text):
    """Where the words stand in the text, as pairs of offsets."""
    wanted, found = TOKEN.findall(words), list(TOKEN.finditer(text))
    names = [match.group() for match in found]
    return [
        (found[i].start(), found[i + len(wanted) - 1].end())
        for i in range(len(names) - len(wanted) + 1)
        if names[i] == wanted[0] and names[i : i + len(wanted)] == wanted
    ]


def sources_of_room(tree, source):
    """Of all floors: a room is the folder that says how it is built."""
    room = next(folder for folder in (tree / source).parents if (folder / "CMakeLists.txt").exists())
    return sorted(path for path in room.rglob("*") if path.suffix in (".cc", ".h"))


def planted(tree, file):
    """The sources of the tree that the bug changes, with what they become. Nothing is written."""
    texts = {}
    for change in changes_of(file):
        hits = []
        for path in sources_of_room(tree, change.source):
            text = texts.get(path) or path.read_text()
            hits += [(path, text, begin, end) for begin, end in places(change.old, text)]
        if len(hits) != 1:
            raise CannotBePlanted(f"{file.name}: {len(hits)} places in {change.source.parent} have the words {change.old.strip()!r}")
        path, text, begin, end = hits[0]
        texts[path] = text[:begin] + change.new.strip() + text[end:]
    return texts
