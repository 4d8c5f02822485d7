// The elements of a JSON array one by one, as texts: a list of 250,000 LRPs as one JSON value would take several times
// the memory of what is kept of it. Pure; used by the source over a Receptor.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace fairlead::emitter {

// Calls `element` with the text of each, in order. Errors: invalid, if the text is no array or ends in the middle; what
// is wrong inside an element is for who parses it.
Result<void> for_each_element(std::string_view array, const std::function<void(std::string_view)>& element);

}  // namespace fairlead::emitter
