#!/bin/sh
# Two load balancers, HAProxy and nginx, that tenants share by claims, as docs/guides/load-balancers.md tells it. Takes the
# fairlead binary, haproxy, nginx, kubectl, dig, curl and python3 (as backends); everything is stopped and removed at the end.
#
#   FAIRLEAD, KUBECTL, DIG, CURL   the programs, if they are not on the PATH
#   API, DNS                       where the server listens (127.0.0.1:7443, 127.0.0.1:5300)
#   HTTP_PORT, HTTPS_PORT          of the balancers, on 127.0.6.1 to 127.0.6.3, 127.0.6.10 and 127.0.6.11 (8080, 8443)
#   BACKEND_PORT                   of the backends, on 127.0.7.1 and 127.0.7.2 (8000)
#   KEEP=1                         go on serving until Enter is pressed
. "$(dirname "$0")/../tour.sh"

API=${API:-127.0.0.1:7443}
DNS=${DNS:-127.0.0.1:5300}
HTTP_PORT=${HTTP_PORT:-8080}
HTTPS_PORT=${HTTPS_PORT:-8443}
BACKEND_PORT=${BACKEND_PORT:-8000}

show() { printf '$ %s\n' "$1"; }

# The same data dir again and again.
serve_here() { serve server --api-listen "$API" --dns-listen "$DNS" "$@"; }

# apply FILE: with the ports that were asked for.
apply() {
    show "fairlead apply -f $1"
    sed "s/http: 8080, https: 8443/http: $HTTP_PORT, https: $HTTPS_PORT/; s/port: 8000/port: $BACKEND_PORT/" "$here/$1" |
        "$FAIRLEAD" apply -f -
}

get() { "$CURL" -sS --max-time 10 --resolve "$1:$HTTP_PORT:$2" "http://$1:$HTTP_PORT/"; }
says() { get "$1" "$2" | grep -q "$3"; }
status_of() { "$CURL" -sS --max-time 10 -o "$work/body" -w '%{http_code}' --resolve "$1:$HTTP_PORT:$2" "http://$1:$HTTP_PORT/"; }
curl_() { # HOST ADDRESS
    show "curl --resolve $1:8080:$2 http://$1:8080/"
    get "$1" "$2"
}
resolved() { "$DIG" @"${DNS%:*}" -p "${DNS##*:}" "$1" +short; }
leads_to() { [ "$(resolved "$1")" = "$2" ]; }
dig_() { # HOST
    show "dig @127.0.0.1 -p 5300 $1 +short"
    resolved "$1"
}
phase_is() { [ "$("$KUBECTL" get lbc "$2" -n "$1" -o 'jsonpath={.status.phase}')" = "$3" ]; }
reason_is() { "$KUBECTL" get lbc "$2" -n "$1" -o 'jsonpath={.status.conditions[*].reason}' | grep -q "$3"; }
fairlead_() {
    show "fairlead $*"
    "$FAIRLEAD" "$@"
}
kubectl_() {
    show "kubectl $*"
    "$KUBECTL" "$@"
}

website "$BACKEND_PORT" 127.0.7.1 "hello from the shop"
website "$BACKEND_PORT" 127.0.7.2 "hello from the blog"

say "A server and two balancers: it runs their proxies itself"
serve_here
export KUBECONFIG="$work/server/admin.kubeconfig"
apply tenants.yaml
apply fleet.yaml
"$FAIRLEAD" wait loadbalancer/edge-h loadbalancer/edge-n --for=condition=Available --timeout 60s
fairlead_ get loadbalancers

say "Claim, bind, serve: the shop, through HAProxy"
apply shop.yaml
until_true "the shop is served" says www.shop.test 127.0.6.1 "from the shop"
fairlead_ get lbc -n shop
curl_ www.shop.test 127.0.6.1
until_true "its name leads to the balancer" leads_to www.shop.test 127.0.6.1
dig_ www.shop.test

say "Share: the blog, through nginx by its claim, and through what is left over"
apply blog.yaml
until_true "the blog is served" says www.blog.test 127.0.6.2 "from the blog"
until_true "the feed is served" says feed.blog.test 127.0.6.2 "from the blog"
curl_ www.blog.test 127.0.6.2
curl_ feed.blog.test 127.0.6.2
fairlead_ get loadbalancers
fairlead_ describe loadbalancer edge-n

say "Wait: nothing has 800Mi left, and the claim says why"
apply next.yaml
until_true "it is told that nothing fits" reason_is blog video NoFit
fairlead_ describe lbc video -n blog

say "Recycle: the shop goes, and the next tenant gets its balancer without a rule of the shop"
kubectl_ delete ingress www -n shop
kubectl_ delete lbc front -n shop
until_true "the claim is bound" phase_is blog video Bound
old=$(status_of www.shop.test 127.0.6.1)
until_true "the next one is served" says video.blog.test 127.0.6.1 "from the blog"
fairlead_ get lbc -n blog
show "curl -o body -w '%{http_code}' --resolve www.shop.test:8080:127.0.6.1 http://www.shop.test:8080/"
echo "$old"
curl_ video.blog.test 127.0.6.1
show "kubectl get events --field-selector involvedObject.name=edge-h"
"$KUBECTL" get events -A --field-selector involvedObject.name=edge-h --no-headers \
    -o 'custom-columns=REASON:.reason,MESSAGE:.message' | grep ClaimantGone

say "Lost: a balancer is taken away under its claim"
apply lab.yaml
until_true "the claim is bound" phase_is shop trial Bound
kubectl_ delete lb lab --wait=false
fairlead_ get lb lab
kubectl_ patch lb lab --type=merge -p '{"metadata":{"finalizers":null}}'
until_true "the claim is lost" phase_is shop trial Lost
fairlead_ get lbc trial -n shop
fairlead_ describe lbc trial -n shop

say "Provision: a provider makes what is not there"
kill "$server"
wait "$server" || true
sed "s/http: 8080/http: $HTTP_PORT/; s/https: 8443/https: $HTTPS_PORT/" "$here/provider.yaml" >"$work/provider.yaml"
show "fairlead serve --balancers provider.yaml"
serve_here --balancers "$work/provider.yaml"
apply sale.yaml
until_true "the sale is served" says sale.shop.test 127.0.6.10 "from the shop"
fairlead_ get lbc -n shop
fairlead_ get loadbalancers
curl_ sale.shop.test 127.0.6.10
kubectl_ delete ingress,lbc sale -n shop
only_two() { [ "$("$KUBECTL" get lb -o name | wc -l)" = 2 ]; }
until_true "what was made for it is gone" only_two
fairlead_ get loadbalancers

linger "http://127.0.6.1:$HTTP_PORT serves video.blog.test; KUBECONFIG=$KUBECONFIG"
