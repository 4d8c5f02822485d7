#include "lookup/lookups.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/listener.h"
#include "base/metrics.h"
#include "base/news.h"

namespace fairlead::lookup {
namespace {

struct Host {
    Known known;
    std::set<std::string, std::less<>> groups;  // who wants to know
    std::uint64_t id = 0;                       // tells it from one of the same name before
    bool asked = false;                         // a question is under way
    MonotonicTime due{};                        // if none is
    int failures = 0;                           // in a row
};

// Doubles from the shortest wait to a minute: a name that is not there yet is soon found, a dead resolver not hammered.
std::chrono::seconds after_failure(int failures) {
    constexpr std::chrono::seconds most{60};
    constexpr int max_doublings = 4;
    return std::min(most, Lookups::shortest * (1 << std::min(failures - 1, max_doublings)));
}

// The addresses that were heard of now, and of the family that nobody answered for those that were known before.
std::vector<std::string> merged(const std::vector<std::string>& before, Addresses now) {
    if (now.missing == Addresses::Missing::none) return std::move(now.texts);
    for (const auto& text : before) {
        const bool v6 = text.find(':') != std::string::npos;
        if (v6 == (now.missing == Addresses::Missing::v6)) now.texts.push_back(text);
    }
    std::sort(now.texts.begin(), now.texts.end());
    now.texts.erase(std::unique(now.texts.begin(), now.texts.end()), now.texts.end());
    return std::move(now.texts);
}

}  // namespace

struct Lookups::Impl {
    Impl(Resolver& resolver_, const Clock& clock_, Metrics& metrics)
        : resolver(resolver_),
          clock(clock_),
          answered(questions(metrics, "answered")),
          not_found(questions(metrics, "not_found")),
          failed(questions(metrics, "failed")),
          changes(metrics.counter("fairlead_lookup_changes_total", "Changes of the addresses behind a host name.")),
          seconds(metrics.histogram("fairlead_lookup_seconds", "Time until a host name was resolved or given up.",
                                    {0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30})),
          collecting(metrics.collect_with([this] { return collect(); })) {}

    static Counter questions(Metrics& metrics, const char* result) {
        return metrics.counter("fairlead_lookup_questions_total", "Host names that were asked for, by result.",
                               {{"result", result}});
    }

    std::optional<std::pair<std::string, std::uint64_t>> take_due();
    void store(const std::string& name, std::uint64_t id, Result<Addresses> result);
    void schedule(const std::string& name, Host& host, MonotonicTime due);
    void release(const std::string& name, std::string_view group);
    std::vector<SampleFamily> collect();

    Resolver& resolver;
    const Clock& clock;
    Counter answered, not_found, failed, changes;
    Histogram seconds;
    Listener news_listener, work_listener;

    std::mutex mutex;
    std::uint64_t last_id = 0;
    std::map<std::string, Host, std::less<>> hosts;
    std::map<std::string, std::set<std::string>, std::less<>> groups;
    std::set<std::pair<MonotonicTime, std::string>> queue;  // those that are not asked for now
    std::set<std::string> news;
    Metrics::Collecting collecting;  // last: it looks at the others
};

Lookups::Lookups(Resolver& resolver, const Clock& clock, Metrics& metrics)
    : impl_(std::make_unique<Impl>(resolver, clock, metrics)) {}
Lookups::~Lookups() = default;

void Lookups::Impl::schedule(const std::string& name, Host& host, MonotonicTime due) {
    host.due = due;
    queue.emplace(due, name);
}

void Lookups::Impl::release(const std::string& name, std::string_view group) {
    const auto found = hosts.find(name);
    auto& host = found->second;
    if (const auto mine = host.groups.find(group); mine != host.groups.end()) host.groups.erase(mine);
    if (!host.groups.empty()) return;
    if (!host.asked) queue.erase({host.due, name});
    hosts.erase(found);
}

void Lookups::set(std::string_view group, const std::set<std::string>& wanted) {
    {
        const std::lock_guard lock(impl_->mutex);
        const std::string name(group);
        for (const auto& each : wanted) {
            const auto [found, is_new] = impl_->hosts.try_emplace(each);
            if (is_new) {
                found->second.id = ++impl_->last_id;
                impl_->schedule(each, found->second, impl_->clock.monotonic());
            }
            found->second.groups.insert(name);
        }
        auto& before = impl_->groups[name];
        for (const auto& each : before) {
            if (!wanted.contains(each)) impl_->release(each, group);
        }
        before = wanted;
        if (wanted.empty()) {
            impl_->groups.erase(name);
            impl_->news.erase(name);
        }
    }
    impl_->work_listener.tell();
}

std::map<std::string, Known> Lookups::known(std::string_view group) const {
    std::map<std::string, Known> known;
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->groups.find(group);
    if (found == impl_->groups.end()) return known;
    for (const auto& host : found->second) known.emplace(host, impl_->hosts.find(host)->second.known);
    return known;
}

std::vector<std::string> Lookups::take_news(std::string_view reader) {
    const std::lock_guard lock(impl_->mutex);
    return take_news_of(impl_->news, reader);
}

void Lookups::on_news(std::function<void()> call) { impl_->news_listener.set(std::move(call)); }
void Lookups::on_work(std::function<void()> call) { impl_->work_listener.set(std::move(call)); }

std::optional<std::pair<std::string, std::uint64_t>> Lookups::Impl::take_due() {
    const std::lock_guard lock(mutex);
    if (queue.empty() || queue.begin()->first > clock.monotonic()) return std::nullopt;
    auto name = std::move(queue.extract(queue.begin()).value().second);
    auto& host = hosts.find(name)->second;
    host.asked = true;
    return std::pair{std::move(name), host.id};
}

Step Lookups::run() {
    if (const auto due = impl_->take_due()) {
        const auto begin = impl_->clock.monotonic();
        auto result = impl_->resolver.resolve(due->first);  // without the lock: it blocks
        impl_->seconds.observe(std::chrono::duration<double>(impl_->clock.monotonic() - begin).count());
        impl_->store(due->first, due->second, std::move(result));
    }
    const std::lock_guard lock(impl_->mutex);
    if (impl_->queue.empty()) return {};
    const auto due = impl_->queue.begin()->first;
    if (due <= impl_->clock.monotonic()) return {.more = true, .due = {}};
    return {.more = false, .due = due};
}

void Lookups::Impl::store(const std::string& name, std::uint64_t id, Result<Addresses> result) {
    (result ? answered : result.error().code == Errc::not_found ? not_found : failed).add();
    {
        const std::lock_guard lock(mutex);
        const auto found = hosts.find(name);
        if (found == hosts.end() || found->second.id != id) return;  // nobody wants to know any more
        auto& host = found->second;
        host.asked = false;
        auto known = host.known;
        std::chrono::seconds wait = shortest;
        if (result) {
            const bool whole = result->missing == Addresses::Missing::none;
            host.failures = whole ? 0 : host.failures + 1;
            wait = std::clamp(result->ttl, shortest, longest);
            if (!whole) wait = std::min(wait, after_failure(host.failures));
            auto problem = std::move(result->problem);
            known = {merged(host.known.addresses, std::move(*result)), std::move(problem)};
            if (known.addresses != host.known.addresses) changes.add();
        } else {
            wait = after_failure(++host.failures);
            known.problem = result.error().text();
        }
        schedule(name, host, clock.monotonic() + wait);
        if (known == host.known) return;
        host.known = std::move(known);
        news.insert(host.groups.begin(), host.groups.end());
    }
    news_listener.tell();
}

std::vector<SampleFamily> Lookups::Impl::collect() {
    using Kind = SampleFamily::Kind;
    const std::lock_guard lock(mutex);
    double known = 0, failing = 0, unknown = 0;
    for (const auto& [name, host] : hosts) {
        auto& state = !host.known.problem.empty() ? failing : host.known.addresses.empty() ? unknown : known;
        ++state;
    }
    return {{"fairlead_lookup_hosts",
             "Host names whose addresses are wanted, by state.",
             Kind::gauge,
             {{{{"state", "known"}}, known}, {{{"state", "failing"}}, failing}, {{{"state", "unknown"}}, unknown}}}};
}

}  // namespace fairlead::lookup
