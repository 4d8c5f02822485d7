# What the tours in examples/*/run.sh share; sourced by them: `. "$(dirname "$0")/../tour.sh"`. Each tour works in a folder
# of its own ($work), and whatever it starts as $processes is stopped, and the folder removed, at the end.
set -eu

FAIRLEAD=${FAIRLEAD:-fairlead}
KUBECTL=${KUBECTL:-kubectl}
DIG=${DIG:-dig}
CURL=${CURL:-curl}
HAPROXY=${HAPROXY:-/usr/sbin/haproxy}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
processes=

cleanup() {
    for process in $processes; do kill "$process" 2>/dev/null || true; done
    for process in $processes; do wait "$process" 2>/dev/null || true; done
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

say() { printf '\n== %s\n' "$*"; }

# until_true WHAT COMMAND...: waits until the command succeeds, at most 60 s.
until_true() {
    what=$1
    shift
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ $tries -gt 600 ]; then
            echo "not within 60 s: $what" >&2
            tail -n 20 "$work"/*.log >&2
            exit 1
        fi
        sleep 0.1
    done
}

# serve NAME FLAG...: a server with a data dir of its own, once it is ready; $server is its process.
serve() {
    name=$1
    shift
    rm -f "$work/$name.log" # of a run before, which was ready
    "$FAIRLEAD" serve --data-dir "$work/$name" "$@" >"$work/$name.log" 2>&1 &
    server=$!
    processes="$processes $server"
    until_true "$name is ready, or has ended" is_ready_or_over "$name"
    kill -0 "$server" 2>/dev/null || {
        echo "$name does not start:" >&2
        cat "$work/$name.log" >&2
        exit 1
    }
}
is_ready_or_over() { grep -q '^ready' "$work/$1.log" || ! kill -0 "$server" 2>/dev/null; }

# website PORT ADDRESS TEXT: an HTTP server that says the text.
website() {
    mkdir -p "$work/www-$2-$1"
    echo "$3" >"$work/www-$2-$1/index.html"
    python3 -m http.server "$1" --bind "$2" --directory "$work/www-$2-$1" >/dev/null 2>&1 &
    processes="$processes $!"
}

# linger TEXT: goes on serving until Enter is pressed, if KEEP=1.
linger() {
    [ "${KEEP:-}" = 1 ] || return 0
    printf '\n%s. Enter ends it. ' "$1"
    read -r _
}
