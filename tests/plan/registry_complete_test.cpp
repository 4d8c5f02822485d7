#include <gtest/gtest.h>

#include "plan/registry.h"
#include "plan/zone_model.h"

namespace fairlead::plan {
namespace {

constexpr std::string_view heritage = "heritage=external-dns,external-dns/";

std::string typed(const std::string& owner) { return "\"" + std::string(heritage) + "owner=" + owner + "\""; }
std::string shared(const std::string& name, const std::string& owner, const std::string& records) {
    return "\"" + std::string(heritage) + "name=" + name + ",external-dns/owner=" + owner +
           ",external-dns/records=" + records + "\"";
}

// A zone, and what a registry makes of changes to it.
struct World {
    RegistryOptions options = [] {
        RegistryOptions made;
        made.owner = "me";
        made.zone = "example.com";
        return made;
    }();
    ZoneModel zone;
    SeededRandom random{7};
    std::vector<Skip> left_out;

    Registry registry() {
        auto made = Registry::make(options, random);
        EXPECT_TRUE(made) << made.error().text();
        return std::move(*made);
    }
    std::vector<ChangeGroup> run(const std::vector<Change>& changes) {
        const auto made = registry();
        left_out.clear();
        auto groups = made.complete(changes, made.read(zone.list()), &left_out);
        EXPECT_EQ(zone.apply(groups), "");
        return groups;
    }
    std::vector<ChangeGroup> mend() {
        const auto made = registry();
        auto groups = made.repair(made.read(zone.list()));
        EXPECT_EQ(zone.apply(groups), "");
        EXPECT_TRUE(made.repair(made.read(zone.list())).empty()) << "once is enough";
        return groups;
    }
    std::string owner(const std::string& name, const std::string& type, const std::string& identifier = "") {
        const auto read = registry().read(zone.list());
        for (const auto& record : read.records()) {
            if (record.dns_name == name && record.record_type == type && record.set_identifier == identifier) {
                return std::string(label_of(record, owner_label));
            }
        }
        return "(not there)";
    }
    dns::Endpoint there(const std::string& name, const std::string& type, const std::string& identifier = "") {
        const auto read = registry().read(zone.list());
        for (const auto& record : read.records()) {
            if (record.dns_name == name && record.record_type == type && record.set_identifier == identifier) {
                return record;
            }
        }
        ADD_FAILURE() << name << " " << type << " is not there";
        return {};
    }
};

TEST(RegistryComplete, OneTextForAllRecordsOfANameCounted) {
    World world;
    const auto blue = set("w.example.com", "A", {"1.1.1.1"}, "cluster/blue", {{"aws/weight", "2"}});
    const auto green = set("w.example.com", "A", {"1.1.1.2"}, "cluster/green", {{"aws/weight", "1"}});
    auto groups = world.run({create(blue), create(green)});
    ASSERT_EQ(groups.size(), 1U);
    ASSERT_EQ(groups[0].ownership.size(), 1U);
    const auto& text = *groups[0].ownership[0].after;
    EXPECT_EQ(text,
              set("_owner.w.example.com", "TXT", {shared("w.example.com", "me", "A/cluster/blue A/cluster/green")}))
        << "outside of any routing policy";

    groups = world.run({remove(world.there("w.example.com", "A", "cluster/blue"))});
    ASSERT_EQ(groups[0].ownership.size(), 1U);
    EXPECT_EQ(groups[0].ownership[0].action, Action::update) << "goes only with the last record";
    EXPECT_EQ(world.owner("w.example.com", "A", "cluster/green"), "me");

    groups = world.run({remove(world.there("w.example.com", "A", "cluster/green"))});
    EXPECT_EQ(groups[0].ownership[0].action, Action::remove);
    EXPECT_EQ(world.zone.text(), "");
}

TEST(RegistryComplete, RenamingTheOnlyIdentifierKeepsTheText) {
    World world;
    world.run({create(set("w.example.com", "A", {"1.1.1.1"}, "cluster/blue"))});
    const auto groups = world.run({remove(world.there("w.example.com", "A", "cluster/blue")),
                                   create(set("w.example.com", "A", {"1.1.1.1"}, "cluster/green"))});
    ASSERT_EQ(groups.size(), 1U);
    ASSERT_EQ(groups[0].ownership.size(), 1U);
    EXPECT_EQ(groups[0].ownership[0].action, Action::update);
    EXPECT_EQ(groups[0].ownership[0].before->targets,
              std::vector<std::string>{shared("w.example.com", "me", "A/cluster/blue")});
    EXPECT_EQ(groups[0].ownership[0].after->targets,
              std::vector<std::string>{shared("w.example.com", "me", "A/cluster/green")});
}

TEST(RegistryComplete, AnUpdateOfARecordLeavesTheTextAlone) {
    World world;
    world.run({create(set("w.example.com", "A", {"1.1.1.1"}))});
    auto before = world.there("w.example.com", "A");
    auto after = before;
    after.targets = {"1.1.1.2"};
    const auto groups = world.run({update(before, after)});
    EXPECT_TRUE(groups[0].ownership.empty());
}

TEST(RegistryComplete, SeveralOwnersShareASetByteForByte) {
    World world;
    const std::string odd =
        "\"heritage=external-dns,external-dns/name=w.example.com,external-dns/records=A/global/us "
        "A/gone,external-dns/owner=them,unknown=1\"";
    world.zone.put(set("_owner.w.example.com", "TXT", {odd, "\"somebody's note\""}));
    world.zone.put(set("w.example.com", "A", {"1.1.1.9"}, "global/us"));
    auto groups = world.run({create(set("w.example.com", "A", {"1.1.1.1"}, "global/eu"))});
    ASSERT_EQ(groups[0].ownership.size(), 1U);
    EXPECT_EQ(groups[0].ownership[0].after->targets,
              (std::vector<std::string>{odd, "\"somebody's note\"", shared("w.example.com", "me", "A/global/eu")}));
    groups = world.run({remove(world.there("w.example.com", "A", "global/eu"))});
    EXPECT_EQ(groups[0].ownership[0].after->targets, (std::vector<std::string>{odd, "\"somebody's note\""}));
    EXPECT_EQ(world.owner("w.example.com", "A", "global/us"), "them");
}

TEST(RegistryComplete, JoinsATextThatStandsWhereOursGoes) {
    World world;
    world.zone.put(set("_owner.w.example.com", "TXT", {"\"a note\""}));
    const auto groups = world.run({create(set("w.example.com", "A", {"1.1.1.1"}))});
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].ownership[0].action, Action::update);
    EXPECT_EQ(world.owner("w.example.com", "A"), "me");
    EXPECT_EQ(world.owner("_owner.w.example.com", "TXT"), Registry::mixed_owner);
}

TEST(RegistryComplete, InTheFormOfExternalDnsAnothersTextIsAConflict) {
    for (const auto& text : {std::string("\"a note\""), typed("them")}) {
        World world;
        world.options.form = OwnershipForm::external_dns;
        world.zone.put(set("a-w.example.com", "TXT", {text}));
        const auto before = world.zone.text();
        auto change = create(set("w.example.com", "A", {"1.1.1.1"}));
        change.desired = 4;
        const auto groups = world.run({change, create(set("v.example.com", "A", {"1.1.1.1"}))});
        ASSERT_EQ(groups.size(), 1U) << "neighbours go on";
        EXPECT_EQ(groups[0].name, "v.example.com");
        ASSERT_EQ(world.left_out.size(), 1U);
        const bool owned = text == typed("them");
        EXPECT_EQ(world.left_out[0].reason, owned ? "OwnedByOther" : "OwnershipConflict");
        EXPECT_EQ(world.left_out[0].desired, 4U);
        EXPECT_EQ(world.left_out[0].message,
                  owned ? "A w.example.com is not there, but its ownership record says that \"them\" owns it"
                        : "a-w.example.com is where the ownership goes, and there is a TXT record of somebody else");
        EXPECT_EQ(world.owner("w.example.com", "A"), "(not there)") << "never a record without ownership";
    }
}

TEST(RegistryComplete, WhatAnotherClaimsIsLeftToHimAlsoWhenItIsGone) {
    World world;
    world.zone.put(set("_owner.w.example.com", "TXT",
                       {"\"heritage=external-dns,external-dns/name=w.example.com,external-dns/owner=them,"
                        "external-dns/records=A\""}));
    const auto groups =
        world.run({create(set("w.example.com", "A", {"1.1.1.1"})), create(set("w.example.com", "AAAA", {"::1"}))});
    ASSERT_EQ(groups.size(), 1U);
    ASSERT_EQ(groups[0].changes.size(), 1U) << "what he does not claim can be had";
    EXPECT_EQ(groups[0].changes[0].subject().record_type, "AAAA");
    ASSERT_EQ(world.left_out.size(), 1U);
    EXPECT_EQ(world.left_out[0].reason, "OwnedByOther");
    EXPECT_EQ(world.left_out[0].endpoint.record_type, "A");
}

TEST(RegistryComplete, WritesTheFormOfExternalDnsToTheByte) {
    struct Case {
        std::string test, prefix, suffix, wildcard;
        dns::Endpoint record;
        std::string place;
    };
    const std::vector<Case> cases{
        {"plain", "", "", "", set("www.example.com", "A", {"1.1.1.1"}), "a-www.example.com"},
        {"AAAA", "", "", "", set("www.example.com", "AAAA", {"::1"}), "aaaa-www.example.com"},
        {"prefix", "own-", "", "", set("www.example.com", "A", {"1.1.1.1"}), "own-a-www.example.com"},
        {"prefix with dot", "own.", "", "", set("www.example.com", "A", {"1.1.1.1"}), "own.a-www.example.com"},
        {"suffix", "", "-own", "", set("www.example.com", "CNAME", {"x.example"}), "cname-www-own.example.com"},
        {"template", "%{record_type}-own.", "", "", set("www.example.com", "A", {"1.1.1.1"}), "a-own.www.example.com"},
        {"template at the apex", "%{record_type}-own.", "", "", set("example.com", "A", {"1.1.1.1"}),
         "a-own.example.com"},
        {"wildcard", "", "", "", set("*.example.com", "A", {"1.1.1.1"}), "a-*.example.com"},
        {"wildcard replaced", "", "", "any", set("*.example.com", "A", {"1.1.1.1"}), "a-any.example.com"},
        {"an alias has the type that it is", "", "", "",
         set("www.example.com", "A", {"lb.example.net"}, "", {{"alias", "true"}}), "a-www.example.com"},
    };
    for (const auto& c : cases) {
        World world;
        world.options.form = OwnershipForm::external_dns;
        world.options.prefix = c.prefix;
        world.options.suffix = c.suffix;
        world.options.wildcard_replacement = c.wildcard;
        auto change = create(c.record);
        set_label(*change.after, resource_label, "service/default/web");
        const auto groups = world.run({change});
        ASSERT_EQ(groups.size(), 1U) << c.test;
        ASSERT_EQ(groups[0].ownership.size(), 1U) << c.test;
        EXPECT_EQ(*groups[0].ownership[0].after,
                  set(c.place, "TXT",
                      {"\"heritage=external-dns,external-dns/owner=me,external-dns/resource=service/default/web\""}))
            << c.test;
        EXPECT_EQ(world.owner(c.record.dns_name, c.record.record_type), "me") << c.test;
        EXPECT_TRUE(world.mend().empty()) << c.test;
        world.run({remove(world.there(c.record.dns_name, c.record.record_type))});
        EXPECT_EQ(world.zone.text(), "") << c.test;
    }
}

TEST(RegistryComplete, NamesThatExternalDnsCannotHandleHaveTheSharedForm) {
    const std::string label63(63, 'x');
    struct Case {
        std::string test;
        dns::Endpoint record;
        std::string place;
    };
    const std::vector<Case> cases{
        {"apex", set("example.com", "A", {"1.1.1.1"}), "_owner.example.com"},
        {"label too long", set(label63 + ".example.com", "A", {"1.1.1.1"}), "_owner." + label63 + ".example.com"},
        {"type without a name", set("w.example.com", "CAA", {"0 issue \"x\""}), "_owner.w.example.com"},
    };
    for (const auto& c : cases) {
        World world;
        world.options.form = OwnershipForm::external_dns;
        const auto groups = world.run({create(c.record)});
        ASSERT_EQ(groups.size(), 1U) << c.test;
        EXPECT_EQ(groups[0].ownership.at(0).after->dns_name, c.place) << c.test;
        EXPECT_EQ(world.owner(c.record.dns_name, c.record.record_type), "me") << c.test;
        EXPECT_TRUE(world.mend().empty()) << c.test;
    }
}

TEST(RegistryComplete, ANameThatFillsItsRoomIsHashedAndSaidInTheText) {
    World world;
    std::string name;
    for (int i = 0; i < 4; ++i) name += std::string(59, static_cast<char>('a' + i)) + ".";
    name += "example.com";  // 251 bytes
    const auto groups = world.run({create(set(name, "A", {"1.1.1.1"}))});
    ASSERT_EQ(groups.size(), 1U);
    const auto& place = groups[0].ownership.at(0).after->dns_name;
    EXPECT_TRUE(place.starts_with("_owner.h-")) << place;
    EXPECT_TRUE(place.ends_with("example.com")) << place;
    EXPECT_LE(place.size(), 253U);
    EXPECT_EQ(world.owner(name, "A"), "me");
    EXPECT_TRUE(world.mend().empty());
}

TEST(RegistryComplete, NoRoomAtAllIsSaid) {
    World world;
    std::string zone;
    for (int i = 0; i < 4; ++i) zone += std::string(60, static_cast<char>('a' + i)) + ".";
    zone += "example";  // 251 bytes
    world.options.zone = zone;
    EXPECT_TRUE(world.run({create(set(zone, "A", {"1.1.1.1"}))}).empty());
    ASSERT_EQ(world.left_out.size(), 1U);
    EXPECT_EQ(world.left_out[0].reason, "OwnershipNoRoom");
}

TEST(RegistryComplete, WildcardsAndTheirReplacementsDoNotMix) {
    for (const auto form : {OwnershipForm::shared, OwnershipForm::external_dns}) {
        World world;
        world.options.form = form;
        world.options.wildcard_replacement = "_wildcard";
        world.run(
            {create(set("*.example.com", "A", {"1.1.1.1"})), create(set("_wildcard.example.com", "A", {"1.1.1.2"}))});
        EXPECT_EQ(world.owner("*.example.com", "A"), "me");
        EXPECT_EQ(world.owner("_wildcard.example.com", "A"), "me");
        EXPECT_TRUE(world.mend().empty());
        world.run({remove(world.there("_wildcard.example.com", "A"))});
        EXPECT_EQ(world.owner("*.example.com", "A"), "me");
        EXPECT_TRUE(world.mend().empty());
        world.run({remove(world.there("*.example.com", "A"))});
        EXPECT_EQ(world.zone.text(), "");
    }
}

TEST(RegistryComplete, ASetWithAPolicyWhereOursGoesIsAConflict) {
    World world;
    world.zone.put(set("_owner.w.example.com", "TXT", {"\"x\""}, "theirs"));
    EXPECT_TRUE(world.run({create(set("w.example.com", "A", {"1.1.1.1"}))}).empty());
    ASSERT_EQ(world.left_out.size(), 1U);
    EXPECT_EQ(world.left_out[0].message,
              "_owner.w.example.com is where the ownership of w.example.com goes, and there is a TXT set with a set "
              "identifier");
}

TEST(RegistryComplete, ContradictedNamesAreLeftAlone) {
    World world;
    world.zone.put(set("w.example.com", "A", {"1.1.1.1"}, "x"));
    world.zone.put(set("a-w.example.com", "TXT", {typed("me"), typed("them")}, "x"));
    EXPECT_TRUE(world.run({create(set("w.example.com", "A", {"1.1.1.1"}, "y"))}).empty());
    ASSERT_EQ(world.left_out.size(), 1U);
    EXPECT_EQ(world.left_out[0].reason, "OwnershipContradicted");
    EXPECT_TRUE(world.mend().empty());
}

TEST(RegistryComplete, TheTextFollowsThePolicyOfItsRecord) {
    World world;
    world.options.form = OwnershipForm::external_dns;
    auto blue = set("w.example.com", "A", {"1.1.1.1"}, "blue", {{"alias", "false"}, {"aws/weight", "2"}});
    world.run({create(blue)});
    auto before = world.there("w.example.com", "A", "blue");
    auto after = before;
    after.properties[1].value = "5";
    const auto groups = world.run({update(before, after)});
    ASSERT_EQ(groups[0].ownership.size(), 1U);
    EXPECT_EQ(groups[0].ownership[0].before->properties, (std::vector<dns::Property>{{"aws/weight", "2"}}));
    EXPECT_EQ(groups[0].ownership[0].after->properties, (std::vector<dns::Property>{{"aws/weight", "5"}}));
    EXPECT_EQ(groups[0].ownership[0].after->set_identifier, "blue");
}

TEST(RegistryOrders, AdoptReleaseAndTransfer) {
    for (const auto form : {OwnershipForm::shared, OwnershipForm::external_dns}) {
        World world;
        world.options.form = form;
        world.zone.put(set("w.example.com", "A", {"1.1.1.1"}));
        auto before = world.there("w.example.com", "A");
        world.run({update(before, owned(before, "me"))});
        EXPECT_EQ(world.owner("w.example.com", "A"), "me");

        before = world.there("w.example.com", "A");
        world.run({update(before, owned(before, "them"))});
        EXPECT_EQ(world.owner("w.example.com", "A"), "them");
        EXPECT_EQ(world.zone.sets().size(), 2U) << world.zone.text();

        before = world.there("w.example.com", "A");
        world.run({update(before, owned(before, "me"))});
        EXPECT_EQ(world.owner("w.example.com", "A"), "me");
        EXPECT_EQ(world.zone.sets().size(), 2U) << world.zone.text();

        before = world.there("w.example.com", "A");
        auto nobodys = before;
        nobodys.labels.clear();
        world.run({update(before, nobodys)});
        EXPECT_EQ(world.zone.text(), "w.example.com A: 1.1.1.1\n");
    }
}

TEST(RegistryOrders, AdoptingOneRecordLeavesTheOthersToTheirOwner) {
    World world;
    world.zone.put(set("_owner.w.example.com", "TXT", {shared("w.example.com", "them", "A AAAA MX")}));
    for (const auto* type : {"A", "AAAA", "MX"}) world.zone.put(set("w.example.com", type, {"x"}));
    const auto before = world.there("w.example.com", "AAAA");
    world.run({update(before, owned(before, "me"))});
    EXPECT_EQ(
        world.zone.sets().at({"_owner.w.example.com", "TXT", ""}).targets,
        (std::vector<std::string>{shared("w.example.com", "them", "A MX"), shared("w.example.com", "me", "AAAA")}));
}

TEST(RegistryOrders, AdoptingFromExternalDnsTakesItsText) {
    World world;
    world.zone.put(set("w.example.com", "A", {"1.1.1.1"}));
    world.zone.put(set("w.example.com", "AAAA", {"::1"}));
    world.zone.put(set("a-w.example.com", "TXT", {typed("ext")}));
    world.zone.put(set("aaaa-w.example.com", "TXT", {typed("ext")}));
    const auto before = world.there("w.example.com", "A");
    world.run({update(before, owned(before, "me"))});
    EXPECT_EQ(world.owner("w.example.com", "A"), "me");
    EXPECT_EQ(world.owner("w.example.com", "AAAA"), "ext");
    EXPECT_FALSE(world.zone.sets().contains({"a-w.example.com", "TXT", ""}));
}

TEST(RegistryRepair, MovesOurTextsToTheFormInUse) {
    World world;
    world.zone.put(set("w.example.com", "A", {"1.1.1.1"}));
    world.zone.put(set("w.example.com", "AAAA", {"::1"}));
    world.zone.put(set("v.example.com", "CNAME", {"x.example"}));
    world.zone.put(set("u.example.com", "A", {"1.1.1.1"}));
    world.zone.put(set("a-w.example.com", "TXT", {typed("me")}));
    world.zone.put(set("aaaa-w.example.com", "TXT", {typed("me")}));
    world.zone.put(set("v.example.com.", "TXT", {typed("me")}));  // legacy
    world.zone.put(set("a-u.example.com", "TXT", {typed("them")}));
    const auto found = world.zone;
    EXPECT_EQ(world.mend().size(), 2U);
    EXPECT_EQ(world.zone.text(),
              "_owner.v.example.com TXT: " + shared("v.example.com", "me", "CNAME") + "\n_owner.w.example.com TXT: " +
                  shared("w.example.com", "me", "A AAAA") + "\na-u.example.com TXT: " + typed("them") +
                  "\nu.example.com A: 1.1.1.1\nv.example.com CNAME: x.example\nw.example.com A: 1.1.1.1\n"
                  "w.example.com AAAA: ::1\n");
    world.options.form = OwnershipForm::external_dns;
    world.mend();
    EXPECT_EQ(world.zone.sets().at({"a-w.example.com", "TXT", ""}).targets, std::vector<std::string>{typed("me")});
    EXPECT_EQ(world.zone.sets().at({"aaaa-w.example.com", "TXT", ""}).targets, std::vector<std::string>{typed("me")});
    EXPECT_EQ(world.zone.sets().at({"cname-v.example.com", "TXT", ""}).targets, std::vector<std::string>{typed("me")});
    EXPECT_EQ(world.zone.sets().size(), found.sets().size()) << "handed back as it was found, with today's names";

    world.options.prefix = "own.";
    world.options.former_affixes = {{"", ""}};
    world.mend();
    EXPECT_TRUE(world.zone.sets().contains({"own.a-w.example.com", "TXT", ""}));
    EXPECT_FALSE(world.zone.sets().contains({"a-w.example.com", "TXT", ""}));
    EXPECT_TRUE(world.zone.sets().contains({"a-u.example.com", "TXT", ""})) << "not ours";

    world.options.form = OwnershipForm::shared;
    world.options.shared_prefix = "_holder.";
    world.mend();
    world.options.shared_prefix = "_keeper.";
    world.mend();
    EXPECT_EQ(world.owner("w.example.com", "A"), "me");
    EXPECT_TRUE(world.zone.sets().contains({"_keeper.w.example.com", "TXT", ""}));
    EXPECT_FALSE(world.zone.sets().contains({"_holder.w.example.com", "TXT", ""}));
}

TEST(RegistryRepair, RemovesTextsWithoutRecords) {
    World world;
    world.zone.put(set("_owner.w.example.com", "TXT", {shared("w.example.com", "me", "A AAAA")}));
    world.zone.put(set("w.example.com", "A", {"1.1.1.1"}));
    world.zone.put(
        set("_owner.v.example.com", "TXT", {shared("v.example.com", "me", "A"), shared("v.example.com", "them", "A")}));
    world.zone.put(set("a-u.example.com", "TXT", {typed("me")}));
    world.mend();
    EXPECT_EQ(world.zone.text(), "_owner.v.example.com TXT: " + shared("v.example.com", "them", "A") +
                                     "\n_owner.w.example.com TXT: " + shared("w.example.com", "me", "A") +
                                     "\nw.example.com A: 1.1.1.1\n");
}

TEST(RegistryRepair, KeepsATypedNameThatMayBeTheLegacyNameOfARecord) {
    World world;
    world.zone.put(set("a-team.example.com", "TXT", {typed("me")}));
    world.zone.put(set("a-team.example.com", "A", {"1.1.1.1"}));
    EXPECT_TRUE(world.mend().empty());
}

TEST(RegistryRepair, EncryptsWhatIsPlainAndKeepsWhatIsEncrypted) {
    World world;
    world.run({create(set("w.example.com", "A", {"1.1.1.1"}))});
    world.options.encryption_key = "0123456789abcdef0123456789abcdef";
    EXPECT_EQ(world.mend().size(), 1U);
    const auto sealed = world.zone.sets().at({"_owner.w.example.com", "TXT", ""}).targets.at(0);
    EXPECT_EQ(sealed.find("heritage"), std::string::npos);
    EXPECT_EQ(world.owner("w.example.com", "A"), "me");
    auto before = world.there("w.example.com", "A");
    auto after = before;
    after.targets = {"2.2.2.2"};
    EXPECT_TRUE(world.run({update(before, after)})[0].ownership.empty()) << "an unchanged value is stable";
    world.run({create(set("w.example.com", "AAAA", {"::1"}))});
    EXPECT_NE(world.zone.sets().at({"_owner.w.example.com", "TXT", ""}).targets.at(0).substr(0, 17),
              sealed.substr(0, 17))
        << "no nonce is used for two texts";
    world.options.encryption_key.clear();
    EXPECT_EQ(world.owner("w.example.com", "A"), "") << "nobody without the key knows";
}

TEST(RegistryComplete, WithoutAnOwnerNothingIsWritten) {
    World world;
    world.options.owner = "";
    const auto groups = world.run({create(set("w.example.com", "A", {"1.1.1.1"}), "")});
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_TRUE(groups[0].ownership.empty());
    EXPECT_TRUE(world.mend().empty());
}

}  // namespace
}  // namespace fairlead::plan
