#include "cli/emitter_flags.h"

#include <CLI/CLI.hpp>

#include "cli/emitter_options.h"

namespace fairlead::cli {

const char* const emitter_examples = R"(  fairlead emitter --nats nats://10.0.0.5:4222 --kubeconfig emitter.kubeconfig
  fairlead emitter --nats nats://10.0.0.5:4222 --nats nats://10.0.0.6:4222 --nats-user emitter \
      --nats-password-file nats.password --listen 127.0.0.1:9101
  fairlead emitter --nats tls://10.0.0.5:4222 --nats-ca ca.pem --nats-certificate me.pem --nats-key me.key
  fairlead emitter --nats nats://10.0.0.5:4222 --receptor https://user:password@receptor.example.net:8887

It follows DesiredLRPs and ActualLRPs and registers their names with every gorouter on NATS: at once
when something changes, all of it as often as the routers ask for, and when a router starts. What is
gone is withdrawn, and again for ten minutes. If the API or NATS goes away, it goes on with what it knows.

Run two: one is active, by a Lease on the API, the other follows and takes over when it ends (--lease-
duration). Who cannot reach the lease goes on registering, but withdraws nothing. With --receptor there
is a lease only if a kubeconfig is named: several without one all register, which routers do not mind.

Its user needs the ClusterRole fairlead-emitter, which the group fairlead:emitters has:
  fairlead token create --user emitter-1 --group fairlead:emitters -o kubeconfig > emitter.kubeconfig
See docs/diego.md.)";

namespace {

void add_nats(CLI::App& command, EmitterArguments& to) {
    command
        .add_option("--nats", to.nats,
                    "nats://[USER:PASSWORD@]HOST:4222 or tls://HOST:4222; repeatable, tried by turns")
        ->required()
        ->allow_extra_args(false);
    command.add_option("--nats-user", to.nats_user, "User of NATS");
    command.add_option("--nats-password-file", to.nats_password, "File with the user's password");
    command.add_option("--nats-token-file", to.nats_token, "File with a token of NATS");
    command.add_option("--nats-credentials", to.nats_credentials, "File with a JWT and its seed (.creds)");
    command.add_option("--nats-nkey-seed-file", to.nats_nkey_seed, "File with the seed of an NKey (SU...)");
    command.add_option("--nats-ca", to.nats_ca, "PEM file with the authorities that the server's certificate is from");
    command.add_option("--nats-certificate", to.nats_certificate, "PEM file with our certificate");
    command.add_option("--nats-key", to.nats_key, "PEM file with its key");
    command.add_option("--nats-server-name", to.nats_server_name,
                       "Name that the server's certificate must have (default: the host of the URL)");
}

void add_routers(CLI::App& command, EmitterArguments& to) {
    command
        .add_option("--router-status", to.router_status,
                    "Status URL of a gorouter, http://USER:PASSWORD@HOST:8080, repeatable: its /routes is compared "
                    "with what should be there, and differences are mended")
        ->allow_extra_args(false);
    command.add_option("--audit-interval", to.audit_interval, "How often (default 1m)");
    command.add_option("--subjects", to.subjects,
                       "What subjects begin with: router (default), or service-discovery for internal names");
    command.add_option("--interval", to.interval,
                       "How often everything is registered until a router asks for something else (default 20s)");
    command.add_option("--messages-per-second", to.messages_per_second,
                       "At most, each with up to 100 names (default 10000)");
}

void add_source(CLI::App& command, EmitterArguments& to) {
    command.add_option("--receptor", to.receptor,
                       "URL of a Receptor, ours or Diego's, to follow instead of our API: "
                       "https://[USER:PASSWORD@]HOST:PORT");
    command.add_option("--receptor-token-file", to.receptor_token, "File with a bearer token for it");
    command.add_option("--receptor-ca", to.receptor_ca, "PEM file with the authorities that its certificate is from");
    command.add_flag("--receptor-insecure-skip-tls-verify", to.receptor_insecure, "Do not check its certificate");
    command.add_option("--sync-interval", to.sync_interval,
                       "How often everything is read from a Receptor, besides its events (default 1m)");
}

void add_lease(CLI::App& command, EmitterArguments& to) {
    command.add_option("--name", to.name, "Name of this emitter, unique among all (default MACHINE-PID)");
    command.add_option("--lease-duration", to.lease_duration,
                       "How long the others wait for one that has died (default 4s: below the 5s in which gorouters "
                       "want everything at the least)");
    command.add_option("--source-patience", to.source_patience,
                       "How long the active one goes without its source before it leaves the lease to one that has not "
                       "lost it (default 30s)");
    command.add_option("--lease-name", to.lease_name, "The Lease (default fairlead-emitter)");
    command.add_option("--lease-namespace", to.lease_space, "Its namespace (default kube-system)");
    command.add_option("--mark", to.mark,
                       "Text by which emitters with the same source, and no others on this NATS, know each other's "
                       "registrations in audits (default: of the Lease; without one, none)");
    command.add_flag("--no-lease", to.no_lease, "This is the only emitter: no Lease");
}

}  // namespace

void add_emitter_flags(CLI::App& command, EmitterArguments& to) {
    add_nats(command, to);
    add_routers(command, to);
    add_source(command, to);
    add_lease(command, to);
    command.add_option("-n,--namespace", to.connection.name_space, "Only LRPs of this namespace (default: of all)");
    command.add_option("--listen", to.listen,
                       "[ADDRESS]:PORT for /metrics, /healthz (it runs) and /readyz (it has read everything and "
                       "reaches NATS), plain HTTP (default: none)");
    command.add_option("--log-level", to.log_level, "debug, info (default), warn or error");
    command.add_option("--log-format", to.log_format, "text (default) or json");
}

}  // namespace fairlead::cli
