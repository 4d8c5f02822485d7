#include "lookup/host_cache.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/listener.h"

namespace fairlead::lookup {
namespace {

constexpr std::chrono::hours forgotten{2};  // what nobody needed for that long is not kept
constexpr std::chrono::seconds after_failure{15};

using Outcome = Result<std::vector<std::string>>;

struct Host {
    std::optional<Outcome> outcome;
    MonotonicTime fresh_until{}, used{};
    bool asked = false;  // or about to be
    std::vector<HostCache::Found> waiting;
};

}  // namespace

struct HostCache::Impl {
    Impl(Resolver& resolver_, const Clock& clock_) : resolver(resolver_), clock(clock_) {}
    void forget(MonotonicTime now);
    std::optional<Outcome> known_or_wait(const std::string& name, Found& found);

    Resolver& resolver;
    const Clock& clock;
    Listener work_listener;
    std::mutex mutex;
    std::map<std::string, Host> hosts;
    std::deque<std::string> questions;
    std::size_t waiting = 0;
};

HostCache::HostCache(Resolver& resolver, const Clock& clock) : impl_(std::make_unique<Impl>(resolver, clock)) {}
HostCache::~HostCache() = default;
void HostCache::on_work(std::function<void()> call) { impl_->work_listener.set(std::move(call)); }

void HostCache::Impl::forget(MonotonicTime now) {
    std::erase_if(hosts, [&](const auto& each) { return !each.second.asked && each.second.used + forgotten < now; });
}

// Nothing: `found` was taken, and is called later.
std::optional<Outcome> HostCache::Impl::known_or_wait(const std::string& name, Found& found) {
    const auto now = clock.monotonic();
    if (!hosts.contains(name)) forget(now);
    auto& host = hosts[name];
    host.used = now;
    if (!host.outcome && waiting >= max_waiting) {
        return fail(Errc::unavailable, "too many host names wait for a resolver");
    }
    if (!host.asked && (!host.outcome || host.fresh_until <= now)) {
        host.asked = true;
        questions.push_back(name);
    }
    if (host.outcome) return host.outcome;
    host.waiting.push_back(std::move(found));
    ++waiting;
    return std::nullopt;
}

void HostCache::find(const std::string& host, Found found) {
    std::optional<Outcome> known;
    {
        const std::lock_guard lock(impl_->mutex);
        known = impl_->known_or_wait(host, found);
    }
    impl_->work_listener.tell();
    if (known) found(std::move(*known));
}

Step HostCache::run() {
    std::string name;
    {
        const std::lock_guard lock(impl_->mutex);
        if (impl_->questions.empty()) return {};
        name = std::move(impl_->questions.front());
        impl_->questions.pop_front();
    }
    auto result = impl_->resolver.resolve(name);  // without the lock: it blocks
    std::vector<Found> waiting;
    std::optional<Outcome> outcome;
    bool more = false;
    {
        const std::lock_guard lock(impl_->mutex);
        auto& host = impl_->hosts[name];  // what is asked for is not forgotten
        host.asked = false;
        host.fresh_until =
            impl_->clock.monotonic() + (result ? std::clamp(result->ttl, Lookups::shortest, Lookups::longest)
                                               : std::chrono::seconds{after_failure});
        // While no resolver answers the last addresses are the best guess.
        const bool keep = !result && result.error().code != Errc::not_found && host.outcome && *host.outcome;
        if (result) {
            host.outcome.emplace(std::move(result->texts));
        } else if (!keep) {
            host.outcome.emplace(fail(result.error()));
        }
        outcome = host.outcome;
        waiting.swap(host.waiting);
        impl_->waiting -= waiting.size();
        more = !impl_->questions.empty();
    }
    for (const auto& found : waiting) found(*outcome);
    return {.more = more, .due = {}};
}

}  // namespace fairlead::lookup
