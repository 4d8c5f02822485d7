// Signature V4 against the values that AWS publishes: its test suite for signers, and the example of its documentation.
#include "aws/signer.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fairlead::aws {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

const SigningKeys example_keys{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", {}};
const WallTime example_time = *from_rfc3339("2015-08-30T12:36:00Z");

struct Case {
    const char* name;
    SigningRequest request;
    const char* signed_headers;
    const char* signature;
};

std::string authorization(const Signature& signature) { return signature.headers.back().second; }

Pairs host_and(Pairs more) {
    more.insert(more.begin(), {"Host", "example.amazonaws.com"});
    return more;
}

std::vector<Case> suite() {
    const auto host = host_and({});
    const std::string unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const std::string form = "application/x-www-form-urlencoded";
    return {
        {"get-vanilla",
         {"GET", "/", {}, host, ""},
         "host;x-amz-date",
         "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        {"get-vanilla-query-order-key-case",
         {"GET", "/", {{"Param2", "value2"}, {"Param1", "value1"}}, host, ""},
         "host;x-amz-date",
         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
        {"get-vanilla-empty-query-key",
         {"GET", "/", {{"Param1", "value1"}}, host, ""},
         "host;x-amz-date",
         "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
        {"get-vanilla-query-unreserved",
         {"GET", "/", {{unreserved, unreserved}}, host, ""},
         "host;x-amz-date",
         "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
        {"get-unreserved",
         {"GET", "/" + unreserved, {}, host, ""},
         "host;x-amz-date",
         "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
        {"get-utf8",
         {"GET", "/\u1234", {}, host, ""},
         "host;x-amz-date",
         "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
        {"get-space-normalized",
         {"GET", "/example space/", {}, host, ""},
         "host;x-amz-date",
         "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
        {"get-header-value-trim",
         {"GET", "/", {}, host_and({{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}}), ""},
         "host;my-header1;my-header2;x-amz-date",
         "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
        {"get-header-key-duplicate",
         {"GET", "/", {}, host_and({{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}}), ""},
         "host;my-header1;x-amz-date",
         "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
        {"get-header-value-multiline",
         {"GET", "/", {}, host_and({{"My-Header1", "value1\n  value2\n     value3"}}), ""},
         "host;my-header1;x-amz-date",
         "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd"},
        {"post-vanilla",
         {"POST", "/", {}, host, ""},
         "host;x-amz-date",
         "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
        {"post-header-key-sort",
         {"POST", "/", {}, host_and({{"My-Header1", "value1"}}), ""},
         "host;my-header1;x-amz-date",
         "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
        {"post-x-www-form-urlencoded",
         {"POST",
          "/",
          {},
          host_and({{"Content-Type", form},
                    {"Content-Length", "13"},
                    {"x-amz-content-sha256", sha256_hex("Param1=value1")}}),
          "Param1=value1"},
         "content-length;content-type;host;x-amz-content-sha256;x-amz-date",
         "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b"},
    };
}

TEST(Signer, PublishedSuite) {
    for (const auto& each : suite()) {
        SCOPED_TRACE(each.name);
        const auto signature = sign(each.request, example_keys, {"us-east-1", "service"}, example_time);
        EXPECT_EQ(authorization(signature),
                  std::string("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                              "SignedHeaders=") +
                      each.signed_headers + ", Signature=" + each.signature)
            << signature.canonical_request;
    }
}

TEST(Signer, PublishedSuiteWithSessionToken) {
    auto keys = example_keys;
    keys.session_token = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267";
    const auto signature = sign({"GET", "/", {}, host_and({}), ""}, keys, {"us-east-1", "service"}, example_time);
    EXPECT_EQ(authorization(signature),
              "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
              "SignedHeaders=host;x-amz-date;x-amz-security-token, "
              "Signature=07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8");
    EXPECT_EQ(signature.headers[1], (std::pair<std::string, std::string>("x-amz-security-token", keys.session_token)));
}

TEST(Signer, ListUsersOfTheDocumentation) {
    const SigningRequest request{
        "GET",
        "/",
        {{"Action", "ListUsers"}, {"Version", "2010-05-08"}},
        {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}, {"Host", "iam.amazonaws.com"}},
        ""};
    const auto signature = sign(request, example_keys, {"us-east-1", "iam"}, example_time);
    EXPECT_EQ(sha256_hex(signature.canonical_request),
              "f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59");
    EXPECT_EQ(signature.string_to_sign,
              "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/iam/aws4_request\n"
              "f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59");
    EXPECT_EQ(authorization(signature),
              "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
              "SignedHeaders=content-type;host;x-amz-date, "
              "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
}

// RFC 4231, test cases 1 and 2.
TEST(Signer, HmacSha256) {
    EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace fairlead::aws
