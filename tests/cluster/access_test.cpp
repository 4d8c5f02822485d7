#include "cluster/access.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fairlead::cluster {
namespace {

const std::string ca = "-----BEGIN CERTIFICATE-----\nca\n-----END CERTIFICATE-----\n";
const std::string certificate = "-----BEGIN CERTIFICATE-----\nme\n-----END CERTIFICATE-----\n";
const std::string key = "-----BEGIN PRIVATE KEY-----\nmine\n-----END PRIVATE KEY-----\n";

std::string kubeconfig(const std::string& cluster, const std::string& user) {
    return "current-context: x\nclusters: [{name: c, cluster: {" + cluster + "}}]\nusers: [{name: u, user: {" + user +
           "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n";
}

resource::ClusterSpec spec(std::string server = "https://spoke-1.example.net:6443") {
    resource::ClusterSpec made;
    made.server = std::move(server);
    made.credentials = resource::SecretReference{"spoke-1", "fleet"};
    return made;
}

std::map<std::string, std::string> encoded(const std::map<std::string, std::string>& data) {
    std::map<std::string, std::string> out;
    for (const auto& [name, value] : data) out[name] = base64(value);
    return out;
}

TEST(Access, TokenWithCa) {
    const auto access = access_of(spec(), encoded({{"ca.crt", ca}, {"token", "secret\n"}}));
    ASSERT_TRUE(access) << access.error().text();
    EXPECT_EQ(access->server, "https://spoke-1.example.net:6443");
    EXPECT_EQ(access->ca_pem, ca);
    EXPECT_EQ(access->bearer_token, "secret") << "files end with a line end";
    EXPECT_FALSE(access->insecure_skip_verify);
}

TEST(Access, ClientCertificate) {
    const auto access = access_of(spec(), encoded({{"ca.crt", ca}, {"tls.crt", certificate}, {"tls.key", key}}));
    ASSERT_TRUE(access) << access.error().text();
    EXPECT_EQ(access->certificate_pem, certificate);
    EXPECT_EQ(access->key_pem, key);
}

TEST(Access, KubeconfigGivesTheLoginAndTheClusterTheServer) {
    const auto text =
        kubeconfig("server: 'https://elsewhere:1', certificate-authority-data: " + base64(ca),
                   "client-certificate-data: " + base64(certificate) + ", client-key-data: " + base64(key));
    const auto access = access_of(spec(), encoded({{"kubeconfig", text}}));
    ASSERT_TRUE(access) << access.error().text();
    EXPECT_EQ(access->server, "https://spoke-1.example.net:6443");
    EXPECT_EQ(access->ca_pem, ca);
    EXPECT_EQ(access->certificate_pem, certificate);
    EXPECT_EQ(access->key_pem, key);
}

TEST(Access, NotVerifiedOnlyWhenAskedFor) {
    const auto access = access_of(spec(), encoded({{"token", "t"}, {"insecure-skip-tls-verify", "true"}}));
    ASSERT_TRUE(access) << access.error().text();
    EXPECT_TRUE(access->insecure_skip_verify);
    EXPECT_FALSE(
        access_of(spec(), encoded({{"token", "t"}, {"insecure-skip-tls-verify", "false"}}))->insecure_skip_verify);
}

TEST(Access, WithoutCredentials) {
    auto open = spec("http://127.0.0.1:8001/");
    open.credentials.reset();
    const auto access = access_of(open, {});
    ASSERT_TRUE(access) << access.error().text();
    EXPECT_EQ(access->server, "http://127.0.0.1:8001");
    EXPECT_TRUE(access->bearer_token.empty());
}

struct BadRow {
    const char* name;
    std::map<std::string, std::string> data;  // as it stands in the Secret
    std::string message;
    std::string server = "https://spoke-1.example.net:6443";
};
void PrintTo(const BadRow& row, std::ostream* out) { *out << row.name; }
class BadAccess : public testing::TestWithParam<BadRow> {};

TEST_P(BadAccess, NamesTheKeyAndTheRule) {
    const auto access = access_of(spec(GetParam().server), GetParam().data);
    ASSERT_FALSE(access);
    EXPECT_EQ(access.error().text(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadAccess,
    testing::Values(
        BadRow{"Empty", {}, "data: has no login: kubeconfig, or token, or tls.crt and tls.key is needed"},
        BadRow{"CaAlone", encoded({{"ca.crt", ca}}),
               "data: has no login: kubeconfig, or token, or tls.crt and tls.key is needed"},
        BadRow{"NoBase64", {{"token", "!!"}}, "data[token]: is not base64"},
        BadRow{"TokenWithLineEnd", encoded({{"token", "a\r\nX-Evil: b"}}),
               "data[token]: has spaces or control characters in it"},
        BadRow{"CertificateAlone", encoded({{"tls.crt", certificate}}),
               "data[tls.key]: is missing: a certificate and its key are needed together"},
        BadRow{"KeyAlone", encoded({{"tls.key", key}}),
               "data[tls.crt]: is missing: a certificate and its key are needed together"},
        BadRow{"NoPem", encoded({{"ca.crt", "hello"}, {"token", "t"}}),
               "data[ca.crt]: is no PEM text: -----BEGIN is expected"},
        BadRow{"NeitherTrueNorFalse", encoded({{"token", "t"}, {"insecure-skip-tls-verify", "yes"}}),
               "data[insecure-skip-tls-verify]: is neither true nor false"},
        BadRow{"CaAndNotVerified", encoded({{"token", "t"}, {"ca.crt", ca}, {"insecure-skip-tls-verify", "true"}}),
               "data[insecure-skip-tls-verify]: a CA, and not to verify, contradict each other: take one of them out"},
        BadRow{"TwoLogins", encoded({{"token", "t"}, {"kubeconfig", "x"}}),
               "data[token]: stands beside kubeconfig: one way to log in is enough"},
        BadRow{"KubeconfigNamesAFile",
               encoded({{"kubeconfig",
                         kubeconfig("server: 'https://h', certificate-authority: /etc/passwd", "token: t")}}),
               "data[kubeconfig]: certificate-authority: names a file: certificate-authority-data must carry its "
               "content"},
        BadRow{"KubeconfigRunsAProgram",
               encoded({{"kubeconfig", kubeconfig("server: 'https://h'", "exec: {command: x}")}}),
               "data[kubeconfig]: user.exec: is not supported: a token, or a client certificate and its key, is "
               "needed"},
        BadRow{"KubeconfigIsNone", encoded({{"kubeconfig", "- 1"}}),
               "data[kubeconfig]: is no kubeconfig: one YAML map is expected"},
        BadRow{"InTheClear", encoded({{"token", "t"}}),
               "spec.server: must be an https address: credentials are not sent in the clear", "http://spoke:8080"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace fairlead::cluster
