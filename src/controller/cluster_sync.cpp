#include "controller/cluster_sync.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "cluster/access.h"
#include "control/conditions.h"
#include "control/finalizers.h"
#include "controller/gateway_conditions.h"
#include "controller/status_json.h"
#include "gateway/attachment.h"
#include "resource/kinds/secret.h"

namespace fairlead::controller {
namespace {

constexpr const char* due_key = "due";
constexpr std::string_view cluster_prefix = "cluster|";
constexpr std::string_view gateway_prefix = "gateway|";
constexpr const char* too_many = "TooManyClusters";
constexpr int steps_at_once = 16;  // of one follower; then the others have their turn

control::Key cluster_key(std::string_view name) { return std::string(cluster_prefix) + std::string(name); }
control::Key gateway_key(std::string_view key) { return std::string(gateway_prefix) + std::string(key); }

std::string secret_key(const resource::ClusterSpec& spec) {
    return spec.credentials ? fmt::format("{}/{}", spec.credentials->namespace_, spec.credentials->name) : "";
}

}  // namespace

ClusterSync::ClusterSync(control::Context& context, ClusterSyncOptions options)
    : context_(context),
      options_(std::move(options)),
      gateways_(context.view<resource::Gateway>(resource::gateway_kind())),
      clusters_(context.view<resource::Cluster>(resource::cluster_kind())),
      classes_(context.view<resource::GatewayClass>(resource::gateway_class_kind())),
      secrets_(context.informer(resource::secret_kind())),
      by_secret_(clusters_.add_index([](const resource::Cluster& cluster) -> std::vector<std::string> {
          if (!cluster.spec.credentials) return {};
          return {secret_key(cluster.spec)};
      })),
      figures_(context.metrics(), context.clock()) {
    watch_all();
    context.add_source([this] { step_followers(); });
}

ClusterSync::~ClusterSync() = default;

void ClusterSync::watch_all() {
    context_.watch(clusters_.informer(), [](const store::Object& object) -> std::vector<std::string> {
        return {cluster_key(object.name())};
    });
    context_.watch(secrets_, [this](const store::Object& object) {
        std::vector<std::string> keys;
        for (const auto& cluster : by_secret_.find(object.name())) keys.push_back(cluster_key(cluster));
        return keys;
    });
    classes_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        const auto name = (after ? after : before)->name();
        gateways_.for_each([&](const std::string& key, const resource::Gateway& gateway) {
            if (gateway.spec.gateway_class_name == name) context_.enqueue(gateway_key(key));
        });
    });
    gateways_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        context_.enqueue(gateway_key(after ? after->name() : before->name()));
        if (before && after) return;
        // One more or less that clusters may have too: they say how many.
        for (const auto& [name, entry] : entries_) context_.enqueue(cluster_key(name));
    });
}

Result<control::Again> ClusterSync::reconcile(const control::Key& key) {
    if (key.starts_with(cluster_prefix)) return reconcile_cluster(key.substr(cluster_prefix.size()));
    if (key.starts_with(gateway_prefix)) return reconcile_gateway(key.substr(gateway_prefix.size()));
    return Again::no();  // due: the followers have been stepped on the way here
}

// --- followers ---

void ClusterSync::step_followers() {
    const auto now = context_.clock().monotonic();
    std::optional<MonotonicTime> next;
    bool more = false;
    for (auto& [name, entry] : entries_) {
        if (!entry.follower) continue;
        if (entry.woken->exchange(false) || !entry.due || *entry.due <= now) more = step(name, entry) || more;
        if (entry.due && (!next || *entry.due < *next)) next = entry.due;
    }
    if (more) {
        context_.enqueue(due_key);
    } else if (next) {
        context_.enqueue_after(due_key, *next - now);
    }
}

// True if there is more to do now.
bool ClusterSync::step(const std::string& name, Entry& entry) {
    Step step;
    bool more = true;
    for (int i = 0; i < steps_at_once && more; ++i) {
        step = entry.follower->step();
        more = entry.woken->exchange(false) || step.more;
    }
    entry.due = step.due;
    if (more) entry.woken->store(true);
    const auto connection = entry.follower->connection();
    if (connection.synced && !entry.last.synced) {
        // The first whole view of it: what stands here of Gateways that it no longer has goes now.
        gateways_.for_each([this](const std::string& key, const auto&) { context_.enqueue(gateway_key(key)); });
        entry.follower->take_changed();
    }
    bool changed = false;
    if (connection.synced) {
        for (const auto& key : entry.follower->take_changed()) {
            changed = true;
            context_.enqueue(gateway_key(key));
        }
    }
    if (changed || connection != entry.last) context_.enqueue(cluster_key(name));
    entry.last = connection;
    const auto seen = entry.follower->figures();
    if (seen.relists != entry.figures.relists || seen.events != entry.figures.events) {
        entry.figures.relists = seen.relists;
        entry.figures.events = seen.events;
        figures_.set(name, entry.figures);
    }
    return more;
}

Result<cluster::Access> ClusterSync::access_to(const resource::ClusterSpec& spec, std::string& reason) const {
    reason = "InvalidCredentials";
    if (!spec.credentials) return cluster::access_of(spec, {});
    const auto name = secret_key(spec);
    const auto stored = secrets_.get(name);
    if (!stored) {
        reason = "SecretNotFound";
        return fail(Errc::not_found,
                    fmt::format("there is no Secret {}: make it, with kubeconfig, or ca.crt and token, or ca.crt, "
                                "tls.crt and tls.key",
                                name));
    }
    const auto secret = decoded<resource::Secret>(stored);
    auto access = secret ? cluster::access_of(spec, secret->data) : Result<cluster::Access>(fail(secret.error()));
    if (!access && access.error().field.starts_with("data")) {
        return fail(Errc::invalid, fmt::format("Secret {}: {}", name, access.error().text()));
    }
    return access;
}

// Whether it is among the oldest of those with a server, as many as can be followed.
bool ClusterSync::has_room(const resource::Cluster& cluster) const {
    if (clusters_.size() <= options_.max_followed) return true;
    std::size_t before = 0;
    clusters_.for_each([&](const std::string& name, const resource::Cluster& other) {
        if (other.spec.server.empty() || !other.metadata.deletion_timestamp.empty()) return;
        const auto& mine = cluster.metadata;
        const auto& theirs = other.metadata.creation_timestamp;
        if (std::tie(theirs, name) < std::tie(mine.creation_timestamp, mine.name)) ++before;
    });
    return before < options_.max_followed;
}

void ClusterSync::follow(const std::string& name, const resource::Cluster& cluster) {
    auto& entry = entries_[name];
    if (!has_room(cluster)) {
        entry.reason = too_many;
        entry.problem = fmt::format(
            "this server can follow {} clusters, and older ones are that many: let it open more files (LimitNOFILE), "
            "or "
            "use several hubs",
            options_.max_followed);
        entry.follower.reset();
        entry.access.reset();
        entry.last = {};
        return;
    }
    const auto stored = secrets_.get(secret_key(cluster.spec));
    const auto secret = stored ? stored->modified() : 0;
    if (entry.follower && entry.spec == cluster.spec && entry.secret == secret) return;
    entry.spec = cluster.spec;
    entry.secret = secret;
    auto access = access_to(cluster.spec, entry.reason);
    if (!access) {
        entry.problem = access.error().text();
        entry.follower.reset();
        entry.access.reset();
        entry.last = {};
        return;
    }
    entry.reason.clear();
    entry.problem.clear();
    if (entry.follower && entry.access == *access) return;
    entry.follower = std::make_unique<cluster::Follower>(options_.make_link(*access), context_.clock(),
                                                         context_.random(), context_.log(), name, options_.follower);
    entry.access = std::move(*access);
    entry.last = entry.follower->connection();
    entry.due.reset();
    entry.woken = std::make_shared<std::atomic<bool>>(true);
    entry.follower->on_work([woken = entry.woken, wake = context_.waker()] {
        woken->store(true);
        wake();
    });
    context_.enqueue(due_key);
}

// --- Clusters ---

std::set<std::string> ClusterSync::cluster_names() const {
    std::set<std::string> names;
    clusters_.for_each([&names](const std::string& name, const auto&) { names.insert(name); });
    return names;
}

// True if there is something to remove.
bool ClusterSync::remove_entries(const std::string& name) {
    bool found = false;
    const auto names = cluster_names();
    gateways_.for_each([&](const std::string& key, const resource::Gateway& gateway) {
        if (!mentions(gateway.status, name, names)) return;
        found = true;
        leaving_[key].insert(name);
        context_.enqueue(gateway_key(key));
    });
    return found;
}

void ClusterSync::forget(const std::string& name) {
    entries_.erase(name);
    left_out_.erase(name);
    figures_.erase(name);
    for (const auto& [other, entry] : entries_) {
        if (entry.reason == too_many) context_.enqueue(cluster_key(other));
    }
}

Result<void> ClusterSync::set_finalizer(const std::string& name, bool wanted) {
    const auto stored = clusters_.stored(name);
    const auto object = json::parse(stored->value());
    if (!object) return fail(object.error());
    const auto id = control::object_id(clusters_.kind(), name);
    const auto done = wanted ? control::add_finalizer(context_.client(), id, *object, cluster_finalizer)
                             : control::remove_finalizer(context_.client(), id, *object, cluster_finalizer);
    if (!done && done.error().code != Errc::not_found) return fail(done.error());
    return {};
}

// It is being deleted, or no longer ours to follow.
Result<control::Again> ClusterSync::leave(const resource::Cluster& cluster) {
    const auto& name = cluster.metadata.name;
    forget(name);
    const bool deleted = !cluster.metadata.deletion_timestamp.empty();
    if (!control::has_finalizer(cluster.metadata, cluster_finalizer)) return Again::no();
    if (deleted && remove_entries(name)) return Again::no();  // the last of those Gateways asks for this key again
    if (!deleted) {
        const auto cleared = cleared_status(cluster.status);
        if (cleared != cluster.status) {
            if (auto written = write_status(name, cluster, cleared); !written) return fail(written.error());
            return Again::no();  // the write asks for this key again
        }
    }
    if (auto done = set_finalizer(name, false); !done) return fail(done.error());
    return Again::no();
}

ClusterLink ClusterSync::link_of(const std::string& name, Entry& entry) const {
    ClusterLink link;
    const auto now = context_.clock().monotonic();
    if (!entry.follower) {
        if (!entry.lost) entry.lost = now;
        link.state = ClusterLink::State::lost;
        link.reason = entry.reason;
        link.problem = entry.problem;
    } else if (const auto connection = entry.follower->connection(); connection.connected) {
        entry.lost.reset();
        link.state = ClusterLink::State::connected;
    } else {
        const auto since = connection.lost.value_or(now);
        entry.lost = std::min(entry.lost.value_or(since), since);
        link.problem = connection.problem;
        if (!connection.problem.empty()) link.state = ClusterLink::State::lost;
    }
    if (entry.lost) link.lost_for = now - *entry.lost;
    if (entry.follower && entry.follower->connection().synced) {
        const auto& theirs = entry.follower->contents().gateways;
        link.gateways = static_cast<std::int32_t>(std::count_if(
            theirs.begin(), theirs.end(), [this](const auto& each) { return gateways_.get(each.first) != nullptr; }));
    }
    if (const auto full = left_out_.find(name); full != left_out_.end()) {
        link.full.assign(full->second.begin(), full->second.end());
    }
    return link;
}

Result<control::Again> ClusterSync::reconcile_cluster(const std::string& name) {
    const auto* cluster = clusters_.get(name);
    if (cluster == nullptr) {
        forget(name);
        (void)remove_entries(name);
        return Again::no();
    }
    if (!cluster->metadata.deletion_timestamp.empty() || cluster->spec.server.empty()) return leave(*cluster);
    if (!control::has_finalizer(cluster->metadata, cluster_finalizer)) {
        if (auto held = set_finalizer(name, true); !held) return fail(held.error());
        return Again::no();  // the write asks for this key again
    }
    follow(name, *cluster);
    auto& entry = entries_.at(name);
    const auto link = link_of(name, entry);
    const auto wanted = cluster_status(*cluster, link, context_.clock().now());
    if (wanted != cluster->status) {
        if (auto written = write_status(name, *cluster, wanted); !written) return fail(written.error());
    }
    const auto* stale = control::find_condition(wanted.conditions, stale_condition);
    const bool is_stale = stale != nullptr && stale->status == "True";
    entry.figures.connected = link.state == ClusterLink::State::connected;
    entry.figures.stale = is_stale;
    entry.figures.heard = context_.clock().now() - std::chrono::duration_cast<WallTime::duration>(link.lost_for);
    figures_.set(name, entry.figures);
    const auto left = grace_of(cluster->spec) - link.lost_for;
    if (!entry.lost || is_stale || left.count() <= 0) return Again::no();
    return Again::in(left);
}

Result<void> ClusterSync::write_status(const std::string& name, const resource::Cluster& cluster,
                                       const resource::ClusterStatus& wanted) {
    auto changed = cluster;
    changed.status = wanted;
    auto object = control::changed_object(*clusters_.stored(name), changed);
    if (!object) return fail(object.error());
    const auto before = cluster.status;
    const auto written =
        context_.client().update_status(control::object_id(clusters_.kind(), name), std::move(*object));
    if (!written && written.error().code == Errc::not_found) return {};
    if (!written) return fail(written.error());
    for (const auto& news : news_of(before, wanted)) {
        if (news.warning) {
            context_.events().warning(*written, news.reason, news.message);
        } else {
            context_.events().normal(*written, news.reason, news.message);
        }
    }
    return {};
}

// --- Gateways ---

Merging ClusterSync::merging_of(const std::string& key) const {
    Merging merging;
    merging.clusters = cluster_names();
    for (const auto& [name, entry] : entries_) {
        if (const auto* cluster = clusters_.get(name)) merging.created[name] = cluster->metadata.creation_timestamp;
        // Until all has been listed, what stands here is the newest that is known.
        if (!entry.follower || !entry.follower->connection().synced) continue;
        const auto& contents = entry.follower->contents();
        const auto found = contents.gateways.find(key);
        auto& report = merging.reports[name];
        if (found == contents.gateways.end()) continue;
        report = report_of(name, found->second,
                           gateway::attach(found->second, entry.follower->routes_of(key), contents.namespaces));
    }
    const auto leaving = leaving_.find(key);
    if (leaving == leaving_.end()) return merging;
    for (const auto& name : leaving->second) {
        const auto* cluster = clusters_.get(name);
        if (cluster == nullptr || !cluster->metadata.deletion_timestamp.empty()) merging.removed.insert(name);
    }
    return merging;
}

// They are told, and those that have room now.
void ClusterSync::note_left_out(const std::string& key, const std::vector<std::string>& clusters) {
    for (auto each = left_out_.begin(); each != left_out_.end();) {
        const bool still = std::binary_search(clusters.begin(), clusters.end(), each->first);
        if (!still && each->second.erase(key) > 0) context_.enqueue(cluster_key(each->first));
        each = each->second.empty() ? left_out_.erase(each) : std::next(each);
    }
    for (const auto& name : clusters) {
        if (left_out_[name].insert(key).second) context_.enqueue(cluster_key(name));
    }
}

Result<control::Again> ClusterSync::reconcile_gateway(const std::string& key) {
    const auto done = [this, &key] {
        const auto leaving = leaving_.find(key);
        if (leaving == leaving_.end()) return;
        for (const auto& name : leaving->second) context_.enqueue(cluster_key(name));
        leaving_.erase(leaving);
    };
    const auto* gateway = gateways_.get(key);
    if (gateway == nullptr) {
        note_left_out(key, {});
        done();
        return Again::no();
    }
    const auto merging = merging_of(key);
    auto merge = merged(gateway->status, merging);
    note_left_out(key, merge.left_out);
    auto changed = *gateway;
    changed.status = std::move(merge.status);
    if (gateway->metadata.deletion_timestamp.empty() &&
        speaks_for(*gateway, classes_.get(gateway->spec.gateway_class_name))) {
        changed.status.conditions = gateway_conditions(changed, context_.clock().now());
    }
    if (changed.status == gateway->status) {
        done();
        return Again::no();
    }
    for (const auto& [name, report] : merging.reports) {
        for (const auto& each : report.left_out) {
            context_.log().warn("entry of a cluster is left out", {{"cluster", name}, {"gateway", key}, {"why", each}});
        }
    }
    auto object = control::changed_object(*gateways_.stored(key), changed);
    if (!object) return fail(object.error());
    const auto written = context_.client().update_status(control::object_id(gateways_.kind(), key), std::move(*object));
    if (!written && written.error().code != Errc::not_found) return fail(written.error());
    return Again::no();  // the write asks for this key again
}

}  // namespace fairlead::controller
