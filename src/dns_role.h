// Everything that the role `dns` of the server is made of, in the order in which the parts need each other. Zones: the
// store -> Feed -> ZoneSet -> DnsServer's workers; verdicts: Feed -> VerdictBoard -> the controllers. Wiring only, like
// main.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/random.h"
#include "base/result.h"
#include "cli/options.h"
#include "dns/verdict.h"
#include "dnsfeed/feed.h"
#include "dnsfeed/feed_thread.h"
#include "dnsinfo/zone_info.h"
#include "dnsserver/correspondent.h"
#include "dnsserver/dns_server.h"
#include "dnsserver/notifier.h"
#include "dnsserver/place_keeper.h"
#include "dnsserver/zone_set.h"

namespace fairlead {

class DnsRole {
public:
    // Answers from its data when it returns. `max_connections`: of TCP. Errors: those of an address, a thread, a file.
    static Result<std::unique_ptr<DnsRole>> start(const cli::ServeOptions& options, std::size_t max_connections,
                                                  store::Store& store, const Clock& clock, Random& random, Log& log,
                                                  Metrics& metrics);
    DnsRole(const DnsRole&) = delete;
    DnsRole& operator=(const DnsRole&) = delete;

    // With the ports that were chosen.
    [[nodiscard]] std::vector<std::string> addresses() const;
    // What people may ask about the zones.
    [[nodiscard]] const dnsinfo::ZoneInfo& info() const { return info_; }
    // Reads the file of places again, changed or not. Of the thread that maintains.
    void reload() { places_->reload(); }
    // For /readyz: why it is not what it should be; nothing if it is.
    [[nodiscard]] std::optional<std::string> problem() const;
    // What is due from time to time; called every few seconds by one thread.
    void maintain();
    // What has become of records and zones, for the controllers.
    dns::VerdictBoard& verdicts() { return verdicts_; }
    // A name whose chain was found to lead nowhere. One thread.
    std::optional<dns::Name> next_looped() { return server_->next_looped(); }
    // No answer after it.
    void stop();

private:
    DnsRole(std::unique_ptr<dnsserver::PlaceKeeper> places, const cli::ServeOptions& options, const Clock& clock,
            Random& random, Log& log, Metrics& metrics);
    [[nodiscard]] dnsfeed::FeedListener listener();

    const dnsserver::AnswerSettings settings_;
    dnsserver::ZoneSet zones_;
    std::unique_ptr<dnsserver::PlaceKeeper> places_;
    dnsinfo::ZoneInfo info_;
    dnsserver::Correspondent correspondent_;
    std::unique_ptr<dnsserver::Notifier> notifier_;
    std::shared_ptr<const dnsserver::TransferPolicy> policy_;  // of the feed's thread
    dns::VerdictBoard verdicts_;
    std::unique_ptr<dnsfeed::Feed> feed_;
    std::unique_ptr<dnsserver::DnsServer> server_;      // last but one: its threads use everything above
    std::unique_ptr<dnsfeed::FeedThread> feed_thread_;  // so does this one
};

}  // namespace fairlead
