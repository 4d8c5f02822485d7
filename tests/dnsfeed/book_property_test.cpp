// What is served depends on what is there, not on how it came about: any sequence of changes ends like a fresh book
// that is given the final objects in any order.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "dnsfeed/objects.h"

namespace fairlead::dnsfeed {
namespace {

enum class What { zone, record, secret };

struct Objects {
    std::map<std::string, store::ObjectRef> zones, records, secrets;
};

// Few names in few places, so that they meet.
store::ObjectRef random_zone(const std::string& key, store::Revision revision) {
    const auto domain = *rc::gen::element("example.com", "eu.example.com", "example.net");
    const auto rest = *rc::gen::element(
        "", "", R"("defaultTTL":60)", R"("provider":"aws")",
        R"("nameServers":[{"name":"a.example.com","addresses":["192.0.2.1"]}])",
        R"("transferPeers":[{"address":"192.0.2.7","tsigSecretRef":{"name":"s0"}},{"address":"192.0.2.8","tsigSecretRef":{"name":"s1"}}])");
    return zone_object(
        {key, *rc::gen::inRange(1, 3), *rc::gen::inRange(0, 3), *rc::gen::inRange<store::Revision>(1, 3), revision},
        domain, rest);
}

store::ObjectRef random_record(const std::string& key, store::Revision revision) {
    const auto line = rc::gen::element<std::string>(
        "a.example.com A 192.0.2.1", "a.example.com A 192.0.2.2 | ttl=5", "a.example.com CNAME b.example.com",
        "a.example.com A 192.0.2.3 | id=x weight=1", "a.example.com A 192.0.2.4 | id=y geo=DE", "b.example.com TXT hi",
        "b.eu.example.com A 192.0.2.5", "b.eu.example.com TXT hi", "eu.example.com CNAME b.eu.example.com",
        "*.example.com AAAA 2001:db8::1", "example.com MX 10 a.example.com", "ns1.example.com A 192.0.2.6",
        "a.example.com A 999", "c.example.net A 192.0.2.7", "example.com CNAME x.example.net");
    Spec spec;
    spec.zone = *rc::gen::element("", "z0", "z1", "z2", "nothing");
    spec.dns_name = *rc::gen::element("a.example.com", "b.eu.example.com", "example.org", "");
    spec.endpoints = *rc::gen::container<std::vector<std::string>>(line);
    spec.unhealthy =
        *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>("192.0.2.1", "192.0.2.3"));
    // Generation 0 says nothing about what changed; equal generations would promise equal specs.
    return record_object({key, 0, *rc::gen::inRange(0, 3), 1, revision}, spec);
}

store::ObjectRef random_secret(const std::string& key, store::Revision revision) {
    const auto secret = *rc::gen::element<std::string>("a2V5", "b3RoZXI=", "???");
    return secret_object({key, 1, 0, 1, revision}, {{"name", *rc::gen::element("k", "l")}, {"secret", secret}});
}

std::map<std::string, std::string> verdicts(const Book& book, const Objects& objects) {
    const auto plain = [](const std::optional<dns::ObjectVerdict>& verdict) {
        auto text = said(verdict);
        if (text.starts_with("Served")) text = "Served";
        if (verdict && verdict->zone) {
            text += fmt::format(" {} sets, {}", verdict->zone->record_sets, join(verdict->zone->name_servers, ","));
        }
        return text;
    };
    std::map<std::string, std::string> all;
    for (const auto& [key, object] : objects.zones) all["zone " + key] = plain(book.verdict_of_zone(key));
    for (const auto& [key, object] : objects.records) all["record " + key] = plain(book.verdict_of_record(key));
    return all;
}

void feed_in(World& world, const Objects& objects) {
    std::vector<std::pair<What, store::ObjectRef>> all;
    for (const auto& [key, object] : objects.zones) all.emplace_back(What::zone, object);
    for (const auto& [key, object] : objects.records) all.emplace_back(What::record, object);
    for (const auto& [key, object] : objects.secrets) all.emplace_back(What::secret, object);
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[*rc::gen::inRange<std::size_t>(0, i)]);
    for (const auto& [what, object] : all) {
        if (what == What::zone) world.put_zone(object);
        if (what == What::record) world.put_record(object);
        if (what == What::secret) world.put_secret(object);
    }
}

void change(World& world, Objects& objects) {
    const auto what = *rc::gen::element(What::zone, What::record, What::record, What::record, What::secret);
    const bool remove = *rc::gen::inRange(0, 4) == 0;
    const auto ns = *rc::gen::element<std::string>("n", "m");
    const auto number = std::to_string(*rc::gen::inRange(0, what == What::record ? 5 : 3));
    const auto revision = world.revision + 1;
    world.book.begin(++world.revision);
    switch (what) {
        case What::zone: {
            const auto key = ns + "/z" + number;
            if (remove) {
                objects.zones.erase(key);
                return world.book.remove_zone(key);
            }
            objects.zones[key] = random_zone(key, revision);
            RC_ASSERT(world.book.put_zone(objects.zones[key]).has_value());
            return;
        }
        case What::record: {
            const auto key = ns + "/r" + number;
            if (remove) {
                objects.records.erase(key);
                return world.book.remove_record(key);
            }
            objects.records[key] = random_record(key, revision);
            RC_ASSERT(world.book.put_record(objects.records[key]).has_value());
            return;
        }
        case What::secret: {
            const auto key = ns + "/s" + number;
            if (remove) {
                objects.secrets.erase(key);
                return world.book.remove_secret(key);
            }
            objects.secrets[key] = random_secret(key, revision);
            return world.book.put_secret(objects.secrets[key]);
        }
    }
}

RC_GTEST_PROP(BookProperty, EndsLikeAFreshBook, ()) {
    World world;
    Objects objects;
    const auto changes = *rc::gen::inRange(1, 30);
    for (int i = 0; i < changes; ++i) {
        change(world, objects);
        if (*rc::gen::inRange(0, 3) > 0) world.publish();  // several in one batch
    }
    world.publish();
    World fresh;
    feed_in(fresh, objects);
    RC_ASSERT(content(world.zones) == content(fresh.zones));
    RC_ASSERT(verdicts(world.book, objects) == verdicts(fresh.book, objects));
    RC_ASSERT(world.policy == fresh.policy);
    RC_ASSERT(world.book.states() == fresh.book.states());

    // Taking everything away leaves nothing, in whatever the book keeps.
    world.book.begin(++world.revision);
    for (const auto& [key, object] : objects.zones) world.book.remove_zone(key);
    for (const auto& [key, object] : objects.records) world.book.remove_record(key);
    world.publish();
    RC_ASSERT(content(world.zones).empty());
    RC_ASSERT(world.book.records() == 0U && world.book.zones() == 0U && world.book.claims() == 0U);
}

// What a secondary relies on: another content has a later serial.
RC_GTEST_PROP(BookProperty, EveryContentHasASerialOfItsOwn, ()) {
    World world;
    Objects objects;
    std::map<std::string, std::pair<std::uint32_t, std::set<std::string>>> before;  // by apex
    const auto changes = *rc::gen::inRange(1, 20);
    for (int i = 0; i < changes; ++i) {
        change(world, objects);
        world.publish();
        std::map<std::string, std::pair<std::uint32_t, std::set<std::string>>> now;
        for (const auto& line : content(world.zones)) {
            const auto apex = line.substr(0, line.find(' '));
            now[apex].first = world.serial(apex);
            now[apex].second.insert(line);
        }
        for (const auto& [apex, state] : now) {
            const auto old = before.find(apex);
            if (old == before.end()) continue;
            RC_ASSERT(state.first >= old->second.first);
            RC_ASSERT((state.second == old->second.second) || (state.first > old->second.first));
        }
        before = std::move(now);
    }
}

}  // namespace
}  // namespace fairlead::dnsfeed
