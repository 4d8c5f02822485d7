// One process at a time: a lock file beside the store's file, held by flock as long as this object lives and gone with
// the process however it ends. The file names its holder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <utility>

#include "base/result.h"

namespace fairlead::store {

class FileLock {
public:
    // Errors: unavailable (says which process holds it), internal (the file cannot be made).
    static Result<FileLock> take(const std::filesystem::path& file);
    FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    FileLock& operator=(FileLock&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~FileLock();

private:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
};

// Makes the file if it is not there, readable by its owner only (it holds Secrets), and makes that durable.
Result<void> create_private_file(const std::filesystem::path& file);

// Appends zeros until the file has this size, and makes them durable: writing over what is there needs no change of the
// file's metadata, which makes an fsync up to twice as fast. Nobody else may write to it meanwhile. Only a help, so
// that a failure (a full disk) is not one.
void fill_with_zeros(const std::filesystem::path& file, std::size_t size);

}  // namespace fairlead::store
