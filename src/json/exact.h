// JSON text as it was written: parts of a text without the way through a value, which forgets how a number was spelt,
// which members were repeated and what was escaped. For what must be given back byte for byte (routes of LRPs). Pure.
// Every function takes text that parse() of value.h accepts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace fairlead::json {

struct TextMember {
    std::string name;       // unescaped
    std::string_view text;  // of the value, as written
};

// Members of an object in the order of the text, repeated ones too; empty for any other value.
std::vector<TextMember> text_members(std::string_view text);
// Text of the value under a name of an object; of a repeated one the last, as parse() has it. Empty: there is none.
std::string_view text_at(std::string_view text, std::string_view name);
// Without the white space between tokens; the tokens themselves stay as they are.
std::string compact(std::string_view text);

// Removes members of objects that are null, at every depth: as good as absent, as Go's decoders see it.
void drop_nulls(Value& value);

}  // namespace fairlead::json
