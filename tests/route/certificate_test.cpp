#include "route/certificate.h"

#include "base/random.h"
#include "net/pki.h"
#include "route/world.h"

namespace fairlead::route {
namespace {

using namespace std::chrono_literals;

class Certificates : public testing::Test {
protected:
    ManualClock clock{*from_rfc3339("2026-03-01T12:00:00Z")};
    SeededRandom random{7};
    net::KeyPair ca = *net::make_ca("Test CA", 24h * 3650, clock, random);
    net::KeyPair shop = *net::make_certificate(
        {.common_name = "shop", .subject_alternative_names = {"shop.example.com"}, .valid_for = 24h}, ca, clock,
        random);
    net::KeyPair other = *net::make_certificate({.common_name = "other"}, ca, clock, random);
};

TEST_F(Certificates, AreWrittenAnew) {
    const auto parsed =
        parse_certificate("# a comment\n" + shop.certificate_pem + "\n\n", "junk before\n" + shop.key_pem,
                          ca.certificate_pem + ca.certificate_pem + shop.certificate_pem);
    ASSERT_TRUE(parsed) << parsed.error().text();
    EXPECT_TRUE(parsed->pem.starts_with("-----BEGIN CERTIFICATE-----")) << parsed->pem;
    std::size_t certificates = 0;
    for (auto at = parsed->pem.find("BEGIN CERT"); at != std::string::npos;
         at = parsed->pem.find("BEGIN CERT", at + 1)) {
        ++certificates;
    }
    EXPECT_EQ(certificates, 2U) << "each once: the certificate and its authority";
    EXPECT_NE(parsed->pem.find("BEGIN PRIVATE KEY"), std::string::npos);
    EXPECT_EQ(parsed->pem.find("comment"), std::string::npos);
    EXPECT_EQ(parsed->pem.find("junk"), std::string::npos);
    EXPECT_LE(parsed->not_before, clock.now());
    EXPECT_GT(parsed->not_after, clock.now() + 23h);
    EXPECT_LT(parsed->not_after, clock.now() + 25h);
    EXPECT_EQ(parse_certificate(parsed->pem, parsed->pem, ""), parsed) << "what was written reads the same";
}

TEST_F(Certificates, ErrorsNameTheFieldAndNoKey) {
    std::string broken = shop.certificate_pem;
    broken[broken.size() / 2] = '!';
    struct Row {
        const char* name;
        std::string certificate, key, chain, error;
    };
    const Row rows[] = {
        {"NoCertificate", "", shop.key_pem, "", "certificate: is missing"},
        {"NoPem", "hello", shop.key_pem, "", "certificate: is no PEM certificate"},
        {"BrokenPem", broken, shop.key_pem, "", "certificate: is no PEM certificate"},
        {"NoKey", shop.certificate_pem, "", "", "key: is no PEM private key"},
        {"KeyOfAnother", shop.certificate_pem, other.key_pem, "", "key: does not fit the certificate"},
        {"BrokenChain", shop.certificate_pem, shop.key_pem, broken, "caCertificate: is no PEM certificate"},
        {"TooLarge", std::string(2'000'000, 'x'), shop.key_pem, "", "certificate: has 2000000 bytes"},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto parsed = parse_certificate(row.certificate, row.key, row.chain);
        ASSERT_FALSE(parsed);
        EXPECT_TRUE(parsed.error().text().starts_with(row.error)) << parsed.error().text();
        const auto body = shop.key_pem.substr(40, 20);
        EXPECT_EQ(parsed.error().text().find(body), std::string::npos);
    }
}

TEST_F(Certificates, AuthoritiesAreWrittenAnew) {
    const auto parsed = parse_authorities("text\n" + ca.certificate_pem);
    ASSERT_TRUE(parsed) << parsed.error().text();
    EXPECT_TRUE(parsed->starts_with("-----BEGIN CERTIFICATE-----"));
    EXPECT_EQ(parse_authorities("nothing").error().field, "destinationCACertificate");
    EXPECT_EQ(parse_authorities("").error().message, "is missing");
}

class RouteCertificates : public Certificates {
protected:
    TestWorld world;
    resource::Route route =
        route_with("to: {name: web}, tls: {termination: edge, insecureEdgeTerminationPolicy: Redirect}");

    Part part() { return part_of(route, "edge", world.world()); }
    const traffic::Rule& rule(const Part& part) {
        return part.table.rules.at({.host = "cart.example.com", .wildcard = false, .path = ""});
    }
};

TEST_F(RouteCertificates, ComeFromTheRoute) {
    route.spec.tls->certificate = shop.certificate_pem;
    route.spec.tls->key = shop.key_pem;
    route.spec.tls->ca_certificate = ca.certificate_pem;
    const auto made = part();
    EXPECT_TRUE(made.problems.empty());
    ASSERT_TRUE(made.table.certificates.contains("cart.example.com"));
    EXPECT_EQ(made.table.certificates.at("cart.example.com").owner, "route/shop/cart");
    route.spec.wildcard_policy = "Subdomain";
    EXPECT_TRUE(part().table.certificates.contains("*.example.com"));
}

TEST_F(RouteCertificates, ComeFromASecret) {
    route.spec.tls->external_certificate = resource::LocalSecretReference{};
    route.spec.tls->external_certificate->name = "tls";
    EXPECT_EQ(secret_of(route), "shop/tls");
    auto made = part();
    ASSERT_EQ(made.problems.size(), 1U);
    EXPECT_EQ(made.problems[0].message,
              "there is no secret shop/tls of type kubernetes.io/tls that the router may read");
    EXPECT_TRUE(made.table.rules.empty()) << "TLS cannot be served, and nobody is redirected to it";

    auto& secret = world.secrets["shop/tls"];
    secret.data = {{"tls.crt", base64(shop.certificate_pem)}, {"tls.key", base64(shop.key_pem)}};
    made = part();
    EXPECT_TRUE(made.problems.empty());
    EXPECT_EQ(made.table.certificates.size(), 1U);
    EXPECT_EQ(rule(made).tls, traffic::Tls::terminate);

    secret.data["tls.key"] = base64(other.key_pem);
    made = part();
    ASSERT_EQ(made.problems.size(), 1U);
    EXPECT_EQ(made.problems[0], (Problem{"InvalidCertificate", "secret shop/tls: key: does not fit the certificate"}));
}

TEST_F(RouteCertificates, ABadOneLeavesWhatNeedsNone) {
    route.spec.tls->insecure_edge_termination_policy = "Allow";
    route.spec.tls->certificate = "x";
    route.spec.tls->key = "y";
    const auto made = part();
    ASSERT_EQ(made.problems.size(), 1U);
    EXPECT_TRUE(made.problems[0].message.starts_with("spec.tls.certificate: ")) << made.problems[0].message;
    EXPECT_EQ(rule(made).plain, traffic::Plain::serve);
    EXPECT_EQ(rule(made).tls, traffic::Tls::none);
    EXPECT_TRUE(made.table.certificates.empty());
}

TEST_F(RouteCertificates, ExpiredOnesAreServedAndTold) {
    route.spec.tls->certificate = shop.certificate_pem;
    route.spec.tls->key = shop.key_pem;
    world.now += 48h;
    const auto made = part();
    ASSERT_EQ(made.problems.size(), 1U);
    EXPECT_EQ(made.problems[0].reason, "CertificateExpired");
    EXPECT_EQ(made.table.certificates.size(), 1U);
}

TEST_F(RouteCertificates, WhomToTrustBehindARouteMustBeReadable) {
    route.spec.tls->termination = "reencrypt";
    route.spec.tls->destination_ca_certificate = ca.certificate_pem;
    route.metadata.annotations["fairlead.dev/destination-server-name"] = "web.shop.svc";
    auto made = part();
    EXPECT_TRUE(made.problems.empty());
    const auto& pool = made.table.pools.at("route/shop/cart");
    ASSERT_TRUE(pool.tls);
    EXPECT_FALSE(pool.tls->ca_pem.empty());
    EXPECT_EQ(pool.tls->server_name, "web.shop.svc");
    route.spec.tls->destination_ca_certificate = "x";
    made = part();
    EXPECT_TRUE(made.table.rules.empty());
    ASSERT_EQ(made.problems.size(), 1U);
    EXPECT_TRUE(made.problems[0].message.starts_with("spec.tls.destinationCACertificate: "));
}

}  // namespace
}  // namespace fairlead::route
