// Random histories of tables against the model of a router: after every step it lacks no live pair, no live pair was
// withdrawn, and what is gone is gone; through lost messages and restarts of the router it comes back within an
// interval.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "gorouter/router_model.h"
#include "proxy/gorouter/registrations.h"

namespace fairlead::proxy::gorouter {

namespace {

using namespace std::chrono_literals;
using ::fairlead::gorouter::read_message;
using ::fairlead::gorouter::RouterModel;

class World {
public:
    explicit World(std::uint64_t seed) : random_(seed) {}

    void run(int steps) {
        for (step_ = 0; step_ < steps && !::testing::Test::HasFailure(); ++step_) {
            act();
            drain();
            if (!lost_) check();
            pass(std::chrono::milliseconds(below(3'000)));
        }
        settle();
    }

private:
    std::uint64_t below(std::uint64_t limit) { return random_.next() % limit; }

    // Few names, pools and addresses: everything meets everything.
    void shake() {
        const auto pool_name = [this] { return (below(2) ? "lrp/n" : "p") + std::to_string(below(4)) + ".test"; };
        switch (below(4)) {
            case 0: {
                static const std::vector<std::string> paths = {"", "/x", "/X", "/x/y"};
                traffic::RuleKey key{"n" + std::to_string(below(4)) + ".test", below(5) == 0, paths[below(4)]};
                if (below(3) == 0) {
                    table_.rules.erase(key);
                } else {
                    table_.rules[key] = {.pool = pool_name(),
                                         .owner = "o",
                                         .route_service = below(4)   ? ""
                                                          : below(4) ? "https://r.test"
                                                                     : "http://r.test",
                                         .options = below(4) ? "" : R"({"loadbalancing":"round-robin"})"};
                }
                break;
            }
            case 1: {
                const auto name = pool_name();
                if (below(3) == 0) {
                    table_.pools.erase(name);
                    break;
                }
                traffic::Pool pool;
                pool.name = name;
                std::map<std::pair<std::string, std::uint16_t>, traffic::Member> members;
                for (auto count = below(5); count > 0; --count) {
                    traffic::Member member;
                    member.address = "10.0.0." + std::to_string(1 + below(3));
                    member.port = static_cast<std::uint16_t>(1 + below(3));
                    member.tls_port = below(4) == 0 ? static_cast<std::uint16_t>(1 + below(3)) : std::uint16_t{0};
                    member.app = "app" + std::to_string(below(2));
                    member.instance = "i" + std::to_string(below(3));
                    if (below(2)) member.index = static_cast<std::int32_t>(below(3));
                    if (below(6) == 0) member.state = traffic::MemberState::drain;
                    if (below(9) == 0) member.weight = 0;
                    members[{member.address, member.port}] = member;
                }
                for (auto& [key, member] : members) pool.members.push_back(member);
                table_.pools[name] = std::move(pool);
                break;
            }
            default:
                break;
        }
    }

    void act() {
        const auto before = table_;
        for (auto count = 1 + below(6); count > 0; --count) shake();
        if (below(10) == 0) {
            registrations_.reset(table_);
        } else {
            registrations_.change(traffic::diff(before, table_));
        }
        if (below(25) == 0) {  // NATS is away for a while
            lost_ = !lost_;
            if (!lost_) registrations_.everything(now_);
        }
        if (!lost_ && below(25) == 0) {
            router_.restart();
            registrations_.router_started({"0-" + std::to_string(step_), 20s, 120s}, now_, random_);
            fresh_until_ = now_ + 4s;  // a part of 0.2 x 20 s, and then at full pace
        }
    }

    void drain() {
        for (;;) {
            const auto messages = registrations_.take(now_, 3);
            if (messages.empty()) return;
            for (const auto& message : messages) {
                const auto read = read_message(message.body);
                ASSERT_TRUE(read) << message.body;
                ASSERT_EQ(read->uris.size(), message.names);
                for (const auto& uri : read->uris) {
                    const bool withdrawal = message.subject == "router.unregister";
                    ASSERT_NE(registrations_.live(uri, read->address()), withdrawal)
                        << "step " << step_ << ": " << message.subject << " " << message.body;
                }
                if (!lost_) router_.message(message.subject, message.body, now_);
            }
        }
    }

    void pass(std::chrono::nanoseconds time, std::chrono::nanoseconds tick = 100ms) {
        for (const auto until = now_ + time; now_ < until;) {
            now_ += std::min(tick, until - now_);
            drain();
        }
        if (!lost_) router_.prune(now_);
    }

    [[nodiscard]] std::set<std::pair<std::string, std::string>> wanted() const {
        std::set<std::pair<std::string, std::string>> wanted;
        for (auto& [name, address] : registrations_.pairs()) wanted.emplace(name, address);
        return wanted;
    }

    void check() {
        ASSERT_TRUE(registrations_.settled());
        ASSERT_EQ(wanted(), truth()) << "step " << step_;
        if (now_ < fresh_until_) return;
        fresh_until_ = {};
        ASSERT_EQ(router_.pairs(), wanted()) << "step " << step_;
        for (const auto& [name, targets] : router_.table()) {
            for (const auto& target : registrations_.targets(name)) {
                ASSERT_EQ(targets.at(target.address).instance, target.instance) << name << " " << target.address;
            }
        }
    }

    // From the table itself, the slow way.
    [[nodiscard]] std::set<std::pair<std::string, std::string>> truth() const {
        std::map<std::string, std::pair<bool, const traffic::Rule*>> rules;  // by name as routers keep it
        for (const auto& [key, rule] : table_.rules) {
            const auto raw = (key.wildcard ? "*." : "") + key.host + key.path;
            auto name = raw;
            std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c == 'X' ? 'x' : c; });
            auto& best = rules[name];
            if (best.second == nullptr || (raw == name && !best.first)) best = {raw == name, &rule};
        }
        std::set<std::pair<std::string, std::string>> truth;
        for (const auto& [name, best] : rules) {
            const auto& rule = *best.second;
            const auto pool = table_.pools.find(rule.pool);
            if (rule.route_service.starts_with("http:") || pool == table_.pools.end()) continue;
            for (const auto& member : pool->second.members) {
                if (member.state != traffic::MemberState::ready || member.weight == 0) continue;
                const auto port = member.tls_port != 0 ? member.tls_port : member.port;
                truth.emplace(name, member.address + ":" + std::to_string(port));
            }
        }
        return truth;
    }

    void settle() {
        if (lost_) registrations_.everything(now_);
        lost_ = false;
        pass(25s);
        check();
        // The same for a table that is emptied: nothing is left behind.
        registrations_.reset({});
        table_ = {};
        drain();
        check();
        pass(2h, 5s);
        EXPECT_EQ(registrations_.figures().withdrawals, 0U);
        EXPECT_EQ(registrations_.figures().names, 0U);
        EXPECT_EQ(registrations_.figures().endpoints, 0U);
        EXPECT_EQ(registrations_.figures().pairs, 0U);
        EXPECT_EQ(registrations_.figures().texts, 0U);
    }

    SeededRandom random_;
    MonotonicTime now_{1000s};
    MonotonicTime fresh_until_{};
    Registrations registrations_{Settings{.max_names = 3}};
    RouterModel router_{{}};
    traffic::RoutingTable table_;
    bool lost_ = false;
    int step_ = 0;
};

TEST(RegistrationsPropertyTest, TheRouterLacksNothingThatIsLive) {
    for (std::uint64_t seed = 1; seed <= 150 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        World(seed).run(80);
    }
}

}  // namespace

}  // namespace fairlead::proxy::gorouter
