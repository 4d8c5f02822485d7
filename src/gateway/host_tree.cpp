#include "gateway/host_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "dns/address.h"
#include "dns/name.h"
#include "gateway/guid.h"

namespace fairlead::gateway {

namespace {

constexpr std::int64_t usual_cname_ttl = 300;
constexpr std::int64_t usual_address_ttl = 60;

using resource::DnsEndpoint;

// Clusters of one place.
struct Group {
    std::string label;  // of the name
    std::string given;  // the code, as the first cluster has it
    dns::GeoCode code;
    std::vector<const Member*> members;
};

// The oldest, ties by name; an age that is not known is younger than all.
bool older(const Member& a, const Member& b) {
    return std::tuple(a.created.empty(), std::string_view(a.created), std::string_view(a.cluster)) <
           std::tuple(b.created.empty(), std::string_view(b.created), std::string_view(b.cluster));
}

class Builder {
public:
    explicit Builder(const HostInput& input)
        : input_(input),
          cname_ttl_(input.input.policy.ttl ? input.input.policy.ttl->cname.value_or(usual_cname_ttl)
                                            : usual_cname_ttl),
          address_ttl_(input.input.policy.ttl ? input.input.policy.ttl->address.value_or(usual_address_ttl)
                                              : usual_address_ttl) {}

    BuiltHost build() {
        fresh_ = anything_fresh_works();
        built_.tree.host = input_.host;
        built_.tree.listeners = input_.listeners;
        built_.tree.apex = input_.apex;
        if (input_.apex) {
            add_apex();
        } else if (input_.input.policy.routing_strategy == "simple") {
            add_simple();
        } else {
            add_balanced();
        }
        finish();
        return std::move(built_);
    }

private:
    void complain(TreeProblem::Kind kind, const std::string& why) {
        built_.problems.push_back({kind, input_.host, fmt::format("{}: {}", input_.host, why)});
    }
    DnsEndpoint& add(const std::string& name, std::string_view type, std::int64_t ttl,
                     std::vector<std::string> targets) {
        DnsEndpoint endpoint;
        endpoint.dns_name = name;
        endpoint.record_type = type;
        endpoint.record_ttl = ttl;
        endpoint.targets = std::move(targets);
        built_.tree.endpoints.push_back(std::move(endpoint));
        return built_.tree.endpoints.back();
    }
    // A and AAAA, as far as there are some.
    void add_addresses(const std::string& name, const std::vector<std::string>& texts) {
        std::vector<std::string> four;
        std::vector<std::string> six;
        for (const auto& text : texts) (text.find(':') == std::string::npos ? four : six).push_back(text);
        if (!four.empty()) add(name, "A", address_ttl_, std::move(four));
        if (!six.empty()) add(name, "AAAA", address_ttl_, std::move(six));
    }

    // By its check alone.
    [[nodiscard]] bool answers(const Member& member, const std::string& address) const {
        const auto& asked = input_.input.around.works;
        return !asked || asked(input_.host, member.cluster, address);
    }
    // What is not heard of counts as down; but where nothing else works it is the checks that decide, so that losing
    // the way to the clusters' APIs does not bring back what is known to be dead.
    [[nodiscard]] bool works(const Member& member, const std::string& address) const {
        return (!member.stale || !fresh_) && answers(member, address);
    }
    [[nodiscard]] bool anything_fresh_works() const {
        return std::any_of(input_.members.begin(), input_.members.end(), [&](const Member& member) {
            const auto& texts = member.addresses.empty() ? member.hostnames : member.addresses;
            return !member.stale &&
                   std::any_of(texts.begin(), texts.end(), [&](const auto& text) { return answers(member, text); });
        });
    }
    [[nodiscard]] bool works(const Member& member) const {
        const auto& texts = member.addresses.empty() ? member.hostnames : member.addresses;
        return std::any_of(texts.begin(), texts.end(), [&](const auto& text) { return works(member, text); });
    }
    // A target counts as down when it works for nobody that has it.
    void note(const std::string& target, bool good) {
        auto& known = targets_.try_emplace(target, false).first->second;
        known = known || good;
    }
    // A CNAME has one target: the first host name that works.
    const std::string& best_hostname(const Member& member) {
        const auto working = std::find_if(member.hostnames.begin(), member.hostnames.end(),
                                          [&](const auto& each) { return works(member, each); });
        return working == member.hostnames.end() ? member.hostnames.front() : *working;
    }

    void complain_of(const std::string& hostname, const std::string& cluster) {
        const auto& ask = input_.input.around.why_unknown;
        const auto why = ask ? ask(hostname) : std::string();
        complain(TreeProblem::Kind::no_address, fmt::format("the addresses behind {} (cluster {}) are not known{}{}",
                                                            hostname, cluster, why.empty() ? " yet" : ": ", why));
    }

    // The addresses of clusters that have some; of the others, if `also_hostnames`, those behind their host names.
    std::vector<std::string> plain_addresses(bool also_hostnames) {
        std::vector<std::string> texts;
        const auto take = [&](const std::string& text, bool good) {
            texts.push_back(text);
            note(text, good);
        };
        for (const auto& member : input_.members) {
            for (const auto& address : member.addresses) take(address, works(member, address));
            if (!member.addresses.empty() || !also_hostnames) continue;
            for (const auto& hostname : member.hostnames) {
                built_.lookups.insert(hostname);
                const auto& ask = input_.input.around.addresses_of;
                const auto answer = ask ? ask(hostname) : std::nullopt;
                const auto behind = answer.value_or(std::vector<std::string>());
                built_.waiting = built_.waiting || !answer;
                if (behind.empty()) complain_of(hostname, member.cluster);
                for (const auto& address : behind) take(address, works(member, hostname));
            }
        }
        std::sort(texts.begin(), texts.end());
        texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
        built_.waiting = built_.waiting || texts.empty();
        return texts;
    }

    void add_apex() {
        const bool any_address = std::any_of(input_.members.begin(), input_.members.end(),
                                             [](const auto& member) { return !member.addresses.empty(); });
        add_addresses(input_.host, plain_addresses(!any_address));
    }

    void add_simple() {
        const auto& members = input_.members;
        if (members.size() == 1 && members.front().addresses.empty()) {
            const auto& target = best_hostname(members.front());
            note(target, works(members.front(), target));
            add(input_.host, "CNAME", cname_ttl_, {target});
            return;
        }
        add_addresses(input_.host, plain_addresses(true));
    }

    std::vector<Group> groups() {
        std::map<dns::GeoCode, Group> by_code;
        for (const auto& member : input_.members) {
            if (!member.geo) continue;
            auto& group = by_code[member.geo->code];
            if (group.members.empty()) {
                group.label = member.geo->label;
                group.given = member.geo->given;
                group.code = member.geo->code;
            }
            group.members.push_back(&member);
        }
        std::vector<Group> list;
        list.reserve(by_code.size());
        for (auto& [code, group] : by_code) list.push_back(std::move(group));
        std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.label < b.label; });
        return list;
    }
    [[nodiscard]] bool works(const Group& group) const {
        return std::any_of(group.members.begin(), group.members.end(), [&](const auto* each) { return works(*each); });
    }
    // The group of the oldest cluster among those that count.
    template <class Counts>
    const Group* oldest(const std::vector<Group>& groups, Counts counts) const {
        const Group* best = nullptr;
        const Member* best_member = nullptr;
        for (const auto& group : groups) {
            if (!counts(group)) continue;
            for (const auto* member : group.members) {
                if (best_member != nullptr && !older(*member, *best_member)) continue;
                best = &group;
                best_member = member;
            }
        }
        return best;
    }
    const Group& default_group(const std::vector<Group>& groups) {
        const auto& wish = input_.input.policy.load_balancing->geo->default_geo;
        const auto wanted = parse_geo(wish);
        const auto found = std::find_if(groups.begin(), groups.end(),
                                        [&](const auto& each) { return wanted && each.code == wanted->code; });
        const Group* chosen = found == groups.end() ? nullptr : &*found;
        if (chosen == nullptr) {
            chosen = oldest(groups, [](const Group&) { return true; });
            complain(TreeProblem::Kind::default_geo,
                     wanted ? fmt::format("no cluster is in the default place {}: {}, where the oldest cluster is, "
                                          "answers everybody else",
                                          wish, chosen->given)
                            : fmt::format("spec.loadBalancing.geo.defaultGeo: {}: {}, where the oldest cluster is, "
                                          "answers everybody else",
                                          wanted.error().message, chosen->given));
        }
        if (works(*chosen)) return *chosen;
        const auto* other = oldest(groups, [&](const Group& group) { return works(group); });
        if (other == nullptr) return *chosen;
        complain(TreeProblem::Kind::default_down,
                 fmt::format("no cluster in the default place {} works: {} answers everybody else meanwhile",
                             chosen->given, other->given));
        return *other;
    }

    void add_balanced() {
        add(input_.host, "CNAME", cname_ttl_, {input_.lb});
        const auto default_name = fmt::format("default.{}", input_.lb);
        const auto list = groups();
        std::string rest = default_name;  // where everybody else goes
        for (const auto& group : list) {
            auto& endpoint = add(input_.lb, "CNAME", cname_ttl_, {fmt::format("{}.{}", group.label, input_.lb)});
            endpoint.set_identifier = group.given;
            for (auto& property : geo_properties(group.code))
                endpoint.provider_specific.push_back({std::move(property.name), std::move(property.value)});
        }
        if (!list.empty()) {
            const auto& chosen = default_group(list);
            rest = fmt::format("{}.{}", chosen.label, input_.lb);
            built_.tree.default_geo = chosen.given;
        }
        const auto& gateway = input_.input.gateway.metadata;
        auto& catch_all = add(input_.lb, "CNAME", cname_ttl_, {rest});
        catch_all.set_identifier = fmt::format("{}-{}", gateway.name, gateway.namespace_);
        // Gateway us in namespace ca, and a cluster in us-ca.
        const bool clashes = std::any_of(list.begin(), list.end(), [&](const auto& group) {
            return equal_ignoring_case(group.given, catch_all.set_identifier);
        });
        if (clashes) catch_all.set_identifier += "-default";
        for (auto& property : geo_properties({}))
            catch_all.provider_specific.push_back({std::move(property.name), std::move(property.value)});

        std::vector<const Member*> all;
        all.reserve(input_.members.size());
        for (const auto& member : input_.members) all.push_back(&member);
        std::set<const Member*> placed;
        for (const auto& group : list) {
            add_weighted(fmt::format("{}.{}", group.label, input_.lb), group.members);
            placed.insert(group.members.begin(), group.members.end());
        }
        // Clients may still have the name from before there were places.
        if (list.empty() || input_.input.around.with_default.contains(input_.host)) {
            add_weighted(default_name, all);
            placed.insert(all.begin(), all.end());
        }
        for (const auto& member : input_.members) {
            if (placed.contains(&member)) add_leaf(member);
        }
    }
    [[nodiscard]] std::string leaf(const Member& member) const {
        return fmt::format("{}.{}", short_guid(member.cluster), input_.lb);
    }
    void add_weighted(const std::string& name, const std::vector<const Member*>& members) {
        for (const auto* member : members) {
            auto& endpoint =
                add(name, "CNAME", cname_ttl_, {member->addresses.empty() ? best_hostname(*member) : leaf(*member)});
            endpoint.set_identifier = member->cluster;
            endpoint.provider_specific.push_back({"weight", std::to_string(member->weight)});
        }
    }
    void add_leaf(const Member& member) {
        if (member.addresses.empty()) {
            const auto& target = best_hostname(member);
            note(target, works(member, target));
            return;
        }
        for (const auto& address : member.addresses) note(address, works(member, address));
        add_addresses(leaf(member), member.addresses);
    }

    void finish() {
        auto& tree = built_.tree;
        for (const auto& member : input_.members) {
            tree.members.push_back(
                {member.cluster, member.geo ? member.geo->given : std::string(), member.weight, member.addresses,
                 member.addresses.empty() ? member.hostnames : std::vector<std::string>(), member.stale});
        }
        for (const auto& [target, good] : targets_) {
            if (!good) tree.unhealthy.push_back(target);
        }
        for (const auto& endpoint : tree.endpoints) {
            const auto name = dns::Name::parse(endpoint.dns_name);
            if (name) continue;
            complain(TreeProblem::Kind::too_long,
                     fmt::format("{} cannot be a name: {}", endpoint.dns_name, name.error().text()));
            tree.endpoints.clear();
            return;
        }
    }

    const HostInput& input_;
    const std::int64_t cname_ttl_, address_ttl_;
    BuiltHost built_;
    bool fresh_ = true;                    // a cluster that is heard of works
    std::map<std::string, bool> targets_;  // whether each works for somebody
};

}  // namespace

BuiltHost build_host(const HostInput& input) { return Builder(input).build(); }

}  // namespace fairlead::gateway
