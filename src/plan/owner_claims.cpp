#include "plan/owner_claims.h"

#include <algorithm>

namespace fairlead::plan {
namespace {

constexpr int rank_named = 3;  // names the very record
constexpr int rank_alias = 2;
constexpr int rank_legacy = 1;

}  // namespace

bool is_alias_address(const dns::Endpoint& record) {
    return record.record_type == "A" &&
           std::any_of(record.properties.begin(), record.properties.end(), [](const dns::Property& property) {
               return property.name == "alias" && (property.value == "true" || property.value == "A");
           });
}

bool find_entry(std::string_view records, std::string_view type, std::string_view set_identifier,
                std::string_view& entry) {
    bool found = false;
    each_entry(records, [&](std::string_view each) {
        if (found) return;
        const auto body = each.substr(0, std::min(each.find(';'), each.size()));
        if (body.find('%') != std::string_view::npos) {
            const auto record = read_owned_record(body);
            found = record.type == type && record.set_identifier == set_identifier;
        } else if (set_identifier.empty()) {
            found = body == type;
        } else {
            found = body.size() == type.size() + 1 + set_identifier.size() && body.starts_with(type) &&
                    body[type.size()] == '/' && body.ends_with(set_identifier);
        }
        if (found) entry = each;
    });
    return found;
}

void ClaimReader::look(std::string_view name, const dns::Endpoint& record, bool affixed) {
    index_.each(name, hint_, [&](std::uint32_t index) {
        const auto& text = index_.texts()[index];
        int rank = 0;
        std::string_view entry;
        switch (text.form) {
            case TextForm::shared:
                if (!affixed && find_entry(text.records(), record.record_type, record.set_identifier, entry)) {
                    rank = rank_named;
                }
                break;
            case TextForm::typed:
                if (index_.set(text).set_identifier != record.set_identifier) break;
                if (text.type() == record.record_type) rank = rank_named;
                if (text.type() == "CNAME" && is_alias_address(record)) rank = rank_alias;
                break;
            case TextForm::legacy:
                if (index_.set(text).set_identifier != record.set_identifier) break;
                if (record.record_type != "AAAA") rank = rank_legacy;
                break;
        }
        if (rank == 0 || rank < best_ || text.owner.empty()) return;
        if (rank > best_) claims_.texts.clear();
        best_ = rank;
        claims_.texts.push_back(index);
    });
}

const Claims& ClaimReader::of(const dns::Endpoint& record, std::string_view name, bool wildcard_is_there) {
    claims_.texts.clear();
    claims_.contradicted = false;
    best_ = 0;
    look(name, record, false);
    if (is_wildcard(name) && !wildcard_.empty()) look(with_first_label(name, wildcard_), record, true);
    if (wildcard_is_there) {
        std::erase_if(claims_.texts,
                      [&](std::uint32_t index) { return index_.texts()[index].form != TextForm::shared; });
    }
    for (const auto index : claims_.texts) {
        if (index_.texts()[index].owner != index_.texts()[claims_.texts.front()].owner) claims_.contradicted = true;
    }
    return claims_;
}

}  // namespace fairlead::plan
