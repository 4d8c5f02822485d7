#include "cli/serve_flags.h"

#include <CLI/CLI.hpp>

#include "cli/router_flags.h"
#include "cli/serve_options.h"
#include "cli/skydns_flags.h"

namespace fairlead::cli {

void add_serve_flags(CLI::App& command, ServeArguments& to) {
    command.add_option("--data-dir", to.data_dir,
                       "Store, certificates and kubeconfig (default $XDG_STATE_HOME/fairlead)");
    command.add_option("--api-listen", to.api_listen,
                       "Address of the API; port 0 picks a free one (default 127.0.0.1:7443)");
    command.add_option("--store", to.store, "embedded: (default, durable) or memory: (gone with the process)");
    command.add_option("--config", to.config, "YAML file with these options; what is typed wins");
    command.add_option("--apply", to.apply, "Manifests to apply at start: file or folder, repeatable")
        ->allow_extra_args(false);
    command.add_option(
        "--roles", to.roles,
        "What this process does: api,controllers,dns,balancers (default), or some of them, and router; api is "
        "always one. balancers runs proxies for LoadBalancers whose spec.listen.address this machine has");
    command
        .add_option("--dns-listen", to.dns_listen,
                    "Address of the DNS server, UDP and TCP, repeatable; port 0 picks a free one, `none` switches it "
                    "off (default 127.0.0.1:5300; the world asks port 53: 0.0.0.0:53 and [::]:53)")
        ->allow_extra_args(false);
    command.add_option("--dns-threads", to.dns_threads,
                       "Threads that answer UDP, for each address (default: one per core, at most 4)");
    command.add_flag("--dns-pin", to.dns_pin, "Keep each of these threads on a core of its own");
    command.add_option("--dns-version", to.dns_version,
                       "What `dig CH TXT version.bind` is told (default: nothing, REFUSED)");
    command.add_option("--dns-id", to.dns_id,
                       "What `dig CH TXT id.server` and `dig +nsid` are told: name this server among its siblings "
                       "(default: nothing)");
    command.add_option(
        "--geoip", to.geoip,
        "MMDB file that tells where clients are (GeoLite2 City or the like); read again when it changes");
    command
        .add_option("--geo-override", to.geo_overrides,
                    "NETWORK=PLACE that the file has wrong or lacks, as 10.0.0.0/8=DE; repeatable")
        ->allow_extra_args(false);
    command.add_option("--zonefile-dir", to.zonefile_dir,
                       "Folder for the files of zones with the provider zonefile (default: none are written)");
    command
        .add_option("--zonefile-reload", to.zonefile_reload,
                    "NAME=COMMAND that such a zone may name to be run after a change, as nsd=\"nsd-control reload\"; "
                    "{zone} stands for its domain; no shell; repeatable")
        ->allow_extra_args(false);
    command.add_flag("--ambient-credentials", to.ambient_credentials,
                     "Let zones without a Secret use this server's own cloud credentials: environment, profile file, "
                     "container, instance");
    command.add_option("--balancers", to.balancers,
                       "File with the providers of load balancers, and which of them makes one when a claim finds "
                       "none (default: none is made)");
    command.add_option("--webhook-listen", to.webhook_listen,
                       "Loopback address where an external-dns on this machine finds its webhook provider, plain HTTP "
                       "without credentials, as 127.0.0.1:8888 (default: only /webhook/ of the API, with a token)");
    command
        .add_option("--webhook-zone", to.webhook_zones,
                    "Domain of a zone that external-dns may keep records in, repeatable (default: all zones of the "
                    "built-in server)")
        ->allow_extra_args(false);
    command
        .add_option("--resolver", to.resolvers,
                    "ADDRESS[:PORT] of a DNS resolver to ask for the addresses of host names that a Gateway has, "
                    "repeatable (default: those of /etc/resolv.conf)")
        ->allow_extra_args(false);
    add_router_role_flags(command, to.router);
    add_skydns_flags(command, to.skydns);
    command.add_option("--event-ttl", to.event_ttl,
                       "How long Events are kept after they were made or last happened (default 1h)");
    command.add_option("--route-strategy", to.route_strategy,
                       "How Routes are spread over Routers that name no strategy: round-robin (default), least-routes, "
                       "weighted or rendezvous");
    command.add_option("--token-auth-file", to.token_auth_file,
                       "Tokens as CSV: token,user,uid,\"group1,group2\"; read again when it changes");
    command.add_option("--audit-log", to.audit_log,
                       "File for one JSON line per request (default: off); opened anew on SIGHUP");
    command.add_option(
        "--receptor-namespace", to.receptor_namespace,
        "Namespace of the DesiredLRPs, ActualLRPs and domains of the Receptor API, /v1/; made when it is "
        "first needed (default diego)");
    command
        .add_option("--receptor-cors-origin", to.receptor_origins,
                    "Origin of web pages that may call /v1/ with their user's credentials, as "
                    "https://console.example.net; repeatable (default: none)")
        ->allow_extra_args(false);
    command.add_option("--log-level", to.log_level, "debug, info (default), warn or error");
    command.add_option("--log-format", to.log_format, "text (default) or json");
}

}  // namespace fairlead::cli
