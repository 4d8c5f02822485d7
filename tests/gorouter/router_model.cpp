#include "gorouter/router_model.h"

#include <fmt/core.h>

#include "base/text.h"
#include "json/quote.h"

namespace fairlead::gorouter {

namespace {

std::string key_of(std::string_view uri) {
    auto key = lower(uri.substr(0, uri.find('?')));
    if (key.ends_with('/')) key.pop_back();
    return key;
}

bool take(const json::Object& object, std::string_view name, std::string& text) {
    const auto* const value = object.if_contains({name.data(), name.size()});
    if (value == nullptr || value->is_null()) return true;
    if (!value->is_string()) return false;
    text = json::view(value->get_string());
    return true;
}

bool take(const json::Object& object, std::string_view name, std::int64_t max, std::int64_t& number) {
    const auto* const value = object.if_contains({name.data(), name.size()});
    if (value == nullptr || value->is_null()) return true;
    if (!value->is_int64() || value->get_int64() < 0 || value->get_int64() > max) return false;
    number = value->get_int64();
    return true;
}

std::string object_of(const std::map<std::string, std::string>& texts) {
    std::string out = "{";
    for (const auto& [name, text] : texts) {
        if (out.size() > 1) out += ',';
        json::append_quoted(name, out);
        out += ':';
        json::append_quoted(text, out);
    }
    return out + '}';
}

}  // namespace

std::string RouterMessage::address() const { return fmt::format("{}:{}", host, tls_port != 0 ? tls_port : port); }

std::optional<RouterMessage> read_message(std::string_view body) {
    const auto value = json::parse(body);
    if (!value || !value->is_object()) return std::nullopt;
    const auto& object = value->get_object();
    RouterMessage message;
    std::int64_t port = 0;
    std::int64_t tls_port = 0;
    std::int64_t stale = 0;
    if (!take(object, "host", message.host) || !take(object, "app", message.app) ||
        !take(object, "private_instance_id", message.instance) ||
        !take(object, "private_instance_index", message.index) ||
        !take(object, "route_service_url", message.route_service) ||
        !take(object, "server_cert_domain_san", message.san) || !take(object, "port", 65535, port) ||
        !take(object, "tls_port", 65535, tls_port) || !take(object, "stale_threshold_in_seconds", INT64_MAX, stale)) {
        return std::nullopt;
    }
    message.port = static_cast<std::uint16_t>(port);
    message.tls_port = static_cast<std::uint16_t>(tls_port);
    message.stale_threshold = std::chrono::seconds(stale);
    if (!message.route_service.empty() && !message.route_service.starts_with("https")) return std::nullopt;
    if (const auto* const uris = object.if_contains("uris")) {
        if (!uris->is_array()) return std::nullopt;
        for (const auto& uri : uris->get_array()) {
            if (!uri.is_string()) return std::nullopt;
            message.uris.emplace_back(json::view(uri.get_string()));
        }
    }
    if (const auto* const tags = object.if_contains("tags"); tags != nullptr && !tags->is_null()) {
        if (!tags->is_object()) return std::nullopt;
        for (const auto& tag : tags->get_object()) {
            if (!tag.value().is_string()) return std::nullopt;
            message.tags[std::string(tag.key())] = json::view(tag.value().get_string());
        }
    }
    if (const auto* const options = object.if_contains("options")) {
        if (!options->is_object()) return std::nullopt;
        message.options = json::serialize(*options);
    }
    return message;
}

bool RouterModel::message(std::string_view subject, std::string_view body, MonotonicTime now) {
    const bool withdrawal = subject.ends_with(".unregister");
    if (!withdrawal && !subject.ends_with(".register")) return true;
    const auto message = read_message(body);
    if (!message) {
        ++counts_.refused;
        return false;
    }
    ++(withdrawal ? counts_.unregisters : counts_.registers);
    counts_.names += message->uris.size();
    const auto address = message->address();
    const auto tags = std::make_shared<const std::string>(object_of(message->tags));
    for (const auto& uri : message->uris) {
        const auto name = key_of(uri);
        if (withdrawal) {
            const auto found = table_.find(name);
            if (found == table_.end()) continue;
            found->second.erase(address);
            if (found->second.empty()) table_.erase(found);
            continue;
        }
        auto ttl = message->stale_threshold;
        if (ttl.count() == 0 || ttl > settings_.stale_threshold) ttl = settings_.stale_threshold;
        table_[name].insert_or_assign(
            address, RouterEndpoint{message->app, message->instance, message->index, message->route_service,
                                    message->san, message->options, message->tls_port != 0, ttl, now, tags});
    }
    return true;
}

void RouterModel::prune(MonotonicTime now, bool connected) {
    if (settings_.suspends_pruning && !connected) {
        suspended_ = true;
        return;
    }
    if (std::exchange(suspended_, false)) {
        for (auto& [name, endpoints] : table_) {
            for (auto& [address, endpoint] : endpoints) endpoint.updated = now;
        }
    }
    for (auto name = table_.begin(); name != table_.end();) {
        counts_.pruned += std::erase_if(name->second, [now](const auto& known) {
            return !known.second.tls && now - known.second.updated > known.second.ttl;
        });
        name = name->second.empty() ? table_.erase(name) : std::next(name);
    }
}

bool RouterModel::holds(const std::string& name, const std::string& address) const {
    const auto found = table_.find(name);
    return found != table_.end() && found->second.contains(address);
}

std::set<std::pair<std::string, std::string>> RouterModel::pairs() const {
    std::set<std::pair<std::string, std::string>> pairs;
    for (const auto& [name, endpoints] : table_) {
        for (const auto& [address, endpoint] : endpoints) pairs.emplace(name, address);
    }
    return pairs;
}

std::string RouterModel::routes() const {
    std::string out = "{";
    for (const auto& [name, endpoints] : table_) {
        if (out.size() > 1) out += ',';
        json::append_quoted(name, out);
        out += ":[";
        for (const auto& [address, endpoint] : endpoints) {
            if (out.back() != '[') out += ',';
            out += R"({"address":)";
            json::append_quoted(address, out);
            out += fmt::format(R"(,"protocol":"http1","tls":{},"ttl":{})", endpoint.tls, endpoint.ttl.count());
            const auto text = [&out](std::string_view member, const std::string& value) {
                if (value.empty()) return;
                out += fmt::format(",\"{}\":", member);
                json::append_quoted(value, out);
            };
            text("route_service_url", endpoint.route_service);
            out += R"(,"tags":)" + *endpoint.tags;
            text("private_instance_id", endpoint.instance);
            text("server_cert_domain_san", endpoint.san);
            out += '}';
        }
        out += ']';
    }
    out += '}';
    return out;
}

std::string RouterModel::hello(std::string_view id) const {
    return fmt::format(
        R"({{"id":"{}","hosts":["127.0.0.1"],"minimumRegisterIntervalInSeconds":{},"pruneThresholdInSeconds":{}}})", id,
        settings_.interval.count(), settings_.stale_threshold.count());
}

}  // namespace fairlead::gorouter
