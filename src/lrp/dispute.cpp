#include "lrp/dispute.h"

#include <algorithm>

namespace fairlead::lrp {

namespace {

template <class T>
void add_all(std::vector<T>& list, const std::vector<T>& more) {
    for (const auto& item : more) {
        if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    }
}

}  // namespace

Desired together(std::vector<Desired> rivals) {
    // The same whichever came first.
    std::sort(rivals.begin(), rivals.end(),
              [](const Desired& a, const Desired& b) { return a.tag.epoch > b.tag.epoch; });
    auto all = std::move(rivals.front());
    for (std::size_t i = 1; i < rivals.size(); ++i) {
        const auto& other = rivals[i];
        all.instances = std::max(all.instances, other.instances);
        add_all(all.ports, other.ports);
        add_all(all.routes.http, other.routes.http);
        add_all(all.routes.ports, other.routes.ports);
        add_all(all.routes.sky, other.routes.sky);
        add_all(all.routes.providers, other.routes.providers);
        for (const auto& [provider, problems] : other.routes.problems) add_all(all.routes.problems[provider], problems);
    }
    std::sort(all.routes.providers.begin(), all.routes.providers.end());
    return all;
}

}  // namespace fairlead::lrp
