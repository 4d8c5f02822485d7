// Names as providers of routes write them ("Foo.com/Path/?x"), made into the one form that we compare. Pure; used by
// this layer, and by who tells LRPs what has become of their names.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "traffic/table.h"

namespace fairlead::lrp {

inline constexpr std::size_t max_path_bytes = 4096;  // as spec.path of a Route

// A host name in lower case, without a dot at its end; other alphabets become A-labels. Letters, digits, "-" and "_"
// (Cloud Foundry allows it in a host). Errors: invalid, saying the rule.
Result<std::string> read_host(std::string_view text);
// [*.]host[/path]; query and slashes at the end are cut, as gorouter does. Errors as read_host.
Result<std::string> read_name(std::string_view text);

// Of what read_name has made.
traffic::RuleKey key_of(std::string_view name);
// The other way: "*.foo.com/path".
std::string text_of(const traffic::RuleKey& key);
void append_text(std::string& out, const traffic::RuleKey& key);

}  // namespace fairlead::lrp
