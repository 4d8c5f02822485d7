#include "provider/zonefile/master_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "dns/rdata.h"
#include "provider/zonefile/head.h"
#include "provider/zonefile/master_lines.h"

namespace fairlead::provider::zonefile {
namespace {

const dns::Name apex = dns::Name::parse("example.com").value();

std::vector<std::string> lines_of(const MasterFile& zone) {
    std::vector<std::string> lines;
    for (const auto& [key, set] : zone.sets) {
        for (const auto& data : set.data) {
            lines.push_back(key.first.host() + " " + std::to_string(set.ttl) + " " + dns::type_text(key.second) + " " +
                            dns::rdata_text(key.second, data));
        }
    }
    for (const auto& record : zone.others) {
        lines.push_back(record.name.host() + " " + std::to_string(record.ttl) + " " + record.type + " " + record.text);
    }
    return lines;
}

struct FileCase {
    const char* test;
    const char* text;
    std::vector<std::string> lines;
};
class ReadsFile : public testing::TestWithParam<FileCase> {};
TEST_P(ReadsFile, AsRecords) {
    const auto zone = parse_master_file(GetParam().text, apex);
    ASSERT_TRUE(zone) << zone.error().text();
    EXPECT_EQ(lines_of(*zone), GetParam().lines);
    const auto again = parse_master_file(master_file_text(*zone, apex, 300), apex);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->sets, zone->sets) << "what is written reads back";
    EXPECT_EQ(lines_of(*again), lines_of(*zone));
}
INSTANTIATE_TEST_SUITE_P(
    MasterFile, ReadsFile,
    testing::Values(
        FileCase{"empty", "", {}}, FileCase{"comments_alone", "; nothing\n\n   ; here\n", {}},
        FileCase{"the_design",
                 "$ORIGIN example.com.\n\n"
                 "@       IN      SOA     . example.com. (\n"
                 "                     2009092001         ; Serial\n"
                 "                         604800         ; Refresh\n"
                 "                          86400         ; Retry\n"
                 "                        1206900         ; Expire\n"
                 "                            300 )       ; Negative Cache TTL\n"
                 "        IN      NS      ns1.v3.rhcloud.com.\n"
                 "ns1     IN      A       127.0.0.1\n"
                 "*       IN      A       10.245.2.2      ; active/active DNS round robin\n"
                 "        IN      A       10.245.2.3      ; active/active DNS round robin\n",
                 {"*.example.com 300 A 10.245.2.2", "*.example.com 300 A 10.245.2.3", "ns1.example.com 300 A 127.0.0.1",
                  "example.com 300 NS ns1.v3.rhcloud.com.",
                  "example.com 300 SOA . example.com. 2009092001 604800 86400 1206900 300"}},
        FileCase{"ttl_and_class_in_any_order",
                 "$TTL 1h\na 5 IN A 192.0.2.1\nb IN 6m A 192.0.2.2\nc A 192.0.2.3\nd 7 A 192.0.2.4\n",
                 {"a.example.com 5 A 192.0.2.1", "b.example.com 360 A 192.0.2.2", "c.example.com 3600 A 192.0.2.3",
                  "d.example.com 7 A 192.0.2.4"}},
        FileCase{"ttl_of_the_record_before",
                 "a 5 A 192.0.2.1\nb A 192.0.2.2\n",
                 {"a.example.com 5 A 192.0.2.1", "b.example.com 5 A 192.0.2.2"}},
        FileCase{"relative_names_in_data",
                 "$TTL 9\n$ORIGIN sub\nm MX 10 mail\n  MX 20 mail.example.net.\ns SRV 1 2 3 @\nh HTTPS 1 svc alpn=h2\n",
                 {"h.sub.example.com 9 HTTPS 1 svc.sub.example.com. alpn=\"h2\"",
                  "m.sub.example.com 9 MX 10 mail.sub.example.com.", "m.sub.example.com 9 MX 20 mail.example.net.",
                  "s.sub.example.com 9 SRV 1 2 3 sub.example.com."}},
        FileCase{
            "strings",
            "$TTL 9\nt TXT one \"two words\" \"semi;colon (x)\" \"a\\\"b\\\\c\" plain\\;text\nu TXT (\"a\"\n \"b\")\n",
            {"t.example.com 9 TXT \"one\" \"two words\" \"semi;colon (x)\" \"a\\\"b\\\\c\" \"plain;text\"",
             "u.example.com 9 TXT \"a\" \"b\""}},
        FileCase{
            "unknown_types_stay_as_they_are",
            "$TTL 9\nd DS 1 8 2 ( ABCD\n EF01 ) ; comment\n$ORIGIN x.example.com.\nr RP mail @\nq TYPE65280 \\# 1 AB\n",
            {"d.example.com 9 DS 1 8 2 ABCD EF01", "r.x.example.com 9 RP mail @",
             "q.x.example.com 9 TYPE65280 \\# 1 AB"}},
        FileCase{"generic_data_of_known_types", "$TTL 9\na A \\# 4 c0000201\n", {"a.example.com 9 A 192.0.2.1"}},
        FileCase{"escaped_names",
                 "$TTL 9\na\\.b A 192.0.2.1\n\\$x A 192.0.2.2\n",
                 {"\\$x.example.com 9 A 192.0.2.2", "a\\.b.example.com 9 A 192.0.2.1"}},
        FileCase{"windows_line_ends", "$TTL 9\r\na A 192.0.2.1\r\n", {"a.example.com 9 A 192.0.2.1"}},
        FileCase{"no_line_end_at_the_end", "$TTL 9\na A 192.0.2.1", {"a.example.com 9 A 192.0.2.1"}}),
    [](const auto& row) { return row.param.test; });

struct BrokenCase {
    const char* test;
    const char* text;
    const char* error;
};
class RefusesFile : public testing::TestWithParam<BrokenCase> {};
TEST_P(RefusesFile, WithLineAndRule) {
    const auto zone = parse_master_file(GetParam().text, apex);
    ASSERT_FALSE(zone);
    EXPECT_EQ(zone.error().text(), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(
    MasterFile, RefusesFile,
    testing::Values(BrokenCase{"include", "$TTL 9\n$INCLUDE other\n",
                               "line 2: $INCLUDE is not understood: only $ORIGIN NAME and $TTL TIME are"},
                    BrokenCase{"no_owner", " A 192.0.2.1\n", "line 1: the first record has no owner"},
                    BrokenCase{"no_ttl", "a A 192.0.2.1\n", "line 1: no TTL: neither here nor before, and no $TTL"},
                    BrokenCase{"no_type", "$TTL 9\na IN\n", "line 2: the type is missing"},
                    BrokenCase{"bad_data", "$TTL 9\n\na A 192.0.2\n",
                               "line 3: A record: \"192.0.2\" is no IPv4 address"},
                    BrokenCase{"other_zone", "$TTL 9\nx.example.net. A 192.0.2.1\n",
                               "line 2: x.example.net is not in the zone example.com"},
                    BrokenCase{"class", "$TTL 9\na CH TXT x\n", "line 2: class CH is not supported"},
                    BrokenCase{"open_quote", "$TTL 9\na TXT \"x\n", "line 2: a quote does not end"},
                    BrokenCase{"open_parenthesis", "$TTL 9\na A (192.0.2.1\n", "line 2: ( does not end"},
                    BrokenCase{"closing_parenthesis", "$TTL 9\na A 192.0.2.1)\n", "line 2: ) without ("},
                    BrokenCase{"two_soas", "@ 9 SOA . . 1 2 3 4 5\n@ SOA . . 1 2 3 4 5\n",
                               "line 2: the SOA stands at the apex, once"},
                    BrokenCase{"binary", "$TTL 9\na \x01\x02 x\n", "line 2: \"\x01\x02\" is no type of record"}),
    [](const auto& row) { return row.param.test; });

TEST(MasterFile, IsWrittenLikeTheDesign) {
    ZoneSettings settings;
    settings.apex = apex;
    settings.name_servers = {"ns1.example.com 192.0.2.53 2001:db8::53", "ns.example.net"};
    MasterFile zone;
    add_record(zone.sets, dns::Name::parse("*.example.com").value(), dns::RecordType::a, 300,
               dns::parse_rdata(dns::RecordType::a, "10.245.2.2").value());
    add_record(zone.sets, dns::Name::parse("*.example.com").value(), dns::RecordType::a, 300,
               dns::parse_rdata(dns::RecordType::a, "10.245.2.3").value());
    add_record(zone.sets, dns::Name::parse("www.example.com").value(), dns::RecordType::cname, 60,
               dns::parse_rdata(dns::RecordType::cname, "shard1.example.net").value());
    ASSERT_TRUE(set_head(zone, settings, 2009092001));
    EXPECT_EQ(master_file_text(zone, apex, 300),
              "; Kept by Fairlead. Records of others stay; comments do not.\n"
              "$ORIGIN example.com.\n"
              "$TTL 300\n"
              "@                               IN      SOA     ns1.example.com. hostmaster.example.com. (\n"
              "                         2009092001          ; Serial\n"
              "                               3600          ; Refresh\n"
              "                                600          ; Retry\n"
              "                            1209600          ; Expire\n"
              "                                300 )        ; Negative Cache TTL\n"
              "                                IN      NS      ns.example.net.\n"
              "                                IN      NS      ns1.example.com.\n"
              "*                               IN      A       10.245.2.2\n"
              "                                IN      A       10.245.2.3\n"
              "ns1                             IN      A       192.0.2.53\n"
              "                                IN      AAAA    2001:db8::53\n"
              "www                     60      IN      CNAME   shard1.example.net.\n");
}

TEST(MasterFile, HeadNeedsANameServer) {
    ZoneSettings settings;
    settings.apex = apex;
    MasterFile zone;
    const auto set = set_head(zone, settings, 1);
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().text(),
              "spec.nameServers: is empty, and the file has no NS records: a zone needs at least one name server");
}

TEST(MasterFile, SerialsOnlyRise) {
    EXPECT_EQ(next_serial(std::nullopt, 1'700'000'000), 1'700'000'000U);
    EXPECT_EQ(next_serial(5, 1'700'000'000), 1'700'000'000U);
    EXPECT_EQ(next_serial(1'700'000'000, 1'700'000'000), 1'700'000'001U);
    EXPECT_EQ(next_serial(2'026'111'600, 1'700'000'000), 2'026'111'601U) << "a date as serial is further";
    EXPECT_EQ(next_serial(4'294'967'295U, 1'700'000'000), 1'700'000'000U) << "over the top";
    EXPECT_EQ(next_serial(3'900'000'000U, 1'700'000'000), 3'900'000'001U) << "not back";
}

TEST(MasterFile, Ttls) {
    EXPECT_EQ(parse_ttl("300"), 300U);
    EXPECT_EQ(parse_ttl("1h30M"), 5'400U);
    EXPECT_EQ(parse_ttl("2w1d"), 1'296'000U);
    EXPECT_EQ(parse_ttl("2147483647"), 2'147'483'647U);
    for (const auto* text : {"", "h", "1x", "1h30", "2147483648", "99999999999999999999", "-1"}) {
        EXPECT_EQ(parse_ttl(text), std::nullopt) << text;
    }
}

RC_GTEST_PROP(MasterFile, WhatIsWrittenReadsBackAndServersStay, ()) {
    MasterFile zone;
    const auto count = *rc::gen::inRange(0, 30);
    for (int i = 0; i < count; ++i) {
        const auto label = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
        const auto name = *rc::gen::element(apex, apex.child(label.substr(0, 20)).value_or(apex));
        const auto ttl = *rc::gen::inRange<std::uint32_t>(0, 1'000'000);
        const auto text = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
        std::string txt;
        txt += static_cast<char>(std::min<std::size_t>(text.size(), 255));
        txt += text.substr(0, 255);
        const auto [type, data] = *rc::gen::element(
            std::pair(dns::RecordType::txt, txt), std::pair(dns::RecordType::a, std::string("\x7f\0\0\1", 4)),
            std::pair(dns::RecordType::cname, name.wire()),
            std::pair(dns::RecordType::mx, std::string("\0\5", 2) + name.wire()));
        add_record(zone.sets, name, type, ttl, data);
    }
    const auto written = master_file_text(zone, apex, 300);
    const auto again = parse_master_file(written, apex);
    RC_ASSERT(again.has_value());
    RC_ASSERT(again->sets == zone.sets);
    RC_ASSERT(master_file_text(*again, apex, 300) == written);
}

}  // namespace
}  // namespace fairlead::provider::zonefile
