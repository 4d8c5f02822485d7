// One instance may have two records while its cell is emptied: the ordinary and the evacuating one. Clients see one of
// them. Pure but for reading a snapshot.
#pragma once

#include <string_view>

#include "json/value.h"
#include "store/store.h"

namespace fairlead::apiserver::receptor {

// The ordinary record is shown if it is RUNNING or CRASHED, or if there is no other; else the evacuating one. Either
// may be null; true: the ordinary one.
bool shows_ordinary(const json::Object* ordinary, const json::Object* evacuating);

// The name in the store of an object's twin, and whether the object is the evacuating one.
struct Twin {
    std::string name;
    bool evacuating = false;
};
Twin twin_of(std::string_view name);

}  // namespace fairlead::apiserver::receptor
