// Which services are at or below a name: SkyDNS's tree in memory, in the order of its keys, so that a subtree is one
// range. Scopes (namespaces) are trees of their own. A value; the controller keeps it on the manager's thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skydns/service.h"

namespace fairlead::skydns {

// What a change of one process came to.
struct Changed {
    std::vector<Service> gone, come;  // a service that says something else now is in both
    std::set<std::string> hosts;      // where that was
};

class Directory {
public:
    // What the process has from now on; none: it is gone.
    Changed put(const lrp::ProcessKey& process, std::vector<Service> services);

    // Of this host alone, of all processes.
    [[nodiscard]] std::vector<Service> at(const std::string& scope, std::string_view host) const;
    // At the name and below, at most `most`, in the order of the tree.
    [[nodiscard]] std::vector<Service> below(const std::string& scope, std::string_view name, std::size_t most) const;
    // Whose they are, in order, at most `most`.
    [[nodiscard]] std::vector<lrp::ProcessKey> processes(const std::string& scope, std::string_view name,
                                                         std::size_t most) const;
    [[nodiscard]] const std::vector<Service>& of(const lrp::ProcessKey& process) const;
    // Hosts of a scope that have services.
    [[nodiscard]] std::vector<std::string> hosts(const std::string& scope) const;
    // Every service there is: visit(process, service).
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& [process, services] : services_) {
            for (const auto& service : services) visit(process, service);
        }
    }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    using HostKey = std::pair<std::string, std::string>;  // scope and path
    std::map<lrp::ProcessKey, std::vector<Service>> services_;
    std::map<HostKey, std::map<lrp::ProcessKey, std::vector<Service>>> tree_;
    std::size_t size_ = 0;
};

}  // namespace fairlead::skydns
