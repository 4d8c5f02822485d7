#include "simulation/client.h"

#include <fmt/core.h>

#include <array>

#include "base/text.h"

namespace fairlead::simulation {

using apiserver::Target;
using apiserver::Verb;

namespace {

constexpr std::array<std::string_view, 3> namespaces{"default", "north", "south"};
constexpr std::array<std::string_view, 4> names{"a", "b", "c", "d"};
constexpr std::array<std::string_view, 3> policies{"Background", "Foreground", "Orphan"};

struct SimKind {
    std::string_view group, version, plural;
    std::string_view content;  // what the kind needs besides metadata
};
// Three namespaced kinds and one of cluster scope: owners and dependents are of any of them.
constexpr std::array<SimKind, 4> object_kinds{{
    {"", "v1", "secrets", R"("type":"Opaque","data":{"k":"dg=="})"},
    {"", "v1", "endpoints", R"("subsets":[])"},
    {"fairlead.dev", "v1", "clusters", R"("spec":{})"},
    {"route.openshift.io", "v1", "routes",
     R"("spec":{"host":"shop.example.com","to":{"kind":"Service","name":"web"}})"},
}};

const SimKind& content_of(const resource::Kind& kind) {
    for (const auto& one : object_kinds) {
        if (one.plural == kind.plural) return one;
    }
    return object_kinds[0];
}

Target random_target(World& world) {
    const auto& one = world.dice.pick(object_kinds);
    Target target{world.kinds().find(one.group, one.version, one.plural), "", std::string(world.dice.pick(names)), ""};
    if (target.kind->scope == resource::Scope::namespaced) target.namespace_ = world.dice.pick(namespaces);
    return target;
}

// Something that exists, so that most requests find what they are about; anything at all if nothing does.
Target existing_target(World& world) {
    for (int attempt = 0; attempt < 4; ++attempt) {
        auto target = random_target(world);
        const auto& table = world.truth().table(target.kind->table());
        if (table.empty()) continue;
        auto found = table.begin();
        std::advance(found, static_cast<std::ptrdiff_t>(world.dice.below(table.size())));
        const auto slash = found->first.find('/');
        if (slash != std::string::npos) target.namespace_ = found->first.substr(0, slash);
        target.name = slash == std::string::npos ? found->first : found->first.substr(slash + 1);
        return target;
    }
    return random_target(world);
}

std::string member_of(const std::string& bytes, std::string_view path) {
    const auto value = json::parse(bytes);
    return value ? std::string(json::string_at(*value, path)) : std::string();
}

// One owner reference, as JSON: mostly a good one.
std::string owner_reference(World& world, std::string_view own_namespace) {
    auto owner = existing_target(world);
    const bool elsewhere = world.dice.chance(60);  // wrong namespace on purpose
    if (!elsewhere && !owner.namespace_.empty() && !own_namespace.empty()) owner.namespace_ = own_namespace;
    std::string name = owner.name;
    if (!owner.namespace_.empty()) name = owner.namespace_ + "/" + name;
    const auto* present = world.truth().find({owner.kind->table(), name});
    std::string uid = present ? member_of(present->bytes, "metadata.uid") : std::string();
    if (uid.empty() || world.dice.chance(80)) uid = make_uuid(world.dice);  // never existed
    return fmt::format(R"({{"apiVersion":"{}","kind":"{}","name":"{}","uid":"{}"{}}})", owner.kind->api_version(),
                       owner.kind->name, owner.name, uid,
                       world.dice.chance(500) ? R"(,"blockOwnerDeletion":true)" : "");
}

std::string owner_references(World& world, std::string_view own_namespace) {
    std::string list;
    const auto count = world.dice.chance(250) ? 2 : 1;
    for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + owner_reference(world, own_namespace);
    return "[" + list + "]";
}

}  // namespace

resource::Kinds simulated_kinds() {
    const auto all = resource::make_kinds();
    std::vector<resource::Kind> chosen;
    for (const auto& kind : all.all()) {
        for (const auto* plural : {"namespaces", "secrets", "endpoints", "events", "leases", "clusters", "routes"}) {
            if (kind.plural == plural) chosen.push_back(kind);
        }
    }
    return resource::Kinds(std::move(chosen));
}

void Client::step(World& world) {
    const auto dice = world.dice.below(100);
    if (dice < 34) return create(world);
    if (dice < 40) return create_namespace(world);
    if (dice < 45) return create_event(world);
    if (dice < 55) return update(world);
    if (dice < 71) return patch(world);
    if (dice < 89) return remove(world);
    if (dice < 91) return remove_collection(world);
    read(world);
}

void Client::send(World& world, Request request) {
    auto* process = world.any_process();
    if (!process) return;
    if (request.verb != Verb::get && world.dice.chance(30)) request.options.dry_run = {"All"};
    (void)world.send(*process, request, name_);
}

void Client::create(World& world) {
    Request request;
    request.verb = Verb::create;
    request.target = random_target(world);
    std::string metadata = fmt::format(R"("name":"{}")", request.target.name);
    if (world.dice.chance(50)) metadata = R"("generateName":"g-")";
    if (world.dice.chance(550))
        metadata += R"(,"ownerReferences":)" + owner_references(world, request.target.namespace_);
    if (world.dice.chance(120)) metadata += fmt::format(R"(,"finalizers":["{}"])", held_by_client);
    const auto& kind = *request.target.kind;
    request.body = fmt::format(R"({{"apiVersion":"{}","kind":"{}","metadata":{{{}}},{}}})", kind.api_version(),
                               kind.name, metadata, content_of(kind).content);
    send(world, std::move(request));
}

void Client::create_namespace(World& world) {
    Request request;
    request.verb = Verb::create;
    request.target = {world.kinds().find("", "v1", "namespaces"), "", std::string(world.dice.pick(namespaces)), ""};
    request.body =
        fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", request.target.name);
    send(world, std::move(request));
}

void Client::create_event(World& world) {
    auto* process = world.any_process();
    if (!process) return;
    const std::string ns(world.dice.pick(namespaces));
    const auto when = rfc3339(process->clock.now());
    Request request;
    request.verb = Verb::create;
    request.target = {world.kinds().find("", "v1", "events"), ns, "", ""};
    request.body = fmt::format(
        R"({{"apiVersion":"v1","kind":"Event","metadata":{{"generateName":"e-"}},"involvedObject":{{"kind":"Secret",)"
        R"("namespace":"{}","name":"a"}},"reason":"Simulated","message":"m","type":"Normal","count":1,)"
        R"("firstTimestamp":"{}","lastTimestamp":"{}"}})",
        ns, when, when);
    send(world, std::move(request));
}

void Client::update(World& world) {
    // Either what was read long ago, or what is read now and written a moment later.
    if (!stale_.empty() && world.dice.chance(400)) {
        Request request{Verb::update, stale_target_, {}, std::move(stale_)};
        stale_.clear();
        return send(world, std::move(request));
    }
    auto* process = world.any_process();
    if (!process) return;
    Request get{Verb::get, existing_target(world), {}, {}};
    const auto reply = world.send(*process, get, name_);
    if (!reply || reply->code != 200) return;
    auto object = json::parse(reply->body);
    if (!object) return;
    json::set_at(*object, "metadata.labels.turn", json::String(std::to_string(world.dice.below(1000))));
    std::string body = json::serialize(*object);
    if (world.dice.chance(300)) {
        stale_ = std::move(body);
        stale_target_ = get.target;
        return;
    }
    send(world, Request{Verb::update, get.target, {}, std::move(body)});
}

void Client::patch(World& world) {
    Request request{Verb::patch, existing_target(world), {}, {}, "application/merge-patch+json"};
    const auto dice = world.dice.below(100);
    if (dice < 6) {
        request.body = R"({"metadata":{"labels":null}})";
    } else if (dice < 35) {
        request.body = fmt::format(R"({{"metadata":{{"labels":{{"turn":"{}"}}}}}})", world.dice.below(1000));
    } else if (dice < 65) {
        request.body = fmt::format(R"({{"metadata":{{"ownerReferences":{}}}}})",
                                   owner_references(world, request.target.namespace_));
    } else if (dice < 70) {
        request.body = R"({"metadata":{"ownerReferences":null}})";
    } else if (dice < 80) {
        request.body = fmt::format(R"({{"metadata":{{"finalizers":["{}"]}}}})", held_by_client);
    } else {
        request.body = R"({"metadata":{"finalizers":null}})";
        // A careful client would take its own away; only when the collector's are not there too is this the same.
        const auto key = fmt::format("{}{}{}", request.target.namespace_, request.target.namespace_.empty() ? "" : "/",
                                     request.target.name);
        const auto* present = world.truth().find({request.target.kind->table(), key});
        if (present && (present->bytes.find("\"orphan\"") != std::string::npos ||
                        present->bytes.find("\"foregroundDeletion\"") != std::string::npos)) {
            return;
        }
    }
    send(world, std::move(request));
}

void Client::remove(World& world) {
    Request request{Verb::remove, existing_target(world), {}, {}};
    if (world.dice.chance(120)) {
        request.target = {world.kinds().find("", "v1", "namespaces"), "", std::string(world.dice.pick(namespaces)), ""};
    } else if (world.dice.chance(750)) {
        request.options.propagation_policy = std::string(world.dice.pick(policies));
    }
    if (world.dice.chance(60)) request.body = R"({"preconditions":{"resourceVersion":"1"}})";
    send(world, std::move(request));
}

void Client::remove_collection(World& world) {
    auto target = random_target(world);
    target.name.clear();
    Request request{Verb::remove_collection, std::move(target), {}, {}};
    if (world.dice.chance(500)) request.options.label_selector = "turn";
    send(world, std::move(request));
}

void Client::read(World& world) {
    auto* process = world.any_process();
    if (!process) return;
    (void)world.send(*process, Request{Verb::get, existing_target(world), {}, {}}, name_);
}

bool Releaser::release_all(World& world) {
    bool all = true;
    for (const auto& one : object_kinds) {
        const auto* kind = world.kinds().find(one.group, one.version, one.plural);
        const auto objects = world.truth().table(kind->table());  // a copy: it changes under our hands
        for (const auto& [name, version] : objects) {
            auto value = json::parse(version.bytes);
            if (!value || version.bytes.find(held_by_client) == std::string::npos) continue;
            auto* process = world.any_process();
            if (!process) return false;
            json::Array kept;
            for (const auto& item : json::find(*value, "metadata.finalizers")->as_array()) {
                if (json::view(item.as_string()) != held_by_client) kept.push_back(item);
            }
            json::set_at(*value, "metadata.finalizers", std::move(kept));
            const auto slash = name.find('/');
            Target target{kind, slash == std::string::npos ? "" : name.substr(0, slash),
                          slash == std::string::npos ? name : name.substr(slash + 1), ""};
            const auto reply =
                world.send(*process, Request{Verb::update, std::move(target), {}, json::serialize(*value)}, "releaser");
            if (!reply || (reply->code != 200 && reply->code != 404)) all = false;
        }
    }
    return all;
}

}  // namespace fairlead::simulation
