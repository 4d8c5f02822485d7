#include "preview_role.h"

#include <fmt/core.h>

#include "apiserver/api_server.h"
#include "controller/policy_preview_json.h"
#include "controller/preview_objects.h"
#include "json/value.h"
#include "resource/kind.h"

namespace fairlead {

Result<net::Response> PreviewRole::preview(const apiserver::EndpointRequest& request) const {
    if (request.method != "POST")
        return apiserver::ApiServer::error_response(405,
                                                    "a preview is asked for with POST: the manifests are the body");
    const auto space = request.parameters.find("namespace");
    if (space == request.parameters.end() || space->second.empty())
        return fail(Errc::invalid, "namespace", "is missing: of which namespace the policies are");
    for (const auto* resource : {"dnspolicies", "dnsrecords"}) {
        apiserver::Attributes wish;
        wish.verb = "list";
        wish.group = "kuadrant.io";
        wish.resource = resource;
        wish.namespace_ = space->second;
        if (request.may && !request.may(wish)) {
            return apiserver::ApiServer::error_response(
                403, fmt::format("a preview takes the right to list {}.kuadrant.io in the namespace \"{}\"", resource,
                                 space->second));
        }
    }
    const auto body = json::parse(request.body);
    if (!body) return fail(Errc::invalid, "body", body.error().text());
    const auto* objects = json::find(*body, "objects");
    if (objects == nullptr || !objects->is_array())
        return fail(Errc::invalid, "objects", "is missing: a list of manifests");
    const auto input = controller::preview_input(store_, kinds_, objects->get_array(), space->second, clock_.now());
    if (!input) return fail(input.error());
    controller::PreviewSurroundings around;
    around.name_space = space->second;
    if (lookups_ != nullptr) {
        around.addresses_of = [this](const std::string& gateway,
                                     const std::string& hostname) -> std::optional<std::vector<std::string>> {
            const auto known = lookups_->known(gateway);
            const auto found = known.find(hostname);
            if (found == known.end() || (found->second.addresses.empty() && found->second.problem.empty()))
                return std::nullopt;
            return found->second.addresses;
        };
    }
    around.now = clock_.now();
    if (info_ != nullptr) around.locate = [this](const dns::GeoCode& code) { return info_->place_of(code); };
    auto shown = controller::preview_json(controller::preview_change(input->now, input->then, around));
    json::set_at(shown, "namespace", json::Value(space->second));
    net::Response response;
    response.headers.set("Content-Type", "application/json");
    response.body = json::serialize(shown);
    response.compressible = true;
    return response;
}

}  // namespace fairlead
