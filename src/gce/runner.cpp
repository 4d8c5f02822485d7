#include "gce/runner.h"

#include <fmt/core.h>

#include "base/log.h"
#include "base/random.h"

namespace fairlead::gce {
namespace {

constexpr unsigned max_early = 8;  // tries of a call that comes too early: about 20 s

ApiRequest request_of(const Call& call) {
    ApiRequest request{.operation = std::string(name_of(call.what)), .path = path_of(call.key)};
    request.method = "POST";
    switch (call.what) {
        case Call::What::insert:
            request.path = fmt::format("{}/{}", call.key.place, collection_of(call.key.kind));
            break;
        case Call::What::patch:
            request.method = "PATCH";
            break;
        case Call::What::replace:
            request.method = "PUT";
            break;
        case Call::What::set_certificates:
            // The one path of things without a place that does not say "global".
            if (call.key.place == "global")
                request.path = fmt::format("{}/{}", collection_of(call.key.kind), call.key.name);
            request.path += "/setSslCertificates";
            break;
        case Call::What::set_labels:
            request.path += "/setLabels";
            break;
        case Call::What::attach:
            request.path += "/attachNetworkEndpoints";
            break;
        case Call::What::detach:
            request.path += "/detachNetworkEndpoints";
            break;
        case Call::What::remove:
            request.method = "DELETE";
            return request;
    }
    if (call.endpoints.empty()) {
        request.body = call.body;
    } else {
        json::Array all;
        for (const auto& endpoint : call.endpoints) all.emplace_back(json_of(endpoint));
        json::Object body;
        body["networkEndpoints"] = std::move(all);
        request.body = std::move(body);
    }
    return request;
}

bool takes_request_id(const Call& call) { return call.what != Call::What::set_labels || call.key.place != "global"; }

std::optional<ApiError> error_in(const json::Value& operation, const Call& call) {
    const auto* errors = json::find(operation, "error.errors");
    const auto status = static_cast<int>(json::int_at(operation, "httpErrorStatusCode").value_or(0));
    if ((errors == nullptr || !errors->is_array() || errors->get_array().empty()) && status < 400) return std::nullopt;
    std::string code;
    std::string message{json::string_at(operation, "httpErrorMessage")};
    if (errors != nullptr && errors->is_array() && !errors->get_array().empty()) {
        code = json::string_at(errors->get_array().front(), "code");
        message = json::string_at(errors->get_array().front(), "message");
    }
    const auto what = fmt::format("{} {}", name_of(call.what), path_of(call.key));
    return error_of(trouble_of(status, code), what, fmt::format("{}: {}", code, message));
}

bool ended_well(const Ran& ran) { return !ran.pending && !ran.stale && ran.refused.empty(); }

}  // namespace

Result<Ran> Runner::run(const std::vector<Call>& calls) {
    for (std::size_t at = 0; at < calls.size();) {
        std::vector<Flight> stage;
        const int number = calls[at].stage;
        const bool removes = calls[at].what == Call::What::remove;
        for (; at < calls.size() && calls[at].stage == number; ++at) stage.push_back({calls[at], 0, {}});
        if (auto good = run_stage(std::move(stage)); !good) return fail(good.error());
        if (!ended_well(ran_) && !removes) break;
    }
    return ran_;
}

Result<void> Runner::run_stage(std::vector<Flight> flights) {
    while (!flights.empty()) {
        std::vector<Flight> flying;
        unsigned tries = 0;
        for (auto& flight : flights) {
            const auto operation = begin(flight.call);
            if (!operation) {
                if (auto good = settle(std::move(flight), operation.error()); !good) return good;
                continue;
            }
            flight.operation = json::string_at(*operation, "name");
            if (!flight.operation.empty()) flying.push_back(std::move(flight));
        }
        if (auto good = follow(flying); !good) return good;
        flights = std::exchange(again_, {});
        for (const auto& flight : flights) tries = std::max(tries, flight.tries);
        if (tries > 0 && !api_->rest(tries)) return fail(Errc::unavailable, "the server is stopping");
    }
    return {};
}

ApiResult<json::Value> Runner::begin(const Call& call) {
    auto request = request_of(call);
    if (call.what == Call::What::set_labels && json::string_at(call.body, "labelFingerprint").empty()) {
        const auto thing = api_->call({.operation = "get", .path = path_of(call.key)});
        if (!thing) return tl::unexpected(thing.error());
        request.body->get_object()["labelFingerprint"] = json::string_at(*thing, "labelFingerprint");
    }
    // The same call again with the same id is done once, whichever of the answers gets lost.
    if (takes_request_id(call)) request.query.emplace_back("requestId", make_uuid(api_->surroundings().random));
    api_->surroundings().log.info("gce change", {{"call", request.operation}, {"thing", path_of(call.key)}});
    return api_->call(request);
}

Result<void> Runner::follow(std::vector<Flight>& flights) {
    const auto& clock = api_->surroundings().clock;
    for (unsigned looks = 0; !flights.empty(); ++looks) {
        std::vector<Flight> left;
        for (auto& flight : flights) {
            const auto path = fmt::format("{}/operations/{}", flight.call.key.place, flight.operation);
            const auto operation = api_->call({.operation = "follow", .path = path});
            if (!operation) {
                // It has been forgotten: what came of it, the next look at the things shows.
                if (operation.error().trouble != Trouble::missing) return fail(operation.error().error);
                ran_.stale = true;
                continue;
            }
            if (json::string_at(*operation, "status") != "DONE") {
                left.push_back(std::move(flight));
                continue;
            }
            if (const auto error = error_in(*operation, flight.call)) {
                if (auto good = settle(std::move(flight), *error); !good) return good;
            }
        }
        flights = std::move(left);
        if (flights.empty()) break;
        if (clock.monotonic() >= deadline_) {
            ran_.pending = true;
            break;
        }
        if (!api_->rest(std::min(looks, 4U))) return fail(Errc::unavailable, "the server is stopping");
    }
    return {};
}

Result<void> Runner::settle(Flight flight, const ApiError& error) {
    const auto what = flight.call.what;
    const bool goes = what == Call::What::remove || what == Call::What::detach;
    switch (error.trouble) {
        case Trouble::exists:
            if (what == Call::What::attach) return {};
            if (what == Call::What::insert) return settle_existing(flight.call, error);
            break;
        case Trouble::missing:
            if (goes) return {};
            [[fallthrough]];  // what it points at may not have spread yet
        case Trouble::not_ready:
            if (++flight.tries <= max_early && api_->surroundings().clock.monotonic() < deadline_) {
                again_.push_back(std::move(flight));
                return {};
            }
            if (error.trouble == Trouble::missing) return refuse(std::move(flight), error);
            ran_.pending = true;
            return {};
        case Trouble::in_use:
            if (!goes) break;
            ran_.pending = true;
            return {};
        case Trouble::stale:
            ran_.stale = true;
            return {};
        case Trouble::refused:
            return refuse(std::move(flight), error);
        case Trouble::quota:
        case Trouble::passing:
        case Trouble::access:
            break;
    }
    return fail(error.error);
}

Result<void> Runner::settle_existing(const Call& call, const ApiError& error) {
    const auto thing = api_->call({.operation = "get", .path = path_of(call.key)});
    if (!thing) {
        if (thing.error().trouble != Trouble::missing) return fail(thing.error().error);
        ran_.pending = true;  // it is being made, or is just going
        return {};
    }
    if (mark_of(*thing) != mark_)
        return fail(Errc::conflict, call.key.name, fmt::format("is somebody else's: {}", error.error.message));
    // Ours, from a call whose answer was lost. It may be older than what is wanted now.
    const bool changes =
        call.key.kind == Kind::service || call.key.kind == Kind::url_map || call.key.kind == Kind::https_proxy;
    if (changes && !satisfies(*thing, call.body)) ran_.stale = true;
    return {};
}

Result<void> Runner::refuse(Flight flight, const ApiError& error) {
    auto& call = flight.call;
    if (call.what == Call::What::attach && call.endpoints.size() > 1) {
        // One of them is to blame; its neighbours land.
        const auto middle = call.endpoints.begin() + static_cast<std::ptrdiff_t>(call.endpoints.size() / 2);
        auto second = call;
        second.endpoints.assign(middle, call.endpoints.end());
        call.endpoints.erase(middle, call.endpoints.end());
        again_.push_back({std::move(call), 0, {}});
        again_.push_back({std::move(second), 0, {}});
        return {};
    }
    if (call.what == Call::What::remove || call.what == Call::What::detach || !call.owned) return fail(error.error);
    const auto name =
        call.what == Call::What::attach ? member_name(call.key, call.endpoints.front()) : path_of(call.key);
    ran_.refused.emplace(name, error.error.message);
    return {};
}

}  // namespace fairlead::gce
