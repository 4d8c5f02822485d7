#include "emitter/elector.h"

#include <fmt/core.h>

#include <mutex>
#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "json/value.h"
#include "resource/describe.h"

namespace fairlead::emitter {

namespace {

std::string leases_path(const std::string& space) {
    return fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases", space);
}

json::Value object_of(const resource::Lease& lease) {
    json::Value object = json::Object{{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
    resource::encode_onto(lease, object);
    return object;
}

bool is_marked(const json::Value& lease) {
    const auto* annotations = json::find(lease, "metadata.annotations");
    const auto* map = annotations != nullptr ? annotations->if_object() : nullptr;
    const auto* mark = map != nullptr ? map->if_contains(offered_annotation) : nullptr;
    return mark != nullptr && mark->is_string() && json::view(mark->get_string()) == "true";
}

void mark(json::Value& lease, bool offered) {
    if (offered == is_marked(lease)) return;
    json::Object annotations;
    if (const auto* had = json::find(lease, "metadata.annotations"); had != nullptr && had->is_object())
        annotations = had->get_object();
    if (offered) {
        annotations[offered_annotation] = "true";
    } else {
        annotations.erase(offered_annotation);
    }
    json::set_at(lease, "metadata.annotations", std::move(annotations));
}

}  // namespace

struct Elector::Inbox {
    explicit Inbox(std::function<void()> wake_) : wake(std::move(wake_)) {}
    void add(std::uint64_t of, Result<std::string> body) {
        {
            const std::lock_guard lock(mutex);
            number = of;
            answer = std::move(body);
        }
        wake();
    }
    std::optional<Result<std::string>> take(std::uint64_t of) {
        const std::lock_guard lock(mutex);
        if (!answer || number != of) return std::nullopt;
        return std::exchange(answer, std::nullopt);
    }
    std::function<void()> wake;
    std::mutex mutex;
    std::uint64_t number = 0;
    std::optional<Result<std::string>> answer;
};

Elector::Elector(ElectorOptions options, cluster::Link& link, const Clock& clock, Random& random, Log& log,
                 std::function<void()> wake)
    : options_(std::move(options)),
      link_(link),
      clock_(clock),
      random_(random),
      log_(log),
      inbox_(std::make_shared<Inbox>(std::move(wake))),
      due_(clock.monotonic()),
      heard_(due_) {}

Elector::~Elector() = default;

std::string Elector::path() const { return fmt::format("{}/{}", leases_path(options_.space), options_.name); }

bool Elector::leading() const { return until_ && clock_.monotonic() < *until_; }

Standing Elector::standing() const {
    if (leading()) return Standing::leads;
    if (releasing_) return Standing::follows;
    if (term_.holder() == options_.identity) return Standing::unsure;
    return clock_.monotonic() < heard_ + options_.doubt ? Standing::follows : Standing::unsure;
}

void Elector::in_step(bool is) {
    if (is) {
        astray_.reset();
    } else if (!astray_) {
        astray_ = clock_.monotonic();
    }
}

bool Elector::offers() const { return astray_ && clock_.monotonic() >= *astray_ + options_.patience; }

bool Elector::release() {
    if (!std::exchange(releasing_, true)) {
        released_ = !leading();
        due_ = clock_.monotonic();
    }
    return released_;
}

Step Elector::step() {
    if (asked_ != Asked::nothing) {
        if (auto answer = inbox_->take(number_)) {
            call_.reset();
            take(std::move(*answer));
        } else if (clock_.monotonic() >= began_ + period()) {
            call_.reset();
            failed({Errc::timeout, {}, "no answer"});
        }
    }
    const auto now = clock_.monotonic();
    if (asked_ == Asked::nothing && now >= due_ && !released_) {
        round_ = now;
        if (number_ == 0) heard_ = now;  // nobody could hear of it before the first call
        ask(Asked::look);
    }
    Step step;
    if (asked_ != Asked::nothing) {
        step.due = began_ + period();
    } else if (!released_) {
        step.due = due_;
    }
    // Those who ask whether we lead hear of the end in time.
    if (leading() && (!step.due || *until_ < *step.due)) step.due = until_;
    return step;
}

void Elector::ask(Asked what) {
    asked_ = what;
    began_ = clock_.monotonic();
    const auto done = [inbox = inbox_, number = ++number_](Result<std::string> body) {
        inbox->add(number, std::move(body));
    };
    if (what == Asked::look) {
        call_ = link_.list(path(), done);
        return;
    }
    cluster::Sending sending;
    offering_ = false;
    if (what == Asked::make) {
        sending.path = leases_path(options_.space);
        sending.body = json::serialize(object_of(
            resource::new_lease(options_.space, options_.name, options_.identity, options_.duration, clock_.now())));
    } else {
        sending.method = "PUT";
        sending.path = path();
        auto object = json::parse(seen_);  // was read before
        const auto lease = object ? resource::decode<resource::Lease>(*object) : fail(object.error());
        if (!lease) return failed(lease.error());
        if (what == Asked::give) {
            resource::give_back(*object, clock_.now());
        } else {
            resource::encode_onto(resource::claimed(*lease, options_.identity, options_.duration, clock_.now()),
                                  *object);
            offering_ = offers();
            mark(*object, offering_);
        }
        sending.body = json::serialize(*object);
    }
    call_ = link_.send(std::move(sending), done);
}

void Elector::take(Result<std::string> answer) {
    const auto asked = std::exchange(asked_, Asked::nothing);
    switch (asked) {
        case Asked::nothing:
            return;
        case Asked::look:
            return take_look(answer);
        case Asked::make:
        case Asked::take:
            return take_write(answer);
        case Asked::give:
            released_ = true;
            until_.reset();
            return;
    }
}

void Elector::hear(const json::Value& object, const resource::Lease& lease) {
    problem_.clear();
    heard_ = clock_.monotonic();
    uid_ = json::string_at(object, "metadata.uid");
    term_.observe(object, lease, options_.duration, heard_);
}

void Elector::take_look(const Result<std::string>& answer) {
    if (!answer && answer.error().code == Errc::not_found) {
        until_.reset();
        if (releasing_) {
            released_ = true;
            return;
        }
        return ask(Asked::make);
    }
    if (!answer) return failed(answer.error());
    const auto object = json::parse(*answer);
    const auto lease = object ? resource::decode<resource::Lease>(*object) : fail(object.error());
    if (!lease) return failed(lease.error());
    hear(*object, *lease);
    if (releasing_) {
        until_.reset();
        if (term_.holder() != options_.identity) {
            released_ = true;
            return;
        }
        seen_ = *answer;
        return ask(Asked::give);
    }
    const bool offered = !astray_ && is_marked(*object);
    if (!offered && !term_.free_for(options_.identity, clock_.monotonic())) {
        until_.reset();
        return wait(true);
    }
    seen_ = *answer;
    ask(Asked::take);
}

void Elector::take_write(const Result<std::string>& answer) {
    if (!answer) {
        // Another was faster; who it is, the next look says.
        if (answer.error().code == Errc::conflict) return wait(true);
        if (answer.error().code == Errc::not_found) {
            return failed({Errc::not_found, options_.space,
                           "the namespace of the lease does not exist: fairlead serve makes it, or name one that does "
                           "with --lease-namespace"});
        }
        return failed(answer.error());
    }
    const auto object = json::parse(*answer);
    const auto lease = object ? resource::decode<resource::Lease>(*object) : fail(object.error());
    if (!lease) return failed(lease.error());
    hear(*object, *lease);
    if (offering_ != std::exchange(offered_, offering_)) {
        log_.info(offering_ ? "the lease is offered to an emitter that is in step" : "the lease is offered no longer",
                  {{"lease", options_.space + "/" + options_.name}});
    }
    until_.reset();
    if (!offering_) until_ = round_ + renew_within();
    wait(false);
}

// The leader renews on time; a standby spreads, so that not all reach for a free lease together, and looks as soon as
// it can be free.
void Elector::wait(bool spread) {
    due_ = round_ + period();
    if (!spread) return;
    const auto most = static_cast<std::uint64_t>(std::chrono::nanoseconds(period()).count()) / 2;
    due_ += std::chrono::nanoseconds(random_.next() % (most + 1));
    if (const auto now = clock_.monotonic(); now < term_.ends() && term_.ends() < due_) due_ = term_.ends();
}

void Elector::failed(const Error& error) {
    asked_ = Asked::nothing;
    if (problem_.empty()) {
        log_.warn("emitter cannot reach its lease",
                  {{"lease", options_.space + "/" + options_.name}, {"why", error.text()}, {"leading", leading()}});
    }
    problem_ = error.text();
    if (releasing_) {
        released_ = true;  // its end comes by itself
        return;
    }
    wait(true);
}

}  // namespace fairlead::emitter
