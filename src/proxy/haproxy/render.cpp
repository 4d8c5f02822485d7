#include "proxy/haproxy/render.h"

#include <fmt/core.h>

#include <iterator>

#include "base/text.h"
#include "proxy/haproxy/entries.h"

namespace fairlead::proxy::haproxy {

namespace {

using Out = std::back_insert_iterator<std::string>;

std::string_view balance_lines(traffic::Balance balance) {
    switch (balance) {
        case traffic::Balance::round_robin:
            return "    balance roundrobin\n";
        case traffic::Balance::least_connections:
            return "    balance leastconn\n";
        case traffic::Balance::random:
            return "    balance random\n";
        case traffic::Balance::source:
            return "    balance source\n    hash-type consistent\n";
    }
    return {};
}

// How long a connection that is only passed on may be idle.
constexpr std::chrono::seconds tunnel_timeout = std::chrono::hours(1);

// How long an old worker may last after a reload. Connections through leased ports may be idle for as long as a tunnel
// may, and there is nothing that could be said to their clients.
std::chrono::seconds worker_end(const Settings& settings) {
    return settings.tcp_ports.empty() ? settings.drain : std::max(settings.drain, tunnel_timeout);
}

void global_section(const Settings& settings, const std::filesystem::path& directory, Out out) {
    fmt::format_to(out, "# Written by fairlead, and written again after every change: edits are lost.\nglobal\n");
    if (settings.threads > 0) fmt::format_to(out, "    nbthread {}\n", settings.threads);
    fmt::format_to(out,
                   "    stats socket {0}/cli.sock mode 600 level admin expose-fd listeners\n"
                   "    stats timeout 1d\n"
                   "    hard-stop-after {1}s\n"
                   "    mworker-max-reloads 16\n"
                   "    tune.bufsize 16384\n"
                   "    ssl-default-bind-options ssl-min-ver TLSv1.2\n",
                   directory.string(), worker_end(settings).count());
    if (!settings.access_log.empty()) {
        fmt::format_to(out, "    log {}/log.sock len 8192 format raw local0\n", directory.string());
    }
}

void defaults_sections(const Settings& settings, const std::filesystem::path& directory, Out out) {
    const auto timeouts = fmt::format(
        "    timeout client {}ms\n    timeout server {}ms\n    timeout connect {}ms\n    timeout tunnel {}s\n"
        "    retries 3\n    option redispatch 1\n",
        settings.client_timeout.count(), settings.server_timeout.count(), settings.connect_timeout.count(),
        tunnel_timeout.count());
    fmt::format_to(out,
                   "\ndefaults http_base\n    mode http\n{}"
                   "    timeout http-request 10s\n    timeout http-keep-alive {}ms\n"
                   "    option idle-close-on-response\n    option http-ignore-probes\n    option dontlognull\n",
                   timeouts, settings.client_timeout.count());
    for (const auto code : {404, 503}) {
        fmt::format_to(out, "    errorfile {0} {1}/{0}.http\n", code, directory.string());
    }
    fmt::format_to(out,
                   "\ndefaults http_pool from http_base\n    http-reuse safe\n"
                   "    http-request set-timeout server var(txn.timeout) if {{ var(txn.timeout) -m int gt 0 }}\n"
                   "\ndefaults tcp_base\n    mode tcp\n{}",
                   timeouts);
}

// Finds the rule of a request: txn.r is its value (see entries.h), or unset.
void lookup_lines(const std::filesystem::path& directory, Out out) {
    // `name` is what is looked up among the hosts, `exact` what it is called among exact paths.
    const auto look_up = [&](MapFile hosts, MapFile paths, std::string_view name, std::string_view exact,
                             std::string_view condition) {
        fmt::format_to(out,
                       "    http-request set-var(txn.e) {3},map_str({0}/{1}){5}\n"
                       "    http-request set-var(txn.r) {4},concat(,txn.path),map_str({0}/{6}) "
                       "if !{{ var(txn.r) -m found }} {{ var(txn.e) -m beg E }}\n"
                       "    http-request set-var(txn.r) {3},concat(,txn.path,/),map_beg({0}/{2}) "
                       "if !{{ var(txn.r) -m found }} {{ var(txn.e) -m beg P E }}\n"
                       "    http-request set-var(txn.r) var(txn.e) if !{{ var(txn.r) -m found }} "
                       "{{ var(txn.e) -m found }} !{{ var(txn.e) -m beg P- E- }}\n",
                       directory.string(), file_name(hosts), file_name(paths), name, exact, condition,
                       file_name(MapFile::exact_paths));
    };
    constexpr std::string_view not_yet = " if !{ var(txn.r) -m found }";
    constexpr std::string_view not_named = " if !{ var(txn.r) -m found } !{ var(txn.n) -m found }";
    // Rules for any host are for those that have none of their own.
    constexpr std::string_view note_named =
        "    http-request set-var(txn.n) bool(true) if { var(txn.e) -m found }\n"
        "    http-request unset-var(txn.e) if !{ var(txn.r) -m found }\n";
    fmt::format_to(out,
                   "    http-request deny deny_status 400 if {{ req.hdr(host) -m reg [^A-Za-z0-9._:\\[\\]-] }}\n"
                   "    http-request set-var(txn.h) req.hdr(host),field(1,:),rtrim(.),lower\n"
                   "    http-request set-var(txn.path) path\n");
    look_up(MapFile::hosts, MapFile::paths, "var(txn.h)", "var(txn.h)", "");
    fmt::format_to(out, "{}    http-request set-var(txn.w) var(txn.h),field(2,.,0){}\n", note_named, not_yet);
    look_up(MapFile::wildcards, MapFile::wildcard_paths, "var(txn.w)", "str(*.),concat(,txn.w)", not_yet);
    fmt::format_to(out, "{}", note_named);
    look_up(MapFile::hosts, MapFile::paths, "str(*)", "str(*)", not_named);
    fmt::format_to(
        out,
        "    http-request deny deny_status 404 if !{{ var(txn.r) -m found }}\n"
        "    http-request set-var(txn.timeout) var(txn.r),field(3,:)\n"
        // Not an empty one: OpenSSL's complaint about it would end the client's connection, of the same thread.
        "    http-request set-var(txn.sni) var(txn.r),field(4,:) if {{ var(txn.r),field(4,:) -m len gt 0 }}\n"
        "    http-request set-var(txn.pool) var(txn.r),field(5,:)\n");
}

void forwarding_lines(std::string_view scheme, Out out) {
    fmt::format_to(
        out,
        "    option forwardfor\n"
        "    http-request del-header Proxy\n"  // CGI programs take it for a setting (httpoxy)
        "    http-request set-header X-Forwarded-Proto {0}\n"
        "    http-request set-header X-Forwarded-Port %[dst_port]\n"
        "    http-request set-header X-Forwarded-Host %[req.hdr(host)]\n"
        "    http-request add-header Forwarded \"for=%[src];host=\\\"%[req.hdr(host)]\\\";proto={0}\" "
        "unless {{ src -m sub : }}\n"
        "    http-request add-header Forwarded \"for=\\\"[%[src]]\\\";host=\\\"%[req.hdr(host)]\\\";proto={0}\" "
        "if {{ src -m sub : }}\n"
        "    use_backend %[var(txn.r),field(2,:)]\n"
        "    default_backend {1}\n",
        scheme, no_backend);
}

void log_line(const Settings& settings, Out out) {
    if (settings.access_log.empty()) return;
    // As option httplog, then what no httplog says: which pool, and the host that was asked for.
    fmt::format_to(out,
                   "    log global\n    log-format \"%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc "
                   "%ac/%fc/%bc/%sc/%rc %sq/%bq %{{+Q}}r route=%[var(txn.pool)] host=%[var(txn.h)]\"\n");
}

void http_frontend(const Settings& settings, const std::filesystem::path& directory, const Binds& binds, Out out) {
    if (binds.http.empty()) return;
    fmt::format_to(out, "\nfrontend http from http_base\n");
    for (const auto& bind : binds.http) {
        fmt::format_to(out, "    bind {}{}\n", bind, settings.proxy_protocol ? " accept-proxy" : "");
    }
    log_line(settings, out);
    lookup_lines(directory, out);
    fmt::format_to(out, "    http-request deny deny_status 404 if {{ var(txn.r),bytes(2,1) -m str x }}\n");
    std::string port;
    if (!settings.https_listen.empty()) {
        const auto& listen = settings.https_listen.front();
        port = listen.substr(listen.rfind(':'));
        if (port == ":443") port.clear();
    }
    fmt::format_to(out,
                   "    http-request redirect prefix https://%[var(txn.h)]{} code 302 "
                   "if {{ var(txn.r),bytes(2,1) -m str r }}\n",
                   port);
    forwarding_lines("http", out);
}

void https_frontends(const Settings& settings, const std::filesystem::path& directory, const Binds& binds, Out out) {
    if (binds.https.empty()) return;
    const auto where = directory.string();
    fmt::format_to(out, "\nfrontend tls from tcp_base\n");
    for (const auto& bind : binds.https) {
        fmt::format_to(out, "    bind {}{}\n", bind, settings.proxy_protocol ? " accept-proxy" : "");
    }
    constexpr std::string_view hello = "if { req.ssl_hello_type 1 }";
    fmt::format_to(out,
                   "    tcp-request inspect-delay 5s\n"
                   "    tcp-request content set-var(sess.h) req.ssl_sni,lower {1}\n"
                   "    tcp-request content set-var(sess.e) var(sess.h),map_str({0}/{2}) {1}\n"
                   "    tcp-request content set-var(sess.w) var(sess.h),field(2,.,0) {1} !{{ var(sess.e) -m found }}\n"
                   "    tcp-request content set-var(sess.e) var(sess.w),map_str({0}/{3}) {1} "
                   "!{{ var(sess.e) -m found }}\n"
                   "    tcp-request content accept {1}\n"
                   "    use_backend %[var(sess.e),field(2,:)] if {{ var(sess.e),bytes(1,1) -m str p }}\n"
                   "    default_backend terminate\n"
                   "\nbackend terminate from tcp_base\n"
                   "    server here unix@{0}/https.sock send-proxy-v2\n"
                   "\nfrontend https from http_base\n"
                   "    bind unix@{0}/https.sock mode 600 accept-proxy ssl crt {0}/default.pem crt-list {0}/crt-list "
                   "alpn h2,http/1.1\n",
                   where, hello, file_name(MapFile::hosts), file_name(MapFile::wildcards));
    log_line(settings, out);
    lookup_lines(directory, out);
    fmt::format_to(out, "    http-request deny deny_status 404 unless {{ var(txn.r),bytes(1,1) -m str t }}\n");
    forwarding_lines("https", out);
}

// Every reservable port is open in advance, so that a new lease is a line in a map and no reload.
void ports_frontend(const Settings& settings, const std::filesystem::path& directory, const Binds& binds, Out out) {
    if (settings.tcp_ports.empty()) return;
    fmt::format_to(out, "\nfrontend ports from tcp_base\n");
    for (const auto& bind : binds.ports) {
        fmt::format_to(out, "    bind {}{}\n", bind, settings.proxy_protocol ? " accept-proxy" : "");
    }
    if (!settings.access_log.empty()) {
        // As option tcplog, then which port, and which pool.
        fmt::format_to(out,
                       "    log global\n    log-format \"%ci:%cp [%t] %ft %b/%s %Tw/%Tc/%Tt %B %ts %ac/%fc/%bc/%sc/%rc "
                       "%sq/%bq port=%[var(sess.port)] route=%[var(sess.pool)]\"\n");
    }
    // Rules of connections see the port of the socket; later ones would see what the PROXY protocol says.
    fmt::format_to(out,
                   "    tcp-request connection set-var(sess.port) dst_port\n"
                   "    tcp-request connection set-var(sess.r) var(sess.port),map_str({}/{})\n"
                   "    tcp-request connection reject if !{{ var(sess.r) -m found }}\n"
                   "    tcp-request connection set-var(sess.pool) var(sess.r),field(5,:)\n"
                   "    use_backend %[var(sess.r),field(2,:)]\n",
                   directory.string(), file_name(MapFile::ports));
}

std::string server_options(const ClassKey& key, const std::filesystem::path& directory, std::string_view backend) {
    const std::string_view alpn = key.protocol == traffic::PoolProtocol::http2 ? " alpn h2" : "";
    switch (key.security) {
        case MemberSecurity::plain:
            return std::string(plain_server_options(key));
        case MemberSecurity::unchecked:
            return fmt::format(" ssl verify none sni var(txn.sni){}", alpn);
        case MemberSecurity::checked:
            // Without a certificate of its own a server does not follow `commit ssl ca-file` (2.6).
            return fmt::format(" ssl verify required ca-file {} crt {}/member.pem sni var(txn.sni){}",
                               authority_path(directory, backend).string(), directory.string(), alpn);
    }
    return {};
}

void pool_section(const ClassKey& key, const std::filesystem::path& directory, const std::string& backend,
                  const std::vector<Server>& slots, Out out) {
    fmt::format_to(out, "\nbackend {} from {}\n{}", backend,
                   key.protocol == traffic::PoolProtocol::tcp ? "tcp_base" : "http_pool", balance_lines(key.balance));
    if (!key.cookie.empty()) {
        // Made from the address: the same at every router, and in whatever slot the member is.
        fmt::format_to(out, "    cookie {} insert indirect nocache httponly dynamic\n    dynamic-cookie-key fairlead\n",
                       key.cookie);
    }
    const auto options = server_options(key, directory, backend);
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const auto& slot = slots[i];
        const auto ipv6 = slot.address.find(':') != std::string::npos;
        fmt::format_to(out, "    server s{} {}{}{}:{} weight {}{}{}\n", i + 1, ipv6 ? "[" : "", slot.address,
                       ipv6 ? "]" : "", slot.port, slot.admin == Admin::drain ? 0 : slot.weight, options,
                       slot.admin == Admin::maint ? " disabled" : "");
    }
}

}  // namespace

std::string render_config(const Settings& settings, const std::filesystem::path& directory, const Binds& binds,
                          const std::vector<PoolClass>& classes, const Image& image) {
    std::string text;
    text.reserve(16'384 + image.backends.size() * 320);
    const Out out(text);
    global_section(settings, directory, out);
    defaults_sections(settings, directory, out);
    if (!binds.status.empty()) {
        fmt::format_to(out,
                       "\nfrontend status from http_base\n    bind {}\n    monitor-uri /healthz\n"
                       "    stats enable\n    stats uri /stats\n",
                       binds.status);
    }
    http_frontend(settings, directory, binds, out);
    https_frontends(settings, directory, binds, out);
    ports_frontend(settings, directory, binds, out);
    fmt::format_to(out, "\nbackend {} from http_base\n", no_backend);
    for (std::size_t i = 0; i < classes.size(); ++i) {
        for (std::size_t n = 1; n <= classes[i].size; ++n) {
            const auto name = backend_name(i, n);
            const auto found = image.backends.find(name);
            pool_section(
                classes[i].key, directory, name,
                found == image.backends.end() ? std::vector<Server>(base_slots(classes[i].key)) : found->second, out);
        }
    }
    return text;
}

std::string render_map(const MapEntries& entries) {
    std::string text;
    text.reserve(entries.size() * 80);
    for (const auto& [key, value] : entries) fmt::format_to(Out(text), "{} {}\n", key, value);
    return text;
}

std::string crt_list_line(const std::filesystem::path& directory, std::string_view host) {
    return fmt::format("{} [alpn h2,http/1.1] {}\n", certificate_path(directory, host).string(), host);
}

std::string render_crt_list(const std::filesystem::path& directory,
                            const std::map<std::string, std::string>& certificates) {
    std::string text;
    for (const auto& [host, pem] : certificates) text += crt_list_line(directory, host);
    return text;
}

std::string render_error_page(int code, std::string_view html) {
    const auto reason = code == 404 ? "Not Found" : "Service Unavailable";
    const auto own =
        fmt::format("<!DOCTYPE html>\n<title>{0} {1}</title>\n<h1>{0} {1}</h1>\n<p>{2}</p>\n", code, reason,
                    code == 404 ? "No route leads here." : "The route has no member that could answer.");
    const auto body = html.empty() ? std::string_view(own) : html;
    return fmt::format(
        "HTTP/1.1 {} {}\r\nContent-Type: text/html; charset=utf-8\r\nCache-Control: no-cache\r\nContent-Length: "
        "{}\r\n\r\n{}",
        code, reason, body.size(), body);
}

std::filesystem::path certificate_path(const std::filesystem::path& directory, std::string_view host) {
    // Names of files have at most 255 bytes, and "*" is a nuisance in them.
    std::string name = host.size() > 200 ? "h-" + sha256_hex(host) : std::string(host);
    if (name.starts_with('*')) name.front() = '_';
    return directory / "certificates" / (name + ".pem");
}

std::filesystem::path authority_path(const std::filesystem::path& directory, std::string_view backend) {
    return directory / "authorities" / fmt::format("{}.pem", backend);
}

}  // namespace fairlead::proxy::haproxy
