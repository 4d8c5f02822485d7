#include "proxy/gorouter/registrations.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "base/random.h"
#include "json/quote.h"
#include "proxy/gorouter/index.h"
#include "proxy/gorouter/pace.h"
#include "proxy/gorouter/routers.h"
#include "proxy/gorouter/withdrawals.h"

namespace fairlead::proxy::gorouter {

namespace {

// Emission of everything goes on in small portions: 20 wakes a second are nothing, and an event waits for few messages.
constexpr std::chrono::milliseconds portion{50};
// That much of a change goes out as an emission of everything: it needs no list of what is to be sent.
constexpr std::size_t large_change = 10'000;
constexpr std::size_t withdrawal_batch = 1'024;
constexpr std::size_t bytes_per_token = 1'024;  // 128 MiB / 131,072

using Seconds = std::chrono::duration<double>;

void member(std::string& out, std::string_view name, std::string_view text) {
    fmt::format_to(std::back_inserter(out), ",\"{}\":", name);
    json::append_quoted(text, out);
}

}  // namespace

struct Registrations::Impl {
    explicit Impl(Settings wanted)
        : settings(std::move(wanted)),
          registering(settings.prefix + ".register"),
          unregistering(settings.prefix + ".unregister"),
          routers(settings.interval, settings.max_routers),
          withdrawals({settings.repeat, settings.repeat_for, settings.repeat_tls_for, settings.max_withdrawals}),
          pace(settings.messages_per_second, static_cast<double>(settings.burst)) {}

    void changed(Index::Changed what);
    void enqueue(Id name, Id endpoint);  // both held
    void forget(PairId pair) {
        index.drop_name(pair.name);
        index.drop_site(pair.site);
    }

    std::vector<Id> drop_job();
    void give_job(std::vector<Message>& out);
    void give_withdrawals(std::vector<Message>& out, MonotonicTime now, std::size_t max,
                          std::optional<std::uint64_t> change);
    void give_changes(std::vector<Message>& out, MonotonicTime now, std::size_t max);
    void repeat_withdrawals(std::vector<Message>& out, MonotonicTime now, std::size_t max);
    void walk(std::vector<Message>& out, MonotonicTime now, std::size_t max);
    void walk_one(std::vector<Message>& out);
    void registration(Id endpoint, std::vector<Id>& names, std::vector<Message>& out);
    [[nodiscard]] std::string head(Id site, std::uint16_t port, std::uint16_t tls_port) const;
    [[nodiscard]] std::string tail(const Index::Endpoint& endpoint, const Index::Name& name) const;
    // Names of one kind, in as many messages as they need.
    void pack(std::string_view subject, std::string_view before, std::span<const Id> names, std::string_view after,
              std::vector<Message>& out);

    Settings settings;
    std::string mark;  // of ours; empty: none
    const std::string registering, unregistering;
    Index index;
    Routers routers;
    Withdrawals withdrawals;
    bool may_withdraw = true;
    Pace pace;

    // What changed and was not sent: endpoints in the order of their changes, and the names of each.
    struct Job {
        Id endpoint;
        std::uint64_t change;
    };
    std::uint64_t changes = 0;
    std::deque<Job> jobs;
    std::unordered_map<Id, std::vector<Id>> registers;

    // Half of the bucket is for changes, so that none waits for what was said before.
    [[nodiscard]] double reserve() const { return pace.depth() / 2; }
    bool walk_first = false;  // by turns: withdrawals alone, or everything alone, may be more than the pace allows

    // Everything, round and round.
    std::size_t cursor = 0;                   // the endpoint that is next
    std::size_t at_once = 0;                  // endpoints from there at full pace: to routers that know nothing
    std::size_t owed = 0;                     // endpoints from there until a large change is through
    std::optional<MonotonicTime> everything;  // when all are to go at full pace
    bool all_owed = false;                    // because what was sent before may be lost
    std::optional<MonotonicTime> walked;      // until when what follows was counted
    double credit = 0;                        // endpoints that are due by the interval

    Figures figures;
};

void Registrations::Impl::enqueue(Id name, Id endpoint) {
    auto& names = registers[endpoint];
    if (names.empty()) {
        jobs.push_back({endpoint, changes});
    } else {
        index.drop_endpoint(endpoint);  // held by its job already
    }
    names.push_back(name);
    if (names.size() < 64 || !std::has_single_bit(names.size())) return;
    // The same few again and again, while the pace holds them back.
    std::sort(names.begin(), names.end());
    auto kept = names.begin();
    for (auto at = std::next(kept); at != names.end(); ++at) {
        if (*at == *kept) {
            index.drop_name(*at);
        } else {
            *++kept = *at;
        }
    }
    names.erase(std::next(kept), names.end());
}

void Registrations::Impl::changed(Index::Changed what) {
    ++changes;
    const bool large = what.up.size() > std::max(large_change, index.pairs() / 4);
    for (const auto& up : what.up) {
        const PairId pair{index.endpoint(up.endpoint).site, up.name};
        if (withdrawals.cancel(pair)) forget(pair);
        if (large) {
            index.drop_name(up.name);
            index.drop_endpoint(up.endpoint);
        } else {
            enqueue(up.name, up.endpoint);
        }
    }
    for (const auto& gone : what.gone) {
        const PairId pair{gone.site, gone.name};
        const auto repeat = gone.tls ? Withdrawals::Repeat::tls : Withdrawals::Repeat::plain;
        if (!withdrawals.add(pair, repeat, changes)) forget(pair);
    }
    if (large) at_once = owed = index.endpoint_slots();
}

std::string Registrations::Impl::head(Id site, std::uint16_t port, std::uint16_t tls_port) const {
    std::string out = R"({"host":)";
    json::append_quoted(index.text(index.site(site).ip), out);
    if (port != 0) fmt::format_to(std::back_inserter(out), ",\"port\":{}", port);
    if (tls_port != 0) fmt::format_to(std::back_inserter(out), ",\"tls_port\":{}", tls_port);
    out += R"(,"uris":[)";
    return out;
}

std::string Registrations::Impl::tail(const Index::Endpoint& endpoint, const Index::Name& name) const {
    std::string out = "]";
    const auto app = index.text(endpoint.app);
    const auto instance = index.text(endpoint.instance);
    const auto number = endpoint.index ? std::to_string(*endpoint.index) : std::string{};
    if (!app.empty()) member(out, "app", app);
    if (!instance.empty()) member(out, "private_instance_id", instance);
    if (!number.empty()) member(out, "private_instance_index", number);
    if (endpoint.tls_port != 0 && !instance.empty()) member(out, "server_cert_domain_san", instance);
    if (endpoint.http2) member(out, "protocol", "http2");
    if (const auto segment = index.text(endpoint.segment); !segment.empty()) member(out, "isolation_segment", segment);
    if (name.route_service != no_id) member(out, "route_service_url", index.text(name.route_service));
    if (const auto stale = routers.stale_threshold().count(); stale > 0) {
        fmt::format_to(std::back_inserter(out), ",\"stale_threshold_in_seconds\":{}", stale);
    }
    out += R"(,"tags":{"component":"route-emitter")";
    if (!app.empty()) member(out, "app_id", app);
    if (const auto process = index.text(endpoint.process); !process.empty()) member(out, "process_id", process);
    if (!instance.empty()) member(out, "process_instance_id", instance);
    if (!number.empty()) member(out, "instance_id", number);
    if (!mark.empty()) member(out, mark_tag, mark_text(mark, index.text(endpoint.domain)));
    out += '}';
    if (name.options != no_id) fmt::format_to(std::back_inserter(out), ",\"options\":{}", index.text(name.options));
    out += '}';
    return out;
}

void Registrations::Impl::pack(std::string_view subject, std::string_view before, std::span<const Id> names,
                               std::string_view after, std::vector<Message>& out) {
    for (std::size_t at = 0; at < names.size();) {
        Message message{subject, std::string(before), 0};
        while (at < names.size() && message.names < settings.max_names) {
            const auto name = index.name_text(names[at]);
            if (message.names > 0 && message.body.size() + name.size() + 3 + after.size() > settings.max_bytes) break;
            if (message.names > 0) message.body += ',';
            json::append_quoted(name, message.body);
            ++message.names;
            ++at;
        }
        message.body += after;
        const auto tokens = 1 + message.body.size() / bytes_per_token;
        pace.spend(static_cast<double>(tokens));
        figures.bytes += message.body.size();
        const bool withdrawal = subject.data() == unregistering.data();
        ++(withdrawal ? figures.unregister_messages : figures.register_messages);
        (withdrawal ? figures.names_withdrawn : figures.names_registered) += message.names;
        out.push_back(std::move(message));
    }
}

void Registrations::Impl::registration(Id id, std::vector<Id>& names, std::vector<Message>& out) {
    const auto& endpoint = index.endpoint(id);
    const auto kind = [this](Id name) { return std::pair(index.name(name).route_service, index.name(name).options); };
    std::sort(names.begin(), names.end(), [&](Id a, Id b) { return std::pair(kind(a), a) < std::pair(kind(b), b); });
    const auto before = head(endpoint.site, endpoint.port, endpoint.tls_port);
    for (auto from = names.begin(); from != names.end();) {
        const auto to = std::find_if(from, names.end(), [&](Id name) { return kind(name) != kind(*from); });
        pack(registering, before, {from, to}, tail(endpoint, index.name(*from)), out);
        from = to;
    }
}

// The names of the first job, each once; everything in it is held no more.
std::vector<Id> Registrations::Impl::drop_job() {
    const auto endpoint = jobs.front().endpoint;
    jobs.pop_front();
    auto waiting = std::move(registers.extract(endpoint).mapped());
    std::sort(waiting.begin(), waiting.end());
    auto names = waiting;
    names.erase(std::unique(names.begin(), names.end()), names.end());
    // Those that are held by the table are good still, and no others are live.
    const auto site = index.endpoint(endpoint).site;
    std::erase_if(names, [&](Id name) { return index.leads(name, site) != endpoint; });
    for (const auto name : waiting) index.drop_name(name);
    index.drop_endpoint(endpoint);
    return names;
}

void Registrations::Impl::give_job(std::vector<Message>& out) {
    const auto endpoint = jobs.front().endpoint;
    auto names = drop_job();
    if (!names.empty()) registration(endpoint, names, out);
}

void Registrations::Impl::give_withdrawals(std::vector<Message>& out, MonotonicTime now, std::size_t max,
                                           std::optional<std::uint64_t> change) {
    const auto pairs = withdrawals.take(now, std::min(max, withdrawal_batch), change);
    std::vector<Id> names;
    for (auto from = pairs.begin(); from != pairs.end();) {
        const auto to = std::find_if(from, pairs.end(), [&](const PairId& pair) { return pair.site != from->site; });
        names.clear();
        std::transform(from, to, std::back_inserter(names), [](const PairId& pair) { return pair.name; });
        pack(unregistering, head(from->site, index.site(from->site).port, 0), names,
             R"(],"tags":{"component":"route-emitter"}})", out);
        from = to;
    }
    for (const auto& pair : withdrawals.expired()) forget(pair);
}

void Registrations::Impl::give_changes(std::vector<Message>& out, MonotonicTime now, std::size_t max) {
    while (out.size() < max && pace.may()) {
        const auto withdrawal = may_withdraw ? withdrawals.urgent() : std::nullopt;
        // What a change brings goes before what it takes away.
        if (!jobs.empty() && (!withdrawal || jobs.front().change <= *withdrawal)) {
            give_job(out);
        } else if (withdrawal) {
            give_withdrawals(out, now, max - out.size(), withdrawal);
        } else {
            break;
        }
    }
}

void Registrations::Impl::repeat_withdrawals(std::vector<Message>& out, MonotonicTime now, std::size_t max) {
    while (may_withdraw && out.size() < max && pace.may(reserve()) && withdrawals.due(now)) {
        give_withdrawals(out, now, max - out.size(), std::nullopt);
    }
}

void Registrations::Impl::walk_one(std::vector<Message>& out) {
    const auto endpoint = static_cast<Id>(cursor);
    if (++cursor >= index.endpoint_slots()) {
        cursor = 0;
        ++figures.rounds;
    }
    if (owed > 0) --owed;
    if (index.endpoint(endpoint).pools.view().empty()) return;
    std::vector<Id> names;
    index.for_each_name(endpoint, [&](Id name) { names.push_back(name); });
    if (!names.empty()) registration(endpoint, names, out);
}

void Registrations::Impl::walk(std::vector<Message>& out, MonotonicTime now, std::size_t max) {
    const auto slots = static_cast<double>(index.endpoint_slots());
    const auto may = [&] { return out.size() < max && pace.may(reserve()); };
    for (; at_once > 0 && may(); --at_once) walk_one(out);
    if (at_once > 0 || slots == 0 || !walked) {
        // Nothing is due before a whole interval has passed since, or since the burst came by.
        walked = now;
        return;
    }
    credit = std::min(slots, credit + slots * (Seconds(now - *walked) / Seconds(routers.interval())));
    walked = now;
    figures.late = credit >= slots;
    for (; credit >= 1 && may(); credit -= 1) walk_one(out);
}

Registrations::Registrations(Settings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}
Registrations::~Registrations() = default;

void Registrations::reset(traffic::RoutingTable table) { impl_->changed(impl_->index.reset(std::move(table))); }
void Registrations::change(const traffic::TableDiff& change) { impl_->changed(impl_->index.apply(change)); }

void Registrations::router_spoke(const RouterHello& hello, MonotonicTime now) { impl_->routers.heard(hello, now); }

void Registrations::router_started(const RouterHello& hello, MonotonicTime now, Random& random) {
    impl_->routers.heard(hello, now);
    const auto part = static_cast<double>(random.next() >> 11) * 0x1p-53;
    const auto at = now + std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(impl_->routers.interval()) *
                                                                               impl_->settings.start_jitter * part);
    impl_->everything = impl_->everything ? std::min(*impl_->everything, at) : at;
}

void Registrations::everything(MonotonicTime now) {
    impl_->everything = now;
    impl_->all_owed = true;
}

void Registrations::mark(std::string mark) { impl_->mark = std::move(mark); }
const std::string& Registrations::mark() const { return impl_->mark; }

bool Registrations::withdraw_leftover(const Pair& pair) {
    auto& impl = *impl_;
    // Beyond ASCII routers know lower case that we do not: what they show may be what lives here by another spelling.
    const bool plain = !pair.name.empty() &&
                       std::all_of(pair.name.begin(), pair.name.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (!plain || route_key(pair.name) != pair.name) return false;
    if (live(pair.name, pair.address) || withdrawn(pair.name, pair.address)) return false;
    const auto site = impl.index.take_site(pair.address);
    if (site == no_id) return false;
    const PairId id{site, impl.index.take_name(pair.name)};
    if (impl.withdrawals.add(id, Withdrawals::Repeat::never, ++impl.changes)) return true;
    impl.forget(id);
    return false;
}

void Registrations::withdraw(bool may) { impl_->may_withdraw = may; }

void Registrations::cut_off() {
    auto& impl = *impl_;
    impl.all_owed = impl.all_owed || !impl.jobs.empty();
    while (!impl.jobs.empty()) impl.drop_job();
}

void Registrations::mend(std::string_view name, std::string_view address) {
    auto& impl = *impl_;
    const auto name_id = impl.index.find_name(name);
    const auto site = impl.index.find_site(address);
    if (name_id == no_id || site == no_id) return;
    const auto endpoint = impl.index.leads(name_id, site);
    if (endpoint == no_id) return impl.withdrawals.again({site, name_id});
    impl.index.hold_name(name_id);
    impl.index.hold_endpoint(endpoint);
    ++impl.changes;
    impl.enqueue(name_id, endpoint);
}

std::vector<Message> Registrations::take(MonotonicTime now, std::size_t max_messages, std::size_t max_repeated) {
    auto& impl = *impl_;
    std::vector<Message> out;
    impl.pace.advance(now);
    impl.routers.forget(now);
    if (impl.everything && now >= *impl.everything) {
        impl.everything.reset();
        impl.at_once = impl.index.endpoint_slots();
        if (std::exchange(impl.all_owed, false)) impl.owed = impl.at_once;
        impl.withdrawals.again();
    }
    impl.give_changes(out, now, max_messages);
    const auto max = out.size() + std::min(max_repeated, max_messages - std::min(out.size(), max_messages));
    const bool walk_first = std::exchange(impl.walk_first, !impl.walk_first);
    if (!walk_first) impl.repeat_withdrawals(out, now, max);
    impl.walk(out, now, max);
    if (walk_first) impl.repeat_withdrawals(out, now, max);
    return out;
}

std::optional<MonotonicTime> Registrations::next_due(MonotonicTime now) const {
    const auto& impl = *impl_;
    std::optional<MonotonicTime> due = impl.everything;
    const auto at = [&due](MonotonicTime time) { due = due ? std::min(*due, time) : time; };
    const auto some = std::max(1.0, impl.settings.messages_per_second * Seconds(portion).count() / 10);
    const auto reserve = impl.reserve();
    const bool may = impl.may_withdraw;
    if (!impl.jobs.empty() || (may && impl.withdrawals.urgent())) at(impl.pace.when(now, 0, some));
    if (const auto repeat = impl.withdrawals.next_due(); may && repeat)
        at(std::max(*repeat, impl.pace.when(now, reserve, some)));
    if (impl.at_once > 0) at(impl.pace.when(now, reserve, some));
    if (const auto slots = impl.index.endpoint_slots(); slots > 0 && impl.at_once == 0) {
        const auto each = Seconds(impl.routers.interval()) / static_cast<double>(slots);
        const auto next = std::chrono::duration_cast<std::chrono::nanoseconds>(each * (1 - impl.credit));
        at(impl.credit >= 1 ? impl.pace.when(now, reserve, some)
                            : impl.walked.value_or(now) + std::max<std::chrono::nanoseconds>(next, portion));
    }
    return due;
}

bool Registrations::settled() const { return impl_->jobs.empty() && !impl_->withdrawals.urgent() && impl_->owed == 0; }

std::chrono::seconds Registrations::interval() const { return impl_->routers.interval(); }
bool Registrations::routers_known() const { return impl_->routers.size() > 0; }

bool Registrations::live(std::string_view name, std::string_view address) const {
    const auto name_id = impl_->index.find_name(name);
    const auto site = impl_->index.find_site(address);
    return name_id != no_id && site != no_id && impl_->index.leads(name_id, site) != no_id;
}

bool Registrations::withdrawn(std::string_view name, std::string_view address) const {
    const auto name_id = impl_->index.find_name(name);
    const auto site = impl_->index.find_site(address);
    return name_id != no_id && site != no_id && impl_->withdrawals.contains({site, name_id});
}

std::vector<Registrations::Target> Registrations::targets(std::string_view name) const {
    std::vector<Target> targets;
    const auto id = impl_->index.find_name(name);
    if (id == no_id) return targets;
    for (const auto endpoint : impl_->index.endpoints_of(id)) {
        const auto& its = impl_->index.endpoint(endpoint);
        targets.push_back({impl_->index.address(its.site), impl_->index.text(its.instance)});
    }
    return targets;
}

std::size_t Registrations::name_slots() const { return impl_->index.name_slots(); }

std::optional<std::size_t> Registrations::name_slot(std::string_view name) const {
    const auto id = impl_->index.find_name(name);
    return id == no_id ? std::nullopt : std::optional<std::size_t>(id);
}

std::vector<std::string_view> Registrations::names(std::size_t from, std::size_t to) const {
    std::vector<std::string_view> names;
    for (auto slot = from; slot < std::min(to, name_slots()); ++slot) {
        const auto id = static_cast<Id>(slot);
        if (!impl_->index.endpoints_of(id).empty()) names.push_back(impl_->index.name_text(id));
    }
    return names;
}

std::vector<Pair> Registrations::pairs() const {
    std::vector<Pair> pairs;
    for (const auto name : names(0, name_slots())) {
        for (auto& target : targets(name)) pairs.push_back({std::string(name), std::move(target.address)});
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

const std::map<std::string, std::string>& Registrations::problems() const { return impl_->index.problems(); }

Figures Registrations::figures() const {
    auto figures = impl_->figures;
    figures.names = impl_->index.names();
    figures.endpoints = impl_->index.endpoints();
    figures.pairs = impl_->index.pairs();
    figures.waiting = impl_->jobs.size() + impl_->withdrawals.urgent_size() + impl_->at_once;
    figures.withdrawals = impl_->withdrawals.size();
    figures.texts = impl_->index.texts();
    figures.routers = impl_->routers.size();
    figures.interval = impl_->routers.interval();
    return figures;
}

}  // namespace fairlead::proxy::gorouter
