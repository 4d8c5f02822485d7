#include "dnsserver/correspondent.h"

#include "base/log.h"
#include "dns/soa.h"
#include "dnsserver/transfer.h"

namespace fairlead::dnsserver {

namespace {

using dns::class_internet;
using dns::rcode_formerr;
using dns::rcode_notauth;
using dns::rcode_refused;
using dns::rcode_servfail;

class OneMessage final : public MessageSource {
public:
    explicit OneMessage(std::string message) : message_(std::move(message)) {}
    bool next(std::string& message) override {
        if (message_.empty()) return false;
        message = std::move(message_);
        message_.clear();
        return true;
    }

private:
    std::string message_;
};

Counter transfers_that(Metrics& metrics, const char* result) {
    return metrics.counter("fairlead_dns_transfers_total", "Zone transfers that were asked for, by how they ended.",
                           {{"result", result}});
}

}  // namespace

struct Correspondent::Request {
    std::string_view packet;
    Asker asker;
    dns::Query query;
    std::optional<dns::TsigSigner> signer;  // none: the request was not signed
    std::optional<dns::Name> key;           // which signed it well

    [[nodiscard]] std::string_view question() const {
        using dns::header_bytes;
        return packet.substr(header_bytes, query.question_end - header_bytes);
    }
    [[nodiscard]] unsigned flags(unsigned rcode) const {
        return dns::flag_response | query.opcode << 11 | (query.recursion_desired ? dns::flag_recursion_desired : 0U) |
               rcode;
    }
    [[nodiscard]] std::unique_ptr<MessageSource> message(std::string bytes, WallTime now) {
        if (signer) signer->sign(bytes, now);
        return std::make_unique<OneMessage>(std::move(bytes));
    }
};

// One running transfer: holds its version of the zones until its end.
class Correspondent::Transfer final : public MessageSource {
public:
    Transfer(Correspondent& owner, std::unique_ptr<ZoneSet::Reader> reader, TransferStream stream,
             std::optional<dns::TsigSigner> signer, dns::Name apex, std::uint32_t serial, const dns::Address& to)
        : owner_(owner),
          reader_(std::move(reader)),
          stream_(std::move(stream)),
          signer_(std::move(signer)),
          apex_(std::move(apex)),
          serial_(serial),
          to_(to),
          began_(owner.parts_.clock.monotonic()) {
        owner_.transfers_.add(1);
    }
    ~Transfer() override {
        if (!over_) end("zone transfer ended early", owner_.failed_);
    }
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    bool next(std::string& message) override {
        if (over_) return false;
        const bool late = owner_.parts_.clock.monotonic() - began_ > owner_.limits_.longest;
        if (late) message = stream_.abort();
        const auto step = late ? TransferStream::Step::message : stream_.next(message);
        if (signer_) signer_->sign(message, owner_.parts_.clock.now());
        bytes_ += message.size();
        if (late) {
            owner_.parts_.log.warn("zone transfer took too long", {{"zone", apex_.host()}, {"to", to_.text()}});
            end("zone transfer ended early", owner_.failed_);
            return true;
        }
        switch (step) {
            case TransferStream::Step::message:
                break;
            case TransferStream::Step::last:
                end("zone transferred", owner_.completed_);
                break;
            case TransferStream::Step::too_large:
                owner_.parts_.log.warn("record is too large to transfer",
                                       {{"zone", apex_.host()}, {"record", stream_.culprit()}});
                end("zone transfer ended early", owner_.failed_);
                break;
        }
        return true;
    }

private:
    void end(std::string_view event, Counter& result) {
        over_ = true;
        result.add();
        owner_.transfers_.add(-1);
        reader_.reset();
        --owner_.running_;
        const std::chrono::duration<double> took = owner_.parts_.clock.monotonic() - began_;
        owner_.parts_.log.info(event, {{"zone", apex_.host()},
                                       {"serial", serial_},
                                       {"to", to_.text()},
                                       {"records", stream_.records()},
                                       {"bytes", bytes_},
                                       {"seconds", took.count()}});
    }

    Correspondent& owner_;
    std::unique_ptr<ZoneSet::Reader> reader_;  // keeps alive what stream_ walks over
    TransferStream stream_;
    std::optional<dns::TsigSigner> signer_;
    dns::Name apex_;
    std::uint32_t serial_;
    dns::Address to_;
    MonotonicTime began_;
    std::uint64_t bytes_ = 0;
    bool over_ = false;
};

Correspondent::Correspondent(const Parts& parts, std::uint64_t seed, const TransferLimits& limits)
    : parts_(parts),
      limits_(limits),
      policy_(std::make_shared<TransferPolicy>()),
      answerer_(parts.settings, FastRandom(seed), tally_),
      buffer_(max_message_bytes),
      completed_(transfers_that(parts.metrics, "completed")),
      failed_(transfers_that(parts.metrics, "failed")),
      refused_(transfers_that(parts.metrics, "refused")),
      limited_(transfers_that(parts.metrics, "too_many")),
      bad_signatures_(parts.metrics.counter("fairlead_dns_bad_signatures_total",
                                            "Requests whose transaction signature was not accepted.")),
      transfers_(parts.metrics.gauge("fairlead_dns_transfers_running", "Zone transfers that run now.")) {}

Correspondent::~Correspondent() = default;

void Correspondent::set_policy(std::shared_ptr<const TransferPolicy> policy) {
    const std::lock_guard lock(policy_mutex_);
    policy_ = std::move(policy);
}

std::shared_ptr<const TransferPolicy> Correspondent::policy() const {
    const std::lock_guard lock(policy_mutex_);
    return policy_;
}

void Correspondent::count(const Request& request, unsigned rcode) {
    const std::lock_guard lock(answer_mutex_);
    tally_.count(request.query.type, rcode, request.asker.stream);
}

std::unique_ptr<MessageSource> Correspondent::reply(Request& request, unsigned rcode) {
    count(request, rcode);
    MessageWriter writer(request.query.id, request.flags(rcode));
    if (!request.question().empty()) writer.question(request.question());
    if (request.query.edns) writer.edns(parts_.settings.udp_payload);
    return request.message(writer.take(), parts_.clock.now());
}

std::unique_ptr<MessageSource> Correspondent::answer(std::string_view packet, const Asker& asker) {
    Request request{packet, asker, {}, {}, {}};
    const auto verdict = dns::read_query(packet, request.query);
    switch (verdict) {
        case dns::Verdict::ignore:
            return nullptr;
        case dns::Verdict::malformed:
        case dns::Verdict::unsupported:
            return reply(request, rcode_formerr);  // the hot path has answers of its own for these
        case dns::Verdict::answer:
        case dns::Verdict::bad_version:
            break;
    }
    if (request.query.signature_at) {
        auto check = dns::check_tsig(packet, *request.query.signature_at, policy()->keys, parts_.clock.now());
        if (check.verdict != dns::TsigCheck::Verdict::valid) bad_signatures_.add();
        if (check.verdict == dns::TsigCheck::Verdict::malformed) return reply(request, rcode_formerr);
        request.signer = std::move(check.replies);
        if (check.verdict == dns::TsigCheck::Verdict::rejected) return reply(request, rcode_notauth);
        request.key = std::move(check.key);
    }
    const bool transfer = request.query.type == type_axfr || request.query.type == type_ixfr;
    if (transfer && verdict == dns::Verdict::answer) return answer_transfer(request);
    return answer_signed_query(request);
}

std::unique_ptr<MessageSource> Correspondent::answer_signed_query(Request& request) {
    const std::size_t reserve = request.signer ? request.signer->record_bytes() : 0;
    std::string bytes;
    {
        const std::lock_guard lock(answer_mutex_);
        ZoneSet::Reader zones(parts_.zones);
        Places::Reader places(parts_.places);
        const auto made =
            answerer_.answer_unsigned(zones.pin(), places.pin().get(), request.packet, request.asker, reserve, buffer_);
        if (made.kind != Reply::Kind::message) return nullptr;
        bytes.assign(buffer_.data(), made.size);
    }
    return request.message(std::move(bytes), parts_.clock.now());
}

std::unique_ptr<MessageSource> Correspondent::refuse(Request& request, const dns::Name& zone, std::string_view why) {
    refused_.add();
    // Strangers must not be able to fill the log: one line a second.
    const auto second =
        std::chrono::duration_cast<std::chrono::seconds>(parts_.clock.monotonic().time_since_epoch()).count();
    if (refusal_told_.exchange(second) != second) {
        parts_.log.info("zone transfer refused", {{"zone", zone.host()},
                                                  {"from", request.asker.address.text()},
                                                  {"key", request.key ? request.key->host() : ""},
                                                  {"why", why}});
    }
    return reply(request, rcode_refused);
}

std::unique_ptr<MessageSource> Correspondent::answer_transfer(Request& request) {
    const auto apex = dns::Name::from_wire(request.query.name);
    if (!apex) return reply(request, rcode_formerr);
    const bool incremental = request.query.type == type_ixfr;
    if (request.query.klass != class_internet) return refuse(request, *apex, "the class is not IN");
    if (!incremental && !request.asker.stream) return refuse(request, *apex, "a full transfer needs TCP");
    if (!may_copy(*policy(), *apex, request.asker.address, request.key)) {
        return refuse(request, *apex, "no transfer peer of the zone has this address and key");
    }
    const std::lock_guard lock(reader_mutex_);
    auto reader = std::make_unique<ZoneSet::Reader>(parts_.zones);
    const auto& zones = reader->pin();
    const auto sets = zones.sets(*apex, *apex);
    const auto soa = sets ? sets->find(dns::RecordType::soa) : dns::Sets::const_iterator{};
    if (!sets || soa == sets->end() || soa->second.empty() || soa->second.front().data.empty()) {
        return reply(request, rcode_servfail);  // it is configured, but not loaded yet
    }
    const auto& variant = soa->second.front();
    if (incremental) {
        const auto known = known_serial(request.packet, request.query);
        const bool current = known && same_or_newer(*known, dns::serial_of(variant.data.front()));
        // The SOA alone says: you have it all; or, over UDP: come by TCP (RFC 1995 section 2).
        if (current || !request.asker.stream) {
            count(request, 0);
            MessageWriter writer(request.query.id, request.flags(0) | dns::flag_authoritative);
            writer.question(request.question());
            writer.add(dns::Section::answer, *apex, dns::RecordType::soa, variant.ttl, variant.data.front(),
                       max_message_bytes);
            if (request.query.edns) writer.edns(parts_.settings.udp_payload);
            return request.message(writer.take(), parts_.clock.now());
        }
    }
    return start(request, std::move(reader), zones, *apex, variant);
}

std::unique_ptr<MessageSource> Correspondent::start(Request& request, std::unique_ptr<ZoneSet::Reader> reader,
                                                    const Snapshot& zones, const dns::Name& apex, dns::Variant soa) {
    if (running_.fetch_add(1) >= limits_.at_once) {
        --running_;
        limited_.add();
        parts_.log.warn("too many zone transfers at once",
                        {{"zone", apex.host()}, {"from", request.asker.address.text()}, {"limit", limits_.at_once}});
        return reply(request, rcode_servfail);
    }
    count(request, 0);
    TransferRequest wanted{request.query.id, request.query.recursion_desired, std::string(request.question()),
                           request.query.edns ? parts_.settings.udp_payload : std::uint16_t{0},
                           request.signer ? request.signer->record_bytes() : 0};
    const auto serial = dns::serial_of(soa.data.front());
    const auto walk = std::make_shared<Snapshot::Walk>(zones, apex);  // shared: functions are copied
    TransferStream stream(std::move(wanted), apex, std::move(soa),
                          [walk](dns::Name& name, dns::Sets& sets) { return walk->next(name, sets); });
    return std::make_unique<Transfer>(*this, std::move(reader), std::move(stream), std::move(request.signer), apex,
                                      serial, request.asker.address);
}

}  // namespace fairlead::dnsserver
