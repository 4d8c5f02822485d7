#include "apiserver/identity.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "net/pki.h"

namespace fairlead::apiserver {
namespace {

constexpr std::chrono::hours ca_lifetime{24 * 365 * 10};
constexpr std::chrono::hours certificate_lifetime{24 * 365};
constexpr std::chrono::hours renew_before{24 * 30};  // a month of restarts to notice

struct PairFiles {
    std::filesystem::path certificate, key;
};

Result<net::KeyPair> load(const PairFiles& files) {
    auto certificate = read_file(files.certificate);
    if (!certificate) return fail(certificate.error());
    auto key = read_file(files.key);
    if (!key) return fail(key.error());
    return net::KeyPair{std::move(*certificate), std::move(*key)};
}

Result<void> save(const PairFiles& files, const net::KeyPair& pair) {
    // The key first: a certificate without its key would look complete at the next start.
    if (auto written = write_file(files.key, pair.key_pem, 0600); !written) return written;
    return write_file(files.certificate, pair.certificate_pem, 0644);
}

// Whether the stored certificate still says what is asked for, for long enough.
bool good(const net::KeyPair& pair, const net::CertificateRequest& wanted, WallTime now) {
    const auto info = net::inspect_certificate(pair.certificate_pem);
    if (!info || info->not_after < now + renew_before || info->common_name != wanted.common_name) return false;
    auto sorted = [](std::vector<std::string> names) {
        std::sort(names.begin(), names.end());
        return names;
    };
    return sorted(info->subject_alternative_names) == sorted(wanted.subject_alternative_names) &&
           sorted(info->organizations) == sorted(wanted.organizations);
}

Result<void> ensure_certificate(const PairFiles& files, const net::CertificateRequest& wanted, const net::KeyPair& ca,
                                bool ca_is_new, const Clock& clock, Random& random, Log& log) {
    if (!ca_is_new) {
        if (const auto present = load(files); present && good(*present, wanted, clock.now())) return {};
    }
    auto made = net::make_certificate(wanted, ca, clock, random);
    if (!made) return fail(made.error());
    if (auto saved = save(files, *made); !saved) return saved;
    log.info("certificate made", {{"name", wanted.common_name}, {"file", files.certificate.string()}});
    return {};
}

}  // namespace

Result<Identity> ensure_identity(const std::filesystem::path& data_dir, const std::vector<std::string>& names,
                                 const Clock& clock, Random& random, Log& log) {
    const std::filesystem::path pki = data_dir / "pki";
    std::error_code error;
    std::filesystem::create_directories(pki, error);
    if (error) return fail(Errc::internal, fmt::format("cannot create {}: {}", pki.string(), error.message()));
    std::filesystem::permissions(pki, std::filesystem::perms::owner_all, error);

    const PairFiles ca_files{pki / "ca.crt", pki / "ca.key"};
    auto ca = load(ca_files);
    const bool ca_is_new = !ca;
    if (ca_is_new) {
        // A half-present CA is an operator's accident, not a first start: replacing it would lock every client out.
        if (std::filesystem::exists(ca_files.certificate) || ca.error().code != Errc::not_found) {
            return fail(Errc::invalid, fmt::format("{}; restore the CA's two files, or remove the folder {} to start "
                                                   "with a new CA (every client then needs a new certificate)",
                                                   ca.error().message, pki.string()));
        }
        ca = net::make_ca("fairlead-ca", ca_lifetime, clock, random);
        if (!ca) return fail(ca.error());
        if (auto saved = save(ca_files, *ca); !saved) return fail(saved.error());
        log.info("certificate authority made", {{"file", ca_files.certificate.string()}});
    }

    const PairFiles server{pki / "server.crt", pki / "server.key"};
    const net::CertificateRequest server_request{.common_name = "fairlead",
                                                 .organizations = {},
                                                 .subject_alternative_names = names,
                                                 .valid_for = certificate_lifetime};
    if (auto made = ensure_certificate(server, server_request, *ca, ca_is_new, clock, random, log); !made) {
        return fail(made.error());
    }
    const PairFiles admin{pki / "admin.crt", pki / "admin.key"};
    const net::CertificateRequest admin_request{.common_name = "fairlead-admin",
                                                .organizations = {"system:masters"},
                                                .subject_alternative_names = {},
                                                .valid_for = certificate_lifetime};
    if (auto made = ensure_certificate(admin, admin_request, *ca, ca_is_new, clock, random, log); !made) {
        return fail(made.error());
    }
    return Identity{ca_files.certificate, server.certificate, server.key, admin.certificate, admin.key};
}

std::vector<std::string> server_names(const std::string& host) {
    std::vector<std::string> names{"localhost", "127.0.0.1", "::1"};
    const bool wildcard = host.empty() || host == "0.0.0.0" || host == "::";
    if (!wildcard) names.push_back(host);
    std::array<char, 256> machine{};
    if (::gethostname(machine.data(), machine.size() - 1) == 0 && machine[0] != '\0') {
        names.emplace_back(machine.data());
    }
    ifaddrs* interfaces = nullptr;
    if (wildcard && ::getifaddrs(&interfaces) == 0) {
        for (const ifaddrs* i = interfaces; i != nullptr; i = i->ifa_next) {
            if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_UP) == 0) continue;
            std::array<char, INET6_ADDRSTRLEN> text{};
            const void* address = nullptr;
            if (i->ifa_addr->sa_family == AF_INET) {
                address = &reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr;
            } else if (i->ifa_addr->sa_family == AF_INET6) {
                address = &reinterpret_cast<const sockaddr_in6*>(i->ifa_addr)->sin6_addr;
            }
            if (address != nullptr && ::inet_ntop(i->ifa_addr->sa_family, address, text.data(), text.size())) {
                names.emplace_back(text.data());
            }
        }
        ::freeifaddrs(interfaces);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Result<std::filesystem::path> write_admin_kubeconfig(const std::filesystem::path& data_dir, const Identity& identity,
                                                     const std::string& url) {
    std::array<std::string, 3> embedded;
    const std::array files{identity.ca_certificate, identity.admin_certificate, identity.admin_key};
    for (std::size_t i = 0; i < files.size(); ++i) {
        auto content = read_file(files.at(i));
        if (!content) return fail(content.error());
        embedded.at(i) = base64(*content);
    }
    const std::string text = fmt::format(
        "apiVersion: v1\n"
        "kind: Config\n"
        "clusters:\n"
        "- name: fairlead\n"
        "  cluster:\n"
        "    server: {}\n"
        "    certificate-authority-data: {}\n"
        "users:\n"
        "- name: fairlead-admin\n"
        "  user:\n"
        "    client-certificate-data: {}\n"
        "    client-key-data: {}\n"
        "contexts:\n"
        "- name: fairlead\n"
        "  context:\n"
        "    cluster: fairlead\n"
        "    user: fairlead-admin\n"
        "    namespace: default\n"
        "current-context: fairlead\n",
        url, embedded[0], embedded[1], embedded[2]);
    std::filesystem::path file = data_dir / "admin.kubeconfig";
    if (auto written = write_file(file, text, 0600); !written) return fail(written.error());
    return file;
}

}  // namespace fairlead::apiserver
