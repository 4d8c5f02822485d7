#include "apiserver/token_file.h"

#include <fmt/core.h>

#include <vector>

#include "apiserver/impersonation.h"
#include "base/files.h"
#include "base/text.h"

namespace fairlead::apiserver {

namespace {

constexpr std::size_t max_file_bytes = 16UL * 1024 * 1024;

// The fields of one line; a field in quotes may hold commas, and quotes written twice.
Result<std::vector<std::string>> fields_of(std::string_view line) {
    std::vector<std::string> fields(1);
    std::size_t at = 0;
    while (at < line.size()) {
        if (line[at] == '"' && trim(fields.back()).empty()) {
            fields.back().clear();
            for (++at;; ++at) {
                if (at >= line.size()) return fail(Errc::invalid, "a quote is not closed");
                if (line[at] != '"') {
                    fields.back() += line[at];
                } else if (at + 1 < line.size() && line[at + 1] == '"') {
                    fields.back() += line[at++];
                } else {
                    break;
                }
            }
            at = line.find_first_not_of(" \t", at + 1);
            if (at == std::string_view::npos) break;
            if (line[at] != ',') return fail(Errc::invalid, "text after a closing quote");
        } else if (line[at] == ',') {
            fields.emplace_back();
            ++at;
        } else {
            fields.back() += line[at++];
        }
    }
    for (auto& field : fields) field = std::string(trim(field));
    return fields;
}

Result<void> add_line(std::string_view line, StaticTokens& tokens) {
    const auto fields = fields_of(line);
    if (!fields) return fail(fields.error());
    if (fields->size() < 3) {
        return fail(Errc::invalid, fmt::format("token, user and uid are expected, it has {} of them", fields->size()));
    }
    if (fields->size() > 4) {
        return fail(Errc::invalid, "more than four fields: several groups stand in quotes, \"group1,group2\"");
    }
    const auto& token = (*fields)[0];
    if (token.empty()) return fail(Errc::invalid, "the token is empty");
    User user;
    user.name = (*fields)[1];
    user.uid = (*fields)[2];
    if (user.name.empty()) return fail(Errc::invalid, "the user is empty");
    if (fields->size() == 4 && !(*fields)[3].empty()) {
        for (const auto group : split((*fields)[3], ',')) {
            const auto name = trim(group);
            if (name.empty()) return fail(Errc::invalid, "a group is empty");
            user.groups.emplace_back(name);
        }
    }
    complete_groups(user);
    // A token that stands there twice would make one of its users a surprise.
    if (!tokens.emplace(sha256_hex(token), std::move(user)).second) {
        return fail(Errc::invalid, "the token stands in an earlier line, too");
    }
    return {};
}

}  // namespace

Result<StaticTokens> parse_tokens(std::string_view csv) {
    StaticTokens tokens;
    std::size_t number = 0;
    for (const auto raw : split(csv, '\n')) {
        ++number;
        const auto line = trim(raw);
        if (line.empty() || line.front() == '#') continue;
        if (auto added = add_line(line, tokens); !added) {
            return fail(Errc::invalid, fmt::format("line {}", number), added.error().message);
        }
    }
    return tokens;
}

Result<std::unique_ptr<TokenFile>> TokenFile::open(std::filesystem::path path) {
    std::unique_ptr<TokenFile> file(new TokenFile(std::move(path)));
    if (auto read = file->reload(true); !read) return fail(read.error());
    return file;
}

Result<bool> TokenFile::reload(bool force) {
    auto stamp = file_stamp(path_);
    {
        const std::lock_guard lock(mutex_);
        if (!force && stamp == stamp_) return false;
        stamp_ = stamp;  // also when it turns out broken: it is reported once, not with every look
    }
    const auto text = read_file(path_);
    if (!text) return fail(text.error());
    if (text->size() > max_file_bytes) {
        return fail(Errc::too_large, path_.string(), fmt::format("is larger than {} bytes", max_file_bytes));
    }
    auto tokens = parse_tokens(*text);
    if (!tokens) return fail(Errc::invalid, path_.string(), tokens.error().text());
    const std::lock_guard lock(mutex_);
    tokens_ = std::make_shared<const StaticTokens>(std::move(*tokens));
    return true;
}

std::shared_ptr<const StaticTokens> TokenFile::current() const {
    const std::lock_guard lock(mutex_);
    return tokens_;
}

std::optional<User> TokenFile::find(std::string_view token) const {
    // Looked up by its sum: how long that takes says nothing about the tokens.
    const auto tokens = current();
    const auto found = tokens->find(sha256_hex(token));
    return found == tokens->end() ? std::nullopt : std::optional(found->second);
}

}  // namespace fairlead::apiserver
