#include "proxy/names.h"

#include "base/text.h"

namespace fairlead::proxy {

std::string encoded(std::string_view name) {
    std::string text;
    for (const auto part : split(name, '/')) {
        if (!text.empty() || part.data() != name.data()) text += '/';
        text += percent_encode(part);
    }
    return text;
}

}  // namespace fairlead::proxy
