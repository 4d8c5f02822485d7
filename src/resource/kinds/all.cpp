// Gathers the kinds that all.inc lists. Called once at start. It includes no kind's header, so that a new kind is one
// new file and one line in the list, and a changed one recompiles nothing else.
#include "resource/kind.h"

namespace fairlead::resource {

#define KIND(name) Kind name##_kind();
#include "resource/kinds/all.inc"
#undef KIND

Kinds make_kinds() {
    std::vector<Kind> kinds;
#define KIND(name) kinds.push_back(name##_kind());
#include "resource/kinds/all.inc"
#undef KIND
    return Kinds(std::move(kinds));
}

}  // namespace fairlead::resource
