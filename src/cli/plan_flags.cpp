#include "cli/plan_flags.h"

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace fairlead::cli {

const char* const plan_examples = R"(  fairlead plan --present zone.json --desired wanted.json
  fairlead plan --present zone.json --desired - --owner blue --policy upsert-only -o json < wanted.json
  fairlead plan --present zone.json --desired wanted.json --domain-filter example.com --managed-types A,AAAA,CNAME,TXT

The files are lists of endpoints as external-dns writes them in JSON: dnsName, recordType, targets, recordTTL,
setIdentifier, labels, providerSpecific. Nothing is changed and no server is asked.

Exit codes: 0 nothing to change, 2 something to change, 1 failed.)";

void add_plan_flags(CLI::App& command, PlanOptions& to) {
    command.add_option("--present", to.present, "What is there: a list of endpoints; - is standard input");
    command.add_option("--desired", to.desired, "What is wanted: a list of endpoints; - is standard input");
    command.add_option("--owner", to.owner,
                       "Who we are: only records whose label `owner` says so are changed or deleted (default: nobody, "
                       "ownership does not matter)");
    command.add_option("--policy", to.policy, "sync (default), upsert-only (deletes nothing) or create-only")
        ->check(CLI::IsMember({"sync", "upsert-only", "create-only"}));
    command.add_option("--managed-types", to.managed_types, "Types that may change (default A,AAAA,CNAME)")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--exclude-types", to.excluded_types, "Types that may not, also if they are managed")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        .add_option("--domain-filter", to.domains,
                    "Names that may change: example.com with all below, .example.com only what is below; repeatable "
                    "(default: all)")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--exclude-domains", to.excluded_domains, "Names that may not, in the same form; repeatable")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--regex-domain-filter", to.domain_pattern,
                       "Regular expression for names that may change, instead of the lists");
    command.add_option("--regex-domain-exclusion", to.excluded_domain_pattern,
                       "Regular expression for names that may not; asked first");
    command
        .add_option_function<std::string>(
            "-o,--output", [&to](const std::string& text) { to.json = text == "json"; }, "text (default) or json")
        ->check(CLI::IsMember({"text", "json"}));
}

}  // namespace fairlead::cli
