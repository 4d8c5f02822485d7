#include "cli/plan_flags.h"

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace fairlead::cli {

const char* const plan_examples =
    R"(  fairlead plan                                  what the server would change now, in all zones at other providers
  fairlead plan --zone dns/shop                  in the zone of the ManagedZone "shop" of namespace "dns"
  fairlead plan --zone example.com -o json       in the zone with this domain
  fairlead plan approve 3f9a0c1d2b4e5f60         let through what a zone holds back, exactly that

Before a policy is changed:
  fairlead plan -f policy.yaml                   which records would change, and how many clients would move, by place
  fairlead plan -f policy.yaml -n gateways -o json
  sed s/IE/US/ policy.yaml | fairlead plan -f -

FILE has DNSPolicies, and Gateways, Clusters or ManagedZones that are to change with them. They are put over what the
server has, as if they said all about themselves; nothing is written. Health is what it is now. Each host that changes
is shown with its records, and for each place the share of clients whose answer would be another, target by target.

Without a server, on two files:
  fairlead plan --present zone.json --desired wanted.json
  fairlead plan --present zone.json --desired - --owner blue --policy upsert-only -o json < wanted.json
  fairlead plan --present zone.json --desired wanted.json --domain-filter example.com --managed-types A,AAAA,CNAME,TXT
  fairlead plan --present zone.json --desired wanted.json --owner blue --registry txt --txt-prefix "%{record_type}-"

The files are lists of endpoints as external-dns writes them in JSON: dnsName, recordType, targets, recordTTL,
setIdentifier, labels, providerSpecific. Nothing is changed and no server is asked.

Exit codes: 0 nothing to change, 2 something to change, 1 failed.)";

void add_plan_flags(CLI::App& command, PlanOptions& to) {
    command
        .add_option("-f,--filename", to.files,
                    "Preview these manifests (DNSPolicy, Gateway, Cluster, ManagedZone); file, folder or -; repeatable")
        ->allow_extra_args(false);
    command.add_option("--zone", to.zone,
                       "[NAMESPACE/]NAME of a ManagedZone, or its domain (default: all zones at other providers)");
    command.add_flag("--cached", to.cached, "Plan against what the server has read already, instead of reading anew");
    command.add_option("--present", to.present, "What is there: a list of endpoints; - is standard input");
    command.add_option("--desired", to.desired, "What is wanted: a list of endpoints; - is standard input");
    command
        .add_option("--owner", to.owner,
                    "Who we are: only records whose label `owner` says so are changed or deleted (default: nobody, "
                    "ownership does not matter)")
        // An empty variable of a script must not make everybody's records ours.
        ->check([](const std::string& owner) { return owner.empty() ? std::string("is empty") : std::string(); });
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
            "--registry", [&to](const std::string& text) { to.txt_registry = text == "txt"; },
            "Where --present says who owns what: labels (default), or txt: in ownership TXT records")
        ->check(CLI::IsMember({"labels", "txt"}));
    command.add_option("--txt-prefix", to.txt_prefix, "Prefix of their names; may hold %{record_type}");
    command.add_option("--txt-suffix", to.txt_suffix, "Suffix of their first label, instead of a prefix");
    command.add_option("--txt-wildcard-replacement", to.txt_wildcard_replacement,
                       "Word that stands for * in their names");
    command.add_option("--txt-encrypt-key-file", to.txt_encrypt_key_file,
                       "File with the key that they are encrypted with: 32 bytes, or those in base64");
    command
        .add_option("--txt-form", to.txt_form, "How they are written: shared (default) or external-dns; both are read")
        ->check(CLI::IsMember({"shared", "external-dns"}));
    command
        .add_option_function<std::string>(
            "-o,--output", [&to](const std::string& text) { to.json = text == "json"; }, "text (default) or json")
        ->check(CLI::IsMember({"text", "json"}));
}

const char* const plan_approve_examples =
    R"(  fairlead plan --zone dns/shop                  shows what is held back, and its digest
  fairlead plan approve 3f9a0c1d2b4e5f60

The digest is of exactly these changes: if anything about them changes, it is another plan, and held again.)";

const char* const ownership_examples =
    R"(  fairlead ownership adopt --zone dns/shop www.example.com --dry-run
  fairlead ownership adopt --zone dns/shop www.example.com api.example.com
  fairlead ownership adopt --zone example.com www.example.com --from old-cluster
  fairlead ownership release --zone dns/shop www.example.com
  fairlead ownership transfer --zone dns/shop www.example.com --to new-cluster

Records change hands by name alone. The order is written into spec.ownership.orders of the ManagedZone, in the place
of an earlier one for the same name; the server carries it out. --dry-run shows what it would come to; its exit codes
are those of `plan`.)";

void add_ownership_flags(CLI::App& command, const std::string& kind, OwnershipOptions& to) {
    command.add_option("--zone", to.zone, "[NAMESPACE/]NAME of a ManagedZone, or its domain")->required();
    command.add_option("names", to.names, "Names whose records change hands: www.example.com")->required();
    if (kind == "adopt")
        command.add_option("--from", to.other, "Who owns them now (default: records that nobody owns)");
    if (kind == "transfer") command.add_option("--to", to.other, "Who shall own them")->required();
    command.add_flag("--dry-run", to.dry_run, "Show what would be done, and change nothing");
    command
        .add_option_function<std::string>(
            "-o,--output", [&to](const std::string& text) { to.json = text == "json"; },
            "Of --dry-run: text (default) or json")
        ->check(CLI::IsMember({"text", "json"}));
}

}  // namespace fairlead::cli
