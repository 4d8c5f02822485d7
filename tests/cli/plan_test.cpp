#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/random.h"
#include "cli/command_line.h"
#include "fake_server.h"
#include "json/value.h"

namespace fairlead::cli {
namespace {

using testing::HasSubstr;

class PlanFiles : public testing::Test {
protected:
    PlanFiles() { std::filesystem::create_directories(folder_); }
    ~PlanFiles() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& name, const std::string& text) {
        const auto path = folder_ / name;
        EXPECT_TRUE(write_file(path, text));
        return path.string();
    }
    // `fairlead plan` on these lists, with the other arguments.
    int plan(const std::string& present, const std::string& desired, std::vector<std::string> more = {}) {
        std::vector<std::string> arguments{"plan", "--present", file("present.json", present), "--desired",
                                           file("desired.json", desired)};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_line(arguments);
    }
    int run_line(const std::vector<std::string>& arguments) {
        screen_.out.str("");
        screen_.err.str("");
        return run(arguments, screen_.terminal, [](const ServeOptions&) { return 0; });
    }
    [[nodiscard]] std::string out() const { return screen_.out.str(); }
    [[nodiscard]] std::string err() const { return screen_.err.str(); }
    // The output, compact.
    [[nodiscard]] std::string json() const { return json::serialize(json::parse(out()).value()); }

    SystemRandom random_;
    std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("fairlead-plan-" + make_uuid(random_));
    FakeTerminal screen_;
};

constexpr const char* present =
    R"([{"dnsName":"a.x","targets":["192.0.2.1"],"recordType":"A","recordTTL":300,"labels":{"owner":"me"}},
        {"dnsName":"b.x","targets":["192.0.2.1"],"recordType":"A","labels":{"owner":"me"}},
        {"dnsName":"c.x","targets":["192.0.2.1"],"recordType":"A","labels":{"owner":"other"}}])";
constexpr const char* desired =
    R"([{"dnsName":"a.x","targets":["192.0.2.1"],"recordType":"A","recordTTL":60},
        {"dnsName":"c.x","targets":["192.0.2.2"],"recordType":"A"},
        {"dnsName":"d.x","targets":["192.0.2.4"],"recordType":"A","setIdentifier":"cluster/1",
         "providerSpecific":[{"name":"aws/weight","value":"10"}]}])";

constexpr const char* texts =
    R"([{"dnsName":"a.x","targets":["192.0.2.1"],"recordType":"A","recordTTL":300},
        {"dnsName":"own-a-a.x","targets":["\"heritage=external-dns,external-dns/owner=me\""],"recordType":"TXT"},
        {"dnsName":"b.x","targets":["192.0.2.1"],"recordType":"A"},
        {"dnsName":"own-a-b.x","targets":["\"heritage=external-dns,external-dns/owner=me\""],"recordType":"TXT"},
        {"dnsName":"c.x","targets":["192.0.2.1"],"recordType":"A"},
        {"dnsName":"own-a-c.x","targets":["\"heritage=external-dns,external-dns/owner=other\""],"recordType":"TXT"}])";

TEST_F(PlanFiles, ReadsOwnershipFromTextRecords) {
    EXPECT_EQ(plan(texts, desired, {"--owner", "me", "--registry", "txt", "--txt-prefix", "own-", "-o", "json"}), 2)
        << err();
    const auto by_texts = json::parse(out()).value();
    EXPECT_EQ(plan(present, desired, {"--owner", "me", "-o", "json"}), 2) << err();
    const auto by_labels = json::parse(out()).value();
    for (const auto* what : {"create", "skipped"}) {
        EXPECT_EQ(json::serialize(*json::find(by_texts, what)), json::serialize(*json::find(by_labels, what))) << what;
    }
    EXPECT_EQ(json::find(by_texts, "delete")->get_array().size(), 1U);
    EXPECT_EQ(json::find(by_texts, "update")->get_array().size(), 1U);
    EXPECT_EQ(json::find(by_labels, "ownership"), nullptr);
    const auto created = json::serialize(*json::find(by_texts, "ownership.create"));
    EXPECT_THAT(created, HasSubstr("_owner.d.x"));
    EXPECT_THAT(created, HasSubstr("_owner.a.x")) << "it takes the form that is asked for";
    EXPECT_THAT(json::serialize(*json::find(by_texts, "ownership.delete")), HasSubstr("own-a-b.x"));
}

TEST_F(PlanFiles, WithAnotherPrefixNothingIsOurs) {
    EXPECT_EQ(plan(texts, desired, {"--owner", "me", "--registry", "txt", "--txt-prefix", "mine-", "-o", "json"}), 2)
        << err();
    const auto value = json::parse(out()).value();
    EXPECT_EQ(json::find(value, "delete")->get_array().size(), 0U);
    EXPECT_EQ(json::find(value, "update")->get_array().size(), 0U);
}

TEST_F(PlanFiles, SaysWhatIsWrongWithAKey) {
    EXPECT_EQ(
        plan(texts, desired, {"--owner", "me", "--registry", "txt", "--txt-encrypt-key-file", file("key", "short")}),
        1);
    EXPECT_THAT(err(), HasSubstr("key"));
    EXPECT_THAT(err(), HasSubstr("32"));
    EXPECT_EQ(plan(texts, desired, {"--owner", "me", "--registry", "txt", "--txt-prefix", "a-", "--txt-suffix", "-b"}),
              1);
}

TEST_F(PlanFiles, PrintsTheShapeOfTheDocument) {
    EXPECT_EQ(plan(present, desired, {"--owner", "me", "-o", "json"}), 2) << err();
    EXPECT_EQ(
        json(),
        R"({"create":[{"dnsName":"d.x","targets":["192.0.2.4"],"recordType":"A","setIdentifier":"cluster/1",)"
        R"("providerSpecific":[{"name":"aws/weight","value":"10"}]}],)"
        R"("update":[{"old":{"dnsName":"a.x","targets":["192.0.2.1"],"recordType":"A","recordTTL":300,"labels":{"owner":"me"}},)"
        R"("new":{"dnsName":"a.x","targets":["192.0.2.1"],"recordType":"A","recordTTL":60,"labels":{"owner":"me"}}}],)"
        R"("delete":[{"dnsName":"b.x","targets":["192.0.2.1"],"recordType":"A","labels":{"owner":"me"}}],)"
        R"("skipped":[{"endpoint":{"dnsName":"c.x","targets":["192.0.2.2"],"recordType":"A"},)"
        R"("reason":"OwnedByOther: A c.x is there and \"other\" owns it"}]})");
}

TEST_F(PlanFiles, PrintsADiffForPeople) {
    EXPECT_EQ(plan(present, desired, {"--owner", "me"}), 2);
    EXPECT_EQ(out(), R"(~ A     a.x  Differs
      recordTTL: 300 -> 60
- A     b.x  192.0.2.1  NotWanted: nobody wants A b.x
+ A     d.x (cluster/1)  192.0.2.4  aws/weight=10  Missing: A d.x (cluster/1) is not there

Left alone:
  A     c.x  192.0.2.2  OwnedByOther: A c.x is there and "other" owns it

1 to create, 1 to update, 1 to delete, 1 left alone.
)");
}

TEST_F(PlanFiles, ColoursOnlyOnATerminal) {
    screen_.terminal.colour = true;
    EXPECT_EQ(plan(present, desired), 2);
    EXPECT_THAT(out(), HasSubstr("\x1b["));
}

TEST_F(PlanFiles, SaysThatThereIsNothingToDo) {
    EXPECT_EQ(plan(present, present, {"--owner", "me", "-o", "json"}), 0);
    EXPECT_THAT(json(), testing::StartsWith(R"({"create":[],"update":[],"delete":[],"skipped":[)"));
    EXPECT_EQ(plan(present, present), 0);
    EXPECT_EQ(out(), "Nothing to change, 0 left alone.\n");
    EXPECT_EQ(plan("[]", "[]", {"-o", "json"}), 0);
    EXPECT_EQ(json(), R"({"create":[],"update":[],"delete":[],"skipped":[]})");
}

TEST_F(PlanFiles, HasTheOptionsOfThePlanner) {
    EXPECT_EQ(plan(present, "[]", {"--policy", "upsert-only"}), 0);
    EXPECT_THAT(out(), HasSubstr("Policy: nobody wants A a.x, but the policy upsert-only deletes nothing"));
    EXPECT_EQ(plan(present, "[]", {"--managed-types", "AAAA,cname"}), 0);
    EXPECT_EQ(plan(present, "[]", {"--exclude-types", "A"}), 0);
    EXPECT_EQ(plan(present, "[]", {"--domain-filter", "a.x,b.x", "--exclude-domains", "b.x"}), 2);
    EXPECT_THAT(out(), HasSubstr("0 to create, 0 to update, 1 to delete"));
    EXPECT_EQ(plan(present, "[]", {"--regex-domain-filter", "^[ab]", "--regex-domain-exclusion", "^b"}), 2);
    EXPECT_THAT(out(), HasSubstr("0 to create, 0 to update, 1 to delete"));
}

TEST_F(PlanFiles, ReadsStandardInput) {
    screen_.in.str(desired);
    EXPECT_EQ(run_line({"plan", "--present", file("p", "[]"), "--desired", "-"}), 2);
    EXPECT_THAT(out(), HasSubstr("3 to create"));
}

struct Wrong {
    const char* name;
    std::string present, desired;
    std::vector<std::string> more;
    const char* said;
};
class PlanErrors : public PlanFiles, public testing::WithParamInterface<Wrong> {};
TEST_P(PlanErrors, AreToldAndExitWithOne) {
    const auto& row = GetParam();
    EXPECT_EQ(plan(row.present, row.desired, row.more), 1);
    EXPECT_THAT(err(), HasSubstr(row.said));
    EXPECT_EQ(out(), "");
}
INSTANTIATE_TEST_SUITE_P(
    PlanFiles, PlanErrors,
    testing::Values(Wrong{"no_json", "[", "[]", {}, "present.json"}, Wrong{"no_list", "{}", "[]", {}, "present.json"},
                    Wrong{"bad_ttl", "[]", R"([{"dnsName":"a","recordTTL":"x"}])", {}, "[0].recordTTL"},
                    Wrong{"bad_policy", "[]", "[]", {"--policy", "all"}, "--policy"},
                    Wrong{"bad_option", "[]", "[]", {"--nonsense"}, "unknown option"},
                    Wrong{"bad_filter", "[]", "[]", {"--domain-filter", "a..b"}, "a..b"},
                    Wrong{"bad_pattern", "[]", "[]", {"--regex-domain-filter", "("}, "regular expression"},
                    Wrong{
                        "both_filters", "[]", "[]", {"--regex-domain-filter", "a", "--domain-filter", "b"}, "either"}),
    [](const auto& row) { return row.param.name; });

TEST_F(PlanFiles, NeedsBothFilesAndOneStandardInput) {
    EXPECT_EQ(run_line({"plan", "--present", "x"}), 1);
    EXPECT_EQ(run_line({"plan", "--present", "-", "--desired", "-"}), 1);
    EXPECT_EQ(run_line({"plan", "--present", "/nowhere/p", "--desired", "-"}), 1);
    EXPECT_THAT(err(), HasSubstr("/nowhere/p"));
}

}  // namespace
}  // namespace fairlead::cli
