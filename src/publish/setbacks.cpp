#include "publish/setbacks.h"

#include <algorithm>

namespace fairlead::publish {

namespace {

using Action = plan::Action;

// The changes of one name of a plan: what becomes of each.
struct NameChanges {
    std::vector<const plan::Change*> go;
    std::vector<LeftOut> out;

    void leave(const plan::Change* change, const std::string& message) {
        std::erase(go, change);
        out.push_back({*change, message});
    }
};

// A removal without which one of those that go could not be made.
bool makes_room(const plan::Change& removal, const std::vector<const plan::Change*>& go) {
    return std::any_of(go.begin(), go.end(), [&](const plan::Change* each) {
        return each->action == Action::create && plan::exclude_each_other(*removal.before, *each->after);
    });
}

bool takes_its_place(const plan::Change& removal, const plan::Change& creation) {
    return creation.action == Action::create && (creation.after->record_type == removal.before->record_type ||
                                                 plan::exclude_each_other(*removal.before, *creation.after));
}

void leave_dependents(NameChanges& name, const std::vector<const dns::Endpoint*>& present) {
    const auto refused = name.out;  // only these: what waits for them takes nobody's place
    for (const auto& each : refused) {
        if (each.change.action != Action::remove) continue;
        const auto go = name.go;
        for (const auto* change : go) {
            if (change->action != Action::create) continue;
            if (plan::exclude_each_other(*each.change.before, *change->after)) name.leave(change, each.message);
        }
    }
    const auto go = name.go;
    for (const auto* removal : go) {
        if (removal->action != Action::remove || makes_room(*removal, name.go)) continue;
        const auto instead = std::find_if(refused.begin(), refused.end(),
                                          [&](const LeftOut& each) { return takes_its_place(*removal, each.change); });
        if (instead == refused.end()) continue;
        const auto& type = removal->before->record_type;
        const bool created = std::any_of(name.go.begin(), name.go.end(), [&](const plan::Change* each) {
            return each->action == Action::create && each->after->record_type == type;
        });
        const bool kept = std::any_of(present.begin(), present.end(), [&](const dns::Endpoint* there) {
            const bool removed = std::any_of(name.go.begin(), name.go.end(), [&](const plan::Change* each) {
                return each->action == Action::remove && row_of(*each->before) == row_of(*there);
            });
            return there->record_type == type && !removed;
        });
        if (!created && !kept) name.leave(removal, instead->message);
    }
}

}  // namespace

std::string row_of(const dns::Endpoint& endpoint) { return endpoint.record_type + "/" + endpoint.set_identifier; }

const Setback* Setbacks::find(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : &found->second;
}

Setback& Setbacks::failed(const std::string& name) {
    auto& setback = names_[name];
    ++setback.failures;
    return setback;
}

void Setbacks::refused(const plan::Change& change, const std::string& message) {
    names_[plan::normal_name(change.subject().dns_name)].rows[row_of(change.subject())] = {plan::digest({&change, 1}),
                                                                                           message};
}

void Setbacks::tried(const plan::ChangeGroup& group) {
    for (const auto& change : group.changes) {
        const auto found = names_.find(plan::normal_name(change.subject().dns_name));
        if (found != names_.end()) found->second.rows.erase(row_of(change.subject()));
    }
}

void Setbacks::applied(const plan::ChangeGroup& group) {
    const auto settle = [this](const std::string& name, const auto& forget) {
        const auto found = names_.find(name);
        if (found == names_.end()) return;
        forget(found->second);
        if (found->second.rows.empty() && found->second.digest.empty()) names_.erase(found);
    };
    for (const auto& change : group.changes) {
        settle(plan::normal_name(change.subject().dns_name),
               [&](Setback& setback) { setback.rows.erase(row_of(change.subject())); });
    }
    settle(plan::normal_name(group.name), [](Setback& setback) { setback.digest.clear(); });
}

void Setbacks::keep_only(const std::set<std::pair<std::string, std::string>>& rows, const std::set<std::string>& groups,
                         const std::function<bool(const std::string& name)>& looked_at) {
    for (auto at = names_.begin(); at != names_.end();) {
        const auto& name = at->first;
        auto& setback = at->second;
        if (!looked_at(name)) {
            ++at;
            continue;
        }
        if (!groups.contains(name)) setback.digest.clear();
        std::erase_if(setback.rows, [&](const auto& row) { return !rows.contains({name, row.first}); });
        at = setback.rows.empty() && !groups.contains(name) ? names_.erase(at) : std::next(at);
    }
}

std::vector<LeftOut> Setbacks::take_out(plan::Plan& plan, std::span<const dns::Endpoint> present,
                                        MonotonicTime now) const {
    std::map<std::string, NameChanges, std::less<>> waiting;
    for (const auto& [name, setback] : names_) {
        if (!setback.rows.empty() && now < setback.not_before) waiting.try_emplace(name);
    }
    if (waiting.empty()) return {};
    for (const auto& change : plan.changes) {
        const auto found = waiting.find(plan::normal_name(change.subject().dns_name));
        if (found != waiting.end()) found->second.go.push_back(&change);
    }
    std::map<std::string, std::vector<const dns::Endpoint*>, std::less<>> there;
    for (const auto& endpoint : present) {
        const auto name = plan::normal_name(endpoint.dns_name);
        if (waiting.contains(name)) there[name].push_back(&endpoint);
    }
    std::set<const plan::Change*> out;
    std::vector<LeftOut> all;
    for (auto& [name, changes] : waiting) {
        const auto& rows = names_.find(name)->second.rows;
        std::vector<std::pair<const plan::Change*, std::string>> same;
        for (const auto* change : changes.go) {
            const auto row = rows.find(row_of(change->subject()));
            if (row != rows.end() && row->second.digest == plan::digest({change, 1})) {
                same.emplace_back(change, row->second.message);
            }
        }
        if (same.size() != rows.size()) continue;
        const auto before = changes.go;
        for (const auto& [change, message] : same) changes.leave(change, message);
        leave_dependents(changes, there[name]);
        for (const auto* change : before) {
            if (std::find(changes.go.begin(), changes.go.end(), change) == changes.go.end()) out.insert(change);
        }
        all.insert(all.end(), changes.out.begin(), changes.out.end());
    }
    std::vector<plan::Change> rest;
    rest.reserve(plan.changes.size() - out.size());
    for (auto& change : plan.changes) {
        if (!out.contains(&change)) rest.push_back(std::move(change));
    }
    plan.changes = std::move(rest);
    return all;
}

}  // namespace fairlead::publish
