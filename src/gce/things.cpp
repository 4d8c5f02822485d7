#include "gce/things.h"

#include <algorithm>
#include <array>

namespace fairlead::gce {
namespace {

// Members that change what happens by being there.
constexpr std::array<std::string_view, 11> telling{
    "defaultRouteAction",      "defaultUrlRedirect",   "defaultService", "routeAction",  "service",  "urlRedirect",
    "weightedBackendServices", "faultInjectionPolicy", "hostRules",      "pathMatchers", "pathRules"};

// What the service leaves out of its answers.
bool empty(const json::Value& value) {
    if (value.is_null()) return true;
    if (value.is_bool()) return !value.get_bool();
    if (value.is_int64()) return value.get_int64() == 0;
    if (value.is_array()) return value.get_array().empty();
    if (value.is_object()) return value.get_object().empty();
    return value.is_string() && value.get_string().empty();
}

bool telling_member(std::string_view name) { return std::find(telling.begin(), telling.end(), name) != telling.end(); }

}  // namespace

std::string_view collection_of(Kind kind) {
    switch (kind) {
        case Kind::address:
            return "addresses";
        case Kind::health_check:
            return "healthChecks";
        case Kind::group:
            return "networkEndpointGroups";
        case Kind::certificate:
            return "sslCertificates";
        case Kind::service:
            return "backendServices";
        case Kind::url_map:
            return "urlMaps";
        case Kind::http_proxy:
            return "targetHttpProxies";
        case Kind::https_proxy:
            return "targetHttpsProxies";
        case Kind::rule:
            break;
    }
    return "forwardingRules";
}

std::string path_of(const Key& key) { return key.place + "/" + std::string(collection_of(key.kind)) + "/" + key.name; }

std::string reference(const std::string& project, const Key& key) { return "projects/" + project + "/" + path_of(key); }

std::string_view plain_reference(std::string_view url) {
    if (!url.starts_with("https://") && !url.starts_with("http://")) return url;
    const auto at = url.find("/projects/");
    return at == std::string_view::npos ? url : url.substr(at + 1);
}

json::Value json_of(const NetworkEndpoint& endpoint) {
    json::Object made;
    if (!endpoint.instance.empty()) made["instance"] = endpoint.instance;
    made["ipAddress"] = endpoint.address;
    made["port"] = endpoint.port;
    return made;
}

bool satisfies(const json::Value& present, const json::Value& wanted) {
    if (wanted.is_object()) {
        if (!present.is_object()) return empty(present) && empty(wanted);
        const auto& there = present.get_object();
        for (const auto& member : wanted.get_object()) {
            const auto* found = there.if_contains(member.key());
            if (found == nullptr ? !empty(member.value()) : !satisfies(*found, member.value())) return false;
        }
        return std::all_of(there.begin(), there.end(), [&](const auto& member) {
            return wanted.get_object().contains(member.key()) || !telling_member(member.key()) || empty(member.value());
        });
    }
    if (wanted.is_array()) {
        if (!present.is_array()) return empty(present) && empty(wanted);
        const auto& want = wanted.get_array();
        const auto& there = present.get_array();
        return std::equal(want.begin(), want.end(), there.begin(), there.end(),
                          [](const json::Value& w, const json::Value& p) { return satisfies(p, w); });
    }
    if (wanted.is_string() && present.is_string())
        return plain_reference(json::view(present.get_string())) == plain_reference(json::view(wanted.get_string()));
    return json::equal(present, wanted);
}

}  // namespace fairlead::gce
