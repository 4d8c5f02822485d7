#!/usr/bin/env python3
"""Runs clang-tidy over src/, several files at a time: alone, each would spend most of its time on the headers that its
neighbours include too. Groups are those of cmake/unity.py; one that does not compile is looked at file by file.

A group that was clean is not looked at again until something that it is made of is another: its files, any header, the flags, the
checks or clang-tidy itself. What was clean is remembered outside of the tree, so that another clone knows of it too
($XDG_CACHE_HOME/fairlead/clang-tidy; CLANG_TIDY_AGAIN=1 looks at everything).

Usage: clang_tidy.py BUILD_DIR (with compile_commands.json, of clang without precompiled headers)"""

import functools
import hashlib
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


@functools.cache
def digest_of(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@functools.cache
def rules():
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    return version + (ROOT / ".clang-tidy").read_text() + Path(__file__).read_text()


def stamp_of(file, flags, folder):
    """Where it is written down that what the file is made of is clean as it is now; None where that cannot be said."""
    said = subprocess.run(["clang++", *flags, "-M", file], capture_output=True, text=True, cwd=ROOT)
    if said.returncode:
        return None
    # "file.o: file.cpp header.h \\" and so on, with spaces in names escaped.
    names = re.findall(r"(?:\\ |\S)+", said.stdout.partition(":")[2].replace("\\\n", " "))
    paths = {(ROOT / name.replace("\\ ", " ")).resolve() for name in names}
    contents = sorted(f"{os.path.relpath(path, ROOT) if path.is_relative_to(ROOT) else path} {digest_of(path)}"
                      for path in paths if not path.is_relative_to(folder))
    parts = [rules(), *(flag.replace(str(ROOT), "") for flag in flags), *contents]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fairlead" / "clang-tidy"
    return cache / hashlib.sha256("\n".join(parts).encode()).hexdigest()


def check(number, files, flags, folder):
    together = folder / f"group_{number}.cpp"
    together.write_text("".join(f'#include "{file}"\n' for file in files))
    stamp = stamp_of(str(together), flags, folder)
    if stamp and stamp.exists() and not os.environ.get("CLANG_TIDY_AGAIN"):
        return []
    bad = look_at(together, files, flags)
    if stamp and not bad:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
    return bad


def look_at(together, files, flags):
    if len(files) > 1:
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
