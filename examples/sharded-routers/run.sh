#!/bin/sh
# Three shards of routers on one machine: default and custom names, DNS, and instances that die, as docs/guides/routers.md
# tells it. Takes the fairlead binary, haproxy, kubectl, dig, curl and python3 (as backend); everything is stopped and
# removed at the end.
#
#   FAIRLEAD, KUBECTL, DIG, CURL, HAPROXY   the programs, if they are not on the PATH
#   API, DNS                                where the server listens (127.0.0.1:7443, 127.0.0.1:5300)
#   HTTP_PORT, HTTPS_PORT, STATUS_PORT      of the routers, on 127.0.2.1 to 127.0.2.5 (8080, 8443, 1936)
#   BACKEND_PORT                            of the backends, on 127.0.3.1 and 127.0.3.2 (8000)
#   KEEP=1                                  go on serving until Enter is pressed
. "$(dirname "$0")/../tour.sh"

API=${API:-127.0.0.1:7443}
DNS=${DNS:-127.0.0.1:5300}
HTTP_PORT=${HTTP_PORT:-8080}
HTTPS_PORT=${HTTPS_PORT:-8443}
STATUS_PORT=${STATUS_PORT:-1936}
BACKEND_PORT=${BACKEND_PORT:-8000}

# router SHARD NUMBER ADDRESS: one instance of that Router.
router() {
    name=$1-$2
    "$FAIRLEAD" router --router "$1" --name "$name" --kubeconfig "$work/edge.kubeconfig" --address "$3" \
        --http-listen "$3:$HTTP_PORT" --https-listen "$3:$HTTPS_PORT" --status-listen "$3:$STATUS_PORT" \
        --state-dir "$work/$name" --haproxy "$HAPROXY" --drain 1s >"$work/$name.log" 2>&1 &
    processes="$processes $!"
    eval "process_$1_$2=$!"
}

# crash SHARD NUMBER: as if the machine had died: the agent and its HAProxy.
crash() {
    haproxy=$(cat "$work/$1-$2/haproxy/haproxy.pid")
    eval "kill -9 \$process_$1_$2"
    kill -9 "-$haproxy" # it leads the group of its workers
}

# A manifest with the ports of this run.
manifest() {
    sed "s/http: 8080, https: 8443/http: $HTTP_PORT, https: $HTTPS_PORT/; s/: 8000/: $BACKEND_PORT/" "$here/$1"
}

# addresses NAME: what DNS says, sorted, on one line.
addresses() { "$DIG" @"${DNS%:*}" -p "${DNS##*:}" "$1" A +short | grep '^[0-9]' | sort | tr '\n' ' '; }

# get NAME: asks DNS, then the router that it names.
get() {
    address=$(addresses "$1" | cut -d ' ' -f 1)
    printf '%-28s %-12s %s\n' "$1" "$address" \
        "$("$CURL" -sS --max-time 10 --resolve "$1:$HTTP_PORT:$address" "http://$1:$HTTP_PORT/")"
}

# until_dns NAME ADDRESSES: waits for that answer.
until_dns() { until_true "$1 is $2" answer_is "$1" "$2"; }
answer_is() { [ "$(addresses "$1")" = "$2" ]; }

say "A server with API and DNS, and two backends"
serve server --api-listen "$API" --dns-listen "$DNS"
export KUBECONFIG="$work/server/admin.kubeconfig"
website "$BACKEND_PORT" 127.0.3.1 "hello from 127.0.3.1"
website "$BACKEND_PORT" 127.0.3.2 "hello from 127.0.3.2"

say "Three shards, and what runs them: a token for routers, and five instances"
manifest routers.yaml | "$FAIRLEAD" apply -f -
"$FAIRLEAD" token create --user edge --group fairlead:routers -o kubeconfig >"$work/edge.kubeconfig"
router rest 1 127.0.2.1
router blue 1 127.0.2.2
router blue 2 127.0.2.3
router green 1 127.0.2.4
"$FAIRLEAD" wait router/rest router/blue router/green --for=condition=Ready --timeout 60s
router green 2 127.0.2.5 # later: the first that is ready has the work
until [ "$("$KUBECTL" get router green -o 'jsonpath={.status.instances[*].ready}')" = "true true" ]; do sleep 0.1; done
until_dns blue.apps.test "127.0.2.2 127.0.2.3 "
until_dns green.apps.test "127.0.2.4 "
"$KUBECTL" get routers

say "A team makes routes: each finds its shard and its name"
manifest shop.yaml | "$FAIRLEAD" apply -f -
"$FAIRLEAD" wait route/cart route/www route/search -n shop --for=condition=Serving --timeout 60s
"$KUBECTL" get routes -n shop

say "Is it up, and under which name?"
"$FAIRLEAD" describe route www -n shop

say "By the names that DNS gives them"
until_dns www.example.com "127.0.2.2 127.0.2.3 "
get shop-cart.rest.apps.test
get www.example.com
get shop-search.green.apps.test

say "The zones, as files"
"$FAIRLEAD" zone export blue.apps.test
"$FAIRLEAD" zone export example.com

say "An instance of blue dies: active/active, the other goes on"
crash blue 1
until_dns www.example.com "127.0.2.3 "
get www.example.com

say "The working instance of green dies: active/passive, the other takes over"
crash green 1
until_dns shop-search.green.apps.test "127.0.2.5 "
get shop-search.green.apps.test
"$KUBECTL" get routers

say "The route loses its label: it moves to another shard, under the same name"
"$KUBECTL" label route www -n shop shard-
until [ "$("$KUBECTL" get route www -n shop -o 'jsonpath={.status.router}')" = rest ]; do sleep 0.1; done
"$FAIRLEAD" wait route/www -n shop --for=condition=Serving --timeout 60s
until_dns www.example.com "127.0.2.1 "
get www.example.com
"$KUBECTL" get routes -n shop

linger "KUBECONFIG=$KUBECONFIG"
