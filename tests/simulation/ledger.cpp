#include "simulation/ledger.h"

#include <fmt/core.h>

#include "apiserver/object_bytes.h"
#include "simulation/sim_store.h"

namespace fairlead::simulation {

using apiserver::Reply;
using apiserver::Verb;

namespace {

bool changes_one(const Request& sent) {
    // A namespace and a collection take their content with them in several commits: their answers say less.
    return sent.verb != Verb::remove_collection && sent.target.kind->plural != "namespaces";
}

}  // namespace

std::string Request::text() const {
    const std::string place = target.namespace_.empty() ? target.name : target.namespace_ + "/" + target.name;
    return fmt::format("{} {} {}{}{}", verb_name(verb), target.kind->plural, place,
                       options.is_dry_run() ? " (dry run)" : "",
                       options.propagation_policy ? " " + *options.propagation_policy : "");
}

void Ledger::changed(std::uint64_t request, const Key& key, const Change& change) {
    if (const auto found = effects_.find(request); found != effects_.end()) found->second.push_back({key, &change});
}

void Ledger::answered(std::uint64_t request, const Request& sent, const Reply* reply, std::string_view who) {
    const auto effects = std::move(effects_[request]);
    effects_.erase(request);
    const bool read = sent.verb == Verb::get || sent.verb == Verb::list;
    if (!reply || reply->code == 504) {
        if (!read) ++unknown_;
        return;
    }
    if (read) return check_read(sent, *reply, who);
    check_write(sent, *reply, effects, who);
}

void Ledger::check_read(const Request& sent, const Reply& reply, std::string_view who) {
    if (sent.verb != Verb::get || (reply.code != 200 && reply.code != 404)) return;
    const auto key = apiserver::store_key(*sent.target.kind, sent.target.namespace_, sent.target.name);
    const auto* due = store_->truth().find(key);
    if (reply.code == 404 && due) {
        return wrong(fmt::format("{} reads {} and is told 404; it was written at {}", who, key.text(), due->modified));
    }
    if (reply.code == 200 && (!due || due->bytes != reply.body)) {
        wrong(fmt::format("{} reads {} and gets what is not its state: {}", who, key.text(), reply.body));
    }
}

void Ledger::check_write(const Request& sent, const Reply& reply, const std::vector<Effect>& effects,
                         std::string_view who) {
    const bool done = reply.code == 200 || reply.code == 201;
    if (done) ++acknowledged_;
    if (sent.options.is_dry_run()) {
        if (!effects.empty())
            wrong(fmt::format("the dry run of {} ({}) changed {}", who, sent.text(), effects[0].key.text()));
        return;
    }
    if (!changes_one(sent)) {
        for (const auto& effect : effects) {
            if (done) acknowledge(effect.key, effect.change->revision);
        }
        return;
    }
    std::string name = sent.target.name;
    if (sent.verb == Verb::create && done) {
        const auto body = json::parse(reply.body);
        if (body) name = json::string_at(*body, "metadata.name");
    }
    const auto key = apiserver::store_key(*sent.target.kind, sent.target.namespace_, name);
    const Effect* own = nullptr;
    for (const auto& effect : effects) {
        if (effect.key != key) continue;
        if (own) return wrong(fmt::format("one {} of {} changed {} twice", sent.text(), who, key.text()));
        own = &effect;
    }
    if (!done) {
        if (own) {
            wrong(fmt::format("{} was told {} for {}, yet it happened at revision {}", who, reply.code, sent.text(),
                              own->change->revision));
        }
        return;
    }
    const bool gone = reply.content == Reply::Content::status;
    if (sent.verb == Verb::create && !own)
        return wrong(fmt::format("{} of {} is acknowledged and did not happen", sent.text(), who));
    if (gone && (!own || !own->change->removed)) {
        return wrong(fmt::format("{} of {} is acknowledged and nothing was removed", sent.text(), who));
    }
    if (!own) return;  // a write that changes nothing
    if (!gone && own->change->bytes != reply.body) {
        return wrong(fmt::format("{} of {} answers what was not written: {}", sent.text(), who, reply.body));
    }
    acknowledge(key, own->change->revision);
}

void Ledger::acknowledge(const Key& key, Revision revision) {
    auto& newest = acknowledged_at_[key];
    newest = std::max(newest, revision);
}

void Ledger::check_all() {
    for (const auto& [key, revision] : acknowledged_at_) {
        const auto& changes = store_->truth().changes(key.table);
        const auto first = store_->truth().first_after(key.table, revision - 1);
        bool found = false;
        Revision last = 0;
        for (auto place = first; place < changes.size(); ++place) {
            if (changes[place].name != key.name) continue;
            found |= changes[place].revision == revision;
            last = changes[place].revision;
        }
        const auto* present = store_->truth().find(key);
        if (!found || (present && present->modified != last)) {
            return wrong(
                fmt::format("{} was acknowledged at revision {}; the store knows nothing of it", key.text(), revision));
        }
    }
}

}  // namespace fairlead::simulation
