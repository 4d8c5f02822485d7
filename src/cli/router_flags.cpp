#include "cli/router_flags.h"

#include <CLI/CLI.hpp>

#include "cli/router_options.h"

namespace fairlead::cli {

const char* const router_examples = R"(  fairlead router --router edge --kubeconfig edge.kubeconfig
  fairlead router --router edge --address 192.0.2.10
  fairlead router --router edge --http-listen 127.0.0.1:8080 --https-listen 127.0.0.1:8443
  fairlead router --router edge --access-log /var/log/fairlead/edge.log --metrics-listen 127.0.0.1:9100
  fairlead router --loadbalancer front --address 192.0.2.20

It watches the Routes that are bound to the Router, runs HAProxy (Debian: apt install haproxy)
and keeps it in step without reloads. With --loadbalancer it serves the Ingresses that the
LoadBalancer carries, through HAProxy or nginx, as its type says. It registers itself as a RouterInstance, so that the shard's
DNS leads to it while it serves. SIGTERM: says that it goes, lets connections end for --drain,
stops HAProxy. If it is killed, HAProxy goes on serving and the next start takes it over.

Its user needs the ClusterRole fairlead-router, which the group fairlead:routers has, and
fairlead-router-secrets if Routes or the Router name Secrets with certificates:
  fairlead token create --user edge-1 --group fairlead:routers -o kubeconfig > edge.kubeconfig
  kubectl create clusterrolebinding edge-1-secrets --clusterrole=fairlead-router-secrets --user=edge-1)";

namespace {

void add_places(CLI::App& command, const std::string& prefix, const std::string& http_default,
                const std::string& https_default, const std::string& status_default, InstanceArguments& to) {
    command
        .add_option("--" + prefix + "http-listen", to.http_listen,
                    "[ADDRESS]:PORT for HTTP, repeatable (default " + http_default + ")")
        ->allow_extra_args(false);
    command
        .add_option("--" + prefix + "https-listen", to.https_listen,
                    "[ADDRESS]:PORT for HTTPS, repeatable (default " + https_default + ")")
        ->allow_extra_args(false);
    command.add_option(
        "--" + prefix + "status-listen", to.status_listen,
        "[ADDRESS]:PORT where HAProxy answers /healthz, which the server probes (default " + status_default + ")");
    command.add_option("--" + prefix + "address", to.address,
                       "IP address or host name that clients reach this instance by, for DNS (default: the one that "
                       "leads to the API)");
    command.add_option("--" + prefix + "access-log", to.access_log,
                       "File for one line per request, with the name of the route; - is standard output (default: "
                       "none)");
    command.add_option("--haproxy", to.haproxy, "The HAProxy to run (default /usr/sbin/haproxy)");
    command.add_option("--nginx", to.nginx,
                       "The nginx to run, for LoadBalancers of type Nginx, and, with its module for streams, if the "
                       "Router has UDP ports for leases (default /usr/sbin/nginx)");
}

}  // namespace

void add_router_flags(CLI::App& command, RouterArguments& to) {
    command.add_option("--router", to.instance.router, "Name of the Router");
    command.add_option("--loadbalancer", to.instance.load_balancer,
                       "Or of the LoadBalancer, which must be a bareMetalLoadBalancer");
    command.add_option("--name", to.instance.name,
                       "Name of this instance, unique among all (default ROUTER-MACHINE: edge-vm1)");
    add_places(command, "", "0.0.0.0 and [::] with spec.ports.http, or spec.listen.http of a LoadBalancer",
               "0.0.0.0 and [::] with spec.ports.https, or spec.listen.https", ":1936", to.instance);
    command.add_option("--state-dir", to.instance.state_dir,
                       "Folder for HAProxy's files; the next start finds the running one by it (default "
                       "$XDG_STATE_HOME/fairlead/routers/NAME, balancers/NAME with --loadbalancer)");
    command.add_option("--drain", to.instance.drain,
                       "How long connections may go on after SIGTERM (default 30s); also for what a change takes away");
    command.add_option("--metrics-listen", to.metrics_listen,
                       "ADDRESS:PORT for /metrics, /healthz and /readyz of this process, plain HTTP (default: none)");
    command.add_option("--log-level", to.log_level, "debug, info (default), warn or error");
    command.add_option("--log-format", to.log_format, "text (default) or json");
}

void add_router_role_flags(CLI::App& command, InstanceArguments& to) {
    command.add_option("--router", to.router,
                       "Also run an instance of this Router here, as `fairlead router` does; the same as the role "
                       "router, which means the Router \"default\"");
    add_places(command, "router-", "127.0.0.1:8080", "127.0.0.1:8443", "127.0.0.1:1936", to);
}

}  // namespace fairlead::cli
