// Following one object until something holds; what `wait` and `delete --wait` share.
#pragma once

#include <functional>

#include "cli/follow.h"
#include "cli/session.h"

namespace fairlead::cli {

// Asks for the object, then follows it from that revision. `holds` gets null when it does not exist. True: it holds;
// false: the deadline passed.
Answer<bool> wait_for_object(Session& session, const ResourceType& type, const std::string& name_space,
                             const std::string& name, std::optional<MonotonicTime> deadline,
                             const std::function<bool(const json::Value* object)>& holds);

}  // namespace fairlead::cli
