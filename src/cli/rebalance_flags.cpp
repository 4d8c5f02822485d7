#include "cli/rebalance_flags.h"

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/common_flags.h"

namespace fairlead::cli {

const char* const rebalance_examples = R"(  fairlead rebalance --dry-run
  fairlead rebalance -l shard=blue --per-minute 60
  fairlead rebalance --dry-run -o json

Moves as few Routes as possible, make-before-break: the former Router serves each until the
new one does, and for two more minutes. Stops at the first that fails; may be interrupted
and run again.)";

void add_rebalance_flags(CLI::App& command, RebalanceOptions& to) {
    command.add_flag("--dry-run", to.dry_run, "Only show what would be moved");
    command.add_option("-l,--router-set", to.set,
                       "Only Routers with this spec.label, as shard=blue; \"\" for those that take the rest");
    command
        .add_option("--strategy", to.strategy,
                    "Strategy of Routers that name none, as serve --route-strategy (default round-robin)")
        ->check(CLI::IsMember({"round-robin", "least-routes", "weighted", "rendezvous"}));
    command.add_option("--per-minute", to.per_minute, "At most so many moves in a minute (default 600)")
        ->check(CLI::Range(1, 1'000'000));
    command
        .add_option_function<std::string>(
            "--serving-timeout", [&to](const std::string& text) { to.serving_timeout = *parse_duration(text); },
            "How long a moved Route that was served may take until it is served again (default 60s; 0: do not wait)")
        ->check(check_duration);
    command
        .add_option_function<std::string>(
            "-o,--output", [&to](const std::string& text) { to.json = text == "json"; }, "table (default) or json")
        ->check(CLI::IsMember({"table", "json"}));
}

}  // namespace fairlead::cli
