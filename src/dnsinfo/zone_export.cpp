#include "dnsinfo/zone_export.h"

#include <fmt/core.h>

#include <iterator>

#include "dnsinfo/zone_text.h"

namespace fairlead::dnsinfo {

namespace {

constexpr std::size_t slice_bytes = std::size_t{64} << 10U;

}  // namespace

ZoneExport::ZoneExport(std::unique_ptr<ExportPlace> place, std::unique_ptr<dnsserver::ZoneSet::Reader> reader,
                       const dnsserver::Snapshot& snapshot, dns::Name apex, NameOrder names, const Clock& clock)
    : place_(std::move(place)),
      reader_(std::move(reader)),
      snapshot_(snapshot),
      apex_(std::move(apex)),
      names_(std::move(names)),
      clock_(clock),
      deadline_(clock.monotonic() + max_export_time) {}

net::StreamBody::Next ZoneExport::pull(std::string& out) {
    if (clock_.monotonic() > deadline_) {
        fmt::format_to(std::back_inserter(out), "; cut off: the export took longer than {} minutes\n",
                       max_export_time.count());
        return Next::end;
    }
    const auto before = out.size();
    if (!begun_) {
        begun_ = true;
        fmt::format_to(
            std::back_inserter(out),
            "; zone {}, serial {}, {} names\n"
            "; A set with a policy stands here as for a client at an unknown place, with all its variants as "
            "comments.\n",
            apex_.text(), snapshot_.serial(apex_).value_or(0), names_.size());
    }
    while (next_ < names_.size()) {
        if (out.size() - before >= slice_bytes) return Next::data;
        const auto name = names_.at(next_++);
        if (const auto sets = snapshot_.sets(apex_, name)) append_name(name, *sets, out);
    }
    fmt::format_to(std::back_inserter(out), "{}{}\n", end_of_zone, apex_.text());
    return Next::end;
}

}  // namespace fairlead::dnsinfo
