#include "controller/kept_record.h"

#include <fmt/core.h>

#include "controller/owned_record.h"
#include "controller/status_json.h"

namespace fairlead::controller {

bool is_overtaken(const Error& error) {
    return error.code == Errc::conflict || error.code == Errc::not_found || error.code == Errc::already_exists;
}

Result<std::optional<control::Request>> keeping(const control::Informer& records, const resource::DnsRecord& wanted,
                                                Owners owners) {
    const auto key = fmt::format("{}/{}", wanted.metadata.namespace_, wanted.metadata.name);
    control::Request request;
    request.object = control::object_id(records.kind(), key);
    const auto stored = records.get(key);
    if (!stored) {
        request.verb = control::Verb::create;
        request.body = control::new_object(records.kind(), wanted);
        return request;
    }
    const bool exactly = owners == Owners::exactly;
    // One that a foreign hand made unreadable is written anew.
    if (const auto present = decoded<resource::DnsRecord>(stored)) {
        if (!present->metadata.deletion_timestamp.empty()) return std::nullopt;
        const bool owned = !exactly || present->metadata.owner_references == wanted.metadata.owner_references;
        if (owned && same_record(*present, wanted)) return std::nullopt;
    }
    auto object = json::parse(stored->value());
    if (!object) return fail(object.error());
    request.verb = control::Verb::update;
    request.body = mended(std::move(*object), wanted);
    if (exactly) {
        json::Array list;
        for (const auto& owner : wanted.metadata.owner_references) list.push_back(resource::encode(owner));
        json::set_at(request.body, "metadata.ownerReferences", std::move(list));
    }
    return request;
}

std::optional<control::Request> removing(const control::Informer& objects, const std::string& key) {
    const auto stored = objects.get(key);
    const auto object = stored ? json::parse(stored->value()) : Result<json::Value>(fail(Errc::not_found, key));
    if (!object || !json::string_at(*object, "metadata.deletionTimestamp").empty()) return std::nullopt;
    control::Request request;
    request.verb = control::Verb::remove;
    request.object = control::object_id(objects.kind(), key);
    request.remove.uid = json::string_at(*object, "metadata.uid");
    request.remove.propagation = control::Propagation::background;
    return request;
}

Result<void> carry_out(control::Client& client, std::vector<control::Request> requests) {
    for (const auto& done : client.write_all(std::move(requests))) {
        if (!done && !is_overtaken(done.error())) return fail(done.error());
    }
    return {};
}

Result<void> carry_out(control::Client& client, Result<std::optional<control::Request>> request) {
    if (!request) return fail(request.error());
    std::vector<control::Request> requests;
    if (*request) requests.push_back(std::move(**request));
    return carry_out(client, std::move(requests));
}

}  // namespace fairlead::controller
