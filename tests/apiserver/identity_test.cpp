#include "apiserver/identity.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/random.h"
#include "net/pki.h"

namespace fairlead::apiserver {
namespace {

class IdentityTest : public testing::Test {
protected:
    IdentityTest() {
        std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-identity-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~IdentityTest() override { std::filesystem::remove_all(folder_); }

    Result<Identity> ensure(const std::vector<std::string>& names) {
        return ensure_identity(folder_, names, clock_, random_, log_);
    }
    std::string text(const std::filesystem::path& file) { return read_file(file).value_or(""); }

    std::filesystem::path folder_;
    ManualClock clock_;
    SeededRandom random_{1};
    Log log_{LogLevel::error, LogFormat::text};
};

TEST_F(IdentityTest, StaysTheSameAcrossStarts) {
    const auto first = ensure({"localhost", "127.0.0.1"});
    ASSERT_TRUE(first) << first.error().text();
    const std::string certificate = text(first->server_certificate);
    clock_.advance(std::chrono::hours{24 * 100});
    ASSERT_TRUE(ensure({"127.0.0.1", "localhost"}));
    EXPECT_EQ(text(first->server_certificate), certificate);
}

TEST_F(IdentityTest, ServerCertificateFollowsTheAddresses) {
    const auto first = ensure({"localhost"});
    ASSERT_TRUE(first);
    const std::string ca = text(first->ca_certificate);
    ASSERT_TRUE(ensure({"localhost", "192.0.2.7"}));
    const auto info = net::inspect_certificate(text(first->server_certificate));
    ASSERT_TRUE(info);
    EXPECT_EQ(info->subject_alternative_names, (std::vector<std::string>{"localhost", "192.0.2.7"}));
    EXPECT_EQ(text(first->ca_certificate), ca) << "clients keep trusting the server";
}

TEST_F(IdentityTest, RenewsBeforeTheEnd) {
    const auto first = ensure({"localhost"});
    ASSERT_TRUE(first);
    const std::string admin = text(first->admin_certificate);
    clock_.advance(std::chrono::hours{24 * 340});
    ASSERT_TRUE(ensure({"localhost"}));
    EXPECT_NE(text(first->admin_certificate), admin);
}

TEST_F(IdentityTest, HalfACaIsAnAccidentAndNotReplaced) {
    const auto first = ensure({"localhost"});
    ASSERT_TRUE(first);
    std::filesystem::remove(folder_ / "pki" / "ca.key");
    const auto second = ensure({"localhost"});
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("ca.key"), std::string::npos) << second.error().message;
}

TEST_F(IdentityTest, KubeconfigIsPrivateAndSelfContained) {
    const auto identity = ensure({"localhost"});
    ASSERT_TRUE(identity);
    const auto file = write_admin_kubeconfig(folder_, *identity, "https://127.0.0.1:7443");
    ASSERT_TRUE(file);
    struct stat info {};
    ASSERT_EQ(::stat(file->c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
    const std::string config = text(*file);
    for (const auto* part : {"server: https://127.0.0.1:7443", "certificate-authority-data: ", "client-key-data: "}) {
        EXPECT_NE(config.find(part), std::string::npos) << part;
    }
}

TEST(ServerNames, AWildcardAddressBecomesTheMachinesAddresses) {
    const auto names = server_names("0.0.0.0");
    EXPECT_NE(std::find(names.begin(), names.end(), "127.0.0.1"), names.end());
    EXPECT_EQ(std::find(names.begin(), names.end(), "0.0.0.0"), names.end());
    const auto own = server_names("192.0.2.7");
    EXPECT_NE(std::find(own.begin(), own.end(), "192.0.2.7"), own.end());
}

}  // namespace
}  // namespace fairlead::apiserver
