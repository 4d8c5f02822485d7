// What a person asked for, as plain values: command_line.cpp fills these from the arguments, the commands read them.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"

namespace fairlead::cli {

struct ServeOptions {
    std::filesystem::path data_dir;
    std::string api_listen = "127.0.0.1:7443";
    std::string store = "embedded:";  // or "memory:"
    std::vector<std::string> apply;   // manifests applied at start
    bool controllers = true;          // --roles api,controllers,dns
    bool dns = true;
    std::vector<std::string> dns_listen = {"127.0.0.1:5300"};  // each ADDRESS:PORT; empty: no DNS
    std::optional<unsigned> dns_threads;                       // for UDP, of each address; nothing: by the machine
    bool dns_pin = false;
    std::string dns_version;                 // what CH TXT version.bind says; empty: refused
    std::string dns_id;                      // what CH TXT id.server and NSID say; empty: refused
    std::filesystem::path geoip;             // MMDB file; empty = none
    std::vector<std::string> geo_overrides;  // each NETWORK=PLACE
    std::chrono::milliseconds event_ttl = std::chrono::hours(1);
    std::filesystem::path zonefile_dir;                               // empty = no zone files
    std::map<std::string, std::vector<std::string>> zonefile_reload;  // by name: program and arguments
    bool ambient_credentials = false;
    std::string webhook_listen;              // loopback ADDRESS:PORT for an external-dns; empty: none
    std::vector<std::string> webhook_zones;  // domains that it may keep records in; empty: all of the built-in server
    std::vector<std::string> resolvers;      // each ADDRESS[:PORT]; empty: those of /etc/resolv.conf
    std::filesystem::path token_auth_file;   // empty = none
    std::filesystem::path audit_log;         // empty = off
    LogLevel log_level = LogLevel::info;
    LogFormat log_format = LogFormat::text;
};

// How to find the server; every client command has these.
struct ConnectionOptions {
    std::string kubeconfig;
    std::string context;
    std::string name_space;  // -n; empty = the context's
    std::string data_dir;
    std::chrono::milliseconds request_timeout{60'000};
};

enum class Output { table, wide, yaml, json, name };

// What `get`, `describe`, `delete` and `wait` act on: TYPE[,TYPE] [NAME...], or TYPE/NAME...
struct Selection {
    std::vector<std::string> arguments;
    std::string labels;
    std::string fields;
    bool all_namespaces = false;
};

enum class DryRun { none, server };

struct ApplyOptions {
    ConnectionOptions connection;
    std::vector<std::string> files;
    DryRun dry_run = DryRun::none;
    std::string validate = "Strict";  // as fieldValidation wants it
};

struct GetOptions {
    ConnectionOptions connection;
    Selection selection;
    Output output = Output::table;
    bool watch = false;
    bool ignore_not_found = false;
    bool no_headers = false;
    bool show_managed_fields = false;
};

struct DescribeOptions {
    ConnectionOptions connection;
    Selection selection;
};

struct DeleteOptions {
    ConnectionOptions connection;
    Selection selection;
    std::vector<std::string> files;
    bool all = false;
    bool wait = true;
    std::optional<std::chrono::milliseconds> timeout;  // nothing = as long as it takes
    std::string cascade = "Background";                // as propagationPolicy wants it
    bool ignore_not_found = false;
};

struct WatchOptions {
    ConnectionOptions connection;
    Selection selection;
    bool json = false;
};

struct WaitOptions {
    ConnectionOptions connection;
    Selection selection;
    bool all = false;
    std::string condition;  // text of --for
    std::chrono::milliseconds timeout{30'000};
};

enum class TokenOutput { text, json, kubeconfig };

struct TokenCreateOptions {
    ConnectionOptions connection;
    std::string user;
    std::vector<std::string> groups;
    std::chrono::milliseconds ttl{std::chrono::hours(24)};
    TokenOutput output = TokenOutput::text;
};

struct TokenListOptions {
    ConnectionOptions connection;
    bool no_headers = false;
};

struct TokenRevokeOptions {
    ConnectionOptions connection;
    std::vector<std::string> ids;
};

struct ExplainOptions {
    ConnectionOptions connection;
    std::string name;
    std::string type = "A";
    std::string from;  // an address or a place; empty = a place that is not known
    bool json = false;
};

struct ZoneExportOptions {
    ConnectionOptions connection;
    std::string zone;  // a domain name, or [NAMESPACE/]NAME of a ManagedZone
};

// Empty `present` and `desired`: the plan of the server is asked for, with `connection`, `zone` and `cached`; with
// `files`, what these manifests would change.
struct PlanOptions {
    ConnectionOptions connection;
    std::vector<std::string> files;
    std::string zone;              // [NAMESPACE/]NAME of a ManagedZone, or a domain name; empty: all
    bool cached = false;           // plan against what the server has read already
    std::string present, desired;  // files with lists of endpoints; "-" is standard input
    std::string owner;
    std::string policy = "sync";
    std::vector<std::string> managed_types{"A", "AAAA", "CNAME"}, excluded_types;
    std::vector<std::string> domains, excluded_domains;
    std::string domain_pattern, excluded_domain_pattern;
    bool txt_registry = false;  // ownership is in TXT records, not in labels
    std::string txt_prefix, txt_suffix, txt_wildcard_replacement, txt_form = "shared";
    std::string txt_encrypt_key_file;
    bool json = false;
};

struct PlanApproveOptions {
    ConnectionOptions connection;
    std::string digest;
};

struct OwnershipOptions {
    ConnectionOptions connection;
    std::string kind;  // "Adopt", "Release", "Transfer", as spec.ownership.orders has it
    std::string zone;
    std::vector<std::string> names;
    std::string other;  // who owns them now (adopt; empty: nobody), or shall (transfer)
    bool dry_run = false;
    bool json = false;
};

struct VersionOptions {
    ConnectionOptions connection;
    bool client_only = false;
    bool json = false;
};

}  // namespace fairlead::cli
