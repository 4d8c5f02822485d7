#include "router/reporter.h"

#include <fmt/core.h>

#include <deque>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "json/value.h"
#include "resource/describe.h"

namespace fairlead::router {

namespace {

constexpr std::string_view instances = "/apis/fairlead.dev/v1/routerinstances";
constexpr const char* merge_patch = "application/merge-patch+json";
// As the kind allows.
constexpr std::size_t max_message = 1024, max_reason = 128, max_route = 317, max_proxy = 128;

json::Value text_value(std::string_view text) { return json::Value(json::String(text)); }

// Texts of problems quote what users wrote: valid UTF-8 comes out, cut between two characters.
json::Value text_value(std::string_view text, std::size_t max) {
    // A character has at most 4 bytes: what lies behind cannot be part of one that fits.
    auto valid = valid_utf8(text.substr(0, max + 4));
    if (valid.size() > max) {
        auto end = max;
        while (end > 0 && (static_cast<unsigned char>(valid[end]) & 0xc0U) == 0x80U) --end;
        valid.resize(end);
    }
    return text_value(valid);
}

json::Object spec_json(const resource::RouterInstanceSpec& spec) {
    json::Object out{{"address", text_value(spec.address)}};
    if (!spec.router.empty()) out["router"] = text_value(spec.router);
    if (!spec.load_balancer.empty()) out["loadBalancer"] = text_value(spec.load_balancer);
    if (!spec.probe.empty()) out["probe"] = text_value(spec.probe);
    return out;
}

// `bare`: without the texts, which the API has refused; how many routes have problems is still told.
json::Value status_json(const Report& report, bool bare, std::chrono::seconds lease, WallTime now) {
    json::Array problems;
    if (!bare) {
        problems.reserve(report.problems.size());
        for (const auto& problem : report.problems) {
            problems.push_back(json::Object{{"route", text_value(problem.route, max_route)},
                                            {"reason", text_value(problem.reason, max_reason)},
                                            {"message", text_value(problem.message, max_message)}});
        }
    }
    constexpr std::string_view told_bare = "the API refuses the texts of this report: see the log";
    const auto message = bare ? told_bare : std::string_view(report.message);
    json::Object status{{"renewTime", text_value(rfc3339(now))},
                        {"leaseDurationSeconds", lease.count()},
                        {"ready", report.ready},
                        {"message", text_value(message, max_message)},
                        {"routes", static_cast<std::int64_t>(report.routes)},
                        {"problems", std::move(problems)},
                        {"problemRoutes", static_cast<std::int64_t>(report.problem_routes)},
                        {"proxy", text_value(report.proxy, max_proxy)},
                        {"reloads", static_cast<std::int64_t>(report.reloads)}};
    if (report.programmed) status["programmed"] = *report.programmed;
    return json::Object{{"status", std::move(status)}};
}

// Of the RouterInstance in an answer; nothing: it has none that can be read.
std::optional<resource::RouterInstanceSpec> held_spec(const std::string& answer) {
    const auto object = json::parse(answer);
    const auto* spec = object ? json::find(*object, "spec") : nullptr;
    if (spec == nullptr) return std::nullopt;
    auto held = resource::decode<resource::RouterInstanceSpec>(*spec);
    return held ? std::optional(std::move(*held)) : std::nullopt;
}

// Whoever has said good-bye, or could not start a proxy, holds its name no longer, though its lease may still run.
bool runs_nothing(const std::string& answer) {
    const auto object = json::parse(answer);
    if (!object || json::bool_at(*object, "status.ready")) return false;
    const auto message = json::string_at(*object, "status.message");
    return message == resource::instance_leaves ||
           (!message.empty() && json::string_at(*object, "status.proxy").empty());
}

}  // namespace

struct Reporter::Inbox {
    explicit Inbox(std::function<void()> wake_) : wake(std::move(wake_)) {}
    void add(std::uint64_t number, Result<std::string> answer) {
        {
            const std::lock_guard lock(mutex);
            answers.emplace_back(number, std::move(answer));
        }
        wake();
    }
    // The answer to that call, if it is there; others are of calls that were given up.
    std::optional<Result<std::string>> take(std::uint64_t number) {
        const std::lock_guard lock(mutex);
        std::optional<Result<std::string>> found;
        for (auto& [of, answer] : answers) {
            if (of == number) found = std::move(answer);
        }
        answers.clear();
        return found;
    }
    std::function<void()> wake;
    std::mutex mutex;
    std::deque<std::pair<std::uint64_t, Result<std::string>>> answers;
};

Reporter::Reporter(ReporterOptions options, cluster::Link& link, const Clock& clock, Random& random, Log& log,
                   std::function<void()> wake)
    : options_(std::move(options)),
      link_(link),
      clock_(clock),
      random_(random),
      log_(log),
      inbox_(std::make_shared<Inbox>(std::move(wake))),
      not_before_(clock.monotonic()) {}

Reporter::~Reporter() = default;

std::string Reporter::path() const { return fmt::format("{}/{}", instances, options_.instance); }

Step Reporter::step(const Report& report) {
    if (waiting_) {
        if (auto answer = inbox_->take(number_)) {
            waiting_ = false;
            call_.reset();
            take(std::move(*answer));
        } else if (clock_.monotonic() >= began_ + options_.answer_within) {
            waiting_ = false;
            call_.reset();
            failed({Errc::timeout, {}, "no answer"});
        } else {
            return {.more = false, .due = began_ + options_.answer_within};
        }
    }
    const auto now = clock_.monotonic();
    if (now < not_before_) return {.more = false, .due = not_before_};
    if (phase_ == Phase::tell && told_ && !bare_ && !worth_telling(report)) {
        const auto renew = began_ + options_.lease / 3;
        if (now < renew) return {.more = false, .due = renew};
    }
    start(report);
    // An answer that came before the call returned is taken in the next step.
    return {.more = false, .due = began_ + options_.answer_within};
}

bool Reporter::worth_telling(const Report& report) const {
    const auto& told = *told_;
    if (report.ready != told.ready || report.message != told.message || report.problems != told.problems ||
        report.problem_routes != told.problem_routes)
        return true;
    if (report.proxy != told.proxy || report.reloads != told.reloads || report.routes != told.routes) return true;
    return report.urgent && (!told.programmed || *told.programmed < *report.urgent);
}

void Reporter::start(const Report& report) {
    switch (phase_) {
        case Phase::look: {
            began_ = clock_.monotonic();
            waiting_ = true;
            const auto number = ++number_;
            call_ = link_.list(
                path(), [inbox = inbox_, number](Result<std::string> body) { inbox->add(number, std::move(body)); });
            return;
        }
        case Phase::make:
            return send({.method = "POST",
                         .path = std::string(instances),
                         .body = json::serialize(
                             json::Object{{"apiVersion", "fairlead.dev/v1"},
                                          {"kind", "RouterInstance"},
                                          {"metadata", json::Object{{"name", text_value(options_.instance)}}},
                                          {"spec", spec_json(options_.spec)}})});
        case Phase::correct: {
            auto spec = spec_json(options_.spec);
            if (options_.spec.probe.empty()) spec["probe"] = nullptr;
            return send({.method = "PATCH",
                         .path = path(),
                         .body = json::serialize(json::Object{{"spec", std::move(spec)}}),
                         .content_type = merge_patch});
        }
        case Phase::tell:
            telling_ = report;
            return send({.method = "PATCH",
                         .path = path() + "/status",
                         .body = json::serialize(status_json(report, bare_, options_.lease, clock_.now())),
                         .content_type = merge_patch});
    }
}

void Reporter::send(cluster::Sending sending) {
    began_ = clock_.monotonic();
    waiting_ = true;
    const auto number = ++number_;
    call_ = link_.send(std::move(sending),
                       [inbox = inbox_, number](Result<std::string> body) { inbox->add(number, std::move(body)); });
}

void Reporter::take(Result<std::string> answer) {
    if (!answer) {
        if (answer.error().code == Errc::not_found && phase_ != Phase::make) {
            phase_ = Phase::make;  // never there, or deleted under us
            told_.reset();
            return;
        }
        if (answer.error().code == Errc::conflict && phase_ == Phase::make) {
            phase_ = Phase::look;  // made by our own earlier try, whose answer was lost, or by a namesake
            return;
        }
        if (answer.error().code == Errc::invalid && phase_ == Phase::tell && !bare_) {
            refused(answer.error());
            return;
        }
        bare_ = false;
        return failed(answer.error());
    }
    if (phase_ == Phase::look) {
        if (const auto waits = look_at(*answer); !waits) return failed(waits.error());
        failures_ = 0;
        problem_.clear();
        return;
    }
    failures_ = 0;
    problem_.clear();
    switch (phase_) {
        case Phase::look:
            return;
        case Phase::make:
        case Phase::correct:
            phase_ = Phase::tell;
            return;
        case Phase::tell:
            told_ = std::move(telling_);
            telling_.reset();
            not_before_ = began_ + options_.pace.pause_after(clock_.monotonic() - began_);
            if (!bare_) refused_.clear();
            bare_ = false;
            if (const auto held = held_spec(*answer); held && *held != options_.spec) {
                log_.warn("router instance was changed by somebody else",
                          {{"instance", options_.instance}, {"address", held->address}, {"probe", held->probe}});
                phase_ = Phase::correct;
            }
            return;
    }
}

// One text that the API does not take must not cost the lease.
void Reporter::refused(const Error& error) {
    bare_ = true;
    telling_.reset();
    if (refused_ == error.text()) return;
    refused_ = error.text();
    log_.warn("router instance reports without its problems: the report was refused",
              {{"instance", options_.instance}, {"why", refused_}});
}

// What is registered under our name, when we have not reported yet. Errors: it is somebody else's.
Result<void> Reporter::look_at(const std::string& answer) {
    const auto held = held_spec(answer);
    if (held && *held == options_.spec) {
        phase_ = Phase::tell;
        return {};
    }
    if (held && (held->router != options_.spec.router || held->load_balancer != options_.spec.load_balancer)) {
        const bool router = !held->router.empty();
        return fail(Errc::conflict, fmt::format("RouterInstance \"{}\" is of {} \"{}\": give this one another --name, "
                                                "or delete that one if it is gone for good",
                                                options_.instance, router ? "Router" : "LoadBalancer",
                                                router ? held->router : held->load_balancer));
    }
    if (held && !told_ && held->address != options_.spec.address && !runs_nothing(answer) && lease_lives(answer)) {
        return fail(Errc::conflict,
                    fmt::format("RouterInstance \"{}\" is held by another one at {}: give this one another "
                                "--name; it waits until that one's lease ends",
                                options_.instance, held->address));
    }
    if (held && runs_nothing(answer)) {
        log_.info("router instance has moved",
                  {{"instance", options_.instance}, {"from", held->address}, {"to", options_.spec.address}});
    } else if (held) {
        log_.warn("router instance was registered elsewhere before",
                  {{"instance", options_.instance}, {"address", held->address}, {"now", options_.spec.address}});
    }
    phase_ = Phase::correct;
    return {};
}

// By its own time, and by ours: one whose clock is ahead and that has gone must not be waited for for ever.
bool Reporter::lease_lives(const std::string& answer) {
    const auto object = json::parse(answer);
    const std::string renewed(object ? json::string_at(*object, "status.renewTime") : std::string_view());
    const auto time = from_rfc3339(renewed);
    if (!time) return false;
    const std::chrono::seconds lease(json::int_at(*object, "status.leaseDurationSeconds").value_or(0));
    if (clock_.now() - *time > lease) return false;
    if (renewed != seen_renewal_) {
        seen_renewal_ = renewed;
        seen_at_ = clock_.monotonic();
    }
    return clock_.monotonic() - seen_at_ <= lease;
}

void Reporter::failed(const Error& error) {
    ++failures_;
    if (problem_.empty()) {
        log_.warn("router instance cannot report", {{"instance", options_.instance}, {"why", error.text()}});
    }
    problem_ = error.text();
    not_before_ = clock_.monotonic() + options_.backoff.delay(failures_, random_);
    // Whether it is still there is not known.
    if (phase_ != Phase::tell) phase_ = Phase::look;
}

}  // namespace fairlead::router
