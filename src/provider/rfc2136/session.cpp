#include "provider/rfc2136/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "dns/bytes.h"
#include "dns/query.h"
#include "dns/soa.h"
#include "provider/rfc2136/update.h"

namespace fairlead::provider::rfc2136 {

namespace {

constexpr std::size_t length_bytes = 2;       // before each message over TCP
constexpr std::size_t requests_at_once = 32;  // small ones: they fit into what a socket buffers

// Walks over the records from `at`; nothing if the message is broken.
template <class Visit>
bool for_each_record(std::string_view packet, const Visit& visit) {
    std::size_t at = dns::header_bytes;
    for (unsigned i = 0; i < dns::get16(packet, dns::questions_at); ++i) {
        const auto end = dns::skip_name(packet, at, true);
        if (!end || *end + dns::question_tail_bytes > packet.size()) return false;
        at = *end + dns::question_tail_bytes;
    }
    const unsigned count = dns::get16(packet, dns::answers_at) + dns::get16(packet, dns::authority_at) +
                           dns::get16(packet, dns::additional_at);
    for (unsigned i = 0; i < count; ++i) {
        const auto end = dns::skip_name(packet, at, true);
        if (!end || *end + dns::record_fixed_bytes > packet.size()) return false;
        visit(dns::get16(packet, *end));
        at = *end + dns::record_fixed_bytes + dns::get16(packet, *end + 8);
        if (at > packet.size()) return false;
    }
    return true;
}

bool signed_at_all(std::string_view packet) {
    bool found = false;
    for_each_record(packet, [&found](unsigned type) { found = found || type == dns::type_tsig; });
    return found;
}

}  // namespace

bool TransferEnd::reached(std::string_view packet) {
    constexpr auto soa = static_cast<unsigned>(dns::RecordType::soa);
    if (packet.size() < dns::header_bytes || (dns::get16(packet, 2) & dns::rcode_mask) != 0) return true;
    const bool whole = for_each_record(packet, [this](unsigned type) { soas_ += type == soa ? 1 : 0; });
    return !whole || soas_ >= 2;
}

Result<dns::Message> ReplyReader::take(std::string_view packet, WallTime now) {
    if (packet.size() < dns::header_bytes) return fail(Errc::invalid, "the reply is no DNS message");
    const unsigned flags = dns::get16(packet, 2);
    const unsigned rcode = flags & dns::rcode_mask;
    if (dns::get16(packet, 0) != id_ || (flags & dns::flag_response) == 0 || (flags & dns::opcode_mask) != opcode_) {
        return fail(Errc::invalid, "the reply belongs to another request");
    }
    if (auto checked = signatures_.check(packet, now); !checked) {
        if (rcode == dns::rcode_notauth && !signed_at_all(packet)) {
            return fail(Errc::invalid, "spec.dnsProviderSecretRef",
                        "NOTAUTH: it does not serve the zone, or does not know the key (the reply is not signed)");
        }
        const auto text = rcode == dns::rcode_noerror
                              ? checked.error().message
                              : fmt::format("{} ({})", checked.error().message, dns::rcode_text(rcode));
        // A server in trouble answers without looking at the key.
        if (rcode == dns::rcode_servfail) return fail(Errc::unavailable, text);
        return fail(checked.error().code, "spec.dnsProviderSecretRef", text);
    }
    return dns::read_message(packet);
}

Result<void> TransferReader::take_record(const dns::WireRecord& record,
                                         const std::function<void(const dns::WireRecord&)>& visit) {
    const bool soa = record.type == static_cast<std::uint16_t>(dns::RecordType::soa) && record.known;
    if (complete_) return fail(Errc::invalid, "the transfer goes on behind its end");
    if (!begun_) {
        if (!soa || record.name != apex_) return fail(Errc::invalid, "the transfer does not begin with the zone's SOA");
        begun_ = true;
        serial_ = dns::serial_of(record.data);
    } else if (soa && record.name == apex_) {
        complete_ = true;
        if (dns::serial_of(record.data) == serial_) return {};
        return fail(Errc::unavailable, "the transfer ends with another serial than it began with");
    }
    if (record.klass == dns::class_internet && record.name.at_or_below(apex_)) visit(record);
    return {};
}

Result<void> TransferReader::take(const dns::Message& message,
                                  const std::function<void(const dns::WireRecord&)>& visit) {
    if (const auto rcode = message.rcode(); rcode != dns::rcode_noerror) {
        const auto zone = apex_.host();
        const auto text = dns::rcode_text(rcode);
        if (rcode == dns::rcode_notauth || rcode == dns::rcode_nxdomain) {
            return fail(Errc::not_found, fmt::format("it does not serve the zone {} ({})", zone, text));
        }
        if (rcode == dns::rcode_servfail) {
            return fail(Errc::unavailable, fmt::format("it cannot transfer the zone {} now ({})", zone, text));
        }
        return fail(Errc::invalid, "spec.rfc2136.servers",
                    fmt::format("it refuses to transfer the zone {} ({}): the key needs the right to", zone, text));
    }
    if (message.answers.empty()) return fail(Errc::invalid, "a message of the transfer has no records");
    for (const auto& record : message.answers) {
        if (auto taken = take_record(record, visit); !taken) return taken;
    }
    return {};
}

Result<Session> Session::open(const std::string& server, const dns::TsigKey& key, const Clock& clock, Random& random,
                              const TimeLimits& limits) {
    const auto to = net::parse_host_port(server);
    if (!to) return fail(Errc::invalid, "spec.rfc2136.servers", to.error().message);
    auto client = net::TcpClient::connect(*to, limits.connect);
    if (!client) return fail(std::move(client.error()));
    return Session(server, std::move(*client), key, clock, random, limits);
}

tl::unexpected<Error> Session::failed(Error error) const {
    error.message = fmt::format("{}: {}", server_, error.message);
    return fail(std::move(error));
}

Result<ReplyReader> Session::send(const std::string& message) {
    std::string bytes = message;
    auto mac = dns::sign_request(bytes, key_, clock_.now());
    if (bytes.size() > dns::max_message_bytes) {
        return failed({Errc::too_large,
                       {},
                       fmt::format("a request of {} bytes is over {}", bytes.size(), dns::max_message_bytes)});
    }
    std::string framed;
    framed.reserve(length_bytes + bytes.size());
    dns::put16(framed, static_cast<unsigned>(bytes.size()));
    framed += bytes;
    if (auto sent = client_.send(framed, limits_.reply); !sent) return failed(std::move(sent.error()));
    return ReplyReader(static_cast<std::uint16_t>(dns::get16(bytes, 0)), dns::get16(bytes, 2) & dns::opcode_mask,
                       dns::TsigReplies(key_, std::move(mac)));
}

Result<std::string> Session::receive() {
    std::string length;
    if (auto got = client_.receive(length, length_bytes, limits_.reply); !got) return failed(std::move(got.error()));
    std::string packet;
    if (auto got = client_.receive(packet, dns::get16(length, 0), limits_.reply); !got) {
        return failed(std::move(got.error()));
    }
    return packet;
}

Result<dns::Message> Session::ask(const Make& make) {
    auto replies = ask_all({make});
    if (!replies) return fail(std::move(replies.error()));
    return std::move(replies->front());
}

Result<std::vector<dns::Message>> Session::ask_all(const std::vector<Make>& requests) {
    std::vector<dns::Message> replies(requests.size());
    for (std::size_t from = 0; from < requests.size(); from += requests_at_once) {
        if (auto asked = ask_some(requests, from, replies); !asked) return fail(std::move(asked.error()));
    }
    return replies;
}

Result<void> Session::ask_some(const std::vector<Make>& requests, std::size_t from,
                               std::vector<dns::Message>& replies) {
    const auto end = std::min(requests.size(), from + requests_at_once);
    const auto first = static_cast<std::uint16_t>(random_.next());
    std::map<std::uint16_t, std::pair<std::size_t, ReplyReader>> waiting;  // by id
    for (std::size_t i = from; i < end; ++i) {
        const auto id = static_cast<std::uint16_t>(first + (i - from));
        auto reader = send(requests[i](id));
        if (!reader) return fail(std::move(reader.error()));
        waiting.try_emplace(id, i, std::move(*reader));
    }
    while (!waiting.empty()) {
        auto packet = receive();
        if (!packet) return fail(std::move(packet.error()));
        const auto found = packet->size() < length_bytes
                               ? waiting.end()
                               : waiting.find(static_cast<std::uint16_t>(dns::get16(*packet, 0)));
        if (found == waiting.end()) return failed({Errc::invalid, {}, "a reply belongs to no request"});
        auto message = found->second.second.take(*packet, clock_.now());
        if (!message) return failed(std::move(message.error()));
        replies[found->second.first] = std::move(*message);
        waiting.erase(found);
    }
    return {};
}

Result<std::uint32_t> Session::transfer(const dns::Name& apex,
                                        const std::function<void(const dns::WireRecord&)>& visit) {
    auto replies = send(query_message(static_cast<std::uint16_t>(random_.next()), apex, dns::type_axfr));
    if (!replies) return fail(std::move(replies.error()));
    // Servers end a transfer that stands still for half a second: everything is taken before it is looked at.
    std::vector<std::string> packets;
    TransferEnd end;
    const auto began = clock_.monotonic();
    for (std::size_t bytes = 0;;) {
        auto packet = receive();
        if (!packet) return fail(std::move(packet.error()));
        bytes += packet->size();
        if (bytes > max_transfer_bytes) {
            return failed({Errc::too_large, {}, fmt::format("the zone is over {} bytes", max_transfer_bytes)});
        }
        if (clock_.monotonic() - began > limits_.call) {
            return failed(
                {Errc::timeout, {}, fmt::format("the transfer takes longer than {} ms", limits_.call.count())});
        }
        packets.push_back(std::move(*packet));
        if (end.reached(packets.back())) break;
    }
    TransferReader reader(apex);
    for (const auto& packet : packets) {
        const auto message = replies->take(packet, clock_.now());
        if (!message) return failed(message.error());
        if (auto taken = reader.take(*message, visit); !taken) return failed(std::move(taken.error()));
    }
    if (!reader.complete()) return failed({Errc::invalid, {}, "the transfer is not complete"});
    if (!replies->settled()) return failed({Errc::invalid, {}, "the last message of the transfer is not signed"});
    return reader.serial();
}

}  // namespace fairlead::provider::rfc2136
