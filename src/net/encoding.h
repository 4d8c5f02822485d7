// How an answer looks on the wire: status line and headers, chunk framing, gzip. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "net/http.h"

namespace fairlead::net {

struct HeadOptions {
    bool http_1_0 = false;  // a stream then ends with the connection
    bool close = false;     // say Connection: close
    std::string_view request_id{};
    std::string_view date{};  // IMF-fixdate
};

// Appends status line and headers, blank line included. Framing headers (Content-Length, Transfer-Encoding, Connection,
// Date, X-Request-Id) are ours; those that the response brings are left out.
void append_head(std::string& out, const Response& response, const HeadOptions& options);
// 1xx, 204 and 304 never have a body.
bool has_body(int status);

// Room to leave at the front of a chunk's buffer: sixteen hex digits and CR LF.
inline constexpr std::size_t chunk_prefix_bytes = 18;
inline constexpr std::string_view last_chunk = "0\r\n\r\n";
// Makes buffer[chunk_prefix_bytes..] a chunk in place; the chunk starts at the returned offset.
std::size_t frame_chunk(std::string& buffer);

bool accepts_gzip(std::string_view accept_encoding);
// Compresses the body or stream if that is allowed, worth it and wanted; sets Content-Encoding and Vary. Whoever
// streams an answer that may be compressed says that it is large by doing so.
void compress(Response& response, std::size_t from_bytes, bool client_accepts);

}  // namespace fairlead::net
