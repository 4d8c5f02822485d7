#include "gateway/cluster_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "dns/address.h"
#include "dns/name.h"

namespace fairlead::gateway {

namespace {

constexpr std::string_view plain_ip = "IPAddress";
constexpr std::string_view plain_hostname = "Hostname";

class Reader {
public:
    explicit Reader(const resource::Gateway& gateway) : gateway_(gateway) {}

    GatewayState read() {
        const auto& addresses = gateway_.status.addresses;
        state_.multi_cluster = std::any_of(addresses.begin(), addresses.end(), [](const auto& address) {
            return address.type == multi_cluster_ip || address.type == multi_cluster_hostname;
        });
        if (!state_.multi_cluster && addresses.empty()) state_.multi_cluster = any_cluster_listener();
        for (const auto& address : addresses) read_address(address);
        for (const auto& listener : gateway_.status.listeners) read_listener(listener);
        for (auto& [name, cluster] : clusters_) {
            tidy(cluster.addresses);
            tidy(cluster.hostnames);
            state_.clusters.push_back(std::move(cluster));
        }
        return std::move(state_);
    }

private:
    [[nodiscard]] bool is_listener(std::string_view name) const {
        const auto& listeners = gateway_.spec.listeners;
        return std::any_of(listeners.begin(), listeners.end(), [&](const auto& each) { return each.name == name; });
    }
    [[nodiscard]] bool any_cluster_listener() const {
        const auto& listeners = gateway_.status.listeners;
        return std::any_of(listeners.begin(), listeners.end(),
                           [&](const auto& each) { return !is_listener(each.name) && split_listener(each.name); });
    }
    ClusterState& cluster(std::string_view name) {
        auto& state = clusters_[std::string(name)];
        state.name = name;
        return state;
    }
    static void tidy(std::vector<std::string>& list) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    void complain(const resource::GatewayAddress& address, std::string_view why) {
        state_.problems.push_back(fmt::format("status.addresses: {} {}: {}", address.type, address.value, why));
    }

    void read_address(const resource::GatewayAddress& address) {
        const bool over_clusters = address.type == multi_cluster_ip || address.type == multi_cluster_hostname;
        const bool plain = address.type.empty() || address.type == plain_ip || address.type == plain_hostname;
        if (!over_clusters && !plain) return;  // somebody's own
        if (over_clusters != state_.multi_cluster) {
            return complain(address, "beside addresses of several clusters it is nobody's");
        }
        std::string_view owner = gateway_.metadata.name;
        std::string_view value = address.value;
        if (over_clusters) {
            const auto slash = value.find('/');
            if (slash == std::string_view::npos || slash == 0 || slash + 1 == value.size()) {
                return complain(address, "must be cluster/address");
            }
            owner = value.substr(0, slash);
            value = value.substr(slash + 1);
        }
        if (address.type == multi_cluster_hostname || address.type == plain_hostname) {
            const auto name = dns::Name::parse(value);
            if (!name || name->is_root() || dns::Address::parse(value)) {
                return complain(address, "must be a host name");
            }
            cluster(owner).hostnames.push_back(name->host());
        } else {
            const auto parsed = dns::Address::parse(value);
            if (!parsed) return complain(address, parsed.error().text());
            cluster(owner).addresses.push_back(parsed->text());
        }
    }

    // The longest listener that the name ends with: names of clusters and of listeners may have dots in them.
    [[nodiscard]] std::optional<std::pair<std::string, std::string>> split_listener(std::string_view name) const {
        std::string_view best;
        for (const auto& listener : gateway_.spec.listeners) {
            const auto suffix = "." + listener.name;
            if (name.size() > suffix.size() && name.ends_with(suffix) && listener.name.size() > best.size())
                best = listener.name;
        }
        if (best.empty()) return std::nullopt;
        return std::pair(std::string(name.substr(0, name.size() - best.size() - 1)), std::string(best));
    }

    void read_listener(const resource::ListenerStatus& status) {
        ClusterListener listener;
        listener.attached_routes = status.attached_routes;
        const auto programmed = std::find_if(status.conditions.begin(), status.conditions.end(),
                                             [](const auto& each) { return each.type == "Programmed"; });
        listener.programmed = programmed == status.conditions.end() || programmed->status == "True";
        if (!state_.multi_cluster) {
            if (is_listener(status.name)) cluster(gateway_.metadata.name).listeners[status.name] = listener;
            return;
        }
        // What is left from a listener that is gone from the spec means nothing.
        if (const auto parts = split_listener(status.name)) cluster(parts->first).listeners[parts->second] = listener;
    }

    const resource::Gateway& gateway_;
    GatewayState state_;
    std::map<std::string, ClusterState> clusters_;
};

}  // namespace

GatewayState read_state(const resource::Gateway& gateway) { return Reader(gateway).read(); }

}  // namespace fairlead::gateway
