#include "dnshook/record_shelf.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "apiserver/local_client.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "dnshook/hook_listener.h"
#include "dnshook/hook_server.h"
#include "plan/change.h"
#include "resource/kind.h"
#include "store/memory.h"

namespace fairlead::dnshook {
namespace {

using provider::webhook::Changes;

struct Shelved {
    explicit Shelved(ShelfOptions options = {})
        : shelf(kinds, *store, client, clock, std::move(options)), hook(shelf, clock, log, metrics) {
        control::Request request;
        request.verb = control::Verb::create;
        request.object = {kinds.find("", "v1", "namespaces"), "", ""};
        request.body = json::parse(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})").value();
        request.agent = "test";
        const auto made = client.send(request);
        EXPECT_TRUE(made) << made.error().text();
    }

    void create(std::string_view plural, std::string_view name, std::string_view spec) {
        const auto& kind = *kinds.find("kuadrant.io", "v1alpha1", plural);
        auto object = json::parse(fmt::format(R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"{}",)"
                                              R"("metadata":{{"name":"{}","namespace":"default"}},"spec":{}}})",
                                              kind.name, name, spec));
        control::Request request;
        request.verb = control::Verb::create;
        request.object = {&kind, "default", ""};
        request.body = *object;
        request.agent = "test";
        const auto made = client.send(request);
        ASSERT_TRUE(made) << made.error().text();
    }
    void zone(std::string_view name, std::string_view domain, std::string_view provider = "builtin") {
        create("managedzones", name, fmt::format(R"({{"domainName":"{}","provider":"{}"}})", domain, provider));
    }

    resource::Kinds kinds = resource::make_kinds();
    SystemClock clock;
    SeededRandom random{3};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    std::unique_ptr<store::Store> store = store::make_memory_store();
    apiserver::LocalClient client{kinds, *store, clock, random};
    RecordShelf shelf;
    HookServer hook;
};

dns::Endpoint endpoint(std::string name, std::string type, std::vector<std::string> targets, std::string id = "") {
    return {std::move(name), std::move(type), std::nullopt, std::move(id), {}, std::move(targets), {}};
}

TEST(RecordShelf, OffersTheZonesOfTheBuiltInServer) {
    Shelved all;
    all.zone("b", "example.org");
    all.zone("a", "example.com");
    all.zone("c", "example.net", "route53");
    all.zone("d", "example.com");
    const std::vector<ShelfZone> expected{{"example.com", "default", "a"}, {"example.org", "default", "b"}};
    EXPECT_EQ(all.shelf.zones().value(), expected) << "of two the older";
    ShelfOptions options;
    options.zones = {"EXAMPLE.org"};
    Shelved some(std::move(options));
    some.zone("b", "example.org");
    some.zone("a", "example.com");
    EXPECT_EQ(some.shelf.zones()->size(), 1U);
}

TEST(RecordShelf, TouchesNothingThatIsNotItsOwn) {
    Shelved world;
    world.zone("a", "example.com");
    const auto name = shelf_object_name("www.example.com");
    world.create("dnsrecords", name, R"({"dnsName":"www.example.com","endpoints":[]})");
    EXPECT_TRUE(world.shelf.list()->empty());
    Changes changes;
    changes.create = {endpoint("www.example.com", "A", {"192.0.2.1"})};
    const auto applied = world.shelf.apply(changes);
    ASSERT_FALSE(applied);
    EXPECT_NE(applied.error().text().find("has not the label fairlead.dev/driven-by=webhook"), std::string::npos)
        << applied.error().text();
}

TEST(RecordShelf, TheLongerZoneHasTheName) {
    Shelved world;
    world.zone("outer", "example.com");
    world.zone("inner", "eu.example.com");
    Changes changes;
    changes.create = {endpoint("www.eu.example.com", "A", {"192.0.2.1"}),
                      endpoint("eu.example.com", "A", {"192.0.2.2"}), endpoint("neu.example.com", "A", {"192.0.2.3"})};
    ASSERT_TRUE(world.shelf.apply(changes));
    const auto snapshot = world.store->snapshot("kuadrant.io/dnsrecords").value();
    std::map<std::string, std::string> zones;
    snapshot.scan({}, {}, [&](const store::ObjectRef& ref) {
        const auto object = json::parse(ref->value()).value();
        zones[std::string(json::string_at(object, "spec.dnsName"))] = json::string_at(object, "spec.managedZone.name");
        return true;
    });
    EXPECT_EQ(zones, (std::map<std::string, std::string>{
                         {"eu.example.com", "inner"}, {"neu.example.com", "outer"}, {"www.eu.example.com", "inner"}}));
}

TEST(RecordShelf, ObjectNamesAreNames) {
    EXPECT_EQ(shelf_object_name("www.example.com").substr(0, 24), "webhook-www-example-com-");
    EXPECT_EQ(shelf_object_name("*.example.com").substr(0, 20), "webhook-example-com-");
    EXPECT_NE(shelf_object_name("a.example.com"), shelf_object_name("b.example.com"));
    EXPECT_LE(shelf_object_name(std::string(253, 'x')).size(), 63U);
}

TEST(HookListener, LoopbackAlone) {
    for (const auto* fine : {"127.0.0.1:8888", "127.8.9.1:0", "[::1]:8888", "localhost:8888"}) {
        EXPECT_TRUE(is_loopback(fine)) << fine;
    }
    for (const auto* not_fine :
         {"0.0.0.0:8888", "[::]:8888", "10.0.0.1:8888", "127.0.0.1", "127.evil.com:80", ":8888", ""}) {
        EXPECT_FALSE(is_loopback(not_fine)) << not_fine;
    }
}

TEST(HookServer, SpeaksTheProtocolToTheByte) {
    Shelved world;
    const net::Headers headers{{"Accept", "application/external.dns.webhook+json;version=1"}};
    EXPECT_EQ(world.hook.serve("GET", "/", headers, "").status, 500) << "no zone yet";
    world.zone("a", "example.com");
    const auto negotiated = world.hook.serve("GET", "/", headers, "");
    EXPECT_EQ(negotiated.status, 200);
    EXPECT_EQ(negotiated.headers.get("Content-Type"), "application/external.dns.webhook+json;version=1");
    EXPECT_EQ(negotiated.body, "{\"include\":[\"example.com\"]}\n");
    EXPECT_EQ(world.hook.serve("GET", "", headers, "").status, 200) << "as a base path";
    EXPECT_EQ(world.hook.serve("GET", "/records", headers, "").body, "[]\n");
    EXPECT_EQ(world.hook.serve("POST", "/adjustendpoints", headers, "null").body, "[]\n");
    EXPECT_EQ(world.hook.serve("POST", "/records", headers, "{}").status, 204);
    EXPECT_EQ(world.hook.serve("POST", "/records", headers, "nonsense").status, 400);
    EXPECT_EQ(world.hook.serve("PUT", "/records", headers, "{}").status, 404);
    const net::Headers other{{"Accept", "application/external.dns.webhook+json;version=2"}};
    EXPECT_EQ(world.hook.serve("GET", "/", other, "").status, 406);
}

// What a real provider would have after the same changes.
struct Model {
    std::map<std::string, std::vector<dns::Endpoint>> names;
    static bool same(const dns::Endpoint& a, const dns::Endpoint& b) {
        return a.record_type == b.record_type && a.set_identifier == b.set_identifier;
    }
    void put(const dns::Endpoint& made) {
        for (auto& each : names[made.dns_name]) {
            if (same(each, made)) {
                each = made;
                return;
            }
        }
        names[made.dns_name].push_back(made);
    }
    void remove(const dns::Endpoint& gone) {
        std::erase_if(names[gone.dns_name], [&](const auto& each) { return same(each, gone); });
    }
    [[nodiscard]] std::vector<dns::Endpoint> list() const {
        std::vector<dns::Endpoint> all;
        for (const auto& [name, endpoints] : names) all.insert(all.end(), endpoints.begin(), endpoints.end());
        return all;
    }
};

dns::Endpoint any_endpoint() {
    auto made =
        endpoint(*rc::gen::element<std::string>("example.com", "a.example.com", "*.example.com", "a-a.example.com"),
                 *rc::gen::element<std::string>("A", "TXT"), {}, *rc::gen::element<std::string>("", "x/y"));
    made.targets = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("192.0.2.1", "\"heritage=external-dns,external-dns/owner=x\"", "192.0.2.2"));
    if (*rc::gen::arbitrary<bool>()) made.ttl = *rc::gen::inRange(1, 500);
    if (*rc::gen::arbitrary<bool>()) plan::set_label(made, "owner", "ext");
    if (*rc::gen::arbitrary<bool>()) made.properties.push_back({"webhook/weight", "7"});
    return made;
}

RC_GTEST_PROP(RecordShelf, KeepsWhatItIsGivenAndTheSameAgainIsNothing, ()) {
    Shelved world;
    world.zone("a", "example.com");
    Model model;
    for (int round = *rc::gen::inRange(1, 5); round > 0; --round) {
        Changes changes;
        std::set<std::tuple<std::string, std::string, std::string>> met;
        for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
            auto made = any_endpoint();
            if (!met.emplace(made.dns_name, made.record_type, made.set_identifier).second) continue;
            const int what = *rc::gen::inRange(0, 3);
            if (what == 0) {
                changes.remove.push_back(made);
                model.remove(made);
            } else if (what == 1) {
                changes.create.push_back(made);
            } else {
                changes.update_old.push_back(any_endpoint());
                changes.update_old.back().dns_name = made.dns_name;
                changes.update_old.back().record_type = made.record_type;
                changes.update_old.back().set_identifier = made.set_identifier;
                changes.update_new.push_back(made);
            }
        }
        for (const auto& made : changes.update_new) model.put(made);
        for (const auto& made : changes.create) model.put(made);
        RC_ASSERT(world.shelf.apply(changes).has_value());
        RC_ASSERT(world.shelf.list().value() == model.list());
        const auto revision = world.store->revision();
        RC_ASSERT(world.shelf.apply(changes).has_value());
        RC_ASSERT(world.store->revision() == revision);
    }
}

}  // namespace
}  // namespace fairlead::dnshook
