// `fairlead plan --present FILE --desired FILE`: the planner on two lists of endpoints, without a server.
#include <fmt/core.h>

#include <istream>
#include <iterator>
#include <ostream>

#include "base/files.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/plan_text.h"
#include "cli/terminal.h"
#include "dns/address.h"
#include "plan/crypt.h"
#include "plan/endpoint_json.h"
#include "plan/plan.h"
#include "plan/registry.h"

namespace fairlead::cli {
namespace {

Result<std::vector<dns::Endpoint>> read_endpoints(const std::string& file, Terminal& terminal) {
    Result<std::string> text =
        file == "-" ? std::string(std::istreambuf_iterator<char>(terminal.in), {}) : read_file(file);
    if (!text) return fail(std::move(text.error()));
    auto endpoints = plan::endpoints_of_json(*text);
    if (!endpoints) {
        const auto& error = endpoints.error();
        return fail(error.code, file == "-" ? "standard input" : file, error.text());
    }
    return endpoints;
}

Result<plan::DomainFilter> filter_of(const PlanOptions& options) {
    const bool patterns = !options.domain_pattern.empty() || !options.excluded_domain_pattern.empty();
    if (!patterns) return plan::DomainFilter::of_lists(options.domains, options.excluded_domains);
    if (!options.domains.empty() || !options.excluded_domains.empty()) {
        return fail(Errc::invalid, "use either --domain-filter and --exclude-domains, or the --regex-... options");
    }
    return plan::DomainFilter::of_patterns(options.domain_pattern, options.excluded_domain_pattern);
}

std::set<std::string, std::less<>> upper_set(const std::vector<std::string>& types) {
    std::set<std::string, std::less<>> set;
    for (const auto& type : types) {
        std::string upper(trim(type));
        for (auto& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        if (!upper.empty()) set.insert(std::move(upper));
    }
    return set;
}

Result<plan::Options> planner_options(const PlanOptions& options) {
    plan::Options made;
    made.owner = options.owner;
    const auto policy = plan::parse_policy(options.policy);
    if (!policy) return fail(Errc::invalid, "--policy", fmt::format("\"{}\" is no policy", options.policy));
    made.policy = *policy;
    made.managed_types = upper_set(options.managed_types);
    made.excluded_types = upper_set(options.excluded_types);
    auto filter = filter_of(options);
    if (!filter) return fail(std::move(filter.error()));
    made.filter = std::move(*filter);
    return made;
}

// {"create":[],"update":[{"old":{},"new":{}}],"delete":[]}
json::Object changes_json(const std::vector<plan::Change>& changes) {
    json::Array creates, updates, deletes;
    for (const auto& change : changes) {
        switch (change.action) {
            case plan::Action::create:
                creates.push_back(plan::endpoint_json(*change.after));
                break;
            case plan::Action::update: {
                json::Object pair;
                pair["old"] = plan::endpoint_json(*change.before);
                pair["new"] = plan::endpoint_json(*change.after);
                updates.push_back(std::move(pair));
                break;
            }
            case plan::Action::remove:
                deletes.push_back(plan::endpoint_json(*change.before));
                break;
        }
    }
    json::Object object;
    object["create"] = std::move(creates);
    object["update"] = std::move(updates);
    object["delete"] = std::move(deletes);
    return object;
}

json::Value plan_json(const PlanView& view) {
    auto object = changes_json(view.changes);
    json::Array skipped;
    skipped.reserve(view.skipped.size());
    for (const auto& skip : view.skipped) {
        json::Object each;
        each["endpoint"] = plan::endpoint_json(skip.endpoint);
        each["reason"] = valid_utf8(fmt::format("{}: {}", skip.reason, skip.message));
        skipped.push_back(std::move(each));
    }
    object["skipped"] = std::move(skipped);
    if (view.by_texts) object["ownership"] = changes_json(view.ownership);
    return object;
}

// Why an address record has no address; nothing if it has, or is an alias of something else.
std::optional<std::string> bad_target(const dns::Endpoint& endpoint) {
    const bool v6 = endpoint.record_type == "AAAA";
    if (!v6 && endpoint.record_type != "A") return std::nullopt;
    for (const auto& property : endpoint.properties) {
        if (property.name == "alias" && property.value != "false") return std::nullopt;
    }
    for (const auto& target : endpoint.targets) {
        const auto address = dns::Address::parse(target);
        if (!address || address->v6 != v6) {
            return fmt::format("target \"{}\" of {} {} is no IPv{} address", target, endpoint.record_type,
                               endpoint.dns_name, v6 ? 6 : 4);
        }
    }
    return std::nullopt;
}

// What is created is shown as it is wanted: that it will be ours goes without saying.
void show_as_wanted(std::vector<plan::Change>& changes, const std::vector<plan::Desired>& desired) {
    for (auto& change : changes) {
        if (change.action == plan::Action::create) change.after->labels = desired[change.desired].endpoint.labels;
    }
}

PlanView view_by_labels(const std::vector<dns::Endpoint>& present, const std::vector<plan::Desired>& desired,
                        const plan::Options& settings) {
    auto made = plan::plan(present, desired, settings);
    PlanView view;
    view.changes = std::move(made.changes);
    view.skipped = std::move(made.skipped);
    show_as_wanted(view.changes, desired);
    return view;
}

Result<plan::RegistryOptions> registry_options(const PlanOptions& options) {
    plan::RegistryOptions made;
    made.owner = options.owner;
    made.form = options.txt_form == "external-dns" ? plan::OwnershipForm::external_dns : plan::OwnershipForm::shared;
    made.prefix = options.txt_prefix;
    made.suffix = options.txt_suffix;
    made.wildcard_replacement = options.txt_wildcard_replacement;
    if (options.txt_encrypt_key_file.empty()) return made;
    const auto text = read_file(options.txt_encrypt_key_file);
    if (!text) return fail(text.error());
    auto key = plan::encryption_key_of(*text);
    if (!key) return fail(Errc::invalid, options.txt_encrypt_key_file, key.error().message);
    made.encryption_key = std::move(*key);
    return made;
}

Result<PlanView> view_by_texts(const PlanOptions& options, std::vector<dns::Endpoint> listed,
                               const std::vector<plan::Desired>& desired, const plan::Options& settings) {
    auto terms = registry_options(options);
    if (!terms) return fail(std::move(terms.error()));
    SystemRandom random;
    const auto registry = plan::Registry::make(std::move(*terms), random);
    if (!registry) return fail(registry.error());
    for (auto& each : listed) each.labels.clear();  // the texts say it
    const auto read = registry->read(std::move(listed));
    auto made = plan::plan(read.records(), desired, settings);
    PlanView view;
    view.by_texts = true;
    view.skipped = std::move(made.skipped);
    view.problems = read.problems();
    for (auto& group : registry->complete(made.changes, read, &view.skipped)) {
        std::move(group.changes.begin(), group.changes.end(), std::back_inserter(view.changes));
        std::move(group.ownership.begin(), group.ownership.end(), std::back_inserter(view.ownership));
    }
    show_as_wanted(view.changes, desired);
    return view;
}

Result<PlanView> make_view(const PlanOptions& options, Terminal& terminal) {
    if (options.present.empty() || options.desired.empty()) {
        return fail(Errc::invalid, "say what is there and what is wanted: --present FILE --desired FILE");
    }
    if (options.present == "-" && options.desired == "-") {
        return fail(Errc::invalid, "only one of --present and --desired can be standard input");
    }
    if (!options.zone.empty() || options.cached) {
        return fail(Errc::invalid, "--zone and --cached are about a server's zones: leave them out beside --present");
    }
    auto settings = planner_options(options);
    if (!settings) return fail(settings.error());
    auto present = read_endpoints(options.present, terminal);
    if (!present) return fail(std::move(present.error()));
    auto wanted = read_endpoints(options.desired, terminal);
    if (!wanted) return fail(std::move(wanted.error()));
    std::vector<plan::Desired> desired;
    std::vector<plan::Skip> invalid;
    desired.reserve(wanted->size());
    for (auto& each : *wanted) {
        if (auto problem = bad_target(each)) {
            // Whether what is there of it should go is not known.
            settings->unsure_names.insert(each.dns_name);
            invalid.push_back({std::move(each), "Invalid", std::move(*problem), plan::no_index});
        } else {
            desired.push_back({std::move(each), {}});
        }
    }
    auto view = options.txt_registry ? view_by_texts(options, std::move(*present), desired, *settings)
                                     : view_by_labels(*present, desired, *settings);
    if (view) view->skipped.insert(view->skipped.begin(), invalid.begin(), invalid.end());
    return view;
}

}  // namespace

int run_plan_files(const PlanOptions& options, Terminal& terminal) {
    const auto view = make_view(options, terminal);
    if (!view) {
        terminal.err << "error: " << printable(view.error().text()) << '\n';
        return 1;
    }
    terminal.out << (options.json ? json::pretty(plan_json(*view)) + '\n' : plan_text(*view, terminal));
    return view->changes.empty() ? 0 : 2;
}

}  // namespace fairlead::cli
