#include "controller/port_leases.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"

namespace fairlead::controller {

namespace {

const control::Key all_work = "ports";           // the one key
constexpr std::size_t looks_per_turn = 4'096;    // LRPs that need no write cost some microseconds each
constexpr std::chrono::seconds caught_up_in{1};  // by then the informer knows what a conflict was about

std::int64_t revision_of(const json::Value& object) {
    return parse_int(json::string_at(object, "metadata.resourceVersion")).value_or(0);
}

// A patch of what we know: if somebody was faster, it is refused.
json::Value patch_of(const lrp::PortLease& lease) {
    json::Value patch;
    json::set_at(patch, "metadata.resourceVersion", json::Value(fmt::format("{}", lease.revision)));
    return patch;
}

}  // namespace

PortLeases::PortLeases(control::Context& context, PortLeasesOptions options)
    : context_(context), options_(options), figures_(context.metrics()), feed_(context, [this] { take_touched(); }) {}

void PortLeases::take_touched() {
    const auto touched = feed_.book().take_touched();
    for (const auto& turn : touched) {
        const auto note = notes_.find(turn.second);
        if (note != notes_.end() && note->second.failed) continue;  // its time comes
        ready_.insert(turn);
    }
    if (!ready_.empty() || shown_ != feed_.book().ledger().version()) context_.enqueue(all_work);
}

void PortLeases::look_later(const std::string& key, std::chrono::nanoseconds delay, bool failed) {
    auto& note = notes_[key];
    const auto due = context_.clock().monotonic() + delay;
    note.failed = note.failed || failed;
    if (note.due) {
        if (*note.due <= due && !failed) return;
        delayed_.erase({*note.due, key});
    }
    note.due = due;
    delayed_.emplace(due, key);
}

Result<control::Again> PortLeases::reconcile(const control::Key& /*key*/) {
    const auto now = context_.clock().monotonic();
    while (!delayed_.empty() && delayed_.begin()->first <= now) {
        const auto key = delayed_.begin()->second;
        delayed_.erase(delayed_.begin());
        auto& note = notes_.at(key);
        note.due.reset();
        note.failed = false;
        feed_.book().touch(key);
    }
    take_touched();
    std::vector<Wish> wishes;
    for (std::size_t i = 0; i < looks_per_turn && !ready_.empty() && wishes.size() < options_.batch; ++i) {
        const auto turn = *ready_.begin();
        ready_.erase(ready_.begin());
        consider(turn.second, wishes);
        take_touched();  // who waits for what was just given away
    }
    write(std::move(wishes));
    take_touched();
    if (shown_ != feed_.book().ledger().version()) {
        shown_ = feed_.book().ledger().version();
        figures_.show(feed_.book().ledger());
    }
    if (!ready_.empty()) return control::Again::now();
    if (delayed_.empty()) return control::Again::no();
    return control::Again::in(std::max(std::chrono::nanoseconds(delayed_.begin()->first - context_.clock().monotonic()),
                                       std::chrono::nanoseconds(std::chrono::milliseconds(1))));
}

PortLeases::Wish PortLeases::wish(Act act, const lrp::PortLease& lease, json::Value body) {
    Wish wish{.act = act, .lease = lease, .request = {}};
    wish.request.object = control::object_id(feed_.leases(), lrp::lease_name(lease.at));
    wish.request.body = std::move(body);
    switch (act) {
        case Act::create:
            wish.request.verb = control::Verb::create;
            break;
        case Act::amend:
            wish.request.verb = control::Verb::merge_patch;
            break;
        case Act::renew:
        case Act::release:
        case Act::tell:
            wish.request.verb = control::Verb::merge_patch;
            wish.request.subresource = "status";
            break;
        case Act::free:
            wish.request.verb = control::Verb::remove;
            wish.request.remove = {
                .uid = lease.object, .resource_version = fmt::format("{}", lease.revision), .propagation = {}};
            break;
    }
    return wish;
}

void PortLeases::consider(const std::string& key, std::vector<Wish>& wishes) {
    auto& book = feed_.book();
    if (const auto note = notes_.find(key); note != notes_.end() && !note->second.due && note->second.failures == 0) {
        notes_.erase(note);
    }
    const auto plan = book.plan(key);
    figures_.set(key, plan.routes);
    const auto* asker = book.asker(key);
    for (std::size_t i = 0; i < plan.routes.size(); ++i) {
        const auto& outcome = plan.routes[i];
        const auto use = lrp::use_of(*asker, asker->routes[i]);
        const auto* present = book.ledger().find(outcome.at);
        if (outcome.state == lrp::PortState::wanted) {
            const lrp::PortLease lease{.at = outcome.at, .owner = key, .guid = asker->guid, .use = use};
            resource::PortLease object;
            object.metadata.name = lrp::lease_name(lease.at);
            object.spec = lrp::spec_of(lease);
            wishes.push_back(wish(Act::create, lease, control::new_object(feed_.leases(), object)));
            book.put(lease);  // so that the next one in this turn looks further
        } else if (outcome.state == lrp::PortState::renew && present->use != use) {
            auto lease = *present;
            lease.use = use;
            auto patch = patch_of(lease);
            auto spec = resource::encode(lrp::spec_of(lease));
            if (!use.requested) json::set_at(spec, "owner.requestedPort", json::Value(nullptr));
            json::set_at(patch, "spec", std::move(spec));
            wishes.push_back(wish(Act::amend, lease, std::move(patch)));
        } else if (outcome.state == lrp::PortState::renew) {
            auto patch = patch_of(*present);
            json::set_at(patch, "status",
                         json::Object{{"phase", "Leased"}, {"releasedAt", nullptr}, {"message", nullptr}});
            wishes.push_back(wish(Act::renew, *present, std::move(patch)));
        } else if (outcome.state == lrp::PortState::held && present->told_out == book.ledger().in_range(outcome.at)) {
            auto patch = patch_of(*present);
            const resource::Condition condition{
                .type = "InRange",
                .status = present->told_out ? "True" : "False",
                .reason = present->told_out ? "Reserved" : "OutOfRange",
                .message = present->told_out ? "its Router reserves the port" : outcome.message,
                .last_transition_time = rfc3339(context_.clock().now()),
                .observed_generation = {}};
            json::set_at(patch, "status.conditions", json::Array{resource::encode(condition)});
            wishes.push_back(wish(Act::tell, *present, std::move(patch)));
        }
    }
    for (const auto& at : plan.unwanted) consider_unwanted(key, *book.ledger().find(at), wishes);
}

void PortLeases::consider_unwanted(const std::string& key, const lrp::PortLease& lease, std::vector<Wish>& wishes) {
    const auto now = context_.clock().now();
    if (!lease.released) {
        const bool gone = !feed_.lrps().get(key);
        auto patch = patch_of(lease);
        json::set_at(
            patch, "status",
            json::Object{{"phase", "Released"},
                         {"releasedAt", json::Value(rfc3339_micros(now))},
                         {"message", json::Value(gone ? fmt::format("DesiredLRP {} is gone", key)
                                                      : fmt::format("no route of DesiredLRP {} asks for it", key))}});
        wishes.push_back(wish(Act::release, lease, std::move(patch)));
        return;
    }
    const auto* router = feed_.book().ledger().router(lease.at.router);
    const auto grace = router == nullptr ? lrp::default_grace : router->grace;
    // A clock that was set back does not make the grace longer than it is.
    const auto left = std::min<WallTime::duration>(lease.released_at + grace - now, grace);
    if (left > WallTime::duration::zero()) return look_later(key, left, false);
    wishes.push_back(wish(Act::free, lease, nullptr));
}

void PortLeases::write(std::vector<Wish> wishes) {
    if (wishes.empty()) return;
    std::vector<control::Request> requests;
    requests.reserve(wishes.size());
    for (auto& each : wishes) requests.push_back(std::move(each.request));
    const auto answers = context_.client().write_all(std::move(requests));
    const Error* trouble = nullptr;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i]) {
            done(wishes[i], *answers[i]);
            continue;
        }
        const auto& error = answers[i].error();
        failed(wishes[i], error);
        if (error.code != Errc::conflict && error.code != Errc::not_found && error.code != Errc::already_exists) {
            trouble = &error;
        }
    }
    if (trouble != nullptr) {
        context_.log().warn("leases of ports cannot be written, they are tried again", {{"why", trouble->text()}});
    }
}

// What we wrote counts at once; the informer will say the same.
void PortLeases::done(const Wish& wish, const json::Value& answer) {
    auto& book = feed_.book();
    const auto note = notes_.find(wish.lease.owner);
    if (note != notes_.end()) {
        note->second.failures = 0;
        if (!note->second.due) notes_.erase(note);
    }
    if (wish.act == Act::free) return book.erase(wish.lease.at, wish.lease.object);
    const auto object = resource::decode<resource::PortLease>(answer);
    const auto lease = object ? lrp::port_lease_of(*object, static_cast<std::uint64_t>(revision_of(answer)))
                              : Result<lrp::PortLease>(fail(object.error()));
    if (lease) book.put(*lease);
}

void PortLeases::failed(const Wish& wish, const Error& error) {
    const auto& owner = wish.lease.owner;
    // Somebody else has it, or nobody: the informer will say so, and wakes the LRP.
    if (wish.act == Act::create) feed_.book().erase(wish.lease.at, "");
    auto delay = std::chrono::nanoseconds(caught_up_in);
    if (error.code != Errc::conflict && error.code != Errc::not_found && error.code != Errc::already_exists) {
        delay = options_.backoff.delay(++notes_[owner].failures, context_.random());
    }
    look_later(owner, delay, true);
}

}  // namespace fairlead::controller
