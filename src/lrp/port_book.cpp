#include "lrp/port_book.h"

namespace fairlead::lrp {

namespace {

// A port that gets free is for one of those that wait for any; which one, their age decides. Some more are asked in
// case the first ones want it no more.
constexpr std::size_t woken_by_room = 64;

bool same(const PortRouter& a, const PortRouter& b) {
    // `set` stands for what the selector takes.
    return a.facts.set == b.facts.set && a.facts.label == b.facts.label && a.facts.open == b.facts.open &&
           a.tcp == b.tcp && a.udp == b.udp && a.grace == b.grace;
}

}  // namespace

PortBook::Turn PortBook::turn_of(const std::string& key) const {
    const auto* known = asker(key);
    return {known == nullptr ? std::string() : known->created, key};
}

void PortBook::touch(const std::string& key) { touched_.insert(turn_of(key)); }

const PortAsker* PortBook::asker(std::string_view key) const {
    const auto at = askers_.find(key);
    return at == askers_.end() ? nullptr : &at->second;
}

void PortBook::put(PortAsker asker) {
    const auto key = asker.key;
    if (asker.routes.empty()) return erase(key);
    const auto at = askers_.find(key);
    if (at != askers_.end() && at->second == asker) return;
    forget_waits(key);  // by the time of creation that is held now
    askers_.insert_or_assign(key, std::move(asker));
    touch(key);
}

void PortBook::erase(const std::string& key) {
    forget_waits(key);
    if (askers_.erase(key) > 0) touch(key);
}

void PortBook::put(PortRouter router) {
    const auto* known = ledger_.router(router.facts.name);
    if (known != nullptr && same(*known, router)) return;
    ledger_.put(std::move(router));
    for (const auto& each : askers_) touch(each.first);
}

void PortBook::erase_router(std::string_view name) {
    if (ledger_.router(name) == nullptr) return;
    ledger_.erase_router(name);
    for (const auto& each : askers_) touch(each.first);
}

void PortBook::put(const PortLease& lease) {
    const auto* known = ledger_.find(lease.at);
    if (known != nullptr && *known == lease) return;
    const auto before = known == nullptr ? std::string() : known->owner;
    if (!ledger_.put(lease)) return;
    if (!before.empty() && before != lease.owner) touch(before);
    touch(lease.owner);
    wake(lease.at, false);
}

void PortBook::erase(const PortAt& at, std::string_view object) {
    const auto* known = ledger_.find(at);
    if (known == nullptr) return;
    const auto owner = known->owner;
    if (!ledger_.erase(at, object)) return;
    touch(owner);
    wake(at, true);
}

void PortBook::wake(const PortAt& at, bool room) {
    if (const auto found = port_waiters_.find(at); found != port_waiters_.end()) {
        touched_.insert(found->second.begin(), found->second.end());
    }
    if (!room) return;
    const auto found = room_waiters_.find({at.router, at.key.transport});
    if (found == room_waiters_.end()) return;
    auto most = woken_by_room;
    for (auto turn = found->second.begin(); turn != found->second.end() && most > 0; ++turn, --most)
        touched_.insert(*turn);
}

PortPlan PortBook::plan(const std::string& key) {
    forget_waits(key);
    const auto* known = asker(key);
    if (known == nullptr) {
        PortPlan plan;
        for (const auto* lease : ledger_.of(key)) plan.unwanted.push_back(lease->at);
        return plan;
    }
    auto plan = plan_ports(*known, ledger_);
    if (plan.ports.empty() && plan.rooms.empty()) return plan;
    const auto turn = turn_of(key);
    for (const auto& at : plan.ports) port_waiters_[at].insert(turn);
    for (const auto& room : plan.rooms) room_waiters_[room].insert(turn);
    waits_.insert_or_assign(key, Waits{plan.ports, plan.rooms});
    return plan;
}

void PortBook::forget_waits(const std::string& key) {
    const auto found = waits_.find(key);
    if (found == waits_.end()) return;
    const auto turn = turn_of(key);
    const auto leave = [&](auto& waiters, const auto& place) {
        const auto at = waiters.find(place);
        if (at == waiters.end()) return;
        at->second.erase(turn);
        if (at->second.empty()) waiters.erase(at);
    };
    for (const auto& at : found->second.ports) leave(port_waiters_, at);
    for (const auto& room : found->second.rooms) leave(room_waiters_, room);
    waits_.erase(found);
}

}  // namespace fairlead::lrp
