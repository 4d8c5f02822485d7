// Where keys come from, in which order, and when they are renewed.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/text.h"
#include "route53_world.h"

namespace fairlead::provider::route53 {
namespace {

using namespace std::chrono_literals;
using Variables = std::map<std::string, std::string>;

// A folder for the files of profiles and tokens.
class Folder {
public:
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-route53-XXXXXX").string();
        path = mkdtemp(pattern.data());
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string write(const std::string& name, const std::string& text) const {
        const auto file = (path / name).string();
        EXPECT_TRUE(write_file(file, text, 0600));
        return file;
    }
    std::filesystem::path path;
};

struct Sources {
    ManualClock clock{*from_rfc3339("2026-01-01T00:00:00Z")};
    Variables variables;
    std::map<std::string, std::pair<int, std::string>> answers;  // "METHOD url" -> status and body
    std::vector<std::string> asked;

    CredentialChain chain(std::map<std::string, std::string> secret, bool ambient = true, std::string profile = {}) {
        auto options = credential_options();
        options.secret = std::move(secret);
        options.profile = std::move(profile);
        options.ambient = ambient;
        options.environment = [this](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
        };
        options.call = [this](const std::string& base, const net::ClientRequest& request) -> Result<net::Response> {
            const auto what = request.method + " " + base + request.target;
            asked.push_back(what + " " + std::string(request.headers.get("Authorization")) +
                            std::string(request.headers.get("X-aws-ec2-metadata-token")));
            const auto found = answers.find(what);
            if (found == answers.end()) return fail(Errc::unavailable, "cannot connect");
            net::Response response;
            response.status = found->second.first;
            response.body = found->second.second;
            return response;
        };
        return CredentialChain(std::move(options), clock);
    }
};

std::string issued(const std::string& key, const std::string& expires) {
    return R"({"AccessKeyId":")" + key + R"(","SecretAccessKey":"S","Token":"T","Expiration":")" + expires + R"("})";
}

TEST(Route53Credentials, SecretUnderBothSpellings) {
    for (const std::map<std::string, std::string>& secret :
         {std::map<std::string, std::string>{{"AWS_ACCESS_KEY_ID", "AK\n"}, {"AWS_SECRET_ACCESS_KEY", "SK"}},
          {{"aws_access_key_id", "AK"}, {"aws_secret_access_key", "SK"}}}) {
        Sources sources;
        sources.variables = {{"AWS_ACCESS_KEY_ID", "OTHER"}, {"AWS_SECRET_ACCESS_KEY", "OTHER"}};
        auto chain = sources.chain(secret);
        const auto found = chain.get();
        ASSERT_TRUE(found) << found.error().text();
        EXPECT_EQ(found->keys.access_key_id, "AK");
        EXPECT_EQ(found->keys.secret_access_key, "SK");
        EXPECT_EQ(found->source, "Secret");
    }
}

TEST(Route53Credentials, SaysWhatIsMissing) {
    struct Case {
        std::map<std::string, std::string> secret;
        bool ambient;
        const char* error;
    };
    for (const auto& [secret, ambient, error] :
         {Case{{}, false, "spec.dnsProviderSecretRef: names no Secret with AWS_ACCESS_KEY_ID"},
          Case{{}, true, "none in the environment, a profile file, the container or the instance"},
          Case{{{"AWS_ACCESS_KEY_ID", "AK"}}, true, "the Secret has no AWS_SECRET_ACCESS_KEY"},
          Case{{{"AWS_SECRET_ACCESS_KEY", "top-secret"}}, false, "the Secret has no AWS_ACCESS_KEY_ID"},
          Case{{{"accessKeyId", "AK"}, {"secretAccessKey", "top-secret"}}, true, "the Secret has no AWS_ACCESS_KEY_ID"},
          Case{{{"AWS_SESSION_TOKEN", "top-secret"}}, true, "the Secret has no AWS_ACCESS_KEY_ID"},
          Case{{{"AWS_REGION", "eu-west-1"}}, true, "none in the environment"},
          Case{{{"AWS_REGION", "eu-west-1"}}, false, "the Secret has no AWS_ACCESS_KEY_ID"}}) {
        Sources sources;
        const auto found = sources.chain(secret, ambient).get();
        ASSERT_FALSE(found);
        EXPECT_EQ(found.error().code, Errc::invalid);
        EXPECT_NE(found.error().text().find(error), std::string::npos) << found.error().text();
        EXPECT_EQ(found.error().text().find("top-secret"), std::string::npos);
    }
}

TEST(Route53Credentials, AmbientOnesOnlyWhenAllowed) {
    Sources sources;
    sources.variables = {{"AWS_ACCESS_KEY_ID", "AK"}, {"AWS_SECRET_ACCESS_KEY", "SK"}, {"AWS_SESSION_TOKEN", "T"}};
    EXPECT_FALSE(sources.chain({}, false).get());
    const auto found = sources.chain({}, true).get();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->source, "environment");
    EXPECT_EQ(found->keys.session_token, "T");
    EXPECT_TRUE(sources.asked.empty());
}

// Nor may a zone have the server's credentials sent to a place of its choice.
TEST(Route53Credentials, AmbientOnesGoToAwsAlone) {
    World world;
    Options options;
    options.ambient_credentials = true;
    options.environment = [](const std::string& name) -> std::optional<std::string> {
        return name.starts_with("AWS_") && name.ends_with("KEY") ? std::optional<std::string>("k") : std::nullopt;
    };
    auto settings = zone_settings("http://127.0.0.1:1");
    settings.secret.clear();
    std::size_t sent = 0;
    options.connect = [&](const std::string&) {
        return [&](const net::ClientRequest&) -> Result<net::Response> {
            ++sent;
            return fail(Errc::invalid, "never");
        };
    };
    const auto listing = maker(world.surroundings, options)(settings).value()->list({});
    ASSERT_FALSE(listing);
    EXPECT_NE(listing.error().text().find("no spec.route53.endpoint"), std::string::npos) << listing.error().text();
    EXPECT_EQ(sent, 0U);
}

TEST(Route53Credentials, ProfileFile) {
    const Folder folder;
    const auto file = folder.write("credentials",
                                   "# keys\n[default]\naws_access_key_id = D\naws_secret_access_key=DS\n\n"
                                   "[profile dns]\naws_access_key_id=P\naws_secret_access_key=PS\n"
                                   "aws_session_token = PT\n[half]\naws_access_key_id=H\n");
    Sources sources;
    sources.variables["AWS_SHARED_CREDENTIALS_FILE"] = file;
    auto chain = sources.chain({});
    EXPECT_EQ(chain.get()->keys.access_key_id, "D");
    // Rewritten: read again.
    folder.write("credentials", "[default]\naws_access_key_id = NEW\naws_secret_access_key = longer-than-before\n");
    EXPECT_EQ(chain.get()->keys.access_key_id, "NEW");
    folder.write("credentials", "[dns]\naws_access_key_id=P\naws_secret_access_key=PS\n[half]\naws_access_key_id=H\n");
    EXPECT_EQ(sources.chain({}, true, "dns").get()->source, "profile dns");
    sources.variables["AWS_PROFILE"] = "dns";
    EXPECT_EQ(sources.chain({}).get()->keys.access_key_id, "P");
    // The zone's profile wins over keys of the environment; without one those win.
    sources.variables["AWS_ACCESS_KEY_ID"] = sources.variables["AWS_SECRET_ACCESS_KEY"] = "E";
    EXPECT_EQ(sources.chain({}, true, "dns").get()->keys.access_key_id, "P");
    EXPECT_EQ(sources.chain({}).get()->keys.access_key_id, "E");
    EXPECT_EQ(sources.chain({}, true, "none").get().error().text(), "spec.route53.profile: there is no profile [none]");
    EXPECT_EQ(sources.chain({}, true, "half").get().error().text(),
              "spec.route53.profile: profile [half] has no aws_access_key_id and aws_secret_access_key");
}

TEST(Route53Credentials, ProfileFileAtHome) {
    const Folder folder;
    std::filesystem::create_directory(folder.path / ".aws");
    folder.write(".aws/credentials", "[default]\naws_access_key_id=D\naws_secret_access_key=DS\n");
    Sources sources;
    sources.variables["HOME"] = folder.path.string();
    EXPECT_EQ(sources.chain({}).get()->source, "profile default");
}

TEST(Route53Credentials, Container) {
    const Folder folder;
    Sources sources;
    sources.variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/credentials/1";
    sources.answers["GET http://169.254.170.2/v2/credentials/1"] = {200, issued("ASIA1", "2026-01-01T01:00:00Z")};
    auto chain = sources.chain({});
    EXPECT_EQ(chain.get()->keys.access_key_id, "ASIA1");
    EXPECT_EQ(chain.get()->source, "container");
    EXPECT_EQ(sources.asked.size(), 1U);
    // Renewed five minutes before their end, and the old ones used while there are no new ones.
    sources.clock.advance(54min);
    EXPECT_TRUE(chain.get());
    EXPECT_EQ(sources.asked.size(), 1U);
    sources.clock.advance(2min);
    sources.answers["GET http://169.254.170.2/v2/credentials/1"] = {500, ""};
    EXPECT_EQ(chain.get()->keys.access_key_id, "ASIA1");
    EXPECT_EQ(sources.asked.size(), 2U);
    sources.clock.advance(5min);
    EXPECT_EQ(chain.get().error().code, Errc::unavailable);
    sources.answers["GET http://169.254.170.2/v2/credentials/1"] = {200, issued("ASIA2", "2026-01-01T09:00:00Z")};
    EXPECT_EQ(chain.get()->keys.access_key_id, "ASIA2");

    sources.variables.clear();
    sources.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://169.254.170.23/v1/credentials";
    sources.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = folder.write("token", "from-file\n");
    sources.answers["GET http://169.254.170.23/v1/credentials"] = {200, issued("ASIA3", "2027-01-01T00:00:00Z")};
    sources.asked.clear();
    EXPECT_EQ(sources.chain({}).get()->keys.access_key_id, "ASIA3");
    EXPECT_EQ(sources.asked.front(), "GET http://169.254.170.23/v1/credentials from-file");
    for (const char* url : {"http://evil.example/", "ftp://127.0.0.1/", "http://127.0.0.1.evil.example@x/",
                            "http://169.254.170.2.evil/"}) {
        sources.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url;
        const auto found = sources.chain({}).get();
        ASSERT_FALSE(found) << url;
        EXPECT_EQ(found.error().field, "AWS_CONTAINER_CREDENTIALS_FULL_URI") << url;
    }
}

TEST(Route53Credentials, Instance) {
    Sources sources;
    const std::string base = "http://169.254.169.254/latest/";
    sources.answers["PUT " + base + "api/token"] = {200, "tok"};
    sources.answers["GET " + base + "meta-data/iam/security-credentials/"] = {200, "dns-role\n"};
    sources.answers["GET " + base + "meta-data/iam/security-credentials/dns-role"] = {
        200, issued("ASIA1", "2026-01-01T06:00:00Z")};
    EXPECT_EQ(sources.chain({}).get()->source, "instance");
    EXPECT_EQ(sources.asked.size(), 3U);
    EXPECT_TRUE(sources.asked[1].ends_with(" tok"));
    EXPECT_TRUE(sources.asked[2].ends_with(" tok"));

    sources.variables["AWS_EC2_METADATA_DISABLED"] = "true";
    EXPECT_EQ(sources.chain({}).get().error().code, Errc::invalid);
    sources.variables.clear();
    sources.answers["GET " + base + "meta-data/iam/security-credentials/"] = {404, ""};
    EXPECT_EQ(sources.chain({}).get().error().code, Errc::invalid);  // an instance without a role
    sources.answers["GET " + base + "meta-data/iam/security-credentials/"] = {200, "dns-role"};
    for (const char* body : {"{}", "no JSON", R"({"Code":"Failed","Message":"no such role"})",
                             R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":"soon"})"}) {
        sources.answers["GET " + base + "meta-data/iam/security-credentials/dns-role"] = {200, body};
        const auto found = sources.chain({}).get();
        ASSERT_FALSE(found) << body;
        EXPECT_EQ(found.error().code, Errc::unavailable) << body;
    }
    sources.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:9";
    sources.asked.clear();
    (void)sources.chain({}).get();
    EXPECT_TRUE(sources.asked.front().starts_with("PUT http://127.0.0.1:9/latest/api/token"));
}

TEST(Route53Maker, SettingsAreChecked) {
    World world;
    struct Case {
        const char* field;
        std::function<void(ZoneSettings&)> set;
    };
    for (const auto& [field, set] :
         {Case{"spec.id", [](ZoneSettings& s) { s.id = "../x"; }},
          Case{"spec.route53.endpoint", [](ZoneSettings& s) { s.route53.endpoint = "file:///etc/passwd"; }},
          Case{"spec.route53.requestsPerSecond", [](ZoneSettings& s) { s.route53.requests_per_second = 0; }}}) {
        auto settings = zone_settings("http://127.0.0.1:1");
        set(settings);
        const auto made = maker(world.surroundings, {})(settings);
        ASSERT_FALSE(made) << field;
        EXPECT_EQ(made.error().field, field);
    }
}

}  // namespace
}  // namespace fairlead::provider::route53
