#include "balancer/silence.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::balancer {

namespace {

using State = SilentInstance::State;

constexpr std::size_t instances_shown = 3;

std::string text_of(const SilentInstance& instance) {
    auto who = fmt::format("instance {} ({})", instance.name, instance.address);
    switch (instance.state) {
        case State::not_ready:
            return fmt::format("{}: {}", who, instance.message.empty() ? "not ready" : instance.message);
        case State::stopping:
            return who + " is stopping";
        case State::stopped:
            return who + " was stopped";
        case State::lost:
            return who + " has not reported within its lease";
    }
    return who;
}

// "a, b, c and 2 more"
std::string first_of(const std::vector<SilentInstance>& instances) {
    std::vector<std::string> texts;
    for (const auto& each : instances) {
        if (texts.size() < instances_shown) texts.push_back(text_of(each));
    }
    const auto rest = instances.size() - texts.size();
    return join(texts, "; ") + (rest > 0 ? fmt::format(" and {} more", rest) : "");
}

std::string listen_address(const resource::LoadBalancer& balancer) {
    return balancer.spec.listen ? balancer.spec.listen->address : std::string();
}

// What is said of the address that the balancer asks for, unless an instance has it and speaks for itself.
std::string address_text(const Silence& silence) {
    const auto address = listen_address(silence.balancer);
    const auto& list = silence.instances;
    const bool spoken_for = std::any_of(list.begin(), list.end(), [&](const auto& each) {
        return each.address == address && each.state != State::stopped;
    });
    if (address.empty() || spoken_for) return {};
    const bool moves =
        std::any_of(list.begin(), list.end(), [](const auto& each) { return each.state == State::stopping; });
    return fmt::format("{} the address {}", silence.is_new || moves ? "waits for the server that has" : "no server has",
                       address);
}

}  // namespace

std::string text_of(const Silence& silence) {
    std::vector<std::string> parts;
    if (auto text = address_text(silence); !text.empty()) parts.push_back(std::move(text));
    if (!silence.instances.empty()) parts.push_back(first_of(silence.instances));
    if (parts.empty()) {
        parts.push_back(
            fmt::format("no instance has registered: run fairlead router --loadbalancer {}, or set spec.listen.address",
                        silence.balancer.metadata.name));
    }
    if (!silence.neighbour.empty()) parts.push_back(fmt::format("balancer {} listens there", silence.neighbour));
    return join(parts, "; ");
}

bool listen_alike(const resource::LoadBalancer& one, const resource::LoadBalancer& other) {
    if (listen_address(one).empty() || listen_address(one) != listen_address(other)) return false;
    const auto& a = *one.spec.listen;
    const auto& b = *other.spec.listen;
    return a.http == b.http || a.http == b.https || a.https == b.http || a.https == b.https;
}

}  // namespace fairlead::balancer
