// Which objects belong to a key of our choice ("the Routes of a Router"): many to many, ordered, O(log n). A value;
// used by one thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::control {

class Index {
public:
    using Names = std::set<std::string, std::less<>>;

    // Replaces the keys under which `name` is found; none removes it.
    void set(std::string_view name, const std::vector<std::string>& keys);
    void erase(std::string_view name);
    // The names under the key, in order; empty if there are none.
    [[nodiscard]] const Names& find(std::string_view key) const;
    [[nodiscard]] std::size_t size() const { return keys_of_.size(); }

private:
    std::map<std::string, Names, std::less<>> names_of_;
    std::map<std::string, std::vector<std::string>, std::less<>> keys_of_;
    Names none_;
};

}  // namespace fairlead::control
