// Where a walk over a value stands, as a chain of steps on the stack: nothing is allocated until an error needs text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead::resource {

struct Path {
    const Path* parent = nullptr;
    std::string_view name;  // a member, unless this is an index or the root
    std::size_t index = 0;
    enum class Step { root, member, index } step = Step::root;

    [[nodiscard]] Path member(std::string_view member_name) const { return {this, member_name, 0, Step::member}; }
    [[nodiscard]] Path item(std::size_t item_index) const { return {this, {}, item_index, Step::index}; }

    // "spec.endpoints[2].dnsName"; "" for the root.
    [[nodiscard]] std::string text() const {
        std::string out;
        append_to(out);
        return out;
    }

    void append_to(std::string& out) const {
        switch (step) {
            case Step::root:
                return;
            case Step::member:
                parent->append_to(out);
                if (!out.empty()) out += '.';
                out += name;
                return;
            case Step::index:
                parent->append_to(out);
                out += '[' + std::to_string(index) + ']';
                return;
        }
    }
};

}  // namespace fairlead::resource
