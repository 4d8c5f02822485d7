#!/bin/sh
# A hub and three clusters on one machine: geo DNS, health, a preview and a failover, as docs/guides/multi-cluster.md
# tells it. Takes the fairlead binary, kubectl and dig; everything is stopped and removed at the end.
#
#   FAIRLEAD, KUBECTL, DIG       the programs, if they are not on the PATH
#   HUB_API, HUB_DNS             where the hub listens (127.0.0.1:7443, 127.0.0.1:5300)
#   SPOKE_PORT                   where the spokes do, on 127.0.1.1 to 127.0.1.3 (7444)
#   KEEP=1                       go on serving until Enter is pressed
. "$(dirname "$0")/../tour.sh"

HUB_API=${HUB_API:-127.0.0.1:7443}
HUB_DNS=${HUB_DNS:-127.0.0.1:5300}
SPOKE_PORT=${SPOKE_PORT:-7444}

# on NAME COMMAND...: with the kubeconfig of that server.
on() {
    whose=$1
    shift
    KUBECONFIG="$work/$whose/admin.kubeconfig" "$@"
}

# A manifest with the ports of this run.
manifest() { sed "s/:7444/:$SPOKE_PORT/; s/port: 7444/port: $SPOKE_PORT/" "$here/$1"; }

# report NAME STATUS: writes the status of the Gateway there; kubectl 1.20 has no --subresource.
report() {
    path=/apis/gateway.networking.k8s.io/v1/namespaces/gateways/gateways/web
    version=$(on "$1" "$KUBECTL" get gateway web -n gateways -o 'jsonpath={.metadata.resourceVersion}')
    printf '{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{"name":"web",
        "namespace":"gateways","resourceVersion":"%s"},"status":%s}' "$version" "$2" >"$work/report.json"
    on "$1" "$KUBECTL" replace --raw "$path/status" -f "$work/report.json" >/dev/null
}

# ask ADDRESS: what a client there gets.
ask() { "$DIG" @"${HUB_DNS%:*}" -p "${HUB_DNS##*:}" shop.example.com A +short +subnet="$1" | tail -n 1; }
show() {
    printf '%-10s %-16s %s\n' "$1" "$2" "$(ask "$2")"
}

say "A hub, and three clusters: Fairleads too, with nothing but an API"
serve hub --api-listen "$HUB_API" --dns-listen "$HUB_DNS" --geo-override 192.0.2.0/24=IE \
    --geo-override 198.51.100.0/24=US --geo-override 203.0.113.0/24=AU
number=0
for name in dublin virginia sydney; do
    number=$((number + 1))
    serve "$name" --roles api --api-listen "127.0.1.$number:$SPOKE_PORT"
    eval "process_$name=$server"
    on "$name" "$FAIRLEAD" apply -f "$here/spoke.yaml" >/dev/null
    report "$name" "{\"addresses\":[{\"type\":\"IPAddress\",\"value\":\"127.0.1.$number\"}]}"
    echo "$name: https://127.0.1.$number:$SPOKE_PORT"
done

say "The hub's Gateway; for sydney, which is not connected, its status is written by hand"
on hub "$FAIRLEAD" apply -f "$here/hub.yaml"
report hub '{"addresses":[{"type":"kuadrant.io/MultiClusterIPAddress","value":"sydney/127.0.1.3"}],
    "listeners":[{"name":"sydney.shop","attachedRoutes":1}]}'

say "Dublin and virginia are followed: a token each, in a Secret, and the Clusters"
for name in dublin virginia; do
    on "$name" "$FAIRLEAD" token create --user hub -o kubeconfig >"$work/$name.kubeconfig"
    on hub "$KUBECTL" create secret generic "$name" -n gateways --from-file="kubeconfig=$work/$name.kubeconfig"
done
manifest clusters.yaml | on hub "$FAIRLEAD" apply -f -
on hub "$FAIRLEAD" wait cluster/dublin cluster/virginia --for=condition=Connected
on hub "$KUBECTL" get clusters

say "What a policy would do, before it is there"
manifest policy.yaml | on hub "$FAIRLEAD" plan -f - || [ $? -eq 2 ]

say "The policy"
manifest policy.yaml | on hub "$FAIRLEAD" apply -f -
on hub "$FAIRLEAD" wait dnspolicy/web -n gateways --for=condition=Enforced
on hub "$FAIRLEAD" wait dnspolicy/web -n gateways --for=condition=Healthy
on hub "$KUBECTL" get gateway,dnspolicy,dnsrecord -n gateways

say "Who gets what"
show Ireland 192.0.2.1
show America 198.51.100.1
show Australia 203.0.113.1
show elsewhere 233.252.0.1

say "Why: fairlead explain shop.example.com --from IE"
on hub "$FAIRLEAD" explain shop.example.com --from IE

say "What if America answered everybody else? fairlead plan -f"
manifest policy.yaml | sed 's/defaultGeo: IE/defaultGeo: US/' | on hub "$FAIRLEAD" plan -f - || [ $? -eq 2 ]

say "Dublin dies"
kill -9 "$process_dublin"
wait "$process_dublin" 2>/dev/null || true
seconds=0
while [ "$(ask 192.0.2.1)" = 127.0.1.1 ]; do
    seconds=$((seconds + 1))
    if [ $seconds -gt 60 ]; then
        echo "Ireland still gets it after $seconds s" >&2
        exit 1
    fi
    sleep 1
done
echo "Ireland is served by somebody else after about $seconds s"
show Ireland 192.0.2.1
show elsewhere 233.252.0.1
on hub "$KUBECTL" get dnspolicy,dnsrecord -n gateways
on hub "$FAIRLEAD" explain shop.example.com --from IE
on hub "$FAIRLEAD" describe dnspolicy web -n gateways | sed -n '/^Status/,$p'

linger "KUBECONFIG=$work/hub/admin.kubeconfig"
