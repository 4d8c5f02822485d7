// News by the name of a group, for several readers of one source: a group may begin with the name of its reader and a
// bar ("routers|blue"), which no resource name contains. Pure; used under the lock of the source.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

// Takes those of one reader out; an empty reader: those that name none.
inline std::vector<std::string> take_news_of(std::set<std::string>& news, std::string_view reader) {
    std::vector<std::string> taken;
    for (auto at = news.begin(); at != news.end();) {
        const auto bar = at->find('|');
        const auto owner = bar == std::string::npos ? std::string_view() : std::string_view(*at).substr(0, bar);
        if (owner == reader) {
            taken.push_back(*at);
            at = news.erase(at);
        } else {
            ++at;
        }
    }
    return taken;
}

}  // namespace fairlead
