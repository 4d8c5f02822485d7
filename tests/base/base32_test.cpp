#include "base/base32.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace fairlead {
namespace {

TEST(Base32, Vectors) {
    struct Row {
        const char *plain, *encoded;
    };
    // RFC 4648 section 10, without padding.
    const Row rows[] = {{"", ""},
                        {"f", "MY"},
                        {"fo", "MZXQ"},
                        {"foo", "MZXW6"},
                        {"foob", "MZXW6YQ"},
                        {"fooba", "MZXW6YTB"},
                        {"foobar", "MZXW6YTBOI"}};
    for (const auto& row : rows) {
        EXPECT_EQ(base32(row.plain), row.encoded);
        EXPECT_EQ(from_base32(row.encoded), std::string(row.plain));
    }
    for (const auto* bad : {"my", "M0", "M1", "MY======", "M Y"}) EXPECT_FALSE(from_base32(bad)) << bad;
}

TEST(Base32, ComesBackAsItWas) {
    rc::check([](const std::string& bytes) { RC_ASSERT(from_base32(base32(bytes)) == bytes); });
}

}  // namespace
}  // namespace fairlead
