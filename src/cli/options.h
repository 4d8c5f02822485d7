// What a person asked for, as plain values: command_line.cpp fills these from the arguments, the commands read them.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "cluster/link.h"

namespace fairlead::cli {

// One instance of a Router, as `fairlead router` and the role `router` of `serve` run it.
struct InstanceOptions {
    std::string router;                                  // name of the Router, or ...
    std::string load_balancer{};                         // ... of the LoadBalancer; exactly one of them
    std::string name;                                    // of the instance
    std::string address;                                 // that clients reach it by; empty: found out
    std::vector<std::string> http_listen, https_listen;  // empty: the Router's ports on all addresses
    std::string status_listen;                           // /healthz and figures of the proxy
    std::filesystem::path state_dir;
    std::filesystem::path haproxy = "/usr/sbin/haproxy";
    std::filesystem::path nginx = "/usr/sbin/nginx";  // for UDP ports, and balancers of type Nginx
    std::filesystem::path access_log;                 // empty: none; "-": standard output
    std::chrono::milliseconds drain = std::chrono::seconds(30);
    bool at_listen_address = false;  // of the LoadBalancer alone, and not at all addresses
};

struct RouterOptions {
    cluster::Access access;
    InstanceOptions instance;
    std::string metrics_listen;  // empty: none
    LogLevel log_level = LogLevel::info;
    LogFormat log_format = LogFormat::text;
};

// Where services of the provider skydns are kept beside our own DNS server; no endpoints: nowhere.
struct SkydnsOptions {
    std::vector<std::string> endpoints;  // "http://127.0.0.1:2379"
    std::string prefix = "/skydns";
    std::chrono::seconds lease{60};
    std::filesystem::path ca, certificate, key;  // PEM files; empty = none
    std::string user;                            // empty: none is told
    std::filesystem::path password_file;
};

// `fairlead emitter`. Texts are as typed where others know better what they mean.
struct EmitterOptions {
    std::optional<cluster::Access> access;  // our API; nothing: only a Receptor is asked, and there is no lease
    std::string name_space;                 // whose LRPs; empty: all
    std::string receptor;                   // URL; empty: our API is the source
    std::filesystem::path receptor_token, receptor_ca;
    bool receptor_insecure = false;
    std::chrono::milliseconds sync_interval = std::chrono::minutes(1);

    std::vector<std::string> nats;
    std::string nats_user;
    std::filesystem::path nats_password, nats_token, nats_credentials, nats_nkey_seed, nats_ca, nats_certificate,
        nats_key;
    std::string nats_server_name;
    std::vector<std::string> router_status;  // URLs of gorouters whose /routes is compared
    std::chrono::milliseconds audit_interval = std::chrono::minutes(1);
    std::string subjects = "router";
    std::chrono::milliseconds interval = std::chrono::seconds(20);
    std::int64_t messages_per_second = 10'000;

    std::string name;  // among emitters, unique
    std::string mark;  // of their registrations; empty: of the lease, if there is one
    std::string lease_space = "kube-system", lease_name = "fairlead-emitter";
    std::chrono::milliseconds lease_duration = std::chrono::seconds(4);
    std::chrono::milliseconds source_patience = std::chrono::seconds(30);
    bool lease = true;
    std::string listen;  // empty: none
    LogLevel log_level = LogLevel::info;
    LogFormat log_format = LogFormat::text;
};

struct ServeOptions {
    std::filesystem::path data_dir;
    std::string api_listen = "127.0.0.1:7443";
    std::string store = "embedded:";  // or "memory:"
    std::vector<std::string> apply;   // manifests applied at start
    bool controllers = true;          // --roles api,controllers,dns,balancers
    bool dns = true;
    bool balancers = true;
    std::filesystem::path haproxy = "/usr/sbin/haproxy", nginx = "/usr/sbin/nginx";  // of balancers
    std::vector<std::string> dns_listen = {"127.0.0.1:5300"};                        // each ADDRESS:PORT; empty: no DNS
    std::optional<unsigned> dns_threads;  // for UDP, of each address; nothing: by the machine
    bool dns_pin = false;
    std::string dns_version;                 // what CH TXT version.bind says; empty: refused
    std::string dns_id;                      // what CH TXT id.server and NSID say; empty: refused
    std::filesystem::path geoip;             // MMDB file; empty = none
    std::vector<std::string> geo_overrides;  // each NETWORK=PLACE
    std::chrono::milliseconds event_ttl = std::chrono::hours(1);
    std::optional<InstanceOptions> router;                            // role router
    std::string route_strategy = "round-robin";                       // of sets of Routers that name none
    std::filesystem::path zonefile_dir;                               // empty = no zone files
    std::map<std::string, std::vector<std::string>> zonefile_reload;  // by name: program and arguments
    bool ambient_credentials = false;
    std::string webhook_listen;                // loopback ADDRESS:PORT for an external-dns; empty: none
    std::vector<std::string> webhook_zones;    // domains that it may keep records in; empty: all of the built-in server
    std::filesystem::path balancers_file;      // file of --balancers; empty = no providers of load balancers
    std::vector<std::string> resolvers;        // each ADDRESS[:PORT]; empty: those of /etc/resolv.conf
    std::filesystem::path token_auth_file;     // empty = none
    std::filesystem::path audit_log;           // empty = off
    std::string receptor_namespace = "diego";  // of what /v1/ writes and shows
    std::vector<std::string> receptor_origins;  // of web pages that may call /v1/
    SkydnsOptions skydns;
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

struct RebalanceOptions {
    ConnectionOptions connection;
    bool dry_run = false;
    std::optional<std::string> set;        // spec.label of its Routers; "" for those that take the rest
    std::string strategy = "round-robin";  // of sets that name none
    std::int64_t per_minute = 600;
    std::chrono::milliseconds serving_timeout{60'000};  // 0: nobody waits
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
