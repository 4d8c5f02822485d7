// TLS through a real HAProxy: certificates by SNI, re-encryption, passthrough, policies; asked with curl and openssl.
#include <fmt/core.h>

#include <array>
#include <cstdio>

#include "proxy/haproxy/pem.h"
#include "proxy/world.h"

namespace fairlead::proxy::haproxy {
namespace {

std::string output(const std::string& command) {
    std::string text;
    auto* pipe = ::popen((command + " 2>&1").c_str(), "r");
    std::array<char, 4096> buffer{};
    while (const auto got = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), got);
    ::pclose(pipe);
    return text;
}

// What curl says over TLS, with the code and version of HTTP at its end.
std::string ask(const World& world, const std::string& host, const std::string& more = "",
                const std::string& path = "/") {
    return output(
        fmt::format("curl -sk -m 5 --resolve {0}:{1}:127.0.0.1 -w '%{{http_code}} %{{http_version}}' {2} "
                    "https://{0}:{1}{3}",
                    host, world.https(), more, path));
}

// Subject of the certificate that is shown for a name.
std::string shown(const World& world, const std::string& name) {
    const auto text =
        output(fmt::format("openssl s_client -connect 127.0.0.1:{} -servername {} </dev/null 2>/dev/null | "
                           "openssl x509 -noout -subject",
                           world.https(), name));
    const auto at = text.find("CN = ");
    return at == std::string::npos ? text : std::string(trim(std::string_view(text).substr(at + 5)));
}

// A member that speaks TLS with this certificate: openssl's own server, which answers with the request.
class TlsMember {
public:
    TlsMember(const World& world, const std::string& name, const std::string& pem) : port_(free_port()) {
        const auto file = world.directory() / (name + ".pem");
        EXPECT_TRUE(write_file(file, pem, 0600));
        std::fflush(stdout);
        pid_ = ::fork();
        if (pid_ == 0) {
            const auto port = std::to_string(port_);
            std::freopen("/dev/null", "r", stdin);
            std::freopen("/dev/null", "w", stdout);
            std::freopen("/dev/null", "w", stderr);
            ::execlp("openssl", "openssl", "s_server", "-accept", port.c_str(), "-cert", file.c_str(), "-key",
                     file.c_str(), "-www", nullptr);
            ::_exit(1);
        }
        EXPECT_TRUE(eventually([&] { return Client(port_).connected(); }));
    }
    ~TlsMember() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    TlsMember(const TlsMember&) = delete;
    TlsMember& operator=(const TlsMember&) = delete;
    [[nodiscard]] traffic::Member member() const { return {"127.0.0.1", port_, 1, traffic::MemberState::ready, ""}; }

private:
    std::uint16_t port_;
    pid_t pid_;
};

void add_tls(traffic::RoutingTable& table, const std::string& name, const std::string& host,
             std::vector<traffic::Member> members, traffic::Tls tls = traffic::Tls::terminate,
             traffic::Plain plain = traffic::Plain::serve) {
    add_route(table, name, {host, false, ""}, std::move(members));
    table.rules[{host, false, ""}].tls = tls;
    table.rules[{host, false, ""}].plain = plain;
}

std::string only_certificate(const std::string& pem) { return pem.substr(0, pem.find("-----BEGIN PRIVATE KEY")); }

TEST(Tls, TerminatesWithTheCertificateOfTheHost) {
    World world;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_tls(table, "a", "a.test", {one.member()});
    add_tls(table, "b", "b.test", {one.member()});
    add_route(table, "w", {"acme.test", true, ""}, {one.member()});
    table.rules[{"acme.test", true, ""}].tls = traffic::Tls::terminate;
    add_route(table, "plain", {"plain.test", false, ""}, {one.member()});
    table.certificates["a.test"] = {*make_self_signed("for a"), "a"};
    table.certificates["*.acme.test"] = {*make_self_signed("for acme"), "w"};
    world.want(table);
    EXPECT_TRUE(ask(world, "a.test").ends_with("200 2")) << ask(world, "a.test");
    EXPECT_TRUE(ask(world, "a.test", "--http1.1").ends_with("200 1.1"));
    EXPECT_TRUE(ask(world, "plain.test").ends_with("404 2")) << "a route without TLS";
    EXPECT_EQ(shown(world, "a.test"), "for a");
    EXPECT_EQ(shown(world, "b.test"), "fairlead router");
    EXPECT_EQ(shown(world, "www.acme.test"), "for acme");
    const auto seen = lower(ask(world, "a.test"));
    EXPECT_NE(seen.find("x-forwarded-proto: https"), std::string::npos) << seen;
    EXPECT_NE(seen.find(fmt::format("x-forwarded-port: {}", world.https())), std::string::npos) << seen;
    EXPECT_NE(seen.find("x-forwarded-for: 127.0.0.1"), std::string::npos) << "the address of the client is kept";
    EXPECT_NE(seen.find("proto=https"), std::string::npos) << seen;
    // Renewed, and withdrawn.
    table.certificates["a.test"].pem = *make_self_signed("renewed");
    world.want(table);
    EXPECT_EQ(shown(world, "a.test"), "renewed");
    table.certificates.erase("a.test");
    world.want(table);
    EXPECT_EQ(shown(world, "a.test"), "fairlead router");
    table.certificates["a.test"] = {*make_self_signed("once more"), "a"};
    world.want(table);
    EXPECT_EQ(shown(world, "a.test"), "once more");
    EXPECT_EQ(world.driver->progress().reloads, 0U);
}

TEST(Tls, ABadCertificateIsItsOwnersProblemAlone) {
    World world;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    for (const auto* name : {"good", "broken", "other"})
        add_tls(table, name, std::string(name) + ".test", {one.member()});
    const auto key_of_another = *make_self_signed("x");
    table.certificates["good.test"] = {*make_self_signed("good"), "good"};
    table.certificates["broken.test"] = {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "broken"};
    table.certificates["other.test"] = {only_certificate(*make_self_signed("other")) +
                                            key_of_another.substr(key_of_another.find("-----BEGIN PRIVATE KEY")),
                                        "other"};
    world.want(table);
    EXPECT_EQ(shown(world, "good.test"), "good");
    EXPECT_EQ(shown(world, "broken.test"), "fairlead router");
    auto problems = world.driver->progress().problems;
    EXPECT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems["other"], "certificate: the key does not belong to the certificate");
    EXPECT_NE(problems["broken"].find("certificate: "), std::string::npos);
    table.certificates["other.test"].pem = *make_self_signed("mended");
    world.want(table);
    EXPECT_EQ(shown(world, "other.test"), "mended");
    EXPECT_EQ(world.driver->progress().problems.size(), 1U);
}

TEST(Tls, CertificatesAreThereAfterAReloadAndForANewDriver) {
    World world;
    world.leave_running = true;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_tls(table, "a", "a.test", {one.member()});
    table.certificates["a.test"] = {*make_self_signed("for a"), "a"};
    table.certificates["gone.test"] = {*make_self_signed("gone"), "a"};
    world.want(table);
    world.lose_driver();
    world.options.settings.client_timeout = 31s;  // a reload
    world.start();
    EXPECT_EQ(shown(world, "a.test"), "for a");
    table.certificates.erase("gone.test");
    world.want(table);
    EXPECT_EQ(shown(world, "a.test"), "for a");
    EXPECT_EQ(shown(world, "gone.test"), "fairlead router");
}

TEST(Tls, PlainRequestsAreServedRedirectedOrRefused) {
    World world;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_tls(table, "s", "serve.test", {one.member()});
    add_tls(table, "r", "redirect.test", {one.member()}, traffic::Tls::terminate, traffic::Plain::redirect);
    add_tls(table, "x", "refuse.test", {one.member()}, traffic::Tls::terminate, traffic::Plain::refuse);
    world.want(table);
    EXPECT_EQ(world.get("serve.test").status, 200);
    EXPECT_EQ(world.get("refuse.test").status, 404);
    const auto moved = world.get("redirect.test", "/a?b=c");
    EXPECT_EQ(moved.status, 302);
    EXPECT_NE(moved.head.find(fmt::format("location: https://redirect.test:{}/a?b=c", world.https())),
              std::string::npos)
        << moved.head;
}

TEST(Tls, PassesThroughByName) {
    World world;
    const Member one("one");
    const TlsMember inner(world, "inner", *make_self_signed("the member's own"));
    world.start();
    traffic::RoutingTable table;
    add_tls(table, "pass", "pass.test", {inner.member()}, traffic::Tls::passthrough, traffic::Plain::redirect);
    table.pools["pass"].protocol = traffic::PoolProtocol::tcp;
    add_tls(table, "end", "end.test", {one.member()});
    world.want(table);
    EXPECT_EQ(shown(world, "pass.test"), "the member's own");
    EXPECT_EQ(shown(world, "end.test"), "fairlead router");
    EXPECT_TRUE(ask(world, "end.test").ends_with("200 2"));
    EXPECT_EQ(world.get("pass.test").status, 302);
}

TEST(Tls, ReEncryptsAndTrustsOnlyTheCaOfTheRoute) {
    World world;
    const auto right = *make_self_signed("inner.test"), wrong = *make_self_signed("inner.test");
    const TlsMember inner(world, "inner", right);
    world.start();
    traffic::RoutingTable table;
    add_tls(table, "any", "any.test", {inner.member()});
    table.pools["any"].tls = traffic::MemberTls{};
    add_tls(table, "checked", "checked.test", {inner.member()});
    table.pools["checked"].tls = traffic::MemberTls{only_certificate(right), "inner.test"};
    add_tls(table, "wrong", "wrong.test", {inner.member()});
    table.pools["wrong"].tls = traffic::MemberTls{only_certificate(wrong), "inner.test"};
    add_tls(table, "name", "name.test", {inner.member()});
    table.pools["name"].tls = traffic::MemberTls{only_certificate(right), "another.test"};
    add_tls(table, "bad", "bad.test", {inner.member()});
    table.pools["bad"].tls = traffic::MemberTls{"no PEM at all", "inner.test"};
    world.want(table);
    const auto code = [&](const std::string& host) {
        const auto text = ask(world, host, "-o /dev/null");
        return text.substr(0, 3);
    };
    // Several times: a member without a name for SNI once ended connections of clients, by chance.
    for (int i = 0; i < 5; ++i) EXPECT_EQ(code("any.test"), "200");
    EXPECT_EQ(code("checked.test"), "200");
    EXPECT_EQ(code("wrong.test"), "503");
    EXPECT_EQ(code("name.test"), "503");
    EXPECT_EQ(code("bad.test"), "503");
    const auto problems = world.driver->progress().problems;
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_NE(problems.at("bad").find("destination CA"), std::string::npos);
    table.pools["wrong"].tls->ca_pem = only_certificate(right);
    table.pools["checked"].tls->ca_pem = "no PEM any more";
    world.want(table);
    EXPECT_EQ(code("wrong.test"), "200");
    EXPECT_EQ(code("checked.test"), "503");
    EXPECT_EQ(world.driver->progress().reloads, 0U);
}

}  // namespace
}  // namespace fairlead::proxy::haproxy
