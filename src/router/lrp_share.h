// The share of LRPs in a router's table: a part per name ("lrp/foo.com/path") and per leased port
// ("lrp-port/tcp/62312"), made anew when anything that it stands on changes. Used by the agent, on its thread.
//
// Routes come first. A name is not served while a Route has the same host and path; nor, as among Routes, while a Route
// of another namespace has the host, or a wildcard above it, unless the Router is InterNamespaceAllowed; nor while a
// Route passes TLS of the host through unopened. It is served as soon as that Route goes, in the same change.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/metrics.h"
#include "lrp/front.h"
#include "resource/kinds/secret.h"
#include "router/certificate_memory.h"
#include "router/lrp_source.h"
#include "router/member_checks.h"
#include "traffic/union.h"

namespace fairlead::router {

class LrpShare {
public:
    LrpShare(LrpSource& source, traffic::Union& table, MemberChecks& checks,
             std::function<const resource::Secret*(std::string_view key)> secret, Log& log, Metrics& metrics);
    LrpShare(const LrpShare&) = delete;
    LrpShare& operator=(const LrpShare&) = delete;

    // What has to be looked at again: members that checks judge otherwise now (false: the key is not one of ours), and
    // names that use a Secret.
    bool touch_check(const std::string& key);
    void touch_secret(const std::string& key);
    // Whether the namespace of a Route has the Route's host with all its paths.
    void set_strict(bool strict);

    // Takes in what has changed since: of LRPs, and by what Routes have just changed in the table.
    traffic::TableDiff follow(const traffic::TableDiff& by_routes, WallTime now);

    // Of all owners in the table, how many are ours.
    [[nodiscard]] std::size_t owners() const { return names_served_ + ports_served_; }
    static bool owns(std::string_view owner) { return owner.starts_with("lrp/") || owner.starts_with("lrp-port/"); }
    // What is wrong, for people, with what the proxy says of its owners; empty: nothing.
    [[nodiscard]] std::string problem(const std::map<std::string, std::string>& of_proxy) const;
    // The same by DesiredLRP, "namespace/name": at most so many. Of an LRP that has several, the reason is one that its
    // owner can mend, if there is one.
    [[nodiscard]] std::map<std::string, route::Problem> by_lrp(const std::map<std::string, std::string>& of_proxy,
                                                               std::size_t most) const;
    // Brings the metrics up to date.
    void show(const std::map<std::string, std::string>& of_proxy);

private:
    struct Made {
        route::Part part{};
        std::string secret{};  // that it uses
    };
    struct ProblemCount {
        std::size_t count = 0;
        std::string first;  // owner
    };

    [[nodiscard]] std::set<traffic::RuleKey> names_to_make(const std::vector<lrp::ProcessKey>& processes,
                                                           const traffic::TableDiff& by_routes);
    void remake(const traffic::RuleKey& name, WallTime now, traffic::TableDiff& change);
    void remake(const traffic::PortKey& port, traffic::TableDiff& change);
    [[nodiscard]] Made make(const traffic::RuleKey& name, WallTime now);
    [[nodiscard]] route::Part make(const traffic::PortKey& port) const;
    [[nodiscard]] const LrpSettings& settings(const traffic::RuleKey& name) const;
    void end_tls(const LrpSettings& settings, const traffic::RuleKey& name, WallTime now, route::Part& part);
    // The Route because of which the name is not served; empty: none.
    [[nodiscard]] std::string loses_to(const traffic::RuleKey& name) const;
    void set(const std::string& owner, const std::string& check, route::Part part, std::size_t& served,
             traffic::TableDiff& change);
    void use_secret(const traffic::RuleKey& name, const std::string& secret);
    void tell_problems(const std::string& owner, std::vector<route::Problem> problems);
    // Of a name or port.
    [[nodiscard]] std::vector<lrp::ProcessKey> processes_of(std::string_view owner) const;
    [[nodiscard]] ProblemCount count(const std::map<std::string, std::string>& of_proxy) const;

    LrpSource& source_;
    traffic::Union& table_;
    MemberChecks& checks_;
    std::function<const resource::Secret*(std::string_view)> secret_;
    Log& log_;
    lrp::Front front_;
    bool strict_ = true;
    std::set<traffic::RuleKey> names_;  // that processes ask for here
    std::size_t names_served_ = 0, ports_served_ = 0;
    std::map<traffic::RuleKey, std::string> lost_;                 // name -> the Route that has it
    std::map<std::string, std::vector<route::Problem>> problems_;  // by owner, none empty
    std::map<std::string, std::set<traffic::RuleKey>> by_secret_;
    std::map<traffic::RuleKey, std::string> secret_of_;
    std::set<traffic::RuleKey> touched_;
    std::set<traffic::PortKey> touched_ports_;
    CertificateMemory certificates_;
    std::size_t lines_left_ = 0;  // of the log, in this step
    Counter changes_;
    Gauge names_gauge_, ports_gauge_, lost_gauge_, problem_gauge_, collision_gauge_;
};

}  // namespace fairlead::router
