// How fast controllers are: objects per second from the store through an informer to a reconciler that does nothing and
// to one that writes status, and how long a relist takes after a lost watch. No sockets: a Manager is stepped as the
// server's thread steps it. Prints one JSON object. control_bench [OBJECTS] [SECONDS]
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "apiserver/local_client.h"
#include "apiserver/object_bytes.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "control/conditions.h"
#include "control/manager.h"
#include "controller/event_expiry.h"
#include "controller/garbage_collector.h"
#include "controller/namespace_lifecycle.h"
#include "resource/kinds/route.h"
#include "store/embedded.h"
#include "store/memory.h"

namespace fairlead {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr std::size_t commit_objects = 500;  // per commit while the world is made

[[noreturn]] void die(std::string_view what, const Error& error) {
    fmt::print(stderr, "{}: {}\n", what, error.text());
    std::_Exit(1);
}

// A Route as the API would have stored it, about 700 bytes.
json::Value route(std::size_t number, std::string_view host) {
    auto value = json::parse(fmt::format(
        R"({{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{{"name":"route-{0}","namespace":"default","uid":"00000000-0000-4000-8000-{0:012}","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z","labels":{{"app":"shop-{1}","tier":"web"}},"annotations":{{"example.com/owner":"team-{1}","example.com/note":"{2}"}}}},"spec":{{"host":"{3}","path":"/","to":{{"kind":"Service","name":"web-{1}","weight":100}},"port":{{"targetPort":8080}},"wildcardPolicy":"None"}},"status":{{"phase":"new"}}}})",
        number, number % 97, std::string(200, 'x'), host));
    if (!value) die("route", value.error());
    return std::move(*value);
}

class World {
public:
    explicit World(std::unique_ptr<store::Store> store) : store_(std::move(store)) {
        apiserver::Rest rest(kinds, *store_, clock, random);
        if (auto prepared = rest.prepare(); !prepared) die("prepare", prepared.error());
    }
    // Writes every `stride`-th object with a host of its own.
    void write(std::size_t objects, std::string_view generation, std::size_t stride = 1) {
        std::vector<store::Op> ops;
        for (std::size_t i = 0; i < objects; i += stride) {
            const auto value = route(i, fmt::format("r{}-{}.example.com", i, generation));
            ops.push_back(store::put({table, fmt::format("default/route-{}", i)}, store::Expect::anything(),
                                     apiserver::stored_form(value)));
            if (ops.size() == commit_objects) flush(ops);
        }
        flush(ops);
    }
    void remove(std::size_t objects, std::size_t stride) {
        std::vector<store::Op> ops;
        for (std::size_t i = 1; i < objects; i += stride) {
            ops.push_back(store::remove({table, fmt::format("default/route-{}", i)}, store::Expect::anything()));
        }
        flush(ops);
    }
    store::Store& store() { return *store_; }

    SystemClock clock;
    SeededRandom random{1};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    resource::Kinds kinds = resource::make_kinds();
    const std::string table = resource::route_kind().table();

private:
    void flush(std::vector<store::Op>& ops) {
        if (ops.empty()) return;
        if (auto done = store_->commit_and_wait(std::move(ops)); !done) die("commit", done.error());
        ops.clear();
    }
    std::unique_ptr<store::Store> store_;
};

// A manager as the server has it, and how long it takes until it rests.
struct Run {
    explicit Run(World& w)
        : world(w),
          fenced(w.store(), fence, w.clock),
          client(w.kinds, fenced, w.clock, w.random),
          leases(w.kinds, w.store(), w.clock, w.random),
          manager({w.kinds, w.store(), client, leases, fence, w.clock, w.random, w.log, w.metrics}, options()) {}
    static control::ManagerOptions options() {
        control::ManagerOptions options;
        options.election = control::ElectionOptions{};
        options.election->identity = "bench";
        return options;
    }
    double seconds_until_idle() {
        const auto start = std::chrono::steady_clock::now();
        while (manager.step().more) {
        }
        return Seconds(std::chrono::steady_clock::now() - start).count();
    }
    World& world;
    control::Fence fence;
    control::FencedStore fenced;
    apiserver::LocalClient client, leases;
    control::Manager manager;
};

class NoOp final : public control::Reconciler {
public:
    NoOp(control::Context& context, bool typed) {
        if (typed) {
            context.watch(context.view<resource::Route>(resource::route_kind()).informer());
        } else {
            context.watch(context.informer(resource::route_kind()));
        }
    }
    Result<control::Again> reconcile(const control::Key&) override {
        ++runs;
        return control::Again::no();
    }
    std::size_t runs = 0;
};

// Says in status which host it has seen: one write per object, none when it is right.
class StatusWriter final : public control::Reconciler {
public:
    explicit StatusWriter(control::Context& context)
        : context_(context), routes_(context.view<resource::Route>(resource::route_kind())) {
        context.watch(routes_.informer());
    }
    Result<control::Again> reconcile(const control::Key& key) override {
        const auto* route = routes_.get(key);
        if (!route) return control::Again::no();
        auto changed = *route;
        resource::Condition seen;
        seen.type = "Seen";
        seen.status = "True";
        seen.reason = "Bench";
        seen.message = route->spec.host;
        if (!control::set_condition(changed.status.conditions, seen, context_.clock().now()))
            return control::Again::no();
        auto object = control::changed_object(*routes_.stored(key), changed);
        if (!object) return fail(object.error());
        auto written = context_.client().update_status(control::object_id(routes_.kind(), key), std::move(*object));
        if (!written) die("status", written.error());
        ++writes;
        return control::Again::no();
    }
    std::size_t writes = 0;

private:
    control::Context& context_;
    control::View<resource::Route>& routes_;
};

void no_op(std::size_t objects, bool typed, json::Object& out) {
    World world(store::make_memory_store());
    world.write(objects, "a");
    Run run(world);
    NoOp* reconciler = nullptr;
    run.manager.add("no-op", [&](control::Context& context) {
        auto made = std::make_unique<NoOp>(context, typed);
        reconciler = made.get();
        return made;
    });
    const std::string name = typed ? "noop_typed" : "noop";
    const double listed = run.seconds_until_idle();
    out[name + "_list_per_second"] = static_cast<double>(reconciler->runs) / listed;
    reconciler->runs = 0;
    world.write(objects, "b");
    const double followed = run.seconds_until_idle();
    out[name + "_follow_per_second"] = static_cast<double>(reconciler->runs) / followed;
}

void status(std::unique_ptr<store::Store> store, std::size_t objects, double seconds, const std::string& name,
            json::Object& out) {
    World world(std::move(store));
    world.write(objects, "a");
    Run run(world);
    StatusWriter* reconciler = nullptr;
    run.manager.add("status", [&](control::Context& context) {
        auto made = std::make_unique<StatusWriter>(context);
        reconciler = made.get();
        return made;
    });
    while (reconciler->writes == 0 && run.manager.step().more) {
    }
    const auto start = std::chrono::steady_clock::now();
    const auto before = reconciler->writes;
    double passed = 0;
    while (run.manager.step().more && passed < seconds) {
        passed = Seconds(std::chrono::steady_clock::now() - start).count();
    }
    out[name] = static_cast<double>(reconciler->writes - before) / passed;
}

void relist(std::size_t objects, bool typed, json::Object& out) {
    World world(store::make_memory_store({.events = objects / 100, .bytes = std::size_t{64} << 20U}));
    world.write(objects, "a");
    Run run(world);
    NoOp* reconciler = nullptr;
    run.manager.add("no-op", [&](control::Context& context) {
        auto made = std::make_unique<NoOp>(context, typed);
        reconciler = made.get();
        return made;
    });
    run.seconds_until_idle();
    reconciler->runs = 0;
    world.write(objects, "b", 50);
    world.remove(objects, 1'000);
    const double passed = run.seconds_until_idle();
    auto& informer = run.manager.informer(resource::route_kind());
    const std::string name = typed ? "relist_typed" : "relist";
    out[name + "_ms"] = passed * 1'000;
    out[name + "_changes_found"] = reconciler->runs;
    out[name + "s"] = informer.relists();
}

// The server's own controllers over that many objects, until they rest.
void start(std::size_t objects, json::Object& out) {
    World world(store::make_memory_store());
    world.write(objects, "a");
    Run run(world);
    run.manager.add("gc", [](auto& context) { return std::make_unique<controller::GarbageCollector>(context); });
    run.manager.add("ns", [](auto& context) { return std::make_unique<controller::NamespaceLifecycle>(context); });
    run.manager.add("events", [](auto& context) {
        return std::make_unique<controller::EventExpiry>(context, controller::EventExpiryOptions{});
    });
    out["start_ms"] = run.seconds_until_idle() * 1'000;
}

// One owner with a tenth of the objects as dependents, deleted in the foreground: each change may cost no more than its
// own share.
void collect(std::size_t objects, json::Object& out) {
    World world(store::make_memory_store());
    const auto dependents = objects / 10;
    world.write(dependents, "a");
    Run run(world);
    run.manager.add("gc", [](auto& context) { return std::make_unique<controller::GarbageCollector>(context); });
    const auto& kind = *world.kinds.find("route.openshift.io", "v1", "routes");
    control::Client client(run.leases, "bench", nullptr, world.clock);
    const auto owner = client.get({&kind, "default", "route-0"});
    if (!owner) die("owner", owner.error());
    for (std::size_t i = 1; i < dependents; ++i) {
        const auto patch = json::parse(fmt::format(
            R"({{"metadata":{{"ownerReferences":[{{"apiVersion":"route.openshift.io/v1","kind":"Route","name":"route-0","uid":"{}","blockOwnerDeletion":true}}]}}}})",
            json::string_at(*owner, "metadata.uid")));
        auto patched = client.merge_patch({&kind, "default", fmt::format("route-{}", i)}, *patch);
        if (!patched) die("dependent", patched.error());
    }
    run.seconds_until_idle();
    control::DeleteOptions foreground;
    foreground.propagation = control::Propagation::foreground;
    if (auto marked = client.remove({&kind, "default", "route-0"}, foreground); !marked) die("owner", marked.error());
    const double passed = run.seconds_until_idle();
    if (run.manager.informer(kind).size() != 0) die("collect", {Errc::internal, {}, "something is left"});
    out["collect_per_second"] = static_cast<double>(dependents) / passed;
}

std::unique_ptr<store::Store> open_embedded(const std::filesystem::path& folder, Log& log, Metrics& metrics) {
    auto opened =
        store::open_embedded_store({.file = folder / "store.db", .history = {}, .progress = {}}, log, metrics);
    if (!opened) die("store", opened.error());
    return std::move(*opened);
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
    using namespace fairlead;
    const auto number = [&](int at, std::int64_t otherwise) {
        return argc > at ? parse_int(argv[at]).value_or(otherwise) : otherwise;
    };
    const auto objects = static_cast<std::size_t>(number(1, 100'000));
    const auto seconds = static_cast<double>(number(2, 5));
    json::Object out;
    out["objects"] = objects;
    no_op(objects, false, out);
    no_op(objects, true, out);
    status(store::make_memory_store(), objects, seconds, "status_memory_per_second", out);
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-bench-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) return 1;
        Log log(LogLevel::error, LogFormat::text);
        Metrics metrics;
        status(open_embedded(pattern, log, metrics), objects, seconds, "status_durable_per_second", out);
        std::error_code ignored;
        std::filesystem::remove_all(pattern, ignored);
    }
    relist(objects, false, out);
    relist(objects, true, out);
    start(objects, out);
    collect(objects, out);
    fmt::print("{}\n", json::serialize(json::Value(out)));
    return 0;
}
