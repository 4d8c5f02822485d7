// The provider "zonefile": a file that BIND or NSD serves. Each change reads the file, checks that what is to change is
// as it was believed to be, writes it anew with a higher serial, in one step, and runs the reload command. Records of
// others stay. A file that cannot be read as a zone is never written. Used by src/publish.
//
// A reload that fails is run again by every call until it works: FILE.pending says so, also to the next process.
#pragma once

#include "provider/provider.h"

namespace fairlead::provider::zonefile {

struct Limits {
    std::chrono::milliseconds reload{30'000};
};

// Errors of what it makes: invalid; the field is "spec.zonefile.file".
Result<std::unique_ptr<Provider>> make(const ZoneSettings& settings, const Surroundings& surroundings,
                                       const Limits& limits = {});
Providers::Make maker(const Surroundings& surroundings);

}  // namespace fairlead::provider::zonefile
