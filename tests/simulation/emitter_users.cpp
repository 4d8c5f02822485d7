#include <algorithm>

#include "resource/kinds/lrp.h"
#include "simulation/emitter_scene.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

namespace {

constexpr std::array<const char*, 5> guids{"p1", "p2", "p3", "p4", "p5"};
constexpr std::array<const char*, 6> all_names{"foo.com",     "bar.com",    "admin.foo.com",
                                               "foo.com/api", "*.wild.com", "shared.com"};
const std::string desired_path = "/apis/fairlead.dev/v1/namespaces/diego/desiredlrps";
const std::string actual_path = "/apis/fairlead.dev/v1/namespaces/diego/actuallrps";

std::string object_name(const TrueInstance& instance) {
    return resource::actual_lrp_name(instance.process, instance.index, instance.evacuating);
}

}  // namespace

void EmitterWorld::send(std::string_view method, const std::string& path, const json::Value& body) {
    const auto text = method == "DELETE" ? std::string() : json::serialize(body);
    const auto code = api_.send(method, path, text);
    if (code > 299) violate(fmt::format("the API answers {} to {} {} {}", code, method, path, text));
}

void EmitterWorld::put(const TrueProcess& process, const TrueProcess* before) {
    const SimReceptor::News news{process.epoch, truth_.change(process, clock_.monotonic())};
    auto spec = LrpTruth::desired(process);
    if (before == nullptr) {
        receptor_.tell("desired_lrp_created", {{"desired_lrp", spec}}, news);
    } else {
        receptor_.tell("desired_lrp_changed",
                       {{"desired_lrp_before", LrpTruth::desired(*before)}, {"desired_lrp_after", spec}}, news);
    }
    if (!over_api_) return;
    if (before == nullptr) {
        send("POST", desired_path,
             json::Object{{"apiVersion", "fairlead.dev/v1"},
                          {"kind", "DesiredLRP"},
                          {"metadata", json::Object{{"name", resource::desired_lrp_name(process.guid)}}},
                          {"spec", std::move(spec)}});
    } else {
        const json::Object changed{{"instances", process.instances}, {"routes", spec["routes"]}};
        send("PATCH", desired_path + "/" + resource::desired_lrp_name(process.guid), json::Object{{"spec", changed}});
    }
    revisions_.add(api_.store().revision(), news.number);
}

void EmitterWorld::put(const TrueInstance& instance, const TrueInstance* before) {
    const SimReceptor::News news{instance.epoch, truth_.change(instance, clock_.monotonic())};
    auto spec = LrpTruth::actual(instance);
    if (before == nullptr) {
        receptor_.tell("actual_lrp_created", {{"actual_lrp", spec}}, news);
    } else {
        receptor_.tell("actual_lrp_changed",
                       {{"actual_lrp_before", LrpTruth::actual(*before)}, {"actual_lrp_after", spec}}, news);
    }
    if (!over_api_) return;
    if (before != nullptr) {
        for (const auto* field : {"address", "ports", "instance_guid", "cell_id"}) {
            if (!spec.contains(field)) spec[field] = nullptr;
        }
        send("PATCH", actual_path + "/" + object_name(instance), json::Object{{"spec", std::move(spec)}});
    } else {
        send("POST", actual_path,
             json::Object{{"apiVersion", "fairlead.dev/v1"},
                          {"kind", "ActualLRP"},
                          {"metadata", json::Object{{"name", object_name(instance)}}},
                          {"spec", std::move(spec)}});
    }
    revisions_.add(api_.store().revision(), news.number);
}

void EmitterWorld::take_away(const TrueProcess& process) {
    const SimReceptor::News news{process.epoch, truth_.change(process, clock_.monotonic())};
    receptor_.tell("desired_lrp_removed", {{"desired_lrp", LrpTruth::desired(process)}}, news);
    if (!over_api_) return;
    send("DELETE", desired_path + "/" + resource::desired_lrp_name(process.guid), {});
    revisions_.add(api_.store().revision(), news.number);
}

void EmitterWorld::take_away(const TrueInstance& instance) {
    const SimReceptor::News news{instance.epoch, truth_.change(instance, clock_.monotonic())};
    receptor_.tell("actual_lrp_removed", {{"actual_lrp", LrpTruth::actual(instance)}}, news);
    if (!over_api_) return;
    send("DELETE", actual_path + "/" + object_name(instance), {});
    revisions_.add(api_.store().revision(), news.number);
}

std::vector<TrueRoute> EmitterWorld::some_routes(const std::string& guid) {
    std::vector<TrueRoute> routes;
    for (const std::uint16_t port : {4000, 5000}) {
        TrueRoute route;
        route.port = port;
        route.to_instances = dice_.chance(300);
        for (const auto* name : all_names) {
            // Most names are of one process; some are shared.
            const bool shared = std::string_view(name) == "shared.com";
            if (!dice_.chance(250) || (route.to_instances && std::string_view(name).starts_with("*"))) continue;
            route.names.push_back(shared || dice_.chance(50)                ? name
                                  : std::string_view(name).starts_with("*") ? fmt::format("*.{}.wild.com", guid)
                                                                            : fmt::format("{}.{}", guid, name));
        }
        if (!route.names.empty()) routes.push_back(std::move(route));
    }
    return routes;
}

void EmitterWorld::make_process(const std::string& guid) {
    TrueProcess process;
    process.guid = guid;
    process.epoch = fmt::format("e{}", ++serial_);
    process.instances = static_cast<std::int32_t>(dice_.between(1, 4));
    process.routes = some_routes(guid);
    const auto& made = truth_.processes[guid] = process;
    note(fmt::format("{} is made with {} instances", guid, process.instances));
    put(made, nullptr);
    changed();
    for (std::int32_t index = 0; index < made.instances; ++index) start_instance(guid, index);
}

void EmitterWorld::change_process(TrueProcess& process) {
    const auto before = process;
    ++process.version;
    switch (dice_.below(4)) {
        case 0:
            process.instances = static_cast<std::int32_t>(dice_.between(0, 4));
            break;
        case 1:
        case 2:
            // Often back to what it had before: what died lives again, at the same addresses.
            std::swap(process.routes, earlier_[process.guid]);
            if (process.routes.empty() || dice_.chance(400)) process.routes = some_routes(process.guid);
            break;
        default:
            process.service = process.service.empty() ? fmt::format("https://service-{}.test", ++serial_) : "";
            break;
    }
    note(fmt::format("{} changes: {} instances, {} routes", process.guid, process.instances, process.routes.size()));
    put(process, &before);
    changed();
    const auto wanted = process.instances;
    const auto guid = process.guid;
    for (std::int32_t index = 0; index < 5; ++index) {
        const bool there = truth_.instances.contains({guid, index, false});
        if (index < wanted && !there) start_instance(guid, index);
        if (index >= wanted && there && dice_.chance(800)) stop_instance({guid, index, false});
        if (index >= wanted && truth_.instances.contains({guid, index, true})) stop_instance({guid, index, true});
    }
}

void EmitterWorld::remove_process(const std::string& guid) {
    note(guid + " is removed");
    take_away(truth_.processes.at(guid));
    truth_.processes.erase(guid);
    changed();
    for (std::int32_t index = 0; index < 5; ++index) {
        for (const bool evacuating : {false, true}) {
            if (truth_.instances.contains({guid, index, evacuating})) stop_instance({guid, index, evacuating});
        }
    }
}

// Few hosts and ports, so that addresses are used again.
void EmitterWorld::place(TrueInstance& instance) {
    instance.beaten = false;
    instance.guid = fmt::format("i{}", ++serial_);
    instance.since = std::chrono::nanoseconds(clock_.monotonic().time_since_epoch()).count() + (++serial_);
    for (int tries = 0; tries < 20; ++tries) {
        instance.address = fmt::format("10.0.0.{}", dice_.between(1, 3));
        instance.base = static_cast<std::uint16_t>(60'000 + 2 * dice_.below(12));
        const auto holder = std::find_if(truth_.instances.begin(), truth_.instances.end(), [&](const auto& entry) {
            return entry.second.running() && entry.second.address == instance.address &&
                   entry.second.base == instance.base;
        });
        if (holder == truth_.instances.end()) break;
        // A cell that has lost an instance without a word gives its ports away.
        if (holder->second.process != instance.process && holder->second.tls == instance.tls && dice_.chance(100)) {
            ++report_.takeovers;
            note(fmt::format("{} takes {}:{} over from {}", instance.process, instance.address, instance.base,
                             holder->second.process));
            return;
        }
        instance.address = fmt::format("10.0.1.{}", serial_ % 250);
        instance.base = static_cast<std::uint16_t>(50'000 + 2 * (serial_ % 1'000));
    }
}

void EmitterWorld::start_instance(const std::string& guid, std::int32_t index) {
    TrueInstance instance;
    instance.process = guid;
    instance.index = index;
    instance.epoch = fmt::format("e{}", ++serial_);
    instance.state = "RUNNING";
    instance.tls = dice_.chance(250);
    place(instance);
    truth_.instances[{guid, index, false}] = instance;
    put(instance, nullptr);
    changed();
}

void EmitterWorld::stop_instance(const InstanceKey& key) {
    take_away(truth_.instances.at(key));
    truth_.instances.erase(key);
    changed();
}

void EmitterWorld::evacuate(const InstanceKey& key) {
    const auto [guid, index, evacuating] = key;
    auto& ordinary = truth_.instances.at(key);
    if (evacuating || !ordinary.running() || truth_.instances.contains({guid, index, true})) return;
    ++report_.evacuations;
    note(fmt::format("{}/{} is evacuated", guid, index));
    auto twin = ordinary;
    twin.evacuating = true;
    twin.epoch = fmt::format("e{}", ++serial_);
    twin.version = 0;
    truth_.instances[{guid, index, true}] = twin;
    put(twin, nullptr);
    const auto before = ordinary;
    ++ordinary.version;
    ordinary.state = "UNCLAIMED";
    put(ordinary, &before);
    changed();
    // It runs elsewhere in a while, and the old one ends some time after.
    agenda_.in(std::chrono::milliseconds(dice_.below(10'000)), [this, key, name = guid, number = index] {
        const auto found = truth_.instances.find(key);
        if (found != truth_.instances.end() && found->second.state == "UNCLAIMED") {
            const auto was = found->second;
            ++found->second.version;
            place(found->second);
            found->second.state = "RUNNING";
            put(found->second, &was);
            changed();
        }
        agenda_.in(std::chrono::milliseconds(dice_.below(10'000)), [this, name, number] {
            if (truth_.instances.contains({name, number, true})) stop_instance({name, number, true});
        });
    });
}

void EmitterWorld::act() {
    const std::string guid = dice_.pick(guids);
    const auto process = truth_.processes.find(guid);
    if (process == truth_.processes.end()) return make_process(guid);
    if (dice_.chance(60)) return remove_process(guid);
    if (dice_.chance(350)) return change_process(process->second);
    std::vector<InstanceKey> own;
    for (const auto& [key, instance] : truth_.instances) {
        if (std::get<0>(key) == guid) own.push_back(key);
    }
    if (own.empty()) return change_process(process->second);
    const auto key = dice_.pick(own);
    if (dice_.chance(250)) return evacuate(key);
    auto& instance = truth_.instances.at(key);
    if (std::get<2>(key)) return;
    const auto before = instance;
    ++instance.version;
    if (!instance.running()) {
        place(instance);
        instance.state = "RUNNING";
        note(fmt::format("{}/{} runs at {}:{}", guid, instance.index, instance.address, instance.base));
    } else if (dice_.chance(500)) {
        instance.state = "CRASHED";
        note(fmt::format("{}/{} crashes", guid, instance.index));
    } else {
        place(instance);  // restarted elsewhere, in one breath
        note(fmt::format("{}/{} moves to {}:{}", guid, instance.index, instance.address, instance.base));
    }
    put(instance, &before);
    changed();
}

void EmitterWorld::disturb() {
    const auto now = clock_.monotonic();
    auto& emitter = dice_.pick(emitters_);
    const auto& other = &emitter == &emitters_[0] ? emitters_[1] : emitters_[0];
    switch (dice_.below(5)) {
        case 0:
            if (!nats_up_) return;
            ++report_.outages;
            nats_heals_ = now + std::chrono::milliseconds(dice_.between(100, 60'000));
            return nats(false);
        case 1: {
            auto& router = dice_.pick(routers_);
            note(fmt::format("router {} starts anew", router.id));
            ++report_.restarts;
            ++router.starts;
            router.model.restart();
            tell_foreign(router);
            router.missing.clear();
            return hello(router, true);
        }
        case 2:
            // One of them always knows everything, and reaches NATS: without that nobody could promise anything.
            if (!crashes_ || !emitter.process || !other.process || other.process->duty() == emitter::Duty::waits)
                return;
            note(emitter.name + " dies");
            ++report_.crashes;
            emitter.process.reset();
            emitter.starts = now + std::chrono::milliseconds(dice_.below(60'000));
            return;
        case 3: {
            if (emitter.heals || other.heals) return;
            ++report_.cuts;
            const bool silent = dice_.chance(300);
            const bool lease = dice_.chance(600), source = !lease || dice_.chance(800);
            note(fmt::format("{} is cut off from{}{}{}", emitter.name, source ? " its source" : "",
                             lease ? " the lease" : "", silent ? ", in silence" : ""));
            cut(emitter, silent ? Network::Cut::silent : Network::Cut::refused, source, lease);
            emitter.heals = now + std::chrono::milliseconds(dice_.below(dice_.chance(300) ? 200'000 : 30'000));
            return;
        }
        default:
            note(emitter.name + "'s streams break");
            network_.disturb(emitter.name);
            return receptor_.break_streams(emitter.name);
    }
}

}  // namespace fairlead::simulation
