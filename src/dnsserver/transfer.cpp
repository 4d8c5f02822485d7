#include "dnsserver/transfer.h"

#include <algorithm>

#include "dns/bytes.h"
#include "dns/flatten.h"
#include "dns/soa.h"
#include "dnsserver/answer.h"

namespace fairlead::dnsserver {

namespace {

constexpr auto type_soa = static_cast<unsigned>(dns::RecordType::soa);

}  // namespace

bool may_copy(const TransferPolicy& policy, const dns::Name& apex, const dns::Address& address,
              const std::optional<dns::Name>& key) {
    const auto peers = policy.peers.find(apex);
    if (peers == policy.peers.end()) return false;
    return std::any_of(peers->second.begin(), peers->second.end(), [&](const TransferPeer& peer) {
        return peer.network.contains(address) && (!peer.key || peer.key == key);
    });
}

bool same_or_newer(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t half = 0x8000'0000U;
    return a - b < half;
}

std::optional<std::uint32_t> known_serial(std::string_view packet, const dns::Query& query) {
    if (dns::get16(packet, dns::authority_at) != 1) return std::nullopt;
    const auto fixed = dns::skip_name(packet, query.question_end, true);
    if (!fixed || *fixed + dns::record_fixed_bytes > packet.size() || dns::get16(packet, *fixed) != type_soa) {
        return std::nullopt;
    }
    const auto data = *fixed + dns::record_fixed_bytes;
    const auto second = dns::skip_name(packet, data, true);
    const auto numbers = second ? dns::skip_name(packet, *second, true) : std::nullopt;
    const auto end = data + dns::get16(packet, *fixed + 8);
    if (!numbers || end > packet.size() || *numbers + dns::soa_numbers_bytes != end) return std::nullopt;
    return dns::get32(packet, *numbers);
}

TransferStream::TransferStream(TransferRequest request, dns::Name apex, dns::Variant soa, ZoneWalk walk)
    : request_(std::move(request)), apex_(std::move(apex)), soa_(std::move(soa)), walk_(std::move(walk)) {}

unsigned TransferStream::flags() const {
    return dns::flag_response | dns::flag_authoritative |
           (request_.recursion_desired ? dns::flag_recursion_desired : 0U);
}

std::string TransferStream::abort() const {
    MessageWriter writer(request_.id, flags() | dns::rcode_servfail);
    writer.question(request_.question);
    return writer.take();
}

TransferStream::Step TransferStream::next(std::string& message) {
    MessageWriter writer(request_.id, flags());
    if (first_message_) writer.question(request_.question);
    const bool over = fill(writer);
    if (!over && !writer.has_records()) {
        message = abort();
        return Step::too_large;
    }
    if (first_message_ && request_.edns != 0) writer.edns(request_.edns);
    first_message_ = false;
    message = writer.take();
    return over ? Step::last : Step::message;
}

// Until the message is full, or the zone at its end, which it says.
bool TransferStream::fill(MessageWriter& writer) {
    if (stage_ == Stage::opening) {
        if (!add(writer, apex_, dns::RecordType::soa, soa_, soa_.data.front())) return false;
        stage_ = Stage::body;
    }
    while (stage_ == Stage::body) {
        if (!advance()) {
            stage_ = Stage::closing;
            break;
        }
        const auto& [type, variants] = *sets_.begin();
        const auto& variant = variants.front();
        if (!add(writer, name_, type, variant, variant.data[sent_])) return false;
        ++sent_;
    }
    return add(writer, apex_, dns::RecordType::soa, soa_, soa_.data.front());
}

// To the next record that is not sent yet.
bool TransferStream::advance() {
    while (true) {
        if (!sets_.empty()) {
            if (sent_ < sets_.begin()->second.front().data.size()) return true;
            sets_.erase(sets_.begin());
            sent_ = 0;
            continue;
        }
        if (!walk_(name_, sets_)) return false;
        sets_ = flatten(sets_);
        if (name_ == apex_) sets_.erase(dns::RecordType::soa);  // first and last only
    }
}

// A record that is alone in its message may make it as long as a message can be.
bool TransferStream::add(MessageWriter& writer, const dns::Name& owner, dns::RecordType type,
                         const dns::Variant& variant, const std::string& data) {
    const std::size_t most = writer.has_records() ? transfer_message_bytes : max_message_bytes;
    const std::size_t limit = most - request_.signature - edns_bytes;
    if (!writer.add(dns::Section::answer, owner, type, variant.ttl, data, limit)) return false;
    ++records_;
    return true;
}

std::string TransferStream::culprit() const {
    if (sets_.empty()) return apex_.host() + " SOA";
    return name_.host() + ' ' + dns::type_text(sets_.begin()->first);
}

}  // namespace fairlead::dnsserver
