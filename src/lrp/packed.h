// LRPs in one piece of memory each: a Desired takes a fifth of what it takes as a struct, and there are hundreds of
// thousands, of which few are looked at. Pure; used by the Book and by sources that remember what they have told it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lrp/lrp.h"

namespace fairlead::lrp {

class PackedDesired {
public:
    PackedDesired() = default;  // of nothing: holds no Desired
    explicit PackedDesired(const Desired& desired);

    // What is asked for most, read where it lies: good as long as this is.
    struct Head {
        std::string_view scope, guid;
        std::string_view epoch;
        std::int64_t version = 0;  // index of the tag
        std::string_view domain;
        std::int32_t instances = 0;

        [[nodiscard]] ProcessKey key() const { return {std::string(scope), std::string(guid)}; }
        [[nodiscard]] Tag tag() const { return {std::string(epoch), version}; }
    };
    [[nodiscard]] Head head() const;
    [[nodiscard]] bool is(const ProcessKey& key) const;
    [[nodiscard]] Desired unpacked() const;
    // Of two of one process.
    [[nodiscard]] bool same_but_tag(const PackedDesired& other) const;
    bool operator==(const PackedDesired&) const = default;

private:
    std::string bytes_;
};

class PackedActual {
public:
    explicit PackedActual(const Actual& actual);
    [[nodiscard]] Actual unpacked() const;

private:
    std::string bytes_;
};

}  // namespace fairlead::lrp
