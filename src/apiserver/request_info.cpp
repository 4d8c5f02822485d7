#include "apiserver/request_info.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::apiserver {

namespace {

bool safe_segment(std::string_view segment) {
    if (segment.empty() || segment == "." || segment == "..") return false;
    for (const char c : segment) {
        const auto byte = static_cast<unsigned char>(c);
        // A backslash is a slash to some proxies, a percent sign means that somebody encoded twice.
        if (byte < 0x20 || byte == 0x7f || c == '/' || c == '\\' || c == '%') return false;
    }
    // U+0080 to U+009F: control characters that a terminal obeys.
    for (std::size_t i = 0; i + 1 < segment.size(); ++i) {
        if (segment[i] == '\xc2' && static_cast<unsigned char>(segment[i + 1]) < 0xa0) return false;
    }
    return true;
}

constexpr std::size_t max_shown_path = 1024;

std::string printable_ascii(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    for (const char c : raw) {
        if (c > ' ' && c < 0x7f) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

std::optional<std::vector<std::string>> decode_segments(std::string_view path) {
    if (path.empty() || path.front() != '/' || path.size() > max_path_bytes) return std::nullopt;
    path.remove_prefix(1);
    if (!path.empty() && path.back() == '/') path.remove_suffix(1);
    std::vector<std::string> segments;
    if (path.empty()) return segments;
    for (const auto raw : split(path, '/')) {
        auto decoded = percent_decode(raw, false);
        if (!decoded || !safe_segment(*decoded) || segments.size() == max_path_segments) return std::nullopt;
        if (valid_utf8(*decoded) != *decoded) return std::nullopt;  // no name of ours, and no text for logs and answers
        segments.push_back(std::move(*decoded));
    }
    return segments;
}

bool namespace_subresource(std::string_view segment) { return segment == "status" || segment == "finalize"; }

// The part behind /api/v1 or /apis/G/V.
bool read_resource(RequestInfo& info, const std::vector<std::string>& segments, std::size_t at) {
    const auto left = segments.size() - at;
    if (segments[at] == "namespaces" && left >= 3 &&
        !(info.group.empty() && left == 3 && namespace_subresource(segments[at + 2]))) {
        info.namespace_ = segments[at + 1];
        at += 2;
    }
    const auto parts = segments.size() - at;
    if (parts > 3) return false;
    info.resource = segments[at];
    if (parts > 1) info.name = segments[at + 1];
    if (parts > 2) info.subresource = segments[at + 2];
    return true;
}

Outcome<std::optional<std::int64_t>> integer(std::string_view name, std::string_view text) {
    if (text.empty()) return std::nullopt;
    const auto number = parse_int(text);
    if (!number) return refuse(bad_request(fmt::format("{}: \"{}\" is not a whole number", name, text)));
    return number;
}

// As Kubernetes reads booleans in a query: "", "1", "true" and anything else is true.
bool boolean(std::string_view text) { return text != "false" && text != "0"; }

struct Parameter {
    std::string name, value;
};

Outcome<std::vector<Parameter>> parameters(std::string_view query) {
    std::vector<Parameter> list;
    if (query.empty()) return list;
    for (const auto part : split(query, '&')) {
        if (part.empty()) continue;
        const auto equals = part.find('=');
        auto name = percent_decode(part.substr(0, equals), true);
        auto value = equals == std::string_view::npos ? std::optional<std::string>("")
                                                      : percent_decode(part.substr(equals + 1), true);
        if (!name || !value) return refuse(bad_request(fmt::format("invalid URL escape in query \"{}\"", part)));
        list.push_back({std::move(*name), std::move(*value)});
    }
    return list;
}

}  // namespace

std::string_view verb_name(Verb verb) {
    switch (verb) {
        case Verb::get:
            return "get";
        case Verb::list:
            return "list";
        case Verb::watch:
            return "watch";
        case Verb::create:
            return "create";
        case Verb::update:
            return "update";
        case Verb::patch:
            return "patch";
        case Verb::remove:
            return "delete";
        case Verb::remove_collection:
            return "deletecollection";
    }
    return "";
}

Outcome<std::map<std::string, std::string>> query_parameters(std::string_view query) {
    auto list = parameters(query);
    if (!list) return refuse(list.error());
    std::map<std::string, std::string> result;
    for (auto& p : *list) result.emplace(std::move(p.name), std::move(p.value));
    return result;
}

Outcome<QueryOptions> parse_query(std::string_view query) {
    auto list = parameters(query);
    if (!list) return refuse(list.error());
    QueryOptions options;
    std::vector<std::string_view> seen;
    std::optional<Status> problem;
    const auto number = [&](const Parameter& p, std::optional<std::int64_t>& out) {
        auto value = integer(p.name, p.value);
        if (value) {
            out = *value;
        } else if (!problem) {
            problem = value.error();
        }
    };
    for (const auto& p : *list) {
        if (p.name == "dryRun") {
            if (!p.value.empty()) options.dry_run.push_back(p.value);
            continue;
        }
        if (p.name == "exclude") {
            options.exclude.push_back(p.value);
            continue;
        }
        if (std::find(seen.begin(), seen.end(), p.name) != seen.end()) continue;
        seen.push_back(p.name);
        if (p.name == "limit")
            number(p, options.limit);
        else if (p.name == "continue")
            options.continue_token = p.value;
        else if (p.name == "labelSelector")
            options.label_selector = p.value;
        else if (p.name == "fieldSelector")
            options.field_selector = p.value;
        else if (p.name == "watch")
            options.watch = boolean(p.value);
        else if (p.name == "resourceVersion")
            options.resource_version = p.value;
        else if (p.name == "resourceVersionMatch")
            options.resource_version_match = p.value;
        else if (p.name == "timeoutSeconds")
            number(p, options.timeout_seconds);
        else if (p.name == "allowWatchBookmarks")
            options.allow_watch_bookmarks = boolean(p.value);
        else if (p.name == "sendInitialEvents")
            options.send_initial_events = boolean(p.value);
        else if (p.name == "fieldManager")
            options.field_manager = p.value;
        else if (p.name == "fieldValidation")
            options.field_validation = p.value;
        else if (p.name == "includeObject")
            options.include_object = p.value;
        else if (p.name == "propagationPolicy")
            options.propagation_policy = p.value;
        else if (p.name == "gracePeriodSeconds")
            number(p, options.grace_period_seconds);
        else if (p.name == "orphanDependents")
            options.orphan_dependents = boolean(p.value);
        else if (p.name == "force")
            options.force = boolean(p.value);
        else if (p.name == "pretty")
            options.pretty = boolean(p.value);
        else if (p.name == "verbose")
            options.verbose = true;
    }
    if (problem) return refuse(*problem);
    return options;
}

RequestInfo parse_target(std::string_view target) {
    RequestInfo info;
    const auto question = target.find('?');
    if (question != std::string_view::npos) info.query = target.substr(question + 1);
    const auto segments = decode_segments(target.substr(0, question));
    if (!segments) {
        // As it was sent, for logs and refusals; nothing is found under it.
        info.path = printable_ascii(target.substr(0, std::min(question, max_shown_path)));
        return info;
    }
    for (const auto& segment : *segments) info.path += "/" + segment;
    if (info.path.empty()) info.path = "/";
    info.type = RequestInfo::Type::other;
    const auto count = segments->size();
    if (count == 0) return info;
    const auto& first = segments->front();
    std::size_t at = 0;
    if (first == "api") {
        if (count == 1) return info.type = RequestInfo::Type::api_versions, info;
        info.version = (*segments)[1];
        at = 2;
    } else if (first == "apis") {
        if (count == 1) return info.type = RequestInfo::Type::api_groups, info;
        info.group = (*segments)[1];
        if (count == 2) return info.type = RequestInfo::Type::api_group, info;
        info.version = (*segments)[2];
        at = 3;
    } else {
        return info;
    }
    if (count == at) return info.type = RequestInfo::Type::group_resources, info;
    info.type = read_resource(info, *segments, at) ? RequestInfo::Type::resource : RequestInfo::Type::unknown;
    return info;
}

std::optional<Verb> RequestInfo::verb(std::string_view method, bool watch) const {
    const bool one = !name.empty();
    if (method == "GET" || method == "HEAD") {
        if (watch && subresource.empty()) return Verb::watch;
        return one ? Verb::get : Verb::list;
    }
    if (method == "POST") return one ? std::nullopt : std::optional(Verb::create);
    if (method == "PUT") return one ? std::optional(Verb::update) : std::nullopt;
    if (method == "PATCH") return one ? std::optional(Verb::patch) : std::nullopt;
    if (method == "DELETE") {
        if (!subresource.empty()) return std::nullopt;
        return one ? Verb::remove : Verb::remove_collection;
    }
    return std::nullopt;
}

}  // namespace fairlead::apiserver
