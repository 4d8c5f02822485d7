// Seeds of NKeys from files as people have them.
#include "proxy/gorouter/nkey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace fairlead::proxy::gorouter {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Made with openssl and nothing of ours.
const std::string seed = "SUAGFJLV6DMCFAXRUIUS7UOYCWCNUFOVVOCUTPD6FPTK6MHWOUIWOZUJMA";
const std::string public_key = "UDJUDXXX2AAH4KCQZMYFLP254P77RF7YJ42LWVWBXFCJGXEMOFKZTBBJ";

TEST(NKeyTest, IsFoundInAFileAndHasAPublicKey) {
    for (const auto& text : {seed, seed + "\n", "  " + seed + "\r\n" + public_key + "\n",
                             "-----BEGIN USER NKEY SEED-----\n" + seed + "\n------END USER NKEY SEED------\n"}) {
        const auto key = read_nkey(text);
        ASSERT_TRUE(key) << text << ": " << key.error().text();
        EXPECT_EQ(key->seed, seed);
        EXPECT_EQ(key->public_key, public_key);
    }
}

TEST(NKeyTest, WhatIsNoneIsRefusedAndNotShown) {
    struct Case {
        const char* name;
        std::string text, error;
    };
    const std::vector<Case> cases = {
        {"nothing", "", "no line begins with SU"},
        {"a public key", public_key, "no line begins with SU"},
        {"of an account", "SAAMFMPCAOMGCIICYXCPWF6SD5P36SAU3WVM3D2HIIFHATPRU6BNGO6HZI", "no line begins with SU"},
        {"too short", seed.substr(0, 57), "not 58 characters of A-Z and 2-7"},
        {"too long", seed + "A", "not 58 characters"},
        {"another alphabet", "SU1" + seed.substr(3), "not 58 characters"},
        {"another kind", "SU7" + seed.substr(3), "not of a user"},
        {"a wrong character", seed.substr(0, 30) + "A" + seed.substr(31), "checksum is wrong"},
    };
    for (const auto& test : cases) {
        const auto key = read_nkey(test.text);
        ASSERT_FALSE(key) << test.name;
        EXPECT_THAT(key.error().text(), HasSubstr(test.error)) << test.name;
        EXPECT_THAT(key.error().text(), Not(HasSubstr("FJLV6DMC"))) << test.name;
    }
}

}  // namespace

}  // namespace fairlead::proxy::gorouter
