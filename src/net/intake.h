// What a connection has received: the request that is being parsed, and bytes that came behind it. No sockets; on the
// session's thread.
#pragma once

#include <string>
#include <string_view>

#include "net/request_parser.h"

namespace fairlead::net {

class Intake {
public:
    explicit Intake(ParserLimits limits) : limits_(limits), parser_(limits) {}

    // Parses what was kept and `fresh`; the rest of it is kept for later.
    RequestParser::State feed(std::string_view fresh);
    // Keeps bytes that came during an answer.
    void keep(std::string_view fresh) { waiting_.append(fresh); }
    [[nodiscard]] std::size_t waiting_bytes() const { return waiting_.size(); }
    // All that is kept in memory for the client.
    [[nodiscard]] std::size_t held_bytes() const { return waiting_.size() + parsed_bytes_; }

    [[nodiscard]] const RequestParser& parser() const { return parser_; }
    Request take() { return parser_.take(); }
    // Ready for the next request; what waits stays.
    void next_request();
    // Nothing more will be read.
    void drop();
    // True once per request: the client waits for 100 Continue and has sent no body.
    bool owes_continue();

private:
    ParserLimits limits_;
    RequestParser parser_;
    std::string waiting_;
    std::size_t parsed_bytes_ = 0;
    bool continue_said_ = false;
};

}  // namespace fairlead::net
