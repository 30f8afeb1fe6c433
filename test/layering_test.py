#!/usr/bin/env python3
"""Holds the rooms of the tree apart: who may include whom, and which words may be written where.

  test/layering_test.py            # checks this tree; every rule is one case, and so is every self-check
  test/layering_test.py --sizes    # also lists the files past their size guide (a report, never a failure)

The tables below are the whole truth; ARCHITECTURE.md explains them. The last line is `N passed, M failed, K skipped`.
"""

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# Room: the rooms it may include besides itself. `*` is anything; `plugins/*` is any policy. A file belongs to the longest
# room its path starts with. Every arrow points away from the program towards the vocabulary, so no cycle can be written down.
API = ("api/base", "api/model", "api/gpu", "api/codec", "api/producers", "api/validation", "api/http", "api/client", "api/proto")
CONTRACT = (*API, "plugins/framework")
ROOMS = {
    "api/base": (),
    "api/model": ("api/base",),
    "api/gpu": ("api/base", "api/model"),
    "api/codec": ("api/base", "api/model", "api/gpu"),
    "api/producers": ("api/base", "api/model", "api/codec", "api/validation"),
    "api/proto": (),
    "api/validation": ("api/base", "api/model", "api/codec"),
    "api/http": ("api/base", "api/model", "api/codec"),
    "api/client": ("api/base", "api/model", "api/codec", "api/http"),
    "api/devcluster": ("api/base", "api/model", "api/gpu", "api/codec", "api/validation", "api/http", "api/proto"),
    "plugins/framework": API,
    "plugins": CONTRACT,  # one policy: its own source and the contract; see also BUILTIN
    "queue": API,
    "scheduler/import": ("api/base", "api/model", "api/codec", "api/validation"),
    "scheduler/mig": ("api/base", "api/model", "api/gpu"),
    "scheduler/state": (*CONTRACT, "queue"),
    "scheduler/cycle": (*CONTRACT, "queue", "scheduler/state"),
    "scheduler/advice": (*CONTRACT, "queue", "scheduler/state", "scheduler/cycle"),
    "scheduler/bind": (*CONTRACT, "queue", "scheduler/state", "scheduler/cycle"),
    "scheduler/report": (*CONTRACT, "queue", "scheduler/state", "scheduler/cycle", "scheduler/bind"),
    "scheduler/page": ("api/base", "api/model", "api/codec", "scheduler/report"),
    "scheduler/loop": (*CONTRACT, "queue", "scheduler/mig", "scheduler/state", "scheduler/cycle", "scheduler/advice", "scheduler/bind", "scheduler/report"),
    "scheduler/replay": (*API, "queue", "api/devcluster", "plugins/framework", "scheduler/mig", "scheduler/state", "scheduler/cycle", "scheduler/bind", "scheduler/report", "scheduler/loop"),
    "scheduler/simulate": (*API, "plugins/framework", "scheduler/loop", "scheduler/replay", "scheduler/report"),
    "scheduler/app": ("*",),
    "scheduler/cli": ("*",),
    "bench": ("*",),
    "test": ("*",),
}
# Of the rooms that may include anything, third parties too: whom they may not.
FREE = {"scheduler/app": ("scheduler/cli", "bench", "test"), "scheduler/cli": ("bench", "test"), "bench": (), "test": ()}
# Floors of the large rooms, from below: a floor may include itself and those before it. `.` is what stands in the room's own folder.
FLOORS = {
    "api/devcluster": ("types", "store", "controllers", "rest", "shell"),
    "scheduler/app": ("config", "metrics", "access", "doors", "answers", "http", "."),
    "scheduler/cycle": ("question", "topology", "room", "search", "domains", ".", "victims"),
    "scheduler/loop": ("records", "quota", "desk", "flight", "room", "serve", "views", "."),
}

# The table of policies: the one place in plugins/ that names several of them.
BUILTIN = "plugins/builtin"
# The table that declares them all; a policy defines what it declares for it, and makes no other.
FACTORIES = "plugins/factories.h"
DEFINES_FACTORY = re.compile(r"Plugin> (Make\w+)\(")
USES_FACTORY = re.compile(r"\b(Make\w+)\(\)")

# The rooms, as starts of paths, of which each module has a test of its own.
TESTED = ("queue/", "scheduler/bind/", "scheduler/cycle/", "scheduler/mig/")

# Third party, as the start of the include path: the rooms that may see it, be it through headers. Not listed: everywhere.
THIRD_PARTY = {
    "rapidjson/": ("api/codec",),
    "google/protobuf/": ("api/codec", "api/proto", "api/devcluster"),
    "curl/": ("api/http", "api/client"),
    "boost/": ("api/devcluster",),
    "grpc": ("api/proto",),
    "yaml-cpp/": ("api/codec",),
    "prometheus/": ("scheduler/report",),
    "openssl/": ("api/http", "api/client", "api/devcluster"),
    "zlib.h": ("api/codec", "api/http", "api/client", "api/devcluster"),
    "CLI/": ("api/devcluster",),
    "gtest/": (),
    "gmock/": (),
    "rapidcheck": (),
    "benchmark/": (),
}


@dataclass(frozen=True)
class WordRule:
    """A pattern that may be written only in files whose path starts with one of `allowed`."""

    name: str
    pattern: str
    allowed: tuple = ()
    only: tuple = ("",)
    suffixes: tuple = (".h", ".cc")
    why: str = ""


SHELLS = ("scheduler/app/", "scheduler/cli/", "api/devcluster/shell/", "bench/")
WORDS = (
    WordRule(
        "time enters as an argument",
        r"\babsl::Now\s*\(|\b(system|steady|high_resolution)_clock::now\b|\bgettimeofday\s*\(|\bclock_gettime\s*\("
        r"|\btime\s*\(\s*(nullptr|NULL|0)\s*\)",
        allowed=("api/base/clock.", "api/base/log.", *SHELLS, "test/"),
        why="pure code takes absl::Time now; replay and simulation need it",
    ),
    WordRule(
        "nothing sleeps",
        r"\babsl::SleepFor\b|\b(u|nano)?sleep\s*\(|\bsleep_(for|until)\b",
        allowed=("api/base/clock.", *SHELLS),
        why="deadlines live in the timers of a loop; a test that sleeps is slow or flaky",
    ),
    WordRule(
        "randomness is injected",
        r"\bs?rand\s*\(|\brandom_device\b|\babsl::BitGen\b",
        allowed=("scheduler/app/", "scheduler/cli/", "api/devcluster/shell/main"),
        why="the same seed gives the same log",
    ),
    WordRule(
        "one annotated mutex",
        r"\bstd::(recursive_|shared_|timed_)?(mutex|condition_variable(_any)?)\b|\bpthread_mutex|\babsl::(Mutex|Notification)\b"
        r"|\bstd::(lock_guard|unique_lock|scoped_lock|shared_lock)\b",
        allowed=("api/base/mutex.",),
        why="clang checks the wrapper; Debian's Abseil is not built for the thread sanitizer",
    ),
    WordRule(
        "locks live at the doors between threads",
        r"\bMutex\b",
        allowed=("api/base/mutex.", "scheduler/app/doors/",  "test/", "bench/"),
        why="everything else has one owner thread",
    ),
    WordRule(
        "shared data is immutable",
        r"\bshared_ptr<(?!\s*const\b)",
        allowed=("test/", "bench/"),
        why="shared_ptr<const T> publishes; anything that changes has one owner (shared_from_this for Asio's handlers is fine)",
    ),
    WordRule("tests use the public face", r"\bFRIEND_TEST\b|\b\w+ForTest(ing)?\s*\(", why="split the class instead"),
    WordRule("unfinished work is not committed", r"\b(TODO|FIXME|XXX)\b", why="open an issue, or finish it"),
    WordRule(
        "string views in headers are Abseil's",
        r"\bstd::string_view\b|\babsl::optional\b",
        suffixes=(".h",),
        why="Debian's absl::string_view is another type than std::string_view",
    ),
    WordRule("headers open no namespace", r"\busing\s+namespace\b", suffixes=(".h",), why="it leaks into every includer"),
    WordRule(
        "only the language that both compilers share",
        r"#\s*include\s*<(format|coroutine|source_location|ranges)>|\bstd::(views|ranges::views)::|\bco_(await|yield|return)\b"
        r'|#\s*include\s*"absl/(log/|synchronization/)',
        why="g++ 12, clang 14, Debian's Abseil 20220623",
    ),
)

SIZE_GUIDE = (("test/", ".cc", 600), ("test/", ".py", 600), ("", ".h", 200), ("", ".cc", 500))

SOURCES = ("api", "plugins", "queue", "scheduler", "bench", "test")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
COMMENT_OR_STRING = re.compile(
    r'R"(?P<mark>[^()\\ ]*)\(.*?\)(?P=mark)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S
)


@dataclass(frozen=True)
class Breach:
    rule: str
    file: str
    line: int
    text: str


@dataclass(frozen=True)
class Source:
    """One file: its path from the root, its lines, and its lines without comments and the insides of strings."""

    path: str
    lines: list
    code: list

    @property
    def includes(self):
        for number, line in enumerate(self.lines, 1):
            found = INCLUDE.match(line)
            if found:
                yield number, found[1] or found[2]


def read(root):
    sources = []
    for top in SOURCES:
        for file in sorted((root / top).rglob("*")):
            if file.suffix in (".h", ".cc"):
                text = file.read_text(errors="replace")
                sources.append(Source(str(file.relative_to(root)), text.split("\n"), without_prose(text).split("\n")))
    return sources


def without_prose(text):
    """Comments blanked, strings emptied (but for the paths of includes), line numbers kept."""

    def blank(found):
        start = text.rfind("\n", 0, found.start()) + 1
        if text[start : found.start()].lstrip().startswith("#"):
            return found[0] if found[0].startswith('"') else ""
        return '""' * found[0].startswith(('"', "R")) + "\n" * found[0].count("\n")

    return COMMENT_OR_STRING.sub(blank, text)


def room_of(path):
    return max((room for room in ROOMS if path.startswith(room + "/")), key=len, default=None)


def check(root):
    """Every breach of the tables in the tree below `root`."""
    sources = read(root)
    breaches = []
    for source in sources:
        breaches += arrows(source)
        breaches += floors(source)
        breaches += policies(source)
        breaches += own_header(source, root)
        breaches += words(source)
    circles = cycles(sources)
    return [*breaches, *third_parties(sources), *untested(sources), *twins(sources), *(circles or rings(sources))]


RULE_ARROWS = "includes follow the arrows between rooms"
RULE_FLOORS = "a floor stands on those below it"
RULE_POLICY = "a policy knows itself and the contract"
RULE_THIRD_PARTY = "third parties stay inside their rooms"
RULE_HEADER = "a header guards itself and is included first by its own source"
RULE_CYCLES = "no file includes itself through others"
RULE_RINGS = "modules of a room stand on floors"
RULE_TWINS = "two headers define no class of one name"
RULE_TESTED = "a module of a pure room has a test that includes it"
RULES = [RULE_TESTED, RULE_ARROWS, RULE_FLOORS, RULE_POLICY, RULE_THIRD_PARTY, RULE_HEADER, RULE_CYCLES, RULE_RINGS, RULE_TWINS, *(rule.name for rule in WORDS)]


def arrows(source):
    room = room_of(source.path)
    if room is None:
        yield Breach(RULE_ARROWS, source.path, 1, "this folder is no room of the table")
        return
    allowed = ROOMS[room]
    for line, target in source.includes:
        other = room_of(target)
        if other is None and "/" in target and target.split("/")[0] in SOURCES:
            yield Breach(RULE_ARROWS, source.path, line, f"{target} lies in no room of the table")
        elif other is None or other == room or other in allowed:
            continue
        elif "*" not in allowed or other in FREE[room]:
            yield Breach(RULE_ARROWS, source.path, line, f"{room} may not include {other} ({target})")


def floor_of(path, room):
    below, _, name = path[len(room) + 1 :].partition("/")
    return below if name else "."


def floors(source):
    room = room_of(source.path)
    if room not in FLOORS:
        return
    names = FLOORS[room]
    own = floor_of(source.path, room)
    if own not in names:
        yield Breach(RULE_FLOORS, source.path, 1, f"{own} is no floor of {room}")
        return
    for line, target in source.includes:
        other = floor_of(target, room)
        if room_of(target) == room and (other not in names or names.index(other) > names.index(own)):
            yield Breach(RULE_FLOORS, source.path, line, f"{other} does not stand below {own} ({target})")


def policies(source):
    room = room_of(source.path)
    if room != "plugins" or source.path.startswith(BUILTIN):
        return
    for line, target in source.includes:
        if room_of(target) == "plugins" and target != FACTORIES and stem(target) != stem(source.path):
            yield Breach(RULE_POLICY, source.path, line, f"a policy may not include another one ({target})")
    if source.path == FACTORIES:
        return
    own = set(DEFINES_FACTORY.findall("\n".join(source.code)))
    for line, text in enumerate(source.code, 1):
        for made in USES_FACTORY.findall(text):
            if made not in own:
                yield Breach(RULE_POLICY, source.path, line, f"a policy may not make another one ({made})")


def stem(path):
    return path.rsplit(".", 1)[0]


def third_parties(sources):
    """What a file sees of third parties, through headers of ours too, must be allowed in its room."""
    by_path = {source.path: source for source in sources}
    seen = {}

    def parties_of(path):
        if path not in seen:
            seen[path] = set()  # an include that leads back adds nothing
            for _, target in by_path[path].includes:
                party = next((party for party in THIRD_PARTY if target.startswith(party)), None)
                seen[path] |= {party} if party else parties_of(target) if target in by_path else set()
        return seen[path]

    for source in sources:
        room = room_of(source.path)
        if room in FREE:
            continue
        for line, target in source.includes:
            parties = parties_of(target) if target in by_path else {p for p in THIRD_PARTY if target.startswith(p)}
            for party in sorted(parties):
                if room not in THIRD_PARTY[party]:
                    yield Breach(RULE_THIRD_PARTY, source.path, line, f"{room} may not see {party} ({target})")


def own_header(source, root):
    if source.path.endswith(".h"):
        if not any(line.startswith("#pragma once") for line in source.code):
            yield Breach(RULE_HEADER, source.path, 1, "no #pragma once")
        return
    own = stem(source.path) + ".h"
    first = next(source.includes, (1, own))
    if (root / own).exists() and first[1] != own:
        yield Breach(RULE_HEADER, source.path, first[0], f"{own} is not the first include")


def words(source):
    for rule in WORDS:
        if not source.path.endswith(rule.suffixes) or source.path.startswith(tuple(rule.allowed)):
            continue
        # Unfinished work hides in comments, everything else is code.
        lines = source.lines if "TODO" in rule.pattern else source.code
        for number, line in enumerate(lines, 1):
            if re.search(rule.pattern, line):
                yield Breach(rule.name, source.path, number, f"{line.strip()[:80]} ({rule.why})")


def cycles(sources):
    """Includes that lead back to their file; each cycle is told once, from its first file by name."""
    paths = {source.path for source in sources}
    graph = {source.path: [target for _, target in source.includes if target in paths] for source in sources}
    done, circles = set(), set()

    def visit(path, trail):
        if path in trail:
            circle = trail[trail.index(path) :]
            first = circle.index(min(circle))
            circles.add((*circle[first:], *circle[:first]))
        elif path not in done:
            for target in graph[path]:
                visit(target, [*trail, path])
            done.add(path)

    for path in sorted(graph):
        visit(path, [])
    return [Breach(RULE_CYCLES, circle[0], 1, " -> ".join([*circle, circle[0]])) for circle in sorted(circles)]


def untested(sources):
    """What is reached through others only is tested where nobody thought of it."""
    paths = {source.path for source in sources}
    tests = ("test/unit/", "test/oracle/")
    seen = {target for source in sources if source.path.startswith(tests) for _, target in source.includes}
    for path in sorted(paths):
        header = stem(path) + ".h"
        if path.startswith(TESTED) and path.endswith(".cc") and header in paths and header not in seen:
            yield Breach(RULE_TESTED, path, 1, f"no test includes {header}")


OPENS_NAMESPACE = re.compile(r"namespace ([\w:]+) \{")
DEFINES_CLASS = re.compile(r"(?:class|struct) (\w+)(?: final)?(?: : [^;{]*)?\s*\{")


def twins(sources):
    """The linker takes the functions of one of them for both: that ends anywhere."""
    known = {}
    for source in sources:
        if not source.path.endswith(".h") or room_of(source.path) in (None, "test", "bench"):
            continue
        space = ""
        for number, line in enumerate(source.code, 1):
            if opened := OPENS_NAMESPACE.match(line):
                space += opened[1] + "::"
            elif defined := DEFINES_CLASS.match(line):
                other = known.setdefault(space + defined[1], source.path)
                if other != source.path:
                    yield Breach(RULE_TWINS, source.path, number, f"{defined[1]} is defined in {other}, too")


def module_of(path):
    """A header with its source; what only the sources of a class share is one with that class."""
    return stem(path).removesuffix("_impl")


def rings_in(sources):
    """(folder, modules…) where these need each other. Nearly always a helper includes its boss for the type of the question."""
    graph = {}
    for source in sources:
        if room_of(source.path) in (None, "test", "bench"):
            continue
        folder = source.path.rsplit("/", 1)[0]
        same = (module_of(target) for _, target in source.includes if target.rsplit("/", 1)[0] == folder)
        graph.setdefault(module_of(source.path), set()).update(same)

    def reached(module):
        found, open_ends = set(), [module]
        while open_ends:
            for other in graph.get(open_ends.pop(), set()) - found:
                found.add(other)
                open_ends.append(other)
        return found - {module}

    above = {module: reached(module) for module in graph}
    found = {frozenset({module, *(other for other in above[module] if module in above.get(other, ()))}) for module in graph}
    return sorted((min(ring).rsplit("/", 1)[0], *sorted(module.rsplit("/", 1)[1] for module in ring)) for ring in found if len(ring) > 1)


def rings(sources):
    """Modules of one room that need each other."""
    return [Breach(RULE_RINGS, room, 1, f"{' '.join(names)} need each other") for room, *names in rings_in(sources)]


def table_is_acyclic():
    """The rooms themselves: whoever may be included by X never may include X."""
    for room, allowed in ROOMS.items():
        for other in allowed:
            if other in ROOMS and room in ROOMS[other]:
                return f"{room} and {other} may include each other"
    return None


# Self-checks: a tree with one wrong file must break exactly the rule named, and a right one none.
GOOD = {
    "api/base/clock.h": "#pragma once\n",
    "api/codec/json.h": '// absl::Now() in a comment is prose\n#pragma once\n#include "api/base/clock.h"\n',
    "api/codec/json.cc": '#include "api/codec/json.h"\n#include "rapidjson/reader.h"\nconst char* text = "sleep(1) TODAY";\n',
    "api/http/easy.h": "#pragma once\n#include <curl/curl.h>\n",
    "api/http/easy.cc": '#include "api/http/easy.h"\n',
    "plugins/framework/filter.h": '#pragma once\n#include "api/codec/json.h"\n',
    "plugins/factories.h": '#pragma once\n#include "plugins/framework/filter.h"\nstd::unique_ptr<const FilterPlugin> MakeNodePorts();\n',
    "plugins/node_ports.cc": '#include "plugins/factories.h"\nstd::unique_ptr<const FilterPlugin> MakeNodePorts() { return {}; }\n',
    "plugins/builtin.cc": '#include "plugins/factories.h"\nauto made = MakeNodePorts();\n',
    "scheduler/app/main.cc": '#include "plugins/builtin.h"\n#include <grpcpp/grpcpp.h>\n#include "scheduler/app/config/flags.h"\n',
    "scheduler/cli/main.cc": '#include "scheduler/app/config/flags.h"\n',
    "scheduler/cycle/question/ask.h": "#pragma once\n",
    "scheduler/cycle/decide.h": '#pragma once\n#include "scheduler/cycle/question/ask.h"\n',
    "scheduler/cycle/victims/plan.h": '#pragma once\n#include "scheduler/cycle/decide.h"\n',
    "queue/gang.h": '#pragma once\n#include <queue>\n#include "api/base/clock.h"\nint big = 1\'000\'000;  // a digit separator opens no string\n',
    "test/unit/cycle/decide_test.cc": '#include "scheduler/cycle/decide.h"\n\n#include "scheduler/cycle/question/ask.h"\n',
    "test/unit/queue/gang_test.cc": '#include "queue/gang.h"\n',
    "test/unit/json_test.cc": '#include "plugins/builtin.h"\n#include "gtest/gtest.h"\n',
}
BAD = (
    (RULE_ARROWS, "api/base/clock.cc", '#include "api/base/clock.h"\n#include "api/codec/json.h"\n'),
    (RULE_ARROWS, "api/devcluster/store/store.cc", '#include "api/client/informer.h"\n'),
    (RULE_ARROWS, "api/codec/json2.cc", '#include "test/support/builders.h"\n'),
    (RULE_ARROWS, "queue/order.cc", '#include "scheduler/state/state.h"\n'),
    (RULE_ARROWS, "scheduler/state/state.cc", '#include "scheduler/cycle/decide.h"\n'),
    (RULE_ARROWS, "scheduler/loop/loop.cc", '#include "scheduler/app/flags.h"\n'),
    (RULE_ARROWS, "scheduler/app/app.cc", '#include "test/support/builders.h"\n'),
    (RULE_ARROWS, "scheduler/app/app.cc", '#include "scheduler/cli/print.h"\n'),
    (RULE_ARROWS, "scheduler/misc/x.cc", "int x;\n"),
    (RULE_ARROWS, "queue/attic.cc", '#include "api/attic/x.h"\n'),
    (RULE_ARROWS, "queue/late.cc", 'const auto n = 1\'000;\n#include "scheduler/bind/bind.h"\n'),
    (RULE_ARROWS, "scheduler/loop/loop.cc", '#include "plugins/builtin.h"\n'),
    (RULE_FLOORS, "scheduler/cycle/question/ask.cc", '#include "scheduler/cycle/question/ask.h"\n#include "scheduler/cycle/decide.h"\n'),
    (RULE_FLOORS, "scheduler/cycle/decide.cc", '#include "scheduler/cycle/decide.h"\n#include "scheduler/cycle/victims/plan.h"\n'),
    (RULE_FLOORS, "api/devcluster/attic/x.cc", "int x;\n"),
    (RULE_FLOORS, "api/devcluster/store/x.cc", '#include "api/devcluster/attic/x.h"\n'),
    (RULE_POLICY, "plugins/packing.cc", '#include "plugins/taint_toleration.h"\n'),
    (RULE_POLICY, "plugins/packing.cc", '#include "plugins/factories.h"\nauto ports = MakeNodePorts();\n'),
    (RULE_THIRD_PARTY, "api/http/http.cc", '#include "rapidjson/document.h"\n'),
    (RULE_THIRD_PARTY, "queue/load.cc", '#include "api/codec/yaml.h"\n', {"api/codec/yaml.h": "#pragma once\n#include <yaml-cpp/yaml.h>\n"}),
    (RULE_THIRD_PARTY, "queue/gang.cc", '#include "queue/gang.h"\n#include <gtest/gtest.h>\n'),
    (RULE_HEADER, "queue/open.h", "int x;\n"),
    (RULE_HEADER, "queue/gang.cc", '#include <vector>\n\n#include "queue/gang.h"\n'),
    ("time enters as an argument", "queue/a.cc", "auto now = absl::Now();\n"),
    ("time enters as an argument", "api/client/a.cc", "auto now = std::chrono::steady_clock::now();\n"),
    ("nothing sleeps", "test/unit/a_test.cc", "absl::SleepFor(absl::Seconds(1));\n"),
    ("randomness is injected", "scheduler/cycle/a.cc", "std::random_device device;\n"),
    ("one annotated mutex", "scheduler/app/a.h", "#pragma once\nstd::mutex mutex;\n"),
    ("locks live at the doors between threads", "scheduler/state/a.h", "#pragma once\nMutex mutex_;\n"),
    ("shared data is immutable", "scheduler/state/a.h", "#pragma once\nstd::shared_ptr<Node> node;\n"),
    ("tests use the public face", "queue/a.h", "#pragma once\nint SizeForTest() const;\n"),
    ("unfinished work is not committed", "queue/a.h", "#pragma once\n// TODO: everything\n"),
    ("string views in headers are Abseil's", "queue/a.h", "#pragma once\nvoid F(std::string_view text);\n"),
    ("headers open no namespace", "queue/a.h", "#pragma once\nusing namespace std;\n"),
    ("only the language that both compilers share", "queue/a.cc", "#include <format>\n"),
    ("only the language that both compilers share", "queue/a.cc", '#include "absl/synchronization/mutex.h"\n'),
    (RULE_TESTED, "scheduler/cycle/new.cc", '#include "scheduler/cycle/new.h"\n', {"scheduler/cycle/new.h": "#pragma once\n"}),
    (RULE_TWINS, "api/codec/b.h", "#pragma once\nstruct A {\n};\n", {"api/codec/a.h": "#pragma once\nstruct A final {\n};\n"}),
    (RULE_RINGS, "queue/gang.cc", '#include "queue/gang.h"\n#include "queue/line.h"\n', {"queue/line.h": '#pragma once\n#include "queue/gang.h"\n'}),
    (RULE_CYCLES, "api/base/clock.h", '#pragma once\n#include "api/base/clock.h"\n'),
    (RULE_CYCLES, "api/codec/json.h", '#pragma once\n#include "api/codec/a.h"\n', {"api/codec/a.h": '#pragma once\n#include "api/codec/json.h"\n'}),
)


def breaches_of(tree):
    with tempfile.TemporaryDirectory(prefix="maniple-layering-") as folder:
        for path, text in tree.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return check(Path(folder))


def self_checks():
    """(name, fault or None) for each case that shows that the checks see what they claim to see."""
    found = breaches_of(GOOD)
    yield "a right tree passes", str(found[0]) if found else None
    yield "the table of rooms has no cycle", table_is_acyclic()
    for rule, path, text, *more in BAD:
        broken = {breach.rule for breach in breaches_of({**GOOD, path: text, **(more[0] if more else {})})}
        yield f"{path} breaks: {rule}", None if broken == {rule} else f"broke {sorted(broken) or 'nothing'}"


def print_sizes(root):
    for source in read(root):
        for start, suffix, limit in SIZE_GUIDE:
            if source.path.startswith(start) and source.path.endswith(suffix):
                lines = len(source.lines) - 1  # the last one ends the file
                if lines > limit:
                    print(f"past its size guide: {source.path}: {lines} lines, guide {limit}")
                break


def main():
    root = Path(__file__).resolve().parents[1]
    passed = failed = 0
    for name, fault in self_checks():
        passed, failed = (passed, failed + 1) if fault else (passed + 1, failed)
        if fault:
            print(f"FAILED self-check: {name}: {fault}")
    breaches = check(root)
    for rule in RULES:
        broken = [breach for breach in breaches if breach.rule == rule]
        passed, failed = (passed, failed + 1) if broken else (passed + 1, failed)
        for breach in broken:
            print(f"{breach.file}:{breach.line}: {breach.rule}: {breach.text}")
    if "--sizes" in sys.argv:
        print_sizes(root)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
