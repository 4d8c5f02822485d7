#include "plan/registry.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "plan/names.h"
#include "plan/owner_index.h"

namespace fairlead::plan {
namespace {

constexpr std::size_t max_owner_bytes = 253;  // as long as a name: leaves room in one TXT value beside the rest
constexpr std::array<std::string_view, 9> types = {"A", "AAAA", "CNAME", "NS", "MX", "SRV", "PTR", "TXT", "NAPTR"};

bool affix_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'; }

Result<void> check_affix(std::string_view field, std::string& affix) {
    affix = lower(affix);
    auto rest = affix;
    for (auto at = rest.find(type_template); at != std::string::npos; at = rest.find(type_template)) {
        rest.replace(at, type_template.size(), "a");
    }
    if (!std::all_of(rest.begin(), rest.end(), affix_byte) || rest.find("..") != std::string::npos) {
        return fail(
            Errc::invalid, std::string(field),
            fmt::format("\"{}\" may hold letters, digits, \"-\", \"_\", single dots and {}", affix, type_template));
    }
    if (!rest.empty() && !fits(rest.ends_with('.') ? rest + "a" : rest.starts_with('.') ? "a" + rest : rest, {})) {
        return fail(Errc::invalid, std::string(field), fmt::format("\"{}\" is too long for a name", affix));
    }
    return {};
}

Result<void> check_label(std::string_view field, std::string& label, bool may_be_empty) {
    label = lower(label);
    const bool plain = std::all_of(label.begin(), label.end(), [](char c) { return affix_byte(c) && c != '.'; });
    if (plain && label.size() <= 63 && (may_be_empty || !label.empty())) return {};
    return fail(Errc::invalid, std::string(field),
                fmt::format("\"{}\" must be one label of letters, digits, \"-\" and \"_\"", label));
}

}  // namespace

Result<Registry> Registry::make(RegistryOptions options, Random& random) {
    if (!plain_value(options.owner) || options.owner.size() > max_owner_bytes) {
        return fail(Errc::invalid, "owner",
                    fmt::format("\"{}\" must be at most {} printable characters without , = \" and \\", options.owner,
                                max_owner_bytes));
    }
    if (!options.prefix.empty() && !options.suffix.empty()) {
        return fail(Errc::invalid, "txtSuffix", "prefix and suffix exclude each other");
    }
    Result<void> ok = check_affix("txtPrefix", options.prefix);
    if (ok) ok = check_affix("txtSuffix", options.suffix);
    for (auto& former : options.former_affixes) {
        if (ok) ok = check_affix("formerAffixes", former.prefix);
        if (ok) ok = check_affix("formerAffixes", former.suffix);
    }
    if (ok) ok = check_affix("sharedPrefix", options.shared_prefix);
    if (ok) ok = check_label("txtWildcardReplacement", options.wildcard_replacement, true);
    if (ok) ok = check_label("sharedWildcard", options.shared_wildcard, false);
    if (!ok) return fail(std::move(ok.error()));
    if (!options.shared_prefix.ends_with('.') || options.shared_prefix.starts_with('.')) {
        return fail(Errc::invalid, "sharedPrefix",
                    fmt::format("\"{}\" must be labels that end with a dot", options.shared_prefix));
    }
    if (!options.encryption_key.empty() && options.encryption_key.size() != encryption_key_bytes) {
        return fail(Errc::invalid, "encryptionKey", fmt::format("must have {} bytes", encryption_key_bytes));
    }
    options.zone = options.zone.empty() ? "" : normal_name(options.zone);
    Registry registry(std::move(options), random);
    registry.affixes_.push_back({registry.options_.prefix, registry.options_.suffix});
    for (const auto& former : registry.options_.former_affixes) registry.affixes_.push_back(former);
    return registry;
}

// The names that share the places of ownership records with this one: a wildcard and its replacement word.
std::vector<std::string> Registry::twins(std::string_view name) const {
    std::vector<std::string> names;
    const auto label = first_label(name);
    if (label == "*") {
        for (const auto& word : {options_.wildcard_replacement, options_.shared_wildcard}) {
            if (!word.empty()) names.push_back(with_first_label(name, word));
        }
    } else if (label == options_.wildcard_replacement || label == options_.shared_wildcard) {
        names.push_back(with_first_label(name, "*"));
    }
    return names;
}

std::string Registry::typed_place(std::string_view name, std::string_view type) const {
    if (options_.form != OwnershipForm::external_dns || !has_typed_name(type)) return {};
    // That place is the wildcard's: it could not be told whose a text there is.
    if (!options_.wildcard_replacement.empty() && first_label(name) == options_.wildcard_replacement) return {};
    auto place = affixed_name(affixes_.front(), options_.wildcard_replacement, name, type);
    return fits(place, options_.zone) ? place : std::string();
}

std::vector<std::string> Registry::subjects(const dns::Endpoint& endpoint) const {
    std::vector<std::string> names;
    if (endpoint.record_type != "TXT") return names;
    const auto add = [&](std::string name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    };
    const OwnerIndex index({&endpoint, 1}, affixes_, options_.encryption_key, OwnerIndex::Lookup::none);
    for (const auto& text : index.texts()) {
        add(std::string(text.name));
        if (text.form == TextForm::shared) continue;
        if (!options_.wildcard_replacement.empty() && first_label(text.name) == options_.wildcard_replacement) {
            add(with_first_label(text.name, "*"));
        }
        if (text.form == TextForm::typed) add(fmt::format("{}-{}", lower(text.type()), text.name));
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> Registry::ownership_names(std::string_view name) const {
    const auto normal = normal_name(name);
    auto names = std::vector<std::string>();
    names.reserve(1 + affixes_.size() * (types.size() + 1));
    const auto add = [&](std::string place) {
        if (fits(place, options_.zone)) names.push_back(std::move(place));
    };
    if (auto shared = shared_name(options_.shared_prefix, options_.shared_wildcard, normal, options_.zone)) {
        add(std::move(*shared));
    }
    for (const auto& affix : affixes_) {
        for (const auto type : types) add(affixed_name(affix, options_.wildcard_replacement, normal, type));
        add(affixed_name(affix, options_.wildcard_replacement, normal, {}));
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<std::string> Registry::written_names(std::string_view name) const {
    const auto normal = normal_name(name);
    std::vector<std::string> names;
    names.reserve(1 + types.size());
    if (options_.owner.empty()) return names;
    if (auto shared = shared_name(options_.shared_prefix, options_.shared_wildcard, normal, options_.zone)) {
        names.push_back(std::move(*shared));
    }
    if (options_.form == OwnershipForm::external_dns) {
        for (const auto type : types) {
            names.push_back(affixed_name(affixes_.front(), options_.wildcard_replacement, normal, type));
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace fairlead::plan
