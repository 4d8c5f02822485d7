#include "plan/owner_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "plan/crypt.h"

namespace fairlead::plan {
namespace {

constexpr std::string_view key = "0123456789abcdef0123456789abcdef";
// Made with another implementation: gzip at level 9, flushed and closed as Go's writer does, nonce 00 01 .. 0b.
constexpr std::string_view sealed =
    "AAECAwQFBgcICQoLMm6zfNkY0qyq3yV2OsFRJOoNw4xVxnaFczwSkPVsVpUyRGCJeqJ7FA4Nw158gLht81U9SBzmP+"
    "bWLMTXyksDCCIEjgkOBjMK42lIHQaODzhC0NNzE23l5FokGPYMzLdBXZ5vU8kDmCM=";
constexpr std::string_view sealed_raw =
    "AAECAwQFBgcICQoLRYDJFa15tcmVuQnKFL2/ZYolZ+lPkBHzVLnJ2tlJgeDT2BlxPttyYqxX2iuHxNIVF2bYYEJvqsm+TXpP";

TEST(OwnerText, IsWrittenAsExternalDnsDoes) {
    struct Case {
        std::string_view name;
        OwnerText text;
        std::string_view target;
    };
    const std::vector<Case> cases{
        {"owner alone", {"blue", {}, {}, std::nullopt}, R"("heritage=external-dns,external-dns/owner=blue")"},
        {"labels by key",
         {"blue", {}, {{"aa", "1"}, {"resource", "service/default/web"}}, std::nullopt},
         R"("heritage=external-dns,external-dns/aa=1,external-dns/owner=blue,external-dns/resource=service/default/web")"},
        {"what the format cannot hold is left out",
         {"blue", {}, {{"a", "x,y"}, {"b", "x=y"}, {"c", "\""}, {"owner", "red"}}, std::nullopt},
         R"("heritage=external-dns,external-dns/owner=blue")"},
        {"shared",
         {"blue", "www.example.com", {}, std::vector<OwnedRecord>{{"A", "", {}}, {"AAAA", "", {}}}},
         R"("heritage=external-dns,external-dns/name=www.example.com,external-dns/owner=blue,external-dns/records=A AAAA")"},
        {"shared with set identifiers",
         {"blue", "*.example.com", {}, std::vector<OwnedRecord>{{"A", "cluster/blue", {}}, {"A", "a b,c=\"%", {}}}},
         R"("heritage=external-dns,external-dns/name=*.example.com,external-dns/owner=blue,external-dns/records=A/cluster/blue A/a%20b%2Cc%3D%22%25")"},
        {"shared with a label of one record",
         {"blue",
          "w.example.com",
          {{"x", "1"}},
          std::vector<OwnedRecord>{{"A", "g", {{"resource", "service/b/web:x"}}}}},
         R"("heritage=external-dns,external-dns/name=w.example.com,external-dns/owner=blue,external-dns/records=A/g;resource:service/b/web%3Ax,external-dns/x=1")"},
    };
    for (const auto& c : cases) EXPECT_EQ(owner_text(c.text), c.target) << c.name;
}

TEST(OwnerText, IsReadInEveryWayItIsFound) {
    struct Case {
        std::string_view name, target;
        std::optional<std::string> owner;
    };
    const std::vector<Case> cases{
        {"quoted", R"("heritage=external-dns,external-dns/owner=blue")", "blue"},
        {"bare", "heritage=external-dns,external-dns/owner=blue", "blue"},
        {"spaces around", R"(  "heritage=external-dns,external-dns/owner=blue" )", "blue"},
        {"two strings", R"("heritage=external-dns,external-" "dns/owner=blue")", "blue"},
        {"escaped", R"("heritage=external\-dns,external-dns/owner=b\108ue")", "blue"},
        {"unknown tokens", R"("heritage=external-dns,a,b=c=d,x=y,external-dns/owner=blue")", "blue"},
        {"no owner", R"("heritage=external-dns")", ""},
        {"other heritage", R"("heritage=mate,external-dns/owner=blue")", std::nullopt},
        {"heritage twice", R"("heritage=external-dns,heritage=mate,external-dns/owner=blue")", std::nullopt},
        {"no heritage", R"("external-dns/owner=blue")", std::nullopt},
        {"ordinary", R"("v=spf1 -all")", std::nullopt},
        {"nothing", "", std::nullopt},
        {"a quote alone", "\"", std::nullopt},
        {"encrypted", sealed, "blue"},
        {"encrypted, never compressed", sealed_raw, "raw"},
        {"not for this key", "AAECAwQFBgcICQoLSGVsbG8gd29ybGQgd2hhdCBpcyB0aGlzIHRleHQ=", std::nullopt},
    };
    for (const auto& c : cases) {
        const auto text = parse_owner_text(c.target, key);
        ASSERT_EQ(text.has_value(), c.owner.has_value()) << c.name;
        if (!text) continue;
        EXPECT_EQ(text->owner, *c.owner) << c.name;
    }
    EXPECT_FALSE(parse_owner_text(sealed, "")) << "nobody reads it without the key";
    EXPECT_FALSE(parse_owner_text(sealed, "another key of thirty-two bytes.")) << "nor with another";
    EXPECT_EQ(parse_owner_text(sealed, key)->labels, (dns::Labels{{"resource", "service/default/web"}}));
}

TEST(OwnerText, NameOrRecordsAloneAreLabelsOfSomebody) {
    const auto text = parse_owner_text(R"("heritage=external-dns,external-dns/name=x,external-dns/owner=a")", "");
    ASSERT_TRUE(text);
    EXPECT_FALSE(text->records);
    EXPECT_EQ(text->labels, (dns::Labels{{"name", "x"}}));
}

TEST(OwnerText, ComesInPiecesThatDnsCanHold) {
    std::string long_text(600, 'x');
    const auto target = txt_target(long_text);
    EXPECT_EQ(target.size(), 600U + 6 + 2);
    EXPECT_EQ(target.substr(256, 3), "\" \"");
    std::string scratch;
    EXPECT_EQ(txt_bytes(target, scratch), long_text);
    EXPECT_EQ(txt_target(""), "\"\"");
}

TEST(OwnerText, AListThatIsTooLongForOneValueIsSplit) {
    std::vector<OwnedRecord> records;
    for (int i = 0; i < 300; ++i) records.push_back({"A", "cluster/service-" + std::to_string(1000 + i), {}});
    const auto texts = shared_texts("blue", "www.example.com", records);
    ASSERT_EQ(texts.size(), 3U);
    std::size_t count = 0;
    for (const auto& text : texts) {
        EXPECT_LT(owner_text(text).size(), 4'000U);
        count += text.records->size();
    }
    EXPECT_EQ(count, 300U);
}

TEST(Encryption, KeysAreTakenAsFlagsGiveThem) {
    EXPECT_EQ(encryption_key_of(key), std::string(key));
    EXPECT_EQ(encryption_key_of(std::string(key) + "\n"), std::string(key));
    EXPECT_EQ(encryption_key_of("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="), std::string(key));
    const auto wrong = encryption_key_of("short");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().text(), "an encryption key has 32 bytes, as they are or in base64; this one has 5");
}

RC_GTEST_PROP(Encryption, GivesBackWhatItTook, (const std::string& text, const EncryptionNonce& nonce)) {
    const auto once = encrypt_owner_text(text, key, nonce);
    RC_ASSERT(once.has_value());
    RC_ASSERT(decrypt_owner_text(*once, key) == text);
    RC_ASSERT(*encrypt_owner_text(text, key, nonce) == *once);
    auto broken = *once;
    auto& byte = broken[*rc::gen::inRange<std::size_t>(0, broken.size() - 4)];
    byte = byte == 'A' ? 'B' : 'A';
    RC_ASSERT(!decrypt_owner_text(broken, key).has_value());
}

RC_GTEST_PROP(OwnerText, GivesBackWhatItWasGiven, ()) {
    const auto any = rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '\x7f'));
    const auto word = rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>('a', '{')));
    std::vector<OwnedRecord> records;
    for (const auto& [type, identifier] :
         *rc::gen::nonEmpty(rc::gen::container<std::map<std::string, std::string>>(word, any))) {
        records.push_back({type, identifier, {}});
        if (*rc::gen::arbitrary<bool>()) records.back().labels.set("resource", *any);
    }
    std::vector<OwnedRecord> again;
    for (const auto& text : shared_texts("blue", "a.example.com", records)) {
        const auto read = parse_owner_text(owner_text(text), "");
        RC_ASSERT(read.has_value());
        RC_ASSERT(read->owner == "blue");
        RC_ASSERT(read->name == "a.example.com");
        for (auto record : read->records.value()) {
            for (const auto& label : read->labels) record.labels.set(label.key, label.value);
            again.push_back(std::move(record));
        }
    }
    RC_ASSERT(again == records);
}

}  // namespace
}  // namespace fairlead::plan
