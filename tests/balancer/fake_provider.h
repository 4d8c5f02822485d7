// A cloud in memory, for tests: does as it is told, and tells what it was asked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "balancer/provider.h"

namespace fairlead::balancer {

class FakeProvider final : public Provider {
public:
    struct Cloud {
        std::map<std::string, Seen> balancers;
        std::map<std::string, traffic::RoutingTable> tables;
        std::vector<std::string> calls;
        std::optional<Error> error;  // of the next calls
        int fail_next = 0;           // so many calls fail
        State state = State::running;
        bool settled = true, gone = true;
        bool taken = false;   // the name is somebody else's
        bool hidden = false;  // what is there is not shown yet, and cannot be removed
    };
    explicit FakeProvider(Cloud& cloud) : cloud_(cloud) {}
    Result<Seen> create(const Order& order) override {
        if (auto failed = call("create " + order.name); !failed) return fail(failed.error());
        if (cloud_.taken) return fail(Errc::conflict, "the name is taken");
        auto& seen = cloud_.balancers[order.name];
        seen = {order.name, order.uid, false, cloud_.state, "", {"192.0.2.7"}};
        return seen;
    }
    Result<std::optional<Seen>> get(const std::string& name) override {
        if (auto failed = call("get " + name); !failed) return fail(failed.error());
        const auto found = cloud_.balancers.find(name);
        if (found == cloud_.balancers.end() || cloud_.hidden) return std::optional<Seen>();
        found->second.state = cloud_.state;
        return std::optional(found->second);
    }
    Result<Applied> update_rules(const Order& order, const traffic::RoutingTable& table) override {
        if (auto failed = call("rules " + order.name); !failed) return fail(failed.error());
        cloud_.tables[order.name] = table;
        return Applied{cloud_.settled, {}};
    }
    Result<bool> remove(const Order& order) override {
        if (auto failed = call("remove " + order.name); !failed) return fail(failed.error());
        if (cloud_.hidden) return true;  // nothing that it could see is left
        if (cloud_.gone) cloud_.balancers.erase(order.name);
        return cloud_.gone;
    }
    Result<std::vector<Seen>> list() override {
        if (auto failed = call("list"); !failed) return fail(failed.error());
        std::vector<Seen> all;
        for (const auto& each : cloud_.balancers) all.push_back(each.second);
        return all;
    }

private:
    Result<void> call(std::string what) {
        cloud_.calls.push_back(std::move(what));
        if (cloud_.fail_next > 0) {
            --cloud_.fail_next;
            return fail(Errc::unavailable, "throttled");
        }
        if (cloud_.error) return fail(*cloud_.error);
        return {};
    }
    Cloud& cloud_;
};

}  // namespace fairlead::balancer
