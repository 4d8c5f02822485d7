#include "proxy/problems.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::proxy {

void Problems::add(const std::string& owner, std::string text) {
    auto& known = all_[owner];
    if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(std::move(text));
}

std::map<std::string, std::string> Problems::texts() const {
    std::map<std::string, std::string> texts;
    for (const auto& [owner, all] : all_) {
        const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), shown));
        texts[owner] = join(std::vector<std::string>(all.begin(), end), "; ") +
                       (all.size() > shown ? fmt::format("; and {} more", all.size() - shown) : "");
    }
    return texts;
}

}  // namespace fairlead::proxy
