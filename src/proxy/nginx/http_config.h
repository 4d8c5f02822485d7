// A table's hosts and paths as nginx's HTTP servers: the same input gives the same bytes. What is wrong with a rule
// leaves out that rule, and is its owner's problem. Pure; used by the driver of HTTP balancers.
//
// A server block for each host (a regular expression for a wildcard, which is one level), with a location for each path
// that traffic::match could choose there: nginx asks no second server, so that what a host leaves to its wildcard and
// to any host is in its own block too. "/a" and what lies below it are two locations: "= /a" and "^~ /a/".
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "traffic/table.h"

namespace fairlead::proxy::nginx {

struct HttpSettings {
    std::vector<std::string> http_listen, https_listen;  // "0.0.0.0:80", "[::]:80"
    std::string status_listen;                           // /healthz; empty: nowhere
    bool proxy_protocol = false;                         // clients speak it, on http and https
    std::string default_certificate_pem{};               // empty: one is made, self-signed
    std::filesystem::path access_log{};                  // empty: none
    std::chrono::milliseconds client_timeout{30'000}, server_timeout{30'000}, connect_timeout{5'000};
    bool operator==(const HttpSettings&) const = default;
};

struct HttpConfig {
    std::string text;                             // inside of "http { ... }"
    std::map<std::string, std::string> files;     // what it names beside default.pem, by name in the directory: PEM
    std::map<std::string, std::string> problems;  // by owner
    std::size_t servers = 0;
    bool operator==(const HttpConfig&) const = default;
};

// `without`: owners whose rules and certificates are left out.
HttpConfig render_http(const HttpSettings& settings, const std::filesystem::path& directory,
                       const traffic::RoutingTable& table, const std::set<std::string>& without);

// Of rules and certificates.
std::set<std::string> owners_of(const traffic::RoutingTable& table);

}  // namespace fairlead::proxy::nginx
