// The etcd of a SkyDNS or CoreDNS beside us: its writer and the thread that steps it. Services: LrpDns -> EtcdWriter ->
// etcd; news of its state: EtcdWriter -> LrpDns. Wiring only, like main.cpp.
#pragma once

#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "cli/options.h"
#include "skydns/etcd_writer.h"

namespace fairlead {

class SkydnsRole {
public:
    // With the files that the options name. Errors: what cannot be read.
    static Result<skydns::EtcdOptions> options_of(const cli::SkydnsOptions& options);

    // Without endpoints it does nothing.
    SkydnsRole(skydns::EtcdOptions options, const Clock& clock, Random& random, Log& log, Metrics& metrics);
    ~SkydnsRole();
    SkydnsRole(const SkydnsRole&) = delete;
    SkydnsRole& operator=(const SkydnsRole&) = delete;

    // Null: there is no etcd.
    skydns::EtcdWriter* writer() { return writer_ ? &*writer_ : nullptr; }
    // Nothing is written while `leading` says no. Once, when the controllers are there but do not run yet.
    void start(std::function<bool()> leading);
    // After it nothing is written; the keys stay until their lease ends, for whoever comes next to take them over.
    void stop();

private:
    const Clock& clock_;
    std::function<bool()> leading_;
    std::optional<skydns::EtcdWriter> writer_;
    std::optional<StepThread> thread_;  // last: steps the writer
};

}  // namespace fairlead
