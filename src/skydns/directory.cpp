#include "skydns/directory.h"

#include <algorithm>

namespace fairlead::skydns {

namespace {

const std::vector<Service>& nothing() {
    static const std::vector<Service> none;
    return none;
}

}  // namespace

Changed Directory::put(const lrp::ProcessKey& process, std::vector<Service> services) {
    Changed changed;
    const auto found = services_.find(process);
    const auto& before = found == services_.end() ? nothing() : found->second;
    if (before == services) return changed;
    std::map<std::string, Service> held;
    for (const auto& service : before) held.emplace(service.name(), service);
    for (const auto& service : services) {
        const auto old = held.find(service.name());
        if (old != held.end() && old->second == service) {
            held.erase(old);
            continue;
        }
        changed.come.push_back(service);
        changed.hosts.insert(service.host);
    }
    for (const auto& [name, service] : held) {
        changed.gone.push_back(service);
        changed.hosts.insert(service.host);
    }
    for (const auto& host : changed.hosts) {
        const HostKey key{process.scope, path_of(host)};
        std::vector<Service> here;
        std::copy_if(services.begin(), services.end(), std::back_inserter(here),
                     [&](const auto& service) { return service.host == host; });
        auto& owners = tree_[key];
        if (here.empty()) {
            owners.erase(process);
        } else {
            owners[process] = std::move(here);
        }
        if (owners.empty()) tree_.erase(key);
    }
    size_ = size_ - before.size() + services.size();
    if (services.empty()) {
        services_.erase(process);
    } else {
        services_[process] = std::move(services);
    }
    return changed;
}

std::vector<Service> Directory::at(const std::string& scope, std::string_view host) const {
    std::vector<Service> found;
    const auto owners = tree_.find(HostKey{scope, path_of(host)});
    if (owners == tree_.end()) return found;
    for (const auto& [process, services] : owners->second) found.insert(found.end(), services.begin(), services.end());
    return found;
}

std::vector<Service> Directory::below(const std::string& scope, std::string_view name, std::size_t most) const {
    std::vector<Service> found;
    const auto path = path_of(name);
    for (auto at = tree_.lower_bound(HostKey{scope, path}); at != tree_.end(); ++at) {
        if (at->first.first != scope || !at->first.second.starts_with(path)) break;
        for (const auto& [process, services] : at->second) {
            for (const auto& service : services) {
                if (found.size() == most) return found;
                found.push_back(service);
            }
        }
    }
    return found;
}

std::vector<lrp::ProcessKey> Directory::processes(const std::string& scope, std::string_view name,
                                                  std::size_t most) const {
    std::set<lrp::ProcessKey> found;
    const auto path = path_of(name);
    for (auto at = tree_.lower_bound(HostKey{scope, path}); at != tree_.end(); ++at) {
        if (at->first.first != scope || !at->first.second.starts_with(path)) break;
        for (const auto& [process, services] : at->second) {
            found.insert(process);
            if (found.size() == most) return {found.begin(), found.end()};
        }
    }
    return {found.begin(), found.end()};
}

const std::vector<Service>& Directory::of(const lrp::ProcessKey& process) const {
    const auto found = services_.find(process);
    return found == services_.end() ? nothing() : found->second;
}

std::vector<std::string> Directory::hosts(const std::string& scope) const {
    std::vector<std::string> hosts;
    for (auto at = tree_.lower_bound(HostKey{scope, {}}); at != tree_.end() && at->first.first == scope; ++at) {
        hosts.push_back(at->second.begin()->second.front().host);
    }
    return hosts;
}

}  // namespace fairlead::skydns
