#include "dnsinfo/zone_info.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dnsinfo/served.h"
#include "dnsinfo/zone_export.h"
#include "dnsinfo/zone_text.h"
#include "json/value.h"
#include "paths/paths.h"

namespace fairlead::dnsinfo {
namespace {

using testing::HasSubstr;

class Zones : public testing::Test {
protected:
    Zones() {
        serve(zones_, "example.com",
              {"app.example.com 300 CNAME lb.example.com", "lb.example.com 300 CNAME eu.example.com | id=EU geo=GEO-EU",
               "lb.example.com 200 CNAME us.example.com | id=US geo=US",
               "lb.example.com 100 CNAME eu.example.com | id=rest geo=*",
               "eu.example.com 60 A 192.0.2.1; 192.0.2.2 | id=c1 weight=120 down=192.0.2.2",
               "eu.example.com 50 A 192.0.2.3 | id=c2 weight=40", "eu.example.com 50 A 192.0.2.4 | id=c3 weight=0",
               "us.example.com 60 A 198.51.100.1", "ns1.example.com 60 A 192.0.2.53",
               "txt.example.com 60 TXT \"a b\" \"c\""});
        serve(zones_, "example.org", {});
        auto table = geo::Table::load(paths::geo_files() / "city.mmdb", {});
        EXPECT_TRUE(table);
        places_.publish(std::make_unique<const std::shared_ptr<const geo::Table>>(*table));
    }
    json::Value explain(const std::map<std::string, std::string>& parameters) {
        auto response = info_.explain(parameters);
        EXPECT_TRUE(response) << (response ? "" : response.error().text());
        return response ? json::parse(response->body).value() : json::Value();
    }
    std::string error(const std::map<std::string, std::string>& parameters) {
        const auto response = info_.explain(parameters);
        return response ? "none" : response.error().text();
    }
    static std::string text(net::Response& response) {
        std::string out;
        response.stream->start([] {});
        while (response.stream->pull(out) != net::StreamBody::Next::end) {
        }
        return out;
    }

    ManualClock clock_;
    dnsserver::ZoneSet zones_{1};
    dnsserver::Places places_{std::make_unique<const std::shared_ptr<const geo::Table>>()};
    ZoneInfo info_{zones_, places_, clock_};
};

TEST_F(Zones, AreExplainedForAnAddress) {
    const auto said = explain({{"name", "APP.example.com."}, {"from", "192.0.2.200"}});
    EXPECT_EQ(json::string_at(said, "name"), "app.example.com");
    EXPECT_EQ(json::string_at(said, "type"), "A");
    EXPECT_EQ(json::string_at(said, "zone"), "example.com");
    EXPECT_EQ(json::int_at(said, "serial"), 1);
    EXPECT_EQ(json::serialize(*json::find(said, "client")),
              R"({"from":"192.0.2.200","foundBy":"address","place":{"continent":"EU","country":"DE",)"
              R"("subdivision":"DE-BE"},"network":"192.0.2.128/25"})");
    EXPECT_TRUE(json::bool_at(said, "byPlace"));
    EXPECT_EQ(json::int_at(said, "scope"), 25);
    EXPECT_TRUE(json::bool_at(said, "complete"));
    const auto& outcomes = json::find(said, "outcomes")->get_array();
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_DOUBLE_EQ(json::find(outcomes[0], "probability")->get_double(), 0.75);
    EXPECT_EQ(json::int_at(outcomes[0], "ttl"), 60);
    EXPECT_EQ(json::int_at(outcomes[1], "ttl"), 50);
    EXPECT_EQ(json::serialize(json::find(outcomes[1], "answer")->get_array().at(2)),
              R"({"name":"eu.example.com","ttl":50,"type":"A","data":"192.0.2.3"})");
    const auto& lb = json::find(json::find(said, "way.variants")->get_array().at(0), "next")->get_object();
    EXPECT_EQ(json::string_at(lb, "name"), "lb.example.com");
    EXPECT_EQ(json::string_at(said, "way.level"), "host");
    EXPECT_EQ(json::string_at(lb, "level"), "loadBalancer");
    EXPECT_EQ(json::string_at(lb.at("variants").get_array().at(1), "whyNot"), "US does not cover the place");
    EXPECT_EQ(json::string_at(lb.at("variants").get_array().at(2), "whyNot"), "GEO-EU is smaller and comes first");
    const auto& eu = json::find(lb.at("variants").get_array().at(0), "next")->get_object();
    EXPECT_EQ(json::string_at(eu, "level"), "place");
    EXPECT_EQ(json::string_at(eu, "place"), "GEO-EU");
    EXPECT_EQ(json::serialize(eu.at("variants").get_array().at(0)),
              R"({"setIdentifier":"c1","weight":120,"ttl":60,"data":["192.0.2.1","192.0.2.2"],)"
              R"("unhealthy":["192.0.2.2"],"share":0.75})");
    EXPECT_EQ(json::string_at(eu.at("variants").get_array().at(2), "whyNot"), "weight 0");
}

TEST_F(Zones, AreExplainedForAPlace) {
    const auto american = explain({{"name", "app.example.com"}, {"from", "us-tx"}});
    EXPECT_EQ(json::string_at(american, "client.place.continent"), "NA") << "as the file knows";
    EXPECT_EQ(json::find(american, "scope"), nullptr) << "a place has no network";
    EXPECT_EQ(json::find(american, "outcomes")->get_array().size(), 1U);
    const auto unknown = explain({{"name", "app.example.com"}});
    EXPECT_EQ(json::string_at(unknown, "client.foundBy"), "nothing");
    const auto plain = explain({{"name", "us.example.com"}, {"from", "192.0.2.1"}});
    EXPECT_EQ(json::int_at(plain, "scope"), 0) << "the same for all";
}

TEST_F(Zones, AreExplainedWithoutPlaces) {
    places_.publish(std::make_unique<const std::shared_ptr<const geo::Table>>());
    const auto said = explain({{"name", "app.example.com"}, {"from", "192.0.2.1"}});
    EXPECT_EQ(json::string_at(said, "client.place.country"), "");
    EXPECT_EQ(json::string_at(said, "client.network"), "0.0.0.0/0");
    EXPECT_EQ(json::string_at(explain({{"name", "app.example.com"}, {"from", "DE"}}), "client.place.country"), "DE");
}

TEST_F(Zones, SayWhatCannotBeExplained) {
    EXPECT_EQ(error({}), "name: is required: the name to explain");
    EXPECT_EQ(error({{"name", "www.example.net"}}),
              "\"www.example.net\" is in no zone of ours, so the answer is REFUSED; zones: example.com, example.org");
    EXPECT_EQ(error({{"name", "app.example.com"}, {"from", "Germany"}}),
              "from: \"Germany\" is neither an IP address nor a place (DE, US-CA, GEO-EU, *)");
    EXPECT_THAT(error({{"name", "app.example.com"}, {"type", "X"}}), HasSubstr("type: \"X\" is none of A, AAAA"));
    EXPECT_THAT(error({{"name", "a..b"}}), testing::StartsWith("name: "));
}

TEST_F(Zones, AreExported) {
    auto response = info_.export_zone("/dns/zones/Example.com/export");
    ASSERT_TRUE(response) << response.error().text();
    EXPECT_EQ(
        text(*response),
        "; zone example.com., serial 1, 7 names\n"
        "; A set with a policy stands here as for a client at an unknown place, with all its variants as comments.\n"
        "example.com.\t3600\tIN\tSOA\tns1.example.com. host.example.com. 1 7200 900 86400 300\n"
        "example.com.\t3600\tIN\tNS\tns1.example.com.\n"
        "app.example.com.\t300\tIN\tCNAME\tlb.example.com.\n"
        "; set c1: weight 120, TTL 60: 192.0.2.1, 192.0.2.2 (unhealthy)\n"
        "; set c2: weight 40, TTL 50: 192.0.2.3\n"
        "; set c3: weight 0, TTL 50: 192.0.2.4\n"
        "eu.example.com.\t50\tIN\tA\t192.0.2.1\n"
        "eu.example.com.\t50\tIN\tA\t192.0.2.3\n"
        "; set EU: geo GEO-EU, TTL 300: eu.example.com.\n"
        "; set US: geo US, TTL 200: us.example.com.\n"
        "; set rest: geo *, TTL 100: eu.example.com.\n"
        "lb.example.com.\t100\tIN\tCNAME\teu.example.com.\n"
        "ns1.example.com.\t60\tIN\tA\t192.0.2.53\n"
        "txt.example.com.\t60\tIN\tTXT\t\"a b\" \"c\"\n"
        "us.example.com.\t60\tIN\tA\t198.51.100.1\n"
        "; end of zone example.com.\n");
}

TEST_F(Zones, CanBeExportedWhileTheyChange) {
    auto response = info_.export_zone("/dns/zones/example.com/export").value();
    zones_.put(dns::name_of("example.com"), dns::name_of("us.example.com"), {});
    zones_.set_serial(dns::name_of("example.com"), 2);
    zones_.publish();
    const auto before = text(response);
    EXPECT_THAT(before, HasSubstr("us.example.com.\t60\tIN\tA\t198.51.100.1\n"));
    EXPECT_THAT(before, HasSubstr(" 1 7200 900 86400 300\n"));
}

TEST_F(Zones, AreExportedToFewAtATime) {
    std::vector<net::Response> held;
    for (int i = 0; i < max_exports; ++i) held.push_back(info_.export_zone("/dns/zones/example.com/export").value());
    const auto refused = info_.export_zone("/dns/zones/example.com/export");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unavailable);
    held.pop_back();
    EXPECT_TRUE(info_.export_zone("/dns/zones/example.com/export"));
    EXPECT_FALSE(info_.export_zone("/dns/zones/example.net/export"));
    EXPECT_TRUE(info_.export_zone("/dns/zones/example.com/export")) << "a refusal takes no place";
}

TEST_F(Zones, AreCutOffWhenTheReaderIsTooSlow) {
    auto response = info_.export_zone("/dns/zones/example.com/export").value();
    clock_.advance(max_export_time + std::chrono::seconds(1));
    EXPECT_THAT(text(response), testing::Not(HasSubstr(std::string(end_of_zone))));
}

TEST_F(Zones, SayWhatCannotBeExported) {
    const auto error_of = [&](std::string_view path) {
        const auto response = info_.export_zone(path);
        return response ? "none" : response.error().text();
    };
    EXPECT_EQ(error_of("/dns/zones/app.example.com/export"),
              "there is no zone \"app.example.com\"; zones: example.com, example.org");
    EXPECT_EQ(error_of("/dns/zones/example.com"), "there is /dns/zones/ZONE/export");
    EXPECT_THAT(error_of("/dns/zones/a..b/export"), testing::StartsWith("zone: "));
}

TEST_F(Zones, AreExportedInSlices) {
    std::vector<std::string> lines;
    for (int i = 0; i < 3'000; ++i) lines.push_back(fmt::format("n{:04}.example.net 60 A 192.0.2.1", i));
    serve(zones_, "example.net", lines);
    auto response = info_.export_zone("/dns/zones/example.net/export").value();
    std::string out;
    std::size_t largest = 0, pulls = 0;
    for (bool more = true; more; ++pulls) {
        const auto before = out.size();
        more = response.stream->pull(out) != net::StreamBody::Next::end;
        largest = std::max(largest, out.size() - before);
    }
    EXPECT_GT(pulls, 1U);
    EXPECT_LT(largest, 70'000U);
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3'000 + 5);
}

TEST(ZoneText, KeepsCommentsOnTheirLine) {
    dns::Variant variant;
    variant.set_identifier = "a\nevil.example. 60 IN A 192.0.2.66";
    variant.ttl = 60;
    variant.data = {std::string("\xc0\x00\x02\x01", 4)};
    std::string out;
    append_name(dns::name_of("x.example"), {{dns::RecordType::a, {variant}}}, out);
    EXPECT_EQ(out, "; set a?evil.example. 60 IN A 192.0.2.66: TTL 60: 192.0.2.1\nx.example.\t60\tIN\tA\t192.0.2.1\n");
}

}  // namespace
}  // namespace fairlead::dnsinfo
