// Writes what the DNS server has made of DNSRecords and ManagedZones into their conditions, and tells people of names
// whose chains lead nowhere. The verdicts come from the feed (src/dnsfeed) through a board; this decides only whether
// there is something to write. Made by main; runs in a Manager. Keys are "record|namespace/name", "zone|namespace/name"
// and one for the chains.
//
// Records get Ready, and Planned, Applied and Skipped (record_conditions.h) as those of other providers do, in one
// write.
//
// A status is durable, so it is written sparingly: not when only the serial is another (a restart would rewrite every
// record), and the figures of a busy zone at most every half minute.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "control/context.h"
#include "dns/verdict.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/managed_zone.h"

namespace fairlead::controller {

struct DnsStatusOptions {
    std::chrono::nanoseconds figures_every = std::chrono::seconds(30);
    std::chrono::nanoseconds chains_every = std::chrono::seconds(5);
    // A name that a query found to lead nowhere; empty: nobody looks.
    std::function<std::optional<dns::Name>()> next_looped;
};

class DnsStatus final : public control::Reconciler {
public:
    // The board outlives it.
    DnsStatus(control::Context& context, dns::VerdictBoard& board, DnsStatusOptions options);
    ~DnsStatus() override;
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    // The figures of a zone that were last written, or found when we came.
    struct Figures {
        std::optional<MonotonicTime> written;
        std::uint32_t serial = 0;
        std::uint64_t record_sets = 0;
    };

    void take_news();
    void report(const dns::ChainReport& report);
    Again look_for_chains();
    Result<Again> write_record(const std::string& name, const dns::ObjectVerdict& verdict, json::Value object);
    Result<Again> write_zone(const std::string& name, const dns::ObjectVerdict& verdict, json::Value object);
    Result<Again> write(const control::ObjectId& id, const dns::ObjectVerdict& verdict, json::Value object, bool tell);

    control::Context& context_;
    dns::VerdictBoard& board_;
    DnsStatusOptions options_;
    control::Informer& records_;
    control::Informer& zones_;
    std::map<control::Key, dns::ObjectVerdict> pending_;  // taken from the board, not done
    std::map<std::string, Figures> figures_;              // by zone
};

// Ready, as the verdict wants it.
resource::Condition ready_condition(const dns::ObjectVerdict& verdict);
// Whether the condition says the same already: since when something is served is not worth a write.
bool says(const resource::Condition* present, const resource::Condition& wanted);

}  // namespace fairlead::controller
