// What is wanted in a zone and what is there, by name, so that a change of one record looks at its own names only.
// Names are in plan::normal_name form. Used by ZoneRunner; one thread at a time.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dns/endpoint.h"
#include "plan/change.h"
#include "plan/registry.h"
#include "publish/order.h"

namespace fairlead::publish {

using Names = std::set<std::string, std::less<>>;

// What has become of one endpoint of a DNSRecord.
struct EndpointStatus {
    enum class State {
        unknown,  // not looked at yet
        applied,
        planned,      // dryRun
        held,         // waits for an approval
        skipped,      // left alone
        refused,      // by the provider, or it does not converge
        unavailable,  // the provider cannot be reached
    } state = State::unknown;
    std::string reason, message, change_id;
    bool in_sync = true;
    bool operator==(const EndpointStatus&) const = default;
};

// An endpoint of a DNSRecord: where something that is wanted comes from.
struct Origin {
    std::string record;
    std::size_t endpoint = 0;
    auto operator<=>(const Origin&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

class ZoneBook {
public:
    struct Wanted {
        RecordOrder order;
        std::vector<EndpointStatus> statuses;  // one per endpoint
    };

    // --- wanted ---
    // What of it is as it was keeps its status.
    void put(RecordOrder record);
    void remove(std::string_view key);
    [[nodiscard]] Wanted* find(std::string_view key);
    [[nodiscard]] const std::map<std::string, Wanted, std::less<>>& records() const { return records_; }
    [[nodiscard]] std::vector<Origin> wanted_at(std::string_view name) const;
    [[nodiscard]] std::size_t wanted() const { return wanted_endpoints_; }

    // --- there ---
    void set_present(std::vector<dns::Endpoint> endpoints, const plan::Registry& registry);
    // What was read of exactly these names.
    void replace_present(const std::vector<std::string>& names, std::vector<dns::Endpoint> endpoints,
                         const plan::Registry& registry);
    void apply(const plan::ChangeGroup& group, const plan::Registry& registry);
    // What has to be known to judge these names: their records, every TXT set that may say who owns them, and the
    // records of other names that such a set may speak of instead.
    [[nodiscard]] std::vector<dns::Endpoint> present_around(const std::vector<std::string>& names,
                                                            const plan::Registry& registry) const;
    [[nodiscard]] std::size_t present() const { return present_endpoints_; }

    // --- what to look at ---
    // Names of records whose wish or state has changed since.
    [[nodiscard]] Names& touched() { return touched_; }
    [[nodiscard]] const Names& touched() const { return touched_; }
    // Every name that is wanted or there.
    [[nodiscard]] Names all_names() const;

private:
    void insert(dns::Endpoint endpoint, const plan::Registry& registry);
    void erase(const dns::Endpoint& endpoint, const plan::Registry& registry);
    void link(const dns::Endpoint& endpoint, std::string_view at, const plan::Registry& registry);
    void unlink(const dns::Endpoint& endpoint, std::string_view at, const plan::Registry& registry);

    std::map<std::string, Wanted, std::less<>> records_;
    std::map<std::string, std::vector<Origin>, std::less<>> wanted_;  // by name
    std::size_t wanted_endpoints_ = 0;
    std::map<std::string, std::vector<dns::Endpoint>, std::less<>> present_;  // by their own name
    std::map<std::string, Names, std::less<>> owner_names_;  // by record name: where its ownership records stand
    std::size_t present_endpoints_ = 0;
    Names touched_;
};

}  // namespace fairlead::publish
