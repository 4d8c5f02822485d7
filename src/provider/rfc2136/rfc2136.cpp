#include "provider/rfc2136/rfc2136.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/log.h"
#include "base/text.h"
#include "dns/soa.h"
#include "provider/plain.h"
#include "provider/provider_metrics.h"
#include "provider/rfc2136/batch.h"
#include "provider/rfc2136/lookup.h"

namespace fairlead::provider::rfc2136 {

namespace {

// Above that a transfer costs less: each name takes up to 13 requests.
constexpr std::size_t max_names_by_query = 300;

class Rfc2136 final : public Provider {
public:
    Rfc2136(ZoneSettings settings, dns::TsigKey key, const Surroundings& surroundings, const TimeLimits& limits)
        : settings_(std::move(settings)),
          rules_(plain_rules_of(settings_)),
          key_(std::move(key)),
          around_(surroundings),
          limits_(limits),
          metrics_(surroundings.metrics, surroundings.clock, settings_.provider) {
        rules_.min_ttl = settings_.rfc2136.min_ttl;
    }

    [[nodiscard]] Supports supports() const override { return {.types = plain_types(), .reads_names = true}; }
    Result<Listing> list(const std::optional<std::vector<std::string>>& names) override;
    [[nodiscard]] Result<dns::Endpoint> canonicalise(const dns::Endpoint& endpoint) const override {
        return plain_canonical(endpoint, rules_);
    }
    std::vector<Outcome> apply(std::span<const plan::ChangeGroup> groups) override;
    [[nodiscard]] std::vector<std::string> name_servers() const override { return name_servers_; }

private:
    template <class Use>
    auto with_server(std::string_view operation, const Use& use) -> decltype(use(std::declval<Session&>()));
    Result<Session*> session();
    void next_server();
    Result<Listing> list_all(Session& session);
    Result<Listing> list_names(Session& session, const std::vector<std::string>& names);
    Result<Sent> send(const std::vector<const Planned*>& batch);
    void note_serial(std::span<Outcome> outcomes);

    ZoneSettings settings_;
    PlainRules rules_;
    dns::TsigKey key_;
    Surroundings around_;
    TimeLimits limits_;
    ProviderMetrics metrics_;
    std::size_t server_ = 0;          // the last that answered
    std::optional<Session> session_;  // of the call that runs
    std::vector<std::string> name_servers_;
};

Result<Session*> Rfc2136::session() {
    if (!session_) {
        auto opened = Session::open(settings_.rfc2136.servers[server_], key_, around_.clock, around_.random, limits_);
        if (!opened) return fail(std::move(opened.error()));
        session_.emplace(std::move(*opened));
    }
    return &*session_;
}

void Rfc2136::next_server() {
    session_.reset();
    server_ = (server_ + 1) % settings_.rfc2136.servers.size();
}

// Each server once, from the last that answered. Of the errors the one that says most: anything before "not there".
template <class Use>
auto Rfc2136::with_server(std::string_view operation, const Use& use) -> decltype(use(std::declval<Session&>())) {
    std::vector<std::string> unreached;
    std::optional<Error> worst;
    for (std::size_t i = 0; i < settings_.rfc2136.servers.size(); ++i) {
        if (!around_.waiter.wait(std::chrono::nanoseconds{0})) return fail(Errc::unavailable, "the server stops");
        auto request = metrics_.begin(std::string(operation));
        auto open = session();
        Error error;
        if (open) {
            auto result = use(**open);
            request.done(result ? "ok" : result_text(result.error().code));
            if (result) return result;
            error = std::move(result.error());
        } else {
            request.done(result_text(open.error().code));
            error = std::move(open.error());
        }
        if (error.code == Errc::unsupported) return fail(std::move(error));  // another would say the same
        next_server();
        if (error.code == Errc::unavailable || error.code == Errc::timeout) {
            unreached.push_back(error.text());
        } else if (!worst) {
            worst = std::move(error);
        }
    }
    if (worst) return fail(std::move(*worst));
    return fail(Errc::unavailable, join(unreached, "; "));
}

Result<Listing> Rfc2136::list(const std::optional<std::vector<std::string>>& names) {
    session_.reset();
    Result<Listing> listing;
    if (names && names->size() <= max_names_by_query) {
        listing = with_server("query", [&](Session& session) { return list_names(session, *names); });
        // What queries cannot tell, a transfer can.
        if (listing || listing.error().code != Errc::unsupported) {
            session_.reset();
            return listing;
        }
    }
    listing = with_server("transfer", [&](Session& session) { return list_all(session); });
    session_.reset();
    if (!listing || !names) return listing;
    const std::set<std::string, std::less<>> wanted(names->begin(), names->end());
    std::erase_if(listing->endpoints,
                  [&](const dns::Endpoint& endpoint) { return !wanted.contains(endpoint.dns_name); });
    return listing;
}

Result<Listing> Rfc2136::list_all(Session& session) {
    PlainSets sets;
    const auto serial = session.transfer(settings_.apex, [&](const dns::WireRecord& record) {
        if (!record.known) return;
        add_record(sets, record.name, static_cast<dns::RecordType>(record.type), record.ttl, record.data);
    });
    if (!serial) return fail(serial.error());
    name_servers_ = name_servers_of(sets, settings_.apex);
    return Listing{endpoints_of(sets, settings_.apex), std::to_string(*serial)};
}

Result<Listing> Rfc2136::list_names(Session& session, const std::vector<std::string>& names) {
    std::set<dns::Name> wanted;
    for (const auto& text : names) {
        auto name = dns::Name::parse(text);
        if (name && name->at_or_below(settings_.apex)) wanted.insert(std::move(*name));
    }
    auto found = look_up(session, settings_.apex, wanted);
    if (!found) return fail(std::move(found.error()));
    return Listing{endpoints_of(found->sets, settings_.apex, &wanted), std::to_string(found->serial)};
}

// One message, to the first server that makes anything of it.
Result<Sent> Rfc2136::send(const std::vector<const Planned*>& batch) {
    std::vector<const SetChanges*> changes;
    changes.reserve(batch.size());
    for (const auto* each : batch) changes.push_back(&each->changes);
    std::optional<Sent> trouble;
    auto sent = with_server("update", [&](Session& session) -> Result<Sent> {
        const auto reply = session.ask([&](std::uint16_t id) { return update_message(id, settings_.apex, changes); });
        if (!reply) return fail(reply.error());
        Sent answer{reply->rcode(), session.server()};
        if (answer.rcode != dns::rcode_servfail) return answer;
        trouble = answer;
        return fail(Errc::unavailable, fmt::format("{}: SERVFAIL", session.server()));
    });
    if (!sent && trouble) return *trouble;
    return sent;
}

// Of the zone behind the changes: what secondaries wait for.
void Rfc2136::note_serial(std::span<Outcome> outcomes) {
    const bool any = std::any_of(outcomes.begin(), outcomes.end(),
                                 [](const Outcome& outcome) { return outcome.state == Outcome::State::applied; });
    if (!any || !session_) return;
    const auto serial = read_serial(*session_, settings_.apex);
    if (!serial) return;
    for (auto& outcome : outcomes) {
        if (outcome.state == Outcome::State::applied) outcome.change_id = fmt::format("serial {}", *serial);
    }
}

std::vector<Outcome> Rfc2136::apply(std::span<const plan::ChangeGroup> groups) {
    std::vector<Outcome> outcomes(groups.size());
    std::vector<Planned> planned;
    planned.reserve(groups.size());
    const auto room = update_room(settings_.apex);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        auto changes = set_changes_of(groups[i], rules_);
        if (!changes) {
            outcomes[i] = {Outcome::State::refused, {}, changes.error().text()};
            continue;
        }
        if (const auto bytes = update_bytes(*changes); bytes > room) {
            outcomes[i] = {Outcome::State::refused,
                           {},
                           fmt::format("the changes of {} take {} bytes, more than the {} of an update", groups[i].name,
                                       bytes, room)};
            continue;
        }
        if (!changes->empty()) planned.push_back({i, groups[i].name, std::move(*changes)});
    }
    session_.reset();
    const auto began = around_.clock.monotonic();
    for (const auto& batch : batches_of(planned, settings_.rfc2136.batch_changes, room)) {
        const auto send_one = [this, began](const std::vector<const Planned*>& part) -> Result<Sent> {
            if (around_.clock.monotonic() - began > limits_.call) {
                return fail(Errc::timeout, fmt::format("the changes take longer than {} ms", limits_.call.count()));
            }
            return send(part);
        };
        settle_batch(batch, send_one, outcomes);
    }
    note_serial(outcomes);
    session_.reset();
    return outcomes;
}

Result<dns::TsigKey> key_of(const ZoneSettings& settings) {
    const auto value = [&](const char* name) {
        const auto found = settings.secret.find(name);
        return found == settings.secret.end() ? std::string_view() : std::string_view(found->second);
    };
    constexpr const char* field = "spec.dnsProviderSecretRef";
    if (settings.secret.empty()) {
        return fail(Errc::invalid, field, "names no Secret with a TSIG key (name, algorithm, secret)");
    }
    if (trim(value("name")).empty()) return fail(Errc::invalid, field, "data[name] of the Secret is missing");
    auto key = dns::tsig_key_of(value("name"), value("algorithm"), value("secret"));
    if (!key) return fail(Errc::invalid, field, fmt::format("in the Secret {}", key.error().text()));
    return key;
}

}  // namespace

Result<std::unique_ptr<Provider>> make(const ZoneSettings& settings, const Surroundings& surroundings,
                                       const TimeLimits& limits) {
    if (settings.rfc2136.servers.empty()) {
        return fail(Errc::invalid, "spec.rfc2136.servers", "is empty: provider rfc2136 needs at least one server");
    }
    for (const auto& server : settings.rfc2136.servers) {
        const auto parsed = net::parse_host_port(server);
        if (!parsed) return fail(Errc::invalid, "spec.rfc2136.servers", parsed.error().message);
    }
    auto key = key_of(settings);
    if (!key) return fail(std::move(key.error()));
    return std::make_unique<Rfc2136>(settings, std::move(*key), surroundings, limits);
}

Providers::Make maker(const Surroundings& surroundings) {
    return [surroundings](const ZoneSettings& settings) { return make(settings, surroundings); };
}

}  // namespace fairlead::provider::rfc2136
