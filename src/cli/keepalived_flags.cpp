#include "cli/keepalived_flags.h"

#include <CLI/CLI.hpp>
#include <ostream>

#include "cli/terminal.h"

namespace fairlead::cli {

const char* const keepalived_examples =
    R"(  fairlead keepalived --router blue --interface eth0 --address 192.0.2.10/24 --priority 150 > /etc/keepalived/keepalived.conf
  fairlead keepalived --router blue --interface eth0 --address 192.0.2.10/24 --source 192.0.2.11 --peer 192.0.2.12
  fairlead keepalived --loadbalancer front --interface eth0 --address 192.0.2.20/24

Run it on each instance, with another --priority; the address moves within 3 s when a proxy
stops answering. Give the Router that address in spec.addresses. Instances of a LoadBalancer
are told to DNS by their own address: start each with `fairlead router --address` of the shared one.)";

void add_keepalived_flags(CLI::App& command, route::KeepalivedOptions& to) {
    command.add_option("--router", to.router, "Name of the Router");
    command.add_option("--loadbalancer", to.load_balancer, "Or of the LoadBalancer");
    command.add_option("--interface", to.interface, "Network interface that the address is put on")->required();
    command.add_option("--address", to.addresses, "Address that the instances share, with its prefix; repeatable")
        ->required()
        ->allow_extra_args(false);
    command.add_option("--probe", to.probe, "Where /healthz of the proxy answers (default 127.0.0.1:1936)");
    command.add_option("--router-id", to.router_id,
                       "VRRP's id, 1 to 255, the same on all instances (default: by the name)");
    command.add_option("--priority", to.priority,
                       "1 to 254: of those that start together the highest has the address (default 100)");
    command.add_flag("--preempt", to.preempt, "Whoever has the highest priority takes the address back");
    command.add_option("--source", to.source, "Own address, where multicast does not work");
    command.add_option("--peer", to.peers, "Address of another instance, with --source; repeatable")
        ->allow_extra_args(false);
}

int run_keepalived(const route::KeepalivedOptions& options, Terminal& terminal) {
    const auto text = route::keepalived_conf(options);
    if (!text) {
        terminal.err << "error: --" << text.error().text() << "\nSee `fairlead keepalived --help`.\n";
        return 2;
    }
    terminal.out << *text;
    return 0;
}

}  // namespace fairlead::cli
