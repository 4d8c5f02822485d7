#include "lrp/read.h"

#include <fmt/core.h>

#include <limits>

#include "base/text.h"
#include "lrp/entry.h"

namespace fairlead::lrp {

namespace {

// Fields of an LRP wherever they are: below "spec." in our kinds, at the top in a Receptor's. The first thing that is
// wrong is kept; what comes after it does not matter any more.
class Reader {
public:
    Reader(const json::Value& fields, std::string prefix) : fields_(fields), prefix_(std::move(prefix)) {
        if (!fields_.is_object()) broken("", "is not an object");
    }

    void broken(std::string_view field, std::string message) {
        auto where = fmt::format("{}{}", prefix_, field);
        if (where.ends_with('.')) where.pop_back();
        if (!error_) error_ = Error{Errc::invalid, std::move(where), std::move(message)};
    }
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

    [[nodiscard]] const json::Value* find(std::string_view field) const {
        const auto* value = json::find(fields_, field);
        return value == nullptr || value->is_null() ? nullptr : value;
    }
    std::string text(std::string_view field) {
        const auto* value = find(field);
        if (value == nullptr) return {};
        if (value->is_string()) return std::string(json::view(value->get_string()));
        broken(field, fmt::format("{} is not a string", shown(*value)));
        return {};
    }
    std::string required(std::string_view field) {
        auto value = text(field);
        if (value.empty()) broken(field, "is missing");
        return value;
    }
    std::int64_t number(std::string_view field, std::int64_t missing, std::int64_t lowest, std::int64_t highest) {
        const auto* value = find(field);
        if (value == nullptr) return missing;
        const auto number = json::int_at(fields_, field);
        if (number && *number >= lowest && *number <= highest) return *number;
        broken(field, fmt::format("{} is not a whole number in {}..{}", shown(*value), lowest, highest));
        return missing;
    }
    bool flag(std::string_view field) {
        const auto* value = find(field);
        if (value == nullptr) return false;
        if (value->is_bool()) return value->get_bool();
        broken(field, fmt::format("{} is not true or false", shown(*value)));
        return false;
    }
    // Null if it is missing.
    const json::Array* list(std::string_view field) {
        const auto* value = find(field);
        if (value == nullptr) return nullptr;
        if (value->is_array()) return &value->get_array();
        broken(field, fmt::format("{} is not a list", shown(*value)));
        return nullptr;
    }

private:
    const json::Value& fields_;
    std::string prefix_;
    std::optional<Error> error_;
};

constexpr auto max_int32 = std::numeric_limits<std::int32_t>::max();
constexpr auto max_int64 = std::numeric_limits<std::int64_t>::max();

Tag read_tag(Reader& reader) {
    return {reader.text("modification_tag.epoch"), reader.number("modification_tag.index", 0, 0, max_int64)};
}

std::vector<std::uint16_t> read_container_ports(Reader& reader) {
    std::vector<std::uint16_t> ports;
    const auto* list = reader.list("ports");
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        const auto& value = (*list)[i];
        const auto number = value.is_int64() ? value.get_int64() : 0;
        if (number < 1 || number > 65535) {
            reader.broken(fmt::format("ports[{}]", i), fmt::format("{} is not a port in 1..65535", shown(value)));
            break;
        }
        ports.push_back(static_cast<std::uint16_t>(number));
    }
    return ports;
}

std::vector<MappedPort> read_mapped_ports(Reader& reader) {
    std::vector<MappedPort> ports;
    const auto* list = reader.list("ports");
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        Reader entry((*list)[i], fmt::format("ports[{}].", i));
        const auto port = [&](std::string_view field, std::int64_t lowest) {
            return static_cast<std::uint16_t>(entry.number(field, 0, lowest, 65535));
        };
        MappedPort mapped;
        mapped.container = port("container_port", 1);
        mapped.host = port("host_port", 0);
        mapped.host_tls = port("host_tls_proxy_port", 0);  // as Diego's BBS calls it
        if (mapped.host_tls == 0) mapped.host_tls = port("host_tls_port", 0);
        if (mapped.container == 0) entry.broken("container_port", "is missing");
        if (mapped.host == 0 && mapped.host_tls == 0) entry.broken("host_port", "is missing");
        if (entry.error()) {
            reader.broken(entry.error()->field, entry.error()->message);
            break;
        }
        ports.push_back(mapped);
    }
    return ports;
}

// All but what our kinds keep in metadata.
Desired read_desired(Reader& reader) {
    Desired desired;
    desired.key.guid = reader.required("process_guid");
    desired.domain = reader.text("domain");
    desired.app = reader.text("log_guid");
    if (desired.app.empty()) desired.app = desired.key.guid;
    desired.instances = static_cast<std::int32_t>(reader.number("instances", 1, 0, max_int32));
    desired.ports = read_container_ports(reader);
    desired.tag = read_tag(reader);
    if (const auto* routes = reader.find("routes"); routes != nullptr && !reader.error()) {
        desired.routes = read_routes(*routes, desired.ports);
    }
    return desired;
}

Actual read_actual(Reader& reader) {
    Actual actual;
    actual.process.guid = reader.required("process_guid");
    actual.index = static_cast<std::int32_t>(reader.number("index", 0, 0, max_int32));
    if (reader.find("index") == nullptr) reader.broken("index", "is missing");
    actual.evacuating = reader.flag("evacuating");
    actual.instance_guid = reader.text("instance_guid");
    actual.domain = reader.text("domain");
    const auto state = reader.required("state");
    if (state != "UNCLAIMED" && state != "CLAIMED" && state != "RUNNING" && state != "CRASHED") {
        reader.broken("state", fmt::format("'{}' is none of UNCLAIMED, CLAIMED, RUNNING, CRASHED", state));
    }
    actual.running = state == "RUNNING";
    actual.crashed = state == "CRASHED";
    actual.address = reader.text("address");
    if (actual.running && actual.address.empty()) reader.broken("address", "is missing, and state is RUNNING");
    actual.ports = read_mapped_ports(reader);
    actual.since = reader.number("since", 0, 0, max_int64);
    actual.tag = read_tag(reader);
    return actual;
}

// Our own store's revision orders all that was ever written there, also by those who know no tags.
Tag tag_of_object(const json::Value& object) {
    return {std::string(json::string_at(object, "metadata.uid")),
            parse_int(json::string_at(object, "metadata.resourceVersion")).value_or(0)};
}

const json::Value& spec_of(const json::Value& object) {
    static const json::Value none;
    const auto* spec = json::find(object, "spec");
    return spec == nullptr ? none : *spec;
}

}  // namespace

Result<Desired> desired_of_object(const json::Value& object) {
    Reader reader(spec_of(object), "spec.");
    auto desired = read_desired(reader);
    if (reader.error()) return fail(*reader.error());
    desired.key.scope = json::string_at(object, "metadata.namespace");
    desired.name = json::string_at(object, "metadata.name");
    desired.uid = json::string_at(object, "metadata.uid");
    if (const auto* labels = json::find(object, "metadata.labels"); labels != nullptr && labels->is_object()) {
        for (const auto& label : labels->get_object()) {
            if (label.value().is_string()) desired.labels[label.key()] = json::view(label.value().get_string());
        }
    }
    desired.tag = tag_of_object(object);
    return desired;
}

Result<Actual> actual_of_object(const json::Value& object) {
    Reader reader(spec_of(object), "spec.");
    auto actual = read_actual(reader);
    if (reader.error()) return fail(*reader.error());
    actual.process.scope = json::string_at(object, "metadata.namespace");
    actual.tag = tag_of_object(object);
    return actual;
}

Result<Desired> desired_of_receptor(const json::Value& lrp) {
    Reader reader(lrp, "");
    auto desired = read_desired(reader);
    if (reader.error()) return fail(*reader.error());
    return desired;
}

Result<Actual> actual_of_receptor(const json::Value& lrp) {
    Reader reader(lrp, "");
    auto actual = read_actual(reader);
    if (reader.error()) return fail(*reader.error());
    return actual;
}

}  // namespace fairlead::lrp
