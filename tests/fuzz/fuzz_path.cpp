// Request targets as strangers write them: parsing must never crash, and a path that is accepted must mean one thing
// only.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/request_info.h"
#include "base/text.h"
#include "fuzz.h"

namespace {

using fairlead::fuzz::require;

bool clean(std::string_view segment) {
    return segment.find('/') == std::string_view::npos && segment != "." && segment != ".." &&
           segment.find('\0') == std::string_view::npos;
}

// The decoded path as a client would send it: a name may hold a question mark or a percent sign.
std::string encoded(std::string_view path) {
    std::string out;
    for (const std::string_view segment : fairlead::split(path, '/')) {
        if (segment.data() != path.data()) out += '/';
        out += fairlead::percent_encode(segment);
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using fairlead::apiserver::RequestInfo;
    const std::string_view target(reinterpret_cast<const char*>(data), size);
    const auto info = fairlead::apiserver::parse_target(target);
    for (const auto* part :
         {&info.group, &info.version, &info.namespace_, &info.resource, &info.name, &info.subresource}) {
        require(clean(*part), "no part of an accepted path holds a separator", *part);
    }
    if (info.type == RequestInfo::Type::resource) {
        require(!info.resource.empty() && !info.version.empty(), "a resource has a name and a version", info.path);
        require(info.subresource.empty() || !info.name.empty(), "a subresource is one of an object", info.path);
        // What was accepted once is accepted again, as the same thing.
        const auto again = fairlead::apiserver::parse_target(encoded(info.path));
        require(again.resource == info.resource && again.name == info.name && again.namespace_ == info.namespace_,
                "an accepted path means the same when it is read again", info.path);
    }
    (void)fairlead::apiserver::parse_query(info.query);
    for (const auto* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) (void)info.verb(method, false);
    return 0;
}
