// Reading: which of the listed sets are ownership records, and whose the others are.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <span>
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

// `fields` is room to work in. The text is read once more, as keeping the labels of all texts takes more than it saves.
void give_labels(dns::Endpoint& record, const IndexedText& text, OwnerFields& fields) {
    read_owner_fields(text.plain, fields);
    auto& labels = fields.labels;
    labels.insert(labels.begin(), {owner_label, text.owner});  // mostly where it belongs
    std::string_view entry;
    OwnedRecord own;
    if (text.form == TextForm::shared && find_entry(text.records(), record.record_type, record.set_identifier, entry) &&
        entry.find(';') != std::string_view::npos) {
        own = read_owned_record(entry);
        own.labels.erase(owner_label);
        labels.insert(labels.end(), own.labels.begin(), own.labels.end());
    }
    record.labels = dns::Labels::of(labels);
}

}  // namespace

// Records are moved up, those that say who owns what behind them: endpoints are large, and another list of that size
// would not be given back before the round ends.
Registry::Read::Read(std::vector<dns::Endpoint> listed, std::string_view key) : sets_(std::move(listed)) {
    std::vector<Kind> kinds(sets_.size());
    for (std::size_t i = 0; i < sets_.size(); ++i) kinds[i] = kind_of(sets_[i], key);
    std::vector<dns::Endpoint> mixed, ownership;
    ownership.reserve(static_cast<std::size_t>(std::count(kinds.begin(), kinds.end(), Kind::ownership)));
    auto to = sets_.begin();
    for (std::size_t i = 0; i < sets_.size(); ++i) {
        auto& set = sets_[i];
        set.labels.clear();  // who owns it is what the texts say, nothing else
        switch (kinds[i]) {
            case Kind::record:
                if (&*to != &set) *to = std::move(set);
                ++to;
                break;
            case Kind::mixed:
                set_label(set, owner_label, mixed_owner);
                mixed.push_back(std::move(set));
                break;
            case Kind::ownership:
                ownership.push_back(std::move(set));
                break;
        }
    }
    first_ownership_ = static_cast<std::size_t>(to - sets_.begin());
    record_count_ = first_ownership_ + mixed.size();
    to = std::move(mixed.begin(), mixed.end(), to);
    std::move(ownership.begin(), ownership.end(), to);
}

void Registry::apply_claims(Read& read) const {
    const OwnerIndex index(read.ownership(), affixes_, options_.encryption_key);
    if (index.texts().empty()) return;
    ClaimReader claims(index, options_.wildcard_replacement);
    NormalNames normal;
    OwnerFields fields;
    std::unordered_set<std::string_view> wildcards;
    if (!options_.wildcard_replacement.empty()) {
        for (const auto& record : read.records()) {
            const auto name = normal(record.dns_name).text;
            if (is_wildcard(name)) wildcards.insert(name);
        }
    }
    for (auto& record : std::span(read.sets_).first(read.record_count_)) {
        if (!record.labels.empty()) continue;  // mixed
        const auto name = normal(record.dns_name).text;
        const bool lent = claims.may_be_replaced(name) && wildcards.contains(with_first_label(name, "*"));
        const auto& found = claims.of(record, name, lent);
        if (found.texts.empty()) continue;
        if (!found.contradicted) {
            give_labels(record, index.texts()[found.texts.front()], fields);
            continue;
        }
        std::set<std::string> owners;
        for (const auto text : found.texts) owners.emplace(index.texts()[text].owner);
        const auto all = join({owners.begin(), owners.end()}, ", ");
        set_label(record, owner_label, all);
        read.problems_.push_back(fmt::format("{} {}{}{} has ownership texts of {}", name, record.record_type,
                                             record.set_identifier.empty() ? "" : " ", record.set_identifier, all));
    }
    std::sort(read.problems_.begin(), read.problems_.end());
}

Registry::Read Registry::read(std::vector<dns::Endpoint> listed) const {
    Read read(std::move(listed), options_.encryption_key);
    apply_claims(read);
    return read;
}

}  // namespace fairlead::plan
