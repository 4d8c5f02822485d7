#include "lookup/stub_resolver.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/files.h"
#include "base/random.h"
#include "base/text.h"
#include "dns/bytes.h"
#include "dns/message_reader.h"
#include "dns/wire.h"
#include "net/udp_client.h"

namespace fairlead::lookup {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t max_servers = 8;
constexpr std::int64_t max_timeout_seconds = 5, max_attempts = 5;
constexpr milliseconds stop_check{250};  // a wait looks that often whether it is to end

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!(line = trim(line)).empty()) {
        const auto end = std::min(line.find_first_of(" \t"), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

void take_option(ResolverSettings& settings, std::string_view option) {
    const auto colon = option.find(':');
    const auto value = colon == std::string_view::npos ? std::nullopt : parse_int(option.substr(colon + 1));
    if (!value) return;
    const auto name = option.substr(0, colon);
    if (name == "timeout") {
        settings.timeout = std::chrono::seconds{std::clamp<std::int64_t>(*value, 1, max_timeout_seconds)};
    } else if (name == "attempts") {
        settings.attempts = static_cast<int>(std::clamp<std::int64_t>(*value, 1, max_attempts));
    }
}

std::string server_text(const net::HostPort& server) {
    const bool v6 = server.host.find(':') != std::string::npos;
    return v6 ? fmt::format("[{}]:{}", server.host, server.port) : fmt::format("{}:{}", server.host, server.port);
}

}  // namespace

ResolverSettings parse_resolv_conf(std::string_view text) {
    ResolverSettings settings;
    for (const auto line : split(text, '\n')) {
        const auto words = words_of(line.substr(0, line.find_first_of("#;")));
        if (words.size() < 2) continue;
        if (words[0] == "nameserver") {
            auto server = net::parse_address_port(words[1], dns_port);
            if (server && settings.servers.size() < max_servers) settings.servers.push_back(std::move(*server));
        } else if (words[0] == "options") {
            std::for_each(words.begin() + 1, words.end(), [&](std::string_view word) { take_option(settings, word); });
        }
    }
    if (settings.servers.empty()) settings.servers.push_back({"127.0.0.1", dns_port});
    return settings;
}

StubResolver::StubResolver(ResolverSettings settings, const Clock& clock, Random& random)
    : fixed_(std::move(settings)), clock_(clock), random_(random) {}
StubResolver::StubResolver(std::filesystem::path resolv_conf, const Clock& clock, Random& random)
    : file_(std::move(resolv_conf)), clock_(clock), random_(random) {}

ResolverSettings StubResolver::settings() const {
    if (file_.empty()) return fixed_;
    const auto text = read_file(file_);
    return parse_resolv_conf(text ? std::string_view(*text) : std::string_view{});
}

Result<Addresses> StubResolver::resolve(const std::string& host) {
    const auto name = dns::Name::parse(host);
    if (!name) return fail(Errc::not_found, fmt::format("\"{}\" is no host name: {}", host, name.error().message));
    auto settings = this->settings();
    Addresses found;
    std::optional<Error> failed;
    std::uint32_t ttl = 0xffffffff;
    for (const auto type : {dns::RecordType::a, dns::RecordType::aaaa}) {
        auto reply = ask(settings, *name, type);
        if (!reply) {
            if (reply.error().code == Errc::not_found) return fail(std::move(reply.error()));
            if (failed) break;
            failed = std::move(reply.error());
            found.missing = type == dns::RecordType::a ? Addresses::Missing::v4 : Addresses::Missing::v6;
            settings.attempts = 1;  // servers that are dead cost their time limits twice, not four times
            continue;
        }
        found.texts.insert(found.texts.end(), reply->addresses.begin(), reply->addresses.end());
        if (!reply->addresses.empty()) ttl = std::min(ttl, reply->ttl);
    }
    if (failed && found.texts.empty()) return fail(std::move(*failed));
    if (failed) found.problem = failed->text();
    if (found.texts.empty()) return fail(Errc::not_found, fmt::format("{} has no address", name->host()));
    std::sort(found.texts.begin(), found.texts.end());
    found.texts.erase(std::unique(found.texts.begin(), found.texts.end()), found.texts.end());
    found.ttl = std::chrono::seconds{ttl};
    return found;
}

Result<Reply> StubResolver::ask(const ResolverSettings& settings, const dns::Name& name, dns::RecordType type) {
    Error last{Errc::unavailable, {}, "no resolver is known"};
    for (int attempt = 0; attempt < settings.attempts; ++attempt) {
        for (const auto& server : settings.servers) {
            if (stopped_) return fail(Errc::unavailable, "the server is ending");
            const Question question{static_cast<std::uint16_t>(random_.next()), name, type};
            auto reply = ask_server(server, question, settings.timeout);
            const auto rcode = reply ? reply->rcode : 0;
            if (reply && rcode == dns::rcode_noerror) return reply;
            if (reply && rcode == dns::rcode_nxdomain) {
                return fail(Errc::not_found, fmt::format("{} does not exist", name.host()));
            }
            last = reply ? Error{Errc::unavailable, {}, dns::rcode_text(rcode)} : std::move(reply.error());
            last.message =
                fmt::format("{} {}: {}: {}", name.host(), dns::type_text(type), server_text(server), last.message);
        }
    }
    return fail(std::move(last));
}

Result<Reply> StubResolver::ask_server(const net::HostPort& server, const Question& question, milliseconds timeout) {
    auto reply = ask_udp(server, question, timeout);
    if (!reply || !reply->truncated) return reply;
    return ask_tcp(server, question, timeout);
}

Result<Reply> StubResolver::ask_udp(const net::HostPort& server, const Question& question, milliseconds timeout) {
    auto client = net::UdpClient::connect(server);
    if (!client) return fail(client.error());
    if (auto sent = client->send(question_message(question)); !sent) return fail(sent.error());
    const auto deadline = clock_.monotonic() + timeout;
    while (!stopped_) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - clock_.monotonic());
        if (left.count() <= 0) break;
        const auto packet = client->receive(std::min(left, stop_check));
        if (!packet && packet.error().code == Errc::timeout) continue;
        if (!packet) return fail(packet.error());
        if (auto reply = read_reply(question, *packet)) return std::move(*reply);
    }
    return fail(Errc::timeout, fmt::format("no answer within {} ms", timeout.count()));
}

Result<Reply> StubResolver::ask_tcp(const net::HostPort& server, const Question& question, milliseconds timeout) {
    auto client = net::TcpClient::connect(server, timeout);
    if (!client) return fail(client.error());
    const auto message = question_message(question);
    std::string framed;
    dns::put16(framed, static_cast<unsigned>(message.size()));
    framed += message;
    if (auto sent = client->send(framed, timeout); !sent) return fail(sent.error());
    std::string length, packet;
    if (auto got = client->receive(length, 2, timeout); !got) return fail(got.error());
    if (auto got = client->receive(packet, dns::get16(length, 0), timeout); !got) return fail(got.error());
    auto reply = read_reply(question, packet);
    if (!reply) return fail(Errc::unavailable, "what came over TCP is no reply to the question");
    if (reply->truncated) return fail(Errc::unavailable, "the answer is cut also over TCP");
    return std::move(*reply);
}

}  // namespace fairlead::lookup
