#!/bin/sh
# A process of Diego with two instances, reached by names, by a port, by DNS and by gorouters, as docs/guides/diego.md tells it.
# Takes the fairlead binary, haproxy, kubectl, dig, curl, python3 (as instances) and nats-server; everything is stopped and
# removed at the end.
#
#   FAIRLEAD, KUBECTL, DIG, CURL, HAPROXY, NATS   the programs, if they are not on the PATH
#   API, DNS                                      where the server listens (127.0.0.1:7443, 127.0.0.1:5300)
#   HTTP_PORT, HTTPS_PORT, STATUS_PORT            of the router, on 127.0.2.1 (8080, 8443, 1936)
#   NATS_PORT                                     of nats-server, on 127.0.0.1 (4222)
#   KEEP=1                                        go on serving until Enter is pressed
. "$(dirname "$0")/../tour.sh"

NATS=${NATS:-/usr/sbin/nats-server}
API=${API:-127.0.0.1:7443}
DNS=${DNS:-127.0.0.1:5300}
HTTP_PORT=${HTTP_PORT:-8080}
HTTPS_PORT=${HTTPS_PORT:-8443}
STATUS_PORT=${STATUS_PORT:-1936}
NATS_PORT=${NATS_PORT:-4222}

# A port of a container on its cell, 127.0.3.10 or .11.
container_port() { # INDEX CONTAINER_PORT HOST_PORT
    website "$3" "127.0.3.1$1" "instance $1, port $2"
}

receptor() { "$CURL" -sS --fail-with-body --cacert "$work/server/pki/ca.crt" -u "cells:$token" "$@"; }

# runs INDEX: tells the Receptor API that the instance runs, as its cell would.
runs() {
    receptor -X PUT "https://$API/v1/actual_lrps/web/index/$1" -d "{\"state\": \"RUNNING\", \"cell_id\": \"cell-$1\",
        \"instance_guid\": \"instance-$1\", \"address\": \"127.0.3.1$1\", \"ports\": [
        {\"container_port\": 4000, \"host_port\": 59001}, {\"container_port\": 5000, \"host_port\": 59002}]}"
}

get() { "$CURL" -sS --max-time 10 --resolve "$1:$HTTP_PORT:127.0.2.1" "http://$1:$HTTP_PORT/"; }
says() { get "$1" | grep -q "$2"; }
ask() { "$DIG" @"${DNS%:*}" -p "${DNS##*:}" "$@"; }
resolves() { ask "$1" "$2" +short | grep -q .; }

say "A server, a router, and the ports of two containers"
serve server --api-listen "$API" --dns-listen "$DNS"
export KUBECONFIG="$work/server/admin.kubeconfig"
sed "s/http: 8080, https: 8443/http: $HTTP_PORT, https: $HTTPS_PORT/" "$here/platform.yaml" | "$FAIRLEAD" apply -f -
"$FAIRLEAD" token create --user edge --group fairlead:routers -o kubeconfig >"$work/edge.kubeconfig"
"$FAIRLEAD" router --router edge --kubeconfig "$work/edge.kubeconfig" --address 127.0.2.1 \
    --http-listen "127.0.2.1:$HTTP_PORT" --https-listen "127.0.2.1:$HTTPS_PORT" --status-listen "127.0.2.1:$STATUS_PORT" \
    --state-dir "$work/edge" --haproxy "$HAPROXY" --drain 1s >"$work/edge.log" 2>&1 &
processes="$processes $!"
for index in 0 1; do
    container_port $index 4000 59001
    container_port $index 5000 59002
done
"$FAIRLEAD" wait router/edge --for=condition=Ready --timeout 60s

say "A process, through the Receptor API, and its instances"
token=$("$FAIRLEAD" token create --user cells)
receptor -X POST "https://$API/v1/desired_lrps" -d "@$here/web.json"
runs 0
runs 1
"$KUBECTL" get dlrp,alrp -n diego

say "By its names, through HAProxy"
until_true "foo.com leads to port 4000" says foo.com "port 4000"
until_true "0.admin.foo.com leads to instance 0" says 0.admin.foo.com "instance 0, port 5000"
for host in foo.com bar.com admin.foo.com 0.admin.foo.com 1.admin.foo.com; do printf '%-16s %s\n' "$host" "$(get "$host")"; done

say "By the port that it leased"
until_true "port 62302 leads to port 5000" "$CURL" -sSf --max-time 5 http://127.0.2.1:62302/
"$FAIRLEAD" get portleases
"$CURL" -sS http://127.0.2.1:62302/

say "By SkyDNS's rules"
until_true "the name of the service is known" resolves 1.admin-api.service.skydns.local SRV
ask admin-api.service.skydns.local SRV +noall +answer +additional

say "What became of each provider's routes"
"$KUBECTL" get dlrp web -n diego -o 'jsonpath={range .status.conditions[*]}{.type} {.status}: {.message}{"\n"}{end}'

say "What gorouters are told, on NATS"
"$NATS" -a 127.0.0.1 -p "$NATS_PORT" >"$work/nats.log" 2>&1 &
processes="$processes $!"
until_true "NATS listens" grep -q "Server is ready" "$work/nats.log"
python3 "$here/listen.py" "$NATS_PORT" >"$work/heard" 2>"$work/listen.log" &
processes="$processes $!"
"$FAIRLEAD" token create --user emitter --group fairlead:emitters -o kubeconfig >"$work/emitter.kubeconfig"
"$FAIRLEAD" emitter --nats "nats://127.0.0.1:$NATS_PORT" --kubeconfig "$work/emitter.kubeconfig" >"$work/emitter.log" 2>&1 &
processes="$processes $!"
until_true "instance 1 is registered" grep -q "127.0.3.11:59002 .*1.admin.foo.com" "$work/heard"
until_true "instance 0 is registered" grep -q "127.0.3.10:59002 .*0.admin.foo.com" "$work/heard"
sort -u "$work/heard"

say "Instance 1 is retired: nothing leads there any more"
receptor -X DELETE "https://$API/v1/actual_lrps/web/index/1"
until_true "routers are told" grep -q "unregister 127.0.3.11:59002" "$work/heard"
until_true "1.admin.foo.com leads nowhere" says 1.admin.foo.com 503
grep unregister "$work/heard" | sort -u

linger "http://127.0.2.1:$HTTP_PORT serves foo.com; KUBECONFIG=$KUBECONFIG"
