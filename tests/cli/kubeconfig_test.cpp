#include "cli/kubeconfig.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fake_server.h"

namespace fairlead::cli {
namespace {

// "ca", "cert" and "key" in base64.
const std::string whole = R"(apiVersion: v1
kind: Config
current-context: main
clusters:
- name: c1
  cluster: {server: "https://127.0.0.1:7443", certificate-authority-data: Y2E=}
- name: c2
  cluster: {server: "https://10.0.0.1:6443", insecure-skip-tls-verify: true}
users:
- name: admin
  user: {client-certificate-data: Y2VydA==, client-key-data: a2V5}
- name: robot
  user: {token: secret}
contexts:
- name: main
  context: {cluster: c1, user: admin}
- name: other
  context: {cluster: c2, user: robot, namespace: shop}
- name: nobody
  context: {cluster: c2}
- name: broken
  context: {cluster: missing, user: admin}
)";

TEST(Kubeconfig, CurrentContext) {
    const auto connection = parse_kubeconfig(whole, "/etc/k", "");
    ASSERT_TRUE(connection) << connection.error().text();
    EXPECT_EQ(connection->server, "https://127.0.0.1:7443");
    EXPECT_EQ(connection->ca_pem, "ca");
    EXPECT_EQ(connection->certificate_pem, "cert");
    EXPECT_EQ(connection->key_pem, "key");
    EXPECT_EQ(connection->name_space, "default");
    EXPECT_FALSE(connection->insecure_skip_verify);
}

TEST(Kubeconfig, NamedContext) {
    const auto connection = parse_kubeconfig(whole, "/etc/k", "other");
    ASSERT_TRUE(connection) << connection.error().text();
    EXPECT_EQ(connection->server, "https://10.0.0.1:6443");
    EXPECT_EQ(connection->token, "secret");
    EXPECT_EQ(connection->name_space, "shop");
    EXPECT_TRUE(connection->insecure_skip_verify);
}

TEST(Kubeconfig, ContextWithoutUser) { EXPECT_TRUE(parse_kubeconfig(whole, "/etc/k", "nobody")); }

TEST(Kubeconfig, FilesAreRelativeToIt) {
    const auto folder = std::filesystem::path(testing::TempDir()) / "kubeconfig_files";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "ca.pem") << "from file";
    const auto connection = parse_kubeconfig(
        "current-context: x\nclusters: [{name: x, cluster: {server: 'https://h', certificate-authority: ca.pem}}]\n"
        "contexts: [{name: x, context: {cluster: x}}]\n",
        folder / "config", "");
    ASSERT_TRUE(connection) << connection.error().text();
    EXPECT_EQ(connection->ca_pem, "from file");
    std::filesystem::remove_all(folder);
}

struct BadRow {
    const char* name;
    std::string text, context, message;
};
class BadKubeconfig : public testing::TestWithParam<BadRow> {};
TEST_P(BadKubeconfig, NamesWhatIsWrong) {
    const auto connection = parse_kubeconfig(GetParam().text, "/etc/k", GetParam().context);
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().text(), GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(
    Kubeconfig, BadKubeconfig,
    testing::Values(
        BadRow{"unknown_context", whole, "nope", "/etc/k: contexts: there is no entry named \"nope\""},
        BadRow{"unknown_cluster", whole, "broken", "/etc/k: clusters: there is no entry named \"missing\""},
        BadRow{"no_current", "clusters: []", "", "/etc/k: current-context: is not set: name one with --context"},
        BadRow{"no_map", "- 1", "", "/etc/k: is no kubeconfig: one YAML map is expected"},
        BadRow{
            "bad_yaml", "a: [", "",
            "/etc/k: invalid YAML at line 2 column 1: while parsing a flow node, did not find expected node content"},
        BadRow{"bad_server",
               "current-context: x\nclusters: [{name: x, cluster: {server: 'ftp://h'}}]\ncontexts: [{name: x, context: "
               "{cluster: x}}]",
               "", "/etc/k: server: \"ftp://h\" is no http or https address"},
        BadRow{"bad_base64",
               "current-context: x\nclusters: [{name: x, cluster: {server: 'https://h', certificate-authority-data: "
               "'!!'}}]\ncontexts: [{name: x, context: {cluster: x}}]",
               "", "/etc/k: certificate-authority-data: is not base64"},
        BadRow{"certificate_without_key",
               "current-context: x\nclusters: [{name: x, cluster: {server: 'https://h'}}]\nusers: [{name: u, user: "
               "{client-certificate-data: Y2E=}}]\n"
               "contexts: [{name: x, context: {cluster: x, user: u}}]",
               "", "/etc/k: client-certificate: a certificate and its key are needed together"}),
    [](const auto& row) { return row.param.name; });

struct PathRow {
    const char* name;
    ConnectionOptions options;
    std::map<std::string, std::string> variables;
    std::string path;
};
class KubeconfigPath : public testing::TestWithParam<PathRow> {};
TEST_P(KubeconfigPath, IsFound) {
    FakeTerminal screen;
    screen.variables = GetParam().variables;
    EXPECT_EQ(kubeconfig_path(GetParam().options, screen.terminal), GetParam().path);
}
ConnectionOptions with(std::string kubeconfig, std::string data_dir) {
    ConnectionOptions options;
    options.kubeconfig = std::move(kubeconfig);
    options.data_dir = std::move(data_dir);
    return options;
}
INSTANTIATE_TEST_SUITE_P(
    Kubeconfig, KubeconfigPath,
    testing::Values(
        PathRow{"flag_wins", with("/a", "/d"), {{"KUBECONFIG", "/b"}}, "/a"},
        PathRow{"typed_data_dir_before_environment", with("", "/d"), {{"KUBECONFIG", "/b"}}, "/d/admin.kubeconfig"},
        PathRow{"environment", with("", ""), {{"KUBECONFIG", "/b:/c"}, {"HOME", "/h"}}, "/b"},
        PathRow{"state_home", with("", ""), {{"XDG_STATE_HOME", "/s"}, {"HOME", "/h"}}, "/s/fairlead/admin.kubeconfig"},
        PathRow{"home", with("", ""), {{"HOME", "/h"}}, "/h/.local/state/fairlead/admin.kubeconfig"}),
    [](const auto& row) { return row.param.name; });

TEST(Kubeconfig, MissingFileSaysWhatToDo) {
    FakeTerminal screen;
    const auto connection = find_connection(with("/no/such/file", ""), screen.terminal);
    ASSERT_FALSE(connection);
    EXPECT_NE(connection.error().text().find("/no/such/file"), std::string::npos);
    EXPECT_NE(connection.error().text().find("fairlead serve"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::cli
