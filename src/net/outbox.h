// What a connection still has to write: first `head` (a head, a chunk, or a head and the start of the body), then
// `body`. Filled by the session and its stream, emptied by the channel; all on the loop's thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead::net {

struct Outbox {
    std::string head;
    std::size_t head_at = 0;
    std::string body;
    std::size_t body_at = 0;

    [[nodiscard]] std::string_view next() const {
        const auto rest = std::string_view(head).substr(head_at);
        return rest.empty() ? std::string_view(body).substr(body_at) : rest;
    }
    void advance(std::size_t bytes) { (head_at < head.size() ? head_at : body_at) += bytes; }
    // What it keeps in memory, written or not.
    [[nodiscard]] std::size_t held_bytes() const { return head.size() + body.size(); }
    void clear() {
        constexpr std::size_t kept_bytes = 16UL * 1024;  // larger buffers are given back once written
        head_at = body_at = 0;
        head.clear();
        if (head.capacity() > kept_bytes) head = {};
        body = {};
    }
};

}  // namespace fairlead::net
