#include "world.h"

#include "apiserver/media.h"

namespace fairlead::apiserver {

namespace {

resource::Property property(std::string name, resource::Schema schema, bool required = false) {
    return {std::move(name), required, std::move(schema)};
}

resource::Schema of_type(resource::Type type) {
    resource::Schema schema;
    schema.type = type;
    return schema;
}

}  // namespace

resource::Kind example_route_kind() {
    using resource::Type;
    resource::Schema weight = of_type(Type::integer);
    weight.minimum = 0;
    weight.maximum = 100;
    weight.default_value = 10;
    resource::Schema mode = of_type(Type::string);
    mode.allowed = {"A", "B"};
    resource::Schema zone = of_type(Type::string);
    zone.immutable = true;
    resource::Schema spec = of_type(Type::object);
    spec.properties = {property("host", of_type(Type::string), true), property("weight", weight),
                       property("mode", mode), property("zone", zone)};
    resource::Schema status = of_type(Type::object);
    status.properties = {property("ready", of_type(Type::boolean)), property("phase", of_type(Type::string))};
    resource::Schema metadata = of_type(Type::object);
    metadata.keep_unknown = true;
    resource::Schema schema = of_type(Type::object);
    schema.properties = {property("apiVersion", of_type(Type::string)), property("kind", of_type(Type::string)),
                         property("metadata", metadata), property("spec", spec, true), property("status", status)};
    resource::Kind kind;
    kind.group = "traffic.example.io";
    kind.version = "v1";
    kind.name = "Route";
    kind.plural = "routes";
    kind.singular = "route";
    kind.schema = std::move(schema);
    kind.columns = {resource::name_column(), resource::path_column("Host", "spec.host", "Host."),
                    resource::age_column()};
    return kind;
}

resource::Kinds example_kinds() {
    auto kinds = resource::make_kinds().all();
    kinds.push_back(example_route_kind());
    return resource::Kinds(std::move(kinds));
}

const json::Array& Answer::items() const {
    static const json::Array none;
    const auto* list = json::find(value, "items");
    return list && list->is_array() ? list->get_array() : none;
}

std::vector<std::string> Answer::names() const {
    std::vector<std::string> list;
    for (const auto& item : items()) list.emplace_back(json::string_at(item, "metadata.name"));
    return list;
}

World::World(store::HistoryLimits history, RestOptions options)
    : store(store::make_memory_store(history)), kinds(example_kinds()), rest(kinds, *store, clock, random, options) {
    EXPECT_TRUE(rest.prepare());
}

World::Parsed World::parse(std::string_view path, std::string_view accept) {
    const auto info = parse_target(path);
    Parsed parsed;
    parsed.target = {kinds.find(info.group, info.version, info.resource), info.namespace_, info.name, info.subresource};
    EXPECT_NE(parsed.target.kind, nullptr) << path;
    auto options = parse_query(info.query);
    EXPECT_TRUE(options) << path;
    if (options) parsed.options = std::move(*options);
    auto form = negotiate(accept, parsed.options.include_object);
    EXPECT_TRUE(form) << accept;
    if (form) parsed.form = std::move(*form);
    return parsed;
}

Answer World::send(std::string_view method, std::string_view path, std::string_view bytes,
                   std::string_view content_type, std::string_view accept) {
    const auto [target, options, form] = parse(path, accept);
    const Body body{bytes, content_type};
    const auto verb = parse_target(path).verb(method, options.watch);
    Reply reply;
    if (verb == Verb::get) reply = rest.get(target, options);
    if (verb == Verb::list) reply = rest.list(target, options, form);
    if (verb == Verb::create) reply = rest.create(target, options, body);
    if (verb == Verb::update) reply = rest.update(target, options, body);
    if (verb == Verb::patch) reply = rest.patch(target, options, body);
    if (verb == Verb::remove) reply = rest.remove(target, options, body);
    if (verb == Verb::remove_collection) reply = rest.remove_collection(target, options, body);
    if (reply.content == Reply::Content::object) reply.body = render(reply.body, *target.kind, form, clock.now());
    while (reply.stream && reply.stream->pull(reply.body) == net::StreamBody::Next::data) {
    }
    Answer answer{reply.code, reply.body, reply.warnings, reply.retry_after_seconds, {}};
    auto value = json::parse(answer.body);
    EXPECT_TRUE(value) << answer.body;
    if (value) answer.value = std::move(*value);
    return answer;
}

Answer World::make_route(std::string_view name, std::string_view more_metadata, std::string_view spec) {
    std::string body = R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":")";
    body.append(name).append("\"").append(more_metadata).append(R"(},"spec":{)").append(spec).append("}}");
    return post(routes, body);
}

Answer World::edit(std::string_view path, const std::function<void(json::Value&)>& edit) {
    auto current = get(path);
    edit(current.value);
    return put(path, json::serialize(current.value));
}

std::unique_ptr<WatchStream> World::watch(std::string_view path, std::string_view accept, WatchLimits limits,
                                          Answer* refusal, WatchHub* hub) {
    const auto [target, options, form] = parse(path, accept);
    auto plan = rest.plan_watch(target, options, form);
    if (!plan) {
        EXPECT_NE(refusal, nullptr) << plan.error().message;
        if (refusal) {
            const auto reply = reply_of(plan.error());
            *refusal = {reply.code, reply.body, {}, reply.retry_after_seconds, *json::parse(reply.body)};
        }
        return nullptr;
    }
    return std::make_unique<WatchStream>(std::move(*plan), *store, clock, hub, limits);
}

std::vector<json::Value> pull_values(WatchStream& stream, net::StreamBody::Next* last) {
    std::string text;
    auto next = net::StreamBody::Next::data;
    while (next == net::StreamBody::Next::data) next = stream.pull(text);
    if (last) *last = next;
    std::vector<json::Value> values;
    std::size_t at = 0;
    while (at < text.size()) {
        const auto end = text.find('\n', at);
        EXPECT_NE(end, std::string::npos) << "an event must end with a line end: " << text.substr(at);
        auto value = json::parse(std::string_view(text).substr(at, end - at));
        EXPECT_TRUE(value) << text.substr(at, end - at);
        if (value) values.push_back(std::move(*value));
        if (end == std::string::npos) break;
        at = end + 1;
    }
    return values;
}

std::vector<std::string> pull_all(WatchStream& stream, net::StreamBody::Next* last) {
    std::vector<std::string> lines;
    for (const auto& value : pull_values(stream, last)) {
        std::string line(json::string_at(value, "type"));
        if (line == "BOOKMARK") {
            line += " " + std::string(json::string_at(value, "object.metadata.resourceVersion"));
        } else if (line == "ERROR") {
            line += " " + std::to_string(json::int_at(value, "object.code").value_or(0));
        } else {
            line += " " + std::string(json::string_at(value, "object.metadata.name"));
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace fairlead::apiserver
