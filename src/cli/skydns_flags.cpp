#include "cli/skydns_flags.h"

#include <CLI/CLI.hpp>

#include "cli/serve_options.h"

namespace fairlead::cli {

void add_skydns_flags(CLI::App& command, SkydnsArguments& to) {
    command.add_option("--skydns-etcd", to.etcd,
                       "URL,URL of an etcd that a SkyDNS or CoreDNS reads: names of the provider skydns are kept there "
                       "too, as http://127.0.0.1:2379 (default: none)");
    command.add_option("--skydns-prefix", to.prefix, "Path that its keys begin with (default /skydns)");
    command.add_option("--skydns-lease", to.lease, "How long the keys outlive this process (default 60s)");
    command.add_option("--skydns-etcd-ca", to.ca, "PEM file of the CA of its https endpoints");
    command.add_option("--skydns-etcd-cert", to.certificate, "PEM file of our client certificate");
    command.add_option("--skydns-etcd-key", to.key, "PEM file of its key");
    command.add_option("--skydns-etcd-user", to.user, "User of etcd");
    command.add_option("--skydns-etcd-password-file", to.password_file, "File with the user's password");
}

}  // namespace fairlead::cli
