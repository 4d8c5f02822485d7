#include "net/stream_writer.h"

#include "net/encoding.h"

namespace fairlead::net {
namespace {

constexpr std::size_t pull_bytes = 64UL * 1024;  // pulled before it is written

}  // namespace

StreamWriter::StreamWriter(std::unique_ptr<StreamBody> body, bool chunked, Gauge open)
    : body_(std::move(body)), chunked_(chunked), open_(open) {
    open_.add(1);
}

bool StreamWriter::fill(Outbox& out) {
    if (!ended_ && pull_again_) pull_chunk(out);
    if (ended_ && chunked_) out.head += last_chunk;
    // A stream that ended without framing (HTTP/1.0) has nothing to write, but is not to wait for more.
    return !out.head.empty() || ended_;
}

void StreamWriter::pull_chunk(Outbox& out) {
    pull_again_ = false;
    const auto head = out.head.size();
    std::string separate;  // only the first chunk shares its write with a head
    std::string& chunk = head == 0 ? out.head : separate;
    chunk.assign(chunked_ ? chunk_prefix_bytes : 0, ' ');
    const auto empty = chunk.size();
    auto next = StreamBody::Next::data;
    while (next == StreamBody::Next::data && chunk.size() < pull_bytes) {
        const auto before = chunk.size();
        next = body_->pull(chunk);
        // "data" without data would have us spin; a wake will tell.
        if (next == StreamBody::Next::data && chunk.size() == before) next = StreamBody::Next::wait;
    }
    pull_again_ = pull_again_ || next == StreamBody::Next::data;
    ended_ = next == StreamBody::Next::end;
    if (chunk.size() == empty) {
        chunk.clear();
    } else if (head == 0) {
        out.head_at = chunked_ ? frame_chunk(chunk) : 0;
    } else {
        out.head.append(chunk, chunked_ ? frame_chunk(chunk) : 0);
    }
}

}  // namespace fairlead::net
