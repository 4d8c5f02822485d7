// Files that say they are MMDB: loading ends with a table or with an error that names the file, and a table knows for
// each address a network that holds it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz.h"
#include "geo/table.h"

// libmaxminddb 1.7 forgets what it had read of broken metadata when it refuses a file.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
    return "leak:libmaxminddb";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using fairlead::fuzz::require;
    const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
    require(fd >= 0 && ::write(fd, data, size) == static_cast<ssize_t>(size), "the input can be written");
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    const auto table = fairlead::geo::Table::load(path, {});
    ::close(fd);
    if (!table) {
        require(table.error().message.starts_with(path), "an error names the file", table.error().text());
        return 0;
    }
    for (const auto* text : {"0.0.0.0", "192.0.2.1", "255.255.255.255", "::", "2002:c000:201::1", "2001:db8::1"}) {
        const auto address = fairlead::dns::Address::parse(text).value();
        const auto found = (*table)->find(address);
        require(found.place != nullptr && found.scope <= address.bits(), "an address has a place", text);
    }
    return 0;
}
