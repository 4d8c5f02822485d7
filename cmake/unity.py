#!/usr/bin/env python3
"""Which source files can be compiled (or checked) as one: most of the time of a small file goes into the headers that it
shares with its neighbours. Two files go together only if no name that one has for itself (in an unnamed namespace, by
`using`, as a macro) occurs anywhere in the other, so that each means the same as alone.

Prints one line per file: GROUP FILE. Used by cmake/Layer.cmake for the sanitizer builds and by tests/tidy/clang_tidy.py."""

import re
import sys
from pathlib import Path

MAX_FILES = 8  # of a group: enough to share the headers, few enough to keep both cores busy

# What a line at the left margin declares: our files do not indent namespaces.
DECLARATION = re.compile(
    r"^(?:template\s*<[^\n]*>\s*)?"
    r"(?:(?:struct|class|enum class|enum|union|concept|namespace)\s+(\w+)"
    r"|using\s+(\w+)\s*="
    r"|using\s+[\w:]+::(\w+);"
    r"|#define\s+(\w+)"
    r"|\w[\w:&*<>,\[\] ]*?[\s&*>](\w+)\s*[({=;\[])",
    re.M,
)


def code_of(path):
    text = Path(path).read_text()
    return re.sub(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', " ", text, flags=re.S
    )


def declared(code):
    return {name for match in DECLARATION.finditer(code) for name in match.groups() if name}


def unnamed_namespaces(code):
    parts = []
    for match in re.finditer(r"^namespace \{", code, re.M):
        depth, at = 0, match.end() - 1
        while at < len(code):
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            if depth == 0:
                break
            at += 1
        parts.append(code[match.end() : at])
    return "\n".join(parts)


def own_names(code):
    names = declared(unnamed_namespaces(code))
    for match in re.finditer(r"^(?:using\s+(\w+)\s*=|using\s+[\w:]+::(\w+);|#define\s+(\w+))", code, re.M):
        names |= {name for name in match.groups() if name}
    # The cases of GoogleTest are classes of these names.
    names |= {suite + "_" + case for suite, case in re.findall(r"^(?:TEST\w*|\w+_PROP)\((\w+),\s*(\w+)", code, re.M)}
    return names


def groups_of(files):
    """Lists of files, in the order of the names."""
    around = set()  # what headers beside them declare in the same namespace
    for folder in {Path(file).parent for file in files}:
        for header in folder.glob("*.h"):
            around |= declared(code_of(header))
    groups = []
    for file in sorted(files):
        code = code_of(file)
        own, words = own_names(code), set(re.findall(r"\w+", code))
        alone = bool(own & around) or "using namespace" in code
        for group in groups if not alone else []:
            if group["open"] and len(group["files"]) < MAX_FILES and not group["own"] & words and not own & group["words"]:
                group["files"].append(file)
                group["own"] |= own
                group["words"] |= words
                break
        else:
            groups.append({"files": [file], "own": own, "words": words, "open": not alone})
    return [group["files"] for group in groups]


if __name__ == "__main__":
    for number, group in enumerate(groups_of(sys.argv[1:])):
        for file in group:
            print(f"g{number} {file}")
