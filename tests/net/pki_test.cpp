#include "net/pki.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "base/random.h"
#include "base/text.h"
#include "net/harness.h"

namespace fairlead::net::test {
namespace {

std::string output_of(const std::string& command) {
    std::string text;
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    std::array<char, 4096> buffer{};
    while (const auto got = fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), got);
    pclose(pipe);
    return text;
}

TEST(Pki, openssl_verifies_each_purpose) {
    const TestPki pki;
    const auto alice = pki.dir.write("alice.crt", pki.alice.certificate_pem);
    const auto verify = [&](const std::string& purpose, const std::string& file) {
        return output_of(
            fmt::format("openssl verify -x509_strict -purpose {} -CAfile {} {}", purpose, pki.files.client_ca, file));
    };
    EXPECT_NE(verify("sslserver", pki.files.certificate).find(": OK"), std::string::npos);
    EXPECT_NE(verify("sslserver -verify_ip 127.0.0.1", pki.files.certificate).find(": OK"), std::string::npos);
    EXPECT_NE(verify("sslserver -verify_hostname localhost", pki.files.certificate).find(": OK"), std::string::npos);
    EXPECT_NE(verify("sslclient", alice).find(": OK"), std::string::npos);
    EXPECT_EQ(verify("sslserver", alice).find(": OK"), std::string::npos);
    EXPECT_EQ(verify("sslclient", pki.files.certificate).find(": OK"), std::string::npos);
    EXPECT_EQ(verify("sslserver -verify_ip 127.0.0.2", pki.files.certificate).find(": OK"), std::string::npos);
}

TEST(Pki, certificates_carry_the_extensions_that_clients_check) {
    const TestPki pki;
    const auto text = output_of("openssl x509 -noout -text -in " + pki.files.certificate);
    for (const std::string part :
         {"CA:FALSE", "Digital Signature", "TLS Web Server Authentication", "IP Address:127.0.0.1", "DNS:localhost",
          "Subject Key Identifier", "Authority Key Identifier", "P-256", "ecdsa-with-SHA256", "Version: 3"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
    }
    const auto ca = output_of("openssl x509 -noout -text -in " + pki.files.client_ca);
    for (const std::string part : {"CA:TRUE", "Certificate Sign", "Subject Key Identifier"}) {
        EXPECT_NE(ca.find(part), std::string::npos) << part << " is not in\n" << ca;
    }
}

TEST(Pki, serials_have_128_bits_and_differ) {
    const TestPki pki;
    const auto serial = [](const std::string& file) { return output_of("openssl x509 -noout -serial -in " + file); };
    const auto one = serial(pki.files.certificate), two = serial(pki.files.client_ca);
    EXPECT_EQ(one.size(), std::string("serial=\n").size() + 32) << one;
    EXPECT_NE(one, two);
}

TEST(Pki, inspect_says_what_was_asked_for) {
    const ManualClock clock;
    SystemRandom random;
    const auto ca = make_ca("CA", std::chrono::hours{1'000}, clock, random).value();
    const CertificateRequest request{
        "server", {"one", "two"}, {"a.example", "*.b.example", "10.0.0.1", "::1"}, std::chrono::hours{10}};
    const auto pair = make_certificate(request, ca, clock, random).value();
    const auto info = inspect_certificate(pair.certificate_pem).value();
    EXPECT_EQ(info.common_name, "server");
    EXPECT_EQ(info.organizations, request.organizations);
    EXPECT_EQ(info.subject_alternative_names, request.subject_alternative_names);
    EXPECT_EQ(info.not_after, clock.now() + std::chrono::hours{10});
}

TEST(Pki, a_certificate_does_not_outlive_its_ca) {
    ManualClock clock;
    SystemRandom random;
    const auto ca = make_ca("CA", std::chrono::hours{10}, clock, random).value();
    const auto pair = make_certificate({"x", {}, {}, std::chrono::hours{20}}, ca, clock, random).value();
    EXPECT_EQ(inspect_certificate(pair.certificate_pem)->not_after, clock.now() + std::chrono::hours{10});
    clock.advance(std::chrono::hours{11});
    const auto late = make_certificate({"x", {}, {}, std::chrono::hours{20}}, ca, clock, random);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().text(), "ca.certificate_pem: has expired");
}

TEST(Pki, refuses_what_would_make_a_bad_certificate) {
    const SystemClock clock;
    SystemRandom random;
    const std::chrono::hours day{24};
    const auto ca = make_ca("CA", day, clock, random).value();
    const auto other = make_ca("other", day, clock, random).value();
    struct Row {
        const char* name;
        CertificateRequest request;
        KeyPair ca;
        const char* field;
    };
    for (const auto& row : {
             Row{"no name", {"", {}, {}, day}, ca, "common_name"},
             Row{"long name", {std::string(65, 'x'), {}, {}, day}, ca, "common_name"},
             Row{"empty group", {"x", {""}, {}, day}, ca, "organizations"},
             Row{"injection in a name", {"x", {}, {"a.example,IP:1.2.3.4"}, day}, ca, "subject_alternative_names"},
             Row{"no time", {"x", {}, {}, std::chrono::hours{0}}, ca, "valid_for"},
             Row{"not a CA", {"x", {}, {}, day}, {"nonsense", ca.key_pem}, "ca.certificate_pem"},
             Row{"not a key", {"x", {}, {}, day}, {ca.certificate_pem, "nonsense"}, "ca.key_pem"},
             Row{"key of another CA", {"x", {}, {}, day}, {ca.certificate_pem, other.key_pem}, "ca.key_pem"},
         }) {
        const auto made = make_certificate(row.request, row.ca, clock, random);
        ASSERT_FALSE(made) << row.name;
        EXPECT_EQ(made.error().code, Errc::invalid) << row.name;
        EXPECT_EQ(made.error().field, row.field) << row.name;
    }
    EXPECT_FALSE(inspect_certificate("nonsense"));
    EXPECT_FALSE(inspect_certificate(ca.key_pem));
}

}  // namespace
}  // namespace fairlead::net::test
