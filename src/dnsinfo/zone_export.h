// A whole zone as text, made while it is sent: what is kept is the snapshot and the names in their order, however long
// the text is. Pulled by its session's thread.
#pragma once

#include <atomic>
#include <memory>

#include "base/clock.h"
#include "dnsinfo/name_order.h"
#include "dnsserver/zone_set.h"
#include "net/http.h"

namespace fairlead::dnsinfo {

// A reader who takes longer than this holds back memory of the server, and is cut off.
inline constexpr std::chrono::minutes max_export_time{10};

// The last line of a text that is whole begins with this.
inline constexpr std::string_view end_of_zone = "; end of zone ";

// One of few places for exports; given back when it is destroyed.
class ExportPlace {
public:
    explicit ExportPlace(std::atomic<int>& taken) : taken_(&taken) {}
    ~ExportPlace() { taken_->fetch_sub(1); }
    ExportPlace(const ExportPlace&) = delete;
    ExportPlace& operator=(const ExportPlace&) = delete;

private:
    std::atomic<int>* taken_;
};

class ZoneExport final : public net::StreamBody {
public:
    // `reader` is pinned to `snapshot`, which holds the zone.
    ZoneExport(std::unique_ptr<ExportPlace> place, std::unique_ptr<dnsserver::ZoneSet::Reader> reader,
               const dnsserver::Snapshot& snapshot, dns::Name apex, NameOrder names, const Clock& clock);

    void start(std::function<void()> /*wake*/) override {}  // never waits
    Next pull(std::string& out) override;

private:
    std::unique_ptr<ExportPlace> place_;
    std::unique_ptr<dnsserver::ZoneSet::Reader> reader_;
    const dnsserver::Snapshot& snapshot_;
    dns::Name apex_;
    NameOrder names_;
    const Clock& clock_;
    MonotonicTime deadline_;
    std::size_t next_ = 0;
    bool begun_ = false;
};

}  // namespace fairlead::dnsinfo
