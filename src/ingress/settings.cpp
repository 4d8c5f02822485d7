#include "ingress/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/text.h"

namespace fairlead::ingress {

namespace {

constexpr std::size_t max_cookie_bytes = 64;

class Annotations {
public:
    Annotations(const resource::Ingress& ingress, std::vector<route::Problem>& problems)
        : all_(ingress.metadata.annotations), problems_(problems) {}
    [[nodiscard]] std::string at(const std::string& name) const {
        const auto found = all_.find(name);
        return found != all_.end() ? found->second : std::string();
    }
    void bad(std::string_view name, std::string_view rule) {
        problems_.push_back(
            {"InvalidAnnotation", fmt::format("annotation {} is \"{}\": {}", name, at(std::string(name)), rule)});
    }
    // The value that the annotation names; `otherwise` if it is left out or none of them.
    template <class Value>
    Value choose(const std::string& name, const std::map<std::string, Value>& values, Value otherwise) {
        const auto text = at(name);
        if (text.empty()) return otherwise;
        if (const auto found = values.find(text); found != values.end()) return found->second;
        std::string names;
        for (const auto& [known, value] : values) names += (names.empty() ? "" : ", ") + known;
        bad(name, fmt::format("one of {} is expected", names));
        return otherwise;
    }

private:
    const std::map<std::string, std::string>& all_;
    std::vector<route::Problem>& problems_;
};

bool is_cookie_name(std::string_view name) {
    return name.size() <= max_cookie_bytes && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                      c == '-';
           });
}

}  // namespace

Settings settings_of(const resource::Ingress& ingress, std::vector<route::Problem>& problems) {
    using traffic::Balance;
    using traffic::Plain;
    Annotations annotations(ingress, problems);
    Settings settings;
    settings.plain = annotations.choose<Plain>(
        "fairlead.dev/insecure-policy",
        {{"Allow", Plain::serve}, {"None", Plain::refuse}, {"Redirect", Plain::redirect}}, settings.plain);
    settings.balance = annotations.choose<Balance>("fairlead.dev/balance",
                                                   {{"leastconn", Balance::least_connections},
                                                    {"random", Balance::random},
                                                    {"roundrobin", Balance::round_robin},
                                                    {"source", Balance::source}},
                                                   settings.balance);
    settings.proxy_protocol =
        annotations.choose<bool>("fairlead.dev/proxy-protocol", {{"none", false}, {"v2", true}}, false);
    constexpr auto timeout = "fairlead.dev/timeout";
    if (const auto text = annotations.at(timeout); !text.empty()) {
        settings.timeout = route::proxy_time(text);
        if (settings.timeout && settings.timeout->count() == 0) settings.timeout.reset();
        if (!settings.timeout) annotations.bad(timeout, "a time above 0 like 5s or 2m is expected");
    }
    constexpr auto cookie = "fairlead.dev/sticky-cookie";
    if (auto name = annotations.at(cookie); !name.empty()) {
        if (is_cookie_name(name)) {
            settings.sticky_cookie = std::move(name);
        } else {
            annotations.bad(cookie, fmt::format("letters, digits, - and _ are expected, {} at most", max_cookie_bytes));
        }
    }
    constexpr auto tcp = "fairlead.dev/tcp-port";
    if (const auto text = annotations.at(tcp); !text.empty()) {
        const auto number = parse_int(text);
        if (number && *number >= 1 && *number <= 65'535) {
            settings.tcp_port = static_cast<std::uint16_t>(*number);
        } else {
            annotations.bad(tcp, "a port from 1 to 65535 is expected");
        }
    }
    settings.check = route::check_of(ingress.metadata.annotations, problems);
    return settings;
}

}  // namespace fairlead::ingress
