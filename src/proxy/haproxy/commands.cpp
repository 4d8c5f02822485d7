#include "proxy/haproxy/commands.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::proxy::haproxy {

namespace {

std::string_view word(Admin admin) {
    switch (admin) {
        case Admin::ready:
            return "ready";
        case Admin::drain:
            return "drain";
        case Admin::maint:
            return "maint";
    }
    return {};
}

void server_work(const std::string& name, const Server& held, const Server& wanted, std::vector<Command>& out) {
    if (wanted.admin == Admin::maint) {
        // Nobody gets there: the address can wait until somebody should.
        if (held.admin != Admin::maint) out.push_back({fmt::format("set server {} state maint", name)});
        return;
    }
    if (held.address != wanted.address || held.port != wanted.port) {
        out.push_back(
            {fmt::format("set server {} addr {} port {}", name, wanted.address, wanted.port), Expect::address});
    }
    if (held.weight != wanted.weight) out.push_back({fmt::format("set server {} weight {}", name, wanted.weight)});
    if (held.admin != wanted.admin) out.push_back({fmt::format("set server {} state {}", name, word(wanted.admin))});
}

void backend_work(const std::string& backend, const Image& held, const Image& wanted,
                  const std::vector<PoolClass>& classes, Work& out) {
    const auto want = wanted.backends.find(backend);
    const auto have = held.backends.find(backend);
    if (want == wanted.backends.end()) return;
    // A backend that is not there yet comes with the reload that makes it.
    if (have == held.backends.end()) return;
    const auto place = parse_backend(backend);
    const bool can_add = place && place->first < classes.size() && can_add_servers(classes[place->first].key);
    for (std::size_t i = 0; i < want->second.size(); ++i) {
        const auto name = fmt::format("{}/s{}", backend, i + 1);
        if (i < have->second.size()) {
            server_work(name, have->second[i], want->second[i], out.servers);
        } else if (want->second[i].admin == Admin::maint) {
            continue;
        } else if (!can_add) {
            out.slots = true;
        } else {
            // Made at the address of a free slot, because only a change of the address computes its cookie.
            out.servers.push_back({fmt::format("add server {} 127.0.0.1:1 weight 1{}", name,
                                               plain_server_options(classes[place->first].key)),
                                   Expect::registered});
            server_work(name, Server{}, want->second[i], out.servers);
        }
    }
    for (auto i = want->second.size(); i < have->second.size(); ++i) {
        server_work(fmt::format("{}/s{}", backend, i + 1), have->second[i], Server{}, out.servers);
    }
}

void map_work(MapFile file, const Image& held, const Image& wanted, const std::set<std::string>& keys,
              std::string_view directory, Work& out) {
    std::vector<Command> adds, changes;
    const auto path = escape(fmt::format("{}/{}", directory, file_name(file)));
    for (const auto& key : keys) {
        const auto have = held.map(file).find(key);
        const auto want = wanted.map(file).find(key);
        const bool had = have != held.map(file).end();
        if (want == wanted.map(file).end()) {
            if (had) changes.push_back({fmt::format("del map {} {}", path, escape(key)), Expect::removal});
        } else if (!had) {
            adds.push_back({fmt::format("add map {} {} {}", path, escape(key), escape(want->second))});
        } else if (have->second != want->second) {
            changes.push_back({fmt::format("set map {} {} {}", path, escape(key), escape(want->second))});
        }
    }
    if (changes.size() >= replace_from) {
        out.replace.push_back(file);
        return;
    }
    out.names.insert(out.names.end(), adds.begin(), adds.end());
    out.names.insert(out.names.end(), changes.begin(), changes.end());
}

void pem_work(const std::map<std::string, std::string>& held, const std::map<std::string, std::string>& wanted,
              const std::set<std::string>& names, std::vector<PemChange>& out) {
    for (const auto& name : names) {
        const auto have = held.find(name);
        const auto want = wanted.find(name);
        if (want == wanted.end()) {
            if (have != held.end()) out.push_back({.name = name, .remove = true});
        } else if (have == held.end() || have->second != sha256_hex(want->second)) {
            out.push_back({.name = name, .add = have == held.end()});
        }
    }
}

template <class Value, class Convert>
void copy(std::map<std::string, Value>& held, const std::map<std::string, Value>& wanted,
          const std::set<std::string>& keys, Convert convert) {
    for (const auto& key : keys) {
        if (const auto want = wanted.find(key); want != wanted.end()) {
            held.insert_or_assign(key, convert(want->second));
        } else {
            held.erase(key);
        }
    }
}

}  // namespace

std::string escape(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (c == '\\' || c == ';' || c == ' ') out += '\\';
        out += c;
    }
    return out;
}

bool good_answer(Expect expect, std::string_view answer) {
    const auto text = trim(answer);
    switch (expect) {
        case Expect::nothing:
            return text.empty();
        case Expect::address:
            return text.find("changed from") != std::string_view::npos || text.starts_with("no need to change");
        case Expect::registered:
            return text == "New server registered.";
        case Expect::removal:
            return text.empty() || text == "Key not found.";
    }
    return false;
}

bool Work::empty() const { return size() == 0 && !slots; }

std::size_t Work::size() const {
    return servers.size() + certificates.size() + authorities.size() + names.size() + replace.size();
}

Work work(const Image& held, const Image& wanted, const Touched& touched, const std::vector<PoolClass>& classes,
          std::string_view directory) {
    Work out;
    for (const auto& backend : touched.backends) backend_work(backend, held, wanted, classes, out);
    pem_work(held.certificates, wanted.certificates, touched.certificates, out.certificates);
    pem_work(held.authorities, wanted.authorities, touched.authorities, out.authorities);
    // A backend without a pool has no use for a CA: whichever it has (at first one that trusts nobody) may stay.
    std::erase_if(out.authorities, [](const PemChange& change) { return change.remove; });
    // Paths before hosts: a host is flagged when its paths are there. What goes away goes in the same order: a request
    // in between falls back to the host's own rule.
    for (const auto file : {MapFile::exact_paths, MapFile::paths, MapFile::wildcard_paths, MapFile::hosts,
                            MapFile::wildcards, MapFile::ports}) {
        map_work(file, held, wanted, touched.maps.at(static_cast<std::size_t>(file)), directory, out);
    }
    return out;
}

void follow(Image& held, const Image& wanted, const Touched& touched) {
    for (const auto& backend : touched.backends) {
        const auto want = wanted.backends.find(backend);
        const auto have = held.backends.find(backend);
        if (want == wanted.backends.end() || have == held.backends.end()) continue;
        auto& slots = have->second;
        for (std::size_t i = 0; i < want->second.size(); ++i) {
            const auto& server = want->second[i];
            if (i >= slots.size()) {
                if (server.admin == Admin::maint) continue;
                slots.resize(i + 1);
            }
            if (server.admin == Admin::maint) {
                slots[i].admin = Admin::maint;  // the address stays what it was
            } else {
                slots[i] = server;
            }
        }
        for (auto i = want->second.size(); i < slots.size(); ++i) slots[i].admin = Admin::maint;
    }
    const auto same = [](const std::string& value) { return value; };
    const auto digest = [](const std::string& pem) { return sha256_hex(pem); };
    for (std::size_t i = 0; i < map_files; ++i) copy(held.maps.at(i), wanted.maps.at(i), touched.maps.at(i), same);
    copy(held.certificates, wanted.certificates, touched.certificates, digest);
    copy(held.authorities, wanted.authorities, touched.authorities, digest);
}

}  // namespace fairlead::proxy::haproxy
