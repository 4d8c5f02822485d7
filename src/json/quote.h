// One string as JSON, for those who write texts without building values. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::json {

// In quotes, escaped, appended.
void append_quoted(std::string_view text, std::string& out);

}  // namespace fairlead::json
