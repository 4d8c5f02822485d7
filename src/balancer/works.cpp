#include "balancer/works.h"

#include <fmt/core.h>

#include <algorithm>

namespace fairlead::balancer {

namespace {

std::string_view result_of(const Error* error) {
    if (error == nullptr) return "success";
    switch (error->code) {
        case Errc::unavailable:
            return "unavailable";
        case Errc::timeout:
            return "timeout";
        case Errc::invalid:
            return "invalid";
        case Errc::too_large:
            return "quota";
        case Errc::conflict:
            return "conflict";
        default:
            return "error";
    }
}

bool is_hopeless(const Error& error) {
    return error.code == Errc::invalid || error.code == Errc::conflict || error.code == Errc::unsupported;
}

}  // namespace

// What one visit at a provider's came to.
struct Works::Outcome {
    Work work;
    bool known = false;
    bool failed = false;  // wait longer each time
    bool again = false;   // something is on its way
    std::optional<MonotonicTime> made;
};

Works::Works(ByName providers, const Surroundings& around, WorksOptions options)
    : providers_(std::move(providers)), around_(around), options_(options) {}

Works::~Works() = default;

std::optional<MonotonicTime> Works::later(std::chrono::nanoseconds delay) const {
    return around_.clock.monotonic() + delay;
}

// --- the controller ---

void Works::want(const std::string& key, Wish wish) {
    {
        const std::lock_guard lock(mutex_);
        const auto [at, is_new] = jobs_.try_emplace(key);
        auto& job = at->second;
        if (job.forgotten || job.wish.order.uid != wish.order.uid) {
            const bool busy = job.busy;  // with the one before
            job = {};
            job.busy = busy;
        }
        const bool same = !is_new && job.wish.order == wish.order && job.wish.remove == wish.remove &&
                          job.wish.version == wish.version && job.wish.provider == wish.provider;
        if (same) return;
        if (!(job.wish.order == wish.order)) job.known = false;
        if (job.wish.remove != wish.remove) job.failures = 0;
        job.wish = std::move(wish);
        job.changed = true;
        // A change does not cut a pause short: a provider that fails is left in peace.
        if (job.failures == 0) job.due.reset();
    }
    wake_workers();
}

void Works::forget(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto at = jobs_.find(key);
    if (at == jobs_.end()) return;
    if (at->second.busy) {
        at->second.forgotten = true;
    } else {
        jobs_.erase(at);
    }
}

std::optional<Work> Works::work(std::string_view key) const {
    const std::lock_guard lock(mutex_);
    const auto at = jobs_.find(key);
    if (at == jobs_.end() || at->second.forgotten) return std::nullopt;
    return at->second.work;
}

std::vector<std::string> Works::take_news() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> keys;
    for (auto& [key, job] : jobs_) {
        if (std::exchange(job.is_new, false)) keys.push_back(key);
    }
    if (std::exchange(listed_, false)) keys.emplace_back();
    return keys;
}

void Works::list() {
    {
        const std::lock_guard lock(mutex_);
        for (const auto& each : providers_) lists_.try_emplace(each.first);
    }
    wake_workers();
}

void Works::list_soon() {
    {
        const std::lock_guard lock(mutex_);
        const auto soon = later(options_.second_look);
        for (auto& each : lists_) {
            auto& due = each.second.due;
            if (due && *due > *soon) due = soon;
        }
    }
    wake_workers();
}

std::map<std::string, Works::Listing> Works::listings() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, Listing> all;
    for (const auto& [name, list] : lists_) all.emplace(name, list.listing);
    return all;
}

// --- threads ---

Step Works::run_one() {
    Job* job = nullptr;
    std::string key;
    std::pair<const std::string, List>* list = nullptr;
    Wish wish;
    Work before;
    bool known = false;
    std::optional<MonotonicTime> made;
    const auto now = around_.clock.monotonic();
    {
        const std::lock_guard lock(mutex_);
        std::optional<MonotonicTime> due;
        const auto is_due = [&](const std::optional<MonotonicTime>& when) {
            if (!when || *when <= now) return true;
            if (!due || *when < *due) due = when;
            return false;
        };
        auto at = jobs_.upper_bound(last_);
        for (std::size_t i = 0; i < jobs_.size() && job == nullptr; ++i, ++at) {
            if (at == jobs_.end()) at = jobs_.begin();
            if (at->second.busy || !is_due(at->second.due)) continue;
            key = last_ = at->first;
            job = &at->second;
        }
        if (job != nullptr) {
            job->busy = true;
            job->changed = false;
            wish = job->wish;
            before = job->work;
            known = job->known;
            made = job->made;
        } else {
            for (auto& each : lists_) {
                if (each.second.busy || !is_due(each.second.due)) continue;
                each.second.busy = true;
                list = &each;
                break;
            }
        }
        if (job == nullptr && list == nullptr) return {.more = false, .due = due};
    }
    if (job != nullptr) {
        finish(key, wish, act(wish, before, known, made));
    } else {
        run_list(list->first, list->second);
    }
    return {.more = true, .due = {}};
}

Works::Outcome Works::act(const Wish& wish, const Work& before, bool known, std::optional<MonotonicTime> made) {
    const auto found = providers_.find(wish.provider);
    if (found == providers_.end()) {
        Outcome outcome;
        outcome.work = before;
        outcome.work.error = fmt::format("no provider {} is configured", wish.provider);
        outcome.work.hopeless = true;
        outcome.failed = true;
        return outcome;
    }
    if (wish.remove) return remove(*found->second, wish, made);
    auto outcome = bring_about(*found->second, wish, before, known);
    if (!outcome.made) outcome.made = made;
    return outcome;
}

Works::Outcome Works::remove(Provider& provider, const Wish& wish, std::optional<MonotonicTime> made) {
    Outcome outcome;
    if (made && around_.clock.monotonic() < *made + options_.shown_within) {
        const auto there = provider.get(wish.order.name);
        count(wish.provider, "get", there ? nullptr : &there.error());
        if (there && !*there) {
            outcome.again = true;
            outcome.made = made;
            return outcome;
        }
    }
    const auto gone = provider.remove(wish.order);
    count(wish.provider, "remove", gone ? nullptr : &gone.error());
    if (gone) {
        outcome.work.removed = *gone;
        outcome.again = !*gone;
    } else if (gone.error().code == Errc::conflict) {
        outcome.work.removed = true;  // what is there under that name is somebody else's
    } else {
        outcome.work.error = gone.error().text();
        outcome.work.hopeless = is_hopeless(gone.error());
        outcome.failed = true;
    }
    return outcome;
}

Works::Outcome Works::bring_about(Provider& provider, const Wish& wish, const Work& before, bool known) {
    Outcome outcome;
    outcome.work = before;
    outcome.work.removed = false;
    // create() looks first; one that was seen is only looked at, and made again if somebody has removed it.
    Result<Seen> seen = fail(Errc::not_found, "");
    if (known) {
        auto there = provider.get(wish.order.name);
        count(wish.provider, "get", there ? nullptr : &there.error());
        if (!there) {
            seen = fail(there.error());
        } else if (*there && !(*there)->foreign && (*there)->uid == wish.order.uid) {
            seen = std::move(**there);
        } else {
            known = false;
        }
    }
    if (!known) {
        seen = provider.create(wish.order);
        count(wish.provider, "create", seen ? nullptr : &seen.error());
        const bool refused = !seen && (is_hopeless(seen.error()) || seen.error().code == Errc::too_large);
        if (!refused) outcome.made = around_.clock.monotonic();
    }
    if (!seen) {
        outcome.work.error = seen.error().text();
        outcome.work.hopeless = is_hopeless(seen.error());
        outcome.work.taken_by = seen.error().code == Errc::conflict ? owner_of(provider, wish) : "";
        outcome.known = known;
        outcome.failed = true;
        return outcome;
    }
    outcome.known = true;
    outcome.work.taken_by.clear();
    outcome.work.error.clear();
    outcome.work.hopeless = false;
    outcome.work.state = seen->state;
    outcome.work.message = seen->message;
    outcome.work.addresses = seen->addresses;
    outcome.again = seen->state == State::pending;
    outcome.failed = seen->state == State::failed;
    if (seen->state == State::running && wish.table) bring_in_force(provider, wish, outcome);
    return outcome;
}

// Somebody else's, or nobody knows: empty.
std::string Works::owner_of(Provider& provider, const Wish& wish) {
    const auto there = provider.get(wish.order.name);
    count(wish.provider, "get", there ? nullptr : &there.error());
    if (!there || !*there || (*there)->foreign || (*there)->uid == wish.order.uid) return {};
    return (*there)->uid;
}

void Works::bring_in_force(Provider& provider, const Wish& wish, Outcome& outcome) {
    const auto applied = provider.update_rules(wish.order, *wish.table);
    count(wish.provider, "update_rules", applied ? nullptr : &applied.error());
    if (!applied) {
        outcome.work.rules_error = applied.error().text();
        outcome.failed = true;
        return;
    }
    outcome.work.rules_error.clear();
    outcome.work.problems = applied->problems;
    if (applied->settled) {
        outcome.work.settled = wish.version;
    } else {
        outcome.again = true;
    }
}

void Works::finish(const std::string& key, const Wish& wish, Outcome outcome) {
    {
        const std::lock_guard lock(mutex_);
        const auto at = jobs_.find(key);  // stays while it is busy
        auto& job = at->second;
        job.busy = false;
        if (job.forgotten) {
            jobs_.erase(at);
            return;
        }
        if (job.wish.order.uid != wish.order.uid) return;  // another one of that name: it begins anew
        job.known = outcome.known;
        job.made = outcome.made;
        job.failures = outcome.failed ? job.failures + 1 : 0;
        if (outcome.failed) {
            job.due = later(options_.backoff.delay(job.failures, around_.random));
        } else if (job.changed) {
            job.due.reset();
        } else {
            job.due = later(outcome.again ? options_.ask_again : options_.look_every);
        }
        if (job.work == outcome.work) return;
        job.work = std::move(outcome.work);
        job.is_new = true;
    }
    tell();
}

// The entry stays: lists are never taken away.
void Works::run_list(const std::string& name, List& list) {
    auto found = providers_.find(name)->second->list();
    count(name, "list", found ? nullptr : &found.error());
    {
        const std::lock_guard lock(mutex_);
        list.busy = false;
        if (!found) {
            list.due = later(options_.backoff.delay(++list.failures, around_.random));
            return;
        }
        list.failures = 0;
        ++list.listing.number;
        list.listing.found.clear();
        for (const auto& seen : *found) {
            if (!seen.foreign && !seen.uid.empty()) list.listing.found.push_back({name, seen.name, seen.uid});
        }
        // The first listing is soon followed by a second: nothing is removed after one sighting.
        list.due = later(list.listing.number < 2 ? options_.second_look : options_.list_every);
        listed_ = true;
    }
    tell();
}

void Works::count(const std::string& provider, std::string_view call, const Error* error) {
    around_.metrics
        .counter("fairlead_balancer_provider_calls_total", "Calls of providers of load balancers, by result.",
                 {{"provider", provider}, {"call", std::string(call)}, {"result", std::string(result_of(error))}})
        .add();
}

void Works::on_news(std::function<void()> call) {
    const std::lock_guard lock(calls_mutex_);
    news_ = std::move(call);
}

void Works::on_work(std::function<void()> call) {
    const std::lock_guard lock(calls_mutex_);
    work_ = std::move(call);
}

void Works::wake_workers() {
    const std::lock_guard lock(calls_mutex_);
    if (work_) work_();
}

void Works::tell() {
    const std::lock_guard lock(calls_mutex_);
    if (news_) news_();
}

}  // namespace fairlead::balancer
