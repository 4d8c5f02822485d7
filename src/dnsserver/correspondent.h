// Answers what the hot path hands over: signed queries (RFC 8945) and zone transfers (AXFR, RFC 5936; IXFR, answered as
// a full transfer). Made once; the loops of all workers ask it.
//
// Threads: answer() and set_policy() from any; a MessageSource from one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/metrics.h"
#include "dns/query.h"
#include "dns/tsig.h"
#include "dnsserver/answer.h"
#include "dnsserver/message_source.h"
#include "dnsserver/places.h"
#include "dnsserver/tally.h"
#include "dnsserver/transfer_policy.h"
#include "dnsserver/zone_set.h"

namespace fairlead::dnsserver {

struct TransferLimits {
    std::size_t at_once = 8;  // beyond that SERVFAIL, after which secondaries come back
    // A transfer keeps the version of the zones alive that it began with, and all that has changed since.
    std::chrono::seconds longest{300};
};

class Correspondent {
public:
    struct Parts {
        Published<Snapshot>& zones;
        Places& places;
        const AnswerSettings& settings;
        const Clock& clock;
        Log& log;
        Metrics& metrics;
    };
    // The parts outlive it. `seed`: for weights in signed answers.
    Correspondent(const Parts& parts, std::uint64_t seed, const TransferLimits& limits = {});
    ~Correspondent();
    Correspondent(const Correspondent&) = delete;
    Correspondent& operator=(const Correspondent&) = delete;

    // Who may copy zones from now on. Transfers that run go on.
    void set_policy(std::shared_ptr<const TransferPolicy> policy);

    // Null: no answer is due. The source does not outlive the Correspondent.
    std::unique_ptr<MessageSource> answer(std::string_view packet, const Asker& asker);

    // What it has counted, as the workers count theirs.
    [[nodiscard]] const Tally& tally() const { return tally_; }

private:
    class Transfer;
    struct Request;

    std::unique_ptr<MessageSource> answer_signed_query(Request& request);
    std::unique_ptr<MessageSource> answer_transfer(Request& request);
    std::unique_ptr<MessageSource> start(Request& request, std::unique_ptr<ZoneSet::Reader> reader,
                                         const Snapshot& zones, const dns::Name& apex, dns::Variant soa);
    std::unique_ptr<MessageSource> reply(Request& request, unsigned rcode);
    std::unique_ptr<MessageSource> refuse(Request& request, const dns::Name& zone, std::string_view why);
    void count(const Request& request, unsigned rcode);
    [[nodiscard]] std::shared_ptr<const TransferPolicy> policy() const;

    Parts parts_;
    TransferLimits limits_;
    std::atomic<std::size_t> running_{0};
    std::atomic<std::int64_t> refusal_told_{-1};  // the second in which the last line about a refusal was written

    mutable std::mutex policy_mutex_;
    std::shared_ptr<const TransferPolicy> policy_;

    // Places for readers of zones are few (max_readers): of all threads that come here one at a time takes one, which a
    // transfer then keeps.
    std::mutex reader_mutex_;
    std::mutex answer_mutex_;  // of the next three: signed queries are rare, one at a time is enough
    Tally tally_;
    Answerer answerer_;
    std::vector<char> buffer_;

    Counter completed_, failed_, refused_, limited_, bad_signatures_;
    Gauge transfers_;
};

}  // namespace fairlead::dnsserver
