// v1 Secret: keys, certificates and passwords that other objects name.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

inline constexpr std::size_t max_secret_bytes = 1024 * 1024;  // of decoded data, as Kubernetes limits it

struct Secret {
    ObjectMeta metadata;
    std::map<std::string, std::string> data;  // base64
    std::map<std::string, std::string> string_data;
    std::string type;
    std::optional<bool> immutable;
    bool operator==(const Secret&) const = default;
    static void describe(Fields<Secret>& f);
};

Kind secret_kind();

}  // namespace fairlead::resource
