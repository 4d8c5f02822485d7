#include "cli/skydns_options.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::cli {

namespace {

constexpr std::size_t max_endpoints = 16;
constexpr std::chrono::seconds least_lease{5};  // a third of it is how often it is renewed
constexpr std::chrono::seconds longest_lease{24 * 3600};

Result<void> fill_endpoints(SkydnsOptions& options, const std::string& text) {
    for (const auto each : split(text, ',')) {
        const auto scheme = each.find("://");
        const bool known = each.starts_with("http://") || each.starts_with("https://");
        const auto rest = known ? each.substr(scheme + 3) : std::string_view();
        const auto host = rest.ends_with('/') ? rest.substr(0, rest.size() - 1) : rest;
        if (host.empty() || host.find_first_of("/?# @") != std::string_view::npos) {
            return fail(
                Errc::invalid, "--skydns-etcd",
                fmt::format("\"{}\" is not an endpoint of the form http://HOST:PORT or https://HOST:PORT", each));
        }
        options.endpoints.emplace_back(each.substr(0, scheme + 3 + host.size()));
    }
    if (options.endpoints.size() > max_endpoints) {
        return fail(Errc::invalid, "--skydns-etcd",
                    fmt::format("names {} endpoints, more than {}", options.endpoints.size(), max_endpoints));
    }
    return {};
}

Result<void> fill_prefix(SkydnsOptions& options, const std::string& text) {
    if (text.size() < 2 || !text.starts_with('/') || text.ends_with('/') || text.find("//") != std::string::npos) {
        return fail(
            Errc::invalid, "--skydns-prefix",
            fmt::format("\"{}\" is not a path such as /skydns: it begins with a slash and ends with none", text));
    }
    options.prefix = text;
    return {};
}

Result<void> fill_lease(SkydnsOptions& options, const std::string& text) {
    const auto time = parse_duration(text);
    const auto seconds = time ? std::chrono::duration_cast<std::chrono::seconds>(*time) : std::chrono::seconds(0);
    if (!time || seconds != *time || seconds < least_lease || seconds > longest_lease) {
        return fail(Errc::invalid, "--skydns-lease",
                    fmt::format("\"{}\" is not a time from 5s to 24h in whole seconds", text));
    }
    options.lease = seconds;
    return {};
}

}  // namespace

Result<SkydnsOptions> skydns_options(const SkydnsArguments& arguments) {
    SkydnsOptions options;
    if (arguments.etcd) {
        if (auto filled = fill_endpoints(options, *arguments.etcd); !filled) return fail(filled.error());
    }
    if (arguments.prefix) {
        if (auto filled = fill_prefix(options, *arguments.prefix); !filled) return fail(filled.error());
    }
    if (arguments.lease) {
        if (auto filled = fill_lease(options, *arguments.lease); !filled) return fail(filled.error());
    }
    options.ca = arguments.ca.value_or("");
    options.certificate = arguments.certificate.value_or("");
    options.key = arguments.key.value_or("");
    options.user = arguments.user.value_or("");
    options.password_file = arguments.password_file.value_or("");
    if (options.certificate.empty() != options.key.empty()) {
        return fail(Errc::invalid, options.key.empty() ? "--skydns-etcd-cert" : "--skydns-etcd-key",
                    "needs the other of --skydns-etcd-cert and --skydns-etcd-key");
    }
    if (options.user.empty() != options.password_file.empty()) {
        return fail(Errc::invalid, options.user.empty() ? "--skydns-etcd-password-file" : "--skydns-etcd-user",
                    "needs the other of --skydns-etcd-user and --skydns-etcd-password-file");
    }
    const bool more = arguments.prefix || arguments.lease || arguments.ca || arguments.certificate || arguments.user;
    if (more && options.endpoints.empty()) {
        return fail(Errc::invalid, "--skydns-etcd", "is missing: the other --skydns flags say something about it");
    }
    return options;
}

}  // namespace fairlead::cli
