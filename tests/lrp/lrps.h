// Makers of processes and instances for the tests of this folder.
#pragma once

#include <fmt/core.h>

#include "lrp/book.h"

namespace fairlead::lrp {

inline Tag tag(std::int64_t index, const std::string& epoch = "e") { return {epoch, index}; }

// Opens 4000 and 5000; "foo.com" leads to 4000.
inline Desired process(const std::string& guid, std::int64_t version = 0, std::int32_t instances = 3) {
    Desired desired;
    desired.key = {"", guid};
    desired.domain = "cf";
    desired.app = "app-" + guid;
    desired.instances = instances;
    desired.ports = {4000, 5000};
    desired.routes.http = {{.port = 4000, .names = {guid + ".test"}}};
    desired.routes.providers = {"cf-router"};
    desired.tag = tag(version);
    return desired;
}

// Runs at 10.0.0.N, 4000 -> host, 5000 -> host + 1000.
inline Actual instance(const std::string& guid, std::int32_t index, std::int64_t version = 0, int cell = 1,
                       std::uint16_t host = 0) {
    Actual actual;
    actual.process = {"", guid};
    actual.index = index;
    actual.instance_guid = fmt::format("{}-{}", guid, index);
    actual.domain = "cf";
    actual.running = true;
    actual.address = fmt::format("10.0.0.{}", cell);
    if (host == 0) host = static_cast<std::uint16_t>(59000 + index);
    actual.ports = {{4000, host, 0}, {5000, static_cast<std::uint16_t>(host + 1000), 0}};
    actual.since = 100;
    actual.tag = tag(version, fmt::format("i{}", index));
    return actual;
}

// "0=10.0.0.1:59000 1=..."
inline std::string shown(const std::vector<Endpoint>& endpoints) {
    std::string text;
    for (const auto& each : endpoints) {
        text += fmt::format("{}{}={}:{}", text.empty() ? "" : " ", each.index, each.address, each.port);
    }
    return text;
}
inline std::string at(const Book& book, const std::string& guid, std::uint16_t port = 4000) {
    return shown(book.endpoints({"", guid}, port));
}

}  // namespace fairlead::lrp
