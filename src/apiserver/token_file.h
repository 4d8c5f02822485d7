// The file of --token-auth-file: one token per line in the CSV form of Kubernetes, `token,user,uid,"group1,group2"`.
// Keeps SHA-256 sums, not tokens. Read at start, read again when it changes or when asked; a file that cannot be read
// leaves what was read before. Thread-safe.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/caller.h"
#include "base/result.h"

namespace fairlead::apiserver {

using StaticTokens = std::map<std::string, User>;  // by SHA-256 of the token

// Errors name the line. Empty lines and lines that start with '#' do not count.
Result<StaticTokens> parse_tokens(std::string_view csv);

class TokenFile {
public:
    static Result<std::unique_ptr<TokenFile>> open(std::filesystem::path path);

    [[nodiscard]] std::optional<User> find(std::string_view token) const;
    // Reads it again if it has changed since (`force`: in any case). True if it was read.
    Result<bool> reload(bool force);
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::size_t size() const { return current()->size(); }

private:
    explicit TokenFile(std::filesystem::path path) : path_(std::move(path)) {}
    [[nodiscard]] std::shared_ptr<const StaticTokens> current() const;

    std::filesystem::path path_;
    mutable std::mutex mutex_;
    std::shared_ptr<const StaticTokens> tokens_;
    std::string stamp_;  // modification time, size and file number of what was read last
};

}  // namespace fairlead::apiserver
