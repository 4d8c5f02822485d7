#include "store/file_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "base/text.h"

namespace fairlead::store {
namespace {

auto system_failure(const std::filesystem::path& file, std::string_view what) {
    return fail(Errc::internal, file.string(), fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

std::string holder(int descriptor) {
    std::array<char, 32> text{};
    const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
    const auto pid = trim(std::string_view(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0));
    return pid.empty() ? "another process" : fmt::format("process {}", pid);
}

}  // namespace

Result<FileLock> FileLock::take(const std::filesystem::path& file) {
    const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return system_failure(file, "cannot open the lock file");
    FileLock lock(descriptor);
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return system_failure(file, "cannot lock");
        return fail(Errc::unavailable, file.string(),
                    fmt::format("the store is in use by {}; only one process may open it", holder(descriptor)));
    }
    const std::string pid = fmt::format("{}\n", getpid());
    // Only a help for people: the lock holds without it.
    if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, pid.data(), pid.size(), 0) < 0) {
        return system_failure(file, "cannot write the lock file");
    }
    return lock;
}

FileLock::~FileLock() {
    if (descriptor_ >= 0) close(descriptor_);
}

Result<void> create_private_file(const std::filesystem::path& file) {
    const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return system_failure(file, "cannot open");
    close(descriptor);
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    const int parent = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0) return system_failure(folder, "cannot open the folder");
    const int synced = fsync(parent);
    const int error = errno;
    close(parent);
    errno = error;
    if (synced != 0) return system_failure(folder, "cannot sync the folder");
    return {};
}

void fill_with_zeros(const std::filesystem::path& file, std::size_t size) {
    const int descriptor = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    const std::vector<char> zeros(std::size_t{1} << 20);
    const off_t end = lseek(descriptor, 0, SEEK_END);
    for (auto at = static_cast<std::size_t>(std::max<off_t>(end, 0)); at < size;) {
        const ssize_t written = write(descriptor, zeros.data(), std::min(zeros.size(), size - at));
        if (written <= 0) break;
        at += static_cast<std::size_t>(written);
    }
    fsync(descriptor);
    close(descriptor);
}

}  // namespace fairlead::store
