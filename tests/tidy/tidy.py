#!/usr/bin/env python3
"""The rules of the code that no compiler checks: who may include whom, where a heavy header lives, how long a file may
be, which calls are banned (and what to use instead), the coroutine rule, and that operators are told about every warning
and error of the log. Run by ./dev lint and by ctest."""

import re
import sys
from pathlib import Path

# Layer -> layers it may include. The same edges are link dependencies in src/*/CMakeLists.txt.
LAYERS = {
    "base": set(),
    "json": {"base"},
    "resource": {"base", "json"},
    "store": {"base"},
    "dns": {"base"},
    "geo": {"base", "dns"},
    "net": {"base"},
    "dnsserver": {"base", "dns", "geo", "net"},
    "dnsinfo": {"base", "json", "dns", "geo", "net", "dnsserver"},
    "dnsfeed": {"base", "json", "resource", "store", "dns", "dnsserver"},
    "plan": {"base", "json", "dns"},
    "aws": {"base", "json", "net"},
    "provider": {"base", "json", "dns", "net", "plan", "aws"},
    "publish": {"base", "json", "dns", "plan", "provider"},
    "source": {"base", "json", "resource", "dns"},
    "gateway": {"base", "json", "resource", "dns"},
    "health": {"base", "net"},
    "lookup": {"base", "dns", "net"},
    "cluster": {"base", "json", "resource", "net"},
    "traffic": {"base"},
    "proxy": {"base", "json", "net", "traffic"},
    "route": {"base", "json", "resource", "dns", "traffic"},
    "ingress": {"base", "json", "resource", "traffic", "route"},
    "lrp": {"base", "json", "resource", "dns", "traffic"},
    "balancer": {"base", "json", "resource", "traffic"},
    "gce": {"base", "json", "resource", "net", "provider", "traffic", "balancer"},
    "elb": {"base", "json", "net", "traffic", "resource", "balancer", "aws"},
    "skydns": {"base", "json", "dns", "net", "lrp"},
    "emitter": {"base", "json", "resource", "net", "cluster", "traffic", "lrp", "proxy"},
    "router": {"base", "json", "resource", "net", "cluster", "health", "traffic", "route", "ingress", "lrp",
               "proxy"},
    "control": {"base", "json", "resource", "store"},
    "controller": {"base", "json", "resource", "store", "dns", "plan", "provider", "publish", "source", "gateway",
                   "health", "lookup", "cluster", "control", "traffic", "route", "lrp", "skydns", "balancer", "net"},
    "dnshook": {"base", "json", "resource", "store", "control", "dns", "net", "plan", "provider"},
    "apiserver": {"base", "json", "resource", "store", "net", "control"},
    "cli": {"base", "json", "resource", "net", "dns", "plan", "cluster", "traffic", "route", "balancer"},
}

# A header of an outside library -> the files that may include it.
HOMES = [
    (r"boost/json", r"src/json/"),
    (r"yaml\.h", r"src/json/"),
    (r"boost/(asio|beast)", r"src/net/|bench/|tests/net/"),
    (r"curl/", r"src/net/"),
    (r"zlib\.h", r"src/net/|src/store/|src/plan/crypt\.cpp|tests/net/"),
    (r"openssl/", r"src/net/|src/base/text\.cpp|src/dns/tsig\.cpp|src/gateway/guid\.cpp|src/route/certificate\.cpp|src/proxy/haproxy/pem\.cpp|src/proxy/gorouter/nkey\.cpp|src/gce/service_account\.cpp|src/plan/crypt\.cpp|tests/net/|bench/"),
    (r"pugixml", r"src/provider/route53/xml\.cpp|src/aws/xml\.cpp"),
    (r"idn2\.h", r"src/dns/name\.cpp"),
    (r"libpsl\.h", r"src/gateway/zone_choice\.cpp"),
    (r"maxminddb\.h", r"src/geo/"),
    (r"xxhash\.h", r"src/dnsserver/hash\.h|src/store/checksum\.cpp"),
    (r"nats(/nats)?\.h", r"src/proxy/gorouter/|tests/proxy/|tests/gorouter/|bench/"),
    (r"sqlite3\.h", r"src/store/|tests/store/"),
    (r"spdlog/", r"src/base/log\.cpp"),
    (r"prometheus/", r"src/base/metrics\.cpp"),
    (r"CLI/", r"src/cli/command_(line|words)\.cpp|src/cli/\w+_flags\.cpp|bench/"),
]

# Call -> (what to use instead, files where it is right).
BANNED = [
    (r"\bsystem_clock::now\s*\(", "a Clock that comes in by reference", r"src/base/(clock\.h|log\.cpp)|tests/|bench/"),
    (r"\bsteady_clock::now\s*\(", "a Clock that comes in by reference", r"src/base/clock\.h|src/net/|src/store/|tests/|bench/"),
    (r"\bs?rand\s*\(", "a Random that comes in by reference", r"^$"),
    (r"\bstd::random_device\b", "SystemRandom", r"^$"),
    (r"\bsleep_for\s*\(", "a timer, a condition or a deadline", r"tests/|bench/"),
    (r"(?<![\w.:>])(?:std::)?system\s*\(\s*[\"\w]", "a library call", r"^$"),
    (r"\.detach\s*\(\s*\)", "a joined thread with an owner", r"src/net/"),
    (r"\bstd::(cout|cerr)\b", "the Log, or the Terminal of the CLI", r"src/cli/|src/main\.cpp|tests/|bench/"),
    (r"\b(strcpy|strcat|sprintf|gets)\s*\(", "std::string and fmt::format", r"^$"),
    (r"\bthrow\b", "fail(), which returns an Error", r"tests/"),
    (r"\bdynamic_cast\s*<", "a virtual function or a variant", r"^$"),
    (r"\bstd::(stoi|stol|stoul|stoll|atoi)\b", "parse_int", r"^$"),
    (r"\busing namespace std;", "qualified names", r"^$"),
    (r"\b(?:struct|class|enum|auto|using|define|const|int|bool|void)\s+(?:_[A-Z]\w*|\w*__\w*)\s*[=;({:]", "a name that is not reserved", r"^$"),
]

# A hard stop well above what style.md asks for (150 and 500): past it a file certainly has a second subject.
MAX_LINES = {".h": 320, ".cpp": 650}


def without_comments_and_strings(text):
    """The same text with comments and literals blanked, so that rules look only at code. Line numbers stay."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
    return re.sub(pattern, blank, text, flags=re.S)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def check_includes(path, text):
    layer = path.split("/")[1] if path.startswith("src/") and path.count("/") > 1 else None
    for match in re.finditer(r'^\s*#include\s*([<"])([^>"]+)[>"]', text, re.M):
        quote, header = match.groups()
        line = line_of(text, match.start())
        if quote == '"' and layer:
            target = header.split("/")[0]
            if target in LAYERS and target != layer and target not in LAYERS[layer]:
                allowed = ", ".join(sorted(LAYERS[layer])) or "nothing"
                yield line, f"{layer} must not know {target} (it may know: {allowed})"
        if quote == "<":
            for pattern, homes in HOMES:
                if re.match(pattern, header) and not re.match(homes, path):
                    yield line, f"<{header}> has its home in {homes}"


def check_banned(path, code):
    for pattern, instead, allowed in BANNED:
        if re.match(allowed, path):
            continue
        for match in re.finditer(pattern, code):
            yield line_of(code, match.start()), f"'{match.group(0).strip()}' is banned: use {instead}"


def check_coroutines(path, code):
    # GCC 12 destroys twice any brace-made temporary or capturing lambda in an expression that holds a co_await.
    for match in re.finditer(r"[^;{}]*\bco_await\b", code):
        line = line_of(code, match.end())
        if not path.startswith(("src/net/", "tests/net/", "bench/")):
            yield line, "coroutines live only in src/net"
        end = code.find(";", match.end())
        statement = code[match.start() : end if end >= 0 else len(code)]
        if statement.count("co_await") > 1:
            yield line, "one co_await per statement"
        after = statement[statement.index("co_await") :]
        if "{" in after or re.search(r"\[[&=\w, ]*\]\s*\(", after):
            yield line, "name brace-made arguments and lambdas before the co_await"


def check_length(path, text):
    lines = text.count("\n")
    limit = MAX_LINES.get(Path(path).suffix)
    if limit and lines > limit:
        yield lines, f"{lines} lines, more than {limit}: look for the second subject"


def check_messages(path, text, documented):
    """Every warning and error that is a literal has its row in docs/messages.md."""
    literal = r'"(?:[^"\\\n]|\\.)*"'
    for match in re.finditer(rf"\blog(?:_|\(\))?(?:\.|->)(?:warn|error)\(\s*({literal}(?:\s*{literal})*)", text):
        message = "".join(part[1:-1] for part in re.findall(literal, match.group(1)))
        if f"`{message}`" not in documented:
            yield f"{path}:{line_of(text, match.start())}: docs/messages.md says nothing about `{message}`"


def check_text(path, text):
    code = without_comments_and_strings(text)
    for check in (check_includes, check_banned, check_coroutines, check_length):
        for line, message in check(path, text if check in (check_includes, check_length) else code):
            yield f"{path}:{line}: {message}"


def check_folders(root):
    for layer in LAYERS:
        folder = root / "src" / layer
        for name in ("README.md", "fwd.h"):
            if not (folder / name).exists():
                yield f"src/{layer}/{name}: missing"
        readme = folder / "README.md"
        if readme.exists() and len(readme.read_text().splitlines()) > 40:
            yield f"src/{layer}/README.md: more than 40 lines"
    layers_in_cmake = {
        path.parent.name: set(re.findall(r"LINKS ([a-z ]+)", path.read_text())[0].split())
        for path in (root / "src").glob("*/CMakeLists.txt")
        if "LINKS" in path.read_text()
    }
    for layer, links in layers_in_cmake.items():
        for link in sorted(links - LAYERS.get(layer, set())):
            yield f"src/{layer}/CMakeLists.txt: links {link}, which the layer may not know"


def main():
    root = Path(__file__).resolve().parents[2]
    problems = list(check_folders(root))
    documented = (root / "docs" / "messages.md").read_text()
    count = 0
    for folder in ("src", "tests", "bench"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in MAX_LINES:
                count += 1
                problems += check_text(str(path.relative_to(root)), path.read_text())
                if folder == "src":
                    problems += check_messages(str(path.relative_to(root)), path.read_text(), documented)
    for problem in problems:
        print(problem)
    print(f"tidy: {count} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
