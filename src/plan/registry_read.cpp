// Reading: which of the listed sets are ownership records, and whose the others are.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/text.h"
#include "plan/names.h"
#include "plan/owner_claims.h"
#include "plan/owner_index.h"
#include "plan/registry.h"

namespace fairlead::plan {
namespace {

enum class Kind : std::uint8_t { record, ownership, mixed };

Kind kind_of(const dns::Endpoint& endpoint, std::string_view key) {
    if (endpoint.record_type != "TXT" || endpoint.targets.empty()) return Kind::record;
    std::size_t texts = 0;
    for (const auto& target : endpoint.targets) texts += OwnerIndex::is_owner_text(target, key) ? 1 : 0;
    if (texts == 0) return Kind::record;
    return texts == endpoint.targets.size() ? Kind::ownership : Kind::mixed;
}

// What stays is moved up, what says who owns what goes out: endpoints are large, so each is moved once.
void part(std::vector<dns::Endpoint>& listed, std::vector<dns::Endpoint>& ownership, std::string_view key) {
    std::vector<Kind> kinds(listed.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < listed.size(); ++i) {
        kinds[i] = kind_of(listed[i], key);
        count += kinds[i] == Kind::record ? 0 : 1;
    }
    ownership.reserve(count);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < listed.size(); ++i) {
        listed[i].labels.clear();  // who owns it is what the texts say, nothing else
        switch (kinds[i]) {
            case Kind::ownership:
                ownership.push_back(std::move(listed[i]));
                continue;
            case Kind::mixed:
                ownership.push_back(listed[i]);
                set_label(listed[i], owner_label, std::string(Registry::mixed_owner));
                break;
            case Kind::record:
                break;
        }
        if (kept != i) listed[kept] = std::move(listed[i]);
        ++kept;
    }
    listed.erase(listed.begin() + static_cast<std::ptrdiff_t>(kept), listed.end());
}

void give_labels(dns::Endpoint& record, const OwnerIndex& index, const IndexedText& text) {
    const auto shared = index.labels(text);
    record.labels.reserve(shared.size() + 1);
    record.labels.push_back({std::string(owner_label), std::string(text.owner)});
    for (const auto& [key, value] : shared) record.labels.push_back({std::string(key), std::string(value)});
    std::string_view entry;
    if (text.form == TextForm::shared && find_entry(text.records, record.record_type, record.set_identifier, entry) &&
        entry.find(';') != std::string_view::npos) {
        for (auto& label : read_owned_record(entry).labels) {
            if (label.key != owner_label) record.labels.push_back(std::move(label));
        }
    }
    const auto by_key = [](const dns::Label& a, const dns::Label& b) { return a.key < b.key; };
    if (!std::is_sorted(record.labels.begin(), record.labels.end(), by_key)) {
        std::sort(record.labels.begin(), record.labels.end(), by_key);
    }
}

}  // namespace

void Registry::apply_claims(Read& read) const {
    const OwnerIndex index(read.ownership, affixes_, options_.encryption_key);
    if (index.texts().empty()) return;
    ClaimReader claims(index, options_.wildcard_replacement);
    NormalNames normal;
    std::unordered_set<std::string_view> wildcards;
    if (!options_.wildcard_replacement.empty()) {
        for (const auto& record : read.records) {
            const auto name = normal(record.dns_name).text;
            if (is_wildcard(name)) wildcards.insert(name);
        }
    }
    for (auto& record : read.records) {
        if (!record.labels.empty()) continue;  // mixed
        const auto name = normal(record.dns_name).text;
        const bool lent = claims.may_be_replaced(name) && wildcards.contains(with_first_label(name, "*"));
        const auto& found = claims.of(record, name, lent);
        if (found.texts.empty()) continue;
        if (!found.contradicted) {
            give_labels(record, index, index.texts()[found.texts.front()]);
            continue;
        }
        std::set<std::string> owners;
        for (const auto text : found.texts) owners.emplace(index.texts()[text].owner);
        const auto all = join({owners.begin(), owners.end()}, ", ");
        set_label(record, owner_label, all);
        read.problems.push_back(fmt::format("{} {}{}{} has ownership texts of {}", name, record.record_type,
                                            record.set_identifier.empty() ? "" : " ", record.set_identifier, all));
    }
    std::sort(read.problems.begin(), read.problems.end());
}

Registry::Read Registry::read(std::vector<dns::Endpoint> listed) const {
    Read read;
    part(listed, read.ownership, options_.encryption_key);
    read.records = std::move(listed);
    apply_claims(read);
    return read;
}

}  // namespace fairlead::plan
