// What a proxy cannot follow, by owner: the first few texts of each, and how many more there are. Used by the drivers.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fairlead::proxy {

class Problems {
public:
    static constexpr std::size_t shown = 3;  // of an owner; the rest is counted

    // The same text counts once.
    void add(const std::string& owner, std::string text);
    [[nodiscard]] std::map<std::string, std::string> texts() const;

private:
    std::map<std::string, std::vector<std::string>> all_;
};

}  // namespace fairlead::proxy
