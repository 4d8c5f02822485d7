#include "proxy/gorouter/audit.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "json/value.h"

namespace fairlead::proxy::gorouter {

namespace {

struct Held {
    std::string address, instance, mark;
};

std::string mark_of(const json::Value& endpoint) {
    const auto* const tags = json::find(endpoint, "tags");
    return tags != nullptr ? std::string(json::string_at(*tags, mark_tag)) : std::string();
}

Result<std::vector<Held>> read_endpoints(std::string_view text) {
    const auto value = json::parse(text);
    if (!value) return fail(value.error());
    std::vector<Held> held;
    if (!value->is_array()) return held;
    for (const auto& endpoint : value->get_array()) {
        held.push_back({std::string(json::string_at(endpoint, "address")),
                        std::string(json::string_at(endpoint, "private_instance_id")), mark_of(endpoint)});
    }
    return held;
}

}  // namespace

tl::unexpected<Error> Comparison::broken() const {
    return fail(Errc::invalid, fmt::format("/routes: no JSON object of names at byte {}", at_));
}

char Comparison::next() {
    const auto found = routes_.find_first_not_of(" \t\r\n", at_);
    at_ = std::min(found, routes_.size());
    return at_ < routes_.size() ? routes_[at_] : '\0';
}

Result<std::string_view> Comparison::text() {
    if (next() != '"') return broken();
    const auto from = at_++;
    for (; at_ < routes_.size(); ++at_) {
        if (routes_[at_] == '\\') {
            ++at_;
        } else if (routes_[at_] == '"') {
            ++at_;
            return std::string_view(routes_).substr(from, at_ - from);
        }
    }
    return broken();
}

Result<std::string_view> Comparison::value() {
    next();
    const auto from = at_;
    std::size_t depth = 0;
    while (at_ < routes_.size()) {
        const auto byte = routes_[at_];
        if (byte == '"') {
            if (auto string = text(); !string) return string;
            continue;
        }
        if (depth == 0 && (byte == ',' || byte == '}')) break;
        if (byte == '[' || byte == '{') ++depth;
        if (byte == ']' || byte == '}') --depth;
        ++at_;
        if (depth == 0 && (byte == ']' || byte == '}')) break;
    }
    return std::string_view(routes_).substr(from, at_ - from);
}

template <class T>
void Comparison::note(std::size_t& count, std::vector<T>& list, T item) {
    if (++count <= max_named_pairs) list.push_back(std::move(item));
}

Result<void> Comparison::judge(const Registrations& registrations, const std::string& name,
                               std::string_view endpoints) {
    auto held = read_endpoints(endpoints);
    if (!held) return fail(held.error());
    if (const auto slot = registrations.name_slot(name)) {
        if (seen_.size() <= *slot) seen_.resize(std::max(*slot + 1, registrations.name_slots()));
        seen_[*slot] = true;
    }
    const auto targets = registrations.targets(name);
    for (const auto& target : targets) {
        const bool there = std::any_of(held->begin(), held->end(), [&](const Held& endpoint) {
            return endpoint.address == target.address &&
                   (endpoint.instance.empty() || endpoint.instance == target.instance);
        });
        if (!there) note(found_.missing_count, found_.missing, Pair{name, target.address});
    }
    for (auto& endpoint : *held) {
        Pair pair{name, std::move(endpoint.address)};
        if (registrations.live(pair.name, pair.address)) continue;
        const auto domain = domain_of(endpoint.mark, registrations.mark());
        if (registrations.withdrawn(pair.name, pair.address)) {
            note(found_.lingering_count, found_.lingering, std::move(pair));
        } else if (domain) {
            note(found_.leftover_count, found_.leftovers, Leftover{std::move(pair), std::string(*domain)});
        } else if (!targets.empty()) {  // else somebody else's: there may be many emitters
            note(found_.foreign_count, found_.foreign, std::move(pair));
        }
    }
    return {};
}

Result<bool> Comparison::read(const Registrations& registrations, std::size_t names) {
    if (!open_) {
        if (next() != '{') return broken();
        ++at_;
        open_ = true;
        if (next() == '}') return true;
    }
    for (; names > 0; --names) {
        const auto quoted = text();
        if (!quoted) return fail(quoted.error());
        const auto name = json::parse(*quoted);
        if (!name) return fail(name.error());
        if (next() != ':') return broken();
        ++at_;
        const auto endpoints = value();
        if (!endpoints) return fail(endpoints.error());
        const std::string key(json::view(name->get_string()));
        if (auto judged = judge(registrations, key, *endpoints); !judged) return fail(judged.error());
        const auto after = next();
        if (after == '}') return true;
        if (after != ',') return broken();
        ++at_;
    }
    return false;
}

Result<bool> Comparison::advance(const Registrations& registrations, std::size_t names) {
    if (!read_) {
        auto complete = read(registrations, names);
        if (!complete) return complete;
        read_ = *complete;
        return false;
    }
    const auto to = std::min(slot_ + std::min(names, registrations.name_slots()), registrations.name_slots());
    for (const auto name : registrations.names(slot_, to)) {
        const auto slot = registrations.name_slot(name);
        if (!slot || (*slot < seen_.size() && seen_[*slot])) continue;
        for (auto& target : registrations.targets(name)) {
            note(found_.missing_count, found_.missing, Pair{std::string(name), std::move(target.address)});
        }
    }
    slot_ = to;
    return slot_ >= registrations.name_slots();
}

void mend(Registrations& registrations, const Differences& found, MonotonicTime now) {
    if (std::max(found.missing_count, found.lingering_count) > max_named_pairs) return registrations.everything(now);
    for (const auto& pair : found.missing) registrations.mend(pair.name, pair.address);
    for (const auto& pair : found.lingering) registrations.mend(pair.name, pair.address);
}

Result<Differences> compare(const Registrations& registrations, std::string routes) {
    Comparison comparison(std::move(routes));
    for (;;) {
        const auto complete = comparison.advance(registrations, std::numeric_limits<std::size_t>::max());
        if (!complete) return fail(complete.error());
        if (*complete) return comparison.found();
    }
}

}  // namespace fairlead::proxy::gorouter
