// The compiled zones as the oracle reads them: what `explain` says is about the very bytes that are being served.
#pragma once

#include <optional>

#include "dns/zone_source.h"
#include "dnsserver/zone_set.h"

namespace fairlead::dnsserver {

class SnapshotSource : public dns::ZoneSource {
public:
    // The snapshot stays pinned as long as this is used.
    explicit SnapshotSource(const Snapshot& snapshot) : snapshot_(&snapshot) {}

    [[nodiscard]] std::optional<dns::Name> zone_of(const dns::Name& name) const override {
        return snapshot_->zone_of(name);
    }
    [[nodiscard]] std::optional<dns::Sets> sets(const dns::Name& apex, const dns::Name& name) const override {
        return snapshot_->sets(apex, name);
    }

private:
    const Snapshot* snapshot_;
};

}  // namespace fairlead::dnsserver
