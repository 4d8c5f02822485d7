#include "apiserver/receptor/operation.h"

#include <fmt/core.h>

#include <charconv>

#include "base/text.h"
#include "resource/kinds/lrp.h"

namespace fairlead::apiserver::receptor {

namespace {

constexpr std::string_view root = "/v1";
constexpr std::string_view our_group = "fairlead.dev";
constexpr std::string_view lease_group = "coordination.k8s.io";

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

// Nothing for a broken escape, a control character or an empty segment.
std::optional<std::vector<std::string>> segments_of(std::string_view target) {
    auto path = path_of(target);
    if (path.size() > max_path_bytes) return std::nullopt;
    path.remove_prefix(root.size());
    if (path.ends_with('/')) path.remove_suffix(1);
    std::vector<std::string> segments;
    if (path.empty()) return segments;
    path.remove_prefix(1);
    for (const auto part : split(path, '/')) {
        auto text = percent_decode(part, false);
        const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
        if (!text || text->empty() || std::any_of(text->begin(), text->end(), control)) return std::nullopt;
        if (valid_utf8(*text) != *text) return std::nullopt;
        segments.push_back(std::move(*text));
    }
    return segments;
}

struct Choice {
    std::string_view method;
    Action action;
};

Found choose(std::string_view method, std::initializer_list<Choice> choices, const Operation& about) {
    for (const auto& choice : choices) {
        if (choice.method != (method == "HEAD" ? "GET" : method)) continue;
        Operation operation = about;
        operation.action = choice.action;
        return {operation, true};
    }
    return {std::nullopt, true};
}

Found find_actual(std::string_view method, const std::vector<std::string>& segments, Operation about) {
    if (segments.size() == 1) return choose(method, {{"GET", Action::list_actual}}, about);
    about.guid = segments[1];
    if (segments.size() == 2) {
        // "bulk" is a guid as good as any other, but only for GET.
        return choose(
            method,
            {{"GET", Action::list_actual_of_process}, {segments[1] == "bulk" ? "POST" : "", Action::write_many_actual}},
            about);
    }
    if (segments.size() != 4 || segments[2] != "index") return {};
    about.index = segments[3];
    return choose(method, {{"GET", Action::get_actual}, {"PUT", Action::put_actual}, {"DELETE", Action::remove_actual}},
                  about);
}

Attributes wish(std::string_view verb, std::string_view group, std::string_view resource, std::string_view ns,
                std::string name = {}) {
    return {.verb = std::string(verb),
            .group = std::string(group),
            .resource = std::string(resource),
            .subresource = {},
            .namespace_ = std::string(ns),
            .name = std::move(name),
            .path = {},
            .version = "v1"};
}

// Of the one object that it is about; "" if there is no such one.
std::string object_name(const Operation& operation) {
    switch (operation.action) {
        case Action::get_desired:
        case Action::update_desired:
        case Action::remove_desired:
            return resource::desired_lrp_name(operation.guid);
        case Action::get_actual:
        case Action::put_actual:
        case Action::remove_actual: {
            const auto index = parse_index(operation.index);
            return index ? resource::actual_lrp_name(operation.guid, *index, operation.evacuating) : std::string();
        }
        case Action::put_domain:
            return domain_lease_name(operation.domain);
        case Action::create_desired:
        case Action::list_desired:
        case Action::list_actual:
        case Action::list_actual_of_process:
        case Action::write_many_actual:
        case Action::list_domains:
        case Action::events:
        case Action::auth_cookie:
        case Action::preflight:
            break;
    }
    return {};
}

}  // namespace

bool is_ours(std::string_view target) {
    const auto path = path_of(target);
    return path == root || (path.starts_with(root) && path[root.size()] == '/');
}

Found find_operation(std::string_view method, std::string_view target) {
    Operation about;
    if (method == "OPTIONS") {
        about.action = Action::preflight;
        return {about, true};
    }
    const auto segments = segments_of(target);
    if (!segments || segments->empty()) return {};
    const auto question = target.find('?');
    if (question != std::string_view::npos) {
        if (const auto query = query_parameters(target.substr(question + 1))) {
            const auto get = [&](const char* name) {
                const auto found = query->find(name);
                return found != query->end() ? found->second : std::string();
            };
            about.domain = get("domain");
            about.view_text = get("view");
            if (about.view_text == "routing") about.view = View::routing;
            about.evacuating_text = get("evacuating");
            about.evacuating = about.evacuating_text == "true";
        }
    }
    const auto& first = segments->front();
    const auto count = segments->size();
    if (first == "desired_lrps" && count == 1) {
        return choose(method, {{"POST", Action::create_desired}, {"GET", Action::list_desired}}, about);
    }
    if (first == "desired_lrps" && count == 2) {
        about.guid = (*segments)[1];
        return choose(
            method, {{"GET", Action::get_desired}, {"PUT", Action::update_desired}, {"DELETE", Action::remove_desired}},
            about);
    }
    if (first == "actual_lrps") return find_actual(method, *segments, about);
    if (first == "domains" && count == 1) return choose(method, {{"GET", Action::list_domains}}, about);
    if (first == "domains" && count == 2) {
        about.domain = (*segments)[1];
        return choose(method, {{"PUT", Action::put_domain}}, about);
    }
    if (first == "events" && count == 1) return choose(method, {{"GET", Action::events}}, about);
    if (first == "auth_cookie" && count == 1) return choose(method, {{"POST", Action::auth_cookie}}, about);
    return {};
}

std::optional<std::string> bad_parameter(const Operation& operation) {
    if (!operation.view_text.empty() && operation.view != View::routing) {
        return fmt::format("view: '{}' is not known, only 'routing' is", operation.view_text);
    }
    const auto& evacuating = operation.evacuating_text;
    if (!evacuating.empty() && evacuating != "true" && evacuating != "false") {
        return fmt::format("evacuating: '{}' is neither 'true' nor 'false'", evacuating);
    }
    return std::nullopt;
}

std::optional<std::int32_t> parse_index(std::string_view text) {
    std::int32_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error != std::errc{} || end != text.data() + text.size() || index < 0) return std::nullopt;
    return index;
}

Naming naming_of(const Operation& operation) {
    const auto desired = [](Verb verb) { return Naming{our_group, "v1", "desiredlrps", verb}; };
    const auto actual = [](Verb verb) { return Naming{our_group, "v1", "actuallrps", verb}; };
    const auto domain = [](Verb verb) { return Naming{lease_group, "v1", "leases", verb}; };
    switch (operation.action) {
        case Action::create_desired:
            return desired(Verb::create);
        case Action::list_desired:
            return desired(Verb::list);
        case Action::get_desired:
            return desired(Verb::get);
        case Action::update_desired:
            return desired(Verb::update);
        case Action::remove_desired:
            return desired(Verb::remove);
        case Action::list_actual:
        case Action::list_actual_of_process:
            return actual(Verb::list);
        case Action::get_actual:
            return actual(Verb::get);
        case Action::put_actual:
            return actual(Verb::update);
        case Action::remove_actual:
            return actual(Verb::remove);
        case Action::write_many_actual:
            return actual(Verb::create);
        case Action::put_domain:
            return domain(Verb::update);
        case Action::list_domains:
            return domain(Verb::list);
        case Action::events:
            return desired(Verb::watch);
        case Action::auth_cookie:
        case Action::preflight:
            return {};
    }
    return {};
}

std::vector<Attributes> rights_for(const Operation& operation, std::string_view ns) {
    const auto naming = naming_of(operation);
    if (!naming.verb) return {};
    std::vector<Attributes> rights{
        wish(verb_name(*naming.verb), naming.group, naming.resource, ns, object_name(operation))};
    // What writes whether or not there is something takes both rights.
    if (operation.action == Action::put_actual) rights.push_back(wish("create", our_group, "actuallrps", ns));
    if (operation.action == Action::put_domain) rights.push_back(wish("create", lease_group, "leases", ns));
    if (operation.action == Action::write_many_actual) {
        rights.push_back(wish("update", our_group, "actuallrps", ns));
        rights.push_back(wish("delete", our_group, "actuallrps", ns));
    }
    if (operation.action == Action::events) rights.push_back(wish("watch", our_group, "actuallrps", ns));
    return rights;
}

std::string domain_lease_name(std::string_view domain) { return "domain-" + resource::name_for(domain); }

}  // namespace fairlead::apiserver::receptor
