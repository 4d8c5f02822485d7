// Flags of `serve` about the etcd of a SkyDNS or CoreDNS beside us. skydns_flags.cpp is a home of CLI11.
#pragma once

namespace CLI {
class App;
}

namespace fairlead::cli {

struct SkydnsArguments;

void add_skydns_flags(CLI::App& command, SkydnsArguments& to);

}  // namespace fairlead::cli
