#include "provider/real/name_server.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace fairlead::provider {

namespace {

std::string zone_text(const std::string& zone) {
    return fmt::format(
        "$ORIGIN {}.\n$TTL 300\n@ IN SOA ns1 hostmaster 1 3600 600 1209600 300\n@ IN NS ns1\nns1 IN A 127.0.0.1\n",
        zone);
}

}  // namespace

std::string software_text(Software software) {
    switch (software) {
        case Software::bind:
            return "bind";
        case Software::knot:
            return "knot";
        case Software::powerdns:
            break;
    }
    return "powerdns";
}

NameServer::NameServer(Software software, std::string algorithm, std::vector<std::string> zones)
    : software_(software), algorithm_(std::move(algorithm)), zones_(std::move(zones)), port_(free_port()) {
    for (const auto& zone : zones_) dir_.write(zone + ".db", zone_text(zone));
    switch (software_) {
        case Software::bind:
            configure_bind();
            break;
        case Software::knot:
            configure_knot();
            break;
        case Software::powerdns:
            configure_powerdns();
            break;
    }
}

bool NameServer::available() const {
    return installed(software_ == Software::bind ? "named" : software_ == Software::knot ? "knotd" : "pdns_server");
}

void NameServer::configure_bind() {
    const auto folder = dir_.path().string();
    std::string text = fmt::format(
        R"(options {{
    directory "{0}"; pid-file "named.pid"; session-keyfile "session.key"; managed-keys-directory "{0}"; lock-file none;
    listen-on port {1} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
    recursion no; dnssec-validation no; notify no;
}};
controls {{ }};
key "{2}" {{ algorithm {3}; secret "{4}"; }};
)",
        folder, port_, key_name, algorithm_, key_secret);
    for (const auto& zone : zones_) {
        // In one zone the key may change names below one other only.
        const auto rights = zone == "rights.example"
                                ? fmt::format("update-policy {{ grant {} subdomain ours.{}.; }}", key_name, zone)
                                : fmt::format("allow-update {{ key \"{}\"; }}", key_name);
        text +=
            fmt::format("zone \"{0}\" {{ type primary; file \"{0}.db\"; {1}; allow-transfer {{ key \"{2}\"; }}; }};\n",
                        zone, rights, key_name);
    }
    dir_.write("named.conf", text);
}

void NameServer::configure_knot() {
    std::string text = fmt::format(
        R"(server:
    rundir: {0}
    listen: 127.0.0.1@{1}
    udp-workers: 1
    tcp-workers: 2
    background-workers: 1
database:
    storage: {0}
control:
    listen: {0}/control
log:
  - target: stderr
    any: info
key:
  - id: {2}
    algorithm: {3}
    secret: {4}
acl:
  - id: ours
    key: {2}
    action: [update, transfer]
template:
  - id: default
    storage: {0}
    zonefile-sync: -1
    acl: ours
zone:
)",
        dir_.path().string(), port_, key_name, algorithm_, key_secret);
    for (const auto& zone : zones_) text += fmt::format("  - domain: {0}\n    file: {0}.db\n", zone);
    dir_.write("knot.conf", text);
}

void NameServer::configure_powerdns() {
    const auto folder = dir_.path().string();
    dir_.write("pdns.conf",
               fmt::format("launch=gsqlite3\ngsqlite3-database={0}/pdns.sqlite3\ngsqlite3-dnssec=no\n"
                           "local-address=127.0.0.1\nlocal-port={1}\nsocket-dir={0}\ndnsupdate=yes\n"
                           "allow-dnsupdate-from=127.0.0.0/8\nallow-axfr-ips=\ndaemon=no\nguardian=no\n"
                           "setuid=\nsetgid=\nchroot=\ncache-ttl=0\nquery-cache-ttl=0\nnegquery-cache-ttl=0\n"
                           "zone-cache-refresh-interval=0\nreceiver-threads=1\nconsistent-backends=no\n",
                           folder, port_));
}

void NameServer::start() {
    const auto folder = dir_.path().string();
    switch (software_) {
        case Software::bind:
            process_ = Process({"named", "-g", "-n", "1", "-c", folder + "/named.conf"}, dir_.path() / "log");
            break;
        case Software::knot:
            process_ = Process({"knotd", "-c", folder + "/knot.conf"}, dir_.path() / "log");
            break;
        case Software::powerdns: {
            const auto util = [&](std::vector<std::string> words) {
                std::vector<std::string> command{"pdnsutil", "--config-dir=" + folder};
                command.insert(command.end(), words.begin(), words.end());
                const auto ran = run(command);
                EXPECT_EQ(ran.code, 0) << ran.out;
            };
            if (!std::filesystem::exists(dir_.path() / "pdns.sqlite3")) {
                const auto made = run({"sqlite3", folder + "/pdns.sqlite3",
                                       ".read /usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql"});
                ASSERT_EQ(made.code, 0) << made.out;
                util({"import-tsig-key", key_name, algorithm_, key_secret});
                for (const auto& zone : zones_) {
                    util({"load-zone", zone, folder + "/" + zone + ".db"});
                    util({"set-meta", zone, "TSIG-ALLOW-DNSUPDATE", key_name});
                    util({"set-meta", zone, "TSIG-ALLOW-AXFR", key_name});
                    util({"set-meta", zone, "ALLOW-DNSUPDATE-FROM", "127.0.0.0/8"});
                }
            }
            process_ = Process({"pdns_server", "--config-dir=" + folder}, dir_.path() / "log");
            break;
        }
    }
    ASSERT_TRUE(wait_for_port(port_)) << log();
}

ZoneSettings NameServer::settings(const std::string& zone) const {
    ZoneSettings settings;
    settings.key = "default/" + zone;
    settings.provider = "rfc2136";
    settings.apex = dns::Name::parse(zone).value();
    settings.rfc2136.servers = {address()};
    settings.secret = {{"name", key_name}, {"algorithm", algorithm_}, {"secret", key_secret}};
    return settings;
}

void NameServer::edit(const std::string& zone, const std::string& script) const {
    const auto ran = run({"nsupdate", "-v", "-y", fmt::format("{}:{}:{}", algorithm_, key_name, key_secret)},
                         fmt::format("server 127.0.0.1 {}\nzone {}.\n{}\nsend\n", port_, zone, script));
    ASSERT_EQ(ran.code, 0) << ran.out;
}

}  // namespace fairlead::provider
