#include "gce/steps.h"

#include <algorithm>
#include <iterator>

namespace fairlead::gce {
namespace {

// Stages: 0 what points at nothing, 1 services (and members of groups), 2 URL maps, 3 proxies, 4 forwarding rules,
// 5 their labels, and members that go, 6 and on: removals, in the opposite order.
int making(Kind kind) {
    switch (kind) {
        case Kind::address:
        case Kind::health_check:
        case Kind::group:
        case Kind::certificate:
            return 0;
        case Kind::service:
            return 1;
        case Kind::url_map:
            return 2;
        case Kind::http_proxy:
        case Kind::https_proxy:
            return 3;
        case Kind::rule:
            break;
    }
    return 4;
}
constexpr int attaching = 1;
constexpr int labelling = 5;
constexpr int detaching = 5;
int removing(Kind kind) { return 10 - making(kind); }

json::Value with_fingerprint(json::Value body, const json::Value& present) {
    body.get_object()["fingerprint"] = json::string_at(present, "fingerprint");
    return body;
}

Call set_labels(const Key& key, const json::Value& wanted, const json::Value& present) {
    json::Object labels;
    // Labels that somebody else put there are not ours to take away.
    if (const auto* there = json::find(present, "labels"); there != nullptr && there->is_object())
        labels = there->get_object();
    if (const auto* ours = json::find(wanted, "labels"); ours != nullptr && ours->is_object()) {
        for (const auto& label : ours->get_object()) labels[label.key()] = label.value();
    }
    json::Object body;
    body["labels"] = std::move(labels);
    body["labelFingerprint"] = json::string_at(present, "labelFingerprint");
    return {.what = Call::What::set_labels, .key = key, .body = std::move(body), .stage = labelling};
}

void insert(std::vector<Call>& calls, const Key& key, const Thing& thing) {
    auto body = thing.body;
    // Labels are taken by a call of their own alone.
    if (key.kind == Kind::rule) body.get_object().erase("labels");
    calls.push_back({.what = Call::What::insert,
                     .key = key,
                     .body = std::move(body),
                     .stage = making(key.kind),
                     .owned = !thing.owners.empty()});
    if (key.kind == Kind::rule) calls.push_back(set_labels(key, thing.body, json::Object()));
}

bool members_satisfy(const json::Value& present, const json::Value& wanted, std::string_view member) {
    static const json::Value none;
    const auto* there = json::find(present, member);
    const auto* want = json::find(wanted, member);
    return satisfies(there == nullptr ? none : *there, want == nullptr ? none : *want);
}

void change(std::vector<Call>& calls, const Key& key, const Thing& thing, const json::Value& present) {
    const auto& wanted = thing.body;
    const bool owned = !thing.owners.empty();
    const int stage = making(key.kind);
    switch (key.kind) {
        case Kind::service:
            if (!satisfies(present, wanted))
                calls.push_back({Call::What::patch, key, with_fingerprint(wanted, present), {}, stage, owned});
            break;
        case Kind::url_map:
            if (!satisfies(present, wanted))
                calls.push_back({Call::What::replace, key, with_fingerprint(wanted, present), {}, stage, owned});
            break;
        case Kind::https_proxy:
            if (!members_satisfy(present, wanted, "sslCertificates")) {
                json::Object body;
                body["sslCertificates"] = *json::find(wanted, "sslCertificates");
                calls.push_back({Call::What::set_certificates, key, std::move(body), {}, stage, owned});
            }
            break;
        case Kind::rule:
            if (!members_satisfy(present, wanted, "labels")) calls.push_back(set_labels(key, wanted, present));
            break;
        // Named by what they say, or nothing of them changes.
        case Kind::address:
        case Kind::health_check:
        case Kind::group:
        case Kind::certificate:
        case Kind::http_proxy:
            break;
    }
}

void batches(std::vector<Call>& calls, Call::What what, const Key& key, const std::vector<NetworkEndpoint>& all) {
    for (std::size_t at = 0; at < all.size(); at += max_endpoints_per_call) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), at + max_endpoints_per_call));
        calls.push_back({.what = what,
                         .key = key,
                         .endpoints = {begin, end},
                         .stage = what == Call::What::attach ? attaching : detaching,
                         .owned = true});
    }
}

void move_members(std::vector<Call>& calls, const Present& present, const Wanted& wanted) {
    static const std::set<NetworkEndpoint> none;
    for (const auto& [key, want] : wanted.endpoints) {
        const auto found = present.endpoints.find(key);
        const auto& there = found == present.endpoints.end() ? none : found->second;
        std::vector<NetworkEndpoint> coming;
        std::vector<NetworkEndpoint> going;
        std::set_difference(want.begin(), want.end(), there.begin(), there.end(), std::back_inserter(coming));
        std::set_difference(there.begin(), there.end(), want.begin(), want.end(), std::back_inserter(going));
        batches(calls, Call::What::attach, key, coming);
        batches(calls, Call::What::detach, key, going);
    }
}

void sort(std::vector<Call>& calls) {
    std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.stage < b.stage; });
}

Call removal(const Key& key) { return {.what = Call::What::remove, .key = key, .stage = removing(key.kind)}; }

}  // namespace

std::string_view name_of(Call::What what) {
    switch (what) {
        case Call::What::insert:
            return "insert";
        case Call::What::patch:
            return "patch";
        case Call::What::replace:
            return "update";
        case Call::What::set_certificates:
            return "setSslCertificates";
        case Call::What::set_labels:
            return "setLabels";
        case Call::What::attach:
            return "attachNetworkEndpoints";
        case Call::What::detach:
            return "detachNetworkEndpoints";
        case Call::What::remove:
            break;
    }
    return "delete";
}

std::vector<Call> steps(const Present& present, const Wanted& wanted) {
    std::vector<Call> calls;
    for (const auto& [key, thing] : wanted.things) {
        const auto there = present.things.find(key);
        if (there == present.things.end()) {
            insert(calls, key, thing);
        } else {
            change(calls, key, thing, there->second);
        }
    }
    move_members(calls, present, wanted);
    for (const auto& [key, body] : present.things) {
        if (!wanted.things.contains(key)) calls.push_back(removal(key));
    }
    sort(calls);
    return calls;
}

std::vector<Call> removals(const Present& present) {
    std::vector<Call> calls;
    for (const auto& [key, body] : present.things) calls.push_back(removal(key));
    sort(calls);
    return calls;
}

std::vector<Call> additions(const Present& present, const Wanted& wanted) {
    std::vector<Call> calls;
    for (const auto& [key, thing] : wanted.things) {
        if (!present.things.contains(key)) insert(calls, key, thing);
    }
    sort(calls);
    return calls;
}

}  // namespace fairlead::gce
