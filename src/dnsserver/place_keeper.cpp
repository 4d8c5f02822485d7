#include "dnsserver/place_keeper.h"

#include "base/files.h"

namespace fairlead::dnsserver {

namespace {

double seconds(std::chrono::nanoseconds span) { return std::chrono::duration<double>(span).count(); }

}  // namespace

PlaceKeeper::Figures::Figures(Metrics& metrics)
    : networks4(
          metrics.gauge("fairlead_geoip_networks", "Networks that the geo table tells apart", {{"family", "ipv4"}})),
      networks6(
          metrics.gauge("fairlead_geoip_networks", "Networks that the geo table tells apart", {{"family", "ipv6"}})),
      places(metrics.gauge("fairlead_geoip_places", "Places that the geo table knows")),
      seconds(metrics.gauge("fairlead_geoip_load_seconds", "How long the last load of the geo table took")),
      success(
          metrics.gauge("fairlead_geoip_last_load_success", "1 if the last load of the geo table went well, else 0")),
      loaded_at(metrics.gauge("fairlead_geoip_loaded_timestamp_seconds", "When the geo table in force was loaded")),
      loads(metrics.counter("fairlead_geoip_loads_total", "Loads of the geo table", {{"result", "success"}})),
      failures(metrics.counter("fairlead_geoip_loads_total", "Loads of the geo table", {{"result", "failure"}})) {}

PlaceKeeper::PlaceKeeper(PlaceOptions options, const Clock& clock, Log& log, Metrics& metrics)
    : options_(std::move(options)),
      clock_(clock),
      log_(log),
      figures_(metrics),
      places_(std::make_unique<const std::shared_ptr<const geo::Table>>()) {}

Result<std::unique_ptr<PlaceKeeper>> PlaceKeeper::start(PlaceOptions options, const Clock& clock, Log& log,
                                                        Metrics& metrics) {
    std::unique_ptr<PlaceKeeper> keeper(new PlaceKeeper(std::move(options), clock, log, metrics));
    if (keeper->options_.file.empty() && keeper->options_.overrides.empty()) return keeper;
    auto table = keeper->load();
    if (!table) return fail(table.error());
    keeper->places_.publish(std::make_unique<const std::shared_ptr<const geo::Table>>(std::move(*table)));
    return keeper;
}

Result<std::shared_ptr<const geo::Table>> PlaceKeeper::load() {
    // Before it is read: what changes meanwhile has another stamp, and is seen by the next look.
    if (!options_.file.empty()) tried_ = pending_ = file_stamp(options_.file);
    const auto started = clock_.monotonic();
    auto table = geo::Table::load(options_.file, options_.overrides);
    const auto took = seconds(clock_.monotonic() - started);
    figures_.seconds.set(took);
    figures_.success.set(table ? 1 : 0);
    (table ? figures_.loads : figures_.failures).add();
    if (!table) return table;
    const auto size = (*table)->size();
    figures_.networks4.set(static_cast<double>(size.networks4));
    figures_.networks6.set(static_cast<double>(size.networks6));
    figures_.places.set(static_cast<double>(size.places));
    figures_.loaded_at.set(seconds(clock_.now().time_since_epoch()));
    log_.info("places loaded", {{"file", options_.file.string()},
                                {"networks", size.networks4 + size.networks6},
                                {"places", size.places},
                                {"overrides", options_.overrides.size()},
                                {"bytes", size.bytes},
                                {"seconds", took}});
    return table;
}

void PlaceKeeper::load_and_publish() {
    auto table = load();
    if (!table) {
        log_.warn("cannot load the places, the old ones count", {{"why", table.error().text()}});
        return;
    }
    places_.publish(std::make_unique<const std::shared_ptr<const geo::Table>>(std::move(*table)));
}

void PlaceKeeper::check() {
    places_.collect();
    if (options_.file.empty()) return;
    auto stamp = file_stamp(options_.file);
    if (stamp == tried_) return;
    if (stamp != pending_) {
        pending_ = std::move(stamp);
        return;
    }
    load_and_publish();
}

void PlaceKeeper::reload() {
    if (!options_.file.empty()) load_and_publish();
}

}  // namespace fairlead::dnsserver
