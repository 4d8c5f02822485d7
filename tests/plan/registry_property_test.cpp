// Whatever a plan does to a zone that several owners and external-dns share: afterwards the texts say exactly what the
// plan meant, and nothing of others has changed.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "plan/registry.h"
#include "plan/zone_model.h"

namespace fairlead::plan {
namespace {

using Owners = std::map<ZoneModel::Key, std::string>;
constexpr std::string_view secret = "0123456789abcdef0123456789abcdef";

RegistryOptions any_options() {
    RegistryOptions options;
    options.owner = "me";
    options.zone = "example.com";
    options.form = *rc::gen::element(OwnershipForm::shared, OwnershipForm::external_dns);
    const auto affix = *rc::gen::inRange(0, 6);
    if (affix == 1) options.prefix = "own.";
    if (affix == 2) options.prefix = "%{record_type}-own.";
    if (affix == 3) options.suffix = "-own";
    if (affix == 4) options.prefix = "own-";
    if (*rc::gen::arbitrary<bool>()) options.wildcard_replacement = "any";
    if (*rc::gen::weightedElement<int>({{3, 0}, {1, 1}}) == 1) options.encryption_key = secret;
    return options;
}

dns::Endpoint any_record() {
    static const std::vector<std::string> names{
        "example.com",     "w.example.com",         "*.example.com",   "any.example.com",
        "a-w.example.com", "_wildcard.example.com", "b.w.example.com", std::string(63, 'l') + ".example.com"};
    const auto name = *rc::gen::elementOf(names);
    const auto type = *rc::gen::element<std::string>("A", "AAAA", "MX", "CAA");
    const auto identifier = *rc::gen::element<std::string>("", "", "cluster/a b", "global/x;y");
    return set(name, type, {*rc::gen::element<std::string>("1.1.1.1", "1.1.1.2")}, identifier);
}

// Owners by what the registry reads; only records that are owned by somebody.
Owners owners_in(const Registry& registry, const ZoneModel& zone) {
    Owners owners;
    const auto read = registry.read(zone.list());
    for (const auto& record : read.records()) {
        const auto owner = label_of(record, owner_label);
        if (owner.empty() || owner == Registry::mixed_owner) continue;
        owners[ZoneModel::key_of(record)] = std::string(owner);
    }
    return owners;
}

// A zone that has grown: each of several owners created records, with its own settings.
ZoneModel grown_zone(const RegistryOptions& options, Random& random) {
    ZoneModel zone;
    for (const auto* owner : {"them", "me", "others", "me"}) {
        auto theirs = options;
        theirs.owner = owner;
        if (*rc::gen::arbitrary<bool>()) theirs.form = OwnershipForm::shared;
        const auto registry = Registry::make(theirs, random).value();
        std::vector<Change> changes;
        std::set<ZoneModel::Key> met;
        for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
            auto record = any_record();
            const auto key = ZoneModel::key_of(record);
            if (zone.sets().contains(key) || !met.insert(key).second) continue;
            changes.push_back(create(std::move(record), owner));
        }
        RC_ASSERT(zone.apply(registry.complete(changes, registry.read(zone.list()))) == "");
    }
    if (*rc::gen::arbitrary<bool>()) zone.put(set("_owner.w.example.com", "TXT", {"\"note\""}));
    return zone;
}

// Changes as a planner makes them: of what is ours and what is not there, and hand-overs by order.
std::vector<Change> any_changes(const Registry& registry, const ZoneModel& zone, Owners& meant) {
    std::vector<Change> changes;
    std::set<ZoneModel::Key> met;
    const auto read = registry.read(zone.list());
    for (const auto& record : read.records()) {
        const auto key = ZoneModel::key_of(record);
        met.insert(key);
        const std::string owner(label_of(record, owner_label));
        if (owner == Registry::mixed_owner || record.record_type == "TXT") continue;
        const int what = *rc::gen::inRange(0, 6);
        if (owner == "me" && what == 0) {
            changes.push_back(remove(record));
            meant.erase(key);
        } else if (owner == "me" && what == 1) {
            auto after = record;
            after.targets = {"9.9.9.9"};
            changes.push_back(update(record, after));
        } else if (owner == "me" && what == 2) {
            auto after = record;
            after.labels.clear();
            changes.push_back(update(record, after));
            meant.erase(key);
        } else if (owner == "me" && what == 3) {
            changes.push_back(update(record, owned(record, "heir")));
            meant[key] = "heir";
        } else if (owner != "me" && what == 4) {
            changes.push_back(update(record, owned(record, "me")));
            meant[key] = "me";
        }
    }
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        auto record = any_record();
        const auto key = ZoneModel::key_of(record);
        if (!met.insert(key).second) continue;
        changes.push_back(create(std::move(record)));
        meant[key] = "me";
    }
    return changes;
}

// Takes back from what was meant what the registry left out, with its reason.
void leave(const std::vector<Skip>& left_out, const Owners& before, Owners& meant) {
    for (const auto& skip : left_out) {
        const auto key = ZoneModel::key_of(skip.endpoint);
        const auto was = before.find(key);
        if (was == before.end()) {
            meant.erase(key);
        } else {
            meant[key] = was->second;
        }
    }
}

// Texts of owners that no change was about.
std::multiset<std::string> foreign_texts(const ZoneModel& zone) {
    std::multiset<std::string> texts;
    for (const auto& [key, each] : zone.sets()) {
        if (each.record_type != "TXT") continue;
        for (const auto& target : each.targets) {
            const auto text = parse_owner_text(target, secret);
            if (!text || text->owner == "others") texts.insert(std::get<0>(key) + " " + target);
        }
    }
    return texts;
}

bool touches(const std::vector<Change>& changes, std::string_view owner) {
    return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
        return change.before && label_of(*change.before, owner_label) == owner;
    });
}

RC_GTEST_PROP(RegistryProperties, AfterwardsTheTextsSayWhatThePlanMeant, ()) {
    SeededRandom random(*rc::gen::arbitrary<std::uint64_t>());
    const auto options = any_options();
    const auto registry = Registry::make(options, random).value();
    auto zone = grown_zone(options, random);
    const auto before = owners_in(registry, zone);
    auto meant = before;
    const auto changes = any_changes(registry, zone, meant);
    const auto foreign = foreign_texts(zone);

    std::vector<Skip> left_out;
    const auto groups = registry.complete(changes, registry.read(zone.list()), &left_out);
    RC_ASSERT(zone.apply(groups) == "");
    leave(left_out, before, meant);
    RC_ASSERT(owners_in(registry, zone) == meant);
    if (!touches(changes, "others")) RC_ASSERT(foreign_texts(zone) == foreign);

    // At rest: nothing to mend that matters to who owns what, and nothing to mend twice.
    RC_ASSERT(zone.apply(registry.repair(registry.read(zone.list()))) == "");
    RC_ASSERT(owners_in(registry, zone) == meant);
    RC_ASSERT(registry.repair(registry.read(zone.list())).empty());
    if (!touches(changes, "others")) RC_ASSERT(foreign_texts(zone) == foreign);
    // No text of ours without a record.
    const auto after = registry.read(zone.list());
    for (const auto& set : after.ownership()) {
        for (const auto& target : set.targets) {
            const auto text = parse_owner_text(target, options.encryption_key);
            if (!text || text->owner != "me" || !text->records) continue;
            for (const auto& record : *text->records) {
                RC_ASSERT(meant.at({text->name, record.type, record.set_identifier}) == "me");
            }
        }
    }
}

RC_GTEST_PROP(RegistryProperties, TakeOverFromExternalDnsAndBackGivesTheSameZone, ()) {
    SeededRandom random(*rc::gen::arbitrary<std::uint64_t>());
    auto options = any_options();
    options.encryption_key.clear();  // another nonce each time
    options.form = OwnershipForm::external_dns;
    const auto external = Registry::make(options, random).value();
    ZoneModel zone;
    std::vector<Change> changes;
    std::set<ZoneModel::Key> met;
    for (int i = *rc::gen::inRange(1, 8); i > 0; --i) {
        auto record = any_record();
        if (met.insert(ZoneModel::key_of(record)).second) changes.push_back(create(std::move(record)));
    }
    RC_ASSERT(zone.apply(external.complete(changes, external.read({}))) == "");
    const auto found = zone.text();
    const auto owners = owners_in(external, zone);
    RC_ASSERT(owners.size() == changes.size());

    options.form = OwnershipForm::shared;
    const auto ours = Registry::make(options, random).value();
    RC_ASSERT(owners_in(ours, zone) == owners);
    RC_ASSERT(zone.apply(ours.repair(ours.read(zone.list()))) == "");
    RC_ASSERT(owners_in(ours, zone) == owners);
    const auto moved = ours.read(zone.list());
    for (const auto& set : moved.ownership()) RC_ASSERT(set.set_identifier.empty());

    RC_ASSERT(zone.apply(external.repair(external.read(zone.list()))) == "");
    RC_ASSERT(zone.text() == found);
}

RC_GTEST_PROP(RegistryProperties, ReadsTheSameInAnyOrder, ()) {
    SeededRandom random(1);
    const auto options = any_options();
    const auto registry = Registry::make(options, random).value();
    const auto zone = grown_zone(options, random);
    auto shuffled = zone.list();
    std::mt19937_64 engine(*rc::gen::arbitrary<std::uint64_t>());
    std::shuffle(shuffled.begin(), shuffled.end(), engine);
    const auto read = registry.read(std::move(shuffled));
    Owners owners;
    for (const auto& record : read.records()) {
        const auto owner = label_of(record, owner_label);
        if (owner.empty() || owner == Registry::mixed_owner) continue;
        owners[ZoneModel::key_of(record)] = std::string(owner);
    }
    RC_ASSERT(owners == owners_in(registry, zone));
}

}  // namespace
}  // namespace fairlead::plan
