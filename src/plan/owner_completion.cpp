#include "plan/owner_completion.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "plan/names.h"
#include "plan/owner_claims.h"

namespace fairlead::plan {
namespace {

dns::Labels other_labels(const dns::Endpoint& endpoint) {
    auto labels = endpoint.labels;
    labels.erase(owner_label);
    return labels;
}

OwnedRecord owned_record(const dns::Endpoint& endpoint) {
    return {endpoint.record_type, endpoint.set_identifier, other_labels(endpoint)};
}

// What of a record's properties its ownership record must share to stand beside it under one routing policy; that it is
// an alias is no such thing.
std::vector<dns::Property> policy_properties(const dns::Endpoint& endpoint) {
    auto properties = endpoint.properties;
    std::erase_if(properties, [](const dns::Property& property) {
        return property.name == "alias" || property.name.ends_with("evaluate-target-health") ||
               property.name.ends_with("target-hosted-zone");
    });
    return properties;
}

std::string owner_after(const Change& change, const std::string& ours) {
    const auto label = label_of(*change.after, owner_label);
    return label.empty() && change.action == Action::create ? ours : std::string(label);
}

// The external-dns form has room for one text only, and another's is not ours to replace.
OwnerResult<void> alone(const OwnerDraft& draft, std::string_view place) {
    if (draft.targets.size() <= 1) return {};
    return tl::unexpected(
        OwnerProblem{"OwnershipConflict",
                     fmt::format("{} is where the ownership goes, and there is a TXT record of somebody else", place)});
}

}  // namespace

void OwnerCompletion::look_at(const std::map<std::string, OwnerGroup>& groups, const Registry::Read& present) {
    for (const auto& [key, group] : groups) {
        for (const auto& name : group.names) {
            present_.want(name);
            for (auto& place : registry_.written_names(name)) present_.want(std::move(place));
            each_text(name, [&](const IndexedText& text) {
                if (text.form == TextForm::typed) present_.want(fmt::format("{}-{}", lower(text.type()), text.name));
            });
        }
    }
    present_.fill(present);
}

void OwnerCompletion::each_text(const std::string& name, const std::function<void(const IndexedText&)>& f) const {
    index_.each(name, [&](std::uint32_t text) { f(index_.texts()[text]); });
    if (!is_wildcard(name) || options_.wildcard_replacement.empty()) return;
    const auto spelled = with_first_label(name, options_.wildcard_replacement);
    index_.each(spelled, [&](std::uint32_t text) {
        if (index_.texts()[text].form != TextForm::shared) f(index_.texts()[text]);
    });
}

std::string OwnerCompletion::claimed_by_other(const Change& change) const {
    std::string claimant;
    if (change.action != Action::create) return claimant;
    const auto& record = *change.after;
    each_text(normal_name(record.dns_name), [&](const IndexedText& text) {
        if (text.owner.empty() || text.owner == options_.owner) return;
        std::string_view entry;
        const bool names_it = text.form == TextForm::shared
                                  ? find_entry(text.records(), record.record_type, record.set_identifier, entry)
                                  : text.form == TextForm::typed &&
                                        equal_ignoring_case(text.type(), record.record_type) &&
                                        index_.set(text).set_identifier == record.set_identifier;
        if (names_it && (claimant.empty() || text.owner < claimant)) claimant = text.owner;
    });
    return claimant;
}

OwnerResult<std::vector<OwnedEndpoint>> OwnerCompletion::after(const OwnerGroup& group) const {
    std::vector<OwnedEndpoint> records;
    for (const auto& name : group.names) {
        for (const auto* record : present_.at(name).records) {
            const auto owner = label_of(*record, owner_label);
            if (owner == Registry::mixed_owner) continue;
            if (owner.find(", ") != std::string_view::npos) {
                return tl::unexpected(OwnerProblem{
                    "OwnershipContradicted", fmt::format("{} {} has ownership texts of {}: remove those that are wrong",
                                                         name, record->record_type, owner)});
            }
            records.push_back({name, std::string(owner), record, false});
        }
    }
    for (const auto* change : group.changes) {
        for (const auto* side : {&change->before, &change->after}) {
            if (!*side) continue;
            std::erase_if(records, [&](const OwnedEndpoint& record) {
                return record.endpoint->record_type == (*side)->record_type &&
                       record.endpoint->set_identifier == (*side)->set_identifier &&
                       record.name == normal_name((*side)->dns_name);
            });
        }
        if (!change->after) continue;
        records.push_back(
            {normal_name(change->after->dns_name), owner_after(*change, options_.owner), &*change->after, true});
    }
    std::sort(records.begin(), records.end(), [](const OwnedEndpoint& a, const OwnedEndpoint& b) {
        return std::tie(a.name, a.endpoint->record_type, a.endpoint->set_identifier) <
               std::tie(b.name, b.endpoint->record_type, b.endpoint->set_identifier);
    });
    return records;
}

std::string OwnerCompletion::encoded(const std::string& plain) const {
    if (options_.encryption_key.empty()) return txt_target(plain);
    EncryptionNonce nonce{};
    for (std::size_t i = 0; i < nonce.size(); i += 4) {
        const auto number = random_.next();
        for (std::size_t j = 0; j < 4; ++j) nonce.at(i + j) = static_cast<unsigned char>(number >> (8 * j));
    }
    const auto sealed = encrypt_owner_text(plain, options_.encryption_key, nonce);
    return txt_target(sealed ? *sealed : plain);
}

std::string OwnerCompletion::plain_of(const IndexedText& text) const {
    std::string scratch;
    const auto bytes = txt_bytes(index_.set(text).targets[text.target], scratch);
    if (text.encrypted) return decrypt_owner_text(bytes, options_.encryption_key).value_or("");
    return std::string(bytes);
}

OwnerResult<std::string> OwnerCompletion::shared_place(const std::string& name) const {
    auto place = shared_name(options_.shared_prefix, options_.shared_wildcard, name, options_.zone);
    if (!place) {
        return tl::unexpected(
            OwnerProblem{"OwnershipNoRoom", fmt::format("{} leaves no room for an ownership record beside it", name)});
    }
    const auto& there = present_.at(*place);
    for (const auto* sets : {&there.records, &there.ownership}) {
        for (const auto* set : *sets) {
            const bool alone = set->record_type == "CNAME";
            if (!alone && (set->record_type != "TXT" || set->set_identifier.empty())) continue;
            return tl::unexpected(
                OwnerProblem{"OwnershipConflict",
                             fmt::format("{} is where the ownership of {} goes, and there is a {} {}", *place, name,
                                         set->record_type, alone ? "record" : "set with a set identifier")});
        }
    }
    return *place;
}

void OwnerCompletion::take_from(const std::string& owner, const OwnedEndpoint& record,
                                const std::vector<OwnedEndpoint>& records, OwnerDrafts& drafts) {
    const auto& endpoint = *record.endpoint;
    each_text(record.name, [&](const IndexedText& text) {
        if (text.owner != owner) return;
        const auto& set = index_.set(text);
        const auto& target = set.targets[text.target];
        if (text.form == TextForm::shared) {
            // Its text may have been changed already, for another record of the name.
            auto& draft = drafts.of(set);
            for (auto& each : draft.targets) {
                auto parsed = parse_owner_text(each, options_.encryption_key);
                if (!parsed || parsed->owner != owner || !parsed->records) continue;
                if (normal_name(parsed->name) != record.name) continue;
                const auto gone = std::erase_if(*parsed->records, [&](const OwnedRecord& entry) {
                    return entry.type == endpoint.record_type && entry.set_identifier == endpoint.set_identifier;
                });
                if (gone > 0) each = parsed->records->empty() ? std::string() : encoded(owner_plain(*parsed));
            }
            std::erase(draft.targets, std::string());
            return;
        }
        if (set.set_identifier != endpoint.set_identifier) return;
        const bool named = text.form == TextForm::typed && (text.type() == endpoint.record_type ||
                                                            (text.type() == "CNAME" && is_alias_address(endpoint)));
        const bool unused = text.form == TextForm::legacy &&
                            std::none_of(records.begin(), records.end(), [&](const OwnedEndpoint& other) {
                                return other.owner == owner && other.name == record.name;
                            });
        if (named || unused) drafts.of(set).remove(target);
    });
}

OwnerResult<void> OwnerCompletion::give_to(const OwnedEndpoint& record, OwnerDrafts& drafts) {
    const auto& owner = record.owner;
    if (!plain_value(owner)) {
        return tl::unexpected(OwnerProblem{"OwnershipConflict", fmt::format("\"{}\" can be nobody's id", owner)});
    }
    const auto typed = registry_.typed_place(record.name, record.endpoint->record_type);
    if (!typed.empty()) {
        auto& draft = drafts.at(typed, record.endpoint->set_identifier);
        draft.properties = policy_properties(*record.endpoint);
        draft.targets.push_back(encoded(owner_plain({owner, {}, other_labels(*record.endpoint), std::nullopt})));
        return alone(draft, typed);
    }
    const auto place = shared_place(record.name);
    if (!place) return tl::unexpected(place.error());
    auto& draft = drafts.at(*place, {});
    std::vector<OwnedRecord> entries;
    std::erase_if(draft.targets, [&](const std::string& target) {
        auto parsed = parse_owner_text(target, options_.encryption_key);
        if (!parsed || parsed->owner != owner || !parsed->records || normal_name(parsed->name) != record.name) {
            return false;
        }
        for (auto& entry : *parsed->records) {
            std::vector<dns::Label> labels(parsed->labels.begin(), parsed->labels.end());
            labels.insert(labels.end(), entry.labels.begin(), entry.labels.end());
            entry.labels = dns::Labels::of(labels);
            entries.push_back(std::move(entry));
        }
        return true;
    });
    entries.push_back(owned_record(*record.endpoint));
    std::sort(entries.begin(), entries.end(),
              [](const OwnedRecord& a, const OwnedRecord& b) { return a.identity() < b.identity(); });
    for (const auto& text : shared_texts(owner, record.name, entries)) {
        draft.targets.push_back(encoded(owner_plain(text)));
    }
    return {};
}

OwnerResult<std::vector<WantedText>> OwnerCompletion::wanted(const OwnerGroup& group,
                                                             const std::vector<OwnedEndpoint>& records) const {
    std::vector<WantedText> all;
    for (const auto& name : group.names) {
        std::vector<OwnedRecord> shared;
        for (const auto& record : records) {
            if (record.name != name || record.owner != options_.owner) continue;
            auto place = registry_.typed_place(record.name, record.endpoint->record_type);
            if (place.empty()) {
                shared.push_back(owned_record(*record.endpoint));
                continue;
            }
            const auto& endpoint = *record.endpoint;
            all.push_back({std::move(place), endpoint.set_identifier,
                           owner_plain({options_.owner, {}, other_labels(endpoint), std::nullopt}),
                           policy_properties(endpoint), record.changed, true, false});
        }
        if (shared.empty()) continue;
        const auto place = shared_place(name);
        if (!place) return tl::unexpected(place.error());
        for (const auto& text : shared_texts(options_.owner, name, shared)) {
            all.push_back({*place, {}, owner_plain(text), {}, false, false, false});
        }
    }
    return all;
}

// A name of the typed form whose record is not there, and that may as well be the legacy name of one that is: not ours
// to remove.
bool OwnerCompletion::may_be_anothers(const IndexedText& text) const {
    if (text.form != TextForm::typed) return false;
    const auto& identifier = index_.set(text).set_identifier;
    std::vector<std::string> names{std::string(text.name)};
    if (first_label(text.name) == options_.wildcard_replacement) names.push_back(with_first_label(text.name, "*"));
    for (const auto& name : names) {
        for (const auto* record : present_.at(name).records) {
            const bool typed =
                record->record_type == text.type() || (text.type() == "CNAME" && is_alias_address(*record));
            if (typed && record->set_identifier == identifier) return false;
        }
    }
    return !present_.at(fmt::format("{}-{}", lower(text.type()), text.name)).records.empty();
}

std::vector<const IndexedText*> OwnerCompletion::outdated(const OwnerGroup& group, std::vector<WantedText>& wanted,
                                                          OwnerDrafts& drafts) const {
    std::vector<const IndexedText*> left;
    std::set<const IndexedText*> met;
    const bool encrypt = !options_.encryption_key.empty();
    for (const auto& name : group.names) {
        each_text(name, [&](const IndexedText& text) {
            // A wildcard's text is also met at the name that its replacement spells.
            if (text.owner != options_.owner || !met.insert(&text).second) return;
            const auto& set = index_.set(text);
            drafts.of(set);
            const auto place = normal_name(set.dns_name);
            const auto plain = plain_of(text);
            for (auto& each : wanted) {
                if (each.done || each.place != place || each.set_identifier != set.set_identifier) continue;
                if (each.plain != plain || text.encrypted != encrypt) continue;
                each.done = true;
                return;
            }
            left.push_back(&text);
        });
    }
    return left;
}

OwnerResult<void> OwnerCompletion::write_ours(const OwnerGroup& group, std::vector<WantedText> wanted,
                                              OwnerDrafts& drafts) {
    auto left = outdated(group, wanted, drafts);
    for (const auto& each : wanted) {
        auto& draft = drafts.at(each.place, each.set_identifier);
        if (each.typed && (each.changed || draft.before == nullptr)) draft.properties = each.properties;
        if (each.done) continue;
        // In the place of one that it replaces, so that a set changes no more than it must.
        const auto old = std::find_if(left.begin(), left.end(),
                                      [&](const IndexedText* text) { return &drafts.of(index_.set(*text)) == &draft; });
        if (old == left.end()) {
            draft.targets.push_back(encoded(each.plain));
        } else {
            draft.replace(index_.set(**old).targets[(*old)->target], encoded(each.plain));
            left.erase(old);
        }
    }
    for (const auto* text : left) {
        const auto& set = index_.set(*text);
        if (!may_be_anothers(*text)) drafts.of(set).remove(set.targets[text->target]);
    }
    for (const auto& each : wanted) {
        if (!each.typed) continue;
        if (auto ok = alone(drafts.at(each.place, each.set_identifier), each.place); !ok) return ok;
    }
    return {};
}

OwnerResult<std::vector<Change>> OwnerCompletion::finish(const OwnerGroup& group) {
    const auto records = after(group);
    if (!records) return tl::unexpected(records.error());
    auto texts = wanted(group, *records);
    if (!texts) return tl::unexpected(texts.error());
    OwnerDrafts drafts(present_);
    struct Handover {
        OwnedEndpoint record;
        std::string from;
    };
    std::vector<Handover> handovers;
    for (const auto* change : group.changes) {
        if (change->action == Action::create) continue;
        auto to = change->after ? owner_after(*change, options_.owner) : std::string();
        std::string from(label_of(*change->before, owner_label));
        if (from == to) continue;
        const auto& endpoint = change->subject();
        handovers.push_back({{normal_name(endpoint.dns_name), std::move(to), &endpoint, true}, std::move(from)});
    }
    for (const auto& each : handovers) {
        if (!each.from.empty() && each.from != options_.owner) take_from(each.from, each.record, *records, drafts);
    }
    if (const auto ok = write_ours(group, std::move(*texts), drafts); !ok) return tl::unexpected(ok.error());
    for (const auto& each : handovers) {
        if (each.record.owner.empty() || each.record.owner == options_.owner) continue;
        if (const auto ok = give_to(each.record, drafts); !ok) return tl::unexpected(ok.error());
    }
    return drafts.changes();
}

}  // namespace fairlead::plan
