// Prints docs/api.md from the kinds: ./dev docs. A test compares the file with what this prints.
#include <fmt/core.h>

#include "resource/kind.h"
#include "resource/openapi.h"

int main() {
    fmt::print("{}", fairlead::resource::api_reference(fairlead::resource::make_kinds()));
    return 0;
}
