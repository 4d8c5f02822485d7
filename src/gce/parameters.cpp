#include "gce/parameters.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/text.h"
#include "gce/names.h"

namespace fairlead::gce {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 9> for_balancers{"region",          "zones",        "network",
                                                        "subnetwork",      "endpointType", "address",
                                                        "healthCheckPath", "maxRate",      "globalAccess"};
constexpr std::array<std::string_view, 4> for_providers{"project", "tokenEndpoint", "metadataEndpoint",
                                                        "operationTimeout"};
constexpr std::size_t max_zones = 50;  // groups of endpoints that one backend service takes

template <class List>
bool one_of(const List& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

tl::unexpected<Error> wrong(std::string_view name, std::string_view value, std::string_view rule) {
    return fail(Errc::invalid, fmt::format("parameters.{}", name), fmt::format("\"{}\" {}", value, rule));
}

std::string text_of(const std::map<std::string, std::string>& from, const std::string& name,
                    std::string otherwise = {}) {
    const auto found = from.find(name);
    return found == from.end() ? std::move(otherwise) : std::string(trim(found->second));
}

// Letters, digits, dashes, and what old projects have ("example.com:name").
bool is_project(std::string_view text) {
    return !text.empty() && text.size() <= 100 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == ':';
    });
}

// A name, or "projects/host/global/networks/shared" of a shared VPC.
bool is_reference(std::string_view text) {
    if (is_name(text)) return true;
    return text.starts_with("projects/") && text.size() <= 250 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == ':' ||
                      c == '/' || (c >= 'A' && c <= 'Z');
           });
}

bool is_url(std::string_view text) { return text.starts_with("https://") || text.starts_with("http://"); }

// A token and the key's signature go there: in the open only where nobody listens.
bool may_carry_tokens(std::string_view url) {
    if (url.starts_with("https://")) return true;
    for (const std::string_view local : {"http://127.0.0.1", "http://localhost", "http://[::1]"}) {
        if (!url.starts_with(local)) continue;
        const auto rest = url.substr(local.size());
        if (rest.empty() || rest.front() == ':' || rest.front() == '/') return true;
    }
    return false;
}

Result<void> known(const std::map<std::string, std::string>& given, bool provider) {
    for (const auto& [name, value] : given) {
        if (one_of(for_balancers, name) || (provider && one_of(for_providers, name))) continue;
        if (one_of(for_providers, name))
            return wrong(name, value, "is for the provider's settings alone, not for a LoadBalancer");
        return wrong(name, value, "belongs to no parameter of the provider gce");
    }
    return {};
}

Result<void> check_places(const Parameters& made, balancer::Scope scope) {
    if (made.zones.empty()) return wrong("zones", "", "must name the zones of the members, as europe-west1-b");
    if (made.zones.size() > max_zones)
        return wrong("zones", fmt::format("{} zones", made.zones.size()), "are more than 50");
    for (const auto& zone : made.zones) {
        if (!is_name(zone)) return wrong("zones", zone, "is no zone");
    }
    if (scope == balancer::Scope::internet) return {};
    if (made.region.empty()) return wrong("region", "", "is needed for networkScope intranet");
    if (!is_name(made.region)) return wrong("region", made.region, "is no region");
    if (made.subnetwork.empty()) return wrong("subnetwork", "", "is needed for networkScope intranet");
    for (const auto& zone : made.zones) {
        if (!zone.starts_with(made.region + "-"))
            return wrong("zones", zone, fmt::format("is not in region {}", made.region));
    }
    return {};
}

}  // namespace

Result<Parameters> parameters_of(const balancer::ProviderSettings& settings, const balancer::Order& order) {
    if (auto good = known(order.parameters, false); !good) return fail(good.error());
    auto given = settings.parameters;
    for (const auto& [name, value] : order.parameters) given.insert_or_assign(name, value);
    Parameters made;
    made.project = text_of(given, "project");
    made.region = text_of(given, "region");
    const auto zones = text_of(given, "zones");  // outlives its parts
    for (const auto zone : split(zones, ',')) {
        if (const auto name = std::string(trim(zone)); !name.empty()) made.zones.push_back(name);
    }
    made.network = text_of(given, "network", made.network);
    made.subnetwork = text_of(given, "subnetwork");
    made.address = text_of(given, "address");
    made.health_check_path = text_of(given, "healthCheckPath");
    if (auto good = check_places(made, order.scope); !good) return fail(good.error());
    if (!is_reference(made.network)) return wrong("network", made.network, "is no name of a network");
    if (!made.subnetwork.empty() && !is_reference(made.subnetwork))
        return wrong("subnetwork", made.subnetwork, "is no name of a subnetwork");
    if (!made.address.empty() && !is_name(made.address))
        return wrong("address", made.address, "is no name of a reserved address");
    if (!made.health_check_path.empty() &&
        (!made.health_check_path.starts_with('/') || made.health_check_path.size() > 1024))
        return wrong("healthCheckPath", made.health_check_path, "is no path of at most 1024 bytes");
    const auto type = text_of(given, "endpointType", "GCE_VM_IP_PORT");
    if (type != "GCE_VM_IP_PORT" && type != "NON_GCP_PRIVATE_IP_PORT")
        return wrong("endpointType", type, "is neither GCE_VM_IP_PORT nor NON_GCP_PRIVATE_IP_PORT");
    made.endpoint_type = type == "GCE_VM_IP_PORT" ? EndpointType::vm : EndpointType::private_ip;
    const auto rate = text_of(given, "maxRate", "100");
    const auto number = parse_int(rate);
    if (!number || *number < 1 || *number > 1'000'000) return wrong("maxRate", rate, "is outside 1..1000000");
    made.max_rate = *number;
    const auto global = text_of(given, "globalAccess", "false");
    if (global != "true" && global != "false") return wrong("globalAccess", global, "is neither true nor false");
    made.global_access = global == "true";
    return made;
}

Result<Access> access_of(const balancer::ProviderSettings& settings) {
    if (auto good = known(settings.parameters, true); !good) return fail(good.error());
    Access made;
    made.project = text_of(settings.parameters, "project");
    if (!is_project(made.project)) return wrong("project", made.project, "is no id of a project");
    if (settings.installation.empty()) return fail(Errc::invalid, "installation", "must not be empty");
    if (!settings.endpoint.empty()) made.endpoint = settings.endpoint;
    while (made.endpoint.ends_with('/')) made.endpoint.pop_back();
    if (!may_carry_tokens(made.endpoint))
        return fail(Errc::invalid, "endpoint",
                    fmt::format("\"{}\" is neither https nor an address of this machine", made.endpoint));
    made.token_endpoint = text_of(settings.parameters, "tokenEndpoint");
    if (!made.token_endpoint.empty() && !may_carry_tokens(made.token_endpoint))
        return wrong("tokenEndpoint", made.token_endpoint, "is neither https nor an address of this machine");
    made.metadata_endpoint = text_of(settings.parameters, "metadataEndpoint", made.metadata_endpoint);
    if (!is_url(made.metadata_endpoint)) return wrong("metadataEndpoint", made.metadata_endpoint, "is no address");
    const auto patience = text_of(settings.parameters, "operationTimeout", "2m");
    const auto parsed = parse_duration(patience);
    if (!parsed || *parsed < 1s || *parsed > 1h) return wrong("operationTimeout", patience, "is outside 1s..1h");
    made.operation_timeout = *parsed;
    for (const auto& [name, value] : settings.secret) {
        if (name != "key.json")
            return fail(Errc::invalid, "secret", fmt::format("{} is not known: the key is key.json", name));
        made.key_json = value;
    }
    return made;
}

}  // namespace fairlead::gce
