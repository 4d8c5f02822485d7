// Texts of what the LRP kinds share. Pure.
#include "resource/kinds/lrp.h"

namespace fairlead::resource {

void ModificationTag::describe(Fields<ModificationTag>& f) {
    f.name("ModificationTag").doc("Orders versions of one LRP, so that events and snapshots merge in any order.");
    f.field("epoch", &ModificationTag::epoch, "Made anew when the LRP is created.").length(0, 128);
    f.field("index", &ModificationTag::index, "Counts changes since then.").minimum(0);
}

}  // namespace fairlead::resource
