#include "proxy/nginx/http_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>

#include "base/text.h"
#include "proxy/haproxy/entries.h"
#include "proxy/haproxy/pem.h"
#include "proxy/members.h"
#include "proxy/names.h"
#include "proxy/problems.h"

namespace fairlead::proxy::nginx {

namespace {

using Out = std::back_insert_iterator<std::string>;
using traffic::Rule;
using traffic::RuleKey;

// Names of hosts have at most 253 bytes; a place in the hash has a pointer and a length beside.
constexpr std::size_t name_hash_bucket = 512;
constexpr std::size_t least_name_hash = 1024;
// Connections that each worker keeps to each pool.
constexpr int kept_connections = 32;

enum class Side { http, https };

// Locations of one server: by path as nginx sees it (decoded), and whether it is exact.
struct PathKey {
    std::string path;
    bool exact = false;
    auto operator<=>(const PathKey&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};
using Locations = std::map<PathKey, const Rule*>;  // null: nobody's, 404

// The rules of one host, with paths as nginx sees them.
using Layer = std::map<PathKey, const Rule*>;
using Group = std::pair<std::string, bool>;  // host, wildcard

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

std::string_view balance_line(traffic::Balance balance) {
    switch (balance) {
        case traffic::Balance::round_robin:
            return "";
        case traffic::Balance::least_connections:
            return "        least_conn;\n";
        case traffic::Balance::random:
            return "        random;\n";
        case traffic::Balance::source:
            return "        hash $remote_addr consistent;\n";
    }
    return {};
}

// Whether a path that is not exact covers the other: "/a" covers "/a" and "/a/b".
bool covers(std::string_view above, std::string_view path) {
    return above.empty() || path == above || (path.starts_with(above) && path[above.size()] == '/');
}

class Renderer {
public:
    Renderer(const HttpSettings& settings, const std::filesystem::path& directory, const traffic::RoutingTable& table,
             const std::set<std::string>& without)
        : settings_(settings), directory_(directory.string()), table_(table) {
        read_rules(without);
        read_certificates(without);
    }

    HttpConfig render() {
        std::set<std::string> pools;
        for (const auto& [group, layer] : layers_) {
            for (const auto& [path, rule] : layer) pools.insert(rule->pool);
        }
        common_section();
        for (const auto& pool : pools) upstream_section(pool);
        status_section();
        server_pair({"", false});
        for (const auto& group : groups_) {
            if (!group.first.empty()) server_pair(group);
        }
        config_.problems = problems_.texts();
        return std::move(config_);
    }

private:
    void problem(const std::string& owner, std::string text) { problems_.add(owner, std::move(text)); }

    void read_rules(const std::set<std::string>& without) {
        for (const auto& [key, rule] : table_.rules) {
            if (without.contains(rule.owner)) continue;
            if (const auto checked = haproxy::check(key); !checked) {
                problem(rule.owner, haproxy::problem_text(key, checked.error()));
                continue;
            }
            if (rule.tls == traffic::Tls::passthrough) {
                problem(rule.owner, fmt::format("{}: nginx does not pass TLS through here", rule_text(key)));
                continue;
            }
            // nginx compares what a request's path means, not how it is written.
            const auto path = percent_decode(key.path, false);
            const auto plain = [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; };
            if (!path || !std::all_of(path->begin(), path->end(), plain)) {
                problem(rule.owner, fmt::format("{}: nginx cannot compare such a path", rule_text(key)));
                continue;
            }
            const Group group{key.host, key.wildcard};
            groups_.insert(group);
            if (!layers_[group].try_emplace({*path, key.exact}, &rule).second) {
                problem(rule.owner, fmt::format("{}: to nginx another rule has the same path", rule_text(key)));
            }
        }
    }

    void read_certificates(const std::set<std::string>& without) {
        for (const auto& [host, certificate] : table_.certificates) {
            if (without.contains(certificate.owner)) continue;
            const bool wildcard = host.starts_with("*.");
            const RuleKey key{wildcard ? host.substr(2) : host, wildcard || host.empty(), ""};
            auto checked = haproxy::check(key);
            if (checked) checked = haproxy::check_certificate(certificate.pem);
            if (!checked) {
                problem(certificate.owner, "certificate: " + checked.error().text());
                continue;
            }
            certificates_[{key.host, wildcard}] = file_of(certificate.pem);
            groups_.emplace(key.host, wildcard);
        }
    }

    // Named after what is in it: another certificate is another text, and old workers keep theirs.
    std::string file_of(const std::string& pem) {
        auto name = fmt::format("{}.pem", sha256_hex(pem).substr(0, 32));
        config_.files.emplace(name, pem);
        return fmt::format("{}/{}", directory_, name);
    }

    [[nodiscard]] const Layer* layer(const Group& group) const {
        const auto found = layers_.find(group);
        return found != layers_.end() ? &found->second : nullptr;
    }

    // Whose rules count for requests that come to this server, in turn.
    [[nodiscard]] std::vector<const Layer*> layers_of(const Group& group) const {
        std::vector<const Layer*> found;
        const auto add = [&](const Group& one) {
            if (const auto* rules = layer(one)) found.push_back(rules);
        };
        if (!group.first.empty()) add(group);
        const auto dot = group.first.find('.');
        if (!group.second && dot != std::string::npos) add({group.first.substr(dot + 1), true});
        if (found.empty()) add({"", false});  // for hosts that have none of their own
        return found;
    }

    static Locations locations_of(const std::vector<const Layer*>& layers) {
        Locations all;
        for (const auto* layer : layers) {
            Locations more;
            for (const auto& [key, rule] : *layer) {
                // What has been said above it, by a path that covers it or the same exact one, counts.
                const bool taken = std::any_of(all.begin(), all.end(), [&key = key](const auto& known) {
                    return known.first.exact ? known.first == key : covers(known.first.path, key.path);
                });
                if (!taken) more.emplace(key, rule);
            }
            all.merge(more);
        }
        return all;
    }

    // The rule of the longest path that covers this one; null: none.
    static const Rule* covering(const Locations& locations, std::string_view path) {
        const Rule* found = nullptr;
        std::size_t longest = 0;
        for (const auto& [key, rule] : locations) {
            if (key.exact || !covers(key.path, path) || (found != nullptr && key.path.size() < longest)) continue;
            found = rule;
            longest = key.path.size();
        }
        return found;
    }

    void common_section() {
        std::size_t names = least_name_hash;
        names = std::max(names, std::bit_ceil(groups_.size() * 4));
        const auto out = Out(config_.text);
        fmt::format_to(out,
                       "    server_names_hash_bucket_size {};\n    server_names_hash_max_size {};\n"
                       "    server_tokens off;\n    default_type text/plain;\n    merge_slashes off;\n"
                       "    underscores_in_headers on;\n    client_max_body_size 0;\n"
                       "    large_client_header_buffers 4 16k;\n"
                       "    client_header_timeout 10s;\n    client_body_timeout {}ms;\n    send_timeout {}ms;\n"
                       "    keepalive_timeout {}ms;\n",
                       name_hash_bucket, names, settings_.client_timeout.count(), settings_.client_timeout.count(),
                       settings_.client_timeout.count());
        for (const auto* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
            fmt::format_to(out, "    {0}_temp_path {1}/tmp-{0};\n", kind, directory_);
        }
        fmt::format_to(
            out,
            "    ssl_protocols TLSv1.2 TLSv1.3;\n    ssl_session_cache shared:fairlead:4m;\n"
            "    map $http_upgrade $fairlead_connection {{\n        default upgrade;\n        \"\" \"\";\n    }}\n"
            "    map $http_host $fairlead_host {{\n        default $http_host;\n        \"\" $host;\n    }}\n"
            "    map $remote_addr $fairlead_for {{\n        default unknown;\n"
            "        ~^[0-9.]+$ $remote_addr;\n        ~: \"\\\"[$remote_addr]\\\"\";\n    }}\n"
            "    proxy_http_version 1.1;\n    proxy_request_buffering off;\n"
            "    proxy_max_temp_file_size 0;\n    proxy_buffer_size 16k;\n    proxy_buffers 8 16k;\n"
            "    proxy_connect_timeout {}ms;\n    proxy_read_timeout {}ms;\n    proxy_send_timeout {}ms;\n"
            "    proxy_next_upstream_tries 3;\n"
            "    proxy_set_header Host $fairlead_host;\n"
            "    proxy_set_header Upgrade $http_upgrade;\n"
            "    proxy_set_header Connection $fairlead_connection;\n"
            "    proxy_set_header Proxy \"\";\n"  // CGI programs take it for a setting (httpoxy)
            "    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n"
            "    proxy_set_header X-Forwarded-Proto $scheme;\n"
            "    proxy_set_header X-Forwarded-Port $server_port;\n"
            "    proxy_set_header X-Forwarded-Host $fairlead_host;\n"
            "    proxy_set_header Forwarded "
            "\"for=$fairlead_for;host=\\\"$fairlead_host\\\";proto=$scheme\";\n",
            settings_.connect_timeout.count(), settings_.server_timeout.count(), settings_.server_timeout.count());
        if (settings_.proxy_protocol) {
            fmt::format_to(out,
                           "    set_real_ip_from 0.0.0.0/0;\n    set_real_ip_from ::/0;\n"
                           "    real_ip_header proxy_protocol;\n");
        }
        if (settings_.access_log.empty()) {
            fmt::format_to(out, "    access_log off;\n");
        } else {
            fmt::format_to(out,
                           "    log_format fairlead '$remote_addr:$remote_port [$time_iso8601] $server_port "
                           "$upstream_addr $request_time $status $body_bytes_sent \"$request\" "
                           "route=$fairlead_route host=$host';\n"
                           "    access_log {} fairlead;\n",
                           in_quotes(settings_.access_log.string()));
        }
    }

    [[nodiscard]] const std::vector<traffic::Member>& members_of(const std::string& pool) {
        const auto known = members_.find(pool);
        if (known != members_.end()) return known->second;
        auto& members = members_[pool];
        const auto found = table_.pools.find(pool);
        if (found == table_.pools.end()) return members;
        std::string wrong;
        members = usable(found->second.members, wrong);
        if (wrong.empty() && !found->second.sticky_cookie.empty())
            wrong = "nginx has no sticky cookies: served without";
        if (wrong.empty() && found->second.proxy_protocol) {
            wrong = "nginx does not speak the PROXY protocol to members: X-Forwarded-For tells the client's address";
        }
        if (wrong.empty() && found->second.protocol != traffic::PoolProtocol::http) {
            wrong = fmt::format("pool {} is not for HTTP", pool);
            members.clear();
        }
        if (const auto& tls = found->second.tls; tls && !tls->ca_pem.empty()) {
            if (const auto checked = haproxy::check_authorities(tls->ca_pem); !checked) {
                wrong = checked.error().text();
                members.clear();  // whom to trust is not known
            }
        }
        if (!wrong.empty()) {
            for (const auto& [key, rule] : table_.rules) {
                if (rule.pool == pool) problem(rule.owner, wrong);
            }
        }
        std::erase_if(members, [](const auto& member) {
            return member.weight == 0 || member.state != traffic::MemberState::ready;
        });
        members = with_small_weights(found->second.balance, std::move(members));
        return members;
    }

    // Pools with the same members, reached in the same way, are one to nginx, and share its connections: a Service that
    // many Ingresses lead to is read once.
    void upstream_section(const std::string& pool) {
        const auto& members = members_of(pool);
        if (members.empty()) return;
        const auto& wanted = table_.pools.at(pool);
        auto lines = std::string(balance_line(wanted.balance));
        for (const auto& member : members) {
            const bool ipv6 = member.address.find(':') != std::string::npos;
            // Who is up is decided elsewhere.
            fmt::format_to(Out(lines), "        server {}{}{}:{} weight={} max_fails=0;\n", ipv6 ? "[" : "",
                           member.address, ipv6 ? "]" : "", member.port, member.weight);
        }
        // A kept connection is as trusted as the handshake that it began with.
        const auto trust = wanted.tls ? fmt::format("\n{}\n{}", wanted.tls->server_name, wanted.tls->ca_pem) : "";
        auto name = "p_" + sha256_hex(lines + trust).substr(0, 16);
        if (upstreams_written_.insert(name).second) {
            fmt::format_to(Out(config_.text), "    upstream {} {{\n{}        keepalive {};\n    }}\n", name, lines,
                           kept_connections);
        }
        upstreams_.emplace(pool, std::move(name));
    }

    void status_section() {
        if (settings_.status_listen.empty()) return;
        fmt::format_to(Out(config_.text),
                       "    server {{\n        listen {};\n        access_log off;\n"
                       "        location = /healthz {{\n            return 200 \"ok\\n\";\n        }}\n"
                       "        location / {{\n            return 404;\n        }}\n    }}\n",
                       settings_.status_listen);
    }

    void server_pair(const Group& group) {
        const auto layers = layers_of(group);
        const auto locations = locations_of(layers);
        server_section(group, locations, Side::http);
        // Without TLS anywhere it would be 404 as well, with the same certificate.
        const bool tls = std::any_of(layers.begin(), layers.end(), [](const Layer* layer) {
            return std::any_of(layer->begin(), layer->end(),
                               [](const auto& one) { return one.second->tls == traffic::Tls::terminate; });
        });
        if (tls || group.first.empty() || certificates_.contains(group)) server_section(group, locations, Side::https);
    }

    [[nodiscard]] std::string certificate_of(const Group& group) const {
        if (const auto own = certificates_.find(group); own != certificates_.end()) return own->second;
        const auto dot = group.first.find('.');
        if (!group.second && dot != std::string::npos) {
            const auto above = certificates_.find({group.first.substr(dot + 1), true});
            if (above != certificates_.end()) return above->second;
        }
        return directory_ + "/default.pem";
    }

    void server_section(const Group& group, const Locations& locations, Side side) {
        const auto& listens = side == Side::http ? settings_.http_listen : settings_.https_listen;
        if (listens.empty()) return;
        ++config_.servers;
        const auto out = Out(config_.text);
        fmt::format_to(out, "    server {{\n");
        for (const auto& listen : listens) {
            fmt::format_to(out, "        listen {}{}{}{};\n", listen, side == Side::https ? " ssl http2" : "",
                           settings_.proxy_protocol ? " proxy_protocol" : "",
                           group.first.empty() ? " default_server" : "");
        }
        fmt::format_to(out, "        server_name {};\n", server_name(group));
        if (side == Side::https) {
            fmt::format_to(out, "        ssl_certificate {0};\n        ssl_certificate_key {0};\n",
                           in_quotes(certificate_of(group)));
        }
        fmt::format_to(out, "        set $fairlead_route -;\n");
        for (const auto& [key, rule] : with_edges(locations)) location_section(key, rule, side);
        fmt::format_to(out, "    }}\n");
    }

    static std::string server_name(const Group& group) {
        if (group.first.empty()) return "_";
        if (!group.second) return group.first;
        std::string name = "~^[^.]+\\.";  // nginx's own wildcards cover any number of levels
        for (const char c : group.first) name += c == '.' ? std::string("\\.") : std::string(1, c);
        return name + "$";
    }

    // As nginx wants them: a path that is not exact as two, and none that nginx would add a "/" to by itself.
    static Locations with_edges(const Locations& locations) {
        Locations all;
        for (const auto& [key, rule] : locations) {
            if (key.exact) {
                all.insert_or_assign(key, rule);
            } else {
                if (!key.path.empty()) all.try_emplace({key.path, true}, rule);
                all.emplace(PathKey{key.path + "/", false}, rule);
            }
        }
        all.try_emplace({"/", false}, nullptr);
        for (const auto& [key, rule] : locations) {
            if (!key.exact || key.path == "/" || !key.path.ends_with('/')) continue;
            const auto without = key.path.substr(0, key.path.size() - 1);
            all.try_emplace({without, true}, covering(locations, without));
        }
        return all;
    }

    void location_section(const PathKey& key, const Rule* rule, Side side) {
        const auto* how = key.exact ? "= " : key.path == "/" ? "" : "^~ ";
        fmt::format_to(Out(config_.text), "        location {}{} {{\n{}        }}\n", how, in_quotes(key.path),
                       action(rule, side));
    }

    std::string action(const Rule* rule, Side side) {
        constexpr const char* none = "            return 404;\n";
        if (rule == nullptr) return none;
        if (side == Side::https && rule->tls != traffic::Tls::terminate) return none;
        auto text = fmt::format("            set $fairlead_route \"{}\";\n", encoded(rule->pool));
        if (side == Side::http) {
            switch (rule->plain) {
                case traffic::Plain::refuse:
                    return none;
                case traffic::Plain::redirect:
                    return text + fmt::format("            return 302 https://$host{}$request_uri;\n", https_port());
                case traffic::Plain::serve:
                    break;
            }
        }
        if (members_of(rule->pool).empty()) return text + "            return 503;\n";
        const auto& pool = table_.pools.at(rule->pool);
        text +=
            fmt::format("            proxy_pass {}://{};\n", pool.tls ? "https" : "http", upstreams_.at(rule->pool));
        if (pool.server_timeout) {
            text += fmt::format("            proxy_read_timeout {0}ms;\n            proxy_send_timeout {0}ms;\n",
                                pool.server_timeout->count());
        }
        if (pool.tls) text += member_tls(*pool.tls);
        return text;
    }

    std::string member_tls(const traffic::MemberTls& tls) {
        std::string text = "            proxy_ssl_server_name on;\n";
        if (!tls.server_name.empty())
            text += fmt::format("            proxy_ssl_name {};\n", in_quotes(tls.server_name));
        if (!tls.ca_pem.empty()) {
            text += fmt::format("            proxy_ssl_verify on;\n            proxy_ssl_trusted_certificate {};\n",
                                in_quotes(file_of(tls.ca_pem)));
        }
        return text;
    }

    [[nodiscard]] std::string https_port() const {
        if (settings_.https_listen.empty()) return {};
        const auto& listen = settings_.https_listen.front();
        auto port = listen.substr(listen.rfind(':'));
        return port == ":443" ? std::string() : port;
    }

    const HttpSettings& settings_;
    const std::string directory_;
    const traffic::RoutingTable& table_;
    HttpConfig config_;
    Problems problems_;
    std::map<Group, Layer> layers_;
    std::set<Group> groups_;                     // that have rules or a certificate
    std::map<Group, std::string> certificates_;  // their files
    std::map<std::string, std::vector<traffic::Member>> members_;
    std::map<std::string, std::string> upstreams_;  // by pool: their names
    std::set<std::string> upstreams_written_;
};

}  // namespace

HttpConfig render_http(const HttpSettings& settings, const std::filesystem::path& directory,
                       const traffic::RoutingTable& table, const std::set<std::string>& without) {
    return Renderer(settings, directory, table, without).render();
}

std::set<std::string> owners_of(const traffic::RoutingTable& table) {
    std::set<std::string> owners;
    for (const auto& [key, rule] : table.rules) owners.insert(rule.owner);
    for (const auto& [host, certificate] : table.certificates) owners.insert(certificate.owner);
    return owners;
}

}  // namespace fairlead::proxy::nginx
