#include <gtest/gtest.h>

#include "plan/registry.h"
#include "plan/zone_model.h"

namespace fairlead::plan {
namespace {

std::string text_of(const std::string& owner) { return "\"heritage=external-dns,external-dns/owner=" + owner + "\""; }

Registry registry_of(RegistryOptions options) {
    static SeededRandom random(1);
    auto made = Registry::make(std::move(options), random);
    EXPECT_TRUE(made) << made.error().text();
    return std::move(*made);
}

std::string owner_of(const Registry::Read& read, const std::string& name, const std::string& type,
                     const std::string& identifier = "") {
    for (const auto& record : read.records()) {
        if (record.dns_name == name && record.record_type == type && record.set_identifier == identifier) {
            return std::string(label_of(record, owner_label));
        }
    }
    return "(not there)";
}

TEST(RegistryRead, EveryNamingFormOfExternalDns) {
    struct Case {
        std::string test, prefix, suffix, wildcard, txt, name, type, owner;
    };
    const std::vector<Case> cases{
        {"typed", "", "", "", "a-www.example.com", "www.example.com", "A", "them"},
        {"typed, other type", "", "", "", "a-www.example.com", "www.example.com", "AAAA", ""},
        {"typed AAAA", "", "", "", "aaaa-www.example.com", "www.example.com", "AAAA", "them"},
        {"typed CNAME", "", "", "", "cname-www.example.com", "www.example.com", "CNAME", "them"},
        {"typed NS", "", "", "", "ns-www.example.com", "www.example.com", "NS", "them"},
        {"typed, case and dot", "", "", "", "A-WWW.example.com.", "www.example.com", "A", "them"},
        {"legacy", "", "", "", "www.example.com", "www.example.com", "A", "them"},
        {"legacy CNAME with prefix", "x.", "", "", "x.www.example.com", "www.example.com", "CNAME", "them"},
        {"legacy never owns AAAA", "", "", "", "www.example.com", "www.example.com", "AAAA", ""},
        {"typed is never legacy", "", "", "", "a-www.example.com", "a-www.example.com", "A", ""},
        {"prefix", "own-", "", "", "own-a-www.example.com", "www.example.com", "A", "them"},
        {"prefix missing", "own-", "", "", "a-www.example.com", "www.example.com", "A", ""},
        {"prefix with dot", "own.", "", "", "own.a-www.example.com", "www.example.com", "A", "them"},
        {"prefix with dot at the apex", "own.", "", "", "own.a-example.com", "example.com", "A", "them"},
        {"prefix in capitals", "OWN-", "", "", "own-a-www.example.com", "www.example.com", "A", "them"},
        {"suffix", "", "-own", "", "a-www-own.example.com", "www.example.com", "A", "them"},
        {"suffix with dot", "", ".own", "", "a-www.own.example.com", "www.example.com", "A", "them"},
        {"legacy with suffix", "", "-own", "", "www-own.example.com", "www.example.com", "A", "them"},
        {"template prefix", "%{record_type}.own.", "", "", "a.own.www.example.com", "www.example.com", "A", "them"},
        {"template prefix, other", "%{record_type}.", "", "", "a.www.example.com", "www.example.com", "CNAME", ""},
        {"template prefix, old", "x%{record_type}-", "", "", "x-www.example.com", "www.example.com", "A", "them"},
        {"template suffix", "", "-%{record_type}-x", "", "www-aaaa-x.example.com", "www.example.com", "AAAA", "them"},
        {"wildcard as it is", "", "", "", "a-*.example.com", "*.example.com", "A", "them"},
        {"wildcard replaced", "", "", "any", "a-any.example.com", "*.example.com", "A", "them"},
        {"wildcard replaced, legacy", "", "", "any", "any.example.com", "*.example.com", "A", "them"},
        {"a name like the replacement", "", "", "any", "a-any.example.com", "any.example.com", "A", "them"},
        {"wildcard as it was", "", "", "any", "a-*.example.com", "*.example.com", "A", "them"},
    };
    for (const auto& c : cases) {
        RegistryOptions options;
        options.owner = "me";
        options.prefix = c.prefix;
        options.suffix = c.suffix;
        options.wildcard_replacement = c.wildcard;
        const auto read = registry_of(options).read(
            {set(c.txt, "TXT", {text_of("them")}), set(c.name, c.type, {c.type == "CNAME" ? "x.example" : "1.2.3.4"})});
        EXPECT_EQ(owner_of(read, c.name, c.type), c.owner) << c.test;
        EXPECT_EQ(read.ownership().size(), 1U) << c.test;
        EXPECT_EQ(read.problems(), std::vector<std::string>()) << c.test;
    }
}

TEST(RegistryRead, TellsTheWildcardFromTheNameThatItsReplacementSpells) {
    RegistryOptions options;
    options.wildcard_replacement = "any";
    const auto read =
        registry_of(options).read({set("a-any.example.com", "TXT", {text_of("them")}),
                                   set("any.example.com", "A", {"1.2.3.4"}), set("*.example.com", "A", {"1.2.3.5"})});
    EXPECT_EQ(owner_of(read, "*.example.com", "A"), "them");
    EXPECT_EQ(owner_of(read, "any.example.com", "A"), "");
}

TEST(RegistryRead, SetIdentifiersBelongTogether) {
    const auto read = registry_of({}).read(
        {set("a-w.example.com", "TXT", {text_of("one")}, "blue"),
         set("a-w.example.com", "TXT", {text_of("two")}, "green"), set("w.example.com", "A", {"1.1.1.1"}, "blue"),
         set("w.example.com", "A", {"1.1.1.2"}, "green"), set("w.example.com", "A", {"1.1.1.3"}, "red")});
    EXPECT_EQ(owner_of(read, "w.example.com", "A", "blue"), "one");
    EXPECT_EQ(owner_of(read, "w.example.com", "A", "green"), "two");
    EXPECT_EQ(owner_of(read, "w.example.com", "A", "red"), "");
}

TEST(RegistryRead, AnAliasIsOwnedUnderItsOldType) {
    const auto alias = set("w.example.com", "A", {"lb.example.net"}, "", {{"alias", "true"}});
    const auto plain = set("v.example.com", "A", {"1.2.3.4"});
    const auto read = registry_of({}).read({set("cname-w.example.com", "TXT", {text_of("one")}),
                                            set("cname-v.example.com", "TXT", {text_of("one")}), alias, plain});
    EXPECT_EQ(owner_of(read, "w.example.com", "A"), "one");
    EXPECT_EQ(owner_of(read, "v.example.com", "A"), "") << "no alias: the text is of a CNAME that is gone";
    const auto typed = registry_of({}).read(
        {set("cname-w.example.com", "TXT", {text_of("one")}), set("a-w.example.com", "TXT", {text_of("two")}), alias});
    EXPECT_EQ(owner_of(typed, "w.example.com", "A"), "two") << "the name of today goes before";
    EXPECT_EQ(typed.problems(), std::vector<std::string>());
}

TEST(RegistryRead, TypedGoesBeforeLegacy) {
    const auto read =
        registry_of({}).read({set("w.example.com", "TXT", {text_of("old")}),
                              set("a-w.example.com", "TXT", {text_of("new")}), set("w.example.com", "A", {"1.1.1.1"})});
    EXPECT_EQ(owner_of(read, "w.example.com", "A"), "new");
    EXPECT_EQ(read.problems(), std::vector<std::string>());
}

TEST(RegistryRead, SharedFormNamesEachRecord) {
    const std::string one =
        "\"heritage=external-dns,external-dns/name=w.example.com,external-dns/owner=one,"
        "external-dns/records=A/cluster/blue A/cluster/green;resource:service/b/w,external-dns/x=1\"";
    const std::string two =
        "\"heritage=external-dns,external-dns/name=w.example.com,external-dns/owner=two,"
        "external-dns/records=A/global/us AAAA\"";
    const auto read = registry_of({}).read(
        {set("_owner.w.example.com", "TXT", {one, two}), set("w.example.com", "A", {"1.1.1.1"}, "cluster/blue"),
         set("w.example.com", "A", {"1.1.1.2"}, "cluster/green"), set("w.example.com", "A", {"1.1.1.3"}, "global/us"),
         set("w.example.com", "AAAA", {"2001:db8::1"}), set("w.example.com", "MX", {"10 mx.example.com"})});
    EXPECT_EQ(owner_of(read, "w.example.com", "A", "cluster/blue"), "one");
    EXPECT_EQ(owner_of(read, "w.example.com", "A", "cluster/green"), "one");
    EXPECT_EQ(owner_of(read, "w.example.com", "A", "global/us"), "two");
    EXPECT_EQ(owner_of(read, "w.example.com", "AAAA"), "two");
    EXPECT_EQ(owner_of(read, "w.example.com", "MX"), "");
    EXPECT_EQ(read.records()[0].labels, (dns::Labels{{"owner", "one"}, {"x", "1"}}));
    EXPECT_EQ(read.records()[1].labels, (dns::Labels{{"owner", "one"}, {"resource", "service/b/w"}, {"x", "1"}}));
}

TEST(RegistryRead, ContradictionsLeaveARecordToNobody) {
    const auto read = registry_of({}).read(
        {set("a-w.example.com", "TXT", {text_of("zoe"), text_of("al")}), set("w.example.com", "A", {"1.1.1.1"})});
    EXPECT_EQ(owner_of(read, "w.example.com", "A"), "al, zoe");
    EXPECT_EQ(read.problems(), std::vector<std::string>{"w.example.com A has ownership texts of al, zoe"});
}

TEST(RegistryRead, TextsOfOthersBesideOwnershipAreNobodysToChange) {
    const auto read =
        registry_of({}).read({set("example.com", "TXT", {"\"v=spf1 -all\"", text_of("me")}),
                              set("example.com", "A", {"1.1.1.1"}), set("plain.example.com", "TXT", {"\"hello\""})});
    EXPECT_EQ(owner_of(read, "example.com", "A"), "me");
    EXPECT_EQ(owner_of(read, "example.com", "TXT"), Registry::mixed_owner);
    EXPECT_EQ(owner_of(read, "plain.example.com", "TXT"), "");
    EXPECT_EQ(read.ownership().size(), 1U);
}

TEST(RegistryRead, LabelsOfAProviderSayNothing) {
    const auto read = registry_of({}).read({owned(set("w.example.com", "A", {"1.1.1.1"}), "me")});
    EXPECT_EQ(owner_of(read, "w.example.com", "A"), "");
}

TEST(RegistryRead, SaysWhichRecordsATextMayBeAbout) {
    RegistryOptions options;
    options.wildcard_replacement = "any";
    const auto registry = registry_of(options);
    using Names = std::vector<std::string>;
    EXPECT_EQ(registry.subjects(set("a-www.example.com", "TXT", {text_of("x")})),
              (Names{"a-www.example.com", "www.example.com"}));
    EXPECT_EQ(registry.subjects(set("www.example.com", "TXT", {text_of("x")})), (Names{"www.example.com"}));
    EXPECT_EQ(registry.subjects(set("a-any.example.com", "TXT", {text_of("x")})),
              (Names{"*.example.com", "a-any.example.com", "any.example.com"}));
    EXPECT_EQ(registry.subjects(set("anywhere.example.com", "TXT",
                                    {"\"heritage=external-dns,external-dns/name=W.example.com,external-dns/owner=x,"
                                     "external-dns/records=A\""})),
              (Names{"w.example.com"}));
    EXPECT_EQ(registry.subjects(set("www.example.com", "TXT", {"\"hello\""})), Names());
    EXPECT_EQ(registry.subjects(set("www.example.com", "A", {"1.1.1.1"})), Names());
}

TEST(RegistryRead, KnowsWhereToLook) {
    RegistryOptions options;
    options.zone = "example.com";
    const auto names = registry_of(options).ownership_names("Example.com.");
    EXPECT_EQ(names, (std::vector<std::string>{"_owner.example.com", "example.com"})) << "nothing outside the zone";
    options.form = OwnershipForm::external_dns;
    options.prefix = "%{record_type}.";
    options.owner = "me";
    const auto written = registry_of(options).written_names("example.com");
    EXPECT_EQ(written.size(), 10U);
    EXPECT_EQ(written.at(1), "a.example.com");
}

TEST(RegistryMake, RefusesWhatCannotBeWritten) {
    struct Case {
        std::string field;
        RegistryOptions options;
    };
    std::vector<Case> cases(9);
    cases[0] = {"owner", {.owner = "a,b"}};
    cases[1] = {"owner", {.owner = "a=b"}};
    cases[2] = {"txtSuffix", {.owner = "a", .prefix = "a", .suffix = "b"}};
    cases[3] = {"txtPrefix", {.owner = "a", .prefix = "a b"}};
    cases[4] = {"txtSuffix", {.owner = "a", .suffix = "a..b"}};
    cases[5] = {"txtWildcardReplacement", {.owner = "a", .wildcard_replacement = "a.b"}};
    cases[6] = {"sharedPrefix", {.owner = "a", .shared_prefix = "own"}};
    cases[7] = {"encryptionKey", {.owner = "a", .encryption_key = "short"}};
    cases[8] = {"txtPrefix", {.owner = "a", .prefix = std::string(64, 'x')}};
    SeededRandom random(1);
    for (auto& c : cases) {
        const auto made = Registry::make(c.options, random);
        ASSERT_FALSE(made) << c.field;
        EXPECT_EQ(made.error().field, c.field);
        EXPECT_EQ(made.error().code, Errc::invalid);
    }
}

}  // namespace
}  // namespace fairlead::plan
