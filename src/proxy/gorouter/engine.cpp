#include "proxy/gorouter/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/random.h"

namespace fairlead::proxy::gorouter {

namespace {

constexpr std::chrono::milliseconds first_retry{100};
constexpr std::chrono::seconds greet_until_answered{1};
// Flushed together: few enough that what comes meanwhile does not wait for long. A change may meet only so much of what
// was said before.
constexpr std::size_t batch = 512;
constexpr std::size_t repeated_batch = 64;
constexpr std::chrono::seconds flush_limit{10};
constexpr std::size_t compared_at_once = 100;  // names, well below a millisecond
constexpr std::size_t max_refusals = 256;      // that are told: some for each of 64 URLs

}  // namespace

Engine::Engine(const Options& options, const Clock& clock, Random& random, Log& log, Listener listener)
    : options_(options),
      clock_(clock),
      random_(random),
      log_(log),
      listener_(std::move(listener)),
      backoff_{.base = first_retry, .cap = options.nats.max_backoff},
      registrations_(options.settings),
      away_("not connected yet"),
      active_(options.standby ? Activity::none : Activity::all) {}

void Engine::take_in(Inbox inbox) {
    const auto now = clock_.monotonic();
    if (inbox.table) registrations_.reset(std::move(*inbox.table));
    if (!inbox.change.empty()) registrations_.change(inbox.change);
    if (inbox.version) version_ = *inbox.version;
    if (inbox.withdraw) registrations_.withdraw(*inbox.withdraw);
    if (inbox.mark) registrations_.mark(std::move(*inbox.mark));
    if (inbox.doubted || inbox.mark) leftovers_.forget();
    if (inbox.doubted || inbox.certainty) certainty_ = std::move(inbox.certainty);
    if (inbox.active && *inbox.active != active_) {
        active_ = *inbox.active;
        switch (active_) {
            case Activity::none:
                log_.info("standing by, emitting nothing to gorouters");
                break;
            case Activity::withdrawals:
                log_.info("standing by, emitting only withdrawals to gorouters");
                break;
            case Activity::all:
                log_.info("emitting to gorouters");
                break;
        }
        if (active_ != Activity::none) registrations_.everything(now);
    }
    for (const auto& heard : inbox.heard) {
        const auto hello = parse_hello(heard.body);
        if (!hello) {
            log_.warn("a router says what is not understood", {{"problem", hello.error().text()}});
        } else if (heard.start) {
            log_.info("a gorouter has started", {{"id", hello->id}, {"interval_seconds", hello->interval.count()}});
            registrations_.router_started(*hello, now, random_);
        } else {
            registrations_.router_spoke(*hello, now);
        }
    }
    if (!inbox.routes || comparison_) return;
    auto& audit = published_.audits[inbox.routes->url];
    if (!inbox.routes->body) {
        ++audit.failed;
        audited_[inbox.routes->url] = inbox.routes->body.error().text();
        log_.warn("the routes of a gorouter cannot be read",
                  {{"url", inbox.routes->url}, {"problem", inbox.routes->body.error().text()}});
        return;
    }
    compared_ = std::move(inbox.routes->url);
    compared_at_ = now;
    comparison_.emplace(std::move(*inbox.routes->body));
}

void Engine::lose(const std::string& why) {
    session_.reset();
    away_ = why;
    log_.warn("NATS is away", {{"problem", why}});
}

void Engine::keep_session(MonotonicTime now) {
    if (session_ && session_->lost()) lose("the connection was lost");
    if (session_ || now < retry_at_) return;
    const auto& url = options_.nats.urls[url_];
    url_ = (url_ + 1) % options_.nats.urls.size();
    auto session = connect(options_.nats, url, options_.settings.prefix, listener_);
    if (!session) {
        // The next one at once; after all of them a pause.
        away_ = session.error().text();
        if (refusals_.size() < max_refusals && refusals_.insert(away_).second) {
            log_.warn("NATS is away", {{"problem", away_}});
        }
        if (url_ == 0) retry_at_ = clock_.monotonic() + backoff_.delay(++failures_, random_);
        return;
    }
    session_ = std::move(*session);
    failures_ = 0;
    away_.clear();
    refusals_.clear();
    ++published_.connects;
    log_.info("connected to NATS", {{"url", without_credentials(url)}});
    // Whatever was sent before may be lost, and a router may have missed what others said.
    registrations_.everything(clock_.monotonic());
    greet_at_ = {};
}

void Engine::greet(MonotonicTime now) {
    if (!session_ || now < greet_at_) return;
    const auto interval = registrations_.interval();
    greet_at_ = now + (registrations_.routers_known() ? interval : std::min(interval, greet_until_answered));
    if (auto greeted = session_->greet(); !greeted) return lose(greeted.error().text());
    if (auto flushed = session_->flush(flush_limit); !flushed) lose(flushed.error().text());
}

bool Engine::publish(MonotonicTime now) {
    if (!session_) {
        registrations_.cut_off();
        return false;
    }
    auto messages = registrations_.take(now, batch, repeated_batch);
    const bool more = !messages.empty();
    if (active_ == Activity::withdrawals) {
        std::erase_if(messages, [](const Message& message) { return !message.subject.ends_with(".unregister"); });
    }
    if (active_ != Activity::none) {
        for (const auto& message : messages) {
            if (auto sent = session_->publish(message); !sent) {
                lose(sent.error().text());
                return false;
            }
        }
        if (!messages.empty()) {
            if (auto flushed = session_->flush(flush_limit); !flushed) {
                lose(flushed.error().text());
                return false;
            }
        }
        for (const auto& message : messages) {
            const bool withdrawal = message.subject.ends_with(".unregister");
            ++(withdrawal ? published_.unregister_messages : published_.register_messages);
            (withdrawal ? published_.names_withdrawn : published_.names_registered) += message.names;
            published_.bytes += message.body.size();
        }
        if (active_ == Activity::all && registrations_.settled()) progress_.programmed = version_;
    }
    return more;
}

// Once, until they are others: another emitter may have a share in a name for years.
void Engine::tell_foreign(const Differences& found) {
    constexpr std::size_t most = 5;
    auto pairs = found.foreign;
    std::sort(pairs.begin(), pairs.end());
    std::string text;
    for (std::size_t i = 0; i < std::min(most, pairs.size()); ++i) {
        text += fmt::format("{}{} at {}", i == 0 ? "" : ", ", pairs[i].name, pairs[i].address);
    }
    if (text.empty()) {
        foreign_.erase(compared_);
    } else if (auto& told = foreign_[compared_]; told != text) {
        told = text;
        log_.warn("a gorouter holds endpoints of others at names of ours",
                  {{"url", compared_}, {"count", found.foreign_count}, {"first", text}});
    }
}

void Engine::judge(const Differences& found, MonotonicTime now) {
    auto& audit = published_.audits[compared_];
    ++audit.good;
    audit.missing = found.missing_count;
    audit.lingering = found.lingering_count;
    audit.leftover = found.leftover_count;
    audit.foreign = found.foreign_count;
    audited_.erase(compared_);
    tell_foreign(found);
    mend(registrations_, found, now);
    std::vector<Pair> gone;
    if (certainty_) gone = leftovers_.found(compared_, compared_at_, found.leftovers, *certainty_, registrations_);
    if (found.missing_count == 0 && found.lingering_count == 0 && gone.empty()) return;
    const auto& example = !found.missing.empty()     ? found.missing.front()
                          : !found.lingering.empty() ? found.lingering.front()
                                                     : gone.front();
    audited_[compared_] = fmt::format(
        "lacked {}, held {} that were withdrawn and {} that an emitter before left, as {} at {}; sent again",
        found.missing_count, found.lingering_count, gone.size(), example.name, example.address);
    log_.warn("a gorouter differs from the table", {{"url", compared_},
                                                    {"missing", found.missing_count},
                                                    {"lingering", found.lingering_count},
                                                    {"leftover", gone.size()},
                                                    {"foreign", found.foreign_count},
                                                    {"name", example.name},
                                                    {"address", example.address}});
}

bool Engine::compare(MonotonicTime now) {
    if (!comparison_) return false;
    if (!session_ || active_ != Activity::all) {  // what is missing could not be mended
        comparison_.reset();
        return false;
    }
    const auto complete = comparison_->advance(registrations_, compared_at_once);
    if (complete && !*complete) return true;
    if (complete) {
        judge(comparison_->found(), now);
    } else {
        ++published_.audits[compared_].failed;
        audited_[compared_] = complete.error().text();
        log_.warn("the routes of a gorouter cannot be read",
                  {{"url", compared_}, {"problem", complete.error().text()}});
    }
    comparison_.reset();
    return true;
}

void Engine::tell() {
    progress_.up = session_ != nullptr;
    if (progress_.problems != registrations_.problems()) progress_.problems = registrations_.problems();
    progress_.trouble.clear();
    const auto add = [this](const std::string& text) {
        if (!progress_.trouble.empty()) progress_.trouble += "; ";
        progress_.trouble += text;
    };
    if (!session_) add("NATS: " + away_);
    if (session_ && !registrations_.routers_known()) add("no gorouter has answered");
    if (registrations_.figures().late) {
        add(fmt::format("everything takes longer than {} s at {} messages/s", registrations_.interval().count(),
                        options_.settings.messages_per_second));
    }
    for (const auto& [url, found] : audited_) add(fmt::format("{}: {}", url, found));
}

Step Engine::step(Inbox inbox) {
    take_in(std::move(inbox));
    keep_session(clock_.monotonic());
    const auto now = clock_.monotonic();
    greet(now);
    bool more = publish(now);
    more = compare(now) || more;
    tell();
    if (more) return {.more = true, .due = {}};
    if (!session_) return {.more = clock_.monotonic() >= retry_at_, .due = retry_at_};
    auto due = greet_at_;
    if (const auto next = registrations_.next_due(now)) due = std::min(due, *next);
    return {.more = false, .due = due};
}

Figures Engine::figures() const {
    auto figures = registrations_.figures();
    // What a standby takes is not sent.
    figures.register_messages = published_.register_messages;
    figures.unregister_messages = published_.unregister_messages;
    figures.names_registered = published_.names_registered;
    figures.names_withdrawn = published_.names_withdrawn;
    figures.bytes = published_.bytes;
    return figures;
}

}  // namespace fairlead::proxy::gorouter
