// Request targets as strangers write them: parsing must never crash, and a path that is accepted must mean one thing
// only.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "apiserver/request_info.h"

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

bool clean(std::string_view segment) {
    return segment.find('/') == std::string_view::npos && segment != "." && segment != ".." &&
           segment.find('\0') == std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using fairlead::apiserver::RequestInfo;
    const std::string_view target(reinterpret_cast<const char*>(data), size);
    const auto info = fairlead::apiserver::parse_target(target);
    for (const auto* part :
         {&info.group, &info.version, &info.namespace_, &info.resource, &info.name, &info.subresource}) {
        require(clean(*part));
    }
    if (info.type == RequestInfo::Type::resource) {
        require(!info.resource.empty() && !info.version.empty());
        require(info.subresource.empty() || !info.name.empty());
        // What was accepted once is accepted again, as the same thing.
        const auto again = fairlead::apiserver::parse_target(info.path);
        require(again.resource == info.resource && again.name == info.name && again.namespace_ == info.namespace_);
    }
    (void)fairlead::apiserver::parse_query(info.query);
    for (const auto* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) (void)info.verb(method, false);
    return 0;
}
