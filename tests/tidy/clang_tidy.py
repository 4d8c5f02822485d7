#!/usr/bin/env python3
"""Runs clang-tidy over src/, several files at a time: alone, each would spend most of its time on the headers that its
neighbours include too. Groups are those of cmake/unity.py; one that does not compile is looked at file by file.

Usage: clang_tidy.py BUILD_DIR (with compile_commands.json, of clang without precompiled headers)"""

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cmake"))
from unity import groups_of  # noqa: E402


def flags_of(command):
    """How the compiler was called, without what is about one file."""
    words = shlex.split(command)
    start = next(i for i, word in enumerate(words) if re.search(r"clang\+\+", word))
    kept, skip = [], False
    for word in words[start + 1 :]:
        if skip or word in ("-o", "-c"):
            skip = word == "-o"
            continue
        if not word.endswith(".cpp"):
            kept.append(word)
    return tuple(kept)


def run(file, flags):
    # Files are included as headers here, so findings in them are shown by the header filter.
    command = ["clang-tidy", "-quiet", "--checks=-bugprone-suspicious-include", "--header-filter=(src|tests)/.*", file]
    return subprocess.run([*command, "--", *flags], capture_output=True, text=True, cwd=ROOT)


def check(number, files, flags, folder):
    if len(files) > 1:
        together = folder / f"group_{number}.cpp"
        together.write_text("".join(f'#include "{file}"\n' for file in files))
        done = run(str(together), flags)
        if "clang-diagnostic-error" not in done.stdout:
            return [done] if done.returncode else []
    return [done for done in (run(file, flags) for file in files) if done.returncode]


def main():
    build = Path(sys.argv[1]).resolve()
    folder = build / "unity"
    folder.mkdir(exist_ok=True)
    alike = {}  # files of one folder that are compiled in one way
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        if file.is_relative_to(ROOT / "src"):
            alike.setdefault((str(file.parent), flags_of(entry["command"])), set()).add(str(file))
    jobs = [(group, flags) for (_, flags), files in sorted(alike.items()) for group in groups_of(files)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: check(job[0], job[1][0], job[1][1], folder), enumerate(jobs)))
    bad = [done for result in results for done in result]
    for done in bad:
        print(done.stdout, *(line for line in done.stderr.splitlines() if "warnings generated" not in line), sep="\n")
    print(f"clang-tidy: {sum(len(group) for group, _ in jobs)} files in {len(jobs)} groups, {len(bad)} with findings")
    sys.exit(1 if bad else 0)


main()
