#include "dnsinfo/name_order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::dnsinfo {
namespace {

dns::Name name_of(std::string_view text) { return dns::Name::parse(text).value(); }

std::vector<std::string> sorted(const std::vector<std::string>& texts) {
    NameOrder order;
    for (const auto& text : texts) EXPECT_TRUE(order.add(name_of(text)));
    order.sort();
    std::vector<std::string> out;
    for (std::size_t i = 0; i < order.size(); ++i) out.push_back(order.at(i).text());
    return out;
}

// The example of RFC 4034 section 6.1.
TEST(NameOrder, IsCanonical) {
    EXPECT_EQ(
        sorted({"\\200.z.example", "*.z.example", "zABC.a.EXAMPLE", "Z.a.example", "example", "\\001.z.example",
                "yljkjljk.a.example", "z.example", "a.example"}),
        (std::vector<std::string>{"example.", "a.example.", "yljkjljk.a.example.", "z.a.example.", "zabc.a.example.",
                                  "z.example.", "\\001.z.example.", "*.z.example.", "\\200.z.example."}));
    EXPECT_EQ(sorted({"a\\000b.example", "a.example", ".", "a\\000.example", "b.a.example"}),
              (std::vector<std::string>{".", "a.example.", "b.a.example.", "a\\000.example.", "a\\000b.example."}));
}

// The last label first.
std::vector<std::string> labels_of(dns::Name name) {
    std::vector<std::string> all;
    for (; !name.is_root(); name = name.parent()) all.emplace(all.begin(), name.first_label());
    return all;
}

RC_GTEST_PROP(NameOrder, AgreesWithTheDefinition, ()) {
    std::vector<dns::Name> names;
    NameOrder order;
    const auto count = *rc::gen::inRange(0, 20);
    for (int i = 0; i < count; ++i) {
        dns::Name name;
        const auto labels = *rc::gen::inRange(0, 4);
        for (int j = 0; j < labels; ++j) {
            const auto label = *rc::gen::nonEmpty(
                rc::gen::container<std::string>(rc::gen::element('\0', '\1', 'a', 'b', '.', static_cast<char>(0xff))));
            if (label.size() <= dns::max_label_bytes) {
                if (auto child = name.child(label)) name = *child;
            }
        }
        RC_ASSERT(order.add(name));
        names.push_back(name);
    }
    // Bytes compare as unsigned in std::string, and a shorter text comes first.
    std::stable_sort(names.begin(), names.end(),
                     [](const dns::Name& a, const dns::Name& b) { return labels_of(a) < labels_of(b); });
    order.sort();
    for (std::size_t i = 0; i < names.size(); ++i) RC_ASSERT(order.at(i) == names[i]);
}

}  // namespace
}  // namespace fairlead::dnsinfo
